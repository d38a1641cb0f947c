//! YeAH: fast as Scalable TCP while few segments are queued, standard TCP when many are, and then it drains them before they are lost.
//!
//! Specification: Baiocchi, Castellani and Vacirca 2007.
//!
//! Model, in segments:
//! - `RTTbase` is the least round-trip time, `RTTmin` the least of the last round; `RTTqueue = RTTmin - RTTbase`
//! - `Q = RTTqueue cwnd / RTTmin`: the segments that are queued; `L = RTTqueue / RTTbase`
//! - mode, once per round: fast if `Q < Qmax` and `L < 1 / phi`, otherwise slow
//! - slow start (`cwnd < ssthresh`): `cwnd += 1` for everything that counts
//! - fast mode: `cwnd += fast_increase` for everything that counts, or `1 / cwnd` if that is more; slow mode: `cwnd += 1 / cwnd`
//! - precautionary decongestion, once per round, if `Q > Qmax`: `cwnd -= Q`, but not below `cwnd_reno`, nor by more than half;
//!   `ssthresh = cwnd drained_threshold`
//! - `cwnd_reno`, the window of a standard TCP beside this one: begins as `cwnd / 2` with slow mode, `+= 1` in each slow round, forgotten after
//!   `zeta` fast rounds, and halved by a loss
//! - loss: `ssthresh = cwnd = window - max(Q, min_decrease window)`, and no less than half; half after `rho` slow rounds in a row
//! - timeout: `ssthresh = window / 2`, `cwnd = 1`
//!
//! A round lasts until the first segment sent in it is acknowledged, as in Vegas.
//!
//! Deviations: the paper says what is done to standard TCP flows beside this one in words; `rho`, `zeta` and `min_decrease` put numbers to that, and
//! decongestion by no more than half is of the same kind. The paper takes no account of timeouts: they are standard TCP's.
//!
//! Kernel equivalent: `yeah`, in whole segments: what a loss takes is rounded down, and `min_decrease` is an eighth, as measured of the module in ns-2.35's
//! Linux agent. Measured of Linux 6.1, acknowledgement by acknowledgement, at 155 Mbit/s with 1.69 ms and 109 segments of buffer, at 20 Mbit/s with
//! 40 ms and outages, and over two segments of buffer: `Q` is rounded down before it is compared (`whole_queue`: 80.5 segments of 104 are not drained,
//! 81.7 of 105 are), and so is half the window (53 are left of 105); the threshold after decongestion is the window (`drained_threshold` 1); three
//! samples are wanted of a round (`min_samples`: after rounds of two a loss at 9 segments leaves 8, over a path that holds one); a timeout takes what a
//! loss takes (`halves_at_timeout`: 51 are left of 58). What is counted towards the next segment is kept over a decongestion, and worth one segment at most: 62 had
//! been at 105 when 53 were left, the next acknowledgement adds one, and the one after that comes with the 53rd segment more.

use super::disorder::StandardRules;
use super::params::{BEGINS_AGAIN, BeginsAgain, COUNT, InDisorder, SHARE, parameters};
use super::vegas::{VegasPath, VegasRound};
use super::{
    AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, Episode, Needs, Signal,
    VariableProbe,
};
use crate::registry::{Entry, Kind, Value};
use crate::units::{Duration, Instant, SeqNum, WindowSize, floor};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "yeah",
    summary: "YeAH: Scalable TCP while few segments are queued, otherwise standard TCP that drains its queue",
    specification: &["Baiocchi, Castellani and Vacirca 2007"],
    params: YeahParameters::PARAMS,
    new: Algorithm {
        linux: &[
            ("whole_queue", Value::Bool(true)),
            ("drained_threshold", Value::Number(1.0)),
            ("min_samples", Value::Integer(3)),
            ("halves_at_timeout", Value::Bool(false)),
            ("begins_again", Value::Choice("empty_path")),
        ],
        needs: Needs {
            empty_path: true,
            ..Needs::NOTHING
        },
        ..Algorithm::of(|params, start| {
            ClassicControl::boxed(start, Yeah::new(YeahParameters::from(params)))
        })
    },
};

