//! The lognormal distribution: the logarithm is normally distributed with standard deviation `sigma`, and so that the mean is `mean`:
//! exp(mu + sigma Z) with mu = ln(mean) - sigma²/2.
//!
//! Z by Box and Muller's transform ("A note on the generation of random normal deviates", Ann. Math. Stat. 29(2), 1958), two uniform numbers for
//! each, so that a draw depends on nothing before it.

use super::{Distribution, NewDistribution, required};
use crate::registry::{Entry, Kind, Value, param};
use crate::rng::RandomStream;

pub(super) const ENTRY: Entry<NewDistribution> = Entry {
    name: "lognormal",
    summary: "lognormally distributed with a mean and the logarithm's standard deviation",
    specification: &[],
    params: &[
        param!(mean: Kind::Drawn => Value::None,
            "the mean"),
        param!(sigma: Kind::Number { min: 0.0, max: 10.0 } => Value::Number(1.0),
            "standard deviation of the natural logarithm"),
    ],
    new: |spec| {
        let (mean, sigma) = (required(spec, "mean")?, required(spec, "sigma")?);
        Ok(Box::new(Lognormal { mean, sigma }))
    },
};

#[derive(Debug)]
struct Lognormal {
    mean: f64,
    sigma: f64,
}

impl Distribution for Lognormal {
    fn sample(&self, stream: &mut RandomStream) -> f64 {
        let radius = (-2.0 * libm::log1p(-stream.uniform())).sqrt();
        let normal = radius * libm::cos(std::f64::consts::TAU * stream.uniform());
        self.mean * libm::exp(self.sigma * normal - self.sigma * self.sigma / 2.0)
    }

    fn mean(&self) -> f64 {
        self.mean
    }
}

#[cfg(test)]
mod tests {
    use super::super::{build, tests::spec};
    use super::*;

    #[test]
    fn the_logarithm_has_its_mean_and_standard_deviation() {
        const DRAWS: u32 = 100_000;
        let made = build(&spec("lognormal", &[("mean", 20.0), ("sigma", 0.5)], &[]));
        let made = made.expect("valid");
        let mut stream = RandomStream::new(1, "x");
        let logs: Vec<f64> = (0..DRAWS)
            .map(|_| libm::log(made.sample(&mut stream)))
            .collect();
        let mean = logs.iter().sum::<f64>() / f64::from(DRAWS);
        let square = logs.iter().map(|log| (log - mean) * (log - mean));
        let deviation = (square.sum::<f64>() / f64::from(DRAWS)).sqrt();
        // ln 20 - 0.125 = 2.8707 with a standard error of 0.0016, and that of the deviation is 0.0011.
        assert!((mean - 2.8707).abs() < 0.008, "{mean}");
        assert!((deviation - 0.5).abs() < 0.006, "{deviation}");
    }
}
