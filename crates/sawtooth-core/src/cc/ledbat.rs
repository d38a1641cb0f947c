//! LEDBAT: a background flow, which keeps the delay that it queues up near a target and gives way to everybody else.
//!
//! Specification: RFC 6817 §2.4 (`variant = "rfc6817"`); draft-irtf-iccrg-ledbat-plus-plus-01 §4 (`variant = "plus_plus"`, LEDBAT++).
//!
//! Model, in segments:
//! - `base`: the least delay of the last `base_history` minutes; `delay`: the least of the last `current_filter` samples that
//!   are no older than a round trip, less `base`
//! - rfc6817: `cwnd += gain (target - delay) / target * acked / cwnd`, at most `flight_size + allowed_increase`, at least `min_cwnd`
//! - plus_plus: `GAIN = 1 / min(gain_divisor_max, ceil(2 target / base))`
//!   - slow start: `cwnd += GAIN * acked`; the first one ends when `delay > exit_share * target`
//!   - per round trip, spread over its acknowledgements: `delay <= target`: `cwnd += GAIN`; else
//!     `cwnd += max(GAIN - constant * cwnd (delay / target - 1), -cwnd / 2)`
//!   - slowdown: `slowdown_rtts` round trips after the first slow start, `ssthresh = cwnd`, `cwnd = min_cwnd` for `slowdown_rtts` round trips, then slow
//!     start to `ssthresh`; the next begins `slowdown_interval` times as long after its end as all of that took
//! - loss: `cwnd = window * beta`, at least `min_cwnd`; timeout: `cwnd = 1`
//!
//! Deviations: the simulator has no one-way timestamps yet, so the queueing delay is the round-trip time less its least value: queues
//! on the way back count, too, as LEDBAT++ has it and RFC 6817 does not. RFC 6817 has no `ssthresh`: what is reported as such follows
//! the losses, and there is no slow start. A loss during a LEDBAT++ slowdown ends it; its first slow start, if a loss or a timeout
//! ends it, is followed by the slowdown as well. After a timeout LEDBAT++ is in slow start up to half of the window.
//!
//! Kernel equivalent: none.

#[cfg(test)]
mod tests;

use super::params::{BETA, COUNT, TIME};
use std::collections::VecDeque;

use super::{
    AckedData, Algorithm, CongestionControl, CongestionWindow, ConnectionStart, Episode,
    Prescribed, Signal, Windows,
};
use crate::registry::{Entry, Kind, Params, Value, param};
use crate::units::{Duration, Instant, SeqNum, WindowSize};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "ledbat",
    summary: "LEDBAT: a background flow that keeps its queueing delay near a target",
    specification: &["RFC 6817 §2.4", "draft-irtf-iccrg-ledbat-plus-plus-01 §4"],
    params: &[
        param!(variant: Kind::Choice(&["rfc6817", "plus_plus"]) => Value::Choice("rfc6817"),
            "LEDBAT as in RFC 6817, or LEDBAT++"),
        param!(target: TIME => Value::None,
            "queueing delay aimed at; `none`: 100 ms, of LEDBAT++ 60 ms"),
        param!(gain: Kind::Number { min: 0.001, max: 1.0 } => Value::Number(1.0),
            "rfc6817: segments per round trip gained without delay"),
        param!(allowed_increase: Kind::Number { min: 0.001, max: 1e6 } => Value::Number(1.0),
            "rfc6817: segments by which the window may exceed what is outstanding"),
        param!(base_history: COUNT => Value::Integer(10),
            "minutes for which the least delay is remembered"),
        param!(current_filter: COUNT => Value::Integer(4),
            "samples of which the least is the current delay"),
        param!(init_cwnd: Kind::Number { min: 1.0, max: 10.0 } => Value::Number(2.0),
            "initial window, segments"),
        param!(min_cwnd: Kind::Number { min: 1.0, max: 10.0 } => Value::Number(2.0),
            "least window, segments"),
        BETA,
        param!(gain_divisor_max: Kind::Number { min: 1.0, max: 1e6 } => Value::Number(16.0),
            "plus_plus: GAIN is at least one over this"),
        param!(constant: Kind::Number { min: 0.001, max: 1e3 } => Value::Number(1.0),
            "plus_plus: share of the window given up per round trip when the delay is twice the target"),
        param!(exit_share: Kind::Number { min: 0.001, max: 1.0 } => Value::Number(0.75),
            "plus_plus: the first slow start ends at this share of the target"),
        param!(slowdown_rtts: COUNT => Value::Integer(2),
            "plus_plus: round trips before the first slowdown, and at the least window in each"),
        param!(slowdown_interval: Kind::Number { min: 0.0, max: 1e6 } => Value::Number(9.0),
            "plus_plus: time between slowdowns, over the duration of the last"),
    ],
    new: Algorithm::of(|params, start| Box::new(Ledbat::new(params, start))),
};

