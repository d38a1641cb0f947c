//! Tahoe: a loss found by duplicate acknowledgements restarts slow start from the missing segment.
//!
//! Specification: Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988; Fall and Floyd, "Simulation-based Comparisons of
//! Tahoe, Reno, and SACK TCP", CCR 26(3), 1996, §2.

use super::{Reduction, Sender};
use crate::events::Event;
use crate::packet::Ack;
use crate::registry::Entry;

pub const ENTRY: Entry<()> = Entry {
    name: "tahoe",
    summary: "fast retransmit, then slow start from one segment",
    specification: &["Jacobson 1988", "Fall and Floyd 1996 §2"],
    params: &[],
    new: (),
};

impl Sender {
    #[inline]
    pub(in crate::tcp) fn tahoe_on_ack(&mut self, now: Event, ack: &Ack) {
        if ack.next > self.snd_una {
            self.on_new_ack(now, ack.next, true);
        } else if self.is_dupack(ack) {
            self.count_dupack();
            if self.dupacks == self.config.dup_thresh && self.recovered() {
                self.state.recovery_point = self.snd_max;
                self.state.last_reduction = Reduction::Loss;
                self.reduce(now);
                self.window.prescribe(now.time, 1.0);
                self.snd_nxt = self.snd_una;
                self.stop_timing();
                self.arm_timer(now);
            }
        }
    }
}
