//! DualPI2: two queues, one for traffic that needs small and frequent marks (L4S) and one for all other, with one base probability for both.
//!
//! Specification: RFC 9332 Appendix A (the pseudo-code with overload protection), §4.2.3 (overload); RFC 9331 §5.1 (which packets are L4S's).
//!
//! Model, in seconds and bytes:
//! - ECT(1) and CE go to the L queue, everything else to the C queue; a packet that does not fit into the common buffer is dropped
//! - `p' += alpha * (curq - target) + beta * (curq - prevq)` every `update`, within 0 and 1, with `curq` the time for which the older of the
//!   two queues' heads has waited; `p_C = p'²`, `p_CL = k * p'`
//! - which queue is next: weighted round robin with `classic_share` of the bytes for C while both wait, which keeps its credit until the link
//!   is idle; or the head that has waited longer, that of L with `time_shift` added
//! - from L: marked with `p_L = max(p'_L, p_CL)`, where `p'_L` rises from 0 to 1 as the packet's own wait goes from `min_threshold` to
//!   `min_threshold + ramp` (a step at `min_threshold` if `ramp` is 0), and is 0 if the queue, this packet included, was no longer
//!   than `min_queue` packets
//! - from C: with `p_C` marked, or dropped if it is not ECN-capable
//! - decisions with probability p come as every 1/p-th: p is added up, and each whole one is one (the pseudo-code's `recur`)
//! - overload, `drop`: at `p_CL >= 1` packets from L are dropped with `p_C` and else marked, at `p_C >= 1/k²` those from C are dropped whatever
//!   their ECN field says. Overload, `delay`: `p'` ends at `1/k`, nothing that is ECN-capable is dropped, and the queues grow up to the limit
//!
//! With the defaults, `update = min(target, rtt_max / 3)`, `alpha = 0.1 * update / rtt_max²` and `beta = 0.3 / rtt_max`.
//!
//! Deviations: the RFC leaves the weight of the scheduler open (Appendix A.2 has 1/16 as an example); the default is that of tc-dualpi2(8),
//! `classic_protection`. A packet fits if its own bytes do, not the link's largest packet's. `p_CL` ends at 1, as a probability does. The time in
//! a queue is that of packets that have waited (the RFC's "sojourn time").
//!
//! Kernel equivalent: `dualpi2` (Linux 6.17), with a step at 1 ms instead of the ramp, which also marks the only packet of its queue, a limit
//! of 10000 packets, `update` of 16 ms, and random decisions.

use super::drop_tail::LIMIT_IF_ANY;
use super::flows::signed;
use super::{Admission, Backlog, BufferLimit, Dequeued, Fifo, NewQueue, Queue, QueuedPacket, Site};
use crate::packet::Ecn;
use crate::registry::{Entry, Kind, Param, ParamKey, Params, Value, Words, param, words};
use crate::units::{ByteCount, Duration, Instant};

words! {
    /// Which of the two queues is next.
    enum DualQueueOrder {
        Wrr = "wrr",
        TsFifo = "ts_fifo",
    }
}

words! {
    /// Which packets go into the L queue.
    enum L4s {
        Ect1 = "ect1",
        AnyEct = "any_ect",
    }
}

words! {
    /// What happens when marks no longer help.
    enum Overload {
        Drop = "drop",
        Delay = "delay",
    }
}

const SCHEDULER: ParamKey<DualQueueOrder> = ParamKey::new("scheduler");
const L4S: ParamKey<L4s> = ParamKey::new("l4s");
const OVERLOAD: ParamKey<Overload> = ParamKey::new("overload");

const NON_NEGATIVE: Kind = Kind::Duration {
    min_exclusive: false,
};
const POSITIVE: Kind = Kind::Duration {
    min_exclusive: true,
};
const GAIN: Kind = Kind::Number {
    min: 0.0,
    max: 1000.0,
};

