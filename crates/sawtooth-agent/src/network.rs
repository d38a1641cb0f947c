//! The links between two hosts, in user space: the simulator's own ports, fed with real packets and driven by the kernel's clock.
//!
//! A packet is handed to its next port at the time at which it arrives there by the model, not at the moment at which this program is
//! awake, so delays of the program do not add up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use sawtooth_core::Scenario;
use sawtooth_core::events::{Key, Lineage};
use sawtooth_core::link::{Port, Transmission, Turn};
use sawtooth_core::packet::{Data, Ecn, Packet};
use sawtooth_core::sim;

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

/// Time of an event, as bits (times are not negative), and the order in which it was scheduled.
type Due = (u64, u64);

/// A packet on its way.
#[derive(Debug)]
struct Flight {
    /// Its next event.
    due: Due,
    flow: usize,
    towards: Towards,
    /// Ports that it has left behind.
    hop: usize,
    packet: Vec<u8>,
}

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
    /// Of each port: when its transmitter is free, or may send what it holds back; of those whose departures take events.
    free: Vec<Option<Due>>,
    /// What waits in the queues of these ports, by the number that it has there.
    queued: Vec<Option<Flight>>,
    vacant: Vec<usize>,
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
        let ports = sim::ports(scenario, seed, true);
        Self {
            shortest_delay: delays.fold(f64::INFINITY, f64::min),
            free: vec![None; ports.len()],
            queued: Vec::new(),
            vacant: Vec::new(),
            ports,
            paths: scenario
                .flows
                .iter()
                .map(|flow| flow.path.clone())
                .collect(),
            lineage: Lineage::new(),
            flights: BinaryHeap::new(),
            scheduled: 0,
        }
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

    fn due(&mut self, time: f64) -> Due {
        self.scheduled += 1;
        (time.to_bits(), self.scheduled)
    }

    fn fly(&mut self, time: f64, mut flight: Flight) {
        flight.due = self.due(time);
        self.flights.push(Reverse(flight));
    }

    /// The port whose transmitter is free next.
    fn next_free(&self) -> Option<(Due, usize)> {
        let free = self.free.iter().zip(0..);
        free.filter_map(|(due, port)| due.map(|due| (due, port)))
            .min()
    }

    /// When something is to be done next, infinite if nothing is on its way.
    pub fn next_time(&self) -> f64 {
        let flight = self.flights.peek().map(|Reverse(flight)| flight.due);
        let free = self.next_free().map(|(due, _)| due);
        let next = flight.into_iter().chain(free).min();
        next.map_or(f64::INFINITY, |(time, _)| f64::from_bits(time))
    }

    /// Moves all packets up to `now`; the next one that reaches its host by then, with its flow.
    pub fn deliver(&mut self, now: f64) -> Option<(Towards, usize, Vec<u8>)> {
        while self.next_time() <= now {
            let flight = self.flights.peek().map(|Reverse(flight)| flight.due);
            if let Some((due, port)) = self.next_free()
                && flight.is_none_or(|flight| due < flight)
            {
                self.free[port] = None;
                let key = Key::at_start(f64::from_bits(due.0), 0);
                let turn = self.ports[port].transmitter_free(key, &mut self.lineage);
                self.take_turn(port, turn);
                continue;
            }
            let Reverse(flight) = self.flights.pop()?;
            let path = &self.paths[flight.flow];
            let port = match flight.towards {
                Towards::Receiver => path.get(flight.hop).map(|link| 2 * link),
                Towards::Sender => path.iter().rev().nth(flight.hop).map(|link| 2 * link + 1),
            };
            match port {
                None => return Some((flight.towards, flight.flow, flight.packet)),
                Some(port) if self.ports[port].is_computed() => self.pass(port, flight),
                Some(port) => self.arrive(port, flight),
            }
        }
        None
    }

    /// A packet arrives at a port that computes when it departs.
    fn pass(&mut self, port: usize, mut flight: Flight) {
        let key = Key::at_start(f64::from_bits(flight.due.0), 0);
        let size_and_field = (wire_bytes(&flight.packet), ecn_of(&flight.packet));
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

    /// A packet arrives at a port with events.
    fn arrive(&mut self, port: usize, flight: Flight) {
        let key = Key::at_start(f64::from_bits(flight.due.0), 0);
        let flow = u32::try_from(flight.flow).unwrap_or(u32::MAX);
        let (bytes, ecn) = (wire_bytes(&flight.packet), ecn_of(&flight.packet));
        let number = self.vacant.pop().unwrap_or_else(|| {
            self.queued.push(None);
            self.queued.len() - 1
        });
        self.queued[number] = Some(flight);
        let data = Data {
            seq: number as u64,
            ecn,
            ..Data::default()
        };
        let packet = Packet::data(flow, 0, bytes, data);
        let turn = self.ports[port].arrive(key, packet, &mut self.lineage);
        self.take_turn(port, turn);
    }

    /// Does what a port with events has decided.
    fn take_turn(&mut self, port: usize, turn: Turn) {
        while let Some(dropped) = self.ports[port].take_dropped() {
            self.leave(&dropped.packet);
        }
        match turn {
            Turn::Waits => {}
            Turn::Wakes(key) => self.free[port] = Some(self.due(key.time)),
            Turn::Starts(Transmission {
                packet,
                arrival,
                done,
            }) => {
                let flight = self.leave(&packet);
                if let Some(mut flight) = flight
                    && !arrival.is_never()
                {
                    if packet.ecn() != ecn_of(&flight.packet) {
                        mark(&mut flight.packet);
                    }
                    flight.hop += 1;
                    self.fly(arrival.time, flight);
                }
                self.free[port] = Some(self.due(done.time));
            }
        }
    }

    /// What a packet of a queue stands for, which is there no longer.
    fn leave(&mut self, packet: &Packet) -> Option<Flight> {
        let number = usize::try_from(packet.segment().seq).ok()?;
        self.vacant.push(number);
        self.queued.get_mut(number)?.take()
    }
}

