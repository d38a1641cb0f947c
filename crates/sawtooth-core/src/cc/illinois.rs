//! TCP-Illinois: losses say whether the window grows or shrinks, queueing delay says by how much.
//!
//! Specification: Liu, Başar and Srikant 2008, "TCP-Illinois: A loss- and delay-based congestion control algorithm for high-speed
//! networks", Performance Evaluation 65(6-7), §3.
//!
//! Model, in segments:
//! - `T_min`, `T_max`: the least and the largest round-trip time seen; `d_m = T_max - T_min`; `d_i = eta_i d_m`
//! - once per round trip: `d_a` is the mean round-trip time of that round trip, less `T_min`
//! - `alpha(d_a) = alpha_max` if `d_a <= d_1`, else `kappa_1 / (kappa_2 + d_a)`: falls to `alpha_min` at `d_m`
//! - `beta(d_a) = beta_min` if `d_a <= d_2`, `beta_max` if `d_a >= d_3`, else the line `kappa_3 + kappa_4 d_a` between them
//! - `alpha` returns to `alpha_max` only after `theta` round trips in succession with `d_a <= d_1`
//! - a window below `w_thresh` at the end of a round trip has `alpha = 1`, `beta = 1/2`, as standard TCP, for the next; so has one that is not yet measured
//! - slow start: standard TCP; congestion avoidance: `cwnd += alpha / cwnd` for everything that counts
//! - loss: `ssthresh = cwnd = window * (1 - beta)`
//! - timeout: `ssthresh = window / 2`, `cwnd = 1`; `alpha`, `beta` are standard TCP's until the next round trip is measured
//!
//! Deviations: none known. While nothing has ever queued (`d_m = 0`) there is no delay, so `alpha = alpha_max`.
//!
//! Kernel equivalent: `illinois`, in whole segments. Measured of Linux 6.1: from a loss at 14 on it grows by one per round trip up to 15, and
//! faster from there (`w_thresh` = 15). Segments count that are acknowledged cumulatively, reported before or not (an acknowledgement of three, two of them reported before, makes a window of 3 one of 4),
//! and neither those beyond a step nor those left of an acknowledgement that ends slow start. Where windows are whole, alpha is in whole 128ths and beta in whole 64ths (`alpha_min` = 38/128); a
//! round trip ends with an acknowledgement of more than had been sent at its start, and not while a loss is repaired; a timeout takes what a loss takes. With these the packets of 13 of 15 random scenarios
//! are the kernel's, and without them 6.

use super::params::{COUNT, FACTOR, SHARE, parameters};
use super::{
    AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, Episode, ParamOrder, Signal,
    VariableProbe,
};
use crate::registry::{Entry, Kind, Value};
use crate::units::{Duration, Instant, SeqNum, WindowSize, floor};

/// Parts of one in which alpha and beta are counted where windows are whole, rounded down.
const ALPHA_PARTS: f64 = 128.0;
const BETA_PARTS: f64 = 64.0;

/// Of standard TCP (RFC 5681 §3.1), which small windows follow.
const STANDARD: Gains = Gains {
    alpha: 1.0,
    beta: 0.5,
};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "illinois",
    summary: "TCP-Illinois: additive increase from 10 down to 0.3 segments and decrease from 1/8 up to 1/2, by queueing delay",
    specification: &["Liu, Başar and Srikant 2008 §3"],
    params: Curves::PARAMS,
    new: Algorithm {
        linux: &[
            ("w_thresh", Value::Number(15.0)),
            ("alpha_min", Value::Number(38.0 / 128.0)),
        ],
        ordered: &[
            ("alpha_min", ParamOrder::AtMost, "alpha_max"),
            ("beta_min", ParamOrder::AtMost, "beta_max"),
            ("eta_1", ParamOrder::AtMost, "eta_2"),
            ("eta_2", ParamOrder::AtMost, "eta_3"),
        ],
        ..Algorithm::of(|params, start| {
            ClassicControl::boxed(start, Illinois::new(Curves::from(params)))
        })
    },
};

