//! What a sender counts.

use crate::units::Duration;

/// Counters of one sender, named as in RFC 4898 where it has a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// All segments: SYN, FIN and those sent again count (DataSegsOut).
    pub sent_packets: u64,
    /// Of these, the ones that had been sent before (SegsRetrans).
    pub retransmits: u64,
    /// Losses that acknowledgements have shown (FastRetran), not segments; also where the window was not reduced once more.
    pub fast_retransmits: u64,
    /// Expirations of the retransmission timer, backed off or not; RFC 4898's Timeouts are these without the subsequent ones.
    pub timeouts: u64,
    /// Those after the timeout had been backed off.
    pub subsequent_timeouts: u64,
    /// Duplicate acknowledgements as the recovery in force defines them: with SACK, those that report something new (RFC 6675 §2).
    pub dupacks_in: u64,
    /// Acknowledgements with SACK blocks (SACKsRcvd).
    pub sacks_in: u64,
    /// Acknowledgements of a segment that had come before (DSACKDups), counted with a recovery by SACK only.
    pub dsacks_in: u64,
    /// Reductions of the window, of any cause (CongSignals).
    pub congestion_signals: u64,
    /// Acknowledgements that reported marks (ECNsignals).
    pub ecn_signals: u64,
    /// Reductions of the window for marks that the sender has made, not the algorithm itself; part of `congestion_signals`.
    pub ecn_reductions: u64,
    /// Reductions that turned out to be needless and were undone.
    pub spurious: u64,
    /// Of these, those made by a timeout.
    pub spurious_timeouts: u64,
    /// Tail loss probes (RFC 8985 §7).
    pub probes: u64,
}

/// The round trips that the retransmission timer has taken.
#[derive(Clone, Copy, Debug)]
pub struct RttSamples {
    /// How many there are; without any the other fields mean nothing.
    pub samples: u64,
    /// The sum of SRTT after each of them.
    pub srtt_sum: Duration,
    /// The shortest, without the wait of a delayed acknowledgement where that is known; infinite before the first.
    pub min: Duration,
    /// The longest, with that wait; zero before the first.
    pub max: Duration,
}

impl RttSamples {
    pub(super) const NONE: Self = Self {
        samples: 0,
        srtt_sum: Duration::ZERO,
        min: Duration::INFINITE,
        max: Duration::ZERO,
    };

    /// Counts one more round trip: `whole` with the wait of a delayed acknowledgement and `least` without, where both are known; `srtt` is the average after it.
    #[inline]
    pub(super) fn count(&mut self, whole: Duration, least: Duration, srtt: Duration) {
        self.samples += 1;
        self.srtt_sum += srtt;
        self.min = self.min.min(least);
        self.max = self.max.max(whole);
    }
}
