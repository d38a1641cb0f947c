//! What a loss does to the window: for a round trip as much is sent as is delivered (draft-cardwell-iccrg-bbr-congestion-control-00 §4.2.3.4).

use crate::cc::AckedData;
use crate::cc::bbr::model::Rounds;
use crate::units::SegCount;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ConservationPhase {
    No,
    /// The next acknowledgement shows what is in the path.
    Begins,
    /// The first round trip: as much is sent as is delivered.
    Conserves,
    Continues,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct BbrRecovery {
    phase: ConservationPhase,
    /// What was in the path after the last acknowledgement, and what that one delivered.
    pipe: SegCount,
    delivered: SegCount,
}

impl BbrRecovery {
    pub(super) const NONE: Self = Self {
        phase: ConservationPhase::No,
        pipe: SegCount::ZERO,
        delivered: SegCount::ZERO,
    };

    /// A loss; of a window of `cwnd` is left what is in the path.
    pub(super) fn begin(&mut self, cwnd: f64) -> f64 {
        self.phase = ConservationPhase::Begins;
        let in_path = (self.pipe + self.delivered.max(SegCount::ONE)).as_f64();
        cwnd.min(in_path)
    }

    /// A timeout: nothing is known to be in the path.
    pub(super) fn begin_with_nothing(&mut self) {
        self.phase = ConservationPhase::Continues;
    }

    /// It is over; whether there was one.
    pub(super) fn end(&mut self) -> bool {
        std::mem::replace(&mut self.phase, ConservationPhase::No) != ConservationPhase::No
    }

    pub(super) fn is_under_way(&self) -> bool {
        self.phase != ConservationPhase::No
    }

    /// Whether the window is to follow what is delivered, and nothing else.
    pub(super) fn conserves(&self) -> bool {
        self.phase == ConservationPhase::Conserves
    }

    /// What an acknowledgement leaves of a window of `cwnd`, before that grows.
    pub(super) fn modulate(&mut self, cwnd: f64, ack: &AckedData, rounds: &mut Rounds) -> f64 {
        let mut cwnd = cwnd;
        if !ack.lost.is_zero() {
            cwnd = (cwnd - ack.lost.as_f64()).max(1.0);
        }
        match self.phase {
            ConservationPhase::Begins => {
                cwnd = (ack.pipe + ack.delivered.max(SegCount::ONE)).as_f64();
                self.phase = ConservationPhase::Conserves;
                rounds.restart();
            }
            ConservationPhase::Conserves if rounds.started => {
                self.phase = ConservationPhase::Continues;
            }
            ConservationPhase::Conserves => cwnd = cwnd.max((ack.pipe + ack.delivered).as_f64()),
            ConservationPhase::No | ConservationPhase::Continues => {}
        }
        (self.pipe, self.delivered) = (ack.pipe, ack.delivered);
        cwnd
    }
}
