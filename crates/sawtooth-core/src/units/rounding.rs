//! Rounding down and up without a call of the library.

/// The numbers from 2^52 to 2^53 are the whole ones: a sum with this is rounded to one of them.
const WHOLE: f64 = 1.5 * 4_503_599_627_370_496.0;

/// The whole part of a number, rounded down; beyond 2^51 in size maybe a neighbour of it. By sums: without SSE 4.1, which not every processor has,
/// `f64::floor` is a call, and on the way to an integer and back all numbers are looked after that are none.
#[inline]
pub fn floor(number: f64) -> f64 {
    let near = (number + WHOLE) - WHOLE;
    near - if near > number { 1.0 } else { 0.0 }
}

/// The whole number nearest to one below 2^51 in size.
#[inline]
pub(crate) const fn nearest(number: f64) -> i64 {
    (number + WHOLE)
        .to_bits()
        .wrapping_sub(WHOLE.to_bits())
        .cast_signed()
}

/// The whole part of a number that is not negative, and below 2^53. By way of a signed number, which is what processors convert to.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 0 to 2^53"
)]
pub(crate) const fn whole(number: f64) -> u64 {
    number as i64 as u64
}

/// A number, rounded up as [`floor`] rounds it down.
#[inline]
pub fn ceil(number: f64) -> f64 {
    -floor(-number)
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "numbers below 2^53")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_rounded_as_by_the_library(number in -1e12f64..1e12, whole in -1000i32..1000) {
            for number in [number, number / 1e9, f64::from(whole), f64::from(whole) + f64::EPSILON, 0.0] {
                prop_assert_eq!(floor(number), number.floor());
                prop_assert_eq!(ceil(number), number.ceil());
                prop_assert_eq!(nearest(number) as f64, number.round_ties_even());
            }
        }
    }
}
