//! A connection in a run: its sender and receiver, what its application writes, and the way of its packets.

use std::cell::OnceCell;
use std::sync::Arc;

use super::ack_sizes::AckSizes;
use super::index::index_u32;
use super::routes::Trip;
use super::writes::{NextWrite, Writes};

use crate::cc;
use crate::events::{Event, EventKey};
use crate::packet::{Ack, AckStore, DataSegment, InOrderAck, Packet};
use crate::rng::{RandomStream, StreamName};
use crate::source::Source;
use crate::spec::{FlowSpec, OfAlike, Part, Scenario};
use crate::tcp::ns2_random::{self, Senders};
use crate::tcp::sender::{SegmentStamps, Sender, SenderDraws};
use crate::tcp::{Config, receiver::Receiver};
use crate::units::{ByteCount, Instant, SegCount, SeqNum};

#[derive(Debug)]
pub(super) struct Flow {
    /// What its packets say that they are of: its own for the whole run. Its place among the flows may be used again.
    pub(super) id: u32,
    pub(super) sender: Sender,
    pub(super) receiver: Receiver,
    pub(super) start: Instant,
    pub(super) started: bool,
    /// Its number among connections of requests and responses, if it is of one: then what it writes answers what the flow the other way has delivered.
    pub(super) request_response: Option<u32>,
    pub(super) writes: Writes,
    /// Of its timers and writes the last.
    pub(super) fired: EventKey,
    pub(super) trip: Trip,
    /// Wire size of the segments it sends: header, and header with full payload.
    pub(super) header: ByteCount,
    pub(super) ack_sizes: AckSizes,
}

