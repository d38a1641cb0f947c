//! Copa: aims at a rate that is inverse to the queueing delay, and so keeps a few segments in the queue and empties it now and then.
//!
//! Specification: Arun and Balakrishnan, "Copa: Practical Delay-Based Congestion Control for the Internet", NSDI 2018, §2.
//!
//! Model, in segments and seconds:
//! - `RTTstanding` is the smallest round-trip time of `standing_share * srtt`, `RTTmin` that of `min_rtt_window`; `dq = RTTstanding - RTTmin`
//! - target rate `1 / (delta * dq)`; the rate is `cwnd / RTTstanding`
//! - below the target `cwnd += v / (delta * cwnd)` for everything delivered, above it `cwnd -= v / (delta * cwnd)`
//! - velocity `v`: 1; doubles every window after `steady_windows` of one direction; 1 again when the direction turns
//! - slow start: `cwnd += 1` for everything delivered, until the rate exceeds the target
//! - `pacing_rate = 2 * cwnd / RTTstanding`
//! - default mode: `delta = default_delta`. When the queue has not been nearly empty for `competitive_rounds` round trips, competitive
//!   mode: `1 / delta` grows by 1 per window and is halved at a loss, but never below `1 / default_delta`. Nearly empty is
//!   `dq <= nearly_empty * (RTTmax - RTTmin)`, with `RTTmax` of four round trips
//! - loss: nothing else; timeout: `cwnd = 1` and slow start
//!
//! Deviations: the paper looks at the direction once per window only; here `v` is 1 again as soon as the rate crosses the target, too:
//! otherwise a velocity gained on the way up throws the window far down. The paper does not say what a timeout does. `v` is at most `delta * cwnd`, so that a window at most doubles in a round
//! trip; the paper has no bound. An empty queue without any oscillation counts as nearly empty (the paper's comparison is strict).
//! An echoed mark (RFC 3168) counts as a loss. Whole windows are the model's, rounded down.
//!
//! Kernel equivalent: none in Linux.

use super::params::{COUNT, SHARE, TIME, parameters};
use std::collections::VecDeque;

use super::smoothed::smooth;
use super::{
    AckedData, Algorithm, CongestionControl, ConnectionStart, Episode, Needs, Prescribed, Signal,
    VariableProbe, Windows,
};
use crate::registry::{Entry, Kind, Value};
use crate::units::{Duration, Rate, SeqNum, WindowSize};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "copa",
    summary: "Copa: a rate inverse to the queueing delay; as aggressive as the others when they fill the queue",
    specification: &["Arun and Balakrishnan 2018 §2"],
    params: CopaParameters::PARAMS,
    new: Algorithm {
        needs: Needs {
            rules_recovery: true,
            ..Needs::NOTHING
        },
        ..Algorithm::of(|params, start| Box::new(Copa::new(CopaParameters::from(params), start)))
    },
};

parameters! {
    struct CopaParameters {
        default_delta: f64 = Kind::Number { min: 1e-3, max: 10.0 } => Value::Number(0.5), "inverse of the segments it aims to have queued, unless it must compete";
        standing_share: f64 = Kind::Number { min: 0.0, max: 10.0 } => Value::Number(0.5),
            "the delay now is the smallest of this share of a smoothed round-trip time";
        min_rtt_window: f64 = TIME => Value::Duration(10.0), "the delay without a queue is the smallest of this long";
        steady_windows: u64 = COUNT => Value::Integer(3), "the velocity doubles after this many windows of one direction";
        pacing_gain: f64 = Kind::Number { min: 1.0, max: 100.0 } => Value::Number(2.0), "pacing rate, in windows per round-trip time";
        competitive_mode: bool = Kind::Bool => Value::Bool(true), "whether it competes with flows that fill the queue";
        nearly_empty: f64 = SHARE => Value::Number(0.1), "share of the delay's oscillation below which the queue is nearly empty";
        oscillation_rounds: f64 = Kind::Number { min: 1.0, max: 1e3 } => Value::Number(4.0), "that oscillation is the one of this many round-trip times";
        competitive_rounds: f64 = Kind::Number { min: 1.0, max: 1e3 } => Value::Number(5.0),
            "it competes when the queue has not been nearly empty for this many round-trip times";
        min_cwnd: f64 = Kind::Number { min: 1.0, max: 1e6 } => Value::Number(2.0), "the delay does not shrink the window below this, segments";
    }
}

