//! Parameters that both versions have.

use crate::cc::params::COUNT;
use crate::registry::{Kind, Param, Value, param};

pub(super) const FULL_BW_GROWTH: Param = param!(full_bw_growth: Kind::Number { min: 1.0, max: 10.0 } => Value::Number(1.25),
    "the pipe is not full while the rate grows by this factor");

pub(super) const FULL_BW_ROUNDS: Param = param!(full_bw_rounds: COUNT => Value::Integer(3),
    "the pipe is full after this many round trips without such growth");

pub(super) const QUANTUM_MAX: Param = param!(quantum_max: Kind::Bytes => Value::Bytes(65_536),
    "and no more than this");
