//! How a packet moves from stop to stop: past ports, across wires, to where it waits for an event, is dropped or arrives.

use super::World;
use super::channel::Loose;
use super::stops::Node;
use crate::events::{Child, Event, Key, Line};
use crate::net::{Passage, Transmission, Turn};
use crate::packet::Packet;

impl World<'_> {
    /// A packet waits for its event at the next stop.
    #[inline(always)]
    pub(super) fn wait(&mut self, channel: u32, packet: Packet, key: Key) {
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
    pub(super) fn travel(
        &mut self,
        mut packet: Packet,
        mut key: Key,
        mut now: Option<Event>,
    ) -> Option<(Packet, Key)> {
        let mut place = self.stops[packet.hop as usize].place;
        loop {
            match place {
                Node::Port(index) => {
                    let port = &mut self.ports[index as usize];
                    key = port.accept(key, now, packet.wire_bytes, &mut self.lineage);
                    now = None;
                    packet.hop += 1;
                }
                Node::Receiver(flow) => {
                    let event = self.lineage.record(key);
                    packet = self.receive(flow, packet, key, event)?;
                    now = Some(event);
                }
                Node::Sender(_) | Node::Senders(_) => return Some((packet, key)),
                Node::Receivers(_) => {
                    let event = self.lineage.record(key);
                    packet = self.receive_of_living(packet, key, event)?;
                    now = Some(event);
                }
                Node::Access(way) => {
                    let event = now.unwrap_or_else(|| self.lineage.record(key));
                    let delay = self.access_delays[(way / 2) as usize];
                    key = event.schedule(key.time + delay, Child::Arrival);
                    now = None;
                    packet.hop += 1;
                }
                Node::UdpReceiver(index) => {
                    let copy = packet;
                    self.receive_udp(index, &copy, key.time);
                    return None;
                }
                Node::Host(end) => {
                    let copy = packet;
                    let (time, line) = key.parts();
                    self.come_to_host(end, &copy, time, line);
                    return None;
                }
                Node::Discard => {
                    let copy = packet;
                    self.discarded(&copy);
                    return None;
                }
                Node::SlowPort(index) => {
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
    pub(super) fn pass_slowly(
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
    pub(super) fn pass_on(&mut self, port: u32, hop: u32, bytes: u32, arrival: Key) -> Key {
        if !self.ports[port as usize].has_node() {
            return arrival;
        }
        match self.stops[hop as usize].place {
            Node::Port(next) | Node::SlowPort(next) => {
                let next_bps = self.ports[next as usize].rate_bps();
                self.ports[port as usize].pass_on(arrival, bytes, next_bps)
            }
            _ => arrival,
        }
    }

    /// A packet is on a wire that may double or damage it.
    pub(super) fn cross(&mut self, port: u32, mut packet: Packet, passage: Passage) {
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
    pub(super) fn copy(&mut self, packet: &Packet) -> Packet {
        if self.returning[packet.hop as usize] {
            self.acks.copy(packet)
        } else {
            self.acks.copy_data(packet)
        }
    }

    /// A damaged packet is at its host, whose checksum tells.
    #[cold]
    #[inline(never)]
    pub(super) fn discarded(&mut self, packet: &Packet) {
        self.effort.discarded_packets += 1;
        self.dropped(packet);
    }

    /// The same as [`World::on_packet`], for callers that are rarely run.
    #[inline(never)]
    pub(super) fn on_other_packet(&mut self, packet: Packet, key: Key) {
        self.on_packet(packet, key);
    }

    /// A packet is at a stop.
    #[inline(always)]
    pub(super) fn on_packet(&mut self, packet: Packet, key: Key) {
        if let Some((ack, key)) = self.travel(packet, key, None) {
            self.acknowledged(&ack, key);
        }
    }

    /// A packet leaves a receiver or a port with events.
    pub(super) fn leave(&mut self, packet: Packet, key: Key) {
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
    pub(super) fn dropped(&mut self, packet: &Packet) {
        if self.returning[packet.hop as usize] {
            self.acks.drop(packet);
        } else {
            self.acks.drop_data(packet);
        }
    }

    /// A packet arrives at a port with events.
    pub(super) fn arrive(&mut self, port: u32, packet: Packet, key: Key) {
        let turn = self.ports[port as usize].arrive(key, packet, &mut self.lineage);
        self.take_turn(port, turn);
    }

    #[inline(never)]
    pub(super) fn on_transmitter_free(&mut self, port: u32, time: f64, line: Line) {
        let key = Key::from_parts(time, line);
        self.packets
            .set(self.port_slots[port as usize], Key::NEVER, &self.lineage);
        self.sample_port(port, key.time);
        let turn = self.ports[port as usize].transmitter_free(key, &mut self.lineage);
        self.take_turn(port, turn);
    }

    /// Does what a port with events has decided.
    pub(super) fn take_turn(&mut self, port: u32, turn: Turn) {
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

    pub(super) fn on_transmission(&mut self, port: u32, transmission: Transmission) {
        let Transmission {
            packet,
            passage,
            done,
        } = transmission;
        self.packets
            .set(self.port_slots[port as usize], done, &self.lineage);
        self.cross(port, packet, passage);
    }
}
