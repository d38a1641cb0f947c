//! The interface of a host: packets leave on the link, and the host handles what the interface has reported.

use super::Hosts;
use super::sending::transmitted;
use crate::events::{Event, EventKey};
use crate::host::cpu::Level;
use crate::host::layers::Layer;
use crate::host::{Frame, Work};
use crate::sim::flow::Flow;
use crate::sim::request_response::RequestResponses;
use crate::sim::world::World;
use crate::units::Instant;

/// An event that happens now, and what it is as one that has been recorded.
#[derive(Clone, Copy)]
pub(super) struct Now {
    pub key: EventKey,
    pub event: Event,
}

/// The interface ends and begins transmissions.
pub(super) fn transmit(world: &mut World, now: Now, host: u32) {
    let time = now.event.time;
    let nic = &mut world.hosts.machines[host as usize].nic;
    if let Some(frame) = nic.end_transmission(time) {
        world.hosts.note(host, time, Layer::Wire, "end", &frame);
    }
    let (first_ports, ports) = (&world.hosts.first_ports, &mut world.topology.ports);
    let nic = &mut world.hosts.machines[host as usize].nic;
    let begun = nic.begin_transmission(time, |frame| {
        let [data, ack] = first_ports[frame.flow as usize];
        let port = if frame.is_data { data } else { ack };
        ports[port].transmission(frame.packet.size())
    });
    if let Some(frame) = begun {
        world.hosts.note(host, time, Layer::Wire, "begin", &frame);
        world.leave(frame.packet, now.key);
    }
}

/// An interrupt has reported a packet that has come.
pub(super) fn take_reported(hosts: &mut Hosts, host: u32, time: Instant) {
    let machine = hosts.machine(host);
    let Some(frame) = machine.nic.take() else {
        return;
    };
    let takes = if frame.is_data {
        machine.profile.receive.with(frame.packet.segment().payload)
    } else {
        machine.profile.ack_receive
    };
    machine
        .cpu
        .submit(Level::Protocol, Work::Receive(frame), takes);
    hosts.note(host, time, Layer::Driver, "receive", &frame);
}

/// An interrupt has reported a transmission.
pub(super) fn release_reported(world: &mut World, host: u32, now: Event) {
    let Some(frame) = world.hosts.machine(host).nic.release() else {
        return;
    };
    let time = now.time;
    world
        .hosts
        .note(host, time, Layer::Driver, "transmitted", &frame);
    if let Some(flow) = socket_it_leaves(&world.request_responses, &world.flows, &frame) {
        world.hosts.socket(flow).watch.transmitted(time.as_ns());
    }
    if frame.is_data {
        transmitted(world, now, host, &frame);
    }
}

/// The flow whose data the socket sends that a packet leaves; nothing if it sends none.
pub(super) fn socket_it_leaves(
    request_responses: &RequestResponses,
    flows: &[Flow],
    frame: &Frame,
) -> Option<u32> {
    if frame.is_data {
        Some(frame.flow)
    } else {
        request_responses.other_way(flows, frame.flow)
    }
}
