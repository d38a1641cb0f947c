//! Growth in whole steps, as measured of Linux 6.1 (`whole_target`): the window grows by one with every so many segments, and how many that are is
//! computed from time to time.

use super::epoch::CubicEpoch;
use super::rules::CubicRules;
use crate::cc::pace::{HostTicks, StepPace, WindowThen};
use crate::registry::Params;
use crate::units::{Duration, Instant, SegCount, floor};

/// What the host's clock says.
#[derive(Clone, Copy, Debug)]
pub(super) struct HostTime {
    /// As [`HostTicks::count`] counts them.
    pub(super) ticks: f64,
    /// The same as a time.
    pub(super) at: Instant,
}

/// Times are in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps {
    /// `update_interval`, in ticks as [`HostTicks::count`] counts them.
    pub(super) interval_ticks: f64,
    first_growth: Option<f64>,
    pub(super) ack_ratio: f64,
    pub(super) clock: HostTicks,
    pub(super) pace: Option<StepPace>,
    /// Segments of W_est's window that take it one further, and what has been acknowledged since it last went.
    w_est_share: f64,
    w_est_counted: f64,
}

impl Steps {
    pub(super) fn new(params: &Params, tick: Duration, rules: &CubicRules) -> Self {
        let clock = HostTicks::of(tick);
        let alpha = rules.alpha();
        Self {
            interval_ticks: clock.count(Duration::from_secs(params.duration("update_interval"))),
            first_growth: params.number_if_any("first_growth"),
            ack_ratio: params.number("ack_ratio"),
            clock,
            pace: None,
            w_est_share: floor(8.0 / alpha) / 8.0,
            w_est_counted: 0.0,
        }
    }

    /// `counted` more segments have been acknowledged: how many a step takes, if that is not to be computed anew.
    #[inline]
    pub(super) fn held(&mut self, now: WindowThen, counted: SegCount) -> Option<f64> {
        self.w_est_counted += counted.as_f64();
        let pace = self.pace.filter(|_| self.is_kept())?;
        pace.holds(now, self.interval_ticks).then_some(pace.per)
    }

    /// An epoch begins with this acknowledgement: a step is computed whatever was before.
    pub(super) fn begin_epoch(&mut self, counted: SegCount) {
        self.w_est_counted = counted.as_f64();
        self.pace = None;
    }

    /// How many segments a step takes from a window, now that the host's clock is there: towards the target that `target` computes, which is asked once in a tick, and not fewer than W_est's
    /// takes. Before the `first` loss `first_growth` bounds it.
    pub(super) fn per(
        &mut self,
        now: WindowThen,
        first: bool,
        epoch: &mut CubicEpoch,
        target: impl FnOnce(&CubicEpoch) -> f64,
    ) -> f64 {
        let cwnd = now.cwnd;
        let of_this_tick = self
            .pace
            .filter(|pace| self.is_kept() && pace.of.ticks == now.ticks);
        let towards = |target: f64| {
            if target > cwnd {
                floor(cwnd / (target - cwnd))
            } else {
                f64::INFINITY
            }
        };
        let mut per = match (of_this_tick, self.first_growth) {
            (Some(pace), _) => pace.per,
            (None, Some(most)) if first => towards(target(epoch)).min(most),
            (None, _) => towards(target(epoch)),
        };
        let each = floor(cwnd * self.w_est_share).max(1.0);
        let further = floor((self.w_est_counted - 1.0) / each).max(0.0);
        self.w_est_counted -= further * each;
        epoch.w_est += further;
        per = per.min(towards(epoch.w_est));
        let per = if self.ack_ratio > 1.0 {
            floor(per.max(2.0) / self.ack_ratio).max(1.0)
        } else {
            per.max(2.0)
        };
        let of = of_this_tick.map_or(now, |pace| pace.of);
        self.pace = Some(StepPace { per, of });
        per
    }

    /// Forgets what was computed.
    pub(super) fn forget(&mut self) {
        self.pace = None;
        self.w_est_counted = 0.0;
    }

    /// Whether what was computed is of use later.
    fn is_kept(&self) -> bool {
        self.clock.tick > 0.0 || self.interval_ticks > 0.0
    }

    /// Up to when the host's clock has come.
    pub(super) fn now(&self, now: Instant) -> HostTime {
        let ticks = self.clock.count(now - Instant::START);
        let HostTicks { tick } = self.clock;
        let at = Instant::from_secs(ticks * if tick > 0.0 { tick } else { 1.0 });
        HostTime { ticks, at }
    }
}
