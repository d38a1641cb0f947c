//! The parameters of version 3, and its row of the table.

use super::Bbr3;
use crate::cc::bbr::params::{FULL_BW_GROWTH, FULL_BW_ROUNDS, QUANTUM_MAX};
use crate::cc::params::{COUNT, TIME, TIME_FROM_ZERO, parameters};
use crate::cc::{Algorithm, Needs, Rates};
use crate::registry::{Entry, Kind, Value};
use crate::units::{ByteCount, Duration};

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
    params: Bbr3Parameters::PARAMS,
    new: Algorithm {
        needs: Needs {
            rates: Rates::Needed,
            rules_recovery: true,
            buffered_windows: 3,
            ..Needs::NOTHING
        },
        ..Algorithm::of(|params, start| Box::new(Bbr3::new(Bbr3Parameters::from(params), start)))
    },
};

parameters! {
    pub(super) struct Bbr3Parameters {
        startup_pacing_gain: f64 = GAIN => Value::Number(2.77), "gain of the rate in Startup";
        drain_pacing_gain: f64 = GAIN => Value::Number(0.5), "gain of the rate in Drain";
        up_pacing_gain: f64 = GAIN => Value::Number(1.25), "gain of the rate in ProbeBW_UP";
        down_pacing_gain: f64 = GAIN => Value::Number(0.9), "gain of the rate in ProbeBW_DOWN";
        cwnd_gain: f64 = GAIN => Value::Number(2.0), "window in capacities of the path";
        up_cwnd_gain: f64 = GAIN => Value::Number(2.25), "the same in ProbeBW_UP";
        probe_rtt_cwnd_gain: f64 = GAIN => Value::Number(0.5), "the same in ProbeRTT";
        loss_thresh: f64 = SHARE => Value::Number(0.02), "share of a round trip's segments that may be lost in a probe";
        beta: f64 = SHARE => Value::Number(0.7), "bounds fall to no less than this share of what they were";
        headroom: f64 = SHARE => Value::Number(0.15), "share of inflight_longterm left to others outside of probes";
        min_pipe_cwnd: f64 = Kind::Number { min: 1.0, max: 1e6 } => Value::Number(4.0), "smallest window, segments";
        max_bw_cycles: u64 = COUNT => Value::Integer(2), "the bottleneck's rate is the largest of this many cycles of ProbeBW";
        full_bw_growth: f64 = FULL_BW_GROWTH;
        full_bw_rounds: u64 = FULL_BW_ROUNDS;
        startup_full_loss_count: u64 = COUNT => Value::Integer(6), "losses of a round trip that end Startup, if they exceed loss_thresh";
        drain_rounds: u64 = COUNT => Value::Integer(3), "Drain ends after this many round trips at the latest";
        probe_wait: f64 = TIME => Value::Duration(2.0), "shortest time between probes of the rate";
        probe_wait_spread: f64 = TIME_FROM_ZERO => Value::Duration(1.0), "a random part of this is added to it";
        reno_rounds: u64 = COUNT => Value::Integer(63), "most round trips between probes, for the sake of Reno's flows";
        min_rtt_window: f64 = TIME => Value::Duration(10.0), "the path's delay is the smallest round-trip time of this long";
        probe_rtt_interval: f64 = TIME => Value::Duration(5.0), "it is measured anew when it has not been seen for this long";
        probe_rtt_duration: Duration = TIME_FROM_ZERO => Value::Duration(0.2), "how long ProbeRTT keeps the window small";
        extra_acked_rounds: u64 = COUNT => Value::Integer(10), "the aggregation of acknowledgements is the largest of this many round trips";
        pacing_margin: f64 = SHARE => Value::Number(0.01), "share by which the rate stays below the bottleneck's";
        quanta: f64 = Kind::Number { min: 0.0, max: 100.0 } => Value::Number(3.0), "bursts that the window has room for at least";
        quantum_duration: Duration = TIME => Value::Duration(1e-3), "a burst is what is sent in this time, at least two segments";
        quantum_max: ByteCount = QUANTUM_MAX;
    }
}