parameters! {
    /// The algorithm's parameters.
    struct YeahParameters {
        max_queue: f64 = Kind::Number { min: 1.0, max: 1e9 } => Value::Number(80.0),
            "the paper's Qmax: above this the mode is slow and the queue is drained, segments";
        phi: f64 = Kind::Number { min: 0.1, max: 1e6 } => Value::Number(8.0), "the mode is slow when queues lengthen the round trip by more than this part of it";
        fast_increase: f64 = SHARE => Value::Number(0.01), "what an acknowledgement adds to the window in fast mode, segments";
        min_decrease: f64 = Kind::Number { min: 0.0, max: 0.5 } => Value::Number(0.125), "share of the window given up at a loss at least";
        drained_threshold: f64 = Kind::Number { min: 0.01, max: 1.0 } => Value::Number(0.5), "share of the drained window that the slow-start threshold becomes";
        rho: i64 = Kind::Integer { min: 0, max: 1_000_000 } => Value::Integer(16), "after this many slow rounds in a row a loss halves the window, rounds";
        zeta: i64 = Kind::Integer { min: 1, max: 1_000_000 } => Value::Integer(50), "after this many fast rounds standard TCP flows are no longer expected, rounds";
        min_samples: i64 = COUNT => Value::Integer(1), "round-trip times without which a round says nothing";
        whole_queue: bool = Kind::Bool => Value::Bool(false), "whether the queued segments are rounded down before they are compared and drained, and bounds and rounds are as in Linux besides";
        halves_at_timeout: bool = Kind::Bool => Value::Bool(true), "whether a timeout halves the window and forgets other flows, as standard TCP would, rather than take what a loss takes";
        begins_again: BeginsAgain = BEGINS_AGAIN;
    }
}

/// Whether a round was fast, and how many of them make other flows forgotten.
struct FastBounds {
    fast: bool,
    zeta: i64,
}

#[derive(Debug)]
struct Yeah {
    rules: YeahParameters,
    path: VegasPath,
    /// `Q` of the last round.
    queue: f64,
    /// Slow rounds in a row; none: the mode is fast.
    slow_rounds: i64,
    /// Fast rounds since the last loss, or since they last made the algorithm forget other flows.
    fast_rounds: i64,
    /// `cwnd_reno`; none when no standard TCP flow is expected beside this one.
    cwnd_reno: Option<f64>,
    /// Where the queue is whole, a round begins anew when disorder has ended.
    disorder: StandardRules,
}

impl Yeah {
    fn new(rules: YeahParameters) -> Self {
        Self {
            rules,
            path: VegasPath::UNKNOWN,
            queue: 0.0,
            slow_rounds: 0,
            fast_rounds: 0,
            cwnd_reno: None,
            disorder: StandardRules::Off,
        }
    }

    fn end_round(&mut self, window: &mut CongestionWindow, round: VegasRound) {
        if round.samples < self.rules.min_samples {
            return;
        }
        let queueing = round.min_rtt - self.path.base_rtt;
        // A round trip may take no time at all: then nothing is queued.
        self.queue = if queueing > 0.0 {
            queueing * window.cwnd / round.min_rtt
        } else {
            0.0
        };
        if self.rules.whole_queue {
            self.queue = self.queue.floor();
        }
        let FastBounds { fast, zeta } = self.bounds(queueing);
        if fast {
            self.slow_rounds = 0;
            self.fast_rounds += 1;
            if self.fast_rounds >= zeta {
                self.fast_rounds = 0;
                self.cwnd_reno = None;
            }
            return;
        }
        if self.queue > self.rules.max_queue {
            self.drain(window);
        }
        self.slow_rounds += 1;
        self.cwnd_reno = Some(match self.cwnd_reno {
            Some(cwnd_reno) => cwnd_reno + 1.0,
            None => window.whole(window.cwnd / 2.0).max(2.0),
        });
    }

    /// As measured of Linux 6.1, the bounds themselves are still fast there, the shorter in whole microseconds, and `zeta` rounds are not enough.
    fn bounds(&self, queueing: f64) -> FastBounds {
        let YeahParameters {
            max_queue,
            phi,
            zeta,
            ..
        } = self.rules;
        let most = self.path.base_rtt / phi;
        if self.rules.whole_queue {
            let most = floor(most * 1e6 + 1e-3) / 1e6;
            FastBounds {
                fast: self.queue <= max_queue && queueing <= most + 1e-9,
                zeta: zeta + 1,
            }
        } else {
            FastBounds {
                fast: self.queue < max_queue && queueing < most,
                zeta,
            }
        }
    }

