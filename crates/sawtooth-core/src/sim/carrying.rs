//! Plain packets on their [legs](super::legs): data that only come next, and acknowledgements that say nothing but which segment is expected.

use super::calendar::{Calendar, receiver_timer, sender_timer};
use super::flow::Flow;
use super::legs::{Leg, LegPart};
use super::world::World;
use crate::events::{Event, EventKey, Occurrence};
use crate::net::Port;
use crate::packet::Packet;
use crate::tcp::scoreboard::Range;
use crate::tcp::sender::SegmentStamps;
use crate::units::{ByteCount, SeqNum};

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
    segments: Range,
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
    let mut carrier = Carrier {
        leg,
        ports: &mut topology.ports,
        flow: &mut flows[leg.flow as usize],
        calendar,
        delivered: &mut observers.effort.delivered_packets,
    };
    let turn = Occurrence::HAPPENING;
    let at_sender = if leg.begins_with_acks {
        let Some(next) = packet.plain_ack() else {
            return false;
        };
        carrier.carry_ack(LegPart::Before, next, key, turn)
    } else {
        let Some(seq) = packet.plain_data() else {
            return false;
        };
        match carrier.carry_data(LegPart::Before, seq, packet, key, turn) {
            Ok(ack) => ack,
            Err(unplain) => {
                see_to(world, packet.hop, unplain);
                return true;
            }
        }
    };
    if let Some(ack) = at_sender
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
        part: LegPart,
        seq: SeqNum,
        packet: &Packet,
        key: EventKey,
        turn: Occurrence,
    ) -> Result<Option<AckAtSender>, Unplain> {
        let leg = self.leg;
        let stretch = leg.stretch(part);
        let Some((key, turn)) = self.cross(&stretch.data, packet.size(), key, turn) else {
            return Ok(None);
        };
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
        part: LegPart,
        next: SeqNum,
        key: EventKey,
        turn: Occurrence,
    ) -> Option<AckAtSender> {
        let leg = self.leg;
        let size = self.flow.plain_ack_size(next);
        let (key, _) = self.cross(&leg.stretch(part).acks, size, key, turn)?;
        if part == LegPart::Before && leg.meets_sender {
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
        if !self.flow.takes_plainly(key.time, next) {
            return Err(Unplain::AtSender(ack));
        }
        let now = self.calendar.record(key);
        let sent = self.flow.sender.on_plain_ack(now, next);
        let Some(segments) = sent.segments else {
            return Err(Unplain::Sent(key, now));
        };
        for seq in segments.seqs() {
            self.send(seq, segments.end, key, now)?;
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
        let packet = self.flow.full_data(seq, SegmentStamps::NONE);
        let turn = Occurrence::recorded(now);
        match self.carry_data(LegPart::After, seq, &packet, key, turn) {
            Err(Unplain::AtReceiver(packet, at, turn)) => {
                let start = seq.next();
                let segments = Range { start, end };
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

    /// A packet arrives with `key` at the first of these ports and crosses them; its key behind the last one, and what is known of that event. Nothing if the run is over
    /// before.
    #[inline(always)]
    fn cross(
        &mut self,
        ports: &[u32],
        size: ByteCount,
        mut key: EventKey,
        mut turn: Occurrence,
    ) -> Option<(EventKey, Occurrence)> {
        let end = self.calendar.end;
        let lineage = &mut self.calendar.lineage;
        for index in ports {
            key = self.ports[*index as usize].take::<false>(key, turn, size, lineage);
            turn = Occurrence::OUT_OF_TURN;
            if key.time >= end {
                return None;
            }
        }
        Some((key, turn))
    }
}

/// What has turned out not to be plain on the leg that begins at `hop` goes the general way. The leg is looked up again: its number would have to be at hand all the way.
#[cold]
#[inline(never)]
fn see_to(world: &mut World, hop: u32, unplain: Unplain) {
    let leg = world.legs.at(hop).expect("a leg begins there");
    let index = leg.flow;
    match unplain {
        Unplain::AtReceiver(packet, key, turn) => world.go_on(packet, key, turn),
        Unplain::AtSender(AckAtSender { next, key }) => {
            let packet = world.flows[index as usize].plain_ack(leg.before.next_hop, next);
            let (time, line) = key.parts();
            world.acknowledged_otherwise(index, &packet, time, line);
        }
        Unplain::Sent(key, now) => world.pump(index, key, now),
        Unplain::Among(packet, at, turn, rest) => {
            world.go_on(packet, at, turn);
            let Rest { segments, key, now } = rest;
            world.send_full(index, segments, SegmentStamps::NONE, key, now);
            world.schedule_sender_timer(index);
        }
    }
}
