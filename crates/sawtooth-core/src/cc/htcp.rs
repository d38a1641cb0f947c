//! H-TCP: the window grows faster the longer ago the last loss was, and a loss takes only what drains the path's queue.
//!
//! Specification: D. Leith, R. Shorten, "H-TCP: TCP for high-speed and long-distance networks", PFLDnet 2004; draft-leith-tcp-htcp-06.
//!
//! Model, in segments and seconds; Delta is the time since the last loss:
//! - `f(Delta)` is 1 up to `delta_l`, and then `1 + 10 (Delta - delta_l) + (Delta - delta_l)^2 / 4`
//! - round-trip time scaling: `f` is multiplied by `T_min / rtt_ref`, between `rtt_scale_min` and `rtt_scale_max`, but stays at least 1
//! - `alpha = 2 (1 - beta) f`; congestion avoidance: `cwnd += alpha / cwnd` for everything that counts
//! - loss: `cwnd = beta window`, `beta = T_min / T_max` between `beta_min` and `beta_max`, or `beta_min` if the largest throughput since the loss
//!   before differs from that of the epoch before by more than a share `delta_b`; then T_max comes closer to T_min (`t_max_keep`)
//! - timeout: the same, with `cwnd = 1`
//!
//! Deviations: throughput is measured over round trips, and the first loss, with no epoch before, takes `beta_min`. A threshold after a timeout
//! is that of a loss. The bounds and the reference of the scaling, and `t_max_keep`, are those of FreeBSD's `cc_htcp`, which implements the draft.
//! A spurious loss restores what the loss had changed.
//!
//! Kernel equivalent: `htcp`, in whole segments; its scaling and its comparison of throughputs can be switched off like here (module parameters
//! `use_rtt_scaling`, `use_bandwidth_switch`). What it does otherwise is in `htcp/ticked.rs` (`rtts` = "ticks"). Measured of Linux 6.1, whose clock has ticks of 10 ms: of 34 segments a loss
//! leaves 25 (10 Mbit/s, 20 ms, and as much in the queue), of 167 it leaves 133 (100 Mbit/s, 10 to 20 ms: 2 and 2 ticks, `beta_max`). Of 5, 0.8 is 3, so it is a little less (`beta_max` = 102/128);
//! 2 are left where the smallest round-trip time is one tick (`adaptive_above`).

mod ticked;

use self::ticked::TickedHTcp;
use super::params::{FACTOR, SHARE, TIME, TIME_FROM_ZERO};
use super::{
    AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, Episode, Needs, ParamOrder,
    VariableProbe, Windows,
};
use crate::registry::{Entry, Kind, Params, Value, param};
use crate::units::{Duration, Instant, SegCount, SeqNum, WindowSize};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "htcp",
    summary: "H-TCP: an increase that grows with the time since the last loss, and an adaptive decrease",
    specification: &["draft-leith-tcp-htcp-06", "Leith and Shorten 2004"],
    params: &[
        param!(delta_l: TIME_FROM_ZERO => Value::Duration(1.0),
            "standard TCP's increase for this long after a loss"),
        param!(delta_b: Kind::Number { min: 0.0, max: 1000.0 } => Value::Number(0.2),
            "change of throughput from loss to loss, as a share, above which a loss takes beta_min"),
        param!(bandwidth_switch: Kind::Bool => Value::Bool(true),
            "whether throughputs are compared"),
        param!(beta_min: FACTOR => Value::Number(0.5),
            "the window is multiplied by no less than this at a loss"),
        param!(beta_max: FACTOR => Value::Number(0.8),
            "the window is multiplied by no more than this at a loss, unless beta_min is more"),
        param!(adaptive_above: TIME_FROM_ZERO => Value::Duration(0.0),
            "beta adapts only where the smallest round-trip time is longer"),
        param!(t_max_keep: SHARE => Value::Number(0.95),
            "share of the range of round-trip times that is kept after a loss"),
        param!(rtts: Kind::Choice(&["samples", "ticks"]) => Value::Choice("samples"),
            "round-trip times: samples; or in ticks of the host's clock, rounded up, and alpha and beta in whole 128ths, as in Linux, where there is such a clock (`tcp.timer_tick`) and windows are whole (`tcp.whole_windows`)"),
        param!(rtt_scaling: Kind::Bool => Value::Bool(true),
            "whether the increase is scaled with the smallest round-trip time"),
        param!(rtt_ref: TIME => Value::Duration(0.1),
            "the smallest round-trip time at which scaling changes nothing"),
        param!(rtt_scale_min: Kind::Number { min: 0.001, max: 1.0 } => Value::Number(0.1),
            "the increase is multiplied by no less than this"),
        param!(rtt_scale_max: Kind::Number { min: 1.0, max: 1000.0 } => Value::Number(2.0),
            "the increase is multiplied by no more than this"),
    ],
    new: Algorithm {
        needs: Needs {
            arrivals: true,
            ..Needs::NOTHING
        },
        linux: &[
            ("rtts", Value::Choice("ticks")),
            ("beta_max", Value::Number(102.0 / 128.0)),
            ("adaptive_above", Value::Duration(0.01)),
        ],
        ordered: &[
            ("beta_min", ParamOrder::AtMost, "beta_max"),
            ("rtt_scale_min", ParamOrder::AtMost, "rtt_scale_max"),
        ],
        ..Algorithm::of(|params, start| {
            if params.choice("rtts") == "ticks" && start.whole_windows && start.tick.secs() > 0.0 {
                ClassicControl::boxed(start, TickedHTcp::new(params, start.tick))
            } else {
                ClassicControl::boxed(start, HTcp::new(params))
            }
        })
    },
};

