//! What tests of disciplines begin with.

use super::{New, Queue, Queued, Site};
use crate::loss::Fate;
use crate::packet::{Data, Ecn, Packet};
use crate::registry::{Entry, Params, Value};
use crate::rng::Stream;
use crate::units::Rate;

/// A packet of flow 0 with a number.
pub fn packet(number: u64, wire_bytes: u32, ecn: Ecn, arrived: f64) -> Queued {
    let data = Data {
        seq: number,
        ecn,
        ..Data::default()
    };
    Queued::new(Packet::data(0, 0, wire_bytes, data), arrived, Fate::Arrives)
}

/// A row's defaults but for some values.
pub fn params(entry: &Entry<New>, values: &[(&str, Value)]) -> Params {
    let mut params = Params::defaults(entry.params);
    for (name, value) in values {
        params.set(name, *value);
    }
    params
}

/// A row's discipline at a link of `rate_bps`.
pub fn build(entry: &Entry<New>, values: &[(&str, Value)], rate_bps: f64) -> Box<dyn Queue> {
    let site = Site {
        rate: Rate::from_bps(rate_bps),
        stream: Stream::new(1, "test"),
    };
    (entry.new)(&params(entry, values), site)
}
