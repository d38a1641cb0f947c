//! TCP-LP: standard TCP that backs off as soon as delays rise, to use only what others leave.
//!
//! Specification: Kuzmanovic and Knightly 2003, 2006 (early congestion indication; congestion avoidance policy).
//!
//! Model, in segments:
//! - `sd = (1 - gamma) sd + gamma d`: the smoothed delay; `d_min` and `d_max` are the least and the largest delay seen
//! - early congestion indication: `sd > d_min + (d_max - d_min) delta`, heeded at most once per round-trip time, and not in the one after a loss
//! - the first: `cwnd *= decrease`, and an inference phase of `inference_rtts` round-trip times, in which the window does not grow
//! - another in the inference phase: `cwnd = 1`, and the phase begins anew
//! - otherwise standard TCP: slow start and `cwnd += 1 / cwnd` for everything that counts; loss: `ssthresh = cwnd = window * decrease`;
//!   timeout: the same threshold, `cwnd = 1`
//!
//! Deviations: the paper's delays are one-way, by time stamps of both ends. There are none here yet: the round-trip time stands in for
//! the one-way delay, so a queue on the way back counts, too; the delay of a lone segment is not taken, because the receiver may hold its
//! acknowledgement back, and a window of one segment would never grow again. The paper gives its policy for congestion avoidance: in
//! slow start, whose first loss shows what `d_max` is, indications are heeded only with `in_slow_start`, and one ends it, as a loss does. The
//! round-trip time that phases are measured in is the smoothed one.
//!
//! Kernel equivalent: `lp`, in whole segments; it knows one-way delays only with time stamps. Measured of the module in ns-2.35's Linux
//! agent: it heeds indications in slow start, too (`in_slow_start`), leaves the threshold alone (`lowers_threshold` false), so that it
//! slow-starts from one segment, and does so after about three round-trip times. Measured of Linux 6.1: it hardly ever heeds an indication.
//! Of 25 flows, alone, in pairs and in fives, at 10 to 100 Mbit/s, 10 to 80 ms, queues of 0.2 to 5 BDP, with losses and without, 23 are
//! Reno's to the segment in windows, goodput and retransmissions. One of the others is Reno's when the same scenario is run again at another
//! time of the kernel's clock; there the window fell to one segment at once, twice in its first half second. So the defaults where
//! `tcp.algorithms = "linux"` have `delta = 1`: the smoothed delay is never above the largest.

use super::params::{FACTOR, SHARE, parameters};
use super::{
    AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, Episode, VariableProbe,
};
use crate::registry::{Entry, Kind, Value};
use crate::units::{Duration, SegCount, WindowSize};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "lp",
    summary: "TCP-LP: standard TCP of low priority, which backs off when delays rise",
    specification: &[
        "Kuzmanovic and Knightly 2003",
        "Kuzmanovic and Knightly 2006",
    ],
    params: LpParameters::PARAMS,
    new: Algorithm {
        linux: &[("delta", Value::Number(1.0))],
        ..Algorithm::of(|params, start| {
            ClassicControl::boxed(start, Lp::new(LpParameters::from(params)))
        })
    },
};

parameters! {
    /// The algorithm's parameters.
    struct LpParameters {
        delta: f64 = SHARE => Value::Number(0.15), "share of the range of delays above which the smoothed delay indicates congestion";
        gamma: f64 = Kind::Number { min: 0.001, max: 1.0 } => Value::Number(0.125), "share of the latest delay in the smoothed one";
        inference_rtts: f64 = Kind::Number { min: 0.0, max: 1e6 } => Value::Number(3.0),
            "how long a second indication means that others are sending, round-trip times";
        decrease: f64 = FACTOR => Value::Number(0.5), "the window is multiplied by this at an indication or a loss";
        in_slow_start: bool = Kind::Bool => Value::Bool(false), "whether indications are heard in slow start, too";
        lowers_threshold: bool = Kind::Bool => Value::Bool(true),
            "whether an indication leaves congestion avoidance, rather than slow start up to the old threshold";
    }
}

/// Delays, seconds.
#[derive(Clone, Copy, Debug)]
struct LpDelays {
    least: f64,
    largest: f64,
    smoothed: f64,
}

impl LpDelays {
    fn observe(&mut self, delay: f64, gamma: f64) {
        self.least = self.least.min(delay);
        self.largest = self.largest.max(delay);
        self.smoothed += gamma * (delay - self.smoothed);
    }

    fn threshold(&self, delta: f64) -> f64 {
        self.least + (self.largest - self.least) * delta
    }
}

