//! Segments that are not just the next one: sent again, late, or seen twice.
//!
//! **Model.** What comes below the highest number seen is
//!
//! 1. a *duplicate* if a packet with these numbers and the same IPv4 identification has been seen: senders give copies that they send again another one
//!    (Jaiswal et al., "Measurement and Classification of Out-of-Sequence Packets in a Tier-1 IP Backbone", IEEE/ACM Trans. Networking 15(1), 2007, §IV);
//! 2. a *retransmission* if any of its numbers have been seen;
//! 3. else it fills a hole: its first copy was lost before the place of the capture, or it is late itself. It is late if its timestamp is older than one that has been
//!    seen before it, and sent again if it is younger than the one that showed the hole; where timestamps are alike or missing, the same is asked of
//!    IPv4 identifications, which senders count upwards; and where these do not tell, it is sent again if since the hole was seen there was time for the
//!    sender to hear of it, a round trip (Jaiswal et al., §IV; Paxson, "End-to-End Internet Packet Dynamics", 1997, §3).
//!
//! **Deviations.** They also count duplicate acknowledgements; but a retransmission that nobody's three have asked for is one nevertheless (RACK, timers).

use std::collections::VecDeque;
use std::ops::Range;

/// How a segment came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SegmentArrival {
    /// With numbers above all that had been seen.
    Next,
    /// It has been sent before; whether the capture saw that.
    Again {
        /// It saw none of it.
        unseen: bool,
    },
    /// It is late.
    Late,
    /// The same packet has been seen.
    Twice,
}

/// What of a packet tells when it was sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Order {
    pub timestamp: Option<u32>,
    pub ip_id: Option<u16>,
}

/// A hole in what was seen.
#[derive(Clone, Debug)]
struct Hole {
    numbers: Range<i64>,
    seen_ns: i64,
    /// Of the packet that showed it.
    shown_by: Order,
}

/// Beyond so many the oldest holes are forgotten.
const MOST_HOLES: usize = 1024;

/// Which holes there are.
#[derive(Clone, Debug, Default)]
pub(super) struct Holes {
    holes: VecDeque<Hole>,
    newest: Order,
}

impl Holes {
    /// A packet went on above a hole, or without one.
    pub(super) fn went_on(&mut self, hole: Range<i64>, time_ns: i64, order: Order) {
        if !hole.is_empty() {
            if self.holes.len() == MOST_HOLES {
                self.holes.pop_front();
            }
            self.holes.push_back(Hole {
                numbers: hole,
                seen_ns: time_ns,
                shown_by: order,
            });
        }
        self.newest = order;
    }

    /// What was below a number is over.
    pub(super) fn forget_below(&mut self, floor: i64) {
        while self
            .holes
            .front()
            .is_some_and(|hole| hole.numbers.end <= floor)
        {
            self.holes.pop_front();
        }
    }

    /// How a packet came that is in a hole; `patience_ns` is the time in which no sender can have heard of it.
    pub(super) fn arrival(
        &self,
        start: i64,
        time_ns: i64,
        order: Order,
        patience_ns: i64,
    ) -> SegmentArrival {
        let hole = self.holes.iter().find(|hole| hole.numbers.contains(&start));
        let again = SegmentArrival::Again { unseen: true };
        let shown_by = hole.map_or(self.newest, |hole| hole.shown_by);
        match order.sent_before(shown_by) {
            Some(true) => SegmentArrival::Late,
            Some(false) => again,
            // What is before all that the capture saw was not missed by it.
            None => match hole {
                Some(hole) if time_ns - hole.seen_ns < patience_ns => SegmentArrival::Late,
                _ => again,
            },
        }
    }
}

impl Order {
    /// Whether it was sent before another one, as far as that is told.
    fn sent_before(self, other: Self) -> Option<bool> {
        let by_timestamp = self.timestamp.zip(other.timestamp);
        match by_timestamp.map(|(this, other)| this.wrapping_sub(other).cast_signed()) {
            Some(ahead) if ahead != 0 => return Some(ahead < 0),
            _ => {}
        }
        let by_id = self.ip_id.zip(other.ip_id);
        match by_id.map(|(this, other)| this.wrapping_sub(other).cast_signed()) {
            // Of senders that count; of those that draw lots, most are far apart.
            Some(ahead) if ahead != 0 && ahead.unsigned_abs() < 4096 => Some(ahead < 0),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(timestamp: Option<u32>, ip_id: Option<u16>) -> Order {
        Order { timestamp, ip_id }
    }

    fn filled(shown_by: Order, filler: Order, after_ns: i64) -> SegmentArrival {
        let mut holes = Holes::default();
        holes.went_on(10..20, 1000, shown_by);
        holes.arrival(10, 1000 + after_ns, filler, 500)
    }

    #[test]
    fn an_older_timestamp_is_late_and_a_younger_one_sent_again_whatever_the_time() {
        let shown = order(Some(7), None);
        assert_eq!(
            filled(shown, order(Some(6), None), 9999),
            SegmentArrival::Late
        );
        let again = SegmentArrival::Again { unseen: true };
        assert_eq!(filled(shown, order(Some(8), None), 1), again);
    }

    #[test]
    fn identifications_tell_where_timestamps_are_alike_and_time_where_neither_does() {
        let shown = order(Some(7), Some(2));
        assert_eq!(
            filled(shown, order(Some(7), Some(65535)), 9999),
            SegmentArrival::Late
        );
        let again = SegmentArrival::Again { unseen: true };
        assert_eq!(filled(shown, order(Some(7), Some(3)), 1), again);
        assert_eq!(
            filled(shown, order(Some(7), None), 499),
            SegmentArrival::Late
        );
        assert_eq!(filled(shown, order(Some(7), None), 500), again);
    }
}
