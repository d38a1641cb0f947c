//! What has arrived: everything below `rcv_nxt`, and segments above it that wait for one before them.
//!
//! Specification: RFC 9293 §3.10.7.4 (segments that arrive out of order are kept), RFC 2883 §4 (a segment that arrives again is a duplicate, below `rcv_nxt` or above).

use super::blocks::Blocks;
use crate::packet::DataSegment;
use crate::tcp::params::Config;
use crate::tcp::scoreboard::{Range, RangeSet};
use crate::units::{ByteCount, SegCount, SeqNum};

/// The sequence space of one receiver.
#[derive(Debug)]
pub(super) struct Reassembly {
    rcv_nxt: SeqNum,
    smss: ByteCount,
    out_of_order: RangeSet,
    /// Segments out of order that are not full.
    short: Vec<ShortArrival>,
    pub blocks: Blocks,
}

/// A segment that is shorter than a full one.
#[derive(Debug)]
struct ShortArrival {
    seq: SeqNum,
    lacking: ByteCount,
}

/// What a segment is that comes while others are missing, or comes again.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Disorder {
    /// The one that was expected: with `waited` segments for which it was missing so many bytes are in order now.
    Fills { waited: SegCount, bytes: ByteCount },
    /// It waits for one before it. If it touches no other that waits: besides so many blocks that acknowledgements report.
    Waits { besides: Option<usize> },
    /// It has come before.
    Repeats,
}

impl Reassembly {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            rcv_nxt: SeqNum::ZERO,
            smss: config.smss,
            out_of_order: RangeSet::default(),
            short: Vec::new(),
            blocks: Blocks::new(config),
        }
    }

    /// The next segment expected.
    #[inline]
    pub(super) fn rcv_nxt(&self) -> SeqNum {
        self.rcv_nxt
    }

    /// Whether nothing waits for a segment before it.
    #[inline]
    pub(super) fn is_whole(&self) -> bool {
        self.out_of_order.is_empty()
    }

    /// Whether a segment is the next one, and no other waits for it.
    #[inline]
    pub(super) fn is_next(&self, seq: SeqNum) -> bool {
        seq == self.rcv_nxt && self.out_of_order.is_empty()
    }

    /// That segment comes.
    #[inline]
    pub(super) fn advance(&mut self) {
        self.rcv_nxt = self.rcv_nxt.next();
    }

    /// Any other comes, or one for which others wait.
    pub(super) fn on_disorder(&mut self, data: DataSegment) -> Disorder {
        match data.seq {
            seq if seq < self.rcv_nxt => Disorder::Repeats,
            seq if seq == self.rcv_nxt => self.fill(data),
            _ => self.hold(data),
        }
    }

    fn fill(&mut self, data: DataSegment) -> Disorder {
        let first = self.rcv_nxt.next();
        self.rcv_nxt = self.out_of_order.first_gap(first);
        self.out_of_order.remove_below(self.rcv_nxt);
        let waited = self.rcv_nxt - first;
        let mut lacking = ByteCount::ZERO;
        self.short.retain(|short| {
            let is_filled = short.seq < self.rcv_nxt;
            if is_filled {
                lacking += short.lacking;
            }
            !is_filled
        });
        self.blocks.on_fill(self.rcv_nxt);
        Disorder::Fills {
            waited,
            bytes: data.payload + waited * self.smss - lacking,
        }
    }

    fn hold(&mut self, data: DataSegment) -> Disorder {
        let mut new = false;
        let holder = self
            .out_of_order
            .insert(Range::of(data.seq), |_| new = true);
        if new && data.payload < self.smss {
            self.short.push(ShortArrival {
                seq: data.seq,
                lacking: self.smss - data.payload,
            });
        }
        let besides = self.blocks.on_segment(data.seq, holder);
        if !new {
            return Disorder::Repeats;
        }
        Disorder::Waits { besides }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Params;
    use crate::tcp::PARAMS;

    /// Up to segment 3 everything has come.
    fn established() -> Reassembly {
        let mut reassembly = Reassembly::new(&Config::from(&Params::defaults(PARAMS)));
        for _ in 0..3 {
            reassembly.advance();
        }
        reassembly
    }

    fn segment(seq: u64, payload_bytes: u64) -> DataSegment {
        DataSegment {
            seq: SeqNum::new(seq),
            payload: ByteCount::new(payload_bytes),
            ..DataSegment::default()
        }
    }

    fn filling(waited: u64, bytes: u64) -> Disorder {
        Disorder::Fills {
            waited: SegCount::new(waited),
            bytes: ByteCount::new(bytes),
        }
    }

    #[test]
    fn rfc9293_3_10_7_4_what_waits_for_a_segment_is_in_order_when_it_comes() {
        let mut reassembly = established();
        let full = reassembly.smss.get();
        for (seq, besides) in [(4, Some(0)), (5, None), (7, Some(1))] {
            let waits = reassembly.on_disorder(segment(seq, full));
            assert_eq!(waits, Disorder::Waits { besides }, "{seq}");
        }
        assert!(!reassembly.is_next(SeqNum::new(3)));
        let fills = reassembly.on_disorder(segment(3, full));
        assert_eq!(fills, filling(2, 3 * full));
        assert_eq!(reassembly.rcv_nxt(), SeqNum::new(6));
        assert!(!reassembly.is_whole());
    }

    #[test]
    fn a_short_segment_that_has_waited_counts_with_the_bytes_that_it_has() {
        let mut reassembly = established();
        let full = reassembly.smss.get();
        reassembly.on_disorder(segment(4, 100));
        reassembly.on_disorder(segment(6, 10));
        let fills = reassembly.on_disorder(segment(3, full));
        assert_eq!(fills, filling(1, full + 100));
        let fills = reassembly.on_disorder(segment(5, 20));
        assert_eq!(fills, filling(1, 30));
        assert!(reassembly.is_next(SeqNum::new(7)));
    }

    #[test]
    fn rfc2883_4_a_duplicate_is_one_below_what_is_expected_or_above() {
        let mut reassembly = established();
        assert_eq!(reassembly.on_disorder(segment(2, 1000)), Disorder::Repeats);
        assert_ne!(reassembly.on_disorder(segment(5, 1000)), Disorder::Repeats);
        assert_eq!(reassembly.on_disorder(segment(5, 1000)), Disorder::Repeats);
        assert_eq!(reassembly.rcv_nxt(), SeqNum::new(3));
    }
}
