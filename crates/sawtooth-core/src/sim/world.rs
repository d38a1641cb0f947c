//! A run is its parts: what will happen, where packets pass, the connections, and what is observed. The parts do not know each other.
//!
//! What happens to several of them at once is in the files above: [`super::dispatch`] for an event, [`super::travel`] for a packet, [`super::sending`] and
//! [`super::receiving`] for the ends of a connection, [`super::hosts`] and [`super::request_response`] for what some connections have besides.

use super::arrivals::ArrivingFlows;
use super::calendar::{Calendar, CalendarSlot, Components};
use super::flow::{Flow, standing_flows};
use super::fluid::FluidBackground;
use super::hosts::Hosts;
use super::index::index_u32;
use super::legs::Legs;
use super::merges::Settling;
use super::metrics::PathMetrics;
use super::observe::Observers;
use super::request_response::RequestResponses;
use super::routes::{RoundTripRoute, routes};
use super::stopped::Stopped;
use super::stops::{Plan, plan_stops};
use super::taps::{Listener, Taps};
use super::topology::Topology;
use super::udp::{Udp, udp_flows};
use crate::events::EventKey;
use crate::net;
use crate::packet::AckStore;
use crate::spec::{Scenario, base_rtt};
use crate::units::{Duration, Instant};

#[derive(Debug)]
pub(super) struct World<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) calendar: Calendar,
    pub(super) topology: Topology,
    pub(super) legs: Legs,
    /// What packets on their way carry that does not fit into them.
    pub(super) acks: AckStore,
    /// Those of the scenario, of requests, and at their places those that have arrived.
    pub(super) flows: Vec<Flow>,
    pub(super) arrivals: ArrivingFlows<'a>,
    pub(super) request_responses: RequestResponses,
    pub(super) hosts: Hosts,
    pub(super) udp: Vec<Udp>,
    pub(super) fluid: FluidBackground,
    pub(super) metrics: PathMetrics,
    pub(super) observers: Observers<'a>,
    /// Ports that may need no events any more.
    pub(super) settling: Settling,
    /// A limit was exceeded: the run has ended.
    pub(super) stopped: Option<Stopped>,
}

/// The world before its first event.
pub(super) fn assemble(scenario: &Scenario, seed: u64) -> World<'_> {
    assemble_with(scenario, seed, None)
}

/// The same for somebody who listens, for which the scenario must take no shortcuts that pass stops.
pub(super) fn assemble_with<'a>(
    scenario: &'a Scenario,
    seed: u64,
    listener: Option<Listener<'a>>,
) -> World<'a> {
    let shortcuts = &scenario.shortcuts;
    let mut ports = net::ports(scenario, seed, shortcuts.no_tx_event);
    let request_responses = RequestResponses::new(scenario, seed);
    let routes = routes(scenario, request_responses.sides());
    let Plan {
        stops,
        trips,
        in_order,
        ranks,
        returning,
        twins,
        whose,
        settling,
    } = plan_stops(scenario, &ports, &routes);
    net::keep_ledgers(&mut ports, scenario.record, whose);
    let standing = scenario.flows.len() + request_responses.len();
    let (entry_trips, udp_trips) = trips[standing..].split_at(scenario.arriving.len());
    let arrivals = ArrivingFlows::new(scenario, seed, standing, entry_trips);
    let udp = udp_flows(scenario, seed, standing, udp_trips);
    let fluid = FluidBackground::new(scenario);
    let hosts = Hosts::new(scenario, request_responses.sides());
    let mut flows = standing_flows(
        scenario,
        seed,
        |flow| request_responses.has_server(flow),
        &trips,
    );
    request_responses.add_clients(scenario, seed, &mut flows, &trips);
    let evented_ports: Vec<bool> = ports.iter().map(|port| !port.is_computed()).collect();
    let components = Components {
        evented_ports: &evented_ports,
        in_order: &in_order,
        ranks,
        rings: shortcuts.ring,
        arriving: index_u32(scenario.arriving.len()),
        udp: index_u32(udp.len()),
        fluid: !scenario.fluid.is_empty(),
        hosts: hosts.count(),
        flows: flows.len(),
        memory: memory(scenario, &routes),
    };
    let end = Instant::from_secs(scenario.duration.secs());
    let mut calendar = Calendar::new(end, components);
    calendar.lay_down(flows.iter().map(|flow| flow.start), |slot| match slot {
        CalendarSlot::Arrival(entry) => arrivals.next_key(entry),
        CalendarSlot::Departures(index) => udp[index as usize].key(),
        CalendarSlot::Fluid => fluid.key(),
        CalendarSlot::TransmitterFree(_) | CalendarSlot::Channel(_) | CalendarSlot::Host(..) => {
            EventKey::NEVER
        }
    });
    let topology = Topology {
        ports,
        stops,
        returning,
        twins,
        access_delays: routes.iter().map(|route| route.access_delay).collect(),
    };
    let mut observers = Observers::new(scenario);
    observers.taps = listener.map(|listener| {
        let sides = request_responses.sides();
        let noted = scenario.record.layers;
        Taps::new(listener, &topology, &trips, &routes, sides, noted)
    });
    World {
        scenario,
        calendar,
        legs: Legs::new(
            shortcuts.plain_way && observers.are_idle(),
            &topology,
            &flows,
        ),
        topology,
        acks: AckStore::default(),
        metrics: PathMetrics::new(scenario, flows.len()),
        flows,
        arrivals,
        request_responses,
        hosts,
        udp,
        fluid,
        observers,
        settling,
        stopped: None,
    }
}

/// For how long what has happened is remembered, to tell apart what links that keep step send at one instant: longer than a window of packets, which fills the way, takes
/// to leave and to be acknowledged.
fn memory(scenario: &Scenario, routes: &[RoundTripRoute]) -> Duration {
    let of = |route: &RoundTripRoute| base_rtt(&scenario.links, route.path, route.access_delay);
    routes.iter().map(of).fold(Duration::ZERO, Duration::max) * 2.0
}
