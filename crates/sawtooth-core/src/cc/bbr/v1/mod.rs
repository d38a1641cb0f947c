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
#[cfg(test)]
mod tests;

pub use self::params::ENTRY;
use self::params::Parameters;
use super::model::{
    Aggregation, Hold, Ignored, NOMINAL_RTT, Rounds, WindowedMax, delivery_rate, real,
};
use crate::cc::{
    Ack, CongestionControl, Episode, Prescribed, Probe, RateSample, Signal, Start, Windows,
};
use crate::rng::Stream;
use crate::units::{Duration, Instant, Rate, SegCount, WindowSize};

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Startup,
    Drain,
    ProbeBw { phase: i64, since: f64 },
    ProbeRtt { hold: Option<Hold> },
}

/// What a loss has done to the window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Recovery {
    No,
    /// The next acknowledgement shows what is in the path.
    Begins,
    /// Its first round trip: as much is sent as is delivered.
    Conserves,
    Continues,
}

#[derive(Debug)]
pub struct Bbr {
    parameters: Parameters,
    start: Start,
    random: Stream,
    state: State,
    recovery: Recovery,
    rounds: Rounds,
    bandwidth: WindowedMax,
    /// Seconds; infinite before the first sample.
    rt_prop: f64,
    rt_prop_at: f64,
    full_bw: f64,
    full_bw_count: u64,
    filled_pipe: bool,
    aggregation: Aggregation,
    ignored: Ignored,
    idle_restart: bool,
    /// Bits per second.
    pacing_rate: f64,
    cwnd: f64,
    /// The window before a recovery or PROBE_RTT.
    prior_cwnd: f64,
    /// What was in the path after the last acknowledgement, and what that one delivered.
    pipe: SegCount,
    last_delivered: SegCount,
}

impl Bbr {
    fn new(parameters: Parameters, start: Start) -> Self {
        let mut bbr = Self {
            parameters,
            start,
            random: Stream::new(start.seed, "bbr"),
            state: State::Startup,
            recovery: Recovery::No,
            rounds: Rounds::default(),
            bandwidth: WindowedMax::default(),
            rt_prop: f64::INFINITY,
            rt_prop_at: 0.0,
            full_bw: 0.0,
            full_bw_count: 0,
            filled_pipe: false,
            aggregation: Aggregation::default(),
            ignored: Ignored::default(),
            idle_restart: false,
            pacing_rate: 0.0,
            cwnd: start.cwnd.segments(),
            prior_cwnd: 0.0,
            pipe: SegCount::ZERO,
            last_delivered: SegCount::ZERO,
        };
        bbr.pacing_rate = bbr.paced(start.cwnd.segments() / NOMINAL_RTT, parameters.high_gain);
        bbr
    }

    /// Bits per second at which `bandwidth` segments per second are paced.
    fn paced(&self, bandwidth: f64, gain: f64) -> f64 {
        let segment = self.start.smss.as_f64() * 8.0;
        gain * bandwidth * segment * (1.0 - self.parameters.pacing_margin)
    }

    fn pacing_gain(&self) -> f64 {
        match self.state {
            State::Startup => self.parameters.high_gain,
            State::Drain => 1.0 / self.parameters.high_gain,
            State::ProbeBw { phase: 0, .. } => self.parameters.probe_gain,
            State::ProbeBw { phase: 1, .. } => self.parameters.drain_gain,
            State::ProbeBw { .. } | State::ProbeRtt { .. } => 1.0,
        }
    }

    fn cwnd_gain(&self) -> f64 {
        match self.state {
            State::Startup | State::Drain => self.parameters.high_gain,
            State::ProbeBw { .. } => self.parameters.cwnd_gain,
            State::ProbeRtt { .. } => 1.0,
        }
    }

    /// Segments that leave in a burst (§4.2.2).
    fn send_quantum(&self) -> f64 {
        if self.pacing_rate < self.parameters.one_segment_below {
            return 1.0;
        }
        if self.pacing_rate < self.parameters.two_segments_below {
            return 2.0;
        }
        let bytes = self.pacing_rate / 8.0 * self.parameters.quantum_duration;
        let segments = bytes.min(self.parameters.quantum_max) / self.start.smss.as_f64();
        segments.floor().max(1.0)
    }

    /// Segments in flight that keep the path full at `gain` (§4.2.3.2).
    fn inflight(&self, gain: f64) -> f64 {
        let bandwidth = self.bandwidth.get();
        if self.rt_prop.is_infinite() || bandwidth == 0.0 {
            return self.start.cwnd.segments();
        }
        let capacity = gain * bandwidth * self.rt_prop;
        let capacity = if self.start.whole_windows {
            capacity.ceil()
        } else {
            capacity
        };
        let window = capacity + self.parameters.quanta * self.send_quantum();
        if self.parameters.even_windows {
            (window / 2.0).ceil() * 2.0
        } else {
            window
        }
    }

