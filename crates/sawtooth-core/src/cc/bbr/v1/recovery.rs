//! What a loss does to the window: for a round trip as much is sent as is delivered (draft-cardwell-iccrg-bbr-congestion-control-00 §4.2.3.4).
//!
//! As measured of Linux 6.1, all of it happens at acknowledgements that deliver something: a recovery that an acknowledgement ends and another that it begins are one. There what
//! conserves packets also goes on through a timeout until its round is over.

use crate::cc::AckedData;
use crate::cc::bbr::model::Rounds;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BbrRepair {
    #[default]
    None,
    Recovery,
    Timeout,
}

/// What the window is to follow after an acknowledgement that delivered something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Follows {
    /// What is delivered, and nothing else: it is this.
    Conservation(f64),
    /// What it grows to, from this.
    Growth(f64),
    /// The same, from what it was before the recovery if that was more.
    Restored(f64),
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct BbrRecovery {
    now: BbrRepair,
    /// At the last acknowledgement that delivered something, or since a timeout.
    seen: BbrRepair,
    conserves: bool,
    /// Between a mark and what was outstanding then: the window is remembered as it was at the mark.
    pub(super) marked: bool,
}

impl BbrRecovery {
    /// A loss. Where a transport does not tell that a recovery is over, another one begins with it.
    pub(super) fn begin(&mut self) {
        if self.now == BbrRepair::Recovery {
            self.seen = BbrRepair::None;
        }
        self.now = BbrRepair::Recovery;
    }

    /// A timeout: nothing is known to be in the path. `conserves`: what conserves packets goes on.
    pub(super) fn begin_with_nothing(&mut self, conserves: bool) {
        self.conserves &= conserves;
        self.now = BbrRepair::Timeout;
        self.seen = BbrRepair::Timeout;
    }

    /// It is over.
    pub(super) fn end(&mut self) {
        self.now = BbrRepair::None;
    }

    /// Whether the window has yet to be given back.
    pub(super) fn is_under_way(self) -> bool {
        self.seen != BbrRepair::None
    }

    /// Whether the window follows what is delivered.
    #[cfg(test)]
    pub(super) fn conserves(self) -> bool {
        self.conserves
    }

    /// What an acknowledgement that delivers something leaves of a window of `cwnd`, before that grows.
    pub(super) fn on_delivered(
        &mut self,
        cwnd: f64,
        ack: &AckedData,
        rounds: &mut Rounds,
    ) -> Follows {
        if rounds.started {
            self.conserves = false;
        }
        let before = std::mem::replace(&mut self.seen, self.now);
        let lost = ack.lost.as_f64();
        let left = if lost > 0.0 {
            (cwnd - lost).max(1.0)
        } else {
            cwnd
        };
        let in_path = (ack.pipe + ack.delivered).as_f64();
        if self.now == BbrRepair::Recovery && before != BbrRepair::Recovery {
            self.conserves = true;
            rounds.restart();
            return Follows::Conservation(in_path);
        }
        if self.now == BbrRepair::None && before != BbrRepair::None {
            self.conserves = false;
            return Follows::Restored(left);
        }
        if self.conserves {
            Follows::Conservation(left.max(in_path))
        } else {
            Follows::Growth(left)
        }
    }
}
