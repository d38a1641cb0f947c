//! PIE: drops at arrival with a probability that a proportional integral controller derives from the queueing delay.
//!
//! Specification: RFC 8033, §4 and appendix A (the design), §5 and appendix B (the options, each with its own parameter). Scaling by packet size:
//! RFC 8034 appendix A.3.
//!
//! Model: every `update` the drop probability changes by `alpha (delay - target) + beta (delay - delay before)`, divided by 2 to 2048 while it is
//! small (§4.2); it decays by a fiftieth when there is no delay. An arriving packet is dropped with it, unless the burst allowance is not used up
//! (§4.4), or the delay is less than half the target and the probability below 0.2, or no more than two mean packets wait (§4.1). An ECN-capable
//! packet is marked instead while the probability is below `ecn_threshold` (§5.1). The delay is that of the packet that left last, or what waits
//! over the rate at which the queue has been seen to empty (§5.2). Updates are made at multiples of `update`.
//!
//! [`Pie`] is one queue's state; who keeps one per flow has one of each per flow.
//!
//! Options: `derandomise` (§5.4: no signal before probabilities add up to 0.85, one for certain at 8.5) and `cap_steps` (§5.5: at 0.1 and above
//! the probability rises by at most 0.02) are on, `active_above` (§5.3) is off, as it lets a third of the buffer fill first.
//!
//! Where the RFC contradicts itself: the probability decays as in §4.2 and appendix A, and not, as in appendix B, already while the delay is below
//! half the target; the departure rate is measured as in appendix B (§5.2 counts the packet that begins a measurement, and ends it with every
//! packet); a signal, mark or drop, begins the sum of §5.4 anew, which appendix B's indentation leaves open after a mark that is forced.
//! The time of a measurement is that of at least `rate_threshold` bytes and is taken for that of exactly as many, as in both: the delay comes
//! out longer by what the last packet has too much.
//!
//! Deviations: when nothing waits at an update the delay is 0. The RFC leaves open what a timestamp says of an empty queue, which would otherwise
//! keep the delay of the last packet for ever. `mean_packet` is not given there; its default is that of RFC 8034 §A.1.
//!
//! Kernel equivalent: `pie`.

use super::drop_tail::{BufferLimit, limit};
use super::{Admission, Backlog, Dequeued, Fifo, NewQueue, Queue, QueuedPacket};
use crate::registry::{Entry, Kind, Param, ParamKey, Params, Value, Words, param, words};
use crate::rng::RandomStream;
use crate::units::{ByteCount, Duration, Instant};

pub(super) const ENTRY: Entry<NewQueue> = Entry {
    name: "pie",
    summary: "keeps the delay at a target: drops at arrival with a controlled probability",
    specification: &["RFC 8033", "RFC 3168 §5"],
    params: &[
        limit(1000),
        TARGET,
        UPDATE,
        ALPHA,
        BETA,
        MAX_BURST,
        MEAN_PACKET,
        ECN,
        ECN_THRESHOLD,
        DELAY,
        RATE_THRESHOLD,
        DERANDOMISE,
        CAP_STEPS,
        ACTIVE_ABOVE,
        BYTE_MODE,
    ],
    new: |params, site| {
        let config = PieConfig::of(params);
        Box::new(PieQueue {
            limit: BufferLimit::of(params, "limit"),
            pie: Pie::new(&config),
            config,
            fifo: Fifo::new(),
            stream: site.stream,
        })
    },
};

pub(super) const TARGET: Param = param!(target: Kind::Duration { min_exclusive: true } => Value::Duration(0.015),
    "queueing delay that is steered towards (QDELAY_REF)");

pub(super) const UPDATE: Param = param!(update: Kind::Period => Value::Duration(0.015),
    "time between updates of the drop probability (T_UPDATE)");

pub(super) const ALPHA: Param = param!(alpha: Kind::Number { min: 0.0, max: 1000.0 } => Value::Number(0.125),
    "weight of the delay's distance from target, per second");

pub(super) const BETA: Param = param!(beta: Kind::Number { min: 0.0, max: 1000.0 } => Value::Number(1.25),
    "weight of the delay's change since the last update, per second");

pub(super) const MAX_BURST: Param = param!(max_burst: Kind::Duration { min_exclusive: false } => Value::Duration(0.15),
    "how long a burst that follows quiet is let through (MAX_BURST)");

pub(super) const MEAN_PACKET: Param = param!(mean_packet: Kind::Bytes => Value::Bytes(1024),
    "with no more than two of this size waiting nothing is dropped (MEAN_PKTSIZE)");

pub(super) const ECN: Param = param!(ecn: Kind::Bool => Value::Bool(true),
    "mark ECN-capable packets instead of dropping them, below ecn_threshold");

pub(super) const ECN_THRESHOLD: Param = param!(ecn_threshold: Kind::Number { min: 0.0, max: 1.0 } => Value::Number(0.1),
    "drop probability from which ECN-capable packets are dropped too (MAX_ECNTH)");

pub(super) const DELAY: Param = Param {
    name: DELAY_FROM.name,
    summary: "where the delay is taken from: timestamp, of the packet that left last, or departure_rate, by Little's law",
    kind: Kind::Choice(DelayFrom::WORDS),
    default: Value::Choice(DelayFrom::Timestamp.word()),
};

