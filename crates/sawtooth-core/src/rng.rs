//! Random numbers: one named stream per component, derived from a seed.
//!
//! A stream depends on the seed and its own name only, so adding a component changes no other's draws. The generator is PCG64
//! (O'Neill 2014, PCG XSL RR 128/64), the same as numpy's.

use rand_core::RngCore;
use rand_pcg::Pcg64;

use crate::digits::Digits;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct RandomStream(Pcg64);

/// A stream's name, or the beginning of several: they are not put together as texts, of which runs of many flows would make many.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamName(u128);

impl StreamName {
    /// Of nothing so far.
    const EMPTY: Self = Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d);

    /// What these parts make, one after the other.
    pub(crate) fn of(parts: &[&str]) -> Self {
        parts.iter().fold(Self::EMPTY, |name, part| name.and(part))
    }

    /// The name that goes on with `part`.
    pub(crate) fn and(self, part: &str) -> Self {
        // FNV-1a, 128 bits: a fixed, documented map from names to stream numbers.
        let hash = part.bytes().fold(self.0, |hash, byte| {
            (hash ^ u128::from(byte)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b)
        });
        Self(hash)
    }

    /// The name that goes on with a number, as it is written.
    pub(crate) fn and_number(self, number: u64) -> Self {
        self.and(Digits::new().of(number))
    }

    /// The stream of that name under `seed`.
    pub(crate) fn stream(self, seed: u64) -> RandomStream {
        RandomStream::numbered(seed, self.0)
    }
}

impl RandomStream {
    /// The stream called `name` under `seed`.
    pub fn new(seed: u64, name: &str) -> Self {
        StreamName::of(&[name]).stream(seed)
    }

    fn numbered(seed: u64, hash: u128) -> Self {
        let mut pcg = Pcg64::new(u128::from(seed) ^ hash.rotate_left(64), hash);
        // Neighbouring seeds start in neighbouring states; a few steps pull them apart.
        for _ in 0..8 {
            pcg.next_u64();
        }
        Self(pcg)
    }

    /// Uniform in [0, 1), 53 bits.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / 9_007_199_254_740_992.0)
    }

    /// A uniform integer in [low, high), without bias (Lemire 2019, with rejection).
    ///
    /// # Panics
    /// If the range is empty.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "taking the halves of a product"
    )]
    pub fn integer(&mut self, low: i64, high: i64) -> i64 {
        assert!(low < high, "an empty range has no integers");
        let span = high.abs_diff(low);
        loop {
            let product = u128::from(self.0.next_u64()) * u128::from(span);
            if product as u64 >= span.wrapping_neg() % span {
                return low.wrapping_add_unsigned((product >> 64) as u64);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_and_name_only() {
        let draw = |seed, name| RandomStream::new(seed, name).uniform();
        assert_eq!(draw(1, "a"), draw(1, "a"));
        assert_ne!(draw(1, "a"), draw(2, "a"));
        assert_ne!(draw(1, "a"), draw(1, "b"));
    }

    #[test]
    fn a_name_in_parts_is_the_same_name() {
        let whole = RandomStream::new(3, "link[2].forward/queue").uniform();
        let parts = StreamName::of(&["link[", "2", "]", ".forward"]).and("/queue");
        assert_eq!(parts.stream(3).uniform(), whole);
        let number = StreamName::of(&["link["]).and_number(2);
        assert_eq!(number.and("].forward/queue").stream(3).uniform(), whole);
    }

    #[test]
    fn integers_are_uniform_over_their_range() {
        let mut stream = RandomStream::new(7, "dice");
        let mut counts = [0_u32; 6];
        for _ in 0..60_000 {
            counts[usize::try_from(stream.integer(1, 7) - 1).expect("a die")] += 1;
        }
        // Chi-square with 5 degrees of freedom; 20.5 is its 99.9th percentile, and the stream is fixed.
        let chi: f64 = counts
            .iter()
            .map(|&n| f64::from(n) - 1e4)
            .map(|excess| excess * excess / 1e4)
            .sum();
        assert!(chi < 20.5, "{counts:?}");
    }

    #[test]
    fn neighbouring_seeds_are_uncorrelated() {
        let draws: Vec<f64> = (0..4000)
            .map(|seed| RandomStream::new(seed, "x").uniform())
            .collect();
        let product: f64 = draws
            .windows(2)
            .map(|pair| (pair[0] - 0.5) * (pair[1] - 0.5))
            .sum();
        // The sum has standard deviation sqrt(4000)/12 = 5.3.
        assert!(product.abs() < 4.0 * 5.3, "{product}");
    }
}
