//! CUBIC: the window is a cubic function of the time since the last loss, with its plateau at the window of that loss; where standard
//! TCP would have more, it has that.
//!
//! Specification: RFC 9438 §4. Slow start ends as `hystart` says: HyStart (Ha and Rhee 2011), HyStart++ (RFC 9406) or another of `slow_start`.
//!
//! Model, in segments and seconds:
//! - an epoch begins with congestion avoidance: `K = cbrt((W_max - cwnd_epoch) / C)`, or `K = 0`, `W_max = cwnd_epoch` after a slow start that
//!   ended without a loss, after a timeout, and from a window above W_max
//! - `W_cubic(t) = C (t - K)^3 + W_max`; `target = W_cubic(t + RTT)`, between `cwnd` and `1.5 cwnd`
//! - `W_est += alpha acked / cwnd` from `cwnd_epoch` on, with `alpha = 3 (1 - beta) / (1 + beta)`, and 1 once W_est reaches cwnd_prior
//! - congestion avoidance: `cwnd = W_est` where `W_cubic(t) < W_est`, else `cwnd += (target - cwnd) / cwnd` for everything that counts
//! - loss: `W_max = cwnd`, with fast convergence `cwnd (1 + beta) / 2` if that is below the last W_max; `ssthresh = cwnd = beta window`
//! - timeout: the same, with `cwnd = 1`
//! - a spurious loss restores W_max, K, W_est and the epoch's beginning (§4.9)
//!
//! Deviations: where W_est is to be the window, it neither lowers it (the window may be ahead of W_cubic(t), on its way to the target) nor raises
//! it faster than slow start would (a recovery or a restart may have prescribed a window far below W_est). K for a window above W_max,
//! which the RFC leaves open, is that of Ha, Rhee and Xu 2008.
//!
//! Kernel equivalent: `cubic`, in whole segments; its beta is 717/1024 = 0.7001953125 and its C 410/1024, `app_limited = "counts"` since only idle times shift its epoch.
//! Measured of Linux 6.1, with single losses at 10 Mbit/s and 10, 40 and 200 ms and at 100 Mbit/s and 4 ms:
//! - the target is the smallest round-trip time ahead (`target_rtt = "min"`), and a whole number of segments from W_max (`whole_target`)
//! - how many segments a step takes is computed once per tick, and while the window stays only after more than 1/32 s (`update_interval`): with ticks
//!   of 10 ms steps come 50, 90, 130 or 170 ms apart, and at 4 ms the window overshoots W_est by the steps of one tick
//! - W_est goes on with alpha beyond the window of the last loss (`w_est_alpha = "rfc8312"`), by whole segments: one when more than 15/8 of the window (8 / alpha, rounded
//!   down, eighths) have been acknowledged, and it is looked at when a step's size is computed, and besides within the same tick once the window has grown
//! - times are those of the host's clock: the epoch begins with its tick, and the target is ahead by the ticks that the round trip has begun
//! - times since the epoch began and K are in 1024ths of a second (`time_unit`); the cube root is an approximation (`cubic/k.rs`)
//! - in the first second of an epoch round-trip times do not count for the smallest (`min_rtt_after`): a flow of `cc` that had seen 80 ms before a loss, and 70 ms within the second after it, looked 90 ms ahead
//!   (`tests/linux/packets/cubic-settles.json`)
//! - before the first loss a step takes 20 segments at most (`first_growth`), whatever the window
//! - HyStart ends slow start one acknowledgement later (`hystart_decides = "next"`), and trains may be 1 ms longer, of which half counts (`hystart_train_slack`, `hystart_train_share`)
//!
//! Linux 3.2 counts acknowledgements, and estimates how many of them are delayed to make up for it: that is `ack_ratio = 2` here, as if every second segment were
//! acknowledged always. Not measured.

mod epoch;
mod k;
mod params;
mod rtts;
mod rules;
mod steps;
#[cfg(test)]
mod tests;

