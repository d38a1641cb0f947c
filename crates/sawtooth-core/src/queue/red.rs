//! RED, random early detection: signals with a probability that grows with the average queue, before the buffer is full.
//!
//! Specification: Floyd & Jacobson, "Random Early Detection Gateways for Congestion Avoidance", IEEE/ACM ToN 1(4), 1993 (figure 2 and §§4, 7, 11);
//! RFC 2309 §3; the slope above the upper threshold: Floyd, "Recommendation on using the gentle variant of RED", March 2000. Defaults are those of
//! Floyd's "RED: Discussions of Setting Parameters", November 1997, and of that recommendation; the paper itself had `max_p` = 1/50.
//!
//! Model, at each arrival, with the names of the paper:
//! - `avg` moves towards what waits, by `weight` of the difference. After an idle time of `t` it is what `t / s` arrivals at an empty queue would
//!   have made of it, `s` being the transmission time of `mean_packet`.
//! - below `min_threshold` nothing happens. From there to `max_threshold` `p_b` grows from 0 to `max_p`; with `gentle` it grows on to 1 at twice
//!   `max_threshold`. Above, every packet is signalled (`p_b` = 1).
//! - a packet is signalled with probability `p_a = p_b / (1 - count p_b)`, `count` packets after the last one: the gaps between signals are then
//!   uniform. With `byte_mode` `p_b` is scaled by the packet's size over `max_packet` (§4).
//! - a signal is a mark if the packet is ECN-capable, or else a drop. With `hard_drop` packets above the last threshold are dropped in any case.
//!
//! What waits is counted in packets or in bytes, as the thresholds are, without the packet in transmission; `limit` includes it, as everywhere here.
//!
//! Deviations: a packet that is dropped because the buffer is full counts as the last signal; the paper has no full buffers.
//!
//! Kernel equivalent: `red`, whose thresholds are in bytes (tc-red(8)).

use super::drop_tail::{BufferLimit, LIMIT};
use super::{Admission, Backlog, Dequeued, Fifo, NewQueue, Queue, QueuedPacket, Site};
use crate::registry::{Entry, Kind, Param, Params, Value, param};
use crate::rng::RandomStream;
use crate::units::{ByteCount, Duration, Instant};

pub(super) const ENTRY: Entry<NewQueue> = Entry {
    name: "red",
    summary: "random early detection: signals with a probability that grows with the average queue",
    specification: &[
        "Floyd & Jacobson, IEEE/ACM ToN 1(4), 1993",
        "RFC 2309 §3",
        "RFC 3168 §5",
    ],
    params: &[
        LIMIT,
        param!(min_threshold: Kind::QueueSize => Value::Packets(5),
            "average queue in packets, bytes or bandwidth-delay products from which packets are signalled (min_th)"),
        param!(max_threshold: Kind::QueueSize => Value::Packets(15),
            "average queue from which all are, or, with gentle, from which the probability rises faster (max_th)"),
        param!(weight: WEIGHT => Value::Number(0.002),
            "share of the queue at each arrival in its average (w_q)"),
        MAX_P,
        param!(gentle: Kind::Bool => Value::Bool(true),
            "above max_threshold the probability rises from max_p to 1 at twice max_threshold"),
        MEAN_PACKET,
        MAX_PACKET,
        BYTE_MODE,
        ECN,
        HARD_DROP,
    ],
    new: |params, site| {
        let (min, in_bytes) = threshold(params.get("min_threshold")).expect("it has a default");
        let (max, _) = threshold(params.get("max_threshold")).expect("it has a default");
        let law = RedLaw {
            min,
            max,
            in_bytes,
            weight: params.number("weight"),
            gentle: params.flag("gentle"),
            ..RedLaw::of(params, &site)
        };
        Box::new(Red::new(params, law, None, site.stream))
    },
};

/// Above 0: an average that never moves is none.
pub(super) const WEIGHT: Kind = Kind::Number {
    min: 1e-9,
    max: 1.0,
};

