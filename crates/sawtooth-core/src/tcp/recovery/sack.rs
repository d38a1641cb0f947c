//! SACK: the scoreboard says which segments are missing; the window is filled with them first, then with new data.
//!
//! Specification: RFC 6675 (`sack_pipe = "scoreboard"`); Fall and Floyd, "Simulation-based Comparisons of Tahoe, Reno, and SACK
//! TCP", CCR 26(3), 1996, §4 (`sack_pipe = "counter"`: the path's content is counted since the loss, and a hole is
//! retransmitted as soon as anything above it has arrived).

use super::{Reduction, SendAllowance, Sender};
use crate::events::Event;
use crate::packet::Ack;
use crate::registry::Entry;
use crate::tcp::params::SackPipe;
use crate::tcp::scoreboard::Range;

pub const ENTRY: Entry<()> = Entry {
    name: "sack",
    summary: "selective acknowledgements: retransmits exactly what is missing, as fast as the window allows",
    specification: &["RFC 6675", "RFC 2018", "Fall and Floyd 1996 §4"],
    params: &[],
    new: (),
};

impl Sender {
    #[inline]
    pub(in crate::tcp) fn sack_on_ack(&mut self, now: Event, ack: &Ack) {
        if !self.state.in_recovery
            && ack.next > self.snd_una
            && ack.sack.is_empty()
            && self.state.scoreboard.is_empty()
        {
            self.state.after_timeout = false;
            return self.on_new_ack(now, ack.next, true);
        }
        match self.config.sack_pipe {
            SackPipe::Scoreboard => self.rfc6675_on_ack(now, ack),
            SackPipe::Counter => self.counter_on_ack(now, ack),
        }
    }

    /// The next segment to send, by the rules of the pipe in use.
    #[inline]
    pub(in crate::tcp) fn sack_next(&mut self) -> Option<u64> {
        if !self.state.in_recovery {
            return self.window_next();
        }
        let next = match self.config.sack_pipe {
            SackPipe::Scoreboard => self.rfc6675_next(),
            SackPipe::Counter => self.counter_next(),
        }?;
        self.state.pipe += 1;
        Some(next)
    }

    fn update_scoreboard(&mut self, ack: &Ack) -> bool {
        let high_rxt = self.state.high_rxt;
        let mut news = false;
        let mut below = 0;
        for range in ack.sack.ranges(ack.next) {
            self.state.scoreboard.insert(range, |part| {
                news = true;
                below += part.end.min(high_rxt).saturating_sub(part.start);
            });
        }
        self.state.sacked_below_high_rxt += below;
        if self
            .state
            .scoreboard
            .first()
            .is_some_and(|range| range.start < ack.next)
        {
            let below_both = self.state.scoreboard.count(Range {
                start: 0,
                end: ack.next.min(high_rxt),
            });
            self.state.sacked_below_high_rxt -= below_both;
            self.state.scoreboard.remove_below(ack.next);
        }
        news
    }

    fn enter_sack_recovery(&mut self, now: Event) {
        self.state.recovery_point = self.snd_max;
        self.state.last_reduction = Reduction::Loss;
        self.state.in_recovery = true;
        self.state.rescued = false;
        self.reduce(now);
        self.stop_timing();
        self.arm_timer(now);
        self.mark_retransmitted(self.snd_una);
        self.pending = Some(self.snd_una);
    }

    fn mark_retransmitted(&mut self, seq: u64) {
        let from = self.state.high_rxt.max(self.snd_una).min(seq);
        self.state.sacked_below_high_rxt += self.state.scoreboard.count(Range {
            start: from,
            end: seq + 1,
        });
        self.state.high_rxt = seq + 1;
    }

    fn leave_sack_recovery(&mut self) {
        self.state.in_recovery = false;
        self.state.last_reduction = Reduction::Recovered;
        self.state.high_rxt = 0;
        self.state.sacked_below_high_rxt = 0;
        self.state.pipe = 0;
    }

    // --- RFC 6675 -------------------------------------------------------------------------------------------------------

    fn rfc6675_on_ack(&mut self, now: Event, ack: &Ack) {
        if ack.next < self.snd_una {
            return;
        }
        let news = self.update_scoreboard(ack);
        if ack.next > self.snd_una {
            if !self.state.in_recovery {
                self.state.after_timeout = false;
                self.on_new_ack(now, ack.next, true);
            } else if ack.next >= self.state.recovery_point {
                // §5 step A: recovery is over; the window is what it was reduced to.
                self.on_new_ack(now, ack.next, false);
                self.leave_sack_recovery();
            } else {
                self.on_new_ack(now, ack.next, false);
            }
        } else if news {
            // §2: a duplicate acknowledgement is one that brings new selective acknowledgements.
            self.counters.dupacks_in += 1;
            self.dupacks += 1;
        }
        // §5.1: after a timeout, not before everything that was outstanding then has been acknowledged.
        let covered = self.snd_una >= self.state.recovery_point
            || self.state.last_reduction == Reduction::Never;
        if covered && !self.state.in_recovery && !self.state.scoreboard.is_empty() {
            let lost = self.lost_edge().is_some_and(|edge| self.snd_una < edge);
            if self.dupacks >= self.config.dup_thresh || lost {
                self.enter_sack_recovery(now);
            } else if ack.next == self.snd_una {
                self.permit = if self.config.limited_transmit && news {
                    SendAllowance::One
                } else {
                    SendAllowance::Nothing
                };
            }
        }
        if self.state.in_recovery {
            self.set_pipe();
        }
    }

