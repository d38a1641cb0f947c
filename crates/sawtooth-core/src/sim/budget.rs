//! A run that takes more than its scenario's limits ends with a message, and not the machine.
//!
//! Nothing is looked at on a packet's way: every so many events, and where their limit is, everything is counted, and whenever one event sends very many segments.

use super::index::index_u32;
use super::stopped::Stopped;
use super::world::World;
use crate::demand::{FLOW_BYTES, PACKET_BYTES, ROW_BYTES};
use crate::limits::{counted, how_to_raise};
use crate::units::{Instant, SegCount};

/// Events between two looks, at least: some milliseconds.
const EVENTS: u32 = 1 << 16;

/// The same for each place where packets wait, all of which are counted.
const EVENTS_PER_PLACE: usize = 4;

/// Segments between two looks that one event sends: there is no end to them where a window has no bound.
pub(super) const AT_ONCE: u32 = 1 << 16;

/// No more than one beyond the limit.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are far below 2^53, and what is left is from 0 to below a number that fits"
)]
pub(super) fn events_to_next_look(world: &World) -> u32 {
    let left = world.scenario.limits.events - world.observers.effort.events as f64;
    let places = world.topology.ports.len() + world.calendar.channels();
    let most = EVENTS.max(index_u32(EVENTS_PER_PLACE * places));
    left.clamp(0.0, f64::from(most - 1)) as u32 + 1
}

/// Whether a flow that has sent very much at once may send more; if not the run is over.
#[cold]
#[inline(never)]
pub(super) fn may_send_more(world: &mut World, index: u32, now: Instant) -> bool {
    let sent = world.flows[index as usize].sender.flight_size();
    world.stopped = look_at_limits(world, now, sent).err();
    if world.stopped.is_some() {
        world.calendar.stop();
    }
    world.stopped.is_none()
}

/// Ends a run that is beyond a limit, or that is with so many segments sent at once.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) fn look_at_limits(world: &World, now: Instant, sent: SegCount) -> Result<(), Stopped> {
    let limits = &world.scenario.limits;
    let (now_secs, end_secs) = (now.secs(), world.calendar.end.secs());
    let rows = rows(world) as f64;
    // They are all outstanding, wherever they are.
    let waiting = world.calendar.waiting() as f64 + world.topology.backlog_at(now) as f64;
    let packets = waiting.max(sent.as_f64());
    let bytes = rows * ROW_BYTES + packets * PACKET_BYTES + world.flows.len() as f64 * FLOW_BYTES;
    for (name, found, limit) in [
        (
            "events",
            (world.observers.effort.events + sent.get()) as f64,
            limits.events,
        ),
        ("rows", rows, limits.rows),
        ("memory", bytes, limits.memory_bytes),
    ] {
        if found > limit {
            let what = if name == "memory" {
                "bytes of memory"
            } else {
                name
            };
            return Err(Stopped(format!(
                "stopped at {now_secs:.6} s of {} s, after {} {what}: the limit is {}; {}",
                end_secs,
                counted(found),
                counted(limit),
                how_to_raise(name, found * (end_secs / now_secs.max(1e-9)).max(1.0)),
            )));
        }
    }
    Ok(())
}

/// What a run says that nobody wants any more.
pub(super) fn interrupted(world: &World) -> Stopped {
    let (now, end) = (world.calendar.first_time(), world.calendar.end);
    let (now_secs, end_secs) = (now.min(end).secs(), end.secs());
    Stopped(format!("interrupted at {now_secs:.6} s of {end_secs} s"))
}

/// Rows that have been recorded.
fn rows(world: &World) -> usize {
    world.hosts.rows() + world.arrivals.rows() + world.observers.rows() + world.topology.rows()
}
