//! BBR, version 1: paces at the bottleneck's rate and bounds what is in flight by the path's capacity, both measured, instead of
//! filling the queue until it drops.
//!
//! Specification: Cardwell et al., "BBR: Congestion-Based Congestion Control", ACM Queue 14(5), 2016;
//! draft-cardwell-iccrg-bbr-congestion-control-00 §4.
//!
//! Model, in segments and seconds:
//! - `BtlBw` is the largest delivery rate of `bw_rounds` round trips, `RTprop` the smallest round-trip time of `min_rtt_window`;
//!   a sample limited by the application counts only if it is larger than `BtlBw`
//! - `pacing_rate = pacing_gain * BtlBw * (1 - pacing_margin)`; until the pipe is full it never falls
//! - `target_cwnd = cwnd_gain * BtlBw * RTprop + quanta * send_quantum`; `cwnd` goes there by what was delivered
//! - STARTUP: both gains are `high_gain`, until `BtlBw` has not grown by `full_bw_growth` in `full_bw_rounds` rounds
//! - DRAIN: pacing at `1 / high_gain`, until what is in flight fits the path
//! - PROBE_BW: a cycle of `cycle_phases` phases of one RTprop each; pacing at `probe_gain` in the first, at `drain_gain` in the
//!   second, at 1 in the others; the phase to begin with is any but the second, at random
//! - PROBE_RTT: when RTprop has not been seen for `min_rtt_window`, `min_cwnd` segments for `probe_rtt_duration` and a round trip
//! - loss: for one round trip as much is sent as is delivered; at the end of recovery the window is what it was before
//! - timeout: `cwnd = 1`, until the next acknowledgement
//!
//! Deviations: the margin (of the first rate, too), `on_undo`, and the end of PROBE_RTT in an idle period are those of draft-ietf-ccwg-bbr (§5.6.2, §5.5.11.2,
//! §5.4.1). The allowance for aggregated acknowledgements ([`aggregation`]) is off unless `extra_acked_gain` is above zero, and in STARTUP. Whole windows round the
//! path's capacity up. An echoed mark (RFC 3168) changes nothing, as the draft has it. Before the first delivery rate is known, the target is the initial window. The
//! largest rate is one of three that are remembered ([`max_filter`]).
//!
//! Kernel equivalent: `bbr`. Measured of Linux 6.1, packet by packet: the handshake's round-trip time is the first of RTprop and gives the first rate; rates are of whole
//! microseconds and have steps (`rate_step`: 1402.43 us between segments where exact numbers give 1402.0), and gains are of 256 parts (`high_gain`, `startup_drain_gain`);
//! windows are even once they are bounded (`even_windows`), and two segments larger in the first phase of the cycle (`probe_extra`: 14 instead of 12); when the pipe is full, and
//! not before, the window also allows for aggregated acknowledgements (`extra_acked_gain = 1`); DRAIN and the phases of the cycle end by what will be in flight when the next segment may leave
//! (`at_departure`); a policer is detected ([`policer`]); the send buffer is for three windows; pacing is that of `tcp.pacing_free_start` and `tcp.pacing_credit`.
//! STARTUP, its losses and DRAIN are then the kernel's packet by packet; where the cycle of PROBE_BW begins is random on both sides.

mod aggregation;
mod max_filter;
mod params;
mod policer;
mod recovery;
mod rt_prop;
#[cfg(test)]
mod tests;
mod whole;

use self::aggregation::ExtraAcked;
use self::max_filter::MaxFilter;
use self::params::BbrParameters;
pub(crate) use self::params::ENTRY;
use self::policer::Policer;
use self::recovery::{BbrRecovery, Follows};
use self::rt_prop::RtProp;
use self::whole::WholeUnits;
use super::control::Control;
use super::full_pipe::FullPipe;
use super::model::{Ignored, NOMINAL_RTT, Rounds, SegmentRate, real};
use super::probe_rtt::ProbeRtt;
use crate::cc::{
    AckedData, CongestionControl, ConnectionStart, Episode, Prescribed, RateSample, Signal,
    VariableProbe, Windows,
};
use crate::rng::RandomStream;
use crate::units::{Duration, Instant, Rate, SegCount, WindowSize, ceil};

