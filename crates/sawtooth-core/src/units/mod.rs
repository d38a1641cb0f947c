//! Times, rates, sequence numbers and sizes as types, so that no bare number with a unit crosses a function boundary.
//!
//! What has a meaning has an operator, and nothing else has: an instant less an instant is a duration, a sequence number less another is a count of segments, and
//! two sequence numbers cannot be added. Bare numbers stand in the private code of formulas, which are written as their papers have them, in seconds and segments.
//!
//! Time is binary64 seconds. Which of two coincident packets a full queue drops is decided by rounding, and ns-2, which this
//! simulator is held against, computes in binary64 seconds; additions, multiplications and divisions are the same on every
//! machine (IEEE 754), so runs are still reproducible to the bit.

#[macro_use]
mod macros;
mod counts;
pub(crate) mod rounding;
#[cfg(test)]
pub(crate) mod testing;
pub(crate) mod time;
mod window;

pub use counts::{ByteCount, SegCount, SeqNum};
pub(crate) use rounding::{ceil, floor, nearest, whole};
pub(crate) use time::mean_rate_bps;
pub use time::{Duration, Instant, Rate};
pub use window::WindowSize;
