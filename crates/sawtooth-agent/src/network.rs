//! The links between two hosts, in user space: the simulator's own ports, fed with real packets and driven by the kernel's clock.
//!
//! Flows of UDP need no kernel: their packets are made here, by the simulator's own sources, and meet those of the hosts in the ports. They are
//! moved only when a host's packet is, or at the end, as nothing else depends on where they are.
//!
//! A packet is handed to its next port at the time at which it arrives there by the model, not at the moment at which this program is
//! awake, so delays of the program do not add up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sawtooth_core::Scenario;
use sawtooth_core::events::{Key, Lineage};
use sawtooth_core::link::Port;
use sawtooth_core::packet::Ecn;
use sawtooth_core::packet_source::{Departure, PacketSource};
use sawtooth_core::scenario::UdpSpec;
use sawtooth_core::sim;
use sawtooth_core::udp::Arrivals;

use crate::setup::HostName;

/// Which host a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Towards {
    Receiver,
    Sender,
}

impl Towards {
    /// The way of what a host sends.
    pub fn from_host(host: HostName) -> Self {
        match host {
            HostName::Receiver => Self::Sender,
            _ => Self::Receiver,
        }
    }

    /// Where it ends.
    pub fn host(self) -> HostName {
        match self {
            Self::Receiver => HostName::Receiver,
            Self::Sender => HostName::Sender,
        }
    }
}

/// A packet on its way.
#[derive(Debug)]
struct Flight {
    /// Time of its next event, as bits (times are not negative), and the order in which it was scheduled.
    due: (u64, u64),
    flow: usize,
    towards: Towards,
    /// Ports that it has left behind.
    hop: usize,
    packet: Vec<u8>,
}

/// A flow of UDP.
#[derive(Debug)]
pub struct Datagrams {
    pub source: Box<dyn PacketSource>,
    start: f64,
    stop: f64,
    path: Vec<usize>,
    next: Option<Departure>,
    pub sent_packets: u64,
    pub sent_bytes: u64,
    pub arrivals: Arrivals,
}

impl Datagrams {
    fn new(spec: &UdpSpec, seed: u64) -> Self {
        let mut source = spec.source(seed);
        let next = source.next_packet();
        Self {
            source,
            start: spec.start.secs(),
            stop: spec.stop.secs(),
            path: spec.path.clone(),
            next,
            sent_packets: 0,
            sent_bytes: 0,
            arrivals: Arrivals::default(),
        }
    }

    /// When its next packet leaves.
    fn due(&self) -> Option<f64> {
        let time = self.start + self.next?.at_secs;
        (time < self.stop).then_some(time)
    }
}

/// A packet of UDP on its way: time of its next event as bits, order, flow, number, ports left behind, time of departure as bits, bytes.
type Datagram = (u64, u64, usize, u64, usize, u64, u32);

impl PartialEq for Flight {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}

impl Eq for Flight {}

impl PartialOrd for Flight {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Flight {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.due.cmp(&other.due)
    }
}

/// All links of a scenario, both directions.
#[derive(Debug)]
pub struct Network {
    pub ports: Vec<Port>,
    paths: Vec<Vec<usize>>,
    lineage: Lineage,
    flights: BinaryHeap<Reverse<Flight>>,
    pub udp: Vec<Datagrams>,
    /// Departures that are to come, as if each were on its way to its first port, and packets that have left.
    datagrams: BinaryHeap<Reverse<Datagram>>,
    scheduled: u64,
    /// No packet reaches the other host sooner than this after it was sent.
    pub shortest_delay: f64,
}

impl Network {
    pub fn new(scenario: &Scenario, seed: u64) -> Self {
        let delays = scenario.flows.iter().flat_map(|flow| {
            let links = || flow.path.iter().map(|link| &scenario.links[*link]);
            [
                links().map(|link| link.forward.delay.secs()).sum::<f64>(),
                links().map(|link| link.reverse.delay.secs()).sum::<f64>(),
            ]
        });
        let mut network = Self {
            udp: (scenario.udp.iter())
                .map(|spec| Datagrams::new(spec, seed))
                .collect(),
            datagrams: BinaryHeap::new(),
            shortest_delay: delays.fold(f64::INFINITY, f64::min),
            ports: sim::ports(scenario, seed, true),
            paths: scenario
                .flows
                .iter()
                .map(|flow| flow.path.clone())
                .collect(),
            lineage: Lineage::new(),
            flights: BinaryHeap::new(),
            scheduled: 0,
        };
        for flow in 0..network.udp.len() {
            network.depart(flow);
        }
        network
    }

