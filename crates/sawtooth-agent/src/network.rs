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
use sawtooth_core::net::{self, Passage, Port, Traffic, Transmission, Turn};
use sawtooth_core::packet::{Data, Ecn, Packet};
use sawtooth_core::packet_source::{Departure, PacketSource};
use sawtooth_core::spec::UdpSpec;
use sawtooth_core::udp::{Received, flow_number};

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
#[derive(Clone, Debug)]
struct Flight {
    /// Its next event.
    due: Due,
    flow: usize,
    /// Of which connection it is: its flow's number, or one of its own if it is one of many that arrive and leave.
    connection: u32,
    towards: Towards,
    /// Ports that it has left behind.
    hop: usize,
    /// Whether a wire has damaged it: a second time could make it right.
    damaged: bool,
    content: Content,
}

/// What a packet is.
#[derive(Clone, Debug)]
enum Content {
    /// Of a host.
    Packet(Vec<u8>),
    /// Of UDP.
    Datagram { number: u64, sent: f64, bytes: u32 },
}

impl Content {
    fn wire_bytes(&self) -> u32 {
        match self {
            Self::Packet(packet) => u32::try_from(packet.len()).unwrap_or(u32::MAX),
            Self::Datagram { bytes, .. } => *bytes,
        }
    }

    fn ecn(&self) -> Ecn {
        match self {
            Self::Packet(packet) => ecn_of(packet),
            Self::Datagram { .. } => Ecn::NotEct,
        }
    }

    fn mark(&mut self) {
        if let Self::Packet(packet) = self {
            mark(packet);
        }
    }

    fn is_of_host(&self) -> bool {
        matches!(self, Self::Packet(_))
    }
}

/// What may happen next.
#[derive(Clone, Copy, Debug)]
enum Next {
    Departure(usize),
    Datagram,
    Flight,
    /// A port's transmitter is free, or what waits there may leave.
    Free(usize),
}

/// A flow of UDP.
#[derive(Debug)]
pub struct Datagrams {
    pub source: Box<dyn PacketSource>,
    start: f64,
    stop: f64,
    access_delay: f64,
    path: Vec<usize>,
    next: Option<Departure>,
    pub sent_packets: u64,
    pub sent_bytes: u64,
    pub received: Received,
}

impl Datagrams {
    fn new(spec: &UdpSpec, seed: u64) -> Self {
        let mut source = spec.source(seed);
        let next = source.next_packet();
        Self {
            source,
            start: spec.start.secs(),
            stop: spec.stop.secs(),
            access_delay: spec.delay.secs(),
            path: spec.path.clone(),
            next,
            sent_packets: 0,
            sent_bytes: 0,
            received: Received::default(),
        }
    }

    /// When its next packet leaves.
    fn due(&self) -> Option<f64> {
        let time = self.start + self.next?.at_secs;
        (time < self.stop).then_some(time)
    }
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
    /// Of each flow, and then of each entry of flows that arrive.
    paths: Vec<Vec<usize>>,
    /// What each flow's packets take between its hosts and the links, each way.
    access_delays: Vec<f64>,
    lineage: Lineage,
    flights: BinaryHeap<Reverse<Flight>>,
    pub udp: Vec<Datagrams>,
    /// Of flows of UDP: when their next packets leave. What leaves goes before what arrives at the same time.
    departures: BinaryHeap<Reverse<(Due, usize)>>,
    /// Packets of UDP on their way, as `flights` are those of hosts.
    datagrams: BinaryHeap<Reverse<Flight>>,
    /// Of each port: when its transmitter is free, or may send what it holds back; of those whose departures take events.
    free: Vec<Option<Due>>,
    /// What waits in the queues of these ports, by the number that it has there.
    queued: Vec<Option<Flight>>,
    vacant: Vec<usize>,
    /// How many of them are hosts'.
    queued_of_hosts: usize,
    scheduled: u64,
    /// No packet reaches the other host sooner than this after it was sent.
    pub shortest_delay: f64,
}

