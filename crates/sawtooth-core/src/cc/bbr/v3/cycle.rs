//! The cycle of ProbeBW: when the rate is probed, and what the last probe has shown (draft-ietf-ccwg-bbr §5.3.3).

use super::params::Bbr3Parameters;
use super::slope::Slope;
use crate::cc::bbr::model::real;
use crate::rng::RandomStream;
use crate::units::Instant;

/// Which part of a probe of the rate acknowledgements belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

#[derive(Debug)]
pub(super) struct Cycle {
    random: RandomStream,
    ack_phase: AckPhase,
    /// When the cycle began, and after how long the next probe is due, seconds.
    began: f64,
    pub(super) bw_probe_wait: f64,
    pub(super) rounds_since_bw_probe: u64,
    pub(super) slope: Slope,
    /// Whether samples are of a probe.
    pub(super) bw_probe_samples: bool,
    pub(super) prev_probe_too_high: bool,
    pub(super) prev_probe_precautionary: bool,
}

impl Cycle {
    pub(super) fn new(seed: u64) -> Self {
        Self {
            random: RandomStream::new(seed, "bbr3"),
            ack_phase: AckPhase::Init,
            began: 0.0,
            bw_probe_wait: 0.0,
            rounds_since_bw_probe: 0,
            slope: Slope::LEVEL,
            bw_probe_samples: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
        }
    }

    /// A cycle begins: with DOWN.
    pub(super) fn begin(&mut self, now: Instant, parameters: &Bbr3Parameters) {
        self.slope.level();
        self.rounds_since_bw_probe = u64::from(self.random.integer(0, 2) == 1);
        self.bw_probe_wait =
            parameters.probe_wait + parameters.probe_wait_spread * self.random.uniform();
        self.began = now.secs();
        self.stop_probe();
    }

    /// The pipe is filled before a probe.
    pub(super) fn refill(&mut self) {
        self.slope.restart();
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
    }

    /// A probe begins with this window.
    pub(super) fn start_probe(&mut self, cwnd: f64) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.slope.steeper(cwnd);
    }

    /// Acknowledgements of a probe come for a round trip more.
    pub(super) fn stop_probe(&mut self) {
        self.ack_phase = AckPhase::ProbeStopping;
    }

    /// A round begins; returns whether it is the one after a probe.
    pub(super) fn on_round(&mut self) -> bool {
        match self.ack_phase {
            AckPhase::ProbeStarting => {
                self.ack_phase = AckPhase::ProbeFeedback;
                false
            }
            AckPhase::ProbeStopping => {
                self.bw_probe_samples = false;
                self.ack_phase = AckPhase::Init;
                true
            }
            _ => false,
        }
    }

    /// Whether a probe is due, by the time that has passed or by so many round trips.
    pub(super) fn is_due(&self, now: Instant, rounds: f64) -> bool {
        now.secs() - self.began > self.bw_probe_wait || real(self.rounds_since_bw_probe) >= rounds
    }

    /// The last probe has shown that too much was in flight.
    pub(super) fn note_too_high(&mut self) {
        self.prev_probe_too_high = true;
        self.bw_probe_samples = false;
    }
}