pub(super) const RATE_THRESHOLD: Param = param!(rate_threshold: Kind::Bytes => Value::Bytes(16_384),
    "with departure_rate: bytes whose departure is timed, which must wait at its beginning (DQ_THRESHOLD)");

pub(super) const DERANDOMISE: Param = param!(derandomise: Kind::Bool => Value::Bool(true),
    "keep drops apart: none until probabilities add up to 0.85, one for certain at 8.5");

pub(super) const CAP_STEPS: Param = param!(cap_steps: Kind::Bool => Value::Bool(true),
    "let the probability rise by 0.02 at most when it is 0.1 or more");

pub(super) const ACTIVE_ABOVE: Param = param!(active_above: Kind::Number { min: 0.0, max: 1.0 } => Value::Number(0.0),
    "share of limit that must wait before anything is done; the RFC's option has 1/3, and 0 is always");

pub(super) const BYTE_MODE: Param = param!(byte_mode: Kind::Bool => Value::Bool(false),
    "a packet's probability is in proportion to its size over mean_packet, up to 0.85");

words! {
    /// Where the delay is taken from.
    enum DelayFrom {
        Timestamp = "timestamp",
        DepartureRate = "departure_rate",
    }
}

const DELAY_FROM: ParamKey<DelayFrom> = ParamKey::new("delay");

/// What queues under PIE have in common.
#[derive(Clone, Copy, Debug)]
pub(super) struct PieConfig {
    limit: BufferLimit,
    target: f64,
    update: f64,
    alpha: f64,
    beta: f64,
    max_burst_ns: i64,
    update_ns: i64,
    mean_packet: ByteCount,
    /// ECN-capable packets are marked below this probability.
    mark_below: f64,
    delay: DelayFrom,
    rate_threshold: ByteCount,
    derandomise: bool,
    cap_steps: bool,
    active_above: f64,
    byte_mode: bool,
}

impl PieConfig {
    /// Of a row that has this file's parameters and `limit`.
    pub(super) fn of(params: &Params) -> Self {
        let ns = |name| Duration::from_secs(params.duration(name)).as_ns();
        Self {
            limit: BufferLimit::of(params, "limit"),
            target: params.duration("target"),
            update: params.duration("update"),
            alpha: params.number("alpha"),
            beta: params.number("beta"),
            max_burst_ns: ns("max_burst"),
            update_ns: ns("update"),
            mean_packet: ByteCount::new(params.bytes("mean_packet")),
            mark_below: if params.flag("ecn") {
                params.number("ecn_threshold")
            } else {
                0.0
            },
            delay: DELAY_FROM.of(params),
            rate_threshold: ByteCount::new(params.bytes("rate_threshold")),
            derandomise: params.flag("derandomise"),
            cap_steps: params.flag("cap_steps"),
            active_above: params.number("active_above"),
            byte_mode: params.flag("byte_mode"),
        }
    }

    /// Whether it ever marks.
    pub(super) fn marks(&self) -> bool {
        self.mark_below > 0.0
    }

    /// Whether what waits is enough to begin (§5.3).
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^53")]
    fn activates(&self, waiting: Backlog) -> bool {
        let (present, limit) = match self.limit {
            BufferLimit::Packets(limit) => (waiting.packets, limit),
            BufferLimit::Bytes(limit) => (waiting.bytes.get(), limit.get()),
        };
        present as f64 >= self.active_above * limit as f64
    }
}

/// What is to become of a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PieDecision {
    Enqueue,
    Mark,
    Drop,
}

/// Drop probabilities below the first number of a row are changed by so much less (§4.2).
const AUTO_TUNING: [(f64, f64); 6] = [
    (0.000_001, 2048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];

/// What PIE remembers of one queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pie {
    active: bool,
    /// The probability at which arriving packets are signalled.
    drop_prob: f64,
    /// Probabilities added up since the last signal (`accu_prob_`).
    accumulated: f64,
    /// The delay as last seen, and at the last update (`current_qdelay`, `qdelay_old_`).
    delay: f64,
    delay_old: f64,
    /// In nanoseconds, of which a whole number of updates makes it exactly 0.
    burst_allowance_ns: i64,
    /// Updates so far: the next is at `update` times one more.
    updates: u64,
    rate: DepartureRate,
}

impl Pie {
    pub(super) fn new(config: &PieConfig) -> Self {
        Self {
            active: config.active_above == 0.0,
            drop_prob: 0.0,
            accumulated: 0.0,
            delay: 0.0,
            delay_old: 0.0,
            burst_allowance_ns: config.max_burst_ns,
            updates: 0,
            rate: DepartureRate::default(),
        }
    }

