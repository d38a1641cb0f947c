//! What a port counts.

use crate::queue::QueuedPacket;
use crate::units::{ByteCount, Duration, Instant};

/// What happened at a port; plain counters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortCounters {
    /// All that came to the queue, dropped or not.
    pub arrived_packets: u64,
    /// By the queue, when they came or later.
    pub dropped_packets: u64,
    /// Bytes on the wire of all that came.
    pub arrived: ByteCount,
    /// Those of what was dropped.
    pub dropped: ByteCount,
    /// Transmitted and then lost on the wire.
    pub lost_packets: u64,
    /// Transmitted and damaged on the way: they arrive, and whoever they are for discards them.
    pub corrupted_packets: u64,
    /// Transmitted once and arriving twice.
    pub duplicated_packets: u64,
    /// Arriving before one that was transmitted earlier.
    pub reordered_packets: u64,
    /// Transmitted with Congestion Experienced, which they had not when they came.
    pub marked_packets: u64,
    /// What the medium has added to the bytes of accepted packets.
    pub(super) framing: ByteCount,
    /// The most packets present when one had to wait, itself and the packet in transmission included.
    pub(super) busy_peak_packets: u64,
    /// Of packets whose transmission has started, the time from arrival to that.
    pub(super) waited: Waited,
    /// Of those that waited in vain, until they were dropped or the run ended.
    pub(super) waited_in_vain: Waited,
    /// Only where samples are taken.
    at_sample: AtSample,
}

/// What was so at the sample before the next.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct AtSample {
    /// The most packets that were present until then when one had to wait: what is counted begins anew with each sample.
    busy_peak: u64,
    backlog: u64,
    accepted: u64,
}

/// Sums over packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Waited {
    pub(super) time: Duration,
    /// Each packet's seconds times its bytes.
    pub(super) byte_secs: f64,
}

/// How many packets have met with each fate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fates {
    pub dropped: u64,
    pub marked: u64,
    pub lost: u64,
}

impl Waited {
    #[inline]
    pub(super) fn add(&mut self, time: Duration, size: ByteCount) {
        self.time += time;
        self.byte_secs += time.secs() * size.as_f64();
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.time += other.time;
        self.byte_secs += other.byte_secs;
    }
}

impl PortCounters {
    /// Those that came and were not dropped; what waits now counts, too, although a queue may still drop it.
    pub fn accepted_packets(&self) -> u64 {
        self.arrived_packets - self.dropped_packets
    }

    /// Arrival to start of transmission, mean over accepted packets.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn mean_wait(&self) -> Option<Duration> {
        let accepted = self.accepted_packets();
        (accepted > 0).then(|| self.waited.time / accepted as f64)
    }

    /// A packet comes to the queue.
    #[inline(always)]
    pub(super) fn arrive(&mut self, size: ByteCount) {
        self.arrived_packets += 1;
        self.arrived += size;
    }

    pub(super) fn fates(&self) -> Fates {
        Fates {
            dropped: self.dropped_packets,
            marked: self.marked_packets,
            lost: self.lost_packets,
        }
    }

    /// A packet is dropped that had been accepted with so much of framing.
    pub(super) fn drop(&mut self, queued: &QueuedPacket, now: Instant, framing: ByteCount) {
        self.dropped_packets += 1;
        self.dropped += queued.size();
        self.framing -= framing;
        self.wait_in_vain(queued, now);
    }

    /// A packet has come that will wait until the run is over.
    #[cold]
    #[inline(never)]
    pub(super) fn wait_to_the_end(&mut self, arrived: Instant, end: Instant, size: ByteCount) {
        if arrived < end {
            self.waited_in_vain.add(end - arrived, size);
        }
    }

    pub(super) fn wait_in_vain(&mut self, queued: &QueuedPacket, until: Instant) {
        if queued.arrived < until {
            self.waited_in_vain
                .add(queued.sojourn(until), queued.size());
        }
    }

    /// Largest backlog an accepted packet left behind, itself and the packet in transmission included.
    pub fn peak_packets(&self) -> u64 {
        let waiting = self.busy_peak_packets.max(self.at_sample.busy_peak);
        waiting.max(self.accepted_packets().min(1))
    }

    /// The largest backlog since the sample before, where so many packets are present now.
    pub(super) fn peak_since_sample(&mut self, count: u64) -> u64 {
        let (before, accepted) = (self.at_sample, self.accepted_packets());
        self.at_sample = AtSample {
            busy_peak: before.busy_peak.max(self.busy_peak_packets),
            backlog: count,
            accepted,
        };
        let passed = u64::from(accepted > before.accepted);
        std::mem::take(&mut self.busy_peak_packets)
            .max(before.backlog)
            .max(count)
            .max(passed)
    }
}