/// The smallest of the values of the last so many seconds.
#[derive(Clone, Debug, Default)]
struct RecentMin {
    /// Times and values: each value is larger than the one before it, as others can never be the smallest again.
    samples: VecDeque<(f64, f64)>,
}

impl RecentMin {
    fn add(&mut self, now: f64, value: f64, window: f64) -> f64 {
        while self
            .samples
            .back()
            .is_some_and(|&(_, known)| known >= value)
        {
            self.samples.pop_back();
        }
        self.samples.push_back((now, value));
        while self.samples.len() > 1 && self.samples[0].0 < now - window {
            self.samples.pop_front();
        }
        self.samples[0].1
    }
}

/// What is measured of round-trip times, seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct CopaDelays {
    standing: f64,
    min: f64,
    max: f64,
}

impl CopaDelays {
    fn queueing(&self) -> f64 {
        self.standing - self.min
    }
}

#[derive(Clone, Debug, Default)]
struct CopaRtts {
    srtt: Option<f64>,
    recent: RecentMin,
    lasting: RecentMin,
    /// Of the negated values, so that its smallest is the largest round-trip time.
    largest: RecentMin,
}

impl CopaRtts {
    fn add(&mut self, now: f64, rtt: f64, parameters: &CopaParameters) -> CopaDelays {
        let srtt = smooth(&mut self.srtt, Duration::from_secs(rtt));
        CopaDelays {
            standing: self.recent.add(now, rtt, parameters.standing_share * srtt),
            min: self.lasting.add(now, rtt, parameters.min_rtt_window),
            max: -self
                .largest
                .add(now, -rtt, parameters.oscillation_rounds * srtt),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum VelocityDirection {
    Up,
    Down,
}

#[derive(Debug)]
pub(super) struct Copa {
    parameters: CopaParameters,
    start: ConnectionStart,
    round_trips: CopaRtts,
    delays: Option<CopaDelays>,
    slow_start: bool,
    window: f64,
    velocity: f64,
    direction: Option<VelocityDirection>,
    /// Windows in succession that went in this direction.
    steady: u64,
    /// The segment whose acknowledgement ends the present window, and `cwnd` when that began.
    ends_at: SeqNum,
    began_with: f64,
    /// `1 / delta` in competitive mode.
    competing: Option<f64>,
    nearly_empty_at: Option<f64>,
    lost_in_window: bool,
}

impl Copa {
    fn new(parameters: CopaParameters, start: ConnectionStart) -> Self {
        Self {
            parameters,
            start,
            round_trips: CopaRtts::default(),
            delays: None,
            slow_start: true,
            window: start.cwnd.segments(),
            velocity: 1.0,
            direction: None,
            steady: 0,
            ends_at: SeqNum::ZERO,
            began_with: start.cwnd.segments(),
            competing: None,
            nearly_empty_at: None,
            lost_in_window: false,
        }
    }

    fn delta(&self) -> f64 {
        self.competing
            .map_or(self.parameters.default_delta, f64::recip)
    }

    /// Segments per second; infinite without a queue.
    fn target_rate(&self, delays: &CopaDelays) -> f64 {
        (self.delta() * delays.queueing()).recip()
    }

    /// Default or competitive mode (§2.2).
    fn choose_mode(&mut self, now: f64, delays: &CopaDelays) {
        if !self.parameters.competitive_mode {
            return;
        }
        let oscillation = delays.max - delays.min;
        if delays.queueing() <= self.parameters.nearly_empty * oscillation {
            self.nearly_empty_at = Some(now);
        }
        let srtt = self.round_trips.srtt.unwrap_or(delays.standing);
        let since = now - *self.nearly_empty_at.get_or_insert(now);
        if since <= self.parameters.competitive_rounds * srtt {
            self.competing = None;
        } else if self.competing.is_none() {
            self.competing = Some(self.parameters.default_delta.recip());
        }
    }

    /// Once per window: updates the velocity and, in competitive mode, `delta`.
    fn end_window(&mut self) {
        let direction = if self.window > self.began_with {
            VelocityDirection::Up
        } else {
            VelocityDirection::Down
        };
        if self.direction == Some(direction) {
            self.steady += 1;
        } else {
            self.direction = Some(direction);
            self.steady = 1;
            self.velocity = 1.0;
        }
        if self.steady > self.parameters.steady_windows {
            self.velocity *= 2.0;
        }
        self.began_with = self.window;
        if let Some(inverse) = &mut self.competing
            && !self.lost_in_window
        {
            *inverse += 1.0;
        }
        self.lost_in_window = false;
    }

    fn update_window(&mut self, ack: &AckedData, delays: &CopaDelays) {
        let delivered = ack.delivered.as_f64();
        let below = self.window / delays.standing <= self.target_rate(delays);
        if self.slow_start && below {
            if ack.cwnd_limited {
                self.window += delivered;
            }
            return;
        }
        self.slow_start = false;
        let delta = self.delta();
        let direction = if below {
            VelocityDirection::Up
        } else {
            VelocityDirection::Down
        };
        if self.direction != Some(direction) {
            self.velocity = 1.0;
        }
        self.velocity = self.velocity.min(delta * self.window).max(1.0);
        let step = delivered * self.velocity / (delta * self.window);
        if !below {
            self.window = (self.window - step).max(self.window.min(self.parameters.min_cwnd));
        } else if ack.cwnd_limited {
            self.window += step;
        }
    }
}

impl CongestionControl for Copa {
    fn on_ack(&mut self, ack: &AckedData) {
        let now = ack.now.secs();
        if let Some(rtt) = ack.rtt.map(Duration::secs) {
            let delays = self.round_trips.add(now, rtt, &self.parameters);
            self.choose_mode(now, &delays);
            self.delays = Some(delays);
        }
        let Some(delays) = self.delays else {
            return;
        };
        self.update_window(ack, &delays);
        if ack.snd_una >= self.ends_at {
            self.ends_at = ack.snd_nxt;
            if !self.slow_start {
                self.end_window();
            }
        }
    }

    fn on_congestion(&mut self, episode: &Episode) {
        self.lost_in_window = true;
        if let Some(inverse) = &mut self.competing {
            *inverse = (*inverse / 2.0).max(self.parameters.default_delta.recip());
        }
        if episode.signal == Signal::Rto {
            self.window = 1.0;
            self.velocity = 1.0;
            self.direction = None;
            self.slow_start = true;
        }
    }

    /// There is no threshold.
    fn prescribe(&mut self, prescribed: Prescribed) {
        self.window = prescribed.cwnd().map_or(self.window, WindowSize::segments);
    }

    fn windows(&self) -> Windows {
        Windows::without_threshold(self.start.whole(WindowSize::from_segments(self.window)))
    }

    fn pacing_rate(&self) -> Option<Rate> {
        let delays = self.delays?;
        let segments = self.parameters.pacing_gain * self.window / delays.standing;
        Some(Rate::from_bps(segments * self.start.smss.as_f64() * 8.0))
    }

    fn probe(&self, out: &mut VariableProbe<'_>) {
        let (standing, min) = self
            .delays
            .map_or((0.0, 0.0), |delays| (delays.standing, delays.min));
        out("delta", self.delta());
        out("v", self.velocity);
        out("RTTstanding", standing);
        out("RTTmin", min);
        out("competitive", f64::from(u8::from(self.competing.is_some())));
    }
}

#[cfg(test)]
mod tests {
    use super::super::bbr::path::{Path, run};
    use super::*;
    use crate::cc::testing::*;
    use crate::registry::Params;

    fn copa(start: ConnectionStart) -> Copa {
        Copa::new(CopaParameters::from(&Params::defaults(ENTRY.params)), start)
    }

    fn ack(secs: f64, rtt: f64) -> AckedData {
        AckedData {
            rtt: Some(Duration::from_secs(rtt)),
            // No window ends.
            snd_nxt: SeqNum::new(1000),
            ..ack_at(secs, 1, 10)
        }
    }

    fn loss() -> Episode {
        loss_at(1.0, 10.0)
    }

    fn close(left: f64, right: f64) -> bool {
        (left - right).abs() <= 1e-9 * right.abs()
    }

    #[test]
    fn the_window_moves_towards_the_target_rate_by_v_over_delta_per_window() {
        // RTTmin 100 ms, 20 ms queued: the target is 1 / (0.5 * 0.02) = 100 segments per second.
        let delays = CopaDelays {
            standing: 0.12,
            min: 0.1,
            max: 0.12,
        };
        let mut copa = copa(beginning(10.0));
        copa.slow_start = false;
        assert!(close(copa.target_rate(&delays), 100.0));
        // 10 / 0.12 = 83 per second is too slow: 1 / (0.5 * 10) more.
        copa.update_window(&ack(1.0, 0.12), &delays);
        assert!(close(copa.window, 10.2));
        // 20 / 0.12 = 167 is too fast: 4 / (0.5 * 20) less.
        copa.window = 20.0;
        copa.velocity = 4.0;
        copa.direction = Some(VelocityDirection::Down);
        copa.update_window(&ack(1.0, 0.12), &delays);
        assert!(close(copa.window, 19.6));
        // A velocity gained on the way up does not count on the way down.
        copa.window = 20.0;
        copa.direction = Some(VelocityDirection::Up);
        copa.update_window(&ack(1.0, 0.12), &delays);
        assert!(close(copa.window, 19.9));
    }

    #[test]
    fn the_delay_now_is_the_smallest_of_half_a_round_trip_time() {
        let mut copa = copa(beginning(10.0));
        copa.on_ack(&ack(0.0, 0.1));
        copa.on_ack(&ack(1.0, 0.12));
        copa.on_ack(&ack(1.04, 0.14));
        // 40 ms ago is within half of 107 ms; RTTmin is from the first sample.
        let delays = copa.delays.expect("there were samples");
        assert!(close(delays.standing, 0.12) && close(delays.min, 0.1) && close(delays.max, 0.14));
        copa.on_ack(&ack(1.06, 0.14));
        assert!(close(copa.delays.expect("as above").standing, 0.14));
        // After 10 s that one is forgotten, too.
        copa.on_ack(&ack(10.1, 0.14));
        assert!(close(copa.delays.expect("as above").min, 0.12));
        // Twice the window per RTTstanding.
        let rate = copa.pacing_rate().expect("there were samples").bps();
        assert!(close(rate, 2.0 * copa.window / 0.14 * 1460.0 * 8.0));
    }

    #[test]
    fn the_velocity_doubles_after_three_windows_of_a_direction() {
        let mut copa = copa(beginning(100.0));
        let mut velocities = Vec::new();
        for step in [1.0, 1.0, 1.0, 1.0, 1.0, -1.0, -1.0, -1.0, -1.0, 1.0] {
            copa.window += step;
            copa.end_window();
            velocities.push(copa.velocity);
        }
        assert_eq!(
            velocities,
            [1.0, 1.0, 1.0, 2.0, 4.0, 1.0, 1.0, 1.0, 2.0, 1.0]
        );
    }

    #[test]
    fn slow_start_ends_when_the_rate_exceeds_the_target() {
        let mut copa = copa(beginning(10.0));
        copa.on_ack(&ack(0.0, 0.1));
        assert!(close(copa.window, 11.0), "no queue, no bound");
        // 100 ms later 4 ms are queued: the target is 500 per second, and the rate 106.
        copa.on_ack(&ack(0.1, 0.104));
        assert!(close(copa.window, 12.0));
        // 20 ms: 100 per second is the target, and 12 / 0.12 = 100 does not exceed it.
        copa.on_ack(&ack(0.2, 0.12));
        assert!(close(copa.window, 13.0) && copa.slow_start);
        copa.on_ack(&ack(0.3, 0.12));
        assert!(!copa.slow_start);
        assert!(close(copa.window, 13.0 - 1.0 / (0.5 * 13.0)));
    }

    #[test]
    fn it_competes_when_the_queue_is_never_empty() {
        let mut copa = copa(beginning(10.0));
        // From 100 ms to 200 ms at once; a queue below 10 % of what the delay oscillates by, 10 ms, is not seen for 5 round trips.
        copa.on_ack(&ack(0.0, 0.1));
        let mut since = 0.0;
        while copa.competing.is_none() {
            since += 0.05;
            copa.on_ack(&ack(since, 0.2));
        }
        // The delay was last that small 50 ms ago at 50 ms, and the smoothed round-trip time has come near 200 ms a second later.
        assert!((1.0..1.1).contains(&since), "{since}");
        assert!(close(copa.delta(), 0.5));
        copa.end_window();
        copa.end_window();
        assert!(close(copa.delta(), 1.0 / 4.0));
        copa.on_loss(&loss());
        assert!(close(copa.delta(), 1.0 / 2.0));
        // No growth in a window with a loss, and never below two.
        copa.end_window();
        copa.on_loss(&loss());
        assert!(close(copa.delta(), 1.0 / 2.0));
        copa.end_window();
        copa.end_window();
        assert!(close(copa.delta(), 1.0 / 3.0));
        // 9 ms queued are nearly nothing of the 100 by which the delay oscillated.
        copa.on_ack(&ack(since + 0.2, 0.109));
        assert!(copa.competing.is_none());
        assert!(close(copa.delta(), 0.5));
    }

    #[test]
    fn it_fills_a_path_with_a_few_segments_queued() {
        for whole_windows in [false, true] {
            let mut copa = copa(ConnectionStart {
                whole_windows,
                ..beginning(10.0)
            });
            let outcome = run(&mut copa, Path::new(1000.0, 0.1, 500.0), 60.0, 10.0);
            assert!(outcome.goodput > 990.0, "{outcome:?}");
            // 1 / delta = 2, and what the oscillation adds.
            assert!(outcome.queue < 4.0, "{outcome:?}");
            assert_eq!(outcome.lost, 0);
        }
    }

    #[test]
    fn a_window_of_two_segments_becomes_no_smaller() {
        let mut copa = copa(beginning(2.4));
        copa.slow_start = false;
        // 2.4 per second are more than 1 / (0.5 * 0.9) = 2.2: 1 / (0.5 * 2.4) less would be 1.57.
        let delays = CopaDelays {
            standing: 1.0,
            min: 0.1,
            max: 1.0,
        };
        copa.update_window(&ack(1.0, 1.0), &delays);
        assert_eq!(copa.window, 2.0);
    }

    #[test]
    fn section_2_1_an_acknowledgement_moves_the_window_by_a_segment_at_most() {
        let mut copa = copa(beginning(20.0));
        copa.slow_start = false;
        copa.direction = Some(VelocityDirection::Down);
        // v is bound by delta * cwnd = 10, so that the step of v / (delta * cwnd) is one segment.
        copa.velocity = 64.0;
        let delays = CopaDelays {
            standing: 0.12,
            min: 0.1,
            max: 0.12,
        };
        copa.update_window(&ack(1.0, 0.12), &delays);
        assert!(close(copa.velocity, 10.0) && close(copa.window, 19.0));
    }
}
