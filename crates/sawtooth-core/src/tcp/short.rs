//! Segments that carry less than a full one, and how many bytes they lack.
//!
//! A bulk transfer has one, its last; a connection of many writes may have as many as writes. Those that are acknowledged are summed up.

use std::collections::VecDeque;

use crate::units::{ByteCount, SeqNum};

/// A segment that is not full.
#[derive(Clone, Copy, Debug)]
pub(super) struct ShortSegment {
    pub seq: SeqNum,
    pub lacking: ByteCount,
}

/// Short segments that others follow, in order.
#[derive(Debug, Default)]
pub(super) struct ShortSegments {
    queue: VecDeque<ShortSegment>,
    /// Bytes missing from acknowledged short segments, summed.
    acked: ByteCount,
}

impl ShortSegments {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Sums up those before `snd_una`, which are acknowledged.
    pub(super) fn on_ack(&mut self, snd_una: SeqNum) {
        while let Some(&ShortSegment { seq, lacking }) = self.queue.front()
            && seq < snd_una
        {
            self.acked += lacking;
            self.queue.pop_front();
        }
    }

    /// Another one, after all others.
    pub(super) fn push(&mut self, short: ShortSegment) {
        self.queue.push_back(short);
    }

    /// What a segment lacks: nothing if it is not one of them.
    pub(super) fn lacking(&self, seq: SeqNum) -> ByteCount {
        let found = self.queue.binary_search_by_key(&seq, |short| short.seq);
        found.map_or(ByteCount::ZERO, |at| self.queue[at].lacking)
    }

    /// What those before `snd_una` lack together.
    pub(super) fn lacking_before(&self, snd_una: SeqNum) -> ByteCount {
        let earlier = self.queue.iter().take_while(|short| short.seq < snd_una);
        let lacking: ByteCount = earlier.map(|short| short.lacking).sum();
        self.acked + lacking
    }

    /// Those that have not been summed up.
    pub(super) fn iter(&self) -> impl Iterator<Item = ShortSegment> {
        self.queue.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::{bytes, seq};

    #[test]
    fn what_is_acknowledged_is_summed_up_and_the_rest_is_known_one_by_one() {
        let mut short = ShortSegments::default();
        for (number, lacking) in [(3, 400), (5, 10), (8, 1)] {
            short.push(ShortSegment {
                seq: seq(number),
                lacking: bytes(lacking),
            });
        }
        assert_eq!(
            [4, 5].map(|number| short.lacking(seq(number))),
            [0, 10].map(bytes)
        );
        assert_eq!(short.lacking_before(seq(8)), bytes(410));
        short.on_ack(seq(5));
        assert_eq!(short.lacking(seq(3)), bytes(0));
        assert_eq!(short.lacking_before(seq(9)), bytes(411));
        assert_eq!(short.iter().count(), 2);
    }
}
