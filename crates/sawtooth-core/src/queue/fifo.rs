//! Packets that wait first in, first out: what most disciplines keep, some of them one per flow.

use std::collections::VecDeque;

use super::{Backlog, QueuedPacket};
use crate::units::ByteCount;

/// Waiting packets, oldest first. It decides nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fifo {
    packets: VecDeque<QueuedPacket>,
    bytes: ByteCount,
}

impl Fifo {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    pub(crate) fn push(&mut self, packet: QueuedPacket) {
        self.bytes += packet.size();
        self.packets.push_back(packet);
    }

    /// Takes the oldest packet.
    pub(crate) fn pop(&mut self) -> Option<QueuedPacket> {
        let packet = self.packets.pop_front()?;
        self.bytes -= packet.size();
        Some(packet)
    }

    /// Takes the youngest packet.
    pub(crate) fn pop_back(&mut self) -> Option<QueuedPacket> {
        let packet = self.packets.pop_back()?;
        self.bytes -= packet.size();
        Some(packet)
    }

    /// The oldest packet.
    pub(crate) fn front(&self) -> Option<&QueuedPacket> {
        self.packets.front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub(crate) fn waiting(&self) -> Backlog {
        Backlog {
            packets: self.packets.len() as u64,
            bytes: self.bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::testing::packet;

    #[test]
    fn what_waits_is_what_came_and_has_not_left_at_either_end() {
        let mut fifo = Fifo::new();
        assert!(fifo.is_empty() && fifo.front().is_none());
        for (number, bytes) in [(1, 100), (2, 20), (3, 3)] {
            fifo.push(packet(number, bytes, Ecn::NotEct, 0.0));
        }
        let waiting = |fifo: &Fifo| (fifo.waiting().packets, fifo.waiting().bytes.get());
        assert_eq!(waiting(&fifo), (3, 123));
        assert_eq!(fifo.pop_back().map(|packet| packet.size().get()), Some(3));
        assert_eq!(waiting(&fifo), (2, 120));
        assert_eq!(
            fifo.front().map(QueuedPacket::size),
            Some(ByteCount::new(100))
        );
        assert_eq!(fifo.pop().map(|packet| packet.size().get()), Some(100));
        assert_eq!(waiting(&fifo), (1, 20));
        assert_eq!(fifo.pop_back().map(|packet| packet.size().get()), Some(20));
        assert_eq!(waiting(&fifo), (0, 0));
        assert!(fifo.is_empty() && fifo.pop().is_none() && fifo.pop_back().is_none());
    }
}
