//! Taking a reduction back: when every retransmission was reported as a duplicate, or a timestamp shows that the original had arrived.
//!
//! Specifications: RFC 3708 (`undo`) and RFC 3522 §3.2 (`eifel`) for what shows that a reduction was needless; RFC 4015 §3.1 steps (0) and (11) for the timer.
//!
//! Deviations: the windows return to what they were before the reduction, or stay as they are where they have grown beyond that, as in Linux. RFC 4015
//! §3.1 step (9) sets cwnd to FlightSize + min(bytes_acked, IW) and ssthresh to pipe_prev, the greater of FlightSize and ssthresh before the reduction, and
//! changes nothing if the acknowledgement carries ECN-Echo; here ECN-Echo is not looked at. The RFC answers spurious timeouts only; here any reduction can
//! be taken back.

use crate::cc::Windows;
use crate::tcp::rto::Estimators;
use crate::tcp::timestamps::Stamp;
use crate::units::{SegCount, SeqNum};

/// A reduction that could be taken back.
#[derive(Clone, Copy, Debug)]
struct UndoableReduction {
    /// The windows as they were.
    before: Windows,
    /// Retransmissions that have not been reported as duplicates.
    needed: SegCount,
    /// What the first of them carried as its timestamp (RFC 3522's RetransmitTS), and its segment.
    retransmitted: Stamp,
    segment: SeqNum,
    /// The round-trip estimators before a timeout; none if a loss was found otherwise.
    estimators: Option<Estimators>,
}

/// The timer's adaptation to the first round trip of what is sent after a segment.
#[derive(Clone, Copy, Debug)]
struct RtoAdaptation {
    after: SeqNum,
    from: Estimators,
}

/// The last reduction, as far as it can be taken back.
#[derive(Debug, Default)]
pub struct ReductionUndo {
    /// Most connections have none most of the time.
    last: Option<Box<UndoableReduction>>,
    /// The timer's adaptation that is due after a spurious timeout.
    adapt: Option<RtoAdaptation>,
}

impl ReductionUndo {
    /// The windows are reduced from what they were `before`, while `resent` retransmissions are in the path; at a timeout from these estimators.
    pub fn begin(&mut self, before: Windows, resent: SegCount, estimators: Option<Estimators>) {
        self.last = Some(Box::new(UndoableReduction {
            before,
            needed: resent,
            retransmitted: Stamp::NONE,
            segment: SeqNum::ZERO,
            estimators,
        }));
    }

    /// There is nothing to take back any more.
    pub fn end(&mut self) {
        self.last = None;
    }

    /// Segment `seq` is sent again, with this timestamp.
    #[inline]
    pub fn on_retransmit(&mut self, seq: SeqNum, stamp: Stamp) {
        if let Some(reduced) = &mut self.last {
            reduced.needed += SegCount::ONE;
            if reduced.retransmitted.is_none() {
                reduced.retransmitted = stamp;
                reduced.segment = seq;
            }
        }
    }

    /// A duplicate was reported: a retransmission was needless (RFC 3708 §3).
    pub fn on_dsack(&mut self) {
        if let Some(reduced) = &mut self.last {
            reduced.needed = reduced.needed.saturating_sub(SegCount::ONE);
        }
    }

    /// The windows to be restored because every retransmission was reported as a duplicate, if that is so.
    pub fn by_dsack(&self) -> Option<Windows> {
        let reduced = self.last.as_ref()?;
        reduced.needed.is_zero().then_some(reduced.before)
    }

    /// The windows to be restored because something else has shown that the last reduction was needless (RFC 5682 §3.1).
    pub fn by_frto(&self) -> Option<Windows> {
        self.last.as_ref().map(|reduced| reduced.before)
    }

