//! Taps: what passes a point of the network, as somebody sees it who listens there.
//!
//! **Model.** A tap listens at some [points](TapPoint). At the host of an end it sees what leaves and what comes; at an end of a link what an interface there sees: packets as their
//! transmission starts, after the queue, and those that come over the wire. (Beside a fluid transmissions are no events: there packets are seen as they come to the queue.)
//! A packet that comes to a stop has an event there if no shortcut is taken ([`Shortcuts`](crate::spec::Shortcuts)), so a run that is listened to takes none that passes stops: all taps see packets
//! in the order of time, and the records are those of any other run.
//!
//! **Numbers.** The simulator numbers segments; headers number bytes. A table for each direction of a connection ([`BytePositions`]) learns where each segment begins as it is sent for the first time. A
//! SYN and a FIN take one number each (RFC 9293 §3.4). Where there is no handshake, numbers are as if there had been one before.
//!
//! **Sameness.** What is seen of a packet is the same wherever that is, but for what routers change: a number that it has from its host is its tag on the way ([`Packet::TAGS`]), and what the
//! simulator's packets do not carry is noted as they leave ([`Departures`]).

mod departures;
mod seen;
mod stops;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

pub use self::seen::{
    ByteRange, HeardStamp, SeenAck, SeenContent, SeenData, SeenDeparture, SeenPacket, SeenSegment,
    WireEvent,
};
pub use self::stops::TapPoint;

use self::departures::{Departures, HostSide, LeavingPacket};
use self::stops::{TapStop, lay_out};
use super::routes::{RoundTripRoute, Sides, Trip};
use super::topology::Topology;
use crate::net::PortTransmission;
use crate::packet::{Ack, AckStore, DataSegment, Packet};
use crate::tcp::byte_positions::BytePositions;
use crate::tcp::scoreboard::Range;
use crate::units::{ByteCount, Instant, SeqNum};

/// Somebody who listens at points of the network, which are numbered as they were given.
pub trait Tap: Debug {
    /// A run begins. It may begin anew: then nothing of what was seen before has happened.
    fn begin(&mut self);

    /// A packet passes a point. Times do not decrease.
    fn see(&mut self, point: usize, packet: &SeenPacket);

    /// The queue before a point drops a packet.
    fn see_drop(&mut self, point: usize);
}

/// Who listens, and where.
#[derive(Debug)]
pub(super) struct Listener<'a> {
    pub(super) tap: &'a mut dyn Tap,
    pub(super) points: &'a [TapPoint],
}

/// The taps of a run.
#[derive(Debug)]
pub(super) struct Taps<'a> {
    tap: &'a mut dyn Tap,
    /// Of each hop.
    stops: Vec<TapStop>,
    /// Of each port the points at which its transmissions are seen.
    ports: Vec<Vec<usize>>,
    /// Those that carry fluid.
    fluid: BTreeSet<u32>,
    /// Of flows of a connection of requests and responses, the other one.
    pairs: BTreeMap<u32, u32>,
    /// Of each flow by the number that its packets have.
    positions: BTreeMap<u32, BytePositions>,
    departures: Departures,
}

impl<'a> Taps<'a> {
    pub(super) fn new(
        listener: Listener<'a>,
        topology: &Topology,
        trips: &[Trip],
        routes: &[RoundTripRoute],
        sides: impl Iterator<Item = Sides>,
        layers_are_noted: bool,
    ) -> Self {
        let Listener { tap, points } = listener;
        tap.begin();
        let both = |Sides { server, client }| [(server, client), (client, server)];
        Self {
            tap,
            stops: lay_out(points, topology, trips, routes, layers_are_noted),
            ports: stops::transmissions(points, topology.ports.len()),
            fluid: topology.fluid_ports(),
            pairs: sides.flat_map(both).collect(),
            positions: BTreeMap::new(),
            departures: Departures::default(),
        }
    }

    /// A packet comes to its stop; how it goes on: it has a number.
    #[cold]
    #[inline(never)]
    pub(super) fn see(&mut self, mut packet: Packet, time: Instant, acks: &mut AckStore) -> Packet {
        let stop = &self.stops[packet.hop as usize];
        if !stop.is_datagram && stop.leaves {
            if !stop.carries_acks && !packet.segment().is_ack_alone() {
                let positions = self.positions.entry(packet.flow).or_default();
                positions.learn(packet.segment());
            }
            self.leave(&mut packet, time, acks);
        }
        let stop = &self.stops[packet.hop as usize];
        if !stop.is_datagram && stop.arrives {
            let side = HostSide {
                connection: self.connection(packet.flow),
                returns: !stop.returns,
            };
            self.departures
                .arrive(side, &packet, stop.carries_acks, acks);
        }
        if !stop.points.is_empty() {
            let seen = self.seen(&packet, time, acks);
            for point in &self.stops[packet.hop as usize].points {
                self.tap.see(*point, &seen);
            }
        }
        packet
    }

