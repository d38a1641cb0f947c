//! All links of a scenario between hosts that are elsewhere: a host offers packets, and has those for it handed out when they arrive.
//!
//! **Sans-I/O.** A network has no clock: [`Network::next_time`] says when it has something to do, and [`Network::advance`] does what is due.
//! A packet is at its next port at the time at which it arrives there by the model, not when its host happens to ask, so delays of
//! whoever asks do not add up. What a packet is does not matter, as long as it is a [`Payload`].
//!
//! **UDP.** Flows of UDP need no host: their packets are made here by their own sources and meet those of hosts in the ports. They are
//! moved only when a host's packet is, or at the end, as nothing else depends on where they are.
//!
//! The simulator's own loop (`sim::World`) has the same [ports](Port) and [flows of UDP](UdpFlow), but not this: it computes events early or
//! leaves them out, and so orders them by their [lineage](crate::events), which this has no use for; and its hosts answer at once, so that a
//! packet may pass many stops in one step.

mod route;
mod sights;
#[cfg(test)]
mod tests;

use route::{Route, shortest_delay};
pub use sights::{DeliveredPacket, LinkEvent, LinkSight};

use super::agenda::{Agenda, AgendaEvent};
use super::flight::{AgendaKey, Content, PacketInFlight, Payload, Towards};
use super::queued::QueuedFlights;
use super::{Passage, Port, PortTransmission, Traffic, Turn, UdpFlow};
use crate::events::{Child, EventKey, Lineage, Occurrence};
use crate::packet::{DataSegment, Packet};
use crate::spec::Scenario;
use crate::udp::flow_number;
use crate::units::{Duration, Instant, SeqNum};

/// The links of a scenario, both directions, and what is on its way there.
#[derive(Debug)]
pub struct Network<P> {
    /// Two of each link in the scenario's order: forward, then reverse.
    pub ports: Vec<Port>,
    /// Of each flow, then of each entry of flows that arrive, then of each flow of UDP.
    routes: Vec<Route>,
    /// In the order of [`Scenario::udp`].
    pub udp: Vec<UdpFlow>,
    /// No packet reaches the other host sooner than this after it was sent.
    pub shortest_delay: Duration,
    lineage: Lineage,
    /// By what a host was handed something last.
    delivered: EventKey,
    /// What is going to happen.
    agenda: Agenda<P>,
    /// What waits at ports whose departures take events.
    queued: QueuedFlights<P>,
    /// Of each port whether it is watched; nothing if none is.
    watched: Vec<bool>,
    /// Whether packets of UDP are seen at their hosts.
    watches_hosts: bool,
    sights: Vec<LinkSight<P>>,
}

impl<P: Payload> Network<P> {
    /// With nothing on its way yet. Queues, losses, impairments and sources of UDP draw their random numbers from `seed`.
    pub fn new(scenario: &Scenario, seed: u64) -> Self {
        Self::with_ports(scenario, seed, true)
    }

    /// The same, whose ports of these links are watched, and the hosts of UDP: what happens there is told by [`Network::take_sights`] in the order of time. If a link is watched nothing is
    /// computed early, so that times may be rounded otherwise.
    pub fn watch(scenario: &Scenario, seed: u64, links: &[usize]) -> Self {
        let mut network = Self::with_ports(scenario, seed, links.is_empty());
        network.watches_hosts = true;
        let is_watched = |port: usize| links.contains(&(port / 2));
        if !links.is_empty() {
            network.watched = (0..network.ports.len()).map(is_watched).collect();
        }
        network
    }

    /// What was seen where it is watched since this was asked for.
    pub fn take_sights(&mut self) -> Vec<LinkSight<P>> {
        std::mem::take(&mut self.sights)
    }

    /// Nothing is seen before this that has not been told yet, but what hosts are about to offer.
    pub fn seen_until(&self) -> Instant {
        self.agenda.next_time()
    }

    fn with_ports(scenario: &Scenario, seed: u64, computed: bool) -> Self {
        let mut ports = super::ports(scenario, seed, computed);
        let routes: Vec<Route> = (scenario.all_flows().map(Route::of_flow))
            .chain(scenario.udp.iter().map(Route::of_udp))
            .collect();
        // Packets are on the hop of their route (see `stand_in`).
        let whose = (0..index(routes.len())).map(|flow| Traffic { flow, acks: false });
        super::keep_ledgers(&mut ports, scenario.record, whose.collect());
        let mut network = Self {
            agenda: Agenda::new(ports.len()),
            ports,
            routes,
            udp: (scenario.udp.iter())
                .map(|spec| UdpFlow::new(spec, seed))
                .collect(),
            shortest_delay: shortest_delay(scenario),
            lineage: Lineage::new(),
            delivered: EventKey::NEVER,
            queued: QueuedFlights::new(),
            watched: Vec::new(),
            watches_hosts: false,
            sights: Vec::new(),
        };
        for flow in 0..network.udp.len() {
            network.schedule_departure(flow);
        }
        network
    }

