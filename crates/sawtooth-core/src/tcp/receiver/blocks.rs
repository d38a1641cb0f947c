//! Which SACK blocks an acknowledgement reports, and in which order.
//!
//! Specification: RFC 2018 §4: the first block has the segment that caused the acknowledgement; those that follow repeat the blocks that were reported last.

use crate::tcp::params::Config;
use crate::tcp::scoreboard::{Range, SackBlocks};
use crate::units::SeqNum;

/// The blocks of one receiver.
#[derive(Debug)]
pub(super) struct Blocks {
    /// Whether acknowledgements report any.
    is_selective: bool,
    most: usize,
    /// The ranges last reported, newest first.
    recent: Vec<Range>,
}

impl Blocks {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            is_selective: config.recovery.has_sack(),
            most: config.max_sack_blocks,
            recent: Vec::new(),
        }
    }

    /// A segment comes out of order, after which `holder` is all that has come around it; how many other blocks there are.
    pub(super) fn on_segment(&mut self, holder: Range) -> usize {
        if let Some((newest, others)) = self.recent.split_first_mut()
            && newest.start == holder.start
            && !others.iter().any(|range| holder.contains(range.start))
        {
            // It goes on where the last one came.
            newest.end = holder.end;
            return others.len();
        }
        self.recent.retain(|range| !holder.contains(range.start));
        let others = self.recent.len();
        self.recent.insert(0, holder);
        self.recent.truncate(self.most);
        others
    }

    /// A hole is filled, and `rcv_nxt` the next segment expected.
    pub(super) fn on_fill(&mut self, rcv_nxt: SeqNum) {
        self.recent.retain(|range| range.start > rcv_nxt);
    }

    /// The blocks of an acknowledgement that expects `rcv_nxt` next.
    pub(super) fn report(&self, rcv_nxt: SeqNum) -> SackBlocks {
        let mut sack = SackBlocks::default();
        if self.is_selective {
            for range in &self.recent {
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
        blocks.report(rcv_nxt).ranges(rcv_nxt).collect()
    }

    #[test]
    fn rfc2018_4_the_first_block_has_the_newest_segment_and_the_others_are_those_last_reported() {
        let mut blocks = blocks("sack");
        for (holder, others) in [
            (range(10, 11), 0),
            (range(20, 21), 1),
            (range(30, 31), 2),
            (range(40, 41), 3),
            (range(20, 22), 2),
        ] {
            assert_eq!(blocks.on_segment(holder), others, "{holder:?}");
        }
        // Three of them: the block from 10 on was reported longest ago.
        assert_eq!(
            reported(&blocks, 5),
            [range(20, 22), range(40, 41), range(30, 31)]
        );
    }

    #[test]
    fn what_is_below_the_next_segment_expected_is_no_block() {
        let mut blocks = blocks("sack");
        blocks.on_segment(range(6, 8));
        blocks.on_segment(range(10, 11));
        blocks.on_fill(SeqNum::new(8));
        assert_eq!(reported(&blocks, 8), [range(10, 11)]);
    }

    #[test]
    fn a_receiver_without_sack_reports_none() {
        let mut blocks = blocks("newreno");
        blocks.on_segment(range(6, 8));
        assert!(reported(&blocks, 5).is_empty());
    }
}
