//! Legs: the way of a plain packet from one event to the next, in one pass.
//!
//! Between two stops with events lie ports that compute departures, and perhaps a receiver, a sender or both. Of data that only come next, and of their acknowledgements, everything
//! on that way is known but the times: which ports, how large, who takes note. So such a packet is not moved from stop to stop, asking at each what it is ([`super::travel`]), but crosses
//! a list of ports with nothing in hand but its key and its number. Where something else comes up, a segment out of order or a timer, the general way goes on from there.
//!
//! Legs are laid out when the run begins, and again when [merges](super::merges) need no events any more. A switch turns them off, with the plain way of acknowledgements
//! ([`Shortcuts::plain_way`](crate::spec::Shortcuts)).

use std::ops::Range;

use super::calendar::{Calendar, receiver_timer, sender_timer};
use super::flow::Flow;
use super::index::index_u32;
use super::routes::{PathNode, Stop};
use super::topology::Topology;
use super::world::World;
use crate::events::{Event, EventKey, Occurrence};
use crate::net::Port;
use crate::packet::Packet;
use crate::tcp::sender::PlainSegments;
use crate::units::{ByteCount, SeqNum};

/// All legs of a run.
#[derive(Debug, Default)]
pub(super) struct Legs {
    /// Of each stop, the number of the leg that begins there, or [`NONE`].
    of_stop: Vec<u32>,
    legs: Vec<Leg>,
}

/// No leg.
const NONE: u32 = u32::MAX;

/// The way from one stop with events to the next of the same round trip.
#[derive(Debug)]
struct Leg {
    flow: u32,
    /// Whether what begins it is an acknowledgement.
    begins_with_acks: bool,
    /// Up to the sender, or to the end.
    before: Stretch,
    /// Whether it comes by the sender.
    meets_sender: bool,
    /// From the sender on.
    after: Stretch,
    /// Where it ends: the stop and its channel.
    hop: u32,
    channel: u32,
}

/// Ports in a row, with a receiver among them or none.
#[derive(Debug, Default)]
struct Stretch {
    /// Those that data cross.
    data: Box<[u32]>,
    /// The stop of the receiver behind these, if there is one.
    receiver_hop: Option<u32>,
    /// Those that acknowledgements cross.
    acks: Box<[u32]>,
    /// The stop behind all of them.
    next_hop: u32,
}

impl Leg {
    /// That of a flow which begins at a stop with events.
    fn from(begin: u32, stops: &[Stop], flow: &Flow, index: u32) -> Self {
        let begins_with_acks = begin > flow.trip.receiver_stop;
        let (before, at) = Stretch::from(begin, stops, begins_with_acks);
        let meets_sender = stops[at as usize].channel.is_none() || at == begin;
        let first = flow.trip.first_stop;
        let (after, end) = match (meets_sender, stops[first as usize].channel) {
            (true, None) => Stretch::from(first, stops, false),
            (true, Some(_)) => (Stretch::default(), first),
            (false, _) => (Stretch::default(), at),
        };
        Self {
            flow: index,
            begins_with_acks,
            before,
            meets_sender,
            after,
            hop: end,
            channel: stops[end as usize].channel.expect("a leg ends with events"),
        }
    }

    #[inline(always)]
    fn stretch(&self, part: Part) -> &Stretch {
        match part {
            Part::Before => &self.before,
            Part::After => &self.after,
        }
    }
}

impl Stretch {
    /// That from a stop on, which is crossed, to the sender or to the next stop with events; which of them that is.
    fn from(begin: u32, stops: &[Stop], of_acks: bool) -> (Self, u32) {
        let (mut data, mut acks) = (Vec::new(), Vec::new());
        let (mut receiver_hop, mut of_acks) = (None, of_acks);
        let mut at = begin;
        loop {
            match stops[at as usize].place {
                PathNode::Port(port) if of_acks => acks.push(port),
                PathNode::Port(port) => data.push(port),
                PathNode::Receiver(_) => {
                    of_acks = true;
                    receiver_hop = Some(at);
                }
                _ => break,
            }
            at += 1;
            if stops[at as usize].channel.is_some() {
                break;
            }
        }
        let stretch = Self {
            data: data.into(),
            receiver_hop,
            acks: acks.into(),
            next_hop: at,
        };
        (stretch, at)
    }
}

impl Legs {
    /// The legs of the flows that have any: all their stops are ports that compute departures and mark nothing, and two ends that have a plain way.
    pub(super) fn lay_out(topology: &Topology, flows: &[Flow]) -> Self {
        let mut laid = Self {
            of_stop: vec![NONE; topology.stops.len()],
            ..Self::default()
        };
        for (flow, index) in flows.iter().zip(0..) {
            laid.lay_out_flow(&topology.stops, flow, index);
        }
        laid
    }

