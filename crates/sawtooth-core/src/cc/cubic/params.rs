//! CUBIC's parameters, and those of its slow start. Defaults are RFC 9438's.

use crate::cc::params::{BEGINS_AGAIN, BETA, BETA_ECN, FAST_CONVERGENCE, TIME_FROM_ZERO, joined};
use crate::cc::slow_start;
use crate::registry::{Kind, Param, Value, param};

pub(super) const PARAMS: [Param; OWN.len() + slow_start::PARAMS.len()] =
    joined(&[OWN, &slow_start::PARAMS]);

const OWN: &[Param] = &[
    param!(c: Kind::Number { min: 0.0001, max: 1000.0 } => Value::Number(0.4),
        "how fast the window grows away from W_max, segments per cubic second (C)"),
    Param {
        default: Value::Number(0.7),
        ..BETA
    },
    BETA_ECN,
    FAST_CONVERGENCE,
    BEGINS_AGAIN,
    param!(target_rtt: Kind::Choice(&["smoothed", "min"]) => Value::Choice("smoothed"),
        "the round-trip time that the target is ahead"),
    param!(app_limited: Kind::Choice(&["excluded", "counts"]) => Value::Choice("excluded"),
        "whether the epoch's time stands still while the application limits the flow, idle times apart"),
    param!(w_est_alpha: Kind::Choice(&["rfc9438", "rfc8312"]) => Value::Choice("rfc9438"),
        "what W_est grows by once it has reached the window of the last loss: 1 per window (RFC 9438 §4.3), or what it grew by before (RFC 8312 §4.2)"),
    param!(whole_target: Kind::Bool => Value::Bool(false),
        "whether the distance of the target from W_max is in whole segments, rounded down; with `tcp.whole_windows`"),
    param!(update_interval: TIME_FROM_ZERO => Value::Duration(0.0),
        "while the window stays, the target is computed at most this often; 0: always; with `whole_target`"),
    param!(first_growth: Kind::Number { min: 1.0, max: 1e6 } => Value::None,
        "before the first loss the window grows by one with every so many segments at least; `none`: as the cubic function says; with `whole_target`"),
    param!(time_unit: TIME_FROM_ZERO => Value::Duration(0.0),
        "times since the epoch began, and K, are whole multiples of this, rounded down; 0: not rounded; with `whole_target`"),
    param!(min_rtt_after: TIME_FROM_ZERO => Value::Duration(0.0),
        "for so long after the epoch began, round-trip times do not count for the smallest"),
    param!(ack_ratio: Kind::Number { min: 1.0, max: 100.0 } => Value::Number(1.0),
        "segments per acknowledgement that the increase makes up for, where acknowledgements are counted; with `whole_target`"),
];
