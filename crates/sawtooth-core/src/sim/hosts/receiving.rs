//! The receiving side of a host: TCP takes segments and acknowledges them, and an application reads.

use super::Hosts;
use super::sending::go_on;
use crate::events::Event;
use crate::host::cpu::Level;
use crate::host::layers::Layer;
use crate::host::{Frame, Work};
use crate::packet::{Ack, Packet};
use crate::sim::calendar::receiver_timer;
use crate::sim::request_response::carried::{application_has, take_carried};
use crate::sim::world::World;
use crate::units::{ByteCount, Duration};

/// A segment reaches TCP. Of a connection of requests and responses, the acknowledgement that it carries does so first, and what that lets out leaves before one of its own.
pub(super) fn receive_on_host(world: &mut World, now: Event, host: u32, frame: &Frame) {
    let (index, mut packet) = (frame.flow, frame.packet);
    let time = now.time;
    world.observers.effort.delivered_packets += 1;
    (world.observers).sample_receiver(&world.flows, index, time);
    let other = (world.request_responses).other_way(&world.flows, index);
    let answered = other.filter(|_| packet.carries_ack());
    if let Some(other) = answered {
        world.flows[other as usize].sender.end_putting_off();
    }
    if let Some(other) = other {
        take_carried(world, index, other, &mut packet, now);
    }
    let flow = &mut world.flows[index as usize];
    let mut old = None;
    if flow.marks_change(&packet) {
        old = flow.receiver.take_delayed(now.time);
    }
    let receiver = &mut flow.receiver;
    let mut ack = receiver.on_segment(now, packet.segment());
    let delivered = receiver.delivered.bytes;
    world.observers.trace_delivery(index, time, delivered);
    let news = delivered - world.hosts.reader(index).come;
    if other.is_some() && !news.is_zero() {
        (world.request_responses).tcp_has(&mut world.flows, index, now, delivered);
    }
    if let Some(ack) = old {
        follow_with_ack(world, host, index, &ack);
    }
    if let Some(other) = answered {
        let sent = world.flows[other as usize].sent_packets();
        go_on(world, now, host, other);
        ack = ack.filter(|ack| {
            ack.repeated.is_some() || world.flows[other as usize].sent_packets() == sent
        });
    }
    let update = world.flows[index as usize].receiver.take_update(now.time);
    for ack in [ack, update].into_iter().flatten() {
        follow_with_ack(world, host, index, &ack);
    }
    let timer = world.flows[index as usize].receiver.next_timer();
    world.calendar.schedule_timer(receiver_timer(index), timer);
    if !news.is_zero() {
        world.hosts.reader(index).come = delivered;
        world
            .hosts
            .note_bytes(host, index, time, Layer::Socket, "readable", news);
        start_reading(&mut world.hosts, host, index, true);
    }
}

/// An acknowledgement leaves within the present pass.
fn follow_with_ack(world: &mut World, host: u32, index: u32, ack: &Ack) {
    let frame = ack_frame(world, index, ack);
    let machine = world.hosts.machine(host);
    machine
        .cpu
        .follow(Work::Send(frame), machine.profile.ack_send);
}

/// A read returns: in a connection of requests and responses the application may have something to say to that.
pub(super) fn has_read(world: &mut World, now: Event, host: u32, flow: u32, bytes: ByteCount) {
    let reader = world.hosts.reader(flow);
    reader.returns(now.time);
    let read = reader.read;
    world
        .hosts
        .note_bytes(host, flow, now.time, Layer::Application, "read", bytes);
    if world.flows[flow as usize].request_response.is_some() {
        application_has(world, flow, now, read);
    }
    start_reading(&mut world.hosts, host, flow, false);
}

/// The reader reads what there is, if it does not do so already; it may have slept.
fn start_reading(hosts: &mut Hosts, host: u32, flow: u32, slept: bool) {
    let reader = hosts.reader(flow);
    let Some(bytes) = reader.next_read() else {
        return;
    };
    let machine = hosts.machine(host);
    let read = machine.profile.read;
    let wake = if slept {
        machine.profile.wake
    } else {
        Duration::ZERO
    };
    let takes = wake + read.once + read.per_byte * bytes.as_f64();
    machine
        .cpu
        .submit(Level::Application, Work::Read(flow, bytes), takes);
}

/// An acknowledgement on its way down to the interface.
pub(super) fn ack_frame(world: &mut World, index: u32, ack: &Ack) -> Frame {
    let flow = &world.flows[index as usize];
    let mut frame = Frame {
        packet: flow.ack(&mut world.acks, flow.trip.receiver_stop + 1, ack),
        flow: index,
        is_data: false,
        id: 0,
    };
    if let Some(logs) = &mut world.hosts.logs {
        frame.id = logs[index as usize].number();
        world
            .acks
            .set_tag(&mut frame.packet, frame.id % Packet::TAGS);
    }
    frame
}
