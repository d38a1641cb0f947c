//! The most that flows can send: what sources, windows and links let through.

use crate::impair::Course;
use crate::packet_source;
use crate::rng::RandomStream;
use crate::source::{Exchange, Source};
use crate::spec::{ArrivingSpec, FlowSpec, LinkDirection, Scenario, UdpSpec, base_rtt};
use crate::tcp::Config;
use crate::units::{ByteCount, Duration, Instant};

/// Changes of a link's rate that are looked at; what comes later is taken to be the highest rate.
const CHANGES: usize = 10_000;

/// What a flow asks of its links.
pub(crate) struct Load<'a> {
    pub path: &'a [usize],
    start: Instant,
    pub segments: f64,
    /// Of a segment, with headers.
    size: ByteCount,
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
        self.segments * self.segment_bits()
    }

    fn segment_bits(&self) -> f64 {
        self.size.as_f64() * 8.0
    }
}

/// What a connection sends if its links have nothing else to do.
fn of_connection<'a>(scenario: &Scenario, flow: &'a FlowSpec) -> Load<'a> {
    let config = Config::from(&flow.tcp);
    let rtt = base_rtt(&scenario.links, &flow.path, flow.delay).max(Duration::from_secs(1e-6));
    let end = Instant::START + scenario.duration;
    let active = (end - flow.start).max(Duration::ZERO);
    let by_window = config.window_limit.segments() / rtt.secs() * active.secs();
    let by_source = segments_within(&mut *flow.source(0), active, rtt, config.smss);
    Load {
        path: &flow.path,
        start: flow.start,
        // Opening, closing, and a probe or two.
        segments: by_window.min(by_source) + 10.0,
        size: config.smss + config.header,
        hosts: f64::from(u8::from(flow.host.is_some()) + u8::from(flow.receiver_host.is_some())),
    }
}

fn of_udp(flow: &UdpSpec) -> Load<'_> {
    let row = packet_source::row(flow.source.name);
    let packets = (row.new.packets_per_sec)(&flow.source.params) * flow.lifetime().secs();
    Load {
        path: &flow.path,
        start: flow.start,
        segments: packets + 1.0,
        size: (row.new.largest)(&flow.source.params),
        hosts: 0.0,
    }
}

fn of_arriving(one: &ArrivingSpec, duration: Duration) -> Load<'_> {
    let config = Config::from(&one.flow.tcp);
    Load {
        path: &one.flow.path,
        start: one.arrivals.start,
        segments: one.segments(duration),
        size: config.smss + config.header,
        hosts: 0.0,
    }
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
        let starts = users.iter().map(|index| loads[*index].start);
        let first = starts.fold(Instant::NEVER, Instant::min);
        let mut left = capacity_bits(&link.forward, first, Instant::START + scenario.duration);
        users.sort_by(|a, b| loads[*a].all_bits().total_cmp(&loads[*b].all_bits()));
        for (before, index) in users.iter().enumerate() {
            let load = &mut loads[*index];
            let bits = load.all_bits().min(left / (users.len() - before) as f64);
            left -= bits;
            load.segments = bits / load.segment_bits();
        }
    }
}

/// Bits that a link carries from one time to another, at most about.
fn capacity_bits(link: &LinkDirection, from: Instant, until: Instant) -> f64 {
    if let Some(trace) = &link.impairments.trace {
        return trace.capacity_bits(until);
    }
    let Some(changes) = &link.impairments.changes else {
        return link.rate.bps() * time_within(from, until);
    };
    // One random walk is about as good an estimate as another.
    let mut course = Course::new(link.conditions(), Some(changes), RandomStream::new(0, ""));
    let (mut bits, mut now) = (0.0, Instant::START);
    for _ in 0..CHANGES {
        if now >= until {
            return bits;
        }
        let bps = course.at(now).rate.bps();
        let change = course.until().min(until);
        bits += bps * time_within(from.max(now), change);
        now = change;
    }
    bits + changes.peak_rate(link.rate).bps() * time_within(from.max(now), until)
}

/// Seconds from one time to another, if that is later.
fn time_within(from: Instant, until: Instant) -> f64 {
    (until - from).max(Duration::ZERO).secs()
}

/// Segments that an application has for both directions within a time, or nearly so: of one that writes or asks again and again, estimated from the first ones.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn segments_within(source: &mut dyn Source, time: Duration, rtt: Duration, smss: ByteCount) -> f64 {
    const ENOUGH: usize = 100;
    let smss = smss.as_f64();
    let (mut segments, mut now) = (0.0, Duration::ZERO);
    for number in 1..=ENOUGH {
        if source.answers() {
            let Some(exchange) = source.next_exchange() else {
                return segments;
            };
            now += exchange.think + rtt + exchange.server_think;
            segments += segments_of(&exchange, smss);
        } else {
            let Some(write) = source.next_write() else {
                return segments;
            };
            now = write.after;
            // What is endless is more than signed numbers go to.
            segments += (write.bytes.get() as f64 / smss).ceil();
        }
        if now > time {
            return segments;
        }
        if number == ENOUGH {
            segments *= (time / now.max(Duration::from_secs(1e-9))).max(1.0);
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
