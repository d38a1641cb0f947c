//! The way of packets: every flow's round trip as a list of stops, and which of these need events.

use std::collections::BTreeMap;

use super::index::index_u32;
use super::merges::{self, Settling};
use super::of_places::OfPlaces;
use super::routes::{PathNode, RoundTripRoute, SendClock, Stop, Trip};
use crate::net::{Port, Traffic};
use crate::spec::{Sampling, Scenario};

/// What `plan_stops` makes.
pub(super) struct Plan {
    pub stops: Vec<Stop>,
    /// Per route: where it is among the stops.
    pub trips: Vec<Trip>,
    /// Per channel: whether packets come to it in order, or nearly so.
    pub in_order: Vec<bool>,
    /// Per stop with events: the number of its feeder, in the order in which feeders first appear.
    pub ranks: Vec<u32>,
    /// Per stop: whether it is beyond the receiver.
    pub returning: Vec<bool>,
    /// Per stop: the one that a damaged packet takes instead; itself if no wire of its route damages any.
    pub twins: Vec<u32>,
    /// Per stop: what packets are there.
    pub whose: Vec<Traffic>,
    pub settling: Settling,
}

/// Lays out every round trip and decides which stops need events.
pub(super) fn plan_stops(scenario: &Scenario, ports: &[Port], routes: &[RoundTripRoute]) -> Plan {
    let places = lay_out(scenario, ports, routes);
    let may_reorder =
        |place: &PathNode| (place.port()).is_some_and(|port| ports[port as usize].may_reorder());
    let feeders = feeders(&places, may_reorder);
    let feeders = |place: &PathNode| feeders.get(*place).expect("each place has a feeder");
    let needs_event = |place: &PathNode| match place {
        place if feeders(place).may_reorder => true,
        PathNode::Port(port) | PathNode::SampledPort(port) | PathNode::SlowPort(port) => {
            feeders(place).several
                || !scenario.shortcuts.computed_hops
                || !ports[*port as usize].is_computed()
        }
        PathNode::Receiver(place) | PathNode::Sender(place) => {
            routes[*place as usize].evented_ends || !scenario.shortcuts.computed_hops
        }
        PathNode::Receivers(_) | PathNode::Senders(_) | PathNode::Host(_) => true,
        PathNode::UdpReceiver(_) | PathNode::Access(_) | PathNode::Discard => {
            !scenario.shortcuts.computed_hops
        }
    };
    let mut channels: BTreeMap<EventedWay, u32> = BTreeMap::new();
    let mut ranks: BTreeMap<(PathNode, PathNode), u32> = BTreeMap::new();
    let length = |place: &PathNode| match place {
        PathNode::Port(port) | PathNode::SampledPort(port) | PathNode::SlowPort(port) => {
            let port = &ports[*port as usize];
            [port.rate().bps(), port.delay().secs()].map(f64::to_bits)
        }
        PathNode::Access(way) => [0, routes[(way / 2) as usize].access_delay.secs().to_bits()],
        _ => [0; 2],
    };
    let number: usize = places.iter().map(Vec::len).sum();
    let mut made = Plan {
        stops: Vec::with_capacity(number),
        trips: Vec::with_capacity(places.len()),
        in_order: Vec::new(),
        ranks: Vec::with_capacity(number),
        returning: Vec::with_capacity(number),
        twins: Vec::with_capacity(number),
        whose: Vec::with_capacity(number),
        settling: Settling::default(),
    };
    for (trip, route) in places.iter().zip(routes) {
        let first_stop = index_u32(made.stops.len());
        let receiver_stop =
            first_stop + index_u32(route.path.len()) + u32::from(route.has_access_delay());
        made.trips.push(Trip {
            first_stop,
            receiver_stop,
        });
        // A round trip without any event would never return to the event loop.
        let closed = !trip.iter().any(needs_event);
        let has_event = |place: &PathNode| {
            needs_event(place) || (closed && matches!(place, PathNode::Sender(_)))
        };
        for (at, place) in trip.iter().enumerate() {
            let feeder = trip[(at + trip.len() - 1) % trip.len()];
            let channel = has_event(place).then(|| {
                let next = index_u32(made.in_order.len());
                let way = if may_reorder(&feeder) || route.clock == SendClock::Own {
                    EventedWay::of_one(*place, feeder)
                } else {
                    let stretch =
                        (1..=trip.len()).map(|by| trip[(at + trip.len() - by) % trip.len()]);
                    EventedWay::of_many(*place, stretch, &has_event, &length)
                };
                let channel = *channels.entry(way).or_insert(next);
                if channel == next {
                    made.in_order.push(!may_reorder(&feeder));
                }
                channel
            });
            let next = index_u32(ranks.len());
            made.ranks.push(match channel {
                Some(_) => *ranks.entry((*place, feeder)).or_insert(next),
                None => 0,
            });
            let acks = first_stop + index_u32(at) > receiver_stop;
            made.returning.push(acks);
            made.whose.push(Traffic {
                flow: index_u32(route.flow),
                acks,
            });
            let twin = if route.damages { trip.len() } else { 0 };
            made.twins.push(index_u32(made.stops.len() + twin));
            made.stops.push(Stop {
                place: *place,
                channel,
            });
        }
        if route.damages {
            made.add_damaged(first_stop as usize);
        }
    }
    if scenario.shortcuts.computed_hops {
        let ordered = merges::ordered(ports, routes, &places, scenario.duration, needs_event);
        made.settling = Settling::of(&ordered, &made.stops, routes, &places);
    }
    made
}

