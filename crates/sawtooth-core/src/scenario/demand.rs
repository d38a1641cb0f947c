//! What a run takes, before anything is simulated: segments, events, rows, memory; and whether that is within the scenario's limits.
//!
//! Segments are what sources, windows and links let through at most: a link's whole capacity is taken by whoever can use it. Events follow from them.
//! What is certain is held against limits here: samples by the clock, what recurs after a fixed time, memory that is taken at the beginning. What only the
//! run shows is held against them there ([`crate::limits`]).

#![expect(clippy::cast_precision_loss, reason = "estimates")]

use serde_json::{Map, Value as Json};

use super::error::{Result, ScenarioError, at};
use super::{Direction, FlowSpec, Sampling, Scenario, base_rtt_secs, declared_name};
use crate::impair::{Changes, Course};
use crate::limits::{counted, how_to_raise};
use crate::registry::Entry;
use crate::rng::Stream;
use crate::source::{Exchange, Source};
use crate::{packet_source, queue, tcp};

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

/// Events of a segment and its acknowledgement, by themselves and for each link; measured over the shipped studies.
const SEGMENT_EVENTS: f64 = 0.7;
const HOP_EVENTS: f64 = 0.9;
/// And at each host that is modelled.
const HOST_EVENTS: f64 = 4.0;
/// Bytes of a flow, of a row until it is stored, and of a period of self-similar traffic while its noise is made; guessed generously, not measured.
const FLOW_BYTES: f64 = 6000.0;
const ROW_BYTES: f64 = 400.0;
const PERIOD_BYTES: f64 = 100.0;
/// A packet that is under way, where most are large.
const PACKET_BITS: f64 = 12_000.0;
const PACKET_BYTES: f64 = 200.0;
/// Changes of a link's rate that are looked at; what comes later is taken to be the highest rate.
const CHANGES: usize = 10_000;
/// Variables of an algorithm, about.
const VARIABLES: f64 = 10.0;
/// Rows of a segment at all layers of two hosts, about.
const LAYER_ROWS: f64 = 20.0;

impl Scenario {
    /// What a run takes.
    pub fn demand(&self) -> Demand {
        let (segments, events) = self.traffic();
        let rows = self.certain_rows() + self.rows_of_segments(segments) + self.rows_of_packets();
        Demand {
            segments,
            events: events + self.recurring().map(|(_, times)| times).sum::<f64>(),
            rows,
            memory_bytes: rows * ROW_BYTES
                + self.certain_bytes()
                + self.staying() * FLOW_BYTES
                + self.packets_underway().min(segments) * PACKET_BYTES,
        }
    }

    /// Segments that will be delivered, at most about: for progress and planning.
    pub fn cost(&self) -> f64 {
        self.traffic().0
    }

    /// Refuses what is certain to exceed a limit, at the key that asks for it.
    pub(super) fn check_limits(&self, tree: &Map<String, Json>) -> Result<()> {
        let limits = &self.limits;
        let rows = self.certain_rows();
        if rows > limits.rows {
            return Err(too_much("sample", "rows", "rows", rows, limits.rows));
        }
        for (path, times) in self.recurring() {
            if times > limits.events {
                let path = written_for_all(tree, path);
                return Err(too_much(&path, "events", "events", times, limits.events));
            }
        }
        self.check_arrivals()?;
        let bytes = rows * ROW_BYTES + self.certain_bytes();
        if bytes > limits.memory_bytes {
            let noise = self.noise().max_by(|a, b| a.1.total_cmp(&b.1));
            let path = match noise {
                Some((path, periods)) if periods * PERIOD_BYTES > bytes / 2.0 => path,
                _ if rows * ROW_BYTES > bytes / 2.0 => "sample".to_owned(),
                _ => "flows".to_owned(),
            };
            let what = "bytes of memory";
            return Err(too_much(&path, "memory", what, bytes, limits.memory_bytes));
        }
        Ok(())
    }

    /// Of flows that arrive: each takes an event at least, and memory until a link has carried a segment of it.
    fn check_arrivals(&self) -> Result<()> {
        if self.arriving.is_empty() {
            return Ok(());
        }
        let (limits, duration) = (&self.limits, self.duration.secs());
        for (one, load) in self.arriving.iter().zip(self.arriving_loads(&self.loads())) {
            let number = one.arrivals.expected(duration);
            let bytes = (number - load.segments).max(0.0) * FLOW_BYTES;
            for (name, what, found, limit) in [
                ("events", "events", number, limits.events),
                ("memory", "bytes of memory", bytes, limits.memory_bytes),
            ] {
                if found > limit {
                    let path = format!("{}.arrivals", one.flow.block);
                    return Err(too_much(&path, name, what, found, limit));
                }
            }
        }
        Ok(())
    }

