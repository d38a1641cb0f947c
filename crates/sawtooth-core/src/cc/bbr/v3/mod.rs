//! BBR, version 3: as version 1, but what it loses bounds its rate and its window, and it probes more rarely and more cautiously.
//!
//! Specification: draft-ietf-ccwg-bbr §5, as of August 2026 (after -04), whose names are used: `bw_shortterm`, `inflight_shortterm` and
//! `inflight_longterm` are the `bw_lo`, `inflight_lo` and `inflight_hi` of earlier texts.
//!
//! Model, in segments and seconds:
//! - `max_bw` is the largest delivery rate of this and the previous cycle of ProbeBW; `bw = min(max_bw, bw_shortterm)`
//! - `pacing_rate = pacing_gain * bw * (1 - pacing_margin)`; until the pipe is full it never falls
//! - `max_inflight = cwnd_gain * bw * min_rtt + extra_acked`, at least three bursts; `cwnd` goes there by what was delivered
//! - Startup until the rate has not grown by `full_bw_growth` in `full_bw_rounds` rounds, or too much was lost; then Drain
//! - ProbeBW: DOWN at `down_pacing_gain` until what is in flight fits the path and leaves `headroom`; CRUISE at 1; after 2 s to 3 s, or
//!   as many round trips as Reno would need, REFILL at 1 for a round; then UP at `up_pacing_gain` until the rate does not grow
//! - when more than `loss_thresh` of a round trip's segments are lost in a probe, `inflight_longterm` becomes what was in flight,
//!   but no less than `beta * min(bdp, cwnd)`, and the probe ends; the next one stops there, and only if that went well goes on
//! - UP, bound by `inflight_longterm`, raises it by 1, 2, 4, ... segments per round trip
//! - a round trip with a loss elsewhere: `bw_shortterm` and `inflight_shortterm` become what was delivered in it, but no less than
//!   `beta` times what they were; REFILL forgets both
//! - ProbeRTT: every `probe_rtt_interval`, half the path's capacity for `probe_rtt_duration` and a round trip
//! - timeout: `cwnd = 1`, until the next acknowledgement
//!
//! Deviations: a loss is judged by the delivery rate sample of the acknowledgement that showed it, not by the lost segment's own
//! state when it was sent, and the discontiguous losses that end Startup are counted as acknowledgements that show losses. Selective
//! acknowledgements are taken for granted. Whole windows round the path's capacity up and bounds down. Before the first delivery
//! rate is known, the target is the initial window. An echoed mark (RFC 3168) changes nothing: the draft leaves it open.
//!
//! Kernel equivalent: none in Linux; `bbr` of Google's v3 branch.

mod aggregation;
mod bounds;
mod cycle;
mod data_rate;
mod latest;
mod min_rtt;
mod params;
mod sample;
mod slope;
mod states;
#[cfg(test)]
mod tests;

use self::aggregation::Aggregation;
use self::bounds::Bounds;
use self::cycle::Cycle;
use self::data_rate::DataRate;
use self::latest::Latest;
use self::min_rtt::MinRtt;
use self::params::Bbr3Parameters;
pub(crate) use self::params::ENTRY;
use self::sample::Sample;
use super::control::Control;
use super::full_pipe::FullPipe;
use super::model::{Ignored, NOMINAL_RTT, Rounds, real};
use super::probe_rtt::ProbeRtt;
use crate::cc::{
    AckedData, CongestionControl, ConnectionStart, Episode, Prescribed, Signal, VariableProbe,
    Windows,
};
use crate::units::{Duration, Instant, Rate, WindowSize};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Bbr3State {
    Startup,
    Drain { since_round: u64 },
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt(ProbeRtt),
}

/// What a spurious loss is to give back.
#[derive(Clone, Copy, Debug)]
struct Bbr3Undo {
    state: Option<Bbr3State>,
    bounds: Bounds,
}

