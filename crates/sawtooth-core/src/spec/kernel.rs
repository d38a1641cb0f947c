//! The real kernel that a scenario may run on instead.

use crate::kernel::PARAMS;
use crate::registry::Params;

/// What a scenario wants of a real kernel. The simulator has none and reads none of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The name of a built kernel; nothing for the distribution's.
    pub image: Option<String>,
    /// Those of [`tables::KERNEL`](crate::tables::KERNEL).
    pub settings: Params,
    /// Name, as in `net.ipv4.tcp_sack`, and value; they hold in the hosts' network namespaces.
    pub sysctl: Vec<(String, String)>,
}

impl Default for Kernel {
    fn default() -> Self {
        Self {
            image: None,
            settings: Params::defaults(PARAMS),
            sysctl: Vec::new(),
        }
    }
}
