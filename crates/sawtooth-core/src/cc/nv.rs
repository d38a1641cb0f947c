//! TCP-NV (New Vegas): holds the window that reaches the largest rate seen without a queue, for noisy measurements of short paths.
//!
//! Specification: Brakmo 2010 (TCP-NV, Linux Plumbers Conference); the help text of the kernel's option, and what `modinfo` says of its module.
//!
//! Model, in segments:
//! - `rate = in flight / RTT` of every acknowledgement of a sender that its window limits, with a smoothed `RTT += (sample - RTT) rtt_share`;
//!   `max_rate` is the largest since the last decision
//! - `max_win = max_rate min_rtt + pad`: the window that reaches this rate, with a short queue
//! - `min_rtt`: the least round-trip time of the last period and of the current one. A period lasts `reset_period`, up to the share `reset_spread`
//!   more or less, by chance; the first `first_period`. After a loss it is the least since the recovery, until the period's end brings back
//!   what was less before
//! - a decision after `rounds` rounds in which there have been `inc_samples`:
//!   - `cwnd > max_win`: congestion, if there are `dec_samples` (in slow start `ssthresh_samples`; if not, nothing is decided):
//!     `cwnd -= (cwnd - max_win) dec_mult`, where windows are whole `min_dec` at least, though not below `max_win`; `ssthresh = max_win ssthresh_factor`;
//!     the window stops growing
//!   - `cwnd > max_win - pad_buffer`: it goes on as before, growing or not
//!   - otherwise it grows as standard TCP's, in slow start and congestion avoidance
//! - loss: `ssthresh = cwnd = window * loss_factor`, without growth until the next decision; timeout: the same threshold, `cwnd = 1`
//!
//! A round lasts until the first segment sent in it is acknowledged, as in Vegas.
//!
//! Deviations: there is no paper. This is what the public descriptions say; what they leave open is read in the simplest way. Not
//! modelled: slower growth after long congestion, the probe at a small window at a period's end, and the hooks for a known least
//! round-trip time.
//!
//! Kernel equivalent: `nv`, in whole segments. `pad`, `min_cwnd` and `reset_period` are parameters of its module; the other numbers are not
//! shown by it. Measured of Linux 6.1: over 10 Mbit/s and 40 ms, where 34 segments fit, windows of 68, 61, 56, 53, 51 segments follow each
//! other after two round trips each with a threshold of 44: the pad belongs to `max_win`, and three tenths of what is above it are given up.
//! Of 50 segments above it 14 are given up, of 64 19 (`dec_mult` = 38/128 is between 19/64 and 15/50), of 6, 5, 4, 3 and 2 two, and of one one.
//! A window that grows goes on beyond `max_win - pad_buffer` until it is above
//! `max_win` (15 of 15 times), one that came from above stands between the two.
//! Slow start ends at 80 segments in the fourth round with thresholds of 48, 39 and 45 (80, 40 and 10 ms), which 40 segments over the mean of
//! the last round-trip time and the one before it give; with 26 samples of the third round it goes on. `loss_factor`: 54 of 68 segments. With
//! every 100th packet lost the window stands at 11 for 140 ms of 42 ms round trips after each recovery, the time of 20 acknowledgements, and
//! then grows by one each. The least round-trip time: at 10 Mbit/s and 20 ms, with a queue, a loss lets the window of 51, 61.2 ms long, grow up to
//! 62 and then stand at `max_win` = 61, with another of 36 and 43.2 ms up to 46 and stand at 45; with the first decision after 2.0 s (1.97 to
//! 2.07) the threshold is 27 again, 20 ms long. Without losses five flows at 2 Mbit/s begin to grow again after 6.0 to 8.3 s, and then every
//! second period (their first round trips are as short as the last period's), 8.0 to 11.6 s apart, 15 in all: 5 s and up to a quarter more or less.

#[cfg(test)]
mod tests;

use super::params::{COUNT, FACTOR, SHARE, TIME, parameters};
use super::vegas::VegasPath;
use super::{
    AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, Episode, Needs, Rates,
    Signal, VariableProbe,
};
use crate::registry::{Entry, Kind, Value};
use crate::rng::RandomStream;
use crate::units::{Duration, Instant, SegCount, WindowSize};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "nv",
    summary: "TCP-NV: Vegas for fast paths of short and noisy round-trip times",
    specification: &["Brakmo 2010"],
    params: NvParameters::PARAMS,
    new: Algorithm {
        needs: Needs {
            rates: Rates::Used,
            ..Needs::NOTHING
        },
        linux: &[("dec_mult", Value::Number(38.0 / 128.0))],
        ..Algorithm::of(|params, start| {
            ClassicControl::boxed(start, Nv::new(NvParameters::from(params), start.seed))
        })
    },
};

