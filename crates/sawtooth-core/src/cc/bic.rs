//! BIC: a binary search for the window between that after the last loss, which the path carried, and that before it, which it did not;
//! in steps that are never too large, and beyond the old maximum a search for a new one.
//!
//! Specification: L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control (BIC) for Fast Long-Distance Networks", INFOCOM 2004, §III.
//!
//! Model, in segments:
//! - slow start, and up to `low_window` everything: standard TCP
//! - below `max_win`: `cwnd += inc / cwnd` for everything that counts, `inc = (max_win - cwnd) / search` between `s_min` and `s_max`
//! - beyond it, slow start: `inc` is 1 and doubles whenever the window has grown by it; from `s_max` on the increase is `s_max`. With
//!   `beyond = "mirror"` it is `search / smooth` up to `search` segments beyond, and `(cwnd - max_win) / (search - 1)` from there on, up to `s_max`
//! - where windows are whole, so are the steps of the search; all increases are multiplied by `ack_ratio`
//! - loss: `max_win = cwnd`, `cwnd = (1 - beta) window`; with fast convergence, if that max_win is below the last, it becomes the middle of
//!   itself and the new window
//! - timeout: the same, with `cwnd = 1`
//!
//! Deviations: the paper searches halves (`search = 2`); its min_win is the window itself whenever the next step is computed, and is not kept. Its
//! default maximum, "a large integer", is infinite. The paper leaves timeouts to the host's TCP; here they set what a loss sets.
//!
//! Kernel equivalent: `bic`, in whole segments. Measured of Linux 6.1, at 10 Mbit/s and 40 ms, after a loss at a window of 69 (819/1024 of it remain,
//! 55): segments acknowledged per step of the window are 9, 8, 10 from 55, 14 from 58, and 2.5 windows from 62 on: a step is a quarter of the
//! distance, 3, 2 or 1 whole segments, 1 being taken in `smooth` = 20 round trips for `search` = 4 segments, and everything is twice as fast, whether
//! acknowledgements are of one segment or of two (`ack_ratio` = 2). Beyond a maximum of 30: 2.5 windows up to 33, then 12, 10, 9, 8, 7, 7, 6, 6 and so
//! on, `3 cwnd / (cwnd - 30) / 2` (`beyond` = "mirror"), down to `cwnd / 32` (`s_max` = 16). A loss at 14 leaves 7 and is remembered: from 15 on a step takes 2.5 windows.

use super::params::{FACTOR, FAST_CONVERGENCE, parameters};
use super::{
    AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, Episode, ParamOrder,
    VariableProbe,
};
use crate::registry::{Entry, Kind, Value, Words, words};
use crate::units::{SegCount, WindowSize};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "bic",
    summary: "BIC: a binary search between the windows before and after the last loss",
    specification: &["Xu, Harfoush and Rhee 2004 §III"],
    params: BicParameters::PARAMS,
    new: Algorithm {
        linux: &[
            ("s_max", Value::Number(16.0)),
            ("beta", Value::Number(205.0 / 1024.0)),
            ("search", Value::Number(4.0)),
            ("smooth", Value::Number(20.0)),
            ("beyond", Value::Choice("mirror")),
            ("ack_ratio", Value::Number(2.0)),
        ],
        ordered: &[("s_min", ParamOrder::AtMost, "s_max")],
        ..Algorithm::of(|params, start| {
            ClassicControl::boxed(start, Bic::new(BicParameters::from(params)))
        })
    },
};

/// Slow start beyond the old maximum.
#[derive(Clone, Copy, Debug)]
struct Probing {
    ss_cwnd: f64,
    ss_target: f64,
}

words! {
    /// How the window grows beyond the old maximum.
    enum BeyondMaximum {
        /// By a slow start, up to the largest increase.
        SlowStart = "slow_start",
        /// By the steps of the search in reverse.
        Mirror = "mirror",
    }
}

parameters! {
    /// The algorithm's parameters.
    struct BicParameters {
        low_window: f64 = Kind::Number { min: 0.0, max: 1e9 } => Value::Number(14.0), "standard TCP up to this window, segments";
        s_max: f64 = Kind::Number { min: 1.0, max: 1e6 } => Value::Number(32.0), "largest increase per round trip, segments";
        s_min: f64 = Kind::Number { min: 0.0001, max: 1.0 } => Value::Number(0.01), "smallest increase per round trip, segments";
        beta: f64 = FACTOR => Value::Number(0.125), "share of the window given up at a loss";
        fast_convergence: bool = FAST_CONVERGENCE;
        search: f64 = Kind::Number { min: 1.0, max: 1000.0 } => Value::Number(2.0), "a step of the search is the distance to max_win divided by this";
        smooth: Option<f64> = Kind::Number { min: 1.0, max: 1e6 } => Value::None,
            "round trips that the last `search` segments to max_win take; `none`: searched like the others";
        beyond: BeyondMaximum = Kind::Choice(BeyondMaximum::WORDS) => Value::Choice(BeyondMaximum::SlowStart.word()),
            "how the window grows beyond max_win: by a slow start up to s_max, or by the search's steps in reverse, the further away the larger";
        ack_ratio: f64 = Kind::Number { min: 1.0, max: 100.0 } => Value::Number(1.0), "segments per acknowledgement that the increase makes up for";
    }
}

