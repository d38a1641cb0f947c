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
//! default maximum, "a large integer", is infinite. The paper leaves timeouts to the host's TCP; here they set what a loss sets, or with `beyond = "mirror"` forget it.
//!
//! Kernel equivalent: `bic`, in whole segments. Measured of Linux 6.1, at 10 Mbit/s and 40 ms, after a loss at a window of 69 (819/1024 of it remain,
//! 55): segments acknowledged per step of the window are 9, 8, 10 from 55, 14 from 58, and 2.5 windows from 62 on: a step is a quarter of the
//! distance, 3, 2 or 1 whole segments, 1 being taken in `smooth` = 20 round trips for `search` = 4 segments, and everything is about twice as fast
//! (`ack_ratio` = 2, a moving average, `ack_ratio_memory` = 16): 1.9 times where acknowledgements are of one segment, as steps of 18 segments at windows of 175 to
//! 177 and a distance of 20 show. Steps are computed as CUBIC's, again after more than 1/32 s while the window stays (`update_interval`): at a window of 82 one takes 211
//! segments, from the average four ticks after the last step, and not 205, from that of later acknowledgements. Beyond a maximum of 30: 2.5 windows up to 33, then 12, 10, 9, 8, 7, 7, 6, 6 and so
//! on, `3 cwnd / (cwnd - 30) / 2` (`beyond` = "mirror"), down to `cwnd / 32` (`s_max` = 16). A loss at 14 leaves 7 and is remembered: from 15 on a step takes 2.5 windows;
//! by fast convergence, too: after a loss at 16 and one at 12, of which 6 remain, steps take 4, 3 and 4 segments from 15 on, as beyond a maximum of 10. A timeout
//! forgets maximum and average, spurious or not: one at 115 that was undone was followed by steps of 3 segments, `cwnd / 32`, one at 1206 by steps of 10
//! (`first_growth` = 20, halved).

