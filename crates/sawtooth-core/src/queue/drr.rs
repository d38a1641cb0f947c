//! Deficit Round Robin: a queue per flow; each may send so many bytes per round and keeps what it could not use for its next.
//!
//! Specification: Shreedhar and Varghese, "Efficient Fair Queuing using Deficit Round Robin", SIGCOMM 1995 (its pseudo-code), with the
//! buffer stealing of McKenney, "Stochastic Fairness Queueing", INFOCOM 1990, that it takes over.
//!
//! Model:
//! - flows are hashed into `queues` queues; one that was empty goes to the end of the list of active ones, with `DC = 0`
//! - the first of the list gets `DC += quantum` and sends packets as long as they are no longer than `DC`, each with `DC -= size`
//! - if it is empty then, it leaves the list with `DC = 0`; else it goes to the end of the list and keeps `DC`
//! - a full buffer: a packet of the longest queue is dropped
//!
//! Two flows that always have packets waiting differ by at most `quantum + 2 * max` bytes over any interval (the paper's bound of
//! unfairness, with `max` the longest packet). A quantum of at least one packet makes the work per packet constant.
//!
//! Deviations: the packet that arrives at a full buffer counts when the longest queue is looked for; the paper makes room before, so that
//! of two equally long queues the other flow's could be chosen. All flows have the same quantum.
//!
//! Kernel equivalent: `drr`, with a class per flow (it has no hash and no common buffer of its own).

use std::collections::VecDeque;

use super::drop_tail::LIMIT;
use super::flows::{DROP_FROM, FlowQueues, Id, QUEUES, QueueEnd, signed};
use super::{Backlog, BufferLimit, Dequeued, NewQueue, Queue, QueuedPacket, Site};
use crate::registry::{Entry, Kind, Params, Value, param};
use crate::units::{ByteCount, Instant};

pub(super) const ENTRY: Entry<NewQueue> = Entry {
    name: "drr",
    summary: "deficit round robin: flows share the link's bytes equally",
    specification: &["Shreedhar and Varghese 1995"],
    params: &[
        LIMIT,
        QUEUES,
        param!(quantum: Kind::Bytes => Value::Bytes(1500),
            "bytes that a queue may send per round, headers included"),
        DROP_FROM,
    ],
    new: |params, site| Box::new(Drr::new(params, site)),
};

/// The discipline.
#[derive(Debug)]
struct Drr {
    limit: BufferLimit,
    drop_from: QueueEnd,
    quantum: i64,
    /// A queue's credit is its deficit counter.
    flows: FlowQueues<()>,
    /// Queues with packets, in the order of their turns.
    active: VecDeque<Id>,
    /// The first of them has had its quantum.
    served: bool,
}

impl Drr {
    fn new(params: &Params, mut site: Site) -> Self {
        Self {
            limit: BufferLimit::of(params, "limit"),
            drop_from: QueueEnd::of(params),
            quantum: signed(ByteCount::new(params.bytes("quantum"))),
            flows: FlowQueues::new(params, &mut site.stream),
            active: VecDeque::new(),
            served: false,
        }
    }

    /// The first of the active queues is empty.
    fn retire(&mut self, id: Id) {
        self.active.pop_front();
        self.served = false;
        let queue = self.flows.get(id);
        (queue.credit, queue.listed) = (0, false);
    }
}

impl Queue for Drr {
    fn enqueue(
        &mut self,
        packet: QueuedPacket,
        in_service: Backlog,
        dropped: &mut Vec<QueuedPacket>,
    ) {
        let id = self.flows.of(&packet, || ());
        let queue = self.flows.get(id);
        if !queue.listed {
            queue.listed = true;
            self.active.push_back(id);
        }
        self.flows.push(id, packet);
        let (limit, from) = (self.limit, self.drop_from);
        (self.flows).steal(limit, from, in_service, &self.active, dropped);
    }

    fn dequeue(&mut self, _now: Instant, _dropped: &mut Vec<QueuedPacket>) -> Dequeued {
        while let Some(&id) = self.active.front() {
            let queue = self.flows.get(id);
            // All of it may have been dropped.
            let Some(head) = queue.fifo.front() else {
                self.retire(id);
                continue;
            };
            let bytes = signed(head.size());
            if !self.served {
                self.served = true;
                queue.credit += self.quantum;
            }
            if bytes > queue.credit {
                self.active.rotate_left(1);
                self.served = false;
                continue;
            }
            queue.credit -= bytes;
            let last = queue.fifo.waiting().packets == 1;
            let packet = self.flows.pop(id);
            if last {
                self.retire(id);
            }
            return packet.into();
        }
        Dequeued::Empty
    }

    fn waiting(&self) -> Backlog {
        self.flows.waiting()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{arrive, build, drain};
    use super::*;

    #[test]
    fn shreedhar_varghese_figures_2_and_3_a_deficit_is_kept_for_the_next_round() {
        // The paper's example: quantum 500; the first queue has 200, 750 and 20 bytes, the second 500 and 500, the third 200, the fourth
        // 180 and more. Round 1: the first sends 200, 300 are left, too few for 750; the second sends 500; the third 200; the fourth 180.
        // Round 2: the first has 800 and sends 750 and 20; the second its other 500.
        let mut queue = build(&ENTRY, &[("quantum", Value::Bytes(500))], 10e6);
        let queue = &mut *queue;
        for (flow, bytes) in [
            (0, 200),
            (0, 750),
            (0, 20),
            (1, 500),
            (1, 500),
            (2, 200),
            (3, 180),
        ] {
            arrive(queue, flow, bytes, 0.0);
        }
        let sent: Vec<(u32, u32)> = drain(queue, 0.0);
        assert_eq!(
            sent,
            [
                (0, 200),
                (1, 500),
                (2, 200),
                (3, 180),
                (0, 750),
                (0, 20),
                (1, 500)
            ]
        );
    }

    #[test]
    fn a_full_buffer_drops_from_the_longest_queue() {
        for (from, expected) in [("tail", 2), ("head", 0)] {
            let values = [
                ("limit", Value::Packets(4)),
                ("drop_from", Value::Choice(from)),
            ];
            let mut queue = build(&ENTRY, &values, 10e6);
            let queue = &mut *queue;
            for _ in 0..3 {
                assert!(arrive(queue, 7, 1000, 0.0).is_empty());
            }
            assert!(arrive(queue, 8, 1000, 0.0).is_empty());
            let dropped = arrive(queue, 9, 1000, 0.0);
            assert_eq!(
                dropped,
                [(7, expected)],
                "from the {from}: flow, and which of its packets"
            );
            assert_eq!(queue.waiting().packets, 4);
        }
    }
}
