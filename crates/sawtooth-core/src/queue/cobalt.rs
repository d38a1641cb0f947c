//! COBALT: CoDel for traffic that answers to signals, BLUE for traffic that does not.
//!
//! Specification: Palmei, Gupta, Imputato, Morton, Tahiliani, Avallone and Täht, "Design and Evaluation of COBALT Queue Discipline", LANMAN 2019;
//! Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", LANMAN 2018, §III; CoDel: RFC 8289; BLUE: Feng, Shin, Kandlur and Saha, "The BLUE active queue
//! management algorithms", IEEE/ACM Transactions on Networking 10(4), 2002.
//!
//! Model:
//! - A packet leaves that has waited for longer than `target`: an episode begins, if there is none, and a packet is dropped
//!   `interval / sqrt(count)` later, and so on with `count` counting up, as long as packets have waited that long.
//! - A packet leaves that has not: the episode is over. `count` is not forgotten, as CoDel does it, but counts down, in the same times as it
//!   would count up, until it is 0. What begins again soon begins with what is left.
//! - A packet that would be dropped and is ECN-capable is marked, and leaves.
//! - BLUE: a packet is dropped with a probability, capable or not, which rises by `increment` when the queue overflows and falls by `decrement`
//!   when it is found empty, each once in a `target` at most.
//! - The last packet of a queue is not dropped.
//!
//! [`Cobalt`] is one queue's state and works on any [`Fifo`]: CAKE has one for each flow.
//!
//! Deviations: `1 / sqrt(count)` is exact, where Linux and ns-3 approximate it by Newton steps.
//!
//! Kernel equivalent: `cake flowblind besteffort`, whose limit is one of memory.

use super::codel::{ECN, INTERVAL, TARGET};
use super::drop_tail::{BufferLimit, limit};
use super::{Admission, Backlog, Dequeued, Fifo, NewQueue, Queue, QueuedPacket};
use crate::registry::{Entry, Kind, Param, Params, Value, param};
use crate::rng::RandomStream;
use crate::units::{Duration, Instant};

pub(super) const ENTRY: Entry<NewQueue> = Entry {
    name: "cobalt",
    summary: "CoDel that remembers, and BLUE for what does not answer to it",
    specification: &[
        "Palmei et al. 2019",
        "RFC 8289",
        "Feng et al. 2002",
        "RFC 3168 §5",
    ],
    params: &[limit(1000), TARGET, INTERVAL, ECN, INCREMENT, DECREMENT],
    new: |params, site| {
        Box::new(CobaltQueue {
            limit: BufferLimit::of(params, "limit"),
            config: CobaltConfig::of(params),
            cobalt: Cobalt::default(),
            fifo: Fifo::new(),
            stream: site.stream,
        })
    },
};

pub(super) const INCREMENT: Param = param!(increment: Kind::Number { min: 0.0, max: 1.0 } => Value::Number(1.0 / 256.0),
    "by how much BLUE's probability of a drop rises when the queue overflows");

pub(super) const DECREMENT: Param = param!(decrement: Kind::Number { min: 0.0, max: 1.0 } => Value::Number(1.0 / 4096.0),
    "by how much it falls when the queue is empty");

/// By how much BLUE's probability changes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Blue {
    increment: f64,
    decrement: f64,
}

impl Blue {
    /// Of a row that has [`INCREMENT`] and [`DECREMENT`].
    pub(super) fn of(params: &Params) -> Self {
        Self {
            increment: params.number("increment"),
            decrement: params.number("decrement"),
        }
    }
}

/// What queues under COBALT have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct CobaltConfig {
    pub target: Duration,
    /// What has waited for longer than this is signalled: the target, or what a scheduler needs.
    pub above: Duration,
    pub interval: Duration,
    pub ecn: bool,
    pub blue: Blue,
}

impl CobaltConfig {
    /// Of a row that has [`TARGET`], [`INTERVAL`], [`ECN`], [`INCREMENT`] and [`DECREMENT`].
    fn of(params: &Params) -> Self {
        let target = Duration::from_secs(params.duration("target"));
        Self {
            target,
            above: target,
            interval: Duration::from_secs(params.duration("interval")),
            ecn: params.flag("ecn"),
            blue: Blue::of(params),
        }
    }

    /// What comes between signals, or between steps down.
    fn pause(&self, count: u32) -> Duration {
        self.interval / f64::from(count.max(1)).sqrt()
    }
}

