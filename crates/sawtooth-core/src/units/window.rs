//! Windows.

use super::{SegCount, whole};
use std::ops::{Div, Mul};

quantity!(
    /// A window, in segments of SMSS bytes (RFC 5681 §2). It need not be whole: algorithms grow it by parts of a segment.
    WindowSize, from_segments, segments
);
sums!(WindowSize);

impl WindowSize {
    /// A segment.
    pub const ONE: Self = Self(1.0);
    /// No limit.
    pub const INFINITE: Self = Self(f64::INFINITY);

    /// How many whole segments it holds, if it is finite.
    #[inline]
    pub const fn whole(self) -> SegCount {
        SegCount::new(whole(self.0))
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
