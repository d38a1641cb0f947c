//! Which state follows which (§5.3): Startup, Drain, the four of ProbeBW, ProbeRTT.

use super::{AckPhase, Bbr3, Sample, State};
use crate::cc::Ack;
use crate::cc::bbr::model::{Hold, real};
use crate::units::Instant;

impl Bbr3 {
    pub(super) fn check_startup_done(&mut self, sample: &Sample) {
        if self.state != State::Startup {
            return;
        }
        let recovering_for_a_round = self
            .recovering_since
            .is_some_and(|round| self.rounds.count > round);
        if self.latest.round_start
            && recovering_for_a_round
            && self.latest.loss_events >= self.parameters.startup_full_loss_count
            && self.too_high(sample)
        {
            self.undo.state = Some(State::Startup);
            self.full_pipe.reached = true;
            self.bounds.inflight_longterm = self.bdp(self.bw).max(self.latest.inflight);
        }
        if self.full_pipe.reached {
            self.state = State::Drain {
                since_round: self.rounds.count,
            };
        }
    }

    pub(super) fn check_drain_done(&mut self, ack: &Ack) {
        let State::Drain { since_round } = self.state else {
            return;
        };
        let fits = ack.pipe.as_f64() <= self.quantized(self.bdp(self.bw));
        if fits || self.rounds.count > since_round + self.parameters.drain_rounds {
            self.start_down(ack.now);
        }
    }

    pub(super) fn start_down(&mut self, now: Instant) {
        self.latest.forget();
        self.slope.level();
        self.rounds_since_probe_up = u64::from(self.random.integer(0, 2) == 1);
        self.bw_probe_wait =
            self.parameters.probe_wait + self.parameters.probe_wait_spread * self.random.uniform();
        self.cycle_at = now.secs();
        self.ack_phase = AckPhase::ProbeStopping;
        self.rounds.restart();
        self.state = State::Down;
    }

    pub(super) fn start_refill(&mut self) {
        self.bounds.reset_shortterm();
        self.slope.restart();
        self.prev_probe_precautionary = false;
        self.ack_phase = AckPhase::Refilling;
        self.rounds.restart();
        self.state = State::Refill;
    }

    pub(super) fn start_up(&mut self, sample: &Sample) {
        self.ack_phase = AckPhase::ProbeStarting;
        self.rounds.restart();
        self.full_pipe.reset(sample.rate);
        self.state = State::Up;
        self.slope.steeper(self.cwnd);
    }

    pub(super) fn update_probe_bw(&mut self, ack: &Ack, sample: &Sample) {
        if !self.full_pipe.reached || self.adapt_long_term_model(ack, sample) {
            return;
        }
        let state = self.state;
        match state {
            State::Down | State::Cruise if self.probe_if_due(ack.now) => {}
            State::Down if self.is_time_to_cruise(ack) => self.state = State::Cruise,
            State::Refill if self.round_start => {
                self.is_bw_probe_sample = true;
                self.start_up(sample);
            }
            State::Up if self.is_time_to_go_down(ack, sample) => {
                self.prev_probe_too_high = false;
                self.start_down(ack.now);
            }
            _ => {}
        }
    }

    pub(super) fn probe_if_due(&mut self, now: Instant) -> bool {
        let reno_rounds = self.target_inflight().min(self.parameters.reno_rounds);
        let due = now.secs() - self.cycle_at > self.bw_probe_wait
            || real(self.rounds_since_probe_up) >= reno_rounds;
        if due {
            self.start_refill();
        }
        due
    }

    fn is_time_to_cruise(&self, ack: &Ack) -> bool {
        let pipe = ack.pipe.as_f64();
        pipe <= self.bounds.inflight_with_headroom(&self.parameters)
            && pipe <= self.quantized(self.bdp(self.max_bw.get()))
    }

    fn is_time_to_go_down(&mut self, ack: &Ack, sample: &Sample) -> bool {
        if self.prev_probe_too_high && ack.pipe.as_f64() >= self.bounds.inflight_longterm {
            self.prev_probe_precautionary = true;
            return true;
        }
        if ack.cwnd_limited && self.cwnd >= self.bounds.inflight_longterm {
            // The bound, not the path, limits the rate.
            self.full_pipe.reset(sample.rate);
            return false;
        }
        self.full_pipe.now
    }

    /// Whether the state was decided.
    fn adapt_long_term_model(&mut self, ack: &Ack, sample: &Sample) -> bool {
        if self.ack_phase == AckPhase::ProbeStarting && self.round_start {
            self.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.ack_phase == AckPhase::ProbeStopping && self.round_start {
            self.is_bw_probe_sample = false;
            self.ack_phase = AckPhase::Init;
            if self.in_probe_bw() {
                if !sample.app_limited {
                    self.cycle_count += 1;
                }
                if self.prev_probe_precautionary && !self.prev_probe_too_high {
                    self.start_refill();
                    return true;
                }
            }
        }
        if !self.too_high(sample) && self.bounds.inflight_longterm.is_finite() {
            self.bounds.inflight_longterm = self.bounds.inflight_longterm.max(sample.tx_in_flight);
            if self.state == State::Up {
                self.probe_inflight_longterm_upward(ack);
            }
        }
        false
    }

    pub(super) fn probe_inflight_longterm_upward(&mut self, ack: &Ack) {
        if !ack.cwnd_limited || self.cwnd < self.bounds.inflight_longterm {
            return;
        }
        self.bounds.inflight_longterm += self.slope.steps(ack.delivered.as_f64());
        if self.round_start {
            self.slope.steeper(self.cwnd);
        }
    }

    pub(super) fn check_probe_rtt(&mut self, ack: &Ack, expired: bool) {
        if !self.in_probe_rtt() && expired && !self.idle_restart {
            self.save_cwnd();
            self.state = State::ProbeRtt { hold: None };
            self.ack_phase = AckPhase::ProbeStopping;
            self.rounds.restart();
        }
        if let State::ProbeRtt { hold } = self.state {
            self.ignored.mark(self.rounds.delivered(), ack.pipe);
            if let Some(hold) = hold {
                self.state = State::ProbeRtt {
                    hold: Some(hold.after(self.round_start)),
                };
                self.check_probe_rtt_done(ack.now);
            } else if ack.pipe.as_f64() <= self.probe_rtt_cwnd() {
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

    pub(super) fn check_probe_rtt_done(&mut self, now: Instant) {
        let State::ProbeRtt { hold: Some(hold) } = self.state else {
            return;
        };
        if !hold.is_over(now) {
            return;
        }
        self.min_rtt.probed(now.secs());
        self.cwnd = self.cwnd.max(self.prior_cwnd);
        self.bounds.reset_shortterm();
        if self.full_pipe.reached {
            self.start_down(now);
            self.state = State::Cruise;
        } else {
            self.state = State::Startup;
        }
    }
}