impl Network {
    pub fn new(scenario: &Scenario, seed: u64) -> Self {
        let delays = scenario.all_flows().flat_map(|flow| {
            let links = || flow.path.iter().map(|link| &scenario.links[*link]);
            let forward = links().map(|link| link.forward.least_delay_secs());
            let reverse = links().map(|link| link.reverse.least_delay_secs());
            [forward.sum::<f64>(), reverse.sum::<f64>()].map(|delay| delay + flow.delay.secs())
        });
        let mut ports = net::ports(scenario, seed, true);
        // Every flow's packets are on a hop of their own (see `stand_in`).
        let flows = scenario.all_flows().count() + scenario.udp.len();
        let hops = 0..u32::try_from(flows).unwrap_or(u32::MAX);
        let whose = hops.map(|flow| Traffic { flow, acks: false });
        net::keep_ledgers(&mut ports, scenario.record, whose.collect());
        let mut network = Self {
            udp: (scenario.udp.iter())
                .map(|spec| Datagrams::new(spec, seed))
                .collect(),
            departures: BinaryHeap::new(),
            datagrams: BinaryHeap::new(),
            shortest_delay: delays.fold(f64::INFINITY, f64::min),
            free: vec![None; ports.len()],
            queued: Vec::new(),
            vacant: Vec::new(),
            queued_of_hosts: 0,
            ports,
            paths: scenario.all_flows().map(|flow| flow.path.clone()).collect(),
            access_delays: scenario.all_flows().map(|flow| flow.delay.secs()).collect(),
            lineage: Lineage::new(),
            flights: BinaryHeap::new(),
            scheduled: 0,
        };
        for flow in 0..network.udp.len() {
            network.depart(flow);
        }
        network
    }

    /// The next packet of a flow of UDP will leave at its time.
    fn depart(&mut self, flow: usize) {
        if let Some(time) = self.udp[flow].due() {
            self.departures.push(Reverse(((time.to_bits(), 0), flow)));
        }
    }

    /// Moves all packets up to the end of the run at `end`, before which nothing reaches a host any more.
    pub fn finish(&mut self, end: f64) {
        while let Some(((time, _), next)) = self.next()
            && time < end.to_bits()
        {
            self.take(time, next);
        }
    }

    /// A host sends `packet` of a connection of a flow.
    pub fn enter(
        &mut self,
        now: f64,
        (flow, connection): (usize, u32),
        towards: Towards,
        packet: Vec<u8>,
    ) {
        let access_delay = match towards {
            Towards::Receiver => self.access_delays[flow],
            Towards::Sender => 0.0,
        };
        self.fly(
            now + access_delay,
            Flight {
                due: (0, 0),
                flow,
                connection,
                towards,
                hop: 0,
                damaged: false,
                content: Content::Packet(packet),
            },
        );
    }

    fn due(&mut self, time: f64) -> Due {
        self.scheduled += 1;
        (time.to_bits(), self.scheduled)
    }

    fn fly(&mut self, time: f64, mut flight: Flight) {
        flight.due = self.due(time);
        match flight.content {
            Content::Packet(_) => self.flights.push(Reverse(flight)),
            Content::Datagram { .. } => self.datagrams.push(Reverse(flight)),
        }
    }

    /// The port whose transmitter is free next.
    fn next_free(&self) -> Option<(Due, usize)> {
        let free = self.free.iter().zip(0..);
        free.filter_map(|(due, port)| due.map(|due| (due, port)))
            .min()
    }

    /// When something is to be done next for a packet of a host, infinite if none is on its way. What UDP does before is done with it.
    pub fn next_time(&self) -> f64 {
        let flight = self.flights.peek().map(|Reverse(flight)| flight.due);
        let free = self.next_free().filter(|_| self.queued_of_hosts > 0);
        let next = flight.into_iter().chain(free.map(|(due, _)| due)).min();
        next.map_or(f64::INFINITY, |(time, _)| f64::from_bits(time))
    }

    /// What happens next.
    fn next(&self) -> Option<(Due, Next)> {
        let departure = self.departures.peek().map(|Reverse(next)| *next);
        let datagram = self.datagrams.peek().map(|Reverse(flight)| flight.due);
        let flight = self.flights.peek().map(|Reverse(flight)| flight.due);
        let all = [
            departure.map(|(due, flow)| (due, Next::Departure(flow))),
            datagram.map(|due| (due, Next::Datagram)),
            flight.map(|due| (due, Next::Flight)),
            self.next_free().map(|(due, port)| (due, Next::Free(port))),
        ];
        all.into_iter().flatten().min_by_key(|(due, _)| *due)
    }

