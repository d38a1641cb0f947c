//! BBR, version 1: paces at the bottleneck's rate and bounds what is in flight by the path's capacity, both measured, instead of
//! filling the queue until it drops.
//!
//! Specification: Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00 §4.
//!
//! Model, in segments and seconds:
//! - `BtlBw` is the largest delivery rate of `bw_rounds` round trips, `RTprop` the smallest round-trip time of `min_rtt_window`;
//!   a sample limited by the application counts only if it is larger than `BtlBw`
//! - `pacing_rate = pacing_gain * BtlBw * (1 - pacing_margin)`; until the pipe is full it never falls
//! - `target_cwnd = cwnd_gain * BtlBw * RTprop + quanta * send_quantum`; `cwnd` goes there by what was delivered
//! - STARTUP: both gains are `high_gain`, until `BtlBw` has not grown by `full_bw_growth` in `full_bw_rounds` rounds
//! - DRAIN: pacing at `1 / high_gain`, until what is in flight fits the path
//! - PROBE_BW: a cycle of `cycle_phases` phases of one RTprop each; pacing at `probe_gain` in the first, at `drain_gain` in the
//!   second, at 1 in the others; the phase to begin with is any but the second, at random
//! - PROBE_RTT: when RTprop has not been seen for `min_rtt_window`, `min_cwnd` segments for `probe_rtt_duration` and a round trip
//! - loss: for one round trip as much is sent as is delivered; at the end of recovery the window is what it was before
//! - timeout: `cwnd = 1`, until the next acknowledgement
//!
//! Deviations: the maximum is exact, not that of three remembered samples. The margin (of the first rate, too), `on_undo`, and the end of
//! PROBE_RTT in an idle period are those of draft-ietf-ccwg-bbr (§5.6.2, §5.5.11.2, §5.4.1), as is the allowance for aggregated
//! acknowledgements (§5.5.9), which is off unless `extra_acked_gain` is above zero, and in STARTUP. Whole windows round the path's capacity
//! up. An echoed mark (RFC 3168) changes nothing, as the draft has it. Before the first delivery rate is known, the target is the initial
//! window.
//!
//! Kernel equivalent: `bbr`. Measured of Linux 6.1, acknowledgement by acknowledgement: the handshake's round-trip time is the first of
//! RTprop and gives the first rate (4.135 Mbit/s over 80.02 ms); windows are even once they are bounded (`even_windows`: 996, 104, 56
//! segments); when the pipe is full, and not before, the window also allows for aggregated acknowledgements, as presented at the IETF
//! (`extra_acked_gain = 1`: 44 instead of 40 segments over 10 Mbit/s and 20 ms); pacing is that of `tcp.pacing_free_start` and `tcp.pacing_credit`.
//! STARTUP, its losses and DRAIN are then the kernel's to within a segment or two; where the cycle of PROBE_BW begins is random on both
//! sides. It also has a detector of policers, which the draft does not specify and which is not modelled.

use std::collections::VecDeque;

use super::{Ack, CongestionControl, Episode, New, Probe, RateSample, Rates, Start, Windows};
use crate::registry::{Entry, Kind, Param, Params, Value};
use crate::rng::Stream;
use crate::units::{Instant, Rate};

pub const ENTRY: Entry<New> = Entry {
    name: "bbr",
    summary: "BBR version 1: paces at the measured rate of the bottleneck, whatever is lost",
    specification: &[
        "Cardwell et al. 2016",
        "draft-cardwell-iccrg-bbr-congestion-control-00 §4",
    ],
    params: &[
        Param {
            name: "high_gain",
            summary: "gain of rate and window in STARTUP; 2 / ln 2 doubles the rate in a round trip",
            kind: Kind::Number {
                min: 1.01,
                max: 100.0,
            },
            default: Value::Number(2.0 / std::f64::consts::LN_2),
        },
        Param {
            name: "cwnd_gain",
            summary: "window in PROBE_BW, in capacities of the path",
            kind: Kind::Number {
                min: 1.0,
                max: 100.0,
            },
            default: Value::Number(2.0),
        },
        Param {
            name: "probe_gain",
            summary: "gain of the rate in the first phase of PROBE_BW",
            kind: Kind::Number {
                min: 1.0,
                max: 100.0,
            },
            default: Value::Number(1.25),
        },
        Param {
            name: "drain_gain",
            summary: "gain of the rate in the second phase of PROBE_BW",
            kind: Kind::Number {
                min: 0.01,
                max: 1.0,
            },
            default: Value::Number(0.75),
        },
        Param {
            name: "cycle_phases",
            summary: "phases of a cycle of PROBE_BW",
            kind: Kind::Integer { min: 3, max: 1000 },
            default: Value::Integer(8),
        },
        Param {
            name: "bw_rounds",
            summary: "the bottleneck's rate is the largest of this many round trips",
            kind: Kind::Integer { min: 1, max: 1000 },
            default: Value::Integer(10),
        },
        Param {
            name: "full_bw_growth",
            summary: "the pipe is not full while the rate grows by this factor",
            kind: Kind::Number {
                min: 1.0,
                max: 10.0,
            },
            default: Value::Number(1.25),
        },
        Param {
            name: "full_bw_rounds",
            summary: "the pipe is full after this many round trips without such growth",
            kind: Kind::Integer { min: 1, max: 1000 },
            default: Value::Integer(3),
        },
        Param {
            name: "min_rtt_window",
            summary: "the path's delay is the smallest round-trip time of this long; then it is measured anew",
            kind: Kind::Duration {
                min_exclusive: true,
            },
            default: Value::Duration(10.0),
        },
        Param {
            name: "probe_rtt_duration",
            summary: "how long PROBE_RTT keeps the window small",
            kind: Kind::Duration {
                min_exclusive: false,
            },
            default: Value::Duration(0.2),
        },
        Param {
            name: "min_cwnd",
            summary: "smallest window, and that of PROBE_RTT, segments",
            kind: Kind::Number { min: 1.0, max: 1e6 },
            default: Value::Number(4.0),
        },
        Param {
            name: "pacing_margin",
            summary: "share by which the rate stays below the bottleneck's",
            kind: Kind::Number { min: 0.0, max: 0.5 },
            default: Value::Number(0.01),
        },
        Param {
            name: "quanta",
            summary: "bursts that the window allows for besides the path's capacity",
            kind: Kind::Number {
                min: 0.0,
                max: 100.0,
            },
            default: Value::Number(3.0),
        },
        Param {
            name: "even_windows",
            summary: "whether the window that keeps the path full is rounded up to an even number of segments",
            kind: Kind::Bool,
            default: Value::Bool(false),
        },
        Param {
            name: "one_segment_below",
            summary: "below this rate a burst is one segment",
            kind: Kind::Rate,
            default: Value::Rate(1.2e6),
        },
        Param {
            name: "two_segments_below",
            summary: "below this rate a burst is two segments",
            kind: Kind::Rate,
            default: Value::Rate(24e6),
        },
        Param {
            name: "quantum_duration",
            summary: "above that, a burst is what is sent in this time",
            kind: Kind::Duration {
                min_exclusive: true,
            },
            default: Value::Duration(1e-3),
        },
        Param {
            name: "quantum_max",
            summary: "and no more than this",
            kind: Kind::Bytes,
            default: Value::Bytes(65_536),
        },
        Param {
            name: "extra_acked_gain",
            summary: "share of the measured aggregation of acknowledgements that the window allows for",
            kind: Kind::Number {
                min: 0.0,
                max: 10.0,
            },
            default: Value::Number(0.0),
        },
        Param {
            name: "extra_acked_rounds",
            summary: "that aggregation is the largest of this many round trips",
            kind: Kind::Integer { min: 1, max: 1000 },
            default: Value::Integer(10),
        },
    ],
    new: |params, start| Box::new(Bbr::new(Parameters::from(params), start)),
};

