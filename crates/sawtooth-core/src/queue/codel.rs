//! CoDel: drops from the head, ever faster, while packets have waited too long for too long.
//!
//! Specification: RFC 8289 §3 and the pseudocode of its §5; that packets are marked instead of dropped, and the threshold for shallow marking:
//! RFC 8290 §5.2.6 and §5.2.7, which do not say how: here a mark takes the place of a drop in the pseudocode, and the packet leaves. The limit is
//! an implementation's: §5.4 counts nothing that is dropped for want of room.
//!
//! Model: each packet that leaves tells how long it has waited. Once that has not been below `target` for a whole `interval`, the packet is
//! dropped and the next one leaves instead; from then on a packet is dropped `interval / sqrt(count)` after the one before, `count` counting up,
//! until one has waited less than `target`, or no more than one packet's bytes remain. If it begins again soon after, it begins with the count
//! that the last time had reached. A packet that would be dropped and is ECN-capable is marked, and leaves.
//!
//! [`Codel`] is one queue's state and works on any [`Fifo`]: a discipline that keeps one per flow has one of each per flow.
//!
//! Deviations: `max_packet` is 1500 bytes, an interface's MTU as §5.3 recommends; its pseudocode has 512. Times are binary64 seconds, where the
//! RFC's are integers of its platform.
//!
//! Kernel equivalent: `codel`, which does not mark unless told to (`ecn`).

use super::drop_tail::{BufferLimit, limit};
use super::{Admission, Backlog, Dequeued, Fifo, NewQueue, Queue, QueuedPacket};
use crate::registry::{Entry, Kind, Param, ParamKey, Params, Value, param};
use crate::units::{ByteCount, Duration, Instant};

pub(super) const ENTRY: Entry<NewQueue> = Entry {
    name: "codel",
    summary: "keeps the standing delay below a target: drops from the head at a rising rate",
    specification: &["RFC 8289", "RFC 3168 §5"],
    params: &[limit(1000), TARGET, INTERVAL, MAX_PACKET, ECN, CE_THRESHOLD],
    new: |params, _| {
        Box::new(CodelQueue {
            limit: BufferLimit::of(params, "limit"),
            config: CodelConfig::of(params),
            codel: Codel::default(),
            fifo: Fifo::new(),
        })
    },
};

pub(super) const TARGET: Param = param!(target: Kind::Duration { min_exclusive: true } => Value::Duration(0.005),
    "standing delay that is put up with (TARGET)");

pub(super) const INTERVAL: Param = param!(interval: Kind::Duration { min_exclusive: true } => Value::Duration(0.1),
    "how long the delay may be above target; about the longest usual round-trip time (INTERVAL)");

pub(super) const MAX_PACKET: Param = param!(max_packet: Kind::Bytes => Value::Bytes(1500),
    "with no more than this waiting nothing is dropped: the longest packet of the link (MAXPACKET)");

pub(super) const ECN: Param = param!(ecn: Kind::Bool => Value::Bool(true),
    "mark ECN-capable packets instead of dropping them");

pub(super) const CE_THRESHOLD: Param = param!(ce_threshold: Kind::Duration { min_exclusive: false } => Value::None,
    "mark every ECN-capable packet that has waited longer than this, whatever else is decided; or none");

const MARK_ABOVE: ParamKey<Option<Duration>> = ParamKey::new(CE_THRESHOLD.name);

/// What queues under CoDel have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct CodelConfig {
    target: Duration,
    interval: Duration,
    max_packet: ByteCount,
    ecn: bool,
    ce_threshold: Option<Duration>,
}

impl CodelConfig {
    /// Of a row that has [`TARGET`], [`INTERVAL`], [`MAX_PACKET`], [`ECN`] and [`CE_THRESHOLD`].
    pub(super) fn of(params: &Params) -> Self {
        Self {
            target: Duration::from_secs(params.duration("target")),
            interval: Duration::from_secs(params.duration("interval")),
            max_packet: ByteCount::new(params.bytes("max_packet")),
            ecn: params.flag("ecn"),
            ce_threshold: MARK_ABOVE.of(params),
        }
    }

    /// Whether it ever marks.
    pub(super) fn marks(&self) -> bool {
        self.ecn || self.ce_threshold.is_some()
    }

    /// When the drop after one at `time` is due (`control_law`).
    fn next_drop(&self, time: Instant, count: u32) -> Instant {
        time + self.interval / f64::from(count).sqrt()
    }
}