/// What COBALT remembers of one queue.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cobalt {
    /// When the next packet is due to be dropped, or the next step down.
    next: Instant,
    count: u32,
    dropping: bool,
    /// BLUE's probability of a drop, and when it was changed last.
    probability: f64,
    changed: Option<Instant>,
}

impl Cobalt {
    /// The packet that leaves `fifo` at `now`; those that are dropped before it are added to `dropped`.
    pub(super) fn dequeue(
        &mut self,
        config: &CobaltConfig,
        fifo: &mut Fifo,
        stream: &mut RandomStream,
        now: Instant,
        dropped: &mut Vec<QueuedPacket>,
    ) -> Option<QueuedPacket> {
        loop {
            let Some(mut packet) = fifo.pop() else {
                self.on_empty(config, now);
                return None;
            };
            let drops = self.decides(config, &mut packet, stream, now);
            if !drops || fifo.is_empty() {
                return Some(packet);
            }
            dropped.push(packet);
        }
    }

    /// Whether a packet that would leave now is to be dropped; or it is marked.
    fn decides(
        &mut self,
        config: &CobaltConfig,
        packet: &mut QueuedPacket,
        stream: &mut RandomStream,
        now: Instant,
    ) -> bool {
        let mut drops = false;
        if packet.sojourn(now) <= config.above {
            self.dropping = false;
            while self.steps_down(config, now) {}
        } else if !self.dropping {
            self.dropping = true;
            self.count = self.count.max(1);
            self.next = now + config.pause(self.count);
        } else if now >= self.next {
            drops = !(config.ecn && packet.mark_if_capable());
            self.count = self.count.saturating_add(1);
            self.next += config.pause(self.count);
        }
        drops || (self.probability > 0.0 && stream.uniform() < self.probability)
    }

    /// No room was left for a packet.
    pub(super) fn on_overflow(&mut self, config: &CobaltConfig, now: Instant) {
        if self.may_change(config, now) {
            self.probability = (self.probability + config.blue.increment).min(1.0);
        }
        // What overflows is signalled at once.
        self.dropping = true;
        self.next = now;
        self.count = self.count.max(1);
    }

    /// Nothing was there to leave.
    pub(super) fn on_empty(&mut self, config: &CobaltConfig, now: Instant) {
        if self.probability > 0.0 && self.may_change(config, now) {
            self.probability = (self.probability - config.blue.decrement).max(0.0);
        }
        self.dropping = false;
        self.steps_down(config, now);
    }

    /// Counts down by one if that is due; whether it was.
    fn steps_down(&mut self, config: &CobaltConfig, now: Instant) -> bool {
        let due = self.count > 0 && now >= self.next;
        if due {
            self.count -= 1;
            self.next += config.pause(self.count);
        }
        due
    }

    fn may_change(&mut self, config: &CobaltConfig, now: Instant) -> bool {
        let may = self
            .changed
            .is_none_or(|changed| now - changed > config.target);
        if may {
            self.changed = Some(now);
        }
        may
    }
}

/// One queue under COBALT.
#[derive(Debug)]
struct CobaltQueue {
    limit: BufferLimit,
    config: CobaltConfig,
    cobalt: Cobalt,
    fifo: Fifo,
    stream: RandomStream,
}

