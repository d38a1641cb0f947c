//! Who descends from whom, and which of two events at one instant goes first.

use super::archive::{self, Archive, ArchivedLine};
use super::{Event, EventKey, HAPPENED, ID_MASK, Line, ROOT};
use crate::units::{Duration, Instant};
use std::cell::Cell;
use std::cmp::Ordering;

type Ring = Box<[ArchivedLine; Lineage::LENGTH as usize]>;

thread_local! {
    /// The ring of the run before: a short run uses little of that megabyte, and takes less time than the system to make another.
    static SPARE: Cell<Option<Ring>> = const { Cell::new(None) };
}

/// Where past events came from, for as long as something may descend from them.
///
/// A ring: an entry lasts for `LENGTH` further events, and where many happen during a round trip in an `Archive`. Events whose lines agree as far as they are kept
/// count as equal.
#[derive(Debug)]
pub struct Lineage {
    /// Of what an earlier run has left in it nothing is read: an entry is asked for after it was recorded.
    lines: Ring,
    next: u32,
    /// What has been overwritten, as far as it may be asked for.
    archive: Archive,
    latest: LatestEvent,
    /// Whether two events were not told apart because what would have is not kept any more.
    forgot: Cell<bool>,
    memos: Box<[Cell<ComparisonMemo>; ComparisonMemo::COUNT]>,
}

impl Lineage {
    /// Entries of the ring; a power of two.
    const LENGTH: u32 = 2 * archive::LENGTH;

    /// One that has a ring and no more.
    pub fn new() -> Self {
        Self::that_remembers(Duration::ZERO)
    }

    /// `memory`: for how long ancestors are remembered at least, if there is room for them.
    pub fn that_remembers(memory: Duration) -> Self {
        Self {
            lines: SPARE.take().unwrap_or_else(Self::ring),
            next: 0,
            latest: LatestEvent {
                event: Event::NEVER,
                origin: u64::MAX,
            },
            archive: Archive::new(memory),
            forgot: Cell::new(false),
            memos: Box::new([const { Cell::new(ComparisonMemo::NONE) }; ComparisonMemo::COUNT]),
        }
    }

    /// Memory that is zero as it comes need not be written before it is used.
    fn ring() -> Ring {
        let lines = vec![(0.0, 0); Self::LENGTH as usize].into_boxed_slice();
        lines.try_into().expect("the length is LENGTH")
    }

    /// Records an event that is computed out of its turn.
    #[inline(always)]
    pub fn record(&mut self, event: EventKey) -> Event {
        let id = self.next & ID_MASK;
        self.lines[(id % Self::LENGTH) as usize] = (event.line.scheduled.secs(), event.line.origin);
        self.next = id + 1;
        Event::new(event.time, id)
    }

    /// Records the event whose turn it is. Two parents that were recorded so are ordered by their ids, without a look at their own parents.
    ///
    /// One event may come up several times in a row, as what it sends waits at a meeting point: it has one id.
    #[inline(always)]
    pub fn happen(&mut self, event: EventKey) -> Event {
        let latest = self.latest;
        if event.line.origin == latest.origin && event.time == latest.event.time {
            return latest.event;
        }
        let recorded = self.record(event);
        let now = Event::new(recorded.time, recorded.id() | HAPPENED);
        self.latest = LatestEvent {
            event: now,
            origin: event.line.origin,
        };
        now
    }

    /// Remembers everything that there is room for.
    pub fn remember_all(&mut self) {
        self.archive.remember_all();
    }

    /// Whether it does.
    pub fn remembers_all(&self) -> bool {
        self.archive.remembers_all()
    }

    /// The run is over: its ring is for the next one of this thread.
    pub fn leave(self) {
        SPARE.set(Some(self.lines));
    }

    /// Whether an order of two events was left open that a longer memory may tell.
    pub fn has_forgotten(&self) -> bool {
        self.forgot.get() && !self.remembers_all()
    }

    /// Archives what is going to be overwritten; to be called often enough that the ring is not gone through in between: what was, is lost.
    pub fn archive(&mut self, now: Instant) {
        while self.archive.next() != (self.next & ID_MASK) / archive::LENGTH {
            let first = self.archive.next() * archive::LENGTH;
            let age = self.next.wrapping_sub(first) & ID_MASK;
            if age <= Self::LENGTH {
                let first = (first % Self::LENGTH) as usize;
                let block = &self.lines[first..first + archive::LENGTH as usize];
                self.archive.keep(block, now);
            } else {
                self.archive.skip(now);
            }
        }
    }

    /// The line of an entry, which is not the root.
    #[inline]
    fn get(&self, id: u32) -> Option<Line> {
        // Whether it happened does not count here: that is a higher bit.
        let age = self.next.wrapping_sub(id) & ID_MASK;
        let (scheduled_secs, origin) = if age <= Self::LENGTH {
            self.lines[(id % Self::LENGTH) as usize]
        } else {
            self.archived(id & ID_MASK)?
        };
        Some(Line {
            scheduled: Instant::from_secs(scheduled_secs),
            origin,
        })
    }

