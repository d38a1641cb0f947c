//! What is simulated: links, flows, how long, and what is recorded. Plain values, which a program makes or [`crate::scenario`] reads.
//!
//! Whatever is not said has a default, in `new` of each type:
//!
//! ```
//! use sawtooth_core::spec::{FlowSpec, LinkSpec, Part, Scenario};
//! use sawtooth_core::units::{Duration, Rate};
//! use sawtooth_core::{simulate, tables};
//!
//! let (rate, delay) = (Rate::from_bps(10e6), Duration::from_secs(0.02));
//! let link = LinkSpec::new("bottleneck", rate, delay);
//! let flow = FlowSpec {
//!     cc: Part::named(tables::CC, "cubic").unwrap(),
//!     ..FlowSpec::new("download", vec![0])
//! };
//! let scenario = Scenario::new(Duration::from_secs(10.0), vec![link], vec![flow]);
//! let records = simulate(&scenario, 1);
//! ```
//!
//! Fields can be anything while a scenario is made. [`Scenario::check`] tells whether it can be run: whether its paths name links that there are, whether values are of the kinds and
//! within the bounds that [tables](crate::tables) of parameters tell, whether sizes of queues are in packets or bytes ([`Value::Bdp`](crate::registry::Value::Bdp) is of
//! scenarios that are read), and so on. [`Scenario::warnings`] tells what can be run and is hardly meant.

mod alike;
mod direction;
mod flow;
mod fluid;
mod host;
mod kernel;
mod link;
mod part;
mod recording;
mod shortcuts;
mod udp;

pub(crate) use alike::OfAlike;
pub use direction::Direction;
pub use flow::{ArrivingSpec, FlowSpec};
pub(crate) use flow::{cc_defaults, set_needed_feedback};
pub use fluid::FluidSpec;
pub use host::HostSpec;
pub use kernel::Kernel;
pub use link::{LinkDirection, LinkSpec, base_rtt};
pub use part::Part;
pub use recording::{Recording, Sampling, Stretch};
pub use shortcuts::Shortcuts;
pub use udp::UdpSpec;

pub use crate::arrivals::Arrivals;
pub use crate::impair::{
    After, Change, Changes, Conditions, Forwarding, Impairments, Jitter, Meanwhile, Medium, Outage,
    Reorder, Trace, Walk, WalkSpan,
};
pub use crate::limits::Limits;
pub use crate::loss::{GilbertElliott, LossSpec};

use crate::units::Duration;

/// One specified experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// A run covers the time from zero on, this excluded.
    pub duration: Duration,
    /// When the time series take a row.
    pub sample: Sampling,
    /// Which tables are recorded beyond those that always are.
    pub record: Recording,
    /// Links, to which the paths of flows refer by index.
    pub links: Vec<LinkSpec>,
    /// Connections of TCP.
    pub flows: Vec<FlowSpec>,
    /// Flows that arrive and leave.
    pub arriving: Vec<ArrivingSpec>,
    /// Flows of UDP, in a list of their own: nothing of what is said about connections holds for them.
    pub udp: Vec<UdpSpec>,
    /// Connections of which each entry is simulated as one fluid, and not packet by packet: an approximation.
    pub fluid: Vec<FluidSpec>,
    /// Machines; flows without one have ends that take no time.
    pub hosts: Vec<HostSpec>,
    /// What the simulator does not read.
    pub kernel: Kernel,
    /// Which shortcuts are taken; results do not depend on it.
    pub shortcuts: Shortcuts,
    /// What a run may need at most. `simulate_within_limits` holds them.
    pub limits: Limits,
}

impl Scenario {
    /// Connections over links; nothing is sampled, and no table is recorded that is not always.
    pub fn new(duration: Duration, links: Vec<LinkSpec>, flows: Vec<FlowSpec>) -> Self {
        Self {
            duration,
            sample: Sampling::Never,
            record: Recording::default(),
            links,
            flows,
            arriving: Vec::new(),
            udp: Vec::new(),
            fluid: Vec::new(),
            hosts: Vec::new(),
            kernel: Kernel::default(),
            shortcuts: Shortcuts::all(true),
            limits: Limits::default(),
        }
    }

    /// The flows that are there all the time, then those that arrive, and those that are a fluid.
    pub fn all_flows(&self) -> impl Iterator<Item = &FlowSpec> {
        let arriving = self.arriving.iter().map(|arriving| &arriving.flow);
        let fluid = self.fluid.iter().map(|fluid| &fluid.flow);
        self.flows.iter().chain(arriving).chain(fluid)
    }

    /// What a round trip of a flow takes by propagation alone.
    ///
    /// # Panics
    /// If its path names links that there are not.
    pub fn base_rtt(&self, flow: &FlowSpec) -> Duration {
        base_rtt(&self.links, &flow.path, flow.delay)
    }

    /// Whether a link of a path may damage packets.
    pub fn damages(&self, path: &[usize]) -> bool {
        let mut links = path.iter().map(|link| &self.links[*link]);
        links.any(|link| {
            link.forward.impairments.corrupt > 0.0 || link.reverse.impairments.corrupt > 0.0
        })
    }
}