parameters! {
    /// The algorithm's parameters.
    struct NvParameters {
        pad: f64 = Kind::Number { min: 0.0, max: 1e6 } => Value::Number(10.0), "the window shrinks when more than this are queued, segments";
        pad_buffer: f64 = Kind::Number { min: 0.0, max: 1e6 } => Value::Number(2.0), "the window begins to grow when fewer than pad less this are queued, segments";
        min_cwnd: f64 = Kind::Number { min: 2.0, max: 1e6 } => Value::Number(2.0), "queues do not lower the window below this, segments";
        dec_mult: f64 = SHARE => Value::Number(0.3), "share of the queued segments that the window gives up";
        min_dec: u64 = Kind::Integer { min: 1, max: 1_000_000 } => Value::Integer(2),
            "where windows are whole, the window gives up at least this of what is queued beyond the pad, segments";
        ssthresh_factor: f64 = Kind::Number { min: 0.01, max: 100.0 } => Value::Number(1.0),
            "the threshold after congestion, as a multiple of the window without a queue";
        loss_factor: f64 = FACTOR => Value::Number(0.8), "the window is multiplied by this at a loss";
        inc_samples: i64 = Kind::Integer { min: 1, max: 1_000_000 } => Value::Integer(20), "samples of the rate without which nothing is decided";
        dec_samples: i64 = Kind::Integer { min: 1, max: 1_000_000 } => Value::Integer(60), "samples of the rate without which the window does not shrink";
        rounds: i64 = COUNT => Value::Integer(2), "rounds without which nothing is decided";
        rtt_share: f64 = Kind::Number { min: 0.001, max: 1.0 } => Value::Number(0.5),
            "share of the latest round-trip time in the smoothed one that rates are told from";
        ssthresh_samples: i64 = Kind::Integer { min: 1, max: 1_000_000 } => Value::Integer(30), "samples of the rate without which slow start does not end";
        reset_period: f64 = TIME => Value::Duration(5.0), "the least round-trip time is forgotten after one to two of these, about";
        reset_spread: f64 = Kind::Number { min: 0.0, max: 0.99 } => Value::Number(0.25), "share of reset_period by which its length varies at most, by chance";
        first_period: f64 = TIME => Value::Duration(2.0), "the first period of the least round-trip time";
    }
}

/// The least round-trip time, seconds; infinite without samples.
#[derive(Clone, Debug)]
struct LeastRtt {
    /// The least that counts now, and the least of the current period, which counts from its end on.
    secs: f64,
    of_period: f64,
    /// When the current period ends.
    end: Option<f64>,
    chance: RandomStream,
}

impl LeastRtt {
    fn new(seed: u64) -> Self {
        Self {
            secs: f64::INFINITY,
            of_period: f64::INFINITY,
            end: None,
            chance: RandomStream::new(seed, "nv"),
        }
    }

    /// The connection is established at `now`, or the first sample comes.
    fn begin(&mut self, now: f64, rules: &NvParameters) -> f64 {
        *self.end.get_or_insert(now + rules.first_period)
    }

    fn observe(&mut self, now: f64, rtt: f64, rules: &NvParameters) {
        let end = self.begin(now, rules);
        self.secs = self.secs.min(rtt);
        self.of_period = self.of_period.min(rtt);
        // A small tolerance, as times are binary fractions.
        if now >= end - 1e-9 {
            self.secs = self.of_period;
            self.of_period = rtt;
            let spread = (2.0 * self.chance.uniform() - 1.0) * rules.reset_spread;
            self.end = Some(now + (1.0 + spread) * rules.reset_period);
        }
    }

    /// Ignores what was measured until now, up to the period's end.
    fn set_aside(&mut self) {
        self.secs = f64::INFINITY;
    }

    fn secs(&self) -> f64 {
        self.secs
    }
}

