//! Which stops are listened to, and whose packets are there.

use crate::sim::routes::{PathNode, RoundTripRoute, Stop, Trip};
use crate::sim::topology::Topology;

/// Where packets are seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapPoint {
    /// At the hosts where data of flows are sent: those at the beginning of paths, and of flows against the others those at the end.
    Sender,
    /// At the hosts at the other ends.
    Receiver,
    /// At the beginning of a link of this number: packets as their transmission starts, and those the other way as they arrive.
    Near(usize),
    /// At the end of a link, the other way round.
    Far(usize),
}

/// What is known of the packets that come to a stop.
#[derive(Clone, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "what may be so of a stop, each for itself"
)]
pub(super) struct TapStop {
    /// Who sees them.
    pub points: Vec<usize>,
    pub flow: u32,
    /// Here packets leave their host.
    pub leaves: bool,
    /// Here they come to one.
    pub arrives: bool,
    /// Their host gives them numbers ([`crate::host::layers`]).
    pub is_numbered: bool,
    pub is_datagram: bool,
    pub carries_acks: bool,
    pub returns: bool,
    pub is_damaged: bool,
    pub links: u8,
}

/// Of each hop.
pub(super) fn lay_out(
    points: &[TapPoint],
    topology: &Topology,
    trips: &[Trip],
    routes: &[RoundTripRoute],
    layers_are_noted: bool,
) -> Vec<TapStop> {
    let mut stops = vec![TapStop::default(); topology.stops.len()];
    for (trip, route) in trips.iter().copied().zip(routes) {
        let mut links = 0_u8;
        for hop in trip.first_stop..=last_stop(trip, route) {
            let at = hop as usize;
            let carries_acks = hop > trip.receiver_stop;
            let is_first_ack = route.sender.is_some() && hop == trip.receiver_stop + 1;
            let leaves = hop == trip.first_stop || is_first_ack;
            let host = if carries_acks {
                Some(route.receiver)
            } else {
                route.sender
            };
            let link = if hop == trip.first_stop {
                None
            } else {
                port_of(topology.stops[at - 1])
            };
            links = if hop == trip.receiver_stop + 1 {
                0
            } else {
                links.saturating_add(u8::from(link.is_some()))
            };
            let seen = |point: &TapPoint| match point {
                TapPoint::Sender => is_at_end(hop, trip, route, route.asks),
                TapPoint::Receiver => is_at_end(hop, trip, route, !route.asks),
                TapPoint::Near(number) => link == Some(2 * number + 1),
                TapPoint::Far(number) => link == Some(2 * number),
            };
            let points = (0..points.len()).filter(|point| seen(&points[*point]));
            let stop = TapStop {
                points: points.collect(),
                flow: u32::try_from(route.flow).expect("fewer than 2^32 flows"),
                leaves,
                arrives: hop == trip.receiver_stop || hop == last_stop(trip, route),
                is_numbered: layers_are_noted && matches!(host, Some(PathNode::Host(_))),
                is_datagram: route.sender.is_none(),
                carries_acks,
                returns: route.asks != carries_acks,
                is_damaged: false,
                links,
            };
            let twin = topology.twins[at] as usize;
            if twin != at {
                stops[twin] = TapStop {
                    is_damaged: true,
                    leaves: false,
                    arrives: false,
                    ..stop.clone()
                };
            }
            stops[at] = stop;
        }
    }
    stops
}

/// Of each port who sees its transmissions start.
pub(super) fn transmissions(points: &[TapPoint], ports: usize) -> Vec<Vec<usize>> {
    let mut seen = vec![Vec::new(); ports];
    for (at, point) in points.iter().enumerate() {
        match point {
            TapPoint::Near(link) => seen[2 * link].push(at),
            TapPoint::Far(link) => seen[2 * link + 1].push(at),
            TapPoint::Sender | TapPoint::Receiver => {}
        }
    }
    seen
}

