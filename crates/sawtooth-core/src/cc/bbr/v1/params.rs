//! The parameters of version 1, and its row of the table.

use super::Bbr;
use crate::cc::bbr::params::{FULL_BW_GROWTH, FULL_BW_ROUNDS, QUANTUM_MAX};
use crate::cc::params::{COUNT, TIME, TIME_FROM_ZERO, parameters};
use crate::cc::{Algorithm, Needs, Rates};
use crate::registry::{Entry, Kind, Value, param};

pub(crate) const ENTRY: Entry<Algorithm> = Entry {
    name: "bbr",
    summary: "BBR version 1: paces at the measured rate of the bottleneck, whatever is lost",
    specification: &[
        "Cardwell et al. 2016",
        "draft-cardwell-iccrg-bbr-congestion-control-00 §4",
    ],
    params: &[
        param!(high_gain: Kind::Number { min: 1.01, max: 100.0 } => Value::Number(2.0 / std::f64::consts::LN_2),
            "gain of rate and window in STARTUP; 2 / ln 2 doubles the rate in a round trip"),
        param!(cwnd_gain: Kind::Number { min: 1.0, max: 100.0 } => Value::Number(2.0),
            "window in PROBE_BW, in capacities of the path"),
        param!(probe_gain: Kind::Number { min: 1.0, max: 100.0 } => Value::Number(1.25),
            "gain of the rate in the first phase of PROBE_BW"),
        param!(drain_gain: Kind::Number { min: 0.01, max: 1.0 } => Value::Number(0.75),
            "gain of the rate in the second phase of PROBE_BW"),
        param!(cycle_phases: Kind::Integer { min: 3, max: 1000 } => Value::Integer(8),
            "phases of a cycle of PROBE_BW"),
        param!(bw_rounds: COUNT => Value::Integer(10),
            "the bottleneck's rate is the largest of this many round trips"),
        FULL_BW_GROWTH,
        FULL_BW_ROUNDS,
        param!(min_rtt_window: TIME => Value::Duration(10.0),
            "the path's delay is the smallest round-trip time of this long; then it is measured anew"),
        param!(probe_rtt_duration: TIME_FROM_ZERO => Value::Duration(0.2),
            "how long PROBE_RTT keeps the window small"),
        param!(min_cwnd: Kind::Number { min: 1.0, max: 1e6 } => Value::Number(4.0),
            "smallest window, and that of PROBE_RTT, segments"),
        param!(pacing_margin: Kind::Number { min: 0.0, max: 0.5 } => Value::Number(0.01),
            "share by which the rate stays below the bottleneck's"),
        param!(quanta: Kind::Number { min: 0.0, max: 100.0 } => Value::Number(3.0),
            "bursts that the window allows for besides the path's capacity"),
        param!(even_windows: Kind::Bool => Value::Bool(false),
            "whether the window that keeps the path full is rounded up to an even number of segments"),
        param!(one_segment_below: Kind::Rate => Value::Rate(1.2e6),
            "below this rate a burst is one segment"),
        param!(two_segments_below: Kind::Rate => Value::Rate(24e6),
            "below this rate a burst is two segments"),
        param!(quantum_duration: TIME => Value::Duration(1e-3),
            "above that, a burst is what is sent in this time"),
        QUANTUM_MAX,
        param!(extra_acked_gain: Kind::Number { min: 0.0, max: 10.0 } => Value::Number(0.0),
            "share of the measured aggregation of acknowledgements that the window allows for"),
        param!(extra_acked_rounds: COUNT => Value::Integer(10),
            "that aggregation is the largest of this many round trips"),
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

parameters! {
    pub(super) struct Parameters {
        high_gain: f64,
        cwnd_gain: f64,
        probe_gain: f64,
        drain_gain: f64,
        cycle_phases: i64,
        bw_rounds: u64,
        full_bw_growth: f64,
        full_bw_rounds: u64,
        min_rtt_window: f64,
        probe_rtt_duration: f64,
        min_cwnd: f64,
        pacing_margin: f64,
        quanta: f64,
        even_windows: bool,
        one_segment_below: f64,
        two_segments_below: f64,
        quantum_duration: f64,
        quantum_max: u64,
        extra_acked_gain: f64,
        extra_acked_rounds: u64,
    }
}
