//! Connections of requests and responses: a client asks, a server answers ([`Exchanges`]).
//!
//! **Model.** The simulator's flows carry data one way, so a connection of this kind is two of them over the same links: the scenario's flow from
//! the server to the client, and one of requests against its direction, with the same TCP. What one has delivered completely makes the
//! other write, after the time to think. The client's is opened with the handshake; the server's begins established, with the round trip
//! that the handshake has measured.
//!
//! **One connection.** A host's segments carry what it has to acknowledge (RFC 9293 §3.8.6.3), each of them, sent again or not; so an acknowledgement that is being
//! delayed leaves with the first of them. One that is due as data arrive which let the host send leaves with what it sends. Where segments arrive, what they
//! carry is taken note of first (RFC 9293 §3.10.7.4: acknowledgement, then text). A host delays acknowledgements by what its sender knows of round trips.
//!
//! **On machines** ([`super::hosts`]) a message has come when its application has read it.
//!
//! **Order.** The receiver of one and the sender of the other are at one host, so all four ends take events (`routes`).
//!
//! Deviation: SACK blocks make a segment that carries them longer and do not take room of its data.

pub(super) mod carried;

use std::sync::Arc;

use super::flow::{Flow, FlowEnd, FlowPlan, Opening, algorithm};
use super::index::index_u32;
use super::routes::{Sides, Trip};
use crate::events::Event;
use crate::exchanges::{Exchanges, Message};
use crate::record::Table;
use crate::record::rows::Stalls;
use crate::record::rows::exchanges::exchange_row;
use crate::rng::{RandomStream, StreamName};
use crate::spec::{FlowSpec, Scenario};
use crate::tcp::Config;
use crate::tcp::sender::Sender;
use crate::units::ByteCount;

/// All connections of requests and responses of a run.
#[derive(Debug, Default)]
pub(super) struct RequestResponses(Vec<RequestResponseFlows>);

#[derive(Debug)]
struct RequestResponseFlows {
    sides: Sides,
    exchanges: Exchanges,
}

impl RequestResponses {
    pub(super) fn new(scenario: &Scenario, seed: u64) -> Self {
        let mut all = Vec::new();
        for (place, spec) in scenario.flows.iter().enumerate() {
            let Some(exchanges) = Exchanges::new(spec.source(seed), spec.start) else {
                continue;
            };
            all.push(RequestResponseFlows {
                sides: Sides {
                    server: index_u32(place),
                    client: index_u32(scenario.flows.len() + all.len()),
                },
                exchanges,
            });
        }
        Self(all)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Of each the places of its flows.
    pub(super) fn sides(&self) -> impl Iterator<Item = Sides> {
        self.0.iter().map(|request_response| request_response.sides)
    }

    /// Of the flow at a place, the one that goes the other way, if it is of a connection of requests and responses.
    pub(super) fn other_way(&self, flows: &[Flow], place: u32) -> Option<u32> {
        let number = flows[place as usize].request_response?;
        let Sides { server, client } = self.0[number as usize].sides;
        Some(if place == server { client } else { server })
    }

    /// The same of one that is known to be of such a connection.
    fn other(&self, flows: &[Flow], place: u32) -> u32 {
        let other = self.other_way(flows, place);
        other.expect("a flow of requests or responses")
    }

    /// The application of one side has so many bytes of the flow at a place; the message that it writes in return, if it has all that it waits for.
    fn application_has(
        &mut self,
        flows: &[Flow],
        place: u32,
        now: Event,
        delivered: ByteCount,
    ) -> Option<Answer> {
        let number = flows[place as usize].request_response?;
        let RequestResponseFlows { sides, exchanges } = &mut self.0[number as usize];
        let (by, message) = if place == sides.client {
            (sides.server, exchanges.at_server(delivered))
        } else {
            (sides.client, exchanges.at_client(now.time, delivered))
        };
        message.map(|message| Answer { by, message })
    }

    /// TCP has so many bytes of the flow at a place, more than before. The handshake has measured the round trip for both sides.
    pub(super) fn tcp_has(&self, flows: &mut [Flow], place: u32, now: Event, delivered: ByteCount) {
        let Some(number) = flows[place as usize].request_response else {
            return;
        };
        let RequestResponseFlows { sides, exchanges } = &self.0[number as usize];
        if place != sides.client || !exchanges.has_first(delivered) {
            return;
        }
        let rtt = flows[sides.client as usize].sender.srtt();
        if let Some(rtt) = rtt {
            flows[sides.server as usize].sender.on_handshake(now, rtt);
        }
    }

    /// Whether the flow at a place is a server's.
    pub(super) fn has_server(&self, place: usize) -> bool {
        let servers = &self.0;
        servers
            .binary_search_by_key(&place, |one| one.sides.server as usize)
            .is_ok()
    }

    /// What the tables of hosts call each flow: the scenario's, then those of requests.
    pub(super) fn names<'a>(&'a self, scenario: &'a Scenario) -> impl Iterator<Item = String> + 'a {
        let own = scenario.flows.iter().map(|flow| flow.name.clone());
        own.chain(
            self.sides()
                .map(|sides| requests_of(&scenario.flows[sides.server as usize])),
        )
    }

    /// Adds the clients' flows of requests, and gives the servers' the number of their connection.
    pub(super) fn add_clients(
        &self,
        scenario: &Scenario,
        seed: u64,
        flows: &mut Vec<Flow>,
        trips: &[Trip],
    ) {
        for (number, request_response) in (0_u32..).zip(&self.0) {
            let Sides { server, client } = request_response.sides;
            let spec = &scenario.flows[server as usize];
            flows[server as usize].join(number);
            let mut client = Flow::new(FlowPlan {
                id: client,
                start: spec.start,
                sender: sender_of_requests(spec, seed),
                source: spec.source(seed),
                trip: trips[client as usize],
            });
            client.join(number);
            (client.writes).schedule_first(&request_response.exchanges.first());
            flows.push(client);
        }
    }

    /// What became of the exchanges, if there are any; `stalls`: of the flow at a place.
    pub(super) fn table(
        &self,
        scenario: &Scenario,
        stalls: impl Fn(u32) -> Stalls,
    ) -> Option<Table> {
        let rows = self
            .0
            .iter()
            .map(|RequestResponseFlows { sides, exchanges }| {
                let name = &scenario.flows[sides.server as usize].name;
                exchange_row(name, exchanges, stalls(sides.client))
            });
        (!self.0.is_empty()).then(|| Table::of(rows))
    }
}

/// The message that a side writes in return, and the place of the flow that carries it.
struct Answer {
    by: u32,
    message: Message,
}

/// What the requests of a flow are called.
fn requests_of(spec: &FlowSpec) -> String {
    format!("{}.requests", spec.name)
}

fn sender_of_requests(spec: &FlowSpec, seed: u64) -> Sender {
    let mut config = Config::from(&spec.tcp);
    // A host's socket has its own memory.
    config.send_buffer_default =
        (config.send_buffer_default).filter(|_| spec.receiver_host.is_none());
    let opening = Opening {
        spec,
        config: Arc::new(config),
        algorithm: algorithm(&spec.cc),
        end: FlowEnd::Receiver,
        name: StreamName::of(&[&requests_of(spec)]),
        plain_way: false,
    };
    opening.open(seed, RandomStream::uniform)
}
