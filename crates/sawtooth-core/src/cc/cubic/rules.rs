//! The parameters, as numbers.

use crate::cc::params::{BEGINS_AGAIN, BeginsAgain, beta_ecn};
use crate::registry::Params;

/// The algorithm's parameters; those of [`Steps`](super::steps::Steps) are there.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is set by itself")]
pub(super) struct CubicRules {
    pub(super) c: f64,
    pub(super) beta: f64,
    pub(super) beta_ecn: Option<f64>,
    pub(super) fast_convergence: bool,
    pub(super) app_limited_counts: bool,
    pub(super) alpha_becomes_one: bool,
    pub(super) time_unit: f64,
    pub(super) min_rtt_after: f64,
    pub(super) begins_with_empty_path: bool,
}

impl From<&Params> for CubicRules {
    fn from(params: &Params) -> Self {
        Self {
            c: params.number("c"),
            beta: params.number("beta"),
            beta_ecn: beta_ecn(params),
            fast_convergence: params.flag("fast_convergence"),
            app_limited_counts: params.choice("app_limited") == "counts",
            alpha_becomes_one: params.choice("w_est_alpha") == "rfc9438",
            time_unit: params.duration("time_unit"),
            min_rtt_after: params.duration("min_rtt_after"),
            begins_with_empty_path: params.choice(BEGINS_AGAIN.name)
                == BeginsAgain::EmptyPath.word(),
        }
    }
}

impl CubicRules {
    /// What W_est grows by per window (RFC 9438 §4.3).
    pub(super) fn alpha(&self) -> f64 {
        3.0 * (1.0 - self.beta) / (1.0 + self.beta)
    }
}
