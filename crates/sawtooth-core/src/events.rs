//! The order of events, and the structure that finds the next one.
//!
//! **Order.** Events at equal times happen in the order in which they were scheduled (FIFO), as in ns-2. That order is
//! written down as a *key* instead of being left to the moment of insertion: a key carries the event's time, the time
//! at which it was scheduled (its parent's time) and the time at which its parent was scheduled. Two events at one
//! instant are ordered by these; only events that agree in all three fall back on their kind and component. Because the
//! key is data, an event may be computed early, late or not at all (see `link` and `sim`) without changing any order.
//!
//! **Structure.** Each component that can have a pending event owns one slot of a tournament tree; its key is replaced
//! in place and nothing is ever cancelled. The tree holds O(links + flows) slots and stays in cache.

/// When an event happens, and its place among events at the same instant. Times are seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Key {
    /// When it happens.
    pub time: f64,
    /// When it was scheduled: the time of its parent event.
    pub scheduled: f64,
    /// When its parent was scheduled.
    pub parent_scheduled: f64,
}

impl Key {
    /// Later than every event.
    pub const NEVER: Self = Self { time: f64::INFINITY, scheduled: f64::INFINITY, parent_scheduled: f64::INFINITY };

    /// An event laid down before the run began.
    pub fn at_start(time: f64) -> Self {
        Self { time, scheduled: 0.0, parent_scheduled: 0.0 }
    }

    /// The key of an event that this one schedules for `time`.
    #[inline]
    pub fn child(&self, time: f64) -> Self {
        Self { time, scheduled: self.time, parent_scheduled: self.scheduled }
    }

    /// Whether this event happens before `other`; `ties` decides when the keys are equal.
    #[inline]
    pub fn precedes(&self, other: &Self, ties: bool) -> bool {
        if self.time != other.time {
            return self.time < other.time;
        }
        self.precedes_at_same_time(other, ties)
    }

    #[cold]
    #[inline(never)]
    fn precedes_at_same_time(&self, other: &Self, ties: bool) -> bool {
        if self.scheduled != other.scheduled {
            self.scheduled < other.scheduled
        } else if self.parent_scheduled != other.parent_scheduled {
            self.parent_scheduled < other.parent_scheduled
        } else {
            ties
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
        Self { keys: vec![Key::NEVER; leaves], winner, leaves }
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
    pub fn set(&mut self, slot: usize, key: Key) {
        self.keys[slot] = key;
        let mut node = usize::midpoint(slot, self.leaves);
        // The first inner node compares two leaves, the others two winners.
        let (left, right) = (slot & !1, slot | 1);
        self.winner[node] = self.earlier(left, right);
        while node > 1 {
            node /= 2;
            let (left, right) = (self.winner[2 * node] as usize, self.winner[2 * node + 1] as usize);
            self.winner[node] = self.earlier(left, right);
        }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^32 slots, checked in new")]
    fn earlier(&self, left: usize, right: usize) -> u32 {
        // Slots of the left subtree have lower numbers, so a full tie goes left.
        if self.keys[right].precedes(&self.keys[left], false) { right as u32 } else { left as u32 }
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
    fn equal_times_are_ordered_by_when_they_were_scheduled() {
        let mut queue = EventQueue::new(2);
        queue.set(0, Key { time: 1.0, scheduled: 0.5, parent_scheduled: 0.1 });
        queue.set(1, Key { time: 1.0, scheduled: 0.4, parent_scheduled: 0.3 });
        assert_eq!(queue.first().expect("two events").0, 1);
        queue.set(1, Key { time: 1.0, scheduled: 0.5, parent_scheduled: 0.1 });
        assert_eq!(queue.first().expect("two events").0, 0);
    }

    proptest! {
        #[test]
        fn the_first_event_is_the_minimum_over_all_slots(
            slots in 1usize..40,
            moves in prop::collection::vec((0usize..40, 0u32..50), 1..200),
        ) {
            let mut queue = EventQueue::new(slots);
            let mut model = vec![f64::INFINITY; slots];
            for (slot, time) in moves {
                let slot = slot % slots;
                let key = if time == 0 { Key::NEVER } else { at(f64::from(time)) };
                queue.set(slot, key);
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