/// The least delays of the last minutes and the last samples, seconds.
#[derive(Clone, Debug)]
struct DelayHistory {
    minutes: usize,
    samples: usize,
    /// The first sample, from which minutes are counted, and the present minute.
    since: Option<Instant>,
    minute: f64,
    base: VecDeque<f64>,
    /// The last samples, and when each was taken.
    current: VecDeque<(Instant, f64)>,
}

impl DelayHistory {
    fn new(minutes: usize, samples: usize) -> Self {
        Self {
            minutes,
            samples,
            since: None,
            minute: 0.0,
            base: VecDeque::new(),
            current: VecDeque::new(),
        }
    }

    fn observe(&mut self, now: Instant, sample_secs: f64) {
        let since = *self.since.get_or_insert(now);
        let minute = ((now.secs() - since.secs()) / 60.0).floor();
        // A minute without a sample has no least delay, but displaces the oldest minute.
        while self.base.is_empty() || self.minute < minute {
            self.minute = if self.base.is_empty() {
                minute
            } else {
                self.minute + 1.0
            };
            self.base.push_back(f64::INFINITY);
            if self.base.len() > self.minutes {
                self.base.pop_front();
            }
        }
        if let Some(least) = self.base.back_mut() {
            *least = least.min(sample_secs);
        }
        self.current.push_back((now, sample_secs));
        // None older than a round trip (RFC 6817 §2.5): a sender that times few segments would follow the delay long after.
        let older = |&(heard, _): &(Instant, f64)| now.secs() - heard.secs() > sample_secs;
        while self.current.len() > self.samples || self.current.front().is_some_and(older) {
            self.current.pop_front();
        }
    }

    fn base_secs(&self) -> f64 {
        self.base.iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The queueing delay; none before the first sample.
    fn queueing_secs(&self) -> Option<f64> {
        let samples = self.current.iter().map(|&(_, sample_secs)| sample_secs);
        let current = samples.reduce(f64::min)?;
        // A base that is younger than the samples of the filter may exceed them.
        Some((current - self.base_secs()).max(0.0))
    }
}

/// What both variants share.
#[derive(Debug)]
struct Common {
    target_secs: f64,
    min_cwnd: f64,
    beta: f64,
    window: CongestionWindow,
    delays: DelayHistory,
}

impl Common {
    fn set_to_at_least_the_minimum(&mut self, cwnd: f64) {
        self.window.cwnd = cwnd.max(self.min_cwnd);
    }
}

/// Where LEDBAT++ is in its cycle.
#[derive(Clone, Copy, Debug, PartialEq)]
enum SlowdownPhase {
    /// The first slow start, which ends when there is delay.
    FirstStart,
    /// Around the target; the first slowdown is due in so many round trips.
    BeforeFirst { round_trips: i64 },
    /// Around the target; the next slowdown is due at this time.
    Until(Instant),
    /// At the least window for so many round trips more.
    Down { began: Instant, round_trips: i64 },
    /// Slow start back to where the slowdown began.
    Up { began: Instant },
    /// Slow start after a timeout.
    Restart,
}

#[derive(Debug)]
struct PlusPlus {
    gain_divisor_max: f64,
    constant: f64,
    exit_share: f64,
    slowdown_rtts: i64,
    slowdown_interval: f64,
    phase: SlowdownPhase,
    /// A round trip is over when this has been acknowledged.
    end: SeqNum,
}

impl PlusPlus {
    fn gain(&self, common: &Common) -> f64 {
        let base_secs = common.delays.base_secs();
        let divisor = (2.0 * common.target_secs / base_secs).ceil().max(1.0);
        1.0 / divisor.min(self.gain_divisor_max)
    }