use self::epoch::{CubicEpoch, History};
use self::params::PARAMS;
use self::rtts::CubicRtts;
use self::rules::CubicRules;
use self::steps::Steps;
use super::pace::WindowThen;
use super::slow_start::{self, SlowStart};
use super::{
    AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, ConnectionStart, Episode,
    Needs, Signal, VariableProbe, Windows,
};
use crate::registry::{Entry, Params, Value};
use crate::units::{Duration, Instant, SegCount, SeqNum, WindowSize, ceil, floor};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "cubic",
    summary: "CUBIC: a cubic function of time, flat around the window of the last loss",
    specification: &["RFC 9438 §4", "RFC 9406 §4", "Ha and Rhee 2011 §4"],
    params: &PARAMS,
    new: Algorithm {
        linux: &[
            ("c", Value::Number(410.0 / 1024.0)),
            ("beta", Value::Number(717.0 / 1024.0)),
            ("target_rtt", Value::Choice("min")),
            ("app_limited", Value::Choice("counts")),
            ("w_est_alpha", Value::Choice("rfc8312")),
            ("whole_target", Value::Bool(true)),
            ("update_interval", Value::Duration(1.0 / 32.0)),
            ("first_growth", Value::Number(20.0)),
            ("time_unit", Value::Duration(1.0 / 1024.0)),
            ("min_rtt_after", Value::Duration(1.0)),
            ("hystart_train_slack", Value::Duration(0.001)),
            ("hystart_decides", Value::Choice("next")),
            ("begins_again", Value::Choice("empty_path")),
        ],
        needs: Needs {
            empty_path: true,
            ..Needs::NOTHING
        },
        linux_3_2: &[
            ("ack_ratio", Value::Number(2.0)),
            ("hystart_train_slack", Value::Duration(0.0)),
        ],
        ..Algorithm::of(|params, start| ClassicControl::boxed(start, Cubic::new(params, start)))
    },
};

#[derive(Debug)]
struct Cubic {
    rules: CubicRules,
    rtts: CubicRtts,
    slow_start: Option<Box<dyn SlowStart>>,
    /// With a whole target.
    steps: Option<Steps>,
    history: History,
    before_loss: Option<History>,
    /// Up to when the epoch's time has been accounted for.
    seen_secs: f64,
}

impl Cubic {
    fn new(params: &Params, start: ConnectionStart) -> Self {
        let whole_target = params.flag("whole_target") && start.whole_windows;
        let rules = CubicRules::from(params);
        Self {
            rules,
            rtts: CubicRtts {
                ahead_by_min: params.choice("target_rtt") == "min",
                smoothed: None,
                min: f64::INFINITY,
            },
            slow_start: slow_start::chosen(params, start.whole_windows),
            steps: whole_target.then(|| Steps::new(params, start.tick, &rules)),
            history: History {
                w_max: None,
                cwnd_prior: start.cwnd.segments(),
                epoch: None,
            },
            before_loss: None,
            seen_secs: 0.0,
        }
    }

    /// Slow start, until the threshold or what ends it before; what of the counted segments is left after it.
    fn slow_start(&mut self, window: &mut CongestionWindow, ack: &AckedData) -> SegCount {
        let cwnd = window.cwnd;
        let watched = self.slow_start.as_mut();
        if watched.is_some_and(|slow_start| slow_start.ends(ack, cwnd)) {
            window.ssthresh = cwnd.max(2.0);
            self.end_slow_start(cwnd);
            return ack.counted;
        }
        let left = match &mut self.slow_start {
            Some(slow_start) => slow_start.grow(window, ack.counted),
            None => window.start_slowly(ack.counted),
        };
        if !window.in_slow_start() {
            self.end_slow_start(window.cwnd);
        }
        left
    }

    /// RFC 9438 §4.1.2, §4.3: cwnd_prior is the window at the end of the first slow start, too; later ones end below that of the last loss.
    fn end_slow_start(&mut self, cwnd: f64) {
        self.history.cwnd_prior = self.history.cwnd_prior.max(cwnd);
        self.slow_start.take_if(|slow_start| !slow_start.restart());
    }

