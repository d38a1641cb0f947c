//! What a sign of congestion begins, and what ends it: a recovery, the time after a mark or after a timeout, each up to its recovery point, or until it turns out
//! that there was no reason for it.
//!
//! Specifications: RFC 6675 §5 (steps 4 and A), RFC 3168 §6.1.2 (a mark's reduction), RFC 5682 §3.1, RFC 3708, RFC 3522 (reductions that are undone).
//!
//! Deviations: reductions are undone as in Linux, not as in RFC 4015 §3.1 step (9): see `undo.rs`.

use super::delivery::NewlyDelivered;
use super::frto::{Evidence, Frto, FrtoVerdict};
use super::outstanding::Outstanding;
use super::phase::RecoveryPhase;
use super::reduction::Prr;
use super::undo::ReductionUndo;
use crate::cc::{Signal, Windows};
use crate::events::Event;
use crate::tcp::params::Eifel;
use crate::tcp::segments::LostSegments;
use crate::tcp::sender::tx::Tx;
use crate::units::{SegCount, SeqNum};

/// What the last sign of congestion has left.
#[derive(Debug)]
pub(super) struct Congestion {
    pub phase: RecoveryPhase,
    /// One past the last segment that was outstanding at the sign: the phase lasts until everything before is acknowledged (RecoveryPoint + 1).
    pub recovery_point: SeqNum,
    pub undo: ReductionUndo,
}

impl Congestion {
    /// There has been none.
    pub(super) fn none() -> Self {
        Self {
            phase: RecoveryPhase::Open,
            recovery_point: SeqNum::ZERO,
            undo: ReductionUndo::default(),
        }
    }

    /// Whether the window has been reduced for what is outstanding now, from segment `una` on.
    pub(super) fn is_reduced(&self, una: SeqNum) -> bool {
        let reduces = matches!(
            self.phase,
            RecoveryPhase::Recovery(_) | RecoveryPhase::Cwr(_)
        );
        reduces && una < self.recovery_point
    }

    /// A connection is established, whatever became of its SYN.
    pub(super) fn clear(&mut self) {
        self.phase = RecoveryPhase::Open;
        self.undo.end();
    }

    /// What an acknowledgement changes of the phase; whether a recovery begins.
    pub(super) fn finds_loss(
        &mut self,
        tx: &mut Tx,
        now: Event,
        news: &NewlyDelivered,
        lost: LostSegments,
        outstanding: &mut Outstanding,
    ) -> bool {
        let una = tx.seq.una;
        let over = una >= self.recovery_point;
        match self.phase {
            RecoveryPhase::Open | RecoveryPhase::Cwr(_) if !lost.all.is_zero() => return true,
            // The segment after what was outstanding, which carries CWR, has arrived, too (RFC 3168 §6.1.2).
            RecoveryPhase::Cwr(_) if una > self.recovery_point => self.leave_cwr(tx, now),
            RecoveryPhase::Open | RecoveryPhase::Cwr(_) => {}
            RecoveryPhase::Recovery(_) if over => {
                self.leave(tx, now, true, outstanding);
                // What was found lost of what was sent during it is congestion of its own, sent again meanwhile or not, and whether or not a mark had reduced the window before. Measured of Linux 6.1: the
                // acknowledgement that ends a recovery while such a loss is not repaired begins another, and reduces the window again.
                return outstanding.segments.misses_lost();
            }
            RecoveryPhase::Recovery(_) => {
                self.undo_by_dsack(tx, now, false, outstanding);
            }
            RecoveryPhase::Timeout(_) if over => {
                self.leave(tx, now, false, outstanding);
                // And so does the acknowledgement that ends what a timeout began.
                return Self::is_resent_lost(lost, outstanding)
                    || outstanding.finds_by_time() && outstanding.segments.misses_lost();
            }
            RecoveryPhase::Timeout(frto) => {
                self.after_timeout(tx, now, news, frto, outstanding);
                return Self::is_resent_lost(lost, outstanding);
            }
        }
        false
    }

    /// Whether a retransmission has been found lost, after a timeout. Measured of Linux 6.1: that is congestion of its own, and begins a recovery that reduces the window again; what else is found lost after
    /// a timeout does not.
    fn is_resent_lost(lost: LostSegments, outstanding: &Outstanding) -> bool {
        outstanding.finds_by_time() && !lost.resent.is_zero()
    }

    /// A loss was found.
    #[cold]
    #[inline(never)]
    pub(super) fn enter_recovery(&mut self, tx: &mut Tx, now: Event, outstanding: &Outstanding) {
        let before = tx.window.windows();
        let once = tx.is_reduced_for_mark();
        let tells = tx.tells_reduction();
        let walks = matches!(self.phase, RecoveryPhase::Cwr(_));
        if walks && !once && tx.window.needs.backs_off {
            // The window has been reduced for delay, and is not for a loss of what is outstanding since.
            tx.counters.fast_retransmits += 1;
        } else {
            tx.reduce(
                now,
                outstanding.cause(),
                Some(outstanding.losses()),
                SegCount::ZERO,
            );
        }
        if walks {
            // Measured of Linux 6.1: a loss in a mark's reduction is not told by CWR again, whether it lowers the threshold (`dctcp`) or not.
            tx.tell_reduction(tells);
        }
        if tx.prescribes_reduction() {
            tx.window.prescribe(now.time, before.cwnd);
        }
        if once {
            self.undo.end();
        } else {
            self.undo.begin(before, outstanding.segments.resent(), None);
        }
        self.phase = RecoveryPhase::Recovery(match self.phase {
            // The reduction under way goes on, also where the loss lowers the threshold. Measured of Linux 6.1, `dctcp`: with a window of 4 after a mark, two segments in the path and one lost, the
            // first retransmission waits for the next acknowledgement.
            RecoveryPhase::Cwr(prr) => prr,
            _ => Prr::new(before.cwnd.whole()),
        });
        // And it is over where that would have been. Measured of Linux 6.1: after a mark at 36201 B that was followed by a loss when 39097 B had been sent, the acknowledgement of 36201 B, which carried ECN-Echo, was
        // answered with CWR.
        if !walks {
            self.recovery_point = tx.seq.max;
        }
    }

