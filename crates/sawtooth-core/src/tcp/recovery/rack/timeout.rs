//! What happens when the timer expires.
//!
//! Specifications: RFC 6298 §5.4 to §5.6 and RFC 8985 §6.3 (a timeout), §7.3 (a probe), §6.2 step 5 (losses are looked for again); RFC 2018 §8 (a receiver that
//! discards what it has reported).

use super::Rack;
use super::frto::Frto;
use super::outstanding::LossDetection;
use super::phase::RecoveryPhase;
use super::timer::{Situation, TimerPurpose};
use crate::cc::Signal;
use crate::events::{Event, EventKey};
use crate::tcp::sender::tx::Tx;
use crate::units::{Instant, SegCount, SeqNum, WindowSize};

impl Rack {
    /// Sets the timer for what it is needed for next.
    pub(super) fn arm(&mut self, tx: &mut Tx, now: Event) {
        let has_new = std::mem::take(&mut self.timer.has_new);
        let of_first = has_new && tx.config.probe_of_first;
        // Measured of Linux 6.1, in the reduction for a mark: after the report of the second of two segments and a new one that it let leave nothing was sent again by a timer 19 ms later, but by the next report.
        let reduces =
            tx.config.probe_in_cwr && matches!(self.congestion.phase, RecoveryPhase::Cwr(_));
        let situation = Situation {
            first_sent: of_first
                .then(|| self.outstanding.segments.sent_at(tx.seq.una))
                .flatten(),
            idle: self.outstanding.segments.is_empty(),
            reordering_timer: self
                .outstanding
                .detect
                .reordering_timer
                .filter(|_| !(has_new && reduces)),
            may_probe: self.congestion.phase.is_lossless()
                && !self.tlp.is_awaited()
                && (reduces || self.outstanding.segments.sacked().is_zero()),
        };
        self.timer.arm(tx, now, situation);
        tx.timers.recovery = self.timer.or(self.pace.timer);
    }

    pub fn on_timer(&mut self, tx: &mut Tx, now: Event) {
        if self.pace.timer.time <= now.time {
            self.pace.timer = EventKey::NEVER;
            if self.timer.deadline.time > now.time {
                tx.timers.recovery = self.timer.deadline;
                return;
            }
        }
        match self.timer.purpose {
            TimerPurpose::Timeout => self.on_timeout(tx, now),
            TimerPurpose::Probe if self.tlp.is_out() => self.await_timeout(tx, now),
            TimerPurpose::Probe => self.send_probe(tx, now),
            TimerPurpose::Reordering => {
                let lost = self.find_losses(tx, now, true).all;
                if !lost.is_zero() && self.congestion.phase.is_lossless() {
                    self.enter_recovery(tx, now);
                    // Only the first retransmission leaves at once, as measured of Linux 6.1 (7 outstanding, 5 of them found lost by the timer: a window of 3). Nothing was
                    // delivered, but it counts as one: with a window of 122 and every second segment lost, the next leaves with the second report after it, not the third.
                    let pipe = self.outstanding.segments.pipe();
                    if let Some(prr) = self.congestion.phase.prr()
                        && tx.prescribes_reduction()
                    {
                        prr.prescribe(tx, now, SegCount::ONE, pipe, false);
                    }
                }
                self.timer.arm_due = true;
            }
        }
    }

    /// RFC 6298 §5.4 to §5.6, RFC 8985 §6.3.
    #[cold]
    #[inline(never)]
    fn on_timeout(&mut self, tx: &mut Tx, now: Event) {
        tx.begin_timeout(now, Some(self.outstanding.losses()));
        let before = tx.window.windows();
        let estimators = tx.timers.rto.before_timeout();
        // Nothing was acknowledged since the last one: the segment has been sent again by the timer (RFC 5681 §3.1).
        let again = matches!(self.congestion.phase, RecoveryPhase::Timeout(_))
            && tx.timers.rto.is_backed_off();
        // Measured of Linux 6.1: what a loss or a mark has reduced is not reduced again before its recovery point, and what may be taken back later is that reduction.
        let reduced = tx.config.keep_at_timeout && self.congestion.is_reduced(tx.seq.una);
        let once = tx.is_reduced_for_mark();
        tx.note_reduction(false);
        let opens = tx.config.keep_window_after_lost_syn && !tx.seq.is_established();
        if opens {
            // Measured of Linux 6.1: whatever became of SYNs, the algorithm begins with the connection.
            tx.counters.congestion_signals += u64::from(!again);
        } else if again || once || reduced {
            // The threshold stays, as it does where a mark has reduced the window (RFC 3168 §6.1.2).
            tx.window.on_further_timeout(now.time);
        } else {
            tx.counters.congestion_signals += 1;
            let episode = tx.episode(now, Signal::Rto, SegCount::ZERO);
            tx.window.on_congestion(now.time, &episode);
        }
        // RFC 2018 §8: the receiver has reported the first segment, and yet has not got it. What it has reported means nothing any more.
        let reneged = self.outstanding.segments.first_is_sacked();
        if reneged {
            self.outstanding.forget_reports();
            tx.clear_scoreboard();
            self.congestion.undo.end();
        } else if !again && !reduced {
            self.congestion
                .undo
                .begin(before, SegCount::ZERO, estimators);
        }
        // What was sent lately may be on its way (RFC 8985 §6.3); without times all that is outstanding is taken for lost.
        let deadline = if reneged || self.outstanding.loss_detection == LossDetection::Forward {
            Instant::NEVER
        } else {
            self.outstanding.detect.timeout_deadline(now.time)
        };
        self.outstanding.rate.lost += self.outstanding.segments.mark_lost_on_timeout(deadline);
        // Measured of Linux 6.1: a timeout of what a timeout has sent again is tested, too.
        let asks = tx.config.frto
            && tx.seq.una > SeqNum::ZERO
            && (self.congestion.phase.is_lossless() || again)
            && !reneged;
        self.congestion.phase = RecoveryPhase::Timeout(if asks {
            Frto::Retransmitted
        } else {
            Frto::Over
        });
        self.congestion.recovery_point = tx.seq.max;
        self.tlp.end();
        self.outstanding.detect.reordering_timer = None;
        let pipe = self.outstanding.segments.pipe();
        let cwnd = WindowSize::from(pipe + SegCount::ONE);
        tx.window.prescribe(now.time, cwnd);
        tx.timers.rto.back_off();
        tx.pending = Some(tx.seq.una);
        self.timer.restart(now);
    }

    /// RFC 8985 §7.3: no probe leaves while another is out. The timeout is due that was, of the first segment outstanding. Measured of Linux 6.1: once something has been heard such a probe is waited for like the first,
    /// and when it would have been due the timer is set for what is left of the timeout since that segment left.
    #[cold]
    #[inline(never)]
    fn await_timeout(&mut self, tx: &mut Tx, now: Event) {
        let first = self.outstanding.segments.sent_at(tx.seq.una);
        self.timer
            .arm_for_timeout_since(tx, now, first.unwrap_or(now.time));
        tx.timers.recovery = self.timer.or(self.pace.timer);
    }

    /// RFC 8985 §7.3: new data if there is any, or else the last segment again.
    #[cold]
    #[inline(never)]
    fn send_probe(&mut self, tx: &mut Tx, now: Event) {
        let new = tx.has_new();
        let seq = if new {
            tx.seq.nxt
        } else {
            tx.seq.max - SegCount::ONE
        };
        tx.counters.probes += 1;
        tx.pending = Some(seq);
        self.pace.probed = now.time;
        self.tlp.begin(tx.seq.max.max(seq.next()), !new);
        self.timer.restart(now);
    }
}
