//! A run that takes more than its scenario's limits ends with a message, and not the machine.
//!
//! Nothing is looked at on a packet's way: every so many events, and where their limit is, everything is counted, and whenever one event sends very many segments.

use super::World;
use crate::limits::{counted, how_to_raise};
use crate::net::Packets;
use crate::record::{Effort, Records};
use crate::spec::Scenario;

/// Events between two looks: some milliseconds.
const EVENTS: u32 = 1 << 16;

/// Segments between two looks that one event sends: there is no end to them where a window has no bound.
pub(super) const AT_ONCE: u32 = 1 << 16;

/// Bytes of a row until it is stored, of a packet that waits or is outstanding, and of a flow; guessed generously, not measured.
const ROW_BYTES: f64 = 400.0;
const PACKET_BYTES: f64 = 200.0;
const FLOW_BYTES: f64 = 6000.0;

/// Why a run was ended before its time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stopped(String);

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Stopped {}

/// What `scenario` measured and what that cost, unless it takes more than the scenario's limits.
pub fn simulate_within_limits(
    scenario: &Scenario,
    seed: u64,
) -> Result<(Records, Effort), Stopped> {
    let mut world = World::new(scenario, seed);
    world.run()?;
    let effort = Effort {
        flow_places: world.flows.len() as u64,
        ..world.effort
    };
    Ok((world.into_records(), effort))
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
impl World<'_> {
    /// Runs to the end, or until a limit is exceeded.
    pub(super) fn run(&mut self) -> Result<(), Stopped> {
        while self.handle(self.events_to_next_look()) {
            let now = self.packets.first_time().min(self.timers.first_time());
            self.look_at_limits(now, 0)?;
        }
        self.stopped.take().map_or(Ok(()), Err)
    }

    /// No more than one beyond the limit.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to below EVENTS"
    )]
    fn events_to_next_look(&self) -> u32 {
        let left = self.scenario.limits.events - self.effort.events as f64;
        left.clamp(0.0, f64::from(EVENTS - 1)) as u32 + 1
    }

    /// Whether a flow that has sent very much at once may send more; if not the run is over.
    #[cold]
    #[inline(never)]
    pub(super) fn may_send_more(&mut self, index: u32, now: f64) -> bool {
        let sent = self.flows[index as usize].sender.flight_size();
        self.stopped = self.look_at_limits(now, sent).err();
        if self.stopped.is_some() {
            self.end = f64::NEG_INFINITY;
        }
        self.stopped.is_none()
    }

    /// Ends a run that is beyond a limit, or that is with so many segments sent at once.
    fn look_at_limits(&self, now: f64, sent: u64) -> Result<(), Stopped> {
        let limits = &self.scenario.limits;
        let rows = self.rows();
        // They are all outstanding, wherever they are.
        let packets = self.packets_held(now).max(sent as f64);
        let bytes =
            rows * ROW_BYTES + packets * PACKET_BYTES + self.flows.len() as f64 * FLOW_BYTES;
        for (name, found, limit) in [
            ("events", (self.effort.events + sent) as f64, limits.events),
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
                    "stopped at {now:.6} s of {} s, after {} {what}: the limit is {}; {}",
                    self.end,
                    counted(found),
                    counted(limit),
                    how_to_raise(name, found * (self.end / now.max(1e-9)).max(1.0)),
                )));
            }
        }
        Ok(())
    }

    /// Rows that have been recorded.
    fn rows(&self) -> f64 {
        let mut rows = self.hosts.rows() + self.arrivals.rows();
        if let Some(samplers) = &self.samplers {
            rows += samplers
                .senders
                .iter()
                .map(|each| each.samples.len())
                .sum::<usize>();
            rows += samplers
                .udp
                .iter()
                .map(|each| each.samples.len())
                .sum::<usize>();
            rows += samplers
                .ports
                .iter()
                .map(|each| each.samples.len())
                .sum::<usize>();
        }
        if let Some(trace) = &self.ack_trace {
            rows += trace.acks.iter().map(Vec::len).sum::<usize>();
        }
        if let Some(variables) = &self.variables {
            rows += variables.values.iter().map(Vec::len).sum::<usize>();
        }
        let noted = self
            .ports
            .iter()
            .filter_map(|port| port.ledger()?.packets.as_ref());
        rows += noted.map(Packets::len).sum::<usize>();
        rows as f64
    }

    /// Packets that are somewhere.
    fn packets_held(&self, now: f64) -> f64 {
        let on_their_way: usize = self
            .channels
            .iter()
            .map(|channel| channel.waiting.len())
            .sum();
        let loose = self.loose.len();
        let queued: u64 = self.ports.iter().map(|port| port.backlog_at(now)).sum();
        (on_their_way + loose) as f64 + queued as f64
    }
}
