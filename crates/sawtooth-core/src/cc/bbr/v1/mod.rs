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
//! Deviations: the maximum is exact, not that of three remembered samples. The margin (of the first rate, too), `on_undo`, and the end of
//! PROBE_RTT in an idle period are those of draft-ietf-ccwg-bbr (§5.6.2, §5.5.11.2, §5.4.1), as is the allowance for aggregated
//! acknowledgements (§5.5.9), which is off unless `extra_acked_gain` is above zero, and in STARTUP. Whole windows round the path's capacity
//! up. An echoed mark (RFC 3168) changes nothing, as the draft has it. Before the first delivery rate is known, the target is the initial
//! window.
//!
//! Kernel equivalent: `bbr`. Measured of Linux 6.1, acknowledgement by acknowledgement: the handshake's round-trip time is the first of
//! RTprop and gives the first rate (4.135 Mbit/s over 80.02 ms); windows are even once they are bounded (`even_windows`: 996, 104, 56
//! segments); when the pipe is full, and not before, the window also allows for aggregated acknowledgements, as presented at the IETF
//! (`extra_acked_gain = 1`: 44 instead of 40 segments over 10 Mbit/s and 20 ms); pacing is that of `tcp.pacing_free_start` and `tcp.pacing_credit`.
//! STARTUP, its losses and DRAIN are then the kernel's to within a segment or two; where the cycle of PROBE_BW begins is random on both
//! sides. It also has a detector of policers, which the draft does not specify and which is not modelled.

mod params;
mod recovery;
mod rt_prop;
#[cfg(test)]
mod tests;

use self::params::BbrParameters;
pub(crate) use self::params::ENTRY;
use self::recovery::BbrRecovery;
use self::rt_prop::RtProp;
use super::control::Control;
use super::full_pipe::FullPipe;
use super::model::{Aggregation, Ignored, NOMINAL_RTT, Rounds, WindowedMax, delivery_rate, real};
use super::probe_rtt::ProbeRtt;
use crate::cc::{
    AckedData, CongestionControl, ConnectionStart, Episode, Prescribed, RateSample, Signal,
    VariableProbe, Windows,
};
use crate::rng::RandomStream;
use crate::units::{Duration, Instant, Rate, WindowSize, ceil};

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
    random: RandomStream,
    state: BbrState,
    // The path.
    rounds: Rounds,
    bandwidth: WindowedMax,
    rt_prop: RtProp,
    full_pipe: FullPipe,
    aggregation: Aggregation,
    ignored: Ignored,
    // What is sent into it.
    control: Control,
    recovery: BbrRecovery,
    idle_restart: bool,
}

