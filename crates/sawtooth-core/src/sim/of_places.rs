//! Something of each place of the round trips of a run.

use super::routes::PathNode;

/// Of each place something, or nothing yet; found by the place's number among those of its kind.
#[derive(Debug)]
pub(super) struct OfPlaces<T>([Vec<Option<T>>; KINDS]);

const KINDS: usize = 11;

impl<T: Copy> OfPlaces<T> {
    pub(super) fn new() -> Self {
        Self([const { Vec::new() }; KINDS])
    }

    pub(super) fn get(&self, place: PathNode) -> Option<T> {
        let Numbered { kind, number } = Numbered::of(place);
        self.0[kind].get(number).copied().flatten()
    }

    /// What is known of a place, or else `new`.
    pub(super) fn entry(&mut self, place: PathNode, new: T) -> &mut T {
        let Numbered { kind, number } = Numbered::of(place);
        let of_kind = &mut self.0[kind];
        if of_kind.len() <= number {
            of_kind.resize(number + 1, None);
        }
        of_kind[number].get_or_insert(new)
    }
}

struct Numbered {
    kind: usize,
    number: usize,
}

impl Numbered {
    fn of(place: PathNode) -> Self {
        let (kind, number) = match place {
            PathNode::Port(number) => (0, number),
            PathNode::SlowPort(number) => (1, number),
            PathNode::Access(number) => (2, number),
            PathNode::Receiver(number) => (3, number),
            PathNode::Sender(number) => (4, number),
            PathNode::Host(number) => (5, number),
            PathNode::UdpReceiver(number) => (6, number),
            PathNode::Discard => (7, 0),
            PathNode::Receivers(number) => (8, number),
            PathNode::Senders(number) => (9, number),
            PathNode::SampledPort(number) => (10, number),
        };
        Self {
            kind,
            number: number as usize,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_place_has_its_own() {
        let mut of_places = OfPlaces::new();
        *of_places.entry(PathNode::Port(3), 1) += 1;
        *of_places.entry(PathNode::Port(3), 1) += 1;
        *of_places.entry(PathNode::Receiver(3), 7) += 1;
        assert_eq!(of_places.get(PathNode::Port(3)), Some(3));
        assert_eq!(of_places.get(PathNode::Receiver(3)), Some(8));
        assert_eq!(of_places.get(PathNode::Port(2)), None);
        assert_eq!(of_places.get(PathNode::Sender(3)), None);
    }
}
