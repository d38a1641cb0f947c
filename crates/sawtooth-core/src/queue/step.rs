//! Step: drop-tail that also marks every ECN-capable packet by which its queue is above a threshold.
//!
//! Specification: RFC 8257 §3.1 (when a packet arrives "and its queue length is greater than the congestion threshold"); Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM
//! 2010, §3.1 step 1 ("an arriving packet is marked if the queue occupancy is greater than K upon its arrival").
//!
//! Model: a packet that arrives is dropped if it does not fit below `limit`; else marked Congestion Experienced if it is ECN-capable and does not
//! fit below `mark_above`, that is if a drop-tail queue of that limit would have dropped it. What is counted is what is present, without average:
//! the packet in transmission and the arriving one are included, as in `limit`. Packets that are not ECN-capable are only ever dropped.
//!
//! It decides at arrival. A queue that decides when a packet leaves (CoDel) marks in [`Queue::dequeue`](super::Queue::dequeue) instead.
//!
//! Deviations: none known; whether K includes the arriving packet is left open there.
//!
//! Kernel equivalent: `red` with `min` = `max` - 1 and no average; `codel` and `fq_codel` with `ce_threshold` mark by time, not by length.

use super::drop_tail::{BufferLimit, DropTail, LIMIT};
use super::{BacklogLaw, NewQueue};
use crate::registry::{Entry, Kind, Value, param};

pub(super) const ENTRY: Entry<NewQueue> = Entry {
    name: "step",
    summary: "drop-tail that marks ECN-capable packets above a threshold, as DCTCP wants it",
    specification: &["RFC 8257 §3.1", "RFC 3168 §5"],
    params: &[
        LIMIT,
        param!(mark_above: Kind::QueueSize => Value::Packets(20),
            "queue in packets, bytes or bandwidth-delay products above which packets are marked (K)"),
    ],
    new: |params, _| {
        Box::new(DropTail::new(BacklogLaw {
            limit: BufferLimit::of(params, "limit"),
            mark_above: Some(BufferLimit::of(params, "mark_above")),
        }))
    },
};

#[cfg(test)]
mod tests {
    use super::super::{Backlog, Dequeued, QueuedPacket, Site};
    use super::*;
    use crate::loss::WireFate;
    use crate::packet::{DataSegment, Ecn, Packet};
    use crate::registry::Params;
    use crate::rng::RandomStream;
    use crate::units::{ByteCount, Instant, Rate};

    fn packet(ecn: Ecn) -> QueuedPacket {
        let data = DataSegment {
            ecn,
            ..DataSegment::default()
        };
        QueuedPacket::new(
            Packet::data(0, 0, ByteCount::new(1000), data),
            Instant::START,
            WireFate::Arrives,
        )
    }

    /// What leaves a queue of at most 4 packets that marks above 2, after six packets have arrived one after the other.
    fn passed(ecn: Ecn) -> Vec<Ecn> {
        let mut params = Params::defaults(ENTRY.params);
        params.set("limit", Value::Packets(4));
        params.set("mark_above", Value::Packets(2));
        let site = Site {
            rate: Rate::from_bps(1e6),
            stream: RandomStream::new(1, "q"),
        };
        let mut queue = (ENTRY.new)(&params, site);
        let mut dropped = Vec::new();
        for _ in 0..6 {
            queue.enqueue(packet(ecn), Backlog::default(), &mut dropped);
        }
        assert_eq!(dropped, [packet(ecn); 2]);
        std::iter::from_fn(|| match queue.dequeue(Instant::START, &mut dropped) {
            Dequeued::Packet(queued) => Some(queued.packet.ecn()),
            _ => None,
        })
        .collect()
    }

    #[test]
    fn rfc8257_3_1_what_exceeds_the_threshold_is_marked_and_what_exceeds_the_limit_dropped() {
        // The first two fit below K.
        for ecn in [Ecn::Ect0, Ecn::Ect1] {
            assert_eq!(passed(ecn), [ecn, ecn, Ecn::Ce, Ecn::Ce]);
        }
    }

    #[test]
    fn rfc3168_5_a_mark_stays_and_what_is_not_capable_is_never_marked() {
        assert_eq!(passed(Ecn::Ce), [Ecn::Ce; 4]);
        assert_eq!(passed(Ecn::NotEct), [Ecn::NotEct; 4]);
    }
}
