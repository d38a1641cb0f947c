//! The order of events, and the structure that finds the next one.
//!
//! **Order.** Events at equal times happen in the order in which they were scheduled (FIFO), as in ns-2. That order is
//! a property of the events, not of the moment at which this program learns of them: of two events at one instant, the one whose
//! parent (the event that scheduled it) happened first goes first; of two children of one parent, the one scheduled first. So a
//! [`Key`] carries an event's time, its parent's time, and a reference to its parent's own key in the [`Lineage`], and a tie is
//! broken by walking up the two lines of ancestors until they differ. Because the order is in the key, an event may be computed
//! early, late or not at all (see `link` and `sim`) without changing any order. Links of one rate keep step for long, so ties that
//! are decided many generations up are common, and decide which of two packets a full queue drops.
//!
//! **Structure.** Each component that can have a pending event owns one slot of a tournament tree; its key is replaced
//! in place and nothing is ever cancelled. The tree holds O(links + flows) slots and stays in cache.

use std::cmp::Ordering;

/// When an event happens, and its place among events at the same instant. Times are seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// When it happens.
    pub time: f64,
    /// When it was scheduled: the time of its parent.
    pub scheduled: f64,
    /// Its parent's entry in the lineage.
    parent: u32,
    /// Its place among its parent's children.
    child: u32,
}

/// Which child of its parent an event is: the order in which a transmission schedules its consequences.
#[derive(Clone, Copy, Debug)]
pub enum Child {
    /// The packet reaches the far end.
    Arrival = 0,
    /// The transmitter is free again.
    Done = 1,
    Timer = 2,
}

/// No entry: laid down before the run, or a timer, whose arming is ordered by its time alone.
const ROOT: u32 = u32::MAX;

impl Key {
    /// Later than every event.
    pub const NEVER: Self = Self {
        time: f64::INFINITY,
        scheduled: f64::INFINITY,
        parent: ROOT,
        child: u32::MAX,
    };

    /// An event laid down before the run began.
    pub const fn at_start(time: f64) -> Self {
        Self {
            time,
            scheduled: 0.0,
            parent: ROOT,
            child: 0,
        }
    }

    /// The key of a timer that this event arms for `time`.
    #[inline]
    #[must_use]
    pub fn timer(&self, time: f64) -> Self {
        Self {
            time,
            scheduled: self.time,
            parent: ROOT,
            child: Child::Timer as u32,
        }
    }

    /// Whether this event happens before `other`; `ties` decides when nothing tells them apart.
    #[inline]
    pub fn precedes(&self, other: &Self, lineage: &Lineage, ties: bool) -> bool {
        if self.time != other.time {
            return self.time < other.time;
        }
        lineage.order(self, other).map_or(ties, Ordering::is_lt)
    }
}

/// The keys of past events, for as long as something may descend from them.
///
/// A ring: an entry lasts for [`Lineage::LENGTH`] further events. Lines of ancestors that are longer than that count as equal.
#[derive(Debug)]
pub struct Lineage {
    entries: Box<[Entry]>,
    next: u32,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    scheduled: f64,
    parent: u32,
    child: u32,
}

impl Lineage {
    /// Entries kept; a power of two.
    const LENGTH: u32 = 1 << 16;

    pub fn new() -> Self {
        let empty = Entry {
            scheduled: 0.0,
            parent: ROOT,
            child: 0,
        };
        Self {
            entries: vec![empty; Self::LENGTH as usize].into_boxed_slice(),
            next: 0,
        }
    }

    /// Records `event` as a parent; its children are made of the result.
    #[inline]
    pub fn parent(&mut self, event: &Key) -> Parent {
        let id = self.next;
        self.entries[(id % Self::LENGTH) as usize] = Entry {
            scheduled: event.scheduled,
            parent: event.parent,
            child: event.child,
        };
        self.next = id.wrapping_add(1);
        if self.next == ROOT {
            self.next = 0;
        }
        Parent {
            time: event.time,
            id,
        }
    }

    #[inline]
    fn get(&self, id: u32) -> Option<Entry> {
        let age = self.next.wrapping_sub(id);
        (id != ROOT && age <= Self::LENGTH).then(|| self.entries[(id % Self::LENGTH) as usize])
    }

    /// The order of two events at the same time, if anything tells them apart.
    #[cold]
    #[inline(never)]
    fn order(&self, left: &Key, right: &Key) -> Option<Ordering> {
        let entry = |key: &Key| Entry {
            scheduled: key.scheduled,
            parent: key.parent,
            child: key.child,
        };
        let (mut left, mut right) = (entry(left), entry(right));
        loop {
            if left.scheduled != right.scheduled {
                return left.scheduled.partial_cmp(&right.scheduled);
            }
            if left.parent == right.parent {
                return if left.child == right.child {
                    None
                } else {
                    Some(left.child.cmp(&right.child))
                };
            }
            (left, right) = (self.get(left.parent)?, self.get(right.parent)?);
        }
    }
}

impl Default for Lineage {
    fn default() -> Self {
        Self::new()
    }
}