    #[cold]
    #[inline(never)]
    fn archived(&self, number: u32) -> Option<ArchivedLine> {
        let block = self.archive.block(number / archive::LENGTH)?;
        Some(block[(number % archive::LENGTH) as usize])
    }

    /// The order of two events at the same time, if anything tells them apart. Mostly their parents do, or the parents of these.
    #[inline(never)]
    pub(super) fn order(&self, left: Line, right: Line) -> Option<Ordering> {
        if left.scheduled != right.scheduled {
            return left.scheduled.partial_cmp(&right.scheduled);
        }
        let (of_left, of_right) = (left.parent(), right.parent());
        let age = |id: u32| self.next.wrapping_sub(id) & ID_MASK;
        let are_kept = (age(of_left) | age(of_right)) < Self::LENGTH;
        let is_one_root = (of_left | of_right) & !(ID_MASK | HAPPENED) != 0;
        let both_happened = of_left & of_right & HAPPENED != 0;
        let is_plain = !is_one_root && !both_happened && !left.is_at_head();
        if of_left != of_right && are_kept && is_plain {
            let [(left_secs, left_origin), (right_secs, right_origin)] =
                [of_left, of_right].map(|id| self.lines[(id % Self::LENGTH) as usize]);
            if left_secs != right_secs {
                return left_secs.partial_cmp(&right_secs);
            }
            if left_origin >> 32 == right_origin >> 32 && left_origin != right_origin {
                return Some(left_origin.cmp(&right_origin));
            }
        }
        self.order_by_ancestors(left, right)
    }

    #[cold]
    #[inline(never)]
    fn order_by_ancestors(&self, mut left: Line, mut right: Line) -> Option<Ordering> {
        let mut generations = 0;
        let asked = ComparisonMemo::question(left, right);
        // Of timers that are set at the head of their list those go first whose parents go last.
        let mut reversed = false;
        let (order, is_reversed) = loop {
            if left.scheduled != right.scheduled {
                break (left.scheduled.partial_cmp(&right.scheduled), reversed);
            }
            let was_reversed = reversed;
            reversed ^= left.is_at_head();
            // Children of one parent: the halves of `origin` that name the parent agree.
            if left.parent() == right.parent() {
                let order = Some(left.origin.cmp(&right.origin)).filter(|order| order.is_ne());
                break (order, reversed);
            }
            // What was laid down before the run was scheduled before what the run schedules at its first instant.
            if left.parent() == ROOT || right.parent() == ROOT {
                let order = (right.parent() == ROOT).cmp(&(left.parent() == ROOT));
                break (Some(order), reversed);
            }
            if left.parent() & right.parent() & HAPPENED != 0 {
                let later = left.parent().wrapping_sub(right.parent()) & ID_MASK;
                break (Some((ID_MASK / 2).cmp(&later)), reversed);
            }
            if generations >= ComparisonMemo::WORTHWHILE {
                let question = ComparisonMemo::question(left, right);
                let memo = self.memos[question.place()].get();
                if memo.is_of(&question) {
                    break (memo.order, was_reversed);
                }
            }
            let (Some(of_left), Some(of_right)) =
                (self.get(left.parent()), self.get(right.parent()))
            else {
                self.forgot.set(true);
                break (None, reversed);
            };
            if of_left == of_right {
                // An event that was recorded twice is still one event.
                let child = |line: Line| line.origin << 32;
                let order = Some(child(left).cmp(&child(right))).filter(|order| order.is_ne());
                break (order, reversed);
            }
            (left, right) = (of_left, of_right);
            generations += 1;
        };
        let order = order.map(|order| if is_reversed { order.reverse() } else { order });
        if generations > ComparisonMemo::WORTHWHILE {
            self.memos[asked.place()].set(ComparisonMemo { order, ..asked });
        }
        order
    }
}

impl Default for Lineage {
    fn default() -> Self {
        Self::new()
    }
}

/// What happened last.
#[derive(Clone, Copy, Debug)]
struct LatestEvent {
    event: Event,
    /// Tells events of one time apart.
    origin: u64,
}

/// The order of two events that took many generations to find. Flows that keep step meet again a round trip later, and then their
/// ancestors are compared again; so do flows whose lines of ancestors are too long to tell them apart.
#[derive(Clone, Copy, Debug)]
struct ComparisonMemo {
    scheduled: Instant,
    parents: (u32, u32),
    order: Option<Ordering>,
}

