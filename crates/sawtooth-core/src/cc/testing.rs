//! What tests of algorithms have in common.

pub use super::{Ack, CongestionControl, Episode, Prescribed, Signal, Start};
use crate::registry::{Entry, Params, Value};
pub use crate::units::Instant;

/// The defaults of a row, but for some.
pub fn params<C>(entry: &Entry<C>, set: &[(&str, Value)]) -> Params {
    let mut params = Params::defaults(entry.params);
    for &(name, value) in set {
        params.set(name, value);
    }
    params
}

/// A connection with a window and a slow-start threshold of so many segments.
pub fn starting(cwnd: f64, ssthresh: f64) -> Start {
    Start {
        ssthresh,
        ..Start::at(cwnd)
    }
}

/// A connection in congestion avoidance with `cwnd` segments.
pub fn avoiding(cwnd: f64) -> Start {
    starting(cwnd, 2.0)
}

/// An acknowledgement of one segment.
pub fn ack() -> Ack {
    Ack::of(Instant::from_secs(1.0), 1, 20)
}

/// A loss at a window of `window` segments.
pub fn loss(window: f64) -> Episode {
    Episode::of(Instant::from_secs(1.0), window)
}

/// The same in a stack of whole thresholds.
pub fn whole_loss(window: f64) -> Episode {
    Episode {
        whole_ssthresh: true,
        ..loss(window)
    }
}

/// What the transport tells an algorithm, under names of its own.
pub trait Told: CongestionControl {
    fn cwnd(&self) -> f64 {
        self.windows().cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.windows().ssthresh
    }

    fn set_cwnd(&mut self, cwnd: f64) {
        self.prescribe(Prescribed::Cwnd(cwnd));
    }

    fn set_ssthresh(&mut self, ssthresh: f64) {
        self.prescribe(Prescribed::Ssthresh(ssthresh));
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