    // --- segments

    /// Segments, and the events that come of them.
    fn traffic(&self) -> (f64, f64) {
        let loads = self.loads();
        let hops = |load: &Load| HOP_EVENTS * load.path.len() as f64;
        let events = |load: &Load| SEGMENT_EVENTS + hops(load) + HOST_EVENTS * load.hosts;
        (
            loads.iter().map(|load| load.segments).sum(),
            loads.iter().map(|load| load.segments * events(load)).sum(),
        )
    }

    /// What all flows send: connections, those of UDP, those that arrive.
    fn loads(&self) -> Vec<Load<'_>> {
        let duration = self.duration.secs();
        let mut loads: Vec<Load> = self.flows.iter().map(|flow| self.load(flow)).collect();
        for flow in &self.udp {
            let row = packet_source::row(flow.source.name);
            let packets = (row.new.packets_per_sec)(&flow.source.params) * flow.lifetime_secs();
            loads.push(Load {
                path: &flow.path,
                start_secs: flow.start.secs(),
                segments: packets + 1.0,
                bits: (row.new.largest_bytes)(&flow.source.params) as f64 * 8.0,
                hosts: 0.0,
            });
        }
        for one in &self.arriving {
            let config = tcp::Config::from(&one.flow.tcp);
            loads.push(Load {
                path: &one.flow.path,
                start_secs: one.arrivals.start,
                segments: one.segments(duration),
                bits: full_segment_bits(&config),
                hosts: 0.0,
            });
        }
        self.share(&mut loads);
        loads
    }

    /// Of all loads those of flows that arrive.
    fn arriving_loads<'a, 'b>(&self, loads: &'a [Load<'b>]) -> &'a [Load<'b>] {
        &loads[loads.len() - self.arriving.len()..]
    }

    /// Flows that have arrived by the end and not left, because the links carry less than all of them want; about.
    fn staying(&self) -> f64 {
        if self.arriving.is_empty() {
            return 0.0;
        }
        let duration = self.duration.secs();
        let loads = self.loads();
        let each = self.arriving.iter().zip(self.arriving_loads(&loads));
        each.map(|(one, load)| {
            let wanted = one.segments(duration).max(1.0);
            one.arrivals.expected(duration) * (1.0 - load.segments / wanted).max(0.0)
        })
        .sum()
    }

    /// What a flow sends if its links have nothing else to do.
    fn load<'a>(&self, flow: &'a FlowSpec) -> Load<'a> {
        let config = tcp::Config::from(&flow.tcp);
        let rtt_secs = base_rtt_secs(&self.links, &flow.path, flow.delay).max(1e-6);
        let active_secs = (self.duration.secs() - flow.start.secs()).max(0.0);
        let by_window = config.window_limit / rtt_secs * active_secs;
        let by_source = segments_within(&mut *flow.source(0), active_secs, rtt_secs, config.smss);
        Load {
            path: &flow.path,
            start_secs: flow.start.secs(),
            // Opening, closing, and a probe or two.
            segments: by_window.min(by_source) + 10.0,
            bits: full_segment_bits(&config),
            hosts: f64::from(
                u8::from(flow.host.is_some()) + u8::from(flow.receiver_host.is_some()),
            ),
        }
    }

    /// Cuts loads down to what their links carry: of each link, those that ask for less than an equal share get it, and the others share the rest.
    fn share(&self, loads: &mut [Load]) {
        let mut on: Vec<Vec<usize>> = vec![Vec::new(); self.links.len()];
        for (index, load) in loads.iter().enumerate() {
            for link in load.path {
                on[*link].push(index);
            }
        }
        for (link, users) in self.links.iter().zip(&mut on) {
            let starts = users.iter().map(|index| loads[*index].start_secs);
            let first_secs = starts.fold(f64::INFINITY, f64::min);
            let mut left = link.forward.capacity_bits(first_secs, self.duration.secs());
            users.sort_by(|a, b| loads[*a].all_bits().total_cmp(&loads[*b].all_bits()));
            for (before, index) in users.iter().enumerate() {
                let load = &mut loads[*index];
                let bits = load.all_bits().min(left / (users.len() - before) as f64);
                left -= bits;
                load.segments = bits / load.bits;
            }
        }
    }

    // --- rows and memory

    /// Rows that do not depend on what happens.
    fn certain_rows(&self) -> f64 {
        let connections = self.flows.len() as f64;
        let items = connections + (self.udp.len() + 2 * self.links.len()) as f64;
        let samples = match self.sample {
            Sampling::Every(every) => self.duration.secs() / every.secs() + 1.0,
            Sampling::Never | Sampling::Acks => 0.0,
        };
        let variables = if self.record.variables {
            VARIABLES
        } else {
            0.0
        };
        items + samples * (items + variables * connections)
    }

    /// Rows that come with segments, about.
    fn rows_of_segments(&self, segments: f64) -> f64 {
        let acks = if self.sample == Sampling::Acks {
            1.0
        } else {
            0.0
        };
        let layers = if self.record.layers { LAYER_ROWS } else { 0.0 };
        let duration = self.duration.secs();
        let arrivals = self
            .arriving
            .iter()
            .map(|one| one.arrivals.expected(duration));
        let transfers: f64 = if self.record.transfers {
            arrivals.sum()
        } else {
            0.0
        };
        segments * (acks + layers) + transfers
    }

    /// Rows of single packets and their acknowledgements at each link, about.
    fn rows_of_packets(&self) -> f64 {
        let Some(stretch) = self.record.packets else {
            return 0.0;
        };
        let share = (stretch.until.secs() - stretch.from.secs()) / self.duration.secs();
        let loads = self.loads();
        let crossings = loads
            .iter()
            .map(|load| 2.0 * load.segments * load.path.len() as f64);
        crossings.sum::<f64>() * share.min(1.0)
    }

    /// Bytes that are taken before anything happens.
    fn certain_bytes(&self) -> f64 {
        let flows = (self.flows.len() + self.udp.len()) as f64;
        let periods: f64 = self.noise().map(|(_, periods)| periods).sum();
        flows * FLOW_BYTES + periods * PERIOD_BYTES
    }

    /// Packets and acknowledgements that links hold while they transmit all the time.
    fn packets_underway(&self) -> f64 {
        let directions = self
            .links
            .iter()
            .flat_map(|link| [&link.forward, &link.reverse]);
        directions
            .map(|one| one.rate.bps() * one.delay.secs() / PACKET_BITS)
            .sum()
    }

    // --- what recurs

    /// What happens again and again after a fixed time: the key of that time, and how often.
    fn recurring(&self) -> impl Iterator<Item = (String, f64)> {
        let duration = self.duration.secs();
        let of_links = self.links.iter().flat_map(move |link| {
            let name = declared_name(link);
            let forward = recurring_at(&link.forward, &format!("links.{name}"), duration);
            let reverse = recurring_at(&link.reverse, &format!("links.{name}.reverse"), duration);
            forward.into_iter().chain(reverse)
        });
        let of_flows = self.flows.iter().flat_map(move |flow| {
            let waits = flow.tcp.periods(tcp::PARAMS);
            waits.map(move |(key, every)| (format!("{}.tcp.{key}", flow.block), duration / every))
        });
        of_links.chain(of_flows).chain(self.noise())
    }

    /// Periods of traffic that are drawn besides packets: the key of their length, or of what draws them, and how many.
    fn noise(&self) -> impl Iterator<Item = (String, f64)> {
        self.udp.iter().flat_map(|flow| {
            let row = packet_source::row(flow.source.name);
            let (block, lifetime) = (&flow.block, flow.lifetime_secs());
            let periods = flow.source.params.periods(row.params);
            let periods = periods.map(move |(key, every)| (key, lifetime / every));
            let drawn = (row.new.draws)(&flow.source.params, lifetime);
            periods
                .chain(drawn)
                .map(move |(key, times)| (format!("{block}.source.{key}"), times))
        })
    }
}

