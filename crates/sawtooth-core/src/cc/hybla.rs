//! TCP Hybla: a flow over a long path sends as many segments per second as one whose round-trip time is `rtt0`.
//!
//! Specification: Caini and Firrincieli 2004, "TCP Hybla: a TCP enhancement for heterogeneous networks", International Journal of
//! Satellite Communications and Networking 22(5), §3.
//!
//! Model, in segments:
//! - `rho = max(RTT / rtt0, 1)`
//! - start: `cwnd` and `ssthresh` are multiplied by `rho` when the first round-trip time is known
//! - slow start (`cwnd < ssthresh`): `cwnd += 2^rho - 1` for everything that counts, up to `ssthresh`
//! - congestion avoidance: `cwnd += rho² / cwnd` for everything that counts
//! - loss: `ssthresh = cwnd = window * beta`
//! - timeout: `ssthresh = window * beta`, `cwnd = 1`
//!
//! Deviations: the paper also recommends that losses be recovered by SACK, that round trips be timed by timestamps, that packets be
//! spaced, and Hoe's estimate of the first `ssthresh`: the first two are the stack's, the last two are not done. `RTT` is the least
//! sample (`rtt = "min"`), the length of the path that the algorithm makes up for; with `rtt = "last"` it is the last sample, queueing
//! included. `rho` is at most `rho_max`: the paper has no limit, but 2^rho soon passes any window. What remains of an
//! acknowledgement that reaches `ssthresh` counts for congestion avoidance.
//!
//! Kernel equivalent: `hybla`, in whole segments. Measured of Linux 6.1 at 40.1 ms: it begins with one segment (`start_window` = 1, times a rho of 1.5:
//! 40.1 / 25 is 1.604, in eighths 1.5; `rho_steps` = 8), counts acknowledgements (`counts` = "acks"), of which each adds 1.83 segments in slow start
//! (2^1.5 - 1 = 1.828; at 128.7 ms, rho = 5.125, 33.75: 2^0.125 is 139/128, times 2^5), and 1/25.6 from 51 to 57 and 1/32 from 58 to 71: 2.25 / cwnd, rounded down to 5/128 and 4/128 (`grain` = 128).
//! The round-trip time of the handshake counts as a sample, and it is smoothed ones that count: after samples of 33, 24, 15 and 13 ms the first acknowledgements still add more than a segment each. What has been added of the next segment is kept over a loss, unlike with all others: a
//! recovery that leaves 4 segments is followed by a fifth after one acknowledgement and a sixth after three. Acknowledgements since the last step count when standard TCP's
//! rules begin to hold: at 3 segments the third, with which a segment is reported out of order, makes it 4, whatever has been added of the next.

use super::params::{BETA, IN_DISORDER, InDisorder, TIME};
use super::smoothed::smooth;
use super::{
    AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, ConnectionStart, Episode,
    PathOrder, VariableProbe,
};
use crate::registry::{Entry, Kind, ParamKey, Params, Value, Words, param, words};
use crate::units::{Duration, Instant, SegCount, WindowSize};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "hybla",
    summary: "TCP Hybla: long paths grow their window as fast, in time, as a path of 25 ms",
    specification: &["Caini and Firrincieli 2004 §3"],
    params: &[
        param!(rtt0: TIME => Value::Duration(0.025),
            "round-trip time of the path that all flows are to equal"),
        param!(rtt: Kind::Choice(PathRtt::WORDS) => Value::Choice(PathRtt::Min.word()),
            "the round-trip time that rho is computed from: the least or the last sample, or the least of the smoothed round-trip times with which the window could grow (SRTT, RFC 6298 §2.3)"),
        param!(rho_max: Kind::Number { min: 1.0, max: 64.0 } => Value::Number(32.0),
            "rho is at most this"),
        param!(rho_steps: Kind::Number { min: 1.0, max: 1e6 } => Value::None,
            "rho is rounded down to a multiple of one over this; `none`: not rounded"),
        param!(grain: Kind::Number { min: 1.0, max: 1e6 } => Value::None,
            "what an acknowledgement adds is rounded down to a multiple of one over this, segments; `none`: not rounded; with `tcp.whole_windows`"),
        param!(start_window: Kind::Number { min: 1.0, max: 1e6 } => Value::None,
            "initial window where rho is 1, segments; `none`: the stack's"),
        param!(scale_start: Kind::Bool => Value::Bool(true),
            "whether the initial window and threshold are multiplied by rho"),
        BETA,
        param!(counts: Kind::Choice(&["stack", "acks"]) => Value::Choice("stack"),
            "what the window grows by: what the stack counts (`tcp.byte_counting`), or acknowledgements"),
        IN_DISORDER,
    ],
    new: Algorithm {
        linux: &[
            ("rtt", Value::Choice(PathRtt::Smoothed.word())),
            ("start_window", Value::Number(1.0)),
            ("counts", Value::Choice("acks")),
            ("rho_steps", Value::Number(8.0)),
            ("grain", Value::Number(128.0)),
            ("in_disorder", Value::Choice("standard")),
        ],
        ..Algorithm::of(|params, start| Box::new(Hybla::begin(params, start)))
    },
};

