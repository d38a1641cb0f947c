//! Ports where flows meet in an order that is known beforehand, so that their packets need no event there once all connections are open.
//!
//! **Model.** A port sends packets one after the other: the next one's first bit leaves when the last bit of the one before has left. So packets that have left one port, the
//! *source*, are at least a *gap* apart, the time in which one is sent. If from there all take nearly as long to another port, the *merge*, that is, if their times differ by less than
//! the gap, then they come to the merge in the order in which they left the source, and no two at one instant. Whoever handles them in the order of the source, which has an event for
//! each, handles them in the order of the merge.
//!
//! Between the two, data may reach the receiver, if an acknowledgement leaves it at once, for each segment and at no other time. Nothing may wait: each port on the way is at least as fast
//! as the source. A full tie there, of a packet that comes as the one before it leaves, is none of time.
//!
//! On a dumbbell, data meet at the bottleneck, and so order acknowledgements on their way back: they have one event for each round trip instead of two.
//!
//! A SYN is short: it could overtake. So packets have their events until every connection is open with its first SYN ([`super::settling`]), when no packet is short.

use std::collections::{BTreeMap, BTreeSet};

use super::index::index_u32;
use super::routes::{PathNode, RoundTripRoute, Stop};
use crate::net::Port;
use crate::units::Duration;

/// Those of the ports where several streams meet (`meet`) that need no event. `places`: of each route, all around.
pub(super) fn ordered(
    ports: &[Port],
    routes: &[RoundTripRoute],
    places: &[Vec<PathNode>],
    end: Duration,
    meet: impl Fn(&PathNode) -> bool,
) -> BTreeSet<PathNode> {
    let mut passing = vec![0; ports.len()];
    for place in places.iter().flatten() {
        if let Some(port) = place.port() {
            passing[port as usize] += 1;
        }
    }
    // Of each merge, the ways to it; nothing if there is one of which nothing is known.
    let mut merges: BTreeMap<PathNode, Option<Vec<Way>>> = BTreeMap::new();
    for (route, trip) in routes.iter().zip(places) {
        for (at, place) in trip.iter().enumerate() {
            if !(matches!(place, PathNode::Port(_)) && meet(place)) {
                continue;
            }
            let way = Way::of(ports, route, &trip[..at], &meet);
            match (
                merges.entry(*place).or_insert_with(|| Some(Vec::new())),
                way,
            ) {
                (Some(ways), Some(way)) => ways.push(way),
                (known, _) => *known = None,
            }
        }
    }
    // Packets of others that leave the source, too, could be in the way.
    let is_ordered =
        |ways: &[Way]| are_ordered(ways, end) && passing[ways[0].from as usize] == ways.len();
    let known = merges.into_iter();
    let ordered = known.filter(|(_, ways)| ways.as_deref().is_some_and(is_ordered));
    ordered.map(|(merge, _)| merge).collect()
}

/// The way of one flow's packets from a source to a merge.
struct Way {
    /// The port that is the source.
    from: u32,
    /// How long a packet is sent there.
    gap: Duration,
    /// From its last bit at the far end of the source.
    shortest: Duration,
    longest: Duration,
    /// How long a packet is sent at most by any port on the way.
    slowest: Duration,
}

impl Way {
    /// That to the end of `trip`, from the last port before where streams meet.
    fn of(
        ports: &[Port],
        route: &RoundTripRoute,
        trip: &[PathNode],
        meet: impl Fn(&PathNode) -> bool,
    ) -> Option<Self> {
        let steady = route.steady?;
        let source = trip.iter().rposition(&meet)?;
        let PathNode::Port(from) = trip[source] else {
            return None;
        };
        let mut way = Self {
            from,
            gap: steady.data / ports[from as usize].rate(),
            shortest: Duration::ZERO,
            longest: Duration::ZERO,
            slowest: Duration::ZERO,
        };
        let mut sizes = [steady.data; 2];
        // The source has to send data: these are apart, acknowledgements hardly.
        if trip[..source].contains(&route.receiver) {
            return None;
        }
        for place in &trip[source + 1..] {
            match place {
                PathNode::Port(port) => {
                    let port = &ports[*port as usize];
                    let [shortest, longest] = sizes.map(|size| size / port.rate());
                    way.shortest += shortest + port.delay();
                    way.longest += longest + port.delay();
                    way.slowest = way.slowest.max(longest);
                }
                PathNode::Access(_) => {
                    way.shortest += route.access_delay;
                    way.longest += route.access_delay;
                }
                PathNode::Receiver(_) => sizes = [steady.shortest_ack, steady.longest_ack],
                _ => return None,
            }
        }
        Some(way)
    }
}

/// Whether packets come to the end of these ways in the order in which they left the source. The least gap is far above what rounding adds to a time.
fn are_ordered(ways: &[Way], end: Duration) -> bool {
    const ROUNDING: f64 = 1e-12;
    let Some(first) = ways.first() else {
        return false;
    };
    let least =
        |of: fn(&Way) -> Duration| ways.iter().map(of).fold(Duration::INFINITE, Duration::min);
    let most = |of: fn(&Way) -> Duration| ways.iter().map(of).fold(Duration::ZERO, Duration::max);
    let gap = least(|way| way.gap);
    let spread = most(|way| way.longest) - least(|way| way.shortest);
    ways.iter().all(|way| way.from == first.from)
        && gap == most(|way| way.gap)
        && most(|way| way.slowest) <= gap
        && spread < gap * 0.25
        && gap > end * ROUNDING
}

