//! A parameter's value, checked against its kind.

use serde_json::Value as Json;

use super::context::Context;
use super::error::{Result, ScenarioError, at};
use super::value::{any_quantity, quantity, wrong_dimension};
use crate::expr::Dimension;
use crate::registry::{Kind, Param, Unit, Value, near_and_known};

/// A parameter's value, checked against its kind.
pub(super) fn value(json: &Json, param: &Param, path: &str, context: &Context) -> Result<Value> {
    if param.default == Value::None && json.as_str() == Some("none") {
        return Ok(Value::None);
    }
    let given = Given {
        json,
        name: param.name,
        path,
        context,
    };
    match param.kind {
        Kind::Bool => given.flag(),
        Kind::Choice(words) => given.word(words),
        Kind::Number { min, max } => given.number(min, max),
        Kind::Integer { min, max } => given.integer(min, max),
        Kind::Duration {
            min_exclusive: false,
        } => given.duration(false),
        Kind::Duration { .. } | Kind::Period => given.duration(true),
        Kind::Rate => given.rate(),
        Kind::RateFromZero => given.rate_from_zero(),
        Kind::RateOrPackets => given.rate_or_packets(),
        Kind::Bytes => given.bytes(given.quantity(Dimension::Bytes)?),
        Kind::Packets => given.packets(given.quantity(Dimension::Packets)?),
        Kind::PacketsOrBytes => given.size(false),
        Kind::QueueSize => given.size(true),
        Kind::Distribution(_) | Kind::Drawn => {
            unreachable!("distributions are read by their own module")
        }
    }
}

/// What is written for the parameter `name`.
struct Given<'a> {
    json: &'a Json,
    name: &'static str,
    path: &'a str,
    context: &'a Context<'a>,
}

impl Given<'_> {
    fn quantity(&self, dimension: Dimension) -> Result<f64> {
        quantity(self.json, self.path, self.context, dimension)
    }

    fn place(&self) -> Place<'_> {
        Place {
            name: self.name,
            path: self.path,
        }
    }

    fn wrong(&self, message: impl std::fmt::Display) -> ScenarioError {
        self.place().wrong(message)
    }

    fn flag(&self) -> Result<Value> {
        let flag = self.json.as_bool().map(Value::Bool);
        flag.ok_or_else(|| self.wrong("must be true or false"))
    }

    fn word(&self, words: &[&'static str]) -> Result<Value> {
        let Some(text) = self.json.as_str() else {
            return Err(self.wrong(format!("must be one of {}", words.join(", "))));
        };
        self.place().word(text, words)
    }

    fn number(&self, min: f64, max: f64) -> Result<Value> {
        let number = self.quantity(Dimension::Number)?;
        self.place().number(number, min, max)
    }

    fn integer(&self, min: i64, max: i64) -> Result<Value> {
        let number = self.quantity(Dimension::Number)?;
        if number.fract() != 0.0 {
            return Err(self.wrong(format!("must be a whole number, found {number}")));
        }
        #[expect(clippy::cast_possible_truncation, reason = "whole")]
        let integer = number as i64;
        self.place().integer(integer, number, min, max)
    }

    fn duration(&self, above_zero: bool) -> Result<Value> {
        let secs = self.quantity(Dimension::Time)?;
        self.place().duration(secs, above_zero)
    }

    fn rate(&self) -> Result<Value> {
        self.place().rate(self.quantity(Dimension::Rate)?)
    }

    fn rate_from_zero(&self) -> Result<Value> {
        let bps = self.quantity(Dimension::Rate)?;
        self.place().not_negative(Value::Rate(bps), bps, "bit/s")
    }

    fn rate_or_packets(&self) -> Result<Value> {
        let found = any_quantity(self.json, self.path, self.context)?;
        let (value, unit) = match found.dimension {
            Dimension::Rate => (Value::Rate(found.value), "bit/s"),
            Dimension::Packets => (Value::Number(found.value), "packets"),
            other => {
                let expected = "a rate such as `400 Mbit/s`, or `50 packets`";
                return Err(wrong_dimension(self.json, self.path, expected, other));
            }
        };
        self.place().not_negative(value, found.value, unit)
    }

    fn size(&self, of_queue: bool) -> Result<Value> {
        let found = any_quantity(self.json, self.path, self.context)?;
        match found.dimension {
            Dimension::Packets => self.packets(found.value),
            // Expressions such as rate x time need not come out whole.
            Dimension::Bytes => self.bytes(libm::round(found.value)),
            Dimension::Bdp if of_queue && found.value > 0.0 => Ok(Value::Bdp(found.value)),
            Dimension::Bdp if of_queue => {
                Err(self.wrong(format!("must be above zero, found {} bdp", found.value)))
            }
            other => {
                let expected = "a size such as `50 packets` or `64 kB`";
                Err(wrong_dimension(self.json, self.path, expected, other))
            }
        }
    }

    fn bytes(&self, number: f64) -> Result<Value> {
        self.place().positive(number, "bytes").map(Value::Bytes)
    }

    fn packets(&self, number: f64) -> Result<Value> {
        self.place().positive(number, "packets").map(Value::Packets)
    }
}

