//! The state of every outstanding segment, for a sender that detects losses by time (RACK).
//!
//! Specification: RFC 8985 §5.1 (per-segment variables); RFC 6675 §4 for what is in the path (pipe), with losses as RACK finds them.
//!
//! **Speed.** Every operation takes constant time on average: segments lie in a queue by number, and a log holds transmissions in the order
//! in which they were made, which is the order in which RACK judges them (RFC 8985 §6.2 step 5). An entry of the log is looked at until it
//! is delivered, lost or outdated, and then never again.

use std::collections::{BTreeSet, VecDeque};

use crate::units::{Instant, SegCount, SeqNum};

/// The number of a transmission among all those of a connection, in the order in which they were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransmissionId(u64);

/// What had been delivered when a segment left: what [`rate`](super::rate) samples are made of (draft-cheng-iccrg-delivery-rate-estimation-02 §3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Snapshot {
    pub delivered: SegCount,
    pub delivered_at: Instant,
    /// When the first segment of the flight that it belongs to left.
    pub first_sent_at: Instant,
    pub lost: SegCount,
    pub pipe: SegCount,
    pub app_limited: bool,
}

/// One segment.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// When it was last sent, and which transmission that was.
    pub sent: Instant,
    pub transmission: TransmissionId,
    pub retransmitted: bool,
    /// The receiver has reported it.
    pub sacked: bool,
    /// Its last transmission is considered lost.
    pub lost: bool,
    pub snapshot: Snapshot,
}

/// The segments from SND.UNA on.
#[derive(Debug, Default)]
pub struct Segments {
    una: SeqNum,
    queue: VecDeque<Segment>,
    /// The next transmission.
    next: TransmissionId,
    /// In the order of transmissions.
    log: VecDeque<SegmentTransmission>,
    sacked: SegCount,
    /// Pairs of neighbours that the receiver has both reported.
    joined: SegCount,
    /// Lost segments that have not been sent again.
    waiting: BTreeSet<SeqNum>,
}

/// One transmission of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SegmentTransmission {
    seq: SeqNum,
    transmission: TransmissionId,
}

/// What a look for losses has found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Segments that it has marked as lost.
    pub lost: SegCount,
    /// Send time of the latest segment that is not lost yet, of those sent before the newest one delivered.
    pub next: Option<Instant>,
}

impl Segments {
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Segments considered in the path (RFC 6675 §4).
    #[inline]
    pub fn pipe(&self) -> SegCount {
        SegCount::from(self.queue.len()) - self.sacked - SegCount::from(self.waiting.len())
    }

    pub fn sacked(&self) -> SegCount {
        self.sacked
    }

    /// Reported segments whose predecessor is reported, too.
    pub fn joined(&self) -> SegCount {
        self.joined
    }

    fn is_sacked(&self, seq: SeqNum) -> bool {
        self.get(seq).is_some_and(|segment| segment.sacked)
    }

    /// The first lost segment that has not been sent again.
    #[inline]
    pub fn next_lost(&self) -> Option<SeqNum> {
        self.waiting.first().copied()
    }

    pub fn lost(&self) -> SegCount {
        SegCount::from(self.waiting.len())
    }

    /// When a segment was last sent.
    pub fn sent_at(&self, seq: SeqNum) -> Option<Instant> {
        self.get(seq).map(|segment| segment.sent)
    }

    fn get(&self, seq: SeqNum) -> Option<&Segment> {
        let at = usize::try_from(seq.checked_sub(self.una)?.get()).ok()?;
        self.queue.get(at)
    }

    fn get_mut(&mut self, seq: SeqNum) -> Option<&mut Segment> {
        let at = usize::try_from(seq.checked_sub(self.una)?.get()).ok()?;
        self.queue.get_mut(at)
    }

    /// Segment `seq` leaves: a new one, which is the next in order, or one that has been sent before.
    #[inline]
    pub fn on_send(&mut self, seq: SeqNum, now: Instant, snapshot: Snapshot) {
        let transmission = self.next;
        self.next.0 += 1;
        self.log
            .push_back(SegmentTransmission { seq, transmission });
        if seq == self.end() {
            self.queue.push_back(Segment {
                sent: now,
                transmission,
                retransmitted: false,
                sacked: false,
                lost: false,
                snapshot,
            });
            return;
        }
        self.waiting.remove(&seq);
        if let Some(segment) = self.get_mut(seq) {
            segment.sent = now;
            segment.transmission = transmission;
            segment.retransmitted = true;
            segment.lost = false;
            segment.snapshot = snapshot;
        }
    }

    /// One past the last segment that has been sent.
    #[inline]
    fn end(&self) -> SeqNum {
        self.una + SegCount::from(self.queue.len())
    }