    /// A host sends a packet of a flow at `now`. `connection`: its flow's number, or one of its own if it is one of many that arrive and leave.
    pub fn offer(
        &mut self,
        now: Instant,
        flow: usize,
        connection: u32,
        towards: Towards,
        packet: P,
    ) {
        let access_delay = match towards {
            Towards::Receiver => self.routes[flow].access_delay,
            Towards::Sender => Duration::ZERO,
        };
        // What a host answers is at its port by the event that it answers; nobody knows when something else that it does was scheduled.
        let answers = Some(self.delivered).filter(|last| last.time == now);
        let by = answers.unwrap_or(EventKey::at_start(now, 0));
        let key = if access_delay == Duration::ZERO {
            by
        } else {
            let event = self.lineage.record(by);
            event.schedule(now + access_delay, Child::Arrival)
        };
        let flight = PacketInFlight {
            due: AgendaKey::default(),
            key,
            route: flow,
            connection,
            towards,
            hop: 0,
            damaged: false,
            content: Content::Host(packet),
        };
        self.agenda.schedule_arrival(flight);
    }

    /// When something is to be done next for a packet of a host, if one is on its way. What UDP does before is done with it.
    pub fn next_time(&self) -> Instant {
        self.agenda.next_time_of_hosts(self.queued.of_hosts() > 0)
    }

    /// Moves all packets up to `now`, or until one reaches its host. To be called again until there is none.
    pub fn advance(&mut self, now: Instant) -> Option<DeliveredPacket<P>> {
        while self.next_time() <= now
            && let Some((time, event)) = self.agenda.pop()
        {
            let delivery = self.happen(time, event);
            if delivery.is_some() {
                return delivery;
            }
        }
        None
    }

    /// Moves all packets up to the end of the run at `end`, before which nothing reaches a host any more.
    pub fn finish(&mut self, end: Instant) {
        while self.agenda.next_time() < end
            && let Some((time, event)) = self.agenda.pop()
        {
            self.happen(time, event);
        }
    }

    /// Does what happens at `time`; the packet that has reached its host by it.
    fn happen(&mut self, time: Instant, event: AgendaEvent<P>) -> Option<DeliveredPacket<P>> {
        match event {
            AgendaEvent::Departure(flow) => self.send_datagram(flow, time),
            AgendaEvent::Arrival(flight) => {
                self.see_arrival(&flight);
                return self.move_on(flight);
            }
            AgendaEvent::Free(port) => {
                let now = self.lineage.record(EventKey::at_start(time, 0));
                let turn = self.ports[port].transmitter_free(now);
                self.take_turn(port, turn, time);
            }
        }
        None
    }

    fn schedule_departure(&mut self, flow: usize) {
        if let Some(time) = self.udp[flow].due() {
            self.agenda.schedule_departure(flow, time);
        }
    }

    /// A packet of UDP leaves.
    fn send_datagram(&mut self, flow: usize, now: Instant) {
        let datagram = self.udp[flow].leave();
        self.schedule_departure(flow);
        let route = self.routes.len() - self.udp.len() + flow;
        let flight = PacketInFlight {
            due: AgendaKey::first(now),
            // What UDP sends goes before all else at its instant.
            key: EventKey::at_start(now, 0),
            route,
            connection: flow_number(index(flow)),
            towards: Towards::Receiver,
            hop: 0,
            damaged: false,
            content: Content::Datagram {
                number: datagram.number,
                sent: now,
                size: datagram.size,
            },
        };
        self.see_at_host(now, &flight, LinkEvent::Leaves);
        let access_delay = self.routes[route].access_delay;
        if access_delay > Duration::ZERO {
            let key = EventKey::at_start(now + access_delay, 0);
            self.agenda
                .schedule_arrival(PacketInFlight { key, ..flight });
        } else {
            self.move_on(flight);
        }
    }

    /// A packet is at its next port or at its end.
    fn move_on(&mut self, flight: PacketInFlight<P>) -> Option<DeliveredPacket<P>> {
        match self.next_port(&flight) {
            None => return self.end(flight),
            Some(port) if self.ports[port].is_computed() => self.pass(port, flight),
            Some(port) => self.arrive(port, flight),
        }
        None
    }

