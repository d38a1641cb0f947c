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
//! Deviations: `b(w)` is at least 0.01. With `tcp.algorithms = "ns2"`, as measured of ns-2.35: a flow's first reduction of any kind
//! halves the window, and a loss at or below `low_window` multiplies it by the last b(w) that was computed above, at a loss or a
//! timeout, instead of one half. `low_p` defaults to the standard response function at `low_window`, `1.5 / low_window²`, which RFC 3649 §5
//! rounds to 10^-3. The RFC leaves losses in slow start to standard TCP; ns-2, measured, does the same.
//!
//! Kernel equivalent: `highspeed`, which uses the table of RFC 3649 Appendix B (`response` = "table"). Measured of Linux 6.1: up to a window of 38 it
//! grows by one, from 39 by two, where the function still says 1.05; a loss in slow start at 69 leaves 35 and one in congestion avoidance at 56
//! leaves 32, so whole segments are given up and slow start keeps the row of before; one at 50 leaves 29, not 28: shares are in 256ths, rounded down, of the function at the row's window and not as printed (112 at 118 segments; one at 451 leaves 288, by the 93 of 495, of which the printed 37 % are 94); with an acknowledgement for every second segment a step
//! takes two windows (`counts` = "acks").

use super::params::{BETA_ECN, beta_ecn};
use super::{
    AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, Episode, ParamOrder, Signal,
    VariableProbe,
};
use crate::registry::{Entry, Kind, Params, Value, param};
use crate::units::{SegCount, WindowSize};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "highspeed",
    summary: "HighSpeed TCP: larger increase and smaller decrease above a window of 38 segments",
    specification: &["RFC 3649 §5", "RFC 3649 §6"],
    params: &[
        param!(low_window: Kind::Number { min: 2.0, max: 1e9 } => Value::Number(38.0),
            "standard TCP up to this window, segments"),
        param!(low_p: Kind::Number { min: 1e-15, max: 1.0 } => Value::None,
            "loss rate at low_window; `none`: that of standard TCP, 1.5 / low_window^2"),
        param!(high_window: Kind::Number { min: 3.0, max: 1e12 } => Value::Number(83_000.0),
            "window sustained at a loss rate of high_p, segments"),
        param!(high_p: Kind::Number { min: 1e-15, max: 1.0 } => Value::Number(1e-7),
            "loss rate at high_window"),
        param!(high_decrease: Kind::Number { min: 0.01, max: 0.5 } => Value::Number(0.1),
            "share of the window given up at a loss at high_window"),
        BETA_ECN,
        param!(response: Kind::Choice(&["function", "table"]) => Value::Choice("function"),
            "a(w) and b(w) from the response function, or from the rows that RFC 3649 Appendix B computes of it with the default parameters"),
        param!(counts: Kind::Choice(&["stack", "acks"]) => Value::Choice("stack"),
            "what congestion avoidance grows by: what the stack counts (`tcp.byte_counting`), or acknowledgements"),
    ],
    new: Algorithm {
        linux: &[
            ("response", Value::Choice("table")),
            ("counts", Value::Choice("acks")),
        ],
        ordered: &[
            ("low_window", ParamOrder::Below, "high_window"),
            ("high_p", ParamOrder::Below, "low_p"),
        ],
        ..Algorithm::of(|params, start| {
            let own = HighSpeed {
                row: (params.choice("response") == "table").then_some(0),
                counts_acks: params.choice("counts") == "acks",
                beta_ecn: beta_ecn(params),
                ..HighSpeed::new(ResponseFunction::from(params), start.ns2)
            };
            ClassicControl::boxed(start, own)
        })
    },
};

/// Less than this share of the window is not given up.
const LEAST_DECREASE: f64 = 0.01;

