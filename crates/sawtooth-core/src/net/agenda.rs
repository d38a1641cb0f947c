//! What happens next in a [`Network`](super::Network): events in the order of their times, and of those at one instant in the order in which
//! they were scheduled. What UDP sends goes before all else at its instant.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::flight::{AgendaKey, PacketInFlight};
use crate::events::EventKey;
use crate::units::Instant;

/// Something that happens.
#[derive(Debug)]
pub(super) enum AgendaEvent<P> {
    /// The next packet of a flow of UDP leaves.
    Departure(usize),
    /// A packet arrives at its next port or at its end.
    Arrival(PacketInFlight<P>),
    /// A port's transmitter is free, or what waits there may leave.
    Free(usize),
}

/// All events that are known.
#[derive(Debug)]
pub(super) struct Agenda<P> {
    scheduled: u64,
    /// Packets of hosts that are between ports.
    flights: BinaryHeap<Reverse<PacketInFlight<P>>>,
    /// Those of UDP.
    datagrams: BinaryHeap<Reverse<PacketInFlight<P>>>,
    /// Of flows of UDP.
    departures: BinaryHeap<Reverse<(AgendaKey, usize)>>,
    /// Of each port, if its departures take events.
    free: Vec<Option<AgendaKey>>,
}

/// In which of the lists of an [`Agenda`] the next event is.
#[derive(Clone, Copy, Debug)]
enum AgendaList {
    Departure,
    Datagram,
    Flight,
    Free(usize),
}

impl<P> Agenda<P> {
    pub(super) fn new(ports: usize) -> Self {
        Self {
            scheduled: 0,
            flights: BinaryHeap::new(),
            datagrams: BinaryHeap::new(),
            departures: BinaryHeap::new(),
            free: vec![None; ports],
        }
    }

    /// The next packet of a flow of UDP leaves at `time`.
    pub(super) fn schedule_departure(&mut self, flow: usize, time: Instant) {
        // Before everything that is scheduled for the same time.
        self.departures
            .push(Reverse((AgendaKey::first(time), flow)));
    }

    /// A packet arrives as its key says.
    pub(super) fn schedule_arrival(&mut self, mut flight: PacketInFlight<P>) {
        flight.due = self.due(flight.key);
        if flight.content.is_of_host() {
            self.flights.push(Reverse(flight));
        } else {
            self.datagrams.push(Reverse(flight));
        }
    }

    /// Replaces the event scheduled for that port.
    pub(super) fn schedule_free(&mut self, port: usize, key: EventKey) {
        self.free[port] = Some(self.due(key));
    }

    fn due(&mut self, key: EventKey) -> AgendaKey {
        self.scheduled += 1;
        AgendaKey::new(key, self.scheduled)
    }

    /// When something happens next, if anything does.
    pub(super) fn next_time(&self) -> Instant {
        time_of(self.next().map(|(due, _)| due))
    }

    /// When something happens next that may concern a host: a packet of one arrives somewhere or, if any is `queued`, a transmitter is free.
    pub(super) fn next_time_of_hosts(&self, queued: bool) -> Instant {
        let flight = self.flights.peek().map(|Reverse(flight)| flight.due);
        let free = self.next_free().filter(|_| queued);
        time_of(flight.into_iter().chain(free.map(|(due, _)| due)).min())
    }

    /// What happens next, and when.
    pub(super) fn pop(&mut self) -> Option<(Instant, AgendaEvent<P>)> {
        let (due, next) = self.next()?;
        let event = match next {
            AgendaList::Departure => AgendaEvent::Departure(self.departures.pop()?.0.1),
            AgendaList::Datagram => AgendaEvent::Arrival(self.datagrams.pop()?.0),
            AgendaList::Flight => AgendaEvent::Arrival(self.flights.pop()?.0),
            AgendaList::Free(port) => {
                self.free[port] = None;
                AgendaEvent::Free(port)
            }
        };
        Some((due.time(), event))
    }