/// What a flow asks of its links.
struct Load<'a> {
    path: &'a [usize],
    start_secs: f64,
    segments: f64,
    /// Of a segment, with headers.
    bits: f64,
    /// Of its two ends, those on machines.
    hosts: f64,
}

impl Load<'_> {
    fn all_bits(&self) -> f64 {
        self.segments * self.bits
    }
}

impl Direction {
    /// Bits that it carries from one time to another, at most about.
    fn capacity_bits(&self, from_secs: f64, until_secs: f64) -> f64 {
        if let Some(trace) = &self.impairments.trace {
            return trace.capacity_bits(until_secs);
        }
        let Some(changes) = &self.impairments.changes else {
            return self.rate.bps() * (until_secs - from_secs).max(0.0);
        };
        // Any random walk tells about as much as another.
        let mut course = Course::new(self.conditions(), Some(changes), Stream::new(0, ""));
        let (mut bits, mut now) = (0.0, 0.0);
        for _ in 0..CHANGES {
            if now >= until_secs {
                return bits;
            }
            let bps = course.at(now).rate_bps;
            let until = course.until().min(until_secs);
            bits += bps * (until - from_secs.max(now)).max(0.0);
            now = until;
        }
        bits + changes.peak_bps(self.rate.bps()) * (until_secs - from_secs.max(now)).max(0.0)
    }
}

