//! The parameters of version 3, and its row of the table.

use super::Bbr3;
use crate::cc::bbr::model::real;
use crate::cc::bbr::params::{FULL_BW_GROWTH, FULL_BW_ROUNDS, QUANTUM_MAX};
use crate::cc::params::{COUNT, TIME, TIME_FROM_ZERO};
use crate::cc::{Algorithm, Needs, Rates};
use crate::registry::{Entry, Kind, Params, Value, param};

const GAIN: Kind = Kind::Number {
    min: 0.01,
    max: 100.0,
};
const SHARE: Kind = Kind::Number {
    min: 0.0,
    max: 0.99,
};

pub const ENTRY: Entry<Algorithm> = Entry {
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

#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    pub(super) startup_pacing_gain: f64,
    pub(super) drain_pacing_gain: f64,
    pub(super) up_pacing_gain: f64,
    pub(super) down_pacing_gain: f64,
    pub(super) cwnd_gain: f64,
    pub(super) up_cwnd_gain: f64,
    pub(super) probe_rtt_cwnd_gain: f64,
    pub(super) loss_thresh: f64,
    pub(super) beta: f64,
    pub(super) headroom: f64,
    pub(super) min_pipe_cwnd: f64,
    pub(super) max_bw_cycles: u64,
    pub(super) full_bw_growth: f64,
    pub(super) full_bw_rounds: u64,
    pub(super) startup_full_loss_count: u64,
    pub(super) drain_rounds: u64,
    pub(super) probe_wait: f64,
    pub(super) probe_wait_spread: f64,
    pub(super) reno_rounds: f64,
    pub(super) min_rtt_window: f64,
    pub(super) probe_rtt_interval: f64,
    pub(super) probe_rtt_duration: f64,
    pub(super) extra_acked_rounds: u64,
    pub(super) pacing_margin: f64,
    pub(super) quanta: f64,
    pub(super) quantum_duration: f64,
    pub(super) quantum_max: f64,
}

impl From<&Params> for Parameters {
    fn from(params: &Params) -> Self {
        let count = |name| params.integer(name).unsigned_abs();
        Self {
            startup_pacing_gain: params.number("startup_pacing_gain"),
            drain_pacing_gain: params.number("drain_pacing_gain"),
            up_pacing_gain: params.number("up_pacing_gain"),
            down_pacing_gain: params.number("down_pacing_gain"),
            cwnd_gain: params.number("cwnd_gain"),
            up_cwnd_gain: params.number("up_cwnd_gain"),
            probe_rtt_cwnd_gain: params.number("probe_rtt_cwnd_gain"),
            loss_thresh: params.number("loss_thresh"),
            beta: params.number("beta"),
            headroom: params.number("headroom"),
            min_pipe_cwnd: params.number("min_pipe_cwnd"),
            max_bw_cycles: count("max_bw_cycles"),
            full_bw_growth: params.number("full_bw_growth"),
            full_bw_rounds: count("full_bw_rounds"),
            startup_full_loss_count: count("startup_full_loss_count"),
            drain_rounds: count("drain_rounds"),
            probe_wait: params.duration("probe_wait"),
            probe_wait_spread: params.duration("probe_wait_spread"),
            reno_rounds: real(count("reno_rounds")),
            min_rtt_window: params.duration("min_rtt_window"),
            probe_rtt_interval: params.duration("probe_rtt_interval"),
            probe_rtt_duration: params.duration("probe_rtt_duration"),
            extra_acked_rounds: count("extra_acked_rounds"),
            pacing_margin: params.number("pacing_margin"),
            quanta: params.number("quanta"),
            quantum_duration: params.duration("quantum_duration"),
            quantum_max: real(params.bytes("quantum_max")),
        }
    }
}
