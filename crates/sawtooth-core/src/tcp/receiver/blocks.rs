//! Which SACK blocks an acknowledgement reports, and in which order.
//!
//! Specification: RFC 2018 §4: the first block has the segment that caused the acknowledgement; those that follow repeat the blocks that were reported last.
//!
//! Deviations: with `forgets_blocks`, as measured of Linux 6.1, what came before around a segment is in its block only as far as it is among the last four blocks: of the segments 52 to 54, which had come
//! 120 ms before and had been followed by four other blocks, the acknowledgement of 51 told none. A sender had heard of them.

use crate::tcp::params::Config;
use crate::tcp::scoreboard::{Range, SackBlocks};
use crate::units::SeqNum;

/// The blocks of one receiver.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Whether acknowledgements report any.
    is_selective: bool,
    most: usize,
    /// Whether one of them is of a segment that came again.
    has_dsack: bool,
    /// Whether what came before is known by the ranges below alone.
    forgets: bool,
    /// The ranges last reported, newest first.
    recent: Vec<Range>,
}

/// Where no more is known of what came before, so many of its ranges are.
const REMEMBERED: usize = 4;

impl Blocks {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            is_selective: config.recovery.has_sack(),
            most: config.max_sack_blocks,
            has_dsack: config.reports_repetitions(),
            forgets: config.forgets_blocks,
            recent: Vec::new(),
        }
    }

    /// Segment `seq` comes out of order, after which `holder` is all that has come around it; how many other blocks there are, if it begins one.
    pub(super) fn on_segment(&mut self, seq: SeqNum, holder: Range) -> Option<usize> {
        let holder = if self.forgets {
            self.known_around(seq)
        } else {
            holder
        };
        if let Some((newest, others)) = self.recent.split_first_mut()
            && newest.start == holder.start
            && !others.iter().any(|range| holder.contains(range.start))
        {
            // It goes on where the last one came.
            newest.end = holder.end;
            return None;
        }
        self.recent.retain(|range| !holder.contains(range.start));
        let others = self.recent.len();
        self.recent.insert(0, holder);
        let kept = if self.forgets { REMEMBERED } else { self.most };
        self.recent.truncate(kept);
        (holder == Range::of(seq)).then_some(others)
    }

    /// A segment with the ranges next to it that are remembered.
    fn known_around(&self, seq: SeqNum) -> Range {
        let mut known = Range::of(seq);
        for range in &self.recent {
            if range.start <= known.end && known.start <= range.end {
                known.start = known.start.min(range.start);
                known.end = known.end.max(range.end);
            }
        }
        known
    }

    /// A hole is filled, and `rcv_nxt` the next segment expected.
    pub(super) fn on_fill(&mut self, rcv_nxt: SeqNum) {
        self.recent.retain(|range| range.start > rcv_nxt);
    }

    /// The blocks of an acknowledgement that expects `rcv_nxt` next; `repeats`: before them one reports a segment that came again (RFC 2883 §4).
    pub(super) fn report(&self, rcv_nxt: SeqNum, repeats: bool) -> SackBlocks {
        let mut sack = SackBlocks::default();
        if self.is_selective {
            let most = self.most - usize::from(repeats && self.has_dsack);
            for range in self.recent.iter().take(most) {
                sack.push(rcv_nxt, *range);
            }
        }
        sack
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Params, Value};
    use crate::tcp::PARAMS;

    fn blocks(recovery: &'static str) -> Blocks {
        let mut params = Params::defaults(PARAMS);
        params.set("recovery", Value::Choice(recovery));
        Blocks::new(&Config::from(&params))
    }

    fn range(start: u64, end: u64) -> Range {
        Range {
            start: SeqNum::new(start),
            end: SeqNum::new(end),
        }
    }

    fn reported(blocks: &Blocks, rcv_nxt: u64) -> Vec<Range> {
        let rcv_nxt = SeqNum::new(rcv_nxt);
        blocks.report(rcv_nxt, false).ranges(rcv_nxt).collect()
    }

    #[test]
    fn rfc2018_4_the_first_block_has_the_newest_segment_and_the_others_are_those_last_reported() {
        let mut blocks = blocks("sack");
        for (holder, others) in [
            (range(10, 11), Some(0)),
            (range(20, 21), Some(1)),
            (range(30, 31), Some(2)),
            (range(40, 41), Some(3)),
            (range(20, 22), None),
        ] {
            let seq = SeqNum::new(holder.end.get() - 1);
            assert_eq!(blocks.on_segment(seq, holder), others, "{holder:?}");
        }
        // Three of them: the block from 10 on was reported longest ago.
        assert_eq!(
            reported(&blocks, 5),
            [range(20, 22), range(40, 41), range(30, 31)]
        );
    }

    #[test]
    fn rfc2883_4_one_block_fewer_has_room_beside_that_of_a_segment_that_came_again() {
        for (recovery, ns2, room) in [("sack", false, 2), ("sack", true, 3), ("newreno", false, 0)]
        {
            let mut params = Params::defaults(PARAMS);
            params.set("recovery", Value::Choice(recovery));
            params.set(
                "algorithms",
                Value::Choice(if ns2 { "ns2" } else { "specification" }),
            );
            let mut blocks = Blocks::new(&Config::from(&params));
            for start in [10, 20, 30] {
                blocks.on_segment(SeqNum::new(start), range(start, start + 1));
            }
            assert_eq!(
                blocks.report(SeqNum::new(5), true).len(),
                room,
                "{recovery}"
            );
        }
    }

    #[test]
    fn what_came_before_four_other_blocks_is_not_in_the_block_of_a_segment_next_to_it() {
        let mut blocks = blocks("sack");
        blocks.forgets = true;
        let mut come = |seq, holder| {
            blocks.on_segment(SeqNum::new(seq), holder);
            reported(&blocks, 5)
        };
        come(52, range(52, 53));
        come(53, range(52, 54));
        for seq in [60, 70, 80] {
            come(seq, range(seq, seq + 1));
        }
        assert_eq!(
            come(51, range(51, 54)),
            [range(51, 54), range(80, 81), range(70, 71)]
        );
        come(90, range(90, 91));
        come(100, range(100, 101));
        // Those of 70 and 60 are forgotten.
        assert_eq!(
            come(71, range(70, 72)),
            [range(71, 72), range(100, 101), range(90, 91)]
        );
    }

    #[test]
    fn what_is_below_the_next_segment_expected_is_no_block() {
        let mut blocks = blocks("sack");
        blocks.on_segment(SeqNum::new(7), range(6, 8));
        blocks.on_segment(SeqNum::new(10), range(10, 11));
        blocks.on_fill(SeqNum::new(8));
        assert_eq!(reported(&blocks, 8), [range(10, 11)]);
    }

    #[test]
    fn a_receiver_without_sack_reports_none() {
        let mut blocks = blocks("newreno");
        blocks.on_segment(SeqNum::new(7), range(6, 8));
        assert!(reported(&blocks, 5).is_empty());
    }
}
