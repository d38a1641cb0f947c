//! Times, rates, sequence numbers and sizes as types, so that no bare number with a unit crosses a function boundary.
//!
//! What has a meaning has an operator, and nothing else has: an instant less an instant is a duration, a sequence number less another is a count of segments, and
//! two sequence numbers cannot be added. Bare numbers stand in the private code of formulas, which are written as their papers have them, in seconds and segments.
//!
//! Time is binary64 seconds. Which of two coincident packets a full queue drops is decided by rounding, and ns-2, which this
//! simulator is held against, computes in binary64 seconds; additions, multiplications and divisions are the same on every
//! machine (IEEE 754), so runs are still reproducible to the bit.

use std::cmp::Ordering;
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Rem, Sub, SubAssign};

macro_rules! quantity {
    ($(#[$doc:meta])* $name:ident, $from:ident, $get:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct $name(f64);

        /// Written out, because derived comparisons go by way of `partial_cmp`: some more instructions wherever events are compared.
        impl PartialOrd for $name {
            #[inline]
            fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
                self.0.partial_cmp(&other.0)
            }

            #[inline]
            fn lt(&self, other: &Self) -> bool {
                self.0 < other.0
            }

            #[inline]
            fn le(&self, other: &Self) -> bool {
                self.0 <= other.0
            }

            #[inline]
            fn gt(&self, other: &Self) -> bool {
                self.0 > other.0
            }

            #[inline]
            fn ge(&self, other: &Self) -> bool {
                self.0 >= other.0
            }
        }

        impl $name {
            #[inline]
            pub const fn $from(value: f64) -> Self {
                Self(value)
            }

            #[inline]
            pub const fn $get(self) -> f64 {
                self.0
            }

            /// The order of the numbers, as [`f64::total_cmp`] has it.
            pub fn total_cmp(&self, other: &Self) -> Ordering {
                self.0.total_cmp(&other.0)
            }

            /// The smaller of the two, as [`f64::min`] has it.
            #[inline]
            #[must_use]
            pub const fn min(self, other: Self) -> Self {
                Self(self.0.min(other.0))
            }

            /// The larger of the two, as [`f64::max`] has it.
            #[inline]
            #[must_use]
            pub const fn max(self, other: Self) -> Self {
                Self(self.0.max(other.0))
            }
        }
    };
}

macro_rules! whole {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u64);

        impl $name {
            pub const ZERO: Self = Self(0);
            pub const MAX: Self = Self(u64::MAX);

            #[inline]
            pub const fn new(value: u64) -> Self {
                Self(value)
            }

            #[inline]
            pub const fn get(self) -> u64 {
                self.0
            }
        }
    };
}

/// Sums and differences of the same quantity, in the same number.
macro_rules! sums {
    ($($name:ident),*) => {$(
        impl Add for $name {
            type Output = Self;

            #[inline]
            fn add(self, other: Self) -> Self {
                Self(self.0 + other.0)
            }
        }

        impl Sub for $name {
            type Output = Self;

            #[inline]
            fn sub(self, other: Self) -> Self {
                Self(self.0 - other.0)
            }
        }

        impl AddAssign for $name {
            #[inline]
            fn add_assign(&mut self, other: Self) {
                self.0 += other.0;
            }
        }

        impl SubAssign for $name {
            #[inline]
            fn sub_assign(&mut self, other: Self) {
                self.0 -= other.0;
            }
        }

        impl Sum for $name {
            fn sum<I: Iterator<Item = Self>>(all: I) -> Self {
                Self(all.map(|one| one.0).sum())
            }
        }
    )*};
}

/// Places on a line: a place less a place is a length, and a place and a length are a place.
macro_rules! places {
    ($($place:ident, $length:ident);*) => {$(
        impl Add<$length> for $place {
            type Output = Self;

            #[inline]
            fn add(self, by: $length) -> Self {
                Self(self.0 + by.0)
            }
        }

        impl AddAssign<$length> for $place {
            #[inline]
            fn add_assign(&mut self, by: $length) {
                self.0 += by.0;
            }
        }

        impl Sub<$length> for $place {
            type Output = Self;

            #[inline]
            fn sub(self, by: $length) -> Self {
                Self(self.0 - by.0)
            }
        }

        impl Sub for $place {
            type Output = $length;

            #[inline]
            fn sub(self, from: Self) -> $length {
                $length(self.0 - from.0)
            }
        }
    )*};
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
quantity!(
    /// A window, in segments of SMSS bytes (RFC 5681 §2). It need not be whole: algorithms grow it by parts of a segment.
    WindowSize, from_segments, segments
);
whole!(
    /// The number of a segment in its connection. RFC 9293 §3.4 counts octets; here segments are counted, and the SYN is the first. Packets of a flow of UDP are
    /// numbered as well.
    SeqNum
);
whole!(
    /// So many segments.
    SegCount
);
whole!(
    /// So many bytes.
    ByteCount
);
sums!(Duration, SegCount, ByteCount, WindowSize);
places!(Instant, Duration; SeqNum, SegCount);

impl WindowSize {
    /// A segment.
    pub const ONE: Self = Self(1.0);
    /// No limit.
    pub const INFINITE: Self = Self(f64::INFINITY);

    /// How many whole segments it holds, if it is finite. By way of a signed number, which is what processors convert to.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "windows are positive and far below 2^53"
    )]
    pub const fn whole(self) -> SegCount {
        SegCount(self.0 as i64 as u64)
    }

    /// Its whole segments.
    #[must_use]
    pub fn trunc(self) -> Self {
        Self(self.0.trunc())
    }
}

