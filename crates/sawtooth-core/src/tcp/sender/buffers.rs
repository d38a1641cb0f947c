//! What the application writes into the sender's buffer.

use super::tx::Tx;
use crate::events::Event;
use crate::tcp::recovery::LossRecovery;
use crate::tcp::send_buffer::{CallEnd, Writable};
use crate::units::{ByteCount, SegCount, SeqNum};

/// The application writes what there is room for.
pub(super) fn refill(tx: &mut Tx, recovery: &LossRecovery, now: Event) {
    let Some(buffer) = &tx.app.buffer else {
        return tx.seq.allow(None);
    };
    let una = tx.seq.una;
    let stream = &mut tx.app.stream;
    let lacking = stream.lacking_outstanding(una);
    let joined = recovery.joined(stream.short_ones());
    let written = if buffer.sleeps(una, tx.window.whole(), joined, lacking) {
        Some(buffer.written())
    } else {
        write(tx, recovery, now, joined, lacking)
    };
    tx.seq.allow(written);
}

/// The same if something may come of it: what has been written then.
#[inline(never)]
fn write(
    tx: &mut Tx,
    recovery: &LossRecovery,
    now: Event,
    joined: SegCount,
    lacking: ByteCount,
) -> Option<SeqNum> {
    let room = recovery.room(tx, now.time);
    let left = recovery.left(tx);
    let sendable = tx.sendable(room);
    let buffer = tx.app.buffer.as_mut()?;
    let una = tx.seq.una;
    // Measured of Linux 6.1: room for a single segment lets the buffer stay as it is.
    let grows = left.is_none_or(|left| left > SegCount::ONE);
    buffer.grow_for(tx.window.whole(), grows);
    let stream = &mut tx.app.stream;
    let writable = Writable {
        una,
        lacking,
        joined,
        sendable,
        end: stream.end(),
    };
    let split = buffer.fill(writable, || {
        tx.config.segmentation.is_none()
            && tx.window.pacing_rate().is_none()
            && stream.may_split(una)
    });
    if let Some(CallEnd { seq, payload }) = split {
        stream.split(seq, payload, una, tx.seq.max);
    }
    Some(buffer.written())
}