#[derive(Clone, Copy, Debug, PartialEq)]
enum BbrState {
    Startup,
    Drain,
    ProbeBw { phase: i64, since: f64 },
    ProbeRtt(ProbeRtt),
}

#[derive(Debug)]
pub(crate) struct Bbr {
    parameters: BbrParameters,
    units: WholeUnits,
    random: RandomStream,
    state: BbrState,
    // The path.
    rounds: Rounds,
    bandwidth: MaxFilter,
    rt_prop: RtProp,
    full_pipe: FullPipe,
    aggregation: ExtraAcked,
    ignored: Ignored,
    policer: Policer,
    // What is sent into it.
    control: Control,
    recovery: BbrRecovery,
    idle_restart: bool,
    /// At which what is in flight was sent: that of the last acknowledgement.
    gain: f64,
    /// What keeps the path full, as known when DRAIN began: nothing looks at it but who is told of it.
    ssthresh: WindowSize,
}

impl Bbr {
    fn new(parameters: BbrParameters, start: ConnectionStart) -> Self {
        let mut bbr = Self {
            parameters,
            units: WholeUnits::of(SegmentRate(parameters.rate_step), start.tick),
            random: RandomStream::new(start.seed, "bbr"),
            state: BbrState::Startup,
            rounds: Rounds::default(),
            bandwidth: MaxFilter::default(),
            rt_prop: RtProp::unknown(parameters.min_rtt_window),
            full_pipe: FullPipe::new(parameters.full_bw_growth, parameters.full_bw_rounds),
            aggregation: ExtraAcked::default(),
            ignored: Ignored::default(),
            policer: Policer::default(),
            control: Control::new(start, parameters.quantum_duration, parameters.quantum_max),
            recovery: BbrRecovery::default(),
            idle_restart: false,
            gain: parameters.high_gain,
            ssthresh: WindowSize::INFINITE,
        };
        bbr.pace_initial_window(NOMINAL_RTT);
        bbr
    }

    /// Bits per second at which `bandwidth` segments per second are paced.
    fn paced(&self, bandwidth: f64, gain: f64) -> f64 {
        let segment = self.control.segment_bits();
        gain * bandwidth * segment * (1.0 - self.parameters.pacing_margin)
    }

    /// The first rate: the initial window in a round trip of so many seconds.
    #[cold]
    #[inline(never)]
    fn pace_initial_window(&mut self, rtt: f64) {
        let bandwidth = self
            .units
            .rate_of(
                WindowSize::from_segments(self.control.initial_window()),
                Duration::from_secs(rtt),
            )
            .0;
        self.control.pacing_rate = self.paced(bandwidth, self.parameters.high_gain);
    }

