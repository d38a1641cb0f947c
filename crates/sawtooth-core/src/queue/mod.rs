//! Queue disciplines: which packet waits, leaves, is marked or dropped.
//!
//! A discipline is driven by its link: it is handed the packets that arrive and asked for one whenever the transmitter is free. It has no
//! events of its own. What a specification does periodically is caught up, step by step, when the discipline is next called; one that holds
//! packets back says until when ([`Dequeued::NotBefore`]).
//!
//! To add one: one file in this folder, one `mod` line, one row of [`TABLE`].

mod ared;
mod cake;
mod cobalt;
mod codel;
mod drop_tail;
mod drr;
mod dualpi2;
mod fifo;
mod flows;
mod fq;
mod fq_codel;
mod fq_pie;
mod pie;
mod red;
mod sfq;
mod step;
#[cfg(test)]
mod testing;
mod token_bucket;

use std::fmt::Debug;

use crate::loss::WireFate;
use crate::packet::{Ecn, Packet};
use crate::registry::{Entry, Params};
use crate::rng::RandomStream;
use crate::units::{ByteCount, Duration, Instant, Rate};
pub use drop_tail::BufferLimit;
pub(crate) use fifo::Fifo;

/// Constructor of a table row.
pub type NewQueue = fn(&Params, Site) -> Box<dyn Queue>;

/// Where a discipline is at work.
#[derive(Clone, Debug)]
pub struct Site {
    /// How fast its link transmits.
    pub rate: Rate,
    /// Its random numbers.
    pub stream: RandomStream,
}

/// What occupies a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Packets, whole or in transmission.
    pub packets: u64,
    /// Their bytes, headers from IP on included.
    pub bytes: ByteCount,
}

impl std::ops::Add for Backlog {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            packets: self.packets + other.packets,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// A packet that waits, and what is remembered of its arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueuedPacket {
    /// The packet itself, whose ECN field may have been marked since.
    pub packet: Packet,
    /// When it came to the queue.
    pub arrived: Instant,
    /// Its ECN field when it arrived.
    pub ecn: Ecn,
    /// What becomes of it on the wire. No discipline looks at it.
    pub fate: WireFate,
}

impl QueuedPacket {
    /// A packet that has just arrived, with its ECN field as it is now.
    pub fn new(packet: Packet, arrived: Instant, fate: WireFate) -> Self {
        Self {
            packet,
            arrived,
            ecn: packet.ecn(),
            fate,
        }
    }

    /// On the wire.
    #[inline]
    pub fn size(&self) -> ByteCount {
        self.packet.size()
    }

    /// How long it has waited by `now`.
    #[inline]
    pub fn sojourn(&self, now: Instant) -> Duration {
        now - self.arrived
    }

    /// Marks it if it is ECN-capable; whether it is.
    #[inline]
    pub fn mark_if_capable(&mut self) -> bool {
        let capable = self.packet.ecn().is_capable();
        if capable {
            self.packet.mark();
        }
        capable
    }
}

/// What a free transmitter is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dequeued {
    /// This one, which has left the queue.
    Packet(QueuedPacket),
    /// Nothing waits.
    Empty,
    /// Something waits, and may not leave before this time, which is in the future.
    NotBefore(Instant),
}

impl From<Option<QueuedPacket>> for Dequeued {
    fn from(packet: Option<QueuedPacket>) -> Self {
        packet.map_or(Self::Empty, Self::Packet)
    }
}

/// The rule of a FIFO that decides at arrival, from its backlog alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BacklogLaw {
    /// Packets are dropped that do not fit below this.
    pub limit: BufferLimit,
    /// ECN-capable packets beyond this limit are marked.
    pub mark_above: Option<BufferLimit>,
}

impl BacklogLaw {
    /// The law of a queue that drops what does not fit, and never marks.
    pub const fn drop_tail(limit: BufferLimit) -> Self {
        Self {
            limit,
            mark_above: None,
        }
    }

    /// Whether an ECN-capable packet of this size is marked that is taken in beside what is `present`.
    #[inline]
    pub fn marks(self, present: Backlog, size: ByteCount) -> bool {
        self.mark_above
            .is_some_and(|above| above.admits(present, size) == Admission::Drop)
    }
}

/// Whether a packet was taken in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Admission {
    /// It waits.
    Accept,
    /// It was dropped.
    Drop,
}

/// A queueing discipline. The link keeps the packet in transmission; the queue keeps those that wait.
///
/// Every packet that is handed to [`Queue::enqueue`] leaves once: as [`Dequeued::Packet`], or at the end of the list `dropped`, to which a
/// discipline may add any of its packets whenever it is called. It takes nothing from that list.
///
/// An ECN-capable packet may be marked ([`QueuedPacket::mark_if_capable`]) instead of being dropped, when it arrives or when it leaves: the link
/// counts packets that leave marked and came otherwise.
///
/// Times never run backwards: no call is earlier than the one before.
pub trait Queue: Debug + Send {
    /// Takes a packet that arrives now, at `packet.arrived`, or drops it, given what the link is transmitting (`in_service`).
    fn enqueue(
        &mut self,
        packet: QueuedPacket,
        in_service: Backlog,
        dropped: &mut Vec<QueuedPacket>,
    );

    /// The transmitter is free at `now`: the packet that it is to transmit.
    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<QueuedPacket>) -> Dequeued;

    /// What waits, without the packet in transmission.
    fn waiting(&self) -> Backlog;

    /// Whether ECN-capable packets may be marked here.
    fn marks(&self) -> bool {
        self.as_fifo().is_some_and(|law| law.mark_above.is_some())
    }

    /// The law, if this is a FIFO whose decisions are made at arrival and depend on the backlog alone: then the
    /// link may compute departures at arrival and needs no event for the end of a transmission.
    fn as_fifo(&self) -> Option<BacklogLaw> {
        None
    }
}

