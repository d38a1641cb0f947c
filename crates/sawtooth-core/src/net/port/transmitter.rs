//! The transmitter of a port and the wire behind it: how long a packet is sent, and when it is at the far end.

use super::passage::Passage;
use crate::events::{Child, Event, EventKey};
use crate::impair::{Hops, ImpairedWire, Medium, Service};
use crate::loss::WireFate;
use crate::spec::LinkDirection;
use crate::units::{ByteCount, Duration, Instant, Rate};

#[derive(Debug)]
#[repr(C)]
pub(super) struct Transmitter {
    memo: SendingTimes,
    pub rate: Rate,
    pub delay: Duration,
    /// What packets are put into, if they do not leave as they are.
    pub medium: Option<Medium>,
    /// Only if one rate and one delay do not say everything.
    pub wire: Option<Box<ImpairedWire>>,
}

/// The times last computed, and for which size: traffic has few sizes and division is slow.
#[derive(Clone, Copy, Debug)]
pub(super) struct SendingTimes {
    pub size: ByteCount,
    /// How long it is sent.
    pub time: Duration,
    /// How long it takes to the far end, over a plain wire.
    pub reach: Duration,
}

/// A transmission that has begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sending {
    pub passage: Passage,
    /// The transmitter is free again.
    pub done: EventKey,
    /// The wire loses the packet.
    pub lost: bool,
    /// It arrives before one that was transmitted earlier.
    pub overtakes: bool,
}

impl Transmitter {
    pub(super) fn new(link: &LinkDirection, wire: Option<Box<ImpairedWire>>) -> Self {
        Self {
            rate: link.rate,
            delay: link.delay,
            medium: link.medium,
            wire,
            memo: SendingTimes {
                size: ByteCount::ZERO,
                time: Duration::ZERO,
                reach: link.delay,
            },
        }
    }

    /// How long a packet takes at the rate that holds before anything has changed.
    #[inline]
    pub(super) fn pace(&mut self, size: ByteCount) -> SendingTimes {
        if self.memo.size != size {
            self.set_pace(size);
        }
        self.memo
    }

    /// That of the size last asked for.
    #[inline(always)]
    pub(super) fn latest(&self) -> &SendingTimes {
        &self.memo
    }

    #[inline(never)]
    fn set_pace(&mut self, size: ByteCount) {
        let time = self.on_wire(size) / self.rate;
        self.memo = SendingTimes {
            size,
            time,
            reach: time + self.delay,
        };
    }

    /// A transmission begins at `start` over a wire that is not plain.
    pub(super) fn send_over_wire(
        &mut self,
        start: Event,
        size: ByteCount,
        fate: WireFate,
        service: Service,
    ) -> Sending {
        let usual = self.pace(size).time;
        let size = self.on_wire(size);
        let wire = self.wire.as_mut().expect("the wire is not plain");
        let done = wire.transmit(start.time, size, service);
        let crossing = wire.cross(start.time, done, usual);
        let arrives = crossing.arrival != Instant::NEVER;
        let mut sending = Sending {
            passage: Passage::DROPPED,
            done: start.schedule(done, Child::Done),
            lost: fate == WireFate::Lost || (!arrives && done != Instant::NEVER),
            overtakes: false,
        };
        if arrives && !sending.lost {
            let at_far_end = |child| start.schedule(crossing.arrival, child);
            sending.passage = Passage {
                arrival: at_far_end(Child::Arrival),
                marked: false,
                again: crossing.duplicated.then(|| at_far_end(Child::Again)),
                corrupted: crossing.corrupted,
            };
            sending.overtakes = crossing.overtakes;
        }
        sending
    }

    /// What can be sent until `end`, bits.
    pub(super) fn capacity_bits(&self, end: Instant) -> f64 {
        match &self.wire {
            Some(wire) => wire.capacity_bits(end),
            None => self.rate.bps() * end.secs(),
        }
    }

    /// What a node at the far end has to know of a packet that it passes on over a link of the `next` rate.
    pub(super) fn hops(&self, size: ByteCount, next: Rate) -> Hops {
        Hops {
            size,
            medium: self.medium,
            rate_in: self.rate,
            rate_out: next,
        }
    }

    /// What the medium adds to a packet.
    pub(super) fn framing(&self, size: ByteCount) -> ByteCount {
        self.on_wire(size) - size
    }

    /// For how much of the link's rate a packet keeps it busy.
    fn on_wire(&self, size: ByteCount) -> ByteCount {
        self.medium.map_or(size, |medium| medium.on_wire(size))
    }
}
