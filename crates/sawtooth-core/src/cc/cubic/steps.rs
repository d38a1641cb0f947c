//! Growth in whole steps, as measured of Linux 6.1 (`whole_target`): the window grows by one with every so many segments, and how many that are is
//! computed from time to time.

use crate::registry::Params;
use crate::units::{Duration, Instant, floor};

/// How many segments are to be acknowledged for a step, at which tick that was computed, and for which window.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepPace {
    per: f64,
    pub(super) ticks: f64,
    cwnd: f64,
}

/// Times are in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// `update_interval`, in ticks as [`Steps::in_ticks`] counts them.
    pub(super) interval_ticks: f64,
    first_growth: Option<f64>,
    pub(super) ack_ratio: f64,
    pub(super) tick: f64,
    pub(super) pace: Option<StepPace>,
}

impl Steps {
    pub(super) fn new(params: &Params, tick: Duration) -> Self {
        let tick = tick.secs();
        Self {
            interval_ticks: ticks(params.duration("update_interval"), tick),
            first_growth: params.number_if_any("first_growth"),
            ack_ratio: params.number("ack_ratio"),
            tick,
            pace: None,
        }
    }

    /// How many segments a step takes from a window of `cwnd` towards `target`, which is computed only if it is time. Before the `first` loss
    /// `first_growth` bounds it.
    pub(super) fn per(
        &mut self,
        now: Instant,
        cwnd: f64,
        first: bool,
        target: impl FnOnce() -> f64,
    ) -> f64 {
        let ticks = self.in_ticks(now.secs());
        if let Some(pace) = self.pace
            && !self.is_due(&pace, ticks, cwnd)
        {
            return pace.per;
        }
        let target = target();
        let per = if target > cwnd {
            floor(cwnd / (target - cwnd))
        } else {
            f64::INFINITY
        };
        let per = match self.first_growth {
            Some(most) if first => per.min(most),
            _ => per,
        };
        let per = if self.ack_ratio > 1.0 {
            floor(per.max(2.0) / self.ack_ratio).max(1.0)
        } else {
            per.max(2.0)
        };
        self.pace = Some(StepPace { per, ticks, cwnd });
        per
    }

    /// Forgets what was computed, as it was for the window before a loss.
    pub(super) fn restart(&mut self) {
        self.pace = None;
    }

    fn is_due(&self, pace: &StepPace, ticks: f64, cwnd: f64) -> bool {
        let later =
            ticks > pace.ticks && (pace.cwnd != cwnd || ticks > pace.ticks + self.interval_ticks);
        later || (self.tick == 0.0 && self.interval_ticks == 0.0)
    }

    /// Time in whole ticks, or in seconds where the host has none.
    pub(super) fn in_ticks(&self, secs: f64) -> f64 {
        ticks(secs, self.tick)
    }
}

fn ticks(secs: f64, tick: f64) -> f64 {
    if tick > 0.0 {
        floor(secs / tick + 1e-9)
    } else {
        secs
    }
}