/// Tolerance of the comparison, so that a change of throughput by exactly `delta_b` never counts as a change: times are rounded differently late in a run.
const ROUNDING: f64 = 1e-6;

/// A round trip that is being measured.
#[derive(Clone, Copy, Debug)]
struct HtcpRound {
    /// It is over when this segment is acknowledged.
    end: SeqNum,
    start_secs: f64,
    segments: SegCount,
}

/// The largest throughput over a round trip.
#[derive(Clone, Copy, Debug, Default)]
struct Throughput {
    round: Option<HtcpRound>,
    /// Segments per second.
    max: f64,
}

impl Throughput {
    fn on_ack(&mut self, ack: &AckedData) {
        let now_secs = ack.now.secs();
        if let Some(round) = &mut self.round {
            round.segments += ack.delivered;
            let passed = now_secs - round.start_secs;
            if ack.snd_una < round.end || passed <= 0.0 {
                return;
            }
            self.max = self.max.max(round.segments.as_f64() / passed);
        }
        self.round = Some(HtcpRound {
            end: ack.snd_nxt,
            start_secs: now_secs,
            segments: SegCount::ZERO,
        });
    }
}

/// What a loss changes besides the windows.
#[derive(Clone, Copy, Debug)]
struct HtcpEpoch {
    /// The last loss, or the first acknowledgement.
    start_secs: f64,
    beta: f64,
    t_max: f64,
    throughput: Throughput,
    /// The largest of the epoch before, segments per second.
    throughput_before: Option<f64>,
}

#[derive(Debug)]
struct HTcp {
    delta_l: f64,
    /// None when throughputs are not compared.
    delta_b: Option<f64>,
    beta_min: f64,
    beta_max: f64,
    adaptive_above: f64,
    t_max_keep: f64,
    /// The reference, and the smallest and the largest factor; none without scaling.
    rtt_scaling: Option<(f64, f64, f64)>,
    t_min: f64,
    epoch: Option<HtcpEpoch>,
    before_loss: Option<HtcpEpoch>,
    /// The increase of the last growth, segments per window.
    alpha: f64,
}

impl HTcp {
    fn new(params: &Params) -> Self {
        Self {
            delta_l: params.duration("delta_l"),
            delta_b: params
                .flag("bandwidth_switch")
                .then(|| params.number("delta_b")),
            beta_min: params.number("beta_min"),
            beta_max: params.number("beta_max"),
            adaptive_above: params.duration("adaptive_above"),
            t_max_keep: params.number("t_max_keep"),
            rtt_scaling: params.flag("rtt_scaling").then(|| {
                (
                    params.duration("rtt_ref"),
                    params.number("rtt_scale_min"),
                    params.number("rtt_scale_max"),
                )
            }),
            t_min: f64::INFINITY,
            epoch: None,
            before_loss: None,
            alpha: 1.0,
        }
    }

    fn new_epoch(&self, now_secs: f64) -> HtcpEpoch {
        HtcpEpoch {
            start_secs: now_secs,
            beta: self.beta_min,
            t_max: 0.0,
            throughput: Throughput::default(),
            throughput_before: None,
        }
    }

    /// Segments per window acknowledged, `delta` seconds after the last loss.
    fn alpha(&self, delta: f64, beta: f64) -> f64 {
        let over = delta - self.delta_l;
        let mut f = 1.0;
        if over > 0.0 {
            f = 1.0 + 10.0 * over + 0.25 * over * over;
            if let (Some((rtt_ref, least, most)), true) = (self.rtt_scaling, self.t_min.is_finite())
            {
                f = (f * (self.t_min / rtt_ref).min(most).max(least)).max(1.0);
            }
        }
        2.0 * (1.0 - beta) * f
    }

