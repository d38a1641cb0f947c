//! FQ-PIE: a queue per flow, each under PIE, and sparse flows first.
//!
//! Specification: draft-tahiliani-tsvwg-fq-pie-02; RFC 8033; RFC 8290 §4.
//!
//! Model:
//! - flows are hashed into `queues` queues, which share the link's bytes by `quantum`, those that have just become active first
//! - a packet that arrives when `limit` or `memory_limit` is reached is dropped, without PIE's hearing of it
//! - else the PIE of its queue decides on it, by that queue's delay: the wait of the packet that left it last, or by Little's law
//!
//! Deviations: none known.
//!
//! Kernel equivalent: `fq_pie`, which does not mark unless told to (`ecn`), and whose `tupdate` is 16 ms as tc shows it.

use super::drop_tail::limit;
use super::flows::{FlowQueues, QUEUES};
use super::fq::{FairQueues, FqLimits, MEMORY_LIMIT, QUANTUM};
use super::pie::{self, Pie, PieConfig, PieDecision};
use super::{Backlog, Dequeued, NewQueue, Queue, QueuedPacket, Site};
use crate::registry::{Entry, Params};
use crate::rng::RandomStream;
use crate::units::Instant;

pub(super) const ENTRY: Entry<NewQueue> = Entry {
    name: "fq_pie",
    summary: "a queue per flow under PIE: flows share the link, sparse ones do not wait",
    specification: &[
        "draft-tahiliani-tsvwg-fq-pie",
        "RFC 8033",
        "RFC 8290 §4",
        "RFC 3168 §5",
    ],
    params: &[
        limit(10_240),
        MEMORY_LIMIT,
        QUEUES,
        QUANTUM,
        pie::TARGET,
        pie::UPDATE,
        pie::ALPHA,
        pie::BETA,
        pie::MAX_BURST,
        pie::MEAN_PACKET,
        pie::ECN,
        pie::ECN_THRESHOLD,
        pie::DELAY,
        pie::RATE_THRESHOLD,
        pie::DERANDOMISE,
        pie::CAP_STEPS,
        pie::ACTIVE_ABOVE,
        pie::BYTE_MODE,
    ],
    new: |params, site| Box::new(FqPie::new(params, site)),
};

/// The discipline.
#[derive(Debug)]
struct FqPie {
    limits: FqLimits,
    config: PieConfig,
    queues: FairQueues<Pie>,
    stream: RandomStream,
}

impl FqPie {
    fn new(params: &Params, mut site: Site) -> Self {
        Self {
            limits: FqLimits::of(params),
            config: PieConfig::of(params),
            queues: FairQueues::new(params, &mut site.stream),
            stream: site.stream,
        }
    }
}

impl Queue for FqPie {
    fn enqueue(
        &mut self,
        mut packet: QueuedPacket,
        in_service: Backlog,
        dropped: &mut Vec<QueuedPacket>,
    ) {
        let Self { config, stream, .. } = self;
        let present = self.queues.flows.waiting() + in_service;
        let id = self.queues.flows.of(&packet, || Pie::new(config));
        let queue = self.queues.flows.get(id);
        let waiting = queue.fifo.waiting();
        queue.aqm.catch_up(config, waiting, packet.arrived);
        let one = Backlog {
            packets: 1,
            bytes: packet.size(),
        };
        if self.limits.exceeded(present + one) {
            dropped.push(packet);
            return;
        }
        let decision = queue.aqm.on_arrival(config, &packet, waiting, stream);
        match decision {
            PieDecision::Drop => dropped.push(packet),
            PieDecision::Mark => {
                packet.mark_if_capable();
                self.queues.push(id, packet);
            }
            PieDecision::Enqueue => self.queues.push(id, packet),
        }
        let queue = self.queues.flows.get(id);
        queue.aqm.after_arrival(config, queue.fifo.waiting());
    }

    fn dequeue(&mut self, now: Instant, _dropped: &mut Vec<QueuedPacket>) -> Dequeued {
        let config = &self.config;
        let leave = |flows: &mut FlowQueues<Pie>, id| {
            let queue = flows.get(id);
            queue.aqm.catch_up(config, queue.fifo.waiting(), now);
            let packet = flows.pop(id)?;
            let queue = flows.get(id);
            let rest = queue.fifo.waiting();
            queue.aqm.on_departure(config, &packet, rest, now);
            Some(packet)
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
    use super::super::testing::{arrive, build, queued};
    use super::*;
    use crate::packet::Ecn;
    use crate::registry::Value;
    use crate::units::testing::at;

    #[test]
    fn a_full_buffer_drops_what_arrives() {
        let mut queue = build(&ENTRY, &[("limit", Value::Packets(2))], 10e6);
        for flow in [0, 0] {
            assert!(arrive(&mut *queue, flow, 1000, 0.0).is_empty());
        }
        assert_eq!(arrive(&mut *queue, 1, 1000, 0.0), [(1, 2)]);
    }

    #[test]
    fn each_queue_is_under_pie_by_itself() {
        // 1000 packets a second arrive of flow 0 and 250 of flow 1, and 1000 leave: flow 0 gets 750 of them, and its queue grows by 250 a
        // second until PIE drops a quarter of what comes; flow 1's share is more than it asks for, so that it never waits for a target.
        let mut queue = build(&ENTRY, &[("ecn", Value::Bool(false))], 8e6);
        let (mut dropped, mut sent) = (Vec::new(), 0);
        for ms in 0..20_000_u32 {
            let now = f64::from(ms) / 1000.0;
            let flows: &[u32] = if ms % 4 == 0 { &[0, 1] } else { &[0] };
            for flow in flows {
                let packet = queued(*flow, u64::from(ms), 1000, Ecn::NotEct, now);
                queue.enqueue(packet, Backlog::default(), &mut dropped);
            }
            sent += u32::from(matches!(
                queue.dequeue(at(now), &mut dropped),
                Dequeued::Packet(_)
            ));
        }
        assert!(sent > 19_900, "{sent}");
        assert!(dropped.iter().all(|queued| queued.packet.flow == 0));
        // 5000 in 20 s; the queue has grown by 15 ms at 750 packets a second, and the first seconds drop less: within a tenth.
        assert!((4500..=5000).contains(&dropped.len()), "{}", dropped.len());
        // 15 ms at 750 packets a second are 11 packets: PIE's own fluctuations are as large.
        assert!(queue.waiting().packets < 40, "{:?}", queue.waiting());
    }
}
