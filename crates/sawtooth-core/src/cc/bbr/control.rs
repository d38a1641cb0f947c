//! What BBR controls: the congestion window and the pacing rate (draft-ietf-ccwg-bbr §5.6).

use crate::cc::{ConnectionStart, Prescribed, Windows};
use crate::units::{ByteCount, Duration, Rate, SegCount, WindowSize, ceil, floor};

/// Windows are in segments, the rate in bits per second, as in the formulas of the draft.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    start: ConnectionStart,
    pub cwnd: f64,
    /// The window before a recovery or ProbeRTT.
    prior_cwnd: f64,
    pub pacing_rate: f64,
    /// A burst is sent in so many seconds, and no larger than so many bytes.
    quantum_duration: f64,
    quantum_max: f64,
}

impl Control {
    /// With the initial window, and without a rate.
    pub(super) fn new(
        start: ConnectionStart,
        quantum_duration: Duration,
        quantum_max: ByteCount,
    ) -> Self {
        Self {
            start,
            cwnd: start.cwnd.segments(),
            prior_cwnd: 0.0,
            pacing_rate: 0.0,
            quantum_duration: quantum_duration.secs(),
            quantum_max: quantum_max.as_f64(),
        }
    }

    /// Data begins with this window.
    pub(super) fn on_established(&mut self, initial_window: WindowSize) {
        self.start.cwnd = initial_window;
        self.cwnd = initial_window.segments();
    }

    pub(super) fn initial_window(&self) -> f64 {
        self.start.cwnd.segments()
    }

    pub(super) fn smss(&self) -> ByteCount {
        self.start.smss
    }

    pub(super) fn segment_bits(&self) -> f64 {
        self.start.smss.as_f64() * 8.0
    }

    /// `window`, rounded up where windows are whole.
    pub(super) fn rounded_up(&self, window: f64) -> f64 {
        if self.start.whole_windows {
            ceil(window)
        } else {
            window
        }
    }

    /// `window`, rounded down where windows are whole.
    pub(super) fn rounded_down(&self, window: f64) -> f64 {
        if self.start.whole_windows {
            floor(window)
        } else {
            window
        }
    }

    /// Whole segments of a burst at the pacing rate.
    pub(super) fn burst(&self) -> f64 {
        let bytes = self.pacing_rate / 8.0 * self.quantum_duration;
        floor(bytes.min(self.quantum_max) / self.start.smss.as_f64())
    }

    /// Paces at `rate`; until the pipe is full the rate never falls.
    pub(super) fn pace(&mut self, rate: f64, full_pipe: bool) {
        if rate > 0.0 && (full_pipe || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// Remembers the window, or, where a recovery or ProbeRTT has `touched` it, the one before that if it was larger.
    pub(super) fn save_cwnd(&mut self, touched: bool) {
        self.prior_cwnd = if touched {
            self.prior_cwnd.max(self.cwnd)
        } else {
            self.cwnd
        };
    }

    /// Gives back the window that was remembered.
    pub(super) fn restore_cwnd(&mut self) {
        self.cwnd = self.cwnd.max(self.prior_cwnd);
    }

    /// Grows by what was delivered: up to `target` when the pipe is full, and before that unless more than `target` is in use. `total` segments have been
    /// delivered so far: the initial window is doubled in any case.
    pub(super) fn grow(&mut self, delivered: f64, target: f64, full_pipe: bool, total: SegCount) {
        let grown = self.cwnd + delivered;
        if full_pipe {
            self.cwnd = grown.min(target);
        } else if self.cwnd < target || total.as_f64() < self.initial_window() {
            self.cwnd = grown;
        }
    }

    pub(super) fn prescribe(&mut self, prescribed: Prescribed) {
        self.cwnd = prescribed.cwnd().map_or(self.cwnd, WindowSize::segments);
    }

    pub(super) fn windows(&self) -> Windows {
        Windows::without_threshold(WindowSize::from_segments(self.cwnd))
    }

    pub(super) fn rate(&self) -> Rate {
        Rate::from_bps(self.pacing_rate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{beginning, segs};

    fn control(cwnd: f64) -> Control {
        Control::new(
            beginning(cwnd),
            Duration::from_secs(1e-3),
            ByteCount::new(65_536),
        )
    }

    #[test]
    fn a_burst_is_what_is_sent_in_a_time_but_no_more_than_so_many_bytes() {
        let mut control = control(10.0);
        // 100 Mbit/s send 12 500 bytes in a millisecond: eight segments of 1460, and a part of one.
        control.pacing_rate = 1e8;
        assert_eq!(control.burst(), 8.0);
        control.pacing_rate = 1e10;
        assert_eq!(control.burst(), 44.0);
    }

    #[test]
    fn the_rate_falls_only_when_the_pipe_is_full() {
        let mut control = control(10.0);
        control.pace(2e6, false);
        control.pace(1e6, false);
        assert_eq!(control.pacing_rate, 2e6);
        control.pace(1e6, true);
        assert_eq!(control.pacing_rate, 1e6);
        control.pace(0.0, true);
        assert_eq!(control.pacing_rate, 1e6, "no rate is known");
    }

    #[test]
    fn a_window_that_was_saved_is_given_back_unless_there_is_a_larger_one() {
        let mut control = control(40.0);
        control.save_cwnd(false);
        control.cwnd = 4.0;
        // A loss in a recovery does not make the recovery's window the one to give back.
        control.save_cwnd(true);
        control.restore_cwnd();
        assert_eq!(control.cwnd, 40.0);
        control.cwnd = 50.0;
        control.restore_cwnd();
        assert_eq!(control.cwnd, 50.0);
    }

    #[test]
    fn a_window_grows_to_its_target_and_the_first_one_doubles_whatever_that_is() {
        let mut control = control(10.0);
        control.grow(2.0, 5.0, false, segs(2));
        assert_eq!(control.cwnd, 12.0);
        control.grow(2.0, 5.0, false, segs(10));
        assert_eq!(control.cwnd, 12.0);
        control.grow(2.0, 13.0, true, segs(10));
        assert_eq!(control.cwnd, 13.0);
    }
}
