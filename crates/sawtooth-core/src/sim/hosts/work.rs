//! The processor of a host: what begins and what follows when some work is done.

use super::interface::{Now, release_reported, socket_it_leaves, take_reported, transmit};
use super::receiving::{has_read, receive_on_host};
use super::sending::{acknowledged_on_host, allocate, copied};
use crate::host::cpu::Level;
use crate::host::layers::Layer;
use crate::host::socket::{Socket, Writer};
use crate::host::stopwatch::StallCause;
use crate::host::{Frame, Work};
use crate::sim::flow::Flow;
use crate::sim::request_response::RequestResponses;
use crate::sim::world::World;
use crate::tcp::sender::{HeldBackBy, Sender};
use crate::units::Instant;

/// The processor begins some work.
pub(super) fn begin_work(world: &mut World, host: u32, work: Work, now: Instant) {
    let entered = match work {
        Work::Driver(frame) => {
            if let Some(flow) = socket_it_leaves(&world.request_responses, &world.flows, &frame) {
                world.hosts.socket(flow).watch.enter_driver(now.as_ns());
            }
            world.hosts.note(host, now, Layer::Driver, "send", &frame);
            None
        }
        Work::Receive(frame) => socket_it_comes_to(&world.request_responses, &world.flows, &frame),
        Work::Send(frame) => socket_it_leaves(&world.request_responses, &world.flows, &frame),
        Work::Write(flow) => Some(flow),
        Work::Received(_) | Work::Transmitted(_) | Work::Copy(..) | Work::Read(..) => None,
    };
    if let Some(flow) = entered
        && world.hosts.machine(host).pass_of.replace(flow).is_none()
    {
        world.hosts.socket(flow).watch.enter_protocol(now.as_ns());
    }
}

/// The processor has done some work.
pub(super) fn end_work(world: &mut World, now: Now, host: u32, work: Work) {
    let time = now.event.time;
    match work {
        Work::Received(packets) => {
            for _ in 0..packets {
                take_reported(&mut world.hosts, host, time);
            }
        }
        Work::Transmitted(packets) => {
            for _ in 0..packets {
                release_reported(world, host, now.event);
            }
            let machine = world.hosts.machine(host);
            while let Some(frame) = machine.nic.admit_waiting() {
                let takes = machine.profile.driver_send.with(frame.packet.size());
                machine
                    .cpu
                    .submit(Level::Interrupt, Work::Driver(frame), takes);
            }
        }
        Work::Driver(frame) => {
            world.hosts.machine(host).nic.enqueue(frame, time);
            world
                .hosts
                .note(host, time, Layer::Driver, "handed", &frame);
            transmit(world, now, host);
        }
        Work::Send(frame) => {
            world.hosts.note(host, time, Layer::Tcp, "send", &frame);
            let machine = world.hosts.machine(host);
            if machine.nic.admit(frame) {
                let takes = machine.profile.driver_send.with(frame.packet.size());
                machine.cpu.follow(Work::Driver(frame), takes);
            }
        }
        Work::Receive(frame) => {
            world.hosts.note(host, time, Layer::Tcp, "receive", &frame);
            if frame.is_data {
                receive_on_host(world, now.event, host, &frame);
            } else {
                acknowledged_on_host(world, now.event, host, &frame);
            }
        }
        Work::Write(flow) => allocate(world, now.event, host, flow),
        Work::Copy(flow, bytes) => copied(world, now.event, host, flow, bytes),
        Work::Read(flow, bytes) => has_read(world, now.event, host, flow, bytes),
    }
}

/// The processor leaves the protocol code of a sending socket: it waits at its stall points, or has completed.
pub(super) fn end_pass(socket: &mut Socket, sender: &Sender, now: Instant) {
    let waits = sender.waits(now);
    let holds = StallCause::ALL.map(|cause| match cause {
        StallCause::Window => waits == HeldBackBy::Window,
        StallCause::Partial => waits == HeldBackBy::Partial,
        StallCause::Memory => socket.writer == Writer::Asleep,
    });
    let now = now.as_ns();
    for (cause, holds) in StallCause::ALL.into_iter().zip(holds) {
        if !holds && socket.watch.is_pending(cause) {
            socket.watch.resume(now, cause);
        }
    }
    for (cause, holds) in StallCause::ALL.into_iter().zip(holds) {
        if holds {
            socket.watch.wait(now, cause);
        }
    }
    if holds == [false; 3] {
        socket.watch.complete(now);
    }
}

/// The flow whose data the socket sends that a packet comes to; nothing if it sends none.
fn socket_it_comes_to(
    request_responses: &RequestResponses,
    flows: &[Flow],
    frame: &Frame,
) -> Option<u32> {
    if frame.is_data {
        request_responses.other_way(flows, frame.flow)
    } else {
        Some(frame.flow)
    }
}
