//! A queue discipline alone: a list of arrivals goes in, and a transmitter takes packets out, with no transport that reacts.
//!
//! What a discipline does can then be compared with another implementation of it packet by packet, because both get the very same traffic.

use crate::loss::WireFate;
use crate::packet::{DataSegment, Ecn, Packet};
use crate::queue::{Backlog, Dequeued, Queue, QueuedPacket};
use crate::units::{ByteCount, Duration, Instant, Rate, SeqNum};

/// A packet that comes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Offered {
    /// No earlier than the one before.
    pub time: Instant,
    /// Its place in [`Fed::flows`].
    pub flow: u32,
    /// On the wire.
    pub size: ByteCount,
    /// As it comes: the discipline may mark only what is capable of it.
    pub ecn: Ecn,
}

/// What became of a flow's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FeedOutcome {
    /// All that came, dropped or not.
    pub arrived: u64,
    /// When they came or later, as the discipline does it.
    pub dropped: u64,
    /// That left marked and came otherwise.
    pub marked: u64,
    /// What those that left have waited in total, without their transmission.
    pub waited: Duration,
}

/// What a discipline has done with all arrivals.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fed {
    /// By the number of the flow.
    pub flows: Vec<FeedOutcome>,
    /// What waited, mean over time, without the packet in transmission.
    pub mean_packets: f64,
    /// Headers included, as in [`Offered::size`].
    pub mean_bytes: f64,
}

/// Feeds `arrivals` to a queue that a transmitter of `rate` empties, and lets it run empty. Means are over the time until `until`.
///
/// When a packet comes at the very time at which a transmission ends, the transmitter is served first.
///
/// # Panics
/// If the arrivals are not in the order of their times.
pub fn feed(queue: &mut dyn Queue, rate: Rate, arrivals: &[Offered], until: Instant) -> Fed {
    let mut bench = QueueBench {
        queue,
        rate,
        sending: ByteCount::ZERO,
        due: Instant::NEVER,
        fed: Fed::default(),
        clock: Instant::START,
        until,
        dropped: Vec::new(),
    };
    for (number, arrival) in (0..).zip(arrivals) {
        while bench.due <= arrival.time {
            bench.transmitter_free();
        }
        assert!(arrival.time >= bench.clock, "arrivals are in order");
        bench.arrive(number, *arrival);
    }
    while bench.due != Instant::NEVER {
        bench.transmitter_free();
    }
    bench.advance(until.max(bench.clock));
    bench.fed.mean_packets /= until.secs();
    bench.fed.mean_bytes /= until.secs();
    bench.fed
}

struct QueueBench<'a> {
    queue: &'a mut dyn Queue,
    rate: Rate,
    /// In transmission.
    sending: ByteCount,
    /// When the transmission ends, or what is held back may leave.
    due: Instant,
    /// Its means are sums over time until the end.
    fed: Fed,
    clock: Instant,
    until: Instant,
    dropped: Vec<QueuedPacket>,
}