/// What a flow is made of.
pub(super) struct FlowPlan {
    pub(super) id: u32,
    pub(super) start: Instant,
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
            source,
            trip,
        } = plan;
        let config = sender.config();
        Self {
            id,
            receiver: Receiver::new(config),
            start,
            started: false,
            request_response: None,
            writes: Writes::new(source),
            fired: EventKey::NEVER,
            trip,
            header: config.header,
            ack_sizes: AckSizes {
                plain: config.ack_size,
                sack_option_header: config.sack_option_header,
                has_dsack: config.reports_repetitions(),
                first_data: SeqNum::ZERO + SegCount::from(config.handshake),
                syn_options: if config.handshake {
                    config.syn_options
                } else {
                    ByteCount::ZERO
                },
            },
            sender,
        }
    }

    /// When the sender's timer expires or its application writes, whichever is first.
    #[inline]
    pub(super) fn next_timer(&self) -> EventKey {
        let timer = self.sender.next_timer();
        if self.writes.key.time <= timer.time {
            self.writes.key
        } else {
            timer
        }
    }

    /// The application writes what is due, and closes if that was all.
    pub(super) fn write(&mut self, now: Event) {
        self.writes.key = EventKey::NEVER;
        if self.request_response.is_some() {
            return self.write_answer(now);
        }
        loop {
            match self.writes.due(self.start, now) {
                NextWrite::Bytes(bytes) => self.sender.on_write(now, bytes),
                NextWrite::Later => return,
                NextWrite::Over => return self.sender.on_close(),
            }
        }
    }

    /// One side of a connection of requests and responses writes what it has to say now, if it has.
    fn write_answer(&mut self, now: Event) {
        let Some(portion) = self.writes.next_portion(self.start, now) else {
            return;
        };
        if !portion.bytes.is_zero() {
            self.sender.on_write(now, portion.bytes);
        }
        if portion.is_all {
            self.sender.on_close();
        }
    }

    /// It is of a connection of requests and responses, of that number. Data carry acknowledgements there, so none of these is plain.
    pub(super) fn join(&mut self, request_response: u32) {
        self.request_response = Some(request_response);
        self.receiver.stay_open();
        self.sender.close_plain_way();
    }

    /// Whether an acknowledgement of everything before `next`, which says nothing else, is plain: nothing of the sender's is due before it arrives at `time`.
    #[inline(always)]
    pub(super) fn takes_plainly(&self, time: Instant, next: SeqNum) -> bool {
        self.sender.takes_plainly(time, next) && self.writes.key.time > time
    }

    /// The packet of a full segment that is neither the first nor the last.
    #[inline(always)]
    pub(super) fn full_data(&self, seq: SeqNum, stamps: SegmentStamps) -> Packet {
        let payload = self.sender.config().smss;
        let SegmentStamps { value, echo } = stamps;
        let segment = DataSegment {
            seq,
            payload,
            stamp: value,
            echo,
            ..DataSegment::default()
        };
        Packet::data(
            self.id,
            self.trip.first_stop,
            self.header + payload,
            segment,
        )
    }

    /// The packet of a segment that leaves.
    #[inline(always)]
    pub(super) fn data(&self, data: DataSegment) -> Packet {
        let mut size = self.header + data.payload;
        if data.seq < self.ack_sizes.first_data {
            size += self.ack_sizes.syn_options;
        }
        Packet::data(self.id, self.trip.first_stop, size, data)
    }

    /// Whether a packet is the first in a row with marks, or without, of which the receiver has not taken note.
    #[inline(always)]
    pub(super) fn marks_change(&self, packet: &Packet) -> bool {
        let marks = &self.receiver.marks;
        marks.is_on() && marks.changes_state(packet.ecn())
    }

    pub(super) fn sent_packets(&self) -> SegCount {
        SegCount::new(self.sender.counters().sent_packets)
    }

    /// Whether a segment that arrives is the next one of a receiver that sees to nothing else, and none of its timers is due before.
    #[inline(always)]
    pub(super) fn receives_plainly(&self, time: Instant, seq: SeqNum) -> bool {
        self.receiver.is_plain()
            && self.receiver.takes_plainly(time, seq)
            && self.request_response.is_none()
    }

    /// The packet of an acknowledgement, at a stop, that says nothing but that `next` is expected.
    #[inline(always)]
    pub(super) fn plain_ack(&self, hop: u32, next: SeqNum) -> Packet {
        Packet::acknowledging(self.id, hop, self.plain_ack_size(next), next)
    }

    /// What it takes on the wire.
    #[inline(always)]
    pub(super) fn plain_ack_size(&self, next: SeqNum) -> ByteCount {
        if next > self.ack_sizes.first_data {
            self.ack_sizes.plain
        } else {
            self.ack_sizes.plain + self.ack_sizes.syn_options
        }
    }

    /// The packet of an acknowledgement of segments in order, at a stop.
    #[inline(always)]
    pub(super) fn in_order_ack(&self, hop: u32, ack: InOrderAck) -> Packet {
        let size = self.plain_ack_size(ack.next);
        Packet::acknowledging_in_order(self.id, hop, size, ack)
    }

    /// The packet of an acknowledgement that is at a stop.
    #[inline(always)]
    pub(super) fn ack(&self, acks: &mut AckStore, hop: u32, ack: &Ack) -> Packet {
        acks.pack(self.id, hop, self.ack_sizes.of(ack), ack)
    }
}

