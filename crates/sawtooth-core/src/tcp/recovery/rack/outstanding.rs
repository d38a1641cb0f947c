//! What is outstanding, segment by segment: what of it arrives, what is lost, and how fast it is delivered.
//!
//! Specifications: RFC 8985 §6.2; RFC 2018 §5 (reports); RFC 7323 §4.3 (which timestamp is repeated).

use super::delivery::NewlyDelivered;
use super::detect::{Detect, LossSearch};
use super::fack;
use crate::cc::RateSample;
use crate::events::Event;
use crate::packet::Ack;
use crate::ring::RingBuffer;
use crate::tcp::clock::Clock;
use crate::tcp::episodes::{LossFoundBy, Losses};
use crate::tcp::rate::{DeliveredTransmission, DeliveryRate, RateClock, Snapshot};
use crate::tcp::rto::RtoEstimator;
use crate::tcp::scoreboard::{Range, SackBlocks};
use crate::tcp::segments::{InOrder, LostSegments, OutstandingSegment, Segments};
use crate::tcp::sender::tx::Tx;
use crate::tcp::shared_memory::{MemoryPages, without_short};
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
    /// Where the algorithm asks for delivery rates: what each segment took along when it left.
    snapshots: Option<Box<RingBuffer<Snapshot>>>,
    /// From the first report on.
    reports: Option<Box<Reports>>,
}

/// What the next report is compared with.
#[derive(Debug)]
struct Reports {
    /// The blocks of the last one, most of which the next one repeats (RFC 2018 §4).
    blocks: [Range; SackBlocks::MOST],
    /// Memory for what is new of one.
    parts: Vec<Range>,
}

impl Reports {
    const NONE: Self = Self {
        blocks: [Range::NONE; SackBlocks::MOST],
        parts: Vec::new(),
    };
}

impl Outstanding {
    pub fn new(loss_detection: LossDetection, measures_rate: bool, pages: MemoryPages) -> Self {
        Self {
            segments: Segments::of(pages),
            loss_detection,
            detect: Detect::new(),
            rate: DeliveryRate::default(),
            snapshots: measures_rate.then(|| Box::new(RingBuffer::new(Snapshot::default()))),
            reports: None,
        }
    }

    /// Segment `seq` is about to leave, the first of those outstanding being `una`.
    #[inline]
    pub fn on_send(&mut self, now: Instant, una: SeqNum, seq: SeqNum) {
        if let Some(snapshots) = &mut self.snapshots {
            let snapshot = self.rate.on_send(now, self.segments.pipe());
            match snapshots.get_mut(place(una, seq)) {
                Some(known) => *known = snapshot,
                None => *snapshots.push_slot() = snapshot,
            }
        }
        self.segments.on_send(seq, now);
    }

    /// So many segments leave that have not been sent before.
    #[inline]
    pub fn on_send_new(&mut self, now: Instant, count: SegCount) {
        for _ in 0..count.get() {
            if let Some(snapshots) = &mut self.snapshots {
                let snapshot = self.rate.on_send(now, self.segments.pipe());
                *snapshots.push_slot() = snapshot;
            }
            self.segments.on_send_new(now);
        }
    }

    /// Takes note of what has arrived.
    #[inline]
    pub fn take(
        &mut self,
        tx: &mut Tx,
        now: Event,
        ack: &Ack,
        recovery_point: SeqNum,
    ) -> NewlyDelivered {
        let una = tx.seq.una;
        let mut news = NewlyDelivered::none(ack.next - una, recovery_point);
        // What is acknowledged cumulatively had arrived first: with a delayed acknowledgement one can report both a segment in order and a later
        // one beyond a hole, which is no reordering.
        if ack.next > una {
            if !self.take_in_order(now.time, una, ack.next, &mut news) {
                self.take_acknowledged(tx, now, ack.next, &mut news);
                news.end_acknowledged();
            }
            tx.seq.on_ack(ack.next);
            tx.reported.on_ack(ack.next);
        }
        if !ack.sack.is_empty() {
            let rtt = (!news.delivered.is_zero()).then_some(self.detect.rtt);
            self.take_reported(tx, now, ack, &mut news);
            self.detect.rtt = rtt.unwrap_or(self.detect.rtt);
        }
        news
    }

    /// The segments from `una` to `next` are acknowledged: takes them at once if each was sent once and they arrive in order; whether they do.
    #[inline]
    fn take_in_order(
        &mut self,
        now: Instant,
        una: SeqNum,
        next: SeqNum,
        news: &mut NewlyDelivered,
    ) -> bool {
        if !self.segments.are_plain() || self.detect.fack != una {
            return false;
        }
        let Some(order) = self.segments.acknowledge_plain(next - una) else {
            return false;
        };
        news.add_in_order(una, &order);
        self.detect.on_delivered_in_order(now, next, &order.last);
        if let Some(snapshots) = &mut self.snapshots {
            let count = place(una, next);
            let snapshot = snapshots.get(count - 1).copied().unwrap_or_default();
            snapshots.discard(count);
            let InOrder { last, .. } = order;
            let delivered = DeliveredTransmission {
                snapshot,
                sent: last.sent,
                transmission: last.transmission,
            };
            self.rate.on_delivered_in_order(now, next - una, delivered);
        }
        true
    }

