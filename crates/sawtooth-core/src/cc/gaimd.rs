//! GAIMD: standard TCP with another increase and another decrease, as friendly to it and smoother.
//!
//! Specification: Y. R. Yang, S. S. Lam, "General AIMD Congestion Control", ICNP 2000.
//!
//! Model, in segments:
//! - slow start: standard TCP
//! - congestion avoidance: `cwnd += alpha / cwnd` for everything that counts
//! - loss: `ssthresh = cwnd = beta * window`; timeout: the same threshold, `cwnd = 1`
//!
//! A flow is TCP-friendly, which is to say that losses as frequent let it send as much as TCP, for `alpha = 4 (1 - beta²) / 3`: 0.3125 with a
//! `beta` of 7/8, of which the paper's simulations have 0.31.
//!
//! Deviations: none. `alpha` does not follow `beta`: who changes one says what the other is.
//!
//! Kernel equivalent: none in Linux.

use super::params::BETA;
use super::{Algorithm, Avoidance, ClassicControl, CongestionWindow, Episode};
use crate::registry::{Entry, Kind, Param, Params, Value, param};
use crate::units::WindowSize;

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "gaimd",
    summary: "General AIMD: another increase and decrease than standard TCP's, as friendly and smoother",
    specification: &["Yang and Lam 2000"],
    params: &[
        param!(alpha: Kind::Number { min: 0.001, max: 100.0 } => Value::Number(0.31),
            "the window grows by this when a window has been acknowledged, segments; TCP-friendly: 4 (1 - beta^2) / 3"),
        Param {
            default: Value::Number(7.0 / 8.0),
            ..BETA
        },
    ],
    new: Algorithm::of(|params, start| ClassicControl::boxed(start, Gaimd::from(params))),
};

#[derive(Debug)]
struct Gaimd {
    alpha: f64,
    beta: f64,
}

impl From<&Params> for Gaimd {
    fn from(params: &Params) -> Self {
        Self {
            alpha: params.number("alpha"),
            beta: params.number("beta"),
        }
    }
}

impl Avoidance for Gaimd {
    fn increase(&self, _window: &CongestionWindow) -> f64 {
        self.alpha
    }

    fn decrease(&mut self, _window: &CongestionWindow, episode: &Episode) -> WindowSize {
        self.beta * episode.window
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;

    fn gaimd(cwnd: f64, alpha: f64, beta: f64) -> ClassicControl<Gaimd> {
        ClassicControl::new(avoiding(cwnd), Gaimd { alpha, beta })
    }

    /// The mean window of a flow of which every `1 / loss_rate`th segment is lost, segments, and how much of its largest window the smallest is.
    fn mean(alpha: f64, beta: f64, loss_rate: f64) -> (f64, f64) {
        let mut gaimd = gaimd(10.0, alpha, beta);
        let mut window = (f64::INFINITY, 0.0_f64);
        let (mut segments, mut round_trips) = (0.0, 0.0);
        for cycle in 0..60 {
            if cycle == 40 {
                (segments, round_trips) = (0.0, 0.0);
            }
            let mut left = 1.0 / loss_rate;
            while left > 0.0 {
                // An acknowledgement is worth 1 / cwnd of a round trip.
                round_trips += 1.0 / gaimd.cwnd();
                segments += 1.0;
                left -= 1.0;
                gaimd.on_ack(&ack());
            }
            window.1 = gaimd.cwnd();
            gaimd.on_loss(&loss(gaimd.cwnd()));
            window.0 = gaimd.cwnd();
        }
        (segments / round_trips, window.0 / window.1)
    }

    #[test]
    fn yang2000_a_window_that_is_acknowledged_adds_alpha_and_a_loss_leaves_beta() {
        let mut gaimd = ClassicControl::new(avoiding(31.0), Gaimd::from(&params(&ENTRY, &[])));
        gaimd.on_ack(&ack());
        assert!((gaimd.cwnd() - 31.01).abs() < 1e-12, "0.31 / 31");
        gaimd.on_loss(&loss(32.0));
        assert_eq!((gaimd.cwnd(), gaimd.ssthresh()), (28.0, 28.0));
        gaimd.on_rto(&loss(32.0));
        assert_eq!((gaimd.cwnd(), gaimd.ssthresh()), (1.0, 28.0));
    }

    #[test]
    fn yang2000_the_mean_window_follows_from_alpha_beta_and_the_rate_of_losses() {
        // Without timeouts and with every segment acknowledged the sending rate is sqrt(alpha (1 + beta) / (2 (1 - beta) p)) per round-trip time.
        // From beta W to W it takes (1 - beta) W / alpha round trips, in which (1 - beta^2) W^2 / (2 alpha) = 1 / p segments are sent.
        for (alpha, beta, loss_rate) in [
            (1.0, 0.5, 1e-4),
            (0.31, 0.875, 1e-4),
            (0.31, 0.875, 1e-3),
            (2.0, 0.25, 1e-4),
        ] {
            let formula = libm::sqrt(alpha * (1.0 + beta) / (2.0 * (1.0 - beta) * loss_rate));
            let (mean, left) = mean(alpha, beta, loss_rate);
            assert!((mean / formula - 1.0).abs() < 0.02, "{mean} {formula}");
            assert!((left - beta).abs() < 1e-9);
        }
    }

    #[test]
    fn yang2000_the_defaults_are_friendly_to_tcp_where_losses_are_frequent() {
        // Both terms of the paper's rate, with b = 1: the one of timeouts, sqrt((1 - beta^2) p / (2 alpha)), is TCP's for alpha = 4 (1 - beta^2) / 3.
        let params = params(&ENTRY, &[]);
        let (alpha, beta) = (params.number("alpha"), params.number("beta"));
        assert_eq!(4.0 * (1.0 - beta * beta) / 3.0, 0.3125);
        let timeouts = |alpha: f64, beta: f64| libm::sqrt((1.0 - beta * beta) / (2.0 * alpha));
        assert!((timeouts(0.3125, beta) - timeouts(1.0, 0.5)).abs() < 1e-12);
        // 0.31 is that to two digits; the term without timeouts would want 3 (1 - beta) / (1 + beta) = 0.2.
        assert!((alpha - 0.3125).abs() < 0.005);
        let (friendly, tcp) = (mean(0.2, beta, 1e-4).0, mean(1.0, 0.5, 1e-4).0);
        assert!((friendly / tcp - 1.0).abs() < 0.02, "{friendly} {tcp}");
    }
}
