//! A parameter's value, checked against its kind.

use serde_json::Value as Json;

use super::context::Context;
use super::error::{Result, ScenarioError, at};
use super::value::{any_quantity, quantity, wrong_dimension};
use crate::expr::Dimension;
use crate::registry::{Kind, Param, Value, suggest};

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

    /// An error that says after the parameter's name what is wrong with it.
    fn wrong(&self, message: impl std::fmt::Display) -> ScenarioError {
        at(self.path, format!("`{}` {message}", self.name))
    }

    fn flag(&self) -> Result<Value> {
        let flag = self.json.as_bool().map(Value::Bool);
        flag.ok_or_else(|| self.wrong("must be true or false"))
    }

    fn word(&self, words: &[&'static str]) -> Result<Value> {
        let known = words.join(", ");
        let Some(text) = self.json.as_str() else {
            return Err(self.wrong(format!("must be one of {known}")));
        };
        if let Some(word) = words.iter().find(|word| **word == text) {
            return Ok(Value::Choice(word));
        }
        let hint = match suggest(text, words.iter().copied()) {
            Some(near) => format!("did you mean `{near}`? known are {known}"),
            None => format!("known are {known}"),
        };
        Err(at(self.path, format!("unknown {} `{text}`", self.name)).hint(&hint))
    }

    fn number(&self, min: f64, max: f64) -> Result<Value> {
        let number = self.quantity(Dimension::Number)?;
        if number < min || number > max {
            return Err(self.wrong(format!("must be from {min} to {max}, found {number}")));
        }
        Ok(Value::Number(number))
    }

    fn integer(&self, min: i64, max: i64) -> Result<Value> {
        let number = self.quantity(Dimension::Number)?;
        if number.fract() != 0.0 {
            return Err(self.wrong(format!("must be a whole number, found {number}")));
        }
        #[expect(clippy::cast_possible_truncation, reason = "whole")]
        let integer = number as i64;
        if integer < min || integer > max {
            return Err(self.wrong(format!("must be from {min} to {max}, found {number}")));
        }
        Ok(Value::Integer(integer))
    }

    fn duration(&self, above_zero: bool) -> Result<Value> {
        let secs = self.quantity(Dimension::Time)?;
        if above_zero && secs <= 0.0 {
            return Err(self
                .wrong(format!("must be above zero, found {secs} s"))
                .hint("give a time such as `20 ms`, or leave it out for its default"));
        }
        if secs < 0.0 {
            return Err(self
                .wrong(format!("cannot be negative, found {secs} s"))
                .hint("give a time of zero or more, or leave it out for its default"));
        }
        Ok(Value::Duration(secs))
    }

    fn rate(&self) -> Result<Value> {
        let bps = self.quantity(Dimension::Rate)?;
        if bps > 0.0 {
            Ok(Value::Rate(bps))
        } else {
            Err(self.wrong(format!("must be above zero, found {bps} bit/s")))
        }
    }

    fn rate_from_zero(&self) -> Result<Value> {
        let bps = self.quantity(Dimension::Rate)?;
        if bps >= 0.0 {
            Ok(Value::Rate(bps))
        } else {
            Err(self.wrong(format!("cannot be negative, found {bps} bit/s")))
        }
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
        if found.value >= 0.0 {
            Ok(value)
        } else {
            Err(self.wrong(format!("cannot be negative, found {} {unit}", found.value)))
        }
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
        self.positive(number, "bytes").map(Value::Bytes)
    }

    fn packets(&self, number: f64) -> Result<Value> {
        self.positive(number, "packets").map(Value::Packets)
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "checked to be whole and above zero"
    )]
    fn positive(&self, number: f64, what: &str) -> Result<u64> {
        if number > 0.0 && number.fract() == 0.0 && number < 9e15 {
            return Ok(number as u64);
        }
        Err(self.wrong(format!(
            "must be a whole number of {what} above zero, found {number}"
        )))
    }
}