pub(super) const MAX_P: Param = param!(max_p: Kind::Number { min: 0.0, max: 1.0 } => Value::Number(0.1),
    "probability of a signal as the average reaches max_threshold");

pub(super) const MEAN_PACKET: Param = param!(mean_packet: Kind::Bytes => Value::Bytes(500),
    "size of the packets that an idle link could have sent");

pub(super) const MAX_PACKET: Param = param!(max_packet: Kind::Bytes => Value::Bytes(1500),
    "size of the packets whose probability byte_mode leaves as it is: the longest");

pub(super) const BYTE_MODE: Param = param!(byte_mode: Kind::Bool => Value::Bool(false),
    "a packet's probability is in proportion to its size");

pub(super) const ECN: Param = param!(ecn: Kind::Bool => Value::Bool(true),
    "mark ECN-capable packets instead of dropping them");

pub(super) const HARD_DROP: Param = param!(hard_drop: Kind::Bool => Value::Bool(false),
    "where every packet is signalled, drop it even if it is ECN-capable");

/// A threshold and whether it is in bytes; nothing if it is left open.
#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
pub(super) fn threshold(value: Value) -> Option<(f64, bool)> {
    match value {
        Value::Packets(packets) => Some((packets as f64, false)),
        Value::Bytes(bytes) => Some((bytes as f64, true)),
        _ => None,
    }
}

/// What corrects a law from time to time.
pub(super) trait RedAdaptation: std::fmt::Debug + Send {
    /// Makes the corrections that are due by `now`, the average having been `avg` since the last arrival, or since `idle_since`.
    fn catch_up(&mut self, law: &mut RedLaw, avg: f64, idle_since: Option<Instant>, now: Instant);
}

/// What decides about a packet when the average is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct RedLaw {
    pub min: f64,
    pub max: f64,
    /// Whether these, and the average, are in bytes and not in packets.
    pub in_bytes: bool,
    pub weight: f64,
    pub max_p: f64,
    pub gentle: bool,
    /// Transmission time of a mean packet.
    pub mean_packet: Duration,
    /// With byte mode.
    pub max_packet: Option<f64>,
}

impl RedLaw {
    /// What all rows say alike; thresholds and average are still open.
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
    pub(super) fn of(params: &Params, site: &Site) -> Self {
        let byte_mode = params.flag("byte_mode");
        Self {
            min: f64::NAN,
            max: f64::NAN,
            in_bytes: false,
            weight: f64::NAN,
            max_p: params.number("max_p"),
            gentle: true,
            mean_packet: ByteCount::new(params.bytes("mean_packet")) / site.rate,
            max_packet: byte_mode.then(|| params.bytes("max_packet") as f64),
        }
    }

    /// The probability `p_b` at an average of `avg`, 1 where every packet is signalled.
    pub(super) fn probability(&self, avg: f64) -> f64 {
        if avg < self.min {
            0.0
        } else if avg < self.max {
            self.max_p * (avg - self.min) / (self.max - self.min)
        } else if self.gentle && avg < 2.0 * self.max {
            self.max_p + (1.0 - self.max_p) * (avg - self.max) / self.max
        } else {
            1.0
        }
    }

    /// Whether all packets are signalled at an average of `avg`, without chance.
    fn is_beyond(&self, avg: f64) -> bool {
        avg >= if self.gentle {
            2.0 * self.max
        } else {
            self.max
        }
    }
}

/// The average `avg` after an idle time.
pub(super) fn after_idle(law: &RedLaw, avg: f64, idle: Duration) -> f64 {
    avg * libm::pow(1.0 - law.weight, idle / law.mean_packet)
}

/// What is decided about a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RedDecision {
    Pass,
    Signal,
    Drop,
}

#[derive(Debug)]
pub(super) struct Red {
    limit: BufferLimit,
    law: RedLaw,
    ecn: bool,
    hard_drop: bool,
    fifo: Fifo,
    avg: f64,
    /// Since when the link has had nothing to send, or since then `avg` has been brought up to date.
    idle_since: Option<Instant>,
    /// Packets since the last signal; nothing while the average is below the thresholds.
    count: Option<u64>,
    adaptation: Option<Box<dyn RedAdaptation>>,
    stream: RandomStream,
}

