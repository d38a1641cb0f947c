//! A histogram of whole numbers that keeps no samples: log-linear, as in HdrHistogram (<https://hdrhistogram.org>).
//!
//! **Model.** Numbers below 2^7 have a bucket each; of those above, every power of two is divided into 2^6 equal buckets. So a quantile is within
//! 1/64 = 1.6 % of the value, and at half of that in the middle of a bucket; memory is 64 buckets for every power of two that occurs.
//! Adding is exact and does not depend on the order: count, sum, least and largest are kept besides.

/// Halves of powers of two are divided into 2 to this power.
const BITS: u32 = 6;

/// Counts of numbers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Histogram {
    buckets: Vec<u64>,
    count: u64,
    sum: u128,
    largest: u64,
}

impl Histogram {
    /// Counts a number.
    pub fn add(&mut self, value: u64) {
        let at = bucket(value);
        if at >= self.buckets.len() {
            self.buckets.resize(at + 1, 0);
        }
        self.buckets[at] += 1;
        self.count += 1;
        self.sum += u128::from(value);
        self.largest = self.largest.max(value);
    }

    /// How many numbers there were.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The largest of them; 0 of none.
    pub fn largest(&self) -> u64 {
        self.largest
    }

    /// The mean; nothing of nothing.
    #[expect(clippy::cast_precision_loss, reason = "a mean")]
    pub fn mean(&self) -> Option<f64> {
        (self.count > 0).then(|| self.sum as f64 / self.count as f64)
    }

    /// The number that a share of all is not above, within a bucket; nothing of nothing.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count"
    )]
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let rank = (libm::ceil(share * self.count as f64) as u64).clamp(1, self.count.max(1));
        let mut below = 0;
        for (at, count) in self.buckets.iter().enumerate() {
            below += count;
            if below >= rank {
                return Some(middle(at).min(self.largest));
            }
        }
        None
    }
}

/// Mean, quantiles and largest of times, ns; unknown of none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TimesNs {
    pub mean: Option<i64>,
    pub p50: Option<i64>,
    pub p90: Option<i64>,
    pub p95: Option<i64>,
    pub p99: Option<i64>,
    pub p999: Option<i64>,
    pub max: Option<i64>,
}

impl TimesNs {
    pub(crate) fn of(times: &Histogram) -> Self {
        #[expect(clippy::cast_possible_truncation, reason = "less than a run's length")]
        let mean = times.mean().map(|mean| libm::round(mean) as i64);
        let time = |value: Option<u64>| value.map(|ns| i64::try_from(ns).unwrap_or(i64::MAX));
        let quantile = |share| time(times.quantile(share));
        Self {
            mean,
            p50: quantile(0.5),
            p90: quantile(0.9),
            p95: quantile(0.95),
            p99: quantile(0.99),
            p999: quantile(0.999),
            max: time((times.count() > 0).then_some(times.largest())),
        }
    }
}

fn bucket(value: u64) -> usize {
    let shift = (u64::BITS - value.leading_zeros()).saturating_sub(BITS + 1);
    usize::try_from((u64::from(shift) << BITS) + (value >> shift)).expect("a few thousand")
}

/// The number in the middle of a bucket.
fn middle(at: usize) -> u64 {
    let at = at as u64;
    let shift = (at >> BITS).saturating_sub(1);
    let low = (at - (shift << BITS)) << shift;
    low + ((1 << shift) - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn quantiles_are_those_of_the_sorted_numbers_within_a_bucket(
            mut values in prop::collection::vec(prop_oneof![0u64..300, 0u64..1 << 40, any::<u64>()], 1..200), share in 0.0f64..=1.0,
        ) {
            let mut histogram = Histogram::default();
            for value in &values {
                histogram.add(*value);
            }
            values.sort_unstable();
            #[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "few")]
            let rank = (libm::ceil(share * values.len() as f64) as usize).clamp(1, values.len());
            let (exact, found) = (values[rank - 1], histogram.quantile(share).expect("values"));
            // Half a bucket, which is at most 1/64 of its lowest number.
            prop_assert!(found.abs_diff(exact) <= exact / 128 + 1, "{found} for {exact}");
            prop_assert_eq!(histogram.largest(), *values.last().expect("values"));
        }
    }

    #[test]
    fn a_bucket_holds_its_middle_and_neighbours_do_not_overlap() {
        for at in 0..3000 {
            assert_eq!(bucket(middle(at)), at);
            assert!(middle(at) < middle(at + 1));
        }
    }

    #[test]
    fn nothing_has_neither_mean_nor_quantiles() {
        let empty = Histogram::default();
        assert_eq!((empty.mean(), empty.quantile(0.5)), (None, None));
    }
}
