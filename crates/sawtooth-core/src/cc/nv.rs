//! TCP-NV (New Vegas): holds the window that reaches the largest rate seen without a queue, for noisy measurements of short paths.
//!
//! Specification: Brakmo 2010 (TCP-NV, Linux Plumbers Conference); the help text of the kernel's option, and what `modinfo` says of its module.
//!
//! Model, in segments:
//! - `rate = delivered / RTT` of every acknowledgement while no loss is repaired: what was delivered while the segment that it acknowledges was under way, over a smoothed
//!   `RTT += (sample - RTT) rtt_share`; `max_rate` is the largest since the last decision
//! - `max_win = max_rate min_rtt + pad`: the window that reaches this rate, with a short queue
//! - `min_rtt`: the least smoothed round-trip time of the last period and of the current one. A period lasts `reset_period`, up to the share `reset_spread`
//!   more or less, by chance; the first `first_period`. After a loss it is the least since the recovery, until the period's end brings back
//!   what was less before
//! - at the end of a round:
//!   - `cwnd > max_win`: congestion, after `rounds` rounds and with `dec_samples` samples (`ssthresh_samples` while nothing has set a threshold; with fewer, nothing is decided, and
//!     after `patience` rounds the window stops growing): `cwnd -= (cwnd - max_win) dec_mult`, where windows are whole `min_dec` at least, though not below `max_win`;
//!     `ssthresh = max_win ssthresh_factor`; the window stops growing
//!   - `cwnd > max_win - pad_buffer`: nothing is decided, and it goes on as before, growing or not
//!   - otherwise, with `inc_samples`, it grows as standard TCP's, in slow start and congestion avoidance
//! - loss: `ssthresh = cwnd = window * loss_factor`, without growth until the next decision; timeout: the same threshold, `cwnd = 1`, and growth in congestion avoidance is halved, until more than `calm`
//!   decisions to grow have been made
//!
//! A round lasts until the first segment sent in it is acknowledged, as in Vegas; after a recovery the next acknowledgement ends one.
//!
//! Deviations: there is no paper. This is what the public descriptions say; what they leave open is as measured of Linux 6.1. Not
//! modelled: the probe at a small window at a period's end, and the hooks for a known least round-trip time.
//!
//! Kernel equivalent: `nv`, in whole segments. `pad`, `min_cwnd` and `reset_period` are parameters of its module; the other numbers are not
//! shown by it. Measured of Linux 6.1: over 10 Mbit/s and 40 ms, where 34 segments fit, windows of 68, 61, 56, 53, 51 segments follow each
//! other after two round trips each with a threshold of 44: the pad belongs to `max_win`, and three tenths of what is above it are given up.
//! Of 50 segments above it 14 are given up, of 64 19 (`dec_mult` = 38/128 is between 19/64 and 15/50), of 6, 5, 4, 3 and 2 two, and of one one.
//! A window that grows goes on beyond `max_win - pad_buffer` until it is above
//! `max_win` (15 of 15 times), one that came from above stands between the two.
//! Slow start ends at 80 segments in the fourth round with thresholds of 48, 39 and 45 (80, 40 and 10 ms), which 40 segments over the mean of
//! the last round-trip time and the one before it give; with 26 samples of the third round it goes on. `loss_factor`: 54 of 68 segments; in 1024ths. Round-trip times count in whole microseconds, rates in whole hundreds of bits per second; a step takes four segments at least. With these the packets of 11 of 15 random scenarios are the kernel's. With
//! every 100th packet lost the window stands at 11 for 140 ms of 42 ms round trips after each recovery, the time of 20 acknowledgements, and
//! then grows by one each. The least round-trip time: at 10 Mbit/s and 20 ms, with a queue, a loss lets the window of 51, 61.2 ms long, grow up to
//! 62 and then stand at `max_win` = 61, with another of 36 and 43.2 ms up to 46 and stand at 45; with the first decision after 2.0 s (1.97 to
//! 2.07) the threshold is 27 again, 20 ms long. Without losses five flows at 2 Mbit/s begin to grow again after 6.0 to 8.3 s, and then every
//! second period (their first round trips are as short as the last period's), 8.0 to 11.6 s apart, 15 in all: 5 s and up to a quarter more or less.

#[cfg(test)]
mod tests;

