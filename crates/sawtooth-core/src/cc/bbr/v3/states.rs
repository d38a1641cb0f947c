//! Which state follows which (§5.3): Startup, Drain, the four of ProbeBW, ProbeRTT.

use super::{Bbr3, Bbr3State, Sample};
use crate::cc::AckedData;
use crate::cc::bbr::model::real;
use crate::cc::bbr::probe_rtt::ProbeRtt;
use crate::units::{Instant, WindowSize};

impl Bbr3 {
    pub(super) fn check_startup_done(&mut self, sample: &Sample) {
        if self.state != Bbr3State::Startup {
            return;
        }
        let recovering_for_a_round = self
            .recovering_since
            .is_some_and(|round| self.rounds.count > round);
        if self.latest.loss_round_start
            && recovering_for_a_round
            && self.latest.loss_events >= self.parameters.startup_full_loss_count
            && self.too_high(sample)
        {
            self.undo.state = Some(Bbr3State::Startup);
            self.full_pipe.reached = true;
            self.bounds.inflight_longterm = self.bdp(self.rate.bw).max(self.latest.inflight);
        }
        if self.full_pipe.reached {
            self.state = Bbr3State::Drain {
                since_round: self.rounds.count,
            };
        }
    }

    pub(super) fn check_drain_done(&mut self, ack: &AckedData) {
        let Bbr3State::Drain { since_round } = self.state else {
            return;
        };
        let fits = ack.pipe.as_f64() <= self.quantized(self.bdp(self.rate.bw));
        if fits || self.rounds.count > since_round + self.parameters.drain_rounds {
            self.start_down(ack.now);
        }
    }

    pub(super) fn start_down(&mut self, now: Instant) {
        self.latest.forget();
        self.cycle.begin(now, &self.parameters);
        self.rounds.restart();
        self.state = Bbr3State::Down;
    }

    pub(super) fn start_refill(&mut self) {
        self.bounds.reset_shortterm();
        self.cycle.refill();
        self.rounds.restart();
        self.state = Bbr3State::Refill;
    }

    pub(super) fn start_up(&mut self, sample: &Sample) {
        self.cycle.start_probe(self.control.cwnd);
        self.rounds.restart();
        self.full_pipe.reset(sample.rate);
        self.state = Bbr3State::Up;
    }

    pub(super) fn update_probe_bw(&mut self, ack: &AckedData, sample: &Sample) {
        if !self.full_pipe.reached || self.adapt_long_term_model(ack, sample) {
            return;
        }
        let state = self.state;
        match state {
            Bbr3State::Down | Bbr3State::Cruise if self.probe_if_due(ack.now) => {}
            Bbr3State::Down if self.is_time_to_cruise(ack) => self.state = Bbr3State::Cruise,
            Bbr3State::Refill if self.rounds.started => {
                self.cycle.bw_probe_samples = true;
                self.start_up(sample);
            }
            Bbr3State::Up if self.is_time_to_go_down(ack, sample) => {
                self.cycle.prev_probe_too_high = false;
                self.start_down(ack.now);
            }
            _ => {}
        }
    }

    pub(super) fn probe_if_due(&mut self, now: Instant) -> bool {
        let reno_rounds = self
            .target_inflight()
            .min(real(self.parameters.reno_rounds));
        let due = self.cycle.is_due(now, reno_rounds);
        if due {
            self.start_refill();
        }
        due
    }

    fn is_time_to_cruise(&self, ack: &AckedData) -> bool {
        let pipe = ack.pipe.as_f64();
        pipe <= self.bounds.inflight_with_headroom(&self.parameters)
            && pipe <= self.quantized(self.bdp(self.rate.max_bw.get()))
    }

    fn is_time_to_go_down(&mut self, ack: &AckedData, sample: &Sample) -> bool {
        if self.cycle.prev_probe_too_high && ack.pipe.as_f64() >= self.bounds.inflight_longterm {
            self.cycle.prev_probe_precautionary = true;
            return true;
        }
        if ack.cwnd_limited && self.control.cwnd >= self.bounds.inflight_longterm {
            // The bound, not the path, limits the rate.
            self.full_pipe.reset(sample.rate);
            return false;
        }
        self.full_pipe.now
    }

    /// Returns whether this has decided the next state.
    fn adapt_long_term_model(&mut self, ack: &AckedData, sample: &Sample) -> bool {
        if self.rounds.started && self.cycle.on_round() && self.in_probe_bw() {
            if !sample.app_limited {
                self.rate.begin_cycle();
            }
            if self.cycle.prev_probe_precautionary && !self.cycle.prev_probe_too_high {
                self.start_refill();
                return true;
            }
        }
        if !self.too_high(sample) && self.bounds.inflight_longterm.is_finite() {
            self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(sample.tx_in_flight);
            if self.state == Bbr3State::Up {
                self.probe_inflight_longterm_upward(ack);
            }
        }
        false
    }

    pub(super) fn probe_inflight_longterm_upward(&mut self, ack: &AckedData) {
        if !ack.cwnd_limited || self.control.cwnd < self.bounds.inflight_longterm {
            return;
        }
        self.bounds.inflight_longterm += self.cycle.slope.steps(ack.delivered.as_f64());
        if self.rounds.started {
            self.cycle.slope.steeper(self.control.cwnd);
        }
    }

    pub(super) fn check_probe_rtt(&mut self, ack: &AckedData, expired: bool) {
        if !self.in_probe_rtt() && expired && !self.idle_restart {
            self.save_cwnd();
            self.state = Bbr3State::ProbeRtt(ProbeRtt::default());
            self.cycle.stop_probe();
            self.rounds.restart();
        }
        if let Bbr3State::ProbeRtt(mut probe) = self.state {
            self.ignored.mark(self.rounds.delivered(), ack.pipe);
            let little = WindowSize::from_segments(self.probe_rtt_cwnd());
            probe.on_ack(ack, &mut self.rounds, little);
            self.state = Bbr3State::ProbeRtt(probe);
            self.check_probe_rtt_done(ack.now);
        }
        if !ack.delivered.is_zero() {
            self.idle_restart = false;
        }
    }

    pub(super) fn check_probe_rtt_done(&mut self, now: Instant) {
        let Bbr3State::ProbeRtt(probe) = self.state else {
            return;
        };
        let long = self.parameters.probe_rtt_duration;
        if !probe.is_over(|since| now > since + long) {
            return;
        }
        self.min_rtt.probed(now);
        self.control.restore_cwnd();
        self.bounds.reset_shortterm();
        if self.full_pipe.reached {
            self.start_down(now);
            self.state = Bbr3State::Cruise;
        } else {
            self.state = Bbr3State::Startup;
        }
    }
}
