//! How much a study may ask for without saying that it is meant: runs, rows, memory, events.
//!
//! A slip of the pen (`sample = "1 ns"`, `count = 10000000`) asks for more than a machine has as easily as for what was meant. So each quantity has a limit
//! with a name, far above what shipped studies need, and a study raises those it means to exceed, by name. Limits decide whether something runs, never
//! what comes out.

use crate::registry::{Kind, Param, Params, Value, param};

const COUNT: Kind = Kind::Number {
    min: 1.0,
    max: 1e18,
};

/// All limits, with defaults.
pub const TABLE: &[Param] = &[
    param!(runs: COUNT => Value::Number(1e6),
        "runs of a study: cells x arms x replicates"),
    param!(draws: COUNT => Value::Number(1e7),
        "numbers that a study draws for all its runs"),
    param!(file: Kind::Bytes => Value::Bytes(64_000_000),
        "bytes of a file that a scenario names"),
    param!(flows: COUNT => Value::Number(2e5),
        "flows that a run declares, with `count`; likewise links, and hosts"),
    param!(rows: COUNT => Value::Number(1e8),
        "rows that a run records"),
    param!(memory: Kind::Bytes => Value::Bytes(8_000_000_000),
        "bytes that a run takes for records, flows and waiting packets"),
    param!(events: COUNT => Value::Number(1e10),
        "events that a run handles; a core handles about ten million in a second"),
];

/// What a scenario may ask for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// That a run declares; the same number limits its links, and its hosts.
    pub flows: f64,
    /// Of all tables of a run together.
    pub rows: f64,
    /// Of a run's records, flows and waiting packets, in bytes.
    pub memory_bytes: f64,
    /// That a run handles.
    pub events: f64,
}

impl Limits {
    /// From values for the rows of the table.
    #[expect(clippy::cast_precision_loss, reason = "a limit is no exact number")]
    pub fn new(params: &Params) -> Self {
        Self {
            flows: params.number("flows"),
            rows: params.number("rows"),
            memory_bytes: params.bytes("memory") as f64,
            events: params.number("events"),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self::new(&Params::defaults(TABLE))
    }
}

/// How to raise the limit `name` so that `needed` is within: to the next power of ten.
pub fn how_to_raise(name: &str, needed: f64) -> String {
    let enough = libm::pow(10.0, libm::ceil(libm::log10(needed)));
    let value = match name {
        "memory" | "file" => format!("\"{} GB\"", (enough / 1e9).max(1.0)),
        _ => format!("{enough:e}"),
    };
    format!(
        "if that is meant, raise the limit: {name} = {value} under [limits], or --set limits.{name}={}",
        value.replace('"', "'")
    )
}

/// A number as people read it: `3,500`, and from 10^15 on `3.5e20`.
pub fn counted(number: f64) -> String {
    if number.is_nan() || number >= 1e15 {
        return format!("{number:.1e}");
    }
    let digits = format!("{:.0}", libm::ceil(number));
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_and_limits_raised_to_the_next_power_of_ten() {
        assert_eq!(counted(1_234_567.0), "1,234,567");
        assert_eq!(counted(999.0), "999");
        assert_eq!(counted(3e20), "3.0e20");
        let said = how_to_raise("events", 3e11);
        assert!(
            said.ends_with("events = 1e12 under [limits], or --set limits.events=1e12"),
            "{said}"
        );
        let said = how_to_raise("memory", 3e10);
        assert!(
            said.ends_with("memory = \"100 GB\" under [limits], or --set limits.memory='100 GB'"),
            "{said}"
        );
    }
}
