//! Stochastic Fairness Queueing: flows are hashed into queues, and the queues send in turn.
//!
//! Specification: McKenney, "Stochastic Fairness Queueing", INFOCOM 1990.
//!
//! Model:
//! - flows are hashed into `queues` queues; those with packets take turns, each for `quantum`: one packet, or bytes
//! - bytes that a turn's last packet was too long by are missing in its queue's next turn
//! - a full buffer: a packet of the longest queue is dropped (buffer stealing)
//! - every `perturbation_period` the hash changes, so that flows which share a queue do not share it for ever
//!
//! Deviations: when the hash changes, waiting packets move to their flow's new queue, in the order in which they came, so that none is
//! overtaken by a younger one of its flow; the paper leaves them where they are and accepts reordering.
//!
//! Kernel equivalent: `sfq`, whose quantum is in bytes, one MTU by default, and whose limit is 127 packets; `perturb`, `headdrop`.

use std::collections::VecDeque;

use super::drop_tail::LIMIT;
use super::flows::{DROP_FROM, FlowQueues, Id, QUEUES, QueueEnd, signed};
use super::{Backlog, BufferLimit, Dequeued, NewQueue, Queue, QueuedPacket, Site};
use crate::registry::{Entry, Kind, Params, Value, param};
use crate::rng::RandomStream;
use crate::units::Instant;

pub(super) const ENTRY: Entry<NewQueue> = Entry {
    name: "sfq",
    summary: "stochastic fairness queueing: flows are hashed into queues that send in turn",
    specification: &["McKenney 1990"],
    params: &[
        LIMIT,
        QUEUES,
        param!(quantum: Kind::PacketsOrBytes => Value::Packets(1),
            "what a queue may send per turn, packets or bytes"),
        param!(perturbation_period: Kind::Duration { min_exclusive: true } => Value::None,
            "time after which the hash changes; none for never"),
        DROP_FROM,
    ],
    new: |params, site| Box::new(Sfq::new(params, site)),
};

/// The discipline.
#[derive(Debug)]
struct Sfq {
    limit: BufferLimit,
    drop_from: QueueEnd,
    quantum: BufferLimit,
    /// A queue's credit is what it may send before its turn ends, as `quantum` counts it.
    flows: FlowQueues<()>,
    /// Queues with packets, in the order of their turns.
    active: VecDeque<Id>,
    perturbation: Option<Perturbation>,
}

/// When the hash changes, and how.
#[derive(Debug)]
struct Perturbation {
    period: f64,
    /// How many there have been.
    count: f64,
    stream: RandomStream,
}

impl Sfq {
    fn new(params: &Params, mut site: Site) -> Self {
        Self {
            limit: BufferLimit::of(params, "limit"),
            drop_from: QueueEnd::of(params),
            quantum: BufferLimit::of(params, "quantum"),
            flows: FlowQueues::new(params, &mut site.stream),
            active: VecDeque::new(),
            perturbation: match params.get("perturbation_period") {
                Value::Duration(period) => Some(Perturbation {
                    period,
                    count: 0.0,
                    stream: site.stream,
                }),
                _ => None,
            },
        }
    }

    /// A turn's worth.
    fn turn(&self) -> i64 {
        match self.quantum {
            BufferLimit::Packets(count) => count.cast_signed(),
            BufferLimit::Bytes(size) => signed(size),
        }
    }

    /// What a packet takes of it.
    fn cost(&self, packet: &QueuedPacket) -> i64 {
        match self.quantum {
            BufferLimit::Packets(_) => 1,
            BufferLimit::Bytes(_) => signed(packet.size()),
        }
    }

    fn take_in(&mut self, packet: QueuedPacket) {
        let turn = self.turn();
        let id = self.flows.of(&packet, || ());
        let queue = self.flows.get(id);
        if !queue.listed {
            (queue.credit, queue.listed) = (turn, true);
            self.active.push_back(id);
        }
        self.flows.push(id, packet);
    }

    /// Does what was due until `now`. Of several perturbations that are due the last one counts.
    fn perturb(&mut self, now: Instant) {
        let Some(perturbation) = &mut self.perturbation else {
            return;
        };
        let due = libm::floor(now.secs() / perturbation.period);
        if due <= perturbation.count {
            return;
        }
        perturbation.count = due;
        let packets = self.flows.perturb(&mut perturbation.stream);
        self.active.clear();
        for packet in packets {
            self.take_in(packet);
        }
    }
}

impl Queue for Sfq {
    fn enqueue(
        &mut self,
        packet: QueuedPacket,
        in_service: Backlog,
        dropped: &mut Vec<QueuedPacket>,
    ) {
        self.perturb(packet.arrived);
        self.take_in(packet);
        let (limit, from) = (self.limit, self.drop_from);
        (self.flows).steal(limit, from, in_service, &self.active, dropped);
    }