/// The way to a stop with events. Packets that come to one place by ways that are alike come nearly in order, so that they may wait in one channel: their last event was
/// at one place, and from there on they took as long. Which ways share a channel changes nothing but how long it takes to find the next event.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct EventedWay {
    to: PathNode,
    from: PathNode,
    /// Rate and delay of what was passed since.
    stretch: Vec<[u64; 2]>,
}

impl EventedWay {
    /// That of packets that are alone, because they may overtake each other, or are sent at times that are known only then.
    fn of_one(to: PathNode, from: PathNode) -> Self {
        Self {
            to,
            from,
            stretch: Vec::new(),
        }
    }

    /// The way back from `to`, over the places of `backwards`, to the nearest one with an event; `stretch` is what lies between.
    fn of_many(
        to: PathNode,
        backwards: impl Iterator<Item = PathNode>,
        has_event: &dyn Fn(&PathNode) -> bool,
        length: &dyn Fn(&PathNode) -> [u64; 2],
    ) -> Self {
        let mut stretch = Vec::new();
        let mut from = to;
        for place in backwards {
            from = place;
            // Packets of UDP are let out some at a time, ahead of all others.
            if has_event(&place) || matches!(place, PathNode::UdpReceiver(_)) {
                break;
            }
            stretch.push(length(&place));
        }
        Self { to, from, stretch }
    }
}

/// The places of every route, in order.
fn lay_out(scenario: &Scenario, ports: &[Port], routes: &[RoundTripRoute]) -> Vec<Vec<PathNode>> {
    let mut places: Vec<Vec<PathNode>> = Vec::with_capacity(routes.len());
    let port = |index: usize| {
        let port = &ports[index];
        let plain = port.is_computed() && !port.computes_marks() && !port.is_impaired();
        let plain = plain && !port.is_framed() && !port.has_node();
        let plain = plain && !scenario.record.notes_at_links();
        let index = index_u32(index);
        match scenario.sample {
            Sampling::Every(_) if plain => PathNode::SampledPort(index),
            _ if plain => PathNode::Port(index),
            _ => PathNode::SlowPort(index),
        }
    };
    for (index, route) in (0..).zip(routes) {
        let mut trip = Vec::with_capacity(2 * route.path.len() + 4);
        let access = |way: u32| route.has_access_delay().then_some(PathNode::Access(way));
        trip.extend(access(2 * index));
        let (direction, path) = (route.direction, route.path);
        direction.cross(path, |at| trip.push(port(at)));
        trip.push(route.receiver);
        if let Some(sender) = route.sender {
            direction.opposite().cross(path, |at| trip.push(port(at)));
            trip.extend(access(2 * index + 1));
            trip.push(sender);
        }
        places.push(trip);
    }
    places
}