    /// Congestion avoidance; `acked` segments were acknowledged, `counted` of them count for the cubic function.
    fn avoid_congestion(
        &mut self,
        window: &mut CongestionWindow,
        now: Instant,
        acked: SegCount,
        counted: SegCount,
    ) {
        if self.steps.is_some() {
            return self.avoid_in_steps(window, now, counted);
        }
        let cwnd = window.cwnd;
        let CubicRules { c, .. } = self.rules;
        let cwnd_prior = self.history.cwnd_prior;
        let epoch = self.history.epoch_at(now, cwnd, &self.rules);
        let t = now.secs() - epoch.start_secs;
        let alpha = if self.rules.alpha_becomes_one && epoch.w_est >= cwnd_prior {
            1.0
        } else {
            self.rules.alpha()
        };
        epoch.w_est += alpha * acked.as_f64() / cwnd;
        if epoch.w_cubic(c, t) < epoch.w_est {
            let w_est = epoch.w_est;
            if !window.growth.whole {
                window.cwnd = w_est.min(cwnd + acked.as_f64()).max(cwnd);
            } else if w_est >= cwnd + 1.0 {
                window.grow(counted, (w_est - cwnd).floor());
            }
        } else {
            let target = epoch.w_cubic(c, t + self.rtts.ahead());
            let increase = target.clamp(cwnd, 1.5 * cwnd) - cwnd;
            if increase > 0.0 {
                window.grow(counted, increase);
            }
        }
    }

    /// The same in whole steps, by the host's clock.
    fn avoid_in_steps(&mut self, window: &mut CongestionWindow, now: Instant, counted: SegCount) {
        let Some(steps) = &mut self.steps else {
            return;
        };
        let cwnd = window.cwnd;
        let CubicRules {
            c, time_unit: unit, ..
        } = self.rules;
        let (rtts, tick) = (&self.rtts, steps.clock.tick);
        let now = steps.now(now);
        let window_now = WindowThen {
            ticks: now.ticks,
            cwnd,
        };
        if let Some(per) = steps.held(window_now, counted) {
            window.cwnd = window.growth.every(cwnd, counted, per);
            return;
        }
        if self.history.epoch.is_none() {
            steps.begin_epoch(counted);
        }
        let epoch = self.history.epoch_at(now.at, cwnd, &self.rules);
        let target = |epoch: &CubicEpoch| {
            let mut ahead = rtts.ahead();
            if tick > 0.0 {
                ahead = ceil(ahead / tick - 1e-9) * tick;
            }
            let t = now.at.secs() - epoch.start_secs;
            epoch.whole_target(c, t + ahead, unit).min(1.5 * cwnd)
        };
        let first = self.before_loss.is_none();
        let per = steps.per(window_now, first, epoch, target);
        window.cwnd = window.growth.every(cwnd, counted, per);
    }

    /// Whether a window that falls from loss to loss gives up more (§4.7), and where the plateau is then.
    fn plateau(&self, cwnd: f64) -> f64 {
        let w_max = self.history.w_max;
        if !self.rules.fast_convergence || w_max.is_none_or(|w_max| cwnd >= w_max) {
            return cwnd;
        }
        let plateau = cwnd * f64::midpoint(1.0, self.rules.beta);
        if self.steps.is_some() {
            // Measured of Linux 6.1: after marks at 15 and 10 segments the first step beyond 7 takes 7 of them, as a plateau of 8 makes it; one of
            // 8.5 would make none.
            floor(plateau)
        } else {
            plateau
        }
    }

    /// Whether the epoch, if there is one, is old enough for the smallest round-trip time to be looked for.
    fn is_settled(&self, now: Instant) -> bool {
        let after = self.rules.min_rtt_after;
        let old = |epoch: CubicEpoch| {
            let clock = self.steps.as_ref().map(|steps| steps.now(now).at);
            clock.unwrap_or(now).secs() - epoch.start_secs >= after - 1e-9
        };
        after == 0.0 || self.history.epoch.is_none_or(old)
    }

    fn shift_epoch(&mut self, secs: f64) {
        if let Some(epoch) = &mut self.history.epoch {
            epoch.start_secs += secs;
        }
    }
}

