//! One direction of a link: a rate, a propagation delay and a queue.
//!
//! A packet that is transmitted from `start` to `start + bits/rate` arrives at the far end at `start + (bits/rate + delay)`.
//! What a packet's bits are where a link has a medium, [`crate::impair::Medium`] says.
//! The additions are made in this order because binary64 rounding decides ties (see `docs/concepts/time.md`).
//!
//! **Speed.** A drop-tail FIFO decides everything at arrival: the packet's transmission starts when the one before it has
//! left, and what is still present is what has not yet departed. [`Port::take`] computes this without any event for the
//! end of a transmission, and [`Port::accept_any`] the same for one that marks, or whose [wire](crate::impair) is not plain. Disciplines that
//! decide at dequeue (and every port, when the shortcut is off) use [`Port::arrive`] and [`Port::transmitter_free`] instead; so does a port that [carries fluid](Port::carry_fluid),
//! whose packets have to come in their turn.

mod computed;
mod counters;
mod evented;
mod fluid;
mod passage;
#[cfg(test)]
mod tests;
mod transmitter;

use std::sync::Arc;

pub use self::counters::PortCounters;
pub use self::fluid::FluidStep;
pub use self::passage::{Passage, PortTransmission, Turn};

use self::computed::Computed;
use self::counters::Fates;
use self::fluid::FluidBuffer;
use self::transmitter::{Sending, Transmitter};
use super::ledger::Ledger;
use super::traffic::{Traffic, TransmissionStart};
use crate::events::{Child, Event, EventKey, Line, Lineage, Occurrence};
use crate::impair::{ForwardingNode, ImpairedWire, Service};
use crate::loss::{Loss, WireFate};
use crate::packet::{Ecn, Packet};
use crate::queue::{Admission, Dequeued, Queue, QueuedPacket};
use crate::spec::{LinkDirection, Recording};
use crate::units::{ByteCount, Duration, Instant, Rate};

/// The sending side of one direction of a link. What every packet needs comes first, in one line of the cache or two.
#[derive(Debug)]
#[repr(C)]
pub struct Port {
    /// The event that ends the transmission in progress; in the past when idle.
    done: EventKey,
    /// The size of the packet which came last, if one like it that finds the port idle passes at once: nothing has waited since, the wire loses nothing, and the
    /// transmitter knows how long it takes. Or else one that no packet has.
    usual: ByteCount,
    transmitter: Transmitter,
    /// Since the run began. A port that computes departures counts a transmission when its packet comes.
    pub counters: PortCounters,
    /// What passes packets on at the far end, if it does more than that.
    node: Option<Box<ForwardingNode>>,
    /// The run's end: waits that end later do not count.
    end: Instant,
    discipline: Discipline,
    loss: Option<Box<Loss>>,
    /// Only if more is asked for than counters.
    ledger: Option<Box<Ledger>>,
    /// Only if fluid comes: then packets wait beside it, and the queue has none.
    fluid: Option<Box<FluidBuffer>>,
}

#[derive(Debug)]
enum Discipline {
    /// Departures computed at arrival.
    Computed(Computed),
    /// Departures decided when the transmitter is free.
    Evented {
        queue: Box<dyn Queue>,
        in_service: Option<ByteCount>,
        /// Packets that the queue has dropped and nobody has taken yet.
        dropped: Vec<QueuedPacket>,
    },
}

/// A packet that a queue has taken.
#[derive(Clone, Copy)]
struct Admitted {
    /// The event from which it is sent.
    start: Event,
    marked: bool,
}

/// What holds before a packet has arrived.
#[derive(Clone, Copy)]
struct Before {
    /// When the transmitter is free.
    free: Instant,
    counted: Fates,
}

impl Port {
    /// Bits that were accepted, as a share of what could have been sent until the run's end, if anything could.
    pub fn utilisation(&self) -> Option<f64> {
        let counters = &self.counters;
        let sent = counters.arrived - counters.dropped + counters.framing;
        let capacity = self.transmitter.capacity_bits(self.end);
        (capacity > 0.0).then(|| 8.0 * sent.as_f64() / capacity)
    }

