//! Reno: slow start and additive increase, multiplicative decrease.
//!
//! Specification: RFC 5681 §3.1, §3.2.
//!
//! Model, in segments:
//! - slow start (`cwnd < ssthresh`): `cwnd += 1` for everything that counts
//! - congestion avoidance: `cwnd += 1 / cwnd` for everything that counts (equation 3)
//! - loss: `ssthresh = cwnd = window * beta`
//! - mark: the same, in congestion avoidance with `beta_ecn` where that is set (RFC 8511 §3.1)
//! - timeout: `ssthresh = window * beta`, `cwnd = 1`
//!
//! Deviations: none. `beta` is 1/2 in the RFC.
//!
//! What counts is every acknowledgement of new data, or with `tcp.byte_counting` every segment that it acknowledges (RFC 3465).
//!
//! Kernel equivalent: `reno`, in whole segments.

use super::{
    Ack, Algorithm, BETA_ECN, CongestionControl, Episode, Growth, Prescribed, Signal, Start,
    Windows, beta_ecn, slow_start,
};
use crate::registry::{Entry, Kind, Param, Value};

pub const ENTRY: Entry<Algorithm> = Entry {
    name: "reno",
    summary: "slow start, additive increase and multiplicative decrease of standard TCP",
    specification: &["RFC 5681 §3.1", "RFC 8511 §3.1"],
    params: &[
        Param {
            name: "beta",
            summary: "the window is multiplied by this at a loss",
            kind: Kind::Number {
                min: 0.01,
                max: 0.99,
            },
            default: Value::Number(0.5),
        },
        BETA_ECN,
    ],
    new: Algorithm::of(|params, start| {
        Box::new(Reno {
            beta_ecn: beta_ecn(params),
            ..Reno::new(params.number("beta"), start)
        })
    }),
};

#[derive(Debug)]
pub struct Reno {
    beta: f64,
    beta_ecn: Option<f64>,
    cwnd: f64,
    ssthresh: f64,
    growth: Growth,
}

impl Reno {
    pub fn new(beta: f64, start: Start) -> Self {
        Self {
            beta,
            beta_ecn: None,
            cwnd: start.cwnd,
            ssthresh: start.ssthresh,
            growth: Growth::new(start.whole_windows),
        }
    }

    fn on_loss(&mut self, loss: &Episode) {
        let window = loss.window * self.beta;
        self.ssthresh = loss.threshold(window);
        self.cwnd = loss.reduced(window);
        self.growth.restart();
    }

    fn on_ecn(&mut self, mark: &Episode) {
        let avoids = self.cwnd >= self.ssthresh;
        let window = mark.window * self.beta_ecn.filter(|_| avoids).unwrap_or(self.beta);
        self.ssthresh = mark.threshold(window);
        self.cwnd = mark.reduced(window);
        self.growth.restart();
    }

    fn on_rto(&mut self, rto: &Episode) {
        self.ssthresh = rto.threshold(rto.window * self.beta);
        self.cwnd = 1.0;
        self.growth.restart();
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.may_grow || !ack.cwnd_limited {
            return;
        }
        let mut counted = ack.counted;
        if self.cwnd < self.ssthresh {
            (self.cwnd, counted) = slow_start(self.cwnd, self.ssthresh, counted);
        }
        if counted > 0 {
            self.cwnd = self.growth.add(self.cwnd, counted, 1.0);
        }
    }

    fn on_congestion(&mut self, episode: &Episode) {
        match episode.signal {
            Signal::Loss => self.on_loss(episode),
            Signal::Ecn => self.on_ecn(episode),
            Signal::Rto => self.on_rto(episode),
        }
    }

    fn prescribe(&mut self, prescribed: Prescribed) {
        match prescribed {
            Prescribed::Cwnd(cwnd) => self.cwnd = cwnd,
            Prescribed::Ssthresh(ssthresh) => self.ssthresh = ssthresh,
        }
    }

    fn windows(&self) -> Windows {
        Windows {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::Told as _;
    use crate::units::Instant;

    fn ack() -> Ack {
        Ack::of(Instant::from_secs(1.0), 1, 10)
    }

    fn loss(window: f64) -> Episode {
        Episode {
            whole_ssthresh: true,
            ns2: true,
            ..Episode::of(Instant::from_secs(1.0), window)
        }
    }

    #[test]
    fn rfc5681_3_1_slow_start_adds_one_segment_per_acknowledgement() {
        let mut reno = Reno::new(
            0.5,
            Start {
                ssthresh: 4.0,
                ..Start::at(2.0)
            },
        );
        reno.on_ack(&ack());
        reno.on_ack(&ack());
        assert!((reno.cwnd() - 4.0).abs() < f64::EPSILON);
        reno.on_ack(&ack());
        assert!((reno.cwnd() - 4.25).abs() < f64::EPSILON, "then 1/cwnd");
    }

    #[test]
    fn rfc5681_equation_4_halves_but_not_below_two_segments() {
        let mut reno = Reno::new(
            0.5,
            Start {
                ssthresh: 100.0,
                ..Start::at(31.0)
            },
        );
        reno.on_loss(&loss(31.0));
        assert!((reno.ssthresh() - 15.0).abs() < f64::EPSILON);
        assert!((reno.cwnd() - 15.5).abs() < f64::EPSILON);
        reno.on_rto(&loss(3.0));
        assert!((reno.ssthresh() - 2.0).abs() < f64::EPSILON);
        assert!((reno.cwnd() - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn what_was_counted_before_a_loss_does_not_count_after_it() {
        let mut reno = Reno::new(
            0.5,
            Start {
                ssthresh: 53.0,
                whole_windows: true,
                ..Start::at(53.0)
            },
        );
        // Nearly the next segment.
        (0..52).for_each(|_| reno.on_ack(&ack()));
        reno.on_loss(&loss(53.0));
        reno.set_cwnd(26.0);
        (0..25).for_each(|_| reno.on_ack(&ack()));
        assert!((reno.cwnd() - 26.0).abs() < f64::EPSILON);
        reno.on_ack(&ack());
        assert!((reno.cwnd() - 27.0).abs() < f64::EPSILON);
    }

    #[test]
    fn the_window_does_not_grow_during_recovery() {
        let mut reno = Reno::new(
            0.5,
            Start {
                ssthresh: 5.0,
                ..Start::at(10.0)
            },
        );
        reno.on_ack(&Ack {
            may_grow: false,
            ..ack()
        });
        assert!((reno.cwnd() - 10.0).abs() < f64::EPSILON);
    }

    #[test]
    fn rfc8511_3_1_a_mark_takes_less_in_congestion_avoidance_and_as_much_as_a_loss_in_slow_start() {
        let mut params = crate::registry::Params::defaults(ENTRY.params);
        params.set("beta_ecn", Value::Number(0.8));
        for (ssthresh, left) in [(10.0, 16.0), (f64::INFINITY, 10.0)] {
            let mut reno = (ENTRY.new.new)(
                &params,
                Start {
                    ssthresh,
                    ..Start::at(20.0)
                },
            );
            reno.on_ecn(&loss(20.0));
            assert!((reno.cwnd() - left).abs() < 1e-12);
            assert!((reno.ssthresh() - left).abs() < 1e-12);
            reno.on_loss(&loss(20.0));
            assert!((reno.cwnd() - 10.0).abs() < 1e-12);
        }
    }
}
