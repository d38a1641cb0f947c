//! What has arrived out of order: sorted ranges of segment numbers, kept by the receiver (to build SACK blocks, RFC 2018) and
//! by the sender (the scoreboard of RFC 6675 §3).

use std::collections::VecDeque;

/// A half-open range of segment numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Range {
    pub start: u64,
    pub end: u64,
}

impl Range {
    #[inline]
    pub fn length(self) -> u64 {
        self.end - self.start
    }

    #[inline]
    pub fn contains(self, seq: u64) -> bool {
        self.start <= seq && seq < self.end
    }
}

/// Up to three SACK blocks, relative to the acknowledgement's `next`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SackBlocks {
    blocks: [(u32, u32); 3],
    count: u8,
}

impl SackBlocks {
    /// Adds `range`, given the acknowledgement's `next`. There must be room.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "blocks lie within a window of `next`"
    )]
    pub fn push(&mut self, next: u64, range: Range) {
        self.blocks[usize::from(self.count)] =
            ((range.start - next) as u32, (range.end - next) as u32);
        self.count += 1;
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    #[inline]
    pub fn len(&self) -> u32 {
        u32::from(self.count)
    }

    /// The blocks in the order of the option.
    pub fn ranges(&self, next: u64) -> impl Iterator<Item = Range> + '_ {
        self.blocks[..usize::from(self.count)]
            .iter()
            .map(move |&(start, end)| Range {
                start: next + u64::from(start),
                end: next + u64::from(end),
            })
    }
}

/// A set of segment numbers as disjoint, non-adjacent, ascending ranges.
#[derive(Clone, Debug, Default)]
pub struct RangeSet {
    ranges: VecDeque<Range>,
    total: u64,
}

impl RangeSet {
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// How many segments are in the set.
    #[inline]
    pub fn total(&self) -> u64 {
        self.total
    }

    pub fn clear(&mut self) {
        self.ranges.clear();
        self.total = 0;
    }

    /// The end of the last range.
    pub fn end(&self) -> Option<u64> {
        self.ranges.back().map(|range| range.end)
    }

    /// The first range.
    pub fn first(&self) -> Option<Range> {
        self.ranges.front().copied()
    }

    /// The range that holds `seq`.
    pub fn range_of(&self, seq: u64) -> Option<Range> {
        let at = self.ranges.partition_point(|range| range.end <= seq);
        self.ranges
            .get(at)
            .copied()
            .filter(|range| range.contains(seq))
    }

    /// Adds `new`; calls `added` with each part that was not there before. Returns the range that now holds it.
    pub fn insert(&mut self, new: Range, mut added: impl FnMut(Range)) -> Range {
        // The ranges that touch or overlap `new` are [first, last).
        let first = self.ranges.partition_point(|range| range.end < new.start);
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
            self.ranges.drain(first + 1..last);
        }
        merged
    }

    /// Removes `seq`; whether it was there.
    pub fn remove(&mut self, seq: u64) -> bool {
        let at = self.ranges.partition_point(|range| range.end <= seq);
        let Some(range) = self.ranges.get_mut(at).filter(|range| range.contains(seq)) else {
            return false;
        };
        let rest = Range {
            start: seq + 1,
            end: range.end,
        };
        range.end = seq;
        let begins = range.length() == 0;
        self.total -= 1;
        match (begins, rest.length() == 0) {
            (true, true) => drop(self.ranges.remove(at)),
            (true, false) => self.ranges[at] = rest,
            (false, true) => {}
            (false, false) => self.ranges.insert(at + 1, rest),
        }
        true
    }

    /// Removes everything below `bound`; returns how many segments that were.
    pub fn remove_below(&mut self, bound: u64) -> u64 {
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
    pub fn first_gap(&self, from: u64) -> u64 {
        self.range_of(from).map_or(from, |range| range.end)
    }

    /// The last segment below `bound` that is not in the set; there must be one.
    pub fn last_gap(&self, bound: u64) -> u64 {
        let last = bound - 1;
        self.range_of(last).map_or(last, |range| range.start - 1)
    }

    /// The `n`-th highest segment of the set (1 is the highest).
    pub fn nth_highest(&self, n: u64) -> Option<u64> {
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
    pub fn count(&self, within: Range) -> u64 {
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
                if remove {
                    prop_assert_eq!(set.remove(start), model.remove(&start));
                } else if cut {
                    let removed = set.remove_below(start);
                    let kept = model.split_off(&start);
                    prop_assert_eq!(removed, model.len() as u64);
                    model = kept;
                } else {
                    let mut news = Vec::new();
                    let range = Range { start, end: start + length };
                    let holder = set.insert(range, |part| news.extend(part.start..part.end));
                    let expected: Vec<u64> = (range.start..range.end).filter(|seq| model.insert(*seq)).collect();
                    prop_assert_eq!(news, expected);
                    prop_assert!(holder.start <= range.start && range.end <= holder.end);
                }
                prop_assert_eq!(set.total(), model.len() as u64);
            }
            let gap = (from..1000).find(|seq| !model.contains(seq)).expect("finite set");
            prop_assert_eq!(set.first_gap(from), gap);
            let nth = model.iter().rev().nth(usize::try_from(n - 1).expect("small")).copied();
            prop_assert_eq!(set.nth_highest(n), nth);
            let within = Range { start: from, end: from + n };
            prop_assert_eq!(set.count(within), model.range(from..from + n).count() as u64);
            prop_assert_eq!(set.end(), model.iter().next_back().map(|seq| seq + 1));
        }
    }
}