impl BicParameters {
    fn mirrors(&self) -> bool {
        self.beyond == BeyondMaximum::Mirror
    }
}

#[derive(Debug)]
struct Bic {
    rules: BicParameters,
    /// Infinite when unknown.
    max_win: f64,
    probing: Option<Probing>,
}

impl Bic {
    fn new(rules: BicParameters) -> Self {
        Self {
            rules,
            max_win: f64::INFINITY,
            probing: None,
        }
    }

    /// The increase per window acknowledged, `over` segments beyond max_win: at first as slow as the end of the search, and then faster with the distance.
    fn beyond(&self, over: f64) -> f64 {
        let step = match self.rules.smooth {
            Some(smooth) if over < self.rules.search => self.rules.search / smooth,
            _ => over / (self.rules.search - 1.0).max(1.0),
        };
        step.max(self.rules.s_min).min(self.rules.s_max)
    }

    fn avoid_congestion(&self, window: &mut CongestionWindow, counted: SegCount) {
        let increase = self.increase(window);
        let ratio = if window.cwnd <= self.rules.low_window {
            1.0
        } else {
            self.rules.ack_ratio
        };
        if window.growth.whole && self.rules.mirrors() {
            // A small tolerance, as steps are decimal fractions.
            let per = ((window.cwnd / increase + 1e-9).floor() / ratio).floor();
            window.cwnd = window.growth.every(window.cwnd, counted, per.max(1.0));
        } else {
            window.grow(counted, increase * ratio);
        }
    }

    /// The window has grown to `cwnd`: changes from the search to slow start beyond max_win, and from that to additive increase, where it is time.
    fn advance(&mut self, cwnd: f64) {
        if cwnd <= self.rules.low_window {
            return;
        }
        match &mut self.probing {
            None if cwnd >= self.max_win && !self.rules.mirrors() => {
                self.max_win = f64::INFINITY;
                self.probing = Some(Probing {
                    ss_cwnd: 1.0,
                    ss_target: cwnd + 1.0,
                });
            }
            Some(probing) if cwnd >= probing.ss_target => {
                probing.ss_cwnd *= 2.0;
                probing.ss_target = cwnd + probing.ss_cwnd;
                if probing.ss_cwnd >= self.rules.s_max {
                    self.probing = None;
                }
            }
            _ => {}
        }
    }
}

impl Avoidance for Bic {
    fn grow(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        let counted = window.start_slowly(ack.counted);
        if !counted.is_zero() {
            self.avoid_congestion(window, counted);
            self.advance(window.cwnd);
        }
    }

    fn increase(&self, window: &CongestionWindow) -> f64 {
        if window.cwnd <= self.rules.low_window {
            return 1.0;
        }
        if let Some(probing) = self.probing {
            return probing.ss_cwnd;
        }
        let distance = self.max_win - window.cwnd;
        if self.rules.mirrors() && distance <= 0.0 {
            return self.beyond(-distance);
        }
        let step = window.whole(distance / self.rules.search);
        let step = match self.rules.smooth {
            Some(smooth) if step <= 1.0 => self.rules.search / smooth,
            _ => step,
        };
        step.max(self.rules.s_min).min(self.rules.s_max)
    }

    /// Besides, it sets where the next search is.
    fn decrease(&mut self, window: &CongestionWindow, episode: &Episode) -> WindowSize {
        self.probing = None;
        if window.cwnd <= self.rules.low_window {
            if self.rules.mirrors() {
                self.max_win = window.cwnd;
            }
            return 0.5 * episode.window;
        }
        let left = episode.window - self.rules.beta * episode.window;
        let previous = std::mem::replace(&mut self.max_win, window.cwnd);
        if self.rules.fast_convergence && previous.is_finite() && self.max_win < previous {
            self.max_win = f64::midpoint(self.max_win, left.segments());
        }
        left
    }

    /// `max_win` is 0 where unknown, `ss_cwnd` where there is no slow start.
    fn probe(&self, window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        let known = self.max_win.is_finite();
        out("max_win", if known { self.max_win } else { 0.0 });
        out("bic_inc", self.increase(window));
        out("ss_cwnd", self.probing.map_or(0.0, |ss| ss.ss_cwnd));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;

    fn bic(cwnd: f64, set: &[(&str, f64)]) -> ClassicControl<Bic> {
        let set: Vec<_> = set
            .iter()
            .map(|&(name, value)| (name, Value::Number(value)))
            .collect();
        ClassicControl::new(
            avoiding(cwnd),
            Bic::new(BicParameters::from(&params(&ENTRY, &set))),
        )
    }

    fn lose(bic: &mut ClassicControl<Bic>) {
        bic.on_loss(&loss(bic.cwnd()));
    }

    fn increase(bic: &ClassicControl<Bic>) -> f64 {
        bic.own.increase(&bic.window)
    }

    fn near(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-9, "{left} {right}");
    }

