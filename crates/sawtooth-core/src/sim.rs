//! One running simulation: assembles a [`Scenario`], runs it, returns [`Records`].
//!
//! **Model.** A flow's round trip is a list of stops: the forward ports, the receiver, the reverse ports in opposite order, the
//! sender. A packet moves from stop to stop; a port tells when it arrives at the next one.
//!
//! **Speed.** Events are only needed where streams of packets meet, because only there does the order between components
//! matter. Three shortcuts, each exact and each with a switch in [`Shortcuts`](crate::scenario::Shortcuts):
//! - `no_tx_event`: a drop-tail port computes departures at arrival (see [`crate::link`]).
//! - `computed_hops`: a stop that is fed by one in-order stream is passed at once, ahead of time: its state depends on nothing
//!   else. So access links, receivers and senders need no events of their own.
//! - `ring`: packets on their way to a meeting point wait in a ring; only the first has a pending event.
//!
//! Where a wire reorders or doubles packets ([`crate::wire`]), each packet behind it has an event of its own, shortcuts or not.
//!
//! A flow of UDP is a list of stops that ends at its receiver. Nothing comes back to its source, so its packets are let out some at a time,
//! ahead of time, and each takes one event for every meeting point on its way and none of its own.
//!
//! A stop that is passed ahead of time is still passed in the order of its keys, with its own timers fired in between. Nothing
//! happens at or after the run's end, and samples are taken when a component is about to move past the sampling time. So the
//! records do not depend on the shortcuts; `tests/shortcuts.rs` proves it on random scenarios.

mod arrivals;
mod budget;
mod dialogue;
mod hosts;
pub mod links;
mod observe;
mod stops;

use std::collections::BTreeMap;

use self::arrivals::Arrivals;
use self::budget::AT_ONCE;
pub use self::budget::{Stopped, simulate_within_limits};
use self::dialogue::Dialogues;
use self::hosts::{Hosts, Part as HostPart};
use self::observe::{AckTrace, Samplers, Variables};
use self::stops::{Place, Plan, Stop, Trip, plan_stops, routes};
use crate::cc;
use crate::events::{Child, Event, EventQueue, Key, Line, Lineage};
use crate::link::{Passage, Port, Transmission, Turn};
use crate::loss::Loss;
use crate::packet::{Ack, AckStore, Packet};
use crate::packet_source::{Departure, PacketSource};
use crate::queue::{self, Site};
use crate::record::{Cell, Effort, Records, Table};
use crate::registry;
use crate::ring::Ring;
use crate::rng::Stream;
use crate::scenario::{FlowSpec, Part, Sampling, Scenario, UdpSpec};
use crate::source::{Cut, Source, Write};
use crate::tcp::limits::Limit;
use crate::tcp::metrics_cache::{Keeps, MetricsCaches};
use crate::tcp::ns2_random::{self, Senders};
use crate::tcp::{Config, receiver::Receiver, sender::Sender};
use crate::udp::{self, Received};
use crate::units::{Duration, mean_rate_bps};
use crate::wire::Wire;

/// Runs `scenario` and returns what it measured. The same scenario and seed give the same records on any machine.
pub fn simulate(scenario: &Scenario, seed: u64) -> Records {
    simulate_with_effort(scenario, seed).0
}

/// The same, with what it cost.
///
/// # Panics
/// If it takes more than the scenario's limits: [`simulate_within_limits`] says so.
pub fn simulate_with_effort(scenario: &Scenario, seed: u64) -> (Records, Effort) {
    simulate_within_limits(scenario, seed).unwrap_or_else(|stopped| panic!("{stopped}"))
}

/// The ports of a scenario: of each link the forward one, then the reverse one.
///
/// `computed`: whether departures are computed at arrival, where the queue allows that (see [`Port::new`]).
pub fn ports(scenario: &Scenario, seed: u64, computed: bool) -> Vec<Port> {
    let mut ports = Vec::with_capacity(2 * scenario.links.len());
    for link in &scenario.links {
        for direction in [&link.forward, &link.reverse] {
            let name = format!("{}.{}", link.name, direction_name(ports.len()));
            let site = Site {
                rate: direction.rate,
                stream: Stream::new(seed, &format!("{name}/queue")),
            };
            let Part { name: row, params } = &direction.queue;
            let queue = queue::build(row, params, site);
            let loss = Loss::new(&direction.loss, seed, &name);
            let (initial, end) = (direction.conditions(), scenario.duration);
            let wire = Wire::new(&direction.wire, initial, end.secs(), (seed, &name));
            ports.push(Port::new(direction, queue, (loss, wire), end, computed));
        }
    }
    ports
}

/// What a slot of the queue of packets stands for. The order of slots is the order of events whose keys agree.
#[derive(Clone, Copy, Debug)]
enum Slot {
    /// A port's transmitter is free, or what waits there may leave.
    TransmitterFree(u32),
    Channel(u32),
    /// The next flow of an entry arrives.
    Arrival(u32),
    /// The next packets of a flow of UDP leave.
    Departures(u32),
    /// Something happens within a host.
    Host(u32, HostPart),
}

/// Packets on their way to one stop from one component, in order.
#[derive(Debug)]
struct Channel {
    slot: u32,
    /// Whether packets are loose events here, because they may come out of order or rings are switched off, and do not wait in the ring.
    loose: bool,
    waiting: Ring<(Key, Packet)>,
}

/// A packet with an event of its own, because it may come out of order, or because rings are switched off.
#[derive(Debug)]
struct Loose {
    key: Key,
    slot: u32,
    packet: Packet,
}

/// Packets with events of their own: those of one time together, in the order in which they came.
#[derive(Debug, Default)]
struct LooseEvents(BTreeMap<u64, Vec<Loose>>);

impl LooseEvents {
    fn push(&mut self, loose: Loose) {
        // Times are not negative, so their bit patterns are in their order.
        self.0
            .entry(loose.key.time.to_bits())
            .or_default()
            .push(loose);
    }

    /// Where the first event is within the first group, and its key and slot.
    fn first(&self, lineage: &Lineage) -> Option<(usize, Key, u32)> {
        let (_, group) = self.0.first_key_value()?;
        let mut first = 0;
        for (at, loose) in group.iter().enumerate().skip(1) {
            if loose
                .key
                .precedes(&group[first].key, lineage, loose.slot < group[first].slot)
            {
                first = at;
            }
        }
        Some((first, group[first].key, group[first].slot))
    }