impl Avoidance for Cubic {
    fn measure(&mut self, _window: &mut CongestionWindow, ack: &AckedData) {
        if let Some(rtt) = ack.rtt {
            // Most are no smaller than the smallest, and the clock need not be asked.
            let counts = rtt.secs() >= self.rtts.min || self.is_settled(ack.now);
            self.rtts.add(rtt.secs(), counts);
            if let Some(slow_start) = &mut self.slow_start {
                slow_start.on_rtt(rtt);
            }
        }
        let since = ack.now.secs() - self.seen_secs;
        self.seen_secs = ack.now.secs();
        if !ack.cwnd_limited && !self.rules.app_limited_counts {
            // §4.2: t does not include times in which the application kept the window from growing.
            self.shift_epoch(since);
        }
    }

    fn grow(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        let (mut acked, mut counted) = (ack.acked, ack.counted);
        if window.in_slow_start() {
            counted = self.slow_start(window, ack);
            if counted < ack.counted {
                acked = counted;
            }
        }
        if !counted.is_zero() {
            self.avoid_congestion(window, ack.now, acked, counted);
        }
    }

    fn decrease(&mut self, window: &CongestionWindow, episode: &Episode) -> WindowSize {
        self.before_loss = Some(self.history);
        self.history.epoch = None;
        // §4.8: the first congestion avoidance after a timeout begins on the plateau.
        let timeout = episode.signal == Signal::Rto;
        self.history.w_max = (!timeout).then(|| self.plateau(window.cwnd));
        self.end_slow_start(window.cwnd);
        self.history.cwnd_prior = window.cwnd;
        if timeout && let Some(steps) = &mut self.steps {
            steps.forget();
        }
        let beta = match self.rules.beta_ecn {
            // RFC 8511 §3.1.
            Some(beta) if episode.signal == Signal::Ecn && !window.in_slow_start() => beta,
            _ => self.rules.beta,
        };
        episode.window * beta
    }

    fn on_congestion(&mut self, window: &mut CongestionWindow, episode: &Episode) {
        let left = self.decrease(window, episode);
        window.reduce(episode, left);
        if episode.signal == Signal::Ecn {
            // §4.6: marks may bring the window to one segment, losses to two.
            let left = if episode.whole_ssthresh {
                left.trunc()
            } else {
                left
            };
            window.cwnd = left.max(WindowSize::from_segments(1.0)).segments();
        }
    }

    fn on_further_timeout(&mut self, _now: Instant) {
        self.history.epoch = None;
        self.history.w_max = None;
        self.end_slow_start(0.0);
        if let Some(steps) = &mut self.steps {
            steps.forget();
        }
    }

    fn on_undo(&mut self, window: &CongestionWindow, windows: Windows) {
        // §4.9, unless the window has grown beyond it since.
        if window.cwnd < windows.cwnd.segments()
            && let Some(before) = self.before_loss.take()
        {
            self.history = before;
        }
    }

    fn on_restart(&mut self, now: Instant, idle: Duration) {
        if !self.rules.begins_with_empty_path {
            self.shift_epoch(idle.secs());
        }
        self.seen_secs = now.secs();
    }

    /// The time since the last segment left is none of the epoch's.
    fn on_empty_path(&mut self, now: Instant, since: Duration, _next: SeqNum) {
        let Some(steps) = self
            .steps
            .as_ref()
            .filter(|_| self.rules.begins_with_empty_path)
        else {
            return;
        };
        let [last, now] = [now - since, now].map(|time| steps.now(time).at);
        if let Some(epoch) = &mut self.history.epoch {
            let shifted = epoch.start_secs + (now - last).secs();
            epoch.start_secs = shifted.min(now.secs());
        }
    }

    /// 0 where undefined.
    fn probe(&self, _window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        let epoch = self.history.epoch;
        out("w_max", self.history.w_max.unwrap_or(0.0));
        out("k", epoch.map_or(0.0, |epoch| epoch.k));
        out("w_est", epoch.map_or(0.0, |epoch| epoch.w_est));
        out("cwnd_prior", self.history.cwnd_prior);
    }
}
