//! The network interface of one machine: a queue of packets to transmit one after the other, those that have come, and when it interrupts.
//!
//! **Model.** A packet has a place in the transmit queue from when the driver is entered with it until an interrupt has reported its
//! transmission. Packets leave in order, at the rate of the link that they leave to, each not before `transmit_delay` after the driver
//! was done with it. What has no place waits outside, in order.

use std::collections::VecDeque;

use super::interrupt::Moderation;
use super::{Frame, duration};
use crate::registry::{Params, Value};
use crate::units::{ByteCount, Duration, Instant};

/// One interface.
#[derive(Debug)]
pub struct Nic {
    places: u64,
    taken: u64,
    transmit_delay: Duration,
    receive_delay: Duration,
    /// Packets without a place.
    outside: VecDeque<Frame>,
    /// Packets to be transmitted, and from when on they can be.
    ready: VecDeque<(Instant, Frame)>,
    transmitting: Option<(Instant, Frame)>,
    /// Transmitted; of them, those that an interrupt has reported and that still have their places.
    done: VecDeque<Frame>,
    done_reported: usize,
    /// When transmissions are reported.
    pub transmissions: Moderation,
    /// Packets that have come and when they can be reported; of them, those that an interrupt has reported.
    come: VecDeque<(Instant, Frame)>,
    reported: usize,
    /// When packets that have come are reported.
    pub arrivals: Moderation,
}

impl Nic {
    /// An idle interface with these values of [`PARAMS`](super::PARAMS).
    pub fn new(params: &Params) -> Self {
        Self {
            places: match params.get("transmit_queue") {
                Value::Integer(places) => places.unsigned_abs(),
                _ => u64::MAX,
            },
            taken: 0,
            transmit_delay: duration(params, "transmit_delay"),
            receive_delay: duration(params, "receive_delay"),
            outside: VecDeque::new(),
            ready: VecDeque::new(),
            transmitting: None,
            done: VecDeque::new(),
            done_reported: 0,
            transmissions: Moderation::of(params, "transmit"),
            come: VecDeque::new(),
            reported: 0,
            arrivals: Moderation::of(params, "receive"),
        }
    }

    /// Takes a place for a packet, or lets it wait outside; whether it has one.
    pub fn admit(&mut self, frame: Frame) -> bool {
        let free = self.taken < self.places && self.outside.is_empty();
        if free {
            self.taken += 1;
        } else {
            self.outside.push_back(frame);
        }
        free
    }

    /// The next packet from outside for which there is a place, which it has then.
    pub fn admit_waiting(&mut self) -> Option<Frame> {
        if self.taken == self.places {
            return None;
        }
        let frame = self.outside.pop_front()?;
        self.taken += 1;
        Some(frame)
    }

    /// The driver hands it a packet that has a place.
    pub fn enqueue(&mut self, frame: Frame, now: Instant) {
        self.ready.push_back((now + self.transmit_delay, frame));
    }

    /// When its transmitter has something to do: a transmission ends, or one can begin.
    pub fn transmitter_due(&self) -> Instant {
        match &self.transmitting {
            Some((until, _)) => *until,
            None => self.ready.front().map_or(Instant::NEVER, |(from, _)| *from),
        }
    }

    /// The packet whose transmission has ended by now, if one has.
    pub fn end_transmission(&mut self, now: Instant) -> Option<Frame> {
        let (_, frame) = self.transmitting.take_if(|(until, _)| *until <= now)?;
        self.done.push_back(frame);
        self.transmissions.note(now);
        Some(frame)
    }

    /// The packet whose transmission begins now, if one does; it takes as long as `time` says.
    pub fn begin_transmission(
        &mut self,
        now: Instant,
        time: impl FnOnce(&Frame) -> Duration,
    ) -> Option<Frame> {
        if self.transmitting.is_some() {
            return None;
        }
        let frame = match self.ready.front() {
            Some((from, frame)) if *from <= now => *frame,
            _ => return None,
        };
        self.ready.pop_front();
        self.transmitting = Some((now + time(&frame), frame));
        Some(frame)
    }

    /// An interrupt comes: how many transmissions it reports.
    pub fn report_transmissions(&mut self) -> u32 {
        self.transmissions.raise();
        let news = self.done.len() - self.done_reported;
        self.done_reported = self.done.len();
        u32::try_from(news).expect("fewer than 2^32 packets")
    }

    /// A transmission that has been reported: its place is free.
    pub fn release(&mut self) -> Option<Frame> {
        self.done_reported = self.done_reported.checked_sub(1)?;
        self.taken -= 1;
        self.done.pop_front()
    }

