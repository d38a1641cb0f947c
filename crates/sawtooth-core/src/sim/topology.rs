//! Where packets pass: the ports of all links, and every round trip as a list of stops ([`super::stops`]).

use super::stops::{Node, Stop};
use crate::events::Key;
use crate::net::{Packets, Port};
use crate::packet::{AckStore, Packet};
use crate::units::{ByteCount, Duration, Instant};

#[derive(Debug)]
pub(super) struct Topology {
    pub(super) ports: Vec<Port>,
    pub(super) stops: Vec<Stop>,
    /// Of each stop: whether it is beyond the receiver, so that packets there are acknowledgements.
    pub(super) returning: Vec<bool>,
    /// Of each stop: the one that a damaged packet takes instead.
    pub(super) twins: Vec<u32>,
    /// Of each route: what packets take between its hosts and the links, each way.
    pub(super) access_delays: Vec<Duration>,
}

impl Topology {
    #[inline]
    pub(super) fn stop(&self, hop: u32) -> Stop {
        self.stops[hop as usize]
    }

    #[inline]
    pub(super) fn port(&mut self, index: u32) -> &mut Port {
        &mut self.ports[index as usize]
    }

    /// When a packet that arrives at the end of a port's link is at its next stop: later or earlier if that is another link.
    #[inline]
    pub(super) fn pass_on(&mut self, port: u32, hop: u32, size: ByteCount, arrival: Key) -> Key {
        if !self.ports[port as usize].has_node() {
            return arrival;
        }
        match self.stops[hop as usize].place {
            Node::Port(next) | Node::SlowPort(next) => {
                let next = self.ports[next as usize].rate();
                self.ports[port as usize].pass_on(arrival, size, next)
            }
            _ => arrival,
        }
    }

    /// The same packet once more, with what is kept for it.
    pub(super) fn copy(&self, acks: &mut AckStore, packet: &Packet) -> Packet {
        if self.returning[packet.hop as usize] {
            acks.copy(packet)
        } else {
            acks.copy_data(packet)
        }
    }

    /// A packet is gone, and what was kept for it.
    #[cold]
    #[inline(never)]
    pub(super) fn forget(&self, acks: &mut AckStore, packet: &Packet) {
        if self.returning[packet.hop as usize] {
            acks.drop(packet);
        } else {
            acks.drop_data(packet);
        }
    }

    /// Packets that wait at ports.
    pub(super) fn backlog_at(&self, time: Instant) -> u64 {
        let backlog = |port: &Port| port.backlog_at(time);
        self.ports.iter().map(backlog).sum()
    }

    /// What has been recorded of packets.
    pub(super) fn rows(&self) -> usize {
        let noted = self
            .ports
            .iter()
            .filter_map(|port| port.ledger()?.packets.as_ref());
        noted.map(Packets::len).sum()
    }
}