#[derive(Debug)]
pub(crate) struct Bbr3 {
    parameters: Bbr3Parameters,
    state: Bbr3State,
    // The path (§5.5).
    rounds: Rounds,
    rate: DataRate,
    bounds: Bounds,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    ignored: Ignored,
    latest: Latest,
    full_pipe: FullPipe,
    // What is sent into it (§5.6), and how it is probed (§5.3).
    control: Control,
    cycle: Cycle,
    /// The round in which a recovery began, if one is under way.
    recovering_since: Option<u64>,
    undo: Bbr3Undo,
    idle_restart: bool,
}

impl Bbr3 {
    fn new(parameters: Bbr3Parameters, start: ConnectionStart) -> Self {
        let mut bbr = Self {
            parameters,
            state: Bbr3State::Startup,
            rounds: Rounds::default(),
            rate: DataRate::default(),
            bounds: Bounds::NONE,
            min_rtt: MinRtt::UNKNOWN,
            aggregation: Aggregation::default(),
            ignored: Ignored::default(),
            latest: Latest::default(),
            full_pipe: FullPipe::new(parameters.full_bw_growth, parameters.full_bw_rounds),
            control: Control::new(start, parameters.quantum_duration, parameters.quantum_max),
            cycle: Cycle::new(start.seed),
            recovering_since: None,
            undo: Bbr3Undo {
                state: None,
                bounds: Bounds::LEAST,
            },
            idle_restart: false,
        };
        bbr.pace_initial_window(NOMINAL_RTT);
        bbr
    }

