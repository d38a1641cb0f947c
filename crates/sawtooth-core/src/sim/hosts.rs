//! The hosts of a run ([`crate::host`]): what their processors and interfaces do with flows' packets, and what they measure.
//!
//! **Events.** Packets for a host take an event to reach its interface, and each of a host's parts has one slot among the events. What takes no time
//! happens at once. So a flow with a host takes several events per packet; flows without any are not touched.
//!
//! **Requests and responses** ([`super::request_response`]) are two flows, so each side has the socket of what it sends and the reader of what it gets. These are two halves of one socket: what
//! one of them makes the protocol code or the driver do, also for a segment that arrives or an acknowledgement that leaves, is done for the socket, and its stopwatch says so.

mod receiving;
mod records;
mod sending;
#[cfg(test)]
mod tests;

use super::request_response::RequestResponses;
use super::{Slot, World, index_u32};
use crate::events::{Child, Event, Key, Line};
use crate::host::cpu::Level;
use crate::host::layers::{Layer, Log};
use crate::host::socket::{Reader, Socket, Writer};
use crate::host::stopwatch::Cause;
use crate::host::{Frame, Machine, Work};
use crate::packet::Packet;
use crate::record::rows::Stalls;
use crate::spec::{FlowSpec, Scenario};
use crate::tcp::sender::Waits;
use crate::units::ns;

/// A part of a host that has events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Processor,
    Transmitter,
    TransmitInterrupt,
    ReceiveInterrupt,
}

const PARTS: [Part; 4] = [
    Part::Processor,
    Part::Transmitter,
    Part::TransmitInterrupt,
    Part::ReceiveInterrupt,
];

/// The sending and the receiving end of a flow: their hosts, and the ports where packets leave them.
struct Ends {
    hosts: [Option<usize>; 2],
    first_ports: [usize; 2],
}

impl Ends {
    fn of(flow: &FlowSpec) -> Self {
        let path = &flow.path;
        Self {
            hosts: [flow.host, flow.receiver_host],
            // Data leave on the path's first link, acknowledgements on the way back of its last.
            first_ports: [2 * path[0], 2 * path[path.len() - 1] + 1],
        }
    }

    fn the_other_way(mut self) -> Self {
        self.hosts.reverse();
        self.first_ports.reverse();
        self
    }
}

/// All hosts of a run, and the ends of flows that they have.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    machines: Vec<Machine>,
    /// Where their slots begin.
    first_slot: u32,
    /// Of each flow, those of requests after the scenario's, the host that sends its data, and its socket there.
    senders: Vec<Option<(u32, Socket)>>,
    /// And the host that takes them, and the application there.
    receivers: Vec<Option<(u32, Reader)>>,
    /// The ports where its data leave, and where its acknowledgements do.
    first_ports: Vec<[usize; 2]>,
    /// Of each flow, if that is recorded, what has happened.
    logs: Option<Vec<Log>>,
}

impl Hosts {
    pub(super) fn new(
        scenario: &Scenario,
        request_responses: &RequestResponses,
        slots: &mut Vec<Slot>,
    ) -> Self {
        let flows = &scenario.flows;
        if flows
            .iter()
            .all(|flow| flow.host.or(flow.receiver_host).is_none())
        {
            return Self::default();
        }
        let mut ends: Vec<Ends> = flows.iter().map(Ends::of).collect();
        for (_, server) in request_responses.places() {
            ends.push(Ends::of(&flows[server as usize]).the_other_way());
        }
        let first_slot = index_u32(slots.len());
        for host in 0..index_u32(scenario.hosts.len()) {
            slots.extend(PARTS.map(|part| Slot::Host(host, part)));
        }
        let socket = || {
            let mut socket = Socket::new();
            if scenario.record.stalls {
                socket.watch.keep_intervals();
            }
            socket
        };
        Self {
            machines: scenario
                .hosts
                .iter()
                .map(|host| Machine::new(&host.params))
                .collect(),
            first_slot,
            senders: (ends.iter())
                .map(|ends| ends.hosts[0].map(|host| (index_u32(host), socket())))
                .collect(),
            receivers: (ends.iter())
                .map(|ends| ends.hosts[1].map(|host| (index_u32(host), Reader::default())))
                .collect(),
            first_ports: ends.iter().map(|ends| ends.first_ports).collect(),
            logs: (scenario.record.layers).then(|| ends.iter().map(|_| Log::default()).collect()),
        }
    }

