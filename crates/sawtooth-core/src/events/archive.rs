//! Entries of the lineage that its ring has no room for any more.

use super::ID_MASK;
use crate::units::{Duration, Instant};
use std::collections::VecDeque;

/// Entries of a block; a power of two.
pub(super) const LENGTH: u32 = 1 << 15;

/// An event's line: when it was scheduled, seconds, and its origin. No struct, because of zeroes of this kind `vec!` knows that memory comes as such from the
/// system, and a short run uses little of the megabyte of a ring.
pub(super) type ArchivedLine = (f64, u64);

/// The latest full blocks, none older than `memory`, and at most `BLOCKS`; a block that took longer than `memory` to fill clears the archive.
///
/// Packets of fast links in long queues or on long ways are many more than a block has entries, and links that keep step are told apart by what happened before the first
/// of them. Where a block lasts longer than a round trip nothing is kept.
#[derive(Debug)]
pub(super) struct Archive {
    /// For how long entries are kept.
    memory: Duration,
    /// The latest last, without gaps.
    blocks: VecDeque<Kept>,
    /// The number of the latest block that has been full.
    latest: u32,
    /// When that was.
    full_at: Instant,
}

#[derive(Debug)]
struct Kept {
    entries: Box<[ArchivedLine]>,
    full_at: Instant,
}

impl Archive {
    /// Blocks kept at most: 64 MiB.
    const BLOCKS: usize = 128;

    pub(super) fn new(memory: Duration) -> Self {
        Self {
            memory,
            blocks: VecDeque::new(),
            latest: ID_MASK / LENGTH,
            full_at: Instant::START,
        }
    }

    /// Keeps everything from now on that there is room for.
    pub(super) fn remember_all(&mut self) {
        self.memory = Duration::INFINITE;
    }

    pub(super) fn remembers_all(&self) -> bool {
        self.memory == Duration::INFINITE
    }

    /// The number of the block that comes next.
    pub(super) fn next(&self) -> u32 {
        (self.latest + 1) & (ID_MASK / LENGTH)
    }

    /// The next block has been overwritten before it was kept.
    pub(super) fn skip(&mut self, now: Instant) {
        (self.latest, self.full_at) = (self.next(), now);
        self.blocks.clear();
    }

    /// The next block is full at `now`, and is going to be overwritten.
    pub(super) fn keep(&mut self, entries: &[ArchivedLine], now: Instant) {
        let lasted = now - self.full_at;
        (self.latest, self.full_at) = (self.next(), now);
        if lasted >= self.memory {
            self.blocks.clear();
            return;
        }
        let outlived = |kept: &Kept| now - kept.full_at > self.memory;
        let mut room = None;
        while self.blocks.len() == Self::BLOCKS || self.blocks.front().is_some_and(outlived) {
            room = self.blocks.pop_front().map(|kept| kept.entries);
        }
        let entries = match room {
            None => entries.into(),
            Some(mut room) => {
                room.copy_from_slice(entries);
                room
            }
        };
        self.blocks.push_back(Kept {
            entries,
            full_at: now,
        });
    }

    /// The block of a number, if it has been kept.
    pub(super) fn block(&self, number: u32) -> Option<&[ArchivedLine]> {
        let age = self.latest.wrapping_sub(number) & (ID_MASK / LENGTH);
        let at = self.blocks.len().checked_sub(age as usize + 1)?;
        Some(&self.blocks[at].entries)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::{at, secs};

    fn keep(archive: &mut Archive, first: u64, now: f64) {
        let mut block = vec![(0.0, 0); LENGTH as usize];
        block[0].1 = first;
        archive.keep(&block, at(now));
    }

    /// What the kept blocks of these numbers begin with.
    fn firsts(archive: &Archive, numbers: impl Iterator<Item = u32>) -> Vec<Option<u64>> {
        let first = |number| archive.block(number).map(|block| block[0].1);
        numbers.map(first).collect()
    }

    #[test]
    fn blocks_are_kept_for_as_long_as_they_may_be_asked_for() {
        let mut archive = Archive::new(secs(2.5));
        for number in 0..5_u32 {
            keep(&mut archive, u64::from(number), 1.0 + f64::from(number));
        }
        // Block 2 was full at 3 s, it is 5 s now.
        let kept = [None, None, Some(2), Some(3), Some(4), None];
        assert_eq!(firsts(&archive, 0..6), kept);
    }

    #[test]
    fn nothing_is_kept_where_a_block_lasts_longer_and_before_one_that_was_missed() {
        let mut archive = Archive::new(secs(2.5));
        keep(&mut archive, 7, 1.0);
        assert_eq!(firsts(&archive, 0..1), [Some(7)]);
        keep(&mut archive, 8, 4.0);
        assert_eq!(firsts(&archive, 0..2), [None; 2]);
        keep(&mut archive, 9, 4.5);
        assert_eq!(firsts(&archive, 0..3), [None, None, Some(9)]);
        archive.skip(at(5.0));
        keep(&mut archive, 10, 5.5);
        assert_eq!(firsts(&archive, 2..5), [None, None, Some(10)]);
    }

    #[test]
    fn only_so_many_blocks_are_kept_and_their_numbers_begin_again() {
        let mut archive = Archive::new(secs(1000.0));
        let last = ID_MASK / LENGTH;
        archive.latest = last - 129;
        for number in (last - 128..=last).chain(0..2) {
            keep(&mut archive, u64::from(number), 1.0);
        }
        assert_eq!(firsts(&archive, 0..3), [Some(0), Some(1), None]);
        let oldest = [None, Some(u64::from(last - 125))];
        assert_eq!(firsts(&archive, last - 126..last - 124), oldest);
    }
}
