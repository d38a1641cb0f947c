//! What the receiver has reported selectively, and what is known of the application's bytes by that.
//!
//! Specification: RFC 2018 §3 (SACK), §5.1 (the sender's scoreboard).

use super::sequence::Sequence;
use crate::tcp::scoreboard::RangeSet;
use crate::tcp::stream::Stream;
use crate::units::SeqNum;

#[derive(Debug, Default)]
pub struct Reported {
    /// What the receiver holds above SND.UNA.
    pub scoreboard: RangeSet,
    /// Application bytes that were known to have arrived when the scoreboard was last cleared.
    known_bytes: u64,
}

impl Reported {
    /// Everything before `una` is acknowledged.
    #[inline]
    pub fn on_ack(&mut self, una: u64) {
        if !self.scoreboard.is_empty() {
            self.scoreboard.remove_below(SeqNum::new(una));
        }
    }

    /// Clears the scoreboard: what it says is not relied upon any more, and yet it has arrived.
    #[inline]
    pub fn clear(&mut self, seq: &Sequence, stream: &Stream, smss: u32) {
        if !self.scoreboard.is_empty() {
            self.on_ack(seq.una);
            self.known_bytes = self.delivered_bytes(seq, stream, smss);
            self.scoreboard.clear();
        }
    }

    /// Application bytes known to have arrived, cumulatively or selectively.
    pub fn delivered_bytes(&self, seq: &Sequence, stream: &Stream, smss: u32) -> u64 {
        let sacked = &self.scoreboard;
        let lacking = stream.lacking_bytes(|seq| sacked.range_of(SeqNum::new(seq)).is_some());
        let known = stream.acked_bytes(seq.una) + sacked.total().get() * u64::from(smss) - lacking;
        known.max(self.known_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::partial::{Partial, Policy};
    use crate::tcp::scoreboard::Range;

    #[test]
    fn rfc2018_8_what_was_reported_has_arrived_though_the_scoreboard_is_not_relied_upon() {
        let mut stream = Stream::new(1000, 0, Policy::of(Partial::NoDelay, None), false);
        stream.write(10_000, 0, 0);
        let mut seq = Sequence::new(0, true);
        for segment in 0..10 {
            seq.on_send(segment);
        }
        let mut reported = Reported::default();
        let arrived = Range {
            start: SeqNum::new(3),
            end: SeqNum::new(6),
        };
        reported.scoreboard.insert(arrived, |_| ());
        seq.on_ack(2);
        assert_eq!(reported.delivered_bytes(&seq, &stream, 1000), 5000);
        reported.clear(&seq, &stream, 1000);
        assert!(reported.scoreboard.is_empty());
        assert_eq!(reported.delivered_bytes(&seq, &stream, 1000), 5000);
        seq.on_ack(9);
        assert_eq!(reported.delivered_bytes(&seq, &stream, 1000), 9000);
    }
}