    fn next(&self) -> Option<(AgendaKey, AgendaList)> {
        let departure = self.departures.peek().map(|Reverse((due, _))| *due);
        let datagram = self.datagrams.peek().map(|Reverse(flight)| flight.due);
        let flight = self.flights.peek().map(|Reverse(flight)| flight.due);
        let all = [
            departure.map(|due| (due, AgendaList::Departure)),
            datagram.map(|due| (due, AgendaList::Datagram)),
            flight.map(|due| (due, AgendaList::Flight)),
            self.next_free()
                .map(|(due, port)| (due, AgendaList::Free(port))),
        ];
        all.into_iter().flatten().min_by_key(|(due, _)| *due)
    }

    /// The port whose transmitter is free next.
    fn next_free(&self) -> Option<(AgendaKey, usize)> {
        let free = self.free.iter().zip(0..);
        free.filter_map(|(due, port)| due.map(|due| (due, port)))
            .min()
    }
}

fn time_of(due: Option<AgendaKey>) -> Instant {
    due.map_or(Instant::NEVER, AgendaKey::time)
}

#[cfg(test)]
mod tests {
    use super::super::flight::{Content, testing::flight};
    use super::*;
    use crate::events::{Child, Lineage};
    use crate::units::testing::at;
    use crate::units::{ByteCount, SeqNum};

    #[test]
    fn of_events_at_one_instant_departures_go_first_and_then_what_was_scheduled_first() {
        let mut agenda = Agenda::new(2);
        let datagram = Content::Datagram {
            number: SeqNum::ZERO,
            sent: Instant::START,
            size: ByteCount::new(100),
        };
        let [then, before] = [2.0, 1.0].map(|time| EventKey::at_start(at(time), 0));
        let mut lineage = Lineage::new();
        let late = lineage.record(before).schedule(at(2.0), Child::Arrival);
        agenda.schedule_arrival(flight(4, late, Content::Host(())));
        agenda.schedule_arrival(flight(1, then, Content::Host(())));
        agenda.schedule_free(1, then);
        agenda.schedule_arrival(flight(2, then, datagram));
        agenda.schedule_free(0, then);
        agenda.schedule_departure(7, at(2.0));
        agenda.schedule_arrival(flight(3, before, Content::Host(())));
        let mut order = Vec::new();
        while let Some((time, event)) = agenda.pop() {
            order.push(match event {
                AgendaEvent::Departure(flow) => (time, "departure", flow),
                AgendaEvent::Arrival(flight) => (time, "arrival", flight.connection as usize),
                AgendaEvent::Free(port) => (time, "free", port),
            });
        }
        let expected = [
            (at(1.0), "arrival", 3),
            (at(2.0), "departure", 7),
            (at(2.0), "arrival", 1),
            (at(2.0), "free", 1),
            (at(2.0), "arrival", 2),
            (at(2.0), "free", 0),
            (at(2.0), "arrival", 4),
        ];
        assert_eq!(order, expected);
    }

    #[test]
    fn hosts_wait_for_their_packets_and_for_transmitters_that_hold_any() {
        let mut agenda = Agenda::new(1);
        assert_eq!(agenda.next_time(), Instant::NEVER);
        agenda.schedule_departure(0, at(1.0));
        let key = |time| EventKey::at_start(at(time), 0);
        agenda.schedule_free(0, key(2.0));
        assert_eq!(agenda.next_time(), at(1.0));
        assert_eq!(agenda.next_time_of_hosts(false), Instant::NEVER);
        assert_eq!(agenda.next_time_of_hosts(true), at(2.0));
        agenda.schedule_arrival(flight(1, key(1.5), Content::Host(())));
        assert_eq!(agenda.next_time_of_hosts(true), at(1.5));
        // A later word on a transmitter replaces the earlier.
        agenda.schedule_free(0, key(1.25));
        assert_eq!(agenda.next_time_of_hosts(true), at(1.25));
    }
}