/// The scenario's flows. Of some the connection has been opened by the other side.
pub(super) fn standing_flows(
    scenario: &Scenario,
    seed: u64,
    is_opened: impl Fn(usize) -> bool,
    trips: &[Trip],
) -> Vec<Flow> {
    let clock_phases = OnceCell::new();
    let clock_phases = || {
        let found = || ns2_random::phases(scenario.flows.len(), senders(scenario));
        clock_phases.get_or_init(found)
    };
    let mut flows = Vec::with_capacity(scenario.flows.len());
    let mut configs = OfAlike::new();
    for (index, spec) in scenario.flows.iter().enumerate() {
        // Who answers has been connected to.
        let opens = !is_opened(index);
        let config = configs.of(spec, || {
            let config = Config::from(&spec.tcp);
            Arc::new(Config {
                handshake: config.handshake && opens,
                handshake_ack: config.handshake_ack && opens,
                // A host's socket has its own memory.
                send_buffer_default: config.send_buffer_default.filter(|_| spec.host.is_none()),
                fin_of_receiver: config.fin_of_receiver && spec.host.is_none(),
                ..config
            })
        });
        let opening = Opening {
            spec,
            config,
            algorithm: algorithm(&spec.cc),
            end: FlowEnd::Sender,
            name: StreamName::of(&[&spec.name]),
            plain_way: scenario.shortcuts.plain_way,
        };
        let mut sender = opening.open(seed, |_| clock_phases()[index]);
        if scenario.record.episodes {
            sender.keep_episodes();
        }
        if scenario.record.limited {
            sender.keep_limited();
        }
        flows.push(Flow::new(FlowPlan {
            id: index_u32(index),
            start: spec.start,
            sender,
            source: spec.source(seed),
            trip: trips[index],
        }));
    }
    flows
}

/// The constructor of an algorithm; the scenario has checked its name.
pub(super) fn algorithm(cc: &Part) -> cc::Algorithm {
    let entry = cc::TABLE.iter().find(|entry| entry.name == cc.name);
    entry.expect("the scenario names parts of the table").new
}

/// What a sender is made of before it has its random numbers.
pub(super) struct Opening<'a> {
    /// The flow of the scenario that it belongs to.
    pub(super) spec: &'a FlowSpec,
    pub(super) config: Arc<Config>,
    pub(super) algorithm: cc::Algorithm,
    /// Of that flow's two ends, the one at which it is.
    pub(super) end: FlowEnd,
    /// What its own random numbers are named after; those of the hosts' clocks are named after the flow.
    pub(super) name: StreamName,
    /// Whether it takes the plain way of acknowledgements where it can.
    pub(super) plain_way: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FlowEnd {
    Sender,
    /// There requests are sent.
    Receiver,
}

impl Opening<'_> {
    /// The sender of a run with a seed. `ns2_share`: the share of a tick at which its clock starts if ticks begin as in ns-2, perhaps drawn.
    pub(super) fn open(
        self,
        seed: u64,
        ns2_share: impl FnOnce(&mut RandomStream) -> f64,
    ) -> Sender {
        let mut random = self.name.and("/cc").stream(seed);
        let seed_of_cc = random.integer(0, i64::MAX).unsigned_abs();
        let mut config = self.config;
        let mut shares = [0.0; 2];
        if config.random_phases != [false; 2] {
            let mut clocks = StreamName::of(&[&self.spec.name, "/clocks"]).stream(seed);
            shares = Arc::make_mut(&mut config).draw_phases(&mut clocks);
        }
        let [at_sender, at_receiver] = shares;
        let share = match self.end {
            FlowEnd::Sender => at_sender,
            FlowEnd::Receiver => {
                Arc::make_mut(&mut config).exchange_hosts();
                at_receiver
            }
        };
        let share = if config.ns2_tick_phase {
            ns2_share(&mut random)
        } else {
            share
        };
        let phase = config.rto.granularity * share;
        let draws = SenderDraws {
            seed: seed_of_cc,
            phase,
        };
        let params = &self.spec.cc.params;
        let mut sender = Sender::open(config, self.algorithm, params, draws);
        if !self.plain_way {
            sender.close_plain_way();
        }
        sender
    }
}

/// Whether all flows start at one place: their data crosses the same link first, the same way.
pub(super) fn senders(scenario: &Scenario) -> Senders {
    let first_port = |flow: &FlowSpec| flow.direction.port_at(&flow.path, 0);
    let mut first_ports = scenario.flows.iter().map(first_port);
    let first = first_ports.next();
    if scenario.flows.len() > 1 && first_ports.all(|port| Some(port) == first) {
        Senders::OneNode
    } else {
        Senders::NodeEach
    }
}
