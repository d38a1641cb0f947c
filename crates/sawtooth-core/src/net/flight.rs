//! A packet on its way through a [`Network`](super::Network), and when it arrives next.

use std::cmp::Ordering;
use std::fmt::Debug;

use crate::events::EventKey;
use crate::packet::Ecn;
use crate::units::{ByteCount, Instant, SeqNum};

/// A packet of a host, as far as a network has to know it.
pub trait Payload: Clone + Debug {
    /// Of the IP packet.
    fn size(&self) -> ByteCount;

    /// The ECN field of its IP header, as it is now: a queue marks only what is capable of it.
    fn ecn(&self) -> Ecn;

    /// A queue sets Congestion Experienced.
    fn mark(&mut self);

    /// A wire damages it.
    fn damage(&mut self);
}

/// Which host a packet is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Towards {
    /// The host that data go to: links are crossed in the order of the path, forward.
    Receiver,
    /// The host that acknowledgements go to: the path backwards, by the reverse directions.
    Sender,
}

/// When an event happens, and which of those that happen at one instant it is: the one that was scheduled at an earlier time, or else the one of which was heard first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct AgendaKey {
    /// The bits of its time: times are not negative, so bits are in the order of times.
    bits: u64,
    scheduled: u64,
    order: u64,
}

impl AgendaKey {
    pub(super) fn new(key: EventKey, order: u64) -> Self {
        Self {
            bits: key.time.secs().to_bits(),
            scheduled: in_order(key.scheduled()),
            order,
        }
    }

    /// Before everything else at the same time.
    pub(super) fn first(time: Instant) -> Self {
        Self {
            bits: time.secs().to_bits(),
            scheduled: 0,
            order: 0,
        }
    }

    pub(super) fn time(self) -> Instant {
        Instant::from_secs(f64::from_bits(self.bits))
    }
}

/// The bits of a time, which may be negative, in the order of times.
fn in_order(time: Instant) -> u64 {
    let bits = time.secs().to_bits();
    if bits >> 63 == 0 {
        bits | 1 << 63
    } else {
        !bits
    }
}

/// A packet on its way. Flights are in the order in which they are due.
#[derive(Clone, Debug)]
pub(super) struct PacketInFlight<P> {
    /// Its next event.
    pub due: AgendaKey,
    /// The same by where it descends from: a port computes departures that are no events of the agenda, and has to know which of them precede it.
    pub key: EventKey,
    /// The place of its route among those of the network.
    pub route: usize,
    /// Of which connection it is: its flow's number, or one of its own if it is one of many that arrive and leave.
    pub connection: u32,
    pub towards: Towards,
    /// Ports that it has left behind.
    pub hop: usize,
    /// Whether a wire has damaged it: a second time could make it right.
    pub damaged: bool,
    pub content: Content<P>,
}

/// What a packet is.
#[derive(Clone, Debug)]
pub enum Content<P> {
    /// Of a host.
    Host(P),
    /// Of UDP, made by the network.
    Datagram {
        /// Counts the packets of its flow.
        number: SeqNum,
        /// When it left.
        sent: Instant,
        /// Of the IP packet.
        size: ByteCount,
    },
}

impl<P: Payload> PacketInFlight<P> {
    /// A wire damages the packet; whether it was whole until then.
    pub(super) fn damage(&mut self) -> bool {
        let whole = !self.damaged;
        if whole && let Content::Host(packet) = &mut self.content {
            packet.damage();
        }
        self.damaged = true;
        whole
    }
}

impl<P: Payload> Content<P> {
    pub(super) fn size(&self) -> ByteCount {
        match self {
            Self::Host(packet) => packet.size(),
            Self::Datagram { size, .. } => *size,
        }
    }

    pub(super) fn ecn(&self) -> Ecn {
        match self {
            Self::Host(packet) => packet.ecn(),
            Self::Datagram { .. } => Ecn::NotEct,
        }
    }

    pub(super) fn mark(&mut self) {
        if let Self::Host(packet) = self {
            packet.mark();
        }
    }
}

impl<P> Content<P> {
    pub(super) fn is_of_host(&self) -> bool {
        matches!(self, Self::Host(_))
    }
}

impl<P> PartialEq for PacketInFlight<P> {
    fn eq(&self, other: &Self) -> bool {
        self.due == other.due
    }
}

impl<P> Eq for PacketInFlight<P> {}

impl<P> PartialOrd for PacketInFlight<P> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<P> Ord for PacketInFlight<P> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.due.cmp(&other.due)
    }
}

#[cfg(test)]
pub(super) mod testing {
    use super::super::Towards;
    use super::{AgendaKey, Content, PacketInFlight};
    use crate::events::EventKey;

    /// One that has not passed a port yet, identified by its connection.
    pub(crate) fn flight(
        connection: u32,
        key: EventKey,
        content: Content<()>,
    ) -> PacketInFlight<()> {
        PacketInFlight {
            key,
            due: AgendaKey::default(),
            route: 0,
            connection,
            towards: Towards::Receiver,
            hop: 0,
            damaged: false,
            content,
        }
    }
}
