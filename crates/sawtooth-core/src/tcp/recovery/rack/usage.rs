//! How much of the window is in use.
//!
//! Specification: RFC 7661 §3 and §4.5.3 (cwnd-limited), §4.2 (measured over a window's time), §4.3 (a window that is not in use is kept: it does not grow).
//!
//! Deviations: what is measured is the largest flight size of a window's time, and not acknowledged data (pipeACK, §4.2).

use crate::cc::Windows;
use crate::tcp::sender::tx::Tx;
use crate::units::{SegCount, SeqNum, WindowSize};

/// The most of the window that was in use over a window's time.
#[derive(Debug, Default)]
pub(super) struct Usage {
    /// The most that was outstanding, whether the window was the limit, and when its time ends.
    used: SegCount,
    limited: bool,
    end: SeqNum,
    /// New data have been sent since that was looked at.
    has_sent: bool,
}

impl Usage {
    /// A segment with new data leaves.
    #[inline]
    pub(super) fn on_send(&mut self) {
        self.has_sent = true;
    }

    /// Nothing more leaves now; with what has left the `pipe` holds so much.
    #[inline]
    pub(super) fn on_stop(&mut self, tx: &Tx, pipe: SegCount) {
        if self.has_sent {
            self.note(tx, pipe >= tx.window.usable());
        }
    }

    /// Takes note of how much is in use, and whether the window is `full`.
    pub(super) fn note(&mut self, tx: &Tx, full: bool) {
        self.has_sent = false;
        let outstanding = tx.seq.flight_size();
        if tx.seq.una >= self.end || full || (!self.limited && outstanding > self.used) {
            self.limited = full;
            self.used = outstanding;
            self.end = tx.seq.max;
        }
    }

    /// Whether the window limits what is sent (§3); in slow start half of the window in use is enough to double it.
    #[inline]
    pub(super) fn limits(&self, windows: impl FnOnce() -> Windows) -> bool {
        self.limited || {
            let Windows { cwnd, ssthresh } = windows();
            cwnd < ssthresh && cwnd < 2.0 * WindowSize::from(self.used)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::recovery::testing::Rig;

    const AVOIDANCE: Windows = windows(100.0, 2.0);

    const fn windows(cwnd: f64, ssthresh: f64) -> Windows {
        Windows {
            cwnd: WindowSize::from_segments(cwnd),
            ssthresh: WindowSize::from_segments(ssthresh),
        }
    }

    #[test]
    fn rfc7661_4_2_a_window_that_was_full_limits_for_its_time() {
        let mut rig = Rig::sending("reno", 4, &[]);
        let mut usage = Usage::default();
        assert!(!usage.limits(|| AVOIDANCE));
        usage.note(&rig.tx, true);
        // What was outstanding then is acknowledged up to the last segment.
        rig.tx.seq.allowed = SeqNum::new(4);
        rig.ack(3);
        usage.note(&rig.tx, false);
        assert!(usage.limits(|| AVOIDANCE));
        rig.ack(4);
        usage.note(&rig.tx, false);
        assert!(!usage.limits(|| AVOIDANCE));
    }

    #[test]
    fn rfc7661_3_a_pipe_as_large_as_the_window_limits_if_new_data_made_it_so() {
        let rig = Rig::sending("reno", 4, &[]);
        let pipe = rig.tx.window.usable();
        let mut usage = Usage::default();
        usage.on_stop(&rig.tx, pipe);
        assert!(!usage.limits(|| AVOIDANCE), "nothing new has been sent");
        usage.on_send();
        usage.on_stop(&rig.tx, pipe);
        assert!(usage.limits(|| AVOIDANCE));
    }

    #[test]
    fn in_slow_start_more_than_half_of_the_window_in_use_is_enough() {
        let rig = Rig::sending("reno", 4, &[]);
        let mut usage = Usage::default();
        usage.on_send();
        usage.on_stop(&rig.tx, SegCount::ZERO);
        let limits = |cwnd, ssthresh| usage.limits(|| windows(cwnd, ssthresh));
        assert!(limits(7.9, 50.0));
        assert!(!limits(8.0, 50.0));
        assert!(!limits(7.9, 7.0), "RFC 7661 §4.3: no more than in use");
    }
}
