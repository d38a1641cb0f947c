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

mod bounds;
mod full_pipe;
mod latest;
mod min_rtt;
mod params;
mod sample;
mod slope;
mod states;
#[cfg(test)]
mod tests;

use self::bounds::Bounds;
use self::full_pipe::FullPipe;
use self::latest::Latest;
use self::min_rtt::MinRtt;
pub use self::params::ENTRY;
use self::params::Parameters;
use self::sample::Sample;
use self::slope::Slope;
use super::model::{Aggregation, Hold, Ignored, NOMINAL_RTT, Rounds, WindowedMax, real};
use crate::cc::{Ack, CongestionControl, Episode, Prescribed, Probe, Signal, Start, Windows};
use crate::rng::Stream;
use crate::units::{Duration, Instant, Rate, WindowSize};

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Startup,
    Drain { since_round: u64 },
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt { hold: Option<Hold> },
}

/// Which part of a probe of the rate acknowledgements belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckPhase {
    Init,
    Refilling,
    ProbeStarting,
    ProbeFeedback,
    ProbeStopping,
}

/// What a spurious loss is to give back.
#[derive(Clone, Copy, Debug)]
struct Undo {
    state: Option<State>,
    bounds: Bounds,
}

#[expect(clippy::struct_excessive_bools, reason = "the draft's variables")]
#[derive(Debug)]
pub struct Bbr3 {
    parameters: Parameters,
    start: Start,
    random: Stream,
    state: State,
    ack_phase: AckPhase,
    rounds: Rounds,
    round_start: bool,
    // The path, over the long term and the short.
    max_bw: WindowedMax,
    cycle_count: u64,
    bw: f64,
    bounds: Bounds,
    min_rtt: MinRtt,
    aggregation: Aggregation,
    ignored: Ignored,
    latest: Latest,
    full_pipe: FullPipe,
    // Probes of the rate.
    cycle_at: f64,
    bw_probe_wait: f64,
    rounds_since_probe_up: u64,
    slope: Slope,
    is_bw_probe_sample: bool,
    prev_probe_too_high: bool,
    prev_probe_precautionary: bool,
    /// The round in which a recovery began, if one is under way.
    recovering_since: Option<u64>,
    undo: Undo,
    idle_restart: bool,
    prior_cwnd: f64,
    cwnd: f64,
    /// Bits per second.
    pacing_rate: f64,
}

