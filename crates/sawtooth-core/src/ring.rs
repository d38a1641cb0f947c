//! A growing ring of small plain values: first in, first out.
//!
//! `VecDeque` does the same, but passes values through memory on their way in; written and read back in pieces of different
//! size, as here for every packet, that costs more than everything else a queue does.

/// First in, first out.
#[derive(Clone, Debug)]
pub(crate) struct RingBuffer<T> {
    /// A power of two.
    slots: Vec<T>,
    /// One less than there are slots.
    mask: usize,
    /// Positions count up for ever; where they lie in `slots` is their remainder.
    head: usize,
    tail: usize,
}

impl<T: Copy> RingBuffer<T> {
    /// An empty ring; `filler` occupies slots that are not in use.
    pub(crate) fn new(filler: T) -> Self {
        Self {
            slots: vec![filler; 4],
            mask: 3,
            head: 0,
            tail: 0,
        }
    }

    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.tail.wrapping_sub(self.head)
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.head == self.tail
    }

    /// Appends a value; it is written in place, piece by piece.
    #[inline(always)]
    pub(crate) fn push_slot(&mut self) -> &mut T {
        if self.len() > self.mask {
            self.grow();
        }
        let at = self.tail & self.mask;
        self.tail = self.tail.wrapping_add(1);
        &mut self.slots[at]
    }

    /// The oldest value.
    #[inline]
    pub(crate) fn front(&self) -> Option<&T> {
        (!self.is_empty()).then(|| &self.slots[self.head & self.mask])
    }

    /// The newest value.
    #[inline]
    pub(crate) fn back(&self) -> Option<&T> {
        (!self.is_empty()).then(|| &self.slots[self.tail.wrapping_sub(1) & self.mask])
    }

    /// The value that so many others came before.
    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<&T> {
        (at < self.len()).then(|| &self.slots[self.head.wrapping_add(at) & self.mask])
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn get_mut(&mut self, at: usize) -> Option<&mut T> {
        (at < self.len()).then(|| &mut self.slots[self.head.wrapping_add(at) & self.mask])
    }

    /// How many values there are of which a predicate is true, if it is true of the oldest ones and of no others.
    pub(crate) fn partition_point(&self, predicate: impl Fn(&T) -> bool) -> usize {
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = usize::midpoint(from, to);
            if self.get(middle).is_some_and(&predicate) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        from
    }

    /// Puts a value before the newest ones that it precedes, at most `most` of them; how many that are, or nothing if there are more.
    pub(crate) fn insert(
        &mut self,
        value: T,
        most: usize,
        precedes: impl Fn(&T) -> bool,
    ) -> Option<usize> {
        let mask = self.mask;
        let newest = (0..self.len()).map(|at| &self.slots[self.tail.wrapping_sub(at + 1) & mask]);
        let passed = newest
            .take(most + 1)
            .take_while(|other| precedes(other))
            .count();
        if passed > most {
            return None;
        }
        self.push_slot();
        let mask = self.mask;
        let mut at = self.tail.wrapping_sub(1);
        for _ in 0..passed {
            self.slots[at & mask] = self.slots[at.wrapping_sub(1) & mask];
            at = at.wrapping_sub(1);
        }
        self.slots[at & mask] = value;
        Some(passed)
    }

    /// Forgets the oldest value; there must be one.
    #[inline]
    pub(crate) fn pop(&mut self) {
        debug_assert!(!self.is_empty());
        self.head = self.head.wrapping_add(1);
    }

    /// Forgets the oldest values; there must be so many.
    #[inline]
    pub(crate) fn discard(&mut self, count: usize) {
        debug_assert!(count <= self.len());
        self.head = self.head.wrapping_add(count);
    }

    pub(crate) fn clear(&mut self) {
        self.head = self.tail;
    }

    /// All values, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        let mask = self.mask;
        (0..self.len()).map(move |at| &self.slots[self.head.wrapping_add(at) & mask])
    }

    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        // It is full: what is from the head on in memory came first.
        let (newer, older) = self.slots.split_at(self.head & self.mask);
        let mut slots = Vec::with_capacity(2 * self.slots.len());
        slots.extend_from_slice(older);
        slots.extend_from_slice(newer);
        self.head = 0;
        self.tail = slots.len();
        slots.resize(2 * self.tail, slots[0]);
        self.mask = slots.len() - 1;
        self.slots = slots;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_ring_is_a_queue(steps in prop::collection::vec(prop::option::weighted(0.6, 0u32..9), 0..200)) {
            let mut ring = RingBuffer::new(0);
            let mut model = VecDeque::new();
            for step in steps {
                if let Some(value) = step {
                    *ring.push_slot() = value;
                    model.push_back(value);
                } else if model.pop_front().is_some() {
                    ring.pop();
                }
                prop_assert_eq!(ring.front(), model.front());
                prop_assert_eq!(ring.back(), model.back());
                prop_assert_eq!(ring.len(), model.len());
                prop_assert!(ring.iter().eq(model.iter()));
            }
            ring.clear();
            prop_assert!(ring.is_empty());
        }

        #[test]
        fn what_is_inserted_stands_behind_the_last_that_it_does_not_precede(values in prop::collection::vec((0u32..9, 0u32..99), 0..40), most in 0usize..9) {
            let mut ring = RingBuffer::new((0, 0));
            let mut model: Vec<(u32, u32)> = Vec::new();
            for value in values {
                let later = model.iter().filter(|other| value.0 < other.0).count();
                let inserted = ring.insert(value, most, |other| value.0 < other.0);
                prop_assert_eq!(inserted, (later <= most).then_some(later));
                if inserted.is_some() {
                    model.insert(model.len() - later, value);
                }
                prop_assert!(ring.iter().eq(model.iter()));
            }
        }
    }
}