    fn lay_out_flow(&mut self, stops: &[Stop], flow: &Flow, index: u32) {
        let first = flow.trip.first_stop;
        let is_sender = |stop: &Stop| matches!(stop.place, PathNode::Sender(_));
        let is_plain = flow.sender.has_plain_way() && flow.receiver.is_plain();
        if !is_plain || flow.request_response.is_some() {
            return;
        }
        let Some(length) = stops[first as usize..].iter().position(is_sender) else {
            return;
        };
        let trip = first..=first + index_u32(length);
        let of_trip = &stops[first as usize..=first as usize + length];
        let is_plain = |stop: &Stop| {
            matches!(
                stop.place,
                PathNode::Port(_) | PathNode::Sender(_) | PathNode::Receiver(_)
            )
        };
        if !of_trip.iter().all(is_plain) {
            return;
        }
        for begin in trip.clone() {
            if stops[begin as usize].channel.is_some() {
                let leg = Leg::from(begin, stops, flow, index);
                self.of_stop[begin as usize] = index_u32(self.legs.len());
                self.legs.push(leg);
            }
        }
    }

    /// The number of the leg that begins at a stop.
    #[inline(always)]
    pub(super) fn at(&self, hop: u32) -> Option<u32> {
        let leg = *self.of_stop.get(hop as usize)?;
        (leg != NONE).then_some(leg)
    }
}

/// The two stretches of a leg.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Before,
    After,
}

/// An acknowledgement of everything before `next` that has come to its sender with `key`.
struct AckAtSender {
    next: SeqNum,
    key: EventKey,
}

/// What is not plain, so that somebody else has to see to it.
enum Unplain {
    /// A packet at its receiver; what is known of its event.
    AtReceiver(Packet, EventKey, Occurrence),
    AtSender(AckAtSender),
    /// What a sender sends at an acknowledgement that has come with this key.
    Sent(EventKey, Event),
    /// What a segment has led to among those that leave together; the others, from this one on.
    Among(Packet, EventKey, Occurrence, Rest),
}

/// Segments that are still to leave, at an acknowledgement that has come with `key`.
struct Rest {
    segments: Range<SeqNum>,
    key: EventKey,
    now: Event,
}

/// A packet begins its leg with an event that happens now, if it is plain and there is a leg; whether that is so.
#[inline(always)]
pub(super) fn run_leg(world: &mut World, packet: &Packet, key: EventKey) -> bool {
    let World {
        legs,
        topology,
        calendar,
        flows,
        observers,
        ..
    } = world;
    let Some(leg) = legs.at(packet.hop) else {
        return false;
    };
    let leg = &legs.legs[leg as usize];
    let mut carrier = Carrier {
        leg,
        ports: &mut topology.ports,
        flow: &mut flows[leg.flow as usize],
        calendar,
        delivered: &mut observers.effort.delivered_packets,
    };
    let turn = Occurrence::HAPPENING;
    let carried = if leg.begins_with_acks {
        let Some(next) = packet.plain_ack() else {
            return false;
        };
        carrier.carry_ack(Part::Before, next, key, turn)
    } else {
        let Some(seq) = packet.plain_data() else {
            return false;
        };
        match carrier.carry_data(Part::Before, seq, packet, key, turn) {
            Ok(at_sender) => at_sender,
            Err(unplain) => {
                see_to(world, packet.hop, unplain);
                return true;
            }
        }
    };
    if let Some(ack) = carried
        && let Err(unplain) = carrier.meet_sender(ack)
    {
        see_to(world, packet.hop, unplain);
    }
    true
}

/// What a plain packet of one leg meets.
struct Carrier<'a> {
    leg: &'a Leg,
    ports: &'a mut [Port],
    flow: &'a mut Flow,
    calendar: &'a mut Calendar,
    /// Segments that have reached their receivers.
    delivered: &'a mut u64,
}

