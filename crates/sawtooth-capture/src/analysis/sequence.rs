//! Sequence numbers without their end: 32 bits made 64, and stretches of them.

use std::ops::Range;

/// Numbers of one direction, counted from the first byte of data: it is 0, and the SYN, where one was seen, is -1 (RFC 9293 §3.4).
#[derive(Clone, Copy, Debug)]
pub(super) struct SequenceSpace {
    origin: u32,
    newest: i64,
}

impl SequenceSpace {
    /// Of which the byte of this number is the first.
    pub(super) fn beginning_at(origin: u32) -> Self {
        Self { origin, newest: 0 }
    }

    /// The number in full: of those that have these 32 bits, the nearest to the last that was asked for.
    pub(super) fn unwrap(&mut self, number: u32) -> i64 {
        let full = self.near(number);
        self.newest = full;
        full
    }

    /// The same, and the next one is not taken to be near it.
    pub(super) fn near(&self, number: u32) -> i64 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "the lower 32 bits are what is compared"
        )]
        let last = self.origin.wrapping_add(self.newest as u32);
        self.newest + i64::from(number.wrapping_sub(last).cast_signed())
    }
}

/// Stretches of numbers, in order and apart from each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Stretches(Vec<Range<i64>>);

/// More stretches than a window can have are taken as one: it bounds the memory.
const MOST: usize = 4096;

impl Stretches {
    /// Adds a stretch; how many of its numbers were not there.
    pub(super) fn add(&mut self, new: Range<i64>) -> i64 {
        if new.is_empty() {
            return 0;
        }
        // Nearly always it continues the last one.
        if let Some(last) = self.0.last_mut()
            && last.end == new.start
        {
            last.end = new.end;
            return new.end - new.start;
        }
        let first = self.0.partition_point(|each| each.end < new.start);
        let after = self.0.partition_point(|each| each.start <= new.end);
        let met = &self.0[first..after];
        let known: i64 = met.iter().map(|each| overlap(each, &new)).sum();
        let start = met
            .first()
            .map_or(new.start, |each| each.start.min(new.start));
        let end = met.last().map_or(new.end, |each| each.end.max(new.end));
        self.0.splice(first..after, std::iter::once(start..end));
        if self.0.len() > MOST {
            let joined = self.0[0].start..self.0[1].end;
            self.0.splice(0..2, std::iter::once(joined));
        }
        new.end - new.start - known
    }

    /// How many of these numbers are there.
    pub(super) fn within(&self, asked: &Range<i64>) -> i64 {
        let first = self.0.partition_point(|each| each.end <= asked.start);
        let met = self.0[first..]
            .iter()
            .take_while(|each| each.start < asked.end);
        met.map(|each| overlap(each, asked)).sum()
    }

    /// Whether any number is there.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many numbers there are.
    pub(super) fn count(&self) -> i64 {
        self.0.iter().map(|each| each.end - each.start).sum()
    }

    /// Forgets what is below a number.
    pub(super) fn forget_below(&mut self, floor: i64) {
        let gone = self.0.partition_point(|each| each.end <= floor);
        self.0.drain(..gone);
        if let Some(first) = self.0.first_mut() {
            first.start = first.start.max(floor);
        }
    }
}

fn overlap(one: &Range<i64>, other: &Range<i64>) -> i64 {
    (one.end.min(other.end) - one.start.max(other.start)).max(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_on_beyond_32_bits_and_back() {
        let mut space = SequenceSpace::beginning_at(0xffff_ff00);
        assert_eq!(space.unwrap(0xffff_feff), -1);
        assert_eq!(space.unwrap(0x10), 0x110);
        assert_eq!(space.unwrap(0x4000_0000), 0x4000_0100);
        assert_eq!(space.unwrap(0x9000_0000), 0x9000_0100);
        assert_eq!(space.unwrap(0x10), 0x1_0000_0110);
        assert_eq!(space.unwrap(0xffff_fff0), 0x1_0000_00f0);
    }

    #[test]
    fn what_is_added_twice_is_counted_once() {
        let mut all = Stretches::default();
        assert_eq!(all.add(0..10), 10);
        assert_eq!(all.add(20..30), 10);
        assert_eq!(all.add(40..50), 10);
        assert_eq!(all.add(5..25), 10);
        assert_eq!(all.add(0..60), 20);
        assert_eq!(all.add(3..7), 0);
        assert_eq!((all.count(), all.within(&(50..70))), (60, 10));
        all.forget_below(55);
        assert_eq!((all.count(), all.within(&(0..55))), (5, 0));
    }
}
