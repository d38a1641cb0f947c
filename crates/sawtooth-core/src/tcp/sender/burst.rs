//! Segments that leave at once, and what is stamped on them.

use super::super::scoreboard::Range;
use super::super::timestamps::Stamp;

/// Full segments that leave at once and differ in nothing but their numbers.
#[derive(Clone, Copy, Debug)]
pub struct Burst {
    /// Which, perhaps none.
    pub segments: Range,
    /// Whether nothing more leaves now.
    pub stops: bool,
    /// All have the same.
    pub stamps: SegmentStamps,
}

/// The timestamps option of a segment.
#[derive(Clone, Copy, Debug)]
pub struct SegmentStamps {
    /// When it leaves (TSval).
    pub value: Stamp,
    /// What the last acknowledgement said of when it left (TSecr).
    pub echo: Stamp,
}

impl SegmentStamps {
    /// There is no such option.
    pub const NONE: Self = Self {
        value: Stamp::NONE,
        echo: Stamp::NONE,
    };
}