/// How often `interval` after the last drop the count is still a good guess.
const RECENT_INTERVALS: f64 = 16.0;

/// What CoDel remembers of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Codel {
    /// When dropping may begin, if the delay stays above target until then (`first_above_time_`).
    first_above: Option<Instant>,
    /// When the next packet is due to be dropped, or the last one was (`drop_next_`).
    drop_next: Instant,
    /// Drops since dropping began, and what this was when it began (`count_`, `lastcount_`).
    count: u32,
    last_count: u32,
    dropping: bool,
}

impl Codel {
    /// The packet that leaves `fifo` at `now`; those that are dropped before it are added to `dropped`.
    pub(super) fn dequeue(
        &mut self,
        config: &CodelConfig,
        fifo: &mut Fifo,
        now: Instant,
        dropped: &mut Vec<QueuedPacket>,
    ) -> Option<QueuedPacket> {
        let (mut packet, mut ripe) = self.pop(config, fifo, now)?;
        if self.dropping {
            if !ripe {
                self.dropping = false;
            }
            while self.dropping && now >= self.drop_next {
                self.count = self.count.saturating_add(1);
                if config.ecn && packet.mark_if_capable() {
                    self.drop_next = config.next_drop(self.drop_next, self.count);
                    break;
                }
                dropped.push(packet);
                let Some(next) = self.pop(config, fifo, now) else {
                    self.dropping = false;
                    return None;
                };
                (packet, ripe) = next;
                if ripe {
                    self.drop_next = config.next_drop(self.drop_next, self.count);
                } else {
                    self.dropping = false;
                }
            }
        } else if ripe {
            self.dropping = true;
            let reached = self.count - self.last_count;
            let recent = now - self.drop_next < config.interval * RECENT_INTERVALS;
            self.count = if reached > 1 && recent { reached } else { 1 };
            self.last_count = self.count;
            self.drop_next = config.next_drop(now, self.count);
            if !(config.ecn && packet.mark_if_capable()) {
                dropped.push(packet);
                (packet, _) = self.pop(config, fifo, now)?;
            }
        }
        if config
            .ce_threshold
            .is_some_and(|most| packet.sojourn(now) > most)
        {
            packet.mark_if_capable();
        }
        Some(packet)
    }

    /// The next packet, and whether it may be dropped (`dodequeue`).
    fn pop(
        &mut self,
        config: &CodelConfig,
        fifo: &mut Fifo,
        now: Instant,
    ) -> Option<(QueuedPacket, bool)> {
        let Some(packet) = fifo.pop() else {
            self.first_above = None;
            return None;
        };
        let below =
            packet.sojourn(now) < config.target || fifo.waiting().bytes <= config.max_packet;
        let ripe = match self.first_above {
            _ if below => {
                self.first_above = None;
                false
            }
            None => {
                self.first_above = Some(now + config.interval);
                false
            }
            Some(time) => now >= time,
        };
        Some((packet, ripe))
    }
}

/// One queue under CoDel.
#[derive(Debug)]
struct CodelQueue {
    limit: BufferLimit,
    config: CodelConfig,
    codel: Codel,
    fifo: Fifo,
}

