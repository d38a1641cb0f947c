//! Units in one word, for the numbers of tests.

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
