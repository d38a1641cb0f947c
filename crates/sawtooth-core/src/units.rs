//! Times and rates as types, so that no bare number with a unit crosses a function boundary.
//!
//! Time is binary64 seconds. Which of two coincident packets a full queue drops is decided by rounding, and ns-2, which this
//! simulator is held against, computes in binary64 seconds; additions, multiplications and divisions are the same on every
//! machine (IEEE 754), so runs are still reproducible to the bit.

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $from:ident, $get:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
        pub struct $name(f64);

        impl $name {
            pub const fn $from(value: f64) -> Self {
                Self(value)
            }

            pub const fn $get(self) -> f64 {
                self.0
            }
        }
    };
}

quantity!(
    /// A point in time, counted from the start of the run.
    Instant, from_secs, secs
);
quantity!(
    /// A length of time.
    Duration, from_secs, secs
);
quantity!(
    /// Bits per second.
    Rate, from_bps, bps
);

impl Instant {
    /// Whole nanoseconds, rounded.
    pub fn as_ns(self) -> i64 {
        Duration(self.0).as_ns()
    }
}

impl Duration {
    /// Whole nanoseconds, rounded.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "runs are far shorter than 292 years"
    )]
    pub fn as_ns(self) -> i64 {
        libm::round(self.0 * 1e9) as i64
    }
}

/// Seconds as records have them: whole nanoseconds, rounded.
pub fn ns(secs: f64) -> i64 {
    Duration::from_secs(secs).as_ns()
}

/// Bits per second, if `bytes` took `secs`; nothing comes through in no time.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub fn mean_rate_bps(bytes: u64, secs: f64) -> f64 {
    if secs > 0.0 {
        bytes as f64 * 8.0 / secs
    } else {
        0.0
    }
}

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

/// The same, rounded up.
#[inline]
pub fn ceil(number: f64) -> f64 {
    -floor(-number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nanoseconds_are_rounded_to_the_nearest() {
        assert_eq!(Duration::from_secs(0.1 + 0.2).as_ns(), 300_000_000);
        assert_eq!(Instant::from_secs(1.000_000_000_6).as_ns(), 1_000_000_001);
    }

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
