//! What an algorithm is to the transport: the trait, and what a connection starts with.

use std::fmt::Debug;

use super::events::{AckArrival, AckedData, AckedMarks, Episode, Prescribed, Signal, Windows};
use crate::units::{ByteCount, Duration, Instant, Rate, SeqNum, WindowSize};

/// Receives an algorithm's own variables by their names in its paper.
pub type VariableProbe<'a> = dyn FnMut(&'static str, f64) + 'a;

/// A congestion control algorithm for one connection.
pub trait CongestionControl: Debug + Send {
    /// New data was acknowledged.
    fn on_ack(&mut self, ack: &AckedData);

    /// The same, and the windows after it: one call where there would be two.
    fn windows_after(&mut self, ack: &AckedData) -> Windows {
        self.on_ack(ack);
        self.windows()
    }

    /// A sign of congestion. Called once per recovery point for losses, once per window for marks.
    fn on_congestion(&mut self, episode: &Episode);

    /// Whether the last acknowledgement has reduced the window for what it says of delay: the transport takes it down there as after a mark. Asked only of algorithms that
    /// [back off](super::Needs::backs_off).
    fn has_backed_off(&mut self) -> bool {
        false
    }

    /// An acknowledgement arrives, before anything is made of it; called only for algorithms that [need](super::Needs::arrivals) it.
    fn on_arrival(&mut self, _arrival: &AckArrival) {}

    /// An acknowledgement arrives, with ECN: how much of what it has delivered was marked. Called before anything is made of it, and only for algorithms
    /// of [`EcnMode::Every`](super::EcnMode::Every).
    fn on_marks(&mut self, _marks: &AckedMarks) {}

    /// The last episode was spurious: the windows return to what they were `before` it, or stay if they have grown beyond that, as in Linux (RFC 4015 §3.1
    /// step (9) sets them from FlightSize instead).
    fn on_undo(&mut self, before: Windows) {
        let now = self.windows();
        self.prescribe(Prescribed::Cwnd(now.cwnd.max(before.cwnd)));
        self.prescribe(Prescribed::Ssthresh(now.ssthresh.max(before.ssthresh)));
    }

    /// How long the handshake took, before `on_established`; not called where the SYN was sent again.
    fn on_handshake(&mut self, _now: Instant, _rtt: Duration) {}

    /// The handshake is over: the window with which data begins.
    fn on_established(&mut self, initial_window: WindowSize) {
        self.prescribe(Prescribed::Cwnd(initial_window));
    }

    /// Everything that was outstanding at the last sign of congestion, which was of this kind, has arrived.
    fn on_recovered(&mut self, _now: Instant, _began: Signal) {}

    /// A timeout of what the window was reduced for before: the threshold stays, and the window is prescribed after this.
    fn on_further_timeout(&mut self, _now: Instant) {}

    /// The connection begins to send again after `idle` with nothing outstanding.
    fn on_restart(&mut self, _now: Instant, _idle: Duration) {}

    /// Segment `next` or one before it leaves while nothing is in the path, `since` the last one did. Called only for algorithms that [need](super::Needs::empty_path) it.
    fn on_empty_path(&mut self, _now: Instant, _since: Duration, _next: SeqNum) {}

    /// Takes over a window that is not the algorithm's own.
    fn prescribe(&mut self, prescribed: Prescribed);

    /// The congestion window, and the slow-start threshold, which is infinite before the first loss unless set.
    fn windows(&self) -> Windows;

    /// How fast to send, if the algorithm paces.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Reports the algorithm's own variables.
    fn probe(&self, _out: &mut VariableProbe<'_>) {}
}

/// What a connection starts with.
#[derive(Clone, Copy, Debug)]
pub struct ConnectionStart {
    /// Initial window.
    pub cwnd: WindowSize,
    /// Initial slow-start threshold; infinite when "arbitrarily high" (RFC 5681 §3.1).
    pub ssthresh: WindowSize,
    /// Whether to follow ns-2 where it departs from the specification.
    pub ns2: bool,
    /// Whether windows are whole segments, which grow by one when enough has been acknowledged, as in kernels.
    pub whole_windows: bool,
    /// A kernel's tick, in which algorithms that say so measure time; 0: none.
    pub tick: Duration,
    /// Application bytes in a full segment, for algorithms that think in rates.
    pub smss: ByteCount,
    /// Of the random numbers of algorithms that draw any.
    pub seed: u64,
}

impl ConnectionStart {
    /// `window`, rounded down where windows are whole.
    pub fn whole(&self, window: WindowSize) -> WindowSize {
        if self.whole_windows {
            window.trunc()
        } else {
            window
        }
    }

    /// That of a connection with a window of `cwnd` and no threshold, for tests.
    pub const fn at(cwnd: WindowSize) -> Self {
        Self {
            cwnd,
            ssthresh: WindowSize::INFINITE,
            ns2: false,
            whole_windows: false,
            tick: Duration::from_secs(0.0),
            smss: ByteCount::new(1460),
            seed: 1,
        }
    }
}
