//! The sending side of a host: an application writes into its socket, and TCP sends what it may.

use super::Hosts;
use crate::events::{Event, EventKey};
use crate::host::cpu::Level;
use crate::host::layers::Layer;
use crate::host::socket::{Held, Socket, Writer};
use crate::host::{Frame, Work};
use crate::packet::Packet;
use crate::sim::budget::{AT_ONCE, may_send_more};
use crate::sim::calendar::sender_timer;
use crate::sim::flow::Flow;
use crate::sim::request_response::carried::put_ack_on;
use crate::sim::world::World;
use crate::sim::writes::NextWrite;
use crate::tcp::sender::Sender;
use crate::units::{ByteCount, Duration, Instant};

/// How what TCP sends is worked off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SendWork {
    /// By the pass that has made TCP send.
    InPass,
    /// By work of its own, because a timer has.
    Apart,
}

/// The application of a flow writes what is due, and TCP sends what it may after that or after its timer.
pub(super) fn write_what_is_due(world: &mut World, host: u32, index: u32, now: Event) {
    let flow = &mut world.flows[index as usize];
    call_what_is_due(flow, world.hosts.socket(index), now);
    close_when_written(world, host, index);
    send_on_host(world, index, host, now, SendWork::Apart);
    start_writing(world, host, index, now.time);
}

/// The calls of write that are due wait for the writer.
fn call_what_is_due(flow: &mut Flow, socket: &mut Socket, now: Event) {
    let writes = &mut flow.writes;
    if writes.key.time <= now.time {
        writes.key = EventKey::NEVER;
    }
    if flow.request_response.is_some() {
        if writes.key.is_never()
            && let Some(portion) = writes.next_portion(flow.start, now)
        {
            socket
                .calls
                .extend((!portion.bytes.is_zero()).then_some(portion.bytes));
            socket.is_last = portion.is_all;
        }
        return;
    }
    while !socket.is_last && writes.key.is_never() {
        match writes.due(flow.start, now) {
            NextWrite::Bytes(bytes) => socket.calls.push_back(bytes),
            NextWrite::Later => {}
            NextWrite::Over => socket.is_last = true,
        }
    }
}

/// TCP sends what it may.
fn send_on_host(world: &mut World, index: u32, host: u32, now: Event, sent: SendWork) {
    for count in 0_u32.. {
        if count % AT_ONCE == AT_ONCE - 1 && !may_send_more(world, index, now.time) {
            break;
        }
        let flow = &mut world.flows[index as usize];
        let Some(data) = flow.sender.poll_transmit(now) else {
            break;
        };
        let overhead = world.hosts.machine(host).profile.memory.overhead;
        let queued = &mut world.hosts.socket(index).queued;
        queued.enter(data.payload);
        flow.sender.on_transmit_queue(queued.memory(overhead));
        let mut packet = flow.data(data);
        if flow.request_response.is_some() {
            packet = put_ack_on(
                &world.request_responses,
                &mut world.flows,
                &mut world.acks,
                index,
                &packet,
                now.time,
            );
        }
        let mut frame = Frame {
            packet,
            flow: index,
            is_data: true,
            id: 0,
        };
        if let Some(logs) = &mut world.hosts.logs {
            frame.id = logs[index as usize].number();
            frame.packet.set_tag(frame.id % Packet::TAGS);
        }
        let machine = world.hosts.machine(host);
        let takes = machine.profile.send.with(data.payload);
        match sent {
            SendWork::InPass => machine.cpu.follow(Work::Send(frame), takes),
            SendWork::Apart => machine
                .cpu
                .submit(Level::Protocol, Work::Send(frame), takes),
        }
    }
    let timer = world.flows[index as usize].next_timer();
    world.calendar.schedule_timer(sender_timer(index), timer);
}

/// The writer calls write if it can and has something to write.
fn start_writing(world: &mut World, host: u32, index: u32, time: Instant) {
    let established = world.flows[index as usize].sender.is_established();
    let socket = world.hosts.socket(index);
    if socket.writer == Writer::Idle && established && socket.wanted().is_some() {
        socket.writer = Writer::Busy;
        go_on_writing(&mut world.hosts, host, index, time);
    }
}

/// The writer calls write, or goes on within its call.
fn go_on_writing(hosts: &mut Hosts, host: u32, index: u32, time: Instant) {
    let socket = hosts.socket(index);
    let begun = std::mem::replace(&mut socket.has_begun, true);
    let wanted = socket.wanted().unwrap_or_default();
    if !begun {
        hosts.note_bytes(host, index, time, Layer::Application, "write", wanted);
    }
    let machine = hosts.machine(host);
    let takes = if begun {
        Duration::ZERO
    } else {
        machine.profile.write.once
    };
    machine
        .cpu
        .submit(Level::Application, Work::Write(index), takes);
}

