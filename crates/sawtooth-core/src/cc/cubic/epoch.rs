//! A stage of congestion avoidance: the cubic function (RFC 9438 §4.2), and beside it `W_est`, the window of a standard TCP (§4.3).

use super::k::k_secs;
use super::rules::CubicRules;
use crate::units::{Instant, floor};

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct CubicEpoch {
    pub(super) start_secs: f64,
    /// Where the plateau is.
    pub(super) w_max: f64,
    pub(super) k: f64,
    pub(super) w_est: f64,
}

impl CubicEpoch {
    /// It begins with a window of `cwnd`, on the plateau unless that is higher.
    pub(super) fn begin(now: Instant, cwnd: f64, plateau: Option<f64>, rules: &CubicRules) -> Self {
        let plateau = plateau.filter(|&w_max| w_max > cwnd);
        Self {
            start_secs: now.secs(),
            w_max: plateau.unwrap_or(cwnd),
            k: plateau.map_or(0.0, |w_max| k_secs(w_max - cwnd, rules)),
            w_est: cwnd,
        }
    }

    /// `W_cubic(t)` of equation 1.
    pub(super) fn w_cubic(&self, c: f64, t: f64) -> f64 {
        let from_plateau = t - self.k;
        c * from_plateau * from_plateau * from_plateau + self.w_max
    }

    /// The same, whole segments away from W_max; at a whole multiple of `unit` if there is one.
    pub(super) fn whole_target(&self, c: f64, t: f64, unit: f64) -> f64 {
        let t = if unit > 0.0 {
            floor(t / unit + 1e-6) * unit
        } else {
            t
        };
        floor(self.w_max) + (self.w_cubic(c, t) - self.w_max).trunc()
    }
}

/// What a loss changes besides the windows, and a spurious one gives back (RFC 9438 §4.9).
#[derive(Clone, Copy, Debug)]
pub(super) struct History {
    /// The window of the last loss; none before the first, and after a timeout.
    pub(super) w_max: Option<f64>,
    /// The window when the threshold was last set.
    pub(super) cwnd_prior: f64,
    pub(super) epoch: Option<CubicEpoch>,
}

impl History {
    /// The epoch under way, which begins `now` with a window of `cwnd` if there is none.
    pub(super) fn epoch_at(
        &mut self,
        now: Instant,
        cwnd: f64,
        rules: &CubicRules,
    ) -> &mut CubicEpoch {
        let w_max = self.w_max;
        let begin = || CubicEpoch::begin(now, cwnd, w_max, rules);
        let epoch = self.epoch.get_or_insert_with(begin);
        // Without a loss to remember, the plateau is where congestion avoidance began (§4.8, §4.10).
        self.w_max.get_or_insert(epoch.w_max);
        epoch
    }
}