    fn remove(&mut self, at: usize) -> Loose {
        let mut group = self.0.first_entry().expect("there is a first event");
        let loose = group.get_mut().remove(at);
        if group.get().is_empty() {
            group.remove();
        }
        loose
    }
}

#[derive(Debug)]
struct Flow {
    /// What its packets say that they are of: its own for the whole run. Its place among the flows may be used again.
    id: u32,
    sender: Sender,
    receiver: Receiver,
    start: f64,
    started: bool,
    /// Its number among those that speak with another one, if it does, or else this: then its writes answer what that one has delivered.
    dialogue: u32,
    /// Of such a one: whether it closes when it has spoken next, and into how many writes what it says then is cut.
    has_last_word: bool,
    cut: Cut,
    /// What its application does, the write that comes next, and when.
    source: Box<dyn Source>,
    next_write: Option<Write>,
    write_key: Key,
    /// Of its timers and writes the last.
    fired: Key,
    trip: Trip,
    /// Wire size of the segments it sends: header, and header with full payload.
    header: u32,
    ack_sizes: AckSizes,
}

/// What a flow is made of.
struct FlowPlan {
    id: u32,
    start: f64,
    sender: Sender,
    source: Box<dyn Source>,
    trip: Trip,
}

impl Flow {
    fn new(plan: FlowPlan) -> Self {
        let FlowPlan {
            id,
            start,
            sender,
            mut source,
            trip,
        } = plan;
        let config = sender.config();
        Self {
            id,
            receiver: Receiver::new(config),
            start,
            started: false,
            dialogue: dialogue::NONE,
            has_last_word: false,
            cut: Cut::WHOLE,
            next_write: source.next_write(),
            source,
            write_key: Key::NEVER,
            fired: Key::NEVER,
            trip,
            header: config.header,
            ack_sizes: AckSizes {
                plain: config.ack_size,
                sack_option_header: config.sack_option_header,
                syns: if config.handshake {
                    (1, config.syn_options)
                } else {
                    (0, 0)
                },
            },
            sender,
        }
    }

    /// When the sender's timer expires or its application writes, whichever is first.
    #[inline]
    fn next_timer(&self) -> Key {
        let timer = self.sender.next_timer();
        if self.write_key.time <= timer.time {
            self.write_key
        } else {
            timer
        }
    }

    /// The application writes what is due, and says so if it was the last.
    fn write(&mut self, now: Event) {
        self.write_key = Key::NEVER;
        if self.dialogue != dialogue::NONE {
            return self.speak(now);
        }
        while let Some(write) = self.next_write {
            let time = self.start + write.at_secs;
            if time > now.time {
                self.write_key = now.schedule(time, Child::Timer);
                return;
            }
            self.sender.on_write(now, write.bytes);
            self.next_write = self.source.next_write();
        }
        self.sender.on_close();
    }
}

/// A flow of UDP.
#[derive(Debug)]
struct Udp {
    source: Box<dyn PacketSource>,
    start: f64,
    stop: f64,
    /// What its packets say that they are of.
    number: u32,
    /// Among those that are laid down before the run.
    order: u32,
    next: Option<Departure>,
    first_stop: u32,
    sent_packets: u64,
    sent_bytes: u64,
    received: Received,
}

impl Udp {
    /// Packets that are let out at one event: what they meet until they wait for an event depends on nothing else.
    const AHEAD: usize = 16;

    /// The flow of `index` among those of UDP, and `order`.
    fn new(spec: &UdpSpec, seed: u64, (index, order): (u32, u32), first_stop: u32) -> Self {
        let mut source = spec.source(seed);
        let next = source.next_packet();
        Self {
            source,
            start: spec.start.secs(),
            stop: spec.stop.secs(),
            number: udp::flow_number(index),
            order,
            next,
            first_stop,
            sent_packets: 0,
            sent_bytes: 0,
            received: Received::default(),
        }
    }

    /// When its next packet leaves: as if all of them had been laid down before the run, as they are given.
    #[inline]
    fn key(&self) -> Key {
        match self.next {
            Some(packet) if self.start + packet.at_secs < self.stop => {
                Key::at_start(self.start + packet.at_secs, self.order)
            }
            _ => Key::NEVER,
        }
    }

    /// The next packet leaves with `key`.
    #[inline]
    fn leave(&mut self, key: Key) -> Packet {
        let departure = self.next.expect("a packet that is due");
        self.next = self.source.next_packet();
        let number = self.sent_packets;
        self.sent_packets += 1;
        self.sent_bytes += u64::from(departure.bytes);
        Packet::datagram(
            self.number,
            self.first_stop,
            departure.bytes,
            number,
            key.time,
        )
    }
}

/// Bytes of an acknowledgement on the wire.
#[derive(Clone, Copy, Debug)]
struct AckSizes {
    plain: u32,
    sack_option_header: u32,
    /// Segments that are SYNs, and what they carry more than others.
    syns: (u64, u32),
}

impl AckSizes {
    #[inline]
    fn of(self, ack: &Ack) -> u32 {
        if !ack.sack.is_empty() {
            self.plain + self.sack_option_header + 8 * ack.sack.len()
        } else if ack.next > self.syns.0 {
            self.plain
        } else {
            self.plain + self.syns.1
        }
    }
}

#[derive(Debug)]
struct World<'a> {
    scenario: &'a Scenario,
    end: f64,
    ports: Vec<Port>,
    /// The event queue's slot of each evented port.
    port_slots: Vec<u32>,
    flows: Vec<Flow>,
    arrivals: Arrivals<'a>,
    dialogues: Dialogues,
    hosts: Hosts,
    udp: Vec<Udp>,
    stops: Vec<Stop>,
    /// Of each stop: whether it is beyond the receiver, so that packets there are acknowledgements.
    returning: Vec<bool>,
    /// Of each stop: the one that a damaged packet takes instead.
    twins: Vec<u32>,
    /// Of each route: what packets take between its hosts and the links, each way, in seconds.
    access_delays: Vec<f64>,
    channels: Vec<Channel>,
    slots: Vec<Slot>,
    /// Packets about to reach a meeting point and transmissions about to end.
    packets: EventQueue,
    /// Sender and receiver timers; rarely due, so they are kept apart.
    timers: EventQueue,
    lineage: Lineage,
    /// Whether any packets are loose events.
    has_loose: bool,
    loose: LooseEvents,
    acks: AckStore,
    /// What hosts remember of connections that have ended, if any flow asks for it.
    metrics: Option<MetricsCaches>,
    /// Of each entry of flows that arrive: the number of its path among the caches, and what its hosts keep.
    metrics_places: Vec<(usize, Keeps)>,
    samplers: Option<Samplers>,
    ack_trace: Option<AckTrace>,
    variables: Option<Variables>,
    effort: Effort,
    /// A limit was exceeded: the run has ended.
    stopped: Option<Stopped>,
}

