//! ProbeRTT: little is sent until the path's delay has been seen without a queue (draft-ietf-ccwg-bbr §5.3.4).

use super::model::Rounds;
use crate::cc::AckedData;
use crate::units::{Instant, WindowSize};

/// How far a ProbeRTT has come.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ProbeRtt {
    /// None until so little is in the path.
    hold: Option<Hold>,
}

/// Little is in the path.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hold {
    since: Instant,
    /// Whether a round has passed.
    round_done: bool,
}

impl ProbeRtt {
    /// Takes note of what is in the path: no more than `little` is to be.
    pub(super) fn on_ack(&mut self, ack: &AckedData, rounds: &mut Rounds, little: WindowSize) {
        if let Some(hold) = &mut self.hold {
            hold.round_done |= rounds.started;
        } else if WindowSize::from(ack.pipe) <= little {
            rounds.restart();
            self.hold = Some(Hold {
                since: ack.now,
                round_done: false,
            });
        }
    }

    /// Whether a round has passed with little in the path, and what `is_long_ago` takes for long enough.
    pub(super) fn is_over(&self, is_long_ago: impl Fn(Instant) -> bool) -> bool {
        self.hold
            .is_some_and(|hold| hold.round_done && is_long_ago(hold.since))
    }
}
