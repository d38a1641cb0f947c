//! How long acknowledgements of a flow are.

use crate::packet::Ack;
use crate::units::{ByteCount, SeqNum};

/// Bytes of an acknowledgement on the wire, and of what a SYN adds to a segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckSizes {
    pub(super) plain: ByteCount,
    pub(super) sack_option_header: ByteCount,
    /// Segments before this one are SYNs, and what they carry more than others.
    pub(super) first_data: SeqNum,
    pub(super) syn_options: ByteCount,
}

impl AckSizes {
    #[inline]
    pub(super) fn of(self, ack: &Ack) -> ByteCount {
        if !ack.sack.is_empty() {
            self.plain + self.sack_option_header + ByteCount::from(8 * ack.sack.len())
        } else if ack.next > self.first_data {
            self.plain
        } else {
            self.plain + self.syn_options
        }
    }
}
