//! Reno: slow start and additive increase, multiplicative decrease.
//!
//! Specification: RFC 5681 §3.1, §3.2.
//!
//! Model, in segments:
//! - slow start (`cwnd < ssthresh`): `cwnd += 1` for every acknowledgement of new data
//! - congestion avoidance: `cwnd += 1 / cwnd` for every acknowledgement of new data (equation 3)
//! - loss: `ssthresh = cwnd = window * beta`
//! - timeout: `ssthresh = window * beta`, `cwnd = 1`
//!
//! Deviations: none. `beta` is 1/2 in the RFC; it is a parameter for ABE-like studies.
//!
//! Kernel equivalent: `reno`, which counts segments where this counts acknowledgements.

use super::{Ack, CongestionControl, Episode, New, Start};
use crate::registry::{Entry, Kind, Param, Value};

pub const ENTRY: Entry<New> = Entry {
    name: "reno",
    summary: "slow start, additive increase and multiplicative decrease of standard TCP",
    specification: &["RFC 5681 §3.1"],
    params: &[Param {
        name: "beta",
        summary: "the window is multiplied by this at a loss",
        kind: Kind::Number {
            min: 0.01,
            max: 0.99,
        },
        default: Value::Number(0.5),
    }],
    new: |params, start| Box::new(Reno::new(params.number("beta"), start)),
};

#[derive(Debug)]
pub struct Reno {
    beta: f64,
    cwnd: f64,
    ssthresh: f64,
}

impl Reno {
    pub fn new(beta: f64, start: Start) -> Self {
        Self {
            beta,
            cwnd: start.cwnd,
            ssthresh: start.ssthresh,
        }
    }
}

impl CongestionControl for Reno {
    #[inline]
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.may_grow {
            return;
        }
        if self.cwnd < self.ssthresh {
            self.cwnd += 1.0;
        } else {
            self.cwnd += 1.0 / self.cwnd;
        }
    }

    fn on_loss(&mut self, loss: &Episode) {
        let window = loss.window * self.beta;
        self.ssthresh = loss.threshold(window);
        self.cwnd = loss.reduced(window);
    }

    fn on_rto(&mut self, rto: &Episode) {
        self.ssthresh = rto.threshold(rto.window * self.beta);
        self.cwnd = 1.0;
    }

    fn set_cwnd(&mut self, cwnd: f64) {
        self.cwnd = cwnd;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Instant;

    fn ack() -> Ack {
        Ack {
            now: Instant::from_secs(1.0),
            acked: 1,
            flight_size: 10,
            rtt_secs: None,
            may_grow: true,
        }
    }

    fn loss(window: f64) -> Episode {
        Episode {
            now: Instant::from_secs(1.0),
            window,
            flight_size: 10,
            whole_ssthresh: true,
            ns2: true,
        }
    }

    #[test]
    fn rfc5681_3_1_slow_start_adds_one_segment_per_acknowledgement() {
        let mut reno = Reno::new(
            0.5,
            Start {
                cwnd: 2.0,
                ssthresh: 4.0,
                ns2: false,
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
                cwnd: 31.0,
                ssthresh: 100.0,
                ns2: false,
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
    fn the_window_does_not_grow_during_recovery() {
        let mut reno = Reno::new(
            0.5,
            Start {
                cwnd: 10.0,
                ssthresh: 5.0,
                ns2: false,
            },
        );
        reno.on_ack(&Ack {
            may_grow: false,
            ..ack()
        });
        assert!((reno.cwnd() - 10.0).abs() < f64::EPSILON);
    }
}