    /// What a loss at the end of `epoch` multiplies the window by.
    fn adaptive_beta(&self, epoch: &HtcpEpoch) -> f64 {
        if let Some(delta_b) = self.delta_b {
            let max = epoch.throughput.max;
            let steady = epoch
                .throughput_before
                .is_some_and(|before| (max - before).abs() <= (delta_b + ROUNDING) * before);
            if !steady {
                return self.beta_min;
            }
        }
        if epoch.t_max <= 0.0 || self.t_min <= self.adaptive_above + ROUNDING {
            return self.beta_min;
        }
        (self.t_min / epoch.t_max)
            .min(self.beta_max)
            .max(self.beta_min)
    }
}

impl Avoidance for HTcp {
    fn measure(&mut self, _window: &mut CongestionWindow, ack: &AckedData) {
        let now_secs = ack.now.secs();
        let mut epoch = self.epoch.unwrap_or_else(|| self.new_epoch(now_secs));
        if let Some(rtt) = ack.rtt.map(Duration::secs) {
            self.t_min = self.t_min.min(rtt);
            epoch.t_max = epoch.t_max.max(rtt);
        }
        epoch.throughput.on_ack(ack);
        self.epoch = Some(epoch);
    }

    fn grow(&mut self, window: &mut CongestionWindow, ack: &AckedData) {
        let counted = window.start_slowly(ack.counted);
        if let Some(epoch) = &self.epoch
            && !counted.is_zero()
        {
            self.alpha = self.alpha(ack.now.secs() - epoch.start_secs, epoch.beta);
            window.grow(counted, self.alpha);
        }
    }

    /// Besides, it begins a new epoch.
    fn decrease(&mut self, _window: &CongestionWindow, episode: &Episode) -> WindowSize {
        let now_secs = episode.now.secs();
        let epoch = self.epoch.unwrap_or_else(|| self.new_epoch(now_secs));
        let beta = self.adaptive_beta(&epoch);
        let range = (epoch.t_max - self.t_min).max(0.0);
        self.before_loss = Some(epoch);
        self.epoch = Some(HtcpEpoch {
            start_secs: now_secs,
            beta,
            t_max: if range > 0.0 {
                self.t_min + self.t_max_keep * range
            } else {
                epoch.t_max
            },
            throughput: Throughput::default(),
            throughput_before: (epoch.throughput.max > 0.0).then_some(epoch.throughput.max),
        });
        episode.window * beta
    }

    fn on_further_timeout(&mut self, now: Instant) {
        if let Some(epoch) = &mut self.epoch {
            epoch.start_secs = now.secs();
        }
    }

    fn on_undo(&mut self, _window: &CongestionWindow, _before: Windows) {
        if let Some(epoch) = self.before_loss.take() {
            self.epoch = Some(epoch);
        }
    }

