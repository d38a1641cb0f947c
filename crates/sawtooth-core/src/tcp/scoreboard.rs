//! What has arrived out of order: sorted ranges of segment numbers, kept by the receiver (to build SACK blocks, RFC 2018) and
//! by the sender (the scoreboard of RFC 6675 §3).

use std::collections::VecDeque;

use crate::units::{SegCount, SeqNum};

/// A half-open range of segment numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    /// The first segment in it.
    pub start: SeqNum,
    /// The one after its last.
    pub end: SeqNum,
}

impl Range {
    /// No segment.
    pub const NONE: Self = Self {
        start: SeqNum::ZERO,
        end: SeqNum::ZERO,
    };

    /// Segment `seq` alone.
    #[inline]
    pub fn of(seq: SeqNum) -> Self {
        Self {
            start: seq,
            end: seq.next(),
        }
    }

    /// How many segments are in it.
    #[inline]
    pub fn length(self) -> SegCount {
        self.end - self.start
    }

    /// The segments in it.
    #[inline]
    pub fn seqs(self) -> impl Iterator<Item = SeqNum> {
        self.start.up_to(self.end)
    }

    /// Whether `seq` is in it; `end` is not.
    #[inline]
    pub fn contains(self, seq: SeqNum) -> bool {
        self.start <= seq && seq < self.end
    }
}

/// Up to three SACK blocks, relative to the acknowledgement's `next`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); Self::MOST],
    count: u8,
}

impl SackBlocks {
    /// Those that have room beside timestamps.
    pub const MOST: usize = 3;

    /// Adds `range`, given the acknowledgement's `next`. There must be room.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "blocks lie within a window of `next`"
    )]
    pub fn push(&mut self, next: SeqNum, range: Range) {
        let relative = |seq: SeqNum| (seq - next).get() as u32;
        self.blocks[usize::from(self.count)] = (relative(range.start), relative(range.end));
        self.count += 1;
    }

    /// Whether the acknowledgement carries no block.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// How many blocks there are, 3 at most.
    #[inline]
    pub fn len(&self) -> u32 {
        u32::from(self.count)
    }

    /// The blocks in the order of the option.
    pub fn ranges(&self, next: SeqNum) -> impl Iterator<Item = Range> + '_ {
        let beyond = move |relative: u32| next + SegCount::new(u64::from(relative));
        self.blocks[..usize::from(self.count)]
            .iter()
            .map(move |&(start, end)| Range {
                start: beyond(start),
                end: beyond(end),
            })
    }
}

/// A set of segment numbers as disjoint, non-adjacent, ascending ranges.
#[derive(Clone, Debug, Default)]
pub struct RangeSet {
    ranges: VecDeque<Range>,
    total: SegCount,
}

impl RangeSet {
    /// Whether no segment is in the set.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many segments are in the set.
    #[inline]
    pub fn total(&self) -> SegCount {
        self.total
    }

    /// Forgets all segments; memory is kept for those to come.
    pub fn clear(&mut self) {
        self.ranges.clear();
        self.total = SegCount::ZERO;
    }

    /// The end of the last range.
    pub fn end(&self) -> Option<SeqNum> {
        self.ranges.back().map(|range| range.end)
    }

    /// The first range.
    pub fn first(&self) -> Option<Range> {
        self.ranges.front().copied()
    }

    /// The range that holds `seq`.
    pub fn range_of(&self, seq: SeqNum) -> Option<Range> {
        let at = self.ranges.partition_point(|range| range.end <= seq);
        self.ranges
            .get(at)
            .copied()
            .filter(|range| range.contains(seq))
    }

    /// Adds `new`; calls `added` with each part that was not there before. Returns the range that now holds it.
    #[inline]
    pub fn insert(&mut self, new: Range, mut added: impl FnMut(Range)) -> Range {
        match self.ranges.back_mut() {
            Some(last) if new.start < last.start => self.insert_before(new, added),
            Some(last) if new.end <= last.end => *last,
            Some(last) if new.start <= last.end => {
                let part = Range {
                    start: last.end,
                    end: new.end,
                };
                last.end = new.end;
                let holder = *last;
                self.total += part.length();
                added(part);
                holder
            }
            _ => {
                self.ranges.push_back(new);
                self.total += new.length();
                added(new);
                new
            }
        }
    }

    /// The same for a range that begins before the last one does.
    #[inline(never)]
    fn insert_before(&mut self, new: Range, mut added: impl FnMut(Range)) -> Range {
        // The ranges that touch or overlap `new` are [first, last).
        let first = self.first_touching(new.start);
        if let Some(range) = self.ranges.get(first)
            && range.start <= new.start
            && new.end <= range.end
        {
            return *range;
        }
        let mut merged = new;
        let mut last = first;
        let mut from = new.start;
        while let Some(&range) = self.ranges.get(last) {
            if range.start > new.end {
                break;
            }
            if range.start > from {
                self.total += range.start - from;
                added(Range {
                    start: from,
                    end: range.start,
                });
            }
            from = from.max(range.end);
            merged = Range {
                start: merged.start.min(range.start),
                end: merged.end.max(range.end),
            };
            last += 1;
        }
        if from < new.end {
            self.total += new.end - from;
            added(Range {
                start: from,
                end: new.end,
            });
        }
        if first == last {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            // Draining nothing takes a deque as long as draining something.
            if last > first + 1 {
                self.ranges.drain(first + 1..last);
            }
        }
        merged
    }

