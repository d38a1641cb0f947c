//! What tests of disciplines begin with.

use super::{Backlog, Dequeued, NewQueue, Queue, QueuedPacket, Site};
use crate::loss::WireFate;
use crate::packet::{DataSegment, Ecn, Packet};
use crate::registry::{Entry, Param, Params, Value};
use crate::rng::RandomStream;
use crate::units::testing::at;
use crate::units::{ByteCount, Rate, SeqNum};

/// A packet of flow 0 with a number.
pub(super) fn packet(number: u64, wire_bytes: u32, ecn: Ecn, arrived: f64) -> QueuedPacket {
    queued(0, number, wire_bytes, ecn, arrived)
}

/// A packet of a flow with a number.
pub(super) fn queued(
    flow: u32,
    number: u64,
    wire_bytes: u32,
    ecn: Ecn,
    arrived: f64,
) -> QueuedPacket {
    let data = DataSegment {
        seq: SeqNum::new(number),
        ecn,
        ..DataSegment::default()
    };
    let packet = Packet::data(flow, 0, ByteCount::from(wire_bytes), data);
    QueuedPacket::new(packet, at(arrived), WireFate::Arrives)
}

/// A packet of a flow arrives that cannot be marked, numbered by how many have been waiting; of those that are dropped, flow and number.
pub(super) fn arrive(
    queue: &mut dyn Queue,
    flow: u32,
    wire_bytes: u32,
    now: f64,
) -> Vec<(u32, u64)> {
    let mut dropped = Vec::new();
    let packet = queued(flow, queue.waiting().packets, wire_bytes, Ecn::NotEct, now);
    queue.enqueue(packet, Backlog::default(), &mut dropped);
    let name = |queued: &QueuedPacket| (queued.packet.flow, queued.packet.segment().seq.get());
    dropped.iter().map(name).collect()
}

/// All that waits leaves at `now`: flow and size.
pub(super) fn drain(queue: &mut dyn Queue, now: f64) -> Vec<(u32, u32)> {
    let mut sent = Vec::new();
    while let Dequeued::Packet(queued) = queue.dequeue(at(now), &mut Vec::new()) {
        sent.push((queued.packet.flow, queued.packet.size().packet_size()));
    }
    sent
}

/// A row's defaults but for some values.
pub(super) fn params(entry: &Entry<NewQueue>, values: &[(&str, Value)]) -> Params {
    params_of(entry.params, values)
}

/// The defaults of parameters but for some values.
pub(super) fn params_of(known: &[Param], values: &[(&str, Value)]) -> Params {
    let mut params = Params::defaults(known);
    for (name, value) in values {
        params.set(name, *value);
    }
    params
}

/// A row's discipline at a link of `rate_bps`.
pub(super) fn build(
    entry: &Entry<NewQueue>,
    values: &[(&str, Value)],
    rate_bps: f64,
) -> Box<dyn Queue> {
    let site = Site {
        rate: Rate::from_bps(rate_bps),
        stream: RandomStream::new(1, "test"),
    };
    (entry.new)(&params(entry, values), site)
}