    /// Makes the updates that are due by `now`, while `waiting` was in the queue. To be called before anything changes there.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_possible_wrap,
        reason = "counts of updates are far below 2^53"
    )]
    pub(super) fn catch_up(&mut self, config: &PieConfig, waiting: Backlog, now: Instant) {
        let now = now.secs();
        while (self.updates + 1) as f64 * config.update <= now {
            self.updates += 1;
            self.update(config, waiting);
            // From here on nothing changes but the burst allowance.
            if waiting.packets == 0 && self.drop_prob == 0.0 && self.delay_old == 0.0 {
                let due = (now / config.update) as u64;
                let more = due.saturating_sub(self.updates).saturating_sub(1);
                self.updates += more;
                let spent = (more as i64).saturating_mul(config.update_ns);
                self.burst_allowance_ns = (self.burst_allowance_ns - spent).max(0);
            }
        }
    }

    /// `calculate_drop_prob`.
    fn update(&mut self, config: &PieConfig, waiting: Backlog) {
        if waiting.packets == 0 {
            self.delay = 0.0;
        } else if config.delay == DelayFrom::DepartureRate {
            self.delay = self.rate.delay(config, waiting);
        }
        let mut step = config.alpha * (self.delay - config.target)
            + config.beta * (self.delay - self.delay_old);
        let tuning = AUTO_TUNING
            .iter()
            .find(|(below, _)| self.drop_prob < *below);
        if let Some((_, divisor)) = tuning {
            step /= divisor;
        }
        if config.cap_steps && self.drop_prob >= 0.1 {
            step = step.min(0.02);
        }
        self.drop_prob += step;
        if self.delay == 0.0 && self.delay_old == 0.0 {
            self.drop_prob *= 0.98;
        }
        self.drop_prob = self.drop_prob.clamp(0.0, 1.0);
        self.delay_old = self.delay;
        self.burst_allowance_ns = (self.burst_allowance_ns - config.update_ns).max(0);
    }

    /// There is no congestion (§4.4, §5.3).
    fn is_quiet(&self, config: &PieConfig) -> bool {
        let half = config.target / 2.0;
        self.drop_prob == 0.0 && self.delay < half && self.delay_old < half
    }

    /// Decides on a packet that arrives where `waiting` is, and for which there is room.
    pub(super) fn on_arrival(
        &mut self,
        config: &PieConfig,
        packet: &QueuedPacket,
        waiting: Backlog,
        stream: &mut RandomStream,
    ) -> PieDecision {
        if self.is_quiet(config) {
            self.burst_allowance_ns = config.max_burst_ns;
        }
        let spared = !self.active || self.burst_allowance_ns > 0;
        if spared || !self.drops_early(config, packet, waiting, stream) {
            return PieDecision::Enqueue;
        }
        self.accumulated = 0.0;
        if self.drop_prob < config.mark_below && packet.packet.ecn().is_capable() {
            PieDecision::Mark
        } else {
            PieDecision::Drop
        }
    }

    /// `drop_early` (§4.1, §5.4).
    fn drops_early(
        &mut self,
        config: &PieConfig,
        packet: &QueuedPacket,
        waiting: Backlog,
        stream: &mut RandomStream,
    ) -> bool {
        let unhurried = self.delay_old < config.target / 2.0 && self.drop_prob < 0.2;
        if unhurried || waiting.bytes <= config.mean_packet * 2 {
            return false;
        }
        let probability = if config.byte_mode {
            let scale = packet.size().as_f64() / config.mean_packet.as_f64();
            (self.drop_prob * scale).min(0.85)
        } else {
            self.drop_prob
        };
        if config.derandomise {
            if self.drop_prob == 0.0 {
                self.accumulated = 0.0;
            }
            self.accumulated += probability;
            if self.accumulated < 0.85 {
                return false;
            }
            if self.accumulated >= 8.5 {
                return true;
            }
        }
        stream.uniform() < probability
    }

    /// A packet has been dropped for want of room.
    pub(super) fn on_overflow(&mut self) {
        self.accumulated = 0.0;
    }

    /// What waits after an arrival: it may be enough to begin, or there may be nothing left to do (§5.3).
    pub(super) fn after_arrival(&mut self, config: &PieConfig, waiting: Backlog) {
        if config.active_above == 0.0 {
            return;
        }
        if !self.active && config.activates(waiting) {
            *self = Self {
                active: true,
                updates: self.updates,
                ..Self::new(config)
            };
        } else if self.active && self.is_quiet(config) && !config.activates(waiting) {
            self.active = false;
        }
    }

    /// A packet leaves at `now`; `waiting` is what stays.
    pub(super) fn on_departure(
        &mut self,
        config: &PieConfig,
        packet: &QueuedPacket,
        waiting: Backlog,
        now: Instant,
    ) {
        match config.delay {
            DelayFrom::Timestamp => self.delay = packet.sojourn(now).secs(),
            DelayFrom::DepartureRate => {
                self.rate.on_departure(config, packet.size(), waiting, now);
            }
        }
    }
}

/// How fast a queue empties (§5.2).
#[derive(Clone, Copy, Debug, Default)]
struct DepartureRate {
    /// When the measurement in progress began, and bytes that have left since (`start_`, `dq_count_`).
    measurement: Option<(Instant, ByteCount)>,
    /// Average time in which `rate_threshold` bytes leave; 0 before the first measurement (`avg_dq_time_`).
    average: f64,
}

impl DepartureRate {
    fn on_departure(
        &mut self,
        config: &PieConfig,
        size: ByteCount,
        waiting: Backlog,
        now: Instant,
    ) {
        if let Some((start, left)) = &mut self.measurement {
            *left += size;
            if *left >= config.rate_threshold {
                let time = (now - *start).secs();
                if self.average == 0.0 {
                    self.average = time;
                } else {
                    let weight = (config.rate_threshold.as_f64() / 65_536.0).min(1.0);
                    self.average += weight * (time - self.average);
                }
                self.measurement = None;
            }
        }
        if self.measurement.is_none() && waiting.bytes >= config.rate_threshold {
            self.measurement = Some((now, ByteCount::ZERO));
        }
    }