impl<'a> World<'a> {
    fn new(scenario: &'a Scenario, seed: u64) -> Self {
        let shortcuts = &scenario.shortcuts;
        let mut ports = ports(scenario, seed, shortcuts.no_tx_event);
        let dialogues = Dialogues::new(scenario, seed);
        let routes = routes(scenario, &dialogues);
        let Plan {
            stops,
            trips,
            in_order,
            returning,
            twins,
            whose,
        } = plan_stops(scenario, &ports, &routes);
        links::keep_ledgers(&mut ports, scenario.record, whose);
        let access_delays = routes.iter().map(|route| route.access_delay).collect();
        let fixed = scenario.flows.len() + dialogues.len();
        let (entry_trips, udp_trips) = trips[fixed..].split_at(scenario.arriving.len());
        let arrivals = Arrivals::new(scenario, seed, fixed, entry_trips);
        let udp = udp_flows(scenario, seed, fixed, udp_trips);

        let mut slots = Vec::new();
        let mut port_slots = vec![u32::MAX; ports.len()];
        for (index, port) in ports.iter().enumerate() {
            if !port.is_computed() {
                port_slots[index] = index_u32(slots.len());
                slots.push(Slot::TransmitterFree(index_u32(index)));
            }
        }
        let channels = channels(&in_order, shortcuts.ring, &mut slots);
        let has_loose = channels.iter().any(|channel| channel.loose);
        let first_departure = slots.len();
        for entry in 0..scenario.arriving.len() {
            slots.push(Slot::Arrival(index_u32(entry)));
        }
        for index in 0..udp.len() {
            slots.push(Slot::Departures(index_u32(index)));
        }
        let hosts = Hosts::new(scenario, &dialogues, &mut slots);
        let flows = standing_flows(scenario, seed, &dialogues, &trips);
        let lineage = Lineage::new();
        let mut timers = EventQueue::new(2 * flows.len());
        for (index, flow) in flows.iter().enumerate() {
            let index = index_u32(index);
            timers.set(
                sender_timer(index),
                Key::at_start(flow.start, index),
                &lineage,
            );
        }
        let samplers = Samplers::of(scenario);
        let ack_trace =
            (scenario.sample == Sampling::Acks).then(|| AckTrace::new(scenario.flows.len()));
        let mut packets = EventQueue::new(slots.len());
        for (slot, key) in (first_departure..).zip(
            (0..index_u32(scenario.arriving.len()))
                .map(|entry| arrivals.next_key(entry))
                .chain(udp.iter().map(Udp::key)),
        ) {
            packets.set(index_u32(slot), key, &lineage);
        }
        let (metrics, metrics_places) = metrics_caches(scenario, &flows);
        Self {
            scenario,
            end: scenario.duration.secs(),
            ports,
            port_slots,
            metrics,
            metrics_places,
            flows,
            arrivals,
            dialogues,
            hosts,
            udp,
            stops,
            returning,
            twins,
            access_delays,
            channels,
            packets,
            slots,
            timers,
            lineage,
            has_loose,
            loose: LooseEvents::default(),
            acks: AckStore::default(),
            samplers,
            ack_trace,
            variables: (scenario.record.variables).then(|| Variables::new(scenario.flows.len())),
            effort: Effort::default(),
            stopped: None,
        }
    }

    #[inline(never)]
    /// Handles so many events, or fewer if the run is over; whether it goes on.
    fn handle(&mut self, most: u32) -> bool {
        for handled in 0..most {
            let timer_first = self.timers.first_time() <= self.packets.first_time()
                && self.timer_precedes_packets();
            if self.has_loose && self.step_loose(timer_first) {
                continue;
            }
            let queue = if timer_first {
                &self.timers
            } else {
                &self.packets
            };
            let slot = queue.first();
            let key = queue.get(slot);
            if key.time >= self.end {
                self.effort.events += u64::from(handled);
                return false;
            }
            if timer_first {
                self.on_timer(slot);
                continue;
            }
            match self.slots[slot as usize] {
                Slot::Channel(channel) => {
                    let waiting = &mut self.channels[channel as usize].waiting;
                    let (_, packet) = *waiting.front().expect("a pending channel has a packet");
                    waiting.pop();
                    match waiting.front() {
                        Some((next, _)) => self.packets.set(slot, *next, &self.lineage),
                        None => self.packets.set(slot, Key::NEVER, &self.lineage),
                    }
                    self.on_packet(packet, key);
                }
                Slot::TransmitterFree(port) => {
                    let (time, line) = key.parts();
                    self.on_transmitter_free(port, time, line);
                }
                Slot::Arrival(entry) => {
                    self.on_arrival(entry, key);
                    let next = self.arrivals.next_key(entry);
                    self.packets.set(slot, next, &self.lineage);
                }
                Slot::Departures(index) => {
                    let next = self.send_udp(index as usize, key);
                    self.packets.set(slot, next, &self.lineage);
                }
                Slot::Host(host, part) => self.on_host(host, part, key),
            }
        }
        self.effort.events += u64::from(most);
        true
    }

    /// Whether the first timer is due before the first packet; at a full tie the packet goes first.
    fn timer_precedes_packets(&self) -> bool {
        let (timer, packet) = (self.timers.first(), self.packets.first());
        let (timer, packet) = (self.timers.get(timer), self.packets.get(packet));
        timer.precedes(&packet, &self.lineage, false)
    }

