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

use super::params::{BETA, BETA_ECN, beta_ecn};
use super::{Algorithm, Avoidance, ClassicControl, CongestionWindow, Episode, Signal};
use crate::registry::{Entry, Params};
use crate::units::WindowSize;

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "reno",
    summary: "slow start, additive increase and multiplicative decrease of standard TCP",
    specification: &["RFC 5681 §3.1", "RFC 8511 §3.1"],
    params: &[BETA, BETA_ECN],
    new: Algorithm::of(|params, start| ClassicControl::boxed(start, Reno::from(params))),
};

#[derive(Debug)]
struct Reno {
    beta: f64,
    beta_ecn: Option<f64>,
}

impl From<&Params> for Reno {
    fn from(params: &Params) -> Self {
        Self {
            beta: params.number("beta"),
            beta_ecn: beta_ecn(params),
        }
    }
}

impl Avoidance for Reno {
    fn decrease(&mut self, window: &CongestionWindow, episode: &Episode) -> WindowSize {
        let beta = match self.beta_ecn {
            Some(beta) if episode.signal == Signal::Ecn && !window.in_slow_start() => beta,
            _ => self.beta,
        };
        episode.window * beta
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;
    use crate::registry::Value;

    fn reno(start: ConnectionStart) -> ClassicControl<Reno> {
        ClassicControl::new(start, Reno::from(&params(&ENTRY, &[])))
    }

    /// In ns-2, which leaves the window unrounded.
    fn loss(window: f64) -> Episode {
        Episode {
            ns2: true,
            ..whole_loss(window)
        }
    }

    #[test]
    fn rfc5681_3_1_slow_start_adds_one_segment_per_acknowledgement() {
        let mut reno = reno(starting(2.0, 4.0));
        reno.on_ack(&ack());
        reno.on_ack(&ack());
        assert!((reno.cwnd() - 4.0).abs() < f64::EPSILON);
        reno.on_ack(&ack());
        assert!((reno.cwnd() - 4.25).abs() < f64::EPSILON, "then 1/cwnd");
    }

    #[test]
    fn rfc5681_equation_4_halves_but_not_below_two_segments() {
        let mut reno = reno(starting(31.0, 100.0));
        reno.on_loss(&loss(31.0));
        assert!((reno.ssthresh() - 15.0).abs() < f64::EPSILON);
        assert!((reno.cwnd() - 15.5).abs() < f64::EPSILON);
        reno.on_rto(&loss(3.0));
        assert!((reno.ssthresh() - 2.0).abs() < f64::EPSILON);
        assert!((reno.cwnd() - 1.0).abs() < f64::EPSILON);
    }

    #[test]
    fn what_was_counted_before_a_loss_does_not_count_after_it() {
        let mut reno = reno(ConnectionStart {
            ssthresh: WindowSize::from_segments(53.0),
            whole_windows: true,
            ..beginning(53.0)
        });
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
        let mut reno = reno(starting(10.0, 5.0));
        reno.on_ack(&AckedData {
            may_grow: false,
            ..ack()
        });
        assert!((reno.cwnd() - 10.0).abs() < f64::EPSILON);
    }

    #[test]
    fn rfc8511_3_1_a_mark_takes_less_in_congestion_avoidance_and_as_much_as_a_loss_in_slow_start() {
        let params = params(&ENTRY, &[("beta_ecn", Value::Number(0.8))]);
        for (ssthresh, left) in [(10.0, 16.0), (f64::INFINITY, 10.0)] {
            let mut reno = (ENTRY.new.new)(&params, starting(20.0, ssthresh));
            reno.on_ecn(&loss(20.0));
            assert!((reno.cwnd() - left).abs() < 1e-12);
            assert!((reno.ssthresh() - left).abs() < 1e-12);
            reno.on_loss(&loss(20.0));
            assert!((reno.cwnd() - 10.0).abs() < 1e-12);
        }
    }
}
