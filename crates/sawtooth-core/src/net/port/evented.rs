//! A port whose queue decides when the transmitter is free: each end of a transmission is an event.

use super::counters::PortCounters;
use super::fluid::{FluidBuffer, FluidStep};
use super::transmitter::Transmitter;
use super::{Discipline, Passage, Port, PortTransmission, Turn};
use crate::events::{Child, Event, EventKey, Lineage, Occurrence};
use crate::impair::Service;
use crate::loss::WireFate;
use crate::net::ledger::Ledger;
use crate::net::traffic::TransmissionStart;
use crate::packet::Packet;
use crate::queue::{Admission, Backlog, Dequeued, QueuedPacket};
use crate::rng::RandomStream;
use crate::units::{ByteCount, Instant};

impl Port {
    /// A packet arrives at an evented port. If the transmitter is idle a transmission may start.
    pub fn arrive(
        &mut self,
        key: EventKey,
        occurrence: Occurrence,
        packet: Packet,
        lineage: &mut Lineage,
    ) -> Turn {
        if self.fluid.is_some() {
            return self.arrive_beside_fluid(key, occurrence, packet, lineage);
        }
        let arriving = QueuedPacket::new(packet, key.time, self.fate());
        let Discipline::Evented {
            queue,
            in_service,
            dropped,
        } = &mut self.discipline
        else {
            unreachable!("arrive is for evented ports");
        };
        self.counters.arrive(arriving.size());
        self.counters.framing += self.transmitter.framing(packet.size());
        let sending = Backlog {
            packets: u64::from(in_service.is_some()),
            bytes: in_service.unwrap_or(ByteCount::ZERO),
        };
        let before = dropped.len();
        if let Some(ledger) = &mut self.ledger {
            ledger.arrived(&packet, key.time, (queue.waiting() + sending).packets);
        }
        queue.enqueue(arriving, sending, dropped);
        let drops = Drops {
            transmitter: &self.transmitter,
            counters: &mut self.counters,
            ledger: self.ledger.as_deref_mut(),
        };
        drops.count(&dropped[before..], key.time);
        let present = queue.waiting().packets + sending.packets;
        self.counters.busy_peak_packets = self.counters.busy_peak_packets.max(present);
        if sending.packets == 0 {
            let now = occurrence.record(key, lineage);
            self.start(now, Service::Fresh)
        } else {
            Turn::Waits
        }
    }

    /// The transmission in progress has ended, or what was held back may leave; the next transmission starts if anything waits.
    pub fn transmitter_free(&mut self, now: Event) -> Turn {
        let Discipline::Evented { in_service, .. } = &mut self.discipline else {
            unreachable!("transmitter_free is for evented ports");
        };
        // What was held back finds the transmitter idle.
        let service = if in_service.take().is_some() {
            Service::Follows
        } else {
            Service::Fresh
        };
        self.start(now, service)
    }

    fn start(&mut self, now: Event, service: Service) -> Turn {
        let Discipline::Evented {
            queue,
            in_service,
            dropped,
        } = &mut self.discipline
        else {
            unreachable!()
        };
        let before = dropped.len();
        let next = queue.dequeue(now.time, dropped);
        let drops = Drops {
            transmitter: &self.transmitter,
            counters: &mut self.counters,
            ledger: self.ledger.as_deref_mut(),
        };
        drops.count(&dropped[before..], now.time);
        let leaving = match next {
            Dequeued::Packet(leaving) => leaving,
            Dequeued::Empty => return Turn::Waits,
            Dequeued::NotBefore(time) => {
                debug_assert!(time > now.time, "{time:?} is not after {:?}", now.time);
                return Turn::Wakes(now.schedule(time, Child::Done));
            }
        };
        let packet = leaving.packet;
        *in_service = Some(packet.size());
        if leaving.arrived < now.time {
            let wait = leaving.sojourn(now.time);
            self.counters.waited.add(wait, packet.size());
        }
        let lost_before = self.counters.lost_packets;
        let marked = packet.ecn() != leaving.ecn;
        self.counters.marked_packets += u64::from(marked);
        let transmission = self.transmit(now, leaving, service);
        if let Some(ledger) = &mut self.ledger {
            let start = TransmissionStart {
                arrived: leaving.arrived,
                at: now.time,
                sent: transmission.done.time,
                marked,
                lost: self.counters.lost_packets > lost_before,
            };
            ledger.started(&packet, start, &transmission.passage);
        }
        Turn::Starts(transmission)
    }