#[derive(Debug)]
struct Lp {
    rules: LpParameters,
    delays: Option<LpDelays>,
    /// Until when indications are not heeded, and until when the inference phase lasts, microseconds.
    deaf_until: f64,
    inference_until: f64,
}

/// In whole microseconds: differences of large times are rounded differently, which must not make a round trip seem too short.
fn whole_us(secs: f64) -> f64 {
    libm::round(secs * 1e6)
}

impl Lp {
    fn new(rules: LpParameters) -> Self {
        Self {
            rules,
            delays: None,
            deaf_until: f64::NEG_INFINITY,
            inference_until: f64::NEG_INFINITY,
        }
    }

    fn indicates_congestion(&self, window: &CongestionWindow, now_us: f64) -> bool {
        now_us >= self.deaf_until
            && (self.rules.in_slow_start || !window.in_slow_start())
            && self
                .delays
                .is_some_and(|delays| delays.smoothed > delays.threshold(self.rules.delta))
    }

    /// Heeds no indication for a round-trip time.
    fn turn_deaf(&mut self, now_us: f64) {
        let rtt = self.delays.map_or(0.0, |delays| delays.smoothed);
        self.deaf_until = now_us + whole_us(rtt);
    }

    fn back_off(&mut self, window: &mut CongestionWindow, now_us: f64) {
        let left = if now_us < self.inference_until {
            1.0
        } else {
            window.whole(window.cwnd * self.rules.decrease)
        };
        window.cwnd = left.max(1.0);
        if self.rules.lowers_threshold {
            window.ssthresh = left.max(2.0);
        }
        let rtt = self.delays.map_or(0.0, |delays| delays.smoothed);
        self.inference_until = now_us + whole_us(self.rules.inference_rtts * rtt);
        self.turn_deaf(now_us);
    }
}

impl Avoidance for Lp {
    fn on_ack(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        // A lone segment's acknowledgement may have waited at the receiver.
        let delay = ack
            .rtt
            .map(Duration::secs)
            .filter(|_| ack.flight_size > SegCount::ONE);
        if let Some(delay) = delay {
            self.delays
                .get_or_insert(LpDelays {
                    least: delay,
                    largest: delay,
                    smoothed: delay,
                })
                .observe(delay, self.rules.gamma);
        }
        if !ack.may_grow {
            return;
        }
        let now_us = whole_us(ack.now.secs());
        if delay.is_some() && self.indicates_congestion(window, now_us) {
            self.back_off(window, now_us);
        } else if now_us >= self.inference_until && ack.cwnd_limited {
            self.grow(window, ack);
        }
    }

    fn decrease(&mut self, _window: &CongestionWindow, episode: &Episode) -> WindowSize {
        self.turn_deaf(whole_us(episode.now.secs()));
        episode.window * self.rules.decrease
    }

