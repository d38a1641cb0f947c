//! Which segments share the memory of a sender's buffer: those that have been reported selectively, with their predecessors.
//!
//! Measured of Linux 6.1 (`SO_MEMINFO`, and how much an application could write while up to 1,500 segments were reported): of a run of reported segments in order all but the first take no memory besides their
//! data, as long as the run lies in 17 pages of 32,768 bytes; the next one begins another.
//!
//! Deviation: pages are counted from the first byte of the connection, as if nobody else wrote on the host, and as if segments filled them whole.

use crate::units::{ByteCount, SegCount, SeqNum};

const PAGE: u64 = 1 << 15;
const PAGES: u64 = 17;
/// Pages are told apart modulo so many, more than a buffer has.
const MODULUS: u64 = (1 << 16) - 1;

/// Where segments lie.
#[derive(Clone, Copy, Debug)]
pub struct MemoryPages {
    smss: u64,
    first: SeqNum,
}

/// The memory that one segment has: its own, or that of the run which begins in a page.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryOfSegment(u16);

impl MemoryOfSegment {
    pub const OWN: Self = Self(0);

    /// Whether it is its predecessor's.
    #[inline]
    pub fn is_shared(self) -> bool {
        self != Self::OWN
    }
}

impl MemoryPages {
    /// Of a connection whose data begin with segment `first`.
    pub fn new(smss: ByteCount, first: SeqNum) -> Self {
        Self {
            smss: smss.get(),
            first,
        }
    }

    /// The memory of a segment that is joined to its predecessor, which has its own or another's; if the run is not too long.
    pub fn join(self, before: MemoryOfSegment, seq: SeqNum) -> Option<MemoryOfSegment> {
        let at = self.byte(seq);
        let begins = if before.is_shared() {
            u64::from(before.0) - 1
        } else {
            at.saturating_sub(self.smss) / PAGE % MODULUS
        };
        let ends = (at + self.smss - 1) / PAGE % MODULUS;
        let pages = (ends + MODULUS - begins) % MODULUS + 1;
        let begins = u16::try_from(begins + 1).ok()?;
        (pages <= PAGES).then_some(MemoryOfSegment(begins))
    }

    fn byte(self, seq: SeqNum) -> u64 {
        seq.saturating_sub(self.first).get() * self.smss
    }
}

/// A connection of segments as Ethernet carries them, whose first is segment 0.
impl Default for MemoryPages {
    fn default() -> Self {
        Self::new(ByteCount::new(1460), SeqNum::ZERO)
    }
}

/// Those of `joined` segments that are not, because they or their predecessors are short: what shares memory is alike.
pub(super) fn without_short(
    joined: SegCount,
    short: impl Iterator<Item = SeqNum>,
    is_joined: impl Fn(SeqNum) -> bool,
) -> SegCount {
    if joined.is_zero() {
        return joined;
    }
    let apart = short.flat_map(|seq| [seq, seq.next()]);
    let apart = apart.filter(|seq| is_joined(*seq)).count();
    joined.saturating_sub(SegCount::from(u32::try_from(apart).unwrap_or(u32::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::{bytes, segs, seq};

    /// How many segments have no memory of their own of so many in a row, all reported, from one on.
    fn joined(pages: MemoryPages, from: u64, count: u64) -> u64 {
        let mut before = MemoryOfSegment::OWN;
        let mut joined = 0;
        for number in from + 1..from + count {
            before = pages.join(before, seq(number)).unwrap_or_default();
            joined += u64::from(before.is_shared());
        }
        joined
    }

    #[test]
    fn a_run_has_seventeen_pages_from_the_one_on_in_which_it_begins() {
        let pages = MemoryPages::new(bytes(1448), seq(1));
        // 17 * 32768 / 1448 = 384.7.
        assert_eq!(joined(pages, 1, 384), 383);
        assert_eq!(joined(pages, 1, 385), 383);
        assert_eq!(joined(pages, 1, 386), 384);
        // Half a page later it ends in the same page.
        assert_eq!(joined(pages, 12, 373), 372);
        assert_eq!(joined(pages, 12, 374), 372);
        // Pages are told apart as long as it matters.
        assert_eq!(joined(pages, 1_482_900, 300), 299);
        assert_eq!(joined(pages, 1_482_900, 700), 698);
    }

    #[test]
    fn a_short_segment_shares_with_neither_of_its_neighbours() {
        let short = [seq(3), seq(9)].into_iter();
        // The tenth was not joined anyway.
        let apart = without_short(segs(7), short, |seq| seq != SeqNum::new(10));
        assert_eq!(apart, segs(4));
    }
}