use super::ack_ratio::AckRatio;
use super::pace::{HostTicks, StepPace, WindowThen};
use super::params::{FACTOR, FAST_CONVERGENCE, TIME_FROM_ZERO, parameters};
use super::{
    AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, Episode, ParamOrder, Signal,
    VariableProbe,
};
use crate::registry::{Entry, Kind, Value, Words, words};
use crate::units::{Duration, Instant, SegCount, WindowSize, floor};

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
            ("ack_ratio_memory", Value::Number(16.0)),
            ("first_growth", Value::Number(20.0)),
            ("update_interval", Value::Duration(1.0 / 32.0)),
        ],
        ordered: &[("s_min", ParamOrder::AtMost, "s_max")],
        ..Algorithm::of(|params, start| {
            ClassicControl::boxed(start, Bic::new(BicParameters::from(params), start.tick))
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
        ack_ratio: f64 = Kind::Number { min: 1.0, max: 100.0 } => Value::Number(1.0), "segments per acknowledgement that the increase makes up for, at first";
        ack_ratio_memory: Option<f64> = Kind::Number { min: 1.0, max: 1024.0 } => Value::None,
            "acknowledgements over which their segments are averaged (gain: its inverse); `none`: `ack_ratio` stays as it is";
        first_growth: Option<f64> = Kind::Number { min: 1.0, max: 1e6 } => Value::None,
            "before the first loss and after a timeout the window grows by one with every so many segments at least; `none`: as the search says; with `beyond = \"mirror\"`";
        update_interval: Duration = TIME_FROM_ZERO => Value::Duration(0.0),
            "while the window stays, whole steps are computed at most this often, in ticks of the host's clock; 0: always; with `beyond = \"mirror\"`";
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
    ack_ratio: AckRatio,
    clock: HostTicks,
    /// `update_interval`, in ticks as [`HostTicks::count`] counts them.
    interval_ticks: f64,
    pace: Option<StepPace>,
}

impl Bic {
    fn new(rules: BicParameters, tick: Duration) -> Self {
        let clock = HostTicks::of(tick);
        Self {
            rules,
            max_win: Self::unknown(rules),
            probing: None,
            ack_ratio: AckRatio::new(rules.ack_ratio, rules.ack_ratio_memory),
            clock,
            interval_ticks: clock.count(rules.update_interval),
            pace: None,
        }
    }

    /// The maximum as long as there is none.
    fn unknown(rules: BicParameters) -> f64 {
        if rules.mirrors() { 0.0 } else { f64::INFINITY }
    }

    /// The increase per window acknowledged, of a window beyond max_win: at first as slow as the end of the search, and then faster with the distance.
    fn beyond(&self, cwnd: f64) -> f64 {
        let over = cwnd - self.max_win;
        let step = match self.rules.smooth {
            Some(smooth) if over < self.rules.search => self.rules.search / smooth,
            _ => over / (self.rules.search - 1.0).max(1.0),
        };
        let step = step.max(self.rules.s_min).min(self.rules.s_max);
        match self.rules.first_growth {
            Some(most) if self.max_win == 0.0 => step.max(cwnd / most),
            _ => step,
        }
    }

    fn avoid_congestion(&mut self, window: &mut CongestionWindow, now: Instant, counted: SegCount) {
        if window.growth.whole && self.rules.mirrors() {
            let per = self.per(window, now);
            window.cwnd = window.growth.every(window.cwnd, counted, per);
        } else {
            window.grow(counted, self.increase(window) * self.ratio(window));
        }
    }

    /// By what all increases are multiplied.
    fn ratio(&self, window: &CongestionWindow) -> f64 {
        if window.cwnd <= self.rules.low_window {
            1.0
        } else {
            self.ack_ratio.segments()
        }
    }

    /// With how many segments the window grows by one.
    fn per(&mut self, window: &CongestionWindow, now: Instant) -> f64 {
        let of = WindowThen {
            ticks: self.clock.count(now - Instant::START),
            cwnd: window.cwnd,
        };
        let interval = self.interval_ticks;
        match self.pace {
            Some(pace) if interval > 0.0 && pace.holds(of, interval) => pace.per,
            _ => {
                // A small tolerance, as steps are decimal fractions.
                let whole = floor(window.cwnd / self.increase(window) + 1e-9);
                let per = floor(whole / self.ratio(window)).max(1.0);
                self.pace = Some(StepPace { per, of });
                per
            }
        }
    }

    /// Everything is as at the connection's beginning.
    fn forget(&mut self) {
        self.max_win = Self::unknown(self.rules);
        self.ack_ratio.restart();
        self.pace = None;
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
    fn measure(&mut self, _: &mut CongestionWindow, ack: &AckedData) {
        self.ack_ratio.update(ack);
    }

    fn grow(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        let counted = window.start_slowly(ack.counted);
        if !counted.is_zero() {
            self.avoid_congestion(window, ack.now, counted);
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
            return self.beyond(window.cwnd);
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
        let left = episode.window - self.rules.beta * episode.window;
        let is_low = window.cwnd <= self.rules.low_window;
        if self.rules.mirrors() && episode.signal == Signal::Rto {
            self.forget();
        } else if self.rules.mirrors() || !is_low {
            let previous = std::mem::replace(&mut self.max_win, window.cwnd);
            if self.rules.fast_convergence && previous.is_finite() && self.max_win < previous {
                self.max_win = window.whole(f64::midpoint(self.max_win, left.segments()));
            }
        }
        if is_low { 0.5 * episode.window } else { left }
    }

    fn on_further_timeout(&mut self, _now: Instant) {
        self.probing = None;
        if self.rules.mirrors() {
            self.forget();
        }
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
    use crate::units::testing::at;

    fn bic(cwnd: f64, set: &[(&str, f64)]) -> ClassicControl<Bic> {
        let set: Vec<_> = set
            .iter()
            .map(|&(name, value)| (name, Value::Number(value)))
            .collect();
        ClassicControl::new(
            avoiding(cwnd),
            Bic::new(BicParameters::from(&params(&ENTRY, &set)), Duration::ZERO),
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
        let mut bic = ClassicControl::new(
            start,
            Bic::new(BicParameters::from(&params(&ENTRY, &set)), Duration::ZERO),
        );
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

    /// BIC as in Linux, in whole segments.
    fn of_linux(cwnd: f64) -> ClassicControl<Bic> {
        let start = ConnectionStart {
            whole_windows: true,
            tick: Duration::from_secs(0.01),
            ..avoiding(cwnd)
        };
        let rules = BicParameters::from(&params(&ENTRY, ENTRY.new.linux));
        ClassicControl::new(start, Bic::new(rules, start.tick))
    }

    #[test]
    fn in_linux_a_small_window_s_loss_is_remembered_by_fast_convergence_too() {
        let mut bic = of_linux(16.0);
        lose(&mut bic);
        bic.window.cwnd = 12.0;
        lose(&mut bic);
        // 12 is less than 16: the middle of 12 and four fifths of it.
        assert_eq!((bic.cwnd(), bic.own.max_win), (6.0, 10.0));
        // 15 * 3 / 5 is 9, and of 29 or 32 sixteenths of a segment 4.
        bic.window.cwnd = 15.0;
        assert_eq!(bic.own.per(&bic.window, at(1.0)), 4.0);
    }

    #[test]
    fn in_linux_a_timeout_forgets_the_maximum() {
        for (cwnd, per) in [(115.0, 3.0), (1206.0, 10.0), (20.0, 1.0)] {
            let mut bic = of_linux(cwnd);
            lose(&mut bic);
            bic.on_rto(&loss(bic.cwnd()));
            bic.window.cwnd = cwnd;
            assert_eq!(bic.own.per(&bic.window, at(1.0)), per);
        }
    }

    #[test]
    fn in_linux_a_step_stays_for_three_ticks_while_the_window_does() {
        let mut bic = of_linux(82.0);
        bic.own.max_win = 88.0;
        let mut per = |secs| {
            bic.own.ack_ratio.update(&AckedData {
                acked: SegCount::new(3),
                ..ack()
            });
            bic.own.per(&bic.window, at(secs))
        };
        // 410 of 33, 34 and 35 sixteenths.
        let steps = [per(0.148), per(0.179), per(0.180)];
        assert_eq!(steps, [198.0, 198.0, 187.0]);
    }
}
