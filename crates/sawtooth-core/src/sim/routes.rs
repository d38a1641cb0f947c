//! The routes of packets: of every flow's round trip, which links it crosses, what is at its ends, and what is known of what goes there.

use super::steady::Steady;
use crate::spec::{Direction, FlowSpec, OfAlike, Scenario};
use crate::units::Duration;

/// A place on a flow's round trip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    pub place: PathNode,
    /// The channel in which packets wait for their event, or nothing if this stop is passed at once.
    pub channel: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum PathNode {
    /// A port that computes departures, marks nothing and is not sampled.
    Port(u32),
    /// The same, but for being sampled.
    SampledPort(u32),
    SlowPort(u32),
    /// The way between a host and the first link, which takes the flow's own delay; an even number from the sender, an odd one to it.
    Access(u32),
    Receiver(u32),
    Sender(u32),
    /// The interface of a flow's host; an even number at the receiver, an odd one at the sender.
    Host(u32),
    /// The end of a UDP flow. Its packets originate here too, so this feeds its first stop.
    UdpReceiver(u32),
    /// Where a damaged packet ends.
    Discard,
    /// The receivers of all flows of an entry that arrive; each packet says which one it is for.
    Receivers(u32),
    Senders(u32),
}

impl PathNode {
    /// The port that it is, of whatever kind.
    pub(super) fn port(self) -> Option<u32> {
        match self {
            Self::Port(port) | Self::SampledPort(port) | Self::SlowPort(port) => Some(port),
            _ => None,
        }
    }
}

/// Where a flow's round trip begins in `World::stops`, and which stop is the receiver's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trip {
    pub first_stop: u32,
    pub receiver_stop: u32,
}

/// The places of the two flows of a connection of requests and responses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sides {
    /// That of responses.
    pub server: u32,
    /// That of requests.
    pub client: u32,
}

/// What decides when a sender sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendClock {
    /// Acknowledgements, and nothing else.
    Acks,
    /// A pacer, or what the application writes later.
    Own,
}

impl SendClock {
    fn of(spec: &FlowSpec) -> Self {
        if spec.is_ack_clocked() {
            Self::Acks
        } else {
            Self::Own
        }
    }
}

/// The round trip of a flow, or of all flows of an entry; of UDP, which sends nothing back, the way to the receiver.
pub(super) struct RoundTripRoute<'a> {
    /// The links that data crosses, and which way.
    pub path: &'a [usize],
    pub direction: Direction,
    /// Whether its sender is where that of the flow's responses has its receiver.
    pub asks: bool,
    /// The flow's number; entries of flows that arrive are counted after the others.
    pub flow: usize,
    pub receiver: PathNode,
    pub sender: Option<PathNode>,
    /// What packets take between its hosts and the links, each way.
    pub access_delay: Duration,
    /// Whether a wire on it may damage packets.
    pub damages: bool,
    pub clock: SendClock,
    /// Whether its ends need events of their own: what happens there depends on more than what arrives.
    pub evented_ends: bool,
    /// How large its packets are, if they are all alike.
    pub steady: Option<Steady>,
}

/// The routes of all flows, of the sides that ask, of the entries of flows that arrive, and of UDP flows.
pub(super) fn routes<'a>(
    scenario: &'a Scenario,
    request_responses: impl Iterator<Item = Sides>,
) -> Vec<RoundTripRoute<'a>> {
    let mut alike = OfAlike::new();
    let mut route = |spec: &'a FlowSpec, place, [host, receiver_host]: [Option<usize>; 2]| {
        let (clock, steady) = alike.of(spec, || (SendClock::of(spec), Steady::of(spec)));
        RoundTripRoute {
            path: spec.path.as_slice(),
            access_delay: spec.delay,
            damages: scenario.damages(&spec.path),
            clock,
            direction: spec.direction,
            asks: false,
            flow: place as usize,
            receiver: match receiver_host {
                Some(_) => PathNode::Host(2 * place),
                None => PathNode::Receiver(place),
            },
            sender: Some(match host {
                Some(_) => PathNode::Host(2 * place + 1),
                None => PathNode::Sender(place),
            }),
            evented_ends: false,
            steady,
        }
    };
    let mut routes: Vec<RoundTripRoute> = (0..)
        .zip(&scenario.flows)
        .map(|(place, flow)| route(flow, place, [flow.host, flow.receiver_host]))
        .collect();
    for Sides { server, client } in request_responses {
        routes[server as usize].evented_ends = true;
        let spec = &scenario.flows[server as usize];
        routes.push(RoundTripRoute {
            direction: spec.direction.opposite(),
            asks: true,
            flow: server as usize,
            evented_ends: true,
            ..route(spec, client, [spec.receiver_host, spec.host])
        });
    }
    for (entry, spec) in (0..).zip(&scenario.arriving) {
        // Many components, of which one may have a timer that is due before another's packet.
        routes.push(RoundTripRoute {
            flow: scenario.flows.len() + entry as usize,
            receiver: PathNode::Receivers(entry),
            sender: Some(PathNode::Senders(entry)),
            evented_ends: true,
            ..route(&spec.flow, 0, [None; 2])
        });
    }
    routes.extend(
        (0..)
            .zip(&scenario.udp)
            .map(|(index, flow)| RoundTripRoute {
                path: &flow.path,
                access_delay: flow.delay,
                damages: scenario.damages(&flow.path),
                clock: SendClock::Own,
                direction: flow.direction,
                asks: false,
                flow: scenario.flows.len() + scenario.arriving.len() + index as usize,
                receiver: PathNode::UdpReceiver(index),
                sender: None,
                evented_ends: false,
                steady: None,
            }),
    );
    routes
}

impl RoundTripRoute<'_> {
    pub(super) fn has_access_delay(&self) -> bool {
        self.access_delay > Duration::ZERO
    }
}