/// Segments per round trip.
const SEGMENTS: Kind = Kind::Number {
    min: 0.01,
    max: 1e6,
};

/// The increase in segments per round trip, and the share of the window given up at a loss, at a certain delay.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gains {
    alpha: f64,
    beta: f64,
}

parameters! {
    /// The functions of delay: everything that follows from the parameters.
    struct Curves {
        alpha_min: f64 = SEGMENTS => Value::Number(0.3), "increase at the largest delay, segments per round trip";
        alpha_max: f64 = SEGMENTS => Value::Number(10.0), "increase without delay, segments per round trip";
        beta_min: f64 = FACTOR => Value::Number(0.125), "share of the window given up at a loss without delay";
        beta_max: f64 = FACTOR => Value::Number(0.5), "share of the window given up at a loss at a large delay";
        eta_1: f64 = SHARE => Value::Number(0.01), "up to this share of the largest delay the increase is alpha_max";
        eta_2: f64 = SHARE => Value::Number(0.1), "up to this share of the largest delay the decrease is beta_min";
        eta_3: f64 = SHARE => Value::Number(0.8), "from this share of the largest delay on the decrease is beta_max";
        w_thresh: f64 = Kind::Number { min: 0.0, max: 1e6 } => Value::Number(10.0), "standard TCP below this window, segments";
        theta: i64 = COUNT => Value::Integer(5), "round trips with little delay before the increase is alpha_max again";
    }
}

impl Curves {
    /// `f_1`, where the delay is above `d_1`.
    fn alpha(&self, d_a: f64, d_m: f64) -> f64 {
        let d_1 = self.eta_1 * d_m;
        let span = self.alpha_max - self.alpha_min;
        // Equal bounds leave no curve between them.
        if span <= 0.0 || d_a <= d_1 {
            return self.alpha_max;
        }
        let kappa_1 = (d_m - d_1) * self.alpha_min * self.alpha_max / span;
        let kappa_2 = (d_m - d_1) * self.alpha_min / span - d_1;
        kappa_1 / (kappa_2 + d_a)
    }

    /// `f_2`.
    fn beta(&self, d_a: f64, d_m: f64) -> f64 {
        let (d_2, d_3) = (self.eta_2 * d_m, self.eta_3 * d_m);
        if d_a <= d_2 {
            self.beta_min
        } else if d_a >= d_3 {
            self.beta_max
        } else {
            // The line through (d_2, beta_min) and (d_3, beta_max), which kappa_3 and kappa_4 describe.
            self.beta_min + (self.beta_max - self.beta_min) * (d_a - d_2) / (d_3 - d_2)
        }
    }
}

/// Round-trip times of one round trip and of all.
#[derive(Clone, Copy, Debug)]
struct IllinoisRtts {
    t_min_secs: f64,
    t_max_secs: f64,
    sum_secs: f64,
    count: u32,
    /// The round trip is over when everything before this segment has been acknowledged.
    end: SeqNum,
}

#[derive(Debug)]
struct Illinois {
    curves: Curves,
    gains: Gains,
    rtts: IllinoisRtts,
    /// The mean queueing delay of the last round trip.
    d_a_secs: f64,
    /// Whether there has been delay since the increase was last `alpha_max`, and for how many round trips in succession there has been little.
    delayed: bool,
    low: i64,
    /// A timeout has ended the round trip: the next acknowledgement begins another.
    restarts: bool,
}

impl Illinois {
    fn new(curves: Curves) -> Self {
        Self {
            curves,
            gains: STANDARD,
            rtts: IllinoisRtts {
                t_min_secs: f64::INFINITY,
                t_max_secs: 0.0,
                sum_secs: 0.0,
                count: 0,
                end: SeqNum::ZERO,
            },
            d_a_secs: 0.0,
            delayed: false,
            low: 0,
            restarts: false,
        }
    }

