//! What an acknowledgement has delivered, and the round trip that it measures.
//!
//! Specifications: RFC 6298 §3, RFC 7323 §4.1.

use super::undo::ReductionUndo;
use crate::events::Event;
use crate::tcp::segments::{InOrder, OutstandingSegment};
use crate::tcp::sender::tx::Tx;
use crate::units::{Duration, Instant, SegCount, SeqNum};

#[derive(Debug)]
pub struct NewlyDelivered {
    /// Segments acknowledged cumulatively; and delivered, selectively too.
    pub acked: SegCount,
    pub delivered: SegCount,
    /// When the first and the last of the segments had left that were sent only once and measure a round trip; of none, never and long ago.
    pub first_sent: Instant,
    pub last_sent: Instant,
    /// Whether a segment was delivered that was sent only once and was outstanding when the last loss was found (below this segment).
    pub originals_of_episode: bool,
    recovery_point: SeqNum,
    /// Whether something that was sent again was acknowledged cumulatively.
    pub repairs: bool,
}

impl NewlyDelivered {
    /// Nothing so far; `acked` segments are acknowledged cumulatively.
    pub fn none(acked: SegCount, recovery_point: SeqNum) -> Self {
        Self {
            acked,
            delivered: SegCount::ZERO,
            first_sent: Instant::NEVER,
            last_sent: Instant::LONG_AGO,
            originals_of_episode: false,
            recovery_point,
            repairs: false,
        }
    }

    /// Segment `seq` is delivered.
    #[inline]
    pub fn add(&mut self, seq: SeqNum, segment: &OutstandingSegment) {
        self.delivered += SegCount::ONE;
        if !segment.retransmitted {
            self.first_sent = self.first_sent.min(segment.sent);
            self.last_sent = self.last_sent.max(segment.sent);
            self.originals_of_episode |= seq < self.recovery_point;
        }
    }

    /// All that is acknowledged cumulatively is delivered, each segment of it sent once: the first and the last of them then, from segment `una` on.
    #[inline]
    pub fn add_in_order(&mut self, una: SeqNum, order: &InOrder) {
        self.delivered += self.acked;
        self.first_sent = order.first;
        self.last_sent = order.last.sent;
        self.originals_of_episode = una < self.recovery_point;
    }

    /// All that is acknowledged cumulatively has been added, and what is only reported follows.
    #[inline]
    pub fn end_acknowledged(&mut self) {
        if self.repairs {
            // With a repair among it none of it tells a round trip.
            self.first_sent = Instant::NEVER;
            self.last_sent = Instant::LONG_AGO;
        }
    }

    /// A round trip is measured with every acknowledgement of something that was sent once. The timer takes
    /// the first such segment's, which includes the receiver's delay; the algorithm is given the last one's.
    pub fn measure(&self, tx: &mut Tx, now: Event, undo: &mut ReductionUndo) -> Option<Duration> {
        let timers = &mut tx.timers;
        if !self.acked.is_zero() {
            timers.rto.end_back_off();
        }
        timers.rto.on_acked(tx.seq.una, tx.seq.nxt);
        if self.first_sent == Instant::NEVER {
            // For what was sent again only the timestamp shows which transmission arrived, and it does so for all that is acknowledged with it. The algorithm
            // is given this sample, too. Measured of Linux 6.1 by the round trips of its `westwood`: it takes a path of 20.03 ms for one of 20 when the timestamps of
            // a repair are 20 ms apart, and for one of 21 when they are 21, whether or not the repair acknowledges segments that were sent once.
            let echoed = tx.stamps.echoed_rtt(now.time);
            let rtt = echoed.filter(|_| !self.acked.is_zero())?;
            timers.sample(now.time - rtt, rtt);
            return Some(rtt);
        }
        let clock = tx.config.timer_tick.clock;
        let last = now.time - self.last_sent;
        timers.rto.sample(
            self.first_sent,
            clock.microseconds(self.first_sent, now.time),
        );
        timers.count(now.time - self.first_sent, last);
        if let Some(estimators) = undo.adapts(tx.seq.una) {
            timers.rto.adapt_to_spurious(estimators, last);
        }
        Some(clock.microseconds(self.last_sent, now.time))
    }
}