    /// Eifel: an acknowledgement of everything before `una` that repeats a timestamp from before the first retransmission was caused by the original, so
    /// nothing was lost (RFC 3522 §3.2 step 5): the windows to be restored. Later retransmissions cannot lead to such a one: what a receiver repeats does
    /// not become older. Those of the episode before can, as long as what they fill is below the first one of this: RFC 3522's is the oldest segment
    /// outstanding, so whatever acknowledges anything acknowledges it.
    pub fn by_eifel(&self, una: SeqNum, echo: Stamp) -> Option<Windows> {
        let reduced = self.last.as_ref()?;
        let shows = reduced.segment < una && echo.precedes(reduced.retransmitted);
        shows.then_some(reduced.before)
    }

    /// The timer is to adapt to what a spurious timeout has taught (RFC 4015 §3.1 step (11)), when what follows segment `max` is acknowledged.
    pub fn adapt_after(&mut self, max: SeqNum) {
        let estimators = self.last.as_ref().and_then(|reduced| reduced.estimators);
        self.adapt = estimators.map(|from| RtoAdaptation { after: max, from });
    }

    /// The estimators from which it adapts now that everything before `una` is acknowledged, once.
    pub fn adapts(&mut self, una: SeqNum) -> Option<Estimators> {
        let adaptation = self.adapt.take_if(|adaptation| una > adaptation.after)?;
        Some(adaptation.from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::timestamps::TimestampClock;
    use crate::units::testing::{at as time, secs, seq, window};

    const BEFORE: Windows = Windows {
        cwnd: window(20.0),
        ssthresh: window(40.0),
    };

    fn at(millis: u32) -> Stamp {
        TimestampClock::new(secs(0.001)).stamp(time(f64::from(millis) / 1000.0))
    }

    fn reduced(retransmissions: u64) -> ReductionUndo {
        let mut undo = ReductionUndo::default();
        undo.begin(BEFORE, SegCount::ZERO, None);
        for number in 0..retransmissions {
            undo.on_retransmit(seq(number), at(100));
        }
        undo
    }

    #[test]
    fn rfc3708_3_when_every_retransmission_was_reported_as_a_duplicate_nothing_was_lost() {
        let mut undo = reduced(2);
        undo.on_dsack();
        assert_eq!(undo.by_dsack(), None, "one is left");
        undo.on_dsack();
        assert_eq!(undo.by_dsack(), Some(BEFORE));
        undo.on_retransmit(seq(2), at(120));
        assert_eq!(undo.by_dsack(), None);
        undo.end();
        assert_eq!(undo.by_dsack(), None);
    }

    #[test]
    fn rfc3522_3_2_step_5_an_echo_from_before_the_first_retransmission_is_of_the_original() {
        let undo = reduced(1);
        assert_eq!(undo.by_eifel(seq(1), at(40)), Some(BEFORE));
        assert_eq!(
            undo.by_eifel(seq(1), at(100)),
            None,
            "of the retransmission"
        );
        assert_eq!(undo.by_eifel(seq(1), Stamp::NONE), None);
        // What acknowledges nothing that was sent again says nothing of it.
        assert_eq!(undo.by_eifel(seq(0), at(40)), None);
    }

    #[test]
    fn rfc3522_3_2_step_2_retransmitts_is_the_first_ones() {
        let mut undo = reduced(1);
        undo.on_retransmit(seq(1), at(300));
        assert_eq!(undo.by_eifel(seq(2), at(200)), None);
    }

    #[test]
    fn rfc4015_3_1_step_11_the_timer_adapts_once_when_what_followed_the_timeout_is_acknowledged() {
        let mut undo = ReductionUndo::default();
        let estimators = Estimators {
            srtt: secs(0.1),
            rttvar: secs(0.05),
        };
        undo.begin(BEFORE, SegCount::ZERO, Some(estimators));
        undo.adapt_after(seq(30));
        assert_eq!(
            undo.adapts(seq(30)),
            None,
            "up to segment 29 it was sent before"
        );
        assert_eq!(undo.adapts(seq(31)), Some(estimators));
        assert_eq!(undo.adapts(seq(32)), None);
    }

    #[test]
    fn deviating_from_rfc4015_3_1_step_9_a_spurious_timeout_restores_the_windows_before_it() {
        assert_eq!(reduced(3).by_frto(), Some(BEFORE));
        assert_eq!(ReductionUndo::default().by_frto(), None);
    }
}