    /// A packet comes.
    pub fn receive(&mut self, frame: Frame, now: Instant) {
        let there = now + self.receive_delay;
        self.come.push_back((there, frame));
        self.arrivals.note(there);
    }

    /// An interrupt comes: the packets that it reports, how many and how many bytes.
    pub fn report_arrivals(&mut self, now: Instant) -> (u32, ByteCount) {
        self.arrivals.raise();
        let (mut packets, mut bytes) = (0, ByteCount::ZERO);
        while let Some((there, frame)) = self.come.get(self.reported)
            && *there <= now
        {
            self.reported += 1;
            packets += 1;
            bytes += frame.packet.size();
        }
        for (there, _) in self.come.iter().skip(self.reported) {
            self.arrivals.note(*there);
        }
        (packets, bytes)
    }

    /// A packet that has been reported.
    pub fn take(&mut self) -> Option<Frame> {
        self.reported = self.reported.checked_sub(1)?;
        self.come.pop_front().map(|(_, frame)| frame)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::PARAMS;
    use crate::packet::Packet;
    use crate::units::SeqNum;
    use crate::units::testing::{at, bytes, secs};

    fn nic(changes: &[(&str, Value)]) -> Nic {
        let mut params = Params::defaults(PARAMS);
        for (name, value) in changes {
            params.set(name, *value);
        }
        Nic::new(&params)
    }

    fn frame(id: u32) -> Frame {
        Frame {
            packet: Packet::datagram(
                0,
                0,
                ByteCount::new(100),
                SeqNum::ZERO,
                Instant::from_secs(0.0),
            ),
            flow: 0,
            is_data: true,
            id,
        }
    }

    #[test]
    fn a_place_is_free_again_when_its_transmission_has_been_reported() {
        let mut nic = nic(&[
            ("transmit_queue", Value::Integer(1)),
            ("transmit_interrupt_delay", Value::Duration(5.0)),
        ]);
        assert!(nic.admit(frame(0)));
        assert!(!nic.admit(frame(1)) && !nic.admit(frame(2)));
        nic.enqueue(frame(0), at(1.0));
        assert!(nic.begin_transmission(at(1.0), |_| secs(2.0)).is_some());
        assert!(nic.transmitter_due() == at(3.0));
        assert!(nic.end_transmission(at(3.0)).is_some());
        assert!(nic.transmissions.due() == at(8.0) && nic.admit_waiting().is_none());
        assert_eq!(nic.report_transmissions(), 1);
        assert!(
            nic.admit_waiting().is_none(),
            "the interrupt has not been served"
        );
        assert_eq!(nic.release().map(|frame| frame.id), Some(0));
        assert_eq!(nic.admit_waiting().map(|frame| frame.id), Some(1));
        assert!(nic.admit_waiting().is_none() && nic.release().is_none());
    }

    #[test]
    fn what_the_driver_hands_over_during_a_transmission_follows_it_without_a_gap() {
        let mut nic = nic(&[("transmit_delay", Value::Duration(1.0))]);
        nic.enqueue(frame(0), at(0.0));
        nic.enqueue(frame(1), at(1.5));
        assert!(
            nic.transmitter_due() == at(1.0)
                && nic.begin_transmission(at(0.5), |_| secs(4.0)).is_none()
        );
        assert!(nic.begin_transmission(at(1.0), |_| secs(4.0)).is_some());
        assert!(
            nic.begin_transmission(at(2.5), |_| secs(4.0)).is_none()
                && nic.transmitter_due() == at(5.0)
        );
        nic.end_transmission(at(5.0));
        assert_eq!(
            nic.begin_transmission(at(5.0), |_| secs(4.0))
                .map(|frame| frame.id),
            Some(1)
        );
    }

    #[test]
    fn an_interrupt_reports_what_is_there_and_the_rest_has_its_own() {
        let mut nic = nic(&[
            ("receive_delay", Value::Duration(2.0)),
            ("receive_interrupt_delay", Value::Duration(1.0)),
        ]);
        for (id, time) in [(0, 0.0), (1, 0.5), (2, 1.5)] {
            nic.receive(frame(id), at(time));
        }
        // There from 2, 2.5 and 3.5 on.
        assert!(nic.arrivals.due() == at(3.0));
        assert_eq!(nic.report_arrivals(at(3.0)), (2, bytes(200)));
        assert!(nic.arrivals.due() == at(4.5));
        let taken: Vec<_> = std::iter::from_fn(|| nic.take())
            .map(|frame| frame.id)
            .collect();
        assert_eq!(taken, [0, 1]);
        assert_eq!(nic.report_arrivals(at(4.5)), (1, bytes(100)));
    }
}
