//! Queue disciplines: which packet waits, leaves, is marked or dropped. A queue knows no rate; its link does.
//!
//! To add one: one file in this folder, one `mod` line, one row of [`TABLE`].

mod drop_tail;

use std::fmt::Debug;

use crate::packet::Packet;
use crate::registry::{Entry, Params};
pub use drop_tail::{DropTail, Limit};

/// Constructor of a table row.
pub type New = fn(&Params) -> Box<dyn Queue>;

/// What occupies a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    pub packets: u64,
    pub bytes: u64,
}

/// Whether a packet was taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Accept,
    Drop,
}

/// A queueing discipline. The link keeps the packet in transmission; the queue keeps those that wait.
pub trait Queue: Debug + Send {
    /// Decides on an arriving packet, given what waits here and what its link is transmitting (`in_service`), and keeps it if accepted.
    fn enqueue(&mut self, packet: Packet, in_service: Backlog) -> Verdict;

    /// The next packet to transmit.
    fn dequeue(&mut self) -> Option<Packet>;

    /// What waits, without the packet in transmission.
    fn waiting(&self) -> Backlog;

    /// The limit, if this is a FIFO whose only decision is made at arrival and depends on the backlog alone: then the
    /// link may compute departures at arrival and needs no event for the end of a transmission.
    fn as_drop_tail(&self) -> Option<Limit> {
        None
    }
}

/// All queue disciplines.
pub const TABLE: &[Entry<New>] = &[drop_tail::ENTRY];