    #[test]
    fn xu_2004_a_loss_leaves_seven_eighths_and_the_search_begins_in_between() {
        let mut bic = bic(800.0, &[]);
        lose(&mut bic);
        near(bic.cwnd(), 700.0);
        near(bic.own.max_win, 800.0);
        // The middle is 50 away: more than S_max = 32.
        near(increase(&bic), 32.0);
        bic.on_ack(&ack());
        near(bic.cwnd(), 700.0 + 32.0 / 700.0);
        // From 740 on the middle is less than S_max away.
        bic.window.cwnd = 760.0;
        near(increase(&bic), 20.0);
        bic.window.cwnd = 799.0;
        near(increase(&bic), 0.5);
        bic.window.cwnd = 799.999;
        near(increase(&bic), 0.01);
    }

    #[test]
    fn xu_2004_fast_convergence_aims_between_the_new_maximum_and_the_new_minimum() {
        let mut bic = bic(800.0, &[]);
        lose(&mut bic);
        bic.window.cwnd = 720.0;
        lose(&mut bic);
        // 720 is less than 800: cwnd = 630, max_win = (720 + 630) / 2.
        near(bic.cwnd(), 630.0);
        near(bic.own.max_win, 675.0);
        // The first loss of a flow has no maximum to be below.
        bic.own.max_win = f64::INFINITY;
        bic.window.cwnd = 640.0;
        lose(&mut bic);
        near(bic.own.max_win, 640.0);
    }

    #[test]
    fn xu_2004_beyond_the_maximum_the_increase_doubles_up_to_s_max() {
        let mut bic = bic(800.0, &[]);
        lose(&mut bic);
        bic.window.cwnd = 800.0;
        bic.on_ack(&ack());
        let beginning = bic.cwnd();
        let mut increases = vec![increase(&bic)];
        while bic.own.probing.is_some() {
            bic.on_ack(&ack());
            if Some(&increase(&bic)) != increases.last() {
                increases.push(increase(&bic));
            }
        }
        assert_eq!(increases, [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]);
        // 1 + 2 + 4 + 8 + 16 segments, and less than 16 / 800 beyond each target.
        let grown = bic.cwnd() - beginning;
        assert!((31.0..31.1).contains(&grown), "{grown}");
        near(increase(&bic), 32.0);
    }

    #[test]
    fn below_the_low_window_it_is_standard_tcp() {
        let mut bic = bic(13.0, &[]);
        bic.on_ack(&ack());
        near(bic.cwnd(), 13.0 + 1.0 / 13.0);
        bic.window.cwnd = 13.0;
        lose(&mut bic);
        near(bic.cwnd(), 6.5);
    }

    #[test]
    fn the_kernels_search_takes_quarters_and_its_last_segments_twenty_round_trips() {
        let mut bic = bic(
            100.0,
            &[
                ("search", 4.0),
                ("smooth", 20.0),
                ("s_max", 16.0),
                ("beta", 0.2),
            ],
        );
        lose(&mut bic);
        near(bic.cwnd(), 80.0);
        near(increase(&bic), 5.0);
        bic.window.cwnd = 97.0;
        near(increase(&bic), 0.2);
    }

    #[test]
    fn in_linux_steps_are_whole_quarters_twice_as_fast_and_mirrored_beyond_the_maximum() {
        let set = [
            ("search", Value::Number(4.0)),
            ("smooth", Value::Number(20.0)),
            ("s_max", Value::Number(16.0)),
            ("ack_ratio", Value::Number(2.0)),
            ("beyond", Value::Choice("mirror")),
        ];
        let start = ConnectionStart {
            whole_windows: true,
            ..avoiding(55.0)
        };
        let mut bic =
            ClassicControl::new(start, Bic::new(BicParameters::from(&params(&ENTRY, &set))));
        bic.own.max_win = 69.0;
        let mut step = || {
            let (before, mut segments) = (bic.cwnd(), 0);
            while bic.cwnd() <= before {
                bic.on_ack(&ack());
                segments += 1;
            }
            segments
        };
        // From 55: 14 / 4 is 3, 55 / 3 is 18, and half of that 9; from 58 11 / 4 is 2, half of 29 is 14; from 62 on 20 / 4 windows, halved.
        let steps: Vec<u32> = (55..64).map(|_| step()).collect();
        assert_eq!(steps, [9, 9, 9, 14, 14, 15, 15, 155, 157]);
        // From 69 to 72 the same; at 73, 4 beyond: 73 * 3 / 4 is 54, half of it 27.
        let steps: Vec<u32> = (64..74).map(|_| step()).collect();
        assert_eq!(steps[5..], [172, 175, 177, 180, 27]);
    }
}