    /// Moves all packets up to `now`; the next one that reaches its host by then, with its connection's number.
    pub fn deliver(&mut self, now: f64) -> Option<(Towards, u32, Vec<u8>)> {
        while self.next_time() <= now
            && let Some(((time, _), next)) = self.next()
        {
            let arrived = self.take(time, next);
            if arrived.is_some() {
                return arrived;
            }
        }
        None
    }

    /// Does what happens next; a packet that reaches its host.
    fn take(&mut self, time: u64, next: Next) -> Option<(Towards, u32, Vec<u8>)> {
        match next {
            Next::Departure(flow) => {
                self.departures.pop();
                self.send_datagram(flow, f64::from_bits(time));
                None
            }
            Next::Datagram => {
                let Reverse(flight) = self.datagrams.pop()?;
                self.move_on(flight)
            }
            Next::Flight => {
                let Reverse(flight) = self.flights.pop()?;
                self.move_on(flight)
            }
            Next::Free(port) => {
                self.free[port] = None;
                let key = Key::at_start(f64::from_bits(time), 0);
                let turn = self.ports[port].transmitter_free(key, &mut self.lineage);
                self.take_turn(port, turn);
                None
            }
        }
    }

    /// A packet of UDP leaves.
    fn send_datagram(&mut self, flow: usize, now: f64) {
        let udp = &mut self.udp[flow];
        let Some(departure) = udp.next else {
            return;
        };
        let (number, bytes) = (udp.sent_packets, departure.bytes);
        udp.sent_packets += 1;
        udp.sent_bytes += u64::from(bytes);
        udp.next = udp.source.next_packet();
        let flight = Flight {
            due: (now.to_bits(), 0),
            flow,
            connection: flow_number(index(flow)),
            towards: Towards::Receiver,
            hop: 0,
            damaged: false,
            content: Content::Datagram {
                number,
                sent: now,
                bytes,
            },
        };
        let access_delay = udp.access_delay;
        self.depart(flow);
        if access_delay > 0.0 {
            self.fly(now + access_delay, flight);
        } else {
            self.move_on(flight);
        }
    }

    /// The links of a packet's flow.
    fn path(&self, flight: &Flight) -> &[usize] {
        match flight.content {
            Content::Packet(_) => &self.paths[flight.flow],
            Content::Datagram { .. } => &self.udp[flight.flow].path,
        }
    }

    /// The port at which a packet is next, if it is not at its end.
    fn next_port(&self, flight: &Flight) -> Option<usize> {
        let path = self.path(flight);
        match flight.towards {
            Towards::Receiver => path.get(flight.hop).map(|link| 2 * link),
            Towards::Sender => path.iter().rev().nth(flight.hop).map(|link| 2 * link + 1),
        }
    }

    /// A packet arrives at its next port or at its end.
    fn move_on(&mut self, flight: Flight) -> Option<(Towards, u32, Vec<u8>)> {
        match self.next_port(&flight) {
            None => return self.arrived(flight),
            Some(port) if self.ports[port].is_computed() => self.pass(port, flight),
            Some(port) => self.arrive(port, flight),
        }
        None
    }

    /// A packet is at its end: handed to its host, or counted if it is one of UDP whose checksum is right.
    fn arrived(&mut self, flight: Flight) -> Option<(Towards, u32, Vec<u8>)> {
        let now = f64::from_bits(flight.due.0);
        match flight.content {
            Content::Packet(packet) => return Some((flight.towards, flight.connection, packet)),
            Content::Datagram { .. } if flight.damaged => {}
            Content::Datagram {
                number,
                sent,
                bytes,
            } => {
                let received = &mut self.udp[flight.flow].received;
                received.on_packet(now, sent, number, bytes);
            }
        }
        None
    }

    /// A packet arrives at a port that computes when it departs.
    fn pass(&mut self, port: usize, mut flight: Flight) {
        let key = Key::at_start(f64::from_bits(flight.due.0), 0);
        let packet = self.stand_in(&flight, 0);
        let passage = self.ports[port].accept_any(key, None, &packet, &mut self.lineage);
        if passage.marked {
            flight.content.mark();
        }
        self.cross(port, flight, passage);
    }

