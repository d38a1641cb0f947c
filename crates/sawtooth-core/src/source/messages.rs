//! Messages: writes with pauses between them, in which someone thinks, whatever has become of those before. Sizes and pauses are fixed or drawn.
//!
//! Kernel twin: an application that sleeps until each message's time and writes it; what the socket does not take is written when it does.

use super::{NewSource, Source, WRITE_INTERVAL, Write, WritePattern};
use crate::dist::{self, Distribution};
use crate::registry::{Entry, Kind, Unit, Value, param};
use crate::rng::RandomStream;
use crate::units::{ByteCount, Duration};

pub(super) const ENTRY: Entry<NewSource> = Entry {
    name: "messages",
    summary: "messages with time between them, fixed or drawn, endless or so many",
    specification: &[],
    params: &[
        param!(size: Kind::Distribution(Unit::Bytes) => Value::Bytes(10_000),
            "bytes of a message, or their distribution"),
        param!(interval: Kind::Distribution(Unit::Time { min_exclusive: true }) => Value::Duration(1.0),
            "time from one message to the next, or its distribution"),
        param!(count: Kind::Integer { min: 1, max: 1_000_000_000 } => Value::None,
            "how many messages, after which the connection is closed; `none`: without end"),
        param!(writes: Kind::Integer { min: 1, max: 1_000_000 } => Value::Integer(1),
            "into how many writes a message is cut"),
        WRITE_INTERVAL,
        param!(offset: Kind::Duration { min_exclusive: false } => Value::Duration(0.0),
            "when the first message is written, after the connection has been opened"),
    ],
    new: |params, random| {
        Box::new(Messages {
            size: dist::of(params, "size"),
            interval: dist::of(params, "interval"),
            fixed_size: match params.get("size") {
                Value::Bytes(bytes) => Some(ByteCount::new(bytes)),
                _ => None,
            },
            fixed_secs: match params.get("interval") {
                Value::Duration(secs) => Some(secs),
                _ => None,
            },
            pauses_secs: 0.0,
            random,
            count: match params.get("count") {
                Value::Integer(count) => u64::try_from(count).ok(),
                _ => None,
            },
            offset_secs: params.duration("offset"),
            pattern: WritePattern::of(params, "writes"),
            rest: None,
            latest: Duration::ZERO,
            written: 0,
        })
    },
};

#[derive(Debug)]
struct Messages {
    size: Box<dyn Distribution>,
    interval: Box<dyn Distribution>,
    /// Where they are not drawn: then times are multiples, without the rounding of a sum.
    fixed_size: Option<ByteCount>,
    fixed_secs: Option<f64>,
    pauses_secs: f64,
    random: RandomStream,
    count: Option<u64>,
    offset_secs: f64,
    pattern: WritePattern,
    /// What is left of a message that is cut: its next write, of all of that, and how it is cut.
    rest: Option<(Write, WritePattern)>,
    /// When the last one was: none comes before it, where messages follow each other faster than they are written.
    latest: Duration,
    written: u64,
}

impl Source for Messages {
    fn next_write(&mut self) -> Option<Write> {
        let (whole, mut pattern) = match self.rest.take() {
            Some(rest) => rest,
            None => (self.next_message()?, self.pattern),
        };
        let bytes = pattern.next_piece(whole.bytes);
        if bytes < whole.bytes {
            let rest = Write {
                after: whole.after + pattern.interval,
                bytes: whole.bytes - bytes,
            };
            self.rest = Some((rest, pattern));
        }
        self.latest = whole.after.max(self.latest);
        Some(Write {
            after: self.latest,
            bytes,
        })
    }

    fn total_bytes(&self) -> Option<ByteCount> {
        Some(self.fixed_size?.saturating_mul(self.count?))
    }
}

impl Messages {
    /// The next one, as if it were written by one call.
    #[expect(clippy::cast_precision_loss, reason = "messages are few")]
    fn next_message(&mut self) -> Option<Write> {
        if self.count == Some(self.written) {
            return None;
        }
        let since = match self.fixed_secs {
            Some(secs) => self.written as f64 * secs,
            None => self.pauses_secs,
        };
        if self.fixed_secs.is_none() {
            self.pauses_secs += self.interval.sample(&mut self.random);
        }
        self.written += 1;
        Some(Write {
            after: Duration::from_secs(self.offset_secs + since),
            bytes: match self.fixed_size {
                Some(bytes) => bytes,
                None => dist::bytes(self.size.sample(&mut self.random)),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Params;
    use crate::rng::RandomStream;

    #[test]
    fn three_messages_are_written_at_their_times_and_then_comes_the_end() {
        let mut params = Params::defaults(ENTRY.params);
        params.set("count", Value::Integer(3));
        params.set("interval", Value::Duration(0.25));
        params.set("offset", Value::Duration(1.0));
        let mut source = (ENTRY.new)(&params, RandomStream::new(1, "x"));
        let writes: Vec<(f64, u64)> = std::iter::from_fn(|| source.next_write())
            .map(|write| (write.after.secs(), write.bytes.get()))
            .collect();
        assert_eq!(writes, [(1.0, 10_000), (1.25, 10_000), (1.5, 10_000)]);
        assert_eq!(source.total_bytes(), Some(ByteCount::new(30_000)));
    }

    #[test]
    fn a_message_that_is_cut_is_written_piece_by_piece() {
        let mut params = Params::defaults(ENTRY.params);
        params.set("count", Value::Integer(2));
        params.set("size", Value::Bytes(1000));
        params.set("writes", Value::Integer(3));
        params.set("interval", Value::Duration(0.5));
        params.set("write_interval", Value::Duration(0.25));
        let mut source = (ENTRY.new)(&params, RandomStream::new(1, "x"));
        let writes: Vec<(f64, u64)> = std::iter::from_fn(|| source.next_write())
            .map(|write| (write.after.secs(), write.bytes.get()))
            .collect();
        // The second begins when the first ends.
        let expected = [
            (0.0, 334),
            (0.25, 333),
            (0.5, 333),
            (0.5, 334),
            (0.75, 333),
            (1.0, 333),
        ];
        assert_eq!(writes, expected);
    }
}
