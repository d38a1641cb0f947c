//! Legs: the way of a plain packet from one event to the next, in one pass.
//!
//! Between two stops with events lie ports that compute departures, and perhaps a receiver, a sender or both. Of data that only come next, and of their acknowledgements, everything
//! on that way is known but the times: which ports, how large, who takes note. So such a packet is not moved from stop to stop, asking at each what it is ([`super::travel`]), but crosses
//! a list of ports with nothing in hand but its key and its number. Where something else comes up, a segment out of order or a timer, the general way goes on from there.
//!
//! Packets go on them in [`super::carrying`]. Legs are laid out when the run begins, and again when [merges](super::merges) need no events any more. A switch turns them off, with the plain way of acknowledgements
//! ([`Shortcuts::plain_way`](crate::spec::Shortcuts)).

use super::flow::Flow;
use super::index::index_u32;
use super::routes::{PathNode, Stop};
use super::topology::Topology;

/// All legs of a run.
#[derive(Debug)]
pub(super) struct Legs {
    /// Whether there are any.
    exist: bool,
    /// Of each stop, the leg that begins there.
    of_stop: Vec<Option<Box<Leg>>>,
}

/// The way from one stop with events to the next of the same round trip.
#[derive(Debug)]
pub(super) struct Leg {
    pub(super) flow: u32,
    /// Whether what begins it is an acknowledgement.
    pub(super) begins_with_acks: bool,
    /// Up to the sender, or to the end.
    pub(super) before: LegStretch,
    /// Whether it comes by the sender.
    pub(super) meets_sender: bool,
    /// From the sender on.
    pub(super) after: LegStretch,
    /// Where it ends: the stop and its channel.
    pub(super) hop: u32,
    pub(super) channel: u32,
}

/// Ports in a row, with a receiver among them or none.
#[derive(Debug, Default)]
pub(super) struct LegStretch {
    /// Those that data cross.
    pub(super) data: Box<[u32]>,
    /// The stop of the receiver behind these, if there is one.
    pub(super) receiver_hop: Option<u32>,
    /// Those that acknowledgements cross.
    pub(super) acks: Box<[u32]>,
    /// The stop behind all of them.
    pub(super) next_hop: u32,
}

impl Leg {
    /// That of a flow which begins at a stop with events.
    fn from(begin: u32, stops: &[Stop], flow: &Flow, index: u32) -> Self {
        let begins_with_acks = begin > flow.trip.receiver_stop;
        let before = LegStretch::from(begin, stops, begins_with_acks);
        let at = before.next_hop;
        let meets_sender = stops[at as usize].channel.is_none() || at == begin;
        let first = flow.trip.first_stop;
        let (after, end) = match (meets_sender, stops[first as usize].channel) {
            (true, None) => {
                let after = LegStretch::from(first, stops, false);
                let end = after.next_hop;
                (after, end)
            }
            (true, Some(_)) => (LegStretch::default(), first),
            (false, _) => (LegStretch::default(), at),
        };
        Self {
            flow: index,
            begins_with_acks,
            before,
            meets_sender,
            after,
            hop: end,
            channel: stops[end as usize].channel.expect("a leg ends with events"),
        }
    }

    #[inline(always)]
    pub(super) fn stretch(&self, part: LegPart) -> &LegStretch {
        match part {
            LegPart::Before => &self.before,
            LegPart::After => &self.after,
        }
    }
}

