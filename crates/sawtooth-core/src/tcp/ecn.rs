//! Explicit Congestion Notification in TCP: what a receiver echoes of the marks that arrive (`receiver/marks.rs`), and what a sender makes of it.
//!
//! Specification: RFC 3168 §6.1 (`ecn = "classic"`), RFC 8257 §3.2, §3.3 (`"dctcp"`), RFC 9768 §3.2 (`"accurate"`).
//!
//! Model:
//! - classic: an acknowledgement carries ECE from the first mark until a segment with CWR arrives
//! - dctcp: an acknowledgement carries ECE if the segments that it acknowledges came marked; where that changes, what has not been acknowledged
//!   is acknowledged at once, and the first segment of the new state, too
//! - accurate: an acknowledgement carries the number of marks since the connection's start; the first mark after an unmarked segment, and every
//!   second of a row, are acknowledged at once (RFC 9768 §3.2.2.5.1)
//! - a sender reduces its window (`on_congestion`) for the first mark that it hears of, then for no other until a segment beyond what was outstanding
//!   has been acknowledged, which was the first to carry CWR (RFC 3168 §6.1.2); the same after a loss. A loss in that time reduces
//!   nothing more, except of algorithms to which marks are little: they answer it as any TCP (RFC 8257 §3.5)
//! - an algorithm of [`cc::EcnMode::L4s`] hears the number of marks only and decides itself
//! - SYN and acknowledgements are not ECN-capable. Segments that are sent again are not in classic ECN (RFC 3168 §6.1.5), and are with
//!   algorithms for which nothing but marks keeps queues short: a queue could only drop them otherwise
//!
//! Deviations: the negotiation succeeds and costs nothing. The counter of RFC 9768 has 16 bits instead of the 3 of its header field, as its option
//! would give it, whose bytes do not count. A window of one segment is not answered by waiting for the timer (RFC 3168 §6.1.2): no window becomes
//! less than two by a mark, or with CUBIC (RFC 9438 §4.6) and ns-2's algorithms one.
//!
//! Beside Linux 6.1 (reno and dctcp, 10 Mbit/s, 20 ms, a step at 6 of 17 packets): with PRR the segment that carries CWR is marked, too, and a second
//! reduction follows the first, there as here. Linux's `dctcp` sends SYN and acknowledgements as ECT(0), too. Which
//! segments its receiver acknowledges at once for marks is what `quick_acks_again` is about.

use super::params::Feedback;
use crate::cc;
use crate::packet::{Ack, Ecn};
use crate::units::{SegCount, SeqNum};

/// The sender's side.
#[derive(Debug)]
pub struct Signals {
    feedback: Feedback,
    response: EcnResponse,
    codepoint: Ecn,
    /// The count of marks that the receiver last reported.
    reported: u16,
    /// Marks that were reported beyond what was delivered: the algorithm has not been told of them yet.
    left_over: SegCount,
    /// Of the acknowledgement in hand: segments delivered marked.
    pub marked: SegCount,
    /// No mark reduces the window before more than this has been acknowledged.
    reduced_until: Option<SeqNum>,
    /// The last reduction was for a mark.
    for_mark: bool,
    /// The next new segment says that the window has been reduced.
    pub cwr: bool,
}

/// Who reduces the window for marks, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EcnResponse {
    /// The sender, as a loss.
    Classic,
    /// The sender, by the algorithm's share of marks.
    Share,
    /// The algorithm.
    Own,
}