impl Mul<f64> for WindowSize {
    type Output = Self;

    #[inline]
    fn mul(self, by: f64) -> Self {
        Self(self.0 * by)
    }
}

impl Mul<WindowSize> for f64 {
    type Output = WindowSize;

    #[inline]
    fn mul(self, window: WindowSize) -> WindowSize {
        WindowSize(self * window.0)
    }
}

impl Div<f64> for WindowSize {
    type Output = Self;

    #[inline]
    fn div(self, by: f64) -> Self {
        Self(self.0 / by)
    }
}

impl From<SegCount> for WindowSize {
    #[inline]
    fn from(count: SegCount) -> Self {
        Self(count.as_f64())
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

impl SeqNum {
    /// The segment after it.
    #[inline]
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }

    /// How far it is beyond `other`; nothing if it is not.
    #[inline]
    pub const fn saturating_sub(self, other: Self) -> SegCount {
        SegCount(self.0.saturating_sub(other.0))
    }

    /// How far it is beyond `other`, if it is not before it.
    #[inline]
    pub fn checked_sub(self, other: Self) -> Option<SegCount> {
        self.0.checked_sub(other.0).map(SegCount)
    }

    /// The segment so many after it, or the last number there is.
    #[inline]
    #[must_use]
    pub const fn saturating_add(self, count: SegCount) -> Self {
        Self(self.0.saturating_add(count.0))
    }

    /// The numbers from this one up to `end`, without that.
    #[inline]
    pub fn up_to(self, end: Self) -> impl DoubleEndedIterator<Item = Self> {
        (self.0..end.0).map(Self)
    }
}

macro_rules! counts {
    ($($name:ident),*) => {$(
        impl $name {
            #[inline]
            #[must_use]
            pub const fn saturating_add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }

            #[inline]
            #[must_use]
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }

            #[inline]
            pub const fn is_zero(self) -> bool {
                self.0 == 0
            }

            /// As a number to compute with.
            #[inline]
            #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
            pub const fn as_f64(self) -> f64 {
                self.0 as f64
            }
        }
    )*};
}

counts!(SegCount, ByteCount);

impl SegCount {
    pub const ONE: Self = Self(1);

    /// The difference modulo 2^64, which may be less than nothing for a while.
    #[must_use]
    pub const fn wrapping_sub(self, other: Self) -> Self {
        Self(self.0.wrapping_sub(other.0))
    }

    /// Bytes of so many segments of one size, or as many as can be counted.
    #[must_use]
    pub const fn saturating_mul(self, size: ByteCount) -> ByteCount {
        ByteCount(self.0.saturating_mul(size.0))
    }
}

impl SegCount {
    /// How many groups of so many hold it.
    #[inline]
    #[must_use]
    pub const fn div_ceil(self, group: u64) -> Self {
        Self(self.0.div_ceil(group))
    }
}

impl From<usize> for SegCount {
    #[inline]
    fn from(length: usize) -> Self {
        Self(length as u64)
    }
}

/// One if so, and else none.
impl From<bool> for SegCount {
    #[inline]
    fn from(one: bool) -> Self {
        Self(u64::from(one))
    }
}

/// Whole numbers of a smaller range are counts without further ado.
macro_rules! widened {
    ($($name:ident),*) => {$(
        impl From<u32> for $name {
            #[inline]
            fn from(count: u32) -> Self {
                Self(u64::from(count))
            }
        }
    )*};
}

widened!(SegCount, ByteCount);

impl ByteCount {
    /// As the size of a packet, for which packets have 32 bits.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "no packet is larger than 64 KiB"
    )]
    pub const fn packet_size(self) -> u32 {
        self.0 as u32
    }
}

/// How many whole segments of one size so many bytes are.
impl Div for ByteCount {
    type Output = SegCount;