/// RFC 3649 Appendix B: a(w) is the row's number, counted from 1, up to this window, in segments; b(w) there, as printed in hundredths.
const ROWS: [(u32, u32); 73] = [
    (38, 50),
    (118, 44),
    (221, 41),
    (347, 38),
    (495, 37),
    (663, 35),
    (851, 34),
    (1_058, 33),
    (1_284, 32),
    (1_529, 31),
    (1_793, 30),
    (2_076, 29),
    (2_378, 28),
    (2_699, 28),
    (3_039, 27),
    (3_399, 27),
    (3_778, 26),
    (4_177, 26),
    (4_596, 25),
    (5_036, 25),
    (5_497, 24),
    (5_979, 24),
    (6_483, 23),
    (7_009, 23),
    (7_558, 22),
    (8_130, 22),
    (8_726, 22),
    (9_346, 21),
    (9_991, 21),
    (10_661, 21),
    (11_358, 20),
    (12_082, 20),
    (12_834, 20),
    (13_614, 19),
    (14_424, 19),
    (15_265, 19),
    (16_137, 19),
    (17_042, 18),
    (17_981, 18),
    (18_955, 18),
    (19_965, 17),
    (21_013, 17),
    (22_101, 17),
    (23_230, 17),
    (24_402, 16),
    (25_618, 16),
    (26_881, 16),
    (28_193, 16),
    (29_557, 15),
    (30_975, 15),
    (32_450, 15),
    (33_986, 15),
    (35_586, 14),
    (37_253, 14),
    (38_992, 14),
    (40_808, 14),
    (42_707, 13),
    (44_694, 13),
    (46_776, 13),
    (48_961, 13),
    (51_258, 13),
    (53_677, 12),
    (56_230, 12),
    (58_932, 12),
    (61_799, 12),
    (64_851, 11),
    (68_113, 11),
    (71_617, 11),
    (75_401, 10),
    (79_517, 10),
    (84_035, 10),
    (89_053, 10),
    (94_717, 9),
];

/// The response function: everything that follows from the five parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct ResponseFunction {
    low_window: f64,
    high_decrease: f64,
    ln_low_window: f64,
    ln_low_p: f64,
    /// `ln high_window - ln low_window`.
    ln_windows: f64,
    /// `ln high_p - ln low_p`.
    ln_ps: f64,
}

impl From<&Params> for ResponseFunction {
    fn from(params: &Params) -> Self {
        let low_window = params.number("low_window");
        let standard = 1.5 / (low_window * low_window);
        let low_p = params.number_if_any("low_p").unwrap_or(standard);
        Self::new(
            low_window,
            low_p,
            params.number("high_window"),
            params.number("high_p"),
            params.number("high_decrease"),
        )
    }
}

impl ResponseFunction {
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
    pub(super) fn decrease(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return 0.5;
        }
        self.decrease_at(self.position(window))
    }

    fn decrease_at(&self, position: f64) -> f64 {
        // Far beyond `high_window` the line would reach zero: with the default parameters at 569,000 segments.
        ((self.high_decrease - 0.5) * position + 0.5).max(LEAST_DECREASE)
    }

    /// Segments by which the window grows per round trip, `a(w)`.
    pub(super) fn increase(&self, window: f64) -> f64 {
        if window <= self.low_window {
            return 1.0;
        }
        let position = self.position(window);
        // Beyond either end of the line it is still a probability.
        let p = libm::exp(self.ln_low_p + position * self.ln_ps).min(1.0);
        let b = self.decrease_at(position);
        (window * window * p * 2.0 * b / (2.0 - b)).max(1.0)
    }

    /// Where `window` lies between the low (0) and the high (1) window, in log scale.
    fn position(&self, window: f64) -> f64 {
        (libm::log(window) - self.ln_low_window) / self.ln_windows
    }
}

#[derive(Debug)]
struct HighSpeed {
    response: ResponseFunction,
    beta_ecn: Option<f64>,
    ns2: Option<Ns2>,
    /// With the table: the row in force, which congestion avoidance chooses.
    row: Option<usize>,
    counts_acks: bool,
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
    fn new(response: ResponseFunction, ns2: bool) -> Self {
        Self {
            response,
            beta_ecn: None,
            ns2: ns2.then_some(Ns2 {
                reduced: false,
                factor: 0.5,
            }),
            row: None,
            counts_acks: false,
        }
    }

    /// Chooses the table's row for the window.
    fn choose_row(&mut self, cwnd: f64) {
        if let Some(row) = &mut self.row {
            let found = ROWS.partition_point(|&(window, _)| f64::from(window) < cwnd);
            *row = found.min(ROWS.len() - 1);
        }
    }

    /// What a loss multiplies the window by.
    fn factor(&self, window: &CongestionWindow) -> f64 {
        if window.in_slow_start() {
            return 0.5;
        }
        match self.ns2 {
            Some(Ns2 { reduced: false, .. }) => 0.5,
            Some(Ns2 { factor, .. }) if window.cwnd <= self.response.low_window => factor,
            _ => 1.0 - self.response.decrease(window.cwnd),
        }
    }

    /// `b(w)` of a row of the table.
    fn decrease_of(&self, row: usize) -> f64 {
        self.response.decrease(f64::from(ROWS[row].0))
    }

