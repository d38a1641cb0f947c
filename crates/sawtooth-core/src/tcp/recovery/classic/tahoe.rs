//! Tahoe: a loss found by duplicate acknowledgements restarts slow start from the missing segment.
//!
//! Specification: Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988; Fall and Floyd, "Simulation-based Comparisons of
//! Tahoe, Reno, and SACK TCP", CCR 26(3), 1996, §2.

use super::ClassicRecovery;
use crate::events::Event;
use crate::packet::Ack;
use crate::registry::Entry;
use crate::tcp::episodes::LossFoundBy;
use crate::tcp::sender::tx::Tx;
use crate::units::WindowSize;

pub(crate) const ENTRY: Entry<()> = Entry {
    name: "tahoe",
    summary: "fast retransmit, then slow start from one segment",
    specification: &["Jacobson 1988", "Fall and Floyd 1996 §2"],
    params: &[],
    new: (),
};

#[inline]
pub(crate) fn on_ack(classic: &mut ClassicRecovery, tx: &mut Tx, now: Event, ack: &Ack) {
    let dupacks = &mut classic.dupacks;
    if ack.next > tx.seq.una {
        dupacks.on_new_ack(tx, now, ack.next, true);
    } else if tx.seq.is_dupack(ack.next) {
        dupacks.count(tx);
        if dupacks.count == tx.config.dup_thresh && dupacks.may_signal(tx) {
            let limited_transmits = dupacks.signal(tx, now);
            tx.reduce(now, LossFoundBy::Dupack, None, limited_transmits);
            tx.window.prescribe(now.time, WindowSize::ONE);
            tx.seq.go_back();
        }
    }
}