    /// Packets that waited, without the one in transmission, mean over the run's time; once the run [is over](Port::finish).
    ///
    /// What N(t) packets wait adds N(t) to the integral over time, and each of them adds the time it waits: the integral is the sum of all
    /// waits (Little 1961).
    pub fn mean_backlog_packets(&self) -> f64 {
        let counters = &self.counters;
        (counters.waited.time + counters.waited_in_vain.time).secs() / self.end.secs()
    }

    /// The same, in bytes.
    pub fn mean_backlog_bytes(&self) -> f64 {
        let counters = &self.counters;
        (counters.waited.byte_secs + counters.waited_in_vain.byte_secs) / self.end.secs()
    }

    /// The run is over: what still waits has waited until now. Nothing can be done with the port afterwards.
    pub fn finish(&mut self) {
        if let Some(fluid) = &mut self.fluid {
            fluid.finish(self.end, &mut self.counters);
        }
        let Discipline::Evented { queue, dropped, .. } = &mut self.discipline else {
            // Known since it arrived.
            return;
        };
        let mut now = self.end;
        loop {
            let next = queue.dequeue(now, dropped);
            for queued in dropped.drain(..) {
                self.counters.wait_in_vain(&queued, self.end);
            }
            match next {
                Dequeued::Packet(queued) => self.counters.wait_in_vain(&queued, self.end),
                Dequeued::NotBefore(time) => now = time,
                Dequeued::Empty => return,
            }
        }
    }

