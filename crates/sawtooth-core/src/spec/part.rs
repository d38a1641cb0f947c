//! A part that a scenario names, such as a queue or a congestion control.

use crate::registry::{Entry, Params, Value};

/// A row of a table with its resolved parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The row's name in its table.
    pub name: &'static str,
    /// A value for each of the row's parameters.
    pub params: Params,
}

impl Part {
    /// A row with its defaults.
    pub fn of<C>(entry: &'static Entry<C>) -> Self {
        Self {
            name: entry.name,
            params: Params::defaults(entry.params),
        }
    }

    /// The row of that name with its defaults, if there is one.
    pub fn named<C>(table: &'static [Entry<C>], name: &str) -> Option<Self> {
        table.iter().find(|entry| entry.name == name).map(Self::of)
    }

    /// The same with another value of a parameter.
    ///
    /// # Panics
    /// If it has no such parameter.
    #[must_use]
    #[track_caller]
    pub fn with(mut self, name: &str, value: Value) -> Self {
        if self.params.find(name).is_none() {
            let (row, hint) = (self.name, self.params.near_and_known(name));
            panic!("`{row}` has no parameter `{name}`; {hint}");
        }
        self.params.set(name, value);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue;

    #[test]
    #[should_panic(
        expected = "`drop_tail` has no parameter `limitt`; did you mean `limit`? known are limit"
    )]
    fn a_parameter_that_a_row_has_not_is_told_with_the_row() {
        let drop_tail = Part::of(&queue::TABLE[0]);
        let _ = drop_tail.with("limitt", Value::Packets(1));
    }
}