    /// A packet is on a wire, which may damage or double it.
    fn cross(&mut self, port: usize, mut flight: Flight, passage: Passage) {
        if passage.corrupted && !flight.damaged {
            self.ports[port].count_corrupted();
            if let Content::Packet(packet) = &mut flight.content {
                damage(packet);
            }
            flight.damaged = true;
        }
        flight.hop += 1;
        let is_last = flight.hop == self.path(&flight).len();
        let access_delay = if is_last && flight.towards == Towards::Sender {
            self.access_delays[flight.flow]
        } else {
            0.0
        };
        let again = passage.again.map(|again| (again, flight.clone()));
        let next_bps = self
            .next_port(&flight)
            .map(|port| self.ports[port].rate_bps());
        let bytes = flight.content.wire_bytes();
        let arrivals = [Some((passage.arrival, flight)), again];
        for (arrival, flight) in arrivals.into_iter().flatten() {
            let arrival = next_bps.map_or(arrival, |next_bps| {
                self.ports[port].pass_on(arrival, bytes, next_bps)
            });
            if !arrival.is_never() {
                self.fly(arrival.time + access_delay, flight);
            }
        }
    }

    /// A packet arrives at a port with events.
    fn arrive(&mut self, port: usize, flight: Flight) {
        let key = Key::at_start(f64::from_bits(flight.due.0), 0);
        self.queued_of_hosts += usize::from(flight.content.is_of_host());
        let number = self.vacant.pop().unwrap_or_else(|| {
            self.queued.push(None);
            self.queued.len() - 1
        });
        let packet = self.stand_in(&flight, number as u64);
        self.queued[number] = Some(flight);
        let turn = self.ports[port].arrive(key, packet, &mut self.lineage);
        self.take_turn(port, turn);
    }

    /// A packet as ports know it. Hops are numbers of flows: those of hosts, then those of UDP.
    fn stand_in(&self, flight: &Flight, number: u64) -> Packet {
        let hop = match flight.content {
            Content::Packet(_) => index(flight.flow),
            Content::Datagram { .. } => index(self.paths.len() + flight.flow),
        };
        let data = Data {
            seq: number,
            ecn: flight.content.ecn(),
            ..Data::default()
        };
        Packet::data(flight.connection, hop, flight.content.wire_bytes(), data)
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
                passage,
                done,
            }) => {
                if let Some(mut flight) = self.leave(&packet) {
                    if packet.ecn() != flight.content.ecn() {
                        flight.content.mark();
                    }
                    self.cross(port, flight, passage);
                }
                self.free[port] = Some(self.due(done.time));
            }
        }
    }

    /// What a packet of a queue stands for, which is there no longer.
    fn leave(&mut self, packet: &Packet) -> Option<Flight> {
        let number = usize::try_from(packet.segment().seq).ok()?;
        self.vacant.push(number);
        let flight = self.queued.get_mut(number)?.take()?;
        self.queued_of_hosts -= usize::from(flight.content.is_of_host());
        Some(flight)
    }
}

fn index(flow: usize) -> u32 {
    u32::try_from(flow).unwrap_or(u32::MAX)
}

