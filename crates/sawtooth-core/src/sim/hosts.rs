//! The hosts of a run ([`crate::host`]): what their processors and interfaces do with flows' packets, and what they measure.
//!
//! **Events.** Packets for a host take an event to reach its interface, and each of a host's parts has one slot among the events. What takes no time
//! happens at once. So a flow with a host takes several events per packet; flows without any are not touched.

use super::{Flow, Slot, World, index_u32, ns, receiver_timer, sender_timer};
use crate::events::{Child, Event, Key, Line};
use crate::host::cpu::Level;
use crate::host::layers::{Happening, Layer, Log};
use crate::host::socket::{Held, Reader, Socket, Writer};
use crate::host::stopwatch::Cause;
use crate::host::{Frame, Machine, Work};
use crate::packet::{Ack, Packet};
use crate::record::{Cell, Table};
use crate::scenario::Scenario;
use crate::tcp::waits::Waits;

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

/// All hosts of a run, and the ends of flows that they have.
#[derive(Debug, Default)]
pub(super) struct Hosts {
    machines: Vec<Machine>,
    /// Where their slots begin.
    first_slot: u32,
    /// Of each flow, the host that sends its data, and its socket there.
    senders: Vec<Option<(u32, Socket)>>,
    /// And the host that takes them, and the application there.
    receivers: Vec<Option<(u32, Reader)>>,
    /// Of each flow, if that is recorded, what has happened.
    logs: Option<Vec<Log>>,
}

