//! What is outstanding, segment by segment: what of it arrives, what is lost, and how fast it is delivered.
//!
//! Specifications: RFC 8985 §6.2; RFC 2018 §5 (reports); RFC 7323 §4.3 (which timestamp is repeated).

use super::delivery::NewlyDelivered;
use super::detect::Detect;
use super::fack;
use crate::cc::RateSample;
use crate::events::Event;
use crate::packet::Ack;
use crate::tcp::episodes::{LossFoundBy, Losses};
use crate::tcp::rate::{DeliveredTransmission, DeliveryRate};
use crate::tcp::scoreboard::Range;
use crate::tcp::segments::{Segment, Segments, Snapshot};
use crate::tcp::sender::tx::Tx;
use crate::units::{Instant, SegCount, SeqNum};

/// What losses are found by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossDetection {
    /// RACK: time.
    Time,
    /// FACK: the highest segment reported.
    Forward,
}

#[derive(Debug)]
pub struct Outstanding {
    pub segments: Segments,
    pub loss_detection: LossDetection,
    pub detect: Detect,
    pub rate: DeliveryRate,
    /// Whether the algorithm asks for delivery rates.
    measures_rate: bool,
    parts: Vec<Range>,
}

impl Outstanding {
    pub fn new(loss_detection: LossDetection, measures_rate: bool) -> Self {
        Self {
            segments: Segments::default(),
            loss_detection,
            detect: Detect::new(),
            rate: DeliveryRate::default(),
            measures_rate,
            parts: Vec::new(),
        }
    }

    /// Segment `seq` is about to leave.
    pub fn on_send(&mut self, now: Instant, seq: SeqNum) {
        let snapshot = if self.measures_rate {
            self.rate.on_send(now, self.pipe())
        } else {
            Snapshot::default()
        };
        self.segments.on_send(seq, now, snapshot);
    }

    /// Takes note of what has arrived.
    pub fn take(
        &mut self,
        tx: &mut Tx,
        now: Event,
        ack: &Ack,
        recovery_point: SeqNum,
    ) -> NewlyDelivered {
        let mut news = NewlyDelivered::none(ack.next - tx.seq.una, recovery_point);
        let (clock, echo) = (tx.stamps.clock, tx.stamps.echo);
        // What is acknowledged cumulatively had arrived first: with a delayed acknowledgement one can report both a segment in order and a later
        // one beyond a hole, which is no reordering.
        for seq in tx.seq.una.up_to(ack.next) {
            if let Some(segment) = self.segments.acknowledge_first()
                && !segment.sacked
            {
                let sent = segment.sent;
                news.repairs |= segment.retransmitted;
                let earlier = segment.retransmitted
                    && clock.is_some_and(|clock| echo.precedes(clock.stamp(sent)));
                self.deliver(now.time, seq, &segment, earlier, &mut news);
            }
        }
        if ack.next > tx.seq.una {
            tx.seq.on_ack(ack.next);
            tx.reported.on_ack(ack.next);
        }
        if !ack.sack.is_empty() {
            let mut parts = std::mem::take(&mut self.parts);
            for range in ack.sack.ranges(ack.next) {
                let scoreboard = &mut tx.reported.scoreboard;
                scoreboard.insert(range, |part| parts.push(part));
            }
            // Blocks come newest first: where acknowledgements are lost, that is not the order in which segments arrived.
            parts.sort_unstable_by_key(|part| part.start);
            for part in parts.drain(..) {
                for seq in part.start.up_to(part.end) {
                    if let Some(segment) = self.segments.sack(seq) {
                        // What is repeated is the timestamp of the last segment in order (RFC 7323 §4.3), which says nothing about this one.
                        self.deliver(now.time, seq, &segment, false, &mut news);
                    }
                }
            }
            self.parts = parts;
        }
        news
    }

    /// Segment `seq` is delivered.
    #[inline]
    fn deliver(
        &mut self,
        now: Instant,
        seq: SeqNum,
        segment: &Segment,
        earlier: bool,
        news: &mut NewlyDelivered,
    ) {
        if self.measures_rate {
            let delivered = DeliveredTransmission {
                snapshot: segment.snapshot,
                sent: segment.sent,
                transmission: segment.transmission,
            };
            self.rate.on_delivered(now, delivered);
        }
        news.add(seq, segment);
        self.detect.on_delivered(now, seq, segment, earlier);
    }

    /// Finds losses, by time or by the highest segment reported; how many. `expired`: the timer for that has expired; `repairing`: some have been found
    /// that are not repaired.
    #[inline]
    pub fn find_losses(
        &mut self,
        tx: &Tx,
        now: Instant,
        expired: bool,
        repairing: bool,
    ) -> SegCount {
        let (detect, segments) = (&mut self.detect, &mut self.segments);
        let lost = match self.loss_detection {
            LossDetection::Time => {
                let dup_thresh = SegCount::from(tx.config.dup_thresh);
                let srtt = tx.timers.rto.srtt();
                detect.find_losses(segments, now, dup_thresh, srtt, repairing)
            }
            LossDetection::Forward => {
                fack::find_losses(detect, segments, tx, now, expired, repairing)
            }
        };
        self.rate.lost += lost;
        lost
    }

    /// The delivery rate, if the algorithm needs it and this acknowledgement gives a sample.
    #[inline]
    pub fn rate_sample(&mut self) -> Option<RateSample> {
        if self.measures_rate {
            self.rate.sample(self.detect.min_rtt)
        } else {
            None
        }
    }

    /// Segments considered in the path.
    #[inline]
    pub fn pipe(&self) -> SegCount {
        self.segments.pipe()
    }

    /// New segments that a window of so many has room for.
    pub fn room(&self, window: SegCount) -> SegCount {
        window.saturating_sub(self.segments.pipe() + self.segments.lost())
    }

    /// Whether a segment has been found lost that waits to be sent again.
    #[inline]
    pub fn has_lost(&self) -> bool {
        !self.segments.lost().is_zero()
    }

    /// Segments reported whose predecessor is, too.
    pub fn joined(&self) -> SegCount {
        self.segments.joined()
    }

    pub fn losses(&self) -> Losses {
        Losses {
            found: self.rate.lost,
            waiting: self.segments.lost(),
        }
    }

    pub fn cause(&self) -> LossFoundBy {
        match self.loss_detection {
            LossDetection::Time => LossFoundBy::Rack,
            LossDetection::Forward => LossFoundBy::Fack,
        }
    }
}
