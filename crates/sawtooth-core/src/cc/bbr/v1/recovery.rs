//! What a loss does to the window: for a round trip as much is sent as is delivered (draft-cardwell-iccrg-bbr-congestion-control-00 §4.2.3.4).
//!
//! As measured of Linux 6.1, all of it happens at acknowledgements that deliver something: a recovery that an acknowledgement ends and another that it begins are one.

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
    /// It is over, and the next acknowledgement gives back the window.
    Ends(BeforeEnd),
}

/// What a recovery that is over was in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BeforeEnd {
    Conserving,
    Continuing,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct BbrRecovery {
    phase: ConservationPhase,
}

impl BbrRecovery {
    pub(super) const NONE: Self = Self {
        phase: ConservationPhase::No,
    };

    /// A loss.
    pub(super) fn begin(&mut self) {
        self.phase = match self.phase {
            ConservationPhase::Ends(BeforeEnd::Conserving) => ConservationPhase::Conserves,
            ConservationPhase::Ends(BeforeEnd::Continuing) => ConservationPhase::Continues,
            _ => ConservationPhase::Begins,
        };
    }

    /// A timeout: nothing is known to be in the path.
    pub(super) fn begin_with_nothing(&mut self) {
        self.phase = ConservationPhase::Continues;
    }

    /// It is over.
    pub(super) fn end(&mut self) {
        self.phase = match self.phase {
            ConservationPhase::No => ConservationPhase::No,
            ConservationPhase::Begins | ConservationPhase::Conserves => {
                ConservationPhase::Ends(BeforeEnd::Conserving)
            }
            ConservationPhase::Continues => ConservationPhase::Ends(BeforeEnd::Continuing),
            ended @ ConservationPhase::Ends(_) => ended,
        };
    }

    /// Whether the window has yet to be given back.
    pub(super) fn is_under_way(self) -> bool {
        self.phase != ConservationPhase::No
    }

    /// Whether it has ended: the window is given back now.
    pub(super) fn take_end(&mut self) -> bool {
        let ends = matches!(self.phase, ConservationPhase::Ends(_));
        if ends {
            self.phase = ConservationPhase::No;
        }
        ends
    }

    /// Whether the window is to follow what is delivered, and nothing else.
    pub(super) fn conserves(self) -> bool {
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
            _ => {}
        }
        cwnd
    }
}
