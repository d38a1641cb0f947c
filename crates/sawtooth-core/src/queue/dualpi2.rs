//! DualPI2: two queues, one for traffic that needs small and frequent marks (L4S) and one for all other, with one base probability for both.
//!
//! Specification: RFC 9332 Appendix A (the pseudo-code with overload protection), §4.2.3 (overload); RFC 9331 §5.1 (which packets are L4S's).
//!
//! Model, in seconds and bytes:
//! - ECT(1) and CE go to the L queue, everything else to the C queue; a packet that does not fit into the common buffer is dropped
//! - `p' += alpha * (curq - target) + beta * (curq - prevq)` every `t_update`, within 0 and 1, with `curq` the time for which the older of the
//!   two queues' heads has waited; `p_C = p'²`, `p_CL = k * p'`
//! - which queue is next: weighted round robin with `classic_share` of the bytes for C while both wait; or the head that has waited longer,
//!   that of L with `time_shift` added
//! - from L: marked with `p_L = max(p'_L, p_CL)`, where `p'_L` rises from 0 to 1 as the packet's own wait goes from `min_threshold` to
//!   `min_threshold + ramp` (a step at `min_threshold` if `ramp` is 0), and is 0 if no more than `min_queue` packets are left
//! - from C: with `p_C` marked, or dropped if it is not ECN-capable
//! - decisions with probability p come as every 1/p-th: p is added up, and each whole one is one (the pseudo-code's `recur`)
//! - overload, `drop`: at `p_CL >= 1` packets from L are dropped with `p_C` and else marked, at `p_C >= 1/k²` those from C are dropped whatever
//!   their ECN field says. Overload, `delay`: `p'` ends at `1/k`, nothing that is ECN-capable is dropped, and the queues grow up to the limit
//!
//! With the defaults, `t_update = min(target, rtt_max / 3)`, `alpha = 0.1 * t_update / rtt_max²` and `beta = 0.3 / rtt_max`.
//!
//! Deviations: the RFC leaves the weight of the scheduler open; the default is that of tc-dualpi2(8), `classic_protection`. A packet fits if
//! its own bytes do, not the link's largest packet's. The time in a queue is that of packets that have waited (the RFC's "sojourn time").
//!
//! Kernel equivalent: `dualpi2` (Linux 6.17), with a step at 1 ms instead of the ramp, which also marks the only packet of its queue, a limit
//! of 10000 packets, `t_update` of 16 ms, and random decisions.

use super::flows::signed;
use super::{Backlog, Fifo, Limit, New, Next, Queue, Queued, Site, Verdict};
use crate::packet::Ecn;
use crate::registry::{Entry, Kind, Param, Params, Value};

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