    /// What has been recorded of layers.
    pub(super) fn rows(&self) -> usize {
        self.logs.iter().flatten().map(|log| log.rows.len()).sum()
    }

    /// Whether a host sends a flow's data.
    #[inline]
    pub(super) fn send(&self, flow: u32) -> bool {
        !self.senders.is_empty() && self.sender(flow).is_some()
    }

    /// Whether a host takes a flow's data.
    #[inline]
    pub(super) fn receive(&self, flow: u32) -> bool {
        !self.receivers.is_empty() && self.receiver(flow).is_some()
    }

    fn sender(&self, flow: u32) -> Option<&(u32, Socket)> {
        self.senders.get(flow as usize)?.as_ref()
    }

    fn receiver(&self, flow: u32) -> Option<&(u32, Reader)> {
        self.receivers.get(flow as usize)?.as_ref()
    }

    /// The socket of a flow that a host sends.
    fn socket(&mut self, flow: u32) -> &mut Socket {
        let sender = self.senders[flow as usize].as_mut();
        &mut sender.expect("a host sends the flow").1
    }

    /// The application that reads of a flow that a host takes.
    fn reader(&mut self, flow: u32) -> &mut Reader {
        let receiver = self.receivers[flow as usize].as_mut();
        &mut receiver.expect("a host takes the flow").1
    }

    /// The host that sends a flow's data.
    fn sends(&self, flow: u32) -> u32 {
        self.sender(flow).expect("a host sends the flow").0
    }

    /// The host that takes a flow's data.
    fn takes(&self, flow: u32) -> u32 {
        self.receiver(flow).expect("a host takes the flow").0
    }

    fn machine(&mut self, host: u32) -> &mut Machine {
        &mut self.machines[host as usize]
    }

    /// Application bytes that the reader of a flow has, and when it had the last of them.
    pub(super) fn read_by(&self, flow: u32) -> Option<(u64, f64)> {
        let (_, reader) = self.receiver(flow)?;
        Some((reader.read, reader.last_read))
    }

    /// A flow's stall until `end`, where something measures it.
    pub(super) fn stalls(&self, flow: u32, end: f64) -> Stalls {
        let Some((_, socket)) = self.sender(flow) else {
            return Stalls::default();
        };
        let end = ns(end);
        let of = |cause| Some(socket.watch.read_of(end, cause));
        Stalls {
            all_ns: Some(socket.watch.read(end)),
            window_ns: of(Cause::Window),
            partial_ns: of(Cause::Partial),
            memory_ns: of(Cause::Memory),
        }
    }

    /// The run is over.
    pub(super) fn finish(&mut self, end: f64) {
        for (_, socket) in self.senders.iter_mut().flatten() {
            socket.watch.finish(ns(end));
        }
    }
}

/// An event that happens now: its key, and itself, recorded.
type Now = (Key, Event);

