//! The window that an acknowledgement advertises, as the header has it.
//!
//! Specification: RFC 7323 §2.2: a field of 16 bits, in units of a power of two, of which the largest is 2^14 (§2.3).

use crate::units::ByteCount;

/// How many bits the field has, and how many a window takes in a packet here, with its scale.
const FIELD_BITS: u32 = 16;
pub(super) const BITS: u32 = 22;
const FIELD: u64 = (1 << FIELD_BITS) - 1;

/// From the next byte expected on, what the receiver has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AdvertisedWindow(u32);

impl AdvertisedWindow {
    /// The receiver takes whatever comes.
    pub const ANY: Self = Self((1 << BITS) - 1);

    /// So much, which a field in units of `2^scale` can say; what is not whole units is left out.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "16 bits")]
    pub fn new(window: ByteCount, scale: u8) -> Self {
        let field = window.get() >> scale;
        debug_assert!(field <= FIELD, "{window:?} at {scale}");
        Self(field as u32 | u32::from(scale) << FIELD_BITS)
    }

    /// The same with the least scale with which the field can say it.
    pub fn of(window: ByteCount) -> Self {
        let bits = (u64::BITS - window.get().leading_zeros()).saturating_sub(FIELD_BITS);
        Self::new(window, u8::try_from(bits).unwrap_or(u8::MAX))
    }

    /// How much that is; nothing is said of a receiver that takes whatever comes.
    #[inline]
    pub fn bytes(self) -> Option<ByteCount> {
        (self != Self::ANY).then(|| {
            let field = u64::from(self.0) & FIELD;
            ByteCount::new(field << (self.0 >> FIELD_BITS))
        })
    }

    #[inline]
    pub(super) fn bits(self) -> u64 {
        self.0.into()
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "22 bits")]
    pub(super) fn from_bits(bits: u64) -> Self {
        Self(bits as u32 & Self::ANY.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::bytes;

    #[test]
    fn a_window_is_told_in_units_of_its_scale() {
        for (window, scale, told) in [
            (65_535, 0, 65_535),
            (64_200, 7, 64_128),
            (65_535 << 14, 14, 65_535 << 14),
        ] {
            let window = AdvertisedWindow::new(bytes(window), scale);
            assert_eq!(window.bytes(), Some(bytes(told)));
            assert_eq!(AdvertisedWindow::from_bits(window.bits()), window);
        }
        assert_eq!(AdvertisedWindow::ANY.bytes(), None);
    }

    #[test]
    fn the_least_scale_leaves_out_least() {
        for (window, told) in [
            (0, 0),
            (65_535, 65_535),
            (65_537, 65_536),
            (262_147, 262_144),
        ] {
            assert_eq!(
                AdvertisedWindow::of(bytes(window)).bytes(),
                Some(bytes(told))
            );
        }
    }
}
