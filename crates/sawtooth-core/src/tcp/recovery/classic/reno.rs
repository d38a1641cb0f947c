//! Reno: fast retransmit and fast recovery, which ends with the first acknowledgement of new data.
//!
//! Specification: RFC 5681 §3.2.

use super::{ClassicRecovery, Dupacks};
use crate::events::Event;
use crate::packet::Ack;
use crate::registry::Entry;
use crate::tcp::episodes::LossFoundBy;
use crate::tcp::recovery::dupacks::Reduction;
use crate::tcp::sender::tx::{SendAllowance, Tx};
use crate::units::SegCount;

pub(crate) const ENTRY: Entry<()> = Entry {
    name: "reno",
    summary: "fast retransmit and fast recovery until the first new acknowledgement",
    specification: &["RFC 5681 §3.2"],
    params: &[],
    new: (),
};

#[inline]
pub(crate) fn on_ack(classic: &mut ClassicRecovery, tx: &mut Tx, now: Event, ack: &Ack) {
    let dupacks = &mut classic.dupacks;
    if ack.next > tx.seq.una {
        // RFC 5681 §3.2 step 6: deflate.
        tx.window.inflation = SegCount::ZERO;
        if dupacks.last_reduction == Reduction::Loss {
            dupacks.last_reduction = Reduction::Recovered;
        }
        dupacks.on_new_ack(tx, now, ack.next, true);
    } else if tx.seq.is_dupack(ack.next) {
        on_dupack(dupacks, tx, now);
    }
}

/// A duplicate acknowledgement as Reno and NewReno take it (RFC 5681 §3.2 steps 1 to 5).
pub(super) fn on_dupack(dupacks: &mut Dupacks, tx: &mut Tx, now: Event) {
    dupacks.count(tx);
    if dupacks.count == tx.config.dup_thresh {
        if dupacks.may_signal(tx) {
            let limited_transmits = dupacks.signal(tx, now);
            tx.reduce(now, LossFoundBy::Dupack, None, limited_transmits);
            tx.pending = Some(tx.seq.una);
            tx.window.inflation = SegCount::from(tx.config.dup_thresh);
        }
    } else if dupacks.count > tx.config.dup_thresh && dupacks.last_reduction == Reduction::Loss {
        tx.window.inflation += SegCount::ONE;
    }
    if dupacks.count >= tx.config.dup_thresh {
        tx.allowance = SendAllowance::Window;
    }
}