    /// A packet that has waited is transmitted.
    #[inline]
    fn transmit(
        &mut self,
        start: Event,
        leaving: QueuedPacket,
        service: Service,
    ) -> PortTransmission {
        let packet = leaving.packet;
        if self.is_impaired() {
            let sending = self.transmit_over_wire(start, packet.size(), leaving.fate, service);
            return PortTransmission {
                packet,
                passage: sending.passage,
                done: sending.done,
            };
        }
        let pace = self.transmitter.pace(packet.size());
        let arrival = match leaving.fate {
            WireFate::Arrives => start.schedule(start.time + pace.reach, Child::Arrival),
            WireFate::Lost => {
                self.counters.lost_packets += 1;
                EventKey::NEVER
            }
        };
        PortTransmission {
            packet,
            passage: Passage::plain(arrival, false),
            done: start.schedule(start.time + pace.time, Child::Done),
        }
    }

    /// A packet that the queue of an evented port has dropped; each is handed over once, and must be taken after every
    /// [`Port::arrive`] and [`Port::transmitter_free`].
    #[inline]
    pub fn take_dropped(&mut self) -> Option<QueuedPacket> {
        match &mut self.discipline {
            Discipline::Computed(_) => None,
            Discipline::Evented { dropped, .. } => dropped.pop(),
        }
    }

    // --- beside fluid ---

    /// Carries fluid from now on, in segments of this size. Of a port that does not compute departures, with a queue that decides by what is present.
    pub(crate) fn carry_fluid(&mut self, segment: ByteCount, random: RandomStream) {
        let Discipline::Evented { queue, .. } = &self.discipline else {
            unreachable!("packets beside fluid have to come in their turn");
        };
        let law = queue.as_fifo().expect("a drop-tail queue");
        let buffer = FluidBuffer::new(self.rate(), law.limit, segment, random);
        self.fluid = Some(Box::new(buffer));
    }

    /// Whether it carries fluid.
    pub(crate) fn carries_fluid(&self) -> bool {
        self.fluid.is_some()
    }

    /// A step of the fluid ends now: what has become of what came in it.
    pub fn end_fluid_step(&mut self, now: Instant) -> FluidStep {
        self.fluid().end_step(now)
    }

    /// From now on so many bytes of fluid come per second.
    pub fn set_inflow(&mut self, bytes_per_sec: f64) {
        self.fluid().inflow = bytes_per_sec;
    }

    fn fluid(&mut self) -> &mut FluidBuffer {
        self.fluid.as_mut().expect("a port that carries fluid")
    }

    /// A packet arrives beside fluid. Its transmission is known at once, and its end is no event.
    #[cold]
    #[inline(never)]
    pub(super) fn arrive_beside_fluid(
        &mut self,
        key: EventKey,
        occurrence: Occurrence,
        packet: Packet,
        lineage: &mut Lineage,
    ) -> Turn {
        let (now, size) = (key.time, packet.size());
        let pace = self.transmitter.pace(size);
        let end = self.end;
        self.counters.arrive(size);
        let buffer = self.fluid();
        buffer.advance(now);
        let present = buffer.present(buffer.work);
        let wait = buffer.wait();
        let is_taken = buffer.take(size) == Admission::Accept;
        let start = now + wait;
        let event = occurrence.record(key, lineage);
        let passage = if is_taken {
            self.counters.waited.add(wait.min(end - now), size);
            Passage::plain(event.schedule(start + pace.reach, Child::Arrival), false)
        } else {
            self.counters.dropped_packets += 1;
            self.counters.dropped += size;
            Passage::DROPPED
        };
        if let Some(ledger) = &mut self.ledger {
            ledger.arrived(&packet, now, present);
            if !is_taken {
                ledger.dropped_one(&packet, now, now);
            } else if start < end {
                let start = TransmissionStart {
                    arrived: now,
                    at: start,
                    sent: start + pace.time,
                    marked: false,
                    lost: false,
                };
                ledger.started(&packet, start, &passage);
            }
        }
        Turn::Starts(PortTransmission {
            packet,
            passage,
            done: EventKey::NEVER,
        })
    }
}

/// Where it is noted that a queue has dropped packets.
struct Drops<'a> {
    transmitter: &'a Transmitter,
    counters: &'a mut PortCounters,
    ledger: Option<&'a mut Ledger>,
}

impl Drops<'_> {
    #[inline]
    fn count(self, dropped: &[QueuedPacket], now: Instant) {
        for queued in dropped {
            let framing = self.transmitter.framing(queued.size());
            self.counters.drop(queued, now, framing);
        }
        if let Some(ledger) = self.ledger {
            ledger.dropped(dropped, now);
        }
    }
}