words! {
    /// Which round-trip time says how long the path is.
    pub(super) enum PathRtt {
        /// The least sample.
        Min = "min",
        /// The last sample, queueing included.
        Last = "last",
        /// The least smoothed one with which the window could grow.
        Smoothed = "smoothed",
    }
}

#[derive(Debug)]
struct Hybla {
    rtt0_secs: f64,
    path_rtt: PathRtt,
    /// The smoothed round-trip time, once there is one.
    smoothed_secs: Option<f64>,
    rho_max: f64,
    rho_steps: Option<f64>,
    grain: Option<f64>,
    beta: f64,
    start_window: Option<f64>,
    /// Whether acknowledgements count, whatever the stack counts.
    counts_acks: bool,
    in_disorder: InDisorder,
    /// Where windows are whole, what has not yet been granted of them: by slow start, and with `grain` later, too.
    part: f64,
    rtt_secs: Option<f64>,
    rho: f64,
    scale_start: bool,
    /// Whether the initial windows still wait for the first round-trip time.
    unscaled: bool,
}

impl Hybla {
    fn begin(params: &Params, start: ConnectionStart) -> ClassicControl<Self> {
        let mut own = Self {
            rtt0_secs: params.duration("rtt0"),
            path_rtt: ParamKey::new("rtt").of(params),
            smoothed_secs: None,
            rho_max: params.number("rho_max"),
            rho_steps: params.number_if_any("rho_steps"),
            grain: params
                .number_if_any("grain")
                .filter(|_| start.whole_windows),
            beta: params.number("beta"),
            start_window: params.number_if_any("start_window"),
            counts_acks: params.choice("counts") == "acks",
            in_disorder: ParamKey::new(IN_DISORDER.name).of(params),
            part: 0.0,
            rtt_secs: None,
            rho: 1.0,
            scale_start: params.flag("scale_start"),
            unscaled: params.flag("scale_start"),
        };
        let window = CongestionWindow::new(start);
        own.start_window = own.start_window.map(|cwnd| window.whole(cwnd));
        let cwnd = own
            .start_window
            .map_or(start.cwnd, WindowSize::from_segments);
        ClassicControl::new(ConnectionStart { cwnd, ..start }, own)
    }

    fn observe(&mut self, sample_secs: f64) {
        let rtt_secs = match self.rtt_secs {
            Some(least) if self.path_rtt != PathRtt::Last => least.min(sample_secs),
            _ => sample_secs,
        };
        self.rtt_secs = Some(rtt_secs);
        let rho = rtt_secs / self.rtt0_secs;
        let rho = match self.rho_steps {
            Some(steps) => (rho * steps).floor() / steps,
            None => rho,
        };
        self.rho = rho.clamp(1.0, self.rho_max);
    }

    /// Multiplies the initial windows by rho when that is known, once.
    fn scale(&mut self, window: &mut CongestionWindow) {
        if self.unscaled && self.rtt_secs.is_some() {
            self.unscaled = false;
            window.cwnd = window.whole(window.cwnd * self.rho);
            window.ssthresh *= self.rho;
        }
    }

    /// What an acknowledgement adds, in whole grains; all of it where that is less than one.
    fn rounded(&self, each: f64) -> f64 {
        match self.grain {
            Some(grain) if each * grain >= 1.0 => (each * grain).floor() / grain,
            _ => each,
        }
    }