/// Turns the packet's last bit over: a checksum of ones' complements (RFC 1071) tells every single bit.
fn damage(packet: &mut [u8]) {
    if let Some(last) = packet.last_mut() {
        *last ^= 1;
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
    use sawtooth_core::scenario;
    use serde_json::json;

    #[test]
    fn a_packet_takes_transmission_and_propagation_and_a_full_queue_drops() {
        let scenario = scenario::from_tree(&json!({
            "duration": "10 s",
            "links": {"l": {"rate": "1 Mbit/s", "delay": "10 ms", "queue": {"name": "drop_tail", "limit": "2 packets"}}},
            "flows": [{"path": ["l"]}],
        }))
        .expect("a scenario");
        let mut network = Network::new(&scenario, 1);
        for number in 0..3 {
            network.enter(1.0, (0, 0), Towards::Receiver, vec![number; 1000]);
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
    fn packets_are_doubled_damaged_once_and_delayed_by_their_flow() {
        let wire = json!({"rate": "1 Mbit/s", "delay": "10 ms", "corrupt": 1});
        let scenario = scenario::from_tree(&json!({
            "duration": "10 s",
            "links": {"a": wire, "b": {"rate": "1 Mbit/s", "delay": "10 ms", "corrupt": 1, "duplicate": 1}},
            "flows": [{"path": ["a", "b"], "delay": "5 ms"}],
        }))
        .expect("a scenario");
        let mut network = Network::new(&scenario, 1);
        assert!((network.shortest_delay - 0.025).abs() < 1e-12);
        network.enter(1.0, (0, 0), Towards::Receiver, vec![0; 1000]);
        network.enter(1.0, (0, 0), Towards::Sender, vec![0; 125]);
        let mut arrivals = Vec::new();
        while network.next_time() < f64::INFINITY {
            let time = network.next_time();
            if let Some((towards, _, packet)) = network.deliver(time) {
                arrivals.push((towards, packet[packet.len() - 1]));
                // Two transmissions of 8 or 1 ms, two links of 10 ms, and the flow's 5 ms.
                let expected = if towards == Towards::Receiver {
                    1.041
                } else {
                    1.027
                };
                assert!((time - expected).abs() < 1e-12, "{time}");
            }
        }
        let (there, back) = (Towards::Receiver, Towards::Sender);
        assert_eq!(arrivals, [(back, 0), (there, 1), (there, 1)]);
        let damaged = [0, 2].map(|port| network.ports[port].counters.corrupted_packets);
        assert_eq!(damaged, [1, 0]);
    }

    #[test]
    fn packets_of_udp_hold_up_those_of_the_hosts_and_are_counted() {
        let scenario = scenario::from_tree(&json!({
            "duration": "1 s",
            "links": {"l": {"rate": "12 Mbit/s", "delay": "10 ms"}},
            "flows": [
                {"path": ["l"]},
                {"name": "udp", "path": ["l"], "transport": "udp", "stop": "0.5 s", "source": {"name": "constant_rate", "rate": "12 Mbit/s"}},
            ],
        }))
        .expect("a scenario");
        let mut network = Network::new(&scenario, 1);
        network.enter(0.1, (0, 0), Towards::Receiver, vec![0; 1500]);
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
        assert_eq!((udp.sent_packets, udp.received.packets), (500, 500));
    }

    /// A flow queue gives each flow its turn; the wires double and damage what crosses them.
    #[test]
    fn packets_of_udp_cross_queues_with_events_and_wires() {
        let scenario = scenario::from_tree(&json!({
            "duration": "1 s",
            "links": {
                "a": {"rate": "12 Mbit/s", "delay": "10 ms", "queue": {"name": "drr", "limit": "1000 packets"}},
                "b": {"rate": "120 Mbit/s", "duplicate": 1},
                "c": {"rate": "120 Mbit/s", "corrupt": 1},
            },
            "flows": [
                {"path": ["a"]},
                {"name": "twice", "path": ["a", "b"], "transport": "udp", "stop": "0.1 s", "delay": "5 ms",
                    "source": {"name": "constant_rate", "rate": "24 Mbit/s"}},
                {"name": "never", "path": ["c"], "transport": "udp", "stop": "0.1 s", "source": {"name": "constant_rate", "rate": "12 Mbit/s"}},
            ],
        }))
        .expect("a scenario");
        let mut network = Network::new(&scenario, 1);
        // By 100 ms half of 190 packets are still there; that of the host's waits for the one on its way and at most for one more.
        network.enter(0.1, (0, 0), Towards::Receiver, vec![0; 1500]);
        assert!(network.deliver(0.1).is_none());
        let mut time = 0.1;
        let arrival = loop {
            time = network.next_time().max(time);
            assert!(time < 0.2);
            if network.deliver(time).is_some() {
                break time;
            }
        };
        assert!((0.111..=0.1131).contains(&arrival), "{arrival}");
        assert_eq!(network.next_time(), f64::INFINITY);
        network.finish(1.0);
        let [twice, never] = [0, 1].map(|flow| &network.udp[flow]);
        assert_eq!((twice.sent_packets, twice.received.packets), (200, 400));
        assert_eq!((never.sent_packets, never.received.packets), (100, 0));
        assert_eq!(network.ports[4].counters.corrupted_packets, 100);
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
        let scenario = scenario::from_tree(&json!({
            "duration": "10 s",
            "links": {"l": {"rate": "1 Mbit/s", "delay": "10 ms", "queue": {"name": "step", "limit": "4 packets", "mark_above": "2 packets"}}},
            "flows": [{"path": ["l"]}],
        }))
        .expect("a scenario");
        let mut network = Network::new(&scenario, 1);
        for tos in [2, 2, 2, 0, 2] {
            network.enter(1.0, (0, 0), Towards::Receiver, header(tos));
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
            let scenario = scenario::from_tree(&json!({
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
            network.enter(1.0, (0, 0), Towards::Receiver, vec![number; 1000]);
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
                network.enter(1.0, (0, 0), Towards::Receiver, sent.clone());
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