    /// A packet leaves its host, which gives it a number unless it has one.
    fn leave(&mut self, packet: &mut Packet, time: Instant, acks: &mut AckStore) {
        let stop = &self.stops[packet.hop as usize];
        let pair = self.pairs.get(&packet.flow).copied();
        let side = HostSide {
            connection: self.connection(packet.flow),
            returns: stop.returns,
        };
        if !stop.is_numbered {
            let tag = self.departures.number(side);
            if stop.carries_acks {
                acks.set_tag(packet, tag);
            } else {
                packet.set_tag(tag);
            }
        }
        // Of data that have no number of their own, as the handshake's third packet, it is that of the next.
        let own = if stop.carries_acks {
            pair
        } else {
            packet.segment().is_ack_alone().then_some(packet.flow)
        };
        let next = own
            .and_then(|own| self.positions.get(&own))
            .map(BytePositions::end);
        let leaving = LeavingPacket {
            side,
            is_ack: stop.carries_acks,
            is_opened: self.begins_with_syn(packet.flow),
            known: SeenDeparture {
                time,
                next: next.unwrap_or_default(),
                ..SeenDeparture::default()
            },
        };
        self.departures.leave(packet, leaving, acks);
    }

    /// The number of its connection.
    fn connection(&self, flow: u32) -> u32 {
        let pair = self.pairs.get(&flow).copied();
        pair.map_or(flow, |pair| pair.min(flow))
    }

    /// A transmission starts, or ends as it comes to a queue that is full of fluid.
    #[cold]
    #[inline(never)]
    pub(super) fn see_transmission(
        &mut self,
        port: u32,
        transmission: &PortTransmission,
        time: Instant,
        acks: &AckStore,
    ) {
        if self.ports[port as usize].is_empty() {
            return;
        }
        let PortTransmission {
            packet, passage, ..
        } = transmission;
        if self.fluid.contains(&port) && passage.arrival.is_never() {
            // In this way a queue tells there that it drops a packet.
            return self.see_drop(port);
        }
        let mut seen = self.seen(packet, time, acks);
        if passage.arrival.is_never() {
            seen.ahead = WireEvent::Lost;
        } else if passage.corrupted {
            seen.ahead = WireEvent::Damaged;
        } else if passage.again.is_some() {
            seen.ahead = WireEvent::Doubled;
        }
        for point in &self.ports[port as usize] {
            self.tap.see(*point, &seen);
        }
    }

    /// The queue of a port drops a packet.
    #[cold]
    pub(super) fn see_drop(&mut self, port: u32) {
        for point in &self.ports[port as usize] {
            self.tap.see_drop(*point);
        }
    }

    fn seen(&self, packet: &Packet, time: Instant, acks: &AckStore) -> SeenPacket {
        let stop = &self.stops[packet.hop as usize];
        let pair = self.pairs.get(&packet.flow).copied();
        let content = if stop.is_datagram {
            SeenContent::Datagram
        } else if stop.carries_acks {
            let departure = self.departures.of(packet, true, acks);
            let mut ack = self.ack(packet.flow, &acks.look(packet));
            ack.answers_syn = departure.answers_syn;
            SeenContent::Segment(SeenSegment {
                data: None,
                ack: Some(ack),
                departure,
            })
        } else {
            let (data, ack) = acks.look_at_data(packet);
            let departure = self.departures.of(packet, false, acks);
            SeenContent::Segment(SeenSegment {
                data: Some(self.data(packet.flow, data, departure.next)),
                ack: ack
                    .zip(pair)
                    .map(|(ack, acknowledged)| self.ack(acknowledged, &ack)),
                departure,
            })
        };
        SeenPacket {
            time,
            flow: stop.flow,
            connection: self.connection(packet.flow),
            returns: stop.returns,
            size: packet.size(),
            number: number(packet, stop, acks),
            ecn: packet.ecn(),
            links: stop.links,
            is_damaged: stop.is_damaged,
            ahead: WireEvent::None,
            content,
        }
    }

    /// `next` is the number of the next byte when it left.
    fn data(&self, flow: u32, data: DataSegment, next: ByteCount) -> SeenData {
        let is_segment = !data.is_ack_alone();
        let answers_fin = data.fin && !is_segment;
        SeenData {
            start: if is_segment {
                self.position(flow, data.seq)
            } else {
                next.max(ByteCount::new(1))
            },
            payload: data.payload,
            syn: data.is_syn(),
            ends_handshake: !is_segment && !answers_fin,
            answers_fin,
            push: data.push,
            fin: data.fin && is_segment,
            cwr: data.cwr,
            retransmission: data.retransmission,
            stamp: data.stamp,
            echo: data.echo,
        }
    }