impl Queue for CobaltQueue {
    fn enqueue(
        &mut self,
        packet: QueuedPacket,
        in_service: Backlog,
        dropped: &mut Vec<QueuedPacket>,
    ) {
        let present = self.fifo.waiting() + in_service;
        match self.limit.admits(present, packet.size()) {
            Admission::Accept => self.fifo.push(packet),
            Admission::Drop => {
                self.cobalt.on_overflow(&self.config, packet.arrived);
                dropped.push(packet);
            }
        }
    }

    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<QueuedPacket>) -> Dequeued {
        let Self {
            config,
            cobalt,
            fifo,
            stream,
            ..
        } = self;
        cobalt.dequeue(config, fifo, stream, now, dropped).into()
    }

    fn waiting(&self) -> Backlog {
        self.fifo.waiting()
    }

    fn marks(&self) -> bool {
        self.config.ecn
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, params};
    use super::*;
    use crate::packet::Ecn;
    use crate::units::testing::at;

    fn config() -> CobaltConfig {
        CobaltConfig::of(&params(&ENTRY, &[]))
    }

    /// A queue with packets that came at these times.
    fn waiting(ecn: Ecn, arrived: impl IntoIterator<Item = f64>) -> Fifo {
        let mut fifo = Fifo::new();
        for (number, time) in arrived.into_iter().enumerate() {
            fifo.push(packet(number as u64, 1000, ecn, time));
        }
        fifo
    }

    fn leave(cobalt: &mut Cobalt, fifo: &mut Fifo, now: f64) -> (Option<QueuedPacket>, usize) {
        let mut dropped = Vec::new();
        let mut stream = RandomStream::new(1, "test");
        let left = cobalt.dequeue(&config(), fifo, &mut stream, at(now), &mut dropped);
        (left, dropped.len())
    }

    /// Milliseconds at which something is signalled while a packet leaves each millisecond.
    fn signals(ecn: Ecn) -> Vec<u32> {
        let (mut cobalt, mut fifo) = (Cobalt::default(), waiting(ecn, [0.0; 1000]));
        let mut times = Vec::new();
        for ms in 0..400 {
            // A little late, so that no time is met or missed by rounding.
            let (left, dropped) = leave(&mut cobalt, &mut fifo, 1.0 + f64::from(ms) * 1.000_001e-3);
            let marked = left.is_some_and(|left| left.packet.ecn() != left.ecn);
            times.extend((dropped > 0 || marked).then_some(ms));
        }
        times
    }

    #[test]
    fn palmei_2019_signals_come_an_interval_over_the_root_of_their_count_after_one_another() {
        // The first after an interval, then 100/sqrt(2), /sqrt(3), ...: 100, 170.7, 228.4, 278.4, 323.2, 364.0.
        let expected = [100, 171, 229, 279, 324, 364];
        assert_eq!(signals(Ecn::NotEct), expected);
        assert_eq!(signals(Ecn::Ect0), expected);
    }

    #[test]
    fn palmei_2019_the_count_goes_down_as_it_came_up() {
        let mut cobalt = Cobalt {
            next: at(1.0),
            count: 4,
            ..Cobalt::default()
        };
        // Steps are due at 1, 1 + 0.1/sqrt(3), then 0.1/sqrt(2) and 0.1 later: 1.0577, 1.1284, 1.2284.
        let mut counts = Vec::new();
        for now in [0.99, 1.0, 1.05, 1.06, 1.12, 1.13, 1.22, 1.23, 2.0] {
            leave(&mut cobalt, &mut waiting(Ecn::NotEct, [now, now]), now);
            counts.push(cobalt.count);
        }
        assert_eq!(counts, [4, 3, 3, 2, 2, 1, 1, 0, 0]);
    }

    #[test]
    fn what_begins_again_begins_with_what_is_left_of_the_count() {
        let mut cobalt = Cobalt {
            next: at(1.5),
            count: 16,
            ..Cobalt::default()
        };
        let mut fifo = waiting(Ecn::NotEct, [0.0; 50]);
        assert_eq!(leave(&mut cobalt, &mut fifo, 1.0).1, 0);
        assert_eq!(leave(&mut cobalt, &mut fifo, 1.024).1, 0);
        assert_eq!(
            leave(&mut cobalt, &mut fifo, 1.026).1,
            1,
            "100 ms / sqrt(16)"
        );
    }

    #[test]
    fn feng_2002_the_probability_follows_overflow_and_emptiness_once_in_a_target() {
        let (config, mut cobalt) = (config(), Cobalt::default());
        for ms in [0.0, 1.0, 4.9, 5.1, 9.0, 10.2] {
            cobalt.on_overflow(&config, at(ms / 1e3));
        }
        assert!((cobalt.probability - 3.0 / 256.0).abs() < 1e-15);
        for ms in [12.0, 15.3, 16.0, 20.4] {
            cobalt.on_empty(&config, at(ms / 1e3));
        }
        assert!((cobalt.probability - (3.0 / 256.0 - 2.0 / 4096.0)).abs() < 1e-15);
    }

    #[test]
    fn blue_drops_what_could_be_marked_and_never_the_last_packet() {
        let mut cobalt = Cobalt {
            probability: 1.0,
            ..Cobalt::default()
        };
        let mut fifo = waiting(Ecn::Ect0, [1.0; 5]);
        let (left, dropped) = leave(&mut cobalt, &mut fifo, 1.0);
        assert_eq!(
            (left.map(|left| left.packet.ecn()), dropped),
            (Some(Ecn::Ect0), 4)
        );
    }

    #[test]
    fn what_overflows_is_signalled_at_the_next_departure() {
        let mut cobalt = Cobalt::default();
        cobalt.on_overflow(&config(), at(1.0));
        let mut fifo = waiting(Ecn::Ect0, [0.9; 3]);
        let (left, _) = leave(&mut cobalt, &mut fifo, 1.0);
        assert_eq!(left.map(|left| left.packet.ecn()), Some(Ecn::Ce));
    }
}