impl LegStretch {
    /// That from a stop on, which is crossed, to the sender or to the next stop with events.
    fn from(begin: u32, stops: &[Stop], of_acks: bool) -> Self {
        let from = |at: u32| stops[at as usize..].iter();
        let crosses = |stop: &Stop| matches!(stop.place, PathNode::Port(_) | PathNode::Receiver(_));
        let after = from(begin + 1).position(|stop| stop.channel.is_some() || !crosses(stop));
        let length = match after {
            _ if !crosses(&stops[begin as usize]) => 0,
            after => 1 + after.expect("the last stop ends it"),
        };
        let next_hop = begin + index_u32(length);
        let stretch = &stops[begin as usize..next_hop as usize];
        let receiver =
            (stretch.iter()).position(|stop| matches!(stop.place, PathNode::Receiver(_)));
        let port = |stop: &Stop| stop.place.port().expect("ends are none of these");
        let ports = |stops: &[Stop]| stops.iter().map(port).collect();
        let (data, acks) = match receiver {
            Some(at) => (&stretch[..at], &stretch[at + 1..]),
            None if of_acks => (&stretch[..0], stretch),
            None => (stretch, &stretch[..0]),
        };
        Self {
            data: ports(data),
            receiver_hop: receiver.map(|at| begin + index_u32(at)),
            acks: ports(acks),
            next_hop,
        }
    }
}

impl Legs {
    /// Those of flows that have any, if they are to be used: all their stops are ports that compute departures and mark nothing, and two ends that have a plain way.
    pub(super) fn new(exist: bool, topology: &Topology, flows: &[Flow]) -> Self {
        let mut legs = Self {
            exist,
            of_stop: Vec::new(),
        };
        legs.lay_out(topology, flows);
        legs
    }

    /// To be called again when other stops have events.
    pub(super) fn lay_out(&mut self, topology: &Topology, flows: &[Flow]) {
        if !self.exist {
            return;
        }
        self.of_stop.clear();
        self.of_stop.resize_with(topology.stops.len(), || None);
        for (flow, index) in flows.iter().zip(0..) {
            self.lay_out_flow(&topology.stops, flow, index);
        }
        if self.of_stop.iter().all(Option::is_none) {
            self.of_stop.clear();
        }
    }

    fn lay_out_flow(&mut self, stops: &[Stop], flow: &Flow, index: u32) {
        if !(flow.sender.has_plain_way() && flow.receiver.is_plain()) {
            return;
        }
        let first = flow.trip.first_stop;
        let is_simple =
            |stop: &&Stop| matches!(stop.place, PathNode::Port(_) | PathNode::Receiver(_));
        let behind = stops[first as usize..].iter();
        let length = index_u32(behind.take_while(is_simple).count());
        // The first that is something else has to be the sender.
        let Some(PathNode::Sender(_)) = stops.get((first + length) as usize).map(|stop| stop.place)
        else {
            return;
        };
        for begin in first..=first + length {
            if stops[begin as usize].channel.is_some() {
                let leg = Leg::from(begin, stops, flow, index);
                self.of_stop[begin as usize] = Some(Box::new(leg));
            }
        }
    }

    /// Whether there are any.
    #[inline]
    pub(super) fn are_laid_out(&self) -> bool {
        !self.of_stop.is_empty()
    }

    /// The leg that begins at a stop.
    #[inline(always)]
    pub(super) fn at(&self, hop: u32) -> Option<&Leg> {
        self.of_stop.get(hop as usize)?.as_deref()
    }
}

