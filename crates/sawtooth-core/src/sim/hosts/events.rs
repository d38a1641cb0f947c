//! Handles an event of a host: does everything that is due, and sets the next events of its parts.

use super::Hosts;
use super::interface::{Now, transmit};
use super::receiving::ack_frame;
use super::sending::write_what_is_due;
use super::work::{begin_work, end_pass, end_work};
use crate::events::{Child, Event, EventKey, Line};
use crate::host::cpu::Level;
use crate::host::layers::Layer;
use crate::host::{Frame, Work};
use crate::packet::{Ack, Packet};
use crate::sim::calendar::{Calendar, HostPart};
use crate::sim::world::World;
use crate::units::Instant;

/// A packet comes to the interface of a flow's host.
#[cold]
#[inline(never)]
pub(in crate::sim) fn come_to_host(
    world: &mut World,
    end: u32,
    packet: &Packet,
    time: Instant,
    line: Line,
) {
    let now = world.calendar.record(EventKey::from_parts(time, line));
    let (flow, is_data) = (end / 2, end.is_multiple_of(2));
    let host = if is_data {
        world.hosts.takes(flow)
    } else {
        world.hosts.sends(flow)
    };
    let mut frame = Frame {
        packet: *packet,
        flow,
        is_data,
        id: 0,
    };
    // What another host has sent has a number.
    let numbered = world.hosts.send(flow) && world.hosts.receive(flow);
    if let Some(logs) = &mut world.hosts.logs {
        let log = &mut logs[flow as usize];
        frame.id = match (numbered, is_data) {
            (false, _) => log.number(),
            (true, true) => log.number_of(packet.tag()),
            (true, false) => log.number_of(world.acks.tag(packet)),
        };
    }
    world
        .hosts
        .note(host, now.time, Layer::Wire, "arrive", &frame);
    world.hosts.machine(host).nic.receive(frame, time);
    schedule_parts(&world.hosts, &mut world.calendar, host, now);
}

/// Something happens within a host.
#[inline(never)]
pub(in crate::sim) fn on_host(world: &mut World, host: u32, part: HostPart, key: EventKey) {
    let now = world.calendar.record(key);
    let machine = world.hosts.machine(host);
    match part {
        // These see for themselves whether there is something to do.
        HostPart::Processor | HostPart::Transmitter => {}
        HostPart::TransmitInterrupt => {
            let packets = machine.nic.report_transmissions();
            let takes = machine.profile.transmit_interrupt;
            let work = Work::Transmitted(packets);
            machine.cpu.submit(Level::Interrupt, work, takes);
        }
        HostPart::ReceiveInterrupt => {
            let (packets, bytes) = machine.nic.report_arrivals(now.time);
            let each = machine.profile.driver_receive;
            let takes = machine.profile.receive_interrupt
                + each.once * f64::from(packets)
                + each.per_byte * bytes.as_f64();
            machine
                .cpu
                .submit(Level::Interrupt, Work::Received(packets), takes);
        }
    }
    run_host(world, Now { key, event: now }, host);
}

/// The application of a flow writes what is due, and TCP sends what it may after that or after its timer.
#[cold]
#[inline(never)]
pub(in crate::sim) fn write_on_host(world: &mut World, index: u32, key: EventKey, now: Event) {
    let host = world.hosts.sends(index);
    write_what_is_due(world, host, index, now);
    run_host(world, Now { key, event: now }, host);
}

/// A delayed acknowledgement is due.
#[cold]
#[inline(never)]
pub(in crate::sim) fn acknowledge_on_host(world: &mut World, index: u32, ack: &Ack, key: EventKey) {
    let now = world.calendar.record(key);
    let host = world.hosts.takes(index);
    let frame = ack_frame(world, index, ack);
    let machine = world.hosts.machine(host);
    let takes = machine.profile.ack_send;
    machine
        .cpu
        .submit(Level::Protocol, Work::Send(frame), takes);
    run_host(world, Now { key, event: now }, host);
}

/// Lets a host do everything that is due.
fn run_host(world: &mut World, now: Now, host: u32) {
    let time = now.event.time;
    loop {
        if let Some(work) = world.hosts.machine(host).cpu.begin(time) {
            begin_work(world, host, work, time);
        }
        if world.hosts.machine(host).cpu.until() > time {
            break;
        }
        let (work, of_pass) = world.hosts.machine(host).cpu.finish();
        end_work(world, now, host, work);
        let machine = world.hosts.machine(host);
        if of_pass
            && machine.cpu.pass_is_over()
            && let Some(flow) = machine.pass_of.take()
        {
            let sender = &world.flows[flow as usize].sender;
            end_pass(world.hosts.socket(flow), sender, time);
        }
    }
    transmit(world, now, host);
    schedule_parts(&world.hosts, &mut world.calendar, host, now.event);
}

/// Sets the next events of a host's parts.
fn schedule_parts(hosts: &Hosts, calendar: &mut Calendar, host: u32, now: Event) {
    let machine = &hosts.machines[host as usize];
    for part in HostPart::ALL {
        let due = match part {
            HostPart::Processor => machine.cpu.until(),
            HostPart::Transmitter => machine.nic.transmitter_due(),
            HostPart::TransmitInterrupt => machine.nic.transmissions.due(),
            HostPart::ReceiveInterrupt => machine.nic.arrivals.due(),
        };
        let slot = calendar.host_slot(host, part);
        if due == calendar.get(slot).time && due > now.time {
            // As it was: an event keeps its place among those of its time.
        } else if due == Instant::NEVER {
            calendar.set(slot, EventKey::NEVER);
        } else {
            // The link's transmitter is free before the interface begins its next packet.
            let child = match part {
                HostPart::Transmitter => Child::Again,
                _ => Child::Timer,
            };
            calendar.set(slot, now.schedule(due, child));
        }
    }
}
