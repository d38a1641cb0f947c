//! Connections over which both sides speak: a client asks, a server answers ([`Exchanges`]).
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
//! **On machines** ([`super::hosts`]) a side has heard what its application has read.
//!
//! **Order.** The receiver of one and the sender of the other are at one host, so all four ends take events (`routes`).
//!
//! Deviation: SACK blocks make a segment that carries them longer and do not take room of its data.

use super::flow::{Flow, FlowPlan, clocks};
use super::hosts::Hosts;
use super::stops::Trip;
use super::{World, build, index_u32};
use crate::cc;
use crate::events::{Child, Event, Key, Line};
use crate::exchanges::{Exchanges, Speech};
use crate::packet::Packet;
use crate::record::Table;
use crate::rng::Stream;
use crate::source::Write;
use crate::spec::{FlowSpec, Scenario};
use crate::tcp::Config;
use crate::tcp::sender::Sender;
use crate::units::SeqNum;

/// No connection of requests and responses.
pub(super) const NONE: u32 = u32::MAX;

/// All connections of requests and responses of a run.
#[derive(Debug, Default)]
pub(super) struct RequestResponses(Vec<RequestResponse>);

#[derive(Debug)]
struct RequestResponse {
    /// Places of the flows of responses, and of requests.
    server: u32,
    client: u32,
    exchanges: Exchanges,
}

impl RequestResponses {
    pub(super) fn new(scenario: &Scenario, seed: u64) -> Self {
        let mut all = Vec::new();
        for (place, spec) in scenario.flows.iter().enumerate() {
            let Some(exchanges) = Exchanges::new(spec.source(seed), spec.start.secs()) else {
                continue;
            };
            all.push(RequestResponse {
                server: index_u32(place),
                client: index_u32(scenario.flows.len() + all.len()),
                exchanges,
            });
        }
        Self(all)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Of each the places of client and server.
    pub(super) fn places(&self) -> impl Iterator<Item = (u32, u32)> {
        self.0
            .iter()
            .map(|request_response| (request_response.client, request_response.server))
    }

    /// The flow of a connection of requests and responses that goes the other way than the one at a place.
    fn other(&self, number: u32, place: u32) -> u32 {
        let RequestResponse { server, client, .. } = self.0[number as usize];
        if place == server { client } else { server }
    }

    /// Whether the flow at a place is a server's.
    pub(super) fn has_server(&self, place: usize) -> bool {
        let servers = &self.0;
        servers
            .binary_search_by_key(&place, |one| one.server as usize)
            .is_ok()
    }

    /// What the tables of hosts call each flow: the scenario's, then those of requests.
    pub(super) fn names<'a>(&'a self, scenario: &'a Scenario) -> impl Iterator<Item = String> + 'a {
        let own = scenario.flows.iter().map(|flow| flow.name.clone());
        own.chain(
            self.places()
                .map(|(_, server)| requests_of(&scenario.flows[server as usize])),
        )
    }

    /// Adds the clients' flows of requests, and tells the servers' what they are.
    pub(super) fn add_clients(
        &self,
        scenario: &Scenario,
        seed: u64,
        flows: &mut Vec<Flow>,
        trips: &[Trip],
    ) {
        for (number, request_response) in (0..).zip(&self.0) {
            let spec = &scenario.flows[request_response.server as usize];
            flows[request_response.server as usize].request_response = number;
            let mut client = Flow::new(FlowPlan {
                id: request_response.client,
                start: spec.start.secs(),
                sender: client(spec, seed),
                source: spec.source(seed),
                trip: trips[request_response.client as usize],
            });
            client.request_response = number;
            let first = request_response.exchanges.first();
            client.pattern = first.pattern;
            client.next_write = Some(Write {
                at_secs: first.after_secs,
                bytes: first.bytes,
            });
            flows.push(client);
        }
    }

    /// What became of the exchanges, if there are any.
    pub(super) fn table(&self, scenario: &Scenario, hosts: &Hosts, end: f64) -> Option<Table> {
        let rows = self.0.iter().map(|request_response| {
            let name = &scenario.flows[request_response.server as usize].name;
            (request_response.exchanges).row(name, hosts.stalls(request_response.client, end))
        });
        (!self.0.is_empty()).then(|| Table::of(rows))
    }
}

/// What the requests of a flow are called.
fn requests_of(spec: &FlowSpec) -> String {
    format!("{}.requests", spec.name)
}

/// The sender of requests.
fn client(spec: &FlowSpec, seed: u64) -> Sender {
    let mut random = Stream::new(seed, &format!("{}/cc", requests_of(spec)));
    let mut config = Config {
        seed: random.integer(0, i64::MAX).unsigned_abs(),
        ..Config::from(&spec.tcp)
    };
    let [_, drawn] = config.draw_phases(|| clocks(seed, &spec.name));
    config.exchange_hosts();
    // A host's socket has its own memory.
    config.send_buffer_default =
        (config.send_buffer_default).filter(|_| spec.receiver_host.is_none());
    let share = if config.ns2_tick_phase {
        random.uniform()
    } else {
        drawn
    };
    let phase = share * config.rto.granularity;
    let new_cc: cc::Algorithm = *build(cc::TABLE, &spec.cc);
    Sender::open(config, new_cc, &spec.cc.params, phase)
}

/// What one side of a connection of requests and responses writes at once.
pub(super) struct Said {
    pub bytes: u64,
    /// Whether it has nothing to say after that and closes.
    pub is_all: bool,
}

impl Flow {
    /// One side of a connection of requests and responses writes what it has to say now, if it has.
    pub(super) fn write_next(&mut self, now: Event) {
        let Some(said) = self.say(now) else {
            return;
        };
        if said.bytes > 0 {
            self.sender.on_write(now, said.bytes);
        }
        if said.is_all {
            self.sender.on_close();
        }
    }

