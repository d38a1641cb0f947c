//! A FIFO whose departures are computed when packets arrive: what is present, and what has left by a given event.

use crate::events::{EventKey, Line, Lineage};
use crate::queue::{Backlog, BacklogLaw};
use crate::ring::RingBuffer;
use crate::units::{ByteCount, Instant};

/// The packets of one port that have been accepted, the one in transmission included.
#[derive(Debug)]
pub(super) struct Computed {
    pub law: BacklogLaw,
    waiting: RingBuffer<Waiting>,
    waiting_bytes: ByteCount,
    pub in_service: ByteCount,
}

/// A packet that has been accepted but whose transmission has not begun.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    start: EventKey,
    size: ByteCount,
}

impl Computed {
    pub(super) fn new(law: BacklogLaw) -> Self {
        Self {
            law,
            waiting: RingBuffer::new(Waiting {
                start: EventKey::NEVER,
                size: ByteCount::ZERO,
            }),
            waiting_bytes: ByteCount::ZERO,
            in_service: ByteCount::ZERO,
        }
    }

    /// A packet finds the transmitter idle, and is transmitted.
    #[inline(always)]
    pub(super) fn serve(&mut self, size: ByteCount) {
        if !self.waiting.is_empty() {
            self.waiting.clear();
            self.waiting_bytes = ByteCount::ZERO;
        }
        self.in_service = size;
    }

    /// Forgets what has left by an event. At a full tie the transmitter is served before the newcomer.
    #[inline(always)]
    pub(super) fn catch_up(&mut self, key: EventKey, lineage: &Lineage) {
        while self.forgets_first(key, lineage) {}
    }

    /// The same where there is little else: mostly it is one packet, which is no round of a loop, for which everything would have to be at hand.
    #[inline(always)]
    pub(super) fn catch_up_shortly(&mut self, key: EventKey, lineage: &Lineage) {
        if self.forgets_first(key, lineage) && self.forgets_first(key, lineage) {
            let (time, line) = key.parts();
            self.catch_up_further(time, line, lineage);
        }
    }

    #[inline(never)]
    fn catch_up_further(&mut self, time: Instant, line: Line, lineage: &Lineage) {
        self.catch_up(EventKey::from_parts(time, line), lineage);
    }

    /// Forgets the first packet that waits if it has left by an event; whether it has.
    #[inline(always)]
    fn forgets_first(&mut self, key: EventKey, lineage: &Lineage) -> bool {
        let Some(front) = self.waiting.front() else {
            return false;
        };
        if !front.start.mostly_precedes_in_time(&key, lineage, true) {
            return false;
        }
        self.waiting_bytes -= front.size;
        self.in_service = front.size;
        self.waiting.pop();
        true
    }

    /// What is present while the transmitter is busy.
    #[inline(always)]
    pub(super) fn present(&self) -> Backlog {
        Backlog {
            packets: self.waiting.len() as u64 + 1,
            bytes: self.waiting_bytes + self.in_service,
        }
    }

    /// A packet waits until `start`.
    #[inline(always)]
    pub(super) fn wait(&mut self, start: &EventKey, size: ByteCount) {
        let slot = self.waiting.push_slot();
        slot.start = *start;
        slot.size = size;
        self.waiting_bytes += size;
    }

    /// How many packets wait.
    pub(super) fn waiting(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// How many packets of those that have been accepted wait at `time`: one whose transmission starts then does.
    pub(super) fn waiting_at(&self, time: Instant) -> u64 {
        let waiting = self.waiting.iter();
        waiting.filter(|packet| packet.start.time >= time).count() as u64
    }
}