    /// The next packet of a flow of UDP will leave at its time. What leaves goes before what arrives at the same time.
    fn depart(&mut self, flow: usize) {
        let udp = &mut self.udp[flow];
        if let (Some(time), Some(packet)) = (udp.due(), udp.next) {
            let time = time.to_bits();
            let number = udp.sent_packets;
            self.datagrams
                .push(Reverse((time, 0, flow, number, 0, time, packet.bytes)));
        }
    }

    /// Moves the packets of UDP to which something happens before `time`, or at `time` before what was scheduled as number `order`.
    fn move_datagrams(&mut self, until: (u64, u64)) {
        while let Some(Reverse((time, order, flow, number, hop, sent, bytes))) =
            self.datagrams.peek().copied()
            && (time, order) < until
        {
            self.datagrams.pop();
            if order == 0 {
                let udp = &mut self.udp[flow];
                udp.sent_packets += 1;
                udp.sent_bytes += u64::from(bytes);
                udp.next = udp.source.next_packet();
                self.depart(flow);
            }
            let now = f64::from_bits(time);
            let Some(link) = self.udp[flow].path.get(hop) else {
                let arrivals = &mut self.udp[flow].arrivals;
                arrivals.on_packet(now, f64::from_bits(sent), number, bytes);
                continue;
            };
            let key = Key::at_start(now, 0);
            let packet = (bytes, Ecn::NotEct);
            let (arrival, _) =
                self.ports[2 * link].accept_or_mark(key, None, packet, &mut self.lineage);
            if !arrival.is_never() {
                self.scheduled += 1;
                let due = (arrival.time.to_bits(), self.scheduled);
                self.datagrams
                    .push(Reverse((due.0, due.1, flow, number, hop + 1, sent, bytes)));
            }
        }
    }

    /// Moves all packets up to the end of the run at `end`, before which nothing reaches a host any more.
    pub fn finish(&mut self, end: f64) {
        self.move_datagrams((end.to_bits(), 0));
    }

    /// A host sends `packet`.
    pub fn enter(&mut self, now: f64, flow: usize, towards: Towards, packet: Vec<u8>) {
        self.fly(
            now,
            Flight {
                due: (0, 0),
                flow,
                towards,
                hop: 0,
                packet,
            },
        );
    }

    fn fly(&mut self, time: f64, mut flight: Flight) {
        self.scheduled += 1;
        flight.due = (time.to_bits(), self.scheduled);
        self.flights.push(Reverse(flight));
    }

    /// When something is to be done next, infinite if nothing is on its way.
    pub fn next_time(&self) -> f64 {
        self.flights
            .peek()
            .map_or(f64::INFINITY, |Reverse(flight)| {
                f64::from_bits(flight.due.0)
            })
    }

    /// Moves all packets up to `now`; the next one that reaches its host by then, with its flow.
    pub fn deliver(&mut self, now: f64) -> Option<(Towards, usize, Vec<u8>)> {
        while self.next_time() <= now {
            let Reverse(mut flight) = self.flights.pop()?;
            self.move_datagrams(flight.due);
            let time = f64::from_bits(flight.due.0);
            let path = &self.paths[flight.flow];
            let port = match flight.towards {
                Towards::Receiver => path.get(flight.hop).map(|link| 2 * link),
                Towards::Sender => path.iter().rev().nth(flight.hop).map(|link| 2 * link + 1),
            };
            let Some(port) = port else {
                return Some((flight.towards, flight.flow, flight.packet));
            };
            let bytes = u32::try_from(flight.packet.len()).unwrap_or(u32::MAX);
            let size_and_field = (bytes, ecn_of(&flight.packet));
            let key = Key::at_start(time, 0);
            let (arrival, marked) =
                self.ports[port].accept_or_mark(key, None, size_and_field, &mut self.lineage);
            if marked {
                mark(&mut flight.packet);
            }
            if !arrival.is_never() {
                flight.hop += 1;
                self.fly(arrival.time, flight);
            }
        }
        None
    }
}

/// The ECN field of an IPv4 packet: the two lowest bits of its second byte (RFC 3168 §5).
fn ecn_of(packet: &[u8]) -> Ecn {
    match packet {
        [version, tos, ..] if version >> 4 == 4 => Ecn::from_bits(*tos),
        _ => Ecn::NotEct,
    }
}

