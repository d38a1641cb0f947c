//! Vegas: keeps a few segments queued in the network, which it estimates from how far the round-trip time is above its least.
//!
//! Specification: Brakmo and Peterson 1995, §III-B (congestion avoidance), §III-C (slow start).
//!
//! Model, in segments:
//! - `BaseRTT` is the least round-trip time seen, `RTT` the least of the last round
//! - `Expected = cwnd / BaseRTT`, `Actual = cwnd / RTT`, `Diff = (Expected - Actual) BaseRTT`: the segments that are queued
//! - congestion avoidance, once per round: `cwnd += 1` if `Diff < alpha`, `cwnd -= 1` if `Diff > beta`
//! - slow start (`cwnd < ssthresh`): `cwnd += 1` for everything that counts, in every `slow_start_rounds`th round; after a round in which
//!   the window stood still it ends if `Diff > gamma`, with `cwnd = cwnd BaseRTT / RTT + 1`
//! - loss: `ssthresh = cwnd = window * decrease`; timeout: `ssthresh = window * decrease`, `cwnd = 1`
//!
//! A round lasts until the first segment sent in it is acknowledged, the paper's distinguished segment.
//!
//! Deviations: the paper's `Actual` is what was sent while the distinguished segment was under way, over its round-trip time; here it
//! is the window over the round's least round-trip time, which delayed acknowledgements do not lengthen. The paper ends slow start with the
//! window as it is; here the window becomes what the path held without its queue, and one more. The paper's earlier retransmissions (§III-A)
//! are a matter of loss recovery and not modelled, nor is its smaller decrease after them. A round with fewer than
//! `min_samples` samples grows as standard TCP does. After an idle time `BaseRTT` is measured anew.
//!
//! Kernel equivalent: `vegas`, whose module parameters are alpha, beta and gamma with these defaults, in whole segments. Measured of Linux
//! 6.1, acknowledgement by acknowledgement: slow start grows in every round (`slow_start_rounds` 1: 10, 20, 40, 80 ... segments in successive
//! round trips over 50 Mbit/s and 80 ms); the difference counts over the round's round-trip time (`diff_over = "rtt"`) and is rounded down:
//! over 2 Mbit/s and 10 ms, where a segment takes 6 ms, the window shrinks from 15 to 5 segments by one each round, and stays there
//! (30 ms over 16.1 make 4.3 of 5 segments; the paper's difference would have stopped at 6); a shrinking window takes the threshold along,
//! and after each round it is at least a half and a quarter of the window (4 at 6 segments, 6 at 8, 7 at 11, 9 at 12). The acknowledgement that ends a
//! round is judged with the window before it: 17 segments are left of 20 where the round's time is 1.25 of the least. Three samples are wanted of a
//! round; the scenario that shows it is `tests/linux/packets/vegas-after-a-mark.json`.

use super::disorder::StandardRules;
use super::params::{
    BEGINS_AGAIN, BeginsAgain, COUNT, FACTOR, IN_DISORDER, InDisorder, parameters,
};
use super::{
    AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, Episode, Needs, Signal,
    VariableProbe,
};
use crate::registry::{Entry, Kind, Value, Words, words};
use crate::units::{Duration, Instant, SeqNum, WindowSize};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "vegas",
    summary: "Vegas: keeps between alpha and beta segments queued, by round-trip times",
    specification: &["Brakmo and Peterson 1995 §III-B, §III-C"],
    params: Thresholds::PARAMS,
    new: Algorithm {
        linux: &[
            ("slow_start_rounds", Value::Integer(1)),
            ("diff_over", Value::Choice("rtt")),
            ("min_samples", Value::Integer(3)),
            ("rising_threshold", Value::Bool(true)),
            ("in_disorder", Value::Choice("standard")),
            ("begins_again", Value::Choice("empty_path")),
        ],
        needs: Needs {
            empty_path: true,
            ..Needs::NOTHING
        },
        ..Algorithm::of(|params, start| {
            ClassicControl::boxed(start, Vegas::new(Thresholds::from(params)))
        })
    },
};

/// The round-trip times of one round.
#[derive(Clone, Copy, Debug)]
pub(super) struct VegasRound {
    /// The least, seconds; infinite without samples.
    pub min_rtt: f64,
    pub samples: i64,
}

impl VegasRound {
    const NEW: Self = Self {
        min_rtt: f64::INFINITY,
        samples: 0,
    };
}

