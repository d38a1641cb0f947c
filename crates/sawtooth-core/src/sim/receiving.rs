//! What happens at a receiver: a segment reaches it or its timer expires, and an acknowledgement leaves.

use super::calendar::receiver_timer;
use super::hosts::events::acknowledge_on_host;
use super::request_response::carried::receive_in_exchange;
use super::world::World;
use crate::events::{Event, EventKey, Line};
use crate::packet::Packet;
use crate::tcp::receiver::{closing, opening};
use crate::units::Instant;

/// A segment reaches its receiver, which may be gone: then so is the segment.
#[inline(never)]
pub(super) fn receive_of_living(
    world: &mut World,
    packet: Packet,
    key: EventKey,
    now: Event,
) -> Option<Packet> {
    let Some(place) = world.arrivals.place(packet.flow) else {
        world.observers.effort.delivered_packets += 1;
        return None;
    };
    receive(world, place, packet, key, now)
}

/// A segment reaches its receiver; returns the acknowledgement it causes, if one leaves at once.
#[inline(always)]
pub(super) fn receive(
    world: &mut World,
    index: u32,
    packet: Packet,
    key: EventKey,
    now: Event,
) -> Option<Packet> {
    match packet.plain_data() {
        Some(seq) if world.flows[index as usize].receives_plainly(key.time, seq) => {
            receive_plainly(world, index, packet, now)
        }
        _ => {
            let copy = packet;
            let (time, line) = key.parts();
            receive_otherwise(world, index, &copy, time, line, now)
        }
    }
}

/// One of which nothing is to be seen to but that it has come.
#[inline(always)]
fn receive_plainly(world: &mut World, index: u32, packet: Packet, now: Event) -> Option<Packet> {
    world.observers.effort.delivered_packets += 1;
    world
        .observers
        .sample_receiver(&world.flows, index, now.time);
    let flow = &mut world.flows[index as usize];
    let is_due = flow.receiver.on_plain_segment(now, packet.payload());
    let delivered = flow.receiver.delivered.bytes;
    world.observers.trace_delivery(index, now.time, delivered);
    if is_due {
        let flow = &world.flows[index as usize];
        return Some(flow.plain_ack(packet.hop + 1, flow.receiver.rcv_nxt()));
    }
    let timer = world.flows[index as usize].receiver.next_timer();
    world.calendar.schedule_timer(receiver_timer(index), timer);
    None
}

/// Any other.
#[inline(never)]
fn receive_otherwise(
    world: &mut World,
    index: u32,
    packet: &Packet,
    time: Instant,
    line: Line,
    now: Event,
) -> Option<Packet> {
    let key = EventKey::from_parts(time, line);
    world.observers.effort.delivered_packets += 1;
    // A delayed acknowledgement that was due before goes first, and the FIN as often as it was to be sent again.
    loop {
        let timer = world.flows[index as usize].receiver.next_timer();
        if timer.time > key.time || !world.calendar.precedes(timer, key) {
            break;
        }
        fire_receiver_timer(world, index);
    }
    world
        .observers
        .sample_receiver(&world.flows, index, key.time);
    let flow = &mut world.flows[index as usize];
    if flow.request_response.is_some() {
        return receive_in_exchange(world, index, packet, time, line, now);
    }
    if flow.marks_change(packet) {
        echo_old_state(world, index, packet.hop + 1, key);
    }
    let flow = &mut world.flows[index as usize];
    let (segment, hop) = (packet.segment(), packet.hop + 1);
    let ack = if flow.receiver.expects(segment.seq) {
        let ack = flow.receiver.on_expected(now, segment);
        ack.map(|ack| flow.in_order_ack(hop, ack))
    } else {
        answer_out_of_order(world, index, packet, key, now)
    };
    let flow = &mut world.flows[index as usize];
    let delivered = flow.receiver.delivered.bytes;
    world.observers.trace_delivery(index, key.time, delivered);
    if flow.receiver.ends {
        let (time, line) = key.parts();
        return close_after(world, index, hop, ack, time, line, now);
    }
    if ack.is_none() || opening::awaits_acknowledgement(&flow.receiver) {
        let timer = flow.receiver.next_timer();
        world.calendar.schedule_timer(receiver_timer(index), timer);
    }
    ack
}

/// One comes that was not expected, or for which others wait: what it causes, and what tells of a larger window after that.
#[cold]
#[inline(never)]
fn answer_out_of_order(
    world: &mut World,
    index: u32,
    packet: &Packet,
    key: EventKey,
    now: Event,
) -> Option<Packet> {
    let hop = packet.hop + 1;
    let flow = &mut world.flows[index as usize];
    let ack = flow.receiver.on_segment(now, packet.segment());
    let update = flow.receiver.take_update(key.time);
    let ack = ack.map(|ack| flow.ack(&mut world.acks, hop, &ack));
    let Some(update) = update else {
        return ack;
    };
    let update = flow.ack(&mut world.acks, hop, &update);
    if let Some(ack) = ack {
        world.leave(ack, key);
    }
    Some(update)
}

/// What leaves of a receiver that has heard of the other side's end: what answers its last segment, if that is all that came; or the FIN, after the answer unless that says it itself.
#[cold]
#[inline(never)]
fn close_after(
    world: &mut World,
    index: u32,
    hop: u32,
    answer: Option<Packet>,
    time: Instant,
    line: Line,
    now: Event,
) -> Option<Packet> {
    let flow = &mut world.flows[index as usize];
    let fin = closing::close(&mut flow.receiver, now);
    let timer = flow.receiver.next_timer();
    let fin = fin.map(|fin| flow.ack(&mut world.acks, hop, &fin));
    world.calendar.schedule_timer(receiver_timer(index), timer);
    if fin.is_none() {
        return answer;
    }
    if let Some(answer) = answer {
        if closing::answers_by_fin(&world.flows[index as usize].receiver) {
            world.acks.drop(&answer);
        } else {
            world.leave(answer, EventKey::from_parts(time, line));
        }
    }
    fin
}

/// What has not been acknowledged yet is, before the receiver takes note that marks begin or end (RFC 8257 §3.2).
#[cold]
#[inline(never)]
pub(super) fn echo_old_state(world: &mut World, index: u32, hop: u32, key: EventKey) {
    let flow = &mut world.flows[index as usize];
    if let Some(ack) = flow.receiver.take_delayed(key.time) {
        let packet = flow.ack(&mut world.acks, hop, &ack);
        world.leave(packet, key);
    }
}

/// A delayed acknowledgement leaves.
pub(super) fn fire_receiver_timer(world: &mut World, index: u32) {
    let flow = &mut world.flows[index as usize];
    let key = flow.receiver.next_timer();
    let ack = if closing::awaits_answer(&flow.receiver) {
        let now = world.calendar.record(key);
        closing::send_fin(&mut flow.receiver, now)
    } else if opening::awaits_acknowledgement(&flow.receiver) {
        let now = world.calendar.record(key);
        opening::send_again(&mut flow.receiver, now)
    } else {
        flow.receiver.on_timer()
    };
    if world.hosts.receive(index) {
        return acknowledge_on_host(world, index, &ack, key);
    }
    let packet = flow.ack(&mut world.acks, flow.trip.receiver_stop + 1, &ack);
    world.leave(packet, key);
}
