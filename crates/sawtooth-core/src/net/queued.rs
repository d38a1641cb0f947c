//! Packets that wait in the queues of ports. A queue holds only a number for each; the packet that it stands for is kept here.

use super::flight::PacketInFlight;

#[derive(Debug)]
pub(super) struct QueuedFlights<P> {
    /// By number.
    flights: Vec<Option<PacketInFlight<P>>>,
    /// Numbers that stand for nothing.
    vacant: Vec<usize>,
    of_hosts: usize,
}

impl<P> QueuedFlights<P> {
    pub(super) fn new() -> Self {
        Self {
            flights: Vec::new(),
            vacant: Vec::new(),
            of_hosts: 0,
        }
    }

    /// How many of them are packets of hosts.
    pub(super) fn of_hosts(&self) -> usize {
        self.of_hosts
    }

    /// One more, and its number.
    pub(super) fn put(&mut self, flight: PacketInFlight<P>) -> (u64, &PacketInFlight<P>) {
        self.of_hosts += usize::from(flight.content.is_of_host());
        let number = self.vacant.pop().unwrap_or_else(|| {
            self.flights.push(None);
            self.flights.len() - 1
        });
        (number as u64, self.flights[number].insert(flight))
    }

    /// What a number stands for, which is in no queue any more.
    pub(super) fn take(&mut self, number: u64) -> Option<PacketInFlight<P>> {
        let number = usize::try_from(number).ok()?;
        let flight = self.flights.get_mut(number)?.take()?;
        self.vacant.push(number);
        self.of_hosts -= usize::from(flight.content.is_of_host());
        Some(flight)
    }
}

#[cfg(test)]
mod tests {
    use super::super::flight::{Content, testing::flight};
    use super::*;
    use crate::events::EventKey;
    use crate::units::{ByteCount, Instant, SeqNum};

    #[test]
    fn a_number_stands_for_one_packet_until_that_is_taken() {
        let mut queued = QueuedFlights::new();
        let datagram = Content::Datagram {
            number: SeqNum::ZERO,
            sent: Instant::START,
            size: ByteCount::new(100),
        };
        let first = queued.put(flight(1, EventKey::NEVER, Content::Host(()))).0;
        let second = queued.put(flight(2, EventKey::NEVER, datagram)).0;
        assert_eq!(queued.of_hosts(), 1);
        assert_eq!(queued.take(first).map(|flight| flight.connection), Some(1));
        assert!(queued.take(first).is_none());
        assert_eq!(queued.of_hosts(), 0);
        assert_eq!(
            queued.put(flight(3, EventKey::NEVER, Content::Host(()))).0,
            first
        );
        assert_eq!(queued.take(second).map(|flight| flight.connection), Some(2));
        assert_eq!(queued.take(first).map(|flight| flight.connection), Some(3));
    }
}
