//! CAKE: a shaper, a queue per flow each under COBALT, and sparse flows first; all of it follows from a rate and a round-trip time.
//!
//! Specification: Høiland-Jørgensen, Täht and Morton, "Piece of CAKE: A Comprehensive Queue Management Solution for Home Gateways", LANMAN 2018;
//! tc-cake(8); what neither says, and `tc -s qdisc` of Linux 6.1 shows: target, interval, quantum and memory.
//!
//! Model:
//! - §III-A: packets leave no faster than `rate`, without bursts: the next one when the last would have been transmitted at that rate, with the
//!   `overhead`, the least size (`mpu`) and the `framing` of the link that is the real bottleneck
//! - §III-B: flows are hashed into sets of eight queues, and share one only if all eight are in use; queues share the bytes by a quantum, those
//!   that have just become active first (RFC 8290 §4.2), of 1/4096 s of the rate, 300 bytes at least and 1514 at most
//! - §III-D: each queue is under [`cobalt`](super::cobalt) with `rtt` for its interval and a twentieth of it for its target, which is the time
//!   of one and a half packets of 1514 bytes at least, and longer by as much is the interval then; what has waited for less than the time of four
//!   such packets is not signalled (measured on Linux 6.1: docs/validation/queues.md)
//! - a full buffer: packets of the queue with the most bytes are dropped from its head until the rest fits, and its BLUE is told. By default it
//!   holds four times what is sent in an `rtt`: at least 4 MiB, at most 10,240 packets of 1514 bytes
//!
//! Deviations: one tin (`besteffort`), as packets have no DiffServ field here; each flow has hosts of its own, so that fairness between hosts
//! is that between flows; acknowledgements are not filtered. Memory is counted in bytes on the wire, Linux's in those of its buffers. Bytes are
//! counted from the IP header on, Linux's `raw` from the Ethernet header on.
//!
//! Kernel equivalent: `cake besteffort raw`.

use super::cobalt::{Blue, Cobalt, CobaltConfig, DECREMENT, INCREMENT};
use super::drop_tail::{BufferLimit, LIMIT_IF_ANY};
use super::flows::{FlowQueues, QUEUES, exceeds};
use super::fq::FairQueues;
use super::{Backlog, Dequeued, NewQueue, Queue, QueuedPacket, Site};
use crate::registry::{Entry, Kind, Param, ParamKey, Params, Value, Words, param, words};
use crate::rng::RandomStream;
use crate::units::{ByteCount, Duration, Instant, Rate};

pub(super) const ENTRY: Entry<NewQueue> = Entry {
    name: "cake",
    summary: "shapes to a rate, a queue per flow under COBALT: one parameter sets all",
    specification: &[
        "Høiland-Jørgensen et al. 2018",
        "tc-cake(8)",
        "Palmei et al. 2019",
        "RFC 8290 §4",
    ],
    params: &[
        param!(rate: Kind::Rate => Value::None,
            "how fast packets leave; none, which only a table can say, is unlimited: as fast as the link takes them"),
        param!(rtt: Kind::Duration { min_exclusive: true } => Value::Duration(0.1),
            "round-trip time of the traffic that is to be shaped, to which COBALT's times are set"),
        param!(limit: Kind::QueueSize => Value::None,
            "buffer in bytes, packets or bandwidth-delay products; none is what follows from rate and round-trip time"),
        QUEUES,
        param!(overhead: Kind::Integer { min: -64, max: 256 } => Value::Integer(0),
            "bytes that the shaper adds to each packet"),
        param!(mpu: Kind::Integer { min: 0, max: 256 } => Value::Integer(0),
            "bytes that a packet counts for at least, with its overhead"),
        Param {
            name: "framing",
            summary: "what packets are put into below: nothing else, cells of ATM (53 bytes for 48), or blocks of PTM (65 for 64)",
            kind: Kind::Choice(Framing::WORDS),
            default: Value::Choice(Framing::None.word()),
        },
        INCREMENT,
        DECREMENT,
    ],
    new: |params, site| Box::new(Cake::new(params, site)),
};

words! {
    /// How packets are framed at the bottleneck.
    enum Framing {
        None = "none",
        Atm = "atm",
        Ptm = "ptm",
    }
}

const RATE: ParamKey<Option<Rate>> = ParamKey::new("rate");
const FRAMING: ParamKey<Framing> = ParamKey::new("framing");

/// Queues of a set.
const WAYS: usize = 8;
/// An Ethernet frame of full size.
const FULL_FRAME: f64 = 1514.0;
/// The least and the largest number of bytes that a queue sends per round.
const LEAST_QUANTUM: f64 = 300.0;
/// What the buffer holds at least, and how many full frames it holds at most.
const LEAST_MEMORY: f64 = (4 << 20) as f64;
const MOST_FRAMES: f64 = 10_240.0;

