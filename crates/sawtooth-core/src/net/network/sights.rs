//! What a network tells of packets: those of hosts that have come, and what is seen at ports and hosts that are watched.

use crate::net::{Passage, SeenContent, Towards};
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

/// What a packet does where that is watched.
#[derive(Clone, Copy, Debug)]
pub enum LinkEvent {
    /// One of UDP leaves its host.
    Leaves,
    /// The queue drops it.
    Dropped,
    /// Its transmission starts; what becomes of it is known then.
    Starts(Passage),
    /// It is at the far end.
    Arrives,
    /// One of UDP has reached its host, whole or damaged.
    Ends,
}

/// A packet, seen where that is [watched](super::Network::watch).
#[derive(Clone, Debug)]
pub struct LinkSight<P> {
    /// When.
    pub time: Instant,
    /// The port, by its place among [`Network::ports`](super::Network::ports); none at a host.
    pub port: Option<usize>,
    /// As it was [offered](super::Network::offer); flows of UDP are behind all others.
    pub flow: usize,
    /// What it does.
    pub event: LinkEvent,
    /// As it is there.
    pub content: SeenContent<P>,
    /// Whether a wire has damaged it.
    pub is_damaged: bool,
}