    /// Handles the first of the packets with events of their own, if it comes before all other events.
    fn step_loose(&mut self, timer_first: bool) -> bool {
        let queue = if timer_first {
            &self.timers
        } else {
            &self.packets
        };
        let Some((at, first, loose_slot)) = self.loose.first(&self.lineage) else {
            return false;
        };
        let slot = queue.first();
        let ties = timer_first || loose_slot < slot;
        let goes_first = first.precedes(&queue.get(slot), &self.lineage, ties);
        if !goes_first || first.time >= self.end {
            return false;
        }
        let Loose { key, packet, .. } = self.loose.remove(at);
        self.on_other_packet(packet, key);
        true
    }

    /// A packet waits for its event at the next stop.
    #[inline(always)]
    fn wait(&mut self, channel: u32, packet: Packet, key: Key) {
        let channel = &mut self.channels[channel as usize];
        if channel.loose {
            self.loose.push(Loose {
                key,
                slot: channel.slot,
                packet,
            });
        } else {
            if channel.waiting.is_empty() {
                self.packets.set(channel.slot, key, &self.lineage);
            }
            let slot = channel.waiting.push_slot();
            slot.0 = key;
            slot.1 = packet;
        }
    }

    /// A packet travels on from its stop, where it arrives with `key`, until it waits for an event, is dropped, or reaches its
    /// sender: then it is returned. `now` is `key` if that has been recorded.
    ///
    /// Packet and key are never handed to another function themselves, only copies and parts: then they stay in registers.
    #[inline(always)]
    fn travel(
        &mut self,
        mut packet: Packet,
        mut key: Key,
        mut now: Option<Event>,
    ) -> Option<(Packet, Key)> {
        let mut place = self.stops[packet.hop as usize].place;
        loop {
            match place {
                Place::Port(index) => {
                    let port = &mut self.ports[index as usize];
                    key = port.accept(key, now, packet.wire_bytes, &mut self.lineage);
                    now = None;
                    packet.hop += 1;
                }
                Place::Receiver(flow) => {
                    let event = self.lineage.record(key);
                    packet = self.receive(flow, packet, key, event)?;
                    now = Some(event);
                }
                Place::Sender(_) | Place::Senders(_) => return Some((packet, key)),
                Place::Receivers(_) => {
                    let event = self.lineage.record(key);
                    packet = self.receive_of_living(packet, key, event)?;
                    now = Some(event);
                }
                Place::Access(way) => {
                    let event = now.unwrap_or_else(|| self.lineage.record(key));
                    let delay = self.access_delays[(way / 2) as usize];
                    key = event.schedule(key.time + delay, Child::Arrival);
                    now = None;
                    packet.hop += 1;
                }
                Place::UdpReceiver(index) => {
                    let copy = packet;
                    self.receive_udp(index, &copy, key.time);
                    return None;
                }
                Place::Host(end) => {
                    let copy = packet;
                    let (time, line) = key.parts();
                    self.come_to_host(end, &copy, time, line);
                    return None;
                }
                Place::Discard => {
                    let copy = packet;
                    self.discarded(&copy);
                    return None;
                }
                Place::SlowPort(index) => {
                    let copy = packet;
                    let (time, line) = key.parts();
                    let (arrival, marked) = self.pass_slowly(index, &copy, time, line, now)?;
                    if marked {
                        packet.mark();
                    }
                    let (time, line) = arrival.parts();
                    key = Key::from_parts(time, line);
                    now = None;
                    packet.hop += 1;
                }
            }
            if key.time >= self.end {
                if key.is_never() {
                    let copy = packet;
                    self.dropped(&copy);
                }
                return None;
            }
            let stop = self.stops[packet.hop as usize];
            if let Some(channel) = stop.channel {
                self.wait(channel, packet, key);
                return None;
            }
            place = stop.place;
        }
    }

    /// A packet arrives at a port whose departures take events, or that marks, or that is sampled; when it arrives at the next stop,
    /// and whether it was marked, unless that takes an event.
    #[cold]
    #[inline(never)]
    fn pass_slowly(
        &mut self,
        index: u32,
        packet: &Packet,
        time: f64,
        line: Line,
        now: Option<Event>,
    ) -> Option<(Key, bool)> {
        let key = Key::from_parts(time, line);
        let packet = *packet;
        self.sample_port(index, key.time);
        let port = &mut self.ports[index as usize];
        if !port.is_computed() {
            self.arrive(index, packet, key);
            return None;
        }
        let passage = port.accept_any(key, now, &packet, &mut self.lineage);
        if self.ports[index as usize].has_wire() {
            self.cross(index, packet, passage);
            return None;
        }
        let arrival = self.pass_on(index, packet.hop + 1, packet.wire_bytes, passage.arrival);
        Some((arrival, passage.marked))
    }

    /// When a packet that arrives at the end of a port's link is at its next stop: later or earlier if that is another link.
    #[inline]
    fn pass_on(&mut self, port: u32, hop: u32, bytes: u32, arrival: Key) -> Key {
        if !self.ports[port as usize].has_node() {
            return arrival;
        }
        match self.stops[hop as usize].place {
            Place::Port(next) | Place::SlowPort(next) => {
                let next_bps = self.ports[next as usize].rate_bps();
                self.ports[port as usize].pass_on(arrival, bytes, next_bps)
            }
            _ => arrival,
        }
    }

    /// A packet is on a wire that may double or damage it.
    fn cross(&mut self, port: u32, mut packet: Packet, passage: Passage) {
        if passage.marked {
            packet.mark();
        }
        packet.hop += 1;
        let twin = self.twins[packet.hop as usize];
        if passage.corrupted && twin != packet.hop {
            packet.hop = twin;
            self.ports[port as usize].count_corrupted();
        }
        let again = passage.again.map(|key| (key, self.copy(&packet)));
        let arrival = self.pass_on(port, packet.hop, packet.wire_bytes, passage.arrival);
        self.leave(packet, arrival);
        if let Some((key, copy)) = again {
            let key = self.pass_on(port, copy.hop, copy.wire_bytes, key);
            self.leave(copy, key);
        }
    }

    /// The same packet once more.
    fn copy(&mut self, packet: &Packet) -> Packet {
        if self.returning[packet.hop as usize] {
            self.acks.copy(packet)
        } else {
            self.acks.copy_data(packet)
        }
    }

    /// A damaged packet is at its host, whose checksum tells.
    #[cold]
    #[inline(never)]
    fn discarded(&mut self, packet: &Packet) {
        self.effort.discarded_packets += 1;
        self.dropped(packet);
    }