/// The stop of the sender; of UDP that of the receiver.
fn last_stop(trip: Trip, route: &RoundTripRoute) -> u32 {
    if route.sender.is_some() {
        2 * trip.receiver_stop - trip.first_stop + 1
    } else {
        trip.receiver_stop
    }
}

/// Whether a stop is where packets come to a host or leave it: that of the receiver of a route, or that of its sender.
fn is_at_end(hop: u32, trip: Trip, route: &RoundTripRoute, of_receiver: bool) -> bool {
    if of_receiver {
        hop == trip.receiver_stop || hop == trip.receiver_stop + 1
    } else {
        hop == trip.first_stop || (route.sender.is_some() && hop == last_stop(trip, route))
    }
}

/// The port that is a stop, if one is.
fn port_of(stop: Stop) -> Option<usize> {
    stop.place.port().map(|port| port as usize)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net;
    use crate::sim::routes::{Sides, routes};
    use crate::sim::stops::plan_stops;
    use crate::spec::{FlowSpec, LinkSpec, Scenario};
    use crate::units::Rate;
    use crate::units::testing::secs;

    /// Two links in a row with a flow over both, whose packets may be damaged on the first.
    fn scenario() -> Scenario {
        let link = |name| LinkSpec::new(name, Rate::from_bps(1e6), secs(0.01));
        let mut links = vec![link("one"), link("other")];
        links[0].forward.impairments.corrupt = 0.1;
        Scenario::new(secs(1.0), links, vec![FlowSpec::new("flow", vec![0, 1])])
    }

    fn laid_out(points: &[TapPoint]) -> Vec<TapStop> {
        let scenario = scenario();
        let ports = net::ports(&scenario, 1, false);
        let routes = routes(&scenario, std::iter::empty::<Sides>());
        let plan = plan_stops(&scenario, &ports, &routes);
        let topology = Topology {
            ports,
            stops: plan.stops,
            returning: plan.returning,
            twins: plan.twins,
            access_delays: Vec::new(),
        };
        lay_out(points, &topology, &plan.trips, &routes, false)
    }

    /// The stops at which a point sees packets.
    fn seen(point: TapPoint) -> Vec<usize> {
        let stops = laid_out(&[point]);
        let heard = |at: &usize| !stops[*at].points.is_empty();
        (0..stops.len()).filter(heard).collect()
    }

    #[test]
    fn a_host_sees_what_leaves_and_comes_and_an_end_of_a_link_what_arrives_there() {
        // Stops: both links, the receiver, both links back, the sender; and the same for what is damaged.
        assert_eq!(seen(TapPoint::Sender), [0, 5, 6, 11]);
        assert_eq!(seen(TapPoint::Receiver), [2, 3, 8, 9]);
        assert_eq!(seen(TapPoint::Far(0)), [1, 7]);
        assert_eq!(seen(TapPoint::Far(1)), [2, 8]);
        assert_eq!(seen(TapPoint::Near(1)), [4, 10]);
        assert_eq!(seen(TapPoint::Near(0)), [5, 11]);
        let far = [TapPoint::Far(1), TapPoint::Receiver, TapPoint::Near(1)];
        assert_eq!(transmissions(&far, 4), [vec![], vec![], vec![2], vec![0]]);
    }

    #[test]
    fn a_stop_knows_which_way_its_packets_go_and_how_far_they_have_come() {
        let stops = laid_out(&[]);
        let links: Vec<u8> = stops[..6].iter().map(|stop| stop.links).collect();
        assert_eq!(links, [0, 1, 2, 0, 1, 2]);
        let returning = |stop: &TapStop| stop.carries_acks && stop.returns;
        assert!(stops[3..6].iter().all(returning) && !stops[..3].iter().any(returning));
        let those = |what: fn(&TapStop) -> bool| -> Vec<usize> {
            (0..stops.len()).filter(|at| what(&stops[*at])).collect()
        };
        assert_eq!(those(|stop| stop.leaves), [0, 3]);
        assert_eq!(those(|stop| stop.arrives), [2, 5]);
        assert!(stops[6..].iter().all(|stop| stop.is_damaged));
    }
}
