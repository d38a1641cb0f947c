//! The sender's sequence space.
//!
//! Specification: RFC 9293 §3.3.1 (SND.UNA, SND.NXT), §3.8.6 (the window that the receiver offers); RFC 5681 §2 (FlightSize).
//!
//! Sequence numbers count segments: with a handshake the SYN is segment 0 and carries no data.

use crate::packet::AdvertisedWindow;
use crate::units::{ByteCount, SegCount, SeqNum};

/// No limit.
const ANY: SeqNum = SeqNum::MAX;

#[derive(Debug)]
pub struct Sequence {
    /// Everything before has been acknowledged (SND.UNA).
    pub una: SeqNum,
    /// The next segment in sequence (SND.NXT). It goes back where everything outstanding is to be sent again.
    pub nxt: SeqNum,
    /// One past the highest segment ever sent.
    pub max: SeqNum,
    /// The first segment with data.
    first: SeqNum,
    /// One past the last segment that the receiver's window has room for (SND.UNA + SND.WND).
    right_edge: SeqNum,
    /// What it offered last, and how many segments that is.
    window: AdvertisedWindow,
    window_segments: SegCount,
    /// One past the last segment that may be sent for the first time as far as send buffer and receiver's window go.
    pub allowed: SeqNum,
    /// Whether more than one SYN was sent.
    pub syn_again: bool,
}

impl Sequence {
    /// Nothing has been sent. Data begins with segment `first`; unless it is `free`, it may not be sent before buffer or window allow it.
    pub fn new(first: SeqNum, free: bool) -> Self {
        Self {
            una: SeqNum::ZERO,
            nxt: SeqNum::ZERO,
            max: SeqNum::ZERO,
            first,
            right_edge: ANY,
            window: AdvertisedWindow::ANY,
            window_segments: SegCount::ZERO,
            allowed: if free { ANY } else { first },
            syn_again: false,
        }
    }

    /// Segments sent and not cumulatively acknowledged (FlightSize).
    #[inline]
    pub fn flight_size(&self) -> SegCount {
        self.max - self.una
    }

    /// Whether data may flow: the SYN is acknowledged, if there is one.
    #[inline]
    pub fn is_established(&self) -> bool {
        self.una >= self.first
    }

    /// Whether the SYN is outstanding, or has yet to be sent.
    #[inline]
    pub fn is_opening(&self) -> bool {
        !self.is_established()
    }

    /// Whether segment `seq` opens the connection.
    #[inline]
    pub fn is_syn(&self, seq: SeqNum) -> bool {
        seq < self.first
    }

    /// How many segments with data are before the next one.
    pub fn data_before_next(&self) -> SegCount {
        self.nxt.saturating_sub(self.first)
    }

    /// Whether an acknowledgement up to `next` repeats the last one while data is outstanding.
    #[inline]
    pub fn is_dupack(&self, next: SeqNum) -> bool {
        next == self.una && self.max > self.una
    }

    /// Everything before `next` is acknowledged.
    #[inline]
    pub fn on_ack(&mut self, next: SeqNum) {
        self.una = next;
        self.nxt = self.nxt.max(next);
    }

    /// Segment `seq` leaves; whether it had been sent before.
    #[inline]
    pub fn on_send(&mut self, seq: SeqNum) -> bool {
        let again = seq < self.max;
        if again {
            self.syn_again |= self.is_syn(seq);
        } else {
            self.max = seq.next();
        }
        self.nxt = self.nxt.max(seq.next());
        again
    }

    /// Everything outstanding is to be sent again.
    pub fn go_back(&mut self) {
        self.nxt = self.una;
    }

    /// The receiver has room for a `window` from `next` on; how many segments that are. The window's edge does not move back (RFC 9293 §3.8.6), though a receiver that takes room back is to be
    /// obeyed as far as what has not been sent goes (SHLD-15 there): this sender keeps the larger window.
    #[inline]
    pub fn on_window(
        &mut self,
        next: SeqNum,
        window: AdvertisedWindow,
        smss: ByteCount,
    ) -> SegCount {
        // Most are what the one before was.
        if window != self.window {
            self.window = window;
            self.window_segments = window.bytes().unwrap_or(ByteCount::MAX) / smss;
        }
        let edge = next + self.window_segments;
        self.right_edge = if self.right_edge == ANY {
            edge
        } else {
            self.right_edge.max(edge)
        };
        self.window_segments
    }