impl Bbr3 {
    fn new(parameters: Parameters, start: Start) -> Self {
        let segment = start.smss.as_f64() * 8.0;
        Self {
            parameters,
            start,
            random: Stream::new(start.seed, "bbr3"),
            state: State::Startup,
            ack_phase: AckPhase::Init,
            rounds: Rounds::default(),
            round_start: false,
            max_bw: WindowedMax::default(),
            cycle_count: 0,
            bw: 0.0,
            bounds: Bounds::NONE,
            min_rtt: MinRtt::UNKNOWN,
            aggregation: Aggregation::default(),
            ignored: Ignored::default(),
            latest: Latest::default(),
            full_pipe: FullPipe::default(),
            cycle_at: 0.0,
            bw_probe_wait: 0.0,
            rounds_since_probe_up: 0,
            slope: Slope::LEVEL,
            is_bw_probe_sample: false,
            prev_probe_too_high: false,
            prev_probe_precautionary: false,
            recovering_since: None,
            undo: Undo {
                state: None,
                bounds: Bounds::LEAST,
            },
            idle_restart: false,
            prior_cwnd: 0.0,
            cwnd: start.cwnd.segments(),
            pacing_rate: parameters.startup_pacing_gain * start.cwnd.segments() / NOMINAL_RTT
                * segment,
        }
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.parameters.startup_pacing_gain,
            State::Drain { .. } => self.parameters.drain_pacing_gain,
            State::Down => self.parameters.down_pacing_gain,
            State::Up => self.parameters.up_pacing_gain,
            State::Cruise | State::Refill | State::ProbeRtt { .. } => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Up => self.parameters.up_cwnd_gain,
            State::ProbeRtt { .. } => self.parameters.probe_rtt_cwnd_gain,
            _ => self.parameters.cwnd_gain,
        }
    }

    fn in_probe_bw(&self) -> bool {
        matches!(
            self.state,
            State::Down | State::Cruise | State::Refill | State::Up
        )
    }

    fn in_probe_rtt(&self) -> bool {
        matches!(self.state, State::ProbeRtt { .. })
    }

    // Volumes (§5.6.4.2).

    fn bdp(&self, bw: f64) -> f64 {
        if self.min_rtt.secs.is_infinite() || bw == 0.0 {
            self.start.cwnd.segments()
        } else {
            bw * self.min_rtt.secs
        }
    }

    fn send_quantum(&self) -> f64 {
        let bytes = self.pacing_rate / 8.0 * self.parameters.quantum_duration;
        let segments = bytes.min(self.parameters.quantum_max) / self.start.smss.as_f64();
        segments.floor().max(2.0)
    }

    /// `capacity`, or what bursts and pipelining need.
    fn quantized(&self, capacity: f64) -> f64 {
        let capacity = if self.start.whole_windows {
            capacity.ceil()
        } else {
            capacity
        };
        let needed = (self.parameters.quanta * self.send_quantum())
            .max(self.parameters.min_pipe_cwnd)
            .max(capacity);
        if self.state == State::Up {
            needed + 2.0
        } else {
            needed
        }
    }

    fn max_inflight(&self) -> f64 {
        self.quantized(self.cwnd_gain() * self.bdp(self.bw) + self.aggregation.extra())
    }

    fn target_inflight(&self) -> f64 {
        self.bdp(self.bw).min(self.cwnd)
    }

    fn probe_rtt_cwnd(&self) -> f64 {
        (self.parameters.probe_rtt_cwnd_gain * self.bdp(self.bw)).max(self.parameters.min_pipe_cwnd)
    }

    // The model (§5.5).

    fn update_model(&mut self, ack: &Ack, sample: &Sample) {
        self.note_losses(ack, sample);
        self.latest.update(sample, self.rounds.delivered());
        if sample.rate > 0.0 && (sample.rate >= self.max_bw.get() || !sample.app_limited) {
            let (cycle, window) = (self.cycle_count, self.parameters.max_bw_cycles);
            self.max_bw.add(sample.rate, cycle, window);
        }
        self.adapt_to_losses_of_round();
        self.update_aggregation(ack);
        self.full_pipe
            .check(sample, self.round_start, &self.parameters);
        self.check_startup_done(sample);
        self.check_drain_done(ack);
        self.update_probe_bw(ack, sample);
        let expired = self.update_min_rtt(ack);
        self.check_probe_rtt(ack, expired);
        self.latest.advance(sample);
        self.bw = self.max_bw.get().min(self.bounds.bw_shortterm);
    }

    fn note_losses(&mut self, ack: &Ack, sample: &Sample) {
        if ack.lost.is_zero() {
            return;
        }
        if self.latest.lose(self.rounds.delivered()) {
            self.save_state_upon_loss();
        }
        if self.is_bw_probe_sample && self.too_high(sample) {
            self.handle_inflight_too_high(ack, sample);
        }
    }

    fn too_high(&self, sample: &Sample) -> bool {
        sample.too_high(self.parameters.loss_thresh)
    }

    fn handle_inflight_too_high(&mut self, ack: &Ack, sample: &Sample) {
        self.prev_probe_too_high = true;
        self.is_bw_probe_sample = false;
        if !sample.app_limited {
            self.bounds.inflight_longterm = sample
                .inflight_at_loss(self.parameters.loss_thresh)
                .max(self.target_inflight() * self.parameters.beta);
        }
        if self.state == State::Up {
            self.undo.state = Some(State::Up);
            self.start_down(ack.now);
        }
    }

    fn adapt_to_losses_of_round(&mut self) {
        if !self.latest.round_start {
            return;
        }
        let probing = matches!(self.state, State::Startup | State::Refill | State::Up);
        if self.latest.has_loss && !probing {
            let (max_bw, beta) = (self.max_bw.get(), self.parameters.beta);
            self.bounds.adapt(&self.latest, max_bw, self.cwnd, beta);
        }
        self.latest.has_loss = false;
    }

    fn update_aggregation(&mut self, ack: &Ack) {
        let window = if self.full_pipe.reached {
            self.parameters.extra_acked_rounds
        } else {
            1
        };
        let (bw, cwnd, round) = (self.bw, self.cwnd, self.rounds.count);
        self.aggregation.on_ack(ack, bw, cwnd, round, window);
    }

    /// Whether ProbeRTT is due.
    fn update_min_rtt(&mut self, ack: &Ack) -> bool {
        let first = self.min_rtt.secs.is_infinite();
        let expired = self.min_rtt.update(ack, &self.parameters);
        if first && self.min_rtt.secs.is_finite() {
            let segment = self.start.smss.as_f64() * 8.0;
            let gain = self.parameters.startup_pacing_gain;
            self.pacing_rate = gain * self.start.cwnd.segments() / self.min_rtt.secs * segment;
        }
        expired
    }

    // What is controlled (§5.6).

    fn set_pacing_rate(&mut self, gain: f64) {
        let segment = self.start.smss.as_f64() * 8.0;
        let rate = gain * self.bw * segment * (1.0 - self.parameters.pacing_margin);
        if rate > 0.0 && (self.full_pipe.reached || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
    }

    /// The last window that neither a recovery nor ProbeRTT had made smaller.
    fn save_cwnd(&mut self) {
        self.prior_cwnd = if self.recovering_since.is_none() && !self.in_probe_rtt() {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    fn save_state_upon_loss(&mut self) {
        self.save_cwnd();
        self.undo = Undo {
            state: None,
            bounds: self.bounds,
        };
    }

    fn update_cwnd(&mut self, ack: &Ack) {
        let max_inflight = self.max_inflight();
        let grown = self.cwnd + ack.delivered.as_f64();
        if self.full_pipe.reached {
            self.cwnd = grown.min(max_inflight);
        } else if self.cwnd < max_inflight
            || self.rounds.delivered().as_f64() < self.start.cwnd.segments()
        {
            self.cwnd = grown;
        }
        self.cwnd = self.cwnd.max(self.parameters.min_pipe_cwnd);
        self.bound_cwnd();
    }

    fn bound_cwnd(&mut self) {
        if self.in_probe_rtt() {
            self.cwnd = self.cwnd.min(self.probe_rtt_cwnd());
        }
        let longterm = match self.state {
            State::Down | State::Refill | State::Up => self.bounds.inflight_longterm,
            State::Cruise | State::ProbeRtt { .. } => {
                self.bounds.inflight_with_headroom(&self.parameters)
            }
            State::Startup | State::Drain { .. } => f64::INFINITY,
        };
        let cap = longterm
            .min(self.bounds.inflight_shortterm)
            .max(self.parameters.min_pipe_cwnd);
        self.cwnd = self.cwnd.min(cap);
        if self.start.whole_windows {
            self.cwnd = self.cwnd.floor();
        }
    }

    fn on_loss(&mut self, _loss: &Episode) {
        self.save_state_upon_loss();
        self.recovering_since = Some(self.rounds.count);
    }

    fn on_rto(&mut self, _rto: &Episode) {
        self.save_state_upon_loss();
        self.recovering_since = Some(self.rounds.count);
        self.cwnd = 1.0;
    }
}

impl CongestionControl for Bbr3 {
    fn on_ack(&mut self, ack: &Ack) {
        self.round_start = self.rounds.on_ack(ack);
        if self.round_start {
            self.rounds_since_probe_up += 1;
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
        match episode.signal {
            Signal::Loss => self.on_loss(episode),
            Signal::Ecn => {}
            Signal::Rto => self.on_rto(episode),
        }
    }

    fn on_undo(&mut self, before: Windows) {
        self.recovering_since = None;
        self.cwnd = self.cwnd.max(self.prior_cwnd).max(before.cwnd.segments());
        self.latest.has_loss = false;
        self.full_pipe.reset(0.0);
        let undo = self.undo;
        self.bounds.widen(undo.bounds);
        self.undo.state = None;
        match undo.state {
            Some(State::Startup) if self.state != State::Startup => {
                self.full_pipe.reached = false;
                if !self.in_probe_rtt() {
                    self.state = State::Startup;
                }
            }
            Some(State::Up) if self.state != State::Up && !self.in_probe_rtt() => {
                self.start_refill();
            }
            _ => {}
        }
        self.bound_cwnd();
    }

    fn on_recovered(&mut self, _now: Instant) {
        if self.recovering_since.take().is_some() {
            self.cwnd = self.cwnd.max(self.prior_cwnd);
            self.bound_cwnd();
        }
    }

    fn on_established(&mut self, initial_window: WindowSize) {
        self.start.cwnd = initial_window;
        self.cwnd = initial_window.segments();
        let segment = self.start.smss.as_f64() * 8.0;
        self.pacing_rate = self.parameters.startup_pacing_gain * self.cwnd / NOMINAL_RTT * segment;
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
        self.cwnd = prescribed.cwnd().map_or(self.cwnd, WindowSize::segments);
    }

    fn windows(&self) -> Windows {
        Windows::without_threshold(WindowSize::from_segments(self.cwnd))
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bps(self.pacing_rate))
    }

    /// What is not known or not bound is 0.
    fn probe(&self, out: &mut Probe<'_>) {
        let finite = |value: f64| if value.is_finite() { value } else { 0.0 };
        out("max_bw", self.max_bw.get());
        out("bw", finite(self.bw));
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
