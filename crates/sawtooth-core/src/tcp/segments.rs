//! The state of every outstanding segment, for a sender that detects losses by time (RACK).
//!
//! Specification: RFC 8985 §5.1 (per-segment variables); RFC 6675 §4 for what is in the path (pipe), with losses as RACK finds them.
//!
//! **Speed.** Every operation takes constant time on average: segments lie in a queue by number, and a log holds transmissions in the order
//! in which they were made, which is the order in which RACK judges them (RFC 8985 §6.2 step 5). An entry of the log is looked at until it
//! is delivered, lost or outdated, and then never again.

use std::collections::{BTreeSet, VecDeque};

use super::rate::Snapshot;

/// One segment.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// Time of the last transmission, seconds, and its number among all transmissions.
    pub sent: f64,
    pub transmission: u64,
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
    una: u64,
    queue: VecDeque<Segment>,
    transmissions: u64,
    /// Segments and their transmissions, in the order of the latter.
    log: VecDeque<(u64, u64)>,
    sacked: u64,
    /// Pairs of neighbours that the receiver has both reported.
    joined: u64,
    /// Lost segments that have not been sent again.
    waiting: BTreeSet<u64>,
}

impl Segments {
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Segments considered in the path (RFC 6675 §4).
    #[inline]
    pub fn pipe(&self) -> u64 {
        self.queue.len() as u64 - self.sacked - self.waiting.len() as u64
    }

    pub fn sacked(&self) -> u64 {
        self.sacked
    }

    /// Reported segments whose predecessor is reported, too.
    pub fn joined(&self) -> u64 {
        self.joined
    }

    fn is_sacked(&self, seq: u64) -> bool {
        self.get(seq).is_some_and(|segment| segment.sacked)
    }

    /// The first lost segment that has not been sent again.
    #[inline]
    pub fn next_lost(&self) -> Option<u64> {
        self.waiting.first().copied()
    }

    pub fn lost(&self) -> u64 {
        self.waiting.len() as u64
    }

    /// When a segment was last sent.
    pub fn sent_at(&self, seq: u64) -> Option<f64> {
        self.get(seq).map(|segment| segment.sent)
    }

    fn get(&self, seq: u64) -> Option<&Segment> {
        let at = usize::try_from(seq.checked_sub(self.una)?).ok()?;
        self.queue.get(at)
    }

    fn get_mut(&mut self, seq: u64) -> Option<&mut Segment> {
        let at = usize::try_from(seq.checked_sub(self.una)?).ok()?;
        self.queue.get_mut(at)
    }

