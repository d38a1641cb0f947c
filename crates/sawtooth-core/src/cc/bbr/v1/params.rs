//! Its parameters, and its row of the table.

use super::Bbr;
use crate::cc::bbr::model::real;
use crate::cc::bbr::params::{FULL_BW_GROWTH, FULL_BW_ROUNDS, QUANTUM_MAX};
use crate::cc::params::{COUNT, TIME, TIME_FROM_ZERO};
use crate::cc::{Algorithm, Needs, Rates};
use crate::registry::{Entry, Kind, Param, Params, Value};

pub const ENTRY: Entry<Algorithm> = Entry {
    name: "bbr",
    summary: "BBR version 1: paces at the measured rate of the bottleneck, whatever is lost",
    specification: &[
        "Cardwell et al. 2016",
        "draft-cardwell-iccrg-bbr-congestion-control-00 §4",
    ],
    params: &[
        Param {
            name: "high_gain",
            summary: "gain of rate and window in STARTUP; 2 / ln 2 doubles the rate in a round trip",
            kind: Kind::Number {
                min: 1.01,
                max: 100.0,
            },
            default: Value::Number(2.0 / std::f64::consts::LN_2),
        },
        Param {
            name: "cwnd_gain",
            summary: "window in PROBE_BW, in capacities of the path",
            kind: Kind::Number {
                min: 1.0,
                max: 100.0,
            },
            default: Value::Number(2.0),
        },
        Param {
            name: "probe_gain",
            summary: "gain of the rate in the first phase of PROBE_BW",
            kind: Kind::Number {
                min: 1.0,
                max: 100.0,
            },
            default: Value::Number(1.25),
        },
        Param {
            name: "drain_gain",
            summary: "gain of the rate in the second phase of PROBE_BW",
            kind: Kind::Number {
                min: 0.01,
                max: 1.0,
            },
            default: Value::Number(0.75),
        },
        Param {
            name: "cycle_phases",
            summary: "phases of a cycle of PROBE_BW",
            kind: Kind::Integer { min: 3, max: 1000 },
            default: Value::Integer(8),
        },
        Param {
            name: "bw_rounds",
            summary: "the bottleneck's rate is the largest of this many round trips",
            kind: COUNT,
            default: Value::Integer(10),
        },
        FULL_BW_GROWTH,
        FULL_BW_ROUNDS,
        Param {
            name: "min_rtt_window",
            summary: "the path's delay is the smallest round-trip time of this long; then it is measured anew",
            kind: TIME,
            default: Value::Duration(10.0),
        },
        Param {
            name: "probe_rtt_duration",
            summary: "how long PROBE_RTT keeps the window small",
            kind: TIME_FROM_ZERO,
            default: Value::Duration(0.2),
        },
        Param {
            name: "min_cwnd",
            summary: "smallest window, and that of PROBE_RTT, segments",
            kind: Kind::Number { min: 1.0, max: 1e6 },
            default: Value::Number(4.0),
        },
        Param {
            name: "pacing_margin",
            summary: "share by which the rate stays below the bottleneck's",
            kind: Kind::Number { min: 0.0, max: 0.5 },
            default: Value::Number(0.01),
        },
        Param {
            name: "quanta",
            summary: "bursts that the window allows for besides the path's capacity",
            kind: Kind::Number {
                min: 0.0,
                max: 100.0,
            },
            default: Value::Number(3.0),
        },
        Param {
            name: "even_windows",
            summary: "whether the window that keeps the path full is rounded up to an even number of segments",
            kind: Kind::Bool,
            default: Value::Bool(false),
        },
        Param {
            name: "one_segment_below",
            summary: "below this rate a burst is one segment",
            kind: Kind::Rate,
            default: Value::Rate(1.2e6),
        },
        Param {
            name: "two_segments_below",
            summary: "below this rate a burst is two segments",
            kind: Kind::Rate,
            default: Value::Rate(24e6),
        },
        Param {
            name: "quantum_duration",
            summary: "above that, a burst is what is sent in this time",
            kind: TIME,
            default: Value::Duration(1e-3),
        },
        QUANTUM_MAX,
        Param {
            name: "extra_acked_gain",
            summary: "share of the measured aggregation of acknowledgements that the window allows for",
            kind: Kind::Number {
                min: 0.0,
                max: 10.0,
            },
            default: Value::Number(0.0),
        },
        Param {
            name: "extra_acked_rounds",
            summary: "that aggregation is the largest of this many round trips",
            kind: COUNT,
            default: Value::Integer(10),
        },
    ],
    new: Algorithm {
        needs: Needs {
            rates: Rates::Needed,
            rules_recovery: true,
            ..Needs::NOTHING
        },
        linux: &[
            ("even_windows", Value::Bool(true)),
            ("extra_acked_gain", Value::Number(1.0)),
        ],
        ..Algorithm::of(|params, start| Box::new(Bbr::new(Parameters::from(params), start)))
    },
};

#[derive(Clone, Copy, Debug)]
pub(super) struct Parameters {
    pub(super) high_gain: f64,
    pub(super) cwnd_gain: f64,
    pub(super) probe_gain: f64,
    pub(super) drain_gain: f64,
    pub(super) cycle_phases: i64,
    pub(super) bw_rounds: u64,
    pub(super) full_bw_growth: f64,
    pub(super) full_bw_rounds: u64,
    pub(super) min_rtt_window: f64,
    pub(super) probe_rtt_duration: f64,
    pub(super) min_cwnd: f64,
    pub(super) pacing_margin: f64,
    pub(super) quanta: f64,
    pub(super) even_windows: bool,
    pub(super) one_segment_below: f64,
    pub(super) two_segments_below: f64,
    pub(super) quantum_duration: f64,
    pub(super) quantum_max: f64,
    pub(super) extra_acked_gain: f64,
    pub(super) extra_acked_rounds: u64,
}

impl From<&Params> for Parameters {
    fn from(params: &Params) -> Self {
        let rate = |name| match params.get(name) {
            Value::Rate(bps) => bps,
            other => panic!("{name} is {other:?}, not a rate"),
        };
        let count = |name| params.integer(name).unsigned_abs();
        Self {
            high_gain: params.number("high_gain"),
            cwnd_gain: params.number("cwnd_gain"),
            probe_gain: params.number("probe_gain"),
            drain_gain: params.number("drain_gain"),
            cycle_phases: params.integer("cycle_phases"),
            bw_rounds: count("bw_rounds"),
            full_bw_growth: params.number("full_bw_growth"),
            full_bw_rounds: count("full_bw_rounds"),
            min_rtt_window: params.duration("min_rtt_window"),
            probe_rtt_duration: params.duration("probe_rtt_duration"),
            min_cwnd: params.number("min_cwnd"),
            pacing_margin: params.number("pacing_margin"),
            quanta: params.number("quanta"),
            even_windows: params.flag("even_windows"),
            one_segment_below: rate("one_segment_below"),
            two_segments_below: rate("two_segments_below"),
            quantum_duration: params.duration("quantum_duration"),
            quantum_max: real(params.bytes("quantum_max")),
            extra_acked_gain: params.number("extra_acked_gain"),
            extra_acked_rounds: count("extra_acked_rounds"),
        }
    }
}