/// What is still to be seen before merges need no events.
#[derive(Debug, Default)]
pub(super) struct Settling {
    /// The channels of their stops; none when all is done.
    pub(super) channels: Vec<u32>,
    /// Flows that cross them and may not be open yet.
    pub(super) opening: Vec<u32>,
}

impl Settling {
    /// Of merges that are [`ordered`].
    pub(super) fn of(
        ordered: &BTreeSet<PathNode>,
        stops: &[Stop],
        routes: &[RoundTripRoute],
        places: &[Vec<PathNode>],
    ) -> Self {
        let crosses = |trip: &[PathNode]| trip.iter().any(|place| ordered.contains(place));
        let crossing = routes.iter().zip(places).filter(|(_, trip)| crosses(trip));
        let opening = crossing.map(|(route, _)| index_u32(route.flow)).collect();
        let merges = stops.iter().filter(|stop| ordered.contains(&stop.place));
        let channels: BTreeSet<u32> = merges.filter_map(|stop| stop.channel).collect();
        Self {
            channels: channels.into_iter().collect(),
            opening,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.channels.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet_source;
    use crate::registry::Value;
    use crate::sim::simulate_within_limits;
    use crate::sim::world::assemble;
    use crate::spec::{FlowSpec, LinkSpec, Part, Scenario, UdpSpec};
    use crate::units::testing::secs;
    use crate::units::{Instant, Rate};

    /// Three flows over a bottleneck, 0, whose receivers delay nothing: the links of senders are 1 to 3, those of receivers 4 to 6, all of one rate.
    fn dumbbell() -> Scenario {
        let link = |at: u32| {
            let delay = if at == 0 { 0.05 } else { 0.001 };
            LinkSpec::new(at.to_string(), Rate::from_bps(1e7), secs(delay))
        };
        let flow = |at: usize| {
            let mut flow = FlowSpec::new(at.to_string(), vec![1 + at, 0, 4 + at]);
            flow.tcp.set("ack_every", Value::Integer(1));
            flow
        };
        let (links, flows) = ((0..7).map(link), (0..3).map(flow));
        Scenario::new(secs(5.0), links.collect(), flows.collect())
    }

    /// The ports that need no events once all connections are open.
    fn merges(scenario: &Scenario) -> BTreeSet<PathNode> {
        let world = assemble(scenario, 1);
        let (stops, channels) = (&world.topology.stops, &world.settling.channels);
        let settles = |stop: &&Stop| stop.channel.is_some_and(|one| channels.contains(&one));
        stops
            .iter()
            .filter(settles)
            .map(|stop| stop.place)
            .collect()
    }

    /// The bottleneck's, for acknowledgements.
    const BACK: PathNode = PathNode::Port(1);

    #[test]
    fn acknowledgements_of_data_that_have_met_come_in_their_order() {
        assert_eq!(merges(&dumbbell()), BTreeSet::from([BACK]));
    }

    #[test]
    fn a_merge_takes_no_events_once_all_connections_are_open() {
        let mut scenario = dumbbell();
        let (_, effort) = simulate_within_limits(&scenario, 1).expect("no limit");
        let segments = effort.delivered_packets;
        assert!(effort.events < segments + segments / 4, "{effort:?}");
        // It never settles while one has not begun.
        scenario.flows[2].start = Instant::from_secs(4.9);
        let (_, effort) = simulate_within_limits(&scenario, 1).expect("no limit");
        let segments = effort.delivered_packets;
        assert!(effort.events > segments + segments / 2, "{effort:?}");
    }

    #[test]
    fn the_order_is_not_known_where_ways_are_not_alike_or_somebody_waits() {
        type Change = fn(&mut Scenario);
        let changes: [(&str, Change); 8] = [
            ("a longer way", |scenario| {
                scenario.links[5].forward.delay = secs(0.0015);
            }),
            ("a slower link behind the source", |scenario| {
                scenario.links[5].forward.rate = Rate::from_bps(9.9e6);
            }),
            ("acknowledgements that wait on their way", |scenario| {
                scenario.links[5].reverse.rate = Rate::from_bps(2e5);
            }),
            ("delayed acknowledgements", |scenario| {
                scenario.flows[1].tcp.set("ack_every", Value::Integer(2));
            }),
            ("segments of two sizes", |scenario| {
                scenario.flows[1].tcp.set("smss", Value::Bytes(536));
            }),
            (
                "a transfer that ends with less than a segment",
                |scenario| {
                    scenario.flows[1]
                        .source
                        .params
                        .set("size", Value::Bytes(100_000));
                },
            ),
            ("a flow the other way", |scenario| {
                let mut back = FlowSpec::new("back", vec![5, 4]);
                back.tcp.set("ack_every", Value::Integer(1));
                scenario.flows.push(back);
            }),
            ("others at the source", |scenario| {
                let source = Part::of(&packet_source::TABLE[0]);
                let udp = UdpSpec::new("udp", vec![0], source, Instant::from_secs(5.0));
                scenario.udp.push(udp);
            }),
        ];
        for (what, change) in changes {
            let mut scenario = dumbbell();
            change(&mut scenario);
            assert!(!merges(&scenario).contains(&BACK), "{what}");
        }
    }

    #[test]
    fn ways_may_differ_by_less_than_a_packet_takes() {
        let mut scenario = dumbbell();
        scenario.links[5].forward.delay = secs(0.0012);
        assert!(merges(&scenario).contains(&BACK));
    }
}
