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
    pub(super) fn count(self, time: Duration) -> f64 {
        if self.tick > 0.0 {
            floor(time.secs() / self.tick + 1e-9)
        } else {
            time.secs()
        }
    }
}

/// How far the host's clock has come, as [`HostTicks::count`] counts, and the window then, segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowThen {
    pub(super) ticks: f64,
    pub(super) cwnd: f64,
}

/// How many segments are to be acknowledged for a step, and what that was computed for.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepPace {
    pub(super) per: f64,
    pub(super) of: WindowThen,
}

impl StepPace {
    /// Whether it still is: it is computed anew for another window, and after so many ticks.
    pub(super) fn holds(&self, now: WindowThen, interval_ticks: f64) -> bool {
        self.of.cwnd == now.cwnd && now.ticks <= self.of.ticks + interval_ticks
    }
}
