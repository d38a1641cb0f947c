//! How long acknowledgements of a flow are.

use crate::packet::Ack;
use crate::units::{ByteCount, SeqNum};

/// Bytes of an acknowledgement on the wire, and of what a SYN adds to a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckSizes {
    pub(super) plain: ByteCount,
    pub(super) sack_option_header: ByteCount,
    /// Whether the segment that came again is reported in a block of its own (RFC 2883 §4).
    pub(super) has_dsack: bool,
    /// Segments before this one are SYNs, and what they carry more than others.
    pub(super) first_data: SeqNum,
    pub(super) syn_options: ByteCount,
}

impl AckSizes {
    #[inline]
    pub(super) fn of(self, ack: &Ack) -> ByteCount {
        let blocks = ack.sack.len() + u32::from(self.has_dsack && ack.repeated.is_some());
        if blocks > 0 {
            self.plain + self.sack_option_header + ByteCount::from(8 * blocks)
        } else if ack.next > self.first_data {
            self.plain
        } else {
            self.plain + self.syn_options
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::scoreboard::Range;
    use crate::units::testing::bytes;

    #[test]
    fn rfc2883_4_a_segment_that_came_again_is_a_block_of_the_option_like_others() {
        let sizes = |has_dsack| AckSizes {
            plain: bytes(52),
            sack_option_header: bytes(4),
            has_dsack,
            first_data: SeqNum::new(1),
            syn_options: bytes(8),
        };
        let mut ack = Ack {
            next: SeqNum::new(9),
            ..Ack::default()
        };
        assert_eq!(sizes(true).of(&ack), bytes(52));
        ack.repeated = Some(SeqNum::new(4));
        // Measured of Linux 6.1: 12 bytes more.
        assert_eq!(sizes(true).of(&ack), bytes(64));
        assert_eq!(sizes(false).of(&ack), bytes(52));
        ack.sack.push(ack.next, Range::of(SeqNum::new(20)));
        assert_eq!(
            [true, false].map(|has| sizes(has).of(&ack)),
            [72, 64].map(bytes)
        );
    }
}