impl Bbr {
    fn new(parameters: BbrParameters, start: ConnectionStart) -> Self {
        let mut bbr = Self {
            parameters,
            random: RandomStream::new(start.seed, "bbr"),
            state: BbrState::Startup,
            rounds: Rounds::default(),
            bandwidth: WindowedMax::default(),
            rt_prop: RtProp::unknown(parameters.min_rtt_window),
            full_pipe: FullPipe::new(parameters.full_bw_growth, parameters.full_bw_rounds),
            aggregation: Aggregation::default(),
            ignored: Ignored::default(),
            control: Control::new(start, parameters.quantum_duration, parameters.quantum_max),
            recovery: BbrRecovery::NONE,
            idle_restart: false,
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
        let bandwidth = self.control.initial_window() / rtt;
        self.control.pacing_rate = self.paced(bandwidth, self.parameters.high_gain);
    }

    fn in_probe_rtt(&self) -> bool {
        matches!(self.state, BbrState::ProbeRtt(_))
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            BbrState::Startup => self.parameters.high_gain,
            BbrState::Drain => 1.0 / self.parameters.high_gain,
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

    /// Segments in flight that keep the path full at `gain` (§4.2.3.2).
    fn inflight(&self, gain: f64) -> f64 {
        let bandwidth = self.bandwidth.get();
        if self.rt_prop.secs.is_infinite() || bandwidth == 0.0 {
            return self.control.initial_window();
        }
        let capacity = self
            .control
            .rounded_up(gain * bandwidth * self.rt_prop.secs);
        let window = capacity + self.parameters.quanta * self.send_quantum();
        if self.parameters.even_windows {
            ceil(window / 2.0) * 2.0
        } else {
            window
        }
    }

    fn target_cwnd(&self) -> f64 {
        if !self.full_pipe.reached {
            return self.inflight(self.cwnd_gain());
        }
        let extra = self.parameters.extra_acked_gain * self.aggregation.extra();
        self.inflight(self.cwnd_gain()) + self.control.rounded_down(extra)
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = self.paced(self.bandwidth.get(), gain);
        self.control.pace(rate, self.full_pipe.reached);
    }

    fn update_bandwidth(&mut self, rate: &RateSample) {
        if rate.interval.secs() <= 0.0 {
            return;
        }
        let (round, window) = (self.rounds.count, self.parameters.bw_rounds);
        let sample = delivery_rate(rate);
        if sample >= self.bandwidth.get() || !self.ignored.app_limited(rate) {
            self.bandwidth.add(sample, round, window);
        }
    }

    fn update_aggregation(&mut self, ack: &AckedData) {
        if self.parameters.extra_acked_gain > 0.0 {
            let window = if self.full_pipe.reached {
                self.parameters.extra_acked_rounds
            } else {
                1
            };
            let (bandwidth, round) = (self.bandwidth.get(), self.rounds.count);
            self.aggregation
                .on_ack(ack, bandwidth, self.control.cwnd, round, window);
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
        }
        if self.state == BbrState::Drain && ack.pipe.as_f64() <= self.inflight(1.0) {
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
        let prior_inflight = (ack.pipe + ack.delivered + ack.lost).as_f64();
        let next = if gain > 1.0 {
            full_length && (!ack.lost.is_zero() || prior_inflight >= self.inflight(gain))
        } else if gain < 1.0 {
            full_length || prior_inflight <= self.inflight(1.0)
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
        let expired = self.rt_prop.update(ack);
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
            probe.on_ack(
                ack,
                &mut self.rounds,
                little,
                self.parameters.probe_rtt_duration,
            );
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
        if !probe.is_over(now) {
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

    fn save_cwnd(&mut self) {
        let touched = self.recovery.is_under_way() || self.in_probe_rtt();
        self.control.save_cwnd(touched);
    }

    fn update_cwnd(&mut self, ack: &AckedData) {
        let cwnd = self.control.cwnd;
        self.control.cwnd = self.recovery.modulate(cwnd, ack, &mut self.rounds);
        if !self.recovery.conserves() {
            let (target, full) = (self.target_cwnd(), self.full_pipe.reached);
            let total = self.rounds.delivered();
            let control = &mut self.control;
            control.grow(ack.delivered.as_f64(), target, full, total);
            control.cwnd = control.cwnd.max(self.parameters.min_cwnd);
        }
        self.bound_for_probe_rtt();
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
        self.set_pacing_rate(self.pacing_gain());
        self.update_cwnd(ack);
    }

    fn on_congestion(&mut self, episode: &Episode) {
        if episode.signal == Signal::Ecn {
            return;
        }
        self.save_cwnd();
        self.control.cwnd = if episode.signal == Signal::Rto {
            self.recovery.begin_with_nothing();
            1.0
        } else {
            self.recovery.begin(self.control.cwnd)
        };
    }

    fn on_undo(&mut self, before: Windows) {
        self.recovery.end();
        self.control.restore_cwnd();
        self.control.cwnd = self.control.cwnd.max(before.cwnd.segments());
        // The pause of a spurious timeout may have looked like a full pipe.
        self.full_pipe.reset(0.0);
        self.bound_for_probe_rtt();
    }

    fn on_recovered(&mut self, _now: Instant, _began: Signal) {
        if self.recovery.end() {
            self.control.restore_cwnd();
            self.bound_for_probe_rtt();
        }
    }

    fn on_restart(&mut self, now: Instant, _idle: Duration) {
        self.idle_restart = true;
        self.aggregation.restart(now);
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
        self.control.windows()
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