    /// The same as [`World::on_packet`], for callers that are rarely run.
    #[inline(never)]
    fn on_other_packet(&mut self, packet: Packet, key: Key) {
        self.on_packet(packet, key);
    }

    /// A packet is at a stop.
    #[inline(always)]
    fn on_packet(&mut self, packet: Packet, key: Key) {
        if let Some((ack, key)) = self.travel(packet, key, None) {
            self.acknowledged(&ack, key);
        }
    }

    /// A packet leaves a receiver or a port with events.
    fn leave(&mut self, packet: Packet, key: Key) {
        if key.is_never() {
            self.dropped(&packet);
        }
        if key.time >= self.end {
            return;
        }
        match self.stops[packet.hop as usize].channel {
            Some(channel) => self.wait(channel, packet, key),
            None => self.on_other_packet(packet, key),
        }
    }

    /// A packet is gone, and what was kept for it.
    #[cold]
    #[inline(never)]
    fn dropped(&mut self, packet: &Packet) {
        if self.returning[packet.hop as usize] {
            self.acks.drop(packet);
        } else {
            self.acks.drop_data(packet);
        }
    }

    /// A packet arrives at a port with events.
    fn arrive(&mut self, port: u32, packet: Packet, key: Key) {
        let turn = self.ports[port as usize].arrive(key, packet, &mut self.lineage);
        self.take_turn(port, turn);
    }

    #[inline(never)]
    fn on_transmitter_free(&mut self, port: u32, time: f64, line: Line) {
        let key = Key::from_parts(time, line);
        self.packets
            .set(self.port_slots[port as usize], Key::NEVER, &self.lineage);
        self.sample_port(port, key.time);
        let turn = self.ports[port as usize].transmitter_free(key, &mut self.lineage);
        self.take_turn(port, turn);
    }

    /// Does what a port with events has decided.
    fn take_turn(&mut self, port: u32, turn: Turn) {
        while let Some(queued) = self.ports[port as usize].take_dropped() {
            self.dropped(&queued.packet);
        }
        match turn {
            Turn::Waits => {}
            Turn::Starts(transmission) => self.on_transmission(port, transmission),
            Turn::Wakes(key) => {
                let slot = self.port_slots[port as usize];
                self.packets.set(slot, key, &self.lineage);
            }
        }
    }

    fn on_transmission(&mut self, port: u32, transmission: Transmission) {
        let Transmission {
            packet,
            passage,
            done,
        } = transmission;
        self.packets
            .set(self.port_slots[port as usize], done, &self.lineage);
        self.cross(port, packet, passage);
    }

    /// A segment reaches its receiver, which may be gone: then so is the segment.
    #[inline(never)]
    fn receive_of_living(&mut self, packet: Packet, key: Key, now: Event) -> Option<Packet> {
        let Some(place) = self.arrivals.place(packet.flow) else {
            self.effort.delivered_packets += 1;
            return None;
        };
        self.receive(place, packet, key, now)
    }

    /// A segment reaches its receiver; returns the acknowledgement it causes, if one leaves at once.
    #[inline(always)]
    fn receive(&mut self, index: u32, packet: Packet, key: Key, now: Event) -> Option<Packet> {
        self.effort.delivered_packets += 1;
        // A delayed acknowledgement that was due before goes first.
        let timer = self.flows[index as usize].receiver.next_timer();
        if timer.time <= key.time && timer.precedes(&key, &self.lineage, false) {
            self.fire_receiver_timer(index);
        }
        self.sample_receiver(index, key.time);
        let flow = &mut self.flows[index as usize];
        if flow.dialogue != dialogue::NONE {
            let copy = packet;
            let (time, line) = key.parts();
            return self.receive_in_dialogue(index, &copy, time, line, now);
        }
        if flow.receiver.marks.is_on() && flow.receiver.marks.changes_state(packet.ecn()) {
            self.echo_old_state(index, packet.hop + 1, key);
        }
        let flow = &mut self.flows[index as usize];
        let ack = flow.receiver.on_segment(now, packet.segment());
        if let Some(trace) = &mut self.ack_trace
            && let Some(deliveries) = trace.deliveries.get_mut(index as usize)
        {
            deliveries.push((key.time, flow.receiver.delivered_bytes));
        }
        if let Some(ack) = ack {
            let wire_bytes = flow.ack_sizes.of(&ack);
            return Some(self.acks.pack(flow.id, packet.hop + 1, wire_bytes, &ack));
        }
        let timer = flow.receiver.next_timer();
        self.see_to_timer(receiver_timer(index), timer);
        None
    }

    /// What has not been acknowledged yet is, before the receiver takes note that marks begin or end (RFC 8257 §3.2).
    #[cold]
    #[inline(never)]
    fn echo_old_state(&mut self, index: u32, hop: u32, key: Key) {
        let flow = &mut self.flows[index as usize];
        if let Some(ack) = flow.receiver.take_delayed(key.time) {
            let wire_bytes = flow.ack_sizes.of(&ack);
            let packet = self.acks.pack(flow.id, hop, wire_bytes, &ack);
            self.leave(packet, key);
        }
    }

    /// A slot of the timers is due; it may lag behind a timer that has been stopped or restarted.
    fn on_timer(&mut self, slot: u32) {
        let key = self.timers.get(slot);
        let index = slot / 2;
        let of_sender = slot == sender_timer(index);
        if of_sender && !self.flows[index as usize].started {
            self.start(index, key);
        } else if self.timer_of(slot) == key {
            if of_sender {
                self.fire_sender_timer(index);
            } else {
                self.fire_receiver_timer(index);
            }
        }
        // Until here the slot has held what has passed, which nothing is earlier than: it is set once.
        self.timers.set(slot, self.timer_of(slot), &self.lineage);
    }

    /// When what a slot of the timers stands for is due.
    fn timer_of(&self, slot: u32) -> Key {
        let flow = &self.flows[(slot / 2) as usize];
        if slot == sender_timer(slot / 2) {
            flow.next_timer()
        } else {
            flow.receiver.next_timer()
        }
    }

    /// Makes sure that a timer is looked at in its turn when it expires. One that is set to later is left where it is: when it comes up
    /// it is moved.
    #[inline]
    fn see_to_timer(&mut self, slot: u32, timer: Key) {
        self.timers.bring_forward(slot, timer, &self.lineage);
    }