    /// Slow start for `counted` segments; what of them is left at the threshold.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts are positive and far below 2^53"
    )]
    fn start_slowly(&mut self, window: &mut CongestionWindow, counted: SegCount) -> SegCount {
        let whole = self.rho.floor();
        let each = self.rounded(libm::exp2(self.rho - whole)) * libm::exp2(whole) - 1.0;
        if each <= 1.0 {
            return window.start_slowly(counted);
        }
        let exact = window.cwnd + self.part + counted.as_f64() * each;
        if exact <= window.ssthresh {
            window.cwnd = window.whole(exact);
            self.part = exact - window.cwnd;
            return SegCount::ZERO;
        }
        let used = ((window.ssthresh - window.cwnd - self.part) / each).ceil();
        window.cwnd = if window.growth.whole {
            window.ssthresh.ceil()
        } else {
            window.ssthresh
        };
        self.part = 0.0;
        counted - SegCount::new(used as u64).min(counted)
    }

    /// Standard TCP's growth, towards which the acknowledgements since the last step count.
    fn grow_as_standard(window: &mut CongestionWindow, ack: &AckedData) {
        let counted = window.start_slowly(ack.counted);
        if !counted.is_zero() {
            window.cwnd = window.growth.every(window.cwnd, counted, window.cwnd);
        }
    }

    fn avoid_congestion(&mut self, window: &mut CongestionWindow, counted: SegCount) {
        let each = self.rounded(self.rho * self.rho / window.cwnd);
        if self.grain.is_some_and(|grain| each * grain < 1.0) {
            window.cwnd = window.growth.every(window.cwnd, counted, window.cwnd);
        } else if self.grain.is_some() {
            let exact = window.cwnd + self.part + counted.as_f64() * each;
            if each < 1.0 {
                window.growth.note(exact.floor() > window.cwnd);
            }
            window.cwnd = exact.floor();
            self.part = exact - window.cwnd;
        } else {
            window.grow(counted, each * window.cwnd);
        }
    }
}

impl Avoidance for Hybla {
    fn measure(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        let Some(sample) = ack.rtt else {
            return;
        };
        smooth(&mut self.smoothed_secs, sample);
        if self.path_rtt != PathRtt::Smoothed || self.rtt_secs.is_none() {
            self.observe(sample.secs());
            self.scale(window);
        }
    }

    fn grow(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        if self.path_rtt == PathRtt::Smoothed
            && let Some(smoothed_secs) = self.smoothed_secs
        {
            self.observe(smoothed_secs);
        }
        if ack.order != PathOrder::InOrder && self.in_disorder == InDisorder::Standard {
            return Self::grow_as_standard(window, ack);
        }
        let mut counted = if self.counts_acks {
            ack.counted.min(SegCount::ONE)
        } else {
            ack.counted
        };
        if window.in_slow_start() {
            counted = self.start_slowly(window, counted);
        }
        if !counted.is_zero() {
            self.avoid_congestion(window, counted);
        }
    }

    fn decrease(&mut self, _window: &CongestionWindow, episode: &Episode) -> WindowSize {
        if self.grain.is_none() {
            self.part = 0.0;
        }
        // The windows of a flow that has lost are no longer the initial ones.
        self.unscaled = false;
        episode.window * self.beta
    }

    fn on_handshake(&mut self, _window: &mut CongestionWindow, _now: Instant, rtt: Duration) {
        self.smoothed_secs = Some(rtt.secs());
        self.observe(rtt.secs());
    }

    fn on_established(&mut self, window: &mut CongestionWindow, initial_window: WindowSize) {
        // Measured of Linux 6.1: also where two SYNs were lost data begins in a window of rho.
        window.cwnd = self.start_window.unwrap_or(initial_window.segments());
        self.unscaled |= self.scale_start && self.start_window.is_some();
        self.scale(window);
    }

