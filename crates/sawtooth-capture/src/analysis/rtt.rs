//! Round-trip times at the place of a capture: from data to its acknowledgement, by sequence numbers and by timestamps, and from timestamps to what echoes them.

use std::collections::VecDeque;

use sawtooth_core::internals::histogram::Histogram;

/// Times, and what is kept of them.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrips {
    pub times: Histogram,
    least_ns: Option<i64>,
    smoothed_ns: Option<f64>,
    smoothed_sum_ns: f64,
}

impl RoundTrips {
    pub(super) fn add(&mut self, sample_ns: i64) {
        // Where clocks went back.
        let sample = sample_ns.max(0);
        self.times.add(sample.cast_unsigned());
        self.least_ns = Some(self.least_ns.map_or(sample, |least| least.min(sample)));
        #[expect(clippy::cast_precision_loss, reason = "a time of a capture")]
        let value = sample as f64;
        // RFC 6298 §2.2 and §2.3.
        let smoothed = self
            .smoothed_ns
            .map_or(value, |srtt| srtt + (value - srtt) / 8.0);
        self.smoothed_ns = Some(smoothed);
        self.smoothed_sum_ns += smoothed;
    }

    pub(super) fn least_ns(&self) -> Option<i64> {
        self.least_ns
    }

    pub(super) fn smoothed_ns(&self) -> Option<i64> {
        self.smoothed_ns.map(rounded)
    }

    pub(super) fn smoothed_mean_ns(&self) -> Option<i64> {
        #[expect(clippy::cast_precision_loss, reason = "a count")]
        let count = self.times.count() as f64;
        (count > 0.0).then(|| rounded(self.smoothed_sum_ns / count))
    }

    pub(super) fn mean_ns(&self) -> Option<i64> {
        self.times.mean().map(rounded)
    }

    /// The time that a share of all is not above.
    pub(super) fn quantile_ns(&self, share: f64) -> Option<i64> {
        let found = self.times.quantile(share)?;
        // A bucket's middle may be below the least of all.
        Some(i64::try_from(found).unwrap_or(i64::MAX).max(self.least_ns?))
    }

    pub(super) fn most_ns(&self) -> Option<i64> {
        let largest = self.times.largest();
        self.least_ns
            .map(|_| i64::try_from(largest).unwrap_or(i64::MAX))
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a time of a capture")]
fn rounded(ns: f64) -> i64 {
    ns.round() as i64
}

/// Timestamps in the order in which they were first seen, and when: what echoes one took so long.
#[derive(Clone, Debug, Default)]
pub(super) struct TimestampEchoes {
    seen: VecDeque<(u32, i64)>,
    /// The last of them all: a clock may tick seldom, and what repeats a timestamp that has been echoed is not its first packet.
    newest: Option<u32>,
}

/// Timestamps that nobody has echoed are forgotten beyond so many.
const MOST_TIMESTAMPS: usize = 2048;

impl TimestampEchoes {
    /// A packet had this TSval.
    pub(super) fn sent(&mut self, value: u32, time_ns: i64) {
        // Only the first of a value, and none of an older packet.
        let is_new = self
            .newest
            .is_none_or(|last| value.wrapping_sub(last).cast_signed() > 0);
        if is_new {
            self.newest = Some(value);
            if self.seen.len() == MOST_TIMESTAMPS {
                self.seen.pop_front();
            }
            self.seen.push_back((value, time_ns));
        }
    }

    /// A packet of the other side echoes this: how long after it was first seen. Each is asked for once.
    pub(super) fn echoed(&mut self, value: u32, time_ns: i64) -> Option<i64> {
        while let Some((first, sent_ns)) = self.seen.front().copied() {
            let behind = value.wrapping_sub(first).cast_signed();
            if behind < 0 {
                return None;
            }
            self.seen.pop_front();
            if behind == 0 {
                return Some(time_ns - sent_ns);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc6298_2_smooths_with_an_eighth() {
        let mut trips = RoundTrips::default();
        trips.add(80);
        trips.add(160);
        assert_eq!(trips.smoothed_ns(), Some(90));
        assert_eq!(trips.smoothed_mean_ns(), Some(85));
        assert_eq!((trips.least_ns(), trips.most_ns()), (Some(80), Some(160)));
    }

    #[test]
    fn a_timestamp_is_timed_from_its_first_packet_to_its_first_echo() {
        let mut echoes = TimestampEchoes::default();
        for (value, time) in [(5, 100), (5, 110), (6, 120), (7, 130)] {
            echoes.sent(value, time);
        }
        assert_eq!(echoes.echoed(5, 150), Some(50));
        assert_eq!(echoes.echoed(5, 160), None);
        assert_eq!(echoes.echoed(7, 170), Some(40));
        assert_eq!(echoes.echoed(6, 180), None);
    }

    #[test]
    fn rfc7323_5_4_a_clock_that_ticks_seldom_gives_one_time_in_each_tick() {
        let mut echoes = TimestampEchoes::default();
        echoes.sent(1, 0);
        assert_eq!(echoes.echoed(1, 105), Some(105));
        echoes.sent(1, 105);
        assert_eq!(echoes.echoed(1, 117), None);
        echoes.sent(2, 1000);
        assert_eq!(echoes.echoed(2, 1105), Some(105));
    }
}