/// What Vegas knows of its path, measured round by round; others measure it in the same way.
#[derive(Clone, Copy, Debug)]
pub(super) struct VegasPath {
    /// The least round-trip time seen, seconds; infinite without samples.
    pub base_rtt: f64,
    round: VegasRound,
    /// The first segment sent in this round, the distinguished one; none before the first acknowledgement of a round.
    distinguished: Option<SeqNum>,
}

impl VegasPath {
    pub(super) const UNKNOWN: Self = Self {
        base_rtt: f64::INFINITY,
        round: VegasRound::NEW,
        distinguished: None,
    };

    /// Takes the sample of an acknowledgement; returns the round if this ended it.
    pub(super) fn observe(&mut self, ack: &AckedData) -> Option<VegasRound> {
        self.sample(ack);
        match self.distinguished {
            Some(sent) if ack.snd_una <= sent => None,
            Some(_) => {
                let ended = self.round;
                self.restart();
                self.distinguished = Some(ack.snd_nxt);
                Some(ended)
            }
            None => {
                // What has been acknowledged was sent before the round.
                self.round = VegasRound::NEW;
                self.distinguished = Some(ack.snd_nxt);
                None
            }
        }
    }

    /// Takes the sample of an acknowledgement.
    fn sample(&mut self, ack: &AckedData) {
        if let Some(rtt) = ack.rtt.map(Duration::secs) {
            self.base_rtt = self.base_rtt.min(rtt);
            self.round.min_rtt = self.round.min_rtt.min(rtt);
            self.round.samples += 1;
        }
    }

    /// A round begins with this acknowledgement, whose sample says nothing of it.
    pub(super) fn begin(&mut self, ack: &AckedData) {
        self.sample(ack);
        self.round = VegasRound::NEW;
        self.distinguished = Some(ack.snd_nxt);
    }

    /// Nothing is known any more, and a round begins with segment `next`.
    pub(super) fn begin_again(&mut self, next: SeqNum) {
        *self = Self {
            distinguished: Some(next),
            ..Self::UNKNOWN
        };
    }

    /// Discards the present round, in which there was a loss; the next acknowledgement begins another.
    pub(super) fn restart(&mut self) {
        self.round = VegasRound::NEW;
        self.distinguished = None;
    }
}

words! {
    /// The round-trip time over which the difference of the two rates makes segments.
    enum DifferenceOver {
        /// The least.
        BaseRtt = "base_rtt",
        /// That of the round.
        Rtt = "rtt",
    }
}

parameters! {
    /// The algorithm's parameters.
    struct Thresholds {
        alpha: f64 = Kind::Number { min: 0.0, max: 1e6 } => Value::Number(2.0), "the window grows while fewer segments than this are queued, segments";
        beta: f64 = Kind::Number { min: 0.0, max: 1e6 } => Value::Number(4.0), "the window shrinks while more segments than this are queued, segments";
        gamma: f64 = Kind::Number { min: 0.0, max: 1e6 } => Value::Number(1.0), "slow start ends when more segments than this are queued, segments";
        slow_start_rounds: i64 = Kind::Integer { min: 1, max: 100 } => Value::Integer(2), "slow start grows in one of this many rounds; 1: in all";
        min_samples: i64 = COUNT => Value::Integer(1), "round-trip times without which a round says nothing, and the window grows as standard TCP's";
        decrease: f64 = FACTOR => Value::Number(0.5), "the window is multiplied by this at a loss";
        rising_threshold: bool = Kind::Bool => Value::Bool(false), "after each round the threshold is at least three quarters of the window, a half and a quarter of whole segments";
        diff_over: DifferenceOver = Kind::Choice(DifferenceOver::WORDS) => Value::Choice(DifferenceOver::BaseRtt.word()),
            "the round-trip time over which the difference of the two rates makes segments: the least, or that of the round";
        in_disorder: InDisorder = IN_DISORDER;
        begins_again: BeginsAgain = BEGINS_AGAIN;
    }
}

#[derive(Debug)]
struct Vegas {
    thresholds: Thresholds,
    path: VegasPath,
    /// Rounds since slow start began; it grows in those that `slow_start_rounds` divides.
    rounds: i64,
    /// The difference of the last round, segments.
    diff: f64,
    standard: StandardRules,
}

impl Vegas {
    fn new(thresholds: Thresholds) -> Self {
        Self {
            thresholds,
            path: VegasPath::UNKNOWN,
            rounds: 0,
            diff: 0.0,
            standard: StandardRules::Off,
        }
    }

