//! What the ends of connections do in a run: a segment reaches a receiver, an acknowledgement its sender, a timer fires, and segments leave.

use super::budget::AT_ONCE;
use super::{World, receiver_timer, request_response, sender_timer};
use crate::events::{Event, Key};
use crate::packet::Packet;

impl World<'_> {
    /// A segment reaches its receiver, which may be gone: then so is the segment.
    #[inline(never)]
    pub(super) fn receive_of_living(
        &mut self,
        packet: Packet,
        key: Key,
        now: Event,
    ) -> Option<Packet> {
        let Some(place) = self.arrivals.place(packet.flow) else {
            self.effort.delivered_packets += 1;
            return None;
        };
        self.receive(place, packet, key, now)
    }

    /// A segment reaches its receiver; returns the acknowledgement it causes, if one leaves at once.
    #[inline(always)]
    pub(super) fn receive(
        &mut self,
        index: u32,
        packet: Packet,
        key: Key,
        now: Event,
    ) -> Option<Packet> {
        self.effort.delivered_packets += 1;
        // A delayed acknowledgement that was due before goes first.
        let timer = self.flows[index as usize].receiver.next_timer();
        if timer.time <= key.time && timer.precedes(&key, &self.lineage, false) {
            self.fire_receiver_timer(index);
        }
        self.sample_receiver(index, key.time);
        let flow = &mut self.flows[index as usize];
        if flow.request_response != request_response::NONE {
            let copy = packet;
            let (time, line) = key.parts();
            return self.receive_in_exchange(index, &copy, time, line, now);
        }
        if flow.receiver.marks.is_on() && flow.receiver.marks.changes_state(packet.ecn()) {
            self.echo_old_state(index, packet.hop + 1, key);
        }
        let flow = &mut self.flows[index as usize];
        let ack = flow.receiver.on_segment(now, packet.segment());
        if let Some(trace) = &mut self.ack_trace
            && let Some(deliveries) = trace.deliveries.get_mut(index as usize)
        {
            deliveries.push((key.time, flow.receiver.delivered_bytes));
        }
        if let Some(ack) = ack {
            let wire_bytes = flow.ack_sizes.of(&ack);
            return Some(self.acks.pack(flow.id, packet.hop + 1, wire_bytes, &ack));
        }
        let timer = flow.receiver.next_timer();
        self.see_to_timer(receiver_timer(index), timer);
        None
    }

    /// What has not been acknowledged yet is, before the receiver takes note that marks begin or end (RFC 8257 §3.2).
    #[cold]
    #[inline(never)]
    pub(super) fn echo_old_state(&mut self, index: u32, hop: u32, key: Key) {
        let flow = &mut self.flows[index as usize];
        if let Some(ack) = flow.receiver.take_delayed(key.time) {
            let wire_bytes = flow.ack_sizes.of(&ack);
            let packet = self.acks.pack(flow.id, hop, wire_bytes, &ack);
            self.leave(packet, key);
        }
    }

    /// A slot of the timers is due; it may lag behind a timer that has been stopped or restarted.
    pub(super) fn on_timer(&mut self, slot: u32) {
        let key = self.timers.get(slot);
        let index = slot / 2;
        let of_sender = slot == sender_timer(index);
        if of_sender && !self.flows[index as usize].started {
            self.start(index, key);
        } else if self.timer_of(slot) == key {
            if of_sender {
                self.fire_sender_timer(index);
            } else {
                self.fire_receiver_timer(index);
            }
        }
        // Until here the slot has held what has passed, which nothing is earlier than: it is set once.
        self.timers.set(slot, self.timer_of(slot), &self.lineage);
    }

    /// When what a slot of the timers stands for is due.
    pub(super) fn timer_of(&self, slot: u32) -> Key {
        let flow = &self.flows[(slot / 2) as usize];
        if slot == sender_timer(slot / 2) {
            flow.next_timer()
        } else {
            flow.receiver.next_timer()
        }
    }

    /// Makes sure that a timer is looked at in its turn when it expires. One that is set to later is left where it is: when it comes up
    /// it is moved.
    #[inline]
    pub(super) fn see_to_timer(&mut self, slot: u32, timer: Key) {
        self.timers.bring_forward(slot, timer, &self.lineage);
    }

    pub(super) fn start(&mut self, index: u32, key: Key) {
        let now = self.lineage.record(key);
        self.sample_sender(index, key.time);
        let flow = &mut self.flows[index as usize];
        flow.started = true;
        if let Some(metrics) = &mut self.metrics {
            flow.sender.inherit(&metrics.at_start(index, key.time));
        }
        flow.sender.on_start(now);
        if self.hosts.send(index) {
            return self.write_on_host(index, key, now);
        }
        flow.write(now);
        self.pump_rarely(index, key, now);
    }

    pub(super) fn fire_receiver_timer(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        let key = flow.receiver.next_timer();
        let ack = flow.receiver.on_timer();
        if self.hosts.receive(index) {
            return self.acknowledge_on_host(index, &ack, key);
        }
        let wire_bytes = flow.ack_sizes.of(&ack);
        let packet = self
            .acks
            .pack(flow.id, flow.trip.receiver_stop + 1, wire_bytes, &ack);
        self.leave(packet, key);
    }

    pub(super) fn fire_sender_timer(&mut self, index: u32) {
        let flow = &mut self.flows[index as usize];
        let due = flow.next_timer();
        // At one instant an application writes before a timer expires, whichever was laid down first, and what they send leaves in that order.
        let ties = due.time == flow.fired.time;
        let key = if ties && due.precedes(&flow.fired, &self.lineage, false) {
            flow.fired
        } else {
            due
        };
        flow.fired = key;
        let now = self.lineage.record(key);
        self.sample_sender(index, key.time);
        let on_host = self.hosts.send(index);
        let flow = &mut self.flows[index as usize];
        if due != flow.write_key {
            flow.sender.on_timer(now);
        } else if !on_host {
            flow.write(now);
        }
        if on_host {
            return self.write_on_host(index, key, now);
        }
        self.pump_rarely(index, key, now);
    }

    /// An acknowledgement reaches its sender.
    #[inline(always)]
    pub(super) fn acknowledged(&mut self, packet: &Packet, key: Key) {
        let ack = self.acks.unpack(packet);
        let Some(index) = self.arrivals.place(packet.flow) else {
            return;
        };
        // A timer that expired before goes first.
        loop {
            let timer = self.flows[index as usize].next_timer();
            if timer.time > key.time || !timer.precedes(&key, &self.lineage, false) {
                break;
            }
            self.fire_sender_timer(index);
        }
        self.sample_sender(index, key.time);
        let now = self.lineage.record(key);
        self.flows[index as usize].sender.on_segment(now, &ack);
        self.pump(index, key, now);
        if self.metrics.is_some() && self.flows[index as usize].sender.is_done() {
            self.note_end(index, key.time);
        }
        if self.arrivals.is_arriving(index) {
            if self.flows[index as usize].sender.is_done() {
                self.leave_if_finished(index, key.time);
            }
            return;
        }
        if self.ack_trace.is_some() {
            self.trace_ack(index, key.time);
        }
    }

    /// Remembers a connection that has ended.
    #[cold]
    #[inline(never)]
    pub(super) fn note_end(&mut self, index: u32, time: f64) {
        let sender = &self.flows[index as usize].sender;
        if let Some(metrics) = &mut self.metrics {
            metrics.on_end(index, time, sender.legacy());
        }
    }

    /// The same as [`World::pump`], for callers that are rarely run.
    #[inline(never)]
    pub(super) fn pump_rarely(&mut self, index: u32, key: Key, now: Event) {
        self.pump(index, key, now);
    }

    /// Sends what a sender has to send, and sees to its timer.
    #[inline(always)]
    pub(super) fn pump(&mut self, index: u32, key: Key, now: Event) {
        while !self.send_at_once(index, key, now) && self.may_send_more(index, now.time) {}
        let timer = self.flows[index as usize].next_timer();
        self.see_to_timer(sender_timer(index), timer);
    }

    /// Sends what a sender has to send, at most so much that limits are to be looked at; whether that was all.
    #[inline(always)]
    pub(super) fn send_at_once(&mut self, index: u32, key: Key, now: Event) -> bool {
        for _ in 0..AT_ONCE {
            let flow = &mut self.flows[index as usize];
            let Some(data) = flow.sender.poll_transmit(now) else {
                return true;
            };
            let mut wire_bytes = flow.header + data.payload.packet_size();
            let (syns, options) = flow.ack_sizes.syns;
            if data.seq < syns {
                wire_bytes += options;
            }
            let mut packet = Packet::data(flow.id, flow.trip.first_stop, wire_bytes, data);
            if flow.request_response != request_response::NONE {
                packet = self.put_ack_on(index, &packet, now.time);
            }
            if let Some(channel) = self.stops[packet.hop as usize].channel {
                self.wait(channel, packet, key);
            } else {
                let back = self.travel(packet, key, Some(now));
                debug_assert!(back.is_none(), "every round trip has an event: plan_stops");
            }
        }
        false
    }
}