    /// The largest queueing delay seen.
    fn d_m_secs(&self) -> f64 {
        (self.rtts.t_max_secs - self.rtts.t_min_secs).max(0.0)
    }

    /// `alpha` and `beta` for the delay of the round trip that has ended.
    fn adapt(&mut self, cwnd: f64) {
        let (d_a, d_m) = (self.d_a_secs, self.d_m_secs());
        if cwnd < self.curves.w_thresh {
            self.gains = STANDARD;
            return;
        }
        self.gains.beta = self.curves.beta(d_a, d_m);
        if d_a > self.curves.eta_1 * d_m {
            self.delayed = true;
            self.low = 0;
            self.gains.alpha = self.curves.alpha(d_a, d_m);
            return;
        }
        self.low += 1;
        if !self.delayed || self.low >= self.curves.theta {
            self.delayed = false;
            self.gains.alpha = self.curves.alpha_max;
        }
    }

    /// After a timeout.
    fn forget(&mut self) {
        self.gains = STANDARD;
        self.delayed = false;
        self.low = 0;
        self.rtts.sum_secs = 0.0;
        self.rtts.count = 0;
        self.restarts = true;
    }
}

impl Avoidance for Illinois {
    fn measure(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        let rtts = &mut self.rtts;
        if let Some(sample_secs) = ack.rtt.map(Duration::secs) {
            rtts.t_min_secs = rtts.t_min_secs.min(sample_secs);
            rtts.t_max_secs = rtts.t_max_secs.max(sample_secs);
            rtts.sum_secs += sample_secs;
            rtts.count += 1;
        }
        let whole = window.growth.whole;
        if std::mem::take(&mut self.restarts) && whole {
            rtts.end = ack.snd_nxt;
        }
        let over = if whole {
            ack.may_grow && ack.snd_una > rtts.end
        } else {
            ack.snd_una >= rtts.end
        };
        if !over {
            return;
        }
        rtts.end = ack.snd_nxt;
        if rtts.count == 0 {
            if whole && window.cwnd < self.curves.w_thresh {
                self.gains = STANDARD;
            }
            return;
        }
        let mean_secs = rtts.sum_secs / f64::from(rtts.count);
        rtts.sum_secs = 0.0;
        rtts.count = 0;
        // The mean of round trips that are all alike is beyond the largest by rounding, maybe.
        self.d_a_secs = (mean_secs - self.rtts.t_min_secs).clamp(0.0, self.d_m_secs());
        self.adapt(window.cwnd);
        if whole {
            self.gains.alpha = floor(self.gains.alpha * ALPHA_PARTS) / ALPHA_PARTS;
            self.gains.beta = floor(self.gains.beta * BETA_PARTS + 1e-9) / BETA_PARTS;
        }
    }

    fn grow(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        if !window.growth.whole {
            let counted = window.start_slowly(ack.counted);
            window.grow(counted, self.gains.alpha);
        } else if window.in_slow_start() {
            window.start_slowly(ack.counted);
        } else {
            let cwnd = window.cwnd;
            window.grow(ack.acked, self.gains.alpha);
            if window.cwnd > cwnd {
                window.growth.restart();
            }
        }
    }

    fn decrease(&mut self, window: &CongestionWindow, episode: &Episode) -> WindowSize {
        let beta = self.gains.beta;
        if episode.signal == Signal::Rto {
            self.forget();
            if !window.growth.whole {
                return episode.window * (1.0 - STANDARD.beta);
            }
        }
        // Whole segments are given up where windows are whole. Measured of Linux 6.1: half of 15 leaves 8.
        let given_up = window.whole((episode.window * beta).segments());
        episode.window - WindowSize::from_segments(given_up)
    }

    fn on_further_timeout(&mut self, _now: Instant) {
        self.forget();
    }

