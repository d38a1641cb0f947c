//! Constant rate: packets of one size at a fixed interval, each perhaps a little late.
//!
//! Model: packet n leaves at `(n + u) 8 size / rate`, where u is 0, or uniform up to `jitter` intervals, drawn anew for each packet. Lateness does
//! not add up, so the rate is kept, and packets do not overtake each other.

use super::{Departure, Maker, PacketSource, RATE, SIZE, check_size, packets_per_sec, size};
use crate::registry::{Entry, Kind, Value, param};
use crate::rng::RandomStream;
use crate::units::{ByteCount, Duration};

pub(super) const ENTRY: Entry<Maker> = Entry {
    name: "constant_rate",
    summary: "packets of one size at a constant rate, each perhaps a little late",
    specification: &[],
    params: &[
        RATE,
        SIZE,
        param!(jitter: Kind::Number { min: 0.0, max: 1.0 } => Value::Number(0.0),
            "how late a packet may leave, as a share of the interval between packets; drawn uniformly for each"),
    ],
    new: Maker {
        new: |params, stream, _| {
            Box::new(ConstantRate {
                interval_secs: 1.0 / packets_per_sec(params),
                size: size(params),
                jitter: params.number("jitter"),
                stream,
                sent: 0.0,
            })
        },
        packets_per_sec,
        largest: size,
        draws: |_, _| None,
        check: |params, _| check_size(params),
    },
};

#[derive(Debug)]
struct ConstantRate {
    /// Infinite at rate 0.
    interval_secs: f64,
    size: ByteCount,
    jitter: f64,
    stream: RandomStream,
    /// Packets so far.
    sent: f64,
}

impl PacketSource for ConstantRate {
    fn next_packet(&mut self) -> Option<Departure> {
        if self.interval_secs.is_infinite() {
            return None;
        }
        let late = if self.jitter > 0.0 {
            self.jitter * self.stream.uniform()
        } else {
            0.0
        };
        let at = Duration::from_secs((self.sent + late) * self.interval_secs);
        self.sent += 1.0;
        Some(Departure {
            at,
            size: self.size,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Params;

    fn times(jitter: f64) -> Vec<f64> {
        let mut params = Params::defaults(ENTRY.params);
        params.set("rate", Value::Rate(12e6));
        params.set("jitter", Value::Number(jitter));
        let mut source =
            (ENTRY.new.new)(&params, RandomStream::new(1, "x"), Duration::from_secs(1.0));
        (0..1000)
            .filter_map(|_| Some(source.next_packet()?.at.secs()))
            .collect()
    }

    #[test]
    fn packets_follow_each_other_at_the_interval() {
        // 1500 bytes at 12 Mbit/s: one every millisecond.
        let times = times(0.0);
        assert!((times[999] - 0.999).abs() < 1e-12);
        assert_eq!(times[0], 0.0);
    }

    #[test]
    fn a_late_packet_stays_within_its_interval() {
        for (n, time) in (0_u32..).zip(times(1.0)) {
            let late = time / 0.001 - f64::from(n);
            assert!((0.0..1.0 + 1e-9).contains(&late), "packet {n}: {late}");
        }
    }
}
