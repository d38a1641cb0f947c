//! Finds the place of a flow that has arrived by its number.

/// The places of flows by their numbers: open addressing, at most half full.
#[derive(Debug, Default)]
pub(super) struct Directory {
    entries: Vec<(u32, u32)>,
    count: usize,
}

/// No flow has this number.
const NOBODY: u32 = u32::MAX;

impl Directory {
    #[inline]
    fn home(&self, id: u32) -> usize {
        // Numbers are given out in turn, so their low bits are as good as any hash.
        id as usize & (self.entries.len() - 1)
    }

    #[inline]
    pub(super) fn get(&self, id: u32) -> Option<u32> {
        let mask = self.entries.len().checked_sub(1)?;
        let mut at = self.home(id);
        loop {
            match self.entries[at] {
                (found, place) if found == id => return Some(place),
                (NOBODY, _) => return None,
                _ => at = (at + 1) & mask,
            }
        }
    }

    pub(super) fn insert(&mut self, id: u32, place: u32) {
        self.count += 1;
        if 2 * self.count > self.entries.len() {
            let larger = vec![(NOBODY, 0); (4 * self.count).next_power_of_two()];
            for (id, place) in std::mem::replace(&mut self.entries, larger) {
                if id != NOBODY {
                    self.put(id, place);
                }
            }
        }
        self.put(id, place);
    }

    fn put(&mut self, id: u32, place: u32) {
        let mask = self.entries.len() - 1;
        let mut at = self.home(id);
        while self.entries[at].0 != NOBODY {
            at = (at + 1) & mask;
        }
        self.entries[at] = (id, place);
    }

    pub(super) fn remove(&mut self, id: u32) {
        let mask = self.entries.len() - 1;
        let mut hole = self.home(id);
        while self.entries[hole].0 != id {
            hole = (hole + 1) & mask;
        }
        // Those behind it that belong at the hole or before move up (Knuth, vol. 3, 6.4, algorithm R).
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let (next, _) = self.entries[at];
            if next == NOBODY {
                break;
            }
            let way = at.wrapping_sub(self.home(next)) & mask;
            if way >= (at.wrapping_sub(hole) & mask) {
                self.entries[hole] = self.entries[at];
                hole = at;
            }
        }
        self.entries[hole] = (NOBODY, 0);
        self.count -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn a_directory_is_a_map(steps in prop::collection::vec((0u32..60, any::<bool>()), 0..300)) {
            let (mut directory, mut model) = (Directory::default(), BTreeMap::new());
            for (at, (id, comes)) in (0u32..).zip(steps) {
                if comes && !model.contains_key(&id) {
                    directory.insert(id, at);
                    model.insert(id, at);
                } else if !comes && model.remove(&id).is_some() {
                    directory.remove(id);
                }
                for id in 0..60 {
                    prop_assert_eq!(directory.get(id), model.get(&id).copied());
                }
                prop_assert_eq!(directory.count, model.len());
            }
        }
    }
}
