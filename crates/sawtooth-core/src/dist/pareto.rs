//! The Pareto distribution: P(X > x) = (minimum / x)^shape. With a shape up to 2 its variance is infinite: so are the sizes of files
//! and the lengths of bursts (Crovella and Bestavros, "Self-similarity in World Wide Web traffic", IEEE/ACM Trans. Netw. 5(6), 1997).
//!
//! Drawn by inversion. With `max` it is the distribution below that bound alone; its mean is then
//! shape/(shape-1) x minimum x (1 - r^(shape-1)) / (1 - r^shape) with r = minimum/max, from which the minimum is found by bisection.

use super::{Distribution, Fault, NewDistribution, number, required};
use crate::registry::{Entry, Kind, Value, param};
use crate::rng::RandomStream;

pub(super) const ENTRY: Entry<NewDistribution> = Entry {
    name: "pareto",
    summary: "Pareto distributed: heavy-tailed, with a shape and a mean or a minimum",
    specification: &[],
    params: &[
        param!(shape: Kind::Number { min: 0.01, max: 100.0 } => Value::Number(1.5),
            "the tail's exponent: up to 2 the variance is infinite, up to 1 the mean is"),
        param!(mean: Kind::Drawn => Value::None,
            "the mean; `none`: what the minimum makes it"),
        param!(minimum: Kind::Drawn => Value::None,
            "the smallest value; `none`: what the mean makes it"),
        param!(max: Kind::Drawn => Value::None,
            "the largest value; `none`: there is none"),
    ],
    new: |spec| {
        let shape = required(spec, "shape")?;
        let max = number(spec, "max").unwrap_or(f64::INFINITY);
        let fault = |key, message: String, hint| Err(Fault { key, message, hint });
        let minimum = match (number(spec, "mean"), number(spec, "minimum")) {
            (Some(_), Some(_)) => {
                let message = "a Pareto distribution has a `mean` or a `minimum`, not both".into();
                return fault("minimum", message, "leave one of the two out");
            }
            (None, None) => {
                let message = "a Pareto distribution needs a `mean` or a `minimum`".into();
                return fault("", message, "for example mean = \"30 kB\"");
            }
            (None, Some(minimum)) => minimum,
            (Some(_), None) if shape <= 1.0 && max.is_infinite() => {
                let message = format!("a Pareto distribution of shape {shape} has no mean");
                let hint = "take a shape above 1, or a `minimum`, or a `max`";
                return fault("shape", message, hint);
            }
            (Some(mean), None) if mean >= max => {
                let message = format!("`mean` is {mean}, not below `max`, which is {max}");
                return fault("mean", message, "raise `max`");
            }
            (Some(mean), None) => minimum_for(shape, mean, max),
        };
        if minimum >= max {
            let message = format!("`minimum` is {minimum}, not below `max`, which is {max}");
            return fault("minimum", message, "raise `max`");
        }
        Ok(Box::new(Pareto {
            shape,
            minimum,
            max,
        }))
    },
};

#[derive(Clone, Copy, Debug)]
struct Pareto {
    shape: f64,
    minimum: f64,
    max: f64,
}

/// The minimum that leads to a mean.
fn minimum_for(shape: f64, mean: f64, max: f64) -> f64 {
    if max.is_infinite() {
        return mean * (shape - 1.0) / shape;
    }
    let (mut low, mut high) = (0.0, mean);
    // Halving it as often as a double has bits, and those of its exponent that matter.
    for _ in 0..200 {
        let minimum = f64::midpoint(low, high);
        let one = Pareto {
            shape,
            minimum,
            max,
        };
        if one.mean() < mean {
            low = minimum;
        } else {
            high = minimum;
        }
    }
    high
}

impl Distribution for Pareto {
    fn sample(&self, stream: &mut RandomStream) -> f64 {
        let below_max = 1.0 - libm::pow(self.minimum / self.max, self.shape);
        let left = 1.0 - stream.uniform() * below_max;
        (self.minimum * libm::pow(left, -1.0 / self.shape)).min(self.max)
    }

    fn mean(&self) -> f64 {
        let Self {
            shape,
            minimum,
            max,
        } = *self;
        let ratio = minimum / max;
        if ratio == 0.0 {
            return if shape > 1.0 {
                minimum * shape / (shape - 1.0)
            } else {
                f64::INFINITY
            };
        }
        let mass = -libm::expm1(shape * libm::log(ratio));
        let beyond = shape - 1.0;
        // The limit of (1 - r^e) / e for e = 0 is -ln r.
        let integral = if beyond.abs() < 1e-9 {
            -libm::log(ratio)
        } else {
            -libm::expm1(beyond * libm::log(ratio)) / beyond
        };
        shape * minimum * integral / mass
    }
}

#[cfg(test)]
mod tests {
    use super::super::{build, tests::spec};
    use super::*;

    #[test]
    fn the_tail_falls_with_the_shape() {
        let pareto = build(&spec("pareto", &[("shape", 1.5), ("minimum", 10.0)], &[]));
        let pareto = pareto.expect("valid");
        let mut stream = RandomStream::new(1, "x");
        let draws: Vec<f64> = (0..100_000).map(|_| pareto.sample(&mut stream)).collect();
        assert!(draws.iter().all(|draw| *draw >= 10.0));
        // P(X > 40) = 4^-1.5 = 1/8: 12,500 of them, with a standard deviation of 105.
        let beyond = draws.iter().filter(|draw| **draw > 40.0).count();
        assert!(beyond.abs_diff(12_500) < 525, "{beyond}");
    }

    #[test]
    fn the_minimum_follows_from_the_mean() {
        assert!((minimum_for(1.5, 30.0, f64::INFINITY) - 10.0).abs() < 1e-12);
        for shape in [0.5, 1.0, 1.2, 2.5] {
            let (mean, max) = (30.0, 5000.0);
            let minimum = minimum_for(shape, mean, max);
            let made = Pareto {
                shape,
                minimum,
                max,
            };
            assert!((made.mean() - mean).abs() < 1e-9, "{shape}: {minimum}");
        }
    }

    #[test]
    fn contradictions_are_refused() {
        let fault = |values: &[(&str, f64)]| build(&spec("pareto", values, &[])).map(drop);
        let both = fault(&[("mean", 2.0), ("minimum", 1.0)]);
        assert_eq!(both.map_err(|fault| fault.key), Err("minimum"));
        let none = fault(&[]);
        assert_eq!(none.map_err(|fault| fault.key), Err(""));
        let no_mean = fault(&[("mean", 2.0), ("shape", 1.0)]);
        assert_eq!(no_mean.map_err(|fault| fault.key), Err("shape"));
        let bound = fault(&[("minimum", 2.0), ("max", 1.0)]);
        assert_eq!(bound.map_err(|fault| fault.key), Err("minimum"));
    }
}