fn full_segment_bits(config: &tcp::Config) -> f64 {
    f64::from(config.smss + config.header) * 8.0
}

/// Segments that an application has for both directions within `secs`, or nearly so: of one that writes or asks again and again the first ones tell.
fn segments_within(source: &mut dyn Source, secs: f64, rtt_secs: f64, smss: u32) -> f64 {
    const ENOUGH: usize = 100;
    let smss = f64::from(smss);
    let (mut segments, mut now) = (0.0, 0.0);
    for number in 1..=ENOUGH {
        if source.answers() {
            let Some(exchange) = source.next_exchange() else {
                return segments;
            };
            now += exchange.think_secs + rtt_secs + exchange.server_secs;
            segments += segments_of(&exchange, smss);
        } else {
            let Some(write) = source.next_write() else {
                return segments;
            };
            now = write.at_secs;
            segments += (write.bytes as f64 / smss).ceil();
        }
        if now > secs {
            return segments;
        }
        if number == ENOUGH {
            segments *= (secs / now.max(1e-9)).max(1.0);
        }
    }
    segments
}

/// Of a request and its response, each write rounded up.
fn segments_of(exchange: &Exchange, smss: f64) -> f64 {
    let of = |bytes: u64, writes: u64| {
        (bytes as f64 / smss).ceil() + (writes.min(bytes) as f64 - 1.0).max(0.0)
    };
    of(exchange.request_bytes, exchange.request_pattern.writes)
        + of(exchange.response_bytes, exchange.response_pattern.writes)
}

/// What recurs at one direction of a link.
fn recurring_at(direction: &Direction, path: &str, duration: f64) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    let entry: Option<&Entry<_>> = queue::TABLE
        .iter()
        .find(|entry| entry.name == direction.queue.name);
    for (key, every) in direction
        .queue
        .params
        .periods(entry.map_or(&[], |entry| entry.params))
    {
        found.push((format!("{path}.queue.{key}"), duration / every));
    }
    match &direction.impairments.changes {
        Some(Changes::Walk(walk)) => {
            found.push((
                format!("{path}.walk.interval"),
                duration / walk.interval_secs,
            ));
        }
        Some(Changes::Table {
            rows,
            every_secs: Some(every),
        }) => {
            found.push((
                format!("{path}.changes.every"),
                duration / every * rows.len() as f64,
            ));
        }
        _ => {}
    }
    for (index, outage) in direction.impairments.outages.iter().enumerate() {
        if let Some(every) = outage.every_secs {
            found.push((format!("{path}.outages[{index}].every"), duration / every));
        }
    }
    found
}

/// The path of a flow's parameter of TCP, or of what all flows have in common if that is where it is written.
fn written_for_all(tree: &Map<String, Json>, path: String) -> String {
    let Some((block, key)) = path.split_once(".tcp.") else {
        return path;
    };
    let index = block.trim_start_matches("flows[").trim_end_matches(']');
    let own = index
        .parse::<usize>()
        .ok()
        .and_then(|index| tree.get("flows")?.get(index)?.get("tcp")?.get(key));
    if own.is_some() {
        path
    } else {
        format!("tcp.{key}")
    }
}

fn too_much(path: &str, name: &str, what: &str, found: f64, limit: f64) -> ScenarioError {
    let message = format!(
        "this takes about {} {what}, and the limit is {}",
        counted(found),
        counted(limit)
    );
    at(path, message).hint(&how_to_raise(name, found))
}
