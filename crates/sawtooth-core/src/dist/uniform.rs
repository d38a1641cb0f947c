//! Any value of an interval, with equal density.

use super::{Distribution, Fault, NewDistribution, required};
use crate::registry::{Entry, Kind, Value, param};
use crate::rng::RandomStream;

pub(super) const ENTRY: Entry<NewDistribution> = Entry {
    name: "uniform",
    summary: "any value from `low` to `high`, equally likely",
    specification: &[],
    params: &[
        param!(low: Kind::Drawn => Value::None,
            "the lowest value"),
        param!(high: Kind::Drawn => Value::None,
            "the highest value"),
    ],
    new: |spec| {
        let (low, high) = (required(spec, "low")?, required(spec, "high")?);
        if low > high {
            return Err(Fault {
                key: "low",
                message: format!("`low` is {low}, above `high`, which is {high}"),
                hint: "exchange them",
            });
        }
        Ok(Box::new(Uniform { low, high }))
    },
};

#[derive(Debug)]
struct Uniform {
    low: f64,
    high: f64,
}

impl Distribution for Uniform {
    fn sample(&self, stream: &mut RandomStream) -> f64 {
        self.low + (self.high - self.low) * stream.uniform()
    }

    fn mean(&self) -> f64 {
        f64::midpoint(self.low, self.high)
    }
}