#[derive(Clone, Copy, Debug)]
struct Parameters {
    high_gain: f64,
    cwnd_gain: f64,
    probe_gain: f64,
    drain_gain: f64,
    cycle_phases: i64,
    bw_rounds: u64,
    full_bw_growth: f64,
    full_bw_rounds: u64,
    min_rtt_window: f64,
    probe_rtt_duration: f64,
    min_cwnd: f64,
    pacing_margin: f64,
    quanta: f64,
    even_windows: bool,
    one_segment_below: f64,
    two_segments_below: f64,
    quantum_duration: f64,
    quantum_max: f64,
    extra_acked_gain: f64,
    extra_acked_rounds: u64,
}

impl From<&Params> for Parameters {
    fn from(params: &Params) -> Self {
        let rate = |name| match params.get(name) {
            Value::Rate(bps) => bps,
            other => panic!("{name} is {other:?}, not a rate"),
        };
        let count = |name| params.integer(name).unsigned_abs();
        Self {
            high_gain: params.number("high_gain"),
            cwnd_gain: params.number("cwnd_gain"),
            probe_gain: params.number("probe_gain"),
            drain_gain: params.number("drain_gain"),
            cycle_phases: params.integer("cycle_phases"),
            bw_rounds: count("bw_rounds"),
            full_bw_growth: params.number("full_bw_growth"),
            full_bw_rounds: count("full_bw_rounds"),
            min_rtt_window: params.duration("min_rtt_window"),
            probe_rtt_duration: params.duration("probe_rtt_duration"),
            min_cwnd: params.number("min_cwnd"),
            pacing_margin: params.number("pacing_margin"),
            quanta: params.number("quanta"),
            even_windows: params.flag("even_windows"),
            one_segment_below: rate("one_segment_below"),
            two_segments_below: rate("two_segments_below"),
            quantum_duration: params.duration("quantum_duration"),
            quantum_max: real(params.bytes("quantum_max")),
            extra_acked_gain: params.number("extra_acked_gain"),
            extra_acked_rounds: count("extra_acked_rounds"),
        }
    }
}

/// A count, to compute with.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) const fn real(count: u64) -> f64 {
    count as f64
}

/// The largest of the values of the last so many rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowedMax {
    /// Rounds and values, each value below the one before it.
    samples: VecDeque<(u64, f64)>,
}

impl WindowedMax {
    /// A sample of `round`, which is one of the last `window` rounds.
    pub fn add(&mut self, value: f64, round: u64, window: u64) {
        while self
            .samples
            .back()
            .is_some_and(|&(_, known)| known <= value)
        {
            self.samples.pop_back();
        }
        // A smaller value of the same round is never the largest: there is one sample a round, at most.
        if self.samples.back().is_none_or(|&(known, _)| known < round) {
            self.samples.push_back((round, value));
        }
        self.forget(round, window);
    }

    /// Drops what is older than the last `window` rounds, of which `round` is one; the last sample stays.
    pub fn forget(&mut self, round: u64, window: u64) {
        while self.samples.len() > 1
            && self
                .samples
                .front()
                .is_some_and(|&(then, _)| then + window <= round)
        {
            self.samples.pop_front();
        }
    }

    pub fn get(&self) -> f64 {
        self.samples.front().map_or(0.0, |&(_, value)| value)
    }
}

/// Round trips counted in segments: one ends when something arrives that was sent after the last one ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    pub count: u64,
    /// Segments delivered when this round began, and now.
    begun_at: u64,
    delivered: u64,
}

impl Rounds {
    /// Whether this acknowledgement starts a round.
    pub fn on_ack(&mut self, ack: &Ack) -> bool {
        let Some(rate) = ack.rate else {
            self.delivered += ack.delivered;
            return false;
        };
        self.delivered = rate.total_delivered;
        let starts = rate.prior_delivered >= self.begun_at;
        if starts {
            self.restart();
            self.count += 1;
        }
        starts
    }

    /// The round that runs now begins now.
    pub fn restart(&mut self) {
        self.begun_at = self.delivered;
    }

    /// Segments delivered over the connection's life.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }
}

/// How much more is acknowledged at once than the path's rate accounts for (draft-ietf-ccwg-bbr §5.5.9).
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    since: f64,
    delivered: f64,
    extra: WindowedMax,
}

impl Aggregation {
    pub fn on_ack(&mut self, ack: &Ack, bandwidth: f64, cwnd: f64, round: u64, window: u64) {
        let mut expected = bandwidth * (ack.now.secs() - self.since);
        if self.delivered <= expected {
            self.restart(ack.now);
            expected = 0.0;
        }
        self.delivered += real(ack.delivered);
        let extra = (self.delivered - expected).min(cwnd);
        self.extra.add(extra, round, window);
    }

    pub fn restart(&mut self, now: Instant) {
        self.delivered = 0.0;
        self.since = now.secs();
    }

    pub fn extra(&self) -> f64 {
        self.extra.get()
    }
}

/// Which samples of the rate say nothing, because the algorithm itself kept the window small while they were sent: what the draft
/// marks as limited by the application.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ignored(Option<(u64, u64)>);

impl Ignored {
    /// From what is sent now until all that is in the path now has arrived, nothing counts.
    pub fn mark(&mut self, delivered: u64, pipe: u64) {
        let until = delivered + pipe;
        self.0 = Some(match self.0 {
            Some((from, before)) if before >= delivered => (from, until),
            _ => (delivered, until),
        });
    }