    /// The receiver has reported `seq`; the segment as it was, if that is news.
    #[inline]
    pub fn sack(&mut self, seq: SeqNum) -> Option<Segment> {
        let segment = self.get_mut(seq)?;
        if segment.sacked {
            return None;
        }
        let before = *segment;
        segment.sacked = true;
        segment.lost = false;
        self.sacked += SegCount::ONE;
        let follows = seq > SeqNum::ZERO && self.is_sacked(seq - SegCount::ONE);
        self.joined += SegCount::from(follows);
        self.joined += SegCount::from(self.is_sacked(seq.next()));
        if before.lost {
            self.waiting.remove(&seq);
        }
        Some(before)
    }

    /// The first segment is acknowledged cumulatively; as it was.
    #[inline]
    pub fn acknowledge_first(&mut self) -> Option<Segment> {
        let segment = self.queue.pop_front()?;
        if segment.sacked {
            self.sacked -= SegCount::ONE;
            self.joined -= SegCount::from(self.first_is_sacked());
        } else if segment.lost {
            self.waiting.remove(&self.una);
        }
        self.una = self.una.next();
        Some(segment)
    }

    fn mark_lost(&mut self, seq: SeqNum) -> bool {
        let Some(segment) = self.get_mut(seq) else {
            return false;
        };
        if segment.sacked || segment.lost {
            return false;
        }
        segment.lost = true;
        self.waiting.insert(seq);
        true
    }

    /// Whether the log's entry still says how a segment was last sent, and that segment is in the path.
    fn is_current(&self, entry: SegmentTransmission) -> bool {
        self.get(entry.seq).is_some_and(|segment| {
            segment.transmission == entry.transmission && !segment.sacked && !segment.lost
        })
    }

    /// RFC 8985 §6.2 step 5: marks as lost what was sent before the transmission `newest`, and at or before `deadline`.
    pub fn mark_lost_before(&mut self, newest: TransmissionId, deadline: Instant) -> Found {
        let mut lost = SegCount::ZERO;
        while let Some(&entry) = self.log.front() {
            if entry.transmission >= newest {
                return Found { lost, next: None };
            }
            if self.is_current(entry) {
                if self.sent_at(entry.seq).is_some_and(|sent| sent > deadline) {
                    break;
                }
                lost += SegCount::from(self.mark_lost(entry.seq));
            }
            self.log.pop_front();
        }
        let log = self.log.iter().rev();
        let before = log.filter(|entry| entry.transmission < newest);
        let mut others = before.filter(|entry| self.is_current(**entry));
        let next = others.next().and_then(|entry| self.sent_at(entry.seq));
        Found { lost, next }
    }

    /// A segment's transmission, if it was its only one.
    pub fn first_transmission(&self, seq: SeqNum) -> Option<TransmissionId> {
        let segment = self.get(seq).filter(|segment| !segment.retransmitted)?;
        Some(segment.transmission)
    }

    /// The first segment is lost; how many that makes.
    pub fn lose_first(&mut self) -> SegCount {
        SegCount::from(self.mark_lost(self.una))
    }

    /// RFC 8985 §6.3: at a timeout the first segment is lost, and all that were sent at or before `deadline`; how many that makes.
    pub fn mark_lost_on_timeout(&mut self, deadline: Instant) -> SegCount {
        let mut lost = self.lose_first();
        for seq in self.una.up_to(self.end()) {
            if self.sent_at(seq).is_some_and(|sent| sent <= deadline) {
                lost += SegCount::from(self.mark_lost(seq));
            }
        }
        lost
    }

    /// Whether the receiver has reported the first segment, which it does not acknowledge: it has discarded it since (RFC 2018 §8).
    pub fn first_is_sacked(&self) -> bool {
        self.queue.front().is_some_and(|segment| segment.sacked)
    }

    /// The receiver may have discarded what it has reported.
    pub fn forget_sacks(&mut self) {
        for segment in &mut self.queue {
            segment.sacked = false;
        }
        self.sacked = SegCount::ZERO;
        self.joined = SegCount::ZERO;
    }

    /// Nothing is considered lost any more: what seemed so was late.
    pub fn forget_losses(&mut self) {
        while let Some(seq) = self.waiting.pop_first() {
            let entry = self.get_mut(seq).map(|segment| {
                segment.lost = false;
                SegmentTransmission {
                    seq,
                    transmission: segment.transmission,
                }
            });
            // It is judged again, in the order of its transmission.
            if let Some(entry) = entry {
                let at = self
                    .log
                    .partition_point(|other| other.transmission < entry.transmission);
                if self.log.get(at) != Some(&entry) {
                    self.log.insert(at, entry);
                }
            }
        }
    }
}

