//! The receiving end of a UDP flow (RFC 768): what has arrived, what has been lost, delays and their jitter.
//!
//! Nothing is acknowledged. Packets are numbered, as those of RTP are, so that losses can be counted, and carry the time at which they left, so that delays
//! can be measured. RFC 3550 appendix A.3 counts losses as what was expected less what arrived, so that a duplicate hides a loss; here it does not. The
//! jitter is that of RFC 3550 (§6.4.1, appendix A.8).
//!
//! Deviation: both ends have one clock, so delays are one-way delays and not only differences of them.

use crate::histogram::Histogram;
use crate::packet_source::HEADER;
use crate::tcp::scoreboard::{Range, RangeSet};
use crate::units::{ByteCount, Duration, Instant, SeqNum};

/// What a flow's packets are said to be of, as those of connections count up from 0.
pub(crate) fn flow_number(index: u32) -> u32 {
    u32::MAX - index
}

/// A flow's packets at their receiver.
#[derive(Clone, Debug, Default)]
pub struct Received {
    /// One that comes twice counts twice.
    pub packets: u64,
    /// Of IP packets.
    pub bytes: ByteCount,
    /// One more than the highest number that has come.
    expected: SeqNum,
    /// Numbers below that have not come.
    missing: RangeSet,
    /// Packets that came after one that had left later.
    pub(crate) late: u64,
    pub(crate) least_delay_ns: u64,
    last_delay: Duration,
    pub(crate) jitter: Duration,
    pub(crate) delays_ns: Histogram,
}

impl Received {
    /// Packet `number` (from 0) that left at `sent` is here.
    #[inline]
    pub fn on_packet(&mut self, now: Instant, sent: Instant, number: SeqNum, size: ByteCount) {
        let delay = now - sent;
        let delay_ns = delay.as_ns().unsigned_abs();
        if self.packets > 0 {
            let change = (delay - self.last_delay).abs();
            self.jitter += (change - self.jitter) / 16.0;
            self.least_delay_ns = self.least_delay_ns.min(delay_ns);
        } else {
            self.least_delay_ns = delay_ns;
        }
        self.packets += 1;
        self.bytes += size;
        if number >= self.expected {
            if number > self.expected {
                self.miss(number);
            }
            self.expected = number.next();
        } else {
            self.late += 1;
            self.missing.remove(number);
        }
        self.last_delay = delay;
        self.delays_ns.add(delay_ns);
    }

    /// What the application gets of it.
    pub fn payload(&self) -> ByteCount {
        self.bytes - HEADER * self.packets
    }

    /// Packet `number` has come before those between.
    #[cold]
    fn miss(&mut self, number: SeqNum) {
        let between = Range {
            start: self.expected,
            end: number,
        };
        self.missing.insert(between, |_| {});
    }

    /// Packets that left before one that has come, and have not come themselves; unknown if none has come.
    pub(crate) fn lost(&self) -> Option<u64> {
        (self.packets > 0).then(|| self.missing.total().get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::at;

    fn received(packets: &[(f64, f64, u64)]) -> Received {
        let mut received = Received::default();
        for (now, sent, number) in packets {
            received.on_packet(
                at(*now),
                at(*sent),
                SeqNum::new(*number),
                ByteCount::new(128),
            );
        }
        received
    }

    #[test]
    fn rfc3550_6_4_1_jitter_is_a_sixteenth_of_what_transit_times_differ() {
        // Transit times 10, 26 and 10 s: J = 16/16 = 1, then 1 + (16 - 1)/16.
        let received = received(&[(10.0, 0.0, 0), (27.0, 1.0, 1), (28.0, 18.0, 2)]);
        assert_eq!(received.jitter.secs(), 1.0 + 15.0 / 16.0);
    }

    #[test]
    fn rfc3550_a_3_lost_is_what_was_expected_less_what_came() {
        // 0, 3, 2: number 1 is missing, and 2 came after 3.
        let found = received(&[(1.0, 0.0, 0), (2.0, 0.0, 3), (3.0, 0.0, 2)]);
        assert_eq!(
            (found.lost(), found.late, found.payload().get()),
            (Some(1), 1, 300)
        );
        assert_eq!(Received::default().lost(), None);
    }

    #[test]
    fn a_packet_that_comes_twice_hides_none_that_is_lost() {
        // 0 twice, then 3 twice and 2: number 1 is missing.
        let packets = [
            (1.0, 0.0, 0),
            (1.0, 0.0, 0),
            (2.0, 0.0, 3),
            (2.0, 0.0, 3),
            (3.0, 0.0, 2),
        ];
        let found = received(&packets);
        assert_eq!((found.lost(), found.late, found.packets), (Some(1), 3, 5));
        // All come, the first of them twice.
        let found = received(&[(1.0, 0.0, 0), (1.0, 0.0, 0)]);
        assert_eq!(found.lost(), Some(0));
    }
}