    pub fn app_limited(&self, rate: &RateSample) -> bool {
        rate.app_limited
            || self
                .0
                .is_some_and(|(from, until)| (from..=until).contains(&rate.prior_delivered))
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Startup,
    Drain,
    ProbeBw { phase: i64, since: f64 },
    ProbeRtt { hold: Option<Hold> },
}

/// The small window of PROBE_RTT has been reached.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Hold {
    until: f64,
    round_done: bool,
}

/// What a loss has done to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    No,
    /// The next acknowledgement tells what is in the path.
    Begins,
    /// Its first round trip: as much is sent as is delivered.
    Conserves,
    Continues,
}

#[derive(Debug)]
pub struct Bbr {
    parameters: Parameters,
    start: Start,
    random: Stream,
    state: State,
    recovery: Recovery,
    rounds: Rounds,
    bandwidth: WindowedMax,
    /// Seconds; infinite before the first sample.
    rt_prop: f64,
    rt_prop_at: f64,
    full_bw: f64,
    full_bw_count: u64,
    filled_pipe: bool,
    aggregation: Aggregation,
    ignored: Ignored,
    idle_restart: bool,
    /// Bits per second.
    pacing_rate: f64,
    cwnd: f64,
    /// The window before a recovery or PROBE_RTT.
    prior_cwnd: f64,
    /// What was in the path after the last acknowledgement, and what that one delivered.
    pipe: u64,
    last_delivered: u64,
}

/// The round-trip time until there is one, seconds.
pub(super) const NOMINAL_RTT: f64 = 1e-3;

impl Bbr {
    fn new(parameters: Parameters, start: Start) -> Self {
        let mut bbr = Self {
            parameters,
            start,
            random: Stream::new(start.seed, "bbr"),
            state: State::Startup,
            recovery: Recovery::No,
            rounds: Rounds::default(),
            bandwidth: WindowedMax::default(),
            rt_prop: f64::INFINITY,
            rt_prop_at: 0.0,
            full_bw: 0.0,
            full_bw_count: 0,
            filled_pipe: false,
            aggregation: Aggregation::default(),
            ignored: Ignored::default(),
            idle_restart: false,
            pacing_rate: 0.0,
            cwnd: start.cwnd,
            prior_cwnd: 0.0,
            pipe: 0,
            last_delivered: 0,
        };
        bbr.pacing_rate = bbr.paced(start.cwnd / NOMINAL_RTT, parameters.high_gain);
        bbr
    }

