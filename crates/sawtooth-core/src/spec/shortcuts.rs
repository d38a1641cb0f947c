//! Which shortcuts the simulator takes.

/// Switches of the simulator's shortcuts; results do not depend on them. What each spares stands at the head of the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "switches, any of which may be off"
)]
pub struct Shortcuts {
    /// Packets in propagation that come in order wait in a ring, of which only the first has an event.
    pub ring: bool,
    /// Where a queue decides at arrival, departures are computed then: the end of a transmission is no event.
    pub no_tx_event: bool,
    /// What meets nothing on its way that could change it is computed ahead, hop after hop, without events.
    pub computed_hops: bool,
    /// Segments and acknowledgements that change nothing but numbers and windows take one step.
    pub plain_way: bool,
}

impl Shortcuts {
    /// All on, or all off.
    pub const fn all(on: bool) -> Self {
        Self {
            ring: on,
            no_tx_event: on,
            computed_hops: on,
            plain_way: on,
        }
    }
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self::all(true)
    }
}
