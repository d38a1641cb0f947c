//! Which links the packets of a flow pass, and how soon one may be there.

use crate::spec::{Direction, FlowSpec, Scenario, UdpSpec};
use crate::units::Duration;

/// Where the packets of a flow go.
#[derive(Debug)]
pub(super) struct Route {
    /// Links.
    pub path: Vec<usize>,
    /// The way of what its sender sends.
    pub direction: Direction,
    /// What packets take between their hosts and the links, each way.
    pub access_delay: Duration,
}

impl Route {
    pub(super) fn of_flow(spec: &FlowSpec) -> Self {
        Self {
            path: spec.path.clone(),
            direction: spec.direction,
            access_delay: spec.delay,
        }
    }

    pub(super) fn of_udp(spec: &UdpSpec) -> Self {
        Self {
            path: spec.path.clone(),
            direction: spec.direction,
            access_delay: spec.delay,
        }
    }
}

/// The shortest time, over flows and both ways, from host to host.
pub(super) fn shortest_delay(scenario: &Scenario) -> Duration {
    let delays = scenario.all_flows().flat_map(|flow| {
        let links = || flow.path.iter().map(|link| &scenario.links[*link]);
        let forward = links().map(|link| link.forward.least_delay());
        let reverse = links().map(|link| link.reverse.least_delay());
        [forward.sum::<Duration>(), reverse.sum()].map(|delay| delay + flow.delay)
    });
    delays.fold(Duration::INFINITE, Duration::min)
}