    /// Bits per second at which `bandwidth` segments per second are paced.
    fn paced(&self, bandwidth: f64, gain: f64) -> f64 {
        let segment = f64::from(self.start.smss) * 8.0;
        gain * bandwidth * segment * (1.0 - self.parameters.pacing_margin)
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.parameters.high_gain,
            State::Drain => 1.0 / self.parameters.high_gain,
            State::ProbeBw { phase: 0, .. } => self.parameters.probe_gain,
            State::ProbeBw { phase: 1, .. } => self.parameters.drain_gain,
            State::ProbeBw { .. } | State::ProbeRtt { .. } => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => self.parameters.high_gain,
            State::ProbeBw { .. } => self.parameters.cwnd_gain,
            State::ProbeRtt { .. } => 1.0,
        }
    }

    /// Segments that leave in a burst (§4.2.2).
    fn send_quantum(&self) -> f64 {
        if self.pacing_rate < self.parameters.one_segment_below {
            return 1.0;
        }
        if self.pacing_rate < self.parameters.two_segments_below {
            return 2.0;
        }
        let bytes = self.pacing_rate / 8.0 * self.parameters.quantum_duration;
        let segments = bytes.min(self.parameters.quantum_max) / f64::from(self.start.smss);
        segments.floor().max(1.0)
    }

    /// Segments in flight that keep the path full at `gain` (§4.2.3.2).
    fn inflight(&self, gain: f64) -> f64 {
        let bandwidth = self.bandwidth.get();
        if self.rt_prop.is_infinite() || bandwidth == 0.0 {
            return self.start.cwnd;
        }
        let capacity = gain * bandwidth * self.rt_prop;
        let capacity = if self.start.whole_windows {
            capacity.ceil()
        } else {
            capacity
        };
        let window = capacity + self.parameters.quanta * self.send_quantum();
        if self.parameters.even_windows {
            (window / 2.0).ceil() * 2.0
        } else {
            window
        }
    }

    fn target_cwnd(&self) -> f64 {
        if !self.filled_pipe {
            return self.inflight(self.cwnd_gain());
        }
        let extra = self.parameters.extra_acked_gain * self.aggregation.extra();
        let extra = if self.start.whole_windows {
            extra.floor()
        } else {
            extra
        };
        self.inflight(self.cwnd_gain()) + extra
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = self.paced(self.bandwidth.get(), gain);
        if rate > 0.0 && (self.filled_pipe || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    fn update_bandwidth(&mut self, rate: &RateSample) {
        if rate.interval_secs <= 0.0 {
            return;
        }
        let (round, window) = (self.rounds.count, self.parameters.bw_rounds);
        let sample = rate.segments_per_sec();
        if sample >= self.bandwidth.get() || !self.ignored.app_limited(rate) {
            self.bandwidth.add(sample, round, window);
        }
    }

    fn check_full_pipe(&mut self, rate: &RateSample) {
        if self.filled_pipe || self.ignored.app_limited(rate) {
            return;
        }
        let bandwidth = self.bandwidth.get();
        if bandwidth >= self.full_bw * self.parameters.full_bw_growth {
            self.full_bw = bandwidth;
            self.full_bw_count = 0;
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= self.parameters.full_bw_rounds;
    }

    fn check_drain(&mut self, ack: &Ack) {
        if self.state == State::Startup && self.filled_pipe {
            self.state = State::Drain;
        }
        if self.state == State::Drain && real(ack.pipe) <= self.inflight(1.0) {
            self.enter_probe_bw(ack.now.secs());
        }
    }

    /// Any phase but the one that drains: there is nothing to drain yet (§4.3.4).
    fn enter_probe_bw(&mut self, now: f64) {
        let phases = self.parameters.cycle_phases;
        let before = phases - 1 - self.random.integer(0, phases - 1);
        self.state = State::ProbeBw {
            phase: (before + 1) % phases,
            since: now,
        };
    }

    fn check_cycle_phase(&mut self, ack: &Ack) {
        let State::ProbeBw { phase, since } = self.state else {
            return;
        };
        let now = ack.now.secs();
        let full_length = now - since > self.rt_prop;
        let gain = self.pacing_gain();
        let prior_inflight = real(ack.pipe + ack.delivered + ack.lost);
        let next = if gain > 1.0 {
            full_length && (ack.lost > 0 || prior_inflight >= self.inflight(gain))
        } else if gain < 1.0 {
            full_length || prior_inflight <= self.inflight(1.0)
        } else {
            full_length
        };
        if next {
            self.state = State::ProbeBw {
                phase: (phase + 1) % self.parameters.cycle_phases,
                since: now,
            };
        }
    }

    /// Whether RTprop had expired.
    fn update_rt_prop(&mut self, ack: &Ack) -> bool {
        let now = ack.now.secs();
        let Some(rtt) = ack.rtt_secs.filter(|&rtt| rtt > 0.0) else {
            return self.expired(now);
        };
        if self.rt_prop.is_infinite() {
            // Nothing can have expired before the first sample.
            self.rt_prop_at = now;
            self.pacing_rate = self.paced(self.start.cwnd / rtt, self.parameters.high_gain);
        }
        let expired = self.expired(now);
        if rtt <= self.rt_prop || expired {
            self.rt_prop = rtt;
            self.rt_prop_at = now;
        }
        expired
    }

    fn expired(&self, now: f64) -> bool {
        self.rt_prop.is_finite() && now - self.rt_prop_at > self.parameters.min_rtt_window
    }

    fn check_probe_rtt(&mut self, ack: &Ack, expired: bool, round_start: bool) {
        let probes = matches!(self.state, State::ProbeRtt { .. });
        if !probes && expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt { hold: None };
        }
        if let State::ProbeRtt { hold } = self.state {
            self.ignored.mark(self.rounds.delivered(), ack.pipe);
            if let Some(hold) = hold {
                self.state = State::ProbeRtt {
                    hold: Some(Hold {
                        round_done: hold.round_done || round_start,
                        ..hold
                    }),
                };
                self.check_probe_rtt_done(ack.now);
            } else if real(ack.pipe) <= self.parameters.min_cwnd {
                self.rounds.restart();
                self.state = State::ProbeRtt {
                    hold: Some(Hold {
                        until: ack.now.secs() + self.parameters.probe_rtt_duration,
                        round_done: false,
                    }),
                };
            }
        }
        if ack.delivered > 0 {
            self.idle_restart = false;
        }
    }

    fn check_probe_rtt_done(&mut self, now: Instant) {
        let State::ProbeRtt { hold: Some(hold) } = self.state else {
            return;
        };
        if !hold.round_done || now.secs() <= hold.until {
            return;
        }
        self.rt_prop_at = now.secs();
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.filled_pipe {
            self.enter_probe_bw(now.secs());
        } else {
            self.state = State::Startup;
        }
    }

    /// Remembers the last window that neither a recovery nor PROBE_RTT had made smaller (§4.2.3.4).
    fn save_cwnd(&mut self) {
        let untouched =
            self.recovery == Recovery::No && !matches!(self.state, State::ProbeRtt { .. });
        self.prior_cwnd = if untouched {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    fn update_cwnd(&mut self, ack: &Ack, round_start: bool) {
        let delivered = real(ack.delivered);
        let in_path = real(ack.pipe) + delivered;
        if ack.lost > 0 {
            self.cwnd = (self.cwnd - real(ack.lost)).max(1.0);
        }
        match self.recovery {
            Recovery::Begins => {
                self.cwnd = real(ack.pipe) + delivered.max(1.0);
                self.recovery = Recovery::Conserves;
                self.rounds.restart();
            }
            Recovery::Conserves if round_start => self.recovery = Recovery::Continues,
            Recovery::Conserves => self.cwnd = self.cwnd.max(in_path),
            Recovery::No | Recovery::Continues => {}
        }
        if self.recovery != Recovery::Conserves {
            let target = self.target_cwnd();
            let grown = self.cwnd + delivered;
            if self.filled_pipe {
                self.cwnd = grown.min(target);
            } else if self.cwnd < target || real(self.rounds.delivered()) < self.start.cwnd {
                self.cwnd = grown;
            }
            self.cwnd = self.cwnd.max(self.parameters.min_cwnd);
        }
        self.bound_for_probe_rtt();
    }

    fn bound_for_probe_rtt(&mut self) {
        if matches!(self.state, State::ProbeRtt { .. }) {
            self.cwnd = self.cwnd.min(self.parameters.min_cwnd);
        }
    }
}

impl CongestionControl for Bbr {
    fn on_ack(&mut self, ack: &Ack) {
        let round_start = self.rounds.on_ack(ack);
        if let Some(rate) = &ack.rate {
            self.update_bandwidth(rate);
        }
        if self.parameters.extra_acked_gain > 0.0 {
            let window = if self.filled_pipe {
                self.parameters.extra_acked_rounds
            } else {
                1
            };
            let (bandwidth, round) = (self.bandwidth.get(), self.rounds.count);
            self.aggregation
                .on_ack(ack, bandwidth, self.cwnd, round, window);
        }
        self.check_cycle_phase(ack);
        if let (true, Some(rate)) = (round_start, &ack.rate) {
            self.check_full_pipe(rate);
        }
        self.check_drain(ack);
        let expired = self.update_rt_prop(ack);
        self.check_probe_rtt(ack, expired, round_start);
        self.set_pacing_rate(self.pacing_gain());
        self.update_cwnd(ack, round_start);
        (self.pipe, self.last_delivered) = (ack.pipe, ack.delivered);
    }

    fn on_loss(&mut self, _loss: &Episode) {
        self.save_cwnd();
        self.recovery = Recovery::Begins;
        let in_path = real(self.pipe + self.last_delivered.max(1));
        self.cwnd = self.cwnd.min(in_path);
    }

    fn on_ecn(&mut self, _mark: &Episode) {}

    fn on_rto(&mut self, _rto: &Episode) {
        self.save_cwnd();
        self.recovery = Recovery::Continues;
        self.cwnd = 1.0;
    }

    fn on_undo(&mut self, before: Windows) {
        self.recovery = Recovery::No;
        self.cwnd = self.cwnd.max(self.prior_cwnd).max(before.cwnd);
        // The pause may have looked like a full pipe.
        (self.full_bw, self.full_bw_count) = (0.0, 0);
        self.bound_for_probe_rtt();
    }

    fn on_recovered(&mut self, _now: Instant) {
        if self.recovery == Recovery::No {
            return;
        }
        self.recovery = Recovery::No;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.bound_for_probe_rtt();
    }

    fn on_established(&mut self, initial_window: f64) {
        self.start.cwnd = initial_window;
        self.cwnd = initial_window;
        let rtt = if self.rt_prop.is_finite() {
            self.rt_prop
        } else {
            NOMINAL_RTT
        };
        self.pacing_rate = self.paced(initial_window / rtt, self.parameters.high_gain);
    }

    fn on_handshake(&mut self, now: Instant, rtt_secs: f64) {
        self.rt_prop = rtt_secs;
        self.rt_prop_at = now.secs();
    }

    fn on_restart(&mut self, now: Instant, _idle_secs: f64) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if matches!(self.state, State::ProbeBw { .. }) {
            self.set_pacing_rate(1.0);
        } else {
            self.check_probe_rtt_done(now);
        }
    }

    fn set_cwnd(&mut self, cwnd: f64) {
        self.cwnd = cwnd;
    }

    /// There is no threshold.
    fn set_ssthresh(&mut self, _ssthresh: f64) {}

    fn rates(&self) -> Rates {
        Rates::Needed
    }

    fn rules_recovery(&self) -> bool {
        true
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        f64::INFINITY
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bps(self.pacing_rate))
    }

    fn probe(&self, out: &mut Probe<'_>) {
        out("BtlBw", self.bandwidth.get());
        let known = self.rt_prop.is_finite();
        out("RTprop", if known { self.rt_prop } else { 0.0 });
        out("pacing_gain", self.pacing_gain());
        out("cwnd_gain", self.cwnd_gain());
        out("target_cwnd", self.target_cwnd());
        out("round_count", real(self.rounds.count));
        out("filled_pipe", f64::from(u8::from(self.filled_pipe)));
    }
}

/// A path to try algorithms on that live on rates: one bottleneck, one flow, and the delivery rate samples of its acknowledgements.
#[cfg(test)]
pub(super) mod path {
    use super::*;

    #[derive(Clone, Copy, Debug)]
    pub struct Path {
        /// Segments per second, and seconds there and back without a queue.
        pub rate: f64,
        pub rtt: f64,
        /// Segments that the queue holds, and from which on it marks.
        pub buffer: f64,
        pub mark_above: f64,
        /// Bytes in a segment, to turn rates of pacing into segments.
        pub smss: u32,
    }

    impl Path {
        pub const fn new(rate: f64, rtt: f64, buffer: f64) -> Self {
            Self {
                rate,
                rtt,
                buffer,
                mark_above: f64::INFINITY,
                smss: 1460,
            }
        }
    }

    /// What came of a run, in segments, or of its time since `watch_from`.
    #[derive(Clone, Copy, Debug, Default)]
    pub struct Outcome {
        pub delivered: u64,
        pub lost: u64,
        pub marked: u64,
        /// Segments per second delivered.
        pub goodput: f64,
        /// Mean of what each segment found queued.
        pub queue: f64,
        pub smallest_cwnd: f64,
    }

    #[derive(Clone, Copy)]
    struct Flying {
        seq: u64,
        sent_at: f64,
        acked_at: f64,
        lost: bool,
        marked: bool,
        /// When it was sent: the segments delivered, when the last was, when the first of its flight was sent, the losses, the pipe.
        delivered: u64,
        delivered_at: f64,
        first_sent_at: f64,
        total_lost: u64,
        pipe: u64,
    }

    /// Sends for `secs` seconds, as long as the window and the pacing allow; lost segments are not sent again.
    #[expect(clippy::too_many_lines, reason = "one event after the other")]
    pub fn run(cc: &mut dyn CongestionControl, path: Path, secs: f64, watch_from: f64) -> Outcome {
        let mut flying: VecDeque<Flying> = VecDeque::new();
        let (mut next_send, mut free_at) = (0.0_f64, 0.0_f64);
        let (mut seq, mut delivered, mut lost, mut pipe) = (0_u64, 0_u64, 0_u64, 0_u64);
        let (mut delivered_at, mut first_sent_at) = (0.0, 0.0);
        let mut recovers_at: Option<u64> = None;
        let mut outcome = Outcome {
            smallest_cwnd: f64::INFINITY,
            ..Outcome::default()
        };
        let (mut backlog, mut sends) = (0.0, 0_u64);
        let mut now = 0.0_f64;
        while now < secs {
            let ack_at = flying
                .iter()
                .find(|segment| !segment.lost)
                .map_or(f64::INFINITY, |segment| segment.acked_at);
            let send_at = if real(pipe) < cc.cwnd().floor() {
                next_send.max(now)
            } else {
                f64::INFINITY
            };
            assert!(ack_at.min(send_at).is_finite(), "stalled at {now}");
            now = ack_at.min(send_at);
            if send_at < ack_at {
                if pipe == 0 {
                    (first_sent_at, delivered_at) = (now, now);
                }
                let queued = ((free_at - now) * path.rate).max(0.0);
                let dropped = queued >= path.buffer;
                if !dropped {
                    free_at = free_at.max(now) + 1.0 / path.rate;
                }
                pipe += 1;
                flying.push_back(Flying {
                    seq,
                    sent_at: now,
                    acked_at: free_at + path.rtt,
                    lost: dropped,
                    marked: queued > path.mark_above,
                    delivered,
                    delivered_at,
                    first_sent_at,
                    total_lost: lost,
                    pipe,
                });
                seq += 1;
                if now >= watch_from {
                    backlog += queued;
                    sends += 1;
                }
                if let Some(rate) = cc.pacing_rate() {
                    next_send = now + f64::from(path.smss) * 8.0 / rate.bps();
                }
                continue;
            }
            // An acknowledgement: what was sent before it and has not arrived is lost.
            let mut newly_lost = 0;
            while flying.front().is_some_and(|segment| segment.lost) {
                flying.pop_front();
                newly_lost += 1;
            }
            let flight_size = pipe;
            let segment = flying.pop_front().expect("it was found above");
            pipe -= 1 + newly_lost;
            lost += newly_lost;
            delivered += 1;
            let interval =
                (segment.sent_at - segment.first_sent_at).max(now - segment.delivered_at);
            (delivered_at, first_sent_at) = (now, segment.sent_at);
            let at = Instant::from_secs(now);
            if newly_lost > 0 && recovers_at.is_none() {
                recovers_at = Some(seq);
                cc.on_loss(&Episode {
                    now: at,
                    window: cc.cwnd(),
                    flight_size,
                    whole_ssthresh: false,
                    ns2: false,
                });
            }
            let recovered = recovers_at.is_some_and(|until| segment.seq + 1 >= until);
            if recovered {
                recovers_at = None;
                cc.on_recovered(at);
            }
            cc.on_ack(&Ack {
                lost: newly_lost,
                marked: u64::from(segment.marked),
                pipe,
                snd_una: segment.seq + 1,
                snd_nxt: seq,
                rtt_secs: Some(now - segment.sent_at),
                may_grow: recovers_at.is_none(),
                rate: Some(RateSample {
                    delivered: delivered - segment.delivered,
                    interval_secs: interval,
                    prior_delivered: segment.delivered,
                    total_delivered: delivered,
                    lost: lost - segment.total_lost,
                    total_lost: lost,
                    pipe_at_send: segment.pipe,
                    app_limited: false,
                }),
                ..Ack::of(at, 1, flight_size)
            });
            if now >= watch_from {
                outcome.delivered += 1;
                outcome.lost += newly_lost;
                outcome.marked += u64::from(segment.marked);
                outcome.smallest_cwnd = outcome.smallest_cwnd.min(cc.cwnd());
            }
        }
        outcome.goodput = real(outcome.delivered) / (secs - watch_from);
        outcome.queue = backlog / real(sends.max(1));
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::path::{Path, run};
    use super::*;

    fn bbr(start: Start) -> Bbr {
        Bbr::new(Parameters::from(&Params::defaults(ENTRY.params)), start)
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-9 * right.abs()
    }

    /// Acknowledgements of one segment, each a round trip of its own, with the delivery rate that is told.
    struct Feed {
        now: f64,
        delivered: u64,
        rtt: f64,
        pipe: u64,
    }

    impl Feed {
        fn new() -> Self {
            Self {
                now: 1.0,
                delivered: 100,
                rtt: 0.1,
                pipe: 150,
            }
        }

        fn ack(&mut self, rate: f64) -> Ack {
            self.now += self.rtt;
            self.delivered += 1;
            Ack {
                pipe: self.pipe,
                rtt_secs: Some(self.rtt),
                rate: Some(RateSample {
                    delivered: 1,
                    interval_secs: 1.0 / rate,
                    prior_delivered: self.delivered - 1,
                    total_delivered: self.delivered,
                    lost: 0,
                    total_lost: 0,
                    pipe_at_send: self.pipe,
                    app_limited: false,
                }),
                ..Ack::of(Instant::from_secs(self.now), 1, self.pipe + 1)
            }
        }

        /// To PROBE_BW, with 1000 segments per second and 100 ms: 100 segments fit the path. 11.68 Mbit/s are sent in bursts of two
        /// segments, and three of those are allowed for.
        fn settle(&mut self, bbr: &mut Bbr) {
            for _ in 0..4 {
                bbr.on_ack(&self.ack(1000.0));
            }
            assert_eq!(bbr.state, State::Drain);
            self.pipe = 106;
            for _ in 0..200 {
                bbr.on_ack(&self.ack(1000.0));
            }
            assert!(matches!(bbr.state, State::ProbeBw { .. }));
            assert!(close(bbr.cwnd, 206.0), "2 * 100 + 3 * 2, not {}", bbr.cwnd);
        }
    }

    #[test]
    fn the_first_rate_is_that_of_the_initial_window_in_a_millisecond_and_then_in_a_round_trip() {
        // 2 / ln 2 = 2.88539; 10 segments of 1460 bytes are 116 800 bits: in 1 ms 116.8 Mbit/s, in 100 ms 1.168 Mbit/s.
        // Times the gain and 0.99: 333.6434 and 3.336434 Mbit/s.
        let mut bbr = bbr(Start::at(10.0));
        assert!((bbr.pacing_rate / 333.643_4e6 - 1.0).abs() < 1e-6);
        bbr.on_ack(&Ack {
            rtt_secs: Some(0.1),
            ..Ack::of(Instant::from_secs(0.1), 1, 10)
        });
        assert!((bbr.pacing_rate / 3.336_434e6 - 1.0).abs() < 1e-6);
    }

    #[test]
    fn the_handshake_ends_with_the_initial_window_and_its_rate() {
        let mut bbr = bbr(Start::at(1.0));
        bbr.on_established(10.0);
        assert!(close(bbr.cwnd, 10.0));
        assert!(
            (bbr.pacing_rate / 333.643_4e6 - 1.0).abs() < 1e-6,
            "as above"
        );
        bbr.on_handshake(Instant::from_secs(0.1), 0.1);
        bbr.on_established(10.0);
        assert!((bbr.pacing_rate / 3.336_434e6 - 1.0).abs() < 1e-6);
        assert!(close(bbr.rt_prop, 0.1));
        // Nothing is known of the path until so much has been delivered: the window grows by what is.
        bbr.on_ack(&Ack::of(Instant::from_secs(0.1), 1, 10));
        assert!(close(bbr.cwnd, 11.0));
    }

    #[test]
    fn the_pipe_is_full_after_three_rounds_with_less_than_a_quarter_more() {
        let (mut bbr, mut feed) = (bbr(Start::at(10.0)), Feed::new());
        // 100 begins; 124 is too little, the first; 125 is a quarter more than 100 and begins anew; 156 is 24.8 % more than that.
        for rate in [100.0, 124.0, 125.0, 156.0, 156.0] {
            bbr.on_ack(&feed.ack(rate));
        }
        // Rounds in which the application had too little to send tell nothing.
        for _ in 0..5 {
            let mut ack = feed.ack(150.0);
            ack.rate.as_mut().expect("it has one").app_limited = true;
            bbr.on_ack(&ack);
        }
        assert_eq!(bbr.full_bw_count, 2);
        assert!(!bbr.filled_pipe);
        bbr.on_ack(&feed.ack(156.0));
        assert!(bbr.filled_pipe);
        assert_eq!(bbr.state, State::Drain);
        assert!(close(bbr.pacing_gain(), std::f64::consts::LN_2 / 2.0));
        // 156 segments per second, 1460 bytes each, 1.822 Mbit/s; times 0.34657 and 0.99: 625.2 kbit/s.
        assert!((bbr.pacing_rate / 625.16e3 - 1.0).abs() < 1e-4);
    }

    #[test]
    fn draining_ends_when_what_is_in_flight_fits_the_path_and_three_bursts() {
        let (mut bbr, mut feed) = (bbr(Start::at(10.0)), Feed::new());
        for _ in 0..4 {
            bbr.on_ack(&feed.ack(1000.0));
        }
        // DRAIN paces 11.68 Mbit/s * 0.3466 * 0.99 = 4.0 Mbit/s, in bursts of two: 100 + 6 segments.
        feed.pipe = 107;
        bbr.on_ack(&feed.ack(1000.0));
        assert_eq!(bbr.state, State::Drain);
        feed.pipe = 106;
        bbr.on_ack(&feed.ack(1000.0));
        assert!(matches!(bbr.state, State::ProbeBw { .. }));
    }

    #[test]
    fn the_cycle_begins_anywhere_but_where_it_drains() {
        let mut begun = [0; 8];
        for seed in 0..200 {
            let mut bbr = bbr(Start {
                seed,
                ..Start::at(10.0)
            });
            bbr.enter_probe_bw(0.0);
            let State::ProbeBw { phase, .. } = bbr.state else {
                panic!("{:?}", bbr.state)
            };
            begun[usize::try_from(phase).expect("a phase")] += 1;
        }
        assert_eq!(begun[1], 0);
        // 200 / 7 = 29 each, with a standard deviation of 5.
        let others = [0, 2, 3, 4, 5, 6, 7].map(|phase| begun[phase]);
        assert!(others.iter().all(|&times| times > 9), "{begun:?}");
    }

    #[test]
    fn the_gain_cycle_is_one_up_one_down_and_six_even() {
        let (mut bbr, mut feed) = (bbr(Start::at(10.0)), Feed::new());
        feed.settle(&mut bbr);
        // More than the 125 + 6 that the first phase waits for; the second lasts its whole round trip then.
        feed.pipe = 140;
        bbr.state = State::ProbeBw {
            phase: 7,
            since: feed.now,
        };
        let mut gains = Vec::new();
        for _ in 0..16 {
            // A phase lasts longer than RTprop, so two acknowledgements of 60 ms.
            for _ in 0..2 {
                let ack = feed.ack(1000.0);
                feed.now -= 0.04;
                bbr.on_ack(&Ack {
                    now: Instant::from_secs(feed.now),
                    ..ack
                });
            }
            gains.push(bbr.pacing_gain());
        }
        let cycle = [1.25, 0.75, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
        assert_eq!(gains, [cycle, cycle].concat());
    }

    #[test]
    fn the_probe_lasts_until_what_it_aims_at_is_in_flight_or_something_is_lost() {
        let (mut bbr, mut feed) = (bbr(Start::at(10.0)), Feed::new());
        feed.settle(&mut bbr);
        bbr.state = State::ProbeBw {
            phase: 0,
            since: feed.now - 1.0,
        };
        // 1.25 * 100 + 3 * 2 = 131 before the acknowledgement, which took one.
        feed.pipe = 129;
        bbr.on_ack(&feed.ack(1000.0));
        assert!(close(bbr.pacing_gain(), 1.25));
        bbr.on_ack(&Ack {
            lost: 1,
            pipe: 100,
            ..feed.ack(1000.0)
        });
        assert!(close(bbr.pacing_gain(), 0.75));
    }

    #[test]
    fn the_rate_is_the_largest_of_ten_rounds_and_the_delay_the_smallest_of_ten_seconds() {
        let (mut bbr, mut feed) = (bbr(Start::at(10.0)), Feed::new());
        bbr.on_ack(&feed.ack(1000.0));
        for _ in 0..9 {
            bbr.on_ack(&feed.ack(500.0));
        }
        assert!(close(bbr.bandwidth.get(), 1000.0));
        bbr.on_ack(&feed.ack(500.0));
        assert!(close(bbr.bandwidth.get(), 500.0));
        let seen = feed.now;
        feed.rtt = 0.2;
        while feed.now < seen + 9.9 {
            bbr.on_ack(&feed.ack(500.0));
        }
        assert!(close(bbr.rt_prop, 0.1));
        bbr.on_ack(&feed.ack(500.0));
        assert!(close(bbr.rt_prop, 0.2));
    }

    #[test]
    fn the_delay_is_probed_with_four_segments_for_200_ms_and_the_window_comes_back() {
        let (mut bbr, mut feed) = (bbr(Start::at(10.0)), Feed::new());
        feed.settle(&mut bbr);
        let window = bbr.cwnd;
        bbr.rt_prop_at = feed.now - 10.0;
        feed.rtt = 0.11;
        bbr.on_ack(&feed.ack(1000.0));
        assert_eq!(bbr.state, State::ProbeRtt { hold: None });
        assert!(close(bbr.cwnd, 4.0));
        // It begins when no more than four are in flight.
        feed.pipe = 4;
        bbr.on_ack(&feed.ack(1000.0));
        let begun = feed.now;
        while feed.now <= begun + 0.2 {
            bbr.on_ack(&feed.ack(40.0));
            let small = matches!(bbr.state, State::ProbeRtt { .. });
            assert_eq!(small, feed.now <= begun + 0.2, "{}", feed.now - begun);
        }
        assert!(matches!(bbr.state, State::ProbeBw { .. }));
        // And one segment was delivered.
        assert!(close(bbr.cwnd, window + 1.0));
    }

    #[test]
    fn what_is_sent_while_the_delay_is_probed_tells_nothing_of_the_rate() {
        let (mut bbr, mut feed) = (bbr(Start::at(10.0)), Feed::new());
        feed.settle(&mut bbr);
        bbr.state = State::ProbeRtt { hold: None };
        bbr.parameters.probe_rtt_duration = 2.0;
        feed.pipe = 4;
        for _ in 0..15 {
            bbr.on_ack(&feed.ack(40.0));
        }
        assert!(close(bbr.bandwidth.get(), 1000.0), "after 15 rounds");
        bbr.state = State::Drain;
        // The one just delivered and four in the path are of that time, too; what is sent after those counts.
        for _ in 0..5 {
            bbr.on_ack(&feed.ack(40.0));
        }
        assert!(close(bbr.bandwidth.get(), 1000.0));
        bbr.on_ack(&feed.ack(40.0));
        assert!(close(bbr.bandwidth.get(), 40.0));
    }

    #[test]
    fn packets_are_conserved_for_a_round_and_the_window_is_restored_after_recovery() {
        let (mut bbr, mut feed) = (bbr(Start::at(10.0)), Feed::new());
        feed.settle(&mut bbr);
        bbr.on_loss(&Episode {
            now: Instant::from_secs(feed.now),
            window: bbr.cwnd,
            flight_size: 206,
            whole_ssthresh: false,
            ns2: false,
        });
        // Three lost, one delivered, 150 in the path: 151 may be.
        feed.pipe = 150;
        let in_round = |feed: &mut Feed| {
            let mut ack = feed.ack(1000.0);
            ack.rate.as_mut().expect("it has one").prior_delivered = 200;
            ack
        };
        bbr.on_ack(&Ack {
            lost: 3,
            ..in_round(&mut feed)
        });
        assert!(close(bbr.cwnd, 151.0));
        // Two lost and one delivered: 149, but what is delivered may be sent.
        feed.pipe = 149;
        bbr.on_ack(&Ack {
            lost: 2,
            ..in_round(&mut feed)
        });
        assert!(close(bbr.cwnd, 150.0));
        // The next round grows by what is delivered.
        bbr.on_ack(&feed.ack(1000.0));
        assert!(close(bbr.cwnd, 151.0));
        bbr.on_recovered(Instant::from_secs(feed.now));
        assert!(close(bbr.cwnd, 206.0));
    }

    #[test]
    fn a_timeout_leaves_one_segment_then_four_and_what_it_had_after_it() {
        let (mut bbr, mut feed) = (bbr(Start::at(10.0)), Feed::new());
        feed.settle(&mut bbr);
        bbr.on_rto(&Episode {
            now: Instant::from_secs(feed.now),
            window: bbr.cwnd,
            flight_size: 206,
            whole_ssthresh: false,
            ns2: false,
        });
        assert!(close(bbr.cwnd, 1.0));
        feed.pipe = 0;
        bbr.on_ack(&feed.ack(1000.0));
        assert!(close(bbr.cwnd, 4.0));
        bbr.on_recovered(Instant::from_secs(feed.now));
        assert!(close(bbr.cwnd, 206.0));
    }

    #[test]
    fn aggregated_acknowledgements_widen_the_window_where_they_count() {
        // 20 segments at once, where 1000 per second were expected: the next 20 ms none are due, so 20 are extra.
        let mut aggregation = Aggregation::default();
        aggregation.on_ack(
            &Ack::of(Instant::from_secs(1.0), 20, 100),
            1000.0,
            206.0,
            1,
            10,
        );
        assert!(close(aggregation.extra(), 20.0));
        // After 10 ms, 10 were expected, and 35 have come: 25 extra.
        aggregation.on_ack(
            &Ack::of(Instant::from_secs(1.01), 15, 100),
            1000.0,
            206.0,
            1,
            10,
        );
        assert!((aggregation.extra() - 25.0).abs() < 1e-6);
    }

    #[test]
    fn it_fills_a_path_and_leaves_its_queue_short() {
        for whole_windows in [false, true] {
            let mut bbr = bbr(Start {
                whole_windows,
                ..Start::at(10.0)
            });
            // 100 segments fit the path, and 500 the queue; a window fills both.
            let outcome = run(&mut bbr, Path::new(1000.0, 0.1, 500.0), 30.0, 5.0);
            assert!(outcome.goodput > 950.0, "{outcome:?}");
            assert!(outcome.queue < 30.0, "{outcome:?}");
            assert_eq!(outcome.lost, 0);
            // PROBE_RTT, twice in that time.
            assert!(close(outcome.smallest_cwnd, 4.0), "{outcome:?}");
            if whole_windows {
                assert!(close(bbr.cwnd, bbr.cwnd.floor()));
            }
        }
    }
    #[test]
    fn losses_do_not_slow_it_down() {
        // The queue holds a fifth of what fits the path, and STARTUP and every probe overflow it.
        let mut bbr = bbr(Start::at(10.0));
        let outcome = run(&mut bbr, Path::new(1000.0, 0.1, 20.0), 30.0, 5.0);
        assert!(outcome.lost > 50, "{outcome:?}");
        assert!(outcome.goodput > 900.0, "{outcome:?}");
    }

    #[test]
    fn section_4_2_2_a_burst_is_one_segment_two_or_what_a_millisecond_sends() {
        let mut bbr = bbr(Start::at(10.0));
        // 100 Mbit/s send 12 500 bytes in 1 ms: 8.56 segments. 1 Gbit/s would send 125 000, of which 65 536 are allowed: 44.9.
        for (rate, segments) in [
            (0.3e6, 1.0),
            (1.19e6, 1.0),
            (1.2e6, 2.0),
            (23.9e6, 2.0),
            (24e6, 2.0),
            (100e6, 8.0),
            (1e9, 44.0),
        ] {
            bbr.pacing_rate = rate;
            assert_eq!(bbr.send_quantum(), segments, "{rate}");
        }
    }

    #[test]
    fn even_windows_round_up_to_the_next_even_number() {
        let (mut bbr, mut feed) = (bbr(Start::at(10.0)), Feed::new());
        feed.settle(&mut bbr);
        bbr.parameters.even_windows = true;
        // 1.01 * 100 + 3 * 2 = 107, and 106 as it is.
        assert_eq!(bbr.inflight(1.01), 108.0);
        assert_eq!(bbr.inflight(1.0), 106.0);
    }

    #[test]
    fn a_rate_however_low_is_paced_once_the_pipe_is_full() {
        let mut bbr = bbr(Start::at(10.0));
        bbr.filled_pipe = true;
        // A segment in a day and more: 1e-5 * 11 680 bits, less a hundredth.
        bbr.bandwidth.add(1e-5, 1, 10);
        bbr.set_pacing_rate(1.0);
        assert!(close(bbr.pacing_rate, 0.115_632));
    }

    #[test]
    fn an_even_phase_lasts_its_round_trip_however_little_is_in_flight() {
        let (mut bbr, mut feed) = (bbr(Start::at(10.0)), Feed::new());
        feed.settle(&mut bbr);
        let even = State::ProbeBw {
            phase: 4,
            since: feed.now + 0.05,
        };
        bbr.state = even;
        // 50 ms of 100 have passed, and 10 segments are in flight of 106.
        feed.pipe = 10;
        bbr.on_ack(&feed.ack(1000.0));
        assert_eq!(bbr.state, even);
    }

    #[test]
    fn section_4_1_1_3_the_delay_has_expired_when_more_than_ten_seconds_have_passed() {
        let mut bbr = bbr(Start::at(10.0));
        bbr.on_handshake(Instant::from_secs(5.0), 0.1);
        assert!(!bbr.expired(15.0));
        assert!(bbr.expired(15.001));
    }

    #[test]
    fn section_4_2_3_4_a_loss_in_a_recovery_keeps_the_window_before_both() {
        let (mut bbr, mut feed) = (bbr(Start::at(10.0)), Feed::new());
        feed.settle(&mut bbr);
        let episode = Episode {
            now: Instant::from_secs(feed.now),
            window: bbr.cwnd,
            flight_size: 206,
            whole_ssthresh: false,
            ns2: false,
        };
        bbr.on_rto(&episode);
        bbr.on_loss(&episode);
        assert!(close(bbr.cwnd, 1.0));
        bbr.on_recovered(Instant::from_secs(feed.now));
        assert!(close(bbr.cwnd, 206.0));
    }

    #[test]
    fn with_the_allowance_the_window_is_wider_by_what_is_acknowledged_at_once() {
        let (mut bbr, mut feed) = (bbr(Start::at(10.0)), Feed::new());
        feed.settle(&mut bbr);
        bbr.parameters.extra_acked_gain = 1.0;
        // In the 100 ms since the last acknowledgement 100 were expected, so that counting begins: 21 at once are 21 more than none.
        bbr.on_ack(&Ack {
            delivered: 21,
            ..feed.ack(1000.0)
        });
        assert!(close(bbr.target_cwnd(), 227.0), "206 and 21");
        assert!(close(bbr.cwnd, 227.0));
    }
}
