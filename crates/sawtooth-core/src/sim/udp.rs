//! Flows of UDP in a run: packets leave as their source says, some at a time, and nothing comes back.

use super::stops::Trip;
use super::{World, index_u32};
use crate::events::Key;
use crate::packet::Packet;
use crate::packet_source::{Departure, PacketSource};
use crate::spec::{Scenario, UdpSpec};
use crate::udp::{self, Received};

/// A flow of UDP.
#[derive(Debug)]
pub(super) struct Udp {
    pub(super) source: Box<dyn PacketSource>,
    pub(super) start: f64,
    pub(super) stop: f64,
    /// What its packets say that they are of.
    pub(super) number: u32,
    /// Among those that are laid down before the run.
    pub(super) order: u32,
    pub(super) next: Option<Departure>,
    pub(super) first_stop: u32,
    pub(super) sent_packets: u64,
    pub(super) sent_bytes: u64,
    pub(super) received: Received,
}

impl Udp {
    /// Packets that are let out at one event: what they meet until they wait for an event depends on nothing else.
    pub(super) const AHEAD: usize = 16;

    /// The flow of `index` among those of UDP, and `order`.
    pub(super) fn new(
        spec: &UdpSpec,
        seed: u64,
        (index, order): (u32, u32),
        first_stop: u32,
    ) -> Self {
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
    pub(super) fn key(&self) -> Key {
        match self.next {
            Some(packet) if self.start + packet.at_secs < self.stop => {
                Key::at_start(self.start + packet.at_secs, self.order)
            }
            _ => Key::NEVER,
        }
    }

    /// The next packet leaves with `key`.
    #[inline]
    pub(super) fn leave(&mut self, key: Key) -> Packet {
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

/// The flows of UDP, laid down as numbers from `first_order` on.
pub(super) fn udp_flows(
    scenario: &Scenario,
    seed: u64,
    first_order: usize,
    trips: &[Trip],
) -> Vec<Udp> {
    let specs = (0..).zip(&scenario.udp).zip(trips);
    specs
        .map(|((index, spec), trip)| {
            let order = index_u32(first_order) + index;
            Udp::new(spec, seed, (index, order), trip.first_stop)
        })
        .collect()
}

impl World<'_> {
    /// The next packets of a flow of UDP leave, the first of them with `key`; when it goes on.
    pub(super) fn send_udp(&mut self, index: usize, mut key: Key) -> Key {
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
    pub(super) fn receive_udp(&mut self, index: u32, packet: &Packet, now: f64) {
        self.effort.delivered_packets += 1;
        let received = &mut self.udp[index as usize].received;
        if let Some(samplers) = &mut self.samplers {
            samplers.udp[index as usize].take(now, || received.payload_bytes());
        }
        let (number, sent) = packet.number_and_time();
        received.on_packet(now, sent, number, packet.wire_bytes);
    }
}