fn wire_bytes(packet: &[u8]) -> u32 {
    u32::try_from(packet.len()).unwrap_or(u32::MAX)
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

    #[test]
    fn queues_that_decide_when_a_packet_leaves_carry_real_packets() {
        let link = |queue| {
            let scenario = Scenario::from_tree(&json!({
                "duration": "10 s",
                "links": {"l": {"rate": "1 Mbit/s", "delay": "10 ms", "queue": queue}},
                "flows": [{"path": ["l"], "tcp": {"smss": "900 B"}}],
            }))
            .expect("a scenario");
            Network::new(&scenario, 1)
        };
        let mut network =
            link(json!({"name": "token_bucket", "rate": "80 kbit/s", "burst": "2 kB"}));
        for number in 0..4 {
            network.enter(1.0, 0, Towards::Receiver, vec![number; 1000]);
        }
        let mut arrivals = Vec::new();
        while network.next_time() < f64::INFINITY {
            let time = network.next_time();
            if let Some((_, _, packet)) = network.deliver(time) {
                arrivals.push((time, packet[0]));
            }
        }
        // Two are in the bucket and leave one after the other, 8 ms each; tokens for the others take 100 ms each.
        let expected = [1.018, 1.026, 1.118, 1.218];
        for ((number, expected), (time, found)) in (0u8..).zip(expected).zip(&arrivals) {
            assert_eq!(*found, number);
            assert!((time - expected).abs() < 1e-9, "{time}");
        }
        assert_eq!(arrivals.len(), 4);
        // Forty at once, of which one leaves every 8 ms: CoDel marks the capable ones, and drops the others.
        for (tos, marks) in [(2, true), (0, false)] {
            let mut network = link(json!({"name": "codel", "target": "1 ms", "interval": "20 ms"}));
            let mut sent = header(tos);
            sent.resize(1000, 0);
            for _ in 0..40 {
                network.enter(1.0, 0, Towards::Receiver, sent.clone());
            }
            let mut marked = 0;
            let mut left = 0;
            while network.next_time() < f64::INFINITY {
                let time = network.next_time();
                if let Some((_, _, packet)) = network.deliver(time) {
                    left += 1;
                    marked += u64::from(ecn_of(&packet) == Ecn::Ce);
                }
            }
            let counters = network.ports[0].counters;
            assert_eq!(
                (marked, left),
                (counters.marked_packets, 40 - counters.dropped_packets)
            );
            assert_eq!(marks, counters.marked_packets > 0);
            assert_eq!(marks, counters.dropped_packets == 0);
            assert!(network.queued.iter().all(Option::is_none));
        }
    }
}
