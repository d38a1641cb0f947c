//! Every parameter of a TCP endpoint: the table that studies, docs and the schema read, and what it resolves to.
//!
//! A flag costs three lines. Its row in `table.rs`, where its name, type, default, readers and meaning are written once:
//!
//! ```text
//!     push_acks -> bool = flag(false),
//!         "whether a segment that ends what the application wrote (PSH) is acknowledged at once, as it is read at once";
//! ```
//!
//! its use, `config.push_acks`; and a line in each stack of `stacks.rs` that has it otherwise than `rfc`, whose values the defaults are:
//!
//! ```text
//!     set(key::push_acks, Value::Bool(true)),
//! ```
//!
//! From its row come the field of [`Config`], the entry of [`PARAMS`], [`key::push_acks`], the documentation and the errors. It is there, by name and by type:
//!
//! ```
//! use sawtooth_core::internals::tcp::{Config, PARAMS, STACKS, key};
//! use sawtooth_core::registry::{Params, Value};
//!
//! let mut params = Params::defaults(PARAMS);
//! assert!(!Config::from(&params).push_acks);
//! params.set(key::push_acks.name, Value::Bool(true));
//! assert!(Config::from(&params).push_acks && key::push_acks.of(&params));
//!
//! let linux = STACKS.iter().find(|stack| stack.name == "linux").expect("a stack");
//! let set = ("push_acks", Value::Bool(true));
//! assert!(linux.values.iter().any(|list| list.contains(&set)));
//! ```
//!
//! A name that no row has does not compile, neither in code nor in a stack, nor does a word that its choice does not have:
//!
//! ```compile_fail
//! let misspelt = sawtooth_core::internals::tcp::key::push_akcs;
//! ```

mod choices;
mod config;
mod groups;
mod order;
mod row;
mod stacks;
mod table;
mod window;

pub use choices::{
    Algorithms, EarlyRetransmit, Eifel, ExitWindow, Feedback, PartialAckTimer, PrrBound,
    RecoveryKind, ReduceFrom, RestartAfterIdle, SackPipe, TickPhase,
};
pub use config::Config;
pub use order::{kernel_keys_of_a_hint, kernel_keys_of_hosts, rows_that_some_read};
pub use row::{KernelKey, ReadBy, TcpParam};
pub use stacks::{STACKS, Stack};
pub use table::{ROWS, key};
pub use window::{UNLIMITED, WindowSetting};

use crate::registry::Param;

/// All keys of `tcp`. The default is the `rfc` stack's value.
pub const PARAMS: &[Param] = &{
    let mut params = [ROWS[0].param; ROWS.len()];
    let mut index = 0;
    while index < ROWS.len() {
        params[index] = ROWS[index].param;
        index += 1;
    }
    params
};

/// What can be set in a real kernel.
pub fn kernel_keys() -> impl Iterator<Item = (&'static str, KernelKey)> + Clone {
    ROWS.iter()
        .filter_map(|row| Some((row.param.name, row.kernel?)))
}

/// Makes the table, a typed key for each of its rows, and the list of those that are fields of [`Config`], which `config.rs` takes.
///
/// ```text
/// NAME -> TYPE = WHAT IT TAKES AND WHO READS IT (`row`), MEANING;      a field of `Config`, of this type
/// NAME:   TYPE = the same;                                             read together with others
/// ```
macro_rules! params {
    ($($name:ident $(-> $field:ty)? $(: $read:ty)? = $row:expr, $summary:literal;)*) => {
        /// All rows, in the order in which they are documented.
        pub const ROWS: &[TcpParam] = &[$({
            const UNNAMED: Unnamed<$($field)? $($read)?> = $row;
            UNNAMED.named(stringify!($name), $summary)
        },)*];

        #[allow(non_camel_case_types, reason = "as keys are written")]
        enum Place {
            $($name,)*
        }

        /// The names of all rows.
        #[allow(non_upper_case_globals, reason = "a parameter is written as in a study")]
        pub mod key {
            use super::*;
            $(
                #[doc = $summary]
                pub const $name: ParamKey<$($field)? $($read)?> =
                    ParamKey::at(stringify!($name), Place::$name as usize);
            )*
        }

        /// Hands the rows with an arrow to a macro.
        macro_rules! fields {
            ($make:ident) => {
                $make! { $($($name: $field, $summary;)?)* }
            };
        }
        pub(super) use fields;
    };
}
use params;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Kind, Params, Value, Words};
    use crate::tcp::recovery;

    #[test]
    fn the_recoveries_of_a_study_are_those_of_their_table() {
        let names: Vec<&str> = recovery::TABLE.iter().map(|entry| entry.name).collect();
        assert_eq!(names, RecoveryKind::WORDS);
    }

    #[test]
    fn every_default_and_every_stack_resolves() {
        for stack in STACKS {
            let config = Config::from(&stack.params());
            assert!(!config.smss.is_zero(), "{}", stack.name);
        }
    }

    #[test]
    fn every_word_of_every_choice_resolves() {
        for param in PARAMS {
            if let Kind::Choice(words) = param.kind {
                for word in words {
                    let mut params = Params::defaults(PARAMS);
                    params.set(param.name, Value::Choice(word));
                    let _ = Config::from(&params);
                }
            }
        }
    }

    #[test]
    fn what_reads_a_parameter_is_another_choice_and_what_a_kernel_lacks_is_a_word() {
        let words_of = |name: &str| {
            let row = PARAMS.iter().find(|param| param.name == name);
            match row.expect("a row").kind {
                Kind::Choice(words) => words,
                other => panic!("{name} is {other:?}"),
            }
        };
        for row in ROWS {
            for word in row.read_by.iter().flat_map(|readers| readers.words) {
                let choice = row.read_by.expect("it has readers").choice;
                assert!(words_of(choice).contains(word), "{}", row.param.name);
            }
            for word in row.kernel.iter().flat_map(|kernel| kernel.unknown) {
                assert!(words_of(row.param.name).contains(word), "{word}");
            }
        }
    }

    #[test]
    fn defaults_are_those_of_the_rfcs() {
        let params = Params::defaults(PARAMS);
        let specified = [
            (
                "smss",
                Value::Bytes(1460),
                "1500 of RFC 894, less both headers",
            ),
            ("header", Value::Bytes(40), "RFC 791, RFC 9293 §3.1"),
            ("ack_size", Value::Bytes(40), "RFC 791, RFC 9293 §3.1"),
            ("dup_thresh", Value::Integer(3), "RFC 5681 §3.2"),
            ("rto_initial", Value::Duration(1.0), "RFC 6298 §2.1"),
            ("rto_max", Value::Duration(60.0), "RFC 6298 §2.5"),
            ("ack_every", Value::Integer(2), "RFC 5681 §4.2"),
            ("max_sack_blocks", Value::Integer(3), "RFC 2018 §3"),
            ("probe_max_ack_delay", Value::Duration(0.2), "RFC 8985 §7.2"),
        ];
        for (name, value, place) in specified {
            assert_eq!(params.get(name), value, "{name}, {place}");
        }
    }
}