    /// What congestion leaves.
    fn left(&self, window: &CongestionWindow, episode: &Episode) -> WindowSize {
        match (self.row, episode.signal) {
            // Whole segments are given up. Measured of Linux 6.1, of a mark, too: 15 become 8.
            (Some(row), _) => {
                let share = (256.0 * self.decrease_of(row)).floor() / 256.0;
                episode.window - (episode.window * share).trunc()
            }
            (None, Signal::Rto) => 0.5 * episode.window,
            (None, _) => self.factor(window) * episode.window,
        }
    }

    fn remember_reduction(&mut self, cwnd: f64) {
        if let Some(ns2) = &mut self.ns2 {
            ns2.reduced = true;
            if cwnd > self.response.low_window {
                ns2.factor = self.response.decrease(cwnd);
            }
        }
    }
}

impl Avoidance for HighSpeed {
    fn grow(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        let counted = window.start_slowly(ack.counted);
        if !counted.is_zero() {
            self.choose_row(window.cwnd);
            let counted = if self.counts_acks {
                SegCount::ONE
            } else {
                counted
            };
            window.grow(counted, self.increase(window));
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "73 rows")]
    fn increase(&self, window: &CongestionWindow) -> f64 {
        match self.row {
            Some(row) => (row + 1) as f64,
            None => self.response.increase(window.cwnd),
        }
    }

    fn decrease(&mut self, window: &CongestionWindow, episode: &Episode) -> WindowSize {
        let left = self.left(window, episode);
        self.remember_reduction(window.cwnd);
        match self.beta_ecn {
            // RFC 8511 §3.1, where it takes less than the response function: at small windows.
            Some(beta) if episode.signal == Signal::Ecn && !window.in_slow_start() => {
                left.max(beta * episode.window)
            }
            _ => left,
        }
    }

