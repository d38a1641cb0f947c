//! One direction of a link: a rate, a propagation delay and a queue.
//!
//! A packet that is transmitted from `start` to `start + bits/rate` arrives at the far end at `start + (bits/rate + delay)`.
//! What a packet's bits are where a link has a medium, [`crate::impair::Medium`] says.
//! The additions are made in this order because binary64 rounding decides ties (see `docs/concepts/time.md`).
//!
//! **Speed.** A drop-tail FIFO decides everything at arrival: the packet's transmission starts when the one before it has
//! left, and what is still present is what has not yet departed. [`Port::accept`] computes this without any event for the
//! end of a transmission, and [`Port::accept_any`] the same for one that marks, or whose [wire](crate::impair) is not plain. Disciplines that
//! decide at dequeue (and every port, when the shortcut is off) use [`Port::arrive`] and [`Port::transmitter_free`] instead.

mod counters;
mod evented;
mod passage;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use self::counters::PortCounters;
pub use self::passage::{Passage, Transmission, Turn};
use super::ledger::{Ledger, Start};
use super::traffic::Traffic;
use crate::events::{Child, Event, Key, Lineage};
use crate::impair::{Hops, ImpairedWire, Medium, Node, Service};
use crate::loss::{Fate, Loss};
use crate::packet::{Ecn, Packet};
use crate::queue::{Backlog, Law, Next, Queue, Queued, Verdict};
use crate::ring::Ring;
use crate::spec::{Direction, Recording};
use crate::units::Duration;

/// The sending side of one direction of a link.
#[derive(Debug)]
pub struct Port {
    rate_bps: f64,
    delay_secs: f64,
    /// What packets are put into, if they do not leave as they are.
    medium: Option<Medium>,
    /// What passes packets on at the far end, if it does more than that.
    node: Option<Box<Node>>,
    /// The run's end: waits that end later do not count.
    end_secs: f64,
    discipline: Discipline,
    /// The event that ends the transmission in progress; in the past when idle.
    done: Key,
    /// The transmission time last computed, and for which size: traffic has few sizes and division is slow.
    memo: (u32, f64),
    loss: Option<Box<Loss>>,
    /// Only if one rate and one delay do not say everything.
    wire: Option<Box<ImpairedWire>>,
    /// Only if more is asked for than counters.
    ledger: Option<Box<Ledger>>,
    pub counters: PortCounters,
}

#[derive(Debug)]
enum Discipline {
    /// Departures computed at arrival.
    Computed {
        law: Law,
        waiting: Ring<Waiting>,
        waiting_bytes: u64,
        in_service_bytes: u32,
    },
    /// Departures decided when the transmitter is free.
    Evented {
        queue: Box<dyn Queue>,
        in_service: Option<u32>,
        /// Packets that the queue has dropped and nobody has taken yet.
        dropped: Vec<Queued>,
    },
}

/// A packet that has been accepted but whose transmission has not begun.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    start: Key,
    bytes: u32,
}

