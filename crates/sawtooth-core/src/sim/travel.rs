//! How a packet moves from stop to stop: past ports, across wires, to where it waits for an event, is dropped or arrives.

use super::hosts::events::come_to_host;
use super::receiving::{receive, receive_of_living};
use super::routes::{PathNode, Stop};
use super::topology::Topology;
use super::udp::receive_udp;
use super::world::World;
use crate::events::{Child, EventKey, Line, Occurrence};
use crate::net::{Passage, PortTransmission, Turn};
use crate::packet::Packet;
use crate::units::Instant;

impl World<'_> {
    /// A packet travels on from its stop, where it arrives with `key`, until it waits for an event, is dropped, or reaches its
    /// sender: then it is returned. `now`: what is known of the event of `key`.
    ///
    /// Packet and key are never handed to another function themselves, only copies and parts: then they stay in registers.
    #[inline(always)]
    pub(super) fn travel(
        &mut self,
        mut packet: Packet,
        mut key: EventKey,
        mut now: Occurrence,
    ) -> Option<(Packet, EventKey)> {
        let mut place = self.topology.stop(packet.hop).place;
        loop {
            let stop = match place {
                PathNode::Port(first) => {
                    // All ports up to the next stop that is none, or has events.
                    let Topology { ports, stops, .. } = &mut self.topology;
                    let (lineage, end) = (&mut self.calendar.lineage, self.calendar.end);
                    let (size, mut index, mut hop) = (packet.size(), first, packet.hop);
                    let mut ahead = stops[hop as usize + 1..].iter();
                    let behind = loop {
                        let port = &mut ports[index as usize];
                        key = port.take::<true>(key, now, size, lineage);
                        now = Occurrence::OUT_OF_TURN;
                        hop += 1;
                        match ahead.next().expect("a way ends at its sender") {
                            Stop {
                                place: PathNode::Port(next),
                                channel: None,
                            } if key.time < end => index = *next,
                            behind => break *behind,
                        }
                    };
                    packet.hop = hop;
                    behind
                }
                PathNode::Receiver(flow) => {
                    let event = now.record(key, &mut self.calendar.lineage);
                    packet = receive(self, flow, packet, key, event)?;
                    now = Occurrence::recorded(event);
                    self.topology.stop(packet.hop)
                }
                PathNode::Sender(_) | PathNode::Senders(_) => return Some((packet, key)),
                PathNode::Receivers(_) => {
                    let event = now.record(key, &mut self.calendar.lineage);
                    packet = receive_of_living(self, packet, key, event)?;
                    now = Occurrence::recorded(event);
                    self.topology.stop(packet.hop)
                }
                PathNode::Access(way) => {
                    let event = now.record(key, &mut self.calendar.lineage);
                    let delay = self.topology.access_delays[(way / 2) as usize];
                    key = event.schedule(key.time + delay, Child::Arrival);
                    now = Occurrence::OUT_OF_TURN;
                    packet.hop += 1;
                    self.topology.stop(packet.hop)
                }
                PathNode::UdpReceiver(index) => {
                    let copy = packet;
                    receive_udp(&mut self.udp, &mut self.observers, index, &copy, key.time);
                    return None;
                }
                PathNode::Host(end) => {
                    let copy = packet;
                    let (time, line) = key.parts();
                    come_to_host(self, end, &copy, time, line);
                    return None;
                }
                PathNode::Discard => {
                    let copy = packet;
                    self.discarded(&copy);
                    return None;
                }
                PathNode::SlowPort(_) | PathNode::SampledPort(_) => {
                    let copy = packet;
                    let (time, line) = key.parts();
                    let (arrival, marked) = self.pass_slowly(place, &copy, time, line, now)?;
                    if marked {
                        packet.mark();
                    }
                    let (time, line) = arrival.parts();
                    key = EventKey::from_parts(time, line);
                    now = Occurrence::OUT_OF_TURN;
                    packet.hop += 1;
                    self.topology.stop(packet.hop)
                }
            };
            if self.calendar.is_over(key) {
                if key.is_never() {
                    let copy = packet;
                    self.topology.forget(&mut self.acks, &copy);
                }
                return None;
            }
            if let Some(channel) = stop.channel {
                self.calendar.wait(channel, packet, key);
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
        place: PathNode,
        packet: &Packet,
        time: Instant,
        line: Line,
        now: Occurrence,
    ) -> Option<(EventKey, bool)> {
        let index = place.port().expect("it is a port");
        let key = EventKey::from_parts(time, line);
        self.observers
            .sample_port(&mut self.topology.ports, index, key.time);
        let port = self.topology.port(index);
        if let PathNode::SampledPort(_) = place {
            let lineage = &mut self.calendar.lineage;
            return Some((port.take::<true>(key, now, packet.size(), lineage), false));
        }
        let packet = *packet;
        if !port.is_computed() {
            self.arrive(index, packet, key, now);
            return None;
        }
        let passage = port.accept_any(key, now, &packet, &mut self.calendar.lineage);
        if self.topology.port(index).is_impaired() {
            self.cross(index, packet, passage);
            return None;
        }
        let arrival = self
            .topology
            .pass_on(index, packet.hop + 1, packet.size(), passage.arrival);
        Some((arrival, passage.marked))
    }

    /// A packet is on a wire that may double or damage it.
    fn cross(&mut self, port: u32, mut packet: Packet, passage: Passage) {
        if passage.marked {
            packet.mark();
        }
        packet.hop += 1;
        let twin = self.topology.twins[packet.hop as usize];
        if passage.corrupted && twin != packet.hop {
            packet.hop = twin;
            self.topology.port(port).count_corrupted();
        }
        let again = passage
            .again
            .map(|key| (key, self.topology.copy(&mut self.acks, &packet)));
        let arrival = self
            .topology
            .pass_on(port, packet.hop, packet.size(), passage.arrival);
        self.leave(packet, arrival);
        if let Some((key, copy)) = again {
            let key = self.topology.pass_on(port, copy.hop, copy.size(), key);
            self.leave(copy, key);
        }
    }

    /// A damaged packet is at its host, which drops it for its checksum.
    #[cold]
    #[inline(never)]
    fn discarded(&mut self, packet: &Packet) {
        self.observers.effort.discarded_packets += 1;
        self.topology.forget(&mut self.acks, packet);
    }

    /// A packet is at a stop with events: now.
    #[inline(always)]
    pub(super) fn on_packet(&mut self, packet: Packet, key: EventKey) {
        if self.observers.taps.is_some() {
            let copy = packet;
            let (time, line) = key.parts();
            return self.on_heard_packet(&copy, time, line);
        }
        self.go_on(packet, key, Occurrence::HAPPENING);
    }

    /// The same where somebody listens.
    #[cold]
    #[inline(never)]
    fn on_heard_packet(&mut self, packet: &Packet, time: Instant, line: Line) {
        let mut packet = *packet;
        if let Some(taps) = &mut self.observers.taps {
            packet = taps.see(packet, time, &mut self.acks);
        }
        self.go_on(
            packet,
            EventKey::from_parts(time, line),
            Occurrence::HAPPENING,
        );
    }

    /// The same for one that is rare: it had an event of its own, or has no leg where others have one.
    #[inline(never)]
    pub(super) fn on_rare_packet(&mut self, packet: Packet, key: EventKey) {
        self.on_packet(packet, key);
    }

    /// A packet is at a stop without events, perhaps ahead of time.
    #[inline(never)]
    pub(super) fn pass(&mut self, packet: Packet, key: EventKey) {
        self.go_on(packet, key, Occurrence::OUT_OF_TURN);
    }

    /// A packet travels on from its stop, and what comes to a sender is taken there.
    #[inline(always)]
    pub(super) fn go_on(&mut self, packet: Packet, key: EventKey, now: Occurrence) {
        if let Some((ack, key)) = self.travel(packet, key, now) {
            self.acknowledged(&ack, key);
        }
    }

    /// A packet leaves a receiver or a port with events.
    pub(super) fn leave(&mut self, packet: Packet, key: EventKey) {
        if key.is_never() {
            self.topology.forget(&mut self.acks, &packet);
        }
        if self.calendar.is_over(key) {
            return;
        }
        match self.topology.stop(packet.hop).channel {
            Some(channel) => self.calendar.wait(channel, packet, key),
            None => self.pass(packet, key),
        }
    }

    /// A packet arrives at a port with events.
    fn arrive(&mut self, port: u32, packet: Packet, key: EventKey, now: Occurrence) {
        let turn = self
            .topology
            .port(port)
            .arrive(key, now, packet, &mut self.calendar.lineage);
        self.take_turn(port, turn, key.time);
    }

    #[inline(never)]
    pub(super) fn on_transmitter_free(&mut self, port: u32, time: Instant, line: Line) {
        let key = EventKey::from_parts(time, line);
        self.calendar.set_transmitter(port, EventKey::NEVER);
        self.observers
            .sample_port(&mut self.topology.ports, port, key.time);
        let now = self.calendar.happen(key);
        let turn = self.topology.port(port).transmitter_free(now);
        self.take_turn(port, turn, time);
    }

    /// Does what a port with events has decided.
    fn take_turn(&mut self, port: u32, turn: Turn, time: Instant) {
        while let Some(queued) = self.topology.port(port).take_dropped() {
            if let Some(taps) = &mut self.observers.taps {
                taps.see_drop(port);
            }
            self.topology.forget(&mut self.acks, &queued.packet);
        }
        match turn {
            Turn::Waits => {}
            Turn::Starts(transmission) => {
                if let Some(taps) = &mut self.observers.taps {
                    taps.see_transmission(port, &transmission, time, &self.acks);
                }
                self.on_transmission(port, transmission);
            }
            Turn::Wakes(key) => self.calendar.set_transmitter(port, key),
        }
    }

    fn on_transmission(&mut self, port: u32, transmission: PortTransmission) {
        let PortTransmission {
            packet,
            passage,
            done,
        } = transmission;
        self.calendar.set_transmitter(port, done);
        self.cross(port, packet, passage);
    }
}
