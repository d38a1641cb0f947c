//! What tests of algorithms have in common.

pub(super) use super::{
    AckedData, CongestionControl, ConnectionStart, Episode, PathOrder, Prescribed, Signal,
};
use crate::registry::{Entry, Params, Value};
pub(super) use crate::units::{Duration, Instant, SegCount, SeqNum, WindowSize};

/// The defaults of a row, but for some.
pub(super) fn params<C>(entry: &Entry<C>, set: &[(&str, Value)]) -> Params {
    let mut params = Params::defaults(entry.params);
    for &(name, value) in set {
        params.set(name, value);
    }
    params
}

/// So many segments.
pub(super) const fn segs(count: u64) -> SegCount {
    SegCount::new(count)
}

/// A window of so many segments.
pub(super) const fn window(segments: f64) -> WindowSize {
    WindowSize::from_segments(segments)
}

/// A connection with a window of so many segments and no threshold.
pub(super) const fn beginning(cwnd: f64) -> ConnectionStart {
    ConnectionStart::at(window(cwnd))
}

/// A connection with a window and a slow-start threshold of so many segments.
pub(super) const fn starting(cwnd: f64, ssthresh: f64) -> ConnectionStart {
    ConnectionStart {
        ssthresh: window(ssthresh),
        ..beginning(cwnd)
    }
}

/// A connection in congestion avoidance with `cwnd` segments.
pub(super) const fn avoiding(cwnd: f64) -> ConnectionStart {
    starting(cwnd, 2.0)
}

/// At `secs`, an acknowledgement of `acked` segments, all of which count, of a sender limited by its window of `flight_size`.
pub(super) fn ack_at(secs: f64, acked: u64, flight_size: u64) -> AckedData {
    let acked = segs(acked);
    AckedData {
        now: Instant::from_secs(secs),
        acked,
        counted: acked,
        delivered: acked,
        lost: SegCount::ZERO,
        marked: SegCount::ZERO,
        flight_size: segs(flight_size),
        pipe: segs(flight_size).saturating_sub(acked),
        snd_una: SeqNum::ZERO,
        snd_nxt: SeqNum::ZERO,
        rtt: None,
        may_grow: true,
        order: PathOrder::InOrder,
        cwnd_limited: true,
        rate: None,
        waits: Duration::ZERO,
    }
}

/// An acknowledgement of one segment.
pub(super) fn ack() -> AckedData {
    ack_at(1.0, 1, 20)
}

/// At `secs`, a loss at a window of `cwnd` segments.
pub(super) const fn loss_at(secs: f64, cwnd: f64) -> Episode {
    Episode {
        now: Instant::from_secs(secs),
        signal: Signal::Loss,
        window: window(cwnd),
        whole_ssthresh: false,
        ns2: false,
    }
}

/// A loss at a window of `window` segments.
pub(super) const fn loss(window: f64) -> Episode {
    loss_at(1.0, window)
}

/// The same in a stack of whole thresholds.
pub(super) fn whole_loss(window: f64) -> Episode {
    Episode {
        whole_ssthresh: true,
        ..loss(window)
    }
}

/// The events that the transport gives an algorithm, in short forms for tests.
pub(super) trait Told: CongestionControl {
    fn cwnd(&self) -> f64 {
        self.windows().cwnd.segments()
    }

    fn ssthresh(&self) -> f64 {
        self.windows().ssthresh.segments()
    }

    fn set_cwnd(&mut self, cwnd: f64) {
        self.prescribe(Prescribed::Cwnd(window(cwnd)));
    }

    fn set_ssthresh(&mut self, ssthresh: f64) {
        self.prescribe(Prescribed::Ssthresh(window(ssthresh)));
    }

    fn on(&mut self, signal: Signal, episode: &Episode) {
        self.on_congestion(&Episode { signal, ..*episode });
    }

    fn on_loss(&mut self, episode: &Episode) {
        self.on(Signal::Loss, episode);
    }

    fn on_ecn(&mut self, episode: &Episode) {
        self.on(Signal::Ecn, episode);
    }

    fn on_rto(&mut self, episode: &Episode) {
        self.on(Signal::Rto, episode);
    }
}

impl<C: CongestionControl + ?Sized> Told for C {}