/// Sets Congestion Experienced in an IPv4 packet, and its header's checksum right (RFC 1624 §3, equation 3).
fn mark(packet: &mut [u8]) {
    let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    let before = word(packet, 0);
    packet[1] |= Ecn::Ce as u8;
    let sum = u32::from(!word(packet, 10)) + u32::from(!before) + u32::from(word(packet, 0));
    let folded = (sum & 0xffff) + (sum >> 16);
    #[expect(clippy::cast_possible_truncation, reason = "folded to 16 bits")]
    let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_packet_takes_transmission_and_propagation_and_a_full_queue_drops() {
        let scenario = Scenario::from_tree(&json!({
            "duration": "10 s",
            "links": {"l": {"rate": "1 Mbit/s", "delay": "10 ms", "queue": {"name": "drop_tail", "limit": "2 packets"}}},
            "flows": [{"path": ["l"]}],
        }))
        .expect("a scenario");
        let mut network = Network::new(&scenario, 1);
        for number in 0..3 {
            network.enter(1.0, 0, Towards::Receiver, vec![number; 1000]);
        }
        assert!(network.deliver(1.0).is_none());
        let mut arrivals = Vec::new();
        while network.next_time() < f64::INFINITY {
            let time = network.next_time();
            if let Some((towards, _, packet)) = network.deliver(time) {
                assert_eq!(towards, Towards::Receiver);
                arrivals.push((time, packet[0]));
            }
        }
        assert_eq!(arrivals.len(), 2, "the third found the queue full");
        for (at, (time, number)) in (1u8..).zip(&arrivals) {
            assert_eq!(*number, at - 1);
            assert!((time - (1.0 + f64::from(at) * 0.008 + 0.01)).abs() < 1e-12);
        }
    }

    #[test]
    fn packets_of_udp_hold_up_those_of_the_hosts_and_are_counted() {
        let scenario = Scenario::from_tree(&json!({
            "duration": "1 s",
            "links": {"l": {"rate": "12 Mbit/s", "delay": "10 ms"}},
            "flows": [
                {"path": ["l"]},
                {"name": "udp", "path": ["l"], "transport": "udp", "stop": "0.5 s", "source": {"name": "constant_rate", "rate": "12 Mbit/s"}},
            ],
        }))
        .expect("a scenario");
        let mut network = Network::new(&scenario, 1);
        network.enter(0.1, 0, Towards::Receiver, vec![0; 1500]);
        assert!(network.deliver(0.1).is_none());
        // Packet 100 leaves at 100 ms too, and goes first: 2 ms to send both, 10 ms on the way.
        assert!((network.next_time() - 0.112).abs() < 1e-9);
        assert!(network.deliver(network.next_time()).is_some());
        assert_eq!(
            network.next_time(),
            f64::INFINITY,
            "nobody need wake up for UDP"
        );
        network.finish(1.0);
        let udp = &network.udp[0];
        assert_eq!((udp.sent_packets, udp.arrivals.packets), (500, 500));
    }

    /// An IPv4 header without options, with its checksum (RFC 791 §3.1).
    fn header(tos: u8) -> Vec<u8> {
        let mut header = vec![
            0x45, tos, 0x05, 0xdc, 0x1c, 0x46, 0x40, 0x00, 0x40, 0x06, 0, 0, 10, 0, 0, 1, 10, 0, 0,
            2,
        ];
        let checksum = !sum(&header);
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        header
    }

    /// The ones' complement sum of 16-bit words.
    fn sum(header: &[u8]) -> u16 {
        let words = header
            .chunks_exact(2)
            .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
        let mut sum: u32 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        u16::try_from(sum).expect("folded")
    }

    #[test]
    fn rfc1624_a_marked_header_has_a_right_checksum() {
        for tos in [0x01, 0x02, 0xb9, 0xba] {
            let mut packet = header(tos);
            assert_eq!(sum(&packet), 0xffff, "that of a right header");
            mark(&mut packet);
            assert_eq!(
                (ecn_of(&packet), packet[1] >> 2),
                (Ecn::Ce, tos >> 2),
                "the rest of the byte stays"
            );
            assert_eq!(sum(&packet), 0xffff);
        }
        assert_eq!(ecn_of(&header(0xb8)), Ecn::NotEct);
    }

    #[test]
    fn capable_packets_above_the_threshold_are_marked_on_their_way() {
        let scenario = Scenario::from_tree(&json!({
            "duration": "10 s",
            "links": {"l": {"rate": "1 Mbit/s", "delay": "10 ms", "queue": {"name": "step", "limit": "4 packets", "mark_above": "2 packets"}}},
            "flows": [{"path": ["l"]}],
        }))
        .expect("a scenario");
        let mut network = Network::new(&scenario, 1);
        for tos in [2, 2, 2, 0, 2] {
            network.enter(1.0, 0, Towards::Receiver, header(tos));
        }
        let mut fields = Vec::new();
        while network.next_time() < f64::INFINITY {
            let time = network.next_time();
            if let Some((_, _, packet)) = network.deliver(time) {
                fields.push(ecn_of(&packet));
            }
        }
        // The fifth found the queue full.
        assert_eq!(fields, [Ecn::Ect0, Ecn::Ect0, Ecn::Ce, Ecn::NotEct]);
        assert_eq!(network.ports[0].counters.marked_packets, 1);
    }
}
