//! Timestamps: a segment says when it left, and an acknowledgement repeats what the segment said that it is for.
//!
//! Specifications: RFC 7323 §3.2 (the option), §4.1 (round trips), §4.3 (which timestamp is repeated), §5.4 (the clock), appendix G (smoothing with
//! many samples per round trip); RFC 3522 (Eifel detection: an acknowledgement that repeats a timestamp from before a retransmission was
//! caused by the original).
//!
//! Model: the clock counts ticks of `timestamps` from the start of the run, modulo 2^32 as on the wire, and comparisons are modulo 2^32.
//!
//! Deviations: PAWS (RFC 7323 §5) protects against segments of a former cycle of sequence numbers. Here these have 64 bits and no connection's
//! segment outlives it, so there is nothing to protect against, and it is left out. The option's 12 bytes are part of `header` and `ack_size`.

use super::clock::Clock;
use super::ticks::Ticks;
use crate::units::{Duration, Instant, SeqNum, nearest};

/// When a segment left, in ticks; or nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp(u32);

impl Stamp {
    /// A segment without the option.
    pub const NONE: Self = Self(0);

    /// As the wire has it; 0: none.
    #[inline]
    pub fn from_bits(bits: u32) -> Self {
        Self(bits)
    }

    /// As the wire has it; 0: none.
    #[inline]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Whether it stands for a segment without the option.
    #[inline]
    pub fn is_none(self) -> bool {
        self == Self::NONE
    }

    /// Whether this is older, of two stamps less than 2^31 ticks apart (RFC 7323 §5.2).
    #[inline]
    pub fn precedes(self, other: Self) -> bool {
        let difference = self.0.wrapping_sub(other.0);
        !self.is_none() && !other.is_none() && difference > u32::MAX / 2
    }
}

/// A sender's timestamp clock.
#[derive(Clone, Copy, Debug)]
pub struct TimestampClock {
    granularity: Duration,
    per_sec: f64,
    host: Clock,
}

impl TimestampClock {
    /// A clock that ticks every `granularity`.
    pub fn new(granularity: Duration) -> Self {
        Self {
            granularity,
            per_sec: 1.0 / granularity.secs(),
            host: Clock::EXACT,
        }
    }

    /// The same on a host with such ticks.
    pub fn on_host(granularity: Duration, ticks: Ticks) -> Self {
        Self {
            host: ticks.clock.counting(granularity, ticks.phase),
            ..Self::new(granularity)
        }
    }

    /// What a segment that leaves `now` says.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the clock counts modulo 2^32"
    )]
    pub fn stamp(self, now: Instant) -> Stamp {
        // A millionth of a tick of tolerance: rounding is not to put an edge into the tick before.
        let ticks = nearest(self.host.shown(now).secs() * self.per_sec + (1e-6 - 0.5)) as u32;
        // One more than the ticks, for 0 says that there is none; the tick before the clock starts again is one too long.
        Stamp(ticks.wrapping_add(1).max(1))
    }

    /// What a segment says that leaves `now`, if there is a clock.
    #[inline]
    pub fn stamp_by(clock: Option<Self>, now: Instant) -> Stamp {
        clock.map_or(Stamp::NONE, |clock| clock.stamp(now))
    }

    /// The time since `stamp`, in whole ticks: at least one, as a shorter time cannot be measured.
    pub fn since(self, now: Instant, stamp: Stamp) -> Duration {
        let ticks = self.stamp(now).0.wrapping_sub(stamp.0).max(1);
        self.granularity * f64::from(ticks)
    }
}

/// A receiver's side: what it repeats (RFC 7323 §4.3).
#[derive(Clone, Copy, Debug, Default)]
pub struct Echo {
    /// TS.Recent.
    recent: Stamp,
    /// Last.ACK.sent: the next segment expected, as last acknowledged.
    last_ack: SeqNum,
}

impl Echo {
    /// A segment has arrived. Of those that one acknowledgement is for the first counts, so that its delay is in the round trip; one out of
    /// order does not count (§4.3 rule 2), nor one that ends before what was acknowledged, which is not acceptable (RFC 9293 §3.10.7.4). Measured of Linux 6.1: the acknowledgement of a segment
    /// that had come nine segments before repeats the timestamp that was repeated before.
    #[inline]
    pub fn on_segment(&mut self, seq: SeqNum, stamp: Stamp) {
        // The one before what was acknowledged, or the one after: modulo 2^64, so that one comparison says both.
        let before = self.last_ack.get().wrapping_sub(seq.get());
        if before <= 1 && !stamp.precedes(self.recent) {
            self.recent = stamp;
        }
    }

