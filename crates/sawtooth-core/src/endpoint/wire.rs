//! What an end of a connection hears and says: segments as headers have them, and what a header's fields mean.

use std::fmt::{self, Display};

use crate::packet::{DataSegment, Ecn};
use crate::tcp::scoreboard::Range;
use crate::tcp::timestamps::Stamp;
use crate::units::{ByteCount, Instant, SeqNum};

/// What the counter of marks begins with (RFC 9768 §3.2.1).
pub(super) const FIRST_ACE: u16 = 5;
/// What it wraps at.
pub(super) const ACE_VALUES: u16 = 8;

/// A segment on the wire, its numbers relative to the initial ones.
#[derive(Clone, Debug, Default, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a header, any of which may be set"
)]
pub struct WireSegment {
    /// When it leaves.
    pub time: Instant,
    /// The flag of that name.
    pub syn: bool,
    /// Likewise.
    pub fin: bool,
    /// PSH.
    pub push: bool,
    /// The number of its first byte.
    pub start: u64,
    /// Bytes of data.
    pub length: u64,
    /// The acknowledgement number, where the flag ACK is set.
    pub ack: Option<u64>,
    /// The receiver's window in bytes; of what leaves only where the model has one.
    pub window: Option<u64>,
    /// SACK blocks (RFC 2018), of which the first may report a duplicate (RFC 2883).
    pub sack: Vec<[u64; 2]>,
    /// TSval and TSecr (RFC 7323 §3.2), 0: none.
    pub stamps: [u32; 2],
    /// The ECN field of the IP header.
    pub ecn: u8,
    /// ECE, outside the handshake.
    pub ece: bool,
    /// CWR, outside the handshake.
    pub cwr: bool,
    /// The counter of RFC 9768, where it takes the place of these two.
    pub ace: Option<u8>,
}

/// What a script says and the model has no word for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unspeakable(pub(super) &'static str);

impl Display for Unspeakable {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.0)
    }
}

/// The three bits of the counter of marks.
pub(super) fn ace(marks: u16) -> u8 {
    (marks.wrapping_add(FIRST_ACE) % ACE_VALUES) as u8
}

/// Whether the first block reports what has come twice: it is below what is acknowledged, or within the second (RFC 2883 §4).
pub(super) fn is_duplicate(next: SeqNum, blocks: &[Range]) -> bool {
    let Some(first) = blocks.first() else {
        return false;
    };
    let within = |second: &Range| second.start <= first.start && first.end <= second.end;
    first.end <= next || blocks.get(1).is_some_and(within)
}

/// What a segment of the peer's carries, if it takes numbers, of a peer with such borders of segments.
pub(super) fn carried(
    segment: &WireSegment,
    borders: &[u64],
) -> Result<Option<DataSegment>, Unspeakable> {
    let flags = u64::from(segment.syn) + u64::from(segment.fin);
    let taken = segment.length + flags;
    if taken == 0 {
        return Ok(None);
    }
    let within = Unspeakable("data whose segments overlap others of the peer's");
    let end = segment.start + taken;
    let Ok(at) = borders.binary_search(&segment.start) else {
        return Err(within);
    };
    if borders.get(at + 1) != Some(&end) {
        return Err(within);
    }
    Ok(Some(DataSegment {
        seq: SeqNum::new(at as u64),
        payload: ByteCount::new(segment.length),
        push: segment.push,
        fin: segment.fin,
        ecn: Ecn::from_bits(segment.ecn),
        cwr: segment.cwr,
        stamp: Stamp::from_bits(segment.stamps[0]),
        echo: Stamp::from_bits(segment.stamps[1]),
        ..DataSegment::default()
    }))
}
