//! What a sender counts.

use crate::units::Duration;

/// Counters of one sender, named as in RFC 4898 where it has a name.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderCounters {
    pub sent_packets: u64,
    pub retransmits: u64,
    pub fast_retransmits: u64,
    pub timeouts: u64,
    /// Those after the timeout had been backed off.
    pub subsequent_timeouts: u64,
    pub dupacks_in: u64,
    pub sacks_in: u64,
    pub dsacks_in: u64,
    pub congestion_signals: u64,
    /// Acknowledgements that reported marks, and reductions for them.
    pub ecn_signals: u64,
    pub ecn_reductions: u64,
    /// Reductions that turned out to be needless and were undone, how many of them were timeouts'; tail loss probes.
    pub spurious: u64,
    pub spurious_timeouts: u64,
    pub probes: u64,
}

/// The round trips that the retransmission timer has taken.
#[derive(Clone, Copy, Debug)]
pub struct RoundTrips {
    pub samples: u64,
    /// The sum of SRTT after each of them.
    pub srtt_sum: Duration,
    pub min: Duration,
    pub max: Duration,
}

impl RoundTrips {
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