    /// Precautionary decongestion.
    fn drain(&self, window: &mut CongestionWindow) {
        let half = window.whole(window.cwnd / 2.0);
        let drained = window.cwnd - self.queue.min(half);
        let drained = drained.max(self.cwnd_reno.unwrap_or(2.0));
        if drained >= window.cwnd {
            return;
        }
        window.cwnd = if window.growth.whole {
            drained.floor().max(2.0)
        } else {
            drained
        };
        let threshold = window.whole(window.cwnd * self.rules.drained_threshold);
        window.ssthresh = threshold.max(2.0);
    }
}

impl Avoidance for Yeah {
    fn on_ack(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        let in_disorder = if self.rules.whole_queue {
            InDisorder::Standard
        } else {
            InDisorder::Own
        };
        self.disorder = self.disorder.after(ack.order, in_disorder);
        let ended = if self.disorder == StandardRules::HaveEnded {
            self.path.begin(ack);
            None
        } else {
            self.path.observe(ack)
        };
        if !ack.may_grow {
            return;
        }
        if ack.cwnd_limited {
            self.grow(window, ack);
        }
        if let Some(round) = ended {
            self.end_round(window, round);
        }
    }

    fn grow(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        let counted = window.start_slowly(ack.counted);
        if counted.is_zero() {
            return;
        }
        // The window is drained while segments are counted towards its next one.
        if window.growth.whole {
            let slow = window.cwnd;
            let per = if self.slow_rounds == 0 {
                slow.min(1.0 / self.rules.fast_increase)
            } else {
                slow
            };
            window.cwnd = window.growth.every(window.cwnd, counted, per);
        } else {
            window.grow(counted, self.increase(window));
        }
    }

    fn increase(&self, window: &CongestionWindow) -> f64 {
        if self.slow_rounds == 0 {
            (self.rules.fast_increase * window.cwnd).max(1.0)
        } else {
            1.0
        }
    }

    fn decrease(&mut self, window: &CongestionWindow, episode: &Episode) -> WindowSize {
        let before = episode.window.segments();
        let half = before / 2.0;
        self.fast_rounds = 0;
        self.path.restart();
        if episode.signal == Signal::Rto && self.rules.halves_at_timeout {
            self.cwnd_reno = None;
            return WindowSize::from_segments(half);
        }
        self.cwnd_reno = self.cwnd_reno.map(|reno| window.whole(reno / 2.0).max(2.0));
        let decrease = if self.slow_rounds < self.rules.rho {
            let least = self.rules.min_decrease * before;
            self.queue.max(least).min(half)
        } else {
            half
        };
        WindowSize::from_segments(before - window.whole(decrease))
    }

    fn on_recovered(&mut self, _window: &mut CongestionWindow, _now: Instant, _began: Signal) {
        self.path.restart();
    }

    fn on_restart(&mut self, _now: Instant, _idle: Duration) {
        self.path = VegasPath::UNKNOWN;
    }

    fn on_empty_path(&mut self, _now: Instant, _since: Duration, next: SeqNum) {
        if self.rules.begins_again == BeginsAgain::EmptyPath {
            self.path.begin_again(next);
        }
    }

