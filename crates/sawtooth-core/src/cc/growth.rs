//! How windows grow: slow start, and additive growth in fractions of a segment or in whole ones (RFC 5681 §3.1).

use crate::units::{SegCount, floor};

/// Additive growth of a window: by `increase` segments when a window has been acknowledged.
///
/// Fractional windows grow with every acknowledgement; whole ones when enough has been counted, as RFC 5681 §3.1 recommends for equation 3.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Growth {
    pub(super) whole: bool,
    count: f64,
}

impl Growth {
    pub(super) fn new(whole: bool) -> Self {
        Self { whole, count: 0.0 }
    }

    /// What has been counted for the window before a reduction does not count for the one after it, as measured of Linux 6.1: after a mark at 23
    /// segments its window of 11 grows when 11 have been acknowledged, after a loss at 53 its window of 26 when 26 have.
    pub(super) fn restart(&mut self) {
        self.count = 0.0;
    }

    /// An acknowledgement by which the window grows by another rule, which has taken a step with it or has not: it counts if ever this one holds.
    pub(super) fn note(&mut self, has_grown: bool) {
        self.count = if has_grown { 0.0 } else { self.count + 1.0 };
    }

    /// The window after `counted` more segments have been acknowledged.
    #[inline]
    pub(super) fn add(&mut self, cwnd: f64, counted: SegCount, increase: f64) -> f64 {
        if !self.whole {
            return cwnd + counted.as_f64() * increase / cwnd;
        }
        let per = cwnd / increase;
        self.count += counted.as_f64();
        let steps = floor(self.count / per);
        self.count -= steps * per;
        cwnd + steps
    }

    /// The same where a step is taken with the acknowledgement after those that make it up: neither it nor what they were too many counts towards the
    /// next. Measured of Linux's `htcp`: segments acknowledged from step to step are 20, 21, 22, 23, 25, 26, 27, 27, 28, 29 and 31 for windows of 18 to 28.
    #[inline]
    pub(super) fn afterwards(&mut self, cwnd: f64, counted: SegCount, increase: f64) -> f64 {
        if !self.whole {
            return self.add(cwnd, counted, increase);
        }
        if self.count * increase >= cwnd {
            self.count = 0.0;
            return cwnd + 1.0;
        }
        self.count += counted.as_f64();
        cwnd
    }

    /// The whole window after `counted` more segments have been acknowledged, where it grows by one with every `per` of them, and `per`
    /// changes: what was counted towards a slower growth is worth one segment at most. Measured of Linux 6.1: 350 segments after CUBIC's
    /// last step its growth becomes one segment with every 8; one is added at once, and the next when 8 more have arrived.
    pub(super) fn every(&mut self, mut cwnd: f64, counted: SegCount, per: f64) -> f64 {
        if self.count >= per {
            self.count = 0.0;
            cwnd += 1.0;
        }
        self.count += counted.as_f64();
        if self.count < per {
            return cwnd;
        }
        let steps = floor(self.count / per);
        self.count -= steps * per;
        cwnd + steps
    }
}

/// Slow start (RFC 5681 §3.1, with RFC 3465's counting): the window after `counted` segments, and what of them is left when it reaches the threshold.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts are positive and far below 2^53"
)]
pub(super) fn slow_start(cwnd: f64, ssthresh: f64, counted: SegCount) -> (f64, SegCount) {
    let grown = cwnd + counted.as_f64();
    // One acknowledgement that counts as one is all slow start's, as RFC 5681 has it.
    if counted <= SegCount::ONE || grown <= ssthresh {
        return (grown, SegCount::ZERO);
    }
    let used = (ssthresh - cwnd).ceil().max(0.0);
    (cwnd + used, counted - SegCount::new(used as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::segs;

    #[test]
    fn growth_adds_the_increase_per_window_at_once_or_in_whole_steps() {
        // Ten segments more, each worth 2 / 40 of a segment.
        assert_eq!(Growth::new(false).add(40.0, segs(10), 2.0), 40.5);
        // Whole: a step with every 40 / 2 = 20 segments, of which what is left over counts on.
        let mut growth = Growth::new(true);
        assert_eq!(growth.add(40.0, segs(19), 2.0), 40.0);
        assert_eq!(growth.add(40.0, segs(2), 2.0), 41.0);
        assert_eq!(growth.count, 1.0);
        assert_eq!(growth.add(40.0, segs(59), 2.0), 43.0);
        growth.add(40.0, segs(5), 2.0);
        growth.restart();
        assert_eq!(growth.count, 0.0);
    }

    #[test]
    fn a_step_that_is_taken_afterwards_forgets_what_was_too_much() {
        // Ten segments make up a step; it comes with the acknowledgement after them.
        let mut growth = Growth::new(true);
        assert_eq!(growth.afterwards(20.0, segs(9), 2.0), 20.0);
        assert_eq!(growth.afterwards(20.0, segs(4), 2.0), 20.0);
        assert_eq!(growth.afterwards(20.0, segs(4), 2.0), 21.0);
        assert_eq!(growth.count, 0.0);
        assert_eq!(Growth::new(false).afterwards(40.0, segs(10), 2.0), 40.5);
    }

    #[test]
    fn what_counted_towards_slower_growth_is_one_segment_at_most() {
        // As measured: 350 segments of a slow growth, then one with every 8.
        let mut growth = Growth::new(true);
        assert_eq!(growth.every(100.0, segs(350), 1000.0), 100.0);
        assert_eq!(growth.every(100.0, segs(1), 8.0), 101.0);
        assert_eq!(growth.every(101.0, segs(6), 8.0), 101.0);
        assert_eq!(growth.every(101.0, segs(1), 8.0), 102.0);
        assert_eq!(growth.every(102.0, segs(17), 8.0), 104.0);
        assert_eq!(growth.count, 1.0);
    }

    #[test]
    fn rfc5681_3_1_slow_start_adds_what_counts_up_to_the_threshold() {
        assert_eq!(slow_start(10.0, f64::INFINITY, segs(4)), (14.0, segs(0)));
        assert_eq!(slow_start(10.0, 14.0, segs(4)), (14.0, segs(0)));
        assert_eq!(slow_start(10.0, 12.0, segs(4)), (12.0, segs(2)));
        // To a threshold that is no whole segment the last one counts in full.
        assert_eq!(slow_start(10.0, 11.5, segs(4)), (12.0, segs(2)));
        // One that counts as one is slow start's, wherever the threshold is.
        assert_eq!(slow_start(10.0, 10.5, segs(1)), (11.0, segs(0)));
        assert_eq!(slow_start(10.0, 8.0, segs(4)), (10.0, segs(4)));
    }
}