    /// Where the first range is that ends at `start` or after it. Most are added near the end.
    #[inline]
    fn first_touching(&self, start: SeqNum) -> usize {
        const NEAR: usize = 4;
        let last = self.ranges.iter().rev().take(NEAR);
        let after = last.take_while(|range| range.end >= start).count();
        if after < NEAR {
            self.ranges.len() - after
        } else {
            self.ranges.partition_point(|range| range.end < start)
        }
    }

    /// Removes `seq`; whether it was there.
    pub fn remove(&mut self, seq: SeqNum) -> bool {
        let at = self.ranges.partition_point(|range| range.end <= seq);
        let Some(range) = self.ranges.get_mut(at).filter(|range| range.contains(seq)) else {
            return false;
        };
        let rest = Range {
            start: seq.next(),
            end: range.end,
        };
        range.end = seq;
        let begins = range.length().is_zero();
        self.total -= SegCount::ONE;
        match (begins, rest.length().is_zero()) {
            (true, true) => drop(self.ranges.remove(at)),
            (true, false) => self.ranges[at] = rest,
            (false, true) => {}
            (false, false) => self.ranges.insert(at + 1, rest),
        }
        true
    }

    /// Removes everything below `bound`; returns how many segments that were.
    pub fn remove_below(&mut self, bound: SeqNum) -> SegCount {
        let before = self.total;
        while let Some(front) = self.ranges.front_mut() {
            if front.end <= bound {
                self.total -= front.length();
                self.ranges.pop_front();
            } else {
                if front.start < bound {
                    self.total -= bound - front.start;
                    front.start = bound;
                }
                break;
            }
        }
        before - self.total
    }

    /// The first segment at or above `from` that is not in the set.
    pub fn first_gap(&self, from: SeqNum) -> SeqNum {
        self.range_of(from).map_or(from, |range| range.end)
    }

    /// The last segment below `bound` that is not in the set; there must be one.
    pub fn last_gap(&self, bound: SeqNum) -> SeqNum {
        let last = bound - SegCount::ONE;
        self.range_of(last)
            .map_or(last, |range| range.start - SegCount::ONE)
    }

    /// The `n`-th highest segment of the set (1 is the highest).
    pub fn nth_highest(&self, n: SegCount) -> Option<SeqNum> {
        let mut left = n;
        for range in self.ranges.iter().rev() {
            if left <= range.length() {
                return Some(range.end - left);
            }
            left -= range.length();
        }
        None
    }

    /// How many segments of the set lie in `within`.
    pub fn count(&self, within: Range) -> SegCount {
        let first = self
            .ranges
            .partition_point(|range| range.end <= within.start);
        self.ranges
            .range(first..)
            .take_while(|range| range.start < within.end)
            .map(|range| range.end.min(within.end) - range.start.max(within.start))
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn seqs(seqs: std::ops::Range<u64>) -> impl Iterator<Item = SeqNum> {
        SeqNum::new(seqs.start).up_to(SeqNum::new(seqs.end))
    }

    proptest! {
        #[test]
        fn a_range_set_is_the_set_of_its_members(
            steps in prop::collection::vec((0u64..60, 1u64..8, prop::bool::weighted(0.1), prop::bool::weighted(0.2)), 1..60),
            from in 0u64..70,
            n in 1u64..20,
        ) {
            let mut set = RangeSet::default();
            let mut model = BTreeSet::new();
            for (start, length, cut, remove) in steps {
                let range = Range { start: SeqNum::new(start), end: SeqNum::new(start + length) };
                if remove {
                    prop_assert_eq!(set.remove(range.start), model.remove(&range.start));
                } else if cut {
                    let removed = set.remove_below(range.start);
                    let kept = model.split_off(&range.start);
                    prop_assert_eq!(removed.get(), model.len() as u64);
                    model = kept;
                } else {
                    let mut news = Vec::new();
                    let holder = set.insert(range, |part| news.extend(part.start.up_to(part.end)));
                    let expected: Vec<SeqNum> = range.start.up_to(range.end).filter(|seq| model.insert(*seq)).collect();
                    prop_assert_eq!(news, expected);
                    prop_assert!(holder.start <= range.start && range.end <= holder.end);
                }
                prop_assert_eq!(set.total().get(), model.len() as u64);
            }
            let gap = seqs(from..1000).find(|seq| !model.contains(seq)).expect("finite set");
            prop_assert_eq!(set.first_gap(SeqNum::new(from)), gap);
            let nth = model.iter().rev().nth(usize::try_from(n - 1).expect("small")).copied();
            prop_assert_eq!(set.nth_highest(SegCount::new(n)), nth);
            let within = Range { start: SeqNum::new(from), end: SeqNum::new(from + n) };
            prop_assert_eq!(set.count(within).get(), model.range(within.start..within.end).count() as u64);
            prop_assert_eq!(set.end(), model.iter().next_back().map(|seq| seq.next()));
        }
    }
}
