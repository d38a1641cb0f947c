//! How a receiver finds out how large its buffer has to be.
//!
//! Specification: Fisk and Feng 2001, "Dynamic Right-Sizing in TCP": what the application has read in a round trip tells how large the window must be. How much more than
//! that is as measured of Linux 6.1 (`mod.rs`).

use crate::units::{ByteCount, Duration, Instant, SegCount};

/// What is taken for the first round trip.
const FIRST_ROUND: SegCount = SegCount::new(10);
/// What is added to what a round trip needs.
const SPARE: SegCount = SegCount::new(16);
/// Clocks are binary fractions: a round trip is over that is this close to its end.
const HAIR: Duration = Duration::from_secs(1e-9);

/// Dynamic right-sizing of one receive buffer.
#[derive(Debug)]
pub(super) struct Tuning {
    is_on: bool,
    smss: ByteCount,
    /// When the current round trip began, what had been read then, and what was read in the largest one so far.
    start: Instant,
    read: ByteCount,
    largest: ByteCount,
}

impl Tuning {
    /// Where it is not on, round trips are counted and nothing follows from them.
    pub(super) fn new(is_on: bool, smss: ByteCount) -> Self {
        Self {
            is_on,
            smss,
            start: Instant::default(),
            read: ByteCount::ZERO,
            largest: ByteCount::ZERO,
        }
    }

    /// What was read in the largest round trip so far.
    #[cfg(test)]
    pub(super) fn largest(&self) -> ByteCount {
        self.largest
    }

    /// The connection is established, and its window has opened so far.
    pub(super) fn begin(&mut self, now: Instant, open: ByteCount) {
        self.largest = (FIRST_ROUND * self.smss).min(open);
        self.start = now;
    }

    /// The application has read `read` bytes in all; the round trip is known. What the buffer needs now, if a round trip is over in which more was read than in any before.
    #[inline]
    pub(super) fn on_read(
        &mut self,
        now: Instant,
        read: ByteCount,
        rtt: Duration,
    ) -> Option<ByteCount> {
        if now - self.start < rtt - HAIR {
            return None;
        }
        self.on_round(now, read)
    }

    /// A round trip is over.
    #[inline(never)]
    fn on_round(&mut self, now: Instant, read: ByteCount) -> Option<ByteCount> {
        let copied = read - self.read;
        let mut needed = None;
        if copied > self.largest {
            needed = self.is_on.then(|| self.needed(copied));
            self.largest = copied;
        }
        self.start = now;
        self.read = read;
        needed
    }

    /// What a round trip needs in which so much was read: that twice and something to spare, and twice as much more as it was more than in the largest before.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "sizes of buffers"
    )]
    fn needed(&self, copied: ByteCount) -> ByteCount {
        let needed = copied * 2 + SPARE * self.smss;
        let largest = self.largest.max(ByteCount::new(1));
        let growth = (copied - self.largest).as_f64() / largest.as_f64();
        needed + ByteCount::new((needed.as_f64() * growth) as u64) * 2
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn begin(tuning: &mut Tuning) {
        tuning.begin(Instant::from_secs(0.0), ByteCount::new(65_000));
    }

    /// What the buffer needs when so much has been read in all at a time; round trips take a second.
    fn needed(tuning: &mut Tuning, secs: f64, read: u64) -> Option<u64> {
        let (now, read) = (Instant::from_secs(secs), ByteCount::new(read));
        let needed = tuning.on_read(now, read, Duration::from_secs(1.0));
        needed.map(ByteCount::get)
    }

    #[test]
    fn a_round_trip_in_which_more_was_read_needs_twice_that_and_as_much_more_again_as_it_grew() {
        let mut tuning = Tuning::new(true, ByteCount::new(1000));
        begin(&mut tuning);
        assert_eq!(needed(&mut tuning, 0.5, 15_000), None, "it is not over");
        // Half as much again as the first ten segments: 2 * 15 + 16 segments, and once that.
        assert_eq!(needed(&mut tuning, 1.0, 15_000), Some(2 * 46_000));
        assert_eq!(needed(&mut tuning, 2.0, 30_000), None, "it was not more");
        assert_eq!(needed(&mut tuning, 3.0, 60_000), Some(3 * 76_000));
    }

    #[test]
    fn a_buffer_that_is_not_tuned_needs_nothing() {
        let mut tuning = Tuning::new(false, ByteCount::new(1000));
        begin(&mut tuning);
        assert_eq!(needed(&mut tuning, 1.0, 15_000), None);
    }
}