    fn probe(&self, _window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        out("alpha", self.alpha);
        out("beta", self.epoch.map_or(self.beta_min, |epoch| epoch.beta));
        out(
            "b_max",
            self.epoch.map_or(0.0, |epoch| epoch.throughput.max),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;

    fn htcp(cwnd: f64, set: &[(&str, Value)]) -> ClassicControl<HTcp> {
        let start = avoiding(cwnd);
        ClassicControl::new(start, HTcp::new(&params(&ENTRY, set)))
    }

    fn lose(htcp: &mut ClassicControl<HTcp>, secs: f64, window: f64) {
        htcp.on_loss(&loss_at(secs, window));
    }

    /// An epoch from `start` on: one acknowledgement per 0.1 s that delivers `segments`, with round-trip times of 70 and 100 ms.
    fn epoch(htcp: &mut ClassicControl<HTcp>, start: f64, segments: u64) {
        for n in 1..=20u32 {
            htcp.on_ack(&AckedData {
                rtt: Some(Duration::from_secs(if n % 2 == 0 { 0.07 } else { 0.1 })),
                ..ack_at(start + 0.1 * f64::from(n), segments, 100)
            });
        }
    }

    fn near(left: f64, right: f64) {
        assert!((left - right).abs() < 1e-9, "{left} {right}");
    }

    #[test]
    fn leith_2004_the_increase_is_quadratic_from_delta_l_on() {
        let htcp = htcp(100.0, &[("rtt_scaling", Value::Bool(false))]);
        // beta = 1/2: alpha = f. f(3) = 1 + 10 * 2 + 4 / 4 = 22; f(11) = 1 + 100 + 25 = 126.
        for (delta, f) in [(0.5, 1.0), (1.0, 1.0), (3.0, 22.0), (11.0, 126.0)] {
            near(htcp.own.alpha(delta, 0.5), f);
            near(htcp.own.alpha(delta, 0.8), 0.4 * f);
        }
    }

    #[test]
    fn leith_2004_the_increase_is_scaled_with_the_smallest_round_trip_time() {
        let mut htcp = htcp(100.0, &[]);
        // Of 22, with 100 ms as reference: half at 50 ms, a tenth at 1 ms and below, twice at 200 ms and above, but never less than 1.
        for (t_min, alpha) in [(0.05, 11.0), (0.001, 2.2), (0.3, 44.0)] {
            htcp.own.t_min = t_min;
            near(htcp.own.alpha(3.0, 0.5), alpha);
            near(htcp.own.alpha(1.0, 0.5), 1.0);
        }
        htcp.own.t_min = 0.001;
        near(htcp.own.alpha(1.1, 0.5), 1.0);
    }

    #[test]
    fn leith_2004_an_acknowledgement_adds_alpha_over_the_window() {
        let mut htcp = htcp(100.0, &[("rtt_scaling", Value::Bool(false))]);
        htcp.on_ack(&ack_at(10.0, 1, 100));
        near(htcp.cwnd(), 100.01);
        htcp.on_ack(&ack_at(13.0, 1, 100));
        near(htcp.cwnd(), 100.01 + 22.0 / 100.01);
    }

    #[test]
    fn leith_2004_a_loss_at_a_steady_throughput_drains_the_queue_only() {
        let mut htcp = htcp(100.0, &[]);
        epoch(&mut htcp, 0.0, 50);
        lose(&mut htcp, 2.0, 100.0);
        near(htcp.cwnd(), 50.0);
        epoch(&mut htcp, 2.0, 55);
        lose(&mut htcp, 4.0, 100.0);
        // T_max was 70 + 0.95 * 30 after the first loss, and was 100 ms again since: 70 / 100.
        near(htcp.cwnd(), 70.0);
        near(htcp.own.epoch.unwrap().t_max, 0.07 + 0.95 * 0.03);
        // 550 to 700 segments per second is a change of more than 20 %.
        epoch(&mut htcp, 4.0, 70);
        lose(&mut htcp, 6.0, 100.0);
        near(htcp.cwnd(), 50.0);
    }

    #[test]
    fn leith_2004_beta_is_at_most_four_fifths_and_at_least_a_half() {
        let mut htcp = htcp(100.0, &[("bandwidth_switch", Value::Bool(false))]);
        htcp.own.t_min = 0.07;
        let mut epoch = htcp.own.new_epoch(0.0);
        for (t_max, beta) in [
            (0.075, 0.8),
            (0.0875, 0.8),
            (0.1, 0.7),
            (0.14, 0.5),
            (0.2, 0.5),
        ] {
            epoch.t_max = t_max;
            near(htcp.own.adaptive_beta(&epoch), beta);
        }
    }

    #[test]
    fn a_spurious_loss_does_not_begin_an_epoch() {
        let mut htcp = htcp(100.0, &[]);
        epoch(&mut htcp, 0.0, 50);
        let cwnd = htcp.cwnd();
        lose(&mut htcp, 2.0, cwnd);
        near(htcp.own.epoch.unwrap().start_secs, 2.0);
        htcp.on_undo(Windows {
            cwnd: WindowSize::from_segments(cwnd),
            ssthresh: WindowSize::from_segments(2.0),
        });
        near(htcp.own.epoch.unwrap().start_secs, 0.1);
        near(htcp.cwnd(), cwnd);
    }

    #[test]
    fn slow_start_leaves_the_increase_as_it_was() {
        let mut htcp = htcp(10.0, &[("rtt_scaling", Value::Bool(false))]);
        htcp.window.ssthresh = 100.0;
        // Five seconds without a loss would be an increase of 1 + 10 * 4 + 0.25 * 16 = 45.
        for secs in [0.0, 5.0] {
            htcp.on_ack(&ack_at(secs, 1, 10));
        }
        near(htcp.cwnd(), 12.0);
        near(htcp.own.alpha, 1.0);
        htcp.window.ssthresh = 2.0;
        htcp.on_ack(&ack_at(5.0, 1, 10));
        near(htcp.own.alpha, 45.0);
    }
}