    fn probe(&self, _window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        out("alpha", self.gains.alpha);
        out("beta", self.gains.beta);
        out("d_a", self.d_a_secs);
        out("d_m", self.d_m_secs());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;
    use crate::registry::Params;
    use crate::units::testing::seq;

    fn curves() -> Curves {
        Curves::from(&Params::defaults(ENTRY.params))
    }

    fn illinois(cwnd: f64) -> ClassicControl<Illinois> {
        ClassicControl::new(avoiding(cwnd), Illinois::new(curves()))
    }

    /// An acknowledgement that ends a round trip, with the only sample of it; the window stays.
    fn round(illinois: &mut ClassicControl<Illinois>, rtt_secs: f64) {
        illinois.on_ack(&AckedData {
            rtt: Some(Duration::from_secs(rtt_secs)),
            may_grow: false,
            ..ack_at(1.0, 1, 10)
        });
    }

    #[test]
    fn the_increase_falls_from_alpha_max_to_alpha_min() {
        // d_m = 100 ms: d_1 = 1 ms, kappa_1 = 0.099 * 0.3 * 10 / 9.7 = 0.0306186, kappa_2 = 0.099 * 0.3 / 9.7 - 0.001 = 0.00206186.
        // At 50 ms: 0.0306186 / 0.05206186 = 0.588119.
        for (d_a, alpha) in [(0.0, 10.0), (0.001, 10.0), (0.05, 0.588_119), (0.1, 0.3)] {
            let computed = curves().alpha(d_a, 0.1);
            assert!((computed - alpha).abs() < 1e-5, "{d_a}: {computed}");
        }
    }

    #[test]
    fn the_decrease_rises_from_an_eighth_to_one_half() {
        // d_m = 100 ms: d_2 = 10 ms, d_3 = 80 ms; halfway between them, at 45 ms, (1/8 + 1/2) / 2 = 0.3125.
        for (d_a, beta) in [(0.01, 0.125), (0.045, 0.3125), (0.08, 0.5), (0.1, 0.5)] {
            let computed = curves().beta(d_a, 0.1);
            assert!((computed - beta).abs() < 1e-9, "{d_a}: {computed}");
        }
    }

    #[test]
    fn round_trips_that_are_all_alike_have_no_delay() {
        // The mean of seven times 118.021891 ms is 10^-17 s more.
        for rounds in [1, 7, 25] {
            let mut illinois = illinois(100.0);
            for acknowledged in [0].into_iter().chain(1..=rounds) {
                illinois.on_ack(&AckedData {
                    rtt: Some(Duration::from_secs(0.118_021_891)),
                    may_grow: false,
                    snd_una: seq(acknowledged),
                    snd_nxt: seq(rounds),
                    ..ack_at(1.0, 1, 10)
                });
            }
            let found = (illinois.own.d_a_secs, illinois.own.gains.alpha);
            assert_eq!(found, (0.0, 10.0), "{rounds}");
        }
    }

    #[test]
    fn a_loss_with_and_without_a_full_queue() {
        let mut illinois = illinois(100.0);
        round(&mut illinois, 0.1);
        round(&mut illinois, 0.2);
        // The last round trip had the largest delay: one half.
        illinois.on_loss(&loss(100.0));
        assert!((illinois.cwnd() - 50.0).abs() < 1e-9);
        round(&mut illinois, 0.1);
        // No delay, so the loss was not congestion: an eighth of 80 is 10.
        illinois.on_loss(&loss(80.0));
        assert!((illinois.cwnd() - 70.0).abs() < 1e-9);
    }

    #[test]
    fn in_linux_whole_segments_are_given_up() {
        // Measured: below the threshold of 15 segments by half, and half of 15 is 7.5: 8 are left.
        let mut illinois = illinois(100.0);
        illinois.window.growth.whole = true;
        illinois.own.gains = STANDARD;
        illinois.on_loss(&loss(15.0));
        assert!((illinois.cwnd() - 8.0).abs() < 1e-9);
    }

    #[test]
    fn the_largest_increase_comes_back_after_theta_round_trips_without_delay() {
        let mut illinois = illinois(100.0);
        round(&mut illinois, 0.1);
        assert!(
            (illinois.own.gains.alpha - 10.0).abs() < 1e-9,
            "none before"
        );
        round(&mut illinois, 0.2);
        assert!((illinois.own.gains.alpha - 0.3).abs() < 1e-9);
        for _ in 0..4 {
            round(&mut illinois, 0.1);
            assert!((illinois.own.gains.alpha - 0.3).abs() < 1e-9);
        }
        round(&mut illinois, 0.1);
        assert!((illinois.own.gains.alpha - 10.0).abs() < 1e-9);
    }

    #[test]
    fn the_delay_is_the_mean_of_a_round_trip() {
        let mut illinois = illinois(100.0);
        let mut ack = |snd_una, rtt_secs| {
            illinois.on_ack(&AckedData {
                rtt: Some(Duration::from_secs(rtt_secs)),
                snd_una: SeqNum::new(snd_una),
                snd_nxt: SeqNum::new(snd_una + 2),
                may_grow: false,
                ..ack_at(1.0, 1, 2)
            });
            illinois.own.d_a_secs
        };
        // The first ends at once, and its round trip at 3: two samples, of 120 and 140 ms.
        assert_eq!(ack(1, 0.1), 0.0);
        assert_eq!(ack(2, 0.12), 0.0);
        assert!((ack(3, 0.14) - 0.03).abs() < 1e-9);
    }

    #[test]
    fn where_windows_are_whole_gains_are_whole_parts_and_a_round_trip_ends_beyond_what_was_sent() {
        let mut illinois = illinois(100.0);
        illinois.window.growth.whole = true;
        let mut ack = |snd_una, rtt_secs, may_grow| {
            illinois.on_ack(&AckedData {
                rtt: Some(Duration::from_secs(rtt_secs)),
                snd_una: SeqNum::new(snd_una),
                snd_nxt: SeqNum::new(snd_una + 2),
                may_grow,
                cwnd_limited: false,
                ..ack_at(1.0, 1, 2)
            });
            illinois.own.gains
        };
        let first = ack(1, 0.1, true);
        // Its round trip ends beyond segment 3, and not while a loss is repaired.
        assert_eq!(ack(3, 0.2, true), first);
        assert_eq!(ack(4, 0.2, false), first);
        // A mean of 180 ms: d_a = 80 ms of 100. kappa_1 / (kappa_2 + d_a) = 0.37 is 47/128, and at 8/10 beta is one half.
        let gains = ack(5, 0.14, true);
        assert_eq!((gains.alpha * 128.0).fract(), 0.0);
        assert!((gains.alpha - 0.37).abs() < 1.0 / 128.0, "{gains:?}");
        assert_eq!(gains.beta, 0.5);
        // One of 140: (1/8 + 3/8 (40 - 10) / 70) = 0.2857 is 18/64.
        assert_eq!(ack(8, 0.14, true).beta, 18.0 / 64.0);
    }

    #[test]
    fn in_linux_a_timeout_takes_what_a_loss_takes() {
        let mut illinois = illinois(100.0);
        illinois.window.growth.whole = true;
        illinois.own.gains.beta = 0.125;
        illinois.on_rto(&loss(80.0));
        assert_eq!((illinois.cwnd(), illinois.ssthresh()), (1.0, 70.0));
        assert_eq!(illinois.own.gains, STANDARD);
    }

    #[test]
    fn a_small_window_is_standard_tcp() {
        let mut illinois = illinois(8.0);
        round(&mut illinois, 0.1);
        illinois.on_ack(&ack_at(1.0, 1, 8));
        assert!((illinois.cwnd() - 8.125).abs() < 1e-9);
        illinois.on_loss(&loss(8.0));
        assert!((illinois.cwnd() - 4.0).abs() < 1e-9);
    }
}