#[cfg(test)]
impl TransmissionId {
    pub fn numbered(number: u64) -> Self {
        Self(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::{at, segs, seq};

    fn flight(count: u64) -> Segments {
        let mut segments = Segments::default();
        for number in seq(0).up_to(seq(count)) {
            let time = (number - seq(0)).as_f64();
            segments.on_send(number, at(time), Snapshot::default());
        }
        segments
    }

    fn send(segments: &mut Segments, number: u64, time: f64) {
        segments.on_send(seq(number), at(time), Snapshot::default());
    }

    /// Looks for what was sent before a transmission and at or before a time; how much is lost, and when the last of the others was sent.
    fn look(segments: &mut Segments, newest: u64, deadline: f64) -> (u64, Option<f64>) {
        let found = segments.mark_lost_before(TransmissionId(newest), at(deadline));
        (found.lost.get(), found.next.map(Instant::secs))
    }

    /// What is in the path, and the first segment that waits to be sent again.
    fn state(segments: &Segments) -> (u64, Option<u64>) {
        (segments.pipe().get(), segments.next_lost().map(SeqNum::get))
    }

    #[test]
    fn the_pipe_is_what_was_sent_less_what_arrived_or_is_lost() {
        let mut segments = flight(10);
        assert_eq!(segments.pipe(), segs(10));
        assert!(segments.sack(seq(5)).is_some() && segments.sack(seq(5)).is_none());
        assert_eq!(segments.pipe(), segs(9));
        // Everything sent before segment 5, at or before 2 s.
        assert_eq!(look(&mut segments, 5, 2.0), (3, Some(4.0)));
        assert_eq!(state(&segments), (6, Some(0)));
        send(&mut segments, 0, 20.0);
        assert_eq!(state(&segments), (7, Some(1)));
        // A segment that was believed lost is acknowledged after all.
        segments.acknowledge_first();
        segments.acknowledge_first();
        assert_eq!(state(&segments), (6, Some(2)));
    }

    #[test]
    fn joined_segments_are_those_reported_less_the_runs_they_form() {
        let mut segments = flight(10);
        // Runs 2, 4-5 and 7-8, then 2, 4-8, then 1-2, 4-8.
        let mut joined = Vec::new();
        for number in [2, 5, 4, 7, 8, 6, 1] {
            segments.sack(seq(number));
            joined.push(segments.joined().get());
        }
        assert_eq!(joined, [0, 0, 1, 1, 2, 4, 5]);
        // Without the first two segments the runs are 2, 4-8; without the first five they are 5-8.
        for (count, left) in [(2, 4), (3, 3)] {
            for _ in 0..count {
                segments.acknowledge_first();
            }
            assert_eq!(segments.joined(), segs(left));
        }
        segments.forget_sacks();
        assert_eq!(segments.joined(), segs(0));
    }

    #[test]
    fn a_lost_retransmission_is_found_by_what_was_sent_after_it() {
        let mut segments = flight(4);
        segments.sack(seq(3));
        assert_eq!(look(&mut segments, 3, 0.0).0, 1);
        send(&mut segments, 0, 4.0);
        send(&mut segments, 4, 5.0);
        let delivered = segments.sack(seq(4)).expect("news");
        // The original of 0 is in the log, too, and counts no more.
        assert_eq!(
            look(&mut segments, delivered.transmission.0, 4.5),
            (3, None)
        );
        assert_eq!(segments.next_lost(), Some(seq(0)));
    }

    #[test]
    fn losses_that_are_forgotten_are_judged_again() {
        let mut segments = flight(4);
        segments.sack(seq(3));
        assert_eq!(look(&mut segments, 3, 9.0), (3, None));
        segments.forget_losses();
        assert_eq!(state(&segments), (3, None));
        assert_eq!(look(&mut segments, 3, 9.0), (3, None));
    }

    #[test]
    fn a_timeout_spares_what_was_sent_lately() {
        let mut segments = flight(4);
        assert_eq!(segments.mark_lost_on_timeout(at(1.5)), segs(2));
        assert_eq!(segments.pipe(), segs(2));
    }

    #[test]
    fn what_is_reported_is_not_waited_for() {
        let mut segments = flight(6);
        segments.sack(seq(4));
        let newest = segments.sack(seq(5)).expect("news").transmission.0;
        // The last of the others was sent at 3 s.
        assert_eq!(look(&mut segments, newest, -1.0), (0, Some(3.0)));
        // Nor what is lost, or was sent again after it.
        assert_eq!(look(&mut segments, newest, 0.5), (1, Some(3.0)));
        send(&mut segments, 3, 6.0);
        assert_eq!(look(&mut segments, newest, 0.5), (0, Some(2.0)));
    }
}