    fn in_probe_rtt(&self) -> bool {
        matches!(self.state, BbrState::ProbeRtt(_))
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            BbrState::Startup => self.parameters.high_gain,
            BbrState::Drain => self.parameters.startup_drain_gain,
            BbrState::ProbeBw { .. } if self.policer.rate().is_some() => 1.0,
            BbrState::ProbeBw { phase: 0, .. } => self.parameters.probe_gain,
            BbrState::ProbeBw { phase: 1, .. } => self.parameters.drain_gain,
            BbrState::ProbeBw { .. } | BbrState::ProbeRtt(_) => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            BbrState::Startup | BbrState::Drain => self.parameters.high_gain,
            BbrState::ProbeBw { .. } => self.parameters.cwnd_gain,
            BbrState::ProbeRtt(_) => 1.0,
        }
    }

    /// Segments that leave in a burst (§4.2.2).
    fn send_quantum(&self) -> f64 {
        let parameters = &self.parameters;
        if self.control.pacing_rate < parameters.one_segment_below {
            return 1.0;
        }
        if self.control.pacing_rate < parameters.two_segments_below {
            return 2.0;
        }
        self.control.burst().max(1.0)
    }

    /// Segments per second that the path is taken to carry.
    fn path_rate(&self) -> f64 {
        self.policer.rate().unwrap_or(self.bandwidth.get())
    }

    /// Segments in flight that keep the path full at `gain` (§4.2.3.2).
    fn inflight(&self, gain: f64) -> f64 {
        self.inflight_at(
            SegmentRate(self.bandwidth.get()),
            gain,
            WindowSize::from_segments(0.0),
        )
    }

    /// The same of a path of `bandwidth`, with `extra` segments besides.
    fn inflight_at(&self, bandwidth: SegmentRate, gain: f64, extra: WindowSize) -> f64 {
        if self.rt_prop.secs.is_infinite() || bandwidth.0 == 0.0 {
            return self.control.initial_window();
        }
        let rtt = Duration::from_secs(self.rt_prop.secs);
        let capacity = self
            .control
            .rounded_up(self.units.capacity(bandwidth, rtt, gain));
        let window = capacity + extra.segments() + self.parameters.quanta * self.send_quantum();
        let even = if self.parameters.even_windows {
            ceil(window / 2.0) * 2.0
        } else {
            window
        };
        match self.state {
            BbrState::ProbeBw { phase: 0, .. } => even + self.parameters.probe_extra,
            _ => even,
        }
    }

    fn target_cwnd(&self) -> f64 {
        let bandwidth = SegmentRate(self.path_rate());
        let extra = if self.full_pipe.reached {
            self.parameters.extra_acked_gain * self.aggregation.extra(bandwidth).segments()
        } else {
            0.0
        };
        self.inflight_at(
            bandwidth,
            self.cwnd_gain(),
            WindowSize::from_segments(self.control.rounded_down(extra)),
        )
    }

    /// What will be in flight of `segments` when the next one may leave: until then the path delivers.
    fn at_departure(&self, segments: SegCount, ack: &AckedData) -> f64 {
        let now = segments.as_f64();
        if !self.parameters.at_departure {
            return now;
        }
        let begun = if self.gain > 1.0 {
            self.send_quantum()
        } else {
            0.0
        };
        let rate = SegmentRate(self.path_rate());
        let delivered = self.units.delivered_within(rate, ack.waits);
        (now + begun - delivered).max(0.0)
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = self.paced(self.path_rate(), gain);
        self.control.pace(rate, self.full_pipe.reached);
    }

    fn update_bandwidth(&mut self, rate: &RateSample) {
        if rate.interval.secs() <= 0.0 {
            return;
        }
        let (round, window) = (self.rounds.count, self.parameters.bw_rounds);
        let sample = self.units.rate(rate);
        if sample.0 >= self.bandwidth.get() || !self.ignored.app_limited(rate) {
            self.bandwidth.add(sample, round, window);
        }
    }

    fn update_policer(&mut self, ack: &AckedData, rate: &RateSample) {
        if !self.parameters.policer_detection || rate.interval.secs() <= 0.0 {
            return;
        }
        let (begins, limited) = (self.rounds.started, self.ignored.app_limited(rate));
        let cycles = matches!(self.state, BbrState::ProbeBw { .. });
        if self.policer.is_over(begins, cycles) {
            self.enter_probe_bw(ack.now.secs());
        } else {
            let smss = self.control.smss();
            self.policer.on_ack(ack, rate, begins, limited, smss);
        }
    }

    fn update_aggregation(&mut self, ack: &AckedData) {
        if self.parameters.extra_acked_gain > 0.0 && !ack.delivered.is_zero() {
            let (bandwidth, begins) = (SegmentRate(self.path_rate()), self.rounds.started);
            let rounds = self.parameters.extra_acked_rounds;
            let cwnd = WindowSize::from_segments(self.control.cwnd);
            self.aggregation
                .on_ack(ack, self.units, bandwidth, cwnd, begins, rounds);
        }
    }

    fn check_full_pipe(&mut self, rate: &RateSample) {
        if self.rounds.started && !self.full_pipe.reached && !self.ignored.app_limited(rate) {
            self.full_pipe.on_round(self.bandwidth.get());
        }
    }

    fn check_drain(&mut self, ack: &AckedData) {
        if self.state == BbrState::Startup && self.full_pipe.reached {
            self.state = BbrState::Drain;
            self.ssthresh = WindowSize::from_segments(self.inflight(1.0).max(2.0));
        }
        if self.state == BbrState::Drain && self.at_departure(ack.pipe, ack) <= self.inflight(1.0) {
            self.enter_probe_bw(ack.now.secs());
        }
    }

    /// Any phase but the one that drains: there is nothing to drain yet (§4.3.4).
    #[cold]
    #[inline(never)]
    fn enter_probe_bw(&mut self, now: f64) {
        let phases = self.parameters.cycle_phases;
        let before = phases - 1 - self.random.integer(0, phases - 1);
        self.state = BbrState::ProbeBw {
            phase: (before + 1) % phases,
            since: now,
        };
    }

    fn check_cycle_phase(&mut self, ack: &AckedData) {
        let BbrState::ProbeBw { phase, since } = self.state else {
            return;
        };
        let now = ack.now.secs();
        let full_length = now - since > self.rt_prop.secs;
        let gain = self.pacing_gain();
        let prior_inflight = || self.at_departure(ack.pipe + ack.delivered + ack.lost, ack);
        let next = if gain > 1.0 {
            full_length && (!ack.lost.is_zero() || prior_inflight() >= self.inflight(gain))
        } else if gain < 1.0 {
            full_length || prior_inflight() <= self.inflight(1.0)
        } else {
            full_length
        };
        if next {
            self.state = BbrState::ProbeBw {
                phase: (phase + 1) % self.parameters.cycle_phases,
                since: now,
            };
        }
    }

    /// Whether RTprop had expired.
    fn update_rt_prop(&mut self, ack: &AckedData) -> bool {
        let first = self.rt_prop.known().is_none();
        let expired = self.rt_prop.update(ack, self.units);
        if first && let Some(rtt) = self.rt_prop.known() {
            self.pace_initial_window(rtt);
        }
        expired
    }

    fn check_probe_rtt(&mut self, ack: &AckedData, expired: bool) {
        if !self.in_probe_rtt() && expired && !self.idle_restart {
            self.save_cwnd();
            self.state = BbrState::ProbeRtt(ProbeRtt::default());
        }
        if let BbrState::ProbeRtt(mut probe) = self.state {
            self.ignored.mark(self.rounds.delivered(), ack.pipe);
            let little = WindowSize::from_segments(self.parameters.min_cwnd);
            probe.on_ack(ack, &mut self.rounds, little);
            self.state = BbrState::ProbeRtt(probe);
            self.check_probe_rtt_done(ack.now);
        }
        if !ack.delivered.is_zero() {
            self.idle_restart = false;
        }
    }

    #[cold]
    #[inline(never)]
    fn check_probe_rtt_done(&mut self, now: Instant) {
        let BbrState::ProbeRtt(probe) = self.state else {
            return;
        };
        let units = self.units;
        let long = self.parameters.probe_rtt_duration;
        if !probe.is_over(|since| units.has_passed(since, long, now)) {
            return;
        }
        self.rt_prop.at = now.secs();
        self.control.restore_cwnd();
        if self.full_pipe.reached {
            self.enter_probe_bw(now.secs());
        } else {
            self.state = BbrState::Startup;
        }
    }

    #[cold]
    #[inline(never)]
    fn after_timeout(&mut self) {
        self.recovery.begin_with_nothing(self.units.are_whole());
        // Growth is seen from nothing on, but for what has been counted.
        self.full_pipe.bw = 0.0;
        self.policer.on_timeout();
        self.control.cwnd = 1.0;
    }

    fn save_cwnd(&mut self) {
        let touched = self.recovery.is_under_way() || self.in_probe_rtt();
        self.control.save_cwnd(touched);
    }

    fn update_cwnd(&mut self, ack: &AckedData) {
        if ack.delivered.is_zero() {
            return self.bound_for_probe_rtt();
        }
        let follows = self
            .recovery
            .on_delivered(self.control.cwnd, ack, &mut self.rounds);
        match follows {
            Follows::Conservation(cwnd) => self.control.cwnd = cwnd,
            Follows::Growth(cwnd) => {
                self.control.cwnd = cwnd;
                self.grow(ack);
            }
            Follows::Restored(cwnd) => {
                self.control.cwnd = cwnd;
                self.control.restore_cwnd();
                self.grow(ack);
            }
        }
        self.bound_for_probe_rtt();
    }

    fn grow(&mut self, ack: &AckedData) {
        let (target, full) = (self.target_cwnd(), self.full_pipe.reached);
        let total = self.rounds.delivered();
        let control = &mut self.control;
        control.grow(ack.delivered.as_f64(), target, full, total);
        control.cwnd = control.cwnd.max(self.parameters.min_cwnd);
    }

    fn bound_for_probe_rtt(&mut self) {
        if self.in_probe_rtt() {
            self.control.cwnd = self.control.cwnd.min(self.parameters.min_cwnd);
        }
    }
}

