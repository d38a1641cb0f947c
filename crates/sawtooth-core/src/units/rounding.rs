//! Rounding down and up without a call of the library.

/// The whole part of a number, rounded down; of a number below 2^53 in size. By way of an integer: without SSE 4.1, which not every processor
/// has, `f64::floor` is a call.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "below 2^53"
)]
pub fn floor(number: f64) -> f64 {
    let whole = number as i64 as f64;
    whole - if whole > number { 1.0 } else { 0.0 }
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn numbers_are_rounded_as_by_the_library(number in -1e12f64..1e12, whole in -1000i32..1000) {
            for number in [number, number / 1e9, f64::from(whole), f64::from(whole) + f64::EPSILON, 0.0] {
                prop_assert_eq!(floor(number), number.floor());
                prop_assert_eq!(ceil(number), number.ceil());
            }
        }
    }
}
