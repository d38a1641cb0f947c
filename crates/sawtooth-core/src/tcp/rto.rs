//! The retransmission timeout: round-trip estimators, bounds and back-off.
//!
//! Specifications: RFC 6298 (real-valued estimators) and, as the older alternative, the scaled-integer arithmetic of Jacobson,
//! "Congestion Avoidance and Control", SIGCOMM 1988, Appendix A, in which the round-trip time is counted in clock ticks.
//! Linux's, which count microseconds, are in `microseconds.rs`.
//! Samples obey Karn's algorithm: the sender only passes round trips of segments that were sent once (RFC 6298 §3).

mod microseconds;

use std::sync::Arc;

use microseconds::Microseconds;

use crate::registry::words;
use crate::tcp::ticks::Ticks;
use crate::units::{Duration, Instant, SeqNum};

words! {
    /// Which retransmission timeout estimator.
    pub enum RtoEstimator {
        Rfc6298 = "rfc6298",
        Linux = "linux",
        Ticks = "ticks",
    }
}

/// The retransmission timer's parameters.
#[derive(Clone, Copy, Debug)]
pub struct RtoConfig {
    /// Real numbers, or scaled integers that count microseconds or ticks.
    pub estimator: RtoEstimator,
    /// G of RFC 6298 §2; with [`RtoEstimator::Ticks`] the tick.
    pub granularity: Duration,
    /// Until the first sample (RFC 6298 §2.1).
    pub initial: Duration,
    /// The least timeout, before back-off (RFC 6298 §2.4).
    pub min: Duration,
    /// The longest timeout, back-off included (RFC 6298 §2.5).
    pub max: Duration,
    /// What the host counts it in before it is doubled; none where its clock does not tick. Measured of Linux 6.1 with ticks of 10 ms: a timeout of 232.2 ms is followed by one of 480 ms.
    pub ticks: Option<Ticks>,
}

/// Round-trip estimators and the timeout they give, with exponential back-off.
#[derive(Debug)]
pub struct Rto {
    config: Arc<RtoConfig>,
    estimate: Estimate,
    backoff: u64,
    /// A round-trip time known from earlier connections, until data has been measured.
    inherited: Option<Duration>,
    /// What follows from all this, and is asked for often.
    timeout: Duration,
    srtt: Option<Duration>,
}

/// The round-trip estimators of RFC 6298 §2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimators {
    /// SRTT, the smoothed round-trip time.
    pub srtt: Duration,
    /// RTTVAR, the round-trip time variation.
    pub rttvar: Duration,
}

#[derive(Debug)]
enum Estimate {
    /// No sample yet when `srtt` is `None`.
    Real {
        srtt: Option<Duration>,
        rttvar: Duration,
        initial: Duration,
    },
    /// No sample yet when there is no `estimate`.
    Linux {
        estimate: Option<Microseconds>,
        initial: Duration,
        round: Round,
    },
    /// Ticks: `srtt` scaled by 8, `rttvar` by 4. `srtt` 0 means: take the next sample as the first.
    Ticks {
        srtt: i64,
        rttvar: i64,
        rto: Duration,
        phase: Duration,
    },
}

/// Which samples are of one round trip.
#[derive(Debug, Default)]
struct Round {
    /// It is over when everything before this is acknowledged.
    end: SeqNum,
    /// With the next sample another one begins, and lasts until everything before this is acknowledged.
    next_end: Option<SeqNum>,
}

impl Round {
    /// A sample is taken; whether another round trip begins with it.
    #[inline]
    fn sampled(&mut self) -> bool {
        let next = self.next_end.take();
        self.end = next.unwrap_or(self.end);
        next.is_some()
    }
}

/// In the scaled arithmetic, back-off beyond this discards the estimate: the path may have changed.
const DISCARD_ESTIMATE_BEYOND: u64 = 8;

/// What data starts with that follows a retransmitted SYN (RFC 6298 §5.7).
const AFTER_LOST_SYN: Duration = Duration::from_secs(3.0);

impl Rto {
    /// `phase` is where between two ticks the host's clock started.
    pub fn new(config: Arc<RtoConfig>, phase: Duration) -> Self {
        let estimate = match config.estimator {
            RtoEstimator::Rfc6298 => Estimate::Real {
                srtt: None,
                rttvar: Duration::ZERO,
                initial: config.initial,
            },
            RtoEstimator::Linux => Estimate::Linux {
                estimate: None,
                initial: config.initial,
                round: Round::default(),
            },
            RtoEstimator::Ticks => Estimate::Ticks {
                srtt: 0,
                rttvar: 0,
                rto: config.initial,
                phase,
            },
        };
        let mut rto = Self {
            config,
            estimate,
            backoff: 1,
            inherited: None,
            timeout: Duration::ZERO,
            srtt: None,
        };
        rto.update();
        rto
    }

