//! What a port counts.

use crate::impair::Medium;
use crate::queue::Queued;

use super::framing_bytes;

/// What happened at a port; plain counters.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PortCounters {
    pub arrived_packets: u64,
    pub arrived_bytes: u64,
    pub dropped_packets: u64,
    pub dropped_bytes: u64,
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
    pub(super) framing_bytes: u64,
    /// The most packets present when one had to wait, itself and the packet in transmission included.
    pub(super) busy_peak_packets: u64,
    /// Of packets whose transmission has started, the time from arrival to that.
    pub(super) waited: Waited,
    /// Of those that waited in vain, until they were dropped or the run ended.
    pub(super) waited_in_vain: Waited,
}

/// Sums over packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Waited {
    pub(super) secs: f64,
    /// Each packet's seconds times its bytes.
    pub(super) byte_secs: f64,
}

impl Waited {
    #[inline]
    pub(super) fn add(&mut self, secs: f64, bytes: u32) {
        self.secs += secs;
        self.byte_secs += secs * f64::from(bytes);
    }
}

impl PortCounters {
    pub fn accepted_packets(&self) -> u64 {
        self.arrived_packets - self.dropped_packets
    }

    /// Arrival to start of transmission, mean over accepted packets, in seconds.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn mean_wait_secs(&self) -> Option<f64> {
        let accepted = self.accepted_packets();
        (accepted > 0).then(|| self.waited.secs / accepted as f64)
    }

    /// How many have been dropped, marked and lost.
    pub(super) fn fates(&self) -> [u64; 3] {
        [self.dropped_packets, self.marked_packets, self.lost_packets]
    }

    pub(super) fn drop(&mut self, queued: &Queued, now: f64, medium: Option<Medium>) {
        self.dropped_packets += 1;
        self.dropped_bytes += queued.bytes();
        self.framing_bytes -= framing_bytes(medium, queued.packet.wire_bytes);
        self.wait_in_vain(queued, now);
    }

    pub(super) fn wait_in_vain(&mut self, queued: &Queued, until: f64) {
        if queued.arrived < until {
            self.waited_in_vain
                .add(queued.sojourn(until), queued.packet.wire_bytes);
        }
    }

    /// Largest backlog an accepted packet left behind, itself and the packet in transmission included.
    pub fn peak_packets(&self) -> u64 {
        self.busy_peak_packets.max(self.accepted_packets().min(1))
    }
}
