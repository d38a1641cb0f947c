//! NewReno: fast recovery lasts until everything outstanding at its start is acknowledged; each partial acknowledgement
//! retransmits the next missing segment.
//!
//! Specification: RFC 6582 §3.2.

use super::{Reduction, SendAllowance, Sender};
use crate::events::Event;
use crate::packet::Ack;
use crate::registry::Entry;
use crate::tcp::params::{ExitWindow, PartialAckTimer};

pub const ENTRY: Entry<()> = Entry {
    name: "newreno",
    summary: "fast recovery until all that was outstanding has arrived, one retransmission per round trip",
    specification: &["RFC 6582 §3.2"],
    params: &[],
    new: (),
};

impl Sender {
    #[inline]
    pub(in crate::tcp) fn newreno_on_ack(&mut self, now: Event, ack: &Ack) {
        if ack.next > self.snd_una {
            if self.state.last_reduction != Reduction::Loss {
                self.on_new_ack(now, ack.next, true);
            } else if ack.next >= self.state.recovery_point {
                self.newreno_full_ack(now, ack.next);
            } else {
                self.newreno_partial_ack(now, ack.next);
            }
        } else if self.is_dupack(ack) {
            self.on_dupack_with_inflation(now);
        }
        if let Some(burst) = self.config.recovery_burst
            && self.dupacks >= self.config.dup_thresh
        {
            self.permit = SendAllowance::Burst(burst);
        }
    }

    /// RFC 6582 §3.2 step 3, full acknowledgement.
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
    fn newreno_full_ack(&mut self, now: Event, next: u64) {
        self.window.inflation = 0;
        self.state.last_reduction = Reduction::Recovered;
        match self.config.exit_window {
            ExitWindow::Keep => self.on_new_ack(now, next, true),
            ExitWindow::FlightSize => {
                self.on_new_ack(now, next, false);
                let flight = (self.flight_size() as f64).max(1.0) + 1.0;
                self.window
                    .prescribe(now.time, self.window.ssthresh().min(flight));
            }
        }
    }

    /// RFC 6582 §3.2 step 3, partial acknowledgement: retransmit the next missing segment and deflate the window by what was
    /// acknowledged, less the one segment that leaves. The count of duplicates goes on: those that follow inflate (step 4).
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
    fn newreno_partial_ack(&mut self, now: Event, next: u64) {
        let acked = next - self.snd_una;
        if self.window.inflation > acked {
            self.window.inflation -= acked - 1;
        } else {
            let deflated = self.window.cwnd() - (acked - self.window.inflation) as f64;
            self.window.inflation = 1;
            self.window.prescribe(now.time, deflated.max(1.0));
        }
        self.advance(now, next);
        if self.config.partial_ack_timer == PartialAckTimer::Every || !self.state.partial_seen {
            self.arm_timer(now);
        }
        self.state.partial_seen = true;
        self.pending = Some(next);
    }
}