    /// What a round trip adds to the window, for a queueing delay.
    fn change(&self, common: &Common, queueing_secs: f64) -> f64 {
        let gain = self.gain(common);
        if queueing_secs <= common.target_secs {
            return gain;
        }
        let excess = queueing_secs / common.target_secs - 1.0;
        (gain - self.constant * common.window.cwnd * excess).max(-0.5 * common.window.cwnd)
    }

    fn on_ack(&mut self, common: &mut Common, ack: &AckedData, acked: f64) {
        let Some(queueing_secs) = common.delays.queueing_secs() else {
            return;
        };
        if ack.snd_una >= self.end {
            self.end = ack.snd_nxt;
            self.on_round_trip();
        }
        if self.slowdown_is_due(ack.now) {
            common.window.ssthresh = common.window.cwnd.max(2.0);
            common.window.cwnd = common.min_cwnd;
            self.end = ack.snd_nxt;
            self.phase = SlowdownPhase::Down {
                began: ack.now,
                round_trips: self.slowdown_rtts,
            };
        }
        match self.phase {
            SlowdownPhase::Down { .. } => {}
            SlowdownPhase::FirstStart if queueing_secs > self.exit_share * common.target_secs => {
                common.window.ssthresh = common.window.cwnd.max(2.0);
                self.end_first_start();
            }
            SlowdownPhase::FirstStart | SlowdownPhase::Up { .. } | SlowdownPhase::Restart => {
                self.start_slowly(common, ack, acked);
            }
            SlowdownPhase::BeforeFirst { .. } | SlowdownPhase::Until(_) => {
                let change = self.change(common, queueing_secs);
                if change < 0.0 || ack.cwnd_limited {
                    common.set_to_at_least_the_minimum(
                        common.window.cwnd + change * acked / common.window.cwnd,
                    );
                }
            }
        }
    }

    fn on_round_trip(&mut self) {
        self.phase = match self.phase {
            SlowdownPhase::BeforeFirst { round_trips } => SlowdownPhase::BeforeFirst {
                round_trips: round_trips - 1,
            },
            SlowdownPhase::Down { began, round_trips } if round_trips <= 1 => {
                SlowdownPhase::Up { began }
            }
            SlowdownPhase::Down { began, round_trips } => SlowdownPhase::Down {
                began,
                round_trips: round_trips - 1,
            },
            phase => phase,
        };
    }

    fn slowdown_is_due(&self, now: Instant) -> bool {
        match self.phase {
            SlowdownPhase::BeforeFirst { round_trips } => round_trips <= 0,
            SlowdownPhase::Until(due) => due.secs() <= now.secs(),
            _ => false,
        }
    }

    fn start_slowly(&mut self, common: &mut Common, ack: &AckedData, acked: f64) {
        if ack.cwnd_limited {
            let grown = common.window.cwnd + self.gain(common) * acked;
            common.window.cwnd = grown.min(common.window.ssthresh).max(common.min_cwnd);
        }
        if common.window.cwnd >= common.window.ssthresh {
            self.end_slow_start(ack.now);
        }
    }

    fn end_first_start(&mut self) {
        self.phase = SlowdownPhase::BeforeFirst {
            round_trips: self.slowdown_rtts,
        };
    }

