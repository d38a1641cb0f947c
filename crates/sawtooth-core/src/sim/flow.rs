//! A connection in a run: its sender and receiver, what its application writes, and the way of its packets.

use std::collections::BTreeMap;

use super::request_response::{self, RequestResponses};
use super::stops::Trip;
use super::{build, index_u32};
use crate::cc;
use crate::events::{Child, Event, Key};
use crate::packet::Ack;
use crate::rng::Stream;
use crate::source::{Source, Write, WritePattern};
use crate::spec::{FlowSpec, Scenario};
use crate::tcp::metrics_cache::{Keeps, MetricsCaches};
use crate::tcp::ns2_random::{self, Senders};
use crate::tcp::{Config, receiver::Receiver, sender::Sender};
use crate::units::SeqNum;

#[derive(Debug)]
pub(super) struct Flow {
    /// What its packets say that they are of: its own for the whole run. Its place among the flows may be used again.
    pub(super) id: u32,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) start: f64,
    pub(super) started: bool,
    /// Its number among those that speak with another one, if it does, or else this: then its writes answer what that one has delivered.
    pub(super) request_response: u32,
    /// Of such a one: whether it closes when it has spoken next, and into how many writes what it says then is cut.
    pub(super) closes_next: bool,
    pub(super) pattern: WritePattern,
    /// What its application does, the write that comes next, and when.
    pub(super) source: Box<dyn Source>,
    pub(super) next_write: Option<Write>,
    pub(super) write_key: Key,
    /// Of its timers and writes the last.
    pub(super) fired: Key,
    pub(super) trip: Trip,
    /// Wire size of the segments it sends: header, and header with full payload.
    pub(super) header: u32,
    pub(super) ack_sizes: AckSizes,
}

/// What a flow is made of.
pub(super) struct FlowPlan {
    pub(super) id: u32,
    pub(super) start: f64,
    pub(super) sender: Sender,
    pub(super) source: Box<dyn Source>,
    pub(super) trip: Trip,
}

impl Flow {
    pub(super) fn new(plan: FlowPlan) -> Self {
        let FlowPlan {
            id,
            start,
            sender,
            mut source,
            trip,
        } = plan;
        let config = sender.config();
        Self {
            id,
            receiver: Receiver::new(config),
            start,
            started: false,
            request_response: request_response::NONE,
            closes_next: false,
            pattern: WritePattern::AT_ONCE,
            next_write: source.next_write(),
            source,
            write_key: Key::NEVER,
            fired: Key::NEVER,
            trip,
            header: config.header,
            ack_sizes: AckSizes {
                plain: config.ack_size,
                sack_option_header: config.sack_option_header,
                syns: if config.handshake {
                    (SeqNum::ZERO.next(), config.syn_options)
                } else {
                    (SeqNum::ZERO, 0)
                },
            },
            sender,
        }
    }

    /// When the sender's timer expires or its application writes, whichever is first.
    #[inline]
    pub(super) fn next_timer(&self) -> Key {
        let timer = self.sender.next_timer();
        if self.write_key.time <= timer.time {
            self.write_key
        } else {
            timer
        }
    }

    /// The application writes what is due, and says so if it was the last.
    pub(super) fn write(&mut self, now: Event) {
        self.write_key = Key::NEVER;
        if self.request_response != request_response::NONE {
            return self.write_next(now);
        }
        while let Some(write) = self.next_write {
            let time = self.start + write.at_secs;
            if time > now.time {
                self.write_key = now.schedule(time, Child::Timer);
                return;
            }
            self.sender.on_write(now, write.bytes);
            self.next_write = self.source.next_write();
        }
        self.sender.on_close();
    }
}

/// Bytes of an acknowledgement on the wire.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckSizes {
    pub(super) plain: u32,
    pub(super) sack_option_header: u32,
    /// Segments that are SYNs, and what they carry more than others.
    pub(super) syns: (SeqNum, u32),
}

