//! Quantiles of very many numbers, without keeping them: counts in buckets whose width grows with what they hold (as Tene's HdrHistogram).
//!
//! A bucket is the numbers that agree in their exponent and the first seven bits of their fraction, so a quantile is known to 1/256.

/// Of numbers that are not negative.
#[derive(Clone, Debug, Default)]
pub struct Histogram {
    /// From the bucket of [`SMALLEST`] on; as long as the largest number needs.
    counts: Vec<u64>,
    total: u64,
}

/// What is smaller counts as this: as a time, less than a picosecond.
const SMALLEST: f64 = 1.0 / 1_099_511_627_776.0;
/// Bits of a binary64 number that do not tell its bucket.
const REST_BITS: u32 = 52 - 7;

impl Histogram {
    #[inline]
    pub fn add(&mut self, number: f64) {
        let bucket = bucket(number);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
    }

    /// The least number that at least `share` of all are not above, or nearly so: the middle of its bucket. Nothing without numbers.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "a count"
    )]
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let rank = libm::ceil(share * self.total as f64).max(1.0) as u64;
        let mut below = 0;
        let at = self.counts.iter().position(|count| {
            below += count;
            below >= rank
        })?;
        let edge = |at: usize| {
            f64::from_bits((at as u64 + (SMALLEST.to_bits() >> REST_BITS)) << REST_BITS)
        };
        Some(f64::midpoint(edge(at), edge(at + 1)))
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "below 2^18")]
fn bucket(number: f64) -> usize {
    let bits = |number: f64| number.to_bits() >> REST_BITS;
    (bits(number.max(SMALLEST)) - bits(SMALLEST)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_right_to_one_in_256() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        for n in 1..=10_000 {
            histogram.add(f64::from(n) * 1e-4);
        }
        for share in [0.0001, 0.01, 0.25, 0.5, 0.9, 0.999, 1.0] {
            let found = histogram.quantile(share).expect("numbers");
            assert!(
                (found / share - 1.0).abs() <= 1.0 / 256.0,
                "{share}: {found}"
            );
        }
        histogram.add(0.0);
        assert!(histogram.quantile(0.0).expect("numbers") < 1e-12);
    }
}
