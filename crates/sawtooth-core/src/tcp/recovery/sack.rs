//! SACK: the scoreboard says which segments are missing; the window is filled with them first, then with new data.
//!
//! Specification: RFC 6675 (`sack_pipe = "scoreboard"`); Fall and Floyd, "Simulation-based Comparisons of Tahoe, Reno, and SACK
//! TCP", CCR 26(3), 1996, §4 (`sack_pipe = "counter"`: the path's content is counted since the loss, and a hole is
//! retransmitted as soon as anything above it has arrived).
//!
//! Deviations: RFC 6675 §5 step 4.3 sets RescueRxt to the first retransmission, and NextSeg rule 4 (§4) sends a rescue only once HighACK is greater than
//! RescueRxt: not before the first retransmission has been acknowledged. Here a flag allows one rescue in each recovery, at any time in it.
//! It is of the last segment below RecoveryPoint that has not been reported; the RFC's is the highest outstanding one, which may have been sent in this recovery.
//! §5 step 3 is of duplicate acknowledgements. Here one that acknowledges new data while others are reported above it lets as little be sent, which holds back a
//! sender whose packets were reordered; and it enters recovery if IsLost() says that the next segment is lost, which the RFC leaves to the next duplicate one.

#[cfg(test)]
mod tests;

use super::dupacks::{self, Dupacks, Reduction, SECOND};
use crate::events::Event;
use crate::packet::Ack;
use crate::registry::Entry;
use crate::tcp::episodes::LossFoundBy;
use crate::tcp::params::SackPipe;
use crate::tcp::scoreboard::Range;
use crate::tcp::sender::tx::{SendAllowance, Tx};
use crate::units::{SegCount, SeqNum};

/// The state of this recovery.
#[derive(Debug)]
pub struct Sack {
    dupacks: Dupacks,
    /// Between a loss and its recovery point.
    in_recovery: bool,
    /// After a timeout, duplicate acknowledgements mean nothing until new data is acknowledged.
    after_timeout: bool,
    /// One past the highest segment retransmitted in this recovery: HighRxt + 1.
    high_rxt: SeqNum,
    /// Segments of the scoreboard below that.
    sacked_below_high_rxt: SegCount,
    /// The estimate of what is in the path, segments. A number that may be negative: what is counted down may not have been counted up.
    pipe: i64,
    /// The one rescue retransmission of this recovery has been sent (NextSeg rule 4 of RFC 6675 §4 compares HighACK with RescueRxt instead).
    rescued: bool,
}

pub(super) const ENTRY: Entry<()> = Entry {
    name: "sack",
    summary: "selective acknowledgements: retransmits exactly what is missing, as fast as the window allows",
    specification: &["RFC 6675", "RFC 2018", "Fall and Floyd 1996 §4"],
    params: &[],
    new: (),
};

impl Sack {
    pub fn new() -> Self {
        Self {
            dupacks: Dupacks::new(),
            in_recovery: false,
            after_timeout: false,
            high_rxt: SeqNum::ZERO,
            sacked_below_high_rxt: SegCount::ZERO,
            pipe: 0,
            rescued: false,
        }
    }

    #[inline]
    pub fn on_ack(&mut self, tx: &mut Tx, now: Event, ack: &Ack) {
        if !self.in_recovery
            && ack.next > tx.seq.una
            && ack.sack.is_empty()
            && tx.reported.scoreboard.is_empty()
        {
            self.after_timeout = false;
            return self.dupacks.on_new_ack(tx, now, ack.next, true);
        }
        let lost = match tx.config.sack_pipe {
            SackPipe::Scoreboard if ack.next < tx.seq.una => return,
            SackPipe::Scoreboard => self.rfc6675_on_ack(tx, now, ack),
            SackPipe::Counter => self.counter_on_ack(tx, now, ack),
        };
        if lost {
            self.enter_recovery(tx, now);
        }
        if self.in_recovery && tx.config.sack_pipe == SackPipe::Scoreboard {
            self.set_pipe(tx);
        }
    }

    /// The next segment to send, by the rules of the pipe in use.
    #[inline]
    pub fn next(&mut self, tx: &mut Tx) -> Option<SeqNum> {
        if !self.in_recovery || tx.allowance != SendAllowance::Window {
            return self.dupacks.next(tx);
        }
        let next = match tx.config.sack_pipe {
            SackPipe::Scoreboard => self.next_seg(tx),
            SackPipe::Counter => self.counter_next(tx),
        }?;
        self.pipe += 1;
        Some(next)
    }

    #[inline]
    pub fn on_send(&mut self, tx: &mut Tx, now: Event, seq: SeqNum) {
        self.dupacks.on_send(tx, now, seq);
    }

    /// What was reported is not relied upon any more (RFC 2018 §5).
    pub fn on_timer(&mut self, tx: &mut Tx, now: Event) {
        self.dupacks.on_timeout(tx, now);
        self.dupacks.count = 0;
        self.in_recovery = false;
        self.after_timeout = true;
        tx.clear_scoreboard();
        self.high_rxt = SeqNum::ZERO;
        self.sacked_below_high_rxt = SegCount::ZERO;
    }

