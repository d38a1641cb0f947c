//! What the other crates of the workspace, tests and benchmarks use besides the interface, with the feature `internals`. It may change with any version.

macro_rules! modules {
    ($($module:ident)*) => {$(
        #[doc = concat!("Whatever `", stringify!($module), "` has.")]
        pub mod $module {
            pub use crate::$module::*;
        }
    )*};
}

modules! {
    arrivals cc demand dist endpoint events exchanges expr feed fluid histogram host impair kernel limits loss net noise packet packet_source queue rng sim source tcp
}

/// What scenarios are read for besides: real kernels, studies, documentation.
pub mod scenario {
    pub use crate::scenario::check::fits_machine;
    pub use crate::scenario::context::evaluate_over;
    pub use crate::scenario::for_kernel::for_kernel;
    pub use crate::scenario::limits::limits_of;
    pub use crate::scenario::reader::ScenarioReader;

    /// The keys that the reader knows.
    pub mod keys {
        pub use crate::scenario::keys::*;
    }
}

/// Rows of what was measured.
pub mod rows {
    pub use crate::record::rows::arrivals::{arrival_tables, transfer_row};
    pub use crate::record::rows::exchanges::exchange_row;
    pub use crate::record::rows::flows::udp_flow_rows;
    pub use crate::record::rows::kernels::counter_rows;
    pub use crate::record::rows::links::link_tables;
    pub use crate::record::rows::udp::udp_tables;
}

/// Parameters that know their type.
pub mod registry {
    pub use crate::registry::key::{FromValue, ParamKey};
    pub use crate::registry::words::Words;
}

/// Numbers beside the types of units.
pub mod units {
    pub use crate::units::rounding::{ceil, floor};
    pub use crate::units::time::{mean_rate_bps, ns};
}

/// What is asked of a flow besides.
pub mod spec {
    use super::packet_source::PacketSource;
    use super::registry::{FromValue, ParamKey};
    use super::source::Source;
    use crate::spec::{FlowSpec, UdpSpec};

    /// The value of a key of `tcp` that is set in a kernel, if the scenario gives one.
    pub fn given<T: FromValue>(flow: &FlowSpec, key: ParamKey<T>) -> Option<T> {
        flow.given(key)
    }

    /// What the application of a flow does; its random numbers depend on `seed` and the flow's name alone.
    pub fn source(flow: &FlowSpec, seed: u64) -> Box<dyn Source> {
        flow.source(seed)
    }

    /// What sends the packets of a flow of UDP.
    pub fn packet_source(flow: &UdpSpec, seed: u64) -> Box<dyn PacketSource> {
        flow.source(seed)
    }
}