impl CongestionControl for Bbr {
    fn on_ack(&mut self, ack: &AckedData) {
        self.rounds.on_ack(ack);
        if let Some(rate) = &ack.rate {
            self.update_policer(ack, rate);
            self.update_bandwidth(rate);
        }
        self.update_aggregation(ack);
        self.check_cycle_phase(ack);
        if let Some(rate) = &ack.rate {
            self.check_full_pipe(rate);
        }
        self.check_drain(ack);
        let expired = self.update_rt_prop(ack);
        self.check_probe_rtt(ack, expired);
        self.gain = self.pacing_gain();
        self.set_pacing_rate(self.gain);
        self.update_cwnd(ack);
    }

    fn on_congestion(&mut self, episode: &Episode) {
        if !self.recovery.marked {
            self.save_cwnd();
        }
        self.recovery.marked = episode.signal == Signal::Ecn;
        match episode.signal {
            Signal::Ecn => {}
            Signal::Loss => self.recovery.begin(),
            Signal::Rto => self.after_timeout(),
        }
    }

    fn on_further_timeout(&mut self, _now: Instant) {
        self.recovery.marked = false;
        self.after_timeout();
    }

    fn on_undo(&mut self, before: Windows) {
        self.recovery.end();
        self.control.restore_cwnd();
        self.control.cwnd = self.control.cwnd.max(before.cwnd.segments());
        // The pause of a spurious timeout may have looked like a full pipe.
        self.full_pipe.reset(0.0);
        self.policer.forget();
        self.bound_for_probe_rtt();
    }

