//! Distributions: of transfer sizes, of times between writes, of whatever else is drawn.
//!
//! A distribution is pure: it draws from the stream that it is given and keeps nothing. Values are seconds or bytes, as the key says that
//! names it; one that is of bytes is rounded to whole ones, at least one ([`bytes`]).
//!
//! To add one: one file in this folder, one `mod` line, one row of [`TABLE`].

mod constant;
mod empirical;
mod exponential;
mod lognormal;
mod pareto;
mod uniform;

use std::fmt::Debug;

use crate::registry::{DistributionSpec, Entry, Params, Value};
use crate::rng::RandomStream;
use crate::units::ByteCount;

/// Constructor of a table row.
pub type NewDistribution = fn(&DistributionSpec) -> Result<Box<dyn Distribution>, Fault>;

/// What is drawn independently, one value after the other.
pub trait Distribution: Debug + Send {
    /// One value, not negative.
    fn sample(&self, stream: &mut RandomStream) -> f64;

    /// The expected value; infinite if there is none.
    fn mean(&self) -> f64;
}

/// What is wrong with a distribution's parameters, and which of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The parameter to blame; empty if it is none in particular.
    pub key: &'static str,
    /// What is wrong, without a full stop.
    pub message: String,
    /// What to write instead.
    pub hint: &'static str,
}

/// All distributions.
pub const TABLE: &[Entry<NewDistribution>] = &[
    constant::ENTRY,
    uniform::ENTRY,
    exponential::ENTRY,
    pareto::ENTRY,
    lognormal::ENTRY,
    empirical::ENTRY,
];

/// The distribution that a scenario names.
///
/// # Errors
/// If its parameters contradict each other.
///
/// # Panics
/// If there is none of that name: a scenario has checked it.
pub fn build(spec: &DistributionSpec) -> Result<Box<dyn Distribution>, Fault> {
    let mut rows = TABLE.iter();
    let row = rows.find(|entry| entry.name == spec.name);
    (row.expect("the scenario names a row of the table").new)(spec)
}

/// The distribution of a parameter, which may be a single quantity.
///
/// # Panics
/// If it is neither, or contradicts itself: a scenario has checked it.
pub fn of(params: &Params, name: &str) -> Box<dyn Distribution> {
    match params.get(name) {
        Value::Distribution => build(params.distribution(name)).expect("the scenario has checked"),
        Value::Exponential(mean) => exponential::with_mean(mean),
        Value::Duration(value) => constant::of(value),
        #[expect(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
        Value::Bytes(value) => constant::of(value as f64),
        other => panic!("{name} is {other:?}, not a distribution"),
    }
}

/// Exponentially distributed values with this mean.
pub(crate) fn exponential(mean: f64) -> Box<dyn Distribution> {
    exponential::with_mean(mean)
}

/// A drawn number of bytes: whole, and at least one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "between one and 2^53"
)]
pub fn bytes(value: f64) -> ByteCount {
    ByteCount::new(libm::round(value).clamp(1.0, 9e15) as u64)
}

/// The number that a parameter of [`crate::registry::Kind::Drawn`] or a plain one has, if it is not left open.
fn number(spec: &DistributionSpec, key: &str) -> Option<f64> {
    match spec.params.get(key) {
        Value::Number(value) => Some(value),
        _ => None,
    }
}

/// The same of one that must be there.
fn required(spec: &DistributionSpec, key: &'static str) -> Result<f64, Fault> {
    number(spec, key).ok_or_else(|| Fault {
        key: "",
        message: format!("`{}` needs a `{key}`", spec.name),
        hint: "a quantity such as \"30 kB\" or \"2 s\"",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A distribution with these parameters.
    pub(super) fn spec(
        name: &str,
        values: &[(&str, f64)],
        points: &[(f64, f64)],
    ) -> DistributionSpec {
        let entry = TABLE.iter().find(|entry| entry.name == name);
        let entry = entry.expect("a row");
        let mut params = Params::defaults(entry.params);
        for (key, value) in values {
            params.set(key, Value::Number(*value));
        }
        DistributionSpec {
            name: entry.name,
            params,
            points: points.to_vec(),
        }
    }

    fn examples() -> Vec<DistributionSpec> {
        let points = [(100.0, 0.2), (300.0, 0.5), (300.0, 0.6), (1000.0, 1.0)];
        let bounded = [("shape", 1.2), ("mean", 3000.0), ("max", 1e6)];
        vec![
            spec("constant", &[("value", 7.0)], &[]),
            spec("uniform", &[("low", 2.0), ("high", 4.0)], &[]),
            spec("exponential", &[("mean", 3.0)], &[]),
            spec("pareto", &[("shape", 3.5), ("mean", 10.0)], &[]),
            spec("pareto", &[("shape", 3.5), ("minimum", 10.0)], &[]),
            spec("pareto", &bounded, &[]),
            spec("lognormal", &[("sigma", 0.8), ("mean", 50.0)], &[]),
            spec("empirical", &[], &points),
        ]
    }

    #[test]
    fn every_distribution_has_the_mean_that_it_tells_and_repeats_itself() {
        const DRAWS: u32 = 200_000;
        for entry in TABLE {
            assert!(examples().iter().any(|spec| spec.name == entry.name));
        }
        for spec in examples() {
            let made = build(&spec).expect("an example");
            let draw = |seed| {
                let mut stream = RandomStream::new(seed, "x");
                let values = (0..DRAWS).map(|_| made.sample(&mut stream));
                let (mut sum, mut squares) = (0.0, 0.0);
                for value in values {
                    assert!(value >= 0.0 && value.is_finite(), "{spec:?}");
                    sum += value;
                    squares += value * value;
                }
                (sum / f64::from(DRAWS), squares / f64::from(DRAWS))
            };
            let (mean, square) = draw(1);
            assert_eq!(draw(1), (mean, square));
            // Five standard errors of the mean.
            let error = ((square - mean * mean).max(0.0) / f64::from(DRAWS)).sqrt();
            let off = (mean - made.mean()).abs();
            assert!(off <= 5.0 * error + 1e-9 * mean, "{spec:?}: {mean}");
        }
    }

    #[test]
    fn bytes_are_whole_and_at_least_one() {
        assert_eq!(
            [0.0, 0.4, 1.5, 2.4].map(|value| bytes(value).get()),
            [1, 1, 2, 2]
        );
    }
}