pub(super) const ENTRY: Entry<NewQueue> = Entry {
    name: "dualpi2",
    summary: "dual-queue coupled AQM: L4S traffic waits for about a millisecond, classic traffic as long as its own queue needs",
    specification: &["RFC 9332 Appendix A", "RFC 9331 §5.1"],
    params: &[
        param!(limit: Kind::QueueSize => Value::None,
            "buffer of both queues in packets, bytes or bandwidth-delay products, the packet in transmission included; none for `limit_time`"),
        param!(limit_time: POSITIVE => Value::Duration(0.25),
            "buffer of both queues in time at the link's rate, if `limit` is none"),
        param!(k: Kind::Number { min: 0.01, max: 100.0 } => Value::Number(2.0),
            "coupling factor: what the base probability is multiplied by for L4S traffic"),
        param!(target: Kind::Period => Value::Duration(0.015),
            "queueing delay that is aimed at"),
        param!(rtt_max: Kind::Period => Value::Duration(0.1),
            "longest round-trip time that is expected: the gains follow from it"),
        param!(update: Kind::Period => Value::None,
            "time between updates of the base probability; none for the smaller of `target` and a third of `rtt_max`"),
        param!(alpha: GAIN => Value::None,
            "integral gain in Hz; none for 0.1 * update / rtt_max²"),
        param!(beta: GAIN => Value::None,
            "proportional gain in Hz; none for 0.3 / rtt_max"),
        param!(min_threshold: NON_NEGATIVE => Value::Duration(0.0008),
            "L4S packets that have waited longer begin to be marked"),
        param!(ramp: NON_NEGATIVE => Value::Duration(0.0004),
            "time above `min_threshold` from which all L4S packets are marked; 0 for a step"),
        param!(min_queue: Kind::Integer { min: 0, max: 1_000_000 } => Value::Integer(1),
            "packets that must be exceeded in the L queue for its own marks"),
        Param {
            name: SCHEDULER.name,
            summary: "which queue is next: weighted round robin, or a time-shifted FIFO",
            kind: Kind::Choice(DualQueueOrder::WORDS),
            default: Value::Choice(DualQueueOrder::Wrr.word()),
        },
        param!(classic_share: Kind::Number { min: 0.001, max: 0.999 } => Value::Number(0.1),
            "share of the link that `wrr` guarantees the classic queue"),
        param!(time_shift: NON_NEGATIVE => Value::Duration(0.05),
            "by how much longer `ts_fifo` takes L4S packets to have waited"),
        Param {
            name: L4S.name,
            summary: "ECN fields of the L queue's packets besides CE: ECT(1) alone, or any that is ECN-capable",
            kind: Kind::Choice(L4s::WORDS),
            default: Value::Choice(L4s::Ect1.word()),
        },
        Param {
            name: OVERLOAD.name,
            summary: "when marks no longer help: drop in both queues, or let delay grow until the buffer is full",
            kind: Kind::Choice(Overload::WORDS),
            default: Value::Choice(Overload::Drop.word()),
        },
    ],
    new: |params, site| Box::new(DualPi2::new(params, &site)),
};

/// The discipline.
#[derive(Debug)]
struct DualPi2 {
    limit: BufferLimit,
    any_ect: bool,
    l4s: CoupledQueue,
    classic: CoupledQueue,
    scheduler: Scheduler,
    pi: Pi2,
    /// Of the L queue's own marks: see [`ENTRY`].
    min_threshold: f64,
    ramp: f64,
    min_queue: u64,
}

/// One of the two queues.
#[derive(Debug, Default)]
struct CoupledQueue {
    fifo: Fifo,
    /// Probabilities added up.
    count: f64,
}

impl CoupledQueue {
    /// For how long its head has waited.
    fn delay(&self, now: Instant) -> Duration {
        let head = self.fifo.front();
        head.map_or(Duration::ZERO, |head| head.sojourn(now))
    }

    /// RFC 9332 Appendix A.1, `recur`: true every 1/`likelihood`-th time.
    fn recurs(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let due = self.count > 1.0;
        if due {
            self.count -= 1.0;
        }
        due
    }
}

impl DualPi2 {
    fn new(params: &Params, site: &Site) -> Self {
        Self {
            limit: LIMIT_IF_ANY.of(params).unwrap_or_else(|| {
                let time = Duration::from_secs(params.duration("limit_time"));
                BufferLimit::Bytes(bytes_in(site, time))
            }),
            any_ect: L4S.of(params) == L4s::AnyEct,
            l4s: CoupledQueue::default(),
            classic: CoupledQueue::default(),
            scheduler: Scheduler::of(params),
            pi: Pi2::of(params),
            min_threshold: params.duration("min_threshold"),
            ramp: params.duration("ramp"),
            min_queue: params.integer("min_queue").unsigned_abs(),
        }
    }

