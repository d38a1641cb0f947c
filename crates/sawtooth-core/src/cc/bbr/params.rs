//! Parameters that both versions have.

use crate::cc::params::COUNT;
use crate::registry::{Kind, Param, Value};

pub const FULL_BW_GROWTH: Param = Param {
    name: "full_bw_growth",
    summary: "the pipe is not full while the rate grows by this factor",
    kind: Kind::Number {
        min: 1.0,
        max: 10.0,
    },
    default: Value::Number(1.25),
};

pub const FULL_BW_ROUNDS: Param = Param {
    name: "full_bw_rounds",
    summary: "the pipe is full after this many round trips without such growth",
    kind: COUNT,
    default: Value::Integer(3),
};

pub const QUANTUM_MAX: Param = Param {
    name: "quantum_max",
    summary: "and no more than this",
    kind: Kind::Bytes,
    default: Value::Bytes(65_536),
};
