//! Connections over which both sides speak: a client asks, a server answers ([`Exchange`]).
//!
//! **Model.** The simulator's flows carry data one way, so a connection of this kind is two of them over the same links: the scenario's flow from
//! the server to the client, and one of requests against its direction, with the same TCP. What one has delivered completely makes the
//! other write, after the time to think. The client's is opened with the handshake; the server's begins established, with the round trip
//! that the handshake has measured.
//!
//! **Order.** The receiver of one and the sender of the other are at one host, so all four ends take events (`routes`).

use super::{Flow, FlowPlan, Trip, World, build, clocks, index_u32, ns};
use crate::cc;
use crate::events::{Child, Event};
use crate::histogram::Histogram;
use crate::record::{Cell, Table};
use crate::rng::Stream;
use crate::scenario::{FlowSpec, Scenario};
use crate::source::{Cut, Exchange, Source, Write};
use crate::tcp::Config;
use crate::tcp::metrics_cache::Inherited;
use crate::tcp::sender::Sender;

/// No dialogue.
pub(super) const NONE: u32 = u32::MAX;

/// All dialogues of a run.
#[derive(Debug, Default)]
pub(super) struct Dialogues(Vec<Dialogue>);

#[derive(Debug)]
struct Dialogue {
    source: Box<dyn Source>,
    /// Places of the flows of responses, and of requests.
    server: u32,
    client: u32,
    turn: Turn,
    /// The present one, and the one after it, once the server has been asked.
    exchange: Exchange,
    following: Option<Exchange>,
    asked: u64,
    /// Bytes of requests and of responses, those of the present exchange included.
    requests_bytes: u64,
    responses_bytes: u64,
    /// Bytes of requests that have reached the server.
    requested_bytes: u64,
    /// When the present request is written.
    asked_at: f64,
    completions_ns: Histogram,
}

/// Who is to be heard next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    Client,
    Server,
    Nobody,
}

