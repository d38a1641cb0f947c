//! Reno: fast retransmit and fast recovery, which ends with the first acknowledgement of new data.
//!
//! Specification: RFC 5681 §3.2.

use super::{Reduction, SendAllowance, Sender};
use crate::events::Event;
use crate::packet::Ack;
use crate::registry::Entry;

pub const ENTRY: Entry<()> = Entry {
    name: "reno",
    summary: "fast retransmit and fast recovery until the first new acknowledgement",
    specification: &["RFC 5681 §3.2"],
    params: &[],
    new: (),
};

impl Sender {
    #[inline]
    pub(in crate::tcp) fn reno_on_ack(&mut self, now: Event, ack: &Ack) {
        if ack.next > self.snd_una {
            // RFC 5681 §3.2 step 6: deflate.
            self.window.inflation = 0;
            if self.state.last_reduction == Reduction::Loss {
                self.state.last_reduction = Reduction::Recovered;
            }
            self.on_new_ack(now, ack.next, true);
        } else if self.is_dupack(ack) {
            self.on_dupack_with_inflation(now);
        }
    }

    /// A duplicate acknowledgement as Reno and NewReno take it (RFC 5681 §3.2 steps 1 to 5).
    pub(in crate::tcp) fn on_dupack_with_inflation(&mut self, now: Event) {
        self.count_dupack();
        if self.dupacks == self.config.dup_thresh {
            if self.recovered() {
                self.state.recovery_point = self.snd_max;
                self.state.last_reduction = Reduction::Loss;
                self.state.partial_seen = false;
                self.reduce(now);
                self.stop_timing();
                self.arm_timer(now);
                self.pending = Some(self.snd_una);
                self.window.inflation = u64::from(self.config.dup_thresh);
            }
        } else if self.dupacks > self.config.dup_thresh
            && self.state.last_reduction == Reduction::Loss
        {
            self.window.inflation += 1;
        }
        if self.dupacks >= self.config.dup_thresh {
            self.permit = SendAllowance::Window;
        }
    }
}
