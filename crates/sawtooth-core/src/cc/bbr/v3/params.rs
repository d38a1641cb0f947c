//! Its parameters, and its row of the table.

use super::Bbr3;
use crate::cc::bbr::model::real;
use crate::cc::bbr::params::{FULL_BW_GROWTH, FULL_BW_ROUNDS, QUANTUM_MAX};
use crate::cc::params::{COUNT, TIME, TIME_FROM_ZERO};
use crate::cc::{Algorithm, Needs, Rates};
use crate::registry::{Entry, Kind, Param, Params, Value};

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
        Param {
            name: "startup_pacing_gain",
            summary: "gain of the rate in Startup",
            kind: GAIN,
            default: Value::Number(2.77),
        },
        Param {
            name: "drain_pacing_gain",
            summary: "gain of the rate in Drain",
            kind: GAIN,
            default: Value::Number(0.5),
        },
        Param {
            name: "up_pacing_gain",
            summary: "gain of the rate in ProbeBW_UP",
            kind: GAIN,
            default: Value::Number(1.25),
        },
        Param {
            name: "down_pacing_gain",
            summary: "gain of the rate in ProbeBW_DOWN",
            kind: GAIN,
            default: Value::Number(0.9),
        },
        Param {
            name: "cwnd_gain",
            summary: "window in capacities of the path",
            kind: GAIN,
            default: Value::Number(2.0),
        },
        Param {
            name: "up_cwnd_gain",
            summary: "the same in ProbeBW_UP",
            kind: GAIN,
            default: Value::Number(2.25),
        },
        Param {
            name: "probe_rtt_cwnd_gain",
            summary: "the same in ProbeRTT",
            kind: GAIN,
            default: Value::Number(0.5),
        },
        Param {
            name: "loss_thresh",
            summary: "share of a round trip's segments that may be lost in a probe",
            kind: SHARE,
            default: Value::Number(0.02),
        },
        Param {
            name: "beta",
            summary: "bounds fall to no less than this share of what they were",
            kind: SHARE,
            default: Value::Number(0.7),
        },
        Param {
            name: "headroom",
            summary: "share of inflight_longterm left to others outside of probes",
            kind: SHARE,
            default: Value::Number(0.15),
        },
        Param {
            name: "min_pipe_cwnd",
            summary: "smallest window, segments",
            kind: Kind::Number { min: 1.0, max: 1e6 },
            default: Value::Number(4.0),
        },
        Param {
            name: "max_bw_cycles",
            summary: "the bottleneck's rate is the largest of this many cycles of ProbeBW",
            kind: COUNT,
            default: Value::Integer(2),
        },
        FULL_BW_GROWTH,
        FULL_BW_ROUNDS,
        Param {
            name: "startup_full_loss_count",
            summary: "losses of a round trip that end Startup, if they exceed loss_thresh",
            kind: COUNT,
            default: Value::Integer(6),
        },
        Param {
            name: "drain_rounds",
            summary: "Drain ends after this many round trips at the latest",
            kind: COUNT,
            default: Value::Integer(3),
        },
        Param {
            name: "probe_wait",
            summary: "shortest time between probes of the rate",
            kind: TIME,
            default: Value::Duration(2.0),
        },
        Param {
            name: "probe_wait_spread",
            summary: "a random part of this is added to it",
            kind: TIME_FROM_ZERO,
            default: Value::Duration(1.0),
        },
        Param {
            name: "reno_rounds",
            summary: "most round trips between probes, for the sake of Reno's flows",
            kind: COUNT,
            default: Value::Integer(63),
        },
        Param {
            name: "min_rtt_window",
            summary: "the path's delay is the smallest round-trip time of this long",
            kind: TIME,
            default: Value::Duration(10.0),
        },
        Param {
            name: "probe_rtt_interval",
            summary: "it is measured anew when it has not been seen for this long",
            kind: TIME,
            default: Value::Duration(5.0),
        },
        Param {
            name: "probe_rtt_duration",
            summary: "how long ProbeRTT keeps the window small",
            kind: TIME_FROM_ZERO,
            default: Value::Duration(0.2),
        },
        Param {
            name: "extra_acked_rounds",
            summary: "the aggregation of acknowledgements is the largest of this many round trips",
            kind: COUNT,
            default: Value::Integer(10),
        },
        Param {
            name: "pacing_margin",
            summary: "share by which the rate stays below the bottleneck's",
            kind: SHARE,
            default: Value::Number(0.01),
        },
        Param {
            name: "quanta",
            summary: "bursts that the window has room for at least",
            kind: Kind::Number {
                min: 0.0,
                max: 100.0,
            },
            default: Value::Number(3.0),
        },
        Param {
            name: "quantum_duration",
            summary: "a burst is what is sent in this time, at least two segments",
            kind: TIME,
            default: Value::Duration(1e-3),
        },
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
