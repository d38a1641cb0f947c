//! Taking a reduction back: when every retransmission was reported as a duplicate, or a timestamp shows that the original had arrived.
//!
//! Specification: RFC 3708 and RFC 4015 §3.2 (`undo`), RFC 3522 (`eifel`).

use crate::cc::Windows;
use crate::tcp::timestamps::Stamp;

/// A reduction that could be taken back.
#[derive(Clone, Copy, Debug)]
struct Reduced {
    /// The windows as they were.
    before: Windows,
    /// Retransmissions that have not been reported as duplicates.
    needed: u64,
    /// What the first of them carried as its timestamp (RFC 3522's RetransmitTS), and its segment.
    retransmitted: Stamp,
    segment: u64,
    /// Of a timeout: the round-trip estimators.
    estimators: Option<(f64, f64)>,
}

/// The last reduction, as far as it can be taken back.
#[derive(Debug, Default)]
pub struct Undo {
    last: Option<Reduced>,
    /// After a spurious timeout: the timer adapts to the first round trip of what follows this segment, from these estimators.
    adapt: Option<(u64, (f64, f64))>,
}

impl Undo {
    /// The windows are reduced from what they were `before`; at a timeout from these estimators.
    pub fn begin(&mut self, before: Windows, estimators: Option<(f64, f64)>) {
        self.last = Some(Reduced {
            before,
            needed: 0,
            retransmitted: Stamp::NONE,
            segment: 0,
            estimators,
        });
    }

    /// There is nothing to take back any more.
    pub fn end(&mut self) {
        self.last = None;
    }

    /// Segment `seq` is sent again, with this timestamp.
    #[inline]
    pub fn on_retransmit(&mut self, seq: u64, stamp: Stamp) {
        if let Some(reduced) = &mut self.last {
            reduced.needed += 1;
            if reduced.retransmitted.is_none() {
                reduced.retransmitted = stamp;
                reduced.segment = seq;
            }
        }
    }

    /// A duplicate was reported: a retransmission was needless (RFC 3708 §3).
    pub fn on_dsack(&mut self) {
        if let Some(reduced) = &mut self.last {
            reduced.needed = reduced.needed.saturating_sub(1);
        }
    }

    /// The windows to be restored because every retransmission was reported as a duplicate, if that is so.
    pub fn by_dsack(&self) -> Option<Windows> {
        let reduced = self.last.filter(|reduced| reduced.needed == 0)?;
        Some(reduced.before)
    }

    /// The windows to be restored because something else has shown that the last reduction was needless (RFC 5682 §3.1).
    pub fn by_frto(&self) -> Option<Windows> {
        self.last.map(|reduced| reduced.before)
    }

    /// Eifel: an acknowledgement of everything before `una` that repeats a timestamp from before the first retransmission was caused by the original, so
    /// nothing was lost (RFC 3522 §3.2 step 5): the windows to be restored. Later retransmissions cannot lead to such a one: what a receiver repeats does
    /// not become older. Those of the episode before can, as long as what they fill is below the first one of this: RFC 3522's is the oldest segment
    /// outstanding, so whatever acknowledges anything acknowledges it.
    pub fn by_eifel(&self, una: u64, echo: Stamp) -> Option<Windows> {
        let shows =
            |reduced: &Reduced| reduced.segment < una && echo.precedes(reduced.retransmitted);
        self.last.filter(shows).map(|reduced| reduced.before)
    }

    /// The timer is to adapt to what a spurious timeout has taught (RFC 4015 §3.3), when what follows segment `max` is acknowledged.
    pub fn adapt_after(&mut self, max: u64) {
        let estimators = self.last.and_then(|reduced| reduced.estimators);
        self.adapt = estimators.map(|estimators| (max, estimators));
    }

    /// The estimators from which it adapts now that everything before `una` is acknowledged, once.
    pub fn adapts(&mut self, una: u64) -> Option<(f64, f64)> {
        let (_, estimators) = self.adapt.take_if(|(from, _)| una > *from)?;
        Some(estimators)
    }
}