impl ComparisonMemo {
    const COUNT: usize = 256;
    const NONE: Self = Self {
        scheduled: Instant::from_secs(f64::NAN),
        parents: (ROOT, ROOT),
        order: None,
    };
    /// Generations after which looking for a memo, or leaving one, is worth its cost.
    const WORTHWHILE: u32 = 3;

    fn question(left: Line, right: Line) -> Self {
        Self {
            scheduled: left.scheduled,
            parents: (left.parent(), right.parent()),
            order: None,
        }
    }

    fn place(&self) -> usize {
        (self.parents.0.wrapping_mul(31) ^ self.parents.1) as usize % Self::COUNT
    }

    /// The time tells events apart whose numbers are the same because the count of events has started again.
    fn is_of(&self, question: &Self) -> bool {
        self.parents == question.parents && self.scheduled == question.scheduled
    }
}

#[cfg(test)]
mod tests {
    use super::super::Child;
    use super::*;
    use crate::units::testing::{at, secs};
    use proptest::prelude::*;

    fn first_at(secs: f64) -> EventKey {
        EventKey::at_start(at(secs), 0)
    }

    #[test]
    fn equal_times_are_ordered_by_the_first_difference_between_ancestors() {
        let mut lineage = Lineage::new();
        // Two links that started one after the other at one time and have kept step for three generations.
        let mut lines = [
            EventKey::at_start(at(1.0), 1),
            EventKey::at_start(at(1.0), 0),
        ];
        for generation in 1..=3 {
            lines = lines.map(|key| {
                lineage
                    .record(key)
                    .schedule(at(1.0 + f64::from(generation)), Child::Done)
            });
        }
        assert!(lines[1].precedes(&lines[0], &lineage, false));
        assert!(!lines[0].precedes(&lines[1], &lineage, true));
    }

    #[test]
    fn of_timers_that_are_set_at_the_head_of_a_list_the_last_one_goes_first() {
        let mut lineage = Lineage::new();
        let sets = [0, 1].map(|order| lineage.record(EventKey::at_start(at(1.0), order)));
        let later = lineage.record(first_at(2.0));
        let due = |set: Event, rank| set.schedule_at_head(at(3.0), rank);
        let expected = [
            // Of a longer list, set whenever.
            due(sets[0], 1),
            due(later, 0),
            // At one instant, the second after the first.
            due(sets[1], 0),
            due(sets[0], 0),
            // A packet that comes then.
            sets[0].schedule(at(3.0), Child::Arrival),
        ];
        for (place, key) in expected.iter().enumerate() {
            for other in &expected[place + 1..] {
                assert!(key.precedes(other, &lineage, false));
                assert!(!other.precedes(key, &lineage, true));
            }
        }
        // What they schedule is in their order.
        let children = expected.map(|key| lineage.record(key).schedule(at(3.0), Child::Done));
        assert!(children[2].precedes(&children[3], &lineage, false));
        assert!(!children[3].precedes(&children[2], &lineage, true));
    }

    #[test]
    fn of_two_children_the_one_scheduled_first_goes_first() {
        let mut lineage = Lineage::new();
        let parent = lineage.record(first_at(1.0));
        let (arrival, done) = (
            parent.schedule(at(2.0), Child::Arrival),
            parent.schedule(at(2.0), Child::Done),
        );
        assert!(arrival.precedes(&done, &lineage, false));
        assert!(!done.precedes(&arrival, &lineage, true));
    }

    /// An event and its ancestors, latest first: when each was scheduled, and as which child of whom.
    type History = Vec<(Instant, u32, usize)>;

