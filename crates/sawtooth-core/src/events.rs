//! The order of events, and the structure that finds the next one.
//!
//! **Order.** Events at equal times happen in the order in which they were scheduled (FIFO), as in ns-2. That order is
//! a property of the events, not of the moment at which this program learns of them: of two events at one instant, the one whose
//! parent (the event that scheduled it) happened first goes first; of two children of one parent, the one scheduled first. So a
//! [`Key`] carries an event's time, its parent's time, and a reference to its parent's own key in the [`Lineage`], and a tie is
//! broken by walking up the two lines of ancestors until they differ. Because the order is in the key, an event may be computed
//! early, late or not at all (see `net` and `sim`) without changing any order. Links of one rate keep step for long, so ties that
//! are decided many generations up are common, and decide which of two packets a full queue drops.
//!
//! **Structure.** Each component that can have a pending event owns one slot of a tournament tree; its key is replaced in
//! place and nothing is ever cancelled. The tree holds O(links + flows) slots and stays in cache.

use std::cell::Cell;
use std::cmp::Ordering;
use std::hint::select_unpredictable;

use crate::units::Instant;

/// When an event happens, and its place among events at the same instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    pub time: Instant,
    line: Line,
}

/// Where an event comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// When it was scheduled: the time of its parent.
    scheduled: Instant,
    /// Its parent's entry in the lineage (high half) and its place among its parent's children.
    origin: u64,
}

impl Line {
    #[inline]
    fn new(scheduled: Instant, parent: u32, child: u32) -> Self {
        Self {
            scheduled,
            origin: u64::from(parent) << 32 | u64::from(child),
        }
    }

    #[inline]
    fn parent(self) -> u32 {
        (self.origin >> 32) as u32
    }
}

/// Which child of its parent an event is, in the order in which children are scheduled: an endpoint restarts its timer before
/// it sends, and a transmission schedules its packet's arrival before its own end.
#[derive(Clone, Copy, Debug)]
pub enum Child {
    Timer = 0,
    /// The packet reaches the far end.
    Arrival = 1,
    /// The transmitter is free again.
    Done = 2,
    /// The packet reaches the far end a second time.
    Again = 3,
}

/// No parent: laid down before the run.
const ROOT: u32 = u32::MAX;

impl Key {
    /// Later than every event.
    pub const NEVER: Self = Self {
        time: Instant::NEVER,
        line: Line {
            scheduled: Instant::NEVER,
            origin: u64::MAX,
        },
    };

    /// The event laid down `order`-th before the run began.
    pub fn at_start(time: Instant, order: u32) -> Self {
        Self {
            time,
            line: Line::new(Instant::START, ROOT, order),
        }
    }

    /// Time and line apart: unlike a key, both are handed over in registers.
    #[inline]
    pub fn parts(self) -> (Instant, Line) {
        (self.time, self.line)
    }

    /// A key of its [`Key::parts`].
    #[inline]
    pub fn from_parts(time: Instant, line: Line) -> Self {
        Self { time, line }
    }

    /// Whether this is [`Key::NEVER`].
    #[inline]
    pub fn is_never(&self) -> bool {
        self.time == Instant::NEVER
    }

    /// Whether this event happens before `other`; `ties` decides when nothing tells them apart.
    #[inline(always)]
    pub fn precedes(&self, other: &Self, lineage: &Lineage, ties: bool) -> bool {
        if self.time != other.time {
            return self.time < other.time;
        }
        if self.line.scheduled != other.line.scheduled {
            return self.line.scheduled < other.line.scheduled;
        }
        lineage
            .order(self.line, other.line)
            .map_or(ties, Ordering::is_lt)
    }
}

/// An event that is happening and has been recorded: what it schedules descends from it.
#[derive(Clone, Copy, Debug)]
pub struct Event {
    pub time: Instant,
    id: u32,
}

impl Event {
    /// The key of the event that this one schedules for `time`.
    #[inline(always)]
    pub fn schedule(self, time: Instant, child: Child) -> Key {
        Key {
            time,
            line: Line::new(self.time, self.id, child as u32),
        }
    }
}

/// Where past events came from, for as long as something may descend from them.
///
/// A ring: an entry lasts for `LENGTH` further events. Lines of ancestors that are longer than that count as equal.
#[derive(Debug)]
pub struct Lineage {
    /// Of each entry its line, in parts: memory that is zero as it comes need not be written before it is used.
    lines: Box<[(f64, u64); Self::LENGTH as usize]>,
    next: u32,
    memos: Box<[Cell<Memo>; Memo::COUNT]>,
}

impl Lineage {
    /// Entries kept; a power of two.
    const LENGTH: u32 = 1 << 16;

    pub fn new() -> Self {
        let lines = vec![(0.0, 0); Self::LENGTH as usize].into_boxed_slice();
        Self {
            lines: lines.try_into().expect("the length is LENGTH"),
            memos: Box::new([const { Cell::new(Memo::NONE) }; Memo::COUNT]),
            next: 0,
        }
    }