    fn is_l4s(&self, ecn: Ecn) -> bool {
        match ecn {
            Ecn::Ect1 | Ecn::Ce => true,
            Ecn::Ect0 => self.any_ect,
            Ecn::NotEct => false,
        }
    }

    /// Does the updates that were due until `now`. What waits has not changed since the last call, so that they come out as if they had
    /// been done in time.
    fn catch_up(&mut self, now: Instant) {
        while self.pi.due(now) {
            let next = Instant::from_secs(self.pi.next);
            let delay = self.l4s.delay(next).max(self.classic.delay(next));
            let empty = self.l4s.fifo.is_empty() && self.classic.fifo.is_empty();
            self.pi.update(delay, empty.then_some(now));
        }
    }

    /// The L queue's own probability of a mark (`laqm`) of the packet that has just left it, 0 if it had no more than `min_queue` packets.
    fn native(&self, sojourn: Duration) -> f64 {
        let sojourn = sojourn.secs();
        if self.l4s.fifo.waiting().packets < self.min_queue {
            0.0
        } else if sojourn >= self.min_threshold + self.ramp {
            1.0
        } else {
            ((sojourn - self.min_threshold) / self.ramp).max(0.0)
        }
    }

    /// RFC 9332 Appendix A.2: the packet that leaves the L queue, or the one that is dropped.
    fn pass_l4s(
        &mut self,
        mut packet: QueuedPacket,
        now: Instant,
    ) -> Result<QueuedPacket, QueuedPacket> {
        let native = self.native(packet.sojourn(now));
        let coupled = self.pi.p_l4s();
        let p = if coupled < 1.0 || !self.pi.drops {
            native.max(coupled)
        } else if self.l4s.recurs(self.pi.p_classic()) {
            return Err(packet);
        } else {
            coupled
        };
        if self.l4s.recurs(p) {
            packet.mark_if_capable();
        }
        Ok(packet)
    }

    /// The same of the C queue.
    fn pass_classic(&mut self, mut packet: QueuedPacket) -> Result<QueuedPacket, QueuedPacket> {
        let p = self.pi.p_classic();
        if self.classic.recurs(p) && (self.pi.overloaded(p) || !packet.mark_if_capable()) {
            return Err(packet);
        }
        Ok(packet)
    }
}

impl Queue for DualPi2 {
    fn enqueue(
        &mut self,
        packet: QueuedPacket,
        in_service: Backlog,
        dropped: &mut Vec<QueuedPacket>,
    ) {
        self.catch_up(packet.arrived);
        let present = self.waiting() + in_service;
        if self.limit.admits(present, packet.size()) == Admission::Drop {
            dropped.push(packet);
        } else if self.is_l4s(packet.packet.ecn()) {
            self.l4s.fifo.push(packet);
        } else {
            self.classic.fifo.push(packet);
        }
    }

    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<QueuedPacket>) -> Dequeued {
        self.catch_up(now);
        while let Some(side) = self.scheduler.next(&self.l4s.fifo, &self.classic.fifo) {
            let decided = match side {
                Class::L4s => self.l4s.fifo.pop().map(|packet| self.pass_l4s(packet, now)),
                Class::Classic => self
                    .classic
                    .fifo
                    .pop()
                    .map(|packet| self.pass_classic(packet)),
            };
            match decided.expect("the scheduler chooses a queue with packets") {
                Ok(packet) => return Dequeued::Packet(packet),
                Err(packet) => dropped.push(packet),
            }
        }
        Dequeued::Empty
    }

    fn waiting(&self) -> Backlog {
        self.l4s.fifo.waiting() + self.classic.fifo.waiting()
    }

    fn marks(&self) -> bool {
        true
    }
}

/// Bytes that a link sends in `secs`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number of bytes"
)]
fn bytes_in(site: &Site, time: Duration) -> ByteCount {
    ByteCount::new(libm::round(site.rate.bps() * time.secs() / 8.0).max(1.0) as u64)
}

/// The base probability: a proportional-integral controller whose output is squared for classic traffic (PI2).
#[derive(Debug)]
struct Pi2 {
    target: f64,
    period: f64,
    alpha: f64,
    beta: f64,
    k: f64,
    /// At overload.
    drops: bool,
    /// The RFC's p'.
    base: f64,
    /// The delay at the last update.
    previous: f64,
    /// How many updates there have been, and when the next one is due.
    count: f64,
    next: f64,
}