    /// Segments below this that have not been selectively acknowledged are lost: IsLost of §4.
    fn lost_edge(&self) -> Option<u64> {
        self.state
            .scoreboard
            .nth_highest(u64::from(self.config.dup_thresh))
    }

    /// SetPipe of §4, without walking the scoreboard. A retransmission still pending is counted when it is sent.
    fn set_pipe(&mut self) {
        let state = &self.state;
        let outstanding = self.snd_max - self.snd_una;
        let sacked = state.scoreboard.total();
        let lost = self.lost_edge().map_or(0, |edge| {
            (edge - self.snd_una.min(edge))
                .saturating_sub(sacked - u64::from(self.config.dup_thresh))
        });
        let retransmitted = state
            .high_rxt
            .saturating_sub(self.snd_una)
            .saturating_sub(state.sacked_below_high_rxt);
        self.state.pipe =
            i64::try_from(outstanding - sacked - lost + retransmitted).unwrap_or(i64::MAX);
    }

    /// NextSeg of §4, if the pipe has room.
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
    fn rfc6675_next(&mut self) -> Option<u64> {
        if self.window.cwnd() - self.state.pipe as f64 + 1e-9 < 1.0 {
            return None;
        }
        let hole = self
            .state
            .scoreboard
            .first_gap(self.state.high_rxt.max(self.snd_una));
        let highest = self.state.scoreboard.end().unwrap_or(0);
        let below_highest = hole < highest;
        // Rule 1: the first hole that is lost and not yet retransmitted.
        if below_highest && self.lost_edge().is_some_and(|edge| hole < edge) {
            self.mark_retransmitted(hole);
            return Some(hole);
        }
        // Rule 2: new data.
        if self.snd_nxt < self.available() && self.snd_nxt < self.snd_una + self.window.limit() {
            return Some(self.snd_nxt);
        }
        // Rule 3: the first hole, lost or not.
        if below_highest {
            self.mark_retransmitted(hole);
            return Some(hole);
        }
        // Rule 4: once per recovery, the last segment outstanding that has not been reported.
        if self.state.rescued || self.snd_una >= self.state.recovery_point {
            return None;
        }
        self.state.rescued = true;
        Some(self.state.scoreboard.last_gap(self.state.recovery_point))
    }

    // --- Fall and Floyd 1996 --------------------------------------------------------------------------------------------

    fn counter_on_ack(&mut self, now: Event, ack: &Ack) {
        if self.state.in_recovery {
            self.counter_on_ack_in_recovery(now, ack);
        } else if ack.next > self.snd_una {
            self.state.after_timeout = false;
            self.on_new_ack(now, ack.next, true);
            self.clear_scoreboard();
        } else if self.is_dupack(ack) && !self.state.after_timeout && self.update_scoreboard(ack) {
            // Only an acknowledgement that reports something new says that a segment has arrived.
            self.permit = SendAllowance::Nothing;
            self.count_dupack();
            if self.dupacks == self.config.dup_thresh && self.recovered() {
                // What is outstanding, less the segments whose arrival the duplicate acknowledgements reported.
                let outstanding = self.snd_max - self.snd_una;
                self.state.pipe = i64::try_from(outstanding).unwrap_or(i64::MAX)
                    - i64::from(self.config.dup_thresh);
                // The retransmission leaves, and nothing else before the next acknowledgement.
                self.enter_sack_recovery(now);
            }
        } else {
            self.permit = SendAllowance::Nothing;
        }
    }

    fn counter_on_ack_in_recovery(&mut self, now: Event, ack: &Ack) {
        self.state.pipe -= 1;
        if ack.next >= self.state.recovery_point {
            self.on_new_ack(now, ack.next, false);
            self.leave_sack_recovery();
            self.state.recovery_point = 1;
            self.state.after_timeout = false;
            self.clear_scoreboard();
        } else if ack.next > self.snd_una {
            // A partial acknowledgement means that a retransmission has arrived: two segments have left the path, the original
            // and its repetition.
            self.state.pipe -= 1;
            self.advance(now, ack.next);
            self.update_scoreboard(ack);
            self.arm_timer(now);
        } else if self.is_dupack(ack) {
            self.counters.dupacks_in += 1;
            self.update_scoreboard(ack);
        }
    }

    /// The first hole not yet retransmitted, or else new data, while fewer segments are in the path than the window allows.
    #[expect(
        clippy::cast_possible_truncation,
        reason = "windows are far below 2^53"
    )]
    fn counter_next(&mut self) -> Option<u64> {
        if self.state.pipe >= self.window.cwnd() as i64 {
            return None;
        }
        let hole = self
            .state
            .scoreboard
            .first_gap(self.state.high_rxt.max(self.snd_una));
        if hole < self.state.scoreboard.end().unwrap_or(0) {
            self.mark_retransmitted(hole);
            return Some(hole);
        }
        let room =
            self.snd_nxt < self.available() && self.snd_nxt < self.snd_una + self.window.limit();
        room.then_some(self.snd_nxt)
    }
}
