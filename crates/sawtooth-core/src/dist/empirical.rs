//! A distribution that is given by points of its cumulative distribution function, as measured.
//!
//! **Model.** Points are values and cumulative probabilities, both ascending; the last probability is 1. The first point's probability is
//! that of its value. Between points the function is straight (`interpolation = "linear"`, as in ns-2's and ns-3's empirical random
//! variables), or else the value of the next point is taken (`"steps"`). Two points with one value are a jump, two with one probability a gap.
//!
//! In a study `file` names a text file, from which the points are read: on each line a value and a cumulative probability, apart by
//! blanks or a comma; `#` begins a comment. The values count `unit`s.

use super::{Distribution, Fault, NewDistribution, number};
use crate::registry::{Entry, Kind, Param, ParamKey, Value, Words, param, words};
use crate::rng::RandomStream;

words! {
    /// What the function is between two points.
    enum Interpolation {
        Linear = "linear",
        Steps = "steps",
    }
}

const INTERPOLATION: ParamKey<Interpolation> = ParamKey::new("interpolation");

pub(super) const ENTRY: Entry<NewDistribution> = Entry {
    name: "empirical",
    summary: "as measured: `file` names a file with values and cumulative probabilities, or `points` lists them",
    specification: &[],
    params: &[
        Param {
            name: INTERPOLATION.name,
            summary: "between two points: a straight line, or the upper one's value",
            kind: Kind::Choice(Interpolation::WORDS),
            default: Value::Choice(Interpolation::Linear.word()),
        },
        param!(unit: Kind::Drawn => Value::None,
            "what the file's values count, such as \"1460 B\"; `none`: bytes or seconds"),
    ],
    new: |spec| {
        check(&spec.points)?;
        let unit = number(spec, "unit").unwrap_or(1.0);
        let points = spec.points.iter();
        Ok(Box::new(Empirical {
            points: points.map(|(value, p)| (value * unit, *p)).collect(),
            steps: INTERPOLATION.of(&spec.params) == Interpolation::Steps,
        }))
    },
};

/// Whether points are those of a cumulative distribution function: the first that is not, and why.
pub(super) fn first_fault(points: &[(f64, f64)]) -> Option<(usize, String)> {
    let mut before = (0.0, 0.0);
    for (index, &(value, probability)) in points.iter().enumerate() {
        let fault = if !(value >= 0.0 && value.is_finite()) {
            format!("a value cannot be {value}")
        } else if !(0.0..=1.0).contains(&probability) {
            format!("a cumulative probability is from 0 to 1, found {probability}")
        } else if value < before.0 {
            format!("values must ascend: {value} comes after {}", before.0)
        } else if probability < before.1 {
            format!(
                "cumulative probabilities must ascend: {probability} comes after {}",
                before.1
            )
        } else {
            before = (value, probability);
            continue;
        };
        return Some((index, fault));
    }
    if points.is_empty() {
        return Some((0, "a distribution needs points".into()));
    }
    if before.1 < 1.0 {
        let message = format!(
            "the last cumulative probability must be 1, found {}",
            before.1
        );
        return Some((points.len() - 1, message));
    }
    if before.0 == 0.0 {
        return Some((points.len() - 1, "all values are zero".into()));
    }
    None
}

fn check(points: &[(f64, f64)]) -> Result<(), Fault> {
    match first_fault(points) {
        None => Ok(()),
        Some((_, message)) if points.is_empty() => Err(Fault {
            key: "",
            message,
            hint: "file = \"sizes.txt\", or points = [[1000, 0.5], [5000, 1.0]]",
        }),
        Some((index, message)) => Err(Fault {
            key: "points",
            message: format!("point {}: {message}", index + 1),
            hint: "each is a value and the probability of it or less; the last one's is 1",
        }),
    }
}

#[derive(Debug)]
struct Empirical {
    points: Vec<(f64, f64)>,
    steps: bool,
}

impl Distribution for Empirical {
    fn sample(&self, stream: &mut RandomStream) -> f64 {
        let p = stream.uniform();
        // The first point whose probability is above p: with p = 0 and a first point of probability 0, the second.
        let at = self.points.partition_point(|(_, known)| *known <= p);
        let (high, to) = self.points[at.min(self.points.len() - 1)];
        match at.checked_sub(1).map(|before| self.points[before]) {
            Some((low, from)) if !self.steps => low + (high - low) * (p - from) / (to - from),
            _ => high,
        }
    }

    fn mean(&self) -> f64 {
        let (first, p) = self.points[0];
        let pairs = self.points.windows(2);
        let rest = pairs.map(|pair| {
            let [(low, from), (high, to)] = [pair[0], pair[1]];
            let value = if self.steps {
                high
            } else {
                f64::midpoint(low, high)
            };
            value * (to - from)
        });
        first * p + rest.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{build, tests::spec};
    use super::*;

    #[test]
    fn what_is_no_distribution_function_is_refused_with_the_point() {
        let refused = |points: &[(f64, f64)]| {
            let fault = build(&spec("empirical", &[], points)).expect_err("no function");
            fault.message
        };
        assert_eq!(
            refused(&[(1.0, 0.5), (2.0, 0.4), (3.0, 1.0)]),
            "point 2: cumulative probabilities must ascend: 0.4 comes after 0.5"
        );
        assert_eq!(
            refused(&[(2.0, 0.5), (1.0, 1.0)]),
            "point 2: values must ascend: 1 comes after 2"
        );
        assert_eq!(
            refused(&[(1.0, 0.5), (2.0, 0.9)]),
            "point 2: the last cumulative probability must be 1, found 0.9"
        );
        assert_eq!(
            refused(&[(1.0, 50.0), (2.0, 100.0)]),
            "point 1: a cumulative probability is from 0 to 1, found 50"
        );
        assert_eq!(refused(&[]), "a distribution needs points");
    }

    #[test]
    fn quantiles_lie_on_the_line_between_points_or_on_the_upper_one() {
        let points = [(10.0, 0.25), (20.0, 0.75), (40.0, 1.0)];
        let mut steps = spec("empirical", &[], &points);
        steps.params.set("interpolation", Value::Choice("steps"));
        let (linear, steps) = (build(&spec("empirical", &[], &points)), build(&steps));
        let (linear, steps) = (linear.expect("valid"), steps.expect("valid"));
        // 2.5 + 7.5 + 7.5, and 2.5 + 10 + 10.
        assert!((linear.mean() - 17.5).abs() < 1e-12 && (steps.mean() - 22.5).abs() < 1e-12);
        let mut stream = RandomStream::new(1, "x");
        let mut twin = stream.clone();
        for _ in 0..1000 {
            let p = twin.clone().uniform();
            let expected = match p {
                p if p < 0.25 => (10.0, 10.0),
                p if p < 0.75 => (10.0 + 10.0 * (p - 0.25) / 0.5, 20.0),
                p => (20.0 + 20.0 * (p - 0.75) / 0.25, 40.0),
            };
            let drawn = (linear.sample(&mut stream), steps.sample(&mut twin));
            assert!((drawn.0 - expected.0).abs() < 1e-9 && drawn.1 == expected.1);
        }
    }
}