/// The two stretches of a leg.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum LegPart {
    Before,
    After,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Value;
    use crate::sim::world::{World, assemble};
    use crate::spec::{FlowSpec, LinkSpec, Sampling, Scenario};
    use crate::units::Rate;
    use crate::units::testing::secs;

    /// Flows with these paths over links of one rate, each segment acknowledged as it comes.
    fn scenario(paths: &[&[usize]]) -> Scenario {
        let links = 1 + paths.iter().copied().flatten().max().expect("a link");
        let link = |at: usize| LinkSpec::new(at.to_string(), Rate::from_bps(1e7), secs(0.01));
        let flow = |path: &&[usize]| {
            let mut flow = FlowSpec::new(format!("{path:?}"), path.to_vec());
            flow.tcp.set("ack_every", Value::Integer(1));
            flow
        };
        let links = (0..links).map(link).collect();
        Scenario::new(secs(1.0), links, paths.iter().map(flow).collect())
    }

    /// Two flows that meet on link 0: behind the senders' links 1 and 2 and before the receivers' 3 and 4.
    const DUMBBELL: &[&[usize]] = &[&[1, 0, 3], &[2, 0, 4]];

    /// The leg of the first flow that begins at a stop: ports of data, of acknowledgements, and after the sender of data and of acknowledgements; and where it ends.
    fn leg(world: &World, begin: u32) -> ([Vec<u32>; 4], u32) {
        let leg = world.legs.at(begin).expect("a leg begins there");
        let stretches = [&leg.before, &leg.after].map(|stretch| [&stretch.data, &stretch.acks]);
        let [[first, second], [third, fourth]] = stretches;
        let lists = [first, second, third, fourth].map(|ports| ports.to_vec());
        (lists, leg.hop)
    }

    #[test]
    fn a_leg_leads_from_one_stop_with_events_to_the_next_by_the_receiver_or_the_sender() {
        let scenario = scenario(DUMBBELL);
        let world = assemble(&scenario, 1);
        // Stops: links 1, 0, 3, the receiver, and back.
        let begins: Vec<u32> = (0..8)
            .filter(|stop| world.legs.at(*stop).is_some())
            .collect();
        assert_eq!(begins, [1, 5]);
        assert_eq!(leg(&world, 1), ([vec![0, 6], vec![7], vec![], vec![]], 5));
        assert_eq!(leg(&world, 5), ([vec![], vec![1, 3], vec![2], vec![]], 1));
        let second = world.legs.at(5).expect("a leg");
        assert!(second.begins_with_acks && second.meets_sender);
    }

    #[test]
    fn where_merges_need_no_events_any_more_a_leg_leads_all_around() {
        let scenario = scenario(DUMBBELL);
        let mut world = assemble(&scenario, 1);
        world.topology.pass_at_once(&world.settling.channels);
        world.legs.lay_out(&world.topology, &world.flows);
        assert!(world.legs.at(5).is_none());
        assert_eq!(
            leg(&world, 1),
            ([vec![0, 6], vec![7, 1, 3], vec![2], vec![]], 1)
        );
    }

    #[test]
    fn a_flow_that_is_alone_has_one_leg_from_its_sender_to_its_sender() {
        let scenario = scenario(&[&[0]]);
        let world = assemble(&scenario, 1);
        assert_eq!(leg(&world, 3), ([vec![], vec![], vec![0], vec![1]], 3));
    }

    #[test]
    fn flows_that_meet_at_once_wait_there_for_their_next_event() {
        let scenario = scenario(&[&[0], &[0]]);
        let world = assemble(&scenario, 1);
        let around = world.legs.at(0).expect("a leg begins at the first link");
        assert_eq!(around.stretch(LegPart::After).data.len(), 0);
        assert_eq!(leg(&world, 0).0[0], [0]);
        assert!(leg(&world, 0).0[2].is_empty());
    }

    #[test]
    fn there_are_none_where_somebody_looks_on_or_an_end_sees_to_more_or_they_are_turned_off() {
        type Change = fn(&mut Scenario);
        let changes: [Change; 4] = [
            |scenario| scenario.sample = Sampling::Every(secs(0.1)),
            |scenario| scenario.shortcuts.plain_way = false,
            |scenario| scenario.flows[0].delay = secs(0.001),
            |scenario| {
                let tcp = &mut scenario.flows[0].tcp;
                tcp.set("ecn", Value::Choice("classic"));
            },
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut scenario = scenario(&[&[0]]);
            change(&mut scenario);
            let world = assemble(&scenario, 1);
            let stops = world.topology.stops.len();
            let legs = (0..index_u32(stops)).filter(|stop| world.legs.at(*stop).is_some());
            assert_eq!(legs.count(), 0, "{number}");
        }
    }
}
