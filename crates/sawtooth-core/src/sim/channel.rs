//! Packets on their way to a meeting point: a ring that is kept sorted where they come in order, or nearly so, and an event for each where they may not.

use std::collections::BTreeMap;

use crate::events::{EventKey, Lineage};
use crate::packet::Packet;
use crate::ring::RingBuffer;
use crate::units::Instant;

/// Packets on their way to one stop, sorted: from one component, or from several whose packets come nearly in order.
#[derive(Debug)]
pub(super) struct Channel {
    pub(super) slot: u32,
    /// Whether packets are loose events here, because they may come out of order or rings are switched off, and do not wait in the ring.
    pub(super) loose: bool,
    pub(super) packets: RingBuffer<(EventKey, Packet)>,
    /// The time of the last of them, if there are any.
    pub(super) latest: Instant,
}

impl Channel {
    pub(super) fn new(slot: u32, loose: bool) -> Self {
        Self {
            slot,
            loose,
            packets: RingBuffer::new((EventKey::NEVER, Packet::default())),
            latest: Instant::START,
        }
    }

    /// Whether the last packet that waits has the same event as another one at the same stop: segments of one sender that leave at once stay in their order.
    #[inline(always)]
    pub(super) fn ends_like(&self, packet: &Packet, key: &EventKey) -> bool {
        let last = self.packets.back();
        last.is_some_and(|(last, before)| last == key && before.hop == packet.hop)
    }
}

/// Which of two packets goes first if nothing tells their events apart: that of the lower rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct TieRank {
    /// The channel's slot.
    pub(super) slot: u32,
    /// The rank of the component that feeds it.
    pub(super) feeder: u32,
}

/// A packet with an event of its own, because it may come out of order, or because rings are switched off.
#[derive(Debug)]
pub(super) struct Loose {
    pub(super) key: EventKey,
    pub(super) tie_rank: TieRank,
    pub(super) packet: Packet,
}

/// Packets with events of their own: those of one time together, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct LooseEvents(BTreeMap<u64, Vec<Loose>>);

impl LooseEvents {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.values().map(Vec::len).sum()
    }

    pub(super) fn push(&mut self, loose: Loose) {
        // Times are not negative, so their bit patterns are in their order.
        self.0
            .entry(loose.key.time.secs().to_bits())
            .or_default()
            .push(loose);
    }

    /// Where the first event is within the first group, and that event.
    pub(super) fn first(&self, lineage: &Lineage) -> Option<(usize, &Loose)> {
        let (_, group) = self.0.first_key_value()?;
        let mut first = 0;
        for (at, loose) in group.iter().enumerate().skip(1) {
            let ties = loose.tie_rank < group[first].tie_rank;
            if loose.key.precedes(&group[first].key, lineage, ties) {
                first = at;
            }
        }
        Some((first, &group[first]))
    }

    pub(super) fn remove(&mut self, at: usize) -> Loose {
        let mut group = self.0.first_entry().expect("there is a first event");
        let loose = group.get_mut().remove(at);
        if group.get().is_empty() {
            group.remove();
        }
        loose
    }
}
