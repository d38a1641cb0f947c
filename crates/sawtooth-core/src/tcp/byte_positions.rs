//! Where segments begin, as numbers of bytes.
//!
//! A segment keeps its size once it is sent (`stream.rs`), and segments are sent for the first time in the order of their numbers. So a row for each change of size is enough.

use crate::packet::DataSegment;
use crate::units::{ByteCount, SegCount, SeqNum};

/// The segments of one sender that have been sent.
#[derive(Debug, Default)]
pub(crate) struct BytePositions {
    /// Of each row of segments of one length, by their first.
    rows: Vec<SegmentRow>,
    /// One past the last that has been sent.
    next: SeqNum,
}

/// Segments of one length.
#[derive(Clone, Copy, Debug)]
struct SegmentRow {
    first: SeqNum,
    /// Where the first begins.
    start: ByteCount,
    /// Numbers that each takes.
    each: ByteCount,
}

impl SegmentRow {
    fn of(self, seq: SeqNum) -> ByteCount {
        self.start + self.each * (seq - self.first).get()
    }
}

impl BytePositions {
    /// A segment is sent, perhaps again.
    pub(crate) fn learn(&mut self, data: DataSegment) {
        if data.seq < self.next {
            return;
        }
        debug_assert_eq!(data.seq, self.next, "segments leave in their order");
        let syn = data.is_syn();
        let each = data.payload + ByteCount::from(u32::from(data.fin || syn));
        let start = match self.rows.last() {
            Some(row) => row.of(data.seq),
            None => ByteCount::from(u32::from(!syn)),
        };
        if self.rows.last().is_none_or(|row| row.each != each) {
            self.rows.push(SegmentRow {
                first: data.seq,
                start,
                each,
            });
        }
        self.next = data.seq + SegCount::ONE;
    }

    /// The number of the first byte of a segment that has been sent, or the one after the last of all.
    pub(crate) fn of(&self, seq: SeqNum) -> ByteCount {
        let at = self.rows.partition_point(|row| row.first <= seq);
        match at.checked_sub(1) {
            Some(at) => self.rows[at].of(seq),
            None => ByteCount::new(1),
        }
    }

    /// The segment that begins with a byte, of those that have been sent, or the one after the last of all.
    pub(crate) fn beginning_at(&self, byte: ByteCount) -> Option<SeqNum> {
        let at = self.rows.partition_point(|row| row.start <= byte);
        let row = self.rows.get(at.checked_sub(1)?)?;
        let beyond = (byte - row.start).get();
        let each = row.each.get().max(1);
        let seq = row.first + SegCount::new(beyond / each);
        (beyond.is_multiple_of(each) && seq <= self.next).then_some(seq)
    }

    /// The number of the byte after all that have been sent.
    pub(crate) fn end(&self) -> ByteCount {
        self.of(self.next)
    }

    /// The segment after all that have been sent.
    pub(crate) fn following(&self) -> SeqNum {
        self.next
    }

    /// Whether the first segment is a SYN.
    pub(crate) fn begins_with_syn(&self) -> bool {
        self.rows.first().is_some_and(|row| row.start.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::{bytes, seq};

    fn sent(segments: &[(u64, u64, bool)]) -> BytePositions {
        let mut positions = BytePositions::default();
        for (number, payload, fin) in segments {
            positions.learn(DataSegment {
                seq: seq(*number),
                payload: bytes(*payload),
                fin: *fin,
                ..DataSegment::default()
            });
        }
        positions
    }

    fn starts(positions: &BytePositions, end: u64) -> Vec<u64> {
        let segments = 0..=end;
        segments.map(|at| positions.of(seq(at)).get()).collect()
    }

    #[test]
    fn rfc9293_3_4_syn_and_fin_take_a_number_each() {
        let segments = [
            (0, 0, false),
            (1, 1000, false),
            (2, 1000, false),
            (3, 10, false),
            (2, 1000, false),
            (4, 0, true),
        ];
        let positions = sent(&segments);
        assert!(positions.begins_with_syn());
        assert_eq!(starts(&positions, 5), [0, 1, 1001, 2001, 2011, 2012]);
        for (at, start) in (0..).zip(starts(&positions, 5)) {
            assert_eq!(positions.beginning_at(bytes(start)), Some(seq(at)));
        }
        for within in [500, 2005, 2013] {
            assert_eq!(positions.beginning_at(bytes(within)), None);
        }
    }

    #[test]
    fn without_a_handshake_numbers_are_as_if_there_had_been_one() {
        let positions = sent(&[(0, 100, false), (1, 100, true)]);
        assert!(!positions.begins_with_syn());
        assert_eq!(starts(&positions, 2), [1, 101, 202]);
        assert_eq!(starts(&BytePositions::default(), 0), [1]);
    }
}