    /// Everything before `una` is acknowledged, and what is sent next is `nxt`: the sample that follows belongs to another round trip than the one before, or to the same.
    #[inline]
    pub fn on_acked(&mut self, una: SeqNum, nxt: SeqNum) {
        if let Estimate::Linux { round, .. } = &mut self.estimate
            && una > round.end
        {
            round.next_end = Some(nxt);
        }
    }

    /// A round trip of `rtt` of a segment sent at `sent`.
    pub fn sample(&mut self, sent: Instant, rtt: Duration) {
        self.sample_one_of(1.0, sent, rtt);
    }

    /// The same where `expected` samples are taken in a round trip: each counts for less (RFC 7323 appendix G), but to Linux.
    pub fn sample_one_of(&mut self, expected: f64, sent: Instant, rtt: Duration) {
        let g = self.config.granularity;
        match &mut self.estimate {
            Estimate::Linux {
                estimate, round, ..
            } => {
                let is_of_next_round = round.sampled();
                if let Some(estimate) = estimate {
                    self.inherited = None;
                    estimate.next(rtt, is_of_next_round);
                    if self.backoff == 1 {
                        // As `update` would.
                        self.srtt = Some(estimate.srtt());
                        self.timeout = estimate.timeout().max(self.config.min).min(self.config.max);
                        return;
                    }
                } else {
                    *estimate = Some(Microseconds::first(rtt, g));
                }
            }
            Estimate::Real { srtt, rttvar, .. } => match srtt {
                None => {
                    *srtt = Some(rtt);
                    *rttvar = rtt / 2.0;
                }
                Some(srtt) => {
                    self.inherited = None;
                    // RFC 6298 §2.3: rttvar first, with the old srtt.
                    let (alpha, beta) = (0.125 / expected, 0.25 / expected);
                    *rttvar = *rttvar * (1.0 - beta) + (*srtt - rtt).abs() * beta;
                    *srtt = *srtt * (1.0 - alpha) + rtt * alpha;
                }
            },
            Estimate::Ticks {
                srtt,
                rttvar,
                rto,
                phase,
            } => {
                let after_tick = libm::fmod((sent + *phase).secs(), g.secs());
                let ticks = ticks_in(rtt + Duration::from_secs(after_tick), g).max(1);
                if *srtt == 0 {
                    *srtt = ticks << 3;
                    *rttvar = ticks << 1;
                } else {
                    let error = ticks - (*srtt >> 3);
                    *srtt = (*srtt + error).max(1);
                    *rttvar = (*rttvar + error.abs() - (*rttvar >> 2)).max(1);
                }
                #[expect(clippy::cast_precision_loss, reason = "a count of ticks")]
                let rto_ticks = (((*rttvar << 3) + *srtt) >> 3) as f64;
                *rto = g * rto_ticks;
            }
        }
        self.update();
    }

    /// The estimators as a spurious timeout is to find them: SRTT_prev and RTTVAR_prev of RFC 4015 §3.1 step (0).
    pub fn before_timeout(&self) -> Option<Estimators> {
        let rttvar = match &self.estimate {
            Estimate::Real { rttvar, .. } => *rttvar,
            Estimate::Linux { estimate, .. } => estimate.as_ref()?.rttvar(),
            Estimate::Ticks { .. } => return None,
        };
        let srtt = self.srtt()? + self.config.granularity * 2.0;
        Some(Estimators { srtt, rttvar })
    }

    /// A timeout was spurious, with these estimators before it; `rtt` is the first round trip of what was sent after it (RFC 4015 §3.1 step (11)).
    pub fn adapt_to_spurious(&mut self, before: Estimators, rtt: Duration) {
        let (adapted, variation) = (before.srtt.max(rtt), before.rttvar.max(rtt / 2.0));
        match &mut self.estimate {
            Estimate::Real { srtt, rttvar, .. } => {
                *srtt = Some(adapted);
                *rttvar = variation;
            }
            Estimate::Linux {
                estimate: Some(estimate),
                ..
            } => estimate.adapt(adapted, variation),
            Estimate::Linux { estimate: None, .. } | Estimate::Ticks { .. } => {}
        }
        self.update();
    }

    /// A round-trip time from earlier connections.
    pub fn inherit(&mut self, rtt: Duration) {
        self.inherited = Some(rtt);
    }

    /// The timeout now, back-off included.
    #[inline]
    pub fn timeout(&self) -> Duration {
        self.timeout
    }

