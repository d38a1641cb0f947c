//! Queue disciplines: which packet waits, leaves, is marked or dropped. A queue knows no rate; its link does.
//!
//! To add one: one file in this folder, one `mod` line, one row of [`TABLE`].

mod drop_tail;
mod step;

use std::fmt::Debug;

use crate::packet::Packet;
use crate::registry::{Entry, Params};
pub use drop_tail::{Fifo, Limit};

/// Constructor of a table row.
pub type New = fn(&Params) -> Box<dyn Queue>;

/// What occupies a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    pub packets: u64,
    pub bytes: u64,
}

/// What a FIFO decides by that looks at nothing but its backlog, and only when a packet arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Law {
    pub limit: Limit,
    /// ECN-capable packets are marked that do not fit below this.
    pub mark_above: Option<Limit>,
}

impl Law {
    pub const fn drop_tail(limit: Limit) -> Self {
        Self {
            limit,
            mark_above: None,
        }
    }

    /// Whether an ECN-capable packet of `bytes` is marked that is taken in beside what is `present`.
    #[inline]
    pub fn marks(self, present: Backlog, bytes: u64) -> bool {
        self.mark_above
            .is_some_and(|above| above.admits(present, bytes) == Verdict::Drop)
    }
}

/// Whether a packet was taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accept,
    Drop,
}

/// A queueing discipline. The link keeps the packet in transmission; the queue keeps those that wait.
///
/// An ECN-capable packet may be marked ([`Packet::mark`]) instead of being dropped, when it arrives or when it leaves: the link counts
/// packets that leave marked and came otherwise.
pub trait Queue: Debug + Send {
    /// Decides on an arriving packet, given what waits here and what its link is transmitting (`in_service`), and keeps it if accepted.
    fn enqueue(&mut self, packet: Packet, in_service: Backlog) -> Verdict;

    /// The next packet to transmit.
    fn dequeue(&mut self) -> Option<Packet>;

    /// What waits, without the packet in transmission.
    fn waiting(&self) -> Backlog;

    /// Whether ECN-capable packets may be marked here.
    fn marks(&self) -> bool {
        self.as_fifo().is_some_and(|law| law.mark_above.is_some())
    }

    /// The law, if this is a FIFO whose decisions are made at arrival and depend on the backlog alone: then the
    /// link may compute departures at arrival and needs no event for the end of a transmission.
    fn as_fifo(&self) -> Option<Law> {
        None
    }
}

/// All queue disciplines.
pub const TABLE: &[Entry<New>] = &[drop_tail::ENTRY, step::ENTRY];