/// The value of a parameter that a program has made: it is of the parameter's kind and within its bounds.
pub(super) fn check(param: &Param, value: Value, path: &str) -> Result<()> {
    let place = Place {
        name: param.name,
        path,
    };
    // A default may be what nothing else can be, such as `none`.
    if value == param.default {
        return Ok(());
    }
    #[expect(clippy::cast_precision_loss, reason = "found in a message")]
    let checked = match (param.kind, value) {
        (Kind::Bool, Value::Bool(_)) => Ok(value),
        (Kind::Choice(words), Value::Choice(word)) => place.word(word, words),
        (Kind::Number { min, max }, Value::Number(number)) => place.number(number, min, max),
        (Kind::Integer { min, max }, Value::Integer(number)) => {
            place.integer(number, number as f64, min, max)
        }
        (
            Kind::Duration { min_exclusive } | Kind::Distribution(Unit::Time { min_exclusive }),
            Value::Duration(secs),
        ) => place.duration(secs, min_exclusive),
        (Kind::Period, Value::Duration(secs)) => place.duration(secs, true),
        (Kind::Rate, Value::Rate(bps)) => place.rate(bps),
        (Kind::RateFromZero | Kind::RateOrPackets, Value::Rate(bps)) => {
            place.not_negative(value, bps, "bit/s")
        }
        (Kind::RateOrPackets, Value::Number(packets)) => {
            place.not_negative(value, packets, "packets")
        }
        (
            Kind::Bytes | Kind::PacketsOrBytes | Kind::QueueSize | Kind::Distribution(Unit::Bytes),
            Value::Bytes(bytes),
        ) => place.positive(bytes as f64, "bytes").map(Value::Bytes),
        (Kind::Packets | Kind::PacketsOrBytes | Kind::QueueSize, Value::Packets(packets)) => place
            .positive(packets as f64, "packets")
            .map(Value::Packets),
        (Kind::QueueSize, Value::Bdp(_)) => Err(place
            .wrong("cannot be in bdp: only a scenario that is read has them turned into bytes")
            .hint("give it in packets or bytes")),
        (kind, _) => Err(place
            .wrong(format!("cannot be {value:?}"))
            .hint(&format!("its kind is {kind:?}"))),
    };
    checked.map(|_| ())
}

/// A parameter and where its value stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    name: &'static str,
    path: &'a str,
}

/// Within which bounds the values of a kind are.
impl Place<'_> {
    /// An error that says after the parameter's name what is wrong with it.
    fn wrong(self, message: impl std::fmt::Display) -> ScenarioError {
        at(self.path, format!("`{}` {message}", self.name))
    }

    fn word(self, text: &str, words: &[&'static str]) -> Result<Value> {
        if let Some(word) = words.iter().find(|word| **word == text) {
            return Ok(Value::Choice(word));
        }
        let hint = near_and_known(text, words.iter().copied());
        Err(at(self.path, format!("unknown {} `{text}`", self.name)).hint(&hint))
    }

    fn number(self, number: f64, min: f64, max: f64) -> Result<Value> {
        if (min..=max).contains(&number) {
            return Ok(Value::Number(number));
        }
        Err(self.wrong(format!("must be from {min} to {max}, found {number}")))
    }

    fn integer(self, integer: i64, found: f64, min: i64, max: i64) -> Result<Value> {
        if (min..=max).contains(&integer) {
            return Ok(Value::Integer(integer));
        }
        Err(self.wrong(format!("must be from {min} to {max}, found {found}")))
    }

    fn duration(self, secs: f64, above_zero: bool) -> Result<Value> {
        if above_zero && (secs.is_nan() || secs <= 0.0) {
            return Err(self
                .wrong(format!("must be above zero, found {secs} s"))
                .hint("give a time such as `20 ms`, or leave it out for its default"));
        }
        if secs.is_nan() || secs < 0.0 {
            return Err(self
                .wrong(format!("cannot be negative, found {secs} s"))
                .hint("give a time of zero or more, or leave it out for its default"));
        }
        self.finite(Value::Duration(secs), secs, "s")
    }

    fn rate(self, bps: f64) -> Result<Value> {
        if bps > 0.0 {
            return self.finite(Value::Rate(bps), bps, "bit/s");
        }
        Err(self.wrong(format!("must be above zero, found {bps} bit/s")))
    }

    fn not_negative(self, value: Value, found: f64, unit: &str) -> Result<Value> {
        if found >= 0.0 {
            return self.finite(value, found, unit);
        }
        Err(self.wrong(format!("cannot be negative, found {found} {unit}")))
    }

    /// Only a program can make what is without end: expressions are refused before.
    fn finite(self, value: Value, found: f64, unit: &str) -> Result<Value> {
        if found.is_finite() {
            return Ok(value);
        }
        Err(self.wrong(format!("must be finite, found {found} {unit}")))
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be whole and above zero"
    )]
    fn positive(self, number: f64, what: &str) -> Result<u64> {
        // 32.2 kB is a whole number of bytes, though 32.2 times 1000 is none in floating point.
        let nearest = libm::round(number);
        if nearest > 0.0 && libm::fabs(number - nearest) <= 1e-12 * nearest && nearest < 9e15 {
            return Ok(nearest as u64);
        }
        Err(self.wrong(format!(
            "must be a whole number of {what} above zero, found {number}"
        )))
    }
}