pub const ENTRY: Entry<New> = Entry {
    name: "dualpi2",
    summary: "dual-queue coupled AQM: L4S traffic waits for about a millisecond, classic traffic as long as its own queue needs",
    specification: &["RFC 9332 Appendix A", "RFC 9331 §5.1"],
    params: &[
        Param {
            name: "limit",
            summary: "buffer of both queues in packets, bytes or bandwidth-delay products, the packet in transmission included; none for `limit_time`",
            kind: Kind::QueueSize,
            default: Value::None,
        },
        Param {
            name: "limit_time",
            summary: "buffer of both queues in time at the link's rate, if `limit` is none",
            kind: POSITIVE,
            default: Value::Duration(0.25),
        },
        Param {
            name: "k",
            summary: "coupling factor: what the base probability is multiplied by for L4S traffic",
            kind: Kind::Number {
                min: 0.01,
                max: 100.0,
            },
            default: Value::Number(2.0),
        },
        Param {
            name: "target",
            summary: "queueing delay that is aimed at",
            kind: POSITIVE,
            default: Value::Duration(0.015),
        },
        Param {
            name: "rtt_max",
            summary: "longest round-trip time that is expected: the gains follow from it",
            kind: POSITIVE,
            default: Value::Duration(0.1),
        },
        Param {
            name: "t_update",
            summary: "time between updates of the base probability; none for the smaller of `target` and a third of `rtt_max`",
            kind: POSITIVE,
            default: Value::None,
        },
        Param {
            name: "alpha",
            summary: "integral gain in Hz; none for 0.1 * t_update / rtt_max²",
            kind: GAIN,
            default: Value::None,
        },
        Param {
            name: "beta",
            summary: "proportional gain in Hz; none for 0.3 / rtt_max",
            kind: GAIN,
            default: Value::None,
        },
        Param {
            name: "min_threshold",
            summary: "L4S packets that have waited longer begin to be marked",
            kind: NON_NEGATIVE,
            default: Value::Duration(0.0008),
        },
        Param {
            name: "ramp",
            summary: "time above `min_threshold` from which all L4S packets are marked; 0 for a step",
            kind: NON_NEGATIVE,
            default: Value::Duration(0.0004),
        },
        Param {
            name: "min_queue",
            summary: "packets that must be exceeded in the L queue for its own marks",
            kind: Kind::Integer {
                min: 0,
                max: 1_000_000,
            },
            default: Value::Integer(1),
        },
        Param {
            name: "scheduler",
            summary: "which queue is next: weighted round robin, or a time-shifted FIFO",
            kind: Kind::Choice(&["wrr", "ts_fifo"]),
            default: Value::Choice("wrr"),
        },
        Param {
            name: "classic_share",
            summary: "share of the link that `wrr` guarantees the classic queue",
            kind: Kind::Number {
                min: 0.001,
                max: 0.999,
            },
            default: Value::Number(0.1),
        },
        Param {
            name: "time_shift",
            summary: "by how much longer `ts_fifo` takes L4S packets to have waited",
            kind: NON_NEGATIVE,
            default: Value::Duration(0.05),
        },
        Param {
            name: "l4s",
            summary: "ECN fields of the L queue's packets besides CE: ECT(1) alone, or any that is ECN-capable",
            kind: Kind::Choice(&["ect1", "any_ect"]),
            default: Value::Choice("ect1"),
        },
        Param {
            name: "overload",
            summary: "when marks no longer help: drop in both queues, or let delay grow until the buffer is full",
            kind: Kind::Choice(&["drop", "delay"]),
            default: Value::Choice("drop"),
        },
    ],
    new: |params, site| Box::new(DualPi2::new(params, &site)),
};

/// The discipline.
#[derive(Debug)]
struct DualPi2 {
    limit: Limit,
    any_ect: bool,
    l4s: Side,
    classic: Side,
    scheduler: Scheduler,
    pi: Pi2,
    /// Of the L queue's own marks: see [`ENTRY`].
    min_threshold: f64,
    ramp: f64,
    min_queue: u64,
}

/// One of the two queues.
#[derive(Debug, Default)]
struct Side {
    fifo: Fifo,
    /// Probabilities added up.
    count: f64,
}

impl Side {
    /// For how long its head has waited.
    fn delay(&self, now: f64) -> f64 {
        self.fifo.front().map_or(0.0, |head| head.sojourn(now))
    }

    /// RFC 9332 Figure 5, `recur`: true every 1/`likelihood`-th time.
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
            limit: match params.get("limit") {
                Value::None => Limit::Bytes(bytes_in(site, params.duration("limit_time"))),
                _ => Limit::of(params, "limit"),
            },
            any_ect: params.choice("l4s") == "any_ect",
            l4s: Side::default(),
            classic: Side::default(),
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
    fn catch_up(&mut self, now: f64) {
        while self.pi.due(now) {
            let delay = self
                .l4s
                .delay(self.pi.next)
                .max(self.classic.delay(self.pi.next));
            let empty = self.l4s.fifo.is_empty() && self.classic.fifo.is_empty();
            self.pi.update(delay, empty.then_some(now));
        }
    }

    /// The L queue's own probability of a mark, RFC 9332 Figure 7.
    fn native(&self, sojourn: f64) -> f64 {
        if self.l4s.fifo.waiting().packets <= self.min_queue {
            0.0
        } else if sojourn >= self.min_threshold + self.ramp {
            1.0
        } else {
            ((sojourn - self.min_threshold) / self.ramp).max(0.0)
        }
    }

