//! The receiving side of a host: TCP takes segments and acknowledges them, and an application reads.

use super::{Now, World};
use crate::events::{Event, Key};
use crate::host::cpu::Level;
use crate::host::layers::Layer;
use crate::host::{Frame, Work};
use crate::packet::{Ack, Packet};
use crate::sim::{receiver_timer, request_response};

impl World<'_> {
    /// A segment reaches TCP. Of a connection of requests and responses, the acknowledgement that it carries does so first, and what that lets out leaves before one of its own.
    pub(super) fn receive_on_host(&mut self, now: Now, host: u32, frame: &Frame) {
        let (index, mut packet) = (frame.flow, frame.packet);
        let time = now.1.time;
        self.effort.delivered_packets += 1;
        self.sample_receiver(index, time);
        let other = self.other_way(index);
        let answered = other.filter(|_| packet.carries_ack());
        if let Some(other) = answered {
            self.flows[other as usize].sender.end_putting_off();
        }
        if let Some(other) = other {
            self.take_carried(index, other, &mut packet, now.1);
        }
        let receiver = &mut self.flows[index as usize].receiver;
        let mut old = None;
        if receiver.marks.is_on() && receiver.marks.changes_state(packet.ecn()) {
            old = receiver.take_delayed(time);
        }
        let mut ack = receiver.on_segment(now.1, packet.segment());
        let delivered = receiver.delivered_bytes;
        if let Some(trace) = &mut self.ack_trace
            && let Some(deliveries) = trace.deliveries.get_mut(index as usize)
        {
            deliveries.push((time, delivered));
        }
        let news = delivered - self.hosts.reader(index).come;
        if other.is_some() && news > 0 {
            self.has_come(index, now.1, delivered);
        }
        if let Some(ack) = old {
            self.follow_with_ack(host, index, &ack);
        }
        if let Some(other) = answered {
            let sent = self.sent_packets(other);
            self.go_on(now.1, host, other);
            ack = ack.filter(|ack| ack.duplicate || self.sent_packets(other) == sent);
        }
        if let Some(ack) = ack {
            self.follow_with_ack(host, index, &ack);
        }
        let timer = self.flows[index as usize].receiver.next_timer();
        self.see_to_timer(receiver_timer(index), timer);
        if news > 0 {
            self.hosts.reader(index).come = delivered;
            self.hosts
                .note_bytes(host, index, time, Layer::Socket, "readable", news);
            self.see_to_reader(host, index, true);
        }
    }

    /// An acknowledgement leaves within the present pass.
    fn follow_with_ack(&mut self, host: u32, index: u32, ack: &Ack) {
        let frame = self.ack_frame(index, ack);
        let machine = self.hosts.machine(host);
        machine
            .cpu
            .follow(Work::Send(frame), machine.profile.ack_send);
    }

    /// A read returns: in a connection of requests and responses the application may have something to say to that.
    pub(super) fn has_read(&mut self, now: Event, host: u32, flow: u32, bytes: u64) {
        let reader = self.hosts.reader(flow);
        reader.returns(now.time);
        let read = reader.read;
        self.hosts
            .note_bytes(host, flow, now.time, Layer::Application, "read", bytes);
        if self.flows[flow as usize].request_response != request_response::NONE {
            self.heard(flow, now, read);
        }
        self.see_to_reader(host, flow, false);
    }

    /// The reader reads what there is, if it does not do so already; it may have slept.
    pub(super) fn see_to_reader(&mut self, host: u32, flow: u32, slept: bool) {
        let reader = self.hosts.reader(flow);
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
    pub(in crate::sim) fn acknowledge_on_host(&mut self, index: u32, ack: &Ack, key: Key) {
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