    /// The window is where it was, or something was lost before it was.
    fn end_slow_start(&mut self, now: Instant) {
        match self.phase {
            SlowdownPhase::FirstStart | SlowdownPhase::Restart => self.end_first_start(),
            SlowdownPhase::Down { began, .. } | SlowdownPhase::Up { began } => {
                let took_secs = now.secs() - began.secs();
                self.phase = SlowdownPhase::Until(Instant::from_secs(
                    now.secs() + self.slowdown_interval * took_secs,
                ));
            }
            SlowdownPhase::BeforeFirst { .. } | SlowdownPhase::Until(_) => {}
        }
    }
}

/// How the window follows the delay.
#[derive(Debug)]
enum Variant {
    Rfc6817 { gain: f64, allowed_increase: f64 },
    PlusPlus(PlusPlus),
}

#[derive(Debug)]
pub(super) struct Ledbat {
    common: Common,
    variant: Variant,
}

impl Ledbat {
    pub(super) fn new(params: &Params, start: ConnectionStart) -> Self {
        let size = |name| usize::try_from(params.integer(name)).expect("bounds");
        let variant = if params.choice("variant") == "plus_plus" {
            Variant::PlusPlus(PlusPlus {
                gain_divisor_max: params.number("gain_divisor_max"),
                constant: params.number("constant"),
                exit_share: params.number("exit_share"),
                slowdown_rtts: params.integer("slowdown_rtts"),
                slowdown_interval: params.number("slowdown_interval"),
                phase: SlowdownPhase::FirstStart,
                end: SeqNum::ZERO,
            })
        } else {
            Variant::Rfc6817 {
                gain: params.number("gain"),
                allowed_increase: params.number("allowed_increase"),
            }
        };
        let target_secs = match (params.get("target"), &variant) {
            (Value::Duration(target_secs), _) => target_secs,
            (_, Variant::Rfc6817 { .. }) => 0.1,
            (_, Variant::PlusPlus(_)) => 0.06,
        };
        let cwnd = WindowSize::from_segments(params.number("init_cwnd"));
        Self {
            common: Common {
                target_secs,
                min_cwnd: params.number("min_cwnd"),
                beta: params.number("beta"),
                window: CongestionWindow::new(ConnectionStart { cwnd, ..start }),
                delays: DelayHistory::new(size("base_history"), size("current_filter")),
            },
            variant,
        }
    }

    /// RFC 6817 §2.4.2: the window, if it was what limited the sender, follows the distance to the target.
    fn follow_target(&mut self, ack: &AckedData, acked: f64, gain: f64, allowed_increase: f64) {
        let common = &mut self.common;
        let Some(queueing_secs) = common.delays.queueing_secs() else {
            return;
        };
        let off_target = (common.target_secs - queueing_secs) / common.target_secs;
        let followed = common.window.cwnd + gain * off_target * acked / common.window.cwnd;
        common
            .set_to_at_least_the_minimum(followed.min(ack.flight_size.as_f64() + allowed_increase));
    }
}

impl CongestionControl for Ledbat {
    fn on_ack(&mut self, ack: &AckedData) {
        if let Some(sample_secs) = ack.rtt.map(Duration::secs) {
            self.common.delays.observe(ack.now, sample_secs);
        }
        if !ack.may_grow {
            return;
        }
        let acked = ack.acked.as_f64();
        match &mut self.variant {
            Variant::Rfc6817 {
                gain,
                allowed_increase,
            } => {
                let (gain, allowed_increase) = (*gain, *allowed_increase);
                self.follow_target(ack, acked, gain, allowed_increase);
            }
            Variant::PlusPlus(plus_plus) => plus_plus.on_ack(&mut self.common, ack, acked),
        }
    }

    fn on_congestion(&mut self, episode: &Episode) {
        let common = &mut self.common;
        let timeout = episode.signal == Signal::Rto;
        let left = episode.window * common.beta;
        let left = if timeout {
            left
        } else {
            let least = common.min_cwnd.min(common.window.cwnd);
            left.max(WindowSize::from_segments(least))
        };
        common.window.reduce(episode, left);
        match &mut self.variant {
            Variant::PlusPlus(plus_plus) if timeout => plus_plus.phase = SlowdownPhase::Restart,
            Variant::PlusPlus(plus_plus) => plus_plus.end_slow_start(episode.now),
            Variant::Rfc6817 { .. } => {}
        }
    }

    fn prescribe(&mut self, prescribed: Prescribed) {
        self.common.window.prescribe(prescribed);
    }

    fn windows(&self) -> Windows {
        let window = &self.common.window;
        Windows {
            cwnd: WindowSize::from_segments(window.whole(window.cwnd)),
            ..window.windows()
        }
    }

    fn probe(&self, out: &mut super::VariableProbe<'_>) {
        if let Some(queueing_secs) = self.common.delays.queueing_secs() {
            out("base_delay", self.common.delays.base_secs());
            out("queuing_delay", queueing_secs);
        }
    }
}
