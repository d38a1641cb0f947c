//! What a network tells of packets: those of hosts that have come, and what is seen at ports and hosts that are watched.

use super::Network;
use crate::net::flight::PacketInFlight;
use crate::net::{Passage, Payload, SeenContent, Towards};
use crate::units::Instant;

/// A packet that has reached its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredPacket<P> {
    /// Which of its connection's hosts has it now.
    pub towards: Towards,
    /// As it was [offered](super::Network::offer).
    pub flow: usize,
    /// The same.
    pub connection: u32,
    /// As it was offered, but that it may have been marked or damaged on the way.
    pub packet: P,
}

/// What a packet does where that is watched.
#[derive(Clone, Copy, Debug)]
pub enum LinkEvent {
    /// One of UDP leaves its host.
    Leaves,
    /// The queue drops it.
    Dropped,
    /// Its transmission starts; what becomes of it is known then.
    Starts(Passage),
    /// It is at the far end.
    Arrives,
    /// One of UDP has reached its host, whole or damaged.
    Ends,
}

/// A packet, seen where that is [watched](super::Network::watch).
#[derive(Clone, Debug)]
pub struct LinkSight<P> {
    /// When.
    pub time: Instant,
    /// The port, by its place among [`Network::ports`](super::Network::ports); none at a host.
    pub port: Option<usize>,
    /// As it was [offered](super::Network::offer); flows of UDP are behind all others.
    pub flow: usize,
    /// What it does.
    pub event: LinkEvent,
    /// As it is there.
    pub content: SeenContent<P>,
    /// Whether a wire has damaged it.
    pub is_damaged: bool,
}

impl<P: Payload> LinkSight<P> {
    fn of(
        flight: &PacketInFlight<P>,
        time: Instant,
        port: Option<usize>,
        event: LinkEvent,
    ) -> Self {
        Self {
            time,
            port,
            flow: flight.route,
            event,
            content: flight.content.clone(),
            is_damaged: flight.damaged,
        }
    }
}

impl<P: Payload> Network<P> {
    /// A packet is seen at a port, if that is watched.
    pub(super) fn see(
        &mut self,
        time: Instant,
        port: usize,
        flight: &PacketInFlight<P>,
        event: LinkEvent,
    ) {
        if let Some(true) = self.watched.get(port) {
            let sight = LinkSight::of(flight, time, Some(port), event);
            self.sights.push(sight);
        }
    }

    /// A packet of UDP is seen at a host, if hosts are watched. Those of others know themselves what they send and get.
    pub(super) fn see_at_host(
        &mut self,
        time: Instant,
        flight: &PacketInFlight<P>,
        event: LinkEvent,
    ) {
        if self.watches_hosts && !flight.content.is_of_host() {
            self.sights.push(LinkSight::of(flight, time, None, event));
        }
    }

    /// A packet has come from a port, if it has passed any. What it took from the last link to its host does not count.
    pub(super) fn see_arrival(&mut self, flight: &PacketInFlight<P>) {
        let passed = flight.hop.checked_sub(1);
        let Some(hop) = passed.filter(|_| !self.watched.is_empty()) else {
            return;
        };
        let time = flight.due.time() - self.access_delay_after(flight);
        let last = PacketInFlight {
            hop,
            ..flight.clone()
        };
        if let Some(port) = self.next_port(&last) {
            self.see(time, port, flight, LinkEvent::Arrives);
        }
    }
}