    fn ack(&self, flow: u32, ack: &Ack) -> SeenAck {
        let range = |Range { start, end }| ByteRange {
            start: self.position(flow, start),
            end: self.position(flow, end),
        };
        SeenAck {
            next: self.position(flow, ack.next),
            window: ack.window.bytes(),
            sack: ack.sack.ranges(ack.next).map(range).collect(),
            repeated: ack.repeated.map(|seq| range(Range::of(seq))),
            answers_syn: false,
            fin: ack.fin,
            ece: ack.ece,
            marks: ack.marks,
            stamp: ack.stamp,
            echo: ack.echo,
        }
    }

    fn begins_with_syn(&self, flow: u32) -> bool {
        let positions = self.positions.get(&flow);
        positions.is_some_and(BytePositions::begins_with_syn)
    }

    /// The number of the first byte of a segment, or of the one after the last.
    fn position(&self, flow: u32, seq: SeqNum) -> ByteCount {
        let positions = self.positions.get(&flow);
        positions.map_or(ByteCount::new(1), |positions| positions.of(seq))
    }
}

/// The number that a packet has from its host.
#[expect(clippy::cast_possible_truncation, reason = "modulo 2^16")]
fn number(packet: &Packet, stop: &TapStop, acks: &AckStore) -> u16 {
    if stop.is_datagram {
        let (number, _) = packet.number_and_time();
        number.get().wrapping_add(1) as u16
    } else if stop.carries_acks {
        acks.tag(packet) as u16
    } else {
        packet.tag() as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::simulate_tapped;
    use crate::spec::{FlowSpec, LinkSpec, Part, Scenario, UdpSpec};
    use crate::tables;
    use crate::units::Rate;
    use crate::units::testing::{bytes, secs};

    /// Counts runs that begin and remembers what it sees.
    #[derive(Debug, Default)]
    struct Recorder {
        begun: u32,
        seen: Vec<SeenPacket>,
        drops: u32,
    }

    impl Tap for Recorder {
        fn begin(&mut self) {
            self.begun += 1;
        }

        fn see(&mut self, _: usize, packet: &SeenPacket) {
            self.seen.push(packet.clone());
        }

        fn see_drop(&mut self, _: usize) {
            self.drops += 1;
        }
    }

    fn heard(scenario: &Scenario, point: TapPoint) -> Recorder {
        let mut recorder = Recorder::default();
        let run = simulate_tapped(scenario, 1, &|| true, &[point], &mut recorder);
        run.expect("within limits");
        recorder
    }

    fn link() -> LinkSpec {
        LinkSpec::new("l", Rate::from_bps(1e6), secs(0.01))
    }

    #[test]
    fn a_handshake_is_a_syn_its_answer_and_data_that_follow() {
        let flow = FlowSpec::new("flow", vec![0]);
        let scenario = Scenario::new(secs(0.1), vec![link()], vec![flow]);
        let recorder = heard(&scenario, TapPoint::Sender);
        assert_eq!(recorder.begun, 1);
        let mut segments = recorder.seen.iter().map(|packet| match &packet.content {
            SeenContent::Segment(segment) => segment,
            SeenContent::Datagram => panic!("a datagram"),
        });
        let syn = segments.next().and_then(|segment| segment.data);
        let syn = syn.expect("the SYN");
        assert!(syn.syn && syn.start.is_zero() && syn.payload.is_zero());
        let answer = segments.next().and_then(|segment| segment.ack.as_ref());
        let answer = answer.expect("its answer");
        assert!(answer.answers_syn && answer.next == bytes(1));
        let data = segments.next().and_then(|segment| segment.data);
        let data = data.expect("data");
        assert_eq!((data.start, data.payload), (bytes(1), bytes(1460)));
    }

    #[test]
    fn a_full_queue_is_heard_to_drop_and_the_far_end_hears_of_none() {
        let mut link = link();
        let limit = crate::registry::Value::Packets(2);
        link.forward.queue.params.set("limit", limit);
        let flow = FlowSpec::new("flow", vec![0]);
        let scenario = Scenario::new(secs(5.0), vec![link], vec![flow]);
        assert!(heard(&scenario, TapPoint::Near(0)).drops > 5);
        assert_eq!(heard(&scenario, TapPoint::Far(0)).drops, 0);
    }

    #[test]
    fn a_packet_of_udp_is_seen_as_it_leaves_and_as_it_comes() {
        let mut scenario = Scenario::new(secs(1.0), vec![link()], Vec::new());
        let source = Part::named(tables::PACKET_SOURCE, "constant_rate").expect("a source");
        let stop = Instant::from_secs(1.0);
        let calls = UdpSpec::new("calls", vec![0], source, stop);
        scenario.udp.push(calls);
        let [left, came] =
            [TapPoint::Sender, TapPoint::Receiver].map(|point| heard(&scenario, point));
        let first = &left.seen[0];
        assert_eq!(
            (first.content.clone(), first.links),
            (SeenContent::Datagram, 0)
        );
        assert_eq!(
            (first.flow, first.returns, first.size),
            (0, false, bytes(1500))
        );
        assert_eq!(came.seen[0].links, 1);
        assert!(came.seen[0].time > first.time && came.seen.len() <= left.seen.len());
    }
}
