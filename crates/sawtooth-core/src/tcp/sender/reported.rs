//! What the receiver has reported selectively, and what is known of the application's bytes by that.
//!
//! Specification: RFC 2018 §3 (SACK), §5 (what the sender does with it); RFC 6675 §3 (the scoreboard).

use super::sequence::Sequence;
use crate::tcp::scoreboard::RangeSet;
use crate::tcp::stream::SendStream;
use crate::units::{ByteCount, SeqNum};

#[derive(Debug, Default)]
pub struct Reported {
    /// What the receiver holds above SND.UNA.
    pub scoreboard: RangeSet,
    /// Bytes of the application that were known to have arrived when the scoreboard was last cleared.
    known: ByteCount,
}

impl Reported {
    /// Everything before `una` is acknowledged.
    #[inline]
    pub fn on_ack(&mut self, una: SeqNum) {
        if !self.scoreboard.is_empty() {
            self.scoreboard.remove_below(una);
        }
    }

    /// Clears the scoreboard, which is not relied upon any more (RFC 2018 §5); what it reported still counts as arrived.
    #[inline]
    pub fn clear(&mut self, seq: &Sequence, stream: &SendStream, smss: ByteCount) {
        if !self.scoreboard.is_empty() {
            self.on_ack(seq.una);
            self.known = self.delivered(seq, stream, smss);
            self.scoreboard.clear();
        }
    }

    /// Bytes of the application that are known to have arrived, cumulatively or selectively.
    pub fn delivered(&self, seq: &Sequence, stream: &SendStream, smss: ByteCount) -> ByteCount {
        let sacked = &self.scoreboard;
        let lacking = stream.lacking(|seq| sacked.range_of(seq).is_some());
        let known = stream.acked(seq.una) + sacked.total() * smss - lacking;
        known.max(self.known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::partial::{Partial, PartialPolicy};
    use crate::tcp::scoreboard::Range;
    use crate::units::testing::{bytes, seq as number};

    const SMSS: ByteCount = ByteCount::new(1000);

    #[test]
    fn rfc2018_8_what_was_reported_has_arrived_though_the_scoreboard_is_not_relied_upon() {
        let mut stream = SendStream::new(
            SMSS,
            SeqNum::ZERO,
            PartialPolicy::of(Partial::NoDelay, None),
            false,
        );
        stream.write(bytes(10_000), SeqNum::ZERO, SeqNum::ZERO);
        let mut seq = Sequence::new(SeqNum::ZERO, true);
        for segment in 0..10 {
            seq.on_send(number(segment));
        }
        let mut reported = Reported::default();
        let arrived = Range {
            start: number(3),
            end: number(6),
        };
        reported.scoreboard.insert(arrived, |_| ());
        seq.on_ack(number(2));
        assert_eq!(reported.delivered(&seq, &stream, SMSS), bytes(5000));
        reported.clear(&seq, &stream, SMSS);
        assert!(reported.scoreboard.is_empty());
        assert_eq!(reported.delivered(&seq, &stream, SMSS), bytes(5000));
        seq.on_ack(number(9));
        assert_eq!(reported.delivered(&seq, &stream, SMSS), bytes(9000));
    }
}