    /// Segment `seq` leaves: a new one, which is the next in order, or one that has been sent before.
    #[inline]
    pub fn on_send(&mut self, seq: u64, now: f64, snapshot: Snapshot) {
        let transmission = self.transmissions;
        self.transmissions += 1;
        self.log.push_back((seq, transmission));
        let next = self.una + self.queue.len() as u64;
        if seq == next {
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

    /// The receiver has reported `seq`; the segment as it was, if that is news.
    #[inline]
    pub fn sack(&mut self, seq: u64) -> Option<Segment> {
        let segment = self.get_mut(seq)?;
        if segment.sacked {
            return None;
        }
        let before = *segment;
        segment.sacked = true;
        segment.lost = false;
        self.sacked += 1;
        self.joined += u64::from(seq > 0 && self.is_sacked(seq - 1));
        self.joined += u64::from(self.is_sacked(seq + 1));
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
            self.sacked -= 1;
            self.joined -= u64::from(self.first_is_sacked());
        } else if segment.lost {
            self.waiting.remove(&self.una);
        }
        self.una += 1;
        Some(segment)
    }

    fn mark_lost(&mut self, seq: u64) -> bool {
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
    fn is_current(&self, (seq, transmission): (u64, u64)) -> bool {
        self.get(seq).is_some_and(|segment| {
            segment.transmission == transmission && !segment.sacked && !segment.lost
        })
    }

    /// RFC 8985 §6.2 step 5: marks as lost what was sent before the transmission numbered `newest` and at or before `deadline`; how many
    /// segments, and when the last of the others that were sent before it was sent.
    pub fn mark_lost_before(&mut self, newest: u64, deadline: f64) -> (u64, Option<f64>) {
        let mut lost = 0;
        while let Some(&entry) = self.log.front() {
            if entry.1 >= newest {
                return (lost, None);
            }
            if self.is_current(entry) {
                if self.sent_at(entry.0).is_some_and(|sent| sent > deadline) {
                    break;
                }
                lost += u64::from(self.mark_lost(entry.0));
            }
            self.log.pop_front();
        }
        let before = self.log.iter().rev().filter(|entry| entry.1 < newest);
        let mut others = before.filter(|entry| self.is_current(**entry));
        (lost, others.next().and_then(|(seq, _)| self.sent_at(*seq)))
    }

    /// The number of a segment's transmission, if that was its only one.
    pub fn first_transmission(&self, seq: u64) -> Option<u64> {
        let segment = self.get(seq).filter(|segment| !segment.retransmitted)?;
        Some(segment.transmission)
    }

    /// The first segment is lost; how many that makes.
    pub fn lose_first(&mut self) -> u64 {
        u64::from(self.mark_lost(self.una))
    }

    /// RFC 8985 §6.3: at a timeout the first segment is lost, and all that were sent at or before `deadline`.
    pub fn mark_lost_on_timeout(&mut self, deadline: f64) -> u64 {
        let mut lost = u64::from(self.mark_lost(self.una));
        for seq in self.una..self.una + self.queue.len() as u64 {
            if self.sent_at(seq).is_some_and(|sent| sent <= deadline) {
                lost += u64::from(self.mark_lost(seq));
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
        self.sacked = 0;
        self.joined = 0;
    }

    /// Nothing is considered lost any more: what seemed so was late.
    pub fn forget_losses(&mut self) {
        while let Some(seq) = self.waiting.pop_first() {
            let entry = self.get_mut(seq).map(|segment| {
                segment.lost = false;
                (seq, segment.transmission)
            });
            // It is judged again, in the order of its transmission.
            if let Some(entry) = entry {
                let at = self.log.partition_point(|other| other.1 < entry.1);
                if self.log.get(at) != Some(&entry) {
                    self.log.insert(at, entry);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flight(count: u64) -> Segments {
        let mut segments = Segments::default();
        for seq in 0..count {
            #[expect(clippy::cast_precision_loss, reason = "a few")]
            segments.on_send(seq, seq as f64, Snapshot::default());
        }
        segments
    }

    #[test]
    fn the_pipe_is_what_was_sent_less_what_arrived_or_is_lost() {
        let mut segments = flight(10);
        assert_eq!(segments.pipe(), 10);
        assert!(segments.sack(5).is_some() && segments.sack(5).is_none());
        assert_eq!(segments.pipe(), 9);
        // Everything sent before segment 5, at or before 2 s.
        assert_eq!(segments.mark_lost_before(5, 2.0), (3, Some(4.0)));
        assert_eq!((segments.pipe(), segments.next_lost()), (6, Some(0)));
        segments.on_send(0, 20.0, Snapshot::default());
        assert_eq!((segments.pipe(), segments.next_lost()), (7, Some(1)));
        // A segment that was believed lost is acknowledged after all.
        segments.acknowledge_first();
        segments.acknowledge_first();
        assert_eq!((segments.pipe(), segments.next_lost()), (6, Some(2)));
    }

    #[test]
    fn joined_segments_are_those_reported_less_the_runs_they_form() {
        let mut segments = flight(10);
        // Runs 2, 4-5 and 7-8, then 2, 4-8, then 1-2, 4-8.
        let mut joined = Vec::new();
        for seq in [2, 5, 4, 7, 8, 6, 1] {
            segments.sack(seq);
            joined.push(segments.joined());
        }
        assert_eq!(joined, [0, 0, 1, 1, 2, 4, 5]);
        // Without the first two segments the runs are 2, 4-8; without the first five they are 5-8.
        for (count, left) in [(2, 4), (3, 3)] {
            for _ in 0..count {
                segments.acknowledge_first();
            }
            assert_eq!(segments.joined(), left);
        }
        segments.forget_sacks();
        assert_eq!(segments.joined(), 0);
    }

    #[test]
    fn a_lost_retransmission_is_found_by_what_was_sent_after_it() {
        let mut segments = flight(4);
        segments.sack(3);
        assert_eq!(segments.mark_lost_before(3, 0.0).0, 1);
        segments.on_send(0, 4.0, Snapshot::default());
        segments.on_send(4, 5.0, Snapshot::default());
        let delivered = segments.sack(4).expect("news");
        // The original of 0 is in the log, too, and counts no more.
        assert_eq!(
            segments.mark_lost_before(delivered.transmission, 4.5),
            (3, None)
        );
        assert_eq!(segments.next_lost(), Some(0));
    }

    #[test]
    fn losses_that_are_forgotten_are_judged_again() {
        let mut segments = flight(4);
        segments.sack(3);
        assert_eq!(segments.mark_lost_before(3, 9.0), (3, None));
        segments.forget_losses();
        assert_eq!((segments.pipe(), segments.next_lost()), (3, None));
        assert_eq!(segments.mark_lost_before(3, 9.0), (3, None));
    }

    #[test]
    fn a_timeout_spares_what_was_sent_lately() {
        let mut segments = flight(4);
        assert_eq!(segments.mark_lost_on_timeout(1.5), 2);
        assert_eq!(segments.pipe(), 2);
    }

    #[test]
    fn what_is_reported_is_not_waited_for() {
        let mut segments = flight(6);
        segments.sack(4);
        let newest = segments.sack(5).expect("news").transmission;
        // The last of the others was sent at 3 s.
        assert_eq!(segments.mark_lost_before(newest, -1.0), (0, Some(3.0)));
        // Nor what is lost, or was sent again after it.
        assert_eq!(segments.mark_lost_before(newest, 0.5), (1, Some(3.0)));
        segments.on_send(3, 6.0, Snapshot::default());
        assert_eq!(segments.mark_lost_before(newest, 0.5), (0, Some(2.0)));
    }
}
