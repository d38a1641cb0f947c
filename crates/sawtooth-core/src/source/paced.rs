//! A paced application: writes of one size at a constant rate, as of a camera or a recording that is played.
//!
//! Kernel twin: an application that sleeps until each write's time; what the socket does not take is written when it does.

use super::{New, Source, Write, bytes_or_none};
use crate::registry::{Entry, Kind, Value, param};

pub(super) const ENTRY: Entry<New> = Entry {
    name: "paced",
    summary: "an application that writes at a constant rate, endless or so many bytes",
    specification: &[],
    params: &[
        param!(rate: Kind::Rate => Value::Rate(1e6),
            "how fast it writes, application bytes alone"),
        param!(size: Kind::Bytes => Value::Bytes(1250),
            "bytes of a write, of which there are rate / size per second"),
        param!(total: Kind::Bytes => Value::None,
            "bytes after which the connection is closed; `none`: without end"),
        param!(offset: Kind::Duration { min_exclusive: false } => Value::Duration(0.0),
            "when it begins, after the connection has been opened"),
    ],
    new: |params, _| {
        Box::new(Paced {
            bits_per_sec: match params.get("rate") {
                Value::Rate(rate) => rate,
                other => unreachable!("a rate, not {other:?}"),
            },
            size_bytes: params.bytes("size"),
            total_bytes: bytes_or_none(params, "total"),
            offset_secs: params.duration("offset"),
            written: 0,
        })
    },
};

#[derive(Debug)]
struct Paced {
    bits_per_sec: f64,
    size_bytes: u64,
    total_bytes: Option<u64>,
    offset_secs: f64,
    written: u64,
}

impl Source for Paced {
    #[expect(clippy::cast_precision_loss, reason = "bytes are far below 2^53")]
    fn next_write(&mut self) -> Option<Write> {
        let left = self
            .total_bytes
            .map_or(u64::MAX, |total| total - self.written);
        let bytes = self.size_bytes.min(left);
        let at_secs = self.offset_secs + self.written as f64 * 8.0 / self.bits_per_sec;
        self.written += bytes;
        (bytes > 0).then_some(Write { at_secs, bytes })
    }

    fn total_bytes(&self) -> Option<u64> {
        self.total_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Params;
    use crate::rng::Stream;

    #[test]
    fn writes_follow_each_other_at_the_rate_and_the_last_one_is_what_is_left() {
        let mut params = Params::defaults(ENTRY.params);
        params.set("total", Value::Bytes(3000));
        let mut source = (ENTRY.new)(&params, Stream::new(1, "x"));
        // 1250 bytes at 1 Mbit/s take 10 ms.
        let writes: Vec<(f64, u64)> = std::iter::from_fn(|| source.next_write())
            .map(|write| (write.at_secs, write.bytes))
            .collect();
        assert_eq!(writes, [(0.0, 1250), (0.01, 1250), (0.02, 500)]);
    }
}