    #[expect(clippy::cast_precision_loss, reason = "the back-off factor is small")]
    fn update(&mut self) {
        self.srtt = self.smoothed();
        let (min, max, g) = (self.config.min, self.config.max, self.config.granularity);
        // One that is not doubled is counted by the timer.
        let ticks = self.config.ticks.filter(|_| self.backoff > 1);
        let whole = |time| ticks.map_or(time, |ticks| ticks.whole(time));
        let backoff = self.backoff as f64;
        let doubled = |timeout: Duration| (whole(timeout.max(min)) * backoff).min(max);
        self.timeout = match &self.estimate {
            Estimate::Ticks { rto, .. } => (rto.max(min) * backoff).min(max).max(g * 2.0),
            Estimate::Real {
                srtt: None,
                initial,
                ..
            }
            | Estimate::Linux {
                estimate: None,
                initial,
                ..
            } => (*initial * backoff).min(max.max(*initial)),
            // See `metrics_cache`.
            _ if let Some(known) = self.inherited.filter(|known| Some(*known) > self.srtt()) => {
                doubled(known + g.max(known * 2.0))
            }
            // RFC 6298 §2.3, 2.4, 2.5.
            Estimate::Real {
                srtt: Some(srtt),
                rttvar,
                ..
            } => doubled(*srtt + g.max(*rttvar * 4.0)),
            Estimate::Linux {
                estimate: Some(estimate),
                ..
            } => doubled(estimate.timeout()),
        };
    }

    /// Whether the timeout has been doubled since the last sample.
    pub fn is_backed_off(&self) -> bool {
        self.backoff > 1
    }

    /// Doubles the timeout (RFC 6298 §5.5).
    pub fn back_off(&mut self) {
        if self.backoff < 64 || self.timeout < self.config.max {
            self.backoff <<= 1;
        }
        if let Estimate::Ticks { srtt, .. } = &mut self.estimate
            && self.backoff > DISCARD_ESTIMATE_BEYOND
        {
            *srtt = 0;
        }
        self.update();
    }

    /// Ends the back-off: new data was acknowledged and measured.
    #[inline]
    pub fn end_back_off(&mut self) {
        if self.backoff > 1 {
            self.backoff = 1;
            self.update();
        }
    }

    /// RFC 6298 §5.7: the SYN was retransmitted, so data starts with a timeout of 3 s.
    pub fn after_lost_syn(&mut self) {
        if let Estimate::Real {
            srtt: None,
            initial,
            ..
        }
        | Estimate::Linux {
            estimate: None,
            initial,
            ..
        } = &mut self.estimate
        {
            *initial = initial.max(AFTER_LOST_SYN);
        }
        self.update();
    }