/// Sends no faster than its rate, and saves nothing up while nothing waits (§III-A).
#[derive(Debug)]
struct DeficitShaper {
    rate: Rate,
    overhead: f64,
    mpu: f64,
    framing: Framing,
    /// When the next packet may leave.
    next: Instant,
}

impl DeficitShaper {
    /// What a packet of this size costs, bytes.
    fn bytes(&self, size: ByteCount) -> f64 {
        let with = (size.as_f64() + self.overhead).max(self.mpu);
        match self.framing {
            Framing::None => with,
            Framing::Atm => (with / 48.0).ceil() * 53.0,
            Framing::Ptm => with + (with / 64.0).ceil(),
        }
    }

    fn leaves(&mut self, size: ByteCount, now: Instant) {
        let begin = if self.next < now { now } else { self.next };
        self.next = begin + Duration::from_secs(8.0 * self.bytes(size) / self.rate.bps());
    }
}

/// The discipline.
#[derive(Debug)]
struct Cake {
    shaper: Option<DeficitShaper>,
    limit: BufferLimit,
    config: CobaltConfig,
    queues: FairQueues<Cobalt>,
    stream: RandomStream,
}

impl Cake {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "bounded amounts of bytes"
    )]
    fn new(params: &Params, mut site: Site) -> Self {
        let rate = RATE.of(params);
        let bytes_per_sec = rate.map(|rate| rate.bps() / 8.0);
        let rtt = Duration::from_secs(params.duration("rtt"));
        let usual = rtt / 20.0;
        let frame = bytes_per_sec.map_or(0.0, |speed| FULL_FRAME / speed);
        let at_least = |usual: Duration, frames: f64| {
            let least = Duration::from_secs(frames * frame);
            if usual < least { least } else { usual }
        };
        let target = at_least(usual, 1.5);
        let quantum = bytes_per_sec.map_or(FULL_FRAME, |speed| {
            (speed / 4096.0).floor().clamp(LEAST_QUANTUM, FULL_FRAME)
        });
        let limit = LIMIT_IF_ANY.of(params).unwrap_or_else(|| {
            let held = bytes_per_sec.map_or(f64::INFINITY, |speed| 4.0 * speed * rtt.secs());
            let bytes = held.clamp(LEAST_MEMORY, MOST_FRAMES * FULL_FRAME) as u64;
            BufferLimit::Bytes(ByteCount::new(bytes))
        });
        let flows = FlowQueues::new(params, &mut site.stream).with_ways(WAYS);
        Self {
            shaper: rate.map(|rate| DeficitShaper {
                rate,
                overhead: params.integer("overhead") as f64,
                mpu: params.integer("mpu") as f64,
                framing: FRAMING.of(params),
                next: Instant::default(),
            }),
            limit,
            config: CobaltConfig {
                target,
                above: at_least(target, 4.0),
                interval: rtt + (target - usual),
                ecn: true,
                blue: Blue::of(params),
            },
            queues: FairQueues::of(flows, ByteCount::new(quantum as u64)),
            stream: site.stream,
        }
    }
}

impl Queue for Cake {
    fn enqueue(
        &mut self,
        packet: QueuedPacket,
        in_service: Backlog,
        dropped: &mut Vec<QueuedPacket>,
    ) {
        let now = packet.arrived;
        let id = self.queues.flows.of(&packet, Cobalt::default);
        self.queues.push(id, packet);
        while exceeds(self.limit, self.waiting() + in_service) {
            let fattest = self.queues.fattest().expect("a full buffer has packets");
            dropped.extend(self.queues.flows.pop(fattest));
            let queue = self.queues.flows.get(fattest);
            queue.aqm.on_overflow(&self.config, now);
        }
    }

    fn dequeue(&mut self, now: Instant, dropped: &mut Vec<QueuedPacket>) -> Dequeued {
        if let Some(shaper) = &self.shaper
            && now < shaper.next
            && self.waiting().packets > 0
        {
            return Dequeued::NotBefore(shaper.next);
        }
        let (config, stream) = (&self.config, &mut self.stream);
        let leave = |flows: &mut FlowQueues<Cobalt>, id| {
            flows.change(id, |queue| {
                queue
                    .aqm
                    .dequeue(config, &mut queue.fifo, stream, now, dropped)
            })
        };
        let packet = self.queues.next(leave);
        if let (Some(shaper), Some(packet)) = (&mut self.shaper, &packet) {
            shaper.leaves(packet.size(), now);
        }
        packet.into()
    }

    fn waiting(&self) -> Backlog {
        self.queues.flows.waiting()
    }

