//! Names of parameters that know their type: a misspelt one does not compile, and nobody asks for the wrong kind of value.

use std::marker::PhantomData;

use super::{Params, Value, Words};
use crate::units::{ByteCount, Duration, Rate, SegCount};

/// A parameter's name, and the type of its value.
#[derive(Debug)]
pub struct ParamKey<T> {
    /// As a study writes it.
    pub name: &'static str,
    /// Where it is in its table, if that is known: there it is looked for first.
    place: usize,
    value: PhantomData<fn() -> T>,
}

impl<T> Clone for ParamKey<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for ParamKey<T> {}

impl<T> ParamKey<T> {
    /// A key for the parameter called `name`, whose values are of type `T`.
    pub const fn new(name: &'static str) -> Self {
        Self::at(name, 0)
    }

    /// The same, for the one at a place of its table.
    pub const fn at(name: &'static str, place: usize) -> Self {
        Self {
            name,
            place,
            value: PhantomData,
        }
    }
}

impl<T: FromValue> ParamKey<T> {
    /// Its value.
    ///
    /// # Panics
    /// If `params` are of another table: a programming error.
    pub fn of(self, params: &Params) -> T {
        let value = params.get_near(self.name, self.place);
        T::from_value(value).unwrap_or_else(|| panic!("{} cannot be {value:?}", self.name))
    }
}

/// A type that a parameter's value can have in code. Times are seconds, rates bits per second.
pub trait FromValue: Sized {
    /// The value as this type; nothing if it is of another kind.
    fn from_value(value: Value) -> Option<Self>;
}

impl FromValue for bool {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Bool(flag) => Some(flag),
            _ => None,
        }
    }
}

impl FromValue for f64 {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Number(value) | Value::Duration(value) | Value::Rate(value) => Some(value),
            _ => None,
        }
    }
}

impl FromValue for Duration {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Duration(secs) => Some(Self::from_secs(secs)),
            _ => None,
        }
    }
}

impl FromValue for Rate {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Rate(bps) => Some(Self::from_bps(bps)),
            _ => None,
        }
    }
}

impl FromValue for SegCount {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Packets(count) => Some(Self::new(count)),
            _ => None,
        }
    }
}

impl FromValue for ByteCount {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Bytes(count) => Some(Self::new(count)),
            _ => None,
        }
    }
}

impl FromValue for i64 {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Integer(value) => Some(value),
            Value::Packets(value) | Value::Bytes(value) => Self::try_from(value).ok(),
            _ => None,
        }
    }
}

impl FromValue for u64 {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Integer(value) => Self::try_from(value).ok(),
            Value::Packets(value) | Value::Bytes(value) => Some(value),
            _ => None,
        }
    }
}

/// More than there is room for is the most there is room for.
impl FromValue for u32 {
    fn from_value(value: Value) -> Option<Self> {
        u64::from_value(value).map(|value| Self::try_from(value).unwrap_or(Self::MAX))
    }
}

impl FromValue for usize {
    fn from_value(value: Value) -> Option<Self> {
        u64::from_value(value).map(|value| Self::try_from(value).unwrap_or(Self::MAX))
    }
}

impl<T: FromValue> FromValue for Option<T> {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::None => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl<T: Words> FromValue for T {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Choice(word) => T::from_word(word),
            _ => None,
        }
    }
}