    /// The port at which a packet is next, if it is not at its end.
    fn next_port(&self, flight: &PacketInFlight<P>) -> Option<usize> {
        let route = &self.routes[flight.route];
        let direction = match flight.towards {
            Towards::Receiver => route.direction,
            Towards::Sender => route.direction.opposite(),
        };
        direction.port_at(&route.path, flight.hop)
    }

    /// A packet is at its end: handed to its host, or counted if it is one of UDP whose checksum is right.
    fn end(&mut self, flight: PacketInFlight<P>) -> Option<DeliveredPacket<P>> {
        self.see_at_host(flight.due.time(), &flight, LinkEvent::Ends);
        match flight.content {
            Content::Host(packet) => {
                self.delivered = flight.key;
                return Some(DeliveredPacket {
                    towards: flight.towards,
                    flow: flight.route,
                    connection: flight.connection,
                    packet,
                });
            }
            Content::Datagram { .. } if flight.damaged => {}
            Content::Datagram { number, sent, size } => {
                let flow = flight.route - (self.routes.len() - self.udp.len());
                let received = &mut self.udp[flow].received;
                received.on_packet(flight.due.time(), sent, number, size);
            }
        }
        None
    }

    /// A packet arrives at a port that computes when it departs.
    fn pass(&mut self, port: usize, mut flight: PacketInFlight<P>) {
        let packet = stand_in(&flight, 0);
        let passage = self.ports[port].accept_any(
            flight.key,
            Occurrence::OUT_OF_TURN,
            &packet,
            &mut self.lineage,
        );
        if passage.marked {
            flight.content.mark();
        }
        self.cross(port, flight, passage);
    }

    /// A packet arrives at a port with events.
    fn arrive(&mut self, port: usize, flight: PacketInFlight<P>) {
        let key = flight.key;
        let (number, flight) = self.queued.put(flight);
        let packet = stand_in(flight, number);
        let turn = self.ports[port].arrive(key, Occurrence::OUT_OF_TURN, packet, &mut self.lineage);
        self.take_turn(port, turn, key.time);
    }

    /// Does what a port with events has decided at `now`.
    fn take_turn(&mut self, port: usize, turn: Turn, now: Instant) {
        while let Some(dropped) = self.ports[port].take_dropped() {
            if let Some(flight) = self.queued.take(dropped.packet.segment().seq.get()) {
                self.see(now, port, &flight, LinkEvent::Dropped);
            }
        }
        match turn {
            Turn::Waits => {}
            Turn::Wakes(key) => self.agenda.schedule_free(port, key),
            Turn::Starts(PortTransmission {
                packet,
                passage,
                done,
            }) => {
                if let Some(mut flight) = self.queued.take(packet.segment().seq.get()) {
                    if packet.ecn() != flight.content.ecn() {
                        flight.content.mark();
                    }
                    self.see(now, port, &flight, LinkEvent::Starts(passage));
                    self.cross(port, flight, passage);
                }
                self.agenda.schedule_free(port, done);
            }
        }
    }

    /// What a packet that has passed so many ports takes from the last of them to its host, if it is on its way there.
    fn access_delay_after(&self, flight: &PacketInFlight<P>) -> Duration {
        let route = &self.routes[flight.route];
        if flight.hop == route.path.len() && flight.towards == Towards::Sender {
            route.access_delay
        } else {
            Duration::ZERO
        }
    }

    /// A packet is on a wire, which may damage or double it.
    fn cross(&mut self, port: usize, mut flight: PacketInFlight<P>, passage: Passage) {
        if passage.corrupted && flight.damage() {
            self.ports[port].count_corrupted();
        }
        flight.hop += 1;
        let access_delay = self.access_delay_after(&flight);
        let again = passage.again.map(|again| (again, flight.clone()));
        let next = self.next_port(&flight).map(|port| self.ports[port].rate());
        let size = flight.content.size();
        let arrivals = [Some((passage.arrival, flight)), again];
        for (arrival, flight) in arrivals.into_iter().flatten() {
            let arrival = next.map_or(arrival, |next| {
                self.ports[port].pass_on(arrival, size, next)
            });
            if !arrival.is_never() {
                let time = arrival.time + access_delay;
                let key = EventKey::from_parts(time, arrival.parts().1);
                self.agenda
                    .schedule_arrival(PacketInFlight { key, ..flight });
            }
        }
    }
}

/// A packet as ports know it. In a queue it is identified by `number`.
fn stand_in<P: Payload>(flight: &PacketInFlight<P>, number: u64) -> Packet {
    let data = DataSegment {
        seq: SeqNum::new(number),
        ecn: flight.content.ecn(),
        ..DataSegment::default()
    };
    let size = flight.content.size();
    Packet::data(flight.connection, index(flight.route), size, data)
}

fn index(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