    /// The next packets of a flow of UDP leave, the first of them with `key`; when it goes on.
    fn send_udp(&mut self, index: usize, mut key: Key) -> Key {
        let ahead = if self.scenario.shortcuts.computed_hops {
            Udp::AHEAD
        } else {
            1
        };
        for _ in 0..ahead {
            let packet = self.udp[index].leave(key);
            if let Some(channel) = self.stops[packet.hop as usize].channel {
                self.wait(channel, packet, key);
            } else {
                self.on_other_packet(packet, key);
            }
            key = self.udp[index].key();
            if key.time >= self.end {
                break;
            }
        }
        key
    }

    /// A packet of UDP reaches its receiver.
    #[inline(never)]
    fn receive_udp(&mut self, index: u32, packet: &Packet, now: f64) {
        self.effort.delivered_packets += 1;
        let received = &mut self.udp[index as usize].received;
        if let Some(samplers) = &mut self.samplers {
            samplers.udp[index as usize].take(now, || received.payload_bytes());
        }
        let (number, sent) = packet.number_and_time();
        received.on_packet(now, sent, number, packet.wire_bytes);
    }

    fn start(&mut self, index: u32, key: Key) {
        let now = self.lineage.record(key);
        self.sample_sender(index, key.time);
        let flow = &mut self.flows[index as usize];
        flow.started = true;
        if let Some(metrics) = &mut self.metrics {
            flow.sender.inherit(&metrics.at_start(index, key.time));
        }
        flow.sender.on_start(now);
        if self.hosts.send(index) {
            return self.write_on_host(index, key, now);
        }
        flow.write(now);
        self.pump_rarely(index, key, now);
    }

    fn fire_receiver_timer(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        let key = flow.receiver.next_timer();
        let ack = flow.receiver.on_timer();
        if self.hosts.receive(index) {
            return self.acknowledge_on_host(index, &ack, key);
        }
        let wire_bytes = flow.ack_sizes.of(&ack);
        let packet = self
            .acks
            .pack(flow.id, flow.trip.receiver_stop + 1, wire_bytes, &ack);
        self.leave(packet, key);
    }

    fn fire_sender_timer(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        let due = flow.next_timer();
        // At one instant an application writes before a timer expires, whichever was laid down first, and what they send leaves in that order.
        let ties = due.time == flow.fired.time;
        let key = if ties && due.precedes(&flow.fired, &self.lineage, false) {
            flow.fired
        } else {
            due
        };
        flow.fired = key;
        let now = self.lineage.record(key);
        self.sample_sender(index, key.time);
        let on_host = self.hosts.send(index);
        let flow = &mut self.flows[index as usize];
        if due != flow.write_key {
            flow.sender.on_timer(now);
        } else if !on_host {
            flow.write(now);
        }
        if on_host {
            return self.write_on_host(index, key, now);
        }
        self.pump_rarely(index, key, now);
    }

    /// An acknowledgement reaches its sender.
    #[inline(always)]
    fn acknowledged(&mut self, packet: &Packet, key: Key) {
        let ack = self.acks.unpack(packet);
        let Some(index) = self.arrivals.place(packet.flow) else {
            return;
        };
        // A timer that expired before goes first.
        loop {
            let timer = self.flows[index as usize].next_timer();
            if timer.time > key.time || !timer.precedes(&key, &self.lineage, false) {
                break;
            }
            self.fire_sender_timer(index);
        }
        self.sample_sender(index, key.time);
        let now = self.lineage.record(key);
        self.flows[index as usize].sender.on_segment(now, &ack);
        self.pump(index, key, now);
        if self.metrics.is_some() && self.flows[index as usize].sender.is_done() {
            self.note_end(index, key.time);
        }
        if self.arrivals.is_arriving(index) {
            if self.flows[index as usize].sender.is_done() {
                self.leave_if_finished(index, key.time);
            }
            return;
        }
        if self.ack_trace.is_some() {
            self.trace_ack(index, key.time);
        }
    }

    /// Remembers a connection that has ended.
    #[cold]
    #[inline(never)]
    fn note_end(&mut self, index: u32, time: f64) {
        let sender = &self.flows[index as usize].sender;
        if let Some(metrics) = &mut self.metrics {
            metrics.on_end(index, time, sender.legacy());
        }
    }

    /// The same as [`World::pump`], for callers that are rarely run.
    #[inline(never)]
    fn pump_rarely(&mut self, index: u32, key: Key, now: Event) {
        self.pump(index, key, now);
    }

    /// Sends what a sender has to send, and sees to its timer.
    #[inline(always)]
    fn pump(&mut self, index: u32, key: Key, now: Event) {
        while !self.send_at_once(index, key, now) && self.may_send_more(index, now.time) {}
        let timer = self.flows[index as usize].next_timer();
        self.see_to_timer(sender_timer(index), timer);
    }

    /// Sends what a sender has to send, at most so much that limits are to be looked at; whether that was all.
    #[inline(always)]
    fn send_at_once(&mut self, index: u32, key: Key, now: Event) -> bool {
        for _ in 0..AT_ONCE {
            let flow = &mut self.flows[index as usize];
            let Some(data) = flow.sender.poll_transmit(now) else {
                return true;
            };
            let mut wire_bytes = flow.header + data.payload_bytes;
            let (syns, options) = flow.ack_sizes.syns;
            if data.seq < syns {
                wire_bytes += options;
            }
            let mut packet = Packet::data(flow.id, flow.trip.first_stop, wire_bytes, data);
            if flow.dialogue != dialogue::NONE {
                packet = self.put_ack_on(index, &packet, now.time);
            }
            if let Some(channel) = self.stops[packet.hop as usize].channel {
                self.wait(channel, packet, key);
            } else {
                let back = self.travel(packet, key, Some(now));
                debug_assert!(back.is_none(), "every round trip has an event: plan_stops");
            }
        }
        false
    }

    // --- samples --------------------------------------------------------------------------------------------------------

    #[inline]
    fn sample_sender(&mut self, index: u32, until: f64) {
        if self.samplers.is_some() {
            self.take_sender_samples(index, until);
        }
    }

    #[inline]
    fn sample_receiver(&mut self, index: u32, until: f64) {
        if self.samplers.is_some() {
            self.take_receiver_samples(index, until);
        }
    }

    #[inline]
    fn sample_port(&mut self, index: u32, until: f64) {
        if self.samplers.is_some() {
            self.take_port_samples(index, until);
        }
    }

