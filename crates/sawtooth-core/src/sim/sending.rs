//! What happens at a sender: its connection begins, an acknowledgement reaches it, its timer expires or its application writes, and segments leave.

use super::budget::{AT_ONCE, may_send_more};
use super::calendar::sender_timer;
use super::hosts::events::write_on_host;
use super::request_response::carried::put_ack_on;
use super::world::World;
use crate::events::{Event, EventKey, Line, Occurrence};
use crate::packet::Packet;
use crate::tcp::scoreboard::Range;
use crate::tcp::sender::SegmentStamps;
use crate::units::{Instant, SeqNum};

impl World<'_> {
    /// A connection begins.
    pub(super) fn start(&mut self, index: u32, key: EventKey) {
        let now = self.calendar.happen(key);
        self.observers.sample_sender(&self.flows, index, key.time);
        let flow = &mut self.flows[index as usize];
        flow.started = true;
        self.metrics.begin(index, key.time, &mut flow.sender);
        flow.sender.on_start(now);
        if self.hosts.send(index) {
            return write_on_host(self, index, key, now);
        }
        flow.write(now);
        self.pump(index, key, now);
    }

    /// Its timer expires or its application writes, whichever is first.
    pub(super) fn fire_sender_timer(&mut self, index: u32, occurrence: Occurrence) {
        let flow = &mut self.flows[index as usize];
        let due = flow.next_timer();
        // At one instant an application writes before a timer expires, whichever was laid down first, and what they send leaves in that order.
        let ties = due.time == flow.fired.time;
        let (key, occurrence) = if ties && self.calendar.precedes(due, flow.fired) {
            (flow.fired, Occurrence::OUT_OF_TURN)
        } else {
            (due, occurrence)
        };
        flow.fired = key;
        let now = occurrence.record(key, &mut self.calendar.lineage);
        self.observers.sample_sender(&self.flows, index, key.time);
        let on_host = self.hosts.send(index);
        let flow = &mut self.flows[index as usize];
        if due != flow.writes.key {
            flow.sender.on_timer(now);
        } else if !on_host {
            flow.write(now);
        }
        if on_host {
            return write_on_host(self, index, key, now);
        }
        self.pump(index, key, now);
    }

    /// An acknowledgement reaches its sender.
    #[inline(always)]
    pub(super) fn acknowledged(&mut self, packet: &Packet, key: EventKey) {
        let Some(index) = self.arrivals.place(packet.flow) else {
            return self.acks.drop(packet);
        };
        match packet.plain_ack() {
            Some(next) if self.flows[index as usize].takes_plainly(key.time, next) => {
                self.acknowledged_plainly(index, key, next);
            }
            _ => {
                let (time, line) = key.parts();
                self.acknowledged_otherwise(index, &packet.clone(), time, line);
            }
        }
    }

    /// One after which the sender sends full segments, or nothing.
    #[inline(always)]
    fn acknowledged_plainly(&mut self, index: u32, key: EventKey, next: SeqNum) {
        self.observers.sample_sender(&self.flows, index, key.time);
        let now = self.calendar.record(key);
        let sent = self.flows[index as usize].sender.on_plain_ack(now, next);
        match sent.segments {
            None => self.pump(index, key, now),
            Some(segments) => {
                self.send_full(index, segments, SegmentStamps::NONE, key, now);
                if sent.timer_is_earlier {
                    self.schedule_sender_timer(index);
                }
            }
        }
        if self.observers.trace_acks() && !self.arrivals.is_arriving(index) {
            self.observers.trace_ack(&self.flows, index, key.time);
        }
    }

    /// One that needs to be looked at for everything.
    #[inline(never)]
    pub(super) fn acknowledged_otherwise(
        &mut self,
        index: u32,
        packet: &Packet,
        time: Instant,
        line: Line,
    ) {
        let key = EventKey::from_parts(time, line);
        let ack = self.acks.unpack(packet);
        // A timer that expired before goes first.
        loop {
            let timer = self.flows[index as usize].next_timer();
            if timer.time > key.time || !self.calendar.precedes(timer, key) {
                break;
            }
            self.fire_sender_timer(index, Occurrence::OUT_OF_TURN);
        }
        self.observers.sample_sender(&self.flows, index, key.time);
        let now = self.calendar.record(key);
        let sender = &mut self.flows[index as usize].sender;
        if ack.fin {
            sender.on_fin(now, &ack);
        } else if ack.syn {
            sender.on_syn_ack(now, &ack);
        } else {
            sender.on_segment(now, &ack);
        }
        self.pump(index, key, now);
        self.note_end(index, key.time);
        if self.arrivals.is_arriving(index) {
            if self.flows[index as usize].sender.is_done()
                && (self.arrivals).leave_if_finished(index, &mut self.flows, key.time)
            {
                self.calendar.clear_timers(index);
            }
            return;
        }
        if self.observers.trace_acks() {
            self.observers.trace_ack(&self.flows, index, key.time);
        }
    }

    /// Remembers a connection if it has ended.
    #[inline]
    pub(super) fn note_end(&mut self, index: u32, time: Instant) {
        if self.metrics.are_kept() {
            let sender = &self.flows[index as usize].sender;
            if sender.is_done() {
                self.metrics.note_end(index, time, sender);
            }
        }
    }

    /// Sends what a sender has to send, and schedules its timer. Never code in place: callers that need it rarely are on every packet's way.
    #[inline(never)]
    pub(super) fn pump(&mut self, index: u32, key: EventKey, now: Event) {
        if !self.send_burst(index, key, now) {
            while !self.send_at_once(index, key, now) && may_send_more(self, index, now.time) {}
        }
        self.schedule_sender_timer(index);
    }

    /// Makes sure that a sender's timer is looked at in its turn.
    pub(super) fn schedule_sender_timer(&mut self, index: u32) {
        let timer = self.flows[index as usize].next_timer();
        self.calendar.schedule_timer(sender_timer(index), timer);
    }

    /// Sends what leaves of a sender in one step; whether that was all.
    #[inline(always)]
    fn send_burst(&mut self, index: u32, key: EventKey, now: Event) -> bool {
        let Some(burst) = self.flows[index as usize].sender.leave_at_once(now) else {
            return false;
        };
        self.send_full(index, burst.segments, burst.stamps, key, now);
        burst.stops
    }

    /// Sends what a sender has to send, at most so much that limits are to be looked at; whether that was all.
    #[inline(always)]
    fn send_at_once(&mut self, index: u32, key: EventKey, now: Event) -> bool {
        for _ in 0..AT_ONCE {
            let flow = &mut self.flows[index as usize];
            let Some(data) = flow.sender.poll_transmit(now) else {
                return true;
            };
            let mut packet = flow.data(data);
            if flow.request_response.is_some() {
                packet = put_ack_on(
                    &self.request_responses,
                    &mut self.flows,
                    &mut self.acks,
                    index,
                    &packet,
                    now.time,
                );
            }
            self.send(packet, key, now);
        }
        false
    }

    /// Full segments leave a sender that differ in nothing but their numbers.
    #[inline(always)]
    pub(super) fn send_full(
        &mut self,
        index: u32,
        segments: Range,
        stamps: SegmentStamps,
        key: EventKey,
        now: Event,
    ) {
        for seq in segments.seqs() {
            let packet = self.flows[index as usize].full_data(seq, stamps);
            self.send(packet, key, now);
        }
    }

    /// A packet leaves a sender.
    #[inline(always)]
    fn send(&mut self, packet: Packet, key: EventKey, now: Event) {
        if let Some(channel) = self.topology.stop(packet.hop).channel {
            self.calendar.wait(channel, packet, key);
        } else {
            let back = self.travel(packet, key, Occurrence::recorded(now));
            debug_assert!(back.is_none(), "every round trip has an event: plan_stops");
        }
    }
}