impl QueueBench<'_> {
    /// What waits has been so until `now`.
    #[expect(clippy::cast_precision_loss, reason = "a queue's length")]
    fn advance(&mut self, now: Instant) {
        let span = (now.min(self.until) - self.clock.min(self.until)).secs();
        let waiting = self.queue.waiting();
        self.fed.mean_packets += span * waiting.packets as f64;
        self.fed.mean_bytes += span * waiting.bytes.as_f64();
        self.clock = now;
    }

    fn flow(&mut self, flow: u32) -> &mut FeedOutcome {
        let index = flow as usize;
        if self.fed.flows.len() <= index {
            self.fed.flows.resize(index + 1, FeedOutcome::default());
        }
        &mut self.fed.flows[index]
    }

    fn arrive(&mut self, number: u64, arrival: Offered) {
        self.advance(arrival.time);
        self.flow(arrival.flow).arrived += 1;
        let data = DataSegment {
            seq: SeqNum::new(number),
            ecn: arrival.ecn,
            ..DataSegment::default()
        };
        let packet = Packet::data(arrival.flow, 0, arrival.size, data);
        let in_service = Backlog {
            packets: u64::from(!self.sending.is_zero()),
            bytes: self.sending,
        };
        let packet = QueuedPacket::new(packet, arrival.time, WireFate::Arrives);
        self.queue.enqueue(packet, in_service, &mut self.dropped);
        self.count_dropped();
        if self.sending.is_zero() {
            self.start();
        }
    }

    fn transmitter_free(&mut self) {
        self.advance(self.due);
        self.sending = ByteCount::ZERO;
        self.start();
    }

    fn start(&mut self) {
        let now = self.clock;
        let next = self.queue.dequeue(now, &mut self.dropped);
        self.count_dropped();
        self.due = match next {
            Dequeued::Packet(leaving) => {
                let flow = self.flow(leaving.packet.flow);
                flow.waited += leaving.sojourn(now);
                flow.marked += u64::from(leaving.packet.ecn() != leaving.ecn);
                self.sending = leaving.size();
                now + self.sending / self.rate
            }
            Dequeued::Empty => Instant::NEVER,
            Dequeued::NotBefore(time) => time,
        };
    }

    fn count_dropped(&mut self) {
        while let Some(packet) = self.dropped.pop() {
            self.flow(packet.packet.flow).dropped += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::{Site, TABLE, build};
    use crate::registry::{Params, Value};
    use crate::rng::RandomStream;

    fn fed(name: &str, values: &[(&str, Value)], arrivals: &[Offered]) -> Fed {
        let row = TABLE.iter().find(|row| row.name == name).expect("a row");
        let mut params = Params::defaults(row.params);
        for (name, value) in values {
            params.set(name, *value);
        }
        let rate = Rate::from_bps(8e6);
        let stream = RandomStream::new(1, "feed");
        let mut queue = build(name, &params, Site { rate, stream });
        feed(&mut *queue, rate, arrivals, Instant::from_secs(0.01))
    }

    fn arrival(ms: f64, flow: u32, ecn: Ecn) -> Offered {
        Offered {
            time: Instant::from_secs(ms * 1e-3),
            flow,
            size: ByteCount::new(1000),
            ecn,
        }
    }

    #[test]
    fn what_waits_is_averaged_over_time_and_every_packet_is_counted() {
        // A packet takes 1 ms. Of four at once one is sent, two wait, for 1 and 2 ms, and the last one finds three present and is dropped.
        let arrivals = [0, 1, 1, 0].map(|flow| arrival(1.0, flow, Ecn::NotEct));
        let fed = fed("drop_tail", &[("limit", Value::Packets(3))], &arrivals);
        assert_eq!((fed.flows[0].arrived, fed.flows[0].dropped), (2, 1));
        assert_eq!((fed.flows[1].arrived, fed.flows[1].dropped), (2, 0));
        assert!((fed.flows[1].waited.secs() - 0.003).abs() < 1e-12);
        assert!(
            (fed.mean_packets - 0.3).abs() < 1e-9,
            "3 ms of packets in 10"
        );
        assert!((fed.mean_bytes - 300.0).abs() < 1e-6);
    }

    #[test]
    fn marks_are_counted_of_packets_that_came_without() {
        // The third packet finds two present and is marked; one that came marked is not counted.
        let limits = [
            ("limit", Value::Packets(9)),
            ("mark_above", Value::Packets(2)),
        ];
        let ecns = [Ecn::Ect0, Ecn::Ect0, Ecn::Ect0, Ecn::Ce];
        let fed = fed("step", &limits, &ecns.map(|ecn| arrival(0.0, 0, ecn)));
        assert_eq!((fed.flows[0].marked, fed.flows[0].dropped), (1, 0));
    }

    #[test]
    fn a_queue_that_holds_back_is_asked_again_when_it_may_send() {
        // A bucket of one packet, filled again after 2 ms at half the link's rate.
        let bucket = [
            ("rate", Value::Rate(4e6)),
            ("burst", Value::Bytes(1000)),
            ("limit", Value::Packets(9)),
        ];
        let fed = fed(
            "token_bucket",
            &bucket,
            &[0, 0].map(|flow| arrival(0.0, flow, Ecn::NotEct)),
        );
        assert!((fed.flows[0].waited.secs() - 0.002).abs() < 1e-9);
        assert!((fed.mean_packets - 0.2).abs() < 1e-6);
    }
}