    // --- records --------------------------------------------------------------------------------------------------------

    fn into_records(mut self) -> Records {
        for index in 0..index_u32(self.scenario.flows.len()) {
            self.sample_sender(index, f64::INFINITY);
            self.sample_receiver(index, f64::INFINITY);
            let flow = &mut self.flows[index as usize];
            if flow.started {
                flow.sender.finish(self.end);
            }
        }
        for index in 0..index_u32(self.ports.len()) {
            self.sample_port(index, f64::INFINITY);
            self.ports[index as usize].finish();
        }
        if let Some(samplers) = &mut self.samplers {
            for (sampler, flow) in samplers.udp.iter_mut().zip(&self.udp) {
                sampler.take(f64::INFINITY, || flow.received.payload_bytes());
            }
        }
        self.end_arrivals();
        self.hosts.finish(self.end);
        let mut tables = vec![self.flow_table()];
        tables.extend(links::tables(self.scenario, &self.ports));
        tables.extend(self.arrival_tables());
        tables.extend(self.dialogues.table(self.scenario, &self.hosts, self.end));
        if !self.udp.is_empty() {
            tables.extend(self.udp_tables());
        }
        if let Some(samplers) = &self.samplers {
            tables.push(
                samplers.series_table(self.scenario, &self.flows[..self.scenario.flows.len()]),
            );
            tables.push(samplers.queue_table(self.scenario));
        }
        if let Some(trace) = &self.ack_trace {
            tables
                .push(trace.series_table(self.scenario, &self.flows[..self.scenario.flows.len()]));
        }
        if let Some(variables) = &self.variables {
            tables.push(variables.table(self.scenario));
        }
        if self.scenario.record.episodes {
            tables.push(self.episode_table());
        }
        tables.extend(self.hosts.tables(self.scenario, &self.dialogues));
        Records { tables }
    }

    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    fn flow_table(&self) -> Table {
        let mut table = Table::new("flows");
        for (index, (flow, spec)) in (0..).zip(self.flows.iter().zip(&self.scenario.flows)) {
            let (sender, receiver, counters) =
                (&flow.sender, &flow.receiver, &flow.sender.counters);
            // With a host the application has what it has read.
            let (delivered, last_delivery) = self
                .hosts
                .read_by(index)
                .unwrap_or((receiver.delivered_bytes, receiver.last_delivery));
            let [stall, stalls @ ..] = self.hosts.stalls(index, self.end);
            let config = sender.config();
            let lifetime = self.end - flow.start;
            let rate = |bytes| mean_rate_bps(bytes, lifetime);
            let acked = sender.acked_segments();
            // Nor is a transfer complete that the application has not read to its end.
            let done = sender.is_done() && delivered == sender.acked_bytes();
            let srtt = counters.srtt_sum_secs / counters.rtt_samples as f64;
            let sampled = |secs: f64| {
                if counters.rtt_samples > 0 {
                    ns(secs)
                } else {
                    -1
                }
            };
            let totals = [
                Cell::Str(spec.name.clone()),
                Cell::Str(spec.cc.name.into()),
                Cell::Str(config.recovery.name().into()),
                Cell::I64(ns(flow.start)),
                Cell::U64(acked),
                Cell::U64(sender.acked_bytes()),
                Cell::U64(delivered),
                Cell::F64(rate(acked * u64::from(config.smss))),
                Cell::F64(rate(delivered)),
                Cell::U64(counters.sent_packets),
                Cell::U64(counters.retransmits),
                Cell::U64(counters.fast_retransmits),
                Cell::U64(counters.timeouts),
                Cell::U64(counters.dupacks_in),
                Cell::U64(counters.sacks_in),
                Cell::U64(counters.dsacks_in),
                Cell::U64(counters.congestion_signals),
                Cell::U64(receiver.marks.ce_in),
                Cell::U64(counters.ecn_signals),
                Cell::U64(counters.ecn_reductions),
                Cell::F64(if lifetime > 0.0 {
                    counters.cwnd_integral / lifetime * f64::from(config.smss)
                } else {
                    0.0
                }),
                Cell::I64(sampled(srtt)),
                Cell::I64(sampled(counters.min_rtt_secs)),
                Cell::I64(if done {
                    ns(last_delivery - flow.start)
                } else {
                    -1
                }),
                Cell::I64(stall),
            ];
            let limits = &sender.limits;
            let shares = Limit::ALL.map(|limit| Cell::I64(limits.spent_ns(limit)));
            let details = [
                Cell::I64(limits.lifetime_ns()),
                Cell::U64(counters.subsequent_timeouts),
                Cell::U64(counters.probes),
                Cell::U64(counters.spurious),
                Cell::U64(counters.spurious_timeouts),
                Cell::F64(counters.max_cwnd * f64::from(config.smss)),
                Cell::I64(sender.srtt_secs().map_or(-1, ns)),
                Cell::I64(sampled(counters.max_rtt_secs)),
                Cell::U64(counters.rtt_samples),
            ];
            let row = totals.into_iter().chain(shares).chain(details);
            table.push(row.chain(stalls.map(Cell::I64)));
        }
        for (flow, spec) in self.udp.iter().zip(&self.scenario.udp) {
            table.push(udp::flow_row(&self.sent(flow, spec), &flow.received));
        }
        table
    }

    fn sent<'b>(&self, flow: &Udp, spec: &'b UdpSpec) -> udp::Sent<'b> {
        udp::Sent {
            flow: &spec.name,
            start_secs: flow.start,
            end_secs: self.end,
            packets: flow.sent_packets,
            bytes: flow.sent_bytes,
        }
    }

    fn udp_tables(&self) -> [Table; 2] {
        let mut datagrams = Table::new("datagrams");
        let mut sources = Table::new("sources");
        for (flow, spec) in self.udp.iter().zip(&self.scenario.udp) {
            datagrams.push(udp::datagram_row(&self.sent(flow, spec), &flow.received));
            flow.source.report(&mut |quantity, value| {
                sources.push(udp::source_row(&spec.name, quantity, value));
            });
        }
        [datagrams, sources]
    }

    #[expect(clippy::cast_possible_wrap, reason = "counts are far below 2^63")]
    fn episode_table(&self) -> Table {
        let mut table = Table::new("episodes");
        for (flow, spec) in self.flows.iter().zip(&self.scenario.flows) {
            let smss = flow.sender.config().smss;
            for episode in flow.sender.episodes() {
                table.push([
                    Cell::Str(spec.name.clone()),
                    Cell::I64(ns(episode.start)),
                    Cell::I64(episode.end.map_or(-1, ns)),
                    Cell::Str(episode.cause.name().into()),
                    Cell::I64(episode.lost.map_or(-1, |lost| lost as i64)),
                    Cell::U64(episode.retransmits),
                    Cell::U64(episode.timeouts),
                    Cell::U64(episode.flight_size * u64::from(smss)),
                    Cell::F64(episode.cwnd_before * f64::from(smss)),
                    Cell::F64(episode.ssthresh * f64::from(smss)),
                    Cell::F64(episode.cwnd_after * f64::from(smss)),
                    Cell::U64(u64::from(episode.spurious)),
                ]);
            }
        }
        table
    }
}