    /// Records the event that happens now.
    #[inline(always)]
    pub fn record(&mut self, event: Key) -> Event {
        let id = self.next;
        self.lines[(id % Self::LENGTH) as usize] = (event.line.scheduled.secs(), event.line.origin);
        // Numbers start again long before they could be taken for ROOT.
        self.next = (id + 1) & (ROOT >> 1);
        Event {
            time: event.time,
            id,
        }
    }

    #[inline]
    fn get(&self, id: u32) -> Option<Line> {
        let age = self.next.wrapping_sub(id) & (ROOT >> 1);
        (id != ROOT && age <= Self::LENGTH).then(|| {
            let (scheduled_secs, origin) = self.lines[(id % Self::LENGTH) as usize];
            Line {
                scheduled: Instant::from_secs(scheduled_secs),
                origin,
            }
        })
    }

    /// The order of two events at the same time, if anything tells them apart.
    #[cold]
    #[inline(never)]
    fn order(&self, mut left: Line, mut right: Line) -> Option<Ordering> {
        let mut generations = 0;
        let asked = Memo::question(left, right);
        let order = loop {
            if left.scheduled != right.scheduled {
                break left.scheduled.partial_cmp(&right.scheduled);
            }
            // Children of one parent: the halves of `origin` that name the parent agree.
            if left.parent() == right.parent() {
                break Some(left.origin.cmp(&right.origin)).filter(|order| order.is_ne());
            }
            // What was laid down before the run was scheduled before what the run schedules at its first instant.
            if left.parent() == ROOT || right.parent() == ROOT {
                break Some((right.parent() == ROOT).cmp(&(left.parent() == ROOT)));
            }
            if generations >= Memo::WORTHWHILE {
                let question = Memo::question(left, right);
                let memo = self.memos[question.place()].get();
                if memo.is_of(&question) {
                    break memo.order;
                }
            }
            let (Some(of_left), Some(of_right)) =
                (self.get(left.parent()), self.get(right.parent()))
            else {
                break None;
            };
            if of_left == of_right {
                // An event that was recorded twice is still one event.
                let child = |line: Line| line.origin << 32;
                break Some(child(left).cmp(&child(right))).filter(|order| order.is_ne());
            }
            (left, right) = (of_left, of_right);
            generations += 1;
        };
        if generations > Memo::WORTHWHILE {
            self.memos[asked.place()].set(Memo { order, ..asked });
        }
        order
    }
}

/// The order of two events that took many generations to find. Flows that keep step meet again a round trip later, and then their
/// ancestors are compared again; so do flows whose lines of ancestors are too long to tell them apart.
#[derive(Clone, Copy, Debug)]
struct Memo {
    scheduled: Instant,
    parents: (u32, u32),
    order: Option<Ordering>,
}

impl Memo {
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

impl Default for Lineage {
    fn default() -> Self {
        Self::new()
    }
}

/// Pending events, one or none for each of a fixed number of slots: a tournament tree.
///
/// Replacing a slot's event replays its matches. The opponents on the way to the root are known beforehand, so this is a few
/// independent loads, whatever wins.
#[derive(Debug)]
pub struct EventQueue {
    /// The key of each slot's event.
    keys: Vec<Key>,
    /// `matches[m]` are the winners of `matches[2 m]` and `matches[2 m + 1]`, and in the last round the slots themselves; that of
    /// `matches[1]`, which is the final, is `matches[0][1]`.
    matches: Vec<[Player; 2]>,
}

/// A slot and the time of its event, as bits: times are not negative, so their bit patterns are in their order.
#[derive(Clone, Copy, Debug)]
struct Player {
    time: u64,
    slot: u32,
}

impl EventQueue {
    /// A queue of `slots` empty slots. At equal keys the lower slot goes first.
    pub fn new(slots: usize) -> Self {
        let leaves = slots.next_power_of_two();
        let absent = Player {
            time: f64::INFINITY.to_bits(),
            slot: 0,
        };
        Self {
            // Also without slots there is one to look at.
            keys: vec![Key::NEVER; slots.max(1)],
            matches: vec![[absent; 2]; leaves],
        }
    }

    /// Makes room for so many slots.
    pub fn grow(&mut self, slots: usize, lineage: &Lineage) {
        if slots <= self.keys.len() {
            return;
        }
        self.keys.resize(slots, Key::NEVER);
        if slots <= self.matches.len() {
            return;
        }
        let larger = Self::new(slots.next_power_of_two());
        let keys = std::mem::take(&mut self.keys);
        self.matches = larger.matches;
        self.keys = larger.keys;
        self.keys.truncate(slots);
        for (slot, key) in (0..).zip(keys) {
            if !key.is_never() {
                self.set(slot, key, lineage);
            }
        }
    }

    /// The slot whose event comes first; any slot if nothing is pending.
    #[inline]
    pub fn first(&self) -> u32 {
        self.matches[0][1].slot
    }

    /// The time of the first event, [`Instant::NEVER`] if there is none.
    #[inline]
    pub fn first_time(&self) -> Instant {
        Instant::from_secs(f64::from_bits(self.matches[0][1].time))
    }

    /// The event of `slot`, [`Key::NEVER`] if none is pending.
    #[inline]
    pub fn get(&self, slot: u32) -> Key {
        self.keys[slot as usize]
    }

