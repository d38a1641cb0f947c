//! Times and rates.

use super::ByteCount;
use std::ops::{Div, Mul};

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
sums!(Duration);
places!(Instant, Duration);

impl Instant {
    /// The beginning of the run.
    pub const START: Self = Self(0.0);
    /// Before any run begins.
    pub const LONG_AGO: Self = Self(f64::NEG_INFINITY);
    /// Later than any run lasts.
    pub const NEVER: Self = Self(f64::INFINITY);

    /// Whole nanoseconds, rounded.
    pub fn as_ns(self) -> i64 {
        Duration(self.0).as_ns()
    }
}

impl Duration {
    /// No time.
    pub const ZERO: Self = Self(0.0);
    /// Without end.
    pub const INFINITE: Self = Self(f64::INFINITY);

    /// How long it is, whichever way it goes.
    #[inline]
    #[must_use]
    pub const fn abs(self) -> Self {
        Self(self.0.abs())
    }

    /// Whole nanoseconds, rounded.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "runs are far shorter than 292 years"
    )]
    pub fn as_ns(self) -> i64 {
        libm::round(self.0 * 1e9) as i64
    }
}

impl Mul<f64> for Duration {
    type Output = Self;

    #[inline]
    fn mul(self, by: f64) -> Self {
        Self(self.0 * by)
    }
}

impl Div<f64> for Duration {
    type Output = Self;

    #[inline]
    fn div(self, by: f64) -> Self {
        Self(self.0 / by)
    }
}

/// How many times one is the other.
impl Div for Duration {
    type Output = f64;

    #[inline]
    fn div(self, by: Self) -> f64 {
        self.0 / by.0
    }
}

impl Rate {
    /// No bound.
    pub const INFINITE: Self = Self(f64::INFINITY);

    /// Whether it has a bound.
    pub const fn is_finite(self) -> bool {
        self.0.is_finite()
    }
}

/// How long so many bytes take.
impl Div<Rate> for ByteCount {
    type Output = Duration;

    #[inline]
    fn div(self, rate: Rate) -> Duration {
        Duration(8.0 * self.as_f64() / rate.0)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_are_rounded_to_the_nearest() {
        assert_eq!(Duration::from_secs(0.1 + 0.2).as_ns(), 300_000_000);
        assert_eq!(Instant::from_secs(1.000_000_000_6).as_ns(), 1_000_000_001);
    }

    #[test]
    fn instants_and_durations_are_apart() {
        let (start, end) = (Instant::from_secs(1.5), Instant::from_secs(4.0));
        assert_eq!(end - start, Duration::from_secs(2.5));
        assert_eq!(start + (end - start) * 2.0, Instant::from_secs(6.5));
        assert_eq!((end - start) / Duration::from_secs(0.5), 5.0);
    }

    #[test]
    fn bytes_take_time_at_a_rate() {
        let (written, rate) = (ByteCount::new(2500), Rate::from_bps(40_000.0));
        assert_eq!(written / rate, Duration::from_secs(0.5));
    }

    #[test]
    fn instants_are_compared_as_their_numbers_are() {
        let numbers = [f64::NAN, f64::NEG_INFINITY, -0.0, 0.0, f64::INFINITY];
        for left in numbers {
            for right in numbers {
                let (one, other) = (Instant::from_secs(left), Instant::from_secs(right));
                assert_eq!(one.partial_cmp(&other), left.partial_cmp(&right));
                assert_eq!((one < other, one <= other), (left < right, left <= right));
                assert_eq!((one > other, one >= other), (left > right, left >= right));
            }
        }
    }
}
