//! The most that flows can send: what sources, windows and links let through.

use crate::impair::Course;
use crate::packet_source;
use crate::rng::Stream;
use crate::source::{Exchange, Source};
use crate::spec::{ArrivingSpec, Direction, FlowSpec, Scenario, UdpSpec, base_rtt_secs};
use crate::tcp::Config;
use crate::units::{ByteCount, Duration, Instant};

/// Changes of a link's rate that are looked at; what comes later is taken to be the highest rate.
const CHANGES: usize = 10_000;

/// What a flow asks of its links.
pub(crate) struct Load<'a> {
    pub path: &'a [usize],
    start_secs: f64,
    pub segments: f64,
    /// Of a segment, with headers.
    bits: f64,
    /// Of its two ends, those on machines.
    pub hosts: f64,
}

/// What all flows send: connections, those of UDP, those that arrive.
pub(crate) fn all(scenario: &Scenario) -> Vec<Load<'_>> {
    let flows = scenario.flows.iter();
    let mut loads: Vec<Load> = flows.map(|flow| of_connection(scenario, flow)).collect();
    loads.extend(scenario.udp.iter().map(of_udp));
    let arriving = scenario.arriving.iter();
    loads.extend(arriving.map(|one| of_arriving(one, scenario.duration)));
    share(scenario, &mut loads);
    loads
}

/// Of all loads those of flows that arrive.
pub(crate) fn arriving<'a, 'b>(scenario: &Scenario, loads: &'a [Load<'b>]) -> &'a [Load<'b>] {
    &loads[loads.len() - scenario.arriving.len()..]
}

impl Load<'_> {
    fn all_bits(&self) -> f64 {
        self.segments * self.bits
    }
}

/// What a connection sends if its links have nothing else to do.
fn of_connection<'a>(scenario: &Scenario, flow: &'a FlowSpec) -> Load<'a> {
    let config = Config::from(&flow.tcp);
    let rtt_secs = base_rtt_secs(&scenario.links, &flow.path, flow.delay).max(1e-6);
    let active_secs = (scenario.duration.secs() - flow.start.secs()).max(0.0);
    let by_window = config.window_limit.segments() / rtt_secs * active_secs;
    let by_source = segments_within(&mut *flow.source(0), active_secs, rtt_secs, config.smss);
    Load {
        path: &flow.path,
        start_secs: flow.start.secs(),
        // Opening, closing, and a probe or two.
        segments: by_window.min(by_source) + 10.0,
        bits: full_segment_bits(&config),
        hosts: f64::from(u8::from(flow.host.is_some()) + u8::from(flow.receiver_host.is_some())),
    }
}

fn of_udp(flow: &UdpSpec) -> Load<'_> {
    let row = packet_source::row(flow.source.name);
    let packets = (row.new.packets_per_sec)(&flow.source.params) * flow.lifetime_secs();
    Load {
        path: &flow.path,
        start_secs: flow.start.secs(),
        segments: packets + 1.0,
        bits: (row.new.largest_bytes)(&flow.source.params) as f64 * 8.0,
        hosts: 0.0,
    }
}

fn of_arriving(one: &ArrivingSpec, duration: Duration) -> Load<'_> {
    Load {
        path: &one.flow.path,
        start_secs: one.arrivals.start.secs(),
        segments: one.segments(duration),
        bits: full_segment_bits(&Config::from(&one.flow.tcp)),
        hosts: 0.0,
    }
}

fn full_segment_bits(config: &Config) -> f64 {
    (config.smss + config.header).as_f64() * 8.0
}

/// Cuts loads down to what their links carry: of each link, those that ask for less than an equal share get it, and the others share the rest.
fn share(scenario: &Scenario, loads: &mut [Load]) {
    let mut on: Vec<Vec<usize>> = vec![Vec::new(); scenario.links.len()];
    for (index, load) in loads.iter().enumerate() {
        for link in load.path {
            on[*link].push(index);
        }
    }
    for (link, users) in scenario.links.iter().zip(&mut on) {
        let starts = users.iter().map(|index| loads[*index].start_secs);
        let first_secs = starts.fold(f64::INFINITY, f64::min);
        let mut left = capacity_bits(&link.forward, first_secs, scenario.duration.secs());
        users.sort_by(|a, b| loads[*a].all_bits().total_cmp(&loads[*b].all_bits()));
        for (before, index) in users.iter().enumerate() {
            let load = &mut loads[*index];
            let bits = load.all_bits().min(left / (users.len() - before) as f64);
            left -= bits;
            load.segments = bits / load.bits;
        }
    }
}

/// Bits that a link carries from one time to another, at most about.
fn capacity_bits(link: &Direction, from_secs: f64, until_secs: f64) -> f64 {
    if let Some(trace) = &link.impairments.trace {
        return trace.capacity_bits(Instant::from_secs(until_secs));
    }
    let Some(changes) = &link.impairments.changes else {
        return link.rate.bps() * (until_secs - from_secs).max(0.0);
    };
    // One random walk is about as good an estimate as another.
    let mut course = Course::new(link.conditions(), Some(changes), Stream::new(0, ""));
    let (mut bits, mut now) = (0.0, 0.0);
    for _ in 0..CHANGES {
        if now >= until_secs {
            return bits;
        }
        let bps = course.at(Instant::from_secs(now)).rate.bps();
        let until = course.until().secs().min(until_secs);
        bits += bps * (until - from_secs.max(now)).max(0.0);
        now = until;
    }
    bits + changes.peak_rate(link.rate).bps() * (until_secs - from_secs.max(now)).max(0.0)
}

/// Segments that an application has for both directions within `secs`, or nearly so: of one that writes or asks again and again, estimated from the first ones.
fn segments_within(source: &mut dyn Source, secs: f64, rtt_secs: f64, smss: ByteCount) -> f64 {
    const ENOUGH: usize = 100;
    let smss = smss.as_f64();
    let (mut segments, mut now) = (0.0, 0.0);
    for number in 1..=ENOUGH {
        if source.answers() {
            let Some(exchange) = source.next_exchange() else {
                return segments;
            };
            now += exchange.think.secs() + rtt_secs + exchange.server_think.secs();
            segments += segments_of(&exchange, smss);
        } else {
            let Some(write) = source.next_write() else {
                return segments;
            };
            now = write.after.secs();
            segments += (write.bytes.as_f64() / smss).ceil();
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
    let of = |bytes: ByteCount, writes: u64| {
        (bytes.as_f64() / smss).ceil() + (writes.min(bytes.get()) as f64 - 1.0).max(0.0)
    };
    of(exchange.request, exchange.request_pattern.writes)
        + of(exchange.response, exchange.response_pattern.writes)
}
