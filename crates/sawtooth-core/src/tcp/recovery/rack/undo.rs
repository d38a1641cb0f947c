//! Taking a reduction back: when every retransmission was reported as a duplicate, or a timestamp shows that the original had arrived.
//!
//! Specification: RFC 3708 and RFC 4015 §3.2 (`undo`), RFC 3522 (`eifel`).

use super::{Phase, Sender};
use crate::cc::Windows;
use crate::events::Event;
use crate::tcp::params::Eifel;
use crate::tcp::timestamps::Stamp;

/// What could be undone: the windows as they were, how many retransmissions have not been reported as duplicates, and what the first of
/// them carried as its timestamp (RFC 3522's RetransmitTS), and its segment.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    pub(super) before: Windows,
    pub(super) needed: u64,
    pub(super) retransmitted: Stamp,
    pub(super) segment: u64,
    /// Of a timeout: the round-trip estimators.
    pub(super) estimators: Option<(f64, f64)>,
}

impl Undo {
    pub(super) fn to(before: Windows) -> Self {
        Self {
            before,
            needed: 0,
            retransmitted: Stamp::NONE,
            segment: 0,
            estimators: None,
        }
    }
}

impl Sender {
    /// A duplicate was reported (RFC 8985 §6.2 step 4: the reordering window was too small).
    pub(super) fn rack_on_duplicate(&mut self) {
        let (una, snd_max) = (self.snd_una, self.snd_max);
        let rack = self.rack();
        if una >= rack.dsack_round && rack.probe.is_none() {
            rack.reo_wnd_mult = (rack.reo_wnd_mult + 1).min(255);
            rack.reo_wnd_persist = 16;
            rack.dsack_round = snd_max;
        }
        if let Some(undo) = &mut rack.undo {
            undo.needed = undo.needed.saturating_sub(1);
        }
    }

    /// Restores the windows if all retransmissions were reported as duplicates.
    pub(super) fn rack_try_undo(&mut self, now: Event, over: bool) -> bool {
        let wanted = self.config.undo;
        let rack = self.rack();
        let Some(undo) = rack.undo else {
            return false;
        };
        if !wanted || undo.needed > 0 || (rack.segments.lost() > 0 && !over) {
            return false;
        }
        self.rack_undo(now, undo);
        true
    }

    /// Eifel: an acknowledgement that repeats a timestamp from before the first retransmission was caused by the original, so nothing was
    /// lost (RFC 3522 §3.2 step 5). Later retransmissions cannot lead to such a one: what a receiver repeats does not become older. Those of the episode
    /// before can, as long as what they fill is below the first one of this: RFC 3522's is the oldest segment outstanding, so whatever acknowledges anything
    /// acknowledges it.
    pub(super) fn rack_eifel(&mut self, now: Event) -> bool {
        let (eifel, echo, snd_max) = (self.config.eifel, self.echo, self.snd_max);
        let una = self.snd_una;
        if eifel == Eifel::Off {
            return false;
        }
        let rack = self.rack();
        let shows = |undo: &Undo| undo.segment < una && echo.precedes(undo.retransmitted);
        let Some(undo) = rack.undo.filter(shows) else {
            return false;
        };
        if eifel == Eifel::WindowAndTimeout {
            rack.adapt = undo.estimators.map(|estimators| (snd_max, estimators));
        }
        self.rack_undo(now, undo);
        true
    }

    pub(super) fn rack_undo(&mut self, now: Event, undo: Undo) {
        self.counters.spurious += 1;
        self.undo_episode();
        self.window.on_undo(now.time, undo.before);
        let rack = self.rack();
        rack.segments.forget_losses();
        rack.undo = None;
        let timeout = matches!(rack.phase, Phase::Timeout(_));
        rack.phase = Phase::Open;
        self.counters.spurious_timeouts += u64::from(timeout);
    }
}