    fn probe(&self, window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        out("a_w", self.increase(window));
        let of_row = self.row.map(|row| self.decrease_of(row));
        out(
            "b_w",
            of_row.unwrap_or_else(|| self.response.decrease(window.cwnd)),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;

    fn rfc3649() -> ResponseFunction {
        ResponseFunction::new(38.0, 1e-3, 83_000.0, 1e-7, 0.1)
    }

    #[test]
    fn rfc3649_appendix_b_the_decrease() {
        for (window, hundredths) in ROWS {
            let (computed, decrease) = (
                rfc3649().decrease(f64::from(window)),
                f64::from(hundredths) / 100.0,
            );
            assert!(
                (computed - decrease).abs() <= 0.006,
                "b({window}) is {computed}, not {decrease}"
            );
        }
    }

    #[test]
    fn rfc3649_appendix_b_the_increase() {
        for (increase, (window, _)) in (1u32..).zip(ROWS) {
            let computed = rfc3649().increase(f64::from(window));
            // The rounding of p(w) to 0.078 / w^1.2 in §5 moves a(w) by up to 3 %.
            assert!(
                (computed / f64::from(increase) - 1.0).abs() <= 0.03,
                "a({window}) is {computed}, not {increase}"
            );
        }
    }

    #[test]
    fn the_table_grows_by_a_whole_row_and_gives_up_whole_segments() {
        let start = ConnectionStart {
            whole_windows: true,
            ..avoiding(38.0)
        };
        let own = HighSpeed {
            row: Some(0),
            counts_acks: true,
            ..HighSpeed::new(rfc3649(), false)
        };
        let mut highspeed = ClassicControl::new(start, own);
        // 38 acknowledgements, each of two segments, for the first step; 20 for the next, as 2 * 20 > 39.
        let ack = |highspeed: &mut ClassicControl<HighSpeed>| {
            highspeed.on_ack(&ack_at(1.0, 2, 100));
        };
        (0..38).for_each(|_| ack(&mut highspeed));
        assert_eq!(highspeed.cwnd(), 39.0);
        (0..20).for_each(|_| ack(&mut highspeed));
        assert_eq!(highspeed.cwnd(), 40.0);
        // 0.44 * 56 = 24.64: 24 are given up.
        highspeed.on_loss(&whole_loss(56.0));
        assert_eq!(highspeed.cwnd(), 32.0);
        // As measured: b(495) is 0.3665, 93 of 256, where the table prints 0.37.
        highspeed.own.row = Some(4);
        highspeed.on_loss(&whole_loss(451.0));
        assert_eq!(highspeed.cwnd(), 288.0);
        // A mark in slow start is answered by the first row, as measured: half of 15 is 7.5, so that 7 are given up.
        highspeed.own.row = Some(0);
        highspeed.on_ecn(&whole_loss(15.0));
        assert_eq!(highspeed.cwnd(), 8.0);
    }

    #[test]
    fn below_the_low_window_it_is_standard_tcp() {
        assert!((rfc3649().increase(38.0) - 1.0).abs() < f64::EPSILON);
        assert!((rfc3649().decrease(20.0) - 0.5).abs() < f64::EPSILON);
    }

    #[test]
    fn rfc3649_appendix_b_its_program_computes_every_row() {
        // For every window from 38 on: b(w) by the logarithm between (38, 0.5) and (83,000, 0.1), a(w) = w^2 2 b / ((2 - b) w^1.2 12.8); a row
        // is printed where a(w) is more than one above that of the last row, b(w) with two digits.
        let mut rows = vec![(38, 50)];
        let mut last = 1.0;
        for window in 38..=100_000_u32 {
            let w = f64::from(window);
            let b = -0.4 * libm::log(w / 38.0) / libm::log(83_000.0 / 38.0) + 0.5;
            let a = w * w * 2.0 * b / ((2.0 - b) * libm::pow(w, 1.2) * 12.8);
            if a > last + 1.0 {
                last = a;
                rows.push((
                    window,
                    (0..100)
                        .find(|n| f64::from(*n) + 0.5 > 100.0 * b)
                        .expect("below 1"),
                ));
            }
        }
        assert_eq!(rows, ROWS);
    }

    fn of_ns2(episode: Episode) -> Episode {
        Episode {
            ns2: true,
            ..episode
        }
    }

    fn highspeed(cwnd: f64, ssthresh: f64, ns2: bool) -> ClassicControl<HighSpeed> {
        let start = starting(cwnd, ssthresh);
        ClassicControl::new(start, HighSpeed::new(rfc3649(), ns2))
    }

    fn near(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-6 * right, "{left} {right}");
    }

    #[test]
    fn rfc3649_5_the_loss_rate_at_the_low_window_is_what_is_given_or_standard_tcps() {
        let increase = |low_p: Option<f64>, window| {
            let mut params = Params::defaults(ENTRY.params);
            if let Some(low_p) = low_p {
                params.set("low_p", Value::Number(low_p));
            }
            ResponseFunction::from(&params).increase(window)
        };
        // a(w) = w^2 p 2 b / (2 - b) with b = 1/2 just above 38: 1444 * 0.002 * 2 / 3 = 1.925, and 1444 * 1.5 / 1444 * 2 / 3 = 1.
        let above = 38.0 + 1e-9;
        near(increase(Some(0.002), above), 1444.0 * 0.002 * 2.0 / 3.0);
        near(increase(None, above), 1.0);
        near(increase(Some(1e-3), 5000.0), rfc3649().increase(5000.0));
    }

    #[test]
    fn rfc3649_appendix_b_beyond_its_last_row_the_table_stays_there() {
        let mut highspeed = highspeed(100_000.0, 2.0, false);
        highspeed.own.row = Some(0);
        highspeed.own.choose_row(100_000.0);
        assert_eq!(highspeed.own.increase(&highspeed.window), 73.0);
        highspeed.on_loss(&loss(100_000.0));
        assert_eq!(highspeed.cwnd(), 91_016.0, "23 of 256 parts less");
    }

    #[test]
    fn rfc3649_5_a_loss_at_the_threshold_is_one_of_congestion_avoidance() {
        // b(1000) = 0.5 - 0.4 ln(1000 / 38) / ln(83000 / 38) = 0.5 - 0.4 * 3.270169 / 7.689011 = 0.329876.
        let left = |ssthresh| {
            let mut highspeed = highspeed(1000.0, ssthresh, false);
            highspeed.on_loss(&loss(1000.0));
            highspeed.cwnd()
        };
        assert!((left(1000.0) - 670.124).abs() < 0.01, "{}", left(1000.0));
        assert_eq!(left(1001.0), 500.0, "slow start");
    }

    #[test]
    fn in_ns2_the_first_reduction_halves_and_small_windows_keep_the_last_share() {
        let mut highspeed = highspeed(1000.0, 2.0, true);
        highspeed.on_loss(&of_ns2(loss(1000.0)));
        assert_eq!(highspeed.cwnd(), 500.0);
        highspeed.set_cwnd(1000.0);
        highspeed.set_ssthresh(2.0);
        highspeed.on_loss(&of_ns2(loss(1000.0)));
        // 1 - b(1000), as above.
        assert!((highspeed.cwnd() - 670.124).abs() < 0.01);
        // At or below 38 segments the window is multiplied by b(1000) itself, as measured.
        highspeed.set_cwnd(38.0);
        highspeed.set_ssthresh(2.0);
        highspeed.on_loss(&of_ns2(loss(30.0)));
        assert!((highspeed.cwnd() - 30.0 * 0.329_876).abs() < 1e-3);
    }
}