    /// The first rate (§5.6.2): the initial window in a round trip of so many seconds.
    fn pace_initial_window(&mut self, rtt: f64) {
        let control = &mut self.control;
        let gain = self.parameters.startup_pacing_gain;
        control.pacing_rate = gain * control.initial_window() / rtt * control.segment_bits();
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            Bbr3State::Startup => self.parameters.startup_pacing_gain,
            Bbr3State::Drain { .. } => self.parameters.drain_pacing_gain,
            Bbr3State::Down => self.parameters.down_pacing_gain,
            Bbr3State::Up => self.parameters.up_pacing_gain,
            Bbr3State::Cruise | Bbr3State::Refill | Bbr3State::ProbeRtt(_) => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            Bbr3State::Up => self.parameters.up_cwnd_gain,
            Bbr3State::ProbeRtt(_) => self.parameters.probe_rtt_cwnd_gain,
            _ => self.parameters.cwnd_gain,
        }
    }

    fn in_probe_bw(&self) -> bool {
        matches!(
            self.state,
            Bbr3State::Down | Bbr3State::Cruise | Bbr3State::Refill | Bbr3State::Up
        )
    }

    fn in_probe_rtt(&self) -> bool {
        matches!(self.state, Bbr3State::ProbeRtt(_))
    }

    // Volumes (§5.6.4.2).

    fn bdp(&self, bw: f64) -> f64 {
        if self.min_rtt.secs.is_infinite() || bw == 0.0 {
            self.control.initial_window()
        } else {
            bw * self.min_rtt.secs
        }
    }

    fn send_quantum(&self) -> f64 {
        self.control.burst().max(2.0)
    }

    /// `capacity`, or what bursts and pipelining need.
    fn quantized(&self, capacity: f64) -> f64 {
        let capacity = self.control.rounded_up(capacity);
        let needed = (self.parameters.quanta * self.send_quantum())
            .max(self.parameters.min_pipe_cwnd)
            .max(capacity);
        if self.state == Bbr3State::Up {
            needed + 2.0
        } else {
            needed
        }
    }

    fn max_inflight(&self) -> f64 {
        self.quantized(self.cwnd_gain() * self.bdp(self.rate.bw) + self.aggregation.extra())
    }

    fn target_inflight(&self) -> f64 {
        self.bdp(self.rate.bw).min(self.control.cwnd)
    }

    fn probe_rtt_cwnd(&self) -> f64 {
        (self.parameters.probe_rtt_cwnd_gain * self.bdp(self.rate.bw))
            .max(self.parameters.min_pipe_cwnd)
    }

    // The model (§5.5).

    fn update_model(&mut self, ack: &AckedData, sample: &Sample) {
        self.note_losses(ack, sample);
        self.latest.update(sample, self.rounds.delivered());
        self.rate.update(sample, self.parameters.max_bw_cycles);
        self.adapt_to_losses_of_round();
        self.update_aggregation(ack);
        if self.rounds.started && !sample.app_limited {
            self.full_pipe.on_round(sample.rate);
        }
        self.check_startup_done(sample);
        self.check_drain_done(ack);
        self.update_probe_bw(ack, sample);
        let expired = self.update_min_rtt(ack);
        self.check_probe_rtt(ack, expired);
        self.latest.advance(sample);
        self.rate.bound(self.bounds.bw_shortterm);
    }

    fn note_losses(&mut self, ack: &AckedData, sample: &Sample) {
        if ack.lost.is_zero() {
            return;
        }
        if self.latest.lose(self.rounds.delivered()) {
            self.save_state_upon_loss();
        }
        if self.cycle.bw_probe_samples && self.too_high(sample) {
            self.handle_inflight_too_high(ack, sample);
        }
    }

    fn too_high(&self, sample: &Sample) -> bool {
        sample.too_high(self.parameters.loss_thresh)
    }

    fn handle_inflight_too_high(&mut self, ack: &AckedData, sample: &Sample) {
        self.cycle.note_too_high();
        if !sample.app_limited {
            self.bounds.inflight_longterm = sample
                .inflight_at_loss(self.parameters.loss_thresh)
                .max(self.target_inflight() * self.parameters.beta);
        }
        if self.state == Bbr3State::Up {
            self.undo.state = Some(Bbr3State::Up);
            self.start_down(ack.now);
        }
    }

    fn adapt_to_losses_of_round(&mut self) {
        if !self.latest.loss_round_start {
            return;
        }
        let probing = matches!(
            self.state,
            Bbr3State::Startup | Bbr3State::Refill | Bbr3State::Up
        );
        if self.latest.has_loss && !probing {
            let (max_bw, cwnd) = (self.rate.max_bw.get(), self.control.cwnd);
            self.bounds
                .adapt(&self.latest, max_bw, cwnd, self.parameters.beta);
        }
        self.latest.has_loss = false;
    }

    fn update_aggregation(&mut self, ack: &AckedData) {
        let window = if self.full_pipe.reached {
            self.parameters.extra_acked_rounds
        } else {
            1
        };
        let (bw, cwnd, round) = (self.rate.bw, self.control.cwnd, self.rounds.count);
        self.aggregation.on_ack(ack, bw, cwnd, round, window);
    }

    /// Whether ProbeRTT is due.
    fn update_min_rtt(&mut self, ack: &AckedData) -> bool {
        let first = self.min_rtt.secs.is_infinite();
        let expired = self.min_rtt.update(ack, &self.parameters);
        if first && self.min_rtt.secs.is_finite() {
            self.pace_initial_window(self.min_rtt.secs);
        }
        expired
    }

    // What is controlled (§5.6).

    fn set_pacing_rate(&mut self, gain: f64) {
        let segment = self.control.segment_bits();
        let rate = gain * self.rate.bw * segment * (1.0 - self.parameters.pacing_margin);
        self.control.pace(rate, self.full_pipe.reached);
    }

    fn save_cwnd(&mut self) {
        let touched = self.recovering_since.is_some() || self.in_probe_rtt();
        self.control.save_cwnd(touched);
    }

    fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.undo = Bbr3Undo {
            state: None,
            bounds: self.bounds,
        };
    }

    fn update_cwnd(&mut self, ack: &AckedData) {
        let (target, full) = (self.max_inflight(), self.full_pipe.reached);
        let total = self.rounds.delivered();
        let control = &mut self.control;
        control.grow(ack.delivered.as_f64(), target, full, total);
        control.cwnd = control.cwnd.max(self.parameters.min_pipe_cwnd);
        self.bound_cwnd();
    }

    fn bound_cwnd(&mut self) {
        if self.in_probe_rtt() {
            self.control.cwnd = self.control.cwnd.min(self.probe_rtt_cwnd());
        }
        let longterm = match self.state {
            Bbr3State::Down | Bbr3State::Refill | Bbr3State::Up => self.bounds.inflight_longterm,
            Bbr3State::Cruise | Bbr3State::ProbeRtt(_) => {
                self.bounds.inflight_with_headroom(&self.parameters)
            }
            Bbr3State::Startup | Bbr3State::Drain { .. } => f64::INFINITY,
        };
        let cap = longterm
            .min(self.bounds.inflight_shortterm)
            .max(self.parameters.min_pipe_cwnd);
        let bound = self.control.cwnd.min(cap);
        self.control.cwnd = self.control.rounded_down(bound);
    }
}

