//! The shell of classic algorithms: a congestion window and a slow-start threshold as RFC 5681 §3.1 and §3.2 have them.
//!
//! - slow start below the threshold, and at it or above it congestion avoidance: both only where the recovery in force lets the window grow
//!   and the window limited what was sent (RFC 7661 §4.3)
//! - a loss or a mark leaves a share of the window, as window and threshold; a timeout leaves that as the threshold, and one segment
//!
//! How the window grows in congestion avoidance and what congestion leaves of it is an algorithm's own: its [`Avoidance`].
//!
//! Formulas compute with plain numbers, in segments and seconds as their papers have them; what comes from the transport and goes to it has its unit.

use std::fmt::Debug;

use super::api::{CongestionControl, ConnectionStart, VariableProbe};
use super::events::{AckArrival, AckedData, AckedMarks, Episode, Prescribed, Signal, Windows};
use super::growth::{Growth, slow_start};
use crate::units::{Duration, Instant, SegCount, SeqNum, WindowSize};

/// The window of a classic algorithm, segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct CongestionWindow {
    pub cwnd: f64,
    pub ssthresh: f64,
    pub growth: Growth,
}

impl CongestionWindow {
    pub(super) fn new(start: ConnectionStart) -> Self {
        Self {
            cwnd: start.cwnd.segments(),
            ssthresh: start.ssthresh.segments(),
            growth: Growth::new(start.whole_windows),
        }
    }

    pub(super) fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start for `counted` segments, if the window is below the threshold; returns how many of them are left for congestion avoidance.
    #[inline]
    pub(super) fn start_slowly(&mut self, counted: SegCount) -> SegCount {
        if !self.in_slow_start() {
            return counted;
        }
        let (cwnd, left) = slow_start(self.cwnd, self.ssthresh, counted);
        self.cwnd = cwnd;
        left
    }

    /// What standard TCP makes of an acknowledgement (RFC 5681 §3.1).
    pub(super) fn grow_as_standard(&mut self, ack: &AckedData) {
        let counted = self.start_slowly(ack.counted);
        if !counted.is_zero() {
            self.grow(counted, 1.0);
        }
    }

    /// Congestion avoidance for `counted` segments: by `increase` when a window has been acknowledged.
    #[inline]
    pub(super) fn grow(&mut self, counted: SegCount, increase: f64) {
        self.cwnd = self.growth.add(self.cwnd, counted, increase);
    }

    /// Congestion leaves `left`: that becomes the threshold and, except after a timeout, the window.
    pub(super) fn reduce(&mut self, episode: &Episode, left: WindowSize) {
        self.ssthresh = episode.threshold(left).segments();
        self.cwnd = match episode.signal {
            Signal::Loss | Signal::Ecn => episode.reduced(left).segments(),
            Signal::Rto => 1.0,
        };
        self.growth.restart();
    }

    /// The share `beta` of the window is left, for what is told of delay. As after a loss, growth is counted anew (measured of Linux 6.1: after a backoff to 19 segments the window grows when the
    /// nineteenth since the end of the reduction has been acknowledged).
    pub(super) fn back_off(&mut self, beta: f64) {
        self.ssthresh = self.whole(self.cwnd * beta).max(2.0);
        self.cwnd = self.ssthresh.min(self.cwnd);
        self.growth.restart();
    }

    pub(super) const fn windows(&self) -> Windows {
        Windows {
            cwnd: WindowSize::from_segments(self.cwnd),
            ssthresh: WindowSize::from_segments(self.ssthresh),
        }
    }

    /// Takes over a window that is not the algorithm's own.
    pub(super) fn prescribe(&mut self, prescribed: Prescribed) {
        match prescribed {
            Prescribed::Cwnd(cwnd) => self.cwnd = cwnd.segments(),
            Prescribed::Ssthresh(ssthresh) => self.ssthresh = ssthresh.segments(),
        }
    }

    /// `window`, rounded down where windows are whole.
    pub(super) fn whole(&self, window: f64) -> f64 {
        if self.growth.whole {
            window.floor()
        } else {
            window
        }
    }
}

/// The rules of a classic algorithm. All but [`Avoidance::decrease`] have a default, which is standard TCP's rule.
pub(super) trait Avoidance: Debug + Send {
    /// Called for every acknowledgement, whether the window may grow or not.
    fn measure(&mut self, _window: &mut CongestionWindow, _ack: &AckedData) {}

    /// The window may grow.
    #[inline]
    fn grow(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        let counted = window.start_slowly(ack.counted);
        if !counted.is_zero() {
            let increase = self.increase(window);
            window.grow(counted, increase);
        }
    }