impl Dialogues {
    pub(super) fn new(scenario: &Scenario, seed: u64) -> Self {
        let mut all = Vec::new();
        for (place, spec) in scenario.flows.iter().enumerate() {
            let mut source = spec.source(seed);
            let Some(exchange) = source.next_exchange() else {
                continue;
            };
            all.push(Dialogue {
                source,
                server: index_u32(place),
                client: index_u32(scenario.flows.len() + all.len()),
                turn: Turn::Client,
                exchange,
                following: None,
                asked: 1,
                requests_bytes: exchange.request_bytes,
                responses_bytes: exchange.response_bytes,
                requested_bytes: 0,
                asked_at: spec.start.secs(),
                completions_ns: Histogram::default(),
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
            .map(|dialogue| (dialogue.client, dialogue.server))
    }

    /// Whether the flow at a place is a server's.
    pub(super) fn has_server(&self, place: usize) -> bool {
        let servers = &self.0;
        servers
            .binary_search_by_key(&place, |one| one.server as usize)
            .is_ok()
    }

    /// Adds the clients' flows of requests, and tells the servers' what they are.
    pub(super) fn add_clients(
        &self,
        scenario: &Scenario,
        seed: u64,
        flows: &mut Vec<Flow>,
        trips: &[Trip],
    ) {
        for (number, dialogue) in (0..).zip(&self.0) {
            let spec = &scenario.flows[dialogue.server as usize];
            flows[dialogue.server as usize].dialogue = number;
            let mut client = Flow::new(FlowPlan {
                id: dialogue.client,
                start: spec.start.secs(),
                sender: client(spec, seed),
                source: spec.source(seed),
                trip: trips[dialogue.client as usize],
            });
            client.dialogue = number;
            client.cut = dialogue.exchange.request_cut;
            client.next_write = Some(Write {
                at_secs: 0.0,
                bytes: dialogue.exchange.request_bytes,
            });
            flows.push(client);
        }
    }

    /// What became of the exchanges, if there are any.
    pub(super) fn table(&self, scenario: &Scenario) -> Option<Table> {
        let mut table = Table::new("exchanges");
        for dialogue in &self.0 {
            let completions = &dialogue.completions_ns;
            let head = [
                Cell::Str(scenario.flows[dialogue.server as usize].name.clone()),
                Cell::U64(dialogue.asked),
                Cell::U64(completions.count()),
                Cell::U64(dialogue.requested_bytes),
            ];
            table.push(head.into_iter().chain(super::arrivals::times(completions)));
        }
        (!self.0.is_empty()).then_some(table)
    }
}

/// The sender of requests.
fn client(spec: &FlowSpec, seed: u64) -> Sender {
    let mut random = Stream::new(seed, &format!("{}.requests/cc", spec.name));
    let mut config = Config {
        seed: random.integer(0, i64::MAX).unsigned_abs(),
        ..Config::from(&spec.tcp)
    };
    let [_, drawn] = config.draw_phases(|| clocks(seed, &spec.name));
    config.exchange_hosts();
    let share = if config.ns2_tick_phase {
        random.uniform()
    } else {
        drawn
    };
    let phase = share * config.rto.granularity;
    let new_cc: cc::New = *build(cc::TABLE, &spec.cc);
    Sender::open(config, new_cc, &spec.cc.params, phase)
}

impl Flow {
    /// One side of a dialogue writes what it has to say now, if it has.
    pub(super) fn speak(&mut self, now: Event) {
        let Some(write) = self.next_write.take() else {
            return;
        };
        let piece = self.cut.next_piece(write.bytes);
        if piece > 0 {
            self.sender.on_write(now, piece);
        }
        if piece < write.bytes {
            let rest = write.bytes - piece;
            return self.will_speak(now, self.cut.interval_secs, (rest, self.cut));
        }
        if self.has_last_word {
            self.sender.on_close();
        }
    }

    /// One side will speak after some time; or else, with nothing to say, close.
    fn will_speak(&mut self, now: Event, after_secs: f64, (bytes, cut): (u64, Cut)) {
        self.cut = cut;
        let time = now.time + after_secs;
        self.next_write = Some(Write {
            at_secs: time - self.start,
            bytes,
        });
        self.write_key = now.schedule(time, Child::Timer);
    }
}

impl World<'_> {
    /// One side of a dialogue has got a segment.
    #[cold]
    #[inline(never)]
    pub(super) fn heard(&mut self, place: u32, now: Event) {
        let flow = &self.flows[place as usize];
        let delivered = flow.receiver.delivered_bytes;
        let dialogue = &mut self.dialogues.0[flow.dialogue as usize];
        let (client, server) = (dialogue.client, dialogue.server);
        if place == client {
            dialogue.requested_bytes = delivered;
            if dialogue.turn == Turn::Client && delivered >= dialogue.requests_bytes {
                let Exchange {
                    server_secs,
                    response_bytes,
                    response_cut,
                    ..
                } = dialogue.exchange;
                dialogue.turn = Turn::Server;
                dialogue.following = dialogue.source.next_exchange();
                let (first, last) = (dialogue.asked == 1, dialogue.following.is_none());
                if first {
                    self.tell_round_trip(client, server);
                }
                self.flows[server as usize].has_last_word = last;
                self.will_speak(server, now, server_secs, (response_bytes, response_cut));
            }
        } else if dialogue.turn == Turn::Server && delivered >= dialogue.responses_bytes {
            let spent = ns(now.time - dialogue.asked_at).unsigned_abs();
            dialogue.completions_ns.add(spent);
            let Some(exchange) = dialogue.following.take() else {
                dialogue.turn = Turn::Nobody;
                self.flows[client as usize].has_last_word = true;
                return self.will_speak(client, now, 0.0, (0, Cut::WHOLE));
            };
            dialogue.turn = Turn::Client;
            dialogue.exchange = exchange;
            dialogue.asked += 1;
            dialogue.requests_bytes += exchange.request_bytes;
            dialogue.responses_bytes += exchange.response_bytes;
            dialogue.asked_at = now.time + exchange.think_secs;
            let request = (exchange.request_bytes, exchange.request_cut);
            self.will_speak(client, now, exchange.think_secs, request);
        }
    }

    /// One side is to speak.
    fn will_speak(&mut self, place: u32, now: Event, after_secs: f64, said: (u64, Cut)) {
        let flow = &mut self.flows[place as usize];
        flow.will_speak(now, after_secs, said);
        let timer = flow.next_timer();
        self.see_to_timer(super::sender_timer(place), timer);
    }

    /// The handshake has measured the round trip for both sides.
    fn tell_round_trip(&mut self, client: u32, server: u32) {
        let rtt = self.flows[client as usize].sender.srtt_secs();
        let ssthresh = None;
        let server = &mut self.flows[server as usize].sender;
        server.inherit(&Inherited { ssthresh, rtt });
    }
}
