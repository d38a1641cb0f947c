//! What may leave, and how it leaves.
//!
//! Specifications: RFC 9293 §3.8.6 (the receiver's window), RFC 3042 (limited transmit), RFC 5681 §2 (a FIN has no data).

use super::tx::{SendAllowance, Tx};
use crate::events::{Child, Event, EventKey};
use crate::packet::{DataSegment, Ecn};
use crate::tcp::limits::SendLimit;
use crate::tcp::partial::PartialWait;
use crate::tcp::timestamps::TimestampClock;
use crate::units::{ByteCount, SegCount, SeqNum};

impl Tx {
    /// Whether the application has a new segment, and the receiver and the limit on the window have room for it.
    #[inline]
    pub fn has_new(&self) -> bool {
        self.seq.nxt < self.app.available(&self.seq) && self.is_within_limit()
    }

    /// Whether the limit on the window has room for the next segment.
    #[inline]
    pub fn is_within_limit(&self) -> bool {
        self.seq.nxt < self.seq.una + self.window.limit()
    }

    /// Segments that leave in one step, at most: limits of a run are looked at after no more than these.
    pub const AT_ONCE: SegCount = SegCount::new(1 << 10);

    /// All segments before `end` have been sent, each for the first time.
    #[inline(always)]
    pub fn note_sent(&mut self, end: SeqNum) {
        self.counters.sent_packets += (end - self.seq.nxt).get();
        self.seq.nxt = end;
        self.seq.max = end;
    }

    /// Which window is filled when one is, and all that is written could be sent.
    #[inline(always)]
    pub fn full_window(&self) -> SendLimit {
        if self.is_within_limit() {
            SendLimit::Cwnd
        } else {
            SendLimit::Rwnd
        }
    }

    /// Whether all that leaves are segments of data, and nothing else happens when they have left.
    #[inline]
    pub fn sends_only_data(&self) -> bool {
        self.pending.is_none()
            && self.answer.is_none()
            && self.episodes.is_none()
            && !self.app.write_goes_on
            && !self.app.stream.is_close_due()
    }

    /// Whether there is a segment to send that the application has written, and that is not held back for being short.
    #[inline]
    pub fn has_more(&self) -> bool {
        self.app.has_more(&self.seq)
    }

    /// The next segment in sequence, if the window and the application have room for it.
    #[inline]
    pub fn window_next(&self) -> Option<SeqNum> {
        let fits = self.seq.nxt < self.seq.una + self.window.usable() || self.short_fits();
        (fits && self.has_more()).then_some(self.seq.nxt)
    }

    /// A new segment beyond the congestion window, one for each of the first duplicate acknowledgements (RFC 3042).
    pub fn limited_transmit_next(&self, dupacks: u32) -> Option<SeqNum> {
        let window = self.window.usable() + SegCount::from(dupacks);
        let room = self.seq.nxt < self.seq.una + window.min(self.window.limit());
        (room && self.has_more()).then_some(self.seq.nxt)
    }

    /// Whether the last segment is next and so short that the limit on the window, in bytes, has room for it.
    #[inline]
    fn short_fits(&self) -> bool {
        let limit = self.config.window_limit_bytes;
        limit.is_some_and(|limit| self.short_fits_into(limit))
    }

    #[cold]
    fn short_fits_into(&self, limit: ByteCount) -> bool {
        let (una, next) = (self.seq.una, self.seq.nxt);
        let stream = &self.app.stream;
        let lacking = stream.lacking(|seq| (una..next).contains(&seq));
        let outstanding = (next - una) * self.config.smss - lacking;
        next.next() == stream.end()
            && next < una.saturating_add(self.window.inflated())
            && outstanding + stream.payload(next) <= limit
    }

    /// One past the last segment that could be sent now, if it were written. A recovery that knows what is in the path gives the `room` that is left there.
    pub fn sendable(&self, room: Option<SegCount>) -> SeqNum {
        let sendable = match room {
            Some(room) => self.seq.nxt + room,
            None if self.short_fits() => self.app.stream.end(),
            None => self.seq.una + self.window.usable(),
        };
        self.seq.within_rwnd(sendable)
    }