    /// The smoothed round-trip time, once there is a sample.
    #[inline]
    pub fn srtt(&self) -> Option<Duration> {
        self.srtt
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of ticks")]
    fn smoothed(&self) -> Option<Duration> {
        match &self.estimate {
            Estimate::Real { srtt, .. } => *srtt,
            Estimate::Linux { estimate, .. } => estimate.as_ref().map(Microseconds::srtt),
            Estimate::Ticks { srtt: 0, .. } => None,
            Estimate::Ticks { srtt, .. } => Some(self.config.granularity * (*srtt as f64 / 8.0)),
        }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "whole ticks are meant, and their number is small"
)]
fn ticks_in(time: Duration, tick: Duration) -> i64 {
    (time / tick) as i64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::{at, secs};

    fn rfc() -> Rto {
        let config = RtoConfig {
            estimator: RtoEstimator::Rfc6298,
            granularity: secs(0.001),
            initial: secs(1.0),
            min: secs(1.0),
            max: secs(60.0),
            ticks: None,
        };
        Rto::new(Arc::new(config), secs(0.0))
    }

    #[test]
    fn a_host_that_counts_in_ticks_doubles_whole_ones() {
        // Measured: see `RtoConfig::ticks`.
        let config = RtoConfig {
            granularity: secs(0.2),
            min: secs(0.2),
            ticks: Some(Ticks::of(secs(0.01))),
            ..*rfc().config
        };
        let mut rto = Rto::new(Arc::new(config), secs(0.0));
        rto.sample(at(0.0), secs(0.0322));
        close(rto.timeout(), 0.2322);
        rto.back_off();
        close(rto.timeout(), 0.48);
    }

    fn ticks(phase: f64) -> Rto {
        let config = RtoConfig {
            estimator: RtoEstimator::Ticks,
            granularity: secs(0.01),
            initial: secs(3.0),
            min: secs(0.2),
            max: secs(60.0),
            ticks: None,
        };
        Rto::new(Arc::new(config), secs(phase))
    }

    fn close(left: Duration, right: f64) {
        let left = left.secs();
        assert!((left - right).abs() < 1e-12, "{left} is not {right}");
    }

    #[test]
    fn rfc6298_2_1_the_timeout_is_one_second_before_a_sample() {
        close(rfc().timeout(), 1.0);
    }

    #[test]
    fn rfc6298_2_2_the_first_sample_gives_three_round_trips() {
        let mut rto = rfc();
        rto.sample(at(0.0), secs(2.0));
        close(rto.timeout(), 2.0 + 4.0 * 1.0);
    }

    #[test]
    fn rfc6298_2_3_later_samples_are_smoothed() {
        let mut rto = rfc();
        rto.sample(at(0.0), secs(2.0));
        rto.sample(at(0.0), secs(1.0));
        close(rto.srtt().expect("two samples"), 0.875 * 2.0 + 0.125);
        close(rto.timeout(), 1.875 + 4.0 * (0.75 + 0.25));
    }

    #[test]
    fn rfc7323_g_many_samples_of_a_round_trip_count_for_less() {
        let mut rto = rfc();
        rto.sample(at(0.0), secs(2.0));
        // Four samples are expected: alpha = 1/32, beta = 1/16.
        rto.sample_one_of(4.0, at(0.0), secs(1.0));
        close(rto.srtt().expect("two samples"), 2.0 - 1.0 / 32.0);
        let rttvar = 15.0 / 16.0 + 1.0 / 16.0;
        close(rto.timeout(), 2.0 - 1.0 / 32.0 + 4.0 * rttvar);
    }

    #[test]
    fn rfc4015_3_1_step_11_after_a_spurious_timeout_the_next_waits_for_such_a_round_trip() {
        let mut rto = rfc();
        rto.sample(at(0.0), secs(1.0));
        // Two ticks of 1 ms more.
        let before = rto.before_timeout().expect("a sample");
        close(before.srtt, 1.002);
        close(before.rttvar, 0.5);
        rto.adapt_to_spurious(before, secs(4.0));
        close(rto.timeout(), 4.0 + 4.0 * 2.0);
        rto.adapt_to_spurious(before, secs(0.5));
        close(rto.timeout(), 1.002 + 4.0 * 0.5);
    }

    #[test]
    fn rfc6298_2_4_the_timeout_is_at_least_one_second() {
        let mut rto = rfc();
        rto.sample(at(0.0), secs(0.01));
        close(rto.timeout(), 1.0);
    }

    #[test]
    fn rfc6298_5_5_backs_off_up_to_the_maximum() {
        let mut rto = rfc();
        rto.sample(at(0.0), secs(2.0));
        let timeouts: Vec<f64> = (0..5)
            .map(|_| {
                rto.back_off();
                rto.timeout().secs()
            })
            .collect();
        assert_eq!(timeouts, [12.0, 24.0, 48.0, 60.0, 60.0]);
        rto.end_back_off();
        close(rto.timeout(), 6.0);
    }

    #[test]
    fn a_known_round_trip_that_is_longer_than_the_handshake_gives_the_first_timeout() {
        // Measured of Linux 6.1, whose variance term is at least 200 ms: 360 ms after connections of 120 ms, 280 after 80 ms.
        for (known, expected) in [(0.12, 0.36), (0.08, 0.28), (0.03, 0.04 + 0.2)] {
            let config = RtoConfig {
                granularity: secs(0.2),
                min: secs(0.2),
                ..*rfc().config
            };
            let mut rto = Rto::new(Arc::new(config), secs(0.0));
            rto.inherit(secs(known));
            rto.sample(at(0.0), secs(0.04));
            close(rto.timeout(), expected);
            rto.sample(at(0.04), secs(0.04));
            close(rto.timeout(), 0.24);
        }
    }

    #[test]
    fn rfc6298_5_7_a_lost_syn_sets_three_seconds() {
        let mut rto = rfc();
        rto.after_lost_syn();
        close(rto.timeout(), 3.0);
    }

    #[test]
    fn ticks_count_the_clock_edges_that_a_round_trip_crosses() {
        // Traced from ns-2.35: rtt_ 0.100, 0.110; srtt_ 0.100 (81/8 ticks), rttvar_ 0.050, 0.040.
        let mut rto = ticks(0.00127);
        rto.sample(at(0.1), secs(0.10064));
        close(rto.srtt().expect("a sample"), 0.1);
        close(rto.timeout(), 0.3);
        rto.sample(at(0.20064), secs(0.10864));
        close(rto.srtt().expect("a sample"), 0.10125);
        close(rto.timeout(), 0.26);
    }
}
