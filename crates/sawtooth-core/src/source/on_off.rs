//! An application that is on and off by turns: on, it writes at a rate; the lengths of both are drawn. With exponential periods it is the usual
//! model of a voice or a bursty source; many with Pareto periods of a shape between 1 and 2 together are self-similar (Willinger, Taqqu, Sherman
//! and Wilson, "Self-similarity through high-variability", IEEE/ACM Trans. Netw. 5(1), 1997).
//!
//! **Model.** It begins with a period on. Writes are of `size` bytes, at the rate, from the period's beginning; the last one of a period has
//! what is left of rate x length. What that has of a byte's fraction is kept for the next period, so the mean rate is exact.
//!
//! Kernel twin: an application that sleeps until each write's time; what the socket does not take is written when it does.

use super::{NewSource, Source, Write, bytes_or_none};
use crate::dist::{self, Distribution};
use crate::registry::{Entry, Kind, Unit, Value, param};
use crate::rng::RandomStream;
use crate::units::{ByteCount, Duration};

pub(super) const ENTRY: Entry<NewSource> = Entry {
    name: "on_off",
    summary: "an application that writes at a rate by turns, for periods that are drawn",
    specification: &[],
    params: &[
        param!(rate: Kind::Rate => Value::Rate(1e6),
            "how fast it writes while it is on, application bytes alone"),
        param!(on: Kind::Distribution(Unit::Time { min_exclusive: true }) => Value::Exponential(1.0),
            "length of a period on, or its distribution"),
        param!(off: Kind::Distribution(Unit::Time { min_exclusive: false }) => Value::Exponential(1.0),
            "length of a period off, or its distribution"),
        param!(size: Kind::Bytes => Value::Bytes(1250),
            "bytes of a write, of which there are rate / size per second while it is on"),
        param!(total: Kind::Bytes => Value::None,
            "bytes after which the connection is closed; `none`: without end"),
        param!(offset: Kind::Duration { min_exclusive: false } => Value::Duration(0.0),
            "when it begins, after the connection has been opened"),
    ],
    new: |params, random| {
        let bytes_per_sec = match params.get("rate") {
            Value::Rate(rate) => rate / 8.0,
            other => unreachable!("a rate, not {other:?}"),
        };
        Box::new(OnOff {
            bytes_per_sec,
            on: dist::of(params, "on"),
            off: dist::of(params, "off"),
            size: ByteCount::new(params.bytes("size")),
            total: bytes_or_none(params, "total"),
            random,
            on_at: params.duration("offset"),
            period_ends: params.duration("offset"),
            left: ByteCount::ZERO,
            period_bytes: ByteCount::ZERO,
            fraction: 0.0,
            written: ByteCount::ZERO,
        })
    },
};

#[derive(Debug)]
struct OnOff {
    bytes_per_sec: f64,
    on: Box<dyn Distribution>,
    off: Box<dyn Distribution>,
    size: ByteCount,
    total: Option<ByteCount>,
    random: RandomStream,
    /// The period on: when it began, bytes of it, and those that are still to be written; and when the period off ends that follows it.
    on_at: f64,
    period_bytes: ByteCount,
    left: ByteCount,
    period_ends: f64,
    /// What the periods so far have not written of a byte.
    fraction: f64,
    written: ByteCount,
}

impl OnOff {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "bytes are far below 2^53"
    )]
    fn next_period(&mut self) {
        let on = self.on.sample(&mut self.random);
        self.on_at = self.period_ends;
        self.period_ends = self.on_at + on + self.off.sample(&mut self.random);
        let bytes = self.bytes_per_sec * on + self.fraction;
        self.period_bytes = ByteCount::new(bytes as u64);
        self.fraction = bytes.fract();
        self.left = self.period_bytes;
    }
}

impl Source for OnOff {
    fn next_write(&mut self) -> Option<Write> {
        let allowed = self
            .total
            .map_or(ByteCount::MAX, |total| total - self.written);
        if allowed.is_zero() {
            return None;
        }
        while self.left.is_zero() {
            self.next_period();
        }
        let bytes = self.size.min(self.left).min(allowed);
        let before = self.period_bytes - self.left;
        let after_secs = self.on_at + before.as_f64() / self.bytes_per_sec;
        self.left -= bytes;
        self.written += bytes;
        Some(Write {
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

    fn writes(values: &[(&str, Value)], count: usize) -> Vec<(f64, u64)> {
        let mut params = Params::defaults(ENTRY.params);
        for (key, value) in values {
            params.set(key, *value);
        }
        let mut source = (ENTRY.new)(&params, RandomStream::new(1, "x"));
        std::iter::from_fn(|| source.next_write())
            .map(|write| (write.after.secs(), write.bytes.get()))
            .take(count)
            .collect()
    }

    #[test]
    fn writes_follow_each_other_at_the_rate_while_it_is_on() {
        // 125 kB/s for 25 ms are 3125 bytes: two writes of 1250 and one of 625; 75 ms later again.
        let fixed = [
            ("on", Value::Duration(0.025)),
            ("off", Value::Duration(0.075)),
            ("total", Value::Bytes(4000)),
        ];
        let expected = [(0.0, 1250), (0.01, 1250), (0.02, 625), (0.1, 875)];
        let found = writes(&fixed, 10);
        assert_eq!(found.len(), 4);
        for (found, expected) in found.iter().zip(expected) {
            assert!((found.0 - expected.0).abs() < 1e-12 && found.1 == expected.1);
        }
    }

    #[test]
    fn the_mean_rate_is_the_share_of_the_time_that_it_is_on() {
        let found = writes(&[("off", Value::Exponential(3.0))], 400_000);
        let (last, _) = found[found.len() - 1];
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        let bytes = found.iter().map(|(_, bytes)| *bytes).sum::<u64>() as f64;
        // A quarter of 1 Mbit/s. Some 4000 cycles: their bytes and lengths have a coefficient of variation of 1 and 0.79, so that of the ratio
        // is at most 1.27 / sqrt(4000) = 2 %.
        let ratio = bytes * 8.0 / last / 250e3;
        assert!((ratio - 1.0).abs() < 0.06, "{ratio}");
    }
}
