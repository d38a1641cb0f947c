//! Veno: standard TCP that grows more slowly when segments queue, and gives up less at a loss when none do.
//!
//! Specification: Fu and Liew 2003, §II-A (distinguishing losses), §II-B (congestion control).
//!
//! Model, in segments:
//! - `N = cwnd / RTT (RTT - BaseRTT)`: the segments that are queued, as Vegas counts them; `RTT` is the latest round-trip time, `BaseRTT` the
//!   least since the last loss
//! - slow start (`cwnd < ssthresh`): `cwnd += 1` for everything that counts
//! - congestion avoidance: `cwnd += 1 / cwnd` for everything that counts if `N < beta`, otherwise `cwnd += queued_increase / cwnd`
//! - loss: `ssthresh = cwnd = window * random_factor` if `N < beta`: the loss is taken for random; otherwise `window * congestive_factor`
//! - timeout: `ssthresh = window * congestive_factor`, `cwnd = 1`
//!
//! Deviations: the paper lets every other acknowledgement count when `N >= beta`; here each counts half, which is as much. Without any
//! round-trip time since the last loss the rules are those of standard TCP.
//!
//! Kernel equivalent: `veno`, in whole segments. Measured of the module in ns-2.35's Linux agent: both factors and both increases are these; it
//! seems to keep BaseRTT over a loss (`forget_base_rtt` false), which is to be measured in a kernel.

use super::{
    Ack, Algorithm, CongestionControl, Episode, Growth, Prescribed, Probe, Signal, Start, Windows,
    slow_start,
};
use crate::registry::{Entry, Kind, Param, Params, Value};
use crate::units::Instant;

pub const ENTRY: Entry<Algorithm> = Entry {
    name: "veno",
    summary: "Veno: tells random losses from congestion by the number of queued segments",
    specification: &["Fu and Liew 2003 §II"],
    params: &[
        Param {
            name: "beta",
            summary: "from this many queued segments on the path is congested, segments",
            kind: Kind::Number { min: 0.0, max: 1e6 },
            default: Value::Number(3.0),
        },
        Param {
            name: "queued_increase",
            summary: "the window grows by this per round trip when the path is congested, segments",
            kind: Kind::Number {
                min: 0.01,
                max: 1.0,
            },
            default: Value::Number(0.5),
        },
        Param {
            name: "random_factor",
            summary: "the window is multiplied by this at a loss when the path is not congested",
            kind: Kind::Number {
                min: 0.01,
                max: 0.99,
            },
            default: Value::Number(0.8),
        },
        Param {
            name: "congestive_factor",
            summary: "the window is multiplied by this at a loss when it is",
            kind: Kind::Number {
                min: 0.01,
                max: 0.99,
            },
            default: Value::Number(0.5),
        },
        Param {
            name: "forget_base_rtt",
            summary: "whether the least round-trip time is measured anew after every loss",
            kind: Kind::Bool,
            default: Value::Bool(true),
        },
    ],
    new: Algorithm {
        linux: &[("forget_base_rtt", Value::Bool(false))],
        ..Algorithm::of(|params, start| Box::new(Veno::new(Rules::from(params), start)))
    },
};

/// The algorithm's parameters.
#[derive(Clone, Copy, Debug)]
struct Rules {
    beta: f64,
    queued_increase: f64,
    random_factor: f64,
    congestive_factor: f64,
    forget_base_rtt: bool,
}

impl From<&Params> for Rules {
    fn from(params: &Params) -> Self {
        Self {
            beta: params.number("beta"),
            queued_increase: params.number("queued_increase"),
            random_factor: params.number("random_factor"),
            congestive_factor: params.number("congestive_factor"),
            forget_base_rtt: params.flag("forget_base_rtt"),
        }
    }
}

/// Round-trip times, seconds.
#[derive(Clone, Copy, Debug)]
struct Rtts {
    base: f64,
    latest: f64,
}

#[derive(Debug)]
struct Veno {
    rules: Rules,
    cwnd: f64,
    ssthresh: f64,
    growth: Growth,
    rtts: Option<Rtts>,
}

impl Veno {
    fn new(rules: Rules, start: Start) -> Self {
        Self {
            rules,
            cwnd: start.cwnd,
            ssthresh: start.ssthresh,
            growth: Growth::new(start.whole_windows),
            rtts: None,
        }
    }

    /// The segments that are queued, the paper's `N`, if that is known.
    fn queued(&self) -> Option<f64> {
        self.rtts
            .map(|rtts| self.cwnd / rtts.latest * (rtts.latest - rtts.base))
    }

    fn forget(&mut self) {
        if self.rules.forget_base_rtt {
            self.rtts = None;
        }
    }

    fn on_loss(&mut self, loss: &Episode) {
        let factor = match self.queued() {
            Some(queued) if queued < self.rules.beta => self.rules.random_factor,
            _ => self.rules.congestive_factor,
        };
        let window = loss.window * factor;
        self.ssthresh = loss.threshold(window);
        self.cwnd = loss.reduced(window);
        self.forget();
        self.growth.restart();
    }