    fn target_cwnd(&self) -> f64 {
        if !self.filled_pipe {
            return self.inflight(self.cwnd_gain());
        }
        let extra = self.parameters.extra_acked_gain * self.aggregation.extra();
        let extra = if self.start.whole_windows {
            extra.floor()
        } else {
            extra
        };
        self.inflight(self.cwnd_gain()) + extra
    }

    fn set_pacing_rate(&mut self, gain: f64) {
        let rate = self.paced(self.bandwidth.get(), gain);
        if rate > 0.0 && (self.filled_pipe || rate > self.pacing_rate) {
            self.pacing_rate = rate;
        }
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

    fn check_full_pipe(&mut self, rate: &RateSample) {
        if self.filled_pipe || self.ignored.app_limited(rate) {
            return;
        }
        let bandwidth = self.bandwidth.get();
        if bandwidth >= self.full_bw * self.parameters.full_bw_growth {
            self.full_bw = bandwidth;
            self.full_bw_count = 0;
            return;
        }
        self.full_bw_count += 1;
        self.filled_pipe = self.full_bw_count >= self.parameters.full_bw_rounds;
    }

    fn check_drain(&mut self, ack: &Ack) {
        if self.state == State::Startup && self.filled_pipe {
            self.state = State::Drain;
        }
        if self.state == State::Drain && ack.pipe.as_f64() <= self.inflight(1.0) {
            self.enter_probe_bw(ack.now.secs());
        }
    }

    /// Any phase but the one that drains: there is nothing to drain yet (§4.3.4).
    fn enter_probe_bw(&mut self, now: f64) {
        let phases = self.parameters.cycle_phases;
        let before = phases - 1 - self.random.integer(0, phases - 1);
        self.state = State::ProbeBw {
            phase: (before + 1) % phases,
            since: now,
        };
    }

    fn check_cycle_phase(&mut self, ack: &Ack) {
        let State::ProbeBw { phase, since } = self.state else {
            return;
        };
        let now = ack.now.secs();
        let full_length = now - since > self.rt_prop;
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
            self.state = State::ProbeBw {
                phase: (phase + 1) % self.parameters.cycle_phases,
                since: now,
            };
        }
    }

    /// Whether RTprop had expired.
    fn update_rt_prop(&mut self, ack: &Ack) -> bool {
        let now = ack.now.secs();
        let Some(rtt) = ack.rtt.map(Duration::secs).filter(|&rtt| rtt > 0.0) else {
            return self.expired(now);
        };
        if self.rt_prop.is_infinite() {
            // Nothing can have expired before the first sample.
            self.rt_prop_at = now;
            self.pacing_rate =
                self.paced(self.start.cwnd.segments() / rtt, self.parameters.high_gain);
        }
        let expired = self.expired(now);
        if rtt <= self.rt_prop || expired {
            self.rt_prop = rtt;
            self.rt_prop_at = now;
        }
        expired
    }

    fn expired(&self, now: f64) -> bool {
        self.rt_prop.is_finite() && now - self.rt_prop_at > self.parameters.min_rtt_window
    }

    fn check_probe_rtt(&mut self, ack: &Ack, expired: bool, round_start: bool) {
        let probes = matches!(self.state, State::ProbeRtt { .. });
        if !probes && expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt { hold: None };
        }
        if let State::ProbeRtt { hold } = self.state {
            self.ignored.mark(self.rounds.delivered(), ack.pipe);
            if let Some(hold) = hold {
                self.state = State::ProbeRtt {
                    hold: Some(hold.after(round_start)),
                };
                self.check_probe_rtt_done(ack.now);
            } else if ack.pipe.as_f64() <= self.parameters.min_cwnd {
                self.rounds.restart();
                self.state = State::ProbeRtt {
                    hold: Some(Hold::of(self.parameters.probe_rtt_duration, ack.now)),
                };
            }
        }
        if !ack.delivered.is_zero() {
            self.idle_restart = false;
        }
    }

    fn check_probe_rtt_done(&mut self, now: Instant) {
        let State::ProbeRtt { hold: Some(hold) } = self.state else {
            return;
        };
        if !hold.is_over(now) {
            return;
        }
        self.rt_prop_at = now.secs();
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        if self.filled_pipe {
            self.enter_probe_bw(now.secs());
        } else {
            self.state = State::Startup;
        }
    }

    /// Remembers the last window that neither a recovery nor PROBE_RTT had made smaller (§4.2.3.4).
    fn save_cwnd(&mut self) {
        let untouched =
            self.recovery == Recovery::No && !matches!(self.state, State::ProbeRtt { .. });
        self.prior_cwnd = if untouched {
            self.cwnd
        } else {
            self.prior_cwnd.max(self.cwnd)
        };
    }

    fn update_cwnd(&mut self, ack: &Ack, round_start: bool) {
        let delivered = ack.delivered.as_f64();
        let in_path = ack.pipe.as_f64() + delivered;
        if !ack.lost.is_zero() {
            self.cwnd = (self.cwnd - ack.lost.as_f64()).max(1.0);
        }
        match self.recovery {
            Recovery::Begins => {
                self.cwnd = ack.pipe.as_f64() + delivered.max(1.0);
                self.recovery = Recovery::Conserves;
                self.rounds.restart();
            }
            Recovery::Conserves if round_start => self.recovery = Recovery::Continues,
            Recovery::Conserves => self.cwnd = self.cwnd.max(in_path),
            Recovery::No | Recovery::Continues => {}
        }
        if self.recovery != Recovery::Conserves {
            let target = self.target_cwnd();
            let grown = self.cwnd + delivered;
            if self.filled_pipe {
                self.cwnd = grown.min(target);
            } else if self.cwnd < target
                || self.rounds.delivered().as_f64() < self.start.cwnd.segments()
            {
                self.cwnd = grown;
            }
            self.cwnd = self.cwnd.max(self.parameters.min_cwnd);
        }
        self.bound_for_probe_rtt();
    }

    fn bound_for_probe_rtt(&mut self) {
        if matches!(self.state, State::ProbeRtt { .. }) {
            self.cwnd = self.cwnd.min(self.parameters.min_cwnd);
        }
    }

    fn on_loss(&mut self, _loss: &Episode) {
        self.save_cwnd();
        self.recovery = Recovery::Begins;
        let in_path = (self.pipe + self.last_delivered.max(SegCount::ONE)).as_f64();
        self.cwnd = self.cwnd.min(in_path);
    }

    fn on_rto(&mut self, _rto: &Episode) {
        self.save_cwnd();
        self.recovery = Recovery::Continues;
        self.cwnd = 1.0;
    }
}

