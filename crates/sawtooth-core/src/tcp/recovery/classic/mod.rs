//! Recoveries that have nothing but duplicate acknowledgements: one file each.

pub(super) mod newreno;
pub(super) mod reno;
pub(super) mod tahoe;
#[cfg(test)]
mod tests;

use super::dupacks::Dupacks;
use crate::events::Event;
use crate::tcp::sender::tx::Tx;
use crate::units::{SegCount, SeqNum};

/// Which of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClassicPolicy {
    Tahoe,
    Reno,
    NewReno,
}

/// The state of all three.
#[derive(Debug)]
pub struct ClassicRecovery {
    pub policy: ClassicPolicy,
    dupacks: Dupacks,
    /// NewReno: a partial acknowledgement has been seen in this recovery.
    partial_seen: bool,
}

impl ClassicRecovery {
    pub fn new(policy: ClassicPolicy) -> Self {
        Self {
            policy,
            dupacks: Dupacks::new(),
            partial_seen: false,
        }
    }

    #[inline]
    pub fn next(&mut self, tx: &mut Tx) -> Option<SeqNum> {
        self.dupacks.next(tx)
    }

    #[inline]
    pub fn on_send(&mut self, tx: &mut Tx, now: Event, seq: SeqNum) {
        self.dupacks.on_send(tx, now, seq);
    }

    pub fn on_timer(&mut self, tx: &mut Tx, now: Event) {
        self.dupacks.on_timeout(tx, now);
        self.partial_seen = false;
        // Tahoe, which knows no recovery, goes on counting; so does ns-2's.
        if self.policy != ClassicPolicy::Tahoe {
            self.dupacks.count = 0;
        }
    }

    #[inline]
    pub fn is_repairing(&self, tx: &Tx) -> bool {
        self.dupacks.is_repairing(tx)
    }

    pub(super) fn is_calm(&self, tx: &Tx) -> bool {
        self.dupacks
            .is_calm(tx, self.policy != ClassicPolicy::Tahoe)
    }

    #[inline(always)]
    pub(super) fn dupacks(&mut self) -> &mut Dupacks {
        &mut self.dupacks
    }
}

/// Segments considered in the path: each duplicate acknowledgement means that one has left it.
pub(super) fn pipe(tx: &Tx) -> SegCount {
    (tx.seq.nxt - tx.seq.una).saturating_sub(tx.window.inflation)
}