/// All queue disciplines.
pub const TABLE: &[Entry<NewQueue>] = &[
    drop_tail::ENTRY,
    step::ENTRY,
    red::ENTRY,
    ared::ENTRY,
    codel::ENTRY,
    cobalt::ENTRY,
    pie::ENTRY,
    token_bucket::ENTRY,
    drr::ENTRY,
    sfq::ENTRY,
    fq_codel::ENTRY,
    fq_pie::ENTRY,
    cake::ENTRY,
    dualpi2::ENTRY,
];

/// The discipline called `name`.
///
/// # Panics
/// If there is none of that name: a scenario has checked it.
pub fn build(name: &str, params: &Params, site: Site) -> Box<dyn Queue> {
    let row = TABLE.iter().find(|entry| entry.name == name);
    (row.expect("the scenario names a row of the table").new)(params, site)
}

#[cfg(test)]
mod tests {
    use super::testing::{build, queued};
    use super::*;
    use crate::registry::Value;
    use crate::units::testing::at;

    #[test]
    fn what_came_waits_and_what_waits_leaves() {
        for entry in TABLE {
            let mut queue = build(entry, &[], 10e6);
            let (mut dropped, mut left) = (Vec::new(), Vec::new());
            for (flow, bytes) in [(0, 1000), (1, 200), (0, 30)] {
                let packet = queued(flow, 0, bytes, Ecn::NotEct, 0.0);
                queue.enqueue(packet, Backlog::default(), &mut dropped);
            }
            let waiting =
                |queue: &dyn Queue| (queue.waiting().packets, queue.waiting().bytes.get());
            assert_eq!(waiting(&*queue), (3, 1230), "{}", entry.name);
            for step in 0..10 {
                if let Dequeued::Packet(packet) = queue.dequeue(at(f64::from(step)), &mut dropped) {
                    left.push((packet.packet.flow, packet.size().get()));
                }
            }
            left.extend(
                dropped
                    .iter()
                    .map(|lost| (lost.packet.flow, lost.size().get())),
            );
            left.sort_unstable();
            assert_eq!(left, [(0, 30), (0, 1000), (1, 200)], "{}", entry.name);
            assert_eq!(waiting(&*queue), (0, 0), "{}", entry.name);
        }
    }

    #[test]
    fn a_discipline_says_that_it_marks_if_it_may() {
        for entry in TABLE {
            let Some(ecn) = entry.params.iter().find(|param| param.name == "ecn") else {
                continue;
            };
            assert!(matches!(ecn.default, Value::Bool(_)), "{}", entry.name);
            for marks in [false, true] {
                let queue = build(entry, &[("ecn", Value::Bool(marks))], 10e6);
                assert_eq!(queue.marks(), marks, "{}", entry.name);
            }
        }
    }

    #[test]
    fn defaults_are_those_of_the_rfcs() {
        let specified = [
            ("codel", "target", Value::Duration(0.005), "RFC 8289 §4"),
            ("codel", "interval", Value::Duration(0.1), "RFC 8289 §4"),
            (
                "fq_codel",
                "queues",
                Value::Integer(1024),
                "RFC 8290 §5.2.5",
            ),
            ("fq_codel", "quantum", Value::Bytes(1514), "RFC 8290 §5.2.4"),
            (
                "fq_codel",
                "limit",
                Value::Packets(10_240),
                "RFC 8290 §5.2.3",
            ),
            (
                "fq_codel",
                "drop_batch",
                Value::Packets(64),
                "RFC 8290 §4.1",
            ),
            ("dualpi2", "target", Value::Duration(0.015), "RFC 9332 §A.1"),
            ("dualpi2", "rtt_max", Value::Duration(0.1), "RFC 9332 §A.1"),
            ("dualpi2", "k", Value::Number(2.0), "RFC 9332 §A.1"),
            ("dualpi2", "classic_share", Value::Number(0.1), "RFC 9332"),
            ("cobalt", "target", Value::Duration(0.005), "RFC 8289 §4"),
            (
                "cobalt",
                "increment",
                Value::Number(1.0 / 256.0),
                "Palmei et al. 2019",
            ),
            (
                "cobalt",
                "decrement",
                Value::Number(1.0 / 4096.0),
                "Palmei et al. 2019",
            ),
            ("cake", "rtt", Value::Duration(0.1), "tc-cake(8): internet"),
            ("codel", "max_packet", Value::Bytes(1500), "IEEE 802.3"),
            ("red", "max_packet", Value::Bytes(1500), "IEEE 802.3"),
            (
                "fq_codel",
                "memory_limit",
                Value::Bytes(33_554_432),
                "tc-fq_codel(8): 32 Mb",
            ),
            (
                "step",
                "mark_above",
                Value::Packets(20),
                "Alizadeh et al. 2010 §4: K = 20 at 1 Gbit/s",
            ),
            (
                "red",
                "weight",
                Value::Number(0.002),
                "Floyd and Jacobson 1993",
            ),
            (
                "ared",
                "interval",
                Value::Duration(0.5),
                "Floyd, Gummadi and Shenker 2001",
            ),
        ];
        for (name, param, value, place) in specified {
            let entry = TABLE.iter().find(|entry| entry.name == name);
            let params = Params::defaults(entry.expect("a row").params);
            assert_eq!(params.get(param), value, "{name}.{param}, {place}");
        }
    }
}
