//! The state of every outstanding segment, for a sender that detects losses by time (RACK).
//!
//! Specification: RFC 8985 §5.1 (per-segment variables); RFC 6675 §4 for what is in the path (pipe), with losses as RACK finds them.
//!
//! **Speed.** Every operation takes constant time on average. RACK judges transmissions in the order in which they were made (RFC 8985 §6.2 step 5).
//! First transmissions are made in the order of segments, so a place in their queue says which have been judged; only what is sent again is
//! in a log. Each transmission is looked at until it is delivered, lost or outdated, and then never again.

use std::collections::VecDeque;
use std::ops::AddAssign;

use super::scoreboard::{Range, RangeSet};
use super::shared_memory::{MemoryOfSegment, MemoryPages};
use crate::ring::RingBuffer;
use crate::units::{Instant, SegCount, SeqNum};

/// The number of a transmission among all those of a connection, in the order in which they were made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TransmissionId(u64);

/// One segment.
#[derive(Clone, Copy, Debug)]
pub struct OutstandingSegment {
    /// When it was last sent, and which transmission that was.
    pub sent: Instant,
    pub transmission: TransmissionId,
    first: TransmissionId,
    pub retransmitted: bool,
    /// The receiver has reported it.
    pub sacked: bool,
    /// Its last transmission is considered lost.
    pub lost: bool,
    memory: MemoryOfSegment,
}

impl OutstandingSegment {
    /// What fills places that no segment has.
    const NONE: Self = Self {
        sent: Instant::START,
        transmission: TransmissionId(0),
        first: TransmissionId(0),
        retransmitted: false,
        sacked: false,
        lost: false,
        memory: MemoryOfSegment::OWN,
    };

    /// Whether it has neither arrived nor been lost, as far as is known.
    #[inline]
    fn is_in_path(&self) -> bool {
        !self.sacked && !self.lost
    }
}

/// The segments from SND.UNA on.
#[derive(Debug)]
pub struct Segments {
    una: SeqNum,
    queue: RingBuffer<OutstandingSegment>,
    /// The next transmission.
    next: TransmissionId,
    /// Of the segments before this one, no first transmission has to be judged any more.
    judged: SeqNum,
    /// What was sent again, in the order of transmissions.
    log: VecDeque<SegmentTransmission>,
    /// Segments that have been sent again.
    resent: SegCount,
    sacked: SegCount,
    /// Those that have been taken together with their predecessors.
    joined: SegCount,
    pages: MemoryPages,
    /// Lost segments that have not been sent again.
    waiting: RangeSet,
}

/// One transmission of a segment that had been sent before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SegmentTransmission {
    seq: SeqNum,
    transmission: TransmissionId,
}

/// Segments that have been marked as lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LostSegments {
    pub all: SegCount,
    /// Those of them that had been sent again.
    pub resent: SegCount,
}

impl AddAssign for LostSegments {
    fn add_assign(&mut self, more: Self) {
        self.all += more.all;
        self.resent += more.resent;
    }
}

/// What a look for losses has found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    pub lost: LostSegments,
    /// Send time of the latest segment that is not lost yet, of those sent before the newest one delivered.
    pub next: Option<Instant>,
}

impl Default for Segments {
    fn default() -> Self {
        Self {
            una: SeqNum::ZERO,
            queue: RingBuffer::new(OutstandingSegment::NONE),
            next: TransmissionId(0),
            judged: SeqNum::ZERO,
            log: VecDeque::new(),
            resent: SegCount::ZERO,
            sacked: SegCount::ZERO,
            joined: SegCount::ZERO,
            pages: MemoryPages::default(),
            waiting: RangeSet::default(),
        }
    }
}

