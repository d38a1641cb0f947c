//! A port whose queue decides when the transmitter is free: each end of a transmission is an event.

use super::{Discipline, Passage, Port, Transmission, Turn, framing_bytes};
use crate::events::{Child, Event, Key, Lineage};
use crate::impair::Service;
use crate::loss::Fate;
use crate::net::ledger::Start;
use crate::packet::Packet;
use crate::queue::{Backlog, Next, Queued};

impl Port {
    /// A packet arrives at an evented port. If the transmitter is idle a transmission may start.
    pub fn arrive(&mut self, key: Key, packet: Packet, lineage: &mut Lineage) -> Turn {
        let arriving = Queued::new(packet, key.time, self.fate());
        let Discipline::Evented {
            queue,
            in_service,
            dropped,
        } = &mut self.discipline
        else {
            unreachable!("arrive is for evented ports");
        };
        self.counters.arrived_packets += 1;
        self.counters.arrived_bytes += arriving.bytes();
        self.counters.framing_bytes += framing_bytes(self.medium, packet.wire_bytes);
        let sending = Backlog {
            packets: u64::from(in_service.is_some()),
            bytes: in_service.map_or(0, u64::from),
        };
        let before = dropped.len();
        if let Some(ledger) = &mut self.ledger {
            ledger.arrived(&packet, key.time, (queue.waiting() + sending).packets);
        }
        queue.enqueue(arriving, sending, dropped);
        for queued in &dropped[before..] {
            self.counters.drop(queued, key.time, self.medium);
        }
        if let Some(ledger) = &mut self.ledger {
            ledger.dropped(&dropped[before..], key.time);
        }
        let present = queue.waiting().packets + sending.packets;
        self.counters.busy_peak_packets = self.counters.busy_peak_packets.max(present);
        if sending.packets == 0 {
            self.start(key, Service::Fresh, lineage)
        } else {
            Turn::Waits
        }
    }

    /// The transmission in progress has ended, or what was held back may leave; the next transmission starts if anything waits.
    pub fn transmitter_free(&mut self, key: Key, lineage: &mut Lineage) -> Turn {
        let Discipline::Evented { in_service, .. } = &mut self.discipline else {
            unreachable!("transmitter_free is for evented ports");
        };
        // What was held back finds the transmitter idle.
        let service = if in_service.take().is_some() {
            Service::Follows
        } else {
            Service::Fresh
        };
        self.start(key, service, lineage)
    }

    fn start(&mut self, key: Key, service: Service, lineage: &mut Lineage) -> Turn {
        let Discipline::Evented {
            queue,
            in_service,
            dropped,
        } = &mut self.discipline
        else {
            unreachable!()
        };
        let before = dropped.len();
        let next = queue.dequeue(key.time, dropped);
        for queued in &dropped[before..] {
            self.counters.drop(queued, key.time, self.medium);
        }
        if let Some(ledger) = &mut self.ledger {
            ledger.dropped(&dropped[before..], key.time);
        }
        let leaving = match next {
            Next::Packet(leaving) => leaving,
            Next::Empty => return Turn::Waits,
            Next::NotBefore(time) => {
                debug_assert!(time > key.time, "{time} is not after {}", key.time);
                return Turn::Wakes(lineage.record(key).schedule(time, Child::Done));
            }
        };
        let packet = leaving.packet;
        *in_service = Some(packet.wire_bytes);
        if leaving.arrived < key.time {
            let wait = leaving.sojourn(key.time);
            self.counters.waited.add(wait, packet.wire_bytes);
        }
        let lost_before = self.counters.lost_packets;
        let marked = packet.ecn() != leaving.ecn;
        self.counters.marked_packets += u64::from(marked);
        let start = lineage.record(key);
        let transmission = self.transmit(start, leaving, service);
        if let Some(ledger) = &mut self.ledger {
            let times = [leaving.arrived, key.time, transmission.done.time];
            let lost = self.counters.lost_packets > lost_before;
            let start = Start::of(times, &transmission.passage, marked, lost);
            ledger.started(&packet, start);
        }
        Turn::Starts(transmission)
    }

    /// A packet that has waited is transmitted.
    #[inline]
    fn transmit(&mut self, start: Event, leaving: Queued, service: Service) -> Transmission {
        let packet = leaving.packet;
        if self.wire.is_some() {
            let bytes = packet.wire_bytes;
            let (done, passage) = self.transmit_over_wire(start, bytes, leaving.fate, service);
            return Transmission {
                packet,
                passage,
                done,
            };
        }
        let tx = self.transmission_secs(packet.wire_bytes);
        let arrival = match leaving.fate {
            Fate::Arrives => start.schedule(start.time + (tx + self.delay_secs), Child::Arrival),
            Fate::Lost => {
                self.counters.lost_packets += 1;
                Key::NEVER
            }
        };
        Transmission {
            packet,
            passage: Passage::plain(arrival, false),
            done: start.schedule(start.time + tx, Child::Done),
        }
    }

    /// A packet that the queue of an evented port has dropped; each is handed over once, and must be taken after every
    /// [`Port::arrive`] and [`Port::transmitter_free`].
    #[inline]
    pub fn take_dropped(&mut self) -> Option<Queued> {
        match &mut self.discipline {
            Discipline::Computed { .. } => None,
            Discipline::Evented { dropped, .. } => dropped.pop(),
        }
    }
}
