//! The sending side of a host: an application writes into its socket, and TCP sends what it may.

use super::{Now, World};
use crate::events::{Child, Event, Key};
use crate::host::cpu::Level;
use crate::host::layers::Layer;
use crate::host::socket::{Held, Writer};
use crate::host::{Frame, Work};
use crate::packet::Packet;
use crate::sim::budget::AT_ONCE;
use crate::sim::{Flow, request_response, sender_timer};

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

/// How what TCP sends is worked off.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sent {
    /// By the pass that has made TCP send.
    InPass,
    /// By work of its own, because a timer has.
    Apart,
}

impl World<'_> {
    /// The application of a flow writes what is due, and TCP sends what it may after that or after its timer.
    #[cold]
    #[inline(never)]
    pub(in crate::sim) fn write_on_host(&mut self, index: u32, key: Key, now: Event) {
        let host = self.hosts.sends(index);
        self.call_what_is_due(index, now);
        self.see_to_close(host, index);
        self.send_on_host(index, host, now, Sent::Apart);
        self.see_to_writer(host, index, now.time);
        self.run_host((key, now), host);
    }

    /// The calls of write that are due wait for the writer.
    fn call_what_is_due(&mut self, index: u32, now: Event) {
        let flow = &mut self.flows[index as usize];
        let socket = self.hosts.socket(index);
        if flow.write_key.time <= now.time {
            flow.write_key = Key::NEVER;
        }
        if flow.request_response != request_response::NONE {
            if flow.write_key.is_never()
                && let Some(said) = flow.say(now)
            {
                socket.calls.extend((said.bytes > 0).then_some(said.bytes));
                socket.is_last = said.is_all;
            }
            return;
        }
        while !socket.is_last && flow.write_key.is_never() {
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
    }

    /// TCP sends what it may.
    fn send_on_host(&mut self, index: u32, host: u32, now: Event, sent: Sent) {
        for count in 0_u32.. {
            if count % AT_ONCE == AT_ONCE - 1 && !self.may_send_more(index, now.time) {
                break;
            }
            let flow = &mut self.flows[index as usize];
            let Some(data) = flow.sender.poll_transmit(now) else {
                break;
            };
            let overhead = self.hosts.machine(host).profile.memory.overhead;
            let queued = &mut self.hosts.socket(index).queued;
            queued.enter(data.payload.packet_size());
            flow.sender.on_transmit_queue(queued.memory(overhead));
            let (syns, options) = flow.ack_sizes.syns;
            let options = if data.seq < syns { options } else { 0 };
            let wire_bytes = flow.header + data.payload.packet_size() + options;
            let mut packet = Packet::data(flow.id, flow.trip.first_stop, wire_bytes, data);
            if flow.request_response != request_response::NONE {
                packet = self.put_ack_on(index, &packet, now.time);
            }
            let mut frame = Frame {
                packet,
                flow: index,
                is_data: true,
                id: 0,
            };
            if let Some(logs) = &mut self.hosts.logs {
                frame.id = logs[index as usize].number();
                frame.packet.set_tag(frame.id % Packet::TAGS);
            }
            let machine = self.hosts.machine(host);
            let secs = machine.profile.send.with(data.payload.packet_size());
            match sent {
                Sent::InPass => machine.cpu.follow(Work::Send(frame), secs),
                Sent::Apart => machine.cpu.submit(Level::Protocol, Work::Send(frame), secs),
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
                .note_bytes(host, index, time, Layer::Application, "write", wanted);
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
    pub(super) fn allocate(&mut self, now: Event, host: u32, index: u32) {
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
                .note_bytes(host, index, now.time, Layer::Socket, "sleep", wanted);
            self.flows[index as usize].sender.on_writer(now, true);
        }
    }

    /// A packet's data is in the socket.
    pub(super) fn copied(&mut self, (_, now): Now, host: u32, index: u32, bytes: u32) {
        self.sample_sender(index, now.time);
        let returns = self.hosts.socket(index).take(bytes);
        self.hosts.note_bytes(
            host,
            index,
            now.time,
            Layer::Socket,
            "copied",
            u64::from(bytes),
        );
        let flow = &mut self.flows[index as usize];
        flow.sender.on_write_part(now, u64::from(bytes), !returns);
        if returns {
            self.hosts
                .note_bytes(host, index, now.time, Layer::Application, "written", 0);
            self.see_to_close(host, index);
        }
        self.send_on_host(index, host, now, Sent::InPass);
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

    /// A packet of a flow has left its host's transmit queue: TCP sends what has been put off until then.
    pub(super) fn transmitted(&mut self, now: Event, host: u32, frame: &Frame) {
        let index = frame.flow;
        let overhead = self.hosts.machine(host).profile.memory.overhead;
        let queued = &mut self.hosts.socket(index).queued;
        queued.leave(frame.packet.segment().payload.packet_size());
        let sender = &mut self.flows[index as usize].sender;
        sender.on_transmit_queue(queued.memory(overhead));
        if sender.end_putting_off() {
            self.send_on_host(index, host, now, Sent::Apart);
        }
    }

    /// An acknowledgement reaches TCP by itself.
    pub(super) fn acknowledged_on_host(&mut self, (_, now): Now, host: u32, frame: &Frame) {
        let index = frame.flow;
        let ack = self.acks.unpack(&frame.packet);
        self.sample_sender(index, now.time);
        let sender = &mut self.flows[index as usize].sender;
        sender.end_putting_off();
        sender.on_segment(now, &ack);
        self.go_on(now, host, index);
    }

    /// TCP has taken an acknowledgement, which may let out data and wake the writer.
    pub(super) fn go_on(&mut self, now: Event, host: u32, index: u32) {
        self.see_to_close(host, index);
        self.send_on_host(index, host, now, Sent::InPass);
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
                .note_bytes(host, index, now.time, Layer::Socket, "wake", wanted);
            self.flows[index as usize].sender.on_writer(now, false);
        }
    }
}
