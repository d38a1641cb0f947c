//! Which flow's packets cross a hop, and whether they are acknowledgements: by this a ledger attributes what it records.

/// Whose packets are on a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// The number of the flow, or of the entry of many.
    pub flow: u32,
    /// Whether they are acknowledgements.
    pub acks: bool,
}
