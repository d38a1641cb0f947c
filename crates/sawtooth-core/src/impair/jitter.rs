//! Jitter: a random difference between a packet's delay and the link's, drawn for each packet independently.
//!
//! A packet never arrives before its last bit has left: where delay and jitter together are negative, they are zero.

use std::f64::consts::TAU;
use std::sync::Arc;

use crate::registry::{Entry, Kind, Param, Params, Value, param};
use crate::rng::RandomStream;
use crate::units::Duration;

/// Constructor of a table row.
pub(super) type NewJitter = fn(&Params) -> Jitter;

/// A distribution of jitter.
#[derive(Clone, Debug, PartialEq)]
pub enum Jitter {
    /// Every difference from `-spread` to `spread` is equally likely.
    Uniform {
        /// The largest difference.
        spread: Duration,
    },
    /// A normal distribution around zero.
    Normal {
        /// Its standard deviation.
        deviation: Duration,
    },
    /// Many short delays and few long ones: `P(jitter > x) = (scale / x)^shape` for `x >= scale`.
    Pareto {
        /// The least jitter.
        scale: Duration,
        /// The exponent of the tail; up to 1 the mean is infinite.
        shape: f64,
        /// What is drawn above this is this; infinite if there is no bound.
        max: Duration,
    },
    /// The distribution's quantiles from 0 to 1 at equal distances, ascending, at least two; linear in between.
    Table {
        /// As described.
        quantiles: Arc<[Duration]>,
    },
}

/// All distributions.
pub const TABLE: &[Entry<NewJitter>] = &[
    Entry {
        name: "uniform",
        summary: "uniform between `-spread` and `spread`",
        specification: &["tc-netem(8), delay TIME JITTER"],
        params: &[SPREAD],
        new: |params| Jitter::Uniform {
            spread: Duration::from_secs(params.duration("spread")),
        },
    },
    Entry {
        name: "normal",
        summary: "normal around zero",
        specification: &[
            "tc-netem(8), distribution normal",
            "Box and Muller 1958 (its generation)",
        ],
        params: &[DEVIATION],
        new: |params| Jitter::Normal {
            deviation: Duration::from_secs(params.duration("deviation")),
        },
    },
    Entry {
        name: "pareto",
        summary: "Pareto: P(jitter > x) = (scale / x)^shape for x >= scale; many short delays and few long ones",
        specification: &[
            "Johnson, Kotz and Balakrishnan 1994, chapter 20 (Pareto of the first kind)",
        ],
        params: &[SCALE, SHAPE, MAX],
        new: |params| Jitter::Pareto {
            scale: Duration::from_secs(params.duration("scale")),
            shape: params.number("shape"),
            max: match params.get("max") {
                Value::Duration(secs) => Duration::from_secs(secs),
                _ => Duration::INFINITE,
            },
        },
    },
    Entry {
        name: "table",
        summary: "by `quantiles`, an ascending list of times that divide the distribution evenly, linear in between; sorted measurements are one. Or `file`, with one number of milliseconds per line",
        specification: &["Law 2015, §6.2.4 (a continuous empirical distribution)"],
        params: &[],
        new: |_| Jitter::Table {
            quantiles: Arc::new([Duration::ZERO; 2]),
        },
    },
];

const SPREAD: Param = param!(spread: Kind::Duration { min_exclusive: false } => Value::Duration(0.001),
    "largest difference from the link's delay, either way");

const DEVIATION: Param = param!(deviation: Kind::Duration { min_exclusive: false } => Value::Duration(0.001),
    "standard deviation");

const SCALE: Param = param!(scale: Kind::Duration { min_exclusive: true } => Value::Duration(0.001),
    "least jitter");

const SHAPE: Param = param!(shape: Kind::Number { min: 0.1, max: 100.0 } => Value::Number(2.5),
    "the tail's exponent; the mean is scale x shape / (shape - 1), infinite up to 1");

const MAX: Param = param!(max: Kind::Duration { min_exclusive: true } => Value::None,
    "what is drawn above this is this; `none`: without bound");

impl Jitter {
    /// The jitter of one packet.
    pub(crate) fn draw(&self, stream: &mut RandomStream) -> Duration {
        let uniform = stream.uniform();
        match self {
            Self::Uniform { spread } => *spread * (2.0 * uniform - 1.0),
            Self::Normal { deviation } => {
                let radius = (-2.0 * libm::log(1.0 - uniform)).sqrt();
                *deviation * radius * libm::cos(TAU * stream.uniform())
            }
            Self::Pareto { scale, shape, max } => {
                (*scale * libm::pow(1.0 - uniform, -1.0 / shape)).min(*max)
            }
            Self::Table { quantiles } => between(quantiles, uniform),
        }
    }

    /// Below what no jitter is; that of a normal distribution has no bound, and a delay none below zero.
    pub(crate) fn least(&self) -> Duration {
        match self {
            Self::Uniform { spread } => Duration::ZERO - *spread,
            Self::Normal { .. } => Duration::from_secs(f64::NEG_INFINITY),
            Self::Pareto { scale, max, .. } => scale.min(*max),
            Self::Table { quantiles } => quantiles[0],
        }
    }
}

/// The quantile of `share`.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index"
)]
fn between(quantiles: &[Duration], share: f64) -> Duration {
    let place = share * (quantiles.len() - 1) as f64;
    let below = (place as usize).min(quantiles.len() - 2);
    let (low, high) = (quantiles[below], quantiles[below + 1]);
    low + (high - low) * (place - below as f64)
}