impl CongestionControl for Bbr3 {
    fn on_ack(&mut self, ack: &AckedData) {
        self.rounds.on_ack(ack);
        if self.rounds.started {
            self.cycle.rounds_since_bw_probe += 1;
        }
        if let Some(rate) = &ack.rate {
            let sample = Sample::of(rate, self.ignored.app_limited(rate));
            self.update_model(ack, &sample);
        } else {
            let expired = self.update_min_rtt(ack);
            self.check_probe_rtt(ack, expired);
        }
        self.set_pacing_rate(self.pacing_gain());
        self.update_cwnd(ack);
    }

    fn on_congestion(&mut self, episode: &Episode) {
        if episode.signal == Signal::Ecn {
            return;
        }
        self.save_state_upon_loss();
        self.recovering_since = Some(self.rounds.count);
        if episode.signal == Signal::Rto {
            self.control.cwnd = 1.0;
        }
    }

    fn on_undo(&mut self, before: Windows) {
        self.recovering_since = None;
        self.control.restore_cwnd();
        self.control.cwnd = self.control.cwnd.max(before.cwnd.segments());
        self.latest.has_loss = false;
        self.full_pipe.reset(0.0);
        let undo = self.undo;
        self.bounds.widen(undo.bounds);
        self.undo.state = None;
        match undo.state {
            Some(Bbr3State::Startup) if self.state != Bbr3State::Startup => {
                self.full_pipe.reached = false;
                if !self.in_probe_rtt() {
                    self.state = Bbr3State::Startup;
                }
            }
            Some(Bbr3State::Up) if self.state != Bbr3State::Up && !self.in_probe_rtt() => {
                self.start_refill();
            }
            _ => {}
        }
        self.bound_cwnd();
    }

    fn on_recovered(&mut self, _now: Instant, _began: Signal) {
        if self.recovering_since.take().is_some() {
            self.control.restore_cwnd();
            self.bound_cwnd();
        }
    }

    fn on_established(&mut self, initial_window: WindowSize) {
        self.control.on_established(initial_window);
        self.pace_initial_window(NOMINAL_RTT);
    }

    fn on_restart(&mut self, now: Instant, _idle: Duration) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if self.in_probe_bw() {
            self.set_pacing_rate(1.0);
        } else {
            self.check_probe_rtt_done(now);
        }
    }

    fn prescribe(&mut self, prescribed: Prescribed) {
        self.control.prescribe(prescribed);
    }

    fn windows(&self) -> Windows {
        self.control.windows()
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(self.control.rate())
    }

    /// What is not known or not bound is 0.
    fn probe(&self, out: &mut VariableProbe<'_>) {
        let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
        out("max_bw", self.rate.max_bw.get());
        out("bw", finite(self.rate.bw));
        out("bw_shortterm", finite(self.bounds.bw_shortterm));
        out("inflight_shortterm", finite(self.bounds.inflight_shortterm));
        out("inflight_longterm", finite(self.bounds.inflight_longterm));
        out("min_rtt", finite(self.min_rtt.secs));
        out("extra_acked", self.aggregation.extra());
        out("pacing_gain", self.pacing_gain());
        out("cwnd_gain", self.cwnd_gain());
        out("max_inflight", self.max_inflight());
        out("round_count", real(self.rounds.count));
    }
}