    /// Replaces the event of `slot`; [`Key::NEVER`] removes it.
    #[inline(always)]
    pub fn set(&mut self, slot: u32, key: Key, lineage: &Lineage) {
        self.keys[slot as usize] = key;
        self.replay(
            Player {
                time: key.time.secs().to_bits(),
                slot,
            },
            lineage,
        );
    }

    /// Replaces the event of `slot` by one that comes before it; one that does not is left out.
    #[inline]
    pub fn bring_forward(&mut self, slot: u32, key: Key, lineage: &Lineage) {
        let before = self.keys[slot as usize].time;
        if key.time < before || key.time == before && self.precedes_at_once(slot, key, lineage) {
            self.set(slot, key, lineage);
        }
    }

    #[cold]
    #[inline(never)]
    fn precedes_at_once(&self, slot: u32, key: Key, lineage: &Lineage) -> bool {
        key.precedes(&self.keys[slot as usize], lineage, false)
    }

    fn replay(&mut self, mut winner: Player, lineage: &Lineage) {
        let mut node = self.matches.len() + winner.slot as usize;
        while node > 1 {
            let pair = &mut self.matches[node / 2];
            pair[node % 2] = winner;
            let opponent = pair[1 - node % 2];
            let wins = if opponent.time == winner.time {
                self.wins_tie(opponent, winner, lineage)
            } else {
                opponent.time < winner.time
            };
            winner = Player {
                time: select_unpredictable(wins, opponent.time, winner.time),
                slot: select_unpredictable(wins, opponent.slot, winner.slot),
            };
            node /= 2;
        }
        self.matches[0][1] = winner;
    }

    #[cold]
    #[inline(never)]
    fn wins_tie(&self, opponent: Player, winner: Player, lineage: &Lineage) -> bool {
        let key = |player: Player| self.keys[player.slot as usize];
        opponent.time < f64::INFINITY.to_bits()
            && key(opponent).precedes(&key(winner), lineage, opponent.slot < winner.slot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::{at, secs};
    use proptest::prelude::*;

    fn first_at(secs: f64) -> Key {
        Key::at_start(at(secs), 0)
    }

    #[test]
    fn an_empty_queue_has_no_first_event() {
        for slots in 0..4 {
            assert!(EventQueue::new(slots).first_time() == Instant::NEVER);
        }
    }

    #[test]
    fn equal_times_are_ordered_by_the_first_difference_between_ancestors() {
        let mut lineage = Lineage::new();
        // Two links that started one after the other at one time and have kept step for three generations.
        let mut lines = [Key::at_start(at(1.0), 1), Key::at_start(at(1.0), 0)];
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
            let mut pending: Vec<(Key, History)> = (0u32..)
                .take(streams)
                .map(|stream| (Key::at_start(at(1.0), stream), vec![(Instant::START, stream, usize::MAX)]))
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
        let (first, start) = (Key::at_start(at(0.0), 0), Key::at_start(at(1.0), 1));
        let timer = lineage.record(first).schedule(at(1.0), Child::Timer);
        assert!(start.precedes(&timer, &lineage, false));
        assert!(!timer.precedes(&start, &lineage, true));
    }

    #[test]
    fn lines_that_are_too_long_are_walked_once() {
        let mut lineage = Lineage::new();
        let mut lines = [Key::at_start(at(0.0), 0), Key::at_start(at(0.0), 1)];
        for generation in 1..=Lineage::LENGTH {
            let now = at(f64::from(generation));
            lines = lines.map(|key| lineage.record(key).schedule(now, Child::Timer));
        }
        // Both orders are open: the caller decides.
        assert!(lines[1].precedes(&lines[0], &lineage, true));
        assert!(!lines[1].precedes(&lines[0], &lineage, false));
        let asked = Memo::question(lines[1].line, lines[0].line);
        let memo = lineage.memos[asked.place()].get();
        assert!(memo.is_of(&asked) && memo.order.is_none());
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

    proptest! {
        #[test]
        fn the_first_event_is_the_minimum_over_all_slots(
            slots in 1u32..40,
            moves in prop::collection::vec((0u32..40, prop::option::of((0u32..50, 0u32..4))), 1..200),
        ) {
            let lineage = Lineage::new();
            let mut queue = EventQueue::new(slots as usize);
            let mut model = vec![None; slots as usize];
            for (slot, event) in moves {
                let slot = slot % slots;
                let key = event.map_or(Key::NEVER, |(time, order)| Key::at_start(at(f64::from(time)), order));
                queue.set(slot, key, &lineage);
                model[slot as usize] = event;
                let expected = (0..slots)
                    .filter_map(|slot| model[slot as usize].map(|event| (event, slot)))
                    .min();
                if let Some(((time, _), slot)) = expected {
                    prop_assert_eq!(queue.first(), slot);
                    prop_assert_eq!(queue.first_time(), at(f64::from(time)));
                    prop_assert_eq!(queue.get(slot).time, at(f64::from(time)));
                } else {
                    prop_assert!(queue.first_time() == Instant::NEVER);
                }
            }
        }
    }
}