impl Queue for CodelQueue {
    fn enqueue(
        &mut self,
        packet: QueuedPacket,
        in_service: Backlog,
        dropped: &mut Vec<QueuedPacket>,
    ) {
        let present = self.fifo.waiting() + in_service;
        match self.limit.admits(present, packet.size()) {
            Admission::Accept => self.fifo.push(packet),
            Admission::Drop => dropped.push(packet),
        }
    }

    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<QueuedPacket>) -> Dequeued {
        self.codel
            .dequeue(&self.config, &mut self.fifo, now, dropped)
            .into()
    }

    fn waiting(&self) -> Backlog {
        self.fifo.waiting()
    }

    fn marks(&self) -> bool {
        self.config.marks()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::Ecn;
    use crate::queue::testing::{packet, params};
    use crate::units::testing::at;

    /// Config with 5 ms and 100 ms, and a queue in which packets of 1000 bytes have waited for ever.
    fn standing(ecn: Ecn, packets: u64) -> (CodelConfig, Fifo) {
        let mut fifo = Fifo::new();
        for number in 0..packets {
            fifo.push(packet(number, 1000, ecn, 0.0));
        }
        (CodelConfig::of(&params(&ENTRY, &[])), fifo)
    }

    /// Times at which packets are dropped or marked while one leaves every millisecond from 1 s on, in milliseconds.
    fn signals(ecn: Ecn, until_ms: u32) -> Vec<u32> {
        let (config, mut fifo) = standing(ecn, 10_000);
        let (mut codel, mut dropped) = (Codel::default(), Vec::new());
        let mut times = Vec::new();
        for ms in 0..until_ms {
            // A little late, so that no time is met or missed by rounding.
            let now = 1.0 + f64::from(ms) * 1.000_001e-3;
            let left = codel.dequeue(&config, &mut fifo, at(now), &mut dropped);
            let marked = left.is_some_and(|packet| packet.packet.ecn() != packet.ecn);
            times.extend(dropped.drain(..).map(|_| ms));
            times.extend(marked.then_some(ms));
        }
        times
    }

    #[test]
    fn rfc8289_3_3_drops_come_an_interval_over_the_root_of_their_count_after_one_another() {
        // The first one 100 ms after the delay was first seen; then 100/sqrt(1), /sqrt(2), /sqrt(3)...: 200, 270.7, 328.4, 378.4, 423.2, 464.0,
        // each at the first departure from then on.
        assert_eq!(
            signals(Ecn::NotEct, 465),
            [100, 200, 271, 329, 379, 424, 464]
        );
    }

    #[test]
    fn what_would_be_dropped_and_is_capable_is_marked_at_the_same_times() {
        assert_eq!(signals(Ecn::Ect0, 465), signals(Ecn::NotEct, 465));
        assert_eq!(signals(Ecn::Ect1, 465), signals(Ecn::NotEct, 465));
    }

    #[test]
    fn a_packet_leaves_when_one_is_dropped() {
        let (config, mut fifo) = standing(Ecn::NotEct, 10);
        let (mut codel, mut dropped) = (Codel::default(), Vec::new());
        let mut leave = |now| {
            let left = codel.dequeue(&config, &mut fifo, at(now), &mut dropped);
            (
                left.map(|left| left.packet.segment().seq.get()),
                dropped.len(),
            )
        };
        assert_eq!(leave(1.0), (Some(0), 0));
        assert_eq!(leave(1.099), (Some(1), 0));
        assert_eq!(leave(1.1), (Some(3), 1), "packet 2 is dropped");
        assert_eq!(leave(1.199), (Some(4), 1));
        // Late: those due at 1.2 (count 1), 1.2707 (2) and 1.3284 (3) are dropped together.
        assert_eq!(leave(1.33), (Some(8), 4));
    }

    #[test]
    fn with_one_packets_bytes_left_nothing_is_dropped() {
        // Each packet leaves 1000 bytes behind, at most one packet of 1500.
        let (config, mut fifo) = standing(Ecn::NotEct, 1);
        let (mut codel, mut dropped) = (Codel::default(), Vec::new());
        for step in 0..100_u32 {
            fifo.push(packet(u64::from(step), 1000, Ecn::NotEct, 0.0));
            let now = 1.0 + f64::from(step) / 10.0;
            assert!(
                codel
                    .dequeue(&config, &mut fifo, at(now), &mut dropped)
                    .is_some()
            );
        }
        assert!(dropped.is_empty());
    }

    #[test]
    fn a_delay_below_target_once_within_the_interval_starts_the_interval_again() {
        let (config, mut fifo) = standing(Ecn::NotEct, 100);
        let (mut codel, mut dropped) = (Codel::default(), Vec::new());
        codel.dequeue(&config, &mut fifo, at(1.0), &mut dropped);
        let mut short = Fifo::new();
        for number in 0..5 {
            short.push(packet(number, 1000, Ecn::NotEct, 1.049));
        }
        codel.dequeue(&config, &mut short, at(1.05), &mut dropped);
        for now in [1.051, 1.1, 1.15] {
            codel.dequeue(&config, &mut fifo, at(now), &mut dropped);
            assert!(dropped.is_empty(), "{now}");
        }
        codel.dequeue(&config, &mut fifo, at(1.1511), &mut dropped);
        assert_eq!(dropped.len(), 1);
    }

    #[test]
    fn rfc8289_5_5_a_new_episode_begins_with_the_count_that_the_last_one_added() {
        let (config, mut fifo) = standing(Ecn::NotEct, 1000);
        let (mut codel, mut dropped) = (Codel::default(), Vec::new());
        let below = packet(0, 1000, Ecn::NotEct, f64::INFINITY);
        let mut now = 1.0;
        for ms in 0..464 {
            now = 1.0 + f64::from(ms) * 1.000_001e-3;
            codel.dequeue(&config, &mut fifo, at(now), &mut dropped);
        }
        // Drops at 100, 200, 271, 329, 379, 424 ms: it entered with 1, and five more.
        assert_eq!((codel.count, codel.last_count, dropped.len()), (6, 1, 6));
        let mut short = Fifo::new();
        short.push(below);
        short.push(below);
        short.push(below);
        codel.dequeue(&config, &mut short, at(now), &mut dropped);
        assert!(!codel.dropping);
        codel.dequeue(&config, &mut fifo, at(now), &mut dropped);
        codel.dequeue(&config, &mut fifo, at(now + 0.1), &mut dropped);
        assert_eq!((codel.count, codel.last_count), (5, 5), "6 - 1");
        assert!((codel.drop_next.secs() - (now + 0.1 + 0.1 / 5.0_f64.sqrt())).abs() < 1e-12);
        // Sixteen intervals after the last drop that is forgotten.
        let mut short = Fifo::new();
        short.push(below);
        short.push(below);
        codel.count += 3;
        codel.dequeue(&config, &mut short, at(now + 0.11), &mut dropped);
        codel.dequeue(&config, &mut fifo, at(now + 1.9), &mut dropped);
        codel.dequeue(&config, &mut fifo, at(now + 2.01), &mut dropped);
        assert_eq!((codel.count, codel.last_count), (1, 1));
    }

    #[test]
    fn rfc8290_5_2_7_all_that_has_waited_longer_than_the_ce_threshold_is_marked() {
        let config = CodelConfig::of(&params(
            &ENTRY,
            &[
                ("ce_threshold", Value::Duration(0.001)),
                ("ecn", Value::Bool(false)),
            ],
        ));
        let mut fifo = Fifo::new();
        for ecn in [Ecn::Ect1, Ecn::Ect1, Ecn::NotEct] {
            fifo.push(packet(0, 100, ecn, 1.0));
        }
        let mut codel = Codel::default();
        let mut leave = |now| {
            let left = codel.dequeue(&config, &mut fifo, at(now), &mut Vec::new());
            left.expect("a packet").packet.ecn()
        };
        assert_eq!(leave(1.0009), Ecn::Ect1);
        assert_eq!(leave(1.0011), Ecn::Ce);
        assert_eq!(leave(1.0011), Ecn::NotEct);
    }

    #[test]
    fn rfc8289_4_the_count_is_remembered_for_less_than_sixteen_intervals_and_if_more_than_one_was_added()
     {
        // An interval of 1/8 s, of which sixteen are 2 s exactly.
        let config = CodelConfig {
            interval: Duration::from_secs(0.125),
            ..CodelConfig::of(&params(&ENTRY, &[]))
        };
        let begun = |since_last: f64, count: u32| {
            let (_, mut fifo) = standing(Ecn::NotEct, 10);
            let mut codel = Codel {
                first_above: Some(at(9.0)),
                drop_next: at(10.0),
                count,
                last_count: 4,
                dropping: false,
            };
            let mut dropped = Vec::new();
            codel.dequeue(&config, &mut fifo, at(10.0 + since_last), &mut dropped);
            assert!(codel.dropping && dropped.len() == 1);
            (codel.count, codel.last_count)
        };
        assert_eq!(begun(0.5, 9), (5, 5));
        assert_eq!(begun(1.999, 9), (5, 5));
        assert_eq!(begun(2.0, 9), (1, 1));
        assert_eq!(begun(0.5, 6), (2, 2));
        assert_eq!(begun(0.5, 5), (1, 1));
    }

    #[test]
    fn it_marks_where_either_way_of_marking_is_on() {
        let marks = |values: &[(&str, Value)]| CodelConfig::of(&params(&ENTRY, values)).marks();
        let (off, threshold) = (
            ("ecn", Value::Bool(false)),
            ("ce_threshold", Value::Duration(0.001)),
        );
        assert!(marks(&[]) && marks(&[off, threshold]) && marks(&[threshold]));
        assert!(!marks(&[off]));
    }
}
