//! The parameters of version 1, and its row of the table.

use super::Bbr;
use crate::cc::bbr::params::{FULL_BW_GROWTH, FULL_BW_ROUNDS, QUANTUM_MAX};
use crate::cc::params::{COUNT, TIME, TIME_FROM_ZERO, parameters};
use crate::cc::{Algorithm, Needs, Rates};
use crate::registry::{Entry, Kind, Value};
use crate::units::{ByteCount, Duration};

pub(crate) const ENTRY: Entry<Algorithm> = Entry {
    name: "bbr",
    summary: "BBR version 1: paces at the measured rate of the bottleneck, whatever is lost",
    specification: &[
        "Cardwell et al. 2016",
        "draft-cardwell-iccrg-bbr-congestion-control-00 §4",
    ],
    params: BbrParameters::PARAMS,
    new: Algorithm {
        needs: Needs {
            rates: Rates::Needed,
            rules_recovery: true,
            buffered_windows: 3,
            ..Needs::NOTHING
        },
        linux: &[
            ("even_windows", Value::Bool(true)),
            ("extra_acked_gain", Value::Number(1.0)),
            ("high_gain", Value::Number(739.0 / 256.0)),
            ("startup_drain_gain", Value::Number(88.0 / 256.0)),
            ("probe_extra", Value::Number(2.0)),
            ("quantum_duration", Value::Duration(1.0 / 1024.0)),
            ("at_departure", Value::Bool(true)),
            ("policer_detection", Value::Bool(true)),
            ("rate_step", Value::Number(1e6 / 16_777_216.0)),
        ],
        ..Algorithm::of(|params, start| Box::new(Bbr::new(BbrParameters::from(params), start)))
    },
};

parameters! {
    pub(super) struct BbrParameters {
        high_gain: f64 = Kind::Number { min: 1.01, max: 100.0 } => Value::Number(2.0 / std::f64::consts::LN_2),
            "gain of rate and window in STARTUP; 2 / ln 2 doubles the rate in a round trip";
        startup_drain_gain: f64 = Kind::Number { min: 0.01, max: 1.0 } => Value::Number(std::f64::consts::LN_2 / 2.0),
            "gain of the rate in DRAIN; ln 2 / 2 drains in a round trip what STARTUP has queued";
        cwnd_gain: f64 = Kind::Number { min: 1.0, max: 100.0 } => Value::Number(2.0), "window in PROBE_BW, in capacities of the path";
        probe_gain: f64 = Kind::Number { min: 1.0, max: 100.0 } => Value::Number(1.25), "gain of the rate in the first phase of PROBE_BW";
        drain_gain: f64 = Kind::Number { min: 0.01, max: 1.0 } => Value::Number(0.75), "gain of the rate in the second phase of PROBE_BW";
        cycle_phases: i64 = Kind::Integer { min: 3, max: 1000 } => Value::Integer(8), "phases of a cycle of PROBE_BW";
        bw_rounds: u64 = COUNT => Value::Integer(10), "the bottleneck's rate is the largest of this many round trips";
        full_bw_growth: f64 = FULL_BW_GROWTH;
        full_bw_rounds: u64 = FULL_BW_ROUNDS;
        min_rtt_window: Duration = TIME => Value::Duration(10.0), "the path's delay is the smallest round-trip time of this long; then it is measured anew";
        probe_rtt_duration: Duration = TIME_FROM_ZERO => Value::Duration(0.2), "how long PROBE_RTT keeps the window small";
        min_cwnd: f64 = Kind::Number { min: 1.0, max: 1e6 } => Value::Number(4.0), "smallest window, and that of PROBE_RTT, segments";
        pacing_margin: f64 = Kind::Number { min: 0.0, max: 0.5 } => Value::Number(0.01), "share by which the rate stays below the bottleneck's";
        quanta: f64 = Kind::Number { min: 0.0, max: 100.0 } => Value::Number(3.0), "bursts that the window allows for besides the path's capacity";
        even_windows: bool = Kind::Bool => Value::Bool(false), "whether the window that keeps the path full is rounded up to an even number of segments";
        probe_extra: f64 = Kind::Number { min: 0.0, max: 100.0 } => Value::Number(0.0),
            "segments that the window has besides in the first phase of PROBE_BW, so that it probes where the capacity is small";
        one_segment_below: f64 = Kind::Rate => Value::Rate(1.2e6), "below this rate a burst is one segment";
        two_segments_below: f64 = Kind::Rate => Value::Rate(24e6), "below this rate a burst is two segments";
        quantum_duration: Duration = TIME => Value::Duration(1e-3), "above that, a burst is what is sent in this time";
        quantum_max: ByteCount = QUANTUM_MAX;
        extra_acked_gain: f64 = Kind::Number { min: 0.0, max: 10.0 } => Value::Number(0.0),
            "share of the measured aggregation of acknowledgements that the window allows for";
        extra_acked_rounds: u64 = COUNT => Value::Integer(5), "that aggregation is the largest of a stretch of this many round trips and of the one before";
        at_departure: bool = Kind::Bool => Value::Bool(false),
            "whether what is in flight is that at the moment when the next segment may leave, instead of now";
        policer_detection: bool = Kind::Bool => Value::Bool(false),
            "whether the rate of a policer, which drops what is above it, is found of losses and kept to for 48 round trips";
        rate_step: f64 = Kind::Number { min: 0.0, max: 100.0 } => Value::Number(0.0),
            "delivery rates are whole multiples of so many segments per second, and times whole microseconds or ticks of the host; 0: they are as they are";
    }
}