    /// What one side is to write now, if anything; the rest of what it says has its time.
    pub(super) fn say(&mut self, now: Event) -> Option<Said> {
        let write = self.next_write.take()?;
        let said = Speech {
            after_secs: 0.0,
            bytes: write.bytes,
            pattern: self.pattern,
            last: self.closes_next,
        };
        let (piece, rest) = said.piece();
        let is_all = rest.is_none() && self.closes_next;
        if let Some(rest) = rest {
            self.will_speak(now, rest);
        }
        Some(Said {
            bytes: piece,
            is_all,
        })
    }

    /// One side will speak, and close then if that was its last word.
    fn will_speak(&mut self, now: Event, speech: Speech) {
        let time = now.time + speech.after_secs;
        self.pattern = speech.pattern;
        self.closes_next = speech.last;
        self.next_write = Some(Write {
            at_secs: time - self.start,
            bytes: speech.bytes,
        });
        self.write_key = now.schedule(time, Child::Timer);
    }
}

impl World<'_> {
    /// A segment of one side leaves: it carries what its host has to acknowledge of the other's.
    #[cold]
    #[inline(never)]
    pub(super) fn put_ack_on(&mut self, place: u32, packet: &Packet, now: f64) -> Packet {
        let mut packet = *packet;
        let other =
            (self.request_responses).other(self.flows[place as usize].request_response, place);
        let flow = &mut self.flows[other as usize];
        let segment = packet.segment();
        if !segment.payload.is_zero() {
            flow.receiver.on_answer(now);
        } else if segment.seq == SeqNum::ZERO {
            // A SYN: there is nothing that it could acknowledge.
            return packet;
        }
        let ack = flow.receiver.carried(now);
        if !ack.sack.is_empty() {
            packet.wire_bytes += flow.ack_sizes.of(&ack) - flow.ack_sizes.plain;
        }
        self.acks.put_on(&mut packet, ack);
        packet
    }