    /// The round that an acknowledgement ends, if it does.
    fn observe(&mut self, ack: &AckedData) -> Option<VegasRound> {
        let in_disorder = self.thresholds.in_disorder;
        self.standard = self.standard.after(ack.order, in_disorder);
        match self.standard {
            StandardRules::Off => return self.path.observe(ack),
            StandardRules::Hold => self.path.sample(ack),
            StandardRules::HaveEnded => self.path.begin(ack),
        }
        None
    }

    /// Whether slow start lets the window grow in this round.
    fn is_growing_round(&self) -> bool {
        self.rounds % self.thresholds.slow_start_rounds == 0
    }

    fn end_round(&mut self, window: &mut CongestionWindow, round: VegasRound, ack: &AckedData) {
        // Where slow start has rounds in which the window stands still, only those are compared.
        let comparable = self.thresholds.slow_start_rounds == 1 || !self.is_growing_round();
        self.rounds += 1;
        let in_slow_start = window.in_slow_start();
        if round.samples < self.thresholds.min_samples {
            if !in_slow_start && ack.cwnd_limited {
                window.grow(ack.counted, 1.0);
            }
            return;
        }
        // What the path holds without its queue.
        let target = window.cwnd * self.path.base_rtt / round.min_rtt;
        self.diff = window.whole(if self.thresholds.diff_over == DifferenceOver::Rtt {
            window.cwnd * round.min_rtt / self.path.base_rtt - window.cwnd
        } else {
            window.cwnd - target
        });
        if in_slow_start {
            if comparable && self.diff > self.thresholds.gamma {
                shrink(window, window.whole(target) + 1.0);
            }
        } else if self.diff > self.thresholds.beta {
            shrink(window, window.cwnd - 1.0);
        } else if self.diff < self.thresholds.alpha && ack.cwnd_limited {
            window.cwnd += 1.0;
        }
    }

    /// The threshold follows a window that grows.
    fn raise_threshold(&self, window: &mut CongestionWindow) {
        if self.thresholds.rising_threshold {
            let part = |of: f64| window.whole(window.cwnd / of);
            window.ssthresh = window.ssthresh.max(part(2.0) + part(4.0));
        }
    }
}

/// Shrinks the window to `cwnd`. It must not find itself below the threshold, and in slow start, if it is two segments or more
/// (RFC 5681 equation 4).
fn shrink(window: &mut CongestionWindow, cwnd: f64) {
    window.cwnd = window.cwnd.min(cwnd.max(2.0));
    window.ssthresh = window.ssthresh.min(window.cwnd.max(2.0));
}

impl Avoidance for Vegas {
    fn on_ack(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        let ended = self.observe(ack);
        if !ack.may_grow {
            return;
        }
        if self.standard == StandardRules::Hold {
            if ack.cwnd_limited {
                window.grow_as_standard(ack);
            }
            return;
        }
        // The acknowledgement that ends a round lets the window grow after the round was judged, and not if it is too large.
        let grows = self.is_growing_round() && ack.cwnd_limited;
        if let Some(round) = ended {
            self.end_round(window, round, ack);
        }
        if grows {
            window.start_slowly(ack.counted);
        }
        if ended.is_some_and(|round| round.samples >= self.thresholds.min_samples) {
            self.raise_threshold(window);
        }
    }

    fn decrease(&mut self, _window: &CongestionWindow, episode: &Episode) -> WindowSize {
        self.path.restart();
        if episode.signal == Signal::Rto {
            self.rounds = 0;
        }
        episode.window * self.thresholds.decrease
    }

    fn on_recovered(&mut self, _window: &mut CongestionWindow, _now: Instant, _began: Signal) {
        self.standard = StandardRules::Off;
        self.path.restart();
    }

    fn on_restart(&mut self, _now: Instant, _idle: Duration) {
        self.path = VegasPath::UNKNOWN;
        self.rounds = 0;
    }

    fn on_empty_path(&mut self, _now: Instant, _since: Duration, next: SeqNum) {
        if self.thresholds.begins_again == BeginsAgain::EmptyPath {
            self.path.begin_again(next);
        }
    }