    /// By how many segments the window grows in congestion avoidance when a window has been acknowledged.
    #[inline]
    fn increase(&self, _window: &CongestionWindow) -> f64 {
        1.0
    }

    /// What congestion leaves of [`Episode::window`].
    fn decrease(&mut self, window: &CongestionWindow, episode: &Episode) -> WindowSize;

    /// An acknowledgement; to be replaced by algorithms that do more with it than measure and grow.
    #[inline]
    fn on_ack(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        self.measure(window, ack);
        if ack.may_grow && ack.cwnd_limited {
            self.grow(window, ack);
        }
    }

    /// A sign of congestion; to be replaced by algorithms whose window is then not the threshold.
    fn on_congestion(&mut self, window: &mut CongestionWindow, episode: &Episode) {
        let left = self.decrease(window, episode);
        window.reduce(episode, left);
    }

    /// The last episode was spurious. The windows are restored after this.
    fn on_undo(&mut self, _window: &CongestionWindow, _before: Windows) {}

    fn has_backed_off(&mut self) -> bool {
        false
    }

    fn on_arrival(&mut self, _window: &CongestionWindow, _arrival: &AckArrival) {}

    fn on_marks(&mut self, _marks: &AckedMarks) {}

    fn on_handshake(&mut self, _window: &mut CongestionWindow, _now: Instant, _rtt: Duration) {}

    fn on_established(&mut self, window: &mut CongestionWindow, initial_window: WindowSize) {
        window.cwnd = initial_window.segments();
    }

    fn on_recovered(&mut self, _window: &mut CongestionWindow, _now: Instant, _began: Signal) {}

    fn on_further_timeout(&mut self, _now: Instant) {}

    fn on_restart(&mut self, _now: Instant, _idle: Duration) {}

    fn on_empty_path(&mut self, _now: Instant, _since: Duration, _next: SeqNum) {}

    fn probe(&self, _window: &CongestionWindow, _out: &mut VariableProbe<'_>) {}
}

/// A classic algorithm: the window, and its own rules and variables.
#[derive(Debug)]
pub(super) struct ClassicControl<A> {
    pub window: CongestionWindow,
    pub own: A,
}

impl<A: Avoidance + 'static> ClassicControl<A> {
    pub(super) fn new(start: ConnectionStart, own: A) -> Self {
        Self {
            window: CongestionWindow::new(start),
            own,
        }
    }

    pub(super) fn boxed(start: ConnectionStart, own: A) -> Box<dyn CongestionControl> {
        Box::new(Self::new(start, own))
    }
}

impl<A: Avoidance> CongestionControl for ClassicControl<A> {
    fn on_ack(&mut self, ack: &AckedData) {
        self.own.on_ack(&mut self.window, ack);
    }

    fn on_congestion(&mut self, episode: &Episode) {
        self.own.on_congestion(&mut self.window, episode);
    }

    fn has_backed_off(&mut self) -> bool {
        self.own.has_backed_off()
    }

    fn on_arrival(&mut self, arrival: &AckArrival) {
        self.own.on_arrival(&self.window, arrival);
    }

    fn on_marks(&mut self, marks: &AckedMarks) {
        self.own.on_marks(marks);
    }

    fn on_undo(&mut self, before: Windows) {
        self.own.on_undo(&self.window, before);
        self.window.cwnd = self.window.cwnd.max(before.cwnd.segments());
        self.window.ssthresh = self.window.ssthresh.max(before.ssthresh.segments());
    }

    fn on_handshake(&mut self, now: Instant, rtt: Duration) {
        self.own.on_handshake(&mut self.window, now, rtt);
    }

    fn on_established(&mut self, initial_window: WindowSize) {
        self.own.on_established(&mut self.window, initial_window);
    }

    fn on_recovered(&mut self, now: Instant, began: Signal) {
        self.own.on_recovered(&mut self.window, now, began);
    }

    fn on_further_timeout(&mut self, now: Instant) {
        self.own.on_further_timeout(now);
        self.window.growth.restart();
    }

    fn on_restart(&mut self, now: Instant, idle: Duration) {
        self.own.on_restart(now, idle);
    }

    fn on_empty_path(&mut self, now: Instant, since: Duration, next: SeqNum) {
        self.own.on_empty_path(now, since, next);
    }

    fn prescribe(&mut self, prescribed: Prescribed) {
        self.window.prescribe(prescribed);
    }

    fn windows(&self) -> Windows {
        self.window.windows()
    }

    fn probe(&self, out: &mut VariableProbe<'_>) {
        self.own.probe(&self.window, out);
    }
}