/// What is known of the stops before one on the round trips that pass it (the last one, a sender or the receiver of UDP, feeds the first).
#[derive(Clone, Copy, Debug)]
struct Feeders {
    first: PathNode,
    /// Whether there are others.
    several: bool,
    /// Whether one of them may change the order of packets.
    may_reorder: bool,
}

/// Those of every stop.
fn feeders(places: &[Vec<PathNode>], may_reorder: impl Fn(&PathNode) -> bool) -> OfPlaces<Feeders> {
    let mut feeders = OfPlaces::new();
    for trip in places {
        for (at, place) in trip.iter().enumerate() {
            let feeder = trip[(at + trip.len() - 1) % trip.len()];
            let new = Feeders {
                first: feeder,
                several: false,
                may_reorder: false,
            };
            let known = feeders.entry(*place, new);
            known.several |= known.first != feeder;
            known.may_reorder |= may_reorder(&feeder);
        }
    }
    feeders
}

impl Plan {
    /// As many stops of the same places as there are from `first` on, for packets that are damaged, which nobody takes.
    fn add_damaged(&mut self, first: usize) {
        for at in first..self.stops.len() {
            let mut stop = self.stops[at];
            if !matches!(
                stop.place,
                PathNode::Port(_)
                    | PathNode::SampledPort(_)
                    | PathNode::SlowPort(_)
                    | PathNode::Access(_)
            ) {
                stop.place = PathNode::Discard;
            }
            self.twins.push(index_u32(self.stops.len()));
            self.returning.push(self.returning[at]);
            self.ranks.push(self.ranks[at]);
            self.whose.push(self.whose[at]);
            self.stops.push(stop);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net;
    use crate::registry::Value;
    use crate::sim::routes::{Sides, routes};
    use crate::spec::FlowSpec;
    use crate::units::{Duration, Rate};

    fn scenario(paths: &[&[usize]]) -> Scenario {
        let links = 1 + paths.iter().copied().flatten().max().expect("a link");
        let (rate, delay) = (Rate::from_bps(1e6), Duration::from_secs(0.01));
        let link = |index: usize| crate::spec::LinkSpec::new(index.to_string(), rate, delay);
        let flow = |path: &&[usize]| FlowSpec::new("flow", path.to_vec());
        Scenario::new(
            Duration::from_secs(1.0),
            (0..links).map(link).collect(),
            paths.iter().map(flow).collect(),
        )
    }

    fn plan(scenario: &Scenario) -> Plan {
        let ports = net::ports(scenario, 1, true);
        plan_stops(
            scenario,
            &ports,
            &routes(scenario, std::iter::empty::<Sides>()),
        )
    }

    /// The places of a route that need events.
    fn evented(plan: &Plan, route: usize) -> Vec<PathNode> {
        let from = plan.trips[route].first_stop as usize;
        let to = plan.trips.get(route + 1);
        let to = to.map_or(plan.stops.len(), |next| next.first_stop as usize);
        let stops = plan.stops[from..to].iter();
        stops
            .filter(|stop| stop.channel.is_some())
            .map(|stop| stop.place)
            .collect()
    }

    fn places(plan: &Plan) -> Vec<PathNode> {
        plan.stops.iter().map(|stop| stop.place).collect()
    }

    #[test]
    fn a_round_trip_is_the_links_the_receiver_the_links_back_and_the_sender() {
        let plan = plan(&scenario(&[&[0, 1]]));
        assert_eq!(
            places(&plan),
            [
                PathNode::Port(0),
                PathNode::Port(2),
                PathNode::Receiver(0),
                PathNode::Port(3),
                PathNode::Port(1),
                PathNode::Sender(0),
            ]
        );
        assert_eq!(plan.trips[0].receiver_stop, 2);
        assert_eq!(plan.returning, [false, false, false, true, true, true]);
    }

    #[test]
    fn a_flow_by_itself_needs_one_event_for_each_round_trip() {
        let plan = plan(&scenario(&[&[0, 1]]));
        assert_eq!(evented(&plan, 0), [PathNode::Sender(0)]);
    }

    #[test]
    fn on_a_dumbbell_packets_meet_at_both_ends_of_the_bottleneck() {
        let plan = plan(&scenario(&[&[1, 0, 2], &[3, 0, 4]]));
        for route in 0..2 {
            assert_eq!(
                evented(&plan, route),
                [PathNode::Port(0), PathNode::Port(1)]
            );
        }
        // Their ways there are alike, so there is one channel at each.
        assert_eq!(plan.in_order, [true; 2]);
        let ranks = |port| {
            let stops = plan.stops.iter().zip(&plan.ranks);
            stops
                .filter(move |(stop, _)| stop.place == PathNode::Port(port))
                .map(|(_, rank)| *rank)
                .collect::<Vec<_>>()
        };
        assert_eq!((ranks(0), ranks(1)), (vec![0, 2], vec![1, 3]));
    }

    #[test]
    fn flows_whose_ways_are_not_alike_or_that_are_paced_have_channels_of_their_own() {
        let two = || scenario(&[&[1, 0, 2], &[3, 0, 4]]);
        let mut slower = two();
        slower.links[3].forward.delay = Duration::from_secs(0.02);
        // Data meets at the bottleneck by ways of two lengths, and acknowledgements come by ways of one.
        assert_eq!(plan(&slower).in_order, [true; 3]);
        let mut paced = two();
        for flow in &mut paced.flows {
            flow.tcp.set("pacing", Value::Choice("always"));
        }
        assert_eq!(plan(&paced).in_order, [true; 4]);
    }

    #[test]
    fn on_a_parking_lot_the_long_flow_meets_another_at_every_link() {
        let plan = plan(&scenario(&[&[0, 1, 2], &[0], &[1], &[2]]));
        let both_ways = [0, 2, 4, 5, 3, 1].map(PathNode::Port);
        assert_eq!(evented(&plan, 0), both_ways);
        for link in 0..3 {
            let ports = [PathNode::Port(2 * link), PathNode::Port(2 * link + 1)];
            assert_eq!(evented(&plan, link as usize + 1), ports);
        }
    }

    #[test]
    fn without_computed_hops_every_stop_needs_an_event() {
        let mut scenario = scenario(&[&[0, 1]]);
        scenario.shortcuts.computed_hops = false;
        let plan = plan(&scenario);
        assert_eq!(evented(&plan, 0), places(&plan));
    }

    #[test]
    fn a_delay_of_the_flow_itself_is_a_stop_on_either_way() {
        let mut scenario = scenario(&[&[0]]);
        scenario.flows[0].delay = Duration::from_secs(0.005);
        let plan = plan(&scenario);
        assert_eq!(
            places(&plan),
            [
                PathNode::Access(0),
                PathNode::Port(0),
                PathNode::Receiver(0),
                PathNode::Port(1),
                PathNode::Access(1),
                PathNode::Sender(0),
            ]
        );
        assert_eq!(plan.trips[0].receiver_stop, 2);
    }

    #[test]
    fn a_damaged_packet_passes_the_same_links_and_nobody_takes_it() {
        let mut scenario = scenario(&[&[0]]);
        assert_eq!(plan(&scenario).twins, [0, 1, 2, 3]);
        scenario.links[0].forward.impairments.corrupt = 0.1;
        let plan = plan(&scenario);
        assert_eq!(plan.twins[..4], [4, 5, 6, 7]);
        assert_eq!(
            places(&plan)[4..],
            [
                PathNode::SlowPort(0),
                PathNode::Discard,
                PathNode::Port(1),
                PathNode::Discard
            ]
        );
    }
}
