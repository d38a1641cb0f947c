//! HighSpeed TCP: standard TCP below `low_window`; above it, increase and decrease follow a response function chosen
//! so that a window of `high_window` is sustained at a loss rate of `high_p`.
//!
//! Specification: RFC 3649 §5 (response function), §6 (a(w) and b(w)).
//!
//! Model, in segments:
//! - `p(w)` is the line through (`low_window`, `low_p`) and (`high_window`, `high_p`) in log-log scale
//! - `b(w) = (high_decrease - 0.5) (ln w - ln low_window) / (ln high_window - ln low_window) + 0.5`
//! - `a(w) = w² p(w) 2 b(w) / (2 - b(w))`
//! - congestion avoidance: `cwnd += a(cwnd) / cwnd` for every acknowledgement of new data
//! - loss: `cwnd = (1 - b(cwnd)) window`; in slow start, and for `ssthresh` after a timeout, standard TCP's half
//!
//! Deviations: none as specified. With `tcp.algorithms = "ns2"`, as measured of ns-2.35: a flow's first reduction of any kind
//! halves the window, and a loss at or below `low_window` multiplies it by the last b(w) that was computed above, at a loss or a
//! timeout, instead of one half. `low_p` defaults to the standard response function at `low_window`, `1.5 / low_window²`, which RFC 3649 §5
//! rounds to 10^-3. The RFC leaves losses in slow start to standard TCP; ns-2, measured, does the same.
//!
//! Kernel equivalent: `highspeed`, which uses the table of RFC 3649 Appendix B.

use super::{Ack, BETA_ECN, CongestionControl, Episode, Growth, New, Start, beta_ecn, slow_start};
use crate::registry::{Entry, Kind, Param, Params, Value};

pub const ENTRY: Entry<New> = Entry {
    name: "highspeed",
    summary: "HighSpeed TCP: larger increase and smaller decrease above a window of 38 segments",
    specification: &["RFC 3649 §5", "RFC 3649 §6"],
    params: &[
        Param {
            name: "low_window",
            summary: "standard TCP up to this window, segments",
            kind: Kind::Number { min: 2.0, max: 1e9 },
            default: Value::Number(38.0),
        },
        Param {
            name: "low_p",
            summary: "loss rate at low_window; `none`: that of standard TCP, 1.5 / low_window^2",
            kind: Kind::Number {
                min: 1e-15,
                max: 1.0,
            },
            default: Value::None,
        },
        Param {
            name: "high_window",
            summary: "window sustained at a loss rate of high_p, segments",
            kind: Kind::Number {
                min: 3.0,
                max: 1e12,
            },
            default: Value::Number(83_000.0),
        },
        Param {
            name: "high_p",
            summary: "loss rate at high_window",
            kind: Kind::Number {
                min: 1e-15,
                max: 1.0,
            },
            default: Value::Number(1e-7),
        },
        Param {
            name: "high_decrease",
            summary: "share of the window given up at a loss at high_window",
            kind: Kind::Number {
                min: 0.01,
                max: 0.5,
            },
            default: Value::Number(0.1),
        },
        BETA_ECN,
    ],
    new: |params, start| {
        Box::new(HighSpeed {
            beta_ecn: beta_ecn(params),
            ..HighSpeed::new(Response::from(params), start)
        })
    },
};

/// The response function: everything that follows from the five parameters.
#[derive(Clone, Copy, Debug)]
pub struct Response {
    low_window: f64,
    high_decrease: f64,
    ln_low_window: f64,
    ln_low_p: f64,
    /// `ln high_window - ln low_window`.
    ln_windows: f64,
    /// `ln high_p - ln low_p`.
    ln_ps: f64,
}

impl From<&Params> for Response {
    fn from(params: &Params) -> Self {
        let low_window = params.number("low_window");
        let low_p = match params.get("low_p") {
            Value::Number(low_p) => low_p,
            _ => 1.5 / (low_window * low_window),
        };
        Self::new(
            low_window,
            low_p,
            params.number("high_window"),
            params.number("high_p"),
            params.number("high_decrease"),
        )
    }
}

impl Response {
    fn new(low_window: f64, low_p: f64, high_window: f64, high_p: f64, high_decrease: f64) -> Self {
        let ln = libm::log;
        Self {
            low_window,
            high_decrease,
            ln_low_window: ln(low_window),
            ln_low_p: ln(low_p),
            ln_windows: ln(high_window) - ln(low_window),
            ln_ps: ln(high_p) - ln(low_p),
        }
    }

    /// Share of the window given up at a loss, `b(w)`.
    pub fn decrease(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return 0.5;
        }
        (self.high_decrease - 0.5) * self.position(window) + 0.5
    }

    /// Segments by which the window grows per round trip, `a(w)`.
    pub fn increase(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return 1.0;
        }
        let p = libm::exp(self.ln_low_p + self.position(window) * self.ln_ps);
        let b = self.decrease(window);
        (window * window * p * 2.0 * b / (2.0 - b)).max(1.0)
    }

    /// Where `window` lies between the low (0) and the high (1) window, in log scale.
    fn position(&self, window: f64) -> f64 {
        (libm::log(window) - self.ln_low_window) / self.ln_windows
    }
}

#[derive(Debug)]
pub struct HighSpeed {
    response: Response,
    beta_ecn: Option<f64>,
    cwnd: f64,
    ssthresh: f64,
    growth: Growth,
    ns2: Option<Ns2>,
}