    fn dequeue(&mut self, now: Instant, _dropped: &mut Vec<QueuedPacket>) -> Dequeued {
        self.perturb(now);
        while let Some(&id) = self.active.front() {
            let turn = self.turn();
            let queue = self.flows.get(id);
            if queue.fifo.is_empty() {
                queue.listed = false;
                self.active.pop_front();
            } else if queue.credit <= 0 {
                queue.credit += turn;
                self.active.rotate_left(1);
            } else {
                let packet = self.flows.pop(id).expect("it is not empty");
                let cost = self.cost(&packet);
                let queue = self.flows.get(id);
                queue.credit -= cost;
                if queue.fifo.is_empty() {
                    queue.listed = false;
                    self.active.pop_front();
                }
                return Dequeued::Packet(packet);
            }
        }
        Dequeued::Empty
    }

    fn waiting(&self) -> Backlog {
        self.flows.waiting()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{arrive, drain, params, queued};
    use super::*;
    use crate::packet::Ecn;
    use crate::units::Rate;

    fn sfq(values: &[(&str, Value)]) -> Sfq {
        let site = Site {
            rate: Rate::from_bps(10e6),
            stream: RandomStream::new(1, "test"),
        };
        Sfq::new(&params(&ENTRY, values), site)
    }

    fn flows(sent: &[(u32, u32)]) -> Vec<u32> {
        sent.iter().map(|(flow, _)| *flow).collect()
    }

    #[test]
    fn queues_send_one_packet_each_in_turn() {
        let mut queue = sfq(&[]);
        for flow in [0, 0, 0, 0, 1, 2, 2] {
            arrive(&mut queue, flow, 1000, 0.0);
        }
        assert_eq!(flows(&drain(&mut queue, 0.0)), [0, 1, 2, 0, 2, 0, 0]);
    }

    #[test]
    fn a_quantum_in_bytes_shares_bytes() {
        // Turns of 1000 bytes. Flow 0 sends 1500 in its first, has 500 left for its second and sends 1500, has 0 for its third and nothing to
        // send with; so two packets in three turns, beside two packets of 500 bytes in each turn of flow 1.
        let mut queue = sfq(&[("quantum", Value::Bytes(1000))]);
        for _ in 0..4 {
            arrive(&mut queue, 0, 1500, 0.0);
        }
        for _ in 0..12 {
            arrive(&mut queue, 1, 500, 0.0);
        }
        let sent = drain(&mut queue, 0.0);
        assert_eq!(
            flows(&sent),
            [0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0, 1, 1, 1, 1]
        );
    }

    #[test]
    fn mckenney_flows_that_collide_part_when_the_hash_changes_and_no_packet_is_overtaken() {
        // Two queues: of eight flows some share one for sure.
        let mut queue = sfq(&[
            ("queues", Value::Integer(2)),
            ("perturbation_period", Value::Duration(10.0)),
        ]);
        let halves = |queue: &mut Sfq| -> Vec<Id> {
            (0..8)
                .map(|flow| {
                    queue
                        .flows
                        .of(&queued(flow, 0, 100, Ecn::NotEct, 0.0), || ())
                })
                .collect()
        };
        let before = halves(&mut queue);
        for round in 0..3 {
            for flow in 0..8 {
                arrive(&mut queue, flow, 100 + round, f64::from(round));
            }
        }
        queue.perturb(Instant::from_secs(9.9));
        assert_eq!(before, halves(&mut queue));
        let sent = drain(&mut queue, 10.0);
        assert_ne!(before, halves(&mut queue));
        assert_eq!(sent.len(), 24);
        for flow in 0..8 {
            let sizes: Vec<u32> = sent
                .iter()
                .filter(|sent| sent.0 == flow)
                .map(|sent| sent.1)
                .collect();
            assert_eq!(sizes, [100, 101, 102]);
        }
    }

    #[test]
    fn a_turn_ends_when_all_of_it_is_spent() {
        // Of 1000 bytes flow 0 has one left after its first packet of 999, and sends the second; flow 1 has none.
        let mut queue = sfq(&[("quantum", Value::Bytes(1000))]);
        for flow in [0, 1] {
            for _ in 0..2 {
                arrive(&mut queue, flow, 999 + flow, 0.0);
            }
        }
        arrive(&mut queue, 0, 999, 0.0);
        // Flow 0 has then sent 998 bytes too many, so that its turn after next is its next.
        let sent = drain(&mut queue, 0.0);
        assert_eq!(flows(&sent), [0, 0, 1, 0, 1]);
    }
}