    #[inline]
    pub fn is_repairing(&self, tx: &Tx) -> bool {
        self.dupacks.is_repairing(tx)
    }

    pub(super) fn is_calm(&self, tx: &Tx) -> bool {
        !self.in_recovery
            && !self.after_timeout
            && tx.reported.scoreboard.is_empty()
            && self.dupacks.is_calm(tx, true)
    }

    #[inline(always)]
    pub(super) fn dupacks(&mut self) -> &mut Dupacks {
        &mut self.dupacks
    }

    /// Segments considered in the path.
    pub fn pipe(&self, tx: &Tx) -> SegCount {
        if self.in_recovery {
            SegCount::new(u64::try_from(self.pipe).unwrap_or(0))
        } else {
            tx.seq.nxt - tx.seq.una
        }
    }

    /// Adds what `ack` reports to the scoreboard; whether any of it is new.
    fn update_scoreboard(&mut self, tx: &mut Tx, ack: &Ack) -> bool {
        let scoreboard = &mut tx.reported.scoreboard;
        let high_rxt = self.high_rxt;
        let mut news = false;
        let mut below = SegCount::ZERO;
        for range in ack.sack.ranges(ack.next) {
            scoreboard.insert(range, |part| {
                news = true;
                below += part.end.min(high_rxt).saturating_sub(part.start);
            });
        }
        self.sacked_below_high_rxt += below;
        if scoreboard
            .first()
            .is_some_and(|range| range.start < ack.next)
        {
            let below_both = scoreboard.count(Range {
                start: SeqNum::ZERO,
                end: ack.next.min(high_rxt),
            });
            self.sacked_below_high_rxt -= below_both;
            scoreboard.remove_below(ack.next);
        }
        news
    }

    /// RFC 6675 §5 step 4: the window is reduced and the first segment sent again.
    fn enter_recovery(&mut self, tx: &mut Tx, now: Event) {
        self.in_recovery = true;
        self.rescued = false;
        let limited_transmits = self.dupacks.signal(tx, now);
        tx.reduce(now, LossFoundBy::Sack, None, limited_transmits);
        self.mark_retransmitted(tx, tx.seq.una);
        tx.pending = Some(tx.seq.una);
    }

    fn mark_retransmitted(&mut self, tx: &Tx, seq: SeqNum) {
        let from = self.high_rxt.max(tx.seq.una).min(seq);
        self.sacked_below_high_rxt += tx.reported.scoreboard.count(Range {
            start: from,
            end: seq.next(),
        });
        self.high_rxt = seq.next();
    }

    fn leave_recovery(&mut self) {
        self.in_recovery = false;
        self.dupacks.last_reduction = Reduction::Recovered;
        self.high_rxt = SeqNum::ZERO;
        self.sacked_below_high_rxt = SegCount::ZERO;
        self.pipe = 0;
    }

    /// The first segment from which on nothing has been reported or sent again.
    fn first_hole(&self, tx: &Tx) -> SeqNum {
        let from = self.high_rxt.max(tx.seq.una);
        tx.reported.scoreboard.first_gap(from)
    }

    // --- RFC 6675 -------------------------------------------------------------------------------------------------------

    /// RFC 6675 §5; whether a loss has been found that begins a recovery.
    fn rfc6675_on_ack(&mut self, tx: &mut Tx, now: Event, ack: &Ack) -> bool {
        let news = self.update_scoreboard(tx, ack);
        if ack.next > tx.seq.una {
            let recovers = self.in_recovery;
            if !recovers {
                self.after_timeout = false;
            }
            self.dupacks.on_new_ack(tx, now, ack.next, !recovers);
            if recovers && ack.next >= self.dupacks.recovery_point {
                // §5 step A: recovery is over; the window is what it was reduced to.
                self.leave_recovery();
            }
        } else if news {
            // §2: a duplicate acknowledgement is one that brings new selective acknowledgements.
            tx.counters.dupacks_in += 1;
            self.dupacks.count += 1;
        }
        // §5.1: after a timeout, not before everything that was outstanding then has been acknowledged.
        let covered = tx.seq.una >= self.dupacks.recovery_point
            || self.dupacks.last_reduction == Reduction::Never;
        if !covered || self.in_recovery || tx.reported.scoreboard.is_empty() {
            return false;
        }
        // §5 steps 1 and 2.
        let lost = self.dupacks.count >= tx.config.dup_thresh || is_lost(tx, tx.seq.una);
        if !lost && ack.next == tx.seq.una {
            // §5 step 3.
            tx.allowance = if news {
                dupacks::limited_transmit(tx)
            } else {
                SendAllowance::Nothing
            };
        }
        lost
    }

