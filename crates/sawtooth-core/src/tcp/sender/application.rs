//! What the application has for the sender: what it has written, and what keeps it from writing.

use super::sequence::Sequence;
use crate::cc::Needs;
use crate::tcp::params::Config;
use crate::tcp::send_buffer::SendBuffer;
use crate::tcp::stream::SendStream;
use crate::units::{ByteCount, SegCount, SeqNum};

#[derive(Debug)]
pub struct SendingApplication {
    /// What it has written, or wants to.
    pub stream: SendStream,
    /// The send buffer, where its memory is limited.
    pub buffer: Option<Box<SendBuffer>>,
    /// It is in the middle of a write: the last segment so far does not end it.
    pub write_goes_on: bool,
    /// It sleeps, because its host has no memory for what it is to write.
    pub sleeps: bool,
    /// Bytes of the connection in the transmit queue of its host, if it has one; autocorking compares what is written with them.
    pub queued: ByteCount,
}

impl SendingApplication {
    /// It has written nothing; `first` is the first segment to have data, and `needs` are those of the congestion control.
    pub fn new(config: &Config, first: SeqNum, needs: Needs) -> Self {
        Self {
            stream: SendStream::new(config.smss, first, config.partial, config.fin),
            buffer: SendBuffer::new(config, needs),
            write_goes_on: false,
            sleeps: false,
            queued: ByteCount::ZERO,
        }
    }

    /// It writes, as far as there is room.
    pub fn write(&mut self, bytes: ByteCount, seq: &Sequence, autocorking: bool) {
        self.stream.write(bytes, seq.una, seq.max);
        if !self.queued.is_zero() && autocorking {
            let waits = self.stream.tail(seq.max) <= self.queued;
            self.stream.put_off(waits && seq.una < seq.max);
        }
    }

    /// Segments that have been written and not been sent.
    #[inline]
    pub fn unsent(&self, seq: &Sequence) -> SegCount {
        let end = self.stream.end();
        let written = self.buffer.as_ref();
        let written = written.map_or(end, |buffer| buffer.written().min(end));
        written.saturating_sub(seq.nxt)
    }

    /// One past the last segment that may be sent for the first time, whatever the congestion window says.
    #[inline]
    pub fn available(&self, seq: &Sequence) -> SeqNum {
        self.stream.end().min(seq.allowed)
    }

    /// Whether there is a segment to send that has been written, and that is not held back for being short.
    #[inline]
    pub fn has_more(&self, seq: &Sequence) -> bool {
        let left = self.available(seq).saturating_sub(seq.nxt);
        // Where the receiver's window ends before the short segment, what may be sent does not include it.
        left > SegCount::ONE
            || (left == SegCount::ONE
                && (seq.nxt.next() < self.stream.end() || !self.is_held_back(seq)))
    }

    /// Segments before this one that have not been sent are full, are no last ones, and may be sent.
    #[inline]
    pub fn full_until(&self, seq: &Sequence) -> SeqNum {
        if self.stream.has_short() {
            return SeqNum::ZERO;
        }
        let last = self.stream.end().saturating_sub(SeqNum::new(1));
        let pushed = self.buffer.as_ref();
        let pushed = pushed.and_then(|buffer| buffer.next_pushed());
        seq.allowed
            .min(SeqNum::ZERO + last)
            .min(pushed.unwrap_or(SeqNum::MAX))
    }

    /// Whether all that is unsent is held back for being less than a segment.
    pub fn is_held_back(&self, seq: &Sequence) -> bool {
        seq.max.next() == self.stream.end() && self.stream.is_last_held(seq.una, seq.max)
    }

    /// Whether segment `seq`, which leaves for the first time, ends what was written at one time.
    #[inline]
    pub fn is_pushed(&mut self, seq: SeqNum) -> bool {
        let buffer = self.buffer.as_mut();
        buffer.is_some_and(|buffer| buffer.is_pushed(seq))
    }

    /// The same of one that leaves again.
    pub fn was_pushed(&self, seq: SeqNum) -> bool {
        let buffer = self.buffer.as_ref();
        buffer.is_some_and(|buffer| buffer.was_pushed(seq))
    }
}