    /// Segment `seq` leaves.
    #[inline]
    pub fn transmit(&mut self, now: Event, seq: SeqNum) -> DataSegment {
        self.counters.sent_packets += 1;
        let mut push = seq.next() == self.app.stream.end() && !self.app.write_goes_on;
        let again = self.seq.on_send(seq);
        let (ecn, cwr) = match &mut self.signals {
            None => (Ecn::NotEct, false),
            Some(signals) => signals.stamp(self.seq.is_syn(seq), again),
        };
        if again {
            self.counters.retransmits += 1;
            self.app.stream.last_sent = now.time;
            // Measured of Linux 6.1: a segment that ends a write has PSH whenever it is sent.
            push |= self.app.was_pushed(seq);
        } else {
            push |= self.app.is_pushed(seq);
            if seq.next() == self.app.stream.end() {
                self.app.stream.on_last_sent(now.time);
            }
        }
        DataSegment {
            seq,
            payload: self.app.stream.payload(seq),
            fin: self.app.stream.has_fin(seq),
            push,
            ecn,
            cwr,
            retransmission: again,
            stamp: TimestampClock::stamp_by(self.stamps.clock, now.time),
            echo: self.stamps.peer,
        }
    }

    /// Whether the application closes the connection now, when everything has been sent that may be.
    #[inline]
    pub fn closes(&mut self) -> bool {
        // It could not write before the connection was established.
        let closes = self.app.stream.is_close_due() && self.seq.is_established();
        if closes {
            let alone = self.app.stream.act_on_close(self.seq.una, self.seq.max);
            self.allowance = SendAllowance::Window;
            // The congestion window limits data (RFC 5681 §2), and a FIN alone has none. Measured of Linux 6.1: it follows a full window.
            if self.seq.nxt == self.seq.max {
                self.pending = alone;
            }
        }
        closes
    }

    /// The sender stops while `room` is left: starts the timer of a partial segment that waits for it, or stops it.
    #[cold]
    pub fn set_partial_timer(&mut self, now: Event, room: Option<SegCount>) {
        // It could not write before the connection was established.
        let unsent = self.seq.is_established() && self.seq.max < self.app.stream.end();
        if unsent {
            let edge = self.sendable(room);
            self.app.stream.judge(edge);
        }
        let stream = &self.app.stream;
        let waits = unsent && stream.waits_for_timer(self.seq.una, self.seq.max);
        match self.config.partial.timer() {
            Some((wait, _)) if waits => {
                if self.timers.partial.is_never() {
                    let wait = match wait {
                        PartialWait::For(time) => time,
                        PartialWait::Rto | PartialWait::Never => self.timers.rto.timeout(),
                    };
                    let due = self.config.timer_tick.expiry(now.time, wait);
                    self.timers.partial = now.schedule(due.max(now.time), Child::Timer);
                }
            }
            _ => self.timers.partial = EventKey::NEVER,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::registry::Value;
    use crate::tcp::recovery::testing::Rig;
    use crate::units::testing::seq;

    #[test]
    fn rfc3042_2_each_duplicate_lets_one_segment_beyond_the_window_leave_as_far_as_the_receivers_lets()
     {
        let mut rig = Rig::sending("reno", 4, &[]);
        assert_eq!(rig.tx.window_next(), None);
        assert_eq!(rig.tx.limited_transmit_next(1), Some(seq(4)));
        rig.tx.seq.on_send(seq(4));
        assert_eq!(rig.tx.limited_transmit_next(1), None);
        rig.tx.seq.allowed = seq(5);
        assert_eq!(rig.tx.limited_transmit_next(2), None);
    }

    #[test]
    fn rfc5681_2_a_fin_alone_follows_a_full_window() {
        let mut rig = Rig::with_bytes("reno", 2, 2 * 1460, &[]);
        assert_eq!(rig.send(), [0, 1]);
        rig.tx.app.stream.close();
        assert_eq!(rig.send(), [2]);
        assert!(rig.data[2].fin && rig.data[2].payload.is_zero());
    }

    #[test]
    fn rfc9293_3_9_1_2_what_ends_a_write_is_pushed_and_a_retransmission_says_that_it_is_one() {
        let mut rig = Rig::with_bytes("reno", 4, 3 * 1460, &[]);
        assert_eq!(rig.send(), [0, 1, 2]);
        let pushed: Vec<bool> = rig.data.iter().map(|data| data.push).collect();
        assert_eq!(pushed, [false, false, true]);
        assert_eq!(rig.expire(), [0]);
        assert!(rig.data[3].retransmission);
        assert_eq!(rig.tx.counters.retransmits, 1);
    }

    #[test]
    fn a_limit_in_bytes_has_room_for_a_short_segment_where_one_in_segments_has_not() {
        let nodelay = ("partial", Value::Choice("nodelay"));
        let bytes = ("window_limit", Value::Bytes(2 * 1460 + 100));
        for (told_apart, sent) in [(false, vec![0, 1]), (true, vec![0, 1, 2])] {
            let set = [bytes, nodelay, ("byte_window", Value::Bool(told_apart))];
            let mut rig = Rig::with_bytes("reno", 4, 2 * 1460 + 100, &set);
            assert_eq!(rig.send(), sent);
        }
    }
}
