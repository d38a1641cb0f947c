//! Sequence numbers, and counts of segments and of bytes.

use std::ops::{Div, Mul, Rem};

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
sums!(SegCount, ByteCount);
places!(SeqNum, SegCount);

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
            /// The sum, or the most that can be counted.
            #[inline]
            #[must_use]
            pub const fn saturating_add(self, other: Self) -> Self {
                Self(self.0.saturating_add(other.0))
            }

            /// The difference; nothing if `other` is more.
            #[inline]
            #[must_use]
            pub const fn saturating_sub(self, other: Self) -> Self {
                Self(self.0.saturating_sub(other.0))
            }

            /// Whether it counts nothing.
            #[inline]
            pub const fn is_zero(self) -> bool {
                self.0 == 0
            }

            /// As a number to compute with. By way of a signed number, which is what processors convert from.
            #[inline]
            #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
            pub const fn as_f64(self) -> f64 {
                debug_assert!(self.0 <= i64::MAX as u64);
                self.0.cast_signed() as f64
            }
        }
    )*};
}

counts!(SegCount, ByteCount);

impl SegCount {
    /// One segment.
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
    /// So many times as many, or as many as can be counted.
    #[must_use]
    pub const fn saturating_mul(self, times: u64) -> Self {
        Self(self.0.saturating_mul(times))
    }

    /// The largest of so many shares that are as equal as they can be.
    #[must_use]
    pub const fn share_of(self, shares: u64) -> Self {
        Self(self.0.div_ceil(shares))
    }

    /// As the size of a packet, for which packets have 32 bits.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "no packet is larger than 64 KiB"
    )]
    pub const fn packet_size(self) -> u32 {
        self.0 as u32
    }

    /// How many segments of one size hold so many bytes.
    #[inline]
    pub const fn div_ceil(self, size: Self) -> SegCount {
        SegCount(self.0.div_ceil(size.0))
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

/// Bytes of so many segments of one size.
impl Mul<ByteCount> for SegCount {
    type Output = ByteCount;

    #[inline]
    fn mul(self, size: ByteCount) -> ByteCount {
        ByteCount(self.0 * size.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_and_counts_are_apart() {
        let (sent, acked) = (SeqNum::new(7), SeqNum::new(3));
        assert_eq!(sent - acked, SegCount::new(4));
        assert_eq!(acked + SegCount::new(4), sent);
        assert_eq!(acked.saturating_sub(sent), SegCount::ZERO);
        assert_eq!(acked.next(), SeqNum::new(4));
    }

    #[test]
    fn bytes_are_segments_of_a_size() {
        let (size, written) = (ByteCount::new(1000), ByteCount::new(2500));
        assert_eq!(
            (written / size, written.div_ceil(size)),
            (SegCount::new(2), SegCount::new(3))
        );
        assert_eq!(SegCount::new(4) * size, ByteCount::new(4000));
        assert_eq!(size * 2, SegCount::new(2) * size);
        assert_eq!(SegCount::MAX.saturating_mul(size), ByteCount::MAX);
        assert_eq!(size.saturating_mul(u64::MAX), ByteCount::MAX);
        assert_eq!(written.share_of(3), ByteCount::new(834));
    }
}