    fn probe(&self, _window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        if self.path.base_rtt.is_finite() {
            out("base_rtt", self.path.base_rtt);
        }
        out("diff", self.diff);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;
    use crate::registry::Params;

    const PAPER: Thresholds = Thresholds {
        alpha: 2.0,
        beta: 4.0,
        gamma: 1.0,
        slow_start_rounds: 2,
        min_samples: 1,
        decrease: 0.5,
        rising_threshold: false,
        in_disorder: InDisorder::Own,
        diff_over: DifferenceOver::BaseRtt,
        begins_again: BeginsAgain::Idle,
    };

    fn vegas(cwnd: f64, ssthresh: f64) -> ClassicControl<Vegas> {
        let start = starting(cwnd, ssthresh);
        let mut vegas = ClassicControl::new(start, Vegas::new(PAPER));
        // BaseRTT is 100 ms. This acknowledgement begins the first round, in which slow start would grow: it does not count.
        vegas.on_ack(&AckedData {
            counted: SegCount::new(0),
            ..round(0, 0.1)
        });
        vegas
    }

    /// An acknowledgement that ends the round begun by the one before it.
    fn round(number: u64, rtt: f64) -> AckedData {
        AckedData {
            snd_una: SeqNum::new(number),
            snd_nxt: SeqNum::new(number),
            rtt: Some(Duration::from_secs(rtt)),
            ..ack_at(1.0, 1, 20)
        }
    }

    /// The window of 20 segments after a round of 100 ms, which began the measurement, and one of `rtt`.
    fn after(rtt: f64) -> f64 {
        let mut vegas = vegas(20.0, 2.0);
        vegas.own.path.restart();
        vegas.on_ack(&round(0, rtt));
        vegas.on_ack(&round(1, rtt));
        vegas.cwnd()
    }

    #[test]
    fn brakmo1995_the_window_follows_the_number_of_queued_segments() {
        // BaseRTT 100 ms: Expected = 20 / 0.1 = 200 segments/s.
        // 110 ms: Actual = 181.8, Diff = 18.2 * 0.1 = 1.8 < alpha.
        assert_eq!(after(0.11), 21.0);
        // 115 ms: Actual = 173.9, Diff = 2.6, between alpha and beta.
        assert_eq!(after(0.115), 20.0);
        // 125 ms: Actual = 160, Diff = 4, not above beta; 128 ms: Actual = 156.25, Diff = 4.4.
        assert_eq!(after(0.125), 20.0);
        assert_eq!(after(0.128), 19.0);
    }

    #[test]
    fn a_window_that_shrinks_stays_out_of_slow_start() {
        let mut vegas = vegas(20.0, 20.0);
        vegas.own.path.restart();
        for number in 0..4 {
            vegas.on_ack(&round(number, 0.2));
        }
        // Three rounds have ended, each with half the window queued.
        assert_eq!(vegas.cwnd(), 17.0);
        assert!(vegas.ssthresh() <= 17.0);
    }

    #[test]
    fn brakmo1995_slow_start_grows_every_other_round() {
        let mut vegas = vegas(4.0, 100.0);
        // The first round ends with its acknowledgement of four segments; in the second the window stands; the third grows again.
        let ack = |number, counted| AckedData {
            counted: SegCount::new(counted),
            ..round(number, 0.1)
        };
        vegas.on_ack(&ack(1, 4));
        assert_eq!(vegas.cwnd(), 8.0);
        vegas.on_ack(&ack(2, 4));
        assert_eq!(vegas.cwnd(), 8.0);
        vegas.on_ack(&ack(3, 8));
        assert_eq!(vegas.cwnd(), 16.0);
    }

    #[test]
    fn slow_start_ends_when_more_than_gamma_are_queued() {
        let mut vegas = vegas(8.0, 100.0);
        vegas.on_ack(&AckedData {
            counted: SegCount::new(8),
            ..round(1, 0.11)
        });
        // Diff = 16 - 16 / 1.1 = 1.45, but the window has just doubled: nothing is compared.
        assert_eq!(vegas.cwnd(), 16.0);
        vegas.on_ack(&round(2, 0.106));
        // Diff = 16 - 16 / 1.06 = 0.906, within gamma: slow start goes on, with a round that grows.
        vegas.on_ack(&AckedData {
            counted: SegCount::new(0),
            ..round(3, 0.106)
        });
        vegas.on_ack(&round(4, 0.107));
        // Diff = 16 - 16 / 1.07 = 1.05; 14.95 segments fit without a queue.
        assert!((vegas.cwnd() - 15.953).abs() < 1e-3, "{}", vegas.cwnd());
        assert!(vegas.ssthresh() <= vegas.cwnd());
    }

    #[test]
    fn a_kernels_window_stays_whole() {
        let start = ConnectionStart {
            whole_windows: true,
            ..beginning(16.0)
        };
        let every_round = Thresholds {
            slow_start_rounds: 1,
            ..PAPER
        };
        let mut vegas = ClassicControl::new(start, Vegas::new(every_round));
        vegas.on_ack(&AckedData {
            counted: SegCount::new(0),
            ..round(0, 0.1)
        });
        vegas.on_ack(&round(1, 0.109));
        // 16 - 16 / 1.09 = 1.3, rounded down, is within gamma: slow start goes on.
        assert_eq!(vegas.cwnd(), 17.0);
        vegas.on_ack(&round(2, 0.115));
        // 17 / 1.15 = 14.8, rounded down, and one.
        assert_eq!(vegas.cwnd(), 15.0);
    }

    #[test]
    fn a_kernels_vegas_counts_the_difference_over_the_rounds_round_trip_time() {
        let start = ConnectionStart {
            whole_windows: true,
            ..avoiding(7.0)
        };
        let over_round = Thresholds {
            diff_over: DifferenceOver::Rtt,
            ..PAPER
        };
        let mut vegas = ClassicControl::new(start, Vegas::new(over_round));
        vegas.on_ack(&round(0, 0.0161));
        // 6 ms for each segment: 7 * (42 - 16.1) / 16.1 = 11.3, 6 * (36 - 16.1) / 16.1 = 7.4, 5 * (30 - 16.1) / 16.1 = 4.3.
        for (number, (rtt, window)) in [(0.042, 6.0), (0.036, 5.0), (0.030, 5.0)]
            .into_iter()
            .enumerate()
        {
            vegas.on_ack(&round(u64::try_from(number).expect("small") + 1, rtt));
            assert_eq!(vegas.cwnd(), window);
        }
    }

    #[test]
    fn what_was_sent_before_a_round_says_nothing_of_it() {
        let mut path = VegasPath::UNKNOWN;
        assert!(path.observe(&round(0, 0.1)).is_none());
        let ended = path.observe(&round(1, 0.12)).expect("a round");
        assert_eq!((ended.min_rtt, ended.samples), (0.12, 1));
        assert_eq!(path.base_rtt, 0.1);
    }

    #[test]
    fn a_kernels_threshold_is_a_half_and_a_quarter_of_a_window_that_grows() {
        let start = ConnectionStart {
            whole_windows: true,
            ..starting(10.0, 3.0)
        };
        let rising = Thresholds {
            rising_threshold: true,
            ..PAPER
        };
        let mut vegas = ClassicControl::new(start, Vegas::new(rising));
        vegas.on_ack(&round(0, 0.1));
        vegas.on_ack(&round(1, 0.1));
        // Measured: 7 at 11 segments.
        assert_eq!((vegas.cwnd(), vegas.ssthresh()), (11.0, 7.0));
    }

    #[test]
    fn a_round_of_too_few_samples_grows_as_standard_tcp() {
        let three = Thresholds {
            min_samples: 3,
            ..PAPER
        };
        let mut vegas = ClassicControl::new(avoiding(20.0), Vegas::new(three));
        vegas.own.path.base_rtt = 0.1;
        for number in 0..3 {
            vegas.on_ack(&round(number, 0.2));
        }
        let grown = vegas.cwnd();
        assert!((grown - 20.1).abs() < 1e-3, "half the window is queued");
        // Another sample before the round ends: with the one that ends it, two, then three.
        vegas.on_ack(&round(2, 0.2));
        vegas.on_ack(&round(2, 0.2));
        vegas.on_ack(&round(3, 0.2));
        assert_eq!(vegas.cwnd(), grown - 1.0);
    }

    #[test]
    fn losses_halve_and_nothing_grows_in_recovery() {
        let mut vegas = vegas(20.0, 2.0);
        let loss = whole_loss(20.0);
        vegas.on_loss(&loss);
        assert_eq!((vegas.cwnd(), vegas.ssthresh()), (10.0, 10.0));
        for number in 0..3 {
            vegas.on_ack(&AckedData {
                may_grow: false,
                ..round(number, 0.1)
            });
        }
        assert_eq!(vegas.cwnd(), 10.0);
        vegas.on_rto(&loss);
        assert_eq!((vegas.cwnd(), vegas.ssthresh()), (1.0, 10.0));
    }

    #[test]
    fn the_difference_is_over_the_least_round_trip_time_unless_told() {
        let mut params = Params::defaults(ENTRY.params);
        assert_eq!(Thresholds::from(&params).diff_over, DifferenceOver::BaseRtt);
        params.set("diff_over", Value::Choice("rtt"));
        assert_eq!(Thresholds::from(&params).diff_over, DifferenceOver::Rtt);
    }
}
