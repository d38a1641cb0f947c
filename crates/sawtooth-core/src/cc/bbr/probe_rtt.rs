//! ProbeRTT: little is sent until the path's delay has been seen without a queue (draft-ietf-ccwg-bbr §5.3.4).

use super::model::Rounds;
use crate::cc::AckedData;
use crate::units::{Duration, Instant, WindowSize};

/// How far a ProbeRTT has come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ProbeRtt {
    /// None until so little is in the path.
    hold: Option<Hold>,
}

/// Little is in the path.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hold {
    /// When it has been for long enough, if a round has passed, too.
    until: Instant,
    round_done: bool,
}

impl ProbeRtt {
    /// Takes note of what is in the path: no more than `little` is to be for a time and a round trip.
    pub(super) fn on_ack(
        &mut self,
        ack: &AckedData,
        rounds: &mut Rounds,
        little: WindowSize,
        duration: Duration,
    ) {
        if let Some(hold) = &mut self.hold {
            hold.round_done |= rounds.started;
        } else if WindowSize::from(ack.pipe) <= little {
            rounds.restart();
            self.hold = Some(Hold {
                until: ack.now + duration,
                round_done: false,
            });
        }
    }

    pub(super) fn is_over(&self, now: Instant) -> bool {
        self.hold
            .is_some_and(|hold| hold.round_done && now > hold.until)
    }
}
