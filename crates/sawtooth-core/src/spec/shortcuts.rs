//! Which shortcuts the simulator takes.

/// Switches of the simulator's shortcuts; results do not depend on them. What each spares stands at the head of the simulator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shortcuts {
    pub ring: bool,
    pub no_tx_event: bool,
    pub computed_hops: bool,
}

impl Shortcuts {
    /// All on, or all off.
    pub const fn all(on: bool) -> Self {
        Self {
            ring: on,
            no_tx_event: on,
            computed_hops: on,
        }
    }
}

impl Default for Shortcuts {
    fn default() -> Self {
        Self::all(true)
    }
}