    fn probe(&self, _window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        if self.path.base_rtt.is_finite() {
            out("rtt_base", self.path.base_rtt);
        }
        out("q", self.queue);
        out("slow_mode", f64::from(u8::from(self.slow_rounds > 0)));
        if let Some(window) = self.cwnd_reno {
            out("cwnd_reno", window);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;
    use crate::registry::Params;

    /// In congestion avoidance, with a base of 100 ms.
    fn yeah(cwnd: f64) -> ClassicControl<Yeah> {
        let own = Yeah::new(YeahParameters::from(&params(&ENTRY, &[])));
        let mut yeah = ClassicControl::new(avoiding(cwnd), own);
        yeah.own.path.base_rtt = 0.1;
        yeah
    }

    /// Rounds of one acknowledgement each, which does not let the window grow.
    fn rounds(yeah: &mut ClassicControl<Yeah>, count: u64, rtt: f64) {
        yeah.own.path.restart();
        for number in 0..=count {
            yeah.on_ack(&AckedData {
                snd_una: SeqNum::new(number),
                snd_nxt: SeqNum::new(number),
                rtt: Some(Duration::from_secs(rtt)),
                cwnd_limited: false,
                ..ack()
            });
        }
    }

    fn near(left: f64, right: f64) -> bool {
        (left - right).abs() < 1e-9
    }

    #[test]
    fn baiocchi2007_the_mode_follows_the_queue_and_its_delay() {
        let grown = |cwnd: f64, rtt| {
            let mut yeah = yeah(cwnd);
            rounds(&mut yeah, 1, rtt);
            let before = yeah.cwnd();
            yeah.on_ack(&ack());
            yeah.cwnd() - before
        };
        // L = 0.1 < 1/8, Q = 200 / 11 = 18: Scalable TCP's hundredth of a segment.
        assert!(near(grown(200.0, 0.11), 0.01));
        // A small window grows as standard TCP's in either mode.
        assert!(near(grown(50.0, 0.11), 0.02));
        // L = 0.13 > 1/8: standard TCP.
        assert!(near(grown(200.0, 0.113), 1.0 / 200.0));
    }

    #[test]
    fn baiocchi2007_a_long_queue_is_drained() {
        let mut yeah = yeah(1100.0);
        rounds(&mut yeah, 1, 0.11);
        // Q = 0.01 * 1100 / 0.11 = 100 > 80.
        assert!(near(yeah.cwnd(), 1000.0), "{}", yeah.cwnd());
        assert!(near(yeah.ssthresh(), 500.0));
    }

    #[test]
    fn baiocchi2007_no_more_is_drained_than_a_standard_tcp_would_keep() {
        let mut yeah = yeah(1000.0);
        rounds(&mut yeah, 1, 0.2);
        // Q = 500 is drained; a standard TCP would have half of the 500 that are left, and one more after the second round.
        assert!(near(yeah.cwnd(), 500.0));
        assert_eq!(yeah.own.cwnd_reno, Some(250.0));
        rounds(&mut yeah, 1, 0.4);
        // Q = 375, of which half the window, 250.
        assert!(near(yeah.cwnd(), 250.0));
        assert_eq!(yeah.own.cwnd_reno, Some(251.0));
        rounds(&mut yeah, 1, 0.4);
        assert!(near(yeah.cwnd(), 250.0), "standard TCP would have more");
        // 49 fast rounds do not make it forget, 50 do.
        rounds(&mut yeah, 49, 0.1);
        assert!(yeah.own.cwnd_reno.is_some());
        rounds(&mut yeah, 1, 0.1);
        assert_eq!(yeah.own.cwnd_reno, None);
    }

    #[test]
    fn baiocchi2007_a_loss_takes_the_queue() {
        let after = |slow_rounds, rtt| {
            let mut yeah = yeah(120.0);
            rounds(&mut yeah, slow_rounds, rtt);
            yeah.on_loss(&loss(120.0));
            yeah.cwnd()
        };
        // Q = 120 / 6 = 20.
        assert!(near(after(1, 0.12), 100.0));
        // Q = 120 / 21 = 5.7, less than an eighth of the window, 15.
        assert!(near(after(1, 0.105), 105.0));
        // Q = 120 * 2 / 3 = 80, more than half.
        assert!(near(after(1, 0.3), 60.0));
        // In whole windows an eighth of 60 is 7, as measured in ns-2's Linux agent.
        let mut whole = yeah(60.0);
        whole.window.growth.whole = true;
        whole.on_loss(&loss(60.0));
        assert_eq!(whole.cwnd(), 53.0);
        // Sixteen slow rounds in a row: standard TCP is there.
        assert!(near(after(15, 0.12), 100.0));
        assert!(near(after(16, 0.12), 60.0));
    }

    /// As in Linux.
    fn whole(cwnd: f64) -> ClassicControl<Yeah> {
        let mut params = Params::defaults(ENTRY.params);
        ENTRY.new.set_as_in("linux", &mut params);
        let start = ConnectionStart {
            whole_windows: true,
            ..avoiding(cwnd)
        };
        let mut yeah = ClassicControl::new(start, Yeah::new(YeahParameters::from(&params)));
        yeah.own.rules.min_samples = 1;
        yeah.own.path.base_rtt = 0.001_768;
        yeah
    }

    #[test]
    fn in_linux_queue_and_half_the_window_are_rounded_down_and_the_window_is_the_threshold() {
        // As measured: 80.5 segments are queued, then 81.7.
        let mut yeah = whole(104.0);
        rounds(&mut yeah, 1, 0.007_826);
        assert_eq!((yeah.own.queue, yeah.cwnd()), (80.0, 104.0));
        yeah.window.cwnd = 105.0;
        rounds(&mut yeah, 1, 0.007_981);
        assert_eq!((yeah.own.queue, yeah.cwnd()), (81.0, 53.0));
        assert_eq!(yeah.ssthresh(), 53.0);
    }

    #[test]
    fn in_linux_what_was_counted_before_a_decongestion_is_one_segment_at_most() {
        let mut yeah = whole(105.0);
        yeah.own.slow_rounds = 1;
        let acked = |yeah: &mut ClassicControl<Yeah>, counted| {
            yeah.on_ack(&AckedData {
                counted: segs(counted),
                ..ack()
            });
            yeah.cwnd()
        };
        assert_eq!(acked(&mut yeah, 62), 105.0);
        yeah.window.cwnd = 53.0;
        assert_eq!(acked(&mut yeah, 2), 54.0);
        assert_eq!(acked(&mut yeah, 51), 54.0);
        assert_eq!(acked(&mut yeah, 2), 55.0);
    }

    #[test]
    fn in_linux_a_timeout_takes_what_a_loss_takes_and_two_samples_say_nothing() {
        let mut yeah = whole(58.0);
        yeah.on_rto(&whole_loss(58.0));
        assert_eq!((yeah.cwnd(), yeah.ssthresh()), (1.0, 51.0));
        let mut yeah = whole(10.0);
        yeah.own.rules.min_samples = 2;
        rounds(&mut yeah, 1, 0.1);
        assert_eq!(yeah.own.queue, 0.0);
    }

    #[test]
    fn baiocchi2007_a_queue_of_just_q_max_or_one_over_phi_is_slow_but_not_drained() {
        let mut yeah = yeah(1360.0);
        // Binary fractions: of 17/128 s, 1/128 s is queued, that is a seventeenth of 1360 segments, 80; L = 1/16 is less than 1/8.
        yeah.own.path.base_rtt = 0.125;
        rounds(&mut yeah, 1, 0.132_812_5);
        assert_eq!((yeah.own.queue, yeah.own.slow_rounds), (80.0, 1));
        assert_eq!(yeah.cwnd(), 1360.0);
        rounds(&mut yeah, 1, 0.125);
        assert_eq!(yeah.own.slow_rounds, 0);
        // A ninth of 90 segments is queued for an eighth of the base.
        yeah.set_cwnd(90.0);
        rounds(&mut yeah, 1, 0.140_625);
        assert_eq!((yeah.own.queue, yeah.own.slow_rounds), (10.0, 1));
    }

    #[test]
    fn other_flows_are_forgotten_every_fifty_fast_rounds() {
        let mut yeah = yeah(200.0);
        for _ in 0..2 {
            yeah.own.cwnd_reno = Some(100.0);
            rounds(&mut yeah, 49, 0.1);
            assert_eq!(yeah.own.cwnd_reno, Some(100.0));
            rounds(&mut yeah, 1, 0.1);
            assert_eq!(yeah.own.cwnd_reno, None);
        }
    }

    #[test]
    fn a_loss_halves_the_window_of_a_standard_tcp_too_and_a_timeout_halves_in_any_case() {
        let mut yeah = yeah(120.0);
        yeah.own.cwnd_reno = Some(50.0);
        yeah.own.fast_rounds = 7;
        yeah.on_loss(&loss(120.0));
        assert_eq!((yeah.own.cwnd_reno, yeah.own.fast_rounds), (Some(25.0), 0));
        yeah.own.cwnd_reno = Some(3.0);
        yeah.on_loss(&loss(105.0));
        assert_eq!(yeah.own.cwnd_reno, Some(2.0));
        yeah.on_rto(&loss(120.0));
        assert_eq!((yeah.cwnd(), yeah.ssthresh()), (1.0, 60.0));
        assert_eq!(yeah.own.cwnd_reno, None);
    }
}