impl Red {
    pub(super) fn new(
        params: &Params,
        law: RedLaw,
        adaptation: Option<Box<dyn RedAdaptation>>,
        stream: RandomStream,
    ) -> Self {
        Self {
            limit: BufferLimit::of(params, "limit"),
            law,
            ecn: params.flag("ecn"),
            hard_drop: params.flag("hard_drop"),
            fifo: Fifo::new(),
            avg: 0.0,
            idle_since: Some(Instant::START),
            count: None,
            adaptation,
            stream,
        }
    }

    /// The steps of `max_p` that are due by `now`.
    fn adapt(&mut self, now: Instant) {
        if let Some(adaptation) = &mut self.adaptation {
            adaptation.catch_up(&mut self.law, self.avg, self.idle_since, now);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a queue's length")]
    fn update_average(&mut self, now: Instant) {
        if let Some(since) = self.idle_since {
            self.avg = after_idle(&self.law, self.avg, now - since);
            self.idle_since = Some(now);
        } else {
            let waiting = self.fifo.waiting();
            let queue = if self.law.in_bytes {
                waiting.bytes.as_f64()
            } else {
                waiting.packets as f64
            };
            self.avg += self.law.weight * (queue - self.avg);
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of packets")]
    fn decide(&mut self, size: ByteCount) -> RedDecision {
        if self.avg < self.law.min {
            self.count = None;
            return RedDecision::Pass;
        }
        if self.law.is_beyond(self.avg) {
            self.count = Some(0);
            return if self.hard_drop {
                RedDecision::Drop
            } else {
                RedDecision::Signal
            };
        }
        let count = self.count.map_or(0, |count| count + 1);
        self.count = Some(count);
        let scale = self.law.max_packet.map_or(1.0, |most| size.as_f64() / most);
        let p_b = self.law.probability(self.avg) * scale;
        let left = 1.0 - count as f64 * p_b;
        if left <= p_b || self.stream.uniform() < p_b / left {
            self.count = Some(0);
            return RedDecision::Signal;
        }
        RedDecision::Pass
    }
}

impl Queue for Red {
    fn enqueue(
        &mut self,
        mut packet: QueuedPacket,
        in_service: Backlog,
        dropped: &mut Vec<QueuedPacket>,
    ) {
        self.adapt(packet.arrived);
        self.update_average(packet.arrived);
        let decision = self.decide(packet.size());
        let present = self.fifo.waiting() + in_service;
        if self.limit.admits(present, packet.size()) == Admission::Drop {
            self.count = Some(0);
            dropped.push(packet);
            return;
        }
        let passes = match decision {
            RedDecision::Pass => true,
            RedDecision::Signal => self.ecn && packet.mark_if_capable(),
            RedDecision::Drop => false,
        };
        if passes {
            self.fifo.push(packet);
        } else {
            dropped.push(packet);
        }
    }

    fn dequeue(&mut self, now: Instant, _dropped: &mut Vec<QueuedPacket>) -> Dequeued {
        self.adapt(now);
        let packet = self.fifo.pop();
        if packet.is_some() {
            self.idle_since = None;
        } else if self.idle_since.is_none() {
            self.idle_since = Some(now);
        }
        packet.into()
    }

    fn waiting(&self) -> Backlog {
        self.fifo.waiting()
    }

    fn marks(&self) -> bool {
        self.ecn
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::testing::{packet, params};
    use crate::units::Rate;
    use crate::units::testing::{at, bytes};

    /// At a link of 1 Mbit/s, over which a mean packet of 500 bytes takes 4 ms.
    fn red(values: &[(&str, Value)]) -> Red {
        let params = params(&ENTRY, values);
        let (min, in_bytes) = threshold(params.get("min_threshold")).expect("a threshold");
        let (max, _) = threshold(params.get("max_threshold")).expect("a threshold");
        let site = Site {
            rate: Rate::from_bps(1e6),
            stream: RandomStream::new(1, "red"),
        };
        let law = RedLaw {
            min,
            max,
            in_bytes,
            weight: params.number("weight"),
            gentle: params.flag("gentle"),
            ..RedLaw::of(&params, &site)
        };
        Red::new(&params, law, None, site.stream)
    }

    #[test]
    fn floyd_1993_figure_2_the_probability_rises_between_the_thresholds() {
        let plain = red(&[("gentle", Value::Bool(false))]).law;
        let gentle = red(&[]).law;
        // Thresholds 5 and 15, max_p 0.1: p_b = 0.1 (avg - 5) / 10; gentle, from 15 to 30: 0.1 + 0.9 (avg - 15) / 15.
        let table = [
            (0.0, 0.0, 0.0),
            (4.99, 0.0, 0.0),
            (5.0, 0.0, 0.0),
            (10.0, 0.05, 0.05),
            (14.0, 0.09, 0.09),
            (15.0, 1.0, 0.1),
            (20.0, 1.0, 0.4),
            (22.5, 1.0, 0.55),
            (30.0, 1.0, 1.0),
            (99.0, 1.0, 1.0),
        ];
        for (avg, of_plain, of_gentle) in table {
            assert!((plain.probability(avg) - of_plain).abs() < 1e-12, "{avg}");
            assert!((gentle.probability(avg) - of_gentle).abs() < 1e-12, "{avg}");
        }
    }

    #[test]
    fn floyd_1993_7_gaps_between_signals_are_uniform() {
        let mut red = red(&[("max_p", Value::Number(0.2))]);
        // p_b = 0.2 (10 - 5) / 10 = 0.1: after a signal the next one comes with the first to ninth packet, each with probability 1/9:
        // 0.1 / 0.9, then 0.1 / 0.8 of the rest...
        red.avg = 10.0;
        let mut counts = [0_u32; 10];
        let mut gap = 0;
        while counts.iter().sum::<u32>() < 18_000 {
            gap += 1;
            if red.decide(bytes(1000)) == RedDecision::Signal {
                counts[gap] += 1;
                gap = 0;
            }
        }
        // Chi-square with 8 degrees of freedom; 26.1 is its 99.9th percentile, and the stream is fixed.
        let chi: f64 = counts[1..]
            .iter()
            .map(|n| f64::from(*n) - 2000.0)
            .map(|excess| excess * excess / 2000.0)
            .sum();
        assert!(chi < 26.1, "{counts:?}");
    }

    #[test]
    fn floyd_1993_4_in_byte_mode_a_packets_probability_is_in_proportion_to_its_size() {
        let share = |size: u64| {
            let mut red = red(&[("byte_mode", Value::Bool(true))]);
            red.avg = 10.0;
            let signals = (0..200_000).filter(|_| {
                red.count = None;
                red.decide(bytes(size)) == RedDecision::Signal
            });
            let signals = u32::try_from(signals.count()).expect("few");
            f64::from(signals) / 200_000.0
        };
        // 0.05 with a deviation of 0.0005, and a third of it.
        assert!((share(1500) - 0.05).abs() < 0.002);
        assert!((share(500) - 0.05 / 3.0).abs() < 0.0012);
    }

    #[test]
    fn the_average_moves_by_the_weight_and_decays_while_the_link_is_idle() {
        let mut red = red(&[("weight", Value::Number(0.25))]);
        let arrive = |red: &mut Red, now| {
            let sending = Backlog {
                packets: 1,
                bytes: bytes(1000),
            };
            red.enqueue(packet(0, 1000, Ecn::NotEct, now), sending, &mut Vec::new());
            red.avg
        };
        // The first finds the link idle, with nothing to decay; it leaves.
        assert_eq!(arrive(&mut red, 0.0), 0.0);
        assert!(matches!(
            red.dequeue(at(0.0), &mut Vec::new()),
            Dequeued::Packet(_)
        ));
        // 0, 1 and 2 wait: 0, 0.25 x 1 = 0.25, 0.25 + 0.25 (2 - 0.25) = 0.6875.
        assert_eq!(arrive(&mut red, 0.001), 0.0);
        assert_eq!(arrive(&mut red, 0.002), 0.25);
        assert_eq!(arrive(&mut red, 0.003), 0.6875);
        for time in [0.01, 0.02, 0.03] {
            assert!(matches!(
                red.dequeue(at(time), &mut Vec::new()),
                Dequeued::Packet(_)
            ));
        }
        // The last packet has been sent at 0.04. Until 0.048 two of 500 bytes could have been: 0.75 x 0.75 of it are left.
        assert_eq!(red.dequeue(at(0.04), &mut Vec::new()), Dequeued::Empty);
        assert!((arrive(&mut red, 0.048) - 0.6875 * 0.5625).abs() < 1e-12);
    }

    #[test]
    fn thresholds_in_bytes_make_an_average_in_bytes() {
        let mut red = red(&[
            ("min_threshold", Value::Bytes(5000)),
            ("max_threshold", Value::Bytes(15_000)),
            ("weight", Value::Number(0.5)),
        ]);
        red.idle_since = None;
        red.fifo.push(packet(0, 1200, Ecn::NotEct, 0.0));
        red.update_average(at(0.0));
        assert_eq!(red.avg, 600.0);
    }

    #[test]
    fn beyond_the_last_threshold_capable_packets_are_marked_or_with_hard_drop_dropped() {
        let fate = |hard: bool, ecn: Ecn| {
            let mut red = red(&[("hard_drop", Value::Bool(hard))]);
            (red.avg, red.idle_since) = (40.0, None);
            let mut dropped = Vec::new();
            red.enqueue(packet(0, 1000, ecn, 0.0), Backlog::default(), &mut dropped);
            red.fifo.pop().map(|left| left.packet.ecn())
        };
        assert_eq!(fate(false, Ecn::Ect0), Some(Ecn::Ce));
        assert_eq!(fate(false, Ecn::NotEct), None);
        assert_eq!(fate(true, Ecn::Ect0), None);
    }

    #[test]
    fn floyd_1993_figure_2_at_the_start_the_average_is_nil_and_a_packet_for_which_there_is_no_room_begins_the_count_anew()
     {
        let mut red = red(&[("limit", Value::Packets(2)), ("weight", Value::Number(0.5))]);
        assert_eq!((red.avg, red.count), (0.0, None));
        let mut dropped = Vec::new();
        let mut arrive = |red: &mut Red, number| {
            // Between the thresholds, so that packets are counted.
            red.avg = 6.0;
            red.enqueue(
                packet(number, 500, Ecn::NotEct, 0.0),
                Backlog::default(),
                &mut dropped,
            );
            (red.count, dropped.len())
        };
        assert_eq!(arrive(&mut red, 0).1, 0);
        assert_eq!(arrive(&mut red, 1).1, 0);
        assert_eq!(arrive(&mut red, 2), (Some(0), 1));
    }

    #[test]
    fn floyd_1993_every_packet_is_signalled_from_max_threshold_on_or_gently_from_twice_that() {
        let plain = red(&[("gentle", Value::Bool(false))]).law;
        let gentle = red(&[]).law;
        // Thresholds 5 and 15.
        assert!(!plain.is_beyond(14.99) && plain.is_beyond(15.0));
        assert!(!gentle.is_beyond(29.99) && gentle.is_beyond(30.0));
    }

    #[test]
    fn floyd_1993_figure_2_packets_are_counted_from_min_threshold_on() {
        let mut red = red(&[]);
        let mut counted = |avg| {
            red.avg = avg;
            assert_eq!(red.decide(bytes(500)), RedDecision::Pass);
            red.count
        };
        assert_eq!(counted(4.99), None);
        // At the threshold with a probability of 0.
        assert_eq!(counted(5.0), Some(0));
        assert_eq!(counted(5.0), Some(1));
        assert_eq!(counted(4.99), None);
    }
}