    /// What the acknowledgement up to `next` says (§4.3 rules 1 and 3).
    #[inline]
    pub fn on_ack(&mut self, next: SeqNum) -> Stamp {
        self.last_ack = next;
        self.recent
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::at as time;

    fn clock(granularity: f64) -> TimestampClock {
        TimestampClock::new(Duration::from_secs(granularity))
    }

    fn at(secs: f64) -> Stamp {
        clock(0.001).stamp(Instant::from_secs(secs))
    }

    #[test]
    fn rfc7323_5_4_the_clock_counts_ticks() {
        let clock = clock(0.01);
        assert_eq!(
            clock.stamp(time(0.0)).bits() + 3,
            clock.stamp(time(0.039)).bits()
        );
        // Sent in the tick of 30 ms, acknowledged in that of 70 ms.
        assert!((clock.since(time(0.071), clock.stamp(time(0.039))).secs() - 0.04).abs() < 1e-12);
        assert!((clock.since(time(0.039), clock.stamp(time(0.039))).secs() - 0.01).abs() < 1e-12);
    }

    #[test]
    fn rfc7323_5_2_stamps_are_compared_modulo_two_to_the_32() {
        assert!(at(1.0).precedes(at(1.001)) && !at(1.001).precedes(at(1.0)));
        assert!(!at(1.0).precedes(at(1.0)));
        // A clock of milliseconds starts again after 2^32 ms.
        assert!(at(4_294_967.0).precedes(at(4_294_968.0)));
        assert!(
            (clock(0.001)
                .since(time(4_294_968.0), at(4_294_967.0))
                .secs()
                - 1.0)
                .abs()
                < 0.002
        );
        assert!(!Stamp::NONE.precedes(at(1.0)) && !at(1.0).precedes(Stamp::NONE));
    }

    #[test]
    fn rfc7323_4_3_case_a_the_first_of_several_segments_is_repeated() {
        // Delayed acknowledgements: <A, 1> <B, 2> <C, 3> is answered by <ACK(C), 1>.
        let mut echo = Echo::default();
        for (seq, stamp) in [(0, at(1.0)), (1, at(2.0)), (2, at(3.0))] {
            echo.on_segment(SeqNum::new(seq), stamp);
        }
        assert_eq!(echo.on_ack(SeqNum::new(3)), at(1.0));
        echo.on_segment(SeqNum::new(3), at(4.0));
        assert_eq!(echo.on_ack(SeqNum::new(4)), at(4.0));
    }

    #[test]
    fn rfc7323_4_3_case_b_segments_out_of_order_are_answered_with_the_last_in_order() {
        // <A, 1> is answered 1; then B is missing: <C, 3> and <D, 4> are answered 1; <B, 2> fills the hole and is answered 2.
        let mut echo = Echo::default();
        echo.on_segment(SeqNum::new(0), at(1.0));
        assert_eq!(echo.on_ack(SeqNum::new(1)), at(1.0));
        for (seq, stamp) in [(2, at(3.0)), (3, at(4.0))] {
            echo.on_segment(SeqNum::new(seq), stamp);
            assert_eq!(echo.on_ack(SeqNum::new(1)), at(1.0));
        }
        echo.on_segment(SeqNum::new(1), at(2.0));
        assert_eq!(echo.on_ack(SeqNum::new(4)), at(2.0));
    }

    #[test]
    fn rfc7323_5_2_of_two_stamps_less_than_half_the_circle_apart_the_lesser_is_older() {
        let half = 1_u32 << 31;
        for stamp in [1, 5, half, u32::MAX] {
            for apart in [1, half / 2, half - 1] {
                let later = Stamp(stamp.wrapping_add(apart));
                if !later.is_none() {
                    assert!(Stamp(stamp).precedes(later), "{stamp} {apart}");
                    assert!(!later.precedes(Stamp(stamp)), "{stamp} {apart}");
                }
            }
            assert!(!Stamp(stamp).precedes(Stamp(stamp)));
            assert!(!Stamp(stamp).precedes(Stamp::NONE) && !Stamp::NONE.precedes(Stamp(stamp)));
        }
    }
}
