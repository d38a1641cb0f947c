//! Acknowledgements that segments of a connection of requests and responses carry for the other direction.

use super::{Answer, RequestResponses};
use crate::events::{Event, EventKey, Line};
use crate::packet::{AckStore, Packet};
use crate::sim::calendar::{receiver_timer, sender_timer};
use crate::sim::flow::Flow;
use crate::sim::world::World;
use crate::tcp::receiver::opening;
use crate::units::{ByteCount, Instant, SeqNum};

/// A segment of one side leaves: it carries what its host has to acknowledge of the other's.
#[cold]
#[inline(never)]
pub(in crate::sim) fn put_ack_on(
    request_responses: &RequestResponses,
    flows: &mut [Flow],
    acks: &mut AckStore,
    place: u32,
    packet: &Packet,
    now: Instant,
) -> Packet {
    let mut packet = *packet;
    let other = request_responses.other(flows, place);
    let flow = &mut flows[other as usize];
    let segment = packet.segment();
    if !segment.payload.is_zero() {
        flow.receiver.on_answer(now);
    } else if segment.seq == SeqNum::ZERO {
        // A SYN: there is nothing that it could acknowledge.
        return packet;
    }
    let ack = flow.receiver.carried(now);
    if !ack.sack.is_empty() {
        let options = flow.ack_sizes.of(&ack) - flow.ack_sizes.plain;
        packet.add_options(options);
    }
    acks.put_on(&mut packet, ack);
    packet
}

/// A segment reaches one side; returns the acknowledgement it causes, if one leaves at once.
#[cold]
#[inline(never)]
pub(in crate::sim) fn receive_in_exchange(
    world: &mut World,
    place: u32,
    packet: &Packet,
    time: Instant,
    line: Line,
    now: Event,
) -> Option<Packet> {
    let (mut packet, key) = (*packet, EventKey::from_parts(time, line));
    let other = world.request_responses.other(&world.flows, place);
    let carried = packet.carries_ack();
    take_carried(world, place, other, &mut packet, now);
    let flow = &mut world.flows[place as usize];
    if flow.marks_change(&packet)
        && let Some(old) = flow.receiver.take_delayed(key.time)
    {
        let old = flow.ack(&mut world.acks, packet.hop + 1, &old);
        world.leave(old, key);
    }
    let receiver = &mut world.flows[place as usize].receiver;
    let ack = receiver.on_segment(now, packet.segment());
    let delivered = receiver.delivered.bytes;
    world.observers.trace_delivery(place, key.time, delivered);
    (world.request_responses).tcp_has(&mut world.flows, place, now, delivered);
    application_has(world, place, now, delivered);
    let sent = world.flows[other as usize].sent_packets();
    if carried {
        world.pump(other, key, now);
        world.note_end(other, key.time);
        if world.observers.trace_acks() {
            world.observers.trace_ack(&world.flows, other, key.time);
        }
    }
    let has_sent = world.flows[other as usize].sent_packets() > sent;
    let flow = &mut world.flows[place as usize];
    let ack = ack.filter(|ack| ack.repeated.is_some() || !has_sent);
    let ack = ack.map(|ack| flow.ack(&mut world.acks, packet.hop + 1, &ack));
    if let Some(update) = flow.receiver.take_update(key.time) {
        let update = flow.ack(&mut world.acks, packet.hop + 1, &update);
        if let Some(ack) = ack {
            world.leave(ack, key);
        }
        return Some(update);
    }
    if ack.is_none() || opening::awaits_acknowledgement(&flow.receiver) {
        let timer = flow.receiver.next_timer();
        world.calendar.schedule_timer(receiver_timer(place), timer);
    }
    ack
}

/// A segment of the flow at `place` reaches a host, whose own sender, of the `other` one, takes what it carries, and gives the receiver its round trips.
pub(in crate::sim) fn take_carried(
    world: &mut World,
    place: u32,
    other: u32,
    packet: &mut Packet,
    now: Event,
) {
    let carried = world.acks.take_off(packet);
    if let Some(ack) = &carried {
        world.observers.sample_sender(&world.flows, other, now.time);
        world.flows[other as usize].sender.on_carried(now, ack);
    }
    let host = &world.flows[other as usize].sender;
    let (timeout, rtt) = (host.timeout(), host.srtt());
    let flow = &mut world.flows[place as usize];
    flow.receiver.on_host(timeout, rtt);
}

/// The application of one side has so many bytes of the flow at a place, and may write a message in return.
pub(in crate::sim) fn application_has(
    world: &mut World,
    place: u32,
    now: Event,
    delivered: ByteCount,
) {
    let answer = world
        .request_responses
        .application_has(&world.flows, place, now, delivered);
    if let Some(Answer { by, message }) = answer {
        let flow = &mut world.flows[by as usize];
        flow.writes.schedule(flow.start, now, message);
        let timer = flow.next_timer();
        world.calendar.schedule_timer(sender_timer(by), timer);
    }
}