    /// The same, one by one.
    #[inline(never)]
    fn take_acknowledged(&mut self, tx: &Tx, now: Event, next: SeqNum, news: &mut NewlyDelivered) {
        let (clock, echo) = (tx.stamps.clock, tx.stamps.echo);
        let measuring = measuring_clock(tx);
        let una = tx.seq.una;
        for seq in una.up_to(next) {
            if let Some(segment) = self.segments.acknowledge_first()
                && !segment.sacked
            {
                let snapshots = self.snapshots.as_ref();
                let snapshot = snapshots.and_then(|snapshots| snapshots.get(place(una, seq)));
                let snapshot = snapshot.copied();
                let sent = segment.sent;
                news.repairs |= segment.retransmitted;
                let earlier = segment.retransmitted
                    && clock.is_some_and(|clock| echo.precedes(clock.stamp(sent)));
                self.deliver(now.time, &segment, snapshot);
                self.detect
                    .on_delivered(now.time, seq, &segment, measuring, earlier);
                news.add(seq, &segment);
            }
        }
        if let Some(snapshots) = &mut self.snapshots {
            snapshots.discard(place(una, next).min(snapshots.len()));
        }
    }

    /// Takes what is reported selectively.
    #[inline(never)]
    fn take_reported(&mut self, tx: &mut Tx, now: Event, ack: &Ack, news: &mut NewlyDelivered) {
        let measuring = measuring_clock(tx);
        let mut reports = (self.reports.take()).unwrap_or_else(|| Box::new(Reports::NONE));
        let Reports { blocks, parts } = &mut *reports;
        let known = std::mem::replace(blocks, [Range::NONE; SackBlocks::MOST]);
        for (block, range) in blocks.iter_mut().zip(ack.sack.ranges(ack.next)) {
            *block = range;
            if !known.contains(&range) {
                let scoreboard = &mut tx.reported.scoreboard;
                scoreboard.insert(range, |part| parts.push(part));
            }
        }
        // Blocks come newest first: where acknowledgements are lost, that is not the order in which segments arrived.
        if parts.len() > 1 {
            parts.sort_unstable_by_key(|part| part.start);
        }
        for part in parts.drain(..) {
            for seq in part.start.up_to(part.end) {
                if let Some(segment) = self.segments.sack(seq) {
                    let snapshots = self.snapshots.as_ref();
                    let snapshot =
                        snapshots.and_then(|snapshots| snapshots.get(place(ack.next, seq)));
                    let snapshot = snapshot.copied();
                    self.deliver(now.time, &segment, snapshot);
                    // What is repeated is the timestamp of the last segment in order (RFC 7323 §4.3), which says nothing about this one.
                    self.detect
                        .on_delivered(now.time, seq, &segment, measuring, false);
                    news.add(seq, &segment);
                }
            }
        }
        self.reports = Some(reports);
    }

    /// The receiver may have discarded what it has reported.
    pub fn forget_reports(&mut self) {
        self.segments.forget_sacks();
        self.reports = None;
    }

    /// A segment is delivered, which took a snapshot along if the algorithm asks for delivery rates.
    #[inline]
    fn deliver(&mut self, now: Instant, segment: &OutstandingSegment, snapshot: Option<Snapshot>) {
        if let Some(snapshot) = snapshot {
            let delivered = DeliveredTransmission {
                snapshot,
                sent: segment.sent,
                transmission: segment.transmission,
            };
            self.rate.on_delivered(now, delivered);
        }
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
    ) -> LostSegments {
        let (detect, segments) = (&mut self.detect, &mut self.segments);
        let lost = match self.loss_detection {
            LossDetection::Time => {
                let look = LossSearch {
                    now,
                    dup_thresh: SegCount::from(tx.config.dup_thresh),
                    srtt: tx.timers.rto.srtt(),
                    clock: measuring_clock(tx),
                    repairing,
                    reported: &tx.reported.scoreboard,
                };
                detect.find_losses(segments, &look)
            }
            LossDetection::Forward => {
                fack::find_losses(detect, segments, tx, now, expired, repairing)
            }
        };
        self.rate.lost += lost.all;
        lost
    }

    /// The delivery rate, if the algorithm needs it and this acknowledgement gives a sample.
    #[inline]
    pub fn rate_sample(&mut self, clock: RateClock) -> Option<RateSample> {
        self.snapshots.as_ref()?;
        self.rate.sample(self.detect.min_rtt, clock)
    }

    /// Whether losses are found by time, and not by the highest segment reported.
    pub fn finds_by_time(&self) -> bool {
        self.loss_detection == LossDetection::Time
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

    /// Whether something is reported, or missing.
    pub fn is_disordered(&self) -> bool {
        !(self.segments.sacked() + self.segments.lost()).is_zero()
    }

    /// Segments reported that share their predecessors' memory; those that are `short` do not.
    pub fn joined(&self, short: impl Iterator<Item = SeqNum>) -> SegCount {
        let segments = &self.segments;
        without_short(segments.joined(), short, |seq| segments.is_joined(seq))
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

/// The host's clock, if round trips are measured in its microseconds.
fn measuring_clock(tx: &Tx) -> Option<Clock> {
    (tx.config.rto.estimator == RtoEstimator::Linux).then_some(tx.config.timer_tick.clock)
}

/// Where a segment is among those from `una` on.
#[inline]
fn place(una: SeqNum, seq: SeqNum) -> usize {
    usize::try_from((seq - una).get()).expect("what is outstanding fits into memory")
}