/// What ns-2 remembers of a flow's reductions.
#[derive(Clone, Copy, Debug)]
struct Ns2 {
    /// Whether there has been one.
    reduced: bool,
    /// What a window at or below `low_window` is multiplied by: one half at first, then the last b(w) above it.
    factor: f64,
}

impl HighSpeed {
    pub fn new(response: Response, start: Start) -> Self {
        Self {
            response,
            beta_ecn: None,
            cwnd: start.cwnd,
            ssthresh: start.ssthresh,
            growth: Growth::new(start.whole_windows),
            ns2: start.ns2.then_some(Ns2 {
                reduced: false,
                factor: 0.5,
            }),
        }
    }

    /// What a loss multiplies the window by.
    fn factor(&self) -> f64 {
        if self.cwnd < self.ssthresh {
            return 0.5;
        }
        match self.ns2 {
            Some(Ns2 { reduced: false, .. }) => 0.5,
            Some(Ns2 { factor, .. }) if self.cwnd <= self.response.low_window => factor,
            _ => 1.0 - self.response.decrease(self.cwnd),
        }
    }

    fn remember_reduction(&mut self) {
        if let Some(ns2) = &mut self.ns2 {
            ns2.reduced = true;
            if self.cwnd > self.response.low_window {
                ns2.factor = self.response.decrease(self.cwnd);
            }
        }
    }
}

impl CongestionControl for HighSpeed {
    fn on_ack(&mut self, ack: &Ack) {
        if !ack.may_grow || !ack.cwnd_limited {
            return;
        }
        let mut counted = ack.counted;
        if self.cwnd < self.ssthresh {
            (self.cwnd, counted) = slow_start(self.cwnd, self.ssthresh, counted);
        }
        if counted > 0 {
            let increase = self.response.increase(self.cwnd);
            self.cwnd = self.growth.add(self.cwnd, counted, increase);
        }
    }

    fn on_loss(&mut self, loss: &Episode) {
        let window = self.factor() * loss.window;
        self.remember_reduction();
        self.ssthresh = loss.threshold(window);
        self.cwnd = loss.reduced(window);
    }

    fn on_ecn(&mut self, mark: &Episode) {
        // RFC 8511 §3.1, where it takes less than the response function: at small windows.
        let avoids = self.cwnd >= self.ssthresh;
        let factor = match self.beta_ecn {
            Some(beta) if avoids => beta.max(self.factor()),
            _ => self.factor(),
        };
        let window = factor * mark.window;
        self.remember_reduction();
        self.ssthresh = mark.threshold(window);
        self.cwnd = mark.reduced(window);
        self.growth.restart();
    }

    fn on_rto(&mut self, rto: &Episode) {
        self.remember_reduction();
        self.ssthresh = rto.threshold(0.5 * rto.window);
        self.cwnd = 1.0;
    }

    fn set_cwnd(&mut self, cwnd: f64) {
        self.cwnd = cwnd;
    }

    fn set_ssthresh(&mut self, ssthresh: f64) {
        self.ssthresh = ssthresh;
    }

    fn cwnd(&self) -> f64 {
        self.cwnd
    }

    fn ssthresh(&self) -> f64 {
        self.ssthresh
    }

    fn probe(&self, out: &mut super::Probe<'_>) {
        out("a_w", self.response.increase(self.cwnd));
        out("b_w", self.response.decrease(self.cwnd));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rfc3649() -> Response {
        Response::new(38.0, 1e-3, 83_000.0, 1e-7, 0.1)
    }

    /// Rows of RFC 3649 Appendix B: w, a(w), b(w). Each w is the smallest window for which a(w) has reached the whole number,
    /// computed with the rounded response function p(w) = 0.078 / w^1.2 of §5.
    const APPENDIX_B: [(f64, f64, f64); 14] = [
        (38.0, 1.0, 0.50),
        (118.0, 2.0, 0.44),
        (221.0, 3.0, 0.41),
        (347.0, 4.0, 0.38),
        (495.0, 5.0, 0.37),
        (663.0, 6.0, 0.35),
        (851.0, 7.0, 0.34),
        (1058.0, 8.0, 0.33),
        (1284.0, 9.0, 0.32),
        (1529.0, 10.0, 0.31),
        (1793.0, 11.0, 0.30),
        (2076.0, 12.0, 0.29),
        (2378.0, 13.0, 0.28),
        (3399.0, 16.0, 0.27),
    ];

    #[test]
    fn rfc3649_appendix_b_the_decrease() {
        for (window, _, decrease) in APPENDIX_B {
            let computed = rfc3649().decrease(window);
            assert!(
                (computed - decrease).abs() <= 0.006,
                "b({window}) is {computed}, not {decrease}"
            );
        }
    }

    #[test]
    fn rfc3649_appendix_b_the_increase() {
        for (window, increase, _) in APPENDIX_B {
            let computed = rfc3649().increase(window);
            // The rounding of p(w) to two digits in §5 moves a(w) by up to 3 %.
            assert!(
                (computed / increase - 1.0).abs() <= 0.03,
                "a({window}) is {computed}, not {increase}"
            );
        }
    }

    #[test]
    fn below_the_low_window_it_is_standard_tcp() {
        assert!((rfc3649().increase(38.0) - 1.0).abs() < f64::EPSILON);
        assert!((rfc3649().decrease(20.0) - 0.5).abs() < f64::EPSILON);
    }
}