impl Pi2 {
    fn of(params: &Params) -> Self {
        let (target, rtt_max) = (params.duration("target"), params.duration("rtt_max"));
        let period = match params.get("update") {
            Value::Duration(period) => period,
            _ => target.min(rtt_max / 3.0),
        };
        let gain = |name: &str, derived: f64| match params.get(name) {
            Value::Number(gain) => gain,
            _ => derived,
        };
        Self {
            target,
            period,
            alpha: gain("alpha", 0.1 * period / (rtt_max * rtt_max)),
            beta: gain("beta", 0.3 / rtt_max),
            k: params.number("k"),
            drops: OVERLOAD.of(params) == Overload::Drop,
            base: 0.0,
            previous: 0.0,
            count: 0.0,
            next: period,
        }
    }

    fn due(&self, now: Instant) -> bool {
        self.next <= now.secs()
    }

    /// `dualpi2_update`, with `delay` the time in queue. `idle_until`: nothing waits before this time, so that all further updates until
    /// then come at once when they change nothing.
    fn update(&mut self, delay: Duration, idle_until: Option<Instant>) {
        let delay = delay.secs();
        let change = self.alpha * (delay - self.target) + self.beta * (delay - self.previous);
        self.previous = delay;
        let most = if self.drops {
            1.0
        } else {
            self.k.recip().min(1.0)
        };
        self.base = (self.base + change).clamp(0.0, most);
        self.count += 1.0;
        if let (Some(until), true) = (idle_until, self.base == 0.0) {
            self.count = self.count.max(libm::floor(until.secs() / self.period));
        }
        self.next = (self.count + 1.0) * self.period;
    }

    fn p_classic(&self) -> f64 {
        self.base * self.base
    }

    fn p_l4s(&self) -> f64 {
        (self.k * self.base).min(1.0)
    }

    /// Whether marks of classic packets no longer help.
    fn overloaded(&self, p_classic: f64) -> bool {
        self.drops && p_classic >= (self.k * self.k).recip().min(1.0)
    }
}

/// Which of the two queues is next.
#[derive(Debug)]
enum Scheduler {
    /// Weighted round robin: `credit` is what the classic queue may send of its `share` of the bytes sent while it has waited.
    Wrr { share: f64, credit: f64 },
    /// Time-shifted FIFO.
    TsFifo { shift: f64 },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    L4s,
    Classic,
}

impl Scheduler {
    fn of(params: &Params) -> Self {
        match SCHEDULER.of(params) {
            DualQueueOrder::TsFifo => Self::TsFifo {
                shift: params.duration("time_shift"),
            },
            DualQueueOrder::Wrr => Self::Wrr {
                share: params.number("classic_share"),
                credit: 0.0,
            },
        }
    }

