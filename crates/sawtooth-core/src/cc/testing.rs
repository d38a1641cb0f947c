//! What tests of algorithms have in common.

use super::{CongestionControl, Episode, Prescribed, Signal};

/// The parts of the transport's calls under names of their own.
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

    fn on_loss(&mut self, episode: &Episode) {
        self.on_congestion(&Episode {
            signal: Signal::Loss,
            ..*episode
        });
    }

    fn on_ecn(&mut self, episode: &Episode) {
        self.on_congestion(&Episode {
            signal: Signal::Ecn,
            ..*episode
        });
    }

    fn on_rto(&mut self, episode: &Episode) {
        self.on_congestion(&Episode {
            signal: Signal::Rto,
            ..*episode
        });
    }
}

impl<C: CongestionControl + ?Sized> Told for C {}
