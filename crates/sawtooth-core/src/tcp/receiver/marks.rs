//! What a receiver echoes of the marks that arrive: the rules of each kind of feedback stand at the head of `ecn.rs`.
//!
//! Specification: RFC 3168 §6.1.3 (`ecn = "classic"`), RFC 8257 §3.2 (`"dctcp"`), RFC 9768 §3.2 (`"accurate"`).

use crate::packet::{DataSegment, Ecn};
use crate::tcp::params::Feedback;
use crate::units::SegCount;

/// The marks that one receiver has seen, and what it says of them.
#[derive(Debug)]
pub struct EcnFeedback {
    feedback: Feedback,
    ece: bool,
    /// Packets that have arrived marked.
    pub ce_in: SegCount,
    /// Of these, those that came since an acknowledgement left.
    unreported: u32,
    last_marked: bool,
    /// An ECN-capable segment has come.
    has_seen_capable: bool,
}

impl EcnFeedback {
    pub fn new(feedback: Feedback) -> Self {
        Self {
            feedback,
            ece: false,
            ce_in: SegCount::ZERO,
            unreported: 0,
            last_marked: false,
            has_seen_capable: false,
        }
    }

    #[inline]
    pub fn is_on(&self) -> bool {
        self.feedback != Feedback::Off
    }

    /// Whether it goes on telling of a mark until the sender says CWR. Measured of Linux 6.1: where it does not, as with `dctcp`, a mark makes no acknowledgements but its own leave undelayed.
    pub fn asks_for_cwr(&self) -> bool {
        self.feedback != Feedback::Dctcp
    }

    /// Whether acknowledgements carry ECE.
    pub fn is_echoing(&self) -> bool {
        self.ece
    }

    /// Whether a packet with this field ends a row of marked or unmarked ones that the acknowledgements tell apart.
    pub fn changes_state(&self, field: Ecn) -> bool {
        self.feedback == Feedback::Dctcp && (field == Ecn::Ce) != self.ece
    }

    /// Whether a segment with this field is not ECN-capable, and others before it were: it was sent again (RFC 3168 §6.1.5). Measured of Linux 6.1: its acknowledgement and the next are not
    /// delayed.
    pub fn tells_of_repair(&mut self, field: Ecn) -> bool {
        self.has_seen_capable |= field.is_capable();
        self.has_seen_capable && !field.is_capable()
    }

    /// A segment arrives; whether it is to be acknowledged at once.
    pub fn on_segment(&mut self, data: DataSegment) -> bool {
        let marked = data.ecn == Ecn::Ce;
        self.ce_in += SegCount::from(u32::from(marked));
        match self.feedback {
            Feedback::Off => false,
            Feedback::Classic => {
                self.ece = (self.ece && !data.cwr) || marked;
                false
            }
            Feedback::Dctcp => {
                let changes = marked != self.ece;
                self.ece = marked;
                changes
            }
            Feedback::Accurate => {
                let first = marked && !self.last_marked;
                self.last_marked = marked;
                self.unreported += u32::from(marked);
                first || self.unreported >= 2
            }
        }
    }

    /// What an acknowledgement that leaves now says: ECE and the count of marks.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a counter that wraps")]
    pub fn report(&mut self) -> (bool, u16) {
        self.unreported = 0;
        let marks = match self.feedback {
            Feedback::Accurate => self.ce_in.get() as u16,
            _ => 0,
        };
        (self.ece, marks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn segment(ecn: Ecn, cwr: bool) -> DataSegment {
        DataSegment {
            ecn,
            cwr,
            ..DataSegment::default()
        }
    }

    #[test]
    fn rfc3168_6_1_3_ece_from_the_first_mark_until_cwr() {
        let mut marks = EcnFeedback::new(Feedback::Classic);
        let arrivals = [
            (Ecn::Ect0, false, false),
            (Ecn::Ce, false, true),
            (Ecn::Ect0, false, true),
            (Ecn::Ect0, true, false),
            (Ecn::Ect0, false, false),
            (Ecn::Ce, true, true),
        ];
        for (ecn, cwr, ece) in arrivals {
            marks.on_segment(segment(ecn, cwr));
            assert_eq!(marks.report(), (ece, 0));
        }
        assert_eq!(marks.ce_in, SegCount::new(2));
    }

    #[test]
    fn rfc9768_3_2_2_5_1_the_first_mark_and_every_second_of_a_row_are_told_at_once() {
        let mut marks = EcnFeedback::new(Feedback::Accurate);
        // The first is acknowledged; what follows is when it is to be.
        let mut at_once = Vec::new();
        for ecn in [
            Ecn::Ect0,
            Ecn::Ce,
            Ecn::Ce,
            Ecn::Ce,
            Ecn::Ce,
            Ecn::Ect0,
            Ecn::Ce,
        ] {
            let now = marks.on_segment(segment(ecn, false));
            at_once.push(now);
            if now {
                marks.report();
            }
        }
        assert_eq!(at_once, [false, true, false, true, false, false, true]);
        assert_eq!(marks.report(), (false, 5));
    }
}