    /// A port whose departures are computed at arrival if `computed` and if the discipline allows it.
    pub(crate) fn new(
        link: &LinkDirection,
        queue: Box<dyn Queue>,
        loss: Option<Box<Loss>>,
        wire: Option<Box<ImpairedWire>>,
        end: Instant,
        computed: bool,
    ) -> Self {
        let discipline = match queue.as_fifo() {
            Some(law) if computed => Discipline::Computed(Computed::new(law)),
            _ => Discipline::Evented {
                queue,
                in_service: None,
                dropped: Vec::new(),
            },
        };
        let done = EventKey::at_start(Instant::LONG_AGO, 0);
        Self {
            done,
            usual: ByteCount::MAX,
            transmitter: Transmitter::new(link, wire),
            counters: PortCounters::default(),
            node: ForwardingNode::new(link.forwarding).map(Box::new),
            end,
            discipline,
            loss,
            ledger: None,
            fluid: None,
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

    /// Whether [`Port::take`] applies, or with a queue that marks or a wire that is not plain [`Port::accept_any`].
    pub fn is_computed(&self) -> bool {
        matches!(self.discipline, Discipline::Computed(_))
    }

    /// Whether departures are computed at arrival by a queue that marks.
    pub fn computes_marks(&self) -> bool {
        match &self.discipline {
            Discipline::Computed(computed) => computed.law.mark_above.is_some(),
            Discipline::Evented { .. } => false,
        }
    }

    /// Whether there is more to the wire than one rate and one delay.
    pub fn is_impaired(&self) -> bool {
        self.transmitter.wire.is_some()
    }

    /// Whether what leaves may arrive in another order, or more than once.
    pub fn may_reorder(&self) -> bool {
        let wire = self.transmitter.wire.as_ref();
        wire.is_some_and(|wire| wire.may_reorder())
    }

    /// Whether a medium adds to packets.
    pub fn is_framed(&self) -> bool {
        self.transmitter.medium.is_some()
    }

    /// Whether the node at its far end takes its time with packets that it passes on, or does not wait for all of them.
    pub fn has_node(&self) -> bool {
        self.node.is_some()
    }

    /// The rate at which it sends before anything has changed.
    pub fn rate(&self) -> Rate {
        self.transmitter.rate
    }

    /// The propagation delay before anything has changed.
    pub fn delay(&self) -> Duration {
        self.transmitter.delay
    }

    /// When a packet of this port, whose last bit comes with `arrival` at the far end, can be sent from there over a link of the `next` rate.
    /// To be asked of all packets that go on from there, in their order.
    pub fn pass_on(&mut self, arrival: EventKey, size: ByteCount, next: Rate) -> EventKey {
        let Some(node) = &mut self.node else {
            return arrival;
        };
        if arrival.is_never() {
            return arrival;
        }
        let (end, line) = arrival.parts();
        let hops = self.transmitter.hops(size, next);
        EventKey::from_parts(node.pass(end, hops), line)
    }

    /// How long a packet takes at the rate that holds before anything has changed.
    #[inline]
    pub fn transmission(&mut self, size: ByteCount) -> Duration {
        self.usual = ByteCount::MAX;
        self.transmitter.pace(size).time
    }

    /// A packet arrives with `key`, an event of which so much is known; the key of its arrival at the far end, which is never if it is dropped or lost. Of ports that compute
    /// departures and do nothing else. Arrivals must come in the order of their keys. At a full tie the transmitter is served before the newcomer.
    ///
    /// `IN_PLACE`: what is done for a packet that has to wait is code in the caller, and not a call. That is shorter, and in a loop over idle ports the longer way.
    #[inline(always)]
    pub fn take<const IN_PLACE: bool>(
        &mut self,
        key: EventKey,
        occurrence: Occurrence,
        size: ByteCount,
        lineage: &mut Lineage,
    ) -> EventKey {
        let start = if self.done.precedes(&key, lineage, true) {
            if self.usual == size {
                self.counters.arrive(size);
                let start = occurrence.record(key, lineage);
                self.send(start, WireFate::Arrives)
            } else {
                let (time, line) = key.parts();
                self.accept_when_idle(time, line, occurrence, size, lineage)
            }
        } else if IN_PLACE {
            self.accept_when_busy_in_place(key, size, lineage)
        } else {
            let (time, line) = key.parts();
            self.accept_when_busy(time, line, size, lineage)
        };
        self.arrival(start)
    }

    /// When the last bit of a packet arrives at the far end that has come last and is sent from `start`; never if there is no start.
    #[inline(always)]
    fn arrival(&self, start: Event) -> EventKey {
        start.schedule(start.time + self.transmitter.latest().reach, Child::Arrival)
    }

    /// A packet of any size arrives at a port that is idle; the event from which it is sent, which is [`Event::NEVER`] if it is lost.
    #[inline(never)]
    fn accept_when_idle(
        &mut self,
        time: Instant,
        line: Line,
        occurrence: Occurrence,
        size: ByteCount,
        lineage: &mut Lineage,
    ) -> Event {
        let fate = self.fate();
        let start = occurrence.record(EventKey::from_parts(time, line), lineage);
        self.serve::<false>(size);
        self.send(start, fate)
    }

    /// [`Port::accept_when_busy_in_place`] as a call, which takes a key in parts.
    #[inline(never)]
    fn accept_when_busy(
        &mut self,
        time: Instant,
        line: Line,
        size: ByteCount,
        lineage: &mut Lineage,
    ) -> Event {
        if self.loss.is_some() {
            return self.accept_for_lossy_wire(time, line, size, lineage);
        }
        let key = EventKey::from_parts(time, line);
        match self.admit::<false, false>(key, size, Ecn::NotEct, lineage) {
            Some(Admitted { start, .. }) => self.send(start, WireFate::Arrives),
            None => Event::NEVER,
        }
    }

    /// A packet arrives with `key` at a port that is busy; the event from which it is sent, which is [`Event::NEVER`] if it is dropped or lost.
    #[inline(always)]
    fn accept_when_busy_in_place(
        &mut self,
        key: EventKey,
        size: ByteCount,
        lineage: &mut Lineage,
    ) -> Event {
        if self.loss.is_some() {
            let (time, line) = key.parts();
            return self.accept_for_lossy_wire(time, line, size, lineage);
        }
        match self.admit::<false, true>(key, size, Ecn::NotEct, lineage) {
            Some(Admitted { start, .. }) => self.send(start, WireFate::Arrives),
            None => Event::NEVER,
        }
    }

    /// The same where the wire may lose it. It is apart, and not a fate that is passed on: that would have to be kept while the queue decides, and be asked for afterwards, for each packet of the many
    /// wires that lose nothing.
    #[cold]
    #[inline(never)]
    fn accept_for_lossy_wire(
        &mut self,
        time: Instant,
        line: Line,
        size: ByteCount,
        lineage: &mut Lineage,
    ) -> Event {
        let fate = self.fate();
        let key = EventKey::from_parts(time, line);
        match self.admit::<false, true>(key, size, Ecn::NotEct, lineage) {
            Some(Admitted { start, .. }) => self.send(start, fate),
            None => Event::NEVER,
        }
    }

    /// The same for a packet with an ECN field, which a queue may mark, over any wire, and noted in the ledger.
    pub fn accept_any(
        &mut self,
        key: EventKey,
        occurrence: Occurrence,
        packet: &Packet,
        lineage: &mut Lineage,
    ) -> Passage {
        let before = Before {
            free: self.done.time,
            counted: self.counters.fates(),
        };
        let idle = self.done.precedes(&key, lineage, true);
        let (size, ecn) = (packet.size(), packet.ecn());
        let fate = self.fate();
        let admitted = if idle {
            self.serve::<true>(size);
            Some(Admitted {
                start: occurrence.record(key, lineage),
                marked: false,
            })
        } else {
            self.admit::<true, true>(key, size, ecn, lineage)
        };
        let passage = match admitted {
            None => Passage::DROPPED,
            Some(admitted) => self.cross(admitted, idle, size, fate),
        };
        if self.is_framed() && self.counters.dropped_packets == before.counted.dropped {
            self.counters.framing += self.transmitter.framing(packet.size());
        }
        if self.ledger.is_some() {
            self.note(packet, key.time, before, &passage);
        }
        passage
    }

    /// Notes what becomes of a packet that has arrived at `now`.
    #[cold]
    fn note(&mut self, packet: &Packet, now: Instant, before: Before, passage: &Passage) {
        let Discipline::Computed(computed) = &self.discipline else {
            unreachable!("accept is for computed ports");
        };
        let Some(ledger) = &mut self.ledger else {
            return;
        };
        let (counted, before_it) = (self.counters.fates(), before.counted);
        if counted.dropped > before_it.dropped {
            ledger.arrived(packet, now, computed.waiting() + 1);
            ledger.dropped_one(packet, now, now);
            return;
        }
        // If it waits it is itself among the waiting, and one before it is in transmission.
        ledger.arrived(packet, now, computed.waiting());
        let at = now.max(before.free);
        if at < self.end {
            let start = TransmissionStart {
                arrived: now,
                at,
                sent: self.done.time,
                marked: counted.marked > before_it.marked,
                lost: counted.lost > before_it.lost,
            };
            ledger.started(packet, start, passage);
        }
    }

    /// A packet finds the port idle. `ANY`: one that lets none pass at once.
    #[inline(always)]
    fn serve<const ANY: bool>(&mut self, size: ByteCount) {
        self.counters.arrive(size);
        let Discipline::Computed(computed) = &mut self.discipline else {
            unreachable!("accept is for computed ports");
        };
        computed.serve(size);
        if !ANY && self.loss.is_none() {
            self.usual = size;
        }
        self.transmitter.pace(size);
    }

    /// A packet finds the port busy: the queue takes it or drops it. `ANY`: it may mark it, and a port like this one lets none pass at once. `MANY`: packets that have left are forgotten in a loop.
    #[inline(always)]
    fn admit<const ANY: bool, const MANY: bool>(
        &mut self,
        key: EventKey,
        size: ByteCount,
        ecn: Ecn,
        lineage: &mut Lineage,
    ) -> Option<Admitted> {
        let Discipline::Computed(computed) = &mut self.discipline else {
            unreachable!("accept is for computed ports");
        };
        self.counters.arrive(size);
        // Those that passed at once have left no note, but are as large as what is in service.
        debug_assert!(self.usual == ByteCount::MAX || self.usual == computed.in_service);
        self.usual = ByteCount::MAX;
        if MANY {
            computed.catch_up(key, lineage);
        } else {
            computed.catch_up_shortly(key, lineage);
        }
        let present = computed.present();
        if computed.law.limit.admits(present, size) == Admission::Drop {
            self.counters.dropped_packets += 1;
            self.counters.dropped += size;
            return None;
        }
        let may_be_marked = ANY && matches!(ecn, Ecn::Ect0 | Ecn::Ect1);
        let marked = may_be_marked && computed.law.marks(present, size);
        if present.packets >= self.counters.busy_peak_packets {
            self.counters.busy_peak_packets = present.packets + 1;
        }
        if self.done.time < self.end {
            self.counters.waited.add(self.done.time - key.time, size);
        } else {
            self.counters.wait_to_the_end(key.time, self.end, size);
        }
        computed.wait(&self.done, size);
        let start = lineage.record(self.done);
        self.transmitter.pace(size);
        Some(Admitted { start, marked })
    }

    /// The packet that came last is sent from `start`, which is returned, or [`Event::NEVER`] if the wire loses it.
    #[inline(always)]
    fn send(&mut self, start: Event, fate: WireFate) -> Event {
        self.done = start.schedule(start.time + self.transmitter.latest().time, Child::Done);
        if fate == WireFate::Lost {
            self.counters.lost_packets += u64::from(start.time < self.end);
            return Event::NEVER;
        }
        start
    }

    /// A packet that a queue has taken which may mark crosses a wire that may be none that is plain.
    fn cross(
        &mut self,
        admitted: Admitted,
        idle: bool,
        size: ByteCount,
        fate: WireFate,
    ) -> Passage {
        let Admitted { start, marked } = admitted;
        if marked {
            // Its transmission may begin after the run.
            self.counters.marked_packets += u64::from(start.time < self.end);
        }
        if self.is_impaired() {
            let service = if idle {
                Service::Fresh
            } else {
                Service::Follows
            };
            let sending = self.transmit_over_wire(start, size, fate, service);
            self.done = sending.done;
            return Passage {
                marked,
                ..sending.passage
            };
        }
        let start = self.send(start, fate);
        Passage::plain(self.arrival(start), marked)
    }

    /// A transmission begins at `start` over a wire that is not plain.
    #[cold]
    #[inline(never)]
    fn transmit_over_wire(
        &mut self,
        start: Event,
        size: ByteCount,
        fate: WireFate,
        service: Service,
    ) -> Sending {
        let transmitter = &mut self.transmitter;
        let mut sending = transmitter.send_over_wire(start, size, fate, service);
        // It may begin after the run.
        let counts = start.time < self.end;
        sending.passage.corrupted &= counts;
        if counts {
            let is_doubled = sending.passage.again.is_some();
            self.counters.lost_packets += u64::from(sending.lost);
            self.counters.duplicated_packets += u64::from(is_doubled);
            self.counters.reordered_packets += u64::from(sending.overtakes);
        }
        sending
    }

    /// A packet of this port has been damaged on its way.
    pub fn count_corrupted(&mut self) {
        self.counters.corrupted_packets += 1;
    }

    /// Of the packet that arrives now.
    #[inline]
    fn fate(&mut self) -> WireFate {
        match &mut self.loss {
            None => WireFate::Arrives,
            Some(loss) => loss.next_fate(),
        }
    }

    /// The most packets present at any time since this was asked before, until just before `time`; of fluid at these two times.
    pub fn peak_since_sample(&mut self, time: Instant) -> u64 {
        let backlog = self.backlog_at(time);
        self.counters.peak_since_sample(backlog)
    }

    /// Packets present just before `time`, the one in transmission included: what happens at `time` has not happened yet.
    pub fn backlog_at(&self, time: Instant) -> u64 {
        if let Some(fluid) = &self.fluid {
            return fluid.present_at(time);
        }
        match &self.discipline {
            Discipline::Computed(computed) => {
                u64::from(time <= self.done.time) + computed.waiting_at(time)
            }
            Discipline::Evented {
                queue, in_service, ..
            } => queue.waiting().packets + u64::from(in_service.is_some()),
        }
    }
}