impl Carrier<'_> {
    /// Data go as far as the leg does, and their acknowledgement from the receiver on; what comes to the sender.
    #[inline(always)]
    fn carry_data(
        &mut self,
        part: Part,
        seq: SeqNum,
        packet: &Packet,
        key: EventKey,
        turn: Occurrence,
    ) -> Result<Option<AckAtSender>, Unplain> {
        let leg = self.leg;
        let stretch = leg.stretch(part);
        let (key, turn) = self.cross(&stretch.data, packet.size(), key, turn);
        if self.calendar.is_over(key) {
            return Ok(None);
        }
        let Some(receiver_hop) = stretch.receiver_hop else {
            let mut packet = *packet;
            packet.hop = leg.hop;
            self.calendar.wait(leg.channel, packet, key);
            return Ok(None);
        };
        if !self.flow.receiver.takes_plainly(key.time, seq) {
            let mut packet = *packet;
            packet.hop = receiver_hop;
            return Err(Unplain::AtReceiver(packet, key, turn));
        }
        *self.delivered += 1;
        let now = turn.record(key, &mut self.calendar.lineage);
        let receiver = &mut self.flow.receiver;
        if !receiver.on_plain_segment(now, packet.payload()) {
            let timer = receiver.next_timer();
            self.calendar
                .schedule_timer(receiver_timer(leg.flow), timer);
            return Ok(None);
        }
        let next = receiver.rcv_nxt();
        Ok(self.carry_ack(part, next, key, Occurrence::recorded(now)))
    }

    /// The same for an acknowledgement.
    #[inline(always)]
    fn carry_ack(
        &mut self,
        part: Part,
        next: SeqNum,
        key: EventKey,
        turn: Occurrence,
    ) -> Option<AckAtSender> {
        let leg = self.leg;
        let size = self.flow.plain_ack_size(next);
        let (key, _) = self.cross(&leg.stretch(part).acks, size, key, turn);
        if self.calendar.is_over(key) {
            return None;
        }
        if part == Part::Before && leg.meets_sender {
            return Some(AckAtSender { next, key });
        }
        let packet = Packet::acknowledging(self.flow.id, leg.hop, size, next);
        self.calendar.wait(leg.channel, packet, key);
        None
    }

    /// An acknowledgement has come to its sender, which sends what it lets it.
    #[inline(always)]
    fn meet_sender(&mut self, ack: AckAtSender) -> Result<(), Unplain> {
        let AckAtSender { next, key } = ack;
        let flow = &self.flow;
        if !(flow.sender.takes_plainly(key.time, next) && flow.writes.key.time > key.time) {
            return Err(Unplain::AtSender(ack));
        }
        let now = self.calendar.record(key);
        let sent = self.flow.sender.on_plain_ack(now, next);
        let PlainSegments::These(segments) = sent.segments else {
            return Err(Unplain::Sent(key, now));
        };
        let mut seq = segments.start;
        while seq < segments.end {
            self.send(seq, segments.end, key, now)?;
            seq = seq.next();
        }
        if sent.timer_is_earlier {
            let timer = self.flow.next_timer();
            self.calendar
                .schedule_timer(sender_timer(self.leg.flow), timer);
        }
        Ok(())
    }

    /// A segment leaves at an acknowledgement that has come with `key`, the first of those before `end`.
    #[inline(always)]
    fn send(&mut self, seq: SeqNum, end: SeqNum, key: EventKey, now: Event) -> Result<(), Unplain> {
        let packet = self.flow.full_data(seq);
        let turn = Occurrence::recorded(now);
        match self.carry_data(Part::After, seq, &packet, key, turn) {
            Err(Unplain::AtReceiver(packet, at, turn)) => {
                let segments = seq.next()..end;
                Err(Unplain::Among(
                    packet,
                    at,
                    turn,
                    Rest { segments, key, now },
                ))
            }
            _ => Ok(()),
        }
    }

    /// A packet arrives with `key` at the first of these ports and crosses them; its key behind the last one, or one at the end of the run or after it, and what is known of
    /// that event.
    #[inline(always)]
    fn cross(
        &mut self,
        ports: &[u32],
        size: ByteCount,
        mut key: EventKey,
        mut turn: Occurrence,
    ) -> (EventKey, Occurrence) {
        let end = self.calendar.end;
        let lineage = &mut self.calendar.lineage;
        for index in ports {
            key = self.ports[*index as usize].take(key, turn, size, lineage);
            turn = Occurrence::OUT_OF_TURN;
            if key.time >= end {
                break;
            }
        }
        (key, turn)
    }
}

/// What has turned out not to be plain on the leg that begins at `hop` goes the general way.
#[cold]
#[inline(never)]
fn see_to(world: &mut World, hop: u32, unplain: Unplain) {
    let Some(number) = world.legs.at(hop) else {
        return;
    };
    let leg = &world.legs.legs[number as usize];
    let index = leg.flow;
    match unplain {
        Unplain::AtReceiver(packet, key, turn) => world.go_on(packet, key, turn),
        Unplain::AtSender(AckAtSender { next, key }) => {
            let packet = world.flows[index as usize].plain_ack(leg.before.next_hop, next);
            let (time, line) = key.parts();
            world.acknowledged_otherwise(index, &packet, time, line);
        }
        Unplain::Sent(key, now) => world.pump_rarely(index, key, now),
        Unplain::Among(packet, at, turn, rest) => {
            world.go_on(packet, at, turn);
            let Rest { segments, key, now } = rest;
            let mut seq = segments.start;
            while seq < segments.end {
                let packet = world.flows[index as usize].full_data(seq);
                world.send(packet, key, now);
                seq = seq.next();
            }
            world.schedule_sender_timer(index);
        }
    }
}
