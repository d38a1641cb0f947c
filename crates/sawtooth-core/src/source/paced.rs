//! A paced application: writes of one size at a constant rate, as of a camera or a recording that is played.
//!
//! Kernel twin: an application that sleeps until each write's time; what the socket does not take is written when it does.

use super::{NewSource, Source, Write, bytes_or_none};
use crate::registry::{Entry, Kind, Value, param};
use crate::units::{ByteCount, Duration};

pub(super) const ENTRY: Entry<NewSource> = Entry {
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
            rate_bps: match params.get("rate") {
                Value::Rate(rate) => rate,
                other => unreachable!("a rate, not {other:?}"),
            },
            size: ByteCount::new(params.bytes("size")),
            total: bytes_or_none(params, "total"),
            offset_secs: params.duration("offset"),
            written: ByteCount::ZERO,
        })
    },
};

#[derive(Debug)]
struct Paced {
    rate_bps: f64,
    size: ByteCount,
    total: Option<ByteCount>,
    offset_secs: f64,
    written: ByteCount,
}

impl Source for Paced {
    fn next_write(&mut self) -> Option<Write> {
        let left = self
            .total
            .map_or(ByteCount::MAX, |total| total - self.written);
        let bytes = self.size.min(left);
        let after_secs = self.offset_secs + self.written.as_f64() * 8.0 / self.rate_bps;
        self.written += bytes;
        (!bytes.is_zero()).then_some(Write {
            after: Duration::from_secs(after_secs),
            bytes,
        })
    }

    fn total_bytes(&self) -> Option<ByteCount> {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Params;
    use crate::rng::RandomStream;

    #[test]
    fn writes_follow_each_other_at_the_rate_and_the_last_one_is_what_is_left() {
        let mut params = Params::defaults(ENTRY.params);
        params.set("total", Value::Bytes(3000));
        let mut source = (ENTRY.new)(&params, RandomStream::new(1, "x"));
        // 1250 bytes at 1 Mbit/s take 10 ms.
        let writes: Vec<(f64, u64)> = std::iter::from_fn(|| source.next_write())
            .map(|write| (write.after.secs(), write.bytes.get()))
            .collect();
        assert_eq!(writes, [(0.0, 1250), (0.01, 1250), (0.02, 500)]);
    }
}