    fn probe(&self, _window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        out("rho", self.rho);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;

    fn hybla(start: ConnectionStart, scale_start: bool) -> ClassicControl<Hybla> {
        let set = [("scale_start", Value::Bool(scale_start))];
        Hybla::begin(&params(&ENTRY, &set), start)
    }

    /// As in Linux, with a window given.
    fn in_linux(start: ConnectionStart) -> ClassicControl<Hybla> {
        let mut params = Params::defaults(ENTRY.params);
        ENTRY.new.set_as_in("linux", &mut params);
        let cwnd = start.cwnd.segments();
        let start = ConnectionStart {
            whole_windows: true,
            ..start
        };
        let mut hybla = Hybla::begin(&params, start);
        hybla.window.cwnd = cwnd;
        hybla.own.unscaled = false;
        hybla
    }

    fn timed(rtt_secs: f64) -> AckedData {
        AckedData {
            rtt: Some(Duration::from_secs(rtt_secs)),
            ..ack()
        }
    }

    #[test]
    fn slow_start_adds_two_to_the_rho_less_one() {
        // 75 ms are rho = 3 of 25 ms: 2^3 - 1 = 7.
        let mut hybla = hybla(beginning(10.0), false);
        hybla.on_ack(&timed(0.075));
        assert!((hybla.cwnd() - 17.0).abs() < 1e-9, "{}", hybla.cwnd());
    }

    #[test]
    fn whole_windows_lose_nothing_of_a_fractional_increase() {
        // rho = 1.5: 2^1.5 - 1 = 1.828 for each; three are 5.485, of which 5 are granted.
        let mut hybla = hybla(
            ConnectionStart {
                whole_windows: true,
                ..beginning(10.0)
            },
            false,
        );
        for _ in 0..3 {
            hybla.on_ack(&timed(0.0375));
            assert_eq!(hybla.cwnd().fract(), 0.0);
        }
        assert_eq!(hybla.cwnd(), 15.0);
    }

    #[test]
    fn in_linux_the_fraction_of_rho_is_raised_in_128ths_before_its_whole_part() {
        // Measured: 128.7 ms are 41/8; 2^(1/8) is 139/128, so each of four acknowledgements adds 32 * 139 / 128 - 1 = 33.75.
        let mut hybla = in_linux(starting(38.0, 1e9));
        let windows = [(); 4].map(|()| {
            hybla.on_ack(&timed(0.1287));
            hybla.cwnd()
        });
        assert_eq!(windows, [71.0, 105.0, 139.0, 173.0]);
    }

    #[test]
    fn in_linux_smoothed_round_trips_count_and_what_they_add_is_kept() {
        // 33 ms are 10/8; after 24.3, 14.6 and 9.7 ms the smoothed ones are 31.9, 29.7 and 27.2 ms, 10/8, 9/8 and 1: 1.375, 1.171875 and 1 for each.
        let mut hybla = in_linux(starting(1.0, 1e9));
        hybla.on_handshake(Instant::START, Duration::from_secs(0.033));
        for (rtt_secs, cwnd, part) in [
            (0.0243, 2.0, 48.0),
            (0.0146, 3.0, 70.0),
            (0.0097, 4.0, 70.0),
        ] {
            hybla.on_ack(&timed(rtt_secs));
            assert_eq!((hybla.cwnd(), hybla.own.part * 128.0), (cwnd, part));
        }
    }

    #[test]
    fn in_linux_a_window_of_which_an_acknowledgement_adds_no_grain_grows_as_standard_tcp() {
        // Measured at rho = 1 and 176 segments: a step when so many acknowledgements have come.
        let mut hybla = in_linux(avoiding(176.0));
        let steps: Vec<u32> = (1..=400)
            .filter(|_| {
                let before = hybla.cwnd();
                hybla.on_ack(&timed(0.0103));
                hybla.cwnd() > before
            })
            .collect();
        assert_eq!(steps, [176, 353]);
    }

    #[test]
    fn congestion_avoidance_adds_rho_squared_over_the_window() {
        // 100 ms are rho = 4: 16 / 32 for each, so 16 segments in 100 ms, and the rate cwnd / RTT grows by 16 / 0.1 / 0.1 = 1600 segments/s
        // each second, as a path of 25 ms does with 1 segment in 25 ms: 1 / 0.025² = 1600.
        let mut hybla = hybla(avoiding(32.0), false);
        hybla.on_ack(&timed(0.1));
        assert!((hybla.cwnd() - 32.5).abs() < 1e-9);
    }

    #[test]
    fn a_path_no_longer_than_rtt0_is_standard_tcp() {
        let mut short = hybla(avoiding(10.0), true);
        short.on_ack(&timed(0.010));
        assert!((short.cwnd() - 10.1).abs() < 1e-9);
        let mut short = hybla(beginning(10.0), true);
        short.on_ack(&timed(0.025));
        assert!((short.cwnd() - 11.0).abs() < 1e-9);
    }

    #[test]
    fn the_initial_windows_are_multiplied_by_rho_once() {
        // rho = 2: 10 and 100 become 20 and 200; then 2^2 - 1 = 3 for each acknowledgement.
        let mut hybla = hybla(starting(10.0, 100.0), true);
        hybla.on_ack(&timed(0.05));
        assert!((hybla.cwnd() - 23.0).abs() < 1e-9);
        assert!((hybla.ssthresh() - 200.0).abs() < 1e-9);
        hybla.on_ack(&timed(0.05));
        assert!((hybla.cwnd() - 26.0).abs() < 1e-9);
    }

    #[test]
    fn its_own_initial_window_is_multiplied_like_the_stack_s() {
        // 2 segments at rho = 2 are 4, and 2^2 - 1 = 3 more for the acknowledgement that brought the sample.
        let params = params(&ENTRY, &[("start_window", Value::Number(2.0))]);
        let mut hybla = Hybla::begin(&params, beginning(10.0));
        assert_eq!(hybla.cwnd(), 2.0);
        hybla.on_ack(&timed(0.05));
        assert!((hybla.cwnd() - 7.0).abs() < 1e-9);
    }

    #[test]
    fn its_own_initial_window_is_multiplied_after_lost_syns_too() {
        // Measured of Linux 6.1: two SYNs lost, a round trip of 116 ms of the third: data begins in a window of four.
        let mut hybla = in_linux(beginning(10.0));
        hybla.on_rto(&loss(1.0));
        hybla.on_handshake(Instant::START, Duration::from_secs(0.116));
        hybla.on_established(WindowSize::ONE);
        assert_eq!(hybla.cwnd(), 4.0);
    }

    #[test]
    fn slow_start_stops_at_the_threshold_and_the_rest_counts_for_avoidance() {
        // rho = 4: 15 for each; the first of two takes 10 to 20, the second adds 16 / 20.
        let mut hybla = hybla(starting(10.0, 20.0), false);
        hybla.on_ack(&AckedData {
            counted: SegCount::new(2),
            ..timed(0.1)
        });
        assert!((hybla.cwnd() - 20.8).abs() < 1e-9, "{}", hybla.cwnd());
    }

    #[test]
    fn queueing_does_not_raise_rho_unless_told() {
        let mut patient = hybla(avoiding(10.0), false);
        patient.on_ack(&timed(0.05));
        patient.on_ack(&timed(0.1));
        assert!((patient.own.rho - 2.0).abs() < 1e-9);
        let params = params(&ENTRY, &[("rtt", Value::Choice("last"))]);
        let mut hasty = Hybla::begin(&params, avoiding(10.0));
        hasty.on_ack(&timed(0.05));
        hasty.on_ack(&timed(0.1));
        assert!((hasty.own.rho - 4.0).abs() < 1e-9);
    }

    #[test]
    fn in_linux_rho_is_in_eighths_and_growth_in_128ths() {
        let mut params = Params::defaults(ENTRY.params);
        for (name, value) in [("start_window", 1.0), ("rho_steps", 8.0), ("grain", 128.0)] {
            params.set(name, Value::Number(value));
        }
        let start = ConnectionStart {
            whole_windows: true,
            ..beginning(10.0)
        };
        let mut hybla = Hybla::begin(&params, start);
        // 40.1 / 25 is 1.604, in eighths 1.5; one segment times that is one.
        hybla.on_handshake(Instant::from_secs(0.0401), Duration::from_secs(0.0401));
        hybla.on_established(WindowSize::from_segments(10.0));
        assert_eq!((hybla.own.rho, hybla.cwnd()), (1.5, 1.0));
        // 2.25 / 51 is 5.6 of 128: 26 acknowledgements for a segment, where 23 would do.
        (hybla.window.cwnd, hybla.window.ssthresh) = (51.0, 2.0);
        (0..25).for_each(|_| hybla.on_ack(&timed(0.05)));
        assert_eq!(hybla.cwnd(), 51.0);
        hybla.on_ack(&timed(0.05));
        assert_eq!(hybla.cwnd(), 52.0);
    }

    #[test]
    fn a_path_of_more_than_800_ms_counts_as_one_of_800() {
        let mut hybla = hybla(avoiding(10.0), false);
        hybla.on_ack(&timed(0.75));
        assert!((hybla.own.rho - 30.0).abs() < 1e-9);
        hybla.own.rtt_secs = None;
        hybla.on_ack(&timed(1.0));
        assert_eq!(hybla.own.rho, 32.0);
    }

    #[test]
    fn of_acknowledgements_that_count_each_is_one_segment() {
        let params = params(&ENTRY, &[("counts", Value::Choice("acks"))]);
        let mut hybla = Hybla::begin(&params, avoiding(20.0));
        hybla.on_ack(&AckedData {
            counted: SegCount::new(3),
            ..timed(0.025)
        });
        // rho = 1: a twentieth of a segment.
        assert!((hybla.cwnd() - 20.05).abs() < 1e-9);
    }
}