impl Signals {
    /// Nothing without ECN.
    pub fn new(feedback: Feedback, wants: cc::EcnMode) -> Option<Box<Self>> {
        if feedback == Feedback::Off {
            return None;
        }
        let (response, codepoint) = match wants {
            cc::EcnMode::Classic => (EcnResponse::Classic, Ecn::Ect0),
            cc::EcnMode::Every => (EcnResponse::Share, Ecn::Ect0),
            // Without a count of marks it is no L4S (RFC 9331 §4.2).
            cc::EcnMode::L4s if feedback == Feedback::Classic => (EcnResponse::Classic, Ecn::Ect0),
            cc::EcnMode::L4s => (EcnResponse::Own, Ecn::Ect1),
        };
        Some(Box::new(Self {
            feedback,
            response,
            codepoint,
            reported: 0,
            left_over: SegCount::ZERO,
            marked: SegCount::ZERO,
            reduced_until: None,
            for_mark: false,
            cwr: false,
        }))
    }

    /// The ECN field and CWR of a segment that leaves.
    pub fn stamp(&mut self, is_syn: bool, is_retransmission: bool) -> (Ecn, bool) {
        if is_syn || (is_retransmission && self.response == EcnResponse::Classic) {
            return (Ecn::NotEct, false);
        }
        let cwr = !is_retransmission && std::mem::take(&mut self.cwr);
        (self.codepoint, cwr)
    }

    /// Takes an acknowledgement that says that `delivered` segments have arrived; whether any of them came marked.
    pub fn take_marks(&mut self, ack: &Ack, delivered: SegCount) -> bool {
        if self.feedback == Feedback::Accurate {
            let news = ack.marks.wrapping_sub(self.reported);
            // An acknowledgement that was overtaken says nothing new.
            if news < 1 << 15 {
                self.reported = ack.marks;
                self.left_over += SegCount::from(u32::from(news));
            }
            self.marked = self.left_over.min(delivered);
            self.left_over -= self.marked;
            return !self.marked.is_zero();
        }
        self.marked = if ack.ece { delivered } else { SegCount::ZERO };
        ack.ece
    }

    /// Whether the algorithm hears which share of what is delivered was marked.
    pub fn wants_share(&self) -> bool {
        self.response == EcnResponse::Share
    }

    /// Whether a mark reduces the window, when everything before `una` is acknowledged: once per window, and if the algorithm does not do that itself.
    pub fn may_reduce(&self, una: SeqNum) -> bool {
        self.response != EcnResponse::Own && self.reduced_until.is_none_or(|until| una > until)
    }

    /// The window was reduced, of whatever cause, when everything before `max` had been sent: the receiver is told (RFC 3168 §6.1.2).
    #[inline]
    pub fn on_reduction(&mut self, max: SeqNum, for_mark: bool) {
        self.cwr = true;
        self.for_mark = for_mark;
        self.reduced_until = Some(max);
    }

    /// What it was for is over.
    pub fn end_reduction(&mut self) {
        self.reduced_until = None;
    }

    /// Whether a mark has reduced the window for what is outstanding from `una` on, and a loss of it is the same congestion.
    pub fn has_reduced_for_mark(&self, una: SeqNum) -> bool {
        self.for_mark
            && self.response == EcnResponse::Classic
            && self.reduced_until.is_some_and(|until| una <= until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::segs;

    #[test]
    fn rfc9768_3_2_a_sender_hears_of_each_mark_once_and_of_none_that_did_not_arrive() {
        let mut signals = Signals::new(Feedback::Accurate, cc::EcnMode::L4s).expect("it is on");
        let half = 1 << 15;
        // Counts, segments delivered, and those of them that came marked.
        for (marks, delivered, marked) in [
            (0, 2, 0),
            (3, 2, 2),
            (3, 2, 1),
            (3, 2, 0),
            // Half of all counts ahead is behind: an acknowledgement that was overtaken.
            (3 + half, 2, 0),
            (2, 2, 0),
            (3 + half - 1, 40_000, 32_767),
            (1, 40_000, 32_767),
        ] {
            let ack = Ack {
                marks,
                ..Ack::default()
            };
            assert_eq!(
                signals.take_marks(&ack, segs(delivered)),
                marked > 0,
                "{marks}"
            );
            assert_eq!(signals.marked, segs(marked), "{marks}");
        }
    }
}
