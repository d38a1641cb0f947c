//! Flows of UDP in a run: packets leave as their source says, some at a time, and nothing comes back.

use super::index::index_u32;
use super::observe::Observers;
use super::routes::Trip;
use crate::events::EventKey;
use crate::net::UdpFlow;
use crate::packet::Packet;
use crate::spec::{Scenario, UdpSpec};
use crate::udp;
use crate::units::Instant;

/// A flow of UDP and its place in the run.
#[derive(Debug)]
pub(super) struct Udp {
    pub(super) flow: UdpFlow,
    /// What its packets say that they are of.
    number: u32,
    /// Among those that are laid down before the run.
    order: u32,
    first_stop: u32,
}

impl Udp {
    /// Packets that are let out at one event: what they meet until they wait for an event depends on nothing else.
    pub(super) const AHEAD: usize = 16;

    /// The flow of `index` among those of UDP, and `order`.
    pub(super) fn new(spec: &UdpSpec, seed: u64, index: u32, order: u32, first_stop: u32) -> Self {
        Self {
            flow: UdpFlow::new(spec, seed),
            number: udp::flow_number(index),
            order,
            first_stop,
        }
    }

    /// When its next packet leaves: as if all of them had been laid down before the run, as they are given.
    #[inline]
    pub(super) fn key(&self) -> EventKey {
        match self.flow.due() {
            Some(time) => EventKey::at_start(time, self.order),
            None => EventKey::NEVER,
        }
    }

    /// The next packet leaves with `key`.
    #[inline]
    pub(super) fn leave(&mut self, key: EventKey) -> Packet {
        let datagram = self.flow.leave();
        Packet::datagram(
            self.number,
            self.first_stop,
            datagram.size,
            datagram.number,
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
            Udp::new(spec, seed, index, order, trip.first_stop)
        })
        .collect()
}

/// A packet reaches its receiver.
#[inline(never)]
pub(super) fn receive_udp(
    udp: &mut [Udp],
    observers: &mut Observers<'_>,
    index: u32,
    packet: &Packet,
    now: Instant,
) {
    observers.effort.delivered_packets += 1;
    let received = &mut udp[index as usize].flow.received;
    observers.sample_udp(index, received, now);
    let (number, sent) = packet.number_and_time();
    received.on_packet(now, sent, number, packet.size());
}
