//! What a run takes, before anything is simulated: segments, events, rows, memory.
//!
//! Segments are what sources, windows and links let through at most: a link's whole capacity is taken by whoever can use it (`load`). Events follow from
//! them, and from what recurs after a fixed time (`recurring`); rows and memory from both, and from what there is (`rows`). A scenario
//! whose certain part is beyond its limits is refused when it is read; the rest is counted while it runs ([`crate::limits`]).

#![expect(clippy::cast_precision_loss, reason = "estimates")]

pub(crate) mod load;
mod memory;
pub(crate) mod recurring;
pub(crate) mod rows;

use self::load::Load;
pub(crate) use self::memory::{CertainMemory, FLOW_BYTES, PERIOD_BYTES, ROW_BYTES};
use crate::spec::Scenario;
use crate::units::Instant;

/// Events of a segment and its acknowledgement, by themselves and for each link; measured over the shipped studies.
const SEGMENT_EVENTS: f64 = 0.7;
const HOP_EVENTS: f64 = 0.9;
/// And at each host that is modelled.
const HOST_EVENTS: f64 = 4.0;
/// Bytes of a packet that is under way; guessed generously, not measured.
pub(crate) const PACKET_BYTES: f64 = 200.0;
/// Of a packet under way, where most are large.
const PACKET_BITS: f64 = 12_000.0;

/// What a run takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Demand {
    /// Delivered; at most, or nearly so.
    pub segments: f64,
    /// About.
    pub events: f64,
    /// Of all tables; about, where they come with acknowledgements.
    pub rows: f64,
    /// About, when all rows are there.
    pub memory_bytes: f64,
}

impl Demand {
    /// Estimated from the scenario alone: nothing is simulated.
    pub fn of(scenario: &Scenario) -> Self {
        let loads = load::all(scenario);
        let segments = segments_of(&loads);
        let events = loads.iter().map(|load| load.segments * events_of(load));
        let recurring: f64 = recurring::all(scenario).map(|one| one.times).sum();
        let rows = rows::certain(scenario)
            + rows::of_segments(scenario, segments)
            + rows::of_packets(scenario, &loads);
        Self {
            segments,
            events: events.sum::<f64>() + recurring,
            rows,
            memory_bytes: rows * ROW_BYTES
                + CertainMemory::of(scenario).bytes_besides_rows()
                + staying(scenario, &loads) * FLOW_BYTES
                + packets_underway(scenario).min(segments) * PACKET_BYTES,
        }
    }
}

/// Segments that will be delivered, at most about: for progress and planning.
pub fn segments(scenario: &Scenario) -> f64 {
    segments_of(&load::all(scenario))
}

fn segments_of(loads: &[Load]) -> f64 {
    loads.iter().map(|load| load.segments).sum()
}

/// Events of a segment.
fn events_of(load: &Load) -> f64 {
    SEGMENT_EVENTS + HOP_EVENTS * load.path.len() as f64 + HOST_EVENTS * load.hosts
}

/// Flows that have arrived by the end and not left, because the links carry less than all of them want; about.
fn staying(scenario: &Scenario, loads: &[Load]) -> f64 {
    let each = scenario
        .arriving
        .iter()
        .zip(load::arriving(scenario, loads));
    each.map(|(one, load)| {
        let wanted = one.segments(scenario.duration).max(1.0);
        let arrived = one.arrivals.expected(Instant::START + scenario.duration);
        arrived * (1.0 - load.segments / wanted).max(0.0)
    })
    .sum()
}

/// Packets and acknowledgements that links hold while they transmit all the time.
fn packets_underway(scenario: &Scenario) -> f64 {
    let links = scenario.links.iter();
    let directions = links.flat_map(|link| [&link.forward, &link.reverse]);
    directions
        .map(|one| one.rate.bps() * one.delay.secs() / PACKET_BITS)
        .sum()
}
