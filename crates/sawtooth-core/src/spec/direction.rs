//! Which way packets cross the links of a path, and by which of their ports.

/// The way of a flow's data. Acknowledgements go the other way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Direction {
    /// Over the links in the order of the path, each from its near end to its far one.
    #[default]
    Forward,
    /// From the last link to the first, each from its far end to its near one: against the others.
    Reverse,
}

impl Direction {
    /// The other one.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Forward => Self::Reverse,
            Self::Reverse => Self::Forward,
        }
    }

    /// The port by which packets cross a link: every link has two, the forward one first.
    #[inline]
    pub fn port(self, link: usize) -> usize {
        match self {
            Self::Forward => 2 * link,
            Self::Reverse => 2 * link + 1,
        }
    }

    /// The ports by which packets cross a path, in their order.
    pub fn ports(self, path: &[usize]) -> impl Iterator<Item = usize> {
        (0..path.len()).filter_map(move |hop| self.port_at(path, hop))
    }

    /// The same, one after the other: two loops take less time than one that asks for each which way it goes.
    #[inline]
    pub(crate) fn cross(self, path: &[usize], mut take: impl FnMut(usize)) {
        match self {
            Self::Forward => path.iter().for_each(|link| take(2 * link)),
            Self::Reverse => path.iter().rev().for_each(|link| take(2 * link + 1)),
        }
    }

    /// The port by which they cross the link that is so far on their way, unless they are over all.
    #[inline]
    pub fn port_at(self, path: &[usize], hop: usize) -> Option<usize> {
        let link = match self {
            Self::Forward => path.get(hop),
            Self::Reverse => path.iter().rev().nth(hop),
        };
        link.map(|link| self.port(*link))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_back_crosses_the_other_ports_in_opposite_order() {
        let path = [4, 0, 7];
        let there: Vec<usize> = Direction::Forward.ports(&path).collect();
        let back: Vec<usize> = Direction::Reverse.ports(&path).collect();
        assert_eq!(there, [8, 0, 14]);
        assert_eq!(back, [15, 1, 9]);
        for direction in [Direction::Forward, Direction::Reverse] {
            let mut crossed = Vec::new();
            direction.cross(&path, |port| crossed.push(port));
            assert!(direction.ports(&path).eq(crossed));
        }
        assert_eq!(Direction::Reverse.port_at(&path, 2), Some(9));
        assert_eq!(Direction::Reverse.port_at(&path, 3), None);
        assert_eq!(Direction::Forward.opposite(), Direction::Reverse);
    }
}
