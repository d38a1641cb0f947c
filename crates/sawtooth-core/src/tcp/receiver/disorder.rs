//! A segment that is not the next one: out of order, one that fills a hole, or a repetition (RFC 9293 §3.10.7.4, RFC 5681 §4.2).

use super::Receiver;
use super::reassembly::Disorder;
use crate::events::Event;
use crate::packet::{Ack, DataSegment};
use crate::units::{Instant, SegCount};

impl Receiver {
    /// What has been read after the last acknowledgement has made the window twice what that offered: it is told by another one (RFC 9293 §3.8.6.2.2). Measured of Linux 6.1: a filled hole
    /// is acknowledged with what is left beside its segments, and once more when they have been read.
    ///
    /// Deviations: the first offers the same already, as it would have to be asked for if the second is lost and nothing else leaves (§3.8.6.1), which no sender here does. Where losses are
    /// found by counting there is no second, as who counts would take it for a duplicate.
    #[inline]
    pub fn take_update(&mut self, now: Instant) -> Option<Ack> {
        let is_due = self.buffer.as_mut()?.take_update();
        is_due.then(|| self.acknowledge(now, None))
    }

    /// A segment that is out of order, fills a hole or repeats another: acknowledged at once (RFC 5681 §4.2), except where those out of
    /// order wait for each other.
    pub(super) fn on_disorder(&mut self, now: Event, data: DataSegment) -> Option<Ack> {
        let next = self.reassembly.rcv_nxt();
        let opens = match &mut self.buffer {
            Some(buffer) if data.seq > next => buffer.on_early_segment(now.time, data.echo),
            Some(buffer) if data.seq == next => buffer.on_segment(now.time, data.echo),
            _ => false,
        };
        if opens {
            self.acknowledgement.quick.on_open();
        }
        let before = self
            .acknowledgement
            .is_compressing()
            .then(|| self.reassembly.blocks.report(next, false));
        let disorder = self.reassembly.on_disorder(data);
        let mut earlier = None;
        let mut let_through = SegCount::ZERO;
        match disorder {
            Disorder::Fills { waited, bytes } => {
                self.delivered.add(now.time, bytes);
                if let Some(buffer) = &mut self.buffer {
                    buffer.on_in_order(bytes);
                }
                let_through = waited + SegCount::ONE;
                self.note_arrival(now.time, data.push);
                let is_single = let_through == SegCount::ONE && self.acknowledgement.owes_nothing();
                let shrinks = || self.buffer.as_ref().is_some_and(|buffer| buffer.shrinks());
                if !self.reassembly.is_whole() && (is_single || shrinks()) {
                    let next = self.reassembly.rcv_nxt();
                    self.acknowledgement.on_partial_fill(next);
                }
            }
            Disorder::Waits { besides } => {
                if let Some(buffer) = &mut self.buffer {
                    buffer.hold();
                }
                if self.acknowledgement.leaves_alone(besides) {
                    earlier = before;
                }
                let rtt = self.buffer.as_ref().and_then(|buffer| buffer.rtt());
                if self
                    .acknowledgement
                    .waits_in_disorder(now, next, besides, rtt)
                {
                    return None;
                }
            }
            Disorder::Repeats => {
                let limit = self.quick_ack_limit();
                self.acknowledgement.on_repetition(limit);
            }
        }
        let repeated = (disorder == Disorder::Repeats).then_some(data.seq);
        let mut ack = self.acknowledge(now.time, repeated);
        if let Some(blocks) = earlier {
            ack.sack = blocks;
        }
        if let Some(buffer) = &mut self.buffer
            && !let_through.is_zero()
        {
            buffer.read_from(data.payload, let_through, now.time);
            if let Some(window) = buffer.update() {
                ack.window = window;
            }
        }
        Some(ack)
    }
}
