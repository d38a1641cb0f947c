//! Whose packets cross a hop: by that a port that records more than counts knows the flow of each.

/// Whose packets are on a hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traffic {
    /// The number of the flow, or of the entry of many.
    pub flow: u32,
    /// Whether they are acknowledgements.
    pub acks: bool,
}