/// An event that has been recorded, to make its children of.
#[derive(Clone, Copy, Debug)]
pub struct Parent {
    time: f64,
    id: u32,
}

impl Parent {
    /// The key of the event that this one schedules for `time`.
    #[inline]
    pub fn child(self, time: f64, child: Child) -> Key {
        Key {
            time,
            scheduled: self.time,
            parent: self.id,
            child: child as u32,
        }
    }
}

/// A tournament tree over a fixed number of slots, each holding at most one pending event.
#[derive(Debug)]
pub struct EventQueue {
    /// Leaves, padded with `NEVER` to a power of two.
    keys: Vec<Key>,
    /// `winner[n]` is the slot with the earliest key below inner node `n`; the root is 1.
    winner: Vec<u32>,
    leaves: usize,
}

impl EventQueue {
    /// A queue of `slots` empty slots. At equal keys the lower slot goes first.
    pub fn new(slots: usize) -> Self {
        let leaves = slots.next_power_of_two().max(2);
        let mut winner = vec![0; leaves];
        for node in (1..leaves).rev() {
            winner[node] = if 2 * node >= leaves {
                u32::try_from(2 * node - leaves).expect("fewer than 2^32 slots")
            } else {
                winner[2 * node]
            };
        }
        Self {
            keys: vec![Key::NEVER; leaves],
            winner,
            leaves,
        }
    }

    /// The slot whose event comes first, if any is pending.
    #[inline]
    pub fn first(&self) -> Option<(usize, Key)> {
        let slot = self.winner[1] as usize;
        let key = self.keys[slot];
        (key.time < f64::INFINITY).then_some((slot, key))
    }

    /// The pending event of `slot` ([`Key::NEVER`] if none).
    #[inline]
    pub fn get(&self, slot: usize) -> Key {
        self.keys[slot]
    }

    /// Replaces the event of `slot`; [`Key::NEVER`] empties it.
    #[inline]
    pub fn set(&mut self, slot: usize, key: Key, lineage: &Lineage) {
        self.keys[slot] = key;
        let mut node = usize::midpoint(slot, self.leaves);
        // The first inner node compares two leaves, the others two winners.
        let (left, right) = (slot & !1, slot | 1);
        self.winner[node] = self.earlier(left, right, lineage);
        while node > 1 {
            node /= 2;
            let (left, right) = (
                self.winner[2 * node] as usize,
                self.winner[2 * node + 1] as usize,
            );
            self.winner[node] = self.earlier(left, right, lineage);
        }
    }

    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "fewer than 2^32 slots, checked in new"
    )]
    fn earlier(&self, left: usize, right: usize, lineage: &Lineage) -> u32 {
        // Slots of the left subtree have lower numbers, so a full tie goes left.
        if self.keys[right].precedes(&self.keys[left], lineage, false) {
            right as u32
        } else {
            left as u32
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(time: f64) -> Key {
        Key::at_start(time)
    }

    #[test]
    fn an_empty_queue_has_no_first_event() {
        assert_eq!(EventQueue::new(3).first(), None);
    }

    #[test]
    fn equal_times_are_ordered_by_the_first_difference_between_ancestors() {
        let mut lineage = Lineage::new();
        // Two links that started at different times and have kept step for three generations.
        let mut lines = [Key::at_start(1.0), Key::at_start(1.0).timer(1.0)].map(|start| start);
        lines[0].scheduled = 0.7;
        lines[1].scheduled = 0.6;
        for generation in 1..=3 {
            lines = lines.map(|key| {
                lineage
                    .parent(&key)
                    .child(1.0 + f64::from(generation), Child::Done)
            });
        }
        assert!(lines[1].precedes(&lines[0], &lineage, false));
        assert!(!lines[0].precedes(&lines[1], &lineage, true));
    }

    #[test]
    fn of_two_children_the_one_scheduled_first_goes_first() {
        let mut lineage = Lineage::new();
        let parent = lineage.parent(&at(1.0));
        let (arrival, done) = (
            parent.child(2.0, Child::Arrival),
            parent.child(2.0, Child::Done),
        );
        assert!(arrival.precedes(&done, &lineage, false));
        assert!(!done.precedes(&arrival, &lineage, true));
    }

    proptest! {
        #[test]
        fn the_first_event_is_the_minimum_over_all_slots(
            slots in 1usize..40,
            moves in prop::collection::vec((0usize..40, 0u32..50), 1..200),
        ) {
            let lineage = Lineage::new();
            let mut queue = EventQueue::new(slots);
            let mut model = vec![f64::INFINITY; slots];
            for (slot, time) in moves {
                let slot = slot % slots;
                let key = if time == 0 { Key::NEVER } else { at(f64::from(time)) };
                queue.set(slot, key, &lineage);
                model[slot] = key.time;
                let expected = model
                    .iter()
                    .enumerate()
                    .filter(|(_, time)| time.is_finite())
                    .min_by(|a, b| a.1.total_cmp(b.1))
                    .map(|(slot, _)| slot);
                prop_assert_eq!(queue.first().map(|(slot, _)| slot), expected);
            }
        }
    }
}