use super::params::{COUNT, FACTOR, SHARE, TIME, parameters};
use super::{
    AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, ConnectionStart, Episode,
    Needs, PathOrder, Rates, Signal, VariableProbe,
};
use crate::registry::{Entry, Kind, Value};
use crate::rng::RandomStream;
use crate::units::{Duration, Instant, SegCount, SeqNum, WindowSize, floor};

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
        linux: &[
            ("dec_mult", Value::Number(38.0 / 128.0)),
            ("loss_factor", Value::Number(819.0 / 1024.0)),
        ],
        ..Algorithm::of(|params, start| {
            ClassicControl::boxed(start, Nv::new(NvParameters::from(params), start))
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
        patience: i64 = COUNT => Value::Integer(10), "a window that should shrink stops growing after so many rounds without samples enough to shrink it";
        calm: i64 = COUNT => Value::Integer(8), "decisions to grow after which growth that a timeout has halved is doubled";
        rounds: i64 = COUNT => Value::Integer(2), "rounds without which nothing is decided";
        rtt_share: f64 = Kind::Number { min: 0.001, max: 1.0 } => Value::Number(0.5),
            "share of the latest round-trip time in the smoothed one that rates are told from";
        ssthresh_samples: i64 = Kind::Integer { min: 1, max: 1_000_000 } => Value::Integer(30), "samples of the rate without which slow start does not end";
        reset_period: f64 = TIME => Value::Duration(5.0), "the least round-trip time is forgotten after one to two of these, about";
        reset_spread: f64 = Kind::Number { min: 0.0, max: 0.99 } => Value::Number(0.25), "share of reset_period by which its length varies at most, by chance";
        first_period: f64 = TIME => Value::Duration(2.0), "the first period of the least round-trip time";
    }
}

/// No window is as large, segments.
const UNREACHED: f64 = 1e12;

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
            self.of_period = f64::INFINITY;
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

/// Since the last decision.
#[derive(Clone, Copy, Debug, Default)]
struct Judged {
    /// Samples of the rate, and the largest, segments per second.
    samples: i64,
    max_rate: f64,
    rounds: i64,
}

/// How standard TCP's growth is slowed down after timeouts.
#[derive(Clone, Copy, Debug, Default)]
struct Slower {
    /// How often it is halved.
    halvings: i32,
    /// Decisions to grow since that changed or there was congestion.
    calm: i64,
}

#[derive(Debug)]
struct Nv {
    rules: NvParameters,
    smss: f64,
    least_rtt: LeastRtt,
    judged: Judged,
    slower: Slower,
    /// Smoothed, seconds; none before the first sample and after a recovery.
    rtt: Option<f64>,
    /// A round ends when more than this has been acknowledged.
    round: SeqNum,
    /// The order that the last acknowledgement left, and whether a recovery has ended since.
    order: PathOrder,
    recovered: bool,
    /// `max_win` at the last decision.
    max_win: Option<f64>,
    /// Whether it lets the window grow.
    grows: bool,
}

impl Nv {
    fn new(rules: NvParameters, start: ConnectionStart) -> Self {
        Self {
            rules,
            smss: start.smss.as_f64(),
            least_rtt: LeastRtt::new(start.seed),
            judged: Judged::default(),
            slower: Slower::default(),
            rtt: None,
            round: SeqNum::ZERO,
            order: PathOrder::InOrder,
            recovered: false,
            max_win: None,
            grows: true,
        }
    }

    /// The rate is of what was delivered while the segment that is acknowledged was under way.
    fn sample(&mut self, window: &CongestionWindow, ack: &AckedData, rtt: f64) {
        let whole = window.growth.whole;
        let rtt = match self.rtt {
            Some(smoothed) => smoothed + (rtt - smoothed) * self.rules.rtt_share,
            None => rtt,
        };
        // Whole microseconds, and a rate in whole hundreds of bits per second.
        let rtt = if whole {
            floor(rtt * 1e6 + 1e-3) / 1e6
        } else {
            rtt
        };
        self.rtt = Some(rtt);
        let delivered = ack.rate.map_or(ack.flight_size, |rate| {
            rate.total_delivered - rate.prior_delivered
        });
        if rtt > 0.0 {
            let mut rate = delivered.as_f64() / rtt;
            if whole {
                let unit = 100.0 / (8.0 * self.smss);
                rate = floor(rate / unit + 1e-6) * unit;
            }
            self.judged.max_rate = self.judged.max_rate.max(rate);
        }
        self.judged.samples += 1;
        self.least_rtt.observe(ack.now.secs(), rtt, &self.rules);
    }

