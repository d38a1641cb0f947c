//! Drop-tail: first in, first out; a packet that finds the buffer full is dropped.
//!
//! The limit covers the packet in transmission: with `limit = "50 packets"` at most 49 wait behind it, as in a router whose
//! buffer holds a packet until its last bit has left, and as measured of ns-2 with `queue-limit 50`. With a limit in bytes a
//! packet is accepted if it fits with all bytes present; into an empty buffer a packet is always accepted.
//!
//! Kernel equivalent: pfifo, bfifo (whose limit does not count the packet being transmitted).

use super::{Admission, Backlog, BacklogLaw, Dequeued, Fifo, NewQueue, Queue, QueuedPacket};
use crate::registry::{Entry, FromValue, Kind, Param, ParamKey, Params, Value, param};
use crate::units::{ByteCount, Instant};

pub(super) const ENTRY: Entry<NewQueue> = Entry {
    name: "drop_tail",
    summary: "first in, first out; drops what does not fit",
    specification: &["RFC 7567 §2.1 (tail drop)"],
    params: &[LIMIT],
    new: |params, _| {
        Box::new(DropTail::new(BacklogLaw::drop_tail(BufferLimit::of(
            params, "limit",
        ))))
    },
};

/// How much any queue holds.
pub(super) const LIMIT: Param = param!(limit: Kind::QueueSize => Value::Packets(100),
    "buffer size in packets, bytes or bandwidth-delay products, the packet in transmission included");

/// The same with another default.
pub(super) const fn limit(packets: u64) -> Param {
    Param {
        default: Value::Packets(packets),
        ..LIMIT
    }
}

/// How much a buffer holds, the packet in transmission included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BufferLimit {
    /// So many packets of whatever size.
    Packets(u64),
    /// So many bytes; one packet fits an empty buffer whatever its size.
    Bytes(ByteCount),
}

impl BufferLimit {
    /// The value of a parameter.
    pub fn of(params: &Params, name: &'static str) -> Self {
        ParamKey::new(name).of(params)
    }

    /// Whether a packet of this size fits beside what is `present`, the packet in transmission included.
    #[inline]
    pub fn admits(self, present: Backlog, size: ByteCount) -> Admission {
        let fits = match self {
            Self::Packets(limit) => present.packets < limit.max(1),
            Self::Bytes(limit) => present.bytes + size <= limit || present.packets == 0,
        };
        if fits {
            Admission::Accept
        } else {
            Admission::Drop
        }
    }
}

/// The scenario resolves a limit to packets or bytes.
impl FromValue for BufferLimit {
    fn from_value(value: Value) -> Option<Self> {
        match value {
            Value::Packets(packets) => Some(Self::Packets(packets)),
            Value::Bytes(bytes) => Some(Self::Bytes(ByteCount::new(bytes))),
            _ => None,
        }
    }
}

/// The buffer of a row in which none is a value, too: then it follows from other parameters.
pub(super) const LIMIT_IF_ANY: ParamKey<Option<BufferLimit>> = ParamKey::new("limit");

/// A FIFO of packets that decides at arrival alone.
#[derive(Debug)]
pub(super) struct DropTail {
    law: BacklogLaw,
    fifo: Fifo,
}

impl DropTail {
    pub(super) fn new(law: BacklogLaw) -> Self {
        Self {
            law,
            fifo: Fifo::new(),
        }
    }
}

impl Queue for DropTail {
    fn enqueue(
        &mut self,
        mut packet: QueuedPacket,
        in_service: Backlog,
        dropped: &mut Vec<QueuedPacket>,
    ) {
        let present = self.fifo.waiting() + in_service;
        let size = packet.size();
        if self.law.limit.admits(present, size) == Admission::Drop {
            dropped.push(packet);
            return;
        }
        if self.law.marks(present, size) {
            packet.mark_if_capable();
        }
        self.fifo.push(packet);
    }

    fn dequeue(&mut self, _now: Instant, _dropped: &mut Vec<QueuedPacket>) -> Dequeued {
        self.fifo.pop().into()
    }

    fn waiting(&self) -> Backlog {
        self.fifo.waiting()
    }

    fn as_fifo(&self) -> Option<BacklogLaw> {
        Some(self.law)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn present(packets: u64, bytes: u64) -> Backlog {
        Backlog {
            packets,
            bytes: ByteCount::new(bytes),
        }
    }

    #[test]
    fn the_packet_in_transmission_counts_towards_the_limit() {
        assert_eq!(
            BufferLimit::Packets(50).admits(present(49, 49_000), ByteCount::new(1000)),
            Admission::Accept
        );
        assert_eq!(
            BufferLimit::Packets(50).admits(present(50, 50_000), ByteCount::new(1000)),
            Admission::Drop
        );
    }

    #[test]
    fn a_byte_limit_admits_what_fits_exactly() {
        assert_eq!(
            BufferLimit::Bytes(ByteCount::new(3000)).admits(present(2, 2000), ByteCount::new(1000)),
            Admission::Accept
        );
        assert_eq!(
            BufferLimit::Bytes(ByteCount::new(3000)).admits(present(2, 2000), ByteCount::new(1001)),
            Admission::Drop
        );
    }

    #[test]
    fn an_empty_buffer_takes_any_packet() {
        assert_eq!(
            BufferLimit::Bytes(ByteCount::new(500)).admits(present(0, 0), ByteCount::new(1000)),
            Admission::Accept
        );
    }
}