    /// As far as the receiver's window goes, a segment before `bound` may be sent.
    #[inline]
    pub fn within_rwnd(&self, bound: SeqNum) -> SeqNum {
        bound.min(self.right_edge)
    }

    /// What is `written` may be sent, as far as the receiver's window goes.
    pub fn allow(&mut self, written: Option<SeqNum>) {
        self.allowed = self.within_rwnd(written.unwrap_or(ANY));
    }

    /// Segments that the receiver's window has room for beyond what has been sent.
    #[inline]
    pub fn rwnd_room(&self) -> SegCount {
        self.right_edge.saturating_sub(self.nxt)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::{segs, seq as number};

    #[test]
    fn rfc9293_3_3_1_what_is_sent_is_outstanding_until_it_is_acknowledged() {
        let mut seq = Sequence::new(number(1), false);
        assert!(seq.is_opening() && seq.is_syn(number(0)) && !seq.is_syn(number(1)));
        assert!(!seq.on_send(number(0)));
        seq.on_ack(number(1));
        assert!(seq.is_established());
        for segment in 1..5 {
            assert!(!seq.on_send(number(segment)));
        }
        assert_eq!(
            (seq.flight_size(), seq.data_before_next()),
            (segs(4), segs(4))
        );
        seq.on_ack(number(3));
        assert_eq!([seq.una, seq.nxt, seq.max], [3, 5, 5].map(number));
        assert_eq!(seq.flight_size(), segs(2));
    }

    #[test]
    fn what_goes_back_is_sent_again_and_an_acknowledgement_beyond_it_goes_on_from_there() {
        let mut seq = Sequence::new(number(0), true);
        for segment in 0..6 {
            seq.on_send(number(segment));
        }
        seq.on_ack(number(2));
        seq.go_back();
        assert!(seq.on_send(number(2)));
        assert_eq!(
            (seq.nxt, seq.max, seq.flight_size()),
            (number(3), number(6), segs(4))
        );
        // The originals had arrived.
        seq.on_ack(number(6));
        assert_eq!((seq.nxt, seq.flight_size()), (number(6), segs(0)));
    }

    #[test]
    fn rfc5681_2_a_duplicate_acknowledgement_repeats_the_last_while_data_is_outstanding() {
        let mut seq = Sequence::new(number(0), true);
        assert!(!seq.is_dupack(number(0)), "nothing is outstanding");
        seq.on_send(number(0));
        seq.on_send(number(1));
        assert!(seq.is_dupack(number(0)) && !seq.is_dupack(number(1)));
        seq.on_ack(number(1));
        assert!(seq.is_dupack(number(1)) && !seq.is_dupack(number(0)));
    }

    #[test]
    fn rfc9293_3_8_6_the_right_edge_of_the_receivers_window_never_moves_back() {
        let mut seq = Sequence::new(number(0), true);
        assert_eq!(seq.rwnd_room(), SegCount::MAX);
        let smss = ByteCount::new(1000);
        let window = |bytes| AdvertisedWindow::of(ByteCount::new(bytes));
        assert_eq!(seq.on_window(number(0), window(10_999), smss), segs(10));
        seq.on_send(number(0));
        assert_eq!(seq.rwnd_room(), segs(9));
        // The receiver shrinks its window.
        seq.on_window(number(1), window(4000), smss);
        assert_eq!(
            (seq.rwnd_room(), seq.within_rwnd(number(99))),
            (segs(9), number(10))
        );
        seq.allow(Some(number(7)));
        assert_eq!(seq.allowed, number(7));
        seq.allow(None);
        assert_eq!(seq.allowed, number(10));
    }
}