/// The channels and their slots, given whether packets come to each in order.
fn channels(in_order: &[bool], rings: bool, slots: &mut Vec<Slot>) -> Vec<Channel> {
    let mut channels = Vec::with_capacity(in_order.len());
    for (index, in_order) in in_order.iter().enumerate() {
        channels.push(Channel {
            slot: index_u32(slots.len()),
            loose: !(*in_order && rings),
            waiting: Ring::new((Key::NEVER, Packet::default())),
        });
        slots.push(Slot::Channel(index_u32(index)));
    }
    channels
}

/// The flows that are there all the time: the scenario's, then the other sides of dialogues.
fn standing_flows(
    scenario: &Scenario,
    seed: u64,
    dialogues: &Dialogues,
    trips: &[Trip],
) -> Vec<Flow> {
    let clock_phases = ns2_random::phases(scenario.flows.len(), senders(scenario));
    let mut flows = Vec::with_capacity(scenario.flows.len());
    for (index, spec) in scenario.flows.iter().enumerate() {
        let mut random = Stream::new(seed, &format!("{}/cc", spec.name));
        let config = Config::from(&spec.tcp);
        // Who answers has been connected to.
        let opens = !dialogues.has_server(index);
        let mut config = Config {
            seed: random.integer(0, i64::MAX).unsigned_abs(),
            handshake: config.handshake && opens,
            handshake_ack: config.handshake_ack && opens,
            // A host's socket has its own memory.
            send_buffer_default: config.send_buffer_default.filter(|_| spec.host.is_none()),
            ..config
        };
        let [drawn, _] = config.draw_phases(|| clocks(seed, &spec.name));
        let share = if config.ns2_tick_phase {
            clock_phases[index]
        } else {
            drawn
        };
        let phase = share * config.rto.granularity;
        let new_cc: cc::New = *build(cc::TABLE, &spec.cc);
        let mut sender = Sender::open(config, new_cc, &spec.cc.params, phase);
        if scenario.record.episodes {
            sender.keep_episodes();
        }
        flows.push(Flow::new(FlowPlan {
            id: index_u32(index),
            start: spec.start.secs(),
            sender,
            source: spec.source(seed),
            trip: trips[index],
        }));
    }
    dialogues.add_clients(scenario, seed, &mut flows, trips);
    flows
}

/// The random numbers of the clocks of a flow's hosts.
fn clocks(seed: u64, flow: &str) -> Stream {
    Stream::new(seed, &format!("{flow}/clocks"))
}

/// The slot of a flow's retransmission timer; before its start, of the start.
fn sender_timer(flow: u32) -> u32 {
    2 * flow
}

/// The slot of a flow's delayed-acknowledgement timer.
fn receiver_timer(flow: u32) -> u32 {
    2 * flow + 1
}

/// A cache for each path, if a flow uses one: flows with one path are between the same two hosts. And, of each entry of flows that
/// arrive, the number of its path and what its hosts keep.
fn metrics_caches(
    scenario: &Scenario,
    flows: &[Flow],
) -> (Option<MetricsCaches>, Vec<(usize, Keeps)>) {
    let keeps = |spec: &FlowSpec| Config::from(&spec.tcp).metrics_cache;
    let mut places: BTreeMap<&[usize], usize> = BTreeMap::new();
    let mut of_flow = Vec::new();
    for (at, spec) in scenario.all_flows().enumerate() {
        if at == scenario.flows.len() {
            // The other sides of dialogues are part of connections that have their place.
            of_flow.resize(flows.len(), (0, Keeps::Nothing));
        }
        let next = places.len();
        of_flow.push((*places.entry(&spec.path).or_insert(next), keeps(spec)));
    }
    of_flow.resize(of_flow.len().max(flows.len()), (0, Keeps::Nothing));
    if of_flow.iter().all(|(_, keeps)| *keeps == Keeps::Nothing) {
        return (None, of_flow.split_off(flows.len()));
    }
    let caches = MetricsCaches::new(of_flow.iter().copied());
    (Some(caches), of_flow.split_off(flows.len()))
}

/// Whether all flows start at one place: their paths begin with the same link.
fn senders(scenario: &Scenario) -> Senders {
    let mut first_links = scenario.flows.iter().map(|flow| flow.path[0]);
    let first = first_links.next();
    if scenario.flows.len() > 1 && first_links.all(|link| Some(link) == first) {
        Senders::OneNode
    } else {
        Senders::NodeEach
    }
}

/// Finds the constructor of a part; the scenario has checked its name.
fn build<C>(table: &'static [registry::Entry<C>], part: &Part) -> &'static C {
    &table
        .iter()
        .find(|entry| entry.name == part.name)
        .expect("the scenario names parts of the table")
        .new
}

/// The flows of UDP, laid down as numbers from `first_order` on.
fn udp_flows(scenario: &Scenario, seed: u64, first_order: usize, trips: &[Trip]) -> Vec<Udp> {
    let specs = (0..).zip(&scenario.udp).zip(trips);
    specs
        .map(|((index, spec), trip)| {
            let order = index_u32(first_order) + index;
            Udp::new(spec, seed, (index, order), trip.first_stop)
        })
        .collect()
}

/// Which way a port's packets go.
pub fn direction_name(port: usize) -> &'static str {
    if port.is_multiple_of(2) {
        "forward"
    } else {
        "reverse"
    }
}

fn index_u32(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 components")
}

fn ns(secs: f64) -> i64 {
    Duration::from_secs(secs).as_ns()
}
