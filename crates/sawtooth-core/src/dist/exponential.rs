//! The exponential distribution: times between independent events, and the usual model of what has a mean and no memory.
//!
//! Drawn by inversion: -mean x ln(1 - u).

use super::{Distribution, NewDistribution, required};
use crate::registry::{Entry, Kind, Value, param};
use crate::rng::RandomStream;

pub(super) const ENTRY: Entry<NewDistribution> = Entry {
    name: "exponential",
    summary: "exponentially distributed with a mean",
    specification: &[],
    params: &[param!(mean: Kind::Drawn => Value::None,
        "the mean")],
    new: |spec| Ok(with_mean(required(spec, "mean")?)),
};

/// Exponentially distributed values with this mean.
pub(super) fn with_mean(mean: f64) -> Box<dyn Distribution> {
    Box::new(Exponential { mean })
}

#[derive(Debug)]
struct Exponential {
    mean: f64,
}

impl Distribution for Exponential {
    fn sample(&self, stream: &mut RandomStream) -> f64 {
        -self.mean * libm::log1p(-stream.uniform())
    }

    fn mean(&self) -> f64 {
        self.mean
    }
}
