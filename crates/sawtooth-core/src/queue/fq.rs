//! The scheduler of FQ-CoDel and FQ-PIE: queues per flow that share bytes, those that have just become active first.
//!
//! Specification: RFC 8290 §4.1 and §4.2.
//!
//! A queue that gets a packet and is in no list goes to the end of the new ones, with a `quantum` of credit. The head of the new queues, or
//! if there are none of the old ones, is next: without credit it gets a quantum more and goes to the end of the old ones; else it sends a
//! packet, which it pays for by its bytes, even if they are more than it has. An empty queue leaves the old ones; from the new ones it goes to
//! the end of the old ones first, so that nobody stays new by sending a packet at a time.
//!
//! The RFC speaks of a negative credit and explains it by "at least a quantum" that has been sent: here none is left at 0.

use std::collections::VecDeque;

use super::flows::{FlowQueues, Id, exceeds, signed};
use super::{Backlog, BufferLimit, QueuedPacket};
use crate::registry::{Kind, Param, Params, Value, param};
use crate::rng::RandomStream;
use crate::units::ByteCount;

pub(super) const QUANTUM: Param = param!(quantum: Kind::Bytes => Value::Bytes(1514),
    "bytes that a queue may send per round, headers included");

pub(super) const MEMORY_LIMIT: Param = param!(memory_limit: Kind::Bytes => Value::Bytes(32 << 20),
    "bytes that may wait, headers included, besides `limit`");

/// How much all queues hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct FqLimits {
    limit: BufferLimit,
    memory: BufferLimit,
}

impl FqLimits {
    /// The parameters `limit` and [`MEMORY_LIMIT`].
    pub(super) fn of(params: &Params) -> Self {
        Self {
            limit: BufferLimit::of(params, "limit"),
            memory: BufferLimit::Bytes(ByteCount::new(params.bytes("memory_limit"))),
        }
    }

    /// Whether what is `present` is more than fits.
    pub(super) fn exceeded(self, present: Backlog) -> bool {
        exceeds(self.limit, present) || exceeds(self.memory, present)
    }
}

/// Queues and whose turn it is.
#[derive(Debug)]
pub(super) struct FairQueues<A> {
    pub flows: FlowQueues<A>,
    quantum: i64,
    /// Queues that have become active, and those that have been for longer.
    new: VecDeque<Id>,
    old: VecDeque<Id>,
}

impl<A> FairQueues<A> {
    /// Of a row that has [`QUEUES`](super::flows::QUEUES) and [`QUANTUM`].
    pub(super) fn new(params: &Params, stream: &mut RandomStream) -> Self {
        let quantum = ByteCount::new(params.bytes("quantum"));
        Self::of(FlowQueues::new(params, stream), quantum)
    }

    /// Queues that share by this many bytes a round.
    pub(super) fn of(flows: FlowQueues<A>, quantum: ByteCount) -> Self {
        Self {
            flows,
            quantum: signed(quantum),
            new: VecDeque::new(),
            old: VecDeque::new(),
        }
    }

    /// §4.1: takes a packet into a queue.
    pub(super) fn push(&mut self, id: Id, packet: QueuedPacket) {
        self.flows.push(id, packet);
        let quantum = self.quantum;
        let queue = self.flows.get(id);
        if !queue.listed {
            (queue.credit, queue.listed) = (quantum, true);
            self.new.push_back(id);
        }
    }

    /// §4.2: a packet of the queue whose turn it is. `take` takes it from there; if it has none, the queue is empty.
    pub(super) fn next(
        &mut self,
        mut take: impl FnMut(&mut FlowQueues<A>, Id) -> Option<QueuedPacket>,
    ) -> Option<QueuedPacket> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let id = *list.front()?;
            let queue = self.flows.get(id);
            if queue.credit <= 0 {
                queue.credit += self.quantum;
            } else if let Some(packet) = take(&mut self.flows, id) {
                self.flows.get(id).credit -= signed(packet.size());
                return Some(packet);
            } else if !is_new {
                list.pop_front();
                self.flows.get(id).listed = false;
                continue;
            }
            list.pop_front();
            self.old.push_back(id);
        }
    }

    /// The queue in which most bytes wait.
    pub(super) fn fattest(&self) -> Option<Id> {
        let active = self.new.iter().chain(&self.old).copied();
        self.flows.longest(|waiting| waiting.bytes.get(), active)
    }
}

#[cfg(test)]
mod tests {
    use super::super::flows::QUEUES;
    use super::super::testing::{params_of, queued};
    use super::*;
    use crate::packet::Ecn;

    fn queues(quantum: u64) -> FairQueues<()> {
        let params = params_of(&[QUEUES, QUANTUM], &[("quantum", Value::Bytes(quantum))]);
        FairQueues::new(&params, &mut RandomStream::new(1, "test"))
    }

    fn arrive(queues: &mut FairQueues<()>, flow: u32, wire_bytes: u32) {
        let packet = queued(flow, 0, wire_bytes, Ecn::NotEct, 0.0);
        let id = queues.flows.of(&packet, || ());
        queues.push(id, packet);
    }

    fn leave(queues: &mut FairQueues<()>) -> Option<u32> {
        let packet = queues.next(FlowQueues::pop)?;
        Some(packet.packet.flow)
    }

    #[test]
    fn rfc8290_4_2_a_queue_that_has_become_active_is_next() {
        let mut queues = queues(1000);
        for _ in 0..4 {
            arrive(&mut queues, 0, 1000);
            arrive(&mut queues, 1, 1000);
        }
        // Both are new, send their quantum and become old.
        let mut order: Vec<Option<u32>> = (0..3).map(|_| leave(&mut queues)).collect();
        arrive(&mut queues, 2, 400);
        arrive(&mut queues, 2, 400);
        // The new one sends both of its packets before the others go on.
        order.extend((0..5).map(|_| leave(&mut queues)));
        assert_eq!(order, [0, 1, 0, 2, 2, 1, 0, 1].map(Some));
    }

    #[test]
    fn rfc8290_4_2_nobody_stays_new_by_sending_a_packet_at_a_time() {
        let mut queues = queues(1000);
        for _ in 0..9 {
            arrive(&mut queues, 0, 1000);
        }
        assert_eq!(leave(&mut queues), Some(0));
        // Each packet of flow 1 finds its queue empty, and the queue has left the new ones for the old ones: of the first three packets one
        // comes before its time, when the queue was new, and the others take turns with flow 0.
        let mut order = Vec::new();
        for _ in 0..4 {
            arrive(&mut queues, 1, 1000);
            order.extend([leave(&mut queues), leave(&mut queues)]);
        }
        assert_eq!(order, [1, 0, 1, 0, 1, 0, 1, 0].map(Some));
    }

    #[test]
    fn rfc8290_4_1_a_queue_pays_for_a_packet_that_is_longer_than_its_credit() {
        // 1500 bytes of a quantum of 500 are paid in three rounds: beside each packet flow 1 sends three of 500.
        let mut queues = queues(500);
        for _ in 0..3 {
            arrive(&mut queues, 0, 1500);
        }
        for _ in 0..9 {
            arrive(&mut queues, 1, 500);
        }
        let order: Vec<u32> = std::iter::from_fn(|| leave(&mut queues)).collect();
        assert_eq!(order, [0, 1, 1, 1, 0, 1, 1, 1, 0, 1, 1, 1]);
    }
}