    fn delay(&self, config: &PieConfig, waiting: Backlog) -> f64 {
        waiting.bytes.as_f64() * self.average / config.rate_threshold.as_f64()
    }
}

/// One queue under PIE.
#[derive(Debug)]
struct PieQueue {
    limit: BufferLimit,
    config: PieConfig,
    pie: Pie,
    fifo: Fifo,
    stream: RandomStream,
}

impl Queue for PieQueue {
    fn enqueue(
        &mut self,
        mut packet: QueuedPacket,
        in_service: Backlog,
        dropped: &mut Vec<QueuedPacket>,
    ) {
        let waiting = self.fifo.waiting();
        self.pie.catch_up(&self.config, waiting, packet.arrived);
        if self.limit.admits(waiting + in_service, packet.size()) == Admission::Drop {
            self.pie.on_overflow();
            dropped.push(packet);
            return;
        }
        let decision = self
            .pie
            .on_arrival(&self.config, &packet, waiting, &mut self.stream);
        if decision == PieDecision::Drop {
            dropped.push(packet);
        } else {
            if decision == PieDecision::Mark {
                packet.mark_if_capable();
            }
            self.fifo.push(packet);
        }
        self.pie.after_arrival(&self.config, self.fifo.waiting());
    }

    fn dequeue(&mut self, now: Instant, _dropped: &mut Vec<QueuedPacket>) -> Dequeued {
        self.pie.catch_up(&self.config, self.fifo.waiting(), now);
        let packet = self.fifo.pop();
        if let Some(packet) = &packet {
            self.pie
                .on_departure(&self.config, packet, self.fifo.waiting(), now);
        }
        packet.into()
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

    fn config(values: &[(&str, Value)]) -> PieConfig {
        PieConfig::of(&params(&ENTRY, values))
    }

    fn close(found: f64, expected: f64) {
        assert!(
            (found - expected).abs() < 1e-9 * expected.abs().max(1e-3),
            "{found}, not {expected}"
        );
    }

    const LONG: Backlog = Backlog {
        packets: 100,
        bytes: ByteCount::new(100_000),
    };

    /// The drop probability after an update.
    fn updated(drop_prob: f64, delay: f64, delay_old: f64) -> f64 {
        let config = config(&[]);
        let mut pie = Pie {
            drop_prob,
            delay,
            delay_old,
            ..Pie::new(&config)
        };
        pie.update(&config, LONG);
        assert_eq!(pie.delay_old, delay);
        pie.drop_prob
    }

    #[test]
    fn rfc8033_4_2_the_probability_follows_the_delay_and_its_change() {
        // 0.125 (0.03 - 0.015) + 1.25 (0.03 - 0) = 0.001875 + 0.0375 = 0.039375, while below 10^-6 a 2048th of it.
        close(updated(0.0, 0.03, 0.0), 0.039_375 / 2048.0);
        close(updated(0.000_005, 0.03, 0.0), 0.000_005 + 0.039_375 / 512.0);
        close(updated(0.000_05, 0.03, 0.0), 0.000_05 + 0.039_375 / 128.0);
        close(updated(0.000_5, 0.03, 0.0), 0.000_5 + 0.039_375 / 32.0);
        close(updated(0.005, 0.03, 0.0), 0.005 + 0.039_375 / 8.0);
        close(updated(0.05, 0.03, 0.0), 0.05 + 0.039_375 / 2.0);
        // At a steady 30 ms only the first term is left; it falls with the delay.
        close(updated(0.3, 0.03, 0.03), 0.3 + 0.001_875);
        close(updated(0.3, 0.02, 0.03), 0.3 + 0.000_625 - 0.012_5);
        assert_eq!(updated(0.000_001, 0.0, 0.1), 0.0, "not below 0");
    }

    #[test]
    fn rfc8033_4_2_it_decays_by_a_fiftieth_when_there_is_no_delay() {
        // 0.125 (0 - 0.015) / 2 = -0.0009375.
        close(updated(0.05, 0.0, 0.0), (0.05 - 0.000_937_5) * 0.98);
    }

    #[test]
    fn rfc8033_5_5_from_a_tenth_on_it_rises_by_a_fiftieth_at_most() {
        // 0.125 x 0.485 + 1.25 x 0.4 = 0.560625.
        close(updated(0.1, 0.5, 0.1), 0.12);
        close(updated(0.09, 0.5, 0.1), 0.09 + 0.560_625 / 2.0);
    }

    #[test]
    fn updates_are_made_at_multiples_of_their_period_and_an_idle_queue_catches_up_at_once() {
        let config = config(&[]);
        let mut pie = Pie::new(&config);
        pie.catch_up(&config, LONG, at(0.014_999));
        assert_eq!(pie.updates, 0);
        pie.catch_up(&config, LONG, at(0.046));
        assert_eq!(pie.updates, 3);
        let empty = Backlog::default();
        let mut patient = pie;
        for step in 0..1000 {
            patient.catch_up(&config, empty, at(0.05 + f64::from(step) * 0.01));
        }
        pie.catch_up(&config, empty, at(0.05 + 9.99));
        assert_eq!(format!("{pie:?}"), format!("{patient:?}"));
    }

    #[test]
    fn rfc8033_4_4_a_burst_after_quiet_is_let_through_for_its_allowance() {
        let config = config(&[]);
        let mut stream = RandomStream::new(1, "pie");
        let mut pie = Pie {
            drop_prob: 1.0,
            delay: 0.1,
            delay_old: 0.1,
            ..Pie::new(&config)
        };
        let mut arrive = |pie: &mut Pie| {
            let arriving = packet(0, 1000, Ecn::NotEct, 0.0);
            pie.on_arrival(&config, &arriving, LONG, &mut stream)
        };
        // 150 ms are ten updates of 15 ms.
        for _ in 0..10 {
            assert_eq!(arrive(&mut pie), PieDecision::Enqueue);
            pie.update(&config, LONG);
        }
        assert_eq!(pie.burst_allowance_ns, 0);
        assert_eq!(arrive(&mut pie), PieDecision::Drop);
        // Quiet: probability 0, and both delays below half the target.
        (pie.drop_prob, pie.delay, pie.delay_old) = (0.0, 0.007, 0.007);
        arrive(&mut pie);
        assert_eq!(pie.burst_allowance_ns, 150_000_000);
    }

    /// A state in which nothing but the probability decides.
    fn congested(config: &PieConfig, drop_prob: f64) -> Pie {
        Pie {
            drop_prob,
            delay: 0.03,
            delay_old: 0.03,
            burst_allowance_ns: 0,
            ..Pie::new(config)
        }
    }

    #[test]
    fn rfc8033_4_1_nothing_is_dropped_while_the_delay_or_the_queue_is_small() {
        let config = config(&[
            ("derandomise", Value::Bool(false)),
            ("ecn", Value::Bool(false)),
        ]);
        let decide = |drop_prob, delay_old, bytes| {
            let mut pie = Pie {
                delay_old,
                ..congested(&config, drop_prob)
            };
            let waiting = Backlog {
                packets: 9,
                bytes: ByteCount::new(bytes),
            };
            let mut stream = RandomStream::new(3, "pie");
            let drops = (0..2000).filter(|_| {
                let arriving = packet(0, 1000, Ecn::Ect0, 0.0);
                pie.on_arrival(&config, &arriving, waiting, &mut stream) == PieDecision::Drop
            });
            drops.count()
        };
        assert_eq!(decide(0.19, 0.007, 90_000), 0);
        // 2000 x 0.2 with a standard deviation of 18.
        assert!(decide(0.2, 0.007, 90_000).abs_diff(400) < 72);
        assert!(decide(0.19, 0.008, 90_000).abs_diff(380) < 72);
        assert_eq!(decide(1.0, 0.03, 2048), 0);
        assert_eq!(decide(1.0, 0.03, 2049), 2000);
    }

    #[test]
    fn rfc8033_5_1_capable_packets_are_marked_below_the_threshold_and_dropped_above() {
        let config = config(&[("derandomise", Value::Bool(false))]);
        let outcomes = |drop_prob, ecn| {
            let mut pie = congested(&config, drop_prob);
            let mut stream = RandomStream::new(3, "pie");
            let mut found: Vec<PieDecision> = Vec::new();
            for _ in 0..1000 {
                let decision =
                    pie.on_arrival(&config, &packet(0, 1000, ecn, 0.0), LONG, &mut stream);
                if decision != PieDecision::Enqueue && !found.contains(&decision) {
                    found.push(decision);
                }
            }
            found
        };
        assert_eq!(outcomes(0.099, Ecn::Ect0), [PieDecision::Mark]);
        assert_eq!(outcomes(0.1, Ecn::Ect0), [PieDecision::Drop]);
        assert_eq!(outcomes(0.099, Ecn::NotEct), [PieDecision::Drop]);
    }

    #[test]
    fn rfc8033_5_4_signals_are_neither_too_close_nor_too_far_apart() {
        let config = config(&[]);
        let mut pie = congested(&config, 0.01);
        let mut stream = RandomStream::new(3, "pie");
        let (mut gap, mut gaps) = (0, Vec::new());
        while gaps.len() < 20_000 {
            gap += 1;
            let arriving = packet(0, 1000, Ecn::NotEct, 0.0);
            if pie.on_arrival(&config, &arriving, LONG, &mut stream) == PieDecision::Drop {
                gaps.push(gap);
                gap = 0;
            }
        }
        // 0.85 / 0.01 packets at least, 8.5 / 0.01 at most; one more where the sum is rounded. Of 20,000 gaps 200 have the least.
        let (least, most) = (gaps.iter().min(), gaps.iter().max());
        assert!((85..=86).contains(least.expect("gaps")), "{least:?}");
        assert!((850..=851).contains(most.expect("gaps")), "{most:?}");
        // 84 or 85 packets, then on average 100 (99.95, as they end at 850): with a standard deviation of 100 / sqrt(20,000) = 0.7.
        let mean = f64::from(gaps.iter().sum::<u32>()) / 20_000.0;
        assert!((mean - 184.5).abs() < 0.5 + 4.0 * 0.7, "{mean}");
    }

    #[test]
    fn rfc8033_4_1_without_derandomisation_a_packet_is_dropped_with_the_probability() {
        let config = config(&[("derandomise", Value::Bool(false))]);
        for probability in [0.02, 0.3, 0.9] {
            let mut pie = congested(&config, probability);
            let mut stream = RandomStream::new(5, "pie");
            let drops = (0..400_000).filter(|_| {
                let arriving = packet(0, 1000, Ecn::NotEct, 0.0);
                pie.on_arrival(&config, &arriving, LONG, &mut stream) == PieDecision::Drop
            });
            let found = u32::try_from(drops.count()).expect("fits");
            let expected = 400_000.0 * probability;
            let deviation = (expected * (1.0 - probability)).sqrt();
            assert!(
                (f64::from(found) - expected).abs() < 4.0 * deviation,
                "{found}"
            );
        }
    }

    #[test]
    fn rfc8034_a_3_in_byte_mode_the_probability_is_in_proportion_to_the_packet() {
        let config = config(&[
            ("derandomise", Value::Bool(false)),
            ("byte_mode", Value::Bool(true)),
            ("mean_packet", Value::Bytes(1000)),
        ]);
        // 0.4 x 500 / 1000, 0.4 x 1500 / 1000, and 0.4 x 9000 / 1000 = 3.6, of which 0.85 are left.
        for (bytes, probability) in [(500, 0.2), (1500, 0.6), (9000, 0.85)] {
            let mut pie = congested(&config, 0.4);
            let mut stream = RandomStream::new(5, "pie");
            let drops = (0..400_000).filter(|_| {
                let arriving = packet(0, bytes, Ecn::NotEct, 0.0);
                pie.on_arrival(&config, &arriving, LONG, &mut stream) == PieDecision::Drop
            });
            let found = u32::try_from(drops.count()).expect("fits");
            // A binomial's standard deviation is below 0.5 sqrt(400,000) = 316.
            assert!(
                (f64::from(found) - 400_000.0 * probability).abs() < 4.0 * 316.0,
                "{found}"
            );
        }
    }

    #[test]
    fn rfc8033_appendix_a_a_queue_that_builds_up_and_drains_computed_by_hand() {
        // calculate_drop_prob() with the defaults: p += (0.125 (delay - 0.015) + 1.25 (delay - old)) / divisor. Delays of 20, 40, 40 and 10 ms:
        //   0.125 x  0.005 + 1.25 x  0.020 =  0.025625,   / 2048 (p = 0)             p = 0.000012512207031
        //   0.125 x  0.025 + 1.25 x  0.020 =  0.028125,   /  128 (0.00001 to 0.0001) p = 0.000232238769531
        //   0.125 x  0.025 + 0             =  0.003125,   /   32 (0.0001 to 0.001)   p = 0.000329895019531
        //   0.125 x -0.005 - 1.25 x  0.030 = -0.038125,   /   32                     p = 0 (-0.00086)
        let config = config(&[]);
        let mut pie = Pie::new(&config);
        for (delay, expected) in [
            (0.02, 0.000_012_512_207_031),
            (0.04, 0.000_232_238_769_531),
            (0.04, 0.000_329_895_019_531),
            (0.01, 0.0),
        ] {
            pie.delay = delay;
            pie.update(&config, LONG);
            let found = pie.drop_prob;
            assert!((found - expected).abs() < 1e-14, "{found}, not {expected}");
        }
    }

    #[test]
    fn rfc8033_5_2_the_departure_rate_turns_what_waits_into_a_delay() {
        let config = config(&[("delay", Value::Choice("departure_rate"))]);
        let mut pie = Pie::new(&config);
        // A packet of 1000 bytes leaves every 8 ms. The first one leaves 39,000 bytes and starts the clock; with the 17th after it 17,000 bytes
        // have left, of the 16,384 that are timed, after 136 ms.
        for number in 0..=17_u32 {
            let waiting = Backlog {
                packets: 39,
                bytes: ByteCount::new(39_000),
            };
            let now = f64::from(number) * 0.008;
            pie.on_departure(
                &config,
                &packet(0, 1000, Ecn::NotEct, 0.0),
                waiting,
                at(now),
            );
        }
        close(pie.rate.average, 0.136);
        pie.update(&config, LONG);
        close(pie.delay, 100_000.0 * 0.136 / 16_384.0);
        // The next one takes half as long: a quarter (2^14 / 2^16) of the way.
        for number in 1..=17_u32 {
            let now = 0.136 + f64::from(number) * 0.004;
            pie.on_departure(&config, &packet(0, 1000, Ecn::NotEct, 0.0), LONG, at(now));
        }
        close(pie.rate.average, 0.75 * 0.136 + 0.25 * 0.068);
    }

    #[test]
    fn rfc8033_5_3_it_begins_when_a_share_of_the_buffer_is_full_and_ends_when_all_is_quiet() {
        let config = config(&[
            ("limit", Value::Packets(30)),
            ("active_above", Value::Number(1.0 / 3.0)),
        ]);
        let backlog = |packets| Backlog {
            packets,
            bytes: ByteCount::new(1000 * packets),
        };
        let mut pie = congested(&config, 1.0);
        assert!(!pie.active);
        let mut stream = RandomStream::new(3, "pie");
        let arriving = packet(0, 1000, Ecn::NotEct, 0.0);
        for _ in 0..9 {
            assert_eq!(
                pie.on_arrival(&config, &arriving, LONG, &mut stream),
                PieDecision::Enqueue
            );
        }
        pie.after_arrival(&config, backlog(9));
        assert!(!pie.active);
        pie.after_arrival(&config, backlog(10));
        assert!(pie.active && pie.drop_prob == 0.0 && pie.burst_allowance_ns == 150_000_000);
        pie.delay = 0.03;
        pie.after_arrival(&config, backlog(5));
        assert!(pie.active);
        pie.delay = 0.007;
        pie.after_arrival(&config, backlog(5));
        assert!(!pie.active);
    }

    #[test]
    fn rfc8033_4_2_the_change_is_divided_by_the_row_whose_bound_the_probability_is_below() {
        // 0.125 (0.03 - 0.015), as the delay stays.
        let change = 0.001_875;
        let rows = [
            (0.000_001, 2048.0),
            (0.000_01, 512.0),
            (0.000_1, 128.0),
            (0.001, 32.0),
            (0.01, 8.0),
            (0.1, 2.0),
        ];
        let next = rows[1..].iter().map(|row| row.1).chain([1.0]);
        for ((bound, divisor), beyond) in rows.into_iter().zip(next) {
            let rise = |probability| updated(probability, 0.03, 0.03) - probability;
            assert!(
                (rise(bound * 0.999) - change / divisor).abs() < 1e-12,
                "{bound}"
            );
            assert!((rise(bound) - change / beyond).abs() < 1e-12, "{bound}");
        }
    }

    #[test]
    fn rfc8033_4_2_the_probability_is_one_at_most() {
        assert_eq!(updated(0.99, 0.5, 0.1), 1.0);
    }

    #[test]
    fn rfc8033_5_4_probabilities_add_up_from_nought_while_there_is_one() {
        let config = config(&[]);
        let mut stream = RandomStream::new(3, "pie");
        let arriving = packet(0, 1000, Ecn::NotEct, 0.0);
        let mut pie = Pie {
            accumulated: 0.5,
            ..congested(&config, 0.0)
        };
        pie.on_arrival(&config, &arriving, LONG, &mut stream);
        assert_eq!(pie.accumulated, 0.0);
        let mut pie = Pie {
            accumulated: 0.5,
            ..congested(&config, 0.1)
        };
        pie.on_arrival(&config, &arriving, LONG, &mut stream);
        close(pie.accumulated, 0.6);
        pie.on_overflow();
        assert_eq!(pie.accumulated, 0.0);
    }

    #[test]
    fn without_ecn_or_with_no_threshold_it_never_marks() {
        assert!(config(&[]).marks());
        assert!(!config(&[("ecn", Value::Bool(false))]).marks());
        assert!(!config(&[("ecn_threshold", Value::Number(0.0))]).marks());
    }

    #[test]
    fn rfc8033_4_and_5_defaults_are_those_of_the_rfc() {
        let params = params(&ENTRY, &[]);
        assert_eq!(params.duration("target"), 0.015, "QDELAY_REF");
        assert_eq!(params.duration("update"), 0.015, "T_UPDATE");
        assert_eq!(params.duration("max_burst"), 0.15, "MAX_BURST");
        assert_eq!(params.number("alpha"), 0.125);
        assert_eq!(params.number("beta"), 1.25);
        assert_eq!(params.number("ecn_threshold"), 0.1, "MAX_ECNTH");
        assert_eq!(params.bytes("rate_threshold"), 1 << 14, "DQ_THRESHOLD");
        assert_eq!(params.bytes("mean_packet"), 1024, "RFC 8034 A.1");
    }

    #[test]
    fn an_idle_queue_is_brought_up_to_date_as_if_step_by_step() {
        let config = config(&[]);
        // A probability that has not gone yet falls by 0.125 * 0.015 and a fiftieth with each of 66 updates until 1 s.
        let mut pie = congested(&config, 0.5);
        (pie.delay, pie.delay_old) = (0.0, 0.0);
        let mut slowly = pie;
        pie.catch_up(&config, Backlog::default(), at(1.0));
        for _ in 0..66 {
            slowly.update(&config, Backlog::default());
        }
        assert_eq!(pie.updates, 66);
        assert!(pie.drop_prob > 0.0);
        assert_eq!(pie.drop_prob, slowly.drop_prob);
        // A burst's allowance of 150 ms is spent in ten updates of 15 ms, whether packets wait or not.
        let mut pie = Pie::new(&config);
        pie.catch_up(&config, Backlog::default(), at(0.06));
        assert_eq!(pie.burst_allowance_ns, 90_000_000);
        pie.catch_up(&config, Backlog::default(), at(10.0));
        assert_eq!((pie.updates, pie.burst_allowance_ns), (666, 0));
    }

    #[test]
    fn updates_may_be_more_than_a_second_apart() {
        let config = config(&[("update", Value::Duration(2.0))]);
        let mut pie = Pie::new(&config);
        pie.catch_up(&config, Backlog::default(), at(7.0));
        assert_eq!(pie.updates, 3);
        pie.catch_up(&config, Backlog::default(), at(101.0));
        assert_eq!(pie.updates, 50);
    }

    #[test]
    fn only_an_empty_queue_has_no_delay() {
        let config = config(&[]);
        let delay = |packets| {
            let mut pie = congested(&config, 0.1);
            pie.update(
                &config,
                Backlog {
                    packets,
                    bytes: ByteCount::new(1000 * packets),
                },
            );
            pie.delay
        };
        assert_eq!((delay(0), delay(1), delay(2)), (0.0, 0.03, 0.03));
    }

    #[test]
    fn rfc8033_4_4_it_is_quiet_while_both_delays_are_below_half_the_target() {
        let config = config(&[]);
        let quiet = |drop_prob, delay, delay_old| {
            let pie = Pie {
                delay,
                delay_old,
                ..congested(&config, drop_prob)
            };
            pie.is_quiet(&config)
        };
        // Half of 15 ms.
        assert!(quiet(0.0, 0.007_4, 0.007_4));
        assert!(!quiet(0.0, 0.007_5, 0.0) && !quiet(0.0, 0.0, 0.007_5));
        assert!(!quiet(0.0, 0.008, 0.0) && !quiet(0.0, 0.0, 0.008));
        assert!(!quiet(1e-9, 0.0, 0.0));
    }

    #[test]
    fn rfc8033_4_1_with_a_delay_of_less_than_half_the_target_small_probabilities_drop_nothing() {
        let config = config(&[("derandomise", Value::Bool(false))]);
        let mut stream = RandomStream::new(3, "pie");
        let mut drops = |delay_old| {
            let mut pie = Pie {
                delay_old,
                ..congested(&config, 0.199)
            };
            (0..400).any(|_| {
                let arriving = packet(0, 1000, Ecn::NotEct, 0.0);
                pie.on_arrival(&config, &arriving, LONG, &mut stream) == PieDecision::Drop
            })
        };
        assert!(!drops(0.007_4) && drops(0.007_5), "half of 15 ms");
    }

    #[test]
    fn the_last_nanosecond_of_an_allowance_lets_a_packet_through() {
        let config = config(&[("derandomise", Value::Bool(false))]);
        let mut stream = RandomStream::new(3, "pie");
        for (allowance, decision) in [(1, PieDecision::Enqueue), (0, PieDecision::Drop)] {
            let mut pie = Pie {
                burst_allowance_ns: allowance,
                ..congested(&config, 1.0)
            };
            let arriving = packet(0, 1000, Ecn::NotEct, 0.0);
            assert_eq!(
                pie.on_arrival(&config, &arriving, LONG, &mut stream),
                decision
            );
        }
    }

    #[test]
    fn rfc8033_5_3_a_buffer_may_have_to_be_full_before_it_begins() {
        let config = config(&[
            ("limit", Value::Packets(10)),
            ("active_above", Value::Number(1.0)),
        ]);
        let mut pie = Pie::new(&config);
        for packets in [9, 10] {
            let waiting = Backlog {
                packets,
                bytes: ByteCount::new(1000 * packets),
            };
            pie.after_arrival(&config, waiting);
            assert_eq!(pie.active, packets == 10);
        }
    }

    #[test]
    fn of_the_packets_that_arrive_only_those_decided_upon_are_marked() {
        let config = config(&[("derandomise", Value::Bool(false))]);
        let mut queue = PieQueue {
            limit: BufferLimit::Packets(1_000_000),
            config,
            pie: congested(&config, 0.09),
            fifo: Fifo::new(),
            stream: RandomStream::new(3, "pie"),
        };
        let mut dropped = Vec::new();
        for number in 0..10_010 {
            // All before the first update.
            let arriving = packet(number, 1000, Ecn::Ect0, 0.0);
            queue.enqueue(arriving, Backlog::default(), &mut dropped);
        }
        assert!(dropped.is_empty());
        let mut marked = 0_u32;
        while let Some(left) = queue.fifo.pop() {
            marked += u32::from(left.packet.ecn() == Ecn::Ce);
        }
        // 900 of 10,000 with a standard deviation of 29; while no more than 2048 bytes wait, none.
        assert!(marked.abs_diff(900) < 4 * 29, "{marked}");
    }

    #[test]
    fn rfc8033_5_4_and_rfc8034_a_3_what_adds_up_is_the_probability_of_the_packets_size_and_decides_from_0_85_to_8_5()
     {
        let drops = |values: &[(&str, Value)], drop_prob, accumulated, bytes| {
            let config = config(values);
            let mut stream = RandomStream::new(3, "pie");
            let arriving = packet(0, bytes, Ecn::NotEct, 0.0);
            let mut sum = 0.0;
            let drops = (0..200).filter(|_| {
                let mut pie = Pie {
                    accumulated,
                    ..congested(&config, drop_prob)
                };
                let drops = pie.drops_early(&config, &arriving, LONG, &mut stream);
                sum = pie.accumulated;
                drops
            });
            (drops.count(), sum)
        };
        // Below 0.85 none of 200 is dropped, from 8.5 on every one, and between them three of ten.
        assert_eq!(drops(&[], 0.3, 0.5, 1000), (0, 0.8));
        assert!((40..80).contains(&drops(&[], 0.3, 0.56, 1000).0));
        assert!((40..80).contains(&drops(&[], 0.3, 8.1, 1000).0));
        assert_eq!(drops(&[], 0.3, 8.25, 1000).0, 200);
        // Of 0.4: times a half, one and a half, and nine, of which 0.85 are left.
        let by_size = [
            ("byte_mode", Value::Bool(true)),
            ("mean_packet", Value::Bytes(1000)),
        ];
        for (bytes, probability) in [(500, 0.2), (1500, 0.6), (9000, 0.85)] {
            close(drops(&by_size, 0.4, 0.0, bytes).1, probability);
        }
        close(drops(&[], 0.4, 0.0, 9000).1, 0.4);
    }
}
