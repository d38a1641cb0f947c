//! A machine that flows end on.

use crate::host::PARAMS;
use crate::registry::Params;

/// One machine.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSpec {
    /// By which the table `layers` names it.
    pub name: String,
    /// Those of [`tables::HOST`](crate::tables::HOST).
    pub params: Params,
}

impl HostSpec {
    /// A machine that takes no time for anything.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            params: Params::defaults(PARAMS),
        }
    }

    /// Another one like it, at the other end of its flows.
    #[must_use]
    pub fn peer(&self) -> Self {
        Self {
            name: format!("{}.peer", self.name),
            ..self.clone()
        }
    }
}