    /// A mark was echoed.
    #[cold]
    #[inline(never)]
    pub(super) fn enter_cwr(&mut self, tx: &mut Tx, now: Event, outstanding: &Outstanding) {
        let before = tx.window.windows();
        tx.reduce_for_mark(now, Some(outstanding.losses()));
        if tx.prescribes_reduction() {
            tx.window.prescribe(now.time, before.cwnd);
        }
        self.phase = RecoveryPhase::Cwr(Prr::new(before.cwnd.whole()));
        self.recovery_point = tx.seq.max;
    }

    /// The window may have been reduced for delay from what it was `before`. Measured of Linux 6.1, `cdg`: it shrinks in a round trip there, as after a mark.
    #[inline(never)]
    pub(super) fn walk_down(&mut self, tx: &mut Tx, now: Event, before: Windows) {
        if tx.window.has_backed_off() && self.phase == RecoveryPhase::Open && tx.config.prr {
            tx.window.prescribe(now.time, before.cwnd);
            self.phase = RecoveryPhase::Cwr(Prr::new(before.cwnd.whole()));
            self.recovery_point = tx.seq.max;
        }
    }

    #[cold]
    #[inline(never)]
    fn leave_cwr(&mut self, tx: &mut Tx, now: Event) {
        self.phase = RecoveryPhase::Open;
        if !tx.window.needs.rules_recovery {
            let ssthresh = tx.window.ssthresh();
            tx.window.prescribe(now.time, ssthresh);
        }
        tx.window.on_recovered(now.time, Signal::Ecn);
    }

    /// Everything that was outstanding when the loss was found has arrived.
    #[cold]
    #[inline(never)]
    fn leave(&mut self, tx: &mut Tx, now: Event, reduced: bool, outstanding: &mut Outstanding) {
        if !self.undo_by_dsack(tx, now, true, outstanding)
            && reduced
            && !tx.window.needs.rules_recovery
        {
            let ssthresh = tx.window.ssthresh();
            tx.window.prescribe(now.time, ssthresh);
        }
        self.phase = RecoveryPhase::Open;
        self.undo.end();
        // Measured of Linux 6.1: the acknowledgement that ends a recovery reduces the window again if it reports a mark.
        tx.end_reduction();
        outstanding.detect.on_recovered();
        let began = if reduced { Signal::Loss } else { Signal::Rto };
        tx.window.on_recovered(now.time, began);
    }

    /// Whether a timeout was spurious, from what arrives after it.
    #[cold]
    #[inline(never)]
    fn after_timeout(
        &mut self,
        tx: &mut Tx,
        now: Event,
        news: &NewlyDelivered,
        frto: Frto,
        outstanding: &mut Outstanding,
    ) {
        let evidence = Evidence {
            originals: news.originals_of_episode,
            is_partial: !news.acked.is_zero() && tx.seq.una < self.recovery_point,
            has_more: tx.has_more(),
        };
        match frto.on_ack(evidence) {
            FrtoVerdict::Spurious => {
                if let Some(before) = self.undo.by_frto() {
                    self.take_back(tx, now, before, outstanding);
                }
            }
            FrtoVerdict::Undecided(next) => {
                if frto == Frto::Retransmitted && next != frto {
                    self.recovery_point = tx.seq.max;
                }
                self.phase = RecoveryPhase::Timeout(next);
            }
        }
    }

    /// Restores the windows if all retransmissions were reported as duplicates. `over`: everything that was outstanding at the loss has arrived.
    fn undo_by_dsack(
        &mut self,
        tx: &mut Tx,
        now: Event,
        over: bool,
        outstanding: &mut Outstanding,
    ) -> bool {
        if !tx.config.undo || (outstanding.has_lost() && !over) {
            return false;
        }
        let before = self.undo.by_dsack();
        before.is_some_and(|before| self.take_back(tx, now, before, outstanding))
    }

    /// Restores the windows if a timestamp shows that the original had arrived.
    pub(super) fn undo_by_eifel(
        &mut self,
        tx: &mut Tx,
        now: Event,
        outstanding: &mut Outstanding,
    ) -> bool {
        if tx.config.eifel == Eifel::Off {
            return false;
        }
        let Some(before) = self.undo.by_eifel(tx.seq.una, tx.stamps.echo) else {
            return false;
        };
        if tx.config.eifel == Eifel::WindowAndTimeout {
            self.undo.adapt_after(tx.seq.max);
        }
        self.take_back(tx, now, before, outstanding)
    }

    /// The windows are again what they were before the last reduction, whether the acknowledgement carries ECN-Echo or not.
    #[cold]
    #[inline(never)]
    fn take_back(
        &mut self,
        tx: &mut Tx,
        now: Event,
        before: Windows,
        outstanding: &mut Outstanding,
    ) -> bool {
        tx.counters.spurious += 1;
        tx.counters.spurious_timeouts += u64::from(matches!(self.phase, RecoveryPhase::Timeout(_)));
        if let Some(episodes) = &mut tx.episodes {
            episodes.undo();
        }
        tx.window.on_undo(now.time, before);
        outstanding.segments.forget_losses();
        self.undo.end();
        self.phase = RecoveryPhase::Open;
        true
    }
}