    fn on_recovered(&mut self, _now: Instant, _began: Signal) {
        self.recovery.marked = false;
        self.recovery.end();
    }

    fn on_restart(&mut self, now: Instant, _idle: Duration) {
        self.idle_restart = true;
        self.aggregation.restart(now, self.units);
        if matches!(self.state, BbrState::ProbeBw { .. }) {
            self.set_pacing_rate(1.0);
        } else {
            self.check_probe_rtt_done(now);
        }
    }

    fn on_handshake(&mut self, now: Instant, rtt: Duration) {
        self.rt_prop.secs = rtt.secs();
        self.rt_prop.at = now.secs();
    }

    fn on_established(&mut self, initial_window: WindowSize) {
        self.control.on_established(initial_window);
        self.pace_initial_window(self.rt_prop.known().unwrap_or(NOMINAL_RTT));
    }

    fn windows(&self) -> Windows {
        Windows {
            cwnd: WindowSize::from_segments(self.control.cwnd),
            ssthresh: self.ssthresh,
        }
    }

    fn prescribe(&mut self, prescribed: Prescribed) {
        self.control.prescribe(prescribed);
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.control.rate())
    }

    fn probe(&self, out: &mut VariableProbe<'_>) {
        out("BtlBw", self.bandwidth.get());
        out("RTprop", self.rt_prop.known().unwrap_or(0.0));
        out("pacing_gain", self.pacing_gain());
        out("cwnd_gain", self.cwnd_gain());
        out("target_cwnd", self.target_cwnd());
        out("round_count", real(self.rounds.count));
        out("filled_pipe", f64::from(u8::from(self.full_pipe.reached)));
    }
}
