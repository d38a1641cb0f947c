//! FQ-CoDel: a queue per flow, each under CoDel, and sparse flows first.
//!
//! Specification: RFC 8290.
//!
//! Model:
//! - flows are hashed into `queues` queues, which share the link's bytes by `quantum`, those that have just become active first (§4.2)
//! - each queue is under CoDel by itself: it drops or marks when a packet leaves (§4.2, RFC 8289)
//! - a packet that makes more wait than `limit` or `memory_limit` is taken in, and half of the packets of the queue with the most bytes are
//!   dropped from its head, no more than `drop_batch` (§4.1)
//!
//! Deviations: half of an odd number is rounded up. The memory limit, in Linux but not in the RFC, counts bytes on the wire.
//!
//! Kernel equivalent: `fq_codel`, whose limits do not count the packet being transmitted, and whose memory is that of its buffers.

use super::codel::{CE_THRESHOLD, Codel, CodelConfig, ECN, INTERVAL, MAX_PACKET, TARGET};
use super::drop_tail::limit;
use super::flows::QUEUES;
use super::fq::{FairQueues, FqLimits, MEMORY_LIMIT, QUANTUM};
use super::{Backlog, Dequeued, NewQueue, Queue, QueuedPacket, Site};
use crate::registry::{Entry, Kind, Params, Value, param};
use crate::units::Instant;

pub(super) const ENTRY: Entry<NewQueue> = Entry {
    name: "fq_codel",
    summary: "a queue per flow under CoDel: flows share the link, sparse ones do not wait",
    specification: &["RFC 8290", "RFC 8289", "RFC 3168 §5"],
    params: &[
        limit(10_240),
        MEMORY_LIMIT,
        QUEUES,
        QUANTUM,
        param!(drop_batch: Kind::Packets => Value::Packets(64),
            "most packets that are dropped at once when the buffer is full"),
        TARGET,
        INTERVAL,
        MAX_PACKET,
        ECN,
        CE_THRESHOLD,
    ],
    new: |params, site| Box::new(FqCodel::new(params, site)),
};

/// The discipline.
#[derive(Debug)]
struct FqCodel {
    limits: FqLimits,
    drop_batch: u64,
    config: CodelConfig,
    queues: FairQueues<Codel>,
}

impl FqCodel {
    fn new(params: &Params, mut site: Site) -> Self {
        Self {
            limits: FqLimits::of(params),
            drop_batch: match params.get("drop_batch") {
                Value::Packets(packets) => packets,
                other => unreachable!("{other:?} is not a number of packets"),
            },
            config: CodelConfig::of(params),
            queues: FairQueues::new(params, &mut site.stream),
        }
    }

    /// §4.1: makes room.
    fn drop_batch(&mut self, dropped: &mut Vec<QueuedPacket>) {
        let fattest = self.queues.fattest().expect("a full buffer has packets");
        self.queues.flows.change(fattest, |queue| {
            let half = queue.fifo.waiting().packets.div_ceil(2);
            for _ in 0..half.min(self.drop_batch) {
                dropped.extend(queue.fifo.pop());
            }
        });
    }
}

impl Queue for FqCodel {
    fn enqueue(
        &mut self,
        packet: QueuedPacket,
        in_service: Backlog,
        dropped: &mut Vec<QueuedPacket>,
    ) {
        let id = self.queues.flows.of(&packet, Codel::default);
        self.queues.push(id, packet);
        while self.limits.exceeded(self.waiting() + in_service) {
            self.drop_batch(dropped);
        }
    }

    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<QueuedPacket>) -> Dequeued {
        let config = &self.config;
        let leave = |flows: &mut super::flows::FlowQueues<Codel>, id| {
            flows.change(id, |queue| {
                queue.aqm.dequeue(config, &mut queue.fifo, now, dropped)
            })
        };
        self.queues.next(leave).into()
    }

    fn waiting(&self) -> Backlog {
        self.queues.flows.waiting()
    }

    fn marks(&self) -> bool {
        self.config.marks()
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{arrive, build};
    use super::*;
    use crate::units::testing::at;

    #[test]
    fn rfc8290_4_1_a_full_buffer_drops_half_of_the_fattest_queue_from_its_head() {
        // Flow 1 has most packets, flow 0 most bytes: 9 packets, 5 of which are half.
        let values = [("limit", Value::Packets(20))];
        let mut queue = build(&ENTRY, &values, 10e6);
        for _ in 0..9 {
            assert!(arrive(&mut *queue, 0, 1500, 0.0).is_empty());
        }
        for _ in 0..11 {
            assert!(arrive(&mut *queue, 1, 100, 0.0).is_empty());
        }
        let dropped = arrive(&mut *queue, 2, 1500, 0.0);
        assert_eq!(dropped, [0, 1, 2, 3, 4].map(|number| (0, number)));
        assert_eq!(queue.waiting().packets, 16);
        // No more than the batch.
        let mut queue = build(&ENTRY, &[("limit", Value::Packets(200))], 10e6);
        for _ in 0..200 {
            arrive(&mut *queue, 0, 1500, 0.0);
        }
        assert_eq!(arrive(&mut *queue, 0, 1500, 0.0).len(), 64);
        // Nor is more kept than the memory limit allows.
        let mut queue = build(&ENTRY, &[("memory_limit", Value::Bytes(15_000))], 10e6);
        for _ in 0..10 {
            arrive(&mut *queue, 0, 1500, 0.0);
        }
        assert_eq!(arrive(&mut *queue, 1, 100, 0.0).len(), 5);
    }

    #[test]
    fn rfc8290_4_2_each_queue_is_under_codel_by_itself() {
        // Flow 0's packets have waited for 200 ms, those of flow 1 for nothing, as it sends less than its share: only flow 0 is dropped from,
        // an interval after its delay has first been seen.
        let mut queue = build(&ENTRY, &[], 10e6);
        for _ in 0..100 {
            arrive(&mut *queue, 0, 1500, 0.0);
        }
        let mut dropped = Vec::new();
        for step in 0..40_u32 {
            let now = 0.2 + f64::from(step) * 0.01;
            if step % 4 == 0 {
                arrive(&mut *queue, 1, 1500, now);
            }
            assert!(matches!(
                queue.dequeue(at(now), &mut dropped),
                Dequeued::Packet(_)
            ));
        }
        assert!(!dropped.is_empty());
        assert!(dropped.iter().all(|queued| queued.packet.flow == 0));
    }
}
