//! One running simulation: assembles a [`Scenario`], runs it, returns [`Records`].
//!
//! **Model.** A flow's round trip is a list of stops: the forward ports, the receiver, the reverse ports in opposite order, the
//! sender. A packet moves from stop to stop; a port tells when it arrives at the next one.
//!
//! **Speed.** Events are only needed where streams of packets meet, because only there does the order between components
//! matter. Three shortcuts, each exact and each with a switch in [`Shortcuts`](crate::spec::Shortcuts):
//! - `no_tx_event`: a drop-tail port computes departures at arrival (see [`crate::link`]).
//! - `computed_hops`: a stop that is fed by one in-order stream is passed at once, ahead of time: its state depends on nothing
//!   else. So access links, receivers and senders need no events of their own.
//! - `ring`: packets on their way to a meeting point wait in a ring; only the first has a pending event.
//!
//! Where a wire reorders or doubles packets ([`crate::impair`]), each packet behind it has an event of its own, shortcuts or not.
//!
//! A flow of UDP is a list of stops that ends at its receiver. Nothing comes back to its source, so its packets are let out some at a time,
//! ahead of time, and each takes one event for every meeting point on its way and none of its own.
//!
//! A stop that is passed ahead of time is still passed in the order of its keys, with its own timers fired in between. Nothing
//! happens at or after the run's end, and samples are taken when a component is about to move past the sampling time. So the
//! records do not depend on the shortcuts; `tests/shortcuts.rs` proves it on random scenarios.

mod arrivals;
mod budget;
mod channel;
mod dialogue;
mod flow;
mod hosts;
pub mod links;
mod observe;
mod stops;
mod tables;
mod udp;

use self::arrivals::Arrivals;
use self::budget::AT_ONCE;
pub use self::budget::{Stopped, simulate_within_limits};
use self::channel::{Channel, Loose, LooseEvents, channels};
use self::dialogue::Dialogues;
use self::flow::{Flow, metrics_caches, standing_flows};
use self::hosts::{Hosts, Part as HostPart};
use self::observe::{AckTrace, Samplers, Variables};
use self::stops::{Place, Plan, Stop, plan_stops, routes};
use self::udp::{Udp, udp_flows};
use crate::events::{Child, Event, EventQueue, Key, Line, Lineage};
use crate::impair::ImpairedWire;
use crate::link::{Passage, Port, Transmission, Turn};
use crate::loss::Loss;
use crate::packet::{AckStore, Packet};
use crate::queue::{self, Site};
use crate::record::{Effort, Records};
use crate::registry;
use crate::rng::Stream;
use crate::spec::{Part, Sampling, Scenario};
use crate::tcp::metrics_cache::{Keeps, MetricsCaches};
use crate::units::Duration;

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
            let wire =
                ImpairedWire::new(&direction.impairments, initial, end.secs(), (seed, &name));
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
        if self.ports[index as usize].is_impaired() {
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
}

/// The slot of a flow's retransmission timer; before its start, of the start.
fn sender_timer(flow: u32) -> u32 {
    2 * flow
}

/// The slot of a flow's delayed-acknowledgement timer.
fn receiver_timer(flow: u32) -> u32 {
    2 * flow + 1
}

/// Finds the constructor of a part; the scenario has checked its name.
fn build<C>(table: &'static [registry::Entry<C>], part: &Part) -> &'static C {
    &table
        .iter()
        .find(|entry| entry.name == part.name)
        .expect("the scenario names parts of the table")
        .new
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
