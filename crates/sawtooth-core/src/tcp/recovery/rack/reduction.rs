//! Proportional Rate Reduction: during a recovery the window walks from what it was to the slow-start threshold, as data is delivered.
//!
//! Specification: RFC 9937 §6 (which replaces RFC 6937, whose bounds are those of `prr_bound = "ssrb"` and `"crb"`).
//!
//! Deviations: RecoverFS is what was in flight when recovery began; here it is the window, which is as much where the window was full. Where it was not, and `reduce_from` is
//! `flight_size`, the share that a delivery gives is smaller than the RFC's.

use crate::events::Event;
use crate::tcp::params::{PrrBound, UNLIMITED};
use crate::tcp::sender::tx::Tx;
use crate::units::{SegCount, WindowSize};

/// One recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Prr {
    /// The window when recovery began, for RecoverFS.
    before: SegCount,
    /// Delivered, and sent, since then.
    delivered: SegCount,
    out: SegCount,
}

impl Prr {
    /// Recovery begins with a window of `before`.
    pub(super) fn new(before: SegCount) -> Self {
        Self {
            before: before.max(SegCount::ONE),
            delivered: SegCount::ZERO,
            out: SegCount::ZERO,
        }
    }

    /// A segment was sent.
    pub(super) fn on_send(&mut self) {
        self.out += SegCount::ONE;
    }

    /// Prescribes the window, whatever the algorithm makes of what it hears, when `delivered` segments have arrived and `pipe` are in the path.
    pub(super) fn prescribe(
        &mut self,
        tx: &mut Tx,
        now: Event,
        delivered: SegCount,
        pipe: SegCount,
        safe: bool,
    ) {
        let ssthresh = tx.window.ssthresh().min(UNLIMITED).whole();
        let allowed = self.on_ack(tx.config.prr_bound, delivered, pipe, ssthresh, safe);
        let cwnd = WindowSize::from((pipe + allowed).max(SegCount::ONE));
        tx.window.prescribe(now.time, cwnd);
    }

    /// `delivered` segments have arrived: how many may be sent now. `safe` says that data was acknowledged cumulatively and nothing new was found to be lost (SafeACK).
    pub(super) fn on_ack(
        &mut self,
        bound: PrrBound,
        delivered: SegCount,
        pipe: SegCount,
        ssthresh: SegCount,
        safe: bool,
    ) -> SegCount {
        self.delivered += delivered;
        let allowed = if pipe > ssthresh {
            // In proportion.
            let share = (self.delivered.get() * ssthresh.get()).div_ceil(self.before.get());
            SegCount::new(share).saturating_sub(self.out)
        } else {
            // Slow start up to the threshold, or packet conservation.
            let owed = self.delivered.saturating_sub(self.out);
            let limit = match bound {
                PrrBound::Conservative => owed,
                PrrBound::SlowStart => owed.max(delivered) + SegCount::ONE,
                PrrBound::SafeAck => owed.max(delivered) + SegCount::from(safe),
            };
            limit.min(ssthresh - pipe)
        };
        // The first retransmission leaves at once.
        allowed.max(SegCount::from(self.out.is_zero()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::segs;

    /// With a threshold of ten.
    fn on_ack(prr: &mut Prr, bound: PrrBound, delivered: u64, pipe: u64, safe: bool) -> u64 {
        let allowed = prr.on_ack(bound, segs(delivered), segs(pipe), segs(10), safe);
        allowed.get()
    }

    #[test]
    fn rfc9937_the_window_shrinks_in_proportion_to_what_is_delivered() {
        // 20 segments in the path, threshold 10: a segment leaves for every second one that is delivered.
        let mut prr = Prr::new(segs(20));
        let mut pipe = 19;
        let mut sent = Vec::new();
        for _ in 0..8 {
            pipe -= 1;
            let allowed = on_ack(&mut prr, PrrBound::SafeAck, 1, pipe, false);
            for _ in 0..allowed {
                prr.on_send();
                pipe += 1;
            }
            sent.push(allowed);
        }
        assert_eq!(sent, [1, 0, 1, 0, 1, 0, 1, 0]);
    }

    #[test]
    fn rfc9937_below_the_threshold_it_catches_up_by_one_more_for_each_safe_acknowledgement() {
        let mut prr = Prr::new(segs(20));
        for _ in 0..3 {
            prr.on_send();
        }
        // A burst of losses has left 4 in the path.
        assert_eq!(on_ack(&mut prr, PrrBound::SafeAck, 5, 4, false), 5);
        for _ in 0..5 {
            prr.on_send();
        }
        assert_eq!(on_ack(&mut prr, PrrBound::SafeAck, 1, 8, true), 2);
        assert_eq!(on_ack(&mut prr, PrrBound::SafeAck, 1, 10, true), 0);
    }

    /// RFC 6937 §3.1: with a window of 20, a threshold of 10 and two segments sent by limited transmit, what is in the path and what is sent with the third
    /// duplicate acknowledgement and those after it, if `pipe` is left of that before them.
    fn after_losses(bound: PrrBound, mut pipe: u64, acks: usize) -> Vec<(u64, u64)> {
        let mut prr = Prr::new(segs(20));
        let mut step = || {
            pipe -= 1;
            let before = pipe;
            let sent = on_ack(&mut prr, bound, 1, pipe, false);
            for _ in 0..sent {
                prr.on_send();
                pipe += 1;
            }
            (before, sent)
        };
        (0..acks).map(|_| step()).collect()
    }

    #[test]
    fn rfc6937_3_1_first_figure_after_one_loss_a_segment_leaves_for_every_second_that_arrives() {
        // The rows `sent` from ack 3 and `pipe`, with what is sent, from ack 4 on, both up to 16. Its last three columns are no result of the algorithm
        // above it.
        let pipe = [18, 18, 17, 17, 16, 16, 15, 15, 14, 14, 13, 13, 12];
        for bound in [
            PrrBound::SlowStart,
            PrrBound::Conservative,
            PrrBound::SafeAck,
        ] {
            let (found, sent): (Vec<u64>, Vec<u64>) = after_losses(bound, 19, 14)
                .into_iter()
                .map(|(before, sent)| (before + sent, sent))
                .unzip();
            assert_eq!(found[1..], pipe, "{bound:?}");
            assert_eq!(sent, [1, 0].repeat(7), "{bound:?}");
        }
    }

    #[test]
    fn rfc6937_3_1_second_figure_after_15_losses_the_bounds_send_two_for_one_and_one_for_one() {
        // Acks 17 to 19: the rows `pipe` and `sent`.
        let slow_start = after_losses(PrrBound::SlowStart, 5, 3);
        assert_eq!(slow_start, [(4, 2), (5, 2), (6, 2)]);
        let conservative = after_losses(PrrBound::Conservative, 5, 3);
        assert_eq!(conservative, [(4, 1), (4, 1), (4, 1)]);
    }

    #[test]
    fn the_first_retransmission_is_always_sent() {
        let mut prr = Prr::new(segs(10));
        let allowed = prr.on_ack(PrrBound::SafeAck, segs(0), segs(10), segs(5), false);
        assert_eq!(allowed, segs(1));
    }
}