impl Hosts {
    pub(super) fn new(scenario: &Scenario, slots: &mut Vec<Slot>) -> Self {
        let flows = &scenario.flows;
        let sends = flows.iter().map(|flow| flow.host);
        let receives = flows.iter().map(|flow| flow.receiver_host);
        if sends
            .clone()
            .chain(receives.clone())
            .all(|host| host.is_none())
        {
            return Self::default();
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
            senders: sends
                .map(|host| host.map(|host| (index_u32(host), socket())))
                .collect(),
            receivers: receives
                .map(|host| host.map(|host| (index_u32(host), Reader::default())))
                .collect(),
            logs: (scenario.record.layers).then(|| flows.iter().map(|_| Log::default()).collect()),
        }
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

    /// A flow's stall until `end`, and its parts by cause; -1 where nothing measures it.
    pub(super) fn stalls(&self, flow: u32, end: f64) -> [i64; 4] {
        let Some((_, socket)) = self.sender(flow) else {
            return [-1; 4];
        };
        let end = ns(end);
        let [window, partial, memory] = Cause::ALL.map(|cause| socket.watch.read_of(end, cause));
        [socket.watch.read(end), window, partial, memory]
    }

    /// The run is over.
    pub(super) fn finish(&mut self, end: f64) {
        for (_, socket) in self.senders.iter_mut().flatten() {
            socket.watch.finish(ns(end));
        }
    }

    /// What is recorded if the scenario asks for it.
    pub(super) fn tables(&self, scenario: &Scenario) -> Vec<Table> {
        let mut tables = Vec::new();
        if scenario.record.stalls {
            tables.push(self.stall_table(scenario));
        }
        if let Some(logs) = &self.logs {
            tables.push(layer_table(logs, scenario));
        }
        tables
    }

    fn stall_table(&self, scenario: &Scenario) -> Table {
        let mut table = Table::new("stalls");
        for (sender, spec) in self.senders.iter().zip(&scenario.flows) {
            let watch = sender.iter().map(|(_, socket)| &socket.watch);
            for interval in watch.flat_map(|watch| watch.intervals()) {
                table.push([
                    Cell::Str(spec.name.clone()),
                    Cell::I64(interval.from),
                    Cell::I64(interval.to),
                    Cell::Str(interval.cause.name().into()),
                ]);
            }
        }
        table
    }

    // --- the log --------------------------------------------------------------------------------------------------------

    /// Notes something that happens to a packet, if that is recorded.
    fn note(&mut self, host: u32, time: f64, layer: Layer, event: &'static str, frame: &Frame) {
        let Some(logs) = &mut self.logs else {
            return;
        };
        let segment = frame.packet.segment();
        let bytes = match layer {
            Layer::Driver | Layer::Wire => frame.packet.wire_bytes,
            _ if frame.is_data => segment.payload_bytes,
            _ => 0,
        };
        logs[frame.flow as usize].rows.push(Happening {
            time,
            host,
            layer,
            event,
            packet: Some((frame.id, frame.is_data)),
            seq: (!segment.is_handshake_ack()).then_some(segment.seq),
            bytes: u64::from(bytes),
        });
    }

    /// Notes something that happens to some bytes.
    fn note_bytes(
        &mut self,
        (host, flow): (u32, u32),
        time: f64,
        layer: Layer,
        event: &'static str,
        bytes: u64,
    ) {
        if let Some(logs) = &mut self.logs {
            logs[flow as usize].rows.push(Happening {
                time,
                host,
                layer,
                event,
                packet: None,
                seq: None,
                bytes,
            });
        }
    }
}

fn layer_table(logs: &[Log], scenario: &Scenario) -> Table {
    let mut table = Table::new("layers");
    for (log, spec) in logs.iter().zip(&scenario.flows) {
        for row in &log.rows {
            let kind = row
                .packet
                .map_or("", |(_, is_data)| if is_data { "data" } else { "ack" });
            table.push([
                Cell::I64(ns(row.time)),
                Cell::Str(spec.name.clone()),
                Cell::Str(scenario.hosts[row.host as usize].name.clone()),
                Cell::Str(row.layer.name().into()),
                Cell::Str(row.event.into()),
                Cell::I64(row.packet.map_or(-1, |(id, _)| i64::from(id))),
                Cell::Str(kind.into()),
                Cell::I64(row.seq.map_or(-1, u64::cast_signed)),
                Cell::U64(row.bytes),
            ]);
        }
    }
    table
}

impl Flow {
    fn held(&self) -> Held {
        let (bytes, packets) = self.sender.unacked();
        Held {
            bytes,
            packets,
            tail_room: self.sender.tail_room(),
            smss: self.sender.config().smss,
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
        if let Some(logs) = &self.hosts.logs {
            let tag = if is_data {
                packet.tag()
            } else {
                self.acks.tag(packet)
            };
            frame.id = logs[flow as usize].number_of(tag);
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
            if due.is_infinite() {
                self.packets.set(slot, Key::NEVER, &self.lineage);
            } else if due != self.packets.get(slot).time || due <= now.time {
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
        let (scenario, ports) = (self.scenario, &mut self.ports);
        let nic = &mut self.hosts.machines[host as usize].nic;
        let begun = nic.begin_transmission(now.time, |frame| {
            let path = &scenario.flows[frame.flow as usize].path;
            // Data leave on the path's first link, acknowledgements on the way back of its last.
            let port = if frame.is_data {
                2 * path[0]
            } else {
                2 * path[path.len() - 1] + 1
            };
            ports[port].transmission_secs(frame.packet.wire_bytes)
        });
        if let Some(frame) = begun {
            self.hosts
                .note(host, now.time, Layer::Wire, "begin", &frame);
            self.leave(frame.packet, key);
        }
    }

    // --- the processor --------------------------------------------------------------------------------------------------

    fn begin_work(&mut self, host: u32, work: Work, now: f64) {
        match work {
            Work::Driver(frame) => {
                if frame.is_data {
                    self.hosts.socket(frame.flow).watch.enter_driver(ns(now));
                }
                self.hosts.note(host, now, Layer::Driver, "send", &frame);
            }
            Work::Receive(Frame {
                flow,
                is_data: false,
                ..
            })
            | Work::Send(Frame {
                flow,
                is_data: true,
                ..
            })
            | Work::Write(flow) => {
                if self.hosts.machine(host).pass_of.replace(flow).is_none() {
                    self.hosts.socket(flow).watch.enter_protocol(ns(now));
                }
            }
            Work::Received(_)
            | Work::Transmitted(_)
            | Work::Receive(_)
            | Work::Send(_)
            | Work::Copy(..)
            | Work::Read(..) => {}
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
                    self.release_reported(host, time);
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
            Work::Write(flow) => self.allocate(host, flow, time),
            Work::Copy(flow, bytes) => self.copied(now, host, flow, bytes),
            Work::Read(flow, bytes) => {
                let (_, reader) = self.hosts.receivers[flow as usize]
                    .as_mut()
                    .expect("a host takes the flow");
                reader.returns(time);
                self.hosts
                    .note_bytes((host, flow), time, Layer::Application, "read", bytes);
                self.see_to_reader(host, flow, false);
            }
        }
    }

    /// An interrupt has reported a packet that has come.
    fn take_reported(&mut self, host: u32, time: f64) {
        let machine = self.hosts.machine(host);
        let Some(frame) = machine.nic.take() else {
            return;
        };
        let secs = if frame.is_data {
            let bytes = frame.packet.segment().payload_bytes;
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
    fn release_reported(&mut self, host: u32, time: f64) {
        let Some(frame) = self.hosts.machine(host).nic.release() else {
            return;
        };
        if frame.is_data {
            self.hosts.socket(frame.flow).watch.transmitted(ns(time));
        }
        self.hosts
            .note(host, time, Layer::Driver, "transmitted", &frame);
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

    // --- the sending side -----------------------------------------------------------------------------------------------

    /// The application of a flow writes what is due, and TCP sends what it may after that or after its timer.
    #[cold]
    #[inline(never)]
    pub(super) fn write_on_host(&mut self, index: u32, key: Key, now: Event) {
        let host = self.hosts.sends(index);
        let flow = &mut self.flows[index as usize];
        let socket = self.hosts.socket(index);
        flow.write_key = Key::NEVER;
        while !socket.is_last {
            let Some(write) = flow.next_write else {
                socket.is_last = true;
                break;
            };
            let time = flow.start + write.at_secs;
            if time > now.time {
                flow.write_key = now.schedule(time, Child::Timer);
                break;
            }
            socket.calls.push_back(write.bytes);
            flow.next_write = flow.source.next_write();
        }
        self.see_to_close(host, index);
        self.send_on_host(index, host, now, None);
        self.see_to_writer(host, index, now.time);
        self.run_host((key, now), host);
    }

    /// TCP sends what it may: as part of a pass of the processor, or as work of its own (`level`).
    fn send_on_host(&mut self, index: u32, host: u32, now: Event, pass: Option<()>) {
        loop {
            let flow = &mut self.flows[index as usize];
            let Some(data) = flow.sender.poll_transmit(now) else {
                break;
            };
            let (syns, options) = flow.ack_sizes.syns;
            let options = if data.seq < syns { options } else { 0 };
            let wire_bytes = flow.header + data.payload_bytes + options;
            let mut frame = Frame {
                packet: Packet::data(flow.id, flow.trip.first_stop, wire_bytes, data),
                flow: index,
                is_data: true,
                id: 0,
            };
            if let Some(logs) = &mut self.hosts.logs {
                frame.id = logs[index as usize].number();
                frame.packet.set_tag(frame.id % Packet::TAGS);
            }
            let machine = self.hosts.machine(host);
            let secs = machine.profile.send.with(data.payload_bytes);
            match pass {
                Some(()) => machine.cpu.follow(Work::Send(frame), secs),
                None => machine.cpu.submit(Level::Protocol, Work::Send(frame), secs),
            }
        }
        let timer = self.flows[index as usize].next_timer();
        self.see_to_timer(sender_timer(index), timer);
    }

    /// The writer calls write if it can and has something to write.
    fn see_to_writer(&mut self, host: u32, index: u32, time: f64) {
        let established = self.flows[index as usize].sender.is_established();
        let socket = self.hosts.socket(index);
        if socket.writer == Writer::Idle && established && socket.wanted().is_some() {
            socket.writer = Writer::Busy;
            self.go_on_writing(host, index, time);
        }
    }

    fn go_on_writing(&mut self, host: u32, index: u32, time: f64) {
        let socket = self.hosts.socket(index);
        let begun = std::mem::replace(&mut socket.has_begun, true);
        let wanted = socket.wanted().unwrap_or(0);
        if !begun {
            self.hosts
                .note_bytes((host, index), time, Layer::Application, "write", wanted);
        }
        let machine = self.hosts.machine(host);
        let secs = if begun {
            0.0
        } else {
            machine.profile.write.once
        };
        machine
            .cpu
            .submit(Level::Application, Work::Write(index), secs);
    }

    /// The writer gets memory for the next packet, or sleeps.
    fn allocate(&mut self, host: u32, index: u32, time: f64) {
        let held = self.flows[index as usize].held();
        let profile = &self.hosts.machine(host).profile;
        let (memory, per_byte) = (profile.memory, profile.write.per_byte);
        let socket = self.hosts.socket(index);
        let Some(wanted) = socket.wanted() else {
            return;
        };
        if let Some(bytes) = memory.room(&held, wanted) {
            let secs = per_byte * f64::from(bytes);
            let cpu = &mut self.hosts.machine(host).cpu;
            cpu.follow(Work::Copy(index, bytes), secs);
        } else {
            socket.writer = Writer::Asleep;
            self.hosts
                .note_bytes((host, index), time, Layer::Socket, "sleep", wanted);
        }
    }

    /// A packet's data is in the socket.
    fn copied(&mut self, (_, now): Now, host: u32, index: u32, bytes: u32) {
        self.sample_sender(index, now.time);
        let returns = self.hosts.socket(index).take(bytes);
        self.hosts.note_bytes(
            (host, index),
            now.time,
            Layer::Socket,
            "copied",
            u64::from(bytes),
        );
        let flow = &mut self.flows[index as usize];
        flow.sender.on_write_part(now, u64::from(bytes), !returns);
        if returns {
            self.hosts
                .note_bytes((host, index), now.time, Layer::Application, "written", 0);
            self.see_to_close(host, index);
        }
        self.send_on_host(index, host, now, Some(()));
        let socket = self.hosts.socket(index);
        if socket.wanted().is_some() {
            self.go_on_writing(host, index, now.time);
        } else {
            socket.writer = Writer::Idle;
        }
    }

    /// The application closes if it has written everything and does not wait for it to be acknowledged.
    fn see_to_close(&mut self, host: u32, index: u32) {
        let at_once = self.hosts.machine(host).profile.closes_at_once;
        let sender = &mut self.flows[index as usize].sender;
        let socket = self.hosts.socket(index);
        if socket.is_over() && !socket.has_closed && (at_once || sender.unacked().0 == 0) {
            socket.has_closed = true;
            sender.on_close();
        }
    }

    /// An acknowledgement reaches TCP.
    fn acknowledged_on_host(&mut self, (_, now): Now, host: u32, frame: &Frame) {
        let index = frame.flow;
        let ack = self.acks.unpack(&frame.packet);
        self.sample_sender(index, now.time);
        self.flows[index as usize].sender.on_segment(now, &ack);
        self.see_to_close(host, index);
        self.send_on_host(index, host, now, Some(()));
        if self.metrics.is_some() && self.flows[index as usize].sender.is_done() {
            self.note_end(index, now.time);
        }
        if self.ack_trace.is_some() {
            self.trace_ack(index, now.time);
        }
        self.see_to_writer(host, index, now.time);
        let held = self.flows[index as usize].held();
        let memory = self.hosts.machine(host).profile.memory;
        let socket = self.hosts.socket(index);
        if socket.writer == Writer::Asleep
            && let Some(wanted) = socket.wanted()
            && memory.wakes(&held, wanted)
        {
            socket.writer = Writer::Busy;
            let machine = self.hosts.machine(host);
            let secs = machine.profile.wake;
            machine
                .cpu
                .submit(Level::Application, Work::Write(index), secs);
            self.hosts
                .note_bytes((host, index), now.time, Layer::Socket, "wake", wanted);
        }
    }

    // --- the receiving side ---------------------------------------------------------------------------------------------

    /// A segment reaches TCP.
    fn receive_on_host(&mut self, now: Now, host: u32, frame: &Frame) {
        let (index, packet) = (frame.flow, &frame.packet);
        let time = now.1.time;
        self.effort.delivered_packets += 1;
        self.sample_receiver(index, time);
        let receiver = &mut self.flows[index as usize].receiver;
        let mut old = None;
        if receiver.marks.is_on() && receiver.marks.changes_state(packet.ecn()) {
            old = receiver.take_delayed(time);
        }
        let ack = receiver.on_segment(now.1, packet.segment());
        let (delivered, timer) = (receiver.delivered_bytes, receiver.next_timer());
        if let Some(trace) = &mut self.ack_trace
            && let Some(deliveries) = trace.deliveries.get_mut(index as usize)
        {
            deliveries.push((time, delivered));
        }
        for ack in old.iter().chain(&ack) {
            let frame = self.ack_frame(index, ack);
            let machine = self.hosts.machine(host);
            machine
                .cpu
                .follow(Work::Send(frame), machine.profile.ack_send);
        }
        self.see_to_timer(receiver_timer(index), timer);
        let (_, reader) = self.hosts.receivers[index as usize]
            .as_mut()
            .expect("a host takes the flow");
        let news = delivered - reader.come;
        reader.come = delivered;
        if news > 0 {
            self.hosts
                .note_bytes((host, index), time, Layer::Socket, "readable", news);
            self.see_to_reader(host, index, true);
        }
    }

    /// The reader reads what there is, if it does not do so already; it may have slept.
    fn see_to_reader(&mut self, host: u32, flow: u32, slept: bool) {
        let (_, reader) = self.hosts.receivers[flow as usize]
            .as_mut()
            .expect("a host takes the flow");
        let Some(bytes) = reader.next_read() else {
            return;
        };
        let machine = self.hosts.machine(host);
        let read = machine.profile.read;
        let wake = if slept { machine.profile.wake } else { 0.0 };
        #[expect(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
        let secs = wake + read.once + read.per_byte * bytes as f64;
        machine
            .cpu
            .submit(Level::Application, Work::Read(flow, bytes), secs);
    }

    /// A delayed acknowledgement is due.
    #[cold]
    #[inline(never)]
    pub(super) fn acknowledge_on_host(&mut self, index: u32, ack: &Ack, key: Key) {
        let now = self.lineage.record(key);
        let host = self.hosts.takes(index);
        let frame = self.ack_frame(index, ack);
        let machine = self.hosts.machine(host);
        let secs = machine.profile.ack_send;
        machine.cpu.submit(Level::Protocol, Work::Send(frame), secs);
        self.run_host((key, now), host);
    }

    fn ack_frame(&mut self, index: u32, ack: &Ack) -> Frame {
        let flow = &self.flows[index as usize];
        let (hop, wire_bytes) = (flow.trip.receiver_stop + 1, flow.ack_sizes.of(ack));
        let mut frame = Frame {
            packet: self.acks.pack(flow.id, hop, wire_bytes, ack),
            flow: index,
            is_data: false,
            id: 0,
        };
        if let Some(logs) = &mut self.hosts.logs {
            frame.id = logs[index as usize].number();
            self.acks
                .set_tag(&mut frame.packet, frame.id % Packet::TAGS);
        }
        frame
    }
}
