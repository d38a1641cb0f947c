//! Packets that wait first in, first out: what most disciplines keep, some of them one per flow.

use std::collections::VecDeque;

use super::{Backlog, Queued};

/// Waiting packets, oldest first. It decides nothing.
#[derive(Clone, Debug, Default)]
pub struct Fifo {
    packets: VecDeque<Queued>,
    bytes: u64,
}

impl Fifo {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn push(&mut self, packet: Queued) {
        self.bytes += packet.bytes();
        self.packets.push_back(packet);
    }

    /// Takes the oldest packet.
    pub fn pop(&mut self) -> Option<Queued> {
        let packet = self.packets.pop_front()?;
        self.bytes -= packet.bytes();
        Some(packet)
    }

    /// Takes the youngest packet.
    pub fn pop_back(&mut self) -> Option<Queued> {
        let packet = self.packets.pop_back()?;
        self.bytes -= packet.bytes();
        Some(packet)
    }

    /// The oldest packet.
    pub fn front(&self) -> Option<&Queued> {
        self.packets.front()
    }

    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    pub fn waiting(&self) -> Backlog {
        Backlog {
            packets: self.packets.len() as u64,
            bytes: self.bytes,
        }
    }
}