    fn marks(&self) -> bool {
        self.config.ecn
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{arrive, params};
    use super::*;
    use crate::units::testing::at;

    fn cake(values: &[(&str, Value)]) -> Cake {
        let site = Site {
            rate: Rate::from_bps(1e9),
            stream: RandomStream::new(1, "test"),
        };
        Cake::new(&params(&ENTRY, values), site)
    }

    /// A rate in Mbit/s and a round-trip time.
    fn shaped(mbps: f64, rtt: f64) -> Cake {
        cake(&[
            ("rate", Value::Rate(mbps * 1e6)),
            ("rtt", Value::Duration(rtt)),
        ])
    }

    #[test]
    fn target_interval_and_memory_are_what_tc_shows_of_linux() {
        // `tc -s qdisc show` of Linux 6.1: target and interval in milliseconds, memory in bytes.
        for (mbps, rtt, target, interval, memory) in [
            (0.5, 0.1, 36.3, 131.3, 4_194_304),
            (1.0, 0.1, 18.2, 113.2, 4_194_304),
            (20.0, 0.1, 5.0, 100.0, 4_194_304),
            (20.0, 0.01, 0.908, 10.4, 4_194_304),
            (100.0, 0.1, 5.0, 100.0, 5_000_000),
            (1000.0, 0.1, 5.0, 100.0, 15_503_360),
        ] {
            let made = shaped(mbps, rtt);
            let ms = |time: Duration| time.secs() * 1e3;
            assert!((ms(made.config.target) - target).abs() < 0.05, "{mbps}");
            assert!((ms(made.config.interval) - interval).abs() < 0.05, "{mbps}");
            assert_eq!(made.limit, BufferLimit::Bytes(ByteCount::new(memory)));
        }
    }

    #[test]
    fn what_has_waited_for_less_than_four_frames_is_not_signalled() {
        let above = |made: &Cake| made.config.above.secs();
        assert!((above(&shaped(2.0, 0.1)) - 4.0 * 1514.0 * 8.0 / 2e6).abs() < 1e-12);
        assert!((above(&shaped(100.0, 0.1)) - 0.005).abs() < 1e-12);
        assert!((above(&cake(&[])) - 0.005).abs() < 1e-12);
    }

    #[test]
    fn packets_leave_at_the_rate_and_idleness_is_not_saved_up() {
        // 1000 bytes at 8 Mbit/s are a millisecond.
        let mut queue = shaped(8.0, 0.1);
        let mut times = Vec::new();
        for begin in [0.0, 5.0] {
            for _ in 0..3 {
                arrive(&mut queue, 0, 1000, begin);
            }
            let mut now = at(begin);
            loop {
                match queue.dequeue(now, &mut Vec::new()) {
                    Dequeued::Packet(_) => times.push(format!("{:.6}", now.secs())),
                    Dequeued::NotBefore(time) => now = time,
                    Dequeued::Empty => break,
                }
            }
        }
        let expected = [0.0, 0.001, 0.002, 5.0, 5.001, 5.002];
        assert_eq!(times, expected.map(|time| format!("{time:.6}")));
    }

    #[test]
    fn sizes_are_those_of_the_link_below() {
        let bytes = |size: u32, overhead: i64, mpu: i64, framing: &'static str| {
            let made = cake(&[
                ("rate", Value::Rate(1e6)),
                ("overhead", Value::Integer(overhead)),
                ("mpu", Value::Integer(mpu)),
                ("framing", Value::Choice(framing)),
            ]);
            let shaper = made.shaper.expect("it has a rate");
            shaper.bytes(ByteCount::from(size))
        };
        assert_eq!(bytes(1500, 38, 84, "none"), 1538.0);
        assert_eq!(bytes(40, 38, 84, "none"), 84.0);
        assert_eq!(bytes(1500, -14, 0, "none"), 1486.0);
        // 1510 bytes are 32 cells of 48; one more than 48 bytes are two.
        assert_eq!(bytes(1500, 10, 0, "atm"), 32.0 * 53.0);
        assert_eq!(bytes(49, 0, 0, "atm"), 106.0);
        // 1530 bytes are 24 blocks of 64, each with a byte of its own.
        assert_eq!(bytes(1500, 30, 0, "ptm"), 1554.0);
    }

    #[test]
    fn a_full_buffer_drops_the_head_of_the_fattest_queue_and_tells_its_blue() {
        let mut queue = cake(&[("limit", Value::Bytes(5000))]);
        for flow in [0, 1, 1, 1, 0] {
            assert!(arrive(&mut queue, flow, 1000, 1.0).is_empty());
        }
        assert_eq!(arrive(&mut queue, 2, 1000, 1.0), [(1, 1)]);
        assert_eq!(queue.waiting().packets, 5);
    }
}
