//! A flow of UDP.

use super::direction::Direction;
use super::part::Part;
use crate::packet_source::{self, PacketSource};
use crate::units::{Duration, Instant};

/// One flow of UDP: packets leave when its source says and cross links; nothing comes back.
#[derive(Clone, Debug, PartialEq)]
pub struct UdpSpec {
    /// By which the rows of records name it. Its random numbers depend on it too.
    pub name: String,
    /// Indices into the scenario's links.
    pub path: Vec<usize>,
    /// Which way its packets cross them.
    pub direction: Direction,
    /// A row of [`tables::PACKET_SOURCE`](crate::tables::PACKET_SOURCE).
    pub source: Part,
    /// When its source begins.
    pub start: Instant,
    /// Nothing leaves from then on; not after the run's end.
    pub stop: Instant,
    /// What its packets take from their host to the first link.
    pub delay: Duration,
}

impl UdpSpec {
    /// Packets from the start of the run until `stop`.
    pub fn new(name: impl Into<String>, path: Vec<usize>, source: Part, stop: Instant) -> Self {
        Self {
            name: name.into(),
            path,
            direction: Direction::Forward,
            source,
            start: Instant::default(),
            stop,
            delay: Duration::default(),
        }
    }

    /// How long it lasts.
    pub fn lifetime(&self) -> Duration {
        (self.stop - self.start).max(Duration::ZERO)
    }

    /// What sends its packets.
    pub(crate) fn source(&self, seed: u64) -> Box<dyn PacketSource> {
        let (name, params) = (self.source.name, &self.source.params);
        packet_source::build(name, params, seed, &self.name, self.lifetime())
    }
}