    fn on_rto(&mut self, rto: &Episode) {
        self.ssthresh = rto.threshold(rto.window * self.rules.congestive_factor);
        self.cwnd = 1.0;
        self.forget();
        self.growth.restart();
    }
}

impl CongestionControl for Veno {
    fn on_ack(&mut self, ack: &Ack) {
        if let Some(latest) = ack.rtt_secs {
            let base = self.rtts.map_or(latest, |rtts| rtts.base.min(latest));
            self.rtts = Some(Rtts { base, latest });
        }
        if !ack.may_grow || !ack.cwnd_limited {
            return;
        }
        let mut counted = ack.counted;
        if self.cwnd < self.ssthresh {
            (self.cwnd, counted) = slow_start(self.cwnd, self.ssthresh, counted);
        }
        if counted > 0 {
            let increase = match self.queued() {
                Some(queued) if queued >= self.rules.beta => self.rules.queued_increase,
                _ => 1.0,
            };
            self.cwnd = self.growth.add(self.cwnd, counted, increase);
        }
    }

    fn on_congestion(&mut self, episode: &Episode) {
        match episode.signal {
            Signal::Loss | Signal::Ecn => self.on_loss(episode),
            Signal::Rto => self.on_rto(episode),
        }
    }

    fn on_restart(&mut self, _now: Instant, _idle_secs: f64) {
        self.rtts = None;
    }

    fn prescribe(&mut self, prescribed: Prescribed) {
        match prescribed {
            Prescribed::Cwnd(cwnd) => self.cwnd = cwnd,
            Prescribed::Ssthresh(ssthresh) => self.ssthresh = ssthresh,
        }
    }

    fn windows(&self) -> Windows {
        Windows {
            cwnd: self.cwnd,
            ssthresh: self.ssthresh,
        }
    }

    fn probe(&self, out: &mut Probe<'_>) {
        if let (Some(rtts), Some(queued)) = (self.rtts, self.queued()) {
            out("base_rtt", rtts.base);
            out("n", queued);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::Told as _;

    /// In congestion avoidance with a window of 20 segments, after round-trip times of 100 ms and `rtt`.
    fn veno(rtt: f64) -> Veno {
        let start = Start {
            ssthresh: 2.0,
            ..Start::at(20.0)
        };
        let rules = Rules::from(&Params::defaults(ENTRY.params));
        let mut veno = Veno::new(rules, start);
        for rtt in [0.1, rtt] {
            veno.on_ack(&Ack {
                may_grow: false,
                ..ack(rtt)
            });
        }
        veno
    }

    fn ack(rtt: f64) -> Ack {
        Ack {
            rtt_secs: Some(rtt),
            ..Ack::of(Instant::from_secs(1.0), 1, 20)
        }
    }

    fn loss() -> Episode {
        Episode {
            whole_ssthresh: true,
            ..Episode::of(Instant::from_secs(1.0), 20.0)
        }
    }

    #[test]
    fn fu2003_a_loss_without_a_queue_is_random() {
        // N = 20 / 0.115 * 0.015 = 2.6 < 3: four fifths of 20.
        let mut random = veno(0.115);
        random.on_loss(&loss());
        assert_eq!((random.cwnd(), random.ssthresh()), (16.0, 16.0));
        // N = 20 / 0.12 * 0.02 = 3.3: half.
        let mut congestive = veno(0.12);
        congestive.on_loss(&loss());
        assert_eq!((congestive.cwnd(), congestive.ssthresh()), (10.0, 10.0));
    }

    #[test]
    fn fu2003_a_timeout_halves_in_any_case() {
        let mut veno = veno(0.1);
        veno.on_rto(&loss());
        assert_eq!((veno.cwnd(), veno.ssthresh()), (1.0, 10.0));
    }

    #[test]
    fn fu2003_growth_is_half_as_fast_when_segments_queue() {
        let grown = |rtt| {
            let mut veno = veno(rtt);
            veno.on_ack(&ack(rtt));
            veno.cwnd() - 20.0
        };
        // 1/20, and half of it.
        assert!((grown(0.115) - 0.05).abs() < 1e-12);
        assert!((grown(0.12) - 0.025).abs() < 1e-12);
    }

    #[test]
    fn base_rtt_is_measured_anew_after_a_loss() {
        let mut veno = veno(0.2);
        veno.on_loss(&loss());
        assert_eq!(veno.queued(), None);
        // Nothing is known: half, as standard TCP.
        veno.on_loss(&loss());
        assert_eq!(veno.cwnd(), 10.0);
        veno.on_ack(&ack(0.2));
        assert_eq!(veno.queued(), Some(0.0));
        veno.on_loss(&loss());
        assert_eq!(veno.cwnd(), 16.0);
    }
}
