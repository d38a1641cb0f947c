//! What a port records besides its counters, if a study asks for it: the distribution of waits, and what became of each flow's packets.
//!
//! **Model.** A packet's wait lasts from its arrival to the start of its transmission, and is noted if that starts before the run ends. The
//! backlog is what a packet finds when it arrives, whether it is then dropped or not: the packets present before it, the one in transmission
//! included. With Poisson arrivals that is the distribution over time, too (Wolff 1982, "Poisson arrivals see time averages"). Nothing of
//! that is kept of a single packet: memory is two [histograms](crate::histogram), and one row of counts for each flow that comes by. Single
//! [packets](super::packets) are kept for a part of the run's time, if that is what is asked for.
//!
//! A flow is identified by the hop that its packets are on, which is its own; flows that arrive and leave have that of their entry together.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Passage;
use super::packets::{PacketFate, Packets, Times};
use super::traffic::{Traffic, TransmissionStart};
use crate::histogram::Histogram;
use crate::packet::Packet;
use crate::queue::QueuedPacket;
use crate::spec::Recording;
use crate::units::{ByteCount, Duration, Instant};

/// How waits and backlogs are distributed.
#[derive(Clone, Debug, Default)]
pub struct WaitHistograms {
    /// Nanoseconds.
    pub waits: Histogram,
    /// Packets.
    pub backlogs: Histogram,
}

/// What became of a flow's packets at a port.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowCounters {
    /// All that came to the queue, dropped or not.
    pub arrived_packets: u64,
    /// Their bytes on the wire.
    pub arrived: ByteCount,
    /// By the queue, when they came or later.
    pub dropped_packets: u64,
    /// Their bytes on the wire.
    pub dropped: ByteCount,
    /// Transmitted and then lost on the wire.
    pub lost_packets: u64,
    /// Transmitted with Congestion Experienced, which they had not when they came.
    pub marked_packets: u64,
    /// Packets whose transmission has started, and the sum of their waits.
    started_packets: u64,
    waited: Duration,
}

impl FlowCounters {
    /// Arrival to start of transmission, mean over packets whose transmission has started.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn mean_wait(&self) -> Option<Duration> {
        (self.started_packets > 0).then(|| self.waited / self.started_packets as f64)
    }
}

/// What a port notes.
#[derive(Debug)]
pub struct Ledger {
    /// What packets are there, indexed by hop.
    whose: Arc<[Traffic]>,
    /// `None` unless a study records `waits`.
    pub waits: Option<WaitHistograms>,
    by_flow: Option<BTreeMap<u32, FlowCounters>>,
    /// `None` unless a study records `packets`.
    pub packets: Option<Packets>,
}

impl Ledger {
    /// One for what is recorded; none if that is nothing. `whose`: of each hop the number of the flow whose packets are there.
    pub fn of(record: Recording, whose: &Arc<[Traffic]>) -> Option<Self> {
        record.notes_at_links().then(|| Self {
            whose: Arc::clone(whose),
            waits: record.waits.then(WaitHistograms::default),
            by_flow: record.link_flows.then(BTreeMap::new),
            packets: record.packets.map(Packets::of),
        })
    }

    /// What became of the packets of each flow that has come by, in the order of the flows' numbers.
    pub fn flows(&self) -> Option<impl Iterator<Item = (u32, &FlowCounters)>> {
        let by_flow = self.by_flow.as_ref()?;
        Some(by_flow.iter().map(|(flow, row)| (*flow, row)))
    }

    /// A packet arrives and finds so many.
    pub(super) fn arrived(&mut self, packet: &Packet, now: Instant, present: u64) {
        if let Some(waits) = &mut self.waits {
            waits.backlogs.add(present);
        }
        if let Some(row) = self.row(packet) {
            row.arrived_packets += 1;
            row.arrived += packet.size();
        }
        if let Some(packets) = &mut self.packets {
            packets.arrived(packet, self.whose[packet.hop as usize], now);
        }
    }

    /// The queue has dropped some.
    pub(super) fn dropped(&mut self, dropped: &[QueuedPacket], now: Instant) {
        for queued in dropped {
            self.dropped_one(&queued.packet, queued.arrived, now);
        }
    }

    pub(super) fn dropped_one(&mut self, packet: &Packet, arrived: Instant, now: Instant) {
        if let Some(row) = self.row(packet) {
            row.dropped_packets += 1;
            row.dropped += packet.size();
        }
        if let Some(packets) = &mut self.packets {
            packets.gone(packet, arrived, PacketFate::Dropped, Times::dropped(now));
        }
    }

    /// A packet is transmitted.
    pub(super) fn started(&mut self, packet: &Packet, start: TransmissionStart, passage: &Passage) {
        if let Some(waits) = &mut self.waits {
            let wait = (start.at - start.arrived).as_ns();
            waits.waits.add(wait.unsigned_abs());
        }
        if let Some(row) = self.row(packet) {
            row.started_packets += 1;
            row.waited += start.at - start.arrived;
            row.marked_packets += u64::from(start.marked);
            row.lost_packets += u64::from(start.lost);
        }
        if let Some(packets) = &mut self.packets {
            let times = Times::sent(start, passage.arrival.time);
            packets.gone(packet, start.arrived, fate_of(&start, passage), times);
        }
    }

    fn row(&mut self, packet: &Packet) -> Option<&mut FlowCounters> {
        let by_flow = self.by_flow.as_mut()?;
        let flow = self.whose[packet.hop as usize].flow;
        Some(by_flow.entry(flow).or_default())
    }
}

/// What becomes of a packet whose transmission starts.
fn fate_of(start: &TransmissionStart, passage: &Passage) -> PacketFate {
    if start.lost {
        PacketFate::Lost
    } else if passage.corrupted {
        PacketFate::Damaged
    } else if passage.again.is_some() {
        PacketFate::Doubled
    } else {
        PacketFate::Arrived
    }
}