    /// A segment reaches one side; returns the acknowledgement it causes, if one leaves at once.
    #[cold]
    #[inline(never)]
    pub(super) fn receive_in_exchange(
        &mut self,
        place: u32,
        packet: &Packet,
        time: f64,
        line: Line,
        now: Event,
    ) -> Option<Packet> {
        let (mut packet, key) = (*packet, Key::from_parts(time, line));
        let other = self
            .request_responses
            .other(self.flows[place as usize].request_response, place);
        let carried = packet.carries_ack();
        self.take_carried(place, other, &mut packet, now);
        let flow = &mut self.flows[place as usize];
        if flow.receiver.marks.is_on() && flow.receiver.marks.changes_state(packet.ecn()) {
            self.echo_old_state(place, packet.hop + 1, key);
        }
        let receiver = &mut self.flows[place as usize].receiver;
        let ack = receiver.on_segment(now, packet.segment());
        let delivered = receiver.delivered_bytes;
        if let Some(trace) = &mut self.ack_trace
            && let Some(deliveries) = trace.deliveries.get_mut(place as usize)
        {
            deliveries.push((time, delivered));
        }
        self.has_come(place, now, delivered);
        self.heard(place, now, delivered);
        let sent = self.sent_packets(other);
        if carried {
            self.pump_rarely(other, key, now);
            if self.metrics.is_some() && self.flows[other as usize].sender.is_done() {
                self.note_end(other, time);
            }
            if self.ack_trace.is_some() {
                self.trace_ack(other, time);
            }
        }
        let has_sent = self.sent_packets(other) > sent;
        let flow = &mut self.flows[place as usize];
        if let Some(ack) = ack.filter(|ack| ack.duplicate || !has_sent) {
            let wire_bytes = flow.ack_sizes.of(&ack);
            return Some(self.acks.pack(flow.id, packet.hop + 1, wire_bytes, &ack));
        }
        let timer = flow.receiver.next_timer();
        self.see_to_timer(super::receiver_timer(place), timer);
        None
    }

    /// Of a flow of a connection of requests and responses, the one that goes the other way.
    pub(super) fn other_way(&self, place: u32) -> Option<u32> {
        let number = self.flows[place as usize].request_response;
        (number != NONE).then(|| self.request_responses.other(number, place))
    }

    pub(super) fn sent_packets(&self, place: u32) -> u64 {
        self.flows[place as usize].sender.counters().sent_packets
    }

    /// A segment of the flow at `place` reaches a host, whose own sender, of the `other` one, takes what it carries, and tells the receiver of round trips.
    pub(super) fn take_carried(&mut self, place: u32, other: u32, packet: &mut Packet, now: Event) {
        let carried = self.acks.take_off(packet);
        if let Some(ack) = &carried {
            self.sample_sender(other, now.time);
            self.flows[other as usize].sender.on_carried(now, ack);
        }
        let host = &self.flows[other as usize].sender;
        let (timeout, rtt) = (host.timeout_secs(), host.srtt_secs());
        let flow = &mut self.flows[place as usize];
        flow.receiver.on_host(timeout, rtt);
    }

    /// The application of one side of a connection of requests and responses has so many bytes of the flow at a place.
    pub(super) fn heard(&mut self, place: u32, now: Event, delivered: u64) {
        let number = self.flows[place as usize].request_response;
        let request_response = &mut self.request_responses.0[number as usize];
        let (client, server) = (request_response.client, request_response.server);
        let exchanges = &mut request_response.exchanges;
        if place == client {
            if let Some(speech) = exchanges.at_server(delivered) {
                self.will_speak(server, now, speech);
            }
        } else if let Some(speech) = exchanges.at_client(now.time, delivered) {
            self.will_speak(client, now, speech);
        }
    }

    /// One side is to speak.
    fn will_speak(&mut self, place: u32, now: Event, speech: Speech) {
        let flow = &mut self.flows[place as usize];
        flow.will_speak(now, speech);
        let timer = flow.next_timer();
        self.see_to_timer(super::sender_timer(place), timer);
    }

    /// TCP has so many bytes of the flow at a place, more than before. The handshake has measured the round trip for both sides.
    pub(super) fn has_come(&mut self, place: u32, now: Event, delivered: u64) {
        let number = self.flows[place as usize].request_response;
        let request_response = &self.request_responses.0[number as usize];
        let (client, server) = (request_response.client, request_response.server);
        if place != client || !request_response.exchanges.has_first(delivered) {
            return;
        }
        let rtt = self.flows[client as usize].sender.srtt_secs();
        if let Some(rtt) = rtt {
            self.flows[server as usize].sender.on_handshake(now, rtt);
        }
    }
}
