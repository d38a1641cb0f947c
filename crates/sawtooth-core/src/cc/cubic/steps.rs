//! Growth in whole steps, as measured of Linux 6.1 (`whole_target`): the window grows by one with every so many segments, and how many that are is
//! computed from time to time.

use crate::registry::Params;
use crate::units::{Duration, Instant, SegCount, floor};

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
    pub(super) update_interval: f64,
    first_growth: Option<f64>,
    pub(super) ack_ratio: f64,
    pub(super) tick: f64,
    pub(super) pace: Option<StepPace>,
    /// Segments of W_est's window that take it one further, and what has been acknowledged since it last went.
    w_est_share: f64,
    w_est_counted: f64,
}

/// What of the pace is computed at an acknowledgement.
enum Due {
    Nothing,
    /// The bound by W_est.
    Standard,
    All,
}

impl Steps {
    pub(super) fn new(params: &Params, tick: Duration, alpha: f64) -> Self {
        Self {
            update_interval: params.duration("update_interval"),
            first_growth: params.number_if_any("first_growth"),
            ack_ratio: params.number("ack_ratio"),
            tick: tick.secs(),
            pace: None,
            w_est_share: floor(8.0 / alpha) / 8.0,
            w_est_counted: 0.0,
        }
    }

    /// How many segments a step takes from a window of `cwnd` towards `target`, which is computed only if it is time. Before the `first` loss
    /// `first_growth` bounds it; `counted` more segments have been acknowledged.
    pub(super) fn per(
        &mut self,
        now: Instant,
        cwnd: f64,
        counted: SegCount,
        first: bool,
        w_est: &mut f64,
        target: impl FnOnce() -> f64,
    ) -> f64 {
        let ticks = self.in_ticks(now.secs());
        self.w_est_counted += counted.as_f64();
        let due = self.due(ticks, cwnd);
        let mut per = match (&due, self.pace) {
            (Due::Nothing, Some(pace)) => return pace.per,
            (Due::Standard, Some(pace)) => pace.per,
            _ => {
                let per = step_towards(target(), cwnd);
                match self.first_growth {
                    Some(most) if first => per.min(most),
                    _ => per,
                }
            }
        };
        let each = floor(cwnd * self.w_est_share);
        let further = floor((self.w_est_counted - 1.0) / each).max(0.0);
        self.w_est_counted -= further * each;
        *w_est += further;
        per = per.min(step_towards(*w_est, cwnd));
        let per = if self.ack_ratio > 1.0 {
            floor(per.max(2.0) / self.ack_ratio).max(1.0)
        } else {
            per.max(2.0)
        };
        self.pace = Some(match (due, self.pace) {
            (Due::Standard, Some(pace)) => StepPace { per, ..pace },
            _ => StepPace { per, ticks, cwnd },
        });
        per
    }

    /// Forgets what was computed, as it was for the window before a loss.
    pub(super) fn restart(&mut self) {
        self.pace = None;
        self.w_est_counted = 0.0;
    }

    fn due(&self, ticks: f64, cwnd: f64) -> Due {
        let Some(pace) = self.pace else {
            return Due::All;
        };
        let interval = self.in_ticks(self.update_interval);
        if self.tick == 0.0 && interval == 0.0 {
            Due::All
        } else if pace.cwnd == cwnd && ticks <= pace.ticks + interval {
            Due::Nothing
        } else if ticks == pace.ticks {
            Due::Standard
        } else {
            Due::All
        }
    }

    /// The time up to which a clock of ticks has come, seconds.
    pub(super) fn clock(&self, secs: f64) -> f64 {
        if self.tick > 0.0 {
            self.in_ticks(secs) * self.tick
        } else {
            secs
        }
    }

    /// A time span in ticks begun, seconds.
    pub(super) fn span(&self, secs: f64) -> f64 {
        if self.tick > 0.0 {
            libm::ceil(secs / self.tick - 1e-9) * self.tick
        } else {
            secs
        }
    }

    /// Time in whole ticks, or in seconds where the host has none.
    pub(super) fn in_ticks(&self, secs: f64) -> f64 {
        if self.tick > 0.0 {
            floor(secs / self.tick + 1e-9)
        } else {
            secs
        }
    }
}

/// Segments for a step towards a target, whole; none if it is not above.
fn step_towards(target: f64, cwnd: f64) -> f64 {
    if target > cwnd {
        floor(cwnd / (target - cwnd))
    } else {
        f64::INFINITY
    }
}