/// The writer gets memory for the next packet, or sleeps.
pub(super) fn allocate(world: &mut World, now: Event, host: u32, index: u32) {
    let held = held(&world.flows[index as usize].sender);
    let profile = &world.hosts.machine(host).profile;
    let (memory, per_byte) = (profile.memory, profile.write.per_byte);
    let socket = world.hosts.socket(index);
    let Some(wanted) = socket.wanted() else {
        return;
    };
    if let Some(bytes) = memory.room(&held, wanted) {
        let takes = per_byte * bytes.as_f64();
        let cpu = &mut world.hosts.machine(host).cpu;
        cpu.follow(Work::Copy(index, bytes), takes);
    } else {
        socket.writer = Writer::Asleep;
        world
            .hosts
            .note_bytes(host, index, now.time, Layer::Socket, "sleep", wanted);
        world.flows[index as usize].sender.on_writer(now, true);
    }
}

/// A packet's data is in the socket.
pub(super) fn copied(world: &mut World, now: Event, host: u32, index: u32, bytes: ByteCount) {
    (world.observers).sample_sender(&world.flows, index, now.time);
    let returns = world.hosts.socket(index).take(bytes);
    world
        .hosts
        .note_bytes(host, index, now.time, Layer::Socket, "copied", bytes);
    let flow = &mut world.flows[index as usize];
    flow.sender.on_write_part(now, bytes, !returns);
    if returns {
        world.hosts.note_bytes(
            host,
            index,
            now.time,
            Layer::Application,
            "written",
            ByteCount::ZERO,
        );
        close_when_written(world, host, index);
    }
    send_on_host(world, index, host, now, SendWork::InPass);
    let socket = world.hosts.socket(index);
    if socket.wanted().is_some() {
        go_on_writing(&mut world.hosts, host, index, now.time);
    } else {
        socket.writer = Writer::Idle;
    }
}

/// The application closes if it has written everything and does not wait for it to be acknowledged.
fn close_when_written(world: &mut World, host: u32, index: u32) {
    let at_once = world.hosts.machine(host).profile.closes_at_once;
    let sender = &mut world.flows[index as usize].sender;
    let socket = world.hosts.socket(index);
    if socket.is_over() && !socket.has_closed && (at_once || sender.unacked().bytes.is_zero()) {
        socket.has_closed = true;
        sender.on_close();
    }
}

/// A packet of a flow has left its host's transmit queue: TCP sends what has been put off until then.
pub(super) fn transmitted(world: &mut World, now: Event, host: u32, frame: &Frame) {
    let index = frame.flow;
    let overhead = world.hosts.machine(host).profile.memory.overhead;
    let queued = &mut world.hosts.socket(index).queued;
    queued.leave(frame.packet.segment().payload);
    let sender = &mut world.flows[index as usize].sender;
    sender.on_transmit_queue(queued.memory(overhead));
    if sender.end_putting_off() {
        send_on_host(world, index, host, now, SendWork::Apart);
    }
}

/// An acknowledgement reaches TCP by itself.
pub(super) fn acknowledged_on_host(world: &mut World, now: Event, host: u32, frame: &Frame) {
    let index = frame.flow;
    let ack = world.acks.unpack(&frame.packet);
    (world.observers).sample_sender(&world.flows, index, now.time);
    let sender = &mut world.flows[index as usize].sender;
    sender.end_putting_off();
    if ack.syn {
        sender.on_syn_ack(now, &ack);
    } else {
        sender.on_segment(now, &ack);
    }
    go_on(world, now, host, index);
}

/// TCP has taken an acknowledgement, which may let out data and wake the writer.
pub(super) fn go_on(world: &mut World, now: Event, host: u32, index: u32) {
    close_when_written(world, host, index);
    send_on_host(world, index, host, now, SendWork::InPass);
    world.note_end(index, now.time);
    if world.observers.trace_acks() {
        (world.observers).trace_ack(&world.flows, index, now.time);
    }
    start_writing(world, host, index, now.time);
    let held = held(&world.flows[index as usize].sender);
    let memory = world.hosts.machine(host).profile.memory;
    let socket = world.hosts.socket(index);
    if socket.writer == Writer::Asleep
        && let Some(wanted) = socket.wanted()
        && memory.wakes(&held, wanted)
    {
        socket.writer = Writer::Busy;
        let machine = world.hosts.machine(host);
        let takes = machine.profile.wake;
        machine
            .cpu
            .submit(Level::Application, Work::Write(index), takes);
        world
            .hosts
            .note_bytes(host, index, now.time, Layer::Socket, "wake", wanted);
        world.flows[index as usize].sender.on_writer(now, false);
    }
}

/// What a socket holds.
fn held(sender: &Sender) -> Held {
    let unacked = sender.unacked();
    Held {
        bytes: unacked.bytes,
        packets: unacked.segments,
        tail_room: sender.tail_room(),
        smss: sender.config().smss,
    }
}