impl World<'_> {
    /// A packet comes to the interface of a flow's host.
    #[cold]
    #[inline(never)]
    pub(super) fn come_to_host(&mut self, end: u32, packet: &Packet, time: f64, line: Line) {
        let now = self.lineage.record(Key::from_parts(time, line));
        let (flow, is_data) = (end / 2, end.is_multiple_of(2));
        let host = if is_data {
            self.hosts.takes(flow)
        } else {
            self.hosts.sends(flow)
        };
        let mut frame = Frame {
            packet: *packet,
            flow,
            is_data,
            id: 0,
        };
        // What another host has sent has a number.
        let numbered = self.hosts.send(flow) && self.hosts.receive(flow);
        if let Some(logs) = &mut self.hosts.logs {
            let log = &mut logs[flow as usize];
            frame.id = match (numbered, is_data) {
                (false, _) => log.number(),
                (true, true) => log.number_of(packet.tag()),
                (true, false) => log.number_of(self.acks.tag(packet)),
            };
        }
        self.hosts.note(host, time, Layer::Wire, "arrive", &frame);
        self.hosts.machine(host).nic.receive(frame, time);
        self.see_to_host(host, now);
    }

    /// Something happens within a host.
    #[inline(never)]
    pub(super) fn on_host(&mut self, host: u32, part: Part, key: Key) {
        let now = self.lineage.record(key);
        let machine = self.hosts.machine(host);
        match part {
            // These see for themselves whether there is something to do.
            Part::Processor | Part::Transmitter => {}
            Part::TransmitInterrupt => {
                let packets = machine.nic.report_transmissions();
                let secs = machine.profile.transmit_interrupt;
                let work = Work::Transmitted(packets);
                machine.cpu.submit(Level::Interrupt, work, secs);
            }
            Part::ReceiveInterrupt => {
                let (packets, bytes) = machine.nic.report_arrivals(now.time);
                let each = machine.profile.driver_receive;
                let secs = machine.profile.receive_interrupt
                    + each.once * f64::from(packets)
                    + each.per_byte * f64::from(bytes);
                machine
                    .cpu
                    .submit(Level::Interrupt, Work::Received(packets), secs);
            }
        }
        self.run_host((key, now), host);
    }

    /// Lets a host do everything that is due.
    fn run_host(&mut self, (key, now): Now, host: u32) {
        loop {
            if let Some(work) = self.hosts.machine(host).cpu.begin(now.time) {
                self.begin_work(host, work, now.time);
            }
            if self.hosts.machine(host).cpu.until() > now.time {
                break;
            }
            let (work, of_pass) = self.hosts.machine(host).cpu.finish();
            self.end_work((key, now), host, work);
            let machine = self.hosts.machine(host);
            if of_pass
                && machine.cpu.pass_is_over()
                && let Some(flow) = machine.pass_of.take()
            {
                self.end_pass(flow, now.time);
            }
        }
        self.transmit((key, now), host);
        self.see_to_host(host, now);
    }

    /// Sees to the events of a host's parts.
    fn see_to_host(&mut self, host: u32, now: Event) {
        let machine = &self.hosts.machines[host as usize];
        let due = [
            machine.cpu.until(),
            machine.nic.transmitter_due(),
            machine.nic.transmissions.due(),
            machine.nic.arrivals.due(),
        ];
        for ((slot, part), due) in (self.hosts.first_slot + 4 * host..).zip(PARTS).zip(due) {
            if due == self.packets.get(slot).time && due > now.time {
                // As it was: an event keeps its place among those of its time.
            } else if due.is_infinite() {
                self.packets.set(slot, Key::NEVER, &self.lineage);
            } else {
                // The link's transmitter is free before the interface begins its next packet.
                let child = match part {
                    Part::Transmitter => Child::Again,
                    _ => Child::Timer,
                };
                self.packets
                    .set(slot, now.schedule(due, child), &self.lineage);
            }
        }
    }

    /// The interface ends and begins transmissions.
    fn transmit(&mut self, (key, now): Now, host: u32) {
        let nic = &mut self.hosts.machines[host as usize].nic;
        if let Some(frame) = nic.end_transmission(now.time) {
            self.hosts.note(host, now.time, Layer::Wire, "end", &frame);
        }
        let (first_ports, ports) = (&self.hosts.first_ports, &mut self.ports);
        let nic = &mut self.hosts.machines[host as usize].nic;
        let begun = nic.begin_transmission(now.time, |frame| {
            let [data, ack] = first_ports[frame.flow as usize];
            let port = if frame.is_data { data } else { ack };
            ports[port].transmission_secs(frame.packet.wire_bytes)
        });
        if let Some(frame) = begun {
            self.hosts
                .note(host, now.time, Layer::Wire, "begin", &frame);
            self.leave(frame.packet, key);
        }
    }

    // --- the processor --------------------------------------------------------------------------------------------------

    /// The flow whose data the socket sends that a packet leaves; nothing if it sends none.
    fn socket_it_leaves(&self, frame: &Frame) -> Option<u32> {
        if frame.is_data {
            Some(frame.flow)
        } else {
            self.other_way(frame.flow)
        }
    }

    /// The same of the socket that a packet comes to.
    fn socket_it_comes_to(&self, frame: &Frame) -> Option<u32> {
        if frame.is_data {
            self.other_way(frame.flow)
        } else {
            Some(frame.flow)
        }
    }

    fn begin_work(&mut self, host: u32, work: Work, now: f64) {
        let entered = match work {
            Work::Driver(frame) => {
                if let Some(flow) = self.socket_it_leaves(&frame) {
                    self.hosts.socket(flow).watch.enter_driver(ns(now));
                }
                self.hosts.note(host, now, Layer::Driver, "send", &frame);
                None
            }
            Work::Receive(frame) => self.socket_it_comes_to(&frame),
            Work::Send(frame) => self.socket_it_leaves(&frame),
            Work::Write(flow) => Some(flow),
            Work::Received(_) | Work::Transmitted(_) | Work::Copy(..) | Work::Read(..) => None,
        };
        if let Some(flow) = entered
            && self.hosts.machine(host).pass_of.replace(flow).is_none()
        {
            self.hosts.socket(flow).watch.enter_protocol(ns(now));
        }
    }

    fn end_work(&mut self, now: Now, host: u32, work: Work) {
        let time = now.1.time;
        match work {
            Work::Received(packets) => {
                for _ in 0..packets {
                    self.take_reported(host, time);
                }
            }
            Work::Transmitted(packets) => {
                for _ in 0..packets {
                    self.release_reported(host, now.1);
                }
                let machine = self.hosts.machine(host);
                while let Some(frame) = machine.nic.admit_waiting() {
                    let secs = machine.profile.driver_send.with(frame.packet.wire_bytes);
                    machine
                        .cpu
                        .submit(Level::Interrupt, Work::Driver(frame), secs);
                }
            }
            Work::Driver(frame) => {
                self.hosts.machine(host).nic.hand(frame, time);
                self.hosts.note(host, time, Layer::Driver, "handed", &frame);
                self.transmit(now, host);
            }
            Work::Send(frame) => {
                self.hosts.note(host, time, Layer::Tcp, "send", &frame);
                let machine = self.hosts.machine(host);
                if machine.nic.admit(frame) {
                    let secs = machine.profile.driver_send.with(frame.packet.wire_bytes);
                    machine.cpu.follow(Work::Driver(frame), secs);
                }
            }
            Work::Receive(frame) => {
                self.hosts.note(host, time, Layer::Tcp, "receive", &frame);
                if frame.is_data {
                    self.receive_on_host(now, host, &frame);
                } else {
                    self.acknowledged_on_host(now, host, &frame);
                }
            }
            Work::Write(flow) => self.allocate(now.1, host, flow),
            Work::Copy(flow, bytes) => self.copied(now, host, flow, bytes),
            Work::Read(flow, bytes) => self.has_read(now.1, host, flow, bytes),
        }
    }

    /// An interrupt has reported a packet that has come.
    fn take_reported(&mut self, host: u32, time: f64) {
        let machine = self.hosts.machine(host);
        let Some(frame) = machine.nic.take() else {
            return;
        };
        let secs = if frame.is_data {
            let bytes = frame.packet.segment().payload.packet_size();
            machine.profile.receive.with(bytes)
        } else {
            machine.profile.ack_receive
        };
        machine
            .cpu
            .submit(Level::Protocol, Work::Receive(frame), secs);
        self.hosts
            .note(host, time, Layer::Driver, "receive", &frame);
    }

    /// An interrupt has reported a transmission.
    fn release_reported(&mut self, host: u32, now: Event) {
        let Some(frame) = self.hosts.machine(host).nic.release() else {
            return;
        };
        let time = now.time;
        self.hosts
            .note(host, time, Layer::Driver, "transmitted", &frame);
        if let Some(flow) = self.socket_it_leaves(&frame) {
            self.hosts.socket(flow).watch.transmitted(ns(time));
        }
        if frame.is_data {
            self.transmitted(now, host, &frame);
        }
    }

    /// The processor leaves the protocol code of a sending socket: it waits at its stall points, or has completed.
    fn end_pass(&mut self, flow: u32, now: f64) {
        let waits = self.flows[flow as usize].sender.waits(now);
        let socket = self.hosts.socket(flow);
        let holds = Cause::ALL.map(|cause| match cause {
            Cause::Window => waits == Waits::Window,
            Cause::Partial => waits == Waits::Partial,
            Cause::Memory => socket.writer == Writer::Asleep,
        });
        let now = ns(now);
        for (cause, holds) in Cause::ALL.into_iter().zip(holds) {
            if !holds && socket.watch.is_pending(cause) {
                socket.watch.resume(now, cause);
            }
        }
        for (cause, holds) in Cause::ALL.into_iter().zip(holds) {
            if holds {
                socket.watch.wait(now, cause);
            }
        }
        if holds == [false; 3] {
            socket.watch.complete(now);
        }
    }
}