    #[inline]
    fn div(self, size: Self) -> SegCount {
        SegCount(self.0 / size.0)
    }
}

impl ByteCount {
    /// How many segments of one size hold so many bytes.
    #[inline]
    pub const fn div_ceil(self, size: Self) -> SegCount {
        SegCount(self.0.div_ceil(size.0))
    }
}

/// What is left over of groups of so many.
impl Rem for SegCount {
    type Output = Self;

    #[inline]
    fn rem(self, group: Self) -> Self {
        Self(self.0 % group.0)
    }
}

impl Div<u64> for SegCount {
    type Output = Self;

    #[inline]
    fn div(self, by: u64) -> Self {
        Self(self.0 / by)
    }
}

impl Mul<u64> for ByteCount {
    type Output = Self;

    #[inline]
    fn mul(self, by: u64) -> Self {
        Self(self.0 * by)
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

/// Bytes of so many segments of one size.
impl Mul<ByteCount> for SegCount {
    type Output = ByteCount;

    #[inline]
    fn mul(self, size: ByteCount) -> ByteCount {
        ByteCount(self.0 * size.0)
    }
}

impl Rate {
    /// No bound.
    pub const INFINITE: Self = Self(f64::INFINITY);

    pub const fn is_finite(self) -> bool {
        self.0.is_finite()
    }
}

impl Instant {
    /// The beginning of the run.
    pub const START: Self = Self(0.0);
    /// Before everything, and after everything.
    pub const LONG_AGO: Self = Self(f64::NEG_INFINITY);
    pub const NEVER: Self = Self(f64::INFINITY);

    /// Whole nanoseconds, rounded.
    pub fn as_ns(self) -> i64 {
        Duration(self.0).as_ns()
    }
}

impl Duration {
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

/// Units in one word, for the numbers of tests.
#[cfg(test)]
pub(crate) mod testing {
    use super::{ByteCount, Duration, Instant, SegCount, SeqNum, WindowSize};

    pub(crate) fn at(secs: f64) -> Instant {
        Instant::from_secs(secs)
    }

    pub(crate) fn secs(secs: f64) -> Duration {
        Duration::from_secs(secs)
    }

    pub(crate) fn seq(number: u64) -> SeqNum {
        SeqNum::new(number)
    }

    pub(crate) fn segs(count: u64) -> SegCount {
        SegCount::new(count)
    }

    pub(crate) fn bytes(count: u64) -> ByteCount {
        ByteCount::new(count)
    }

    pub(crate) const fn window(segments: f64) -> WindowSize {
        WindowSize::from_segments(segments)
    }
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

    #[test]
    fn places_and_lengths_are_apart() {
        let (sent, acked) = (SeqNum::new(7), SeqNum::new(3));
        assert_eq!(sent - acked, SegCount::new(4));
        assert_eq!(acked + SegCount::new(4), sent);
        assert_eq!(acked.saturating_sub(sent), SegCount::ZERO);
        assert_eq!(acked.next(), SeqNum::new(4));
        assert_eq!(
            SegCount::new(4) * ByteCount::new(1460),
            ByteCount::new(5840)
        );
        let (start, end) = (Instant::from_secs(1.5), Instant::from_secs(4.0));
        assert_eq!(end - start, Duration::from_secs(2.5));
        assert_eq!(start + (end - start) * 2.0, Instant::from_secs(6.5));
        assert_eq!((end - start) / Duration::from_secs(0.5), 5.0);
    }

    #[test]
    fn bytes_are_segments_of_a_size_and_take_time_at_a_rate() {
        let (size, written) = (ByteCount::new(1000), ByteCount::new(2500));
        assert_eq!(
            (written / size, written.div_ceil(size)),
            (SegCount::new(2), SegCount::new(3))
        );
        assert_eq!(size * 2, SegCount::new(2) * size);
        assert_eq!(written / Rate::from_bps(40_000.0), Duration::from_secs(0.5));
        assert_eq!(SegCount::MAX.saturating_mul(size), ByteCount::MAX);
    }

    #[test]
    fn a_window_has_whole_segments() {
        assert_eq!(WindowSize::from_segments(10.9).whole(), SegCount::new(10));
        assert_eq!(
            WindowSize::from(SegCount::new(10)),
            WindowSize::from_segments(10.0)
        );
    }

    #[test]
    fn a_share_of_a_window_is_a_window() {
        let window = WindowSize::from_segments(21.0);
        assert_eq!(window * 0.5, WindowSize::from_segments(10.5));
        assert_eq!(0.5 * window, window / 2.0);
        assert_eq!((window / 2.0).trunc(), WindowSize::from_segments(10.0));
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
