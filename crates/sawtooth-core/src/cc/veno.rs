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

use super::params::{FACTOR, parameters};
use super::{
    AckedData, Algorithm, Avoidance, ClassicControl, CongestionWindow, Episode, Signal,
    VariableProbe,
};
use crate::registry::{Entry, Kind, Value};
use crate::units::{Duration, Instant, WindowSize};

pub(super) const ENTRY: Entry<Algorithm> = Entry {
    name: "veno",
    summary: "Veno: tells random losses from congestion by the number of queued segments",
    specification: &["Fu and Liew 2003 §II"],
    params: VenoParameters::PARAMS,
    new: Algorithm {
        linux: &[("forget_base_rtt", Value::Bool(false))],
        ..Algorithm::of(|params, start| {
            ClassicControl::boxed(start, Veno::new(VenoParameters::from(params)))
        })
    },
};

parameters! {
    /// The algorithm's parameters.
    struct VenoParameters {
        beta: f64 = Kind::Number { min: 0.0, max: 1e6 } => Value::Number(3.0), "from this many queued segments on the path is congested, segments";
        queued_increase: f64 = Kind::Number { min: 0.01, max: 1.0 } => Value::Number(0.5),
            "the window grows by this per round trip when the path is congested, segments";
        random_factor: f64 = FACTOR => Value::Number(0.8), "the window is multiplied by this at a loss when the path is not congested";
        congestive_factor: f64 = FACTOR => Value::Number(0.5), "the window is multiplied by this at a loss when it is";
        forget_base_rtt: bool = Kind::Bool => Value::Bool(true), "whether the least round-trip time is measured anew after every loss";
    }
}

/// Round-trip times, seconds.
#[derive(Clone, Copy, Debug)]
struct VenoRtts {
    base: f64,
    latest: f64,
}

#[derive(Debug)]
struct Veno {
    rules: VenoParameters,
    rtts: Option<VenoRtts>,
}

impl Veno {
    fn new(rules: VenoParameters) -> Self {
        Self { rules, rtts: None }
    }

    /// The segments that are queued, the paper's `N`, if that is known.
    fn queued(&self, window: &CongestionWindow) -> Option<f64> {
        self.rtts
            .map(|rtts| window.cwnd / rtts.latest * (rtts.latest - rtts.base))
    }
}

impl Avoidance for Veno {
    fn measure(&mut self, _window: &mut CongestionWindow, ack: &AckedData) {
        if let Some(latest) = ack.rtt.map(Duration::secs) {
            let base = self.rtts.map_or(latest, |rtts| rtts.base.min(latest));
            self.rtts = Some(VenoRtts { base, latest });
        }
    }

    fn increase(&self, window: &CongestionWindow) -> f64 {
        match self.queued(window) {
            Some(queued) if queued >= self.rules.beta => self.rules.queued_increase,
            _ => 1.0,
        }
    }

    fn decrease(&mut self, window: &CongestionWindow, episode: &Episode) -> WindowSize {
        let random = self
            .queued(window)
            .is_some_and(|queued| queued < self.rules.beta);
        let factor = if random && episode.signal != Signal::Rto {
            self.rules.random_factor
        } else {
            self.rules.congestive_factor
        };
        if self.rules.forget_base_rtt {
            self.rtts = None;
        }
        episode.window * factor
    }

    fn on_restart(&mut self, _now: Instant, _idle: Duration) {
        self.rtts = None;
    }

    fn probe(&self, window: &CongestionWindow, out: &mut VariableProbe<'_>) {
        if let (Some(rtts), Some(queued)) = (self.rtts, self.queued(window)) {
            out("base_rtt", rtts.base);
            out("n", queued);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;

    /// In congestion avoidance with a window of 20 segments, after round-trip times of 100 ms and `rtt`.
    fn veno(rtt: f64) -> ClassicControl<Veno> {
        let own = Veno::new(VenoParameters::from(&params(&ENTRY, &[])));
        let mut veno = ClassicControl::new(avoiding(20.0), own);
        for rtt in [0.1, rtt] {
            veno.on_ack(&AckedData {
                may_grow: false,
                ..timed(rtt)
            });
        }
        veno
    }

    fn timed(rtt: f64) -> AckedData {
        AckedData {
            rtt: Some(Duration::from_secs(rtt)),
            ..ack()
        }
    }

    #[test]
    fn fu2003_a_loss_without_a_queue_is_random() {
        // N = 20 / 0.115 * 0.015 = 2.6 < 3: four fifths of 20.
        let mut random = veno(0.115);
        random.on_loss(&whole_loss(20.0));
        assert_eq!((random.cwnd(), random.ssthresh()), (16.0, 16.0));
        // N = 20 / 0.12 * 0.02 = 3.3: half.
        let mut congestive = veno(0.12);
        congestive.on_loss(&whole_loss(20.0));
        assert_eq!((congestive.cwnd(), congestive.ssthresh()), (10.0, 10.0));
    }

    #[test]
    fn fu2003_a_timeout_halves_in_any_case() {
        let mut veno = veno(0.1);
        veno.on_rto(&whole_loss(20.0));
        assert_eq!((veno.cwnd(), veno.ssthresh()), (1.0, 10.0));
    }

    #[test]
    fn fu2003_growth_is_half_as_fast_when_segments_queue() {
        let grown = |rtt| {
            let mut veno = veno(rtt);
            veno.on_ack(&timed(rtt));
            veno.cwnd() - 20.0
        };
        // 1/20, and half of it.
        assert!((grown(0.115) - 0.05).abs() < 1e-12);
        assert!((grown(0.12) - 0.025).abs() < 1e-12);
    }

    #[test]
    fn base_rtt_is_measured_anew_after_a_loss() {
        let mut veno = veno(0.2);
        veno.on_loss(&whole_loss(20.0));
        assert_eq!(veno.own.queued(&veno.window), None);
        // Nothing is known: half, as standard TCP.
        veno.on_loss(&whole_loss(20.0));
        assert_eq!(veno.cwnd(), 10.0);
        veno.on_ack(&timed(0.2));
        assert_eq!(veno.own.queued(&veno.window), Some(0.0));
        veno.on_loss(&whole_loss(20.0));
        assert_eq!(veno.cwnd(), 16.0);
    }
}