    /// SetPipe of §4, without walking the scoreboard. A retransmission still pending is counted when it is sent.
    fn set_pipe(&mut self, tx: &Tx) {
        let (una, dup_thresh) = (tx.seq.una, SegCount::from(tx.config.dup_thresh));
        let outstanding = tx.seq.flight_size();
        let sacked = tx.reported.scoreboard.total();
        let lost = lost_edge(tx).map_or(SegCount::ZERO, |edge| {
            (edge - una.min(edge)).saturating_sub(sacked - dup_thresh)
        });
        let retransmitted = self
            .high_rxt
            .saturating_sub(una)
            .saturating_sub(self.sacked_below_high_rxt);
        let pipe = outstanding - sacked - lost + retransmitted;
        self.pipe = i64::try_from(pipe.get()).unwrap_or(i64::MAX);
    }

    /// NextSeg of §4, if the pipe has room.
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
    fn next_seg(&mut self, tx: &Tx) -> Option<SeqNum> {
        if tx.window.cwnd().segments() - self.pipe as f64 + 1e-9 < 1.0 {
            return None;
        }
        let hole = self.first_hole(tx);
        let below_highest = hole < tx.reported.scoreboard.end().unwrap_or(SeqNum::ZERO);
        // Rule 1: the first hole that is lost and not yet retransmitted.
        if below_highest && is_lost(tx, hole) {
            self.mark_retransmitted(tx, hole);
            return Some(hole);
        }
        // Rule 2: new data.
        if tx.has_new() {
            return Some(tx.seq.nxt);
        }
        // Rule 3: the first hole, lost or not.
        if below_highest {
            self.mark_retransmitted(tx, hole);
            return Some(hole);
        }
        // Rule 4: once per recovery, the last segment outstanding that has not been reported.
        let recovery_point = self.dupacks.recovery_point;
        if self.rescued || tx.seq.una >= recovery_point {
            return None;
        }
        self.rescued = true;
        Some(tx.reported.scoreboard.last_gap(recovery_point))
    }

    // --- Fall and Floyd 1996 --------------------------------------------------------------------------------------------

    /// Whether a loss has been found that begins a recovery.
    fn counter_on_ack(&mut self, tx: &mut Tx, now: Event, ack: &Ack) -> bool {
        if self.in_recovery {
            self.counter_on_ack_in_recovery(tx, now, ack);
        } else if ack.next > tx.seq.una {
            self.after_timeout = false;
            self.dupacks.on_new_ack(tx, now, ack.next, true);
            tx.clear_scoreboard();
        } else if tx.seq.is_dupack(ack.next)
            && !self.after_timeout
            && self.update_scoreboard(tx, ack)
        {
            // Only an acknowledgement that reports something new says that a segment has arrived.
            tx.allowance = SendAllowance::Nothing;
            self.dupacks.count(tx);
            if self.dupacks.count == tx.config.dup_thresh && self.dupacks.may_signal(tx) {
                // What is outstanding, less the segments whose arrival the duplicate acknowledgements reported.
                self.pipe = i64::try_from(tx.seq.flight_size().get()).unwrap_or(i64::MAX)
                    - i64::from(tx.config.dup_thresh);
                // The retransmission leaves, and nothing else before the next acknowledgement.
                return true;
            }
        } else {
            tx.allowance = SendAllowance::Nothing;
        }
        false
    }

    fn counter_on_ack_in_recovery(&mut self, tx: &mut Tx, now: Event, ack: &Ack) {
        self.pipe -= 1;
        if ack.next >= self.dupacks.recovery_point {
            self.dupacks.on_new_ack(tx, now, ack.next, false);
            self.leave_recovery();
            self.dupacks.recovery_point = SECOND;
            self.after_timeout = false;
            tx.clear_scoreboard();
        } else if ack.next > tx.seq.una {
            // A partial acknowledgement means that a retransmission has arrived: two segments have left the path, the original
            // and its repetition.
            self.pipe -= 1;
            self.dupacks.advance(tx, now, ack.next);
            self.update_scoreboard(tx, ack);
            tx.timers.arm(now);
        } else if tx.seq.is_dupack(ack.next) {
            tx.counters.dupacks_in += 1;
            self.update_scoreboard(tx, ack);
        }
    }

    /// The first hole not yet retransmitted, or else new data, while fewer segments are in the path than the window allows.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "windows are far below 2^53"
    )]
    fn counter_next(&mut self, tx: &Tx) -> Option<SeqNum> {
        if self.pipe >= tx.window.cwnd().segments() as i64 {
            return None;
        }
        let hole = self.first_hole(tx);
        if hole < tx.reported.scoreboard.end().unwrap_or(SeqNum::ZERO) {
            self.mark_retransmitted(tx, hole);
            return Some(hole);
        }
        tx.has_new().then_some(tx.seq.nxt)
    }
}

/// IsLost of RFC 6675 §4: DupThresh segments above it have been reported.
fn is_lost(tx: &Tx, seq: SeqNum) -> bool {
    lost_edge(tx).is_some_and(|edge| seq < edge)
}

/// Segments below this that have not been selectively acknowledged are lost.
fn lost_edge(tx: &Tx) -> Option<SeqNum> {
    let dup_thresh = SegCount::from(tx.config.dup_thresh);
    tx.reported.scoreboard.nth_highest(dup_thresh)
}
