//! Where packets pass: the ports of all links, and every round trip as a list of stops ([`super::stops`]).

use std::collections::BTreeSet;

use super::routes::Stop;
use crate::events::EventKey;
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

    /// Packets do not wait any more at the stops that have one of these channels, which are in order.
    pub(super) fn pass_at_once(&mut self, channels: &[u32]) {
        for stop in &mut self.stops {
            stop.channel = stop
                .channel
                .filter(|channel| channels.binary_search(channel).is_err());
        }
    }

    /// When a packet that arrives at the end of a port's link is at its next stop: later or earlier if that is another link.
    #[inline]
    pub(super) fn pass_on(
        &mut self,
        port: u32,
        hop: u32,
        size: ByteCount,
        arrival: EventKey,
    ) -> EventKey {
        if !self.ports[port as usize].has_node() {
            return arrival;
        }
        let Some(next) = self.stops[hop as usize].place.port() else {
            return arrival;
        };
        let next = self.ports[next as usize].rate();
        self.ports[port as usize].pass_on(arrival, size, next)
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

    /// Ports that carry fluid beside packets.
    pub(super) fn fluid_ports(&self) -> BTreeSet<u32> {
        let numbered = (0..).zip(&self.ports);
        numbered
            .filter(|(_, port)| port.carries_fluid())
            .map(|(number, _)| number)
            .collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::impair::Forwarding;
    use crate::packet::{Ack, DataSegment};
    use crate::sim::routes::PathNode;
    use crate::sim::world::assemble;
    use crate::spec::{FlowSpec, LinkSpec, Scenario};
    use crate::units::Rate;
    use crate::units::testing::{at, bytes, secs, seq};

    /// A flow over two links, of which the first passes packets on 1 ms later.
    fn scenario() -> Scenario {
        let link = |name| LinkSpec::new(name, Rate::from_bps(1e6), secs(0.01));
        let mut links = vec![link("one"), link("other")];
        links[0].forward.forwarding = Forwarding {
            latency: secs(0.001),
            ..Forwarding::default()
        };
        Scenario::new(secs(1.0), links, vec![FlowSpec::new("flow", vec![0, 1])])
    }

    #[test]
    fn a_node_takes_its_time_between_two_links_and_nothing_else_does() {
        let scenario = scenario();
        let mut topology = assemble(&scenario, 1).topology;
        let places: Vec<PathNode> = topology.stops.iter().map(|stop| stop.place).collect();
        let hop = |link: u32| {
            let at = |node: &PathNode| node.port() == Some(link);
            let hop = places.iter().position(at).expect("a stop of the link");
            u32::try_from(hop).expect("few stops")
        };
        let arrival = EventKey::at_start(at(0.5), 0);
        // Ports 0 and 2 are the links' forward ones, 1 and 3 those back.
        let mut passed = |port, hop| topology.pass_on(port, hop, bytes(1000), arrival).time;
        let later = (passed(0, hop(2)) - at(0.5)) - secs(0.001);
        assert!(later.abs() < secs(1e-12), "{later:?}");
        assert_eq!(passed(3, hop(1)), at(0.5), "the way back has no node");
        let receiver = places
            .iter()
            .position(|node| *node == PathNode::Receiver(0));
        let receiver = u32::try_from(receiver.expect("a receiver")).expect("few stops");
        assert_eq!(passed(0, receiver), at(0.5), "no other link follows");
    }

    #[test]
    fn what_a_packet_says_is_copied_with_it_before_the_receiver_and_beyond() {
        let scenario = scenario();
        let topology = assemble(&scenario, 1).topology;
        let mut acks = AckStore::default();
        let ack = Ack {
            next: seq(5),
            repeated: Some(seq(0)),
            ..Ack::default()
        };
        let (before, beyond) = (0, u32::try_from(topology.stops.len()).expect("few") - 1);
        assert!(!topology.returning[before as usize] && topology.returning[beyond as usize]);

        let returning = acks.pack(0, beyond, ByteCount::new(40), &ack);
        let copy = topology.copy(&mut acks, &returning);
        topology.forget(&mut acks, &returning);
        assert_eq!(acks.unpack(&copy), ack);

        let mut carrying = Packet::data(0, before, ByteCount::new(1040), DataSegment::default());
        acks.put_on(&mut carrying, ack);
        let mut copy = topology.copy(&mut acks, &carrying);
        topology.forget(&mut acks, &carrying);
        assert_eq!(acks.take_off(&mut copy), Some(ack));
    }

    #[test]
    fn before_a_run_nothing_waits_and_nothing_is_noted() {
        let scenario = scenario();
        let topology = assemble(&scenario, 1).topology;
        assert_eq!(
            (topology.backlog_at(Instant::START), topology.rows()),
            (0, 0)
        );
        assert_eq!(topology.ports.len(), 4);
    }
}