    fn next(&mut self, l4s: &Fifo, classic: &Fifo) -> Option<Class> {
        let (l4s, classic) = match (l4s.front(), classic.front()) {
            (Some(l4s), Some(classic)) => (l4s, classic),
            (only_l4s, only_classic) => {
                // The credit changes only while both compete, and a link that has been idle begins anew in favour of L.
                if let (Self::Wrr { credit, .. }, None, None) = (self, only_l4s, only_classic) {
                    *credit = 0.0;
                }
                return only_l4s
                    .map(|_| Class::L4s)
                    .or(only_classic.map(|_| Class::Classic));
            }
        };
        match self {
            Self::Wrr { share, credit } => {
                let (l4s, classic) = (real(l4s), real(classic));
                // What the classic packet takes from the L queue has been sent by the L queue before.
                if *credit >= (1.0 - *share) * classic {
                    *credit -= (1.0 - *share) * classic;
                    Some(Class::Classic)
                } else {
                    *credit += *share * l4s;
                    Some(Class::L4s)
                }
            }
            Self::TsFifo { shift } => Some(
                if l4s.arrived - Duration::from_secs(*shift) <= classic.arrived {
                    Class::L4s
                } else {
                    Class::Classic
                },
            ),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a packet's bytes")]
fn real(packet: &QueuedPacket) -> f64 {
    signed(packet.size()) as f64
}

#[cfg(test)]
mod tests {
    use super::super::testing::{packet, params};
    use super::*;
    use crate::rng::RandomStream;
    use crate::units::Rate;
    use crate::units::testing::{at, bytes, secs};

    fn dualpi2(values: &[(&str, Value)]) -> DualPi2 {
        let site = Site {
            rate: Rate::from_bps(10e6),
            stream: RandomStream::new(1, "test"),
        };
        DualPi2::new(&params(&ENTRY, values), &site)
    }

    /// Takes in packets of 1000 bytes at `now`, numbered from 0.
    fn arrive(queue: &mut DualPi2, ecns: &[Ecn], now: f64) {
        for (number, ecn) in (0..).zip(ecns) {
            let mut dropped = Vec::new();
            queue.enqueue(
                packet(number, 1000, *ecn, now),
                Backlog::default(),
                &mut dropped,
            );
            assert!(dropped.is_empty());
        }
    }

    /// All that leaves at `now`: the numbers of packets, and their ECN fields; and numbers of those that are dropped.
    fn drain(queue: &mut DualPi2, now: f64) -> (Vec<(u64, Ecn)>, Vec<u64>) {
        let (mut left, mut dropped) = (Vec::new(), Vec::new());
        while let Dequeued::Packet(queued) = queue.dequeue(at(now), &mut dropped) {
            left.push((queued.packet.segment().seq.get(), queued.packet.ecn()));
        }
        let dropped = dropped
            .iter()
            .map(|queued| queued.packet.segment().seq.get());
        (left, dropped.collect())
    }

    #[track_caller]
    fn close(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-12, "{value}, not {expected}");
    }

    #[test]
    fn rfc9332_a_1_the_gains_follow_from_the_longest_round_trip() {
        // min(15 ms, 100 ms / 3); 0.1 * 0.015 / 0.1²; 0.3 / 0.1; 10 Mbit/s for 250 ms.
        let queue = dualpi2(&[]);
        close(queue.pi.period, 0.015);
        close(queue.pi.alpha, 0.15);
        close(queue.pi.beta, 3.0);
        assert_eq!(queue.limit, BufferLimit::Bytes(bytes(312_500)));
        let near = dualpi2(&[
            ("rtt_max", Value::Duration(0.03)),
            ("beta", Value::Number(4.0)),
        ]);
        close(near.pi.period, 0.01);
        close(near.pi.alpha, 0.1 * 0.01 / 0.0009);
        close(near.pi.beta, 4.0);
    }

    #[test]
    fn rfc9332_a_1_the_base_probability_is_squared_for_classic_traffic_and_doubled_for_l4s() {
        let mut pi = dualpi2(&[]).pi;
        // 0.15 * (20 - 15) ms + 3 * (20 - 0) ms.
        pi.update(secs(0.02), None);
        close(pi.base, 0.060_75);
        close(pi.p_classic(), 0.060_75 * 0.060_75);
        close(pi.p_l4s(), 0.1215);
        // 0.15 * (20 - 15) ms more, as the delay has not changed.
        pi.update(secs(0.02), None);
        close(pi.base, 0.0615);
        // 0.15 * (10 - 15) ms + 3 * (10 - 20) ms.
        pi.update(secs(0.01), None);
        close(pi.base, 0.030_75);
        pi.update(secs(0.0), None);
        close(pi.base, 0.0);
    }

    #[test]
    fn updates_come_out_the_same_however_rarely_the_queue_is_called() {
        let run = |calls: &[f64]| {
            let mut queue = dualpi2(&[]);
            arrive(&mut queue, &[Ecn::Ect0, Ecn::Ect1], 0.004);
            for now in calls {
                queue.catch_up(at(*now));
            }
            (queue.pi.base, queue.pi.previous, queue.pi.next)
        };
        let often: Vec<f64> = (1..=40).map(|step| f64::from(step) * 0.0025).collect();
        assert_eq!(run(&often), run(&[0.1]));
        // At 15, 30, ..., 90 ms the heads have waited 11, 26, ..., 86 ms: the integral part is 0.15 * (11 + 26 + 41 + 56 + 71 + 86 - 6 * 15)
        // ms, the proportional one 3 * 86 ms.
        close(run(&[0.1]).0, 0.15 * 0.201 + 3.0 * 0.086);
        // An idle link: as if an update had been made every 15 ms, up to 1200 * 15 ms.
        let mut queue = dualpi2(&[]);
        queue.catch_up(at(18.001));
        close(queue.pi.next, 18.015);
    }

    #[test]
    fn rfc9332_a_1_l4s_marks_rise_with_the_wait_from_800_to_1200_microseconds() {
        let native = |values: &[(&str, Value)], left: usize, sojourn| {
            let mut queue = dualpi2(values);
            arrive(&mut queue, &vec![Ecn::Ect1; left], 0.0);
            queue.native(secs(sojourn))
        };
        for (sojourn, p) in [(0.0008, 0.0), (0.001, 0.5), (0.0011, 0.75), (0.0013, 1.0)] {
            close(native(&[], 1, sojourn), p);
            // "Suppress marking 1 pkt queue": the packet that leaves was the only one.
            close(native(&[], 0, sojourn), 0.0);
        }
        let step = [
            ("ramp", Value::Duration(0.0)),
            ("min_queue", Value::Integer(0)),
        ];
        close(native(&step, 0, 0.0007), 0.0);
        close(native(&step, 0, 0.0008), 1.0);
    }

    #[test]
    fn rfc9332_a_1_every_fourth_packet_recurs_with_a_likelihood_of_a_quarter() {
        let mut side = CoupledQueue::default();
        let due: Vec<u32> = (1..=14).filter(|_| side.recurs(0.25)).collect();
        assert_eq!(due, [5, 9, 13], "when the sum exceeds one");
    }

    #[test]
    fn rfc9331_5_1_ect1_and_ce_go_to_the_l_queue() {
        let ecns = [Ecn::NotEct, Ecn::Ect0, Ecn::Ce, Ecn::Ect1];
        let numbers = |queue: &mut DualPi2| -> Vec<u64> {
            let left = drain(queue, 0.0).0;
            left.iter().map(|(number, _)| *number).collect()
        };
        let mut queue = dualpi2(&[]);
        arrive(&mut queue, &ecns, 0.0);
        assert_eq!(numbers(&mut queue), [2, 3, 0, 1]);
        let mut queue = dualpi2(&[("l4s", Value::Choice("any_ect"))]);
        arrive(&mut queue, &ecns, 0.0);
        assert_eq!(numbers(&mut queue), [1, 2, 3, 0]);
    }

    #[test]
    fn while_both_wait_the_classic_queue_has_its_share_of_the_bytes() {
        // A quarter: three packets of 1000 bytes of the L queue, then one of the C queue.
        let mut queue = dualpi2(&[("classic_share", Value::Number(0.25))]);
        let ecns = [[Ecn::Ect1; 8], [Ecn::NotEct; 8]].concat();
        arrive(&mut queue, &ecns, 0.0);
        let left: Vec<u64> = drain(&mut queue, 0.0).0.iter().map(|left| left.0).collect();
        assert_eq!(left[..11], [0, 1, 2, 8, 3, 4, 5, 9, 6, 7, 10]);
    }

    #[test]
    fn a_time_shifted_fifo_sends_who_has_waited_longer_with_the_shift() {
        let mut queue = dualpi2(&[("scheduler", Value::Choice("ts_fifo"))]);
        arrive(&mut queue, &[Ecn::NotEct], 0.0);
        arrive(&mut queue, &[Ecn::Ect1, Ecn::Ect1], 0.049);
        arrive(&mut queue, &[Ecn::Ect1, Ecn::NotEct], 0.051);
        let order: Vec<Ecn> =
            std::iter::from_fn(|| match queue.dequeue(at(0.052), &mut Vec::new()) {
                Dequeued::Packet(left) => Some(left.ecn),
                _ => None,
            })
            .collect();
        // The first classic packet is 49 and 51 ms older than the others: 50 are made up for.
        assert_eq!(
            order,
            [Ecn::Ect1, Ecn::Ect1, Ecn::NotEct, Ecn::Ect1, Ecn::NotEct]
        );
    }

    /// Of 80 packets those that are marked and those that are dropped, at a base probability.
    fn signals(values: &[(&str, Value)], ecn: Ecn, base: f64) -> (usize, usize) {
        let mut queue = dualpi2(values);
        arrive(&mut queue, &[ecn; 80], 0.0);
        queue.pi.base = base;
        let (left, dropped) = drain(&mut queue, 0.0);
        let marked = left.iter().filter(|left| left.1 != ecn).count();
        (marked, dropped.len())
    }

    #[test]
    fn rfc9332_a_1_classic_packets_are_marked_or_dropped_with_the_square_and_l4s_ones_marked_with_the_double()
     {
        // Of 80 packets 0.43² * 80 = 14.8, and 2 * 0.43 * 80 = 68.8.
        assert_eq!(signals(&[], Ecn::NotEct, 0.43), (0, 14));
        assert_eq!(signals(&[], Ecn::Ect0, 0.43), (14, 0));
        assert_eq!(signals(&[], Ecn::Ect1, 0.43), (68, 0));
    }

    #[test]
    fn rfc9332_a_2_at_overload_all_are_dropped_with_the_square() {
        // p' = 0.5: p_C = 0.25 = p_Cmax, p_CL = 1. Of 80 classic packets 20, less the one for which the sum does not exceed one yet.
        assert_eq!(signals(&[], Ecn::Ect0, 0.5), (0, 19));
        assert_eq!(signals(&[], Ecn::NotEct, 0.5), (0, 19));
        // Both decisions of the L queue add to one sum: 0.25 for a drop, and if there was none 1 for a mark. After the first packet it is
        // 0.25, after each marked one 0.25 more, up to 1; the next packet is dropped and leaves 0.25: one packet in four from there on.
        // 80 packets are the first, 19 times three marks and a drop, and three marks.
        assert_eq!(signals(&[], Ecn::Ect1, 0.5), (61, 19));
        // CE stays CE, and is dropped as well.
        assert_eq!(signals(&[], Ecn::Ce, 0.5), (0, 19));
    }

    #[test]
    fn rfc9332_4_2_3_with_delay_nothing_that_is_capable_is_dropped_and_the_rest_with_a_quarter_at_most()
     {
        let values = [("overload", Value::Choice("delay"))];
        let mut pi = dualpi2(&values).pi;
        for _ in 0..100 {
            pi.update(secs(0.25), None);
        }
        close(pi.base, 0.5);
        assert_eq!(signals(&values, Ecn::Ect0, 0.5), (19, 0));
        assert_eq!(signals(&values, Ecn::NotEct, 0.5), (0, 19));
        assert_eq!(signals(&values, Ecn::Ect1, 0.5), (79, 0));
    }

    #[test]
    fn rfc9332_a_1_the_base_probability_ends_at_one_or_where_l4s_is_certain_to_be_marked() {
        let ends = |overload: &'static str, k: f64| {
            let values = [
                ("overload", Value::Choice(overload)),
                ("k", Value::Number(k)),
            ];
            let mut pi = dualpi2(&values).pi;
            pi.update(secs(100.0), None);
            (pi.base, pi.p_l4s())
        };
        assert_eq!(ends("drop", 2.0), (1.0, 1.0));
        assert_eq!(ends("delay", 2.0), (0.5, 1.0));
        assert_eq!(ends("delay", 0.5), (1.0, 0.5));
    }

    #[test]
    fn an_update_that_is_given_stays() {
        let pi = dualpi2(&[("update", Value::Duration(0.02))]).pi;
        close(pi.period, 0.02);
        close(pi.next, 0.02);
        close(pi.alpha, 0.1 * 0.02 / 0.01);
    }

    #[test]
    fn rfc9332_a_1_overload_begins_where_l4s_traffic_is_certain_to_be_marked() {
        // With k = 3, at p' = 1/3 and p_C = 1/9.
        let pi = dualpi2(&[("k", Value::Number(3.0))]).pi;
        assert!(!pi.overloaded(0.111) && pi.overloaded(0.112));
        // With k = 1/2 never before p_C = 1.
        let pi = dualpi2(&[("k", Value::Number(0.5))]).pi;
        assert!(!pi.overloaded(0.99) && pi.overloaded(1.0));
    }

    #[test]
    fn an_idle_link_begins_anew_in_favour_of_l4s() {
        let mut scheduler = Scheduler::Wrr {
            share: 0.25,
            credit: 700.0,
        };
        let (empty, mut one) = (Fifo::new(), Fifo::new());
        one.push(packet(0, 1000, Ecn::Ect0, 0.0));
        let credit = |scheduler: &Scheduler| match scheduler {
            Scheduler::Wrr { credit, .. } => *credit,
            Scheduler::TsFifo { .. } => panic!("not a round robin"),
        };
        assert_eq!(scheduler.next(&empty, &one), Some(Class::Classic));
        assert_eq!(credit(&scheduler), 700.0, "nobody competes");
        assert_eq!(scheduler.next(&empty, &empty), None);
        assert_eq!(credit(&scheduler), 0.0);
    }
}