    /// RFC 9332 Figure 9, lines 4 to 8: the packet that leaves the L queue, or the dropped one.
    fn from_l4s(&mut self, mut packet: Queued, now: f64) -> Result<Queued, Queued> {
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

    /// Lines 10 to 18: the same of the C queue.
    fn from_classic(&mut self, mut packet: Queued) -> Result<Queued, Queued> {
        let p = self.pi.p_classic();
        if self.classic.recurs(p) && (self.pi.overloaded(p) || !packet.mark_if_capable()) {
            return Err(packet);
        }
        Ok(packet)
    }
}

impl Queue for DualPi2 {
    fn enqueue(&mut self, packet: Queued, in_service: Backlog, dropped: &mut Vec<Queued>) {
        self.catch_up(packet.arrived);
        let present = self.waiting() + in_service;
        if self.limit.admits(present, packet.bytes()) == Verdict::Drop {
            dropped.push(packet);
        } else if self.is_l4s(packet.packet.ecn()) {
            self.l4s.fifo.push(packet);
        } else {
            self.classic.fifo.push(packet);
        }
    }

    fn dequeue(&mut self, now: f64, dropped: &mut Vec<Queued>) -> Next {
        self.catch_up(now);
        while let Some(side) = self.scheduler.next(&self.l4s.fifo, &self.classic.fifo) {
            let decided = match side {
                Turn::L4s => self.l4s.fifo.pop().map(|packet| self.from_l4s(packet, now)),
                Turn::Classic => self.classic.fifo.pop().map(|packet| self.from_classic(packet)),
            };
            match decided.expect("the scheduler chooses a queue with packets") {
                Ok(packet) => return Next::Packet(packet),
                Err(packet) => dropped.push(packet),
            }
        }
        Next::Empty
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
fn bytes_in(site: &Site, secs: f64) -> u64 {
    libm::round(site.rate.bps() * secs / 8.0).max(1.0) as u64
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
        let period = match params.get("t_update") {
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
            drops: params.choice("overload") == "drop",
            base: 0.0,
            previous: 0.0,
            count: 0.0,
            next: period,
        }
    }

    fn due(&self, now: f64) -> bool {
        self.next <= now
    }

    /// RFC 9332 Figure 6, with `delay` the time in queue. `idle_until`: nothing waits before this time, so that all further updates until
    /// then come at once when they change nothing.
    fn update(&mut self, delay: f64, idle_until: Option<f64>) {
        let change = self.alpha * (delay - self.target) + self.beta * (delay - self.previous);
        self.previous = delay;
        let most = if self.drops { 1.0 } else { self.k.recip().min(1.0) };
        self.base = (self.base + change).clamp(0.0, most);
        self.count += 1.0;
        if let (Some(until), true) = (idle_until, self.base == 0.0) {
            self.count = self.count.max(libm::floor(until / self.period));
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
enum Turn {
    L4s,
    Classic,
}

impl Scheduler {
    fn of(params: &Params) -> Self {
        match params.choice("scheduler") {
            "ts_fifo" => Self::TsFifo {
                shift: params.duration("time_shift"),
            },
            _ => Self::Wrr {
                share: params.number("classic_share"),
                credit: 0.0,
            },
        }
    }

    fn next(&mut self, l4s: &Fifo, classic: &Fifo) -> Option<Turn> {
        let (l4s, classic) = match (l4s.front(), classic.front()) {
            (Some(l4s), Some(classic)) => (l4s, classic),
            (only_l4s, only_classic) => {
                // Nobody has to be made up for having had no competitor.
                if let Self::Wrr { credit, .. } = self {
                    *credit = 0.0;
                }
                return only_l4s
                    .map(|_| Turn::L4s)
                    .or(only_classic.map(|_| Turn::Classic));
            }
        };
        match self {
            Self::Wrr { share, credit } => {
                let (l4s, classic) = (real(l4s), real(classic));
                // What the classic packet takes from the L queue has been sent by the L queue before.
                if *credit >= (1.0 - *share) * classic {
                    *credit -= (1.0 - *share) * classic;
                    Some(Turn::Classic)
                } else {
                    *credit += *share * l4s;
                    Some(Turn::L4s)
                }
            }
            Self::TsFifo { shift } => Some(if l4s.arrived - *shift <= classic.arrived {
                Turn::L4s
            } else {
                Turn::Classic
            }),
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "a packet's bytes")]
fn real(packet: &Queued) -> f64 {
    signed(packet.bytes()) as f64
}