    fn probe(&self, _window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        if let Some(delays) = self.delays {
            out("d_min", delays.least);
            out("d_max", delays.largest);
            out("sd", delays.smoothed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;

    /// In congestion avoidance with 20 segments, having seen delays of 100 and 200 ms and smoothed them to 100 ms.
    fn lp() -> ClassicControl<Lp> {
        let own = Lp::new(LpParameters::from(&params(&ENTRY, &[])));
        let mut lp = ClassicControl::new(avoiding(20.0), own);
        lp.own.delays = Some(LpDelays {
            least: 0.1,
            largest: 0.2,
            smoothed: 0.1,
        });
        lp
    }

    /// The window after an acknowledgement.
    fn after(lp: &mut ClassicControl<Lp>, at: f64, rtt: f64) -> f64 {
        lp.on_ack(&AckedData {
            rtt: Some(Duration::from_secs(rtt)),
            ..ack_at(at, 1, 20)
        });
        lp.cwnd()
    }

    #[test]
    fn kuzmanovic2006_a_rising_delay_halves_the_window() {
        let mut lp = lp();
        // The threshold is 100 + 0.15 * 100 = 115 ms; 0.875 * 100 + 0.125 * 200 = 112.5 ms.
        assert!((after(&mut lp, 1.0, 0.2) - 20.05).abs() < 1e-12);
        // 0.875 * 112.5 + 0.125 * 200 = 123.4 ms.
        assert!((after(&mut lp, 1.01, 0.2) - 10.025).abs() < 1e-12);
        assert!((lp.ssthresh() - 10.025).abs() < 1e-12);
    }

    #[test]
    fn kuzmanovic2006_a_second_indication_in_the_inference_phase_leaves_one_segment() {
        let mut lp = lp();
        after(&mut lp, 1.0, 0.2);
        let halved = after(&mut lp, 1.01, 0.2);
        // Not heeded within a round trip of 123 ms, and the window stands.
        assert_eq!(after(&mut lp, 1.12, 0.2), halved);
        assert_eq!(after(&mut lp, 1.2, 0.2), 1.0);
        assert_eq!(lp.ssthresh(), 2.0);
    }

    #[test]
    fn kuzmanovic2006_growth_resumes_when_the_inference_phase_is_over() {
        let mut lp = lp();
        after(&mut lp, 1.0, 0.2);
        let halved = after(&mut lp, 1.01, 0.2);
        // The delay is back at 100 ms.
        lp.own.delays = Some(LpDelays {
            smoothed: 0.1,
            ..lp.own.delays.expect("delays")
        });
        // The phase lasts 3 * 123.4 = 370 ms.
        assert_eq!(after(&mut lp, 1.37, 0.1), halved);
        assert!((after(&mut lp, 1.39, 0.1) - (halved + 1.0 / halved)).abs() < 1e-12);
    }

    #[test]
    fn an_indication_after_the_inference_phase_halves_again() {
        let mut lp = lp();
        after(&mut lp, 1.0, 0.2);
        let halved = after(&mut lp, 1.01, 0.2);
        assert!((after(&mut lp, 1.39, 0.2) - halved / 2.0).abs() < 1e-12);
    }

    #[test]
    fn slow_start_hears_of_congestion_only_if_told_to() {
        let mut quiet = lp();
        quiet.window.ssthresh = f64::INFINITY;
        after(&mut quiet, 1.0, 0.2);
        assert_eq!(after(&mut quiet, 1.01, 0.2), 22.0);
        let mut heeding = lp();
        heeding.window.ssthresh = f64::INFINITY;
        heeding.own.rules.in_slow_start = true;
        after(&mut heeding, 1.0, 0.2);
        assert_eq!(after(&mut heeding, 1.01, 0.2), 10.5);
        assert_eq!(heeding.ssthresh(), 10.5);
    }

    #[test]
    fn a_threshold_that_is_kept_lets_slow_start_resume() {
        let mut lp = lp();
        lp.window.ssthresh = 20.0;
        lp.own.rules.lowers_threshold = false;
        after(&mut lp, 1.0, 0.2);
        let halved = after(&mut lp, 1.01, 0.2);
        assert_eq!(lp.ssthresh(), 20.0);
        // The phase of 3 * 123.4 = 370 ms is over; below the threshold an acknowledgement adds one segment.
        assert_eq!(after(&mut lp, 1.39, 0.1), halved + 1.0);
    }

    #[test]
    fn a_lone_segment_says_nothing_of_the_path() {
        let mut lp = lp();
        lp.on_ack(&AckedData {
            rtt: Some(Duration::from_secs(2.0)),
            ..ack_at(1.0, 1, 1)
        });
        assert!(lp.cwnd() > 20.0);
        assert_eq!(lp.own.delays.map(|delays| delays.largest), Some(0.2));
    }

    #[test]
    fn a_loss_halves_and_indications_are_not_heard_for_a_round_trip() {
        let mut lp = lp();
        lp.own.delays = Some(LpDelays {
            least: 0.1,
            largest: 0.2,
            smoothed: 0.2,
        });
        lp.on_loss(&whole_loss(20.0));
        assert_eq!((lp.cwnd(), lp.ssthresh()), (10.0, 10.0));
        // The loss was at 1 s.
        assert!(after(&mut lp, 1.19, 0.2) > 10.0);
        assert!(after(&mut lp, 1.21, 0.2) < 6.0);
        lp.on_rto(&whole_loss(20.0));
        assert_eq!((lp.cwnd(), lp.ssthresh()), (1.0, 10.0));
    }

    #[test]
    fn kuzmanovic2006_at_the_end_of_the_inference_phase_an_indication_halves() {
        let mut lp = lp();
        lp.own.inference_until = 1e6;
        lp.own.back_off(&mut lp.window, 1e6);
        assert_eq!(lp.cwnd(), 10.0);
        lp.own.inference_until = 3e6;
        lp.own.back_off(&mut lp.window, 2.999_999e6);
        assert_eq!(lp.cwnd(), 1.0);
    }

    #[test]
    fn two_segments_say_something_of_the_path() {
        let mut lp = lp();
        lp.on_ack(&AckedData {
            rtt: Some(Duration::from_secs(2.0)),
            ..ack_at(1.0, 1, 2)
        });
        assert_eq!(lp.own.delays.map(|delays| delays.largest), Some(2.0));
    }
}
