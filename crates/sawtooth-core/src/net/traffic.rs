//! Which flow's packets cross a hop, and whether they are acknowledgements: by this a ledger attributes what it records. And what a port tells it of a packet whose transmission starts.

use crate::units::Instant;

/// Whose packets are on a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// The number of the flow, or of the entry of many.
    pub flow: u32,
    /// Whether they are acknowledgements.
    pub acks: bool,
}

/// A transmission that starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct TransmissionStart {
    /// When the packet had come.
    pub arrived: Instant,
    pub at: Instant,
    /// When its last bit leaves.
    pub sent: Instant,
    /// By the queue.
    pub marked: bool,
    /// By the wire.
    pub lost: bool,
}