impl AckSizes {
    #[inline]
    pub(super) fn of(self, ack: &Ack) -> u32 {
        if !ack.sack.is_empty() {
            self.plain + self.sack_option_header + 8 * ack.sack.len()
        } else if ack.next > self.syns.0 {
            self.plain
        } else {
            self.plain + self.syns.1
        }
    }
}

/// The flows that are there all the time: the scenario's, then the sides that ask.
pub(super) fn standing_flows(
    scenario: &Scenario,
    seed: u64,
    request_responses: &RequestResponses,
    trips: &[Trip],
) -> Vec<Flow> {
    let clock_phases = ns2_random::phases(scenario.flows.len(), senders(scenario));
    let mut flows = Vec::with_capacity(scenario.flows.len());
    for (index, spec) in scenario.flows.iter().enumerate() {
        let mut random = Stream::new(seed, &format!("{}/cc", spec.name));
        let config = Config::from(&spec.tcp);
        // Who answers has been connected to.
        let opens = !request_responses.has_server(index);
        let mut config = Config {
            seed: random.integer(0, i64::MAX).unsigned_abs(),
            handshake: config.handshake && opens,
            handshake_ack: config.handshake_ack && opens,
            // A host's socket has its own memory.
            send_buffer_default: config.send_buffer_default.filter(|_| spec.host.is_none()),
            ..config
        };
        let [drawn, _] = config.draw_phases(|| clocks(seed, &spec.name));
        let share = if config.ns2_tick_phase {
            clock_phases[index]
        } else {
            drawn
        };
        let phase = share * config.rto.granularity;
        let new_cc: cc::Algorithm = *build(cc::TABLE, &spec.cc);
        let mut sender = Sender::open(config, new_cc, &spec.cc.params, phase);
        if scenario.record.episodes {
            sender.keep_episodes();
        }
        flows.push(Flow::new(FlowPlan {
            id: index_u32(index),
            start: spec.start.secs(),
            sender,
            source: spec.source(seed),
            trip: trips[index],
        }));
    }
    request_responses.add_clients(scenario, seed, &mut flows, trips);
    flows
}

/// The random numbers of the clocks of a flow's hosts.
pub(super) fn clocks(seed: u64, flow: &str) -> Stream {
    Stream::new(seed, &format!("{flow}/clocks"))
}

/// A cache for each path, if a flow uses one: flows with one path are between the same two hosts. And, of each entry of flows that
/// arrive, the number of its path and what its hosts keep.
pub(super) fn metrics_caches(
    scenario: &Scenario,
    flows: &[Flow],
) -> (Option<MetricsCaches>, Vec<(usize, Keeps)>) {
    let keeps = |spec: &FlowSpec| Config::from(&spec.tcp).metrics_cache;
    let mut places: BTreeMap<&[usize], usize> = BTreeMap::new();
    let mut of_flow = Vec::new();
    for (at, spec) in scenario.all_flows().enumerate() {
        if at == scenario.flows.len() {
            // The sides that ask are part of connections that have their place.
            of_flow.resize(flows.len(), (0, Keeps::Nothing));
        }
        let next = places.len();
        of_flow.push((*places.entry(&spec.path).or_insert(next), keeps(spec)));
    }
    of_flow.resize(of_flow.len().max(flows.len()), (0, Keeps::Nothing));
    if of_flow.iter().all(|(_, keeps)| *keeps == Keeps::Nothing) {
        return (None, of_flow.split_off(flows.len()));
    }
    let caches = MetricsCaches::new(of_flow.iter().copied());
    (Some(caches), of_flow.split_off(flows.len()))
}

/// Whether all flows start at one place: their paths begin with the same link.
pub(super) fn senders(scenario: &Scenario) -> Senders {
    let mut first_links = scenario.flows.iter().map(|flow| flow.path[0]);
    let first = first_links.next();
    if scenario.flows.len() > 1 && first_links.all(|link| Some(link) == first) {
        Senders::OneNode
    } else {
        Senders::NodeEach
    }
}
