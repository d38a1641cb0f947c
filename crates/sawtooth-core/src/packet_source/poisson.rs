//! Poisson: packets leave independently of each other, as of very many hosts that send rarely.
//!
//! Model: the times between packets are exponentially distributed. Sizes are constant, which makes a queue M/D/1, or exponentially distributed (to
//! whole bytes, from 28 to 65535), which makes it M/M/1.

use super::{
    Departure, HEADER, LARGEST, Maker, PacketSource, RATE, SIZE, check_size, exponential,
    packets_per_sec, size,
};
use crate::registry::{Entry, Kind, Param, ParamKey, Value, Words, words};
use crate::rng::RandomStream;
use crate::units::{ByteCount, Duration};

words! {
    enum Sizes {
        Constant = "constant",
        Exponential = "exponential",
    }
}

const SIZES: ParamKey<Sizes> = ParamKey::new("sizes");

pub(super) const ENTRY: Entry<Maker> = Entry {
    name: "poisson",
    summary: "packets at the times of a Poisson process, of one size or of exponentially distributed sizes",
    specification: &[],
    params: &[
        RATE,
        SIZE,
        Param {
            name: SIZES.name,
            summary: "constant: every packet has `size`; exponential: in the mean, and none more than an IP packet can have",
            kind: Kind::Choice(Sizes::WORDS),
            default: Value::Choice(Sizes::Constant.word()),
        },
    ],
    new: Maker {
        new: |params, stream, _| {
            Box::new(Poisson {
                mean_gap_secs: 1.0 / packets_per_sec(params),
                size: size(params),
                exponential_sizes: SIZES.of(params) == Sizes::Exponential,
                stream,
                now: 0.0,
            })
        },
        packets_per_sec,
        largest: |params| match SIZES.of(params) {
            Sizes::Exponential => LARGEST,
            Sizes::Constant => size(params),
        },
        draws: |_, _| None,
        check: |params, _| check_size(params),
    },
};

#[derive(Debug)]
struct Poisson {
    /// Infinite at rate 0.
    mean_gap_secs: f64,
    size: ByteCount,
    exponential_sizes: bool,
    stream: RandomStream,
    now: f64,
}

impl PacketSource for Poisson {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to sizes of packets"
    )]
    fn next_packet(&mut self) -> Option<Departure> {
        if self.mean_gap_secs.is_infinite() {
            return None;
        }
        self.now += self.mean_gap_secs * exponential(&mut self.stream);
        let size = if self.exponential_sizes {
            let drawn = libm::round(self.size.as_f64() * exponential(&mut self.stream));
            ByteCount::new(drawn.clamp(HEADER.as_f64(), LARGEST.as_f64()) as u64)
        } else {
            self.size
        };
        Some(Departure {
            at: Duration::from_secs(self.now),
            size,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Params;

    #[test]
    fn gaps_and_sizes_have_the_mean_and_variance_of_the_exponential_distribution() {
        let mut params = Params::defaults(ENTRY.params);
        // 10 000-byte packets at 80 Mbit/s: 1000 per second.
        params.set("rate", Value::Rate(80e6));
        params.set("size", Value::Bytes(10_000));
        params.set("sizes", Value::Choice("exponential"));
        let mut source = (ENTRY.new.new)(
            &params,
            RandomStream::new(5, "x"),
            Duration::from_secs(100.0),
        );
        let (mut last, mut gaps, mut sizes) = (0.0, Vec::new(), Vec::new());
        for _ in 0..100_000 {
            let packet = source.next_packet().expect("endless");
            gaps.push((packet.at.secs() - last) / 1e-3);
            sizes.push(packet.size.as_f64() / 1e4);
            last = packet.at.secs();
        }
        for (what, values) in [("gaps", gaps), ("sizes", sizes)] {
            let mean = values.iter().sum::<f64>() / 1e5;
            let squares = values.iter().map(|value| value * value).sum::<f64>() / 1e5;
            // Of 100 000: deviations 0.0032 of the mean and 0.014 of the mean square, which is 2. Clamping sizes to 65535, the mean's 6.55-fold, takes
            // away e^-6.55 = 0.0014 of the mean and 0.022 of the mean square.
            assert!((mean - 1.0).abs() < 0.015, "{what}: {mean}");
            assert!((squares - 2.0).abs() < 0.08, "{what}: {squares}");
        }
    }
}
