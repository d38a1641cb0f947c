//! NewReno: fast recovery lasts until everything outstanding at its start is acknowledged; each partial acknowledgement
//! retransmits the next missing segment.
//!
//! Specification: RFC 6582 §3.2.

use super::{ClassicRecovery, Dupacks, reno};
use crate::events::Event;
use crate::packet::Ack;
use crate::registry::Entry;
use crate::tcp::params::{ExitWindow, PartialAckTimer};
use crate::tcp::recovery::dupacks::Reduction;
use crate::tcp::sender::tx::{SendAllowance, Tx};
use crate::units::{SegCount, SeqNum, WindowSize};

pub(crate) const ENTRY: Entry<()> = Entry {
    name: "newreno",
    summary: "fast recovery until all that was outstanding has arrived, one retransmission per round trip",
    specification: &["RFC 6582 §3.2"],
    params: &[],
    new: (),
};

#[inline]
pub(crate) fn on_ack(classic: &mut ClassicRecovery, tx: &mut Tx, now: Event, ack: &Ack) {
    let ClassicRecovery {
        dupacks,
        partial_seen,
        ..
    } = classic;
    if ack.next > tx.seq.una {
        if dupacks.last_reduction != Reduction::Loss {
            dupacks.on_new_ack(tx, now, ack.next, true);
        } else if ack.next >= dupacks.recovery_point {
            *partial_seen = false;
            on_full_ack(dupacks, tx, now, ack.next);
        } else {
            let is_first = !std::mem::replace(partial_seen, true);
            on_partial_ack(dupacks, tx, now, ack.next, is_first);
        }
    } else if tx.seq.is_dupack(ack.next) {
        reno::on_dupack(dupacks, tx, now);
    }
    if let Some(burst) = tx.config.recovery_burst
        && dupacks.count >= tx.config.dup_thresh
    {
        tx.allowance = SendAllowance::Burst(burst);
    }
}

/// RFC 6582 §3.2 step 3, full acknowledgement.
fn on_full_ack(dupacks: &mut Dupacks, tx: &mut Tx, now: Event, next: SeqNum) {
    tx.window.inflation = SegCount::ZERO;
    dupacks.last_reduction = Reduction::Recovered;
    match tx.config.exit_window {
        ExitWindow::Keep => dupacks.on_new_ack(tx, now, next, true),
        ExitWindow::FlightSize => {
            dupacks.on_new_ack(tx, now, next, false);
            let flight = tx.seq.flight_size().max(SegCount::ONE) + SegCount::ONE;
            let cwnd = tx.window.ssthresh().min(WindowSize::from(flight));
            tx.window.prescribe(now.time, cwnd);
        }
    }
}

/// RFC 6582 §3.2 step 3, partial acknowledgement: retransmit the next missing segment and deflate the window by what was
/// acknowledged, less the one segment that leaves. The count of duplicates goes on: those that follow inflate
/// the window (RFC 5681 §3.2 step 4).
fn on_partial_ack(dupacks: &mut Dupacks, tx: &mut Tx, now: Event, next: SeqNum, is_first: bool) {
    let acked = next - tx.seq.una;
    let inflation = tx.window.inflation;
    if inflation > acked {
        tx.window.inflation -= acked - SegCount::ONE;
    } else {
        let deflated = tx.window.cwnd() - WindowSize::from(acked - inflation);
        tx.window.inflation = SegCount::ONE;
        tx.window.prescribe(now.time, deflated.max(WindowSize::ONE));
    }
    dupacks.advance(tx, now, next);
    if is_first || tx.config.partial_ack_timer == PartialAckTimer::Every {
        tx.timers.arm(now);
    }
    tx.pending = Some(next);
}