    /// A round has ended.
    fn decide(&mut self, window: &mut CongestionWindow) {
        self.judged.rounds += 1;
        let rules = self.rules;
        let Judged {
            samples,
            max_rate,
            rounds,
        } = self.judged;
        let most = max_rate * self.least_rtt.secs();
        let most = if window.growth.whole {
            floor(most + 1e-6)
        } else {
            most
        };
        let max_win = most + rules.pad;
        let excess = window.cwnd - max_win;
        if excess > 0.0 {
            let needed = if is_unset(window) {
                rules.ssthresh_samples
            } else {
                rules.dec_samples
            };
            if rounds < rules.rounds {
                return;
            }
            if samples < needed {
                // The next rounds' samples are added to these.
                if !is_unset(window) && rounds > rules.patience {
                    self.grows = false;
                }
                return;
            }
            let decrease = window.whole(excess * rules.dec_mult);
            let min_dec = SegCount::new(rules.min_dec).as_f64();
            let decrease = if window.growth.whole {
                decrease.max(min_dec.min(excess))
            } else {
                decrease
            };
            window.cwnd = (window.cwnd - decrease).max(rules.min_cwnd);
            let threshold = window.whole(max_win * rules.ssthresh_factor);
            window.ssthresh = threshold.max(2.0);
            self.grows = false;
            self.slower.calm = 0;
        } else if excess <= -rules.pad_buffer {
            if samples < rules.inc_samples {
                return;
            }
            self.grows = true;
            self.slower.calm += 1;
            if self.slower.halvings > 0 && self.slower.calm > rules.calm {
                self.slower = Slower {
                    halvings: self.slower.halvings - 1,
                    calm: 0,
                };
            }
        } else {
            return;
        }
        self.max_win = Some(max_win);
        self.judged = Judged::default();
    }

    /// What was measured before counts no more.
    fn restart(&mut self, una: SeqNum) {
        self.judged = Judged::default();
        self.slower.calm = 0;
        self.rtt = None;
        self.least_rtt.set_aside();
        self.round = una;
    }
}

/// Whether nothing has set a threshold: a window that is not limited begins with one that none reaches.
fn is_unset(window: &CongestionWindow) -> bool {
    window.ssthresh >= UNREACHED
}

impl Avoidance for Nv {
    fn on_ack(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        let before = std::mem::replace(&mut self.order, ack.order);
        if ack.order == PathOrder::Repairing || before == PathOrder::Repairing {
            if self.recovered && ack.order != PathOrder::Repairing {
                self.recovered = false;
                self.restart(ack.snd_una);
            }
        } else if let Some(rtt) = ack.rtt {
            self.sample(window, ack, rtt.secs());
            if ack.snd_una > self.round {
                self.round = ack.snd_nxt;
                self.decide(window);
            }
        }
        if ack.may_grow && self.grows && ack.cwnd_limited {
            self.grow(window, ack);
        }
    }

    fn grow(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        let left = window.start_slowly(ack.counted);
        if left.is_zero() {
            return;
        }
        let per = window.cwnd * libm::exp2(f64::from(self.slower.halvings));
        if window.growth.whole {
            window.cwnd = window.growth.every(window.cwnd, left, per.max(4.0));
        } else {
            window.grow(left, window.cwnd / per);
        }
    }

    fn decrease(&mut self, _window: &CongestionWindow, episode: &Episode) -> WindowSize {
        if episode.signal == Signal::Rto {
            self.slower.halvings = (self.slower.halvings + 1).min(8);
        }
        self.order = PathOrder::Repairing;
        // After a loss it grows again only when samples from after the recovery allow it.
        self.grows = false;
        self.recovered = false;
        episode.window * self.rules.loss_factor
    }

    fn on_further_timeout(&mut self, _now: Instant) {
        self.order = PathOrder::Repairing;
        self.grows = false;
        self.recovered = false;
        self.slower.halvings = (self.slower.halvings + 1).min(8);
    }

    fn on_recovered(&mut self, _window: &mut CongestionWindow, _now: Instant, _began: Signal) {
        self.recovered = true;
        self.order = PathOrder::Repairing;
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