impl Segments {
    /// None yet, of a connection that has such pages.
    pub fn of(pages: MemoryPages) -> Self {
        Self {
            pages,
            ..Self::default()
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Segments considered in the path (RFC 6675 §4).
    #[inline]
    pub fn pipe(&self) -> SegCount {
        SegCount::from(self.queue.len()) - self.sacked - self.waiting.total()
    }

    #[inline]
    pub fn sacked(&self) -> SegCount {
        self.sacked
    }

    /// Reported segments that have been taken together with their predecessors ([`Self::sack`]).
    #[inline]
    pub fn joined(&self) -> SegCount {
        self.joined
    }

    /// Whether a segment is one of these.
    pub fn is_joined(&self, seq: SeqNum) -> bool {
        self.get(seq)
            .is_some_and(|segment| segment.memory.is_shared())
    }

    fn is_sacked(&self, seq: SeqNum) -> bool {
        self.get(seq).is_some_and(|segment| segment.sacked)
    }

    /// The first lost segment that has not been sent again.
    #[inline]
    pub fn next_lost(&self) -> Option<SeqNum> {
        self.waiting.first().map(|range| range.start)
    }

    #[inline]
    pub fn lost(&self) -> SegCount {
        self.waiting.total()
    }

    /// Retransmissions in the path.
    #[cold]
    pub fn resent(&self) -> SegCount {
        let places = (0..self.queue.len()).filter_map(|place| self.queue.get(place));
        let resent = places.filter(|segment| segment.retransmitted && segment.is_in_path());
        SegCount::from(resent.count())
    }

    /// Whether one of the segments that were found lost has not arrived yet, sent again or not.
    #[cold]
    pub fn misses_lost(&self) -> bool {
        !self.lost().is_zero() || !self.resent().is_zero()
    }

    /// When a segment was last sent.
    pub fn sent_at(&self, seq: SeqNum) -> Option<Instant> {
        self.get(seq).map(|segment| segment.sent)
    }

    /// Whether each outstanding segment was sent once, and nothing of them has been reported or lost: they arrive in the order of their transmissions.
    #[inline]
    pub fn are_plain(&self) -> bool {
        (self.sacked + self.resent + self.waiting.total()).is_zero()
    }

    #[inline]
    fn get(&self, seq: SeqNum) -> Option<&OutstandingSegment> {
        self.queue.get(self.place(seq)?)
    }

    #[inline]
    fn get_mut(&mut self, seq: SeqNum) -> Option<&mut OutstandingSegment> {
        let at = self.place(seq)?;
        self.queue.get_mut(at)
    }

    #[inline]
    fn place(&self, seq: SeqNum) -> Option<usize> {
        usize::try_from(seq.checked_sub(self.una)?.get()).ok()
    }

    /// Segment `seq` leaves: a new one, which is the next in order, or one that has been sent before.
    #[inline]
    pub fn on_send(&mut self, seq: SeqNum, now: Instant) {
        if seq == self.end() {
            self.on_send_new(now);
        } else {
            self.on_send_again(seq, now);
        }
    }

    /// A new segment leaves.
    #[inline]
    pub fn on_send_new(&mut self, now: Instant) {
        let transmission = self.next;
        self.next.0 += 1;
        let segment = self.queue.push_slot();
        segment.sent = now;
        segment.transmission = transmission;
        segment.first = transmission;
        segment.retransmitted = false;
        segment.sacked = false;
        segment.lost = false;
        segment.memory = MemoryOfSegment::OWN;
    }

    #[cold]
    #[inline(never)]
    fn on_send_again(&mut self, seq: SeqNum, now: Instant) {
        let transmission = self.next;
        self.next.0 += 1;
        self.waiting.remove(seq);
        let Some(segment) = self.get_mut(seq) else {
            return;
        };
        let again = segment.retransmitted;
        segment.sent = now;
        segment.transmission = transmission;
        segment.retransmitted = true;
        segment.lost = false;
        self.resent += SegCount::from(!again);
        self.log
            .push_back(SegmentTransmission { seq, transmission });
    }

    /// One past the last segment that has been sent.
    #[inline]
    pub fn end(&self) -> SeqNum {
        self.una + SegCount::from(self.queue.len())
    }

    /// The receiver has reported `seq`; the segment as it was, if that is news. One whose predecessor is reported is taken together with that, and so is the next one then, if it is reported; one
    /// whose predecessor is not stays alone, whatever follows it (measured of Linux 6.1, a buffer for 17 segments: with 12 in it, the second of them reported last and the third and fourth before, nothing
    /// more was written until they were acknowledged).
    #[inline]
    pub fn sack(&mut self, seq: SeqNum) -> Option<OutstandingSegment> {
        let segment = self.get_mut(seq)?;
        if segment.sacked {
            return None;
        }
        let before = *segment;
        segment.sacked = true;
        segment.lost = false;
        self.sacked += SegCount::ONE;
        if seq > SeqNum::ZERO && self.is_sacked(seq - SegCount::ONE) {
            self.join(seq);
            self.join(seq.next());
        }
        if before.lost {
            self.waiting.remove(seq);
        }
        Some(before)
    }

    /// It is taken together with its predecessor, if it is reported.
    fn join(&mut self, seq: SeqNum) {
        let before = self.get(seq - SegCount::ONE).map(|before| before.memory);
        let memory = self.pages.join(before.unwrap_or_default(), seq);
        let reported = self.get_mut(seq).filter(|segment| segment.sacked);
        if let (Some(segment), Some(memory)) = (reported, memory)
            && !segment.memory.is_shared()
        {
            segment.memory = memory;
            self.joined += SegCount::ONE;
        }
    }

    /// The first segment is acknowledged cumulatively; as it was.
    #[inline]
    pub fn acknowledge_first(&mut self) -> Option<OutstandingSegment> {
        let segment = *self.queue.front()?;
        self.queue.pop();
        if segment.sacked {
            self.sacked -= SegCount::ONE;
            self.part_first();
        } else if segment.lost {
            self.waiting.remove(self.una);
        }
        self.resent -= SegCount::from(segment.retransmitted);
        self.una = self.una.next();
        Some(segment)
    }

    /// The first segment has no predecessor any more.
    fn part_first(&mut self) {
        let first = self.queue.get_mut(0).map(|segment| &mut segment.memory);
        let was = first.map(std::mem::take).unwrap_or_default();
        self.joined -= SegCount::from(was.is_shared());
    }

    /// So many [plain](Self::are_plain) segments are acknowledged cumulatively: when the first was sent, and the last of them. Nothing if there are not so many.
    #[inline]
    pub fn acknowledge_plain(&mut self, count: SegCount) -> Option<InOrder> {
        let first = self.queue.front()?.sent;
        let place = usize::try_from(count.get()).ok()?.checked_sub(1)?;
        let last = *self.queue.get(place)?;
        self.queue.discard(place + 1);
        self.una += count;
        Some(InOrder { first, last })
    }

    /// A segment is lost, if it is in the path.
    fn mark_lost(&mut self, seq: SeqNum) -> LostSegments {
        let Some(segment) = self.get_mut(seq).filter(|segment| segment.is_in_path()) else {
            return LostSegments::default();
        };
        segment.lost = true;
        let resent = SegCount::from(segment.retransmitted);
        self.waiting.insert(Range::of(seq), |_| ());
        LostSegments {
            all: SegCount::ONE,
            resent,
        }
    }

    /// Whether the log's entry still says how a segment was last sent, and that segment is in the path.
    fn is_current(&self, entry: SegmentTransmission) -> bool {
        self.get(entry.seq).is_some_and(|segment| {
            segment.transmission == entry.transmission && segment.is_in_path()
        })
    }

    /// Whether something may be in the path that was sent before the transmission `newest`.
    #[inline]
    pub fn may_precede(&self, newest: TransmissionId) -> bool {
        let again = self.log.front();
        again.is_some_and(|entry| entry.transmission < newest)
            || self
                .get(self.judged.max(self.una))
                .is_some_and(|segment| segment.first < newest)
    }

    /// Whether something is in the path that was sent before the transmission `newest`. What has arrived, or was sent again, is passed for good: with every report of one more segment that is all there is to
    /// do, and nothing has to be asked for of what is late.
    #[inline]
    pub fn has_to_judge(&mut self, newest: TransmissionId) -> bool {
        self.next_to_judge(newest).is_some()
    }

    /// RFC 8985 §6.2 step 5: marks as lost what was sent before the transmission `newest`, and at or before `deadline`. `reported`: what the receiver has reported.
    #[inline(never)]
    pub fn mark_lost_before(
        &mut self,
        newest: TransmissionId,
        deadline: Instant,
        reported: &RangeSet,
    ) -> Found {
        let mut lost = LostSegments::default();
        while let Some(entry) = self.next_to_judge(newest) {
            if self.sent_at(entry.seq).is_some_and(|sent| sent > deadline) {
                let next = self.latest_before(newest, reported);
                return Found { lost, next };
            }
            lost += self.mark_lost(entry.seq);
        }
        Found { lost, next: None }
    }

    /// The first transmission that is current, of those before `newest`.
    fn next_to_judge(&mut self, newest: TransmissionId) -> Option<SegmentTransmission> {
        while let Some(&entry) = self.log.front()
            && !self.is_current(entry)
        {
            self.log.pop_front();
        }
        self.judged = self.judged.max(self.una);
        while let Some(segment) = self.get(self.judged)
            && segment.first < newest
            && (segment.retransmitted || !segment.is_in_path())
        {
            self.judged = self.judged.next();
        }
        let again = self.log.front().copied();
        let first = self.get(self.judged).map(|segment| SegmentTransmission {
            seq: self.judged,
            transmission: segment.first,
        });
        let earlier = match (first, again) {
            (Some(first), Some(again)) if again.transmission < first.transmission => Some(again),
            (first, again) => first.or(again),
        };
        earlier.filter(|entry| entry.transmission < newest)
    }

    /// When the last of those before `newest` was sent that are in the path.
    fn latest_before(&self, newest: TransmissionId, reported: &RangeSet) -> Option<Instant> {
        let before = self
            .log
            .partition_point(|entry| entry.transmission < newest);
        let again = self.log.range(..before).rev();
        let again = again.copied().find(|entry| self.is_current(*entry));
        let older = self.queue.partition_point(|segment| segment.first < newest);
        let mut bound = self.una + SegCount::from(older);
        let mut first = None;
        while bound > self.judged && first.is_none() {
            let seq = bound - SegCount::ONE;
            if let Some(range) = reported.range_of(seq) {
                bound = range.start;
            } else {
                bound = seq;
                let segment = self.get(seq);
                first = segment.filter(|segment| segment.is_in_path() && !segment.retransmitted);
            }
        }
        let again = again.and_then(|entry| self.get(entry.seq));
        let latest = [first, again].into_iter().flatten();
        latest
            .max_by_key(|segment| segment.transmission)
            .map(|segment| segment.sent)
    }

    /// A segment's transmission, if it was its only one.
    pub fn first_transmission(&self, seq: SeqNum) -> Option<TransmissionId> {
        let segment = self.get(seq).filter(|segment| !segment.retransmitted)?;
        Some(segment.transmission)
    }

    /// The first segment is lost.
    pub fn lose_first(&mut self) -> LostSegments {
        self.mark_lost(self.una)
    }

    /// RFC 8985 §6.3: at a timeout the first segment is lost, and all that were sent at or before `deadline`; how many that makes.
    pub fn mark_lost_on_timeout(&mut self, deadline: Instant) -> SegCount {
        let mut lost = self.lose_first().all;
        for seq in self.una.up_to(self.end()) {
            if self.sent_at(seq).is_some_and(|sent| sent <= deadline) {
                lost += self.mark_lost(seq).all;
            }
        }
        lost
    }

    /// Whether the receiver has reported the first segment, which it does not acknowledge: it has discarded it since (RFC 2018 §8).
    #[inline]
    pub fn first_is_sacked(&self) -> bool {
        self.queue.front().is_some_and(|segment| segment.sacked)
    }

    /// The receiver may have discarded what it has reported. All that is outstanding is to be taken for lost after that.
    pub fn forget_sacks(&mut self) {
        for place in 0..self.queue.len() {
            if let Some(segment) = self.queue.get_mut(place) {
                segment.sacked = false;
                segment.memory = MemoryOfSegment::OWN;
            }
        }
        self.sacked = SegCount::ZERO;
        self.joined = SegCount::ZERO;
    }

    /// Nothing is considered lost any more: what seemed so was late. It is judged again, in the order of its transmission.
    pub fn forget_losses(&mut self) {
        while let Some(Range { start: seq, .. }) = self.waiting.first() {
            self.waiting.remove(seq);
            let Some(segment) = self.get_mut(seq) else {
                continue;
            };
            segment.lost = false;
            let (again, transmission) = (segment.retransmitted, segment.transmission);
            if !again {
                self.judged = self.judged.min(seq);
                continue;
            }
            let entry = SegmentTransmission { seq, transmission };
            let at = self
                .log
                .partition_point(|other| other.transmission < transmission);
            if self.log.get(at) != Some(&entry) {
                self.log.insert(at, entry);
            }
        }
    }
}

/// Segments that arrive in the order in which they were sent, each once.
#[derive(Clone, Copy, Debug)]
pub struct InOrder {
    /// When the first was sent.
    pub first: Instant,
    pub last: OutstandingSegment,
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
    use proptest::prelude::*;

    fn flight(count: u64) -> Segments {
        let mut segments = Segments::default();
        for number in seq(0).up_to(seq(count)) {
            let time = (number - seq(0)).as_f64();
            segments.on_send(number, at(time));
        }
        segments
    }

    fn send(segments: &mut Segments, number: u64, time: f64) {
        segments.on_send(seq(number), at(time));
    }

    /// Looks for what was sent before a transmission and at or before a time; how much is lost, and when the last of the others was sent.
    fn look(segments: &mut Segments, newest: u64, deadline: f64) -> (u64, Option<f64>) {
        let found =
            segments.mark_lost_before(TransmissionId(newest), at(deadline), &RangeSet::default());
        (found.lost.all.get(), found.next.map(Instant::secs))
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
    fn a_segment_is_joined_to_a_predecessor_that_was_reported_first_and_the_next_to_it() {
        let mut segments = flight(10);
        // 4 and 1 stay alone though 5 and 2 follow; 8 joins 7, and 6 joins 5, and 7 it.
        let mut joined = Vec::new();
        for number in [2, 5, 4, 7, 8, 6, 1] {
            segments.sack(seq(number));
            joined.push(segments.joined().get());
        }
        assert_eq!(joined, [0, 0, 0, 0, 1, 3, 3]);
        // Without the first five segments 6 to 8 are joined still; without 5, 7 and 8.
        for (count, left) in [(5, 3), (1, 2)] {
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

    /// A segment by itself, as in the table of RFC 8985 §5.1.
    #[derive(Clone, Copy)]
    struct Model {
        sent: f64,
        transmission: u64,
        sacked: bool,
        lost: bool,
    }

    proptest! {
        #[test]
        fn losses_are_those_that_a_walk_over_all_segments_finds(
            steps in prop::collection::vec((0u32..8, 0u64..12, 0u32..30), 1..200),
        ) {
            let mut segments = Segments::default();
            let (mut una, mut model) = (0, Vec::<Model>::new());
            let (mut next, mut newest) = (0, 0);
            let mut reported = RangeSet::default();
            for (time, (step, place, back)) in (1u32..).zip(steps) {
                let (now, place) = (f64::from(time), usize::try_from(place).expect("small"));
                let number = una + place as u64;
                match step {
                    0..=2 => {
                        send(&mut segments, una + model.len() as u64, now);
                        model.push(Model { sent: now, transmission: next, sacked: false, lost: false });
                        next += 1;
                    }
                    3 => if let Some(known) = model.get_mut(place).filter(|known| !known.sacked) {
                        send(&mut segments, number, now);
                        *known = Model { sent: now, transmission: next, sacked: false, lost: false };
                        next += 1;
                    },
                    4 => if let Some(known) = model.get_mut(place) {
                        prop_assert_eq!(segments.sack(seq(number)).is_some(), !known.sacked);
                        (known.sacked, known.lost) = (true, false);
                        newest = newest.max(known.transmission);
                        reported.insert(Range::of(seq(number)), |_| ());
                    },
                    5 if !model.is_empty() => {
                        newest = newest.max(model.remove(0).transmission);
                        let plain = segments.are_plain() && segments.acknowledge_plain(segs(1)).is_some();
                        prop_assert!(plain || segments.acknowledge_first().is_some());
                        una += 1;
                        reported.remove_below(seq(una));
                    }
                    6 => {
                        segments.forget_losses();
                        for known in &mut model {
                            known.lost = false;
                        }
                    }
                    _ => {
                        let deadline = now - f64::from(back);
                        let in_path = |known: &&mut Model| !known.sacked && !known.lost && known.transmission < newest;
                        let mut lost = 0;
                        for known in model.iter_mut().filter(in_path).filter(|known| known.sent <= deadline) {
                            known.lost = true;
                            lost += 1;
                        }
                        let left = model.iter_mut().filter(in_path).map(|known| known.sent).reduce(f64::max);
                        let newest = TransmissionId(newest);
                        let judges = segments.may_precede(newest) && segments.has_to_judge(newest);
                        let found = segments.mark_lost_before(newest, at(deadline), &reported);
                        prop_assert_eq!((found.lost.all.get(), found.next.map(Instant::secs)), (lost, left));
                        prop_assert_eq!(judges, (lost, left) != (0, None));
                    }
                }
                let waiting = model.iter().filter(|known| known.lost).count();
                let arrived = model.iter().filter(|known| known.sacked).count();
                prop_assert_eq!(segments.lost(), SegCount::from(waiting));
                prop_assert_eq!(segments.pipe(), SegCount::from(model.len() - waiting - arrived));
            }
        }
    }
}
