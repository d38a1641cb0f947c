//! Always the same value; a plain quantity in place of a distribution is short for it.

use super::{Distribution, NewDistribution, required};
use crate::registry::{Entry, Kind, Value, param};
use crate::rng::RandomStream;

pub(super) const ENTRY: Entry<NewDistribution> = Entry {
    name: "constant",
    summary: "always the same value, for which the value alone is short",
    specification: &[],
    params: &[param!(value: Kind::Drawn => Value::None,
        "the value")],
    new: |spec| Ok(of(required(spec, "value")?)),
};

/// The distribution of a value that does not vary.
pub(super) fn of(value: f64) -> Box<dyn Distribution> {
    Box::new(Constant(value))
}

#[derive(Debug)]
struct Constant(f64);

impl Distribution for Constant {
    fn sample(&self, _: &mut RandomStream) -> f64 {
        self.0
    }

    fn mean(&self) -> f64 {
        self.0
    }
}
