//! What a network tells of the packets of hosts: those that have come, and what is seen of them at ports that are watched.

use crate::net::{Passage, Towards};
use crate::units::Instant;

/// A packet that has reached its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeliveredPacket<P> {
    /// Which of its connection's hosts has it now.
    pub towards: Towards,
    /// As it was [offered](super::Network::offer).
    pub flow: usize,
    /// The same.
    pub connection: u32,
    /// As it was offered, but that it may have been marked or damaged on the way.
    pub packet: P,
}

/// What a packet of a host does at a port that is watched.
#[derive(Clone, Copy, Debug)]
pub enum LinkEvent {
    /// The queue drops it.
    Dropped,
    /// Its transmission starts; what becomes of it is known then.
    Starts(Passage),
    /// It is at the far end.
    Arrives,
}

/// A packet of a host, seen at a port that is [watched](super::Network::watch).
#[derive(Clone, Debug)]
pub struct LinkSight<P> {
    /// When.
    pub time: Instant,
    /// The port, by its place among [`Network::ports`](super::Network::ports).
    pub port: usize,
    /// As it was [offered](super::Network::offer).
    pub flow: usize,
    /// What it does.
    pub event: LinkEvent,
    /// As it is there.
    pub packet: P,
}