#[derive(Debug)]
struct Nv {
    rules: NvParameters,
    path: VegasPath,
    least_rtt: LeastRtt,
    /// The largest rate since the last decision, segments per second, and of how many samples.
    max_rate: f64,
    samples: i64,
    /// Rounds since the last decision.
    rounds: i64,
    /// Smoothed, seconds.
    rtt: Option<f64>,
    /// `max_win` at the last decision.
    max_win: Option<f64>,
    /// Whether it lets the window grow.
    grows: bool,
}

impl Nv {
    fn new(rules: NvParameters, seed: u64) -> Self {
        Self {
            rules,
            path: VegasPath::UNKNOWN,
            least_rtt: LeastRtt::new(seed),
            max_rate: 0.0,
            samples: 0,
            rounds: 0,
            rtt: None,
            max_win: None,
            grows: true,
        }
    }

    fn sample(&mut self, ack: &AckedData) {
        let Some(rtt) = ack.rtt.map(Duration::secs) else {
            return;
        };
        self.least_rtt.observe(ack.now.secs(), rtt, &self.rules);
        let smoothed = self.rtt.get_or_insert(rtt);
        *smoothed += (rtt - *smoothed) * self.rules.rtt_share;
        let rtt = *smoothed;
        if ack.cwnd_limited && rtt > 0.0 {
            let in_flight = ack.rate.map_or(ack.flight_size, |rate| rate.pipe_at_send);
            self.max_rate = self.max_rate.max(in_flight.as_f64() / rtt);
            self.samples += 1;
        }
    }

    fn forget_samples(&mut self) {
        self.max_rate = 0.0;
        self.samples = 0;
        self.rounds = 0;
    }

    fn decide(&mut self, window: &mut CongestionWindow) {
        self.rounds += 1;
        if self.rounds < self.rules.rounds || self.samples < self.rules.inc_samples {
            return;
        }
        let max_win = window.whole(self.max_rate * self.least_rtt.secs()) + self.rules.pad;
        let excess = window.cwnd - max_win;
        if excess > 0.0 {
            let needed = if window.in_slow_start() {
                self.rules.ssthresh_samples
            } else {
                self.rules.dec_samples
            };
            if self.samples < needed {
                // The next rounds' samples are added to these.
                return;
            }
            let decrease = window.whole(excess * self.rules.dec_mult);
            let min_dec = SegCount::new(self.rules.min_dec).as_f64();
            let decrease = if window.growth.whole {
                decrease.max(min_dec.min(excess))
            } else {
                decrease
            };
            let shrunk = (window.cwnd - decrease).max(self.rules.min_cwnd);
            window.cwnd = window.cwnd.min(shrunk);
            let threshold = window.whole(max_win * self.rules.ssthresh_factor);
            window.ssthresh = threshold.max(2.0);
        }
        if excess > 0.0 {
            self.grows = false;
        } else if excess <= -self.rules.pad_buffer {
            self.grows = true;
        }
        self.max_win = Some(max_win);
        self.forget_samples();
    }
}

impl Avoidance for Nv {
    fn on_ack(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        self.sample(ack);
        let ended = self.path.observe(ack);
        if !ack.may_grow {
            return;
        }
        if ended.is_some() {
            self.decide(window);
        }
        if self.grows && ack.cwnd_limited {
            self.grow(window, ack);
        }
    }

    fn decrease(&mut self, _window: &CongestionWindow, episode: &Episode) -> WindowSize {
        self.path.restart();
        self.forget_samples();
        // After a loss it grows again only when samples from after the recovery allow it.
        self.grows = episode.signal == Signal::Rto;
        episode.window * self.rules.loss_factor
    }

    fn on_recovered(&mut self, _window: &mut CongestionWindow, _began: Signal) {
        // The rates of a recovery are not those of a window.
        self.path.restart();
        self.least_rtt.set_aside();
        self.forget_samples();
    }

    fn on_restart(&mut self, _now: Instant, _idle: Duration) {
        self.path.restart();
        self.forget_samples();
    }

    fn on_handshake(&mut self, _window: &mut CongestionWindow, now: Instant, _rtt: Duration) {
        self.least_rtt.begin(now.secs(), &self.rules);
    }

    fn probe(&self, _window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        if self.least_rtt.secs().is_finite() {
            out("min_rtt", self.least_rtt.secs());
        }
        if let Some(max_win) = self.max_win {
            out("max_win", max_win);
        }
    }
}