impl Port {
    /// Bits that were accepted, as a share of what could have been sent until the run's end, if anything could.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn utilisation(&self) -> Option<f64> {
        let counters = &self.counters;
        let bytes = counters.arrived_bytes - counters.dropped_bytes + counters.framing_bytes;
        let capacity = match &self.wire {
            Some(wire) => wire.capacity_bits(self.end_secs),
            None => self.rate_bps * self.end_secs,
        };
        (capacity > 0.0).then(|| 8.0 * bytes as f64 / capacity)
    }

    /// Packets that waited, without the one in transmission, mean over the run's time; once the run [is over](Port::finish).
    ///
    /// What N(t) packets wait adds N(t) to the integral over time, and each of them adds the time it waits: the integral is the sum of all
    /// waits (Little 1961).
    pub fn mean_backlog_packets(&self) -> f64 {
        (self.counters.waited.secs + self.counters.waited_in_vain.secs) / self.end_secs
    }

    /// Their bytes.
    pub fn mean_backlog_bytes(&self) -> f64 {
        let counters = &self.counters;
        (counters.waited.byte_secs + counters.waited_in_vain.byte_secs) / self.end_secs
    }

    /// The run is over: what still waits has waited until now. Nothing can be done with the port afterwards.
    pub fn finish(&mut self) {
        let Discipline::Evented { queue, dropped, .. } = &mut self.discipline else {
            // Known since it arrived.
            return;
        };
        let mut now = self.end_secs;
        loop {
            let next = queue.dequeue(now, dropped);
            for queued in dropped.drain(..) {
                self.counters.wait_in_vain(&queued, self.end_secs);
            }
            match next {
                Next::Packet(queued) => self.counters.wait_in_vain(&queued, self.end_secs),
                Next::NotBefore(time) => now = time,
                Next::Empty => return,
            }
        }
    }

    /// A port whose departures are computed at arrival if `computed` and if the discipline allows it.
    pub fn new(
        link: &Direction,
        queue: Box<dyn Queue>,
        loss: Option<Box<Loss>>,
        wire: Option<Box<ImpairedWire>>,
        end: Duration,
        computed: bool,
    ) -> Self {
        let discipline = match queue.as_fifo() {
            Some(law) if computed => Discipline::Computed {
                law,
                waiting: Ring::new(Waiting {
                    start: Key::NEVER,
                    bytes: 0,
                }),
                waiting_bytes: 0,
                in_service_bytes: 0,
            },
            _ => Discipline::Evented {
                queue,
                in_service: None,
                dropped: Vec::new(),
            },
        };
        let done = Key::at_start(f64::NEG_INFINITY, 0);
        Self {
            rate_bps: link.rate.bps(),
            delay_secs: link.delay.secs(),
            medium: link.medium,
            node: Node::new(link.forwarding).map(Box::new),
            end_secs: end.secs(),
            discipline,
            done,
            memo: (0, 0.0),
            loss,
            wire,
            ledger: None,
            counters: PortCounters::default(),
        }
    }

    /// Notes in a [ledger](Ledger::of) from now on what is asked for, of packets that come by [`Port::accept_any`] or [`Port::arrive`].
    pub fn keep(&mut self, record: Recording, whose: &Arc<[Traffic]>) {
        self.ledger = Ledger::of(record, whose).map(Box::new);
    }

    /// What has been noted besides the counters, if that was asked for.
    pub fn ledger(&self) -> Option<&Ledger> {
        self.ledger.as_deref()
    }

    /// Whether [`Port::accept`] applies, or with a queue that marks or a wire that is not plain [`Port::accept_any`].
    pub fn is_computed(&self) -> bool {
        matches!(self.discipline, Discipline::Computed { .. })
    }

    /// Whether departures are computed at arrival by a queue that marks.
    pub fn computes_marks(&self) -> bool {
        match &self.discipline {
            Discipline::Computed { law, .. } => law.mark_above.is_some(),
            Discipline::Evented { .. } => false,
        }
    }

    /// Whether there is more to the wire than one rate and one delay.
    pub fn is_impaired(&self) -> bool {
        self.wire.is_some()
    }

    /// Whether what leaves may arrive in another order, or more than once.
    pub fn may_reorder(&self) -> bool {
        self.wire.as_ref().is_some_and(|wire| wire.may_reorder())
    }

    /// Whether a medium adds to packets.
    pub fn is_framed(&self) -> bool {
        self.medium.is_some()
    }

    /// Whether the node at its far end takes its time with packets that it passes on, or does not wait for all of them.
    pub fn has_node(&self) -> bool {
        self.node.is_some()
    }

    /// The rate at which it sends before anything has changed, bits per second.
    pub fn rate_bps(&self) -> f64 {
        self.rate_bps
    }

    /// The propagation delay before anything has changed, seconds.
    pub fn delay_secs(&self) -> f64 {
        self.delay_secs
    }

    /// When a packet of this port, whose last bit comes with `arrival` at the far end, can be sent from there over a link of `next_bps`.
    /// To be asked of all packets that go on from there, in their order.
    pub fn pass_on(&mut self, arrival: Key, bytes: u32, next_bps: f64) -> Key {
        let Some(node) = &mut self.node else {
            return arrival;
        };
        let (end, line) = arrival.parts();
        if arrival.is_never() {
            return arrival;
        }
        let hops = Hops {
            bytes,
            medium: self.medium,
            rate_in: self.rate_bps,
            rate_out: next_bps,
        };
        Key::from_parts(node.pass(end, hops), line)
    }

    /// How long a packet of `bytes` takes at the rate that holds before anything has changed.
    #[inline]
    pub fn transmission_secs(&mut self, bytes: u32) -> f64 {
        if self.memo.0 != bytes {
            let wire_bytes = wire_bytes(self.medium, bytes);
            self.memo = (bytes, 8.0 * f64::from(wire_bytes) / self.rate_bps);
        }
        self.memo.1
    }

    /// A packet of `bytes` arrives with `key`, an event that may have been recorded; returns the key of its arrival at the far end,
    /// [`Key::NEVER`] if it is dropped or lost. Arrivals must come in the order of their keys.
    #[inline(always)]
    pub fn accept(
        &mut self,
        key: Key,
        recorded: Option<Event>,
        bytes: u32,
        lineage: &mut Lineage,
    ) -> Key {
        self.admit::<false>(key, recorded, (bytes, Ecn::NotEct), lineage)
            .arrival
    }

    /// The same for a packet with an ECN field, which a queue may mark, over any wire, and noted in the ledger.
    pub fn accept_any(
        &mut self,
        key: Key,
        recorded: Option<Event>,
        packet: &Packet,
        lineage: &mut Lineage,
    ) -> Passage {
        let (free, before) = (self.done.time, self.counters.fates());
        let size_and_field = (packet.wire_bytes, packet.ecn());
        let dropped = self.counters.dropped_packets;
        let passage = self.admit::<true>(key, recorded, size_and_field, lineage);
        if self.medium.is_some() && self.counters.dropped_packets == dropped {
            self.counters.framing_bytes += framing_bytes(self.medium, packet.wire_bytes);
        }
        if self.ledger.is_some() {
            self.note(packet, key.time, (free, before), &passage);
        }
        passage
    }

    /// Notes what becomes of a packet that arrived at `now`, given when the transmitter was free and what had been counted before.
    #[cold]
    fn note(
        &mut self,
        packet: &Packet,
        now: f64,
        (free, before): (f64, [u64; 3]),
        passage: &Passage,
    ) {
        let Discipline::Computed { waiting, .. } = &self.discipline else {
            unreachable!("accept is for computed ports");
        };
        let Some(ledger) = &mut self.ledger else {
            return;
        };
        let waiting = waiting.len() as u64;
        let now_counted = self.counters.fates();
        let [dropped, marked, lost] = [0, 1, 2].map(|fate| now_counted[fate] > before[fate]);
        if dropped {
            ledger.arrived(packet, now, waiting + 1);
            ledger.dropped_one(packet, now, now);
            return;
        }
        // If it waits it is itself among the waiting, and one before it is in transmission.
        ledger.arrived(packet, now, waiting);
        let start = f64::max(now, free);
        if start < self.end_secs {
            let start = Start::of([now, start, self.done.time], passage, marked, lost);
            ledger.started(packet, start);
        }
    }

    #[inline(always)]
    fn admit<const ANY: bool>(
        &mut self,
        key: Key,
        recorded: Option<Event>,
        (bytes, ecn): (u32, Ecn),
        lineage: &mut Lineage,
    ) -> Passage {
        let mut marked = false;
        let tx = self.transmission_secs(bytes);
        let fate = self.fate();
        let Discipline::Computed {
            law,
            waiting,
            waiting_bytes,
            in_service_bytes,
        } = &mut self.discipline
        else {
            unreachable!("accept is for computed ports");
        };
        self.counters.arrived_packets += 1;
        self.counters.arrived_bytes += u64::from(bytes);
        // At a full tie the transmitter is served before the newcomer.
        let idle = self.done.precedes(&key, lineage, true);
        let start = if idle {
            if !waiting.is_empty() {
                waiting.clear();
                *waiting_bytes = 0;
            }
            *in_service_bytes = bytes;
            recorded.unwrap_or_else(|| lineage.record(key))
        } else {
            while let Some(front) = waiting.front() {
                if !front.start.precedes(&key, lineage, true) {
                    break;
                }
                *waiting_bytes -= u64::from(front.bytes);
                *in_service_bytes = front.bytes;
                waiting.pop();
            }
            let present = Backlog {
                packets: waiting.len() as u64 + 1,
                bytes: *waiting_bytes + u64::from(*in_service_bytes),
            };
            if law.limit.admits(present, u64::from(bytes)) == Verdict::Drop {
                self.counters.dropped_packets += 1;
                self.counters.dropped_bytes += u64::from(bytes);
                return Passage::DROPPED;
            }
            if ANY && matches!(ecn, Ecn::Ect0 | Ecn::Ect1) {
                marked = law.marks(present, u64::from(bytes));
            }
            self.counters.busy_peak_packets =
                self.counters.busy_peak_packets.max(present.packets + 1);
            if self.done.time < self.end_secs {
                self.counters.waited.add(self.done.time - key.time, bytes);
            } else if key.time < self.end_secs {
                let left = self.end_secs - key.time;
                self.counters.waited_in_vain.add(left, bytes);
            }
            let slot = waiting.push_slot();
            slot.start = self.done;
            slot.bytes = bytes;
            *waiting_bytes += u64::from(bytes);
            lineage.record(self.done)
        };
        if ANY && marked {
            // Its transmission may begin after the run.
            self.counters.marked_packets += u64::from(start.time < self.end_secs);
        }
        if ANY && self.wire.is_some() {
            let service = if idle {
                Service::Fresh
            } else {
                Service::Follows
            };
            let (done, passage) = self.transmit_over_wire(start, bytes, fate, service);
            self.done = done;
            return Passage { marked, ..passage };
        }
        self.done = start.schedule(start.time + tx, Child::Done);
        if fate == Fate::Lost {
            self.counters.lost_packets += u64::from(start.time < self.end_secs);
            return Passage::plain(Key::NEVER, marked);
        }
        let arrival = start.schedule(start.time + (tx + self.delay_secs), Child::Arrival);
        Passage::plain(arrival, marked)
    }

    /// A transmission begins at `start` over a wire that is not plain: when it ends, and what becomes of its packet.
    #[cold]
    #[inline(never)]
    fn transmit_over_wire(
        &mut self,
        start: Event,
        bytes: u32,
        fate: Fate,
        service: Service,
    ) -> (Key, Passage) {
        let bytes = wire_bytes(self.medium, bytes);
        let wire = self.wire.as_mut().expect("the wire is not plain");
        let done = wire.transmit(start.time, bytes, service);
        let crossing = wire.cross(start.time, done);
        // It may begin after the run.
        let counts = u64::from(start.time < self.end_secs);
        let corrupted = crossing.corrupted && counts > 0;
        let mut passage = Passage::DROPPED;
        if fate == Fate::Lost || (crossing.arrival.is_infinite() && done.is_finite()) {
            self.counters.lost_packets += counts;
        } else if crossing.arrival.is_finite() {
            let at_far_end = |child| start.schedule(crossing.arrival, child);
            passage.arrival = at_far_end(Child::Arrival);
            passage.again = crossing.duplicated.then(|| at_far_end(Child::Again));
            passage.corrupted = corrupted;
            self.counters.duplicated_packets += counts * u64::from(crossing.duplicated);
            self.counters.reordered_packets += counts * u64::from(crossing.overtakes);
        }
        (start.schedule(done, Child::Done), passage)
    }

    /// A packet of this port has been damaged on its way.
    pub fn count_corrupted(&mut self) {
        self.counters.corrupted_packets += 1;
    }

    /// Of the packet that arrives now.
    #[inline]
    fn fate(&mut self) -> Fate {
        match &mut self.loss {
            None => Fate::Arrives,
            Some(loss) => loss.next_fate(),
        }
    }

    /// Packets present just before `time`, the one in transmission included: what happens at `time` has not happened yet.
    pub fn backlog_at(&self, time: f64) -> u64 {
        match &self.discipline {
            Discipline::Computed { waiting, .. } => {
                let busy = u64::from(time <= self.done.time);
                busy + waiting
                    .iter()
                    .filter(|packet| packet.start.time >= time)
                    .count() as u64
            }
            Discipline::Evented {
                queue, in_service, ..
            } => queue.waiting().packets + u64::from(in_service.is_some()),
        }
    }
}

/// For how many bytes of a link's rate a packet keeps it busy.
fn wire_bytes(medium: Option<Medium>, bytes: u32) -> u32 {
    medium.map_or(bytes, |medium| medium.wire_bytes(bytes))
}

/// What of them is not the packet's own.
fn framing_bytes(medium: Option<Medium>, bytes: u32) -> u64 {
    u64::from(wire_bytes(medium, bytes) - bytes)
}
