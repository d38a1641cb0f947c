//! What a sender counts.

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
    /// The sum of SRTT after each of them, seconds.
    pub srtt_sum_secs: f64,
    pub min_secs: f64,
    pub max_secs: f64,
}

impl RoundTrips {
    pub(super) const NONE: Self = Self {
        samples: 0,
        srtt_sum_secs: 0.0,
        min_secs: f64::INFINITY,
        max_secs: 0.0,
    };

    /// One more, seconds: with the wait of a delayed acknowledgement and without, where both are known; `srtt` is what it has left.
    #[inline]
    pub(super) fn count(&mut self, whole: f64, least: f64, srtt: f64) {
        self.samples += 1;
        self.srtt_sum_secs += srtt;
        self.min_secs = self.min_secs.min(least);
        self.max_secs = self.max_secs.max(whole);
    }
}
