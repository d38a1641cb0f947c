//! What leaves at once: full segments that differ in nothing but their numbers, as far as the window has room and their time has come.
//!
//! While nothing is known to be lost, an event lets so many new segments leave that the window is full again, or with pacing one, whose successor has to wait. This counts
//! them and takes note of all of them in one step, as asking for one after the other would. Where anything else may come up, it leaves the question open.
//!
//! A switch turns this off ([`Shortcuts::plain_way`](crate::spec::Shortcuts)); records do not depend on it.

use super::Rack;
use super::phase::RecoveryPhase;
use crate::events::Event;
use crate::tcp::limits::SendLimit;
use crate::tcp::pacer::PacedFlows;
use crate::tcp::params::Config;
use crate::tcp::recovery::plain::may_send_alike;
use crate::tcp::scoreboard::Range;
use crate::tcp::sender::tx::{SendAllowance, Tx};

/// Segments that leave at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AtOnce {
    /// Which, perhaps none.
    pub segments: Range,
    /// Whether nothing more leaves now; else it has to be asked for.
    pub stops: bool,
}

/// Whether segments of a connection can differ in nothing but their numbers.
pub(in crate::tcp) fn may_leave_at_once(config: &Config, has_signals: bool) -> bool {
    may_send_alike(config, has_signals) && config.segmentation.is_none() && config.limited_transmit
}

/// The full segments that leave now; nothing is said if it has to be asked for segment by segment.
#[inline]
pub(in crate::tcp) fn leave_at_once(rack: &mut Rack, tx: &mut Tx, now: Event) -> Option<AtOnce> {
    let is_calm = rack.outstanding.segments.lost().is_zero()
        && tx.seq.nxt == tx.seq.max
        && !tx.seq.is_opening()
        && tx.sends_only_data();
    if !is_calm {
        None
    } else if is_paced(tx) {
        leave_paced(rack, tx, now)
    } else {
        fill_window(rack, tx, now)
    }
}

/// What the window has room for.
#[inline(always)]
fn fill_window(rack: &mut Rack, tx: &mut Tx, now: Event) -> Option<AtOnce> {
    let segments = &rack.outstanding.segments;
    if rack.congestion.phase != RecoveryPhase::Open
        || !segments.sacked().is_zero()
        || rack.pace.is_ahead(tx, now.time)
    {
        return None;
    }
    let start = tx.seq.nxt;
    let end = start.max(tx.seq.una + tx.window.usable());
    if end >= tx.app.full_until(&tx.seq) || end - start > Tx::AT_ONCE {
        return None;
    }
    if start < end {
        if segments.is_empty() {
            rack.timer.restarted = now.time;
        }
        let pipe = rack.outstanding.pipe();
        rack.pace.last_sent.on_send(tx, now.time, pipe);
        rack.outstanding.on_send_new(now.time, end - start);
        tx.note_sent(end);
        rack.pace.usage.on_send();
        rack.timer.arm_due = true;
        rack.timer.has_new = true;
    }
    let limit = tx.full_window();
    if limit == SendLimit::Cwnd {
        rack.pace.usage.note(tx, true);
    }
    stop_at_once(rack, tx, now, limit);
    let segments = Range { start, end };
    Some(AtOnce {
        segments,
        stops: true,
    })
}

/// One segment if its time has come, and then none before the next one's.
#[inline(always)]
fn leave_paced(rack: &mut Rack, tx: &mut Tx, now: Event) -> Option<AtOnce> {
    let (start, window) = (tx.seq.nxt, tx.window.usable());
    let more = tx
        .app
        .full_until(&tx.seq)
        .min(tx.seq.una + tx.window.limit());
    if start.next() >= more {
        return None;
    }
    let mut segments = Range { start, end: start };
    if rack.outstanding.pipe() < window && !rack.pace.is_ahead(tx, now.time) {
        rack.on_send_next(tx, now, start);
        segments.end = start.next();
        tx.note_sent(segments.end);
    }
    let is_full = rack.outstanding.pipe() >= window;
    let is_ahead = rack.pace.is_ahead(tx, now.time);
    if is_full {
        rack.pace.usage.note(tx, true);
    } else if is_ahead {
        rack.pace.wait(tx, now);
    } else {
        return Some(AtOnce {
            segments,
            stops: false,
        });
    }
    if is_ahead {
        tx.timers.recovery = rack.timer.or(rack.pace.timer);
    }
    let limit = if rack.is_repairing() {
        SendLimit::Recovery
    } else if is_full {
        SendLimit::Cwnd
    } else {
        SendLimit::Pacing
    };
    stop_at_once(rack, tx, now, limit);
    Some(AtOnce {
        segments,
        stops: true,
    })
}

/// Nothing more leaves now, because of `limit`.
#[inline]
fn stop_at_once(rack: &mut Rack, tx: &mut Tx, now: Event, limit: SendLimit) {
    rack.on_stop(tx, now);
    tx.allowance = SendAllowance::Nothing;
    tx.limits.stop(now.time, limit);
}

/// Whether segments may have to wait for their time.
#[inline]
fn is_paced(tx: &Tx) -> bool {
    let pacing = &tx.config.pacing;
    match pacing.paced {
        PacedFlows::Never => false,
        PacedFlows::Always => true,
        PacedFlows::Algorithm => tx.window.pacing_rate().is_some() || pacing.max.is_finite(),
    }
}

#[cfg(test)]
mod tests {
    use crate::packet::Ack;
    use crate::tcp::recovery::testing::Rig;
    use crate::tcp::timestamps::Stamp;
    use crate::units::testing::seq;

    #[test]
    fn what_the_window_has_room_for_leaves_at_once_and_nothing_is_said_during_a_recovery() {
        let mut rig = Rig::sending("rack", 4, &[]);
        let now = rig.event();
        let burst = rig.recovery.leave_at_once(&mut rig.tx, now);
        let burst = burst.expect("the window is full");
        assert!(burst.stops && burst.segments.length().is_zero());
        // Segment 0 is acknowledged.
        rig.tx.stamps.echo = Stamp::NONE;
        let ack = Ack {
            next: seq(1),
            ..Ack::default()
        };
        rig.recovery.on_ack(&mut rig.tx, now, &ack);
        let burst = rig.recovery.leave_at_once(&mut rig.tx, now);
        let burst = burst.expect("two segments");
        assert_eq!(burst.segments.start.up_to(burst.segments.end).count(), 2);
        assert_eq!(rig.pipe(), 5);
        rig.tx.pending = Some(seq(1));
        assert_eq!(rig.recovery.leave_at_once(&mut rig.tx, now), None);
    }
}
