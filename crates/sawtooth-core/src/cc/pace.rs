//! Growth by one with every so many segments, which are computed from time to time: as Linux's CUBIC and BIC do, in ticks of the host's clock.

use crate::units::{Duration, floor};

/// How a host's clock counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostTicks {
    /// Seconds; 0: it does not tick.
    pub(super) tick: f64,
}

impl HostTicks {
    pub(super) fn of(tick: Duration) -> Self {
        Self { tick: tick.secs() }
    }

    /// Time in whole ticks, or in seconds where the host has none.
    pub(super) fn count(self, secs: f64) -> f64 {
        if self.tick > 0.0 {
            floor(secs / self.tick + 1e-9)
        } else {
            secs
        }
    }
}

/// How many segments are to be acknowledged for a step, at which tick that was computed, and for which window.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepPace {
    pub(super) per: f64,
    pub(super) ticks: f64,
    pub(super) cwnd: f64,
}

impl StepPace {
    /// Whether it is still that of this window: it is computed anew after so many ticks.
    pub(super) fn holds(&self, ticks: f64, cwnd: f64, interval_ticks: f64) -> bool {
        self.cwnd == cwnd && ticks <= self.ticks + interval_ticks
    }
}
