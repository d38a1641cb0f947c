//! The structure that finds the next event.
//!
//! Each component that can have a pending event owns one slot of a tournament tree; its key is replaced in
//! place and nothing is ever cancelled. The tree holds O(links + flows) slots and stays in cache.

use super::{EventKey, Lineage};
use crate::units::Instant;
use std::hint::select_unpredictable;

/// Pending events, one or none for each of a fixed number of slots: a tournament tree.
///
/// Replacing a slot's event replays its matches. The opponents on the way to the root are known beforehand, so this is a few
/// independent loads, whatever wins.
#[derive(Debug)]
pub struct EventQueue {
    /// The key of each slot's event.
    keys: Vec<EventKey>,
    /// `matches[m]` are the winners of `matches[2 m]` and `matches[2 m + 1]`, and in the last round the slots themselves; that of
    /// `matches[1]`, which is the final, is `matches[0][1]`. There are as many as slots, and so no more rounds than these take: where they are no power of two, some play one less.
    matches: Vec<[Player; 2]>,
}

/// A slot and the time of its event, as bits: times are not negative, so their bit patterns are in their order.
#[derive(Clone, Copy, Debug)]
struct Player {
    time: u64,
    slot: u32,
}

impl EventQueue {
    /// Slots among which the same one is often the next.
    const FEW: usize = 4;

    /// A queue of `slots` empty slots. At equal keys the lower slot goes first.
    pub fn new(slots: usize) -> Self {
        // Also without slots there is one to look at.
        let slots = slots.max(1);
        let absent = Player {
            time: f64::INFINITY.to_bits(),
            slot: 0,
        };
        Self {
            keys: vec![EventKey::NEVER; slots],
            matches: vec![[absent; 2]; slots],
        }
    }

    /// Makes room for so many slots.
    pub fn grow(&mut self, slots: usize, lineage: &Lineage) {
        if slots <= self.keys.len() {
            return;
        }
        self.keys.resize(slots, EventKey::NEVER);
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

    /// The event of `slot`, [`EventKey::NEVER`] if none is pending.
    #[inline]
    pub fn get(&self, slot: u32) -> EventKey {
        self.keys[slot as usize]
    }

    /// Replaces the event of `slot`; [`EventKey::NEVER`] removes it.
    #[inline(always)]
    pub fn set(&mut self, slot: u32, key: EventKey, lineage: &Lineage) {
        self.keys[slot as usize] = key;
        self.replay(
            Player {
                time: key.time.secs().to_bits(),
                slot,
            },
            lineage,
        );
    }

    /// The time of the first event of another slot than this one, whose event is the first; unknown among many slots, where it is not worth while to look for it: others are
    /// mostly next.
    #[inline(always)]
    pub fn first_time_besides(&self, slot: u32) -> Option<Instant> {
        if self.matches.len() > Self::FEW {
            return None;
        }
        let mut node = self.matches.len() + slot as usize;
        let mut first = f64::INFINITY.to_bits();
        while node > 1 {
            let opponent = self.matches[node / 2][1 - node % 2];
            first = first.min(opponent.time);
            node /= 2;
        }
        Some(Instant::from_secs(f64::from_bits(first)))
    }

    /// Replaces the event of `slot` by one that comes before it; one that does not is left out. Whether it does.
    #[inline]
    pub fn bring_forward(&mut self, slot: u32, key: EventKey, lineage: &Lineage) -> bool {
        let before = self.keys[slot as usize].time;
        let comes_before =
            key.time < before || key.time == before && self.precedes_at_once(slot, key, lineage);
        if comes_before {
            self.set(slot, key, lineage);
        }
        comes_before
    }

    #[cold]
    #[inline(never)]
    fn precedes_at_once(&self, slot: u32, key: EventKey, lineage: &Lineage) -> bool {
        key.precedes(&self.keys[slot as usize], lineage, false)
    }

    #[inline]
    fn replay(&mut self, mut winner: Player, lineage: &Lineage) {
        let mut node = self.matches.len() + winner.slot as usize;
        while node > 1 {
            let pair = &mut self.matches[node / 2];
            pair[node % 2] = winner;
            let opponent = pair[1 - node % 2];
            if opponent.time == winner.time {
                return self.replay_from_tie(node, winner, lineage);
            }
            let wins = opponent.time < winner.time;
            winner = Player {
                time: select_unpredictable(wins, opponent.time, winner.time),
                slot: select_unpredictable(wins, opponent.slot, winner.slot),
            };
            node /= 2;
        }
        self.matches[0][1] = winner;
    }

    /// The same from a match on that times do not decide: apart, so that where they do the processor's comparison chooses the winner at once.
    #[cold]
    #[inline(never)]
    fn replay_from_tie(&mut self, mut node: usize, mut winner: Player, lineage: &Lineage) {
        while node > 1 {
            let pair = &mut self.matches[node / 2];
            pair[node % 2] = winner;
            let opponent = pair[1 - node % 2];
            let wins = if opponent.time == winner.time {
                self.wins_tie(opponent, winner, lineage)
            } else {
                opponent.time < winner.time
            };
            if wins {
                winner = opponent;
            }
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
    use crate::units::testing::at;
    use proptest::prelude::*;

    #[test]
    fn an_empty_queue_has_no_first_event() {
        for slots in 0..4 {
            assert!(EventQueue::new(slots).first_time() == Instant::NEVER);
        }
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
                let key = event.map_or(EventKey::NEVER, |(time, order)| EventKey::at_start(at(f64::from(time)), order));
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