impl CongestionControl for Bbr {
    fn on_ack(&mut self, ack: &Ack) {
        let round_start = self.rounds.on_ack(ack);
        if let Some(rate) = &ack.rate {
            self.update_bandwidth(rate);
        }
        if self.parameters.extra_acked_gain > 0.0 {
            let window = if self.filled_pipe {
                self.parameters.extra_acked_rounds
            } else {
                1
            };
            let (bandwidth, round) = (self.bandwidth.get(), self.rounds.count);
            self.aggregation
                .on_ack(ack, bandwidth, self.cwnd, round, window);
        }
        self.check_cycle_phase(ack);
        if let (true, Some(rate)) = (round_start, &ack.rate) {
            self.check_full_pipe(rate);
        }
        self.check_drain(ack);
        let expired = self.update_rt_prop(ack);
        self.check_probe_rtt(ack, expired, round_start);
        self.set_pacing_rate(self.pacing_gain());
        self.update_cwnd(ack, round_start);
        (self.pipe, self.last_delivered) = (ack.pipe, ack.delivered);
    }

    fn on_congestion(&mut self, episode: &Episode) {
        match episode.signal {
            Signal::Loss => self.on_loss(episode),
            Signal::Ecn => {}
            Signal::Rto => self.on_rto(episode),
        }
    }

    fn on_undo(&mut self, before: Windows) {
        self.recovery = Recovery::No;
        self.cwnd = self.cwnd.max(self.prior_cwnd).max(before.cwnd.segments());
        // The pause may have looked like a full pipe.
        (self.full_bw, self.full_bw_count) = (0.0, 0);
        self.bound_for_probe_rtt();
    }

    fn on_recovered(&mut self, _now: Instant) {
        if self.recovery == Recovery::No {
            return;
        }
        self.recovery = Recovery::No;
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.bound_for_probe_rtt();
    }

    fn on_restart(&mut self, now: Instant, _idle: Duration) {
        self.idle_restart = true;
        self.aggregation.restart(now);
        if matches!(self.state, State::ProbeBw { .. }) {
            self.set_pacing_rate(1.0);
        } else {
            self.check_probe_rtt_done(now);
        }
    }

    fn on_handshake(&mut self, now: Instant, rtt: Duration) {
        self.rt_prop = rtt.secs();
        self.rt_prop_at = now.secs();
    }

    fn on_established(&mut self, initial_window: WindowSize) {
        self.start.cwnd = initial_window;
        self.cwnd = initial_window.segments();
        let rtt = if self.rt_prop.is_finite() {
            self.rt_prop
        } else {
            NOMINAL_RTT
        };
        self.pacing_rate = self.paced(self.cwnd / rtt, self.parameters.high_gain);
    }

    fn windows(&self) -> Windows {
        Windows::without_threshold(WindowSize::from_segments(self.cwnd))
    }

    fn prescribe(&mut self, prescribed: Prescribed) {
        self.cwnd = prescribed.cwnd().map_or(self.cwnd, WindowSize::segments);
    }

    fn pacing_rate(&self) -> Option<Rate> {
        Some(Rate::from_bps(self.pacing_rate))
    }

    fn probe(&self, out: &mut Probe<'_>) {
        out("BtlBw", self.bandwidth.get());
        let known = self.rt_prop.is_finite();
        out("RTprop", if known { self.rt_prop } else { 0.0 });
        out("pacing_gain", self.pacing_gain());
        out("cwnd_gain", self.cwnd_gain());
        out("target_cwnd", self.target_cwnd());
        out("round_count", real(self.rounds.count));
        out("filled_pipe", f64::from(u8::from(self.filled_pipe)));
    }
}
