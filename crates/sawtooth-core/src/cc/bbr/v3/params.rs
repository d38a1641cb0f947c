//! The parameters of version 3, and its row of the table.

use super::Bbr3;
use crate::cc::bbr::params::{FULL_BW_GROWTH, FULL_BW_ROUNDS, QUANTUM_MAX};
use crate::cc::params::{COUNT, TIME, TIME_FROM_ZERO, parameters};
use crate::cc::{Algorithm, Needs, Rates};
use crate::registry::{Entry, Kind, Value, param};

const GAIN: Kind = Kind::Number {
    min: 0.01,
    max: 100.0,
};
const SHARE: Kind = Kind::Number {
    min: 0.0,
    max: 0.99,
};

pub(crate) const ENTRY: Entry<Algorithm> = Entry {
    name: "bbr3",
    summary: "BBR version 3: paces at the measured rate of the bottleneck, within what losses tell",
    specification: &["draft-ietf-ccwg-bbr §5"],
    params: &[
        param!(startup_pacing_gain: GAIN => Value::Number(2.77),
            "gain of the rate in Startup"),
        param!(drain_pacing_gain: GAIN => Value::Number(0.5),
            "gain of the rate in Drain"),
        param!(up_pacing_gain: GAIN => Value::Number(1.25),
            "gain of the rate in ProbeBW_UP"),
        param!(down_pacing_gain: GAIN => Value::Number(0.9),
            "gain of the rate in ProbeBW_DOWN"),
        param!(cwnd_gain: GAIN => Value::Number(2.0),
            "window in capacities of the path"),
        param!(up_cwnd_gain: GAIN => Value::Number(2.25),
            "the same in ProbeBW_UP"),
        param!(probe_rtt_cwnd_gain: GAIN => Value::Number(0.5),
            "the same in ProbeRTT"),
        param!(loss_thresh: SHARE => Value::Number(0.02),
            "share of a round trip's segments that may be lost in a probe"),
        param!(beta: SHARE => Value::Number(0.7),
            "bounds fall to no less than this share of what they were"),
        param!(headroom: SHARE => Value::Number(0.15),
            "share of inflight_longterm left to others outside of probes"),
        param!(min_pipe_cwnd: Kind::Number { min: 1.0, max: 1e6 } => Value::Number(4.0),
            "smallest window, segments"),
        param!(max_bw_cycles: COUNT => Value::Integer(2),
            "the bottleneck's rate is the largest of this many cycles of ProbeBW"),
        FULL_BW_GROWTH,
        FULL_BW_ROUNDS,
        param!(startup_full_loss_count: COUNT => Value::Integer(6),
            "losses of a round trip that end Startup, if they exceed loss_thresh"),
        param!(drain_rounds: COUNT => Value::Integer(3),
            "Drain ends after this many round trips at the latest"),
        param!(probe_wait: TIME => Value::Duration(2.0),
            "shortest time between probes of the rate"),
        param!(probe_wait_spread: TIME_FROM_ZERO => Value::Duration(1.0),
            "a random part of this is added to it"),
        param!(reno_rounds: COUNT => Value::Integer(63),
            "most round trips between probes, for the sake of Reno's flows"),
        param!(min_rtt_window: TIME => Value::Duration(10.0),
            "the path's delay is the smallest round-trip time of this long"),
        param!(probe_rtt_interval: TIME => Value::Duration(5.0),
            "it is measured anew when it has not been seen for this long"),
        param!(probe_rtt_duration: TIME_FROM_ZERO => Value::Duration(0.2),
            "how long ProbeRTT keeps the window small"),
        param!(extra_acked_rounds: COUNT => Value::Integer(10),
            "the aggregation of acknowledgements is the largest of this many round trips"),
        param!(pacing_margin: SHARE => Value::Number(0.01),
            "share by which the rate stays below the bottleneck's"),
        param!(quanta: Kind::Number { min: 0.0, max: 100.0 } => Value::Number(3.0),
            "bursts that the window has room for at least"),
        param!(quantum_duration: TIME => Value::Duration(1e-3),
            "a burst is what is sent in this time, at least two segments"),
        QUANTUM_MAX,
    ],
    new: Algorithm {
        needs: Needs {
            rates: Rates::Needed,
            rules_recovery: true,
            ..Needs::NOTHING
        },
        ..Algorithm::of(|params, start| Box::new(Bbr3::new(Parameters::from(params), start)))
    },
};

parameters! {
    pub(super) struct Parameters {
        startup_pacing_gain: f64,
        drain_pacing_gain: f64,
        up_pacing_gain: f64,
        down_pacing_gain: f64,
        cwnd_gain: f64,
        up_cwnd_gain: f64,
        probe_rtt_cwnd_gain: f64,
        loss_thresh: f64,
        beta: f64,
        headroom: f64,
        min_pipe_cwnd: f64,
        max_bw_cycles: u64,
        full_bw_growth: f64,
        full_bw_rounds: u64,
        startup_full_loss_count: u64,
        drain_rounds: u64,
        probe_wait: f64,
        probe_wait_spread: f64,
        reno_rounds: u64,
        min_rtt_window: f64,
        probe_rtt_interval: f64,
        probe_rtt_duration: f64,
        extra_acked_rounds: u64,
        pacing_margin: f64,
        quanta: f64,
        quantum_duration: f64,
        quantum_max: u64,
    }
}