    proptest! {
        /// Streams of events that keep step, as links of one rate do, held against a walk through their whole history.
        #[test]
        fn the_order_of_events_is_that_of_their_first_differing_ancestors(
            streams in 2usize..6,
            steps in prop::collection::vec((0usize..6, 0u32..2, prop::bool::weighted(0.02)), 1..400),
        ) {
            let mut lineage = Lineage::new();
            let mut pending: Vec<(EventKey, History)> = (0u32..)
                .take(streams)
                .map(|stream| (EventKey::at_start(at(1.0), stream), vec![(Instant::START, stream, usize::MAX)]))
                .collect();
            for (recorded, (stream, child, forks)) in steps.into_iter().enumerate() {
                let (key, history) = pending[stream % streams].clone();
                let event = lineage.record(key);
                let child = if child == 0 { Child::Timer } else { Child::Arrival };
                let schedule = |child: Child| {
                    let mut history = history.clone();
                    history.insert(0, (key.time, child as u32, recorded));
                    (event.schedule(key.time + secs(1.0), child), history)
                };
                pending[stream % streams] = schedule(child);
                // Now and then an event has a second child, with which another stream goes on.
                if forks {
                    pending[(stream + 1) % streams] = schedule(Child::Done);
                }
                for (left, left_history) in &pending {
                    for (right, right_history) in &pending {
                        let model = left_history
                            .iter()
                            .zip(right_history)
                            .find_map(|(left, right)| {
                                if left.2 == right.2 && left.2 != usize::MAX {
                                    return Some(left.1.cmp(&right.1));
                                }
                                let order = left.0.total_cmp(&right.0);
                                let order = if left.2 == usize::MAX { order.then(left.1.cmp(&right.1)) } else { order };
                                order.is_ne().then_some(order)
                            });
                        if left.time == right.time && left_history != right_history {
                            prop_assert_eq!(lineage.order(left.line, right.line), model);
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_is_laid_down_before_the_run_precedes_what_its_first_event_schedules() {
        let mut lineage = Lineage::new();
        let (first, start) = (
            EventKey::at_start(at(0.0), 0),
            EventKey::at_start(at(1.0), 1),
        );
        let timer = lineage.record(first).schedule(at(1.0), Child::Timer);
        assert!(start.precedes(&timer, &lineage, false));
        assert!(!timer.precedes(&start, &lineage, true));
    }

    #[test]
    fn lines_that_are_too_long_are_walked_once() {
        let mut lineage = Lineage::new();
        let mut lines = [
            EventKey::at_start(at(0.0), 0),
            EventKey::at_start(at(0.0), 1),
        ];
        for generation in 1..=Lineage::LENGTH {
            let now = at(f64::from(generation));
            lines = lines.map(|key| lineage.record(key).schedule(now, Child::Timer));
        }
        // Both orders are open: the caller decides.
        assert!(lines[1].precedes(&lines[0], &lineage, true));
        assert!(!lines[1].precedes(&lines[0], &lineage, false));
        let asked = ComparisonMemo::question(lines[1].line, lines[0].line);
        let memo = lineage.memos[asked.place()].get();
        assert!(memo.is_of(&asked) && memo.order.is_none());
    }

    #[test]
    fn what_happens_is_in_the_order_in_which_it_was_recorded_however_long_ago_that_was() {
        let mut lineage = Lineage::new();
        let mut lines = [
            EventKey::at_start(at(0.0), 0),
            EventKey::at_start(at(0.0), 1),
        ];
        for generation in 1..=Lineage::LENGTH {
            let now = at(f64::from(generation));
            lines = lines.map(|key| lineage.happen(key).schedule(now, Child::Timer));
        }
        assert!(lines[0].precedes(&lines[1], &lineage, false));
        assert!(!lines[1].precedes(&lines[0], &lineage, true));
    }

    #[test]
    fn an_event_that_comes_up_again_is_the_same_one() {
        let mut lineage = Lineage::new();
        let (first, other) = (first_at(1.0), EventKey::at_start(at(1.0), 1));
        let [done, arrival] = [Child::Done, Child::Arrival]
            .map(|child| lineage.happen(first).schedule(at(2.0), child));
        let later = lineage.happen(other).schedule(at(2.0), Child::Timer);
        assert!(arrival.precedes(&done, &lineage, false));
        assert!(done.precedes(&later, &lineage, false));
    }

    #[test]
    fn numbers_of_what_happens_begin_again_and_order_stays() {
        let mut lineage = Lineage::new();
        lineage.next = ID_MASK;
        let [first, second] = [0, 1].map(|order| {
            let event = lineage.happen(EventKey::at_start(at(1.0), order));
            event.schedule(at(2.0), Child::Timer)
        });
        assert!(first.precedes(&second, &lineage, false));
        assert!(!second.precedes(&first, &lineage, true));
    }

    #[test]
    fn ancestors_are_remembered_for_as_long_as_was_asked_for() {
        let order_after = |generations: u32, memory: Duration| {
            let mut lineage = Lineage::that_remembers(memory);
            let mut lines = [
                EventKey::at_start(at(0.0), 0),
                EventKey::at_start(at(0.0), 1),
            ];
            for generation in 1..=generations {
                let now = at(f64::from(generation) * 1e-3);
                lines = lines.map(|key| lineage.record(key).schedule(now, Child::Timer));
                if generation.is_multiple_of(1000) {
                    lineage.archive(now);
                }
            }
            lineage.order(lines[0].line, lines[1].line)
        };
        let generations = 2 * Lineage::LENGTH;
        assert_eq!(order_after(generations, Duration::ZERO), None);
        assert_eq!(order_after(generations, secs(50.0)), None);
        assert_eq!(order_after(generations, secs(500.0)), Some(Ordering::Less));
    }

    #[test]
    fn an_event_recorded_twice_is_one_event() {
        let mut lineage = Lineage::new();
        let timer = lineage
            .record(first_at(1.0))
            .schedule(at(2.0), Child::Timer);
        let arrival = lineage
            .record(first_at(1.0))
            .schedule(at(2.0), Child::Arrival);
        assert!(timer.precedes(&arrival, &lineage, false));
    }
}
