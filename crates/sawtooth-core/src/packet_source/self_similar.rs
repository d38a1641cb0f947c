//! Self-similar traffic: the number of packets in every period is fractional Gaussian noise.
//!
//! Specification: Leland, Taqqu, Willinger and Wilson 1994 (that traffic is like this); Paxson 1997 (synthetic traffic from fractional
//! Gaussian noise); Davies and Harte 1987 (the noise, see [`crate::noise`]).
//!
//! Model: period j has `round(mean + sqrt(variance) x_j)` packets, not below 0 nor above `cap`, where x is fractional Gaussian noise with mean 0,
//! variance 1 and Hurst parameter `hurst`, of exact autocovariance over the whole flow: one path, as long as the flow has periods. The packets of a
//! period leave evenly spread over it, or back to back at its beginning, to be spread by the first link.
//!
//! With a mean of 0 nothing is sent. Rounding adds about 1/12 to the variance, and clipping moves both moments: what came of it is in the table `sources`.

use super::{Complaint, Departure, Maker, PacketSource, SIZE, check_size, size};
use crate::noise;
use crate::registry::{Entry, Kind, Param, ParamKey, Params, Value, Words, param, words};
use crate::rng::RandomStream;
use crate::units::{ByteCount, Duration};

words! {
    /// When the packets of a period leave.
    enum Spread {
        Even = "even",
        BackToBack = "back_to_back",
    }
}

const SPREAD: ParamKey<Spread> = ParamKey::new("spread");

/// Periods of a run for which the noise takes 400 MB while it is made.
const MOST_PERIODS: f64 = 8_388_608.0;

pub(super) const ENTRY: Entry<Maker> = Entry {
    name: "self_similar",
    summary: "packets per period from fractional Gaussian noise of exact autocovariance",
    specification: &["Paxson 1997", "Davies and Harte 1987"],
    params: &[
        param!(mean: Kind::RateOrPackets => Value::Rate(1e6),
            "how much it sends in the mean: a rate, headers included, or packets per period; 0: nothing"),
        param!(variance: Kind::Number { min: 0.0, max: 1e12 } => Value::Number(1.0),
            "of the packets in a period, packets²"),
        param!(hurst: Kind::Number { min: f64::NEG_INFINITY, max: f64::INFINITY } => Value::Number(0.8),
            "Hurst parameter, between 0 and 1: 0.5 is independent from period to period, above it the past lasts"),
        param!(period: Kind::Period => Value::Duration(1e-2),
            "length of a period"),
        param!(cap: Kind::Packets => Value::None,
            "most packets in a period; `none`: as many as there are"),
        SIZE,
        Param {
            name: SPREAD.name,
            summary: "even: the packets of a period leave at equal distances; back_to_back: all at its beginning",
            kind: Kind::Choice(Spread::WORDS),
            default: Value::Choice(Spread::Even.word()),
        },
    ],
    new: Maker {
        new: |params, stream, horizon| {
            Box::new(SelfSimilar {
                counts: counts(params, stream, horizon),
                mean: mean(params),
                period_secs: params.duration("period"),
                cap: cap(params),
                size: size(params),
                even: SPREAD.of(params) == Spread::Even,
                at: 0,
                sent: 0,
            })
        },
        packets_per_sec: |params| mean(params) / params.duration("period"),
        largest: size,
        draws: |_, _| None,
        check,
    },
};

#[derive(Debug)]
struct SelfSimilar {
    /// Packets of every period of the flow.
    counts: Vec<u32>,
    mean: f64,
    period_secs: f64,
    cap: f64,
    size: ByteCount,
    even: bool,
    /// The period, and its packets that have been sent.
    at: usize,
    sent: u32,
}

impl PacketSource for SelfSimilar {
    #[expect(clippy::cast_precision_loss, reason = "a count of periods")]
    fn next_packet(&mut self) -> Option<Departure> {
        while self.sent == *self.counts.get(self.at)? {
            self.at += 1;
            self.sent = 0;
        }
        let within = if self.even {
            f64::from(self.sent) / f64::from(self.counts[self.at])
        } else {
            0.0
        };
        self.sent += 1;
        Some(Departure {
            at: Duration::from_secs((self.at as f64 + within) * self.period_secs),
            size: self.size,
        })
    }

    #[expect(clippy::cast_precision_loss, reason = "counts")]
    fn report(&self, out: &mut dyn FnMut(&'static str, f64)) {
        let periods = self.counts.len() as f64;
        if periods == 0.0 {
            return;
        }
        let counts = || self.counts.iter().map(|count| f64::from(*count));
        let mean = counts().sum::<f64>() / periods;
        let squares = counts().map(|count| (count - mean) * (count - mean));
        let share = |of: f64| counts().filter(|count| *count == of).count() as f64 / periods;
        out("periods", periods);
        out("mean_wanted", self.mean);
        out("mean", mean);
        out("variance", squares.sum::<f64>() / periods);
        out("share_empty", share(0.0));
        out("share_at_cap", share(self.cap));
    }
}

/// Packets in each period of a flow that lasts until `horizon`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and bounded"
)]
fn counts(params: &Params, mut stream: RandomStream, horizon: Duration) -> Vec<u32> {
    let periods = libm::ceil(horizon.secs() / params.duration("period"));
    if periods < 1.0 {
        return Vec::new();
    }
    let (mean, deviation) = (mean(params), params.number("variance").sqrt());
    if mean == 0.0 {
        // What is not negative and has mean 0 is 0, whatever its variance was to be.
        return vec![0; periods as usize];
    }
    let most = cap(params).min(f64::from(u32::MAX));
    let noise = noise::fractional_gaussian(params.number("hurst"), periods as usize, &mut stream);
    let count = |x: f64| libm::round(mean + deviation * x).clamp(0.0, most) as u32;
    noise.into_iter().map(count).collect()
}

/// Packets per period.
fn mean(params: &Params) -> f64 {
    match params.get("mean") {
        Value::Rate(rate) => rate * params.duration("period") / (8.0 * size(params).as_f64()),
        Value::Number(packets) => packets,
        other => unreachable!("a rate or packets, not {other:?}"),
    }
}

#[expect(clippy::cast_precision_loss, reason = "a count of packets")]
fn cap(params: &Params) -> f64 {
    match params.get("cap") {
        Value::Packets(packets) => packets as f64,
        _ => f64::INFINITY,
    }
}

fn check(params: &Params, horizon: Duration) -> Result<(), Complaint> {
    check_size(params)?;
    let hurst = params.number("hurst");
    if hurst == 1.0 {
        return Err(Complaint {
            key: "hurst",
            message: "with a Hurst parameter of 1 all periods have the same number of packets"
                .to_owned(),
            hint: "at 1 nothing varies within a run: it is the limit, and is published as a rounded figure; take 0.5 to 0.95, as the study `self-similar-background` does, or 0.99",
        });
    }
    if !(hurst > 0.0 && hurst < 1.0) {
        return Err(Complaint {
            key: "hurst",
            message: format!(
                "a Hurst parameter is above 0 and below 1, found {hurst}: no other stationary noise is self-similar"
            ),
            hint: "0.5 is without memory, and measured traffic has 0.7 to 0.9",
        });
    }
    let (mean, cap) = (mean(params), cap(params));
    if mean > cap {
        return Err(Complaint {
            key: "mean",
            message: format!("{mean} packets per period in the mean, and `cap` allows {cap}"),
            hint: "raise `cap`, or lower `mean`",
        });
    }
    let periods = horizon.secs() / params.duration("period");
    if periods > MOST_PERIODS {
        return Err(Complaint {
            key: "period",
            message: format!(
                "the flow has {periods:.0} periods, and its noise is made as a whole, of at most {MOST_PERIODS}"
            ),
            hint: "take a longer period or a shorter run",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn study(mean: Value) -> Params {
        let mut params = Params::defaults(ENTRY.params);
        params.set("mean", mean);
        params.set("period", Value::Duration(1476e-6));
        params.set("cap", Value::Packets(120));
        params
    }

    #[test]
    fn packets_per_period_have_the_mean_and_variance_that_were_asked_for() {
        let mut params = study(Value::Number(50.4));
        params.set("hurst", Value::Number(0.5));
        let counts = counts(
            &params,
            RandomStream::new(1, "x"),
            Duration::from_secs(1476e-6 * 99_999.5),
        );
        assert_eq!(counts.len(), 100_000);
        let mean = counts.iter().map(|count| f64::from(*count)).sum::<f64>() / 1e5;
        let squares = counts.iter().map(|count| f64::from(*count) - mean);
        let variance = squares.map(|excess| excess * excess).sum::<f64>() / 1e5;
        // 1 and 1/12 for rounding (Sheppard); errors of 100 000 independent periods: 0.0033 and 0.0048.
        assert!((mean - 50.4).abs() < 0.013, "{mean}");
        assert!((variance - 13.0 / 12.0).abs() < 0.02, "{variance}");
    }

    #[test]
    fn a_rate_is_packets_per_period_and_no_period_has_more_than_the_cap() {
        // 950 Mbit/s x 1476 us / 12000 bit.
        let params = study(Value::Rate(950e6));
        assert!((mean(&params) - 116.85).abs() < 1e-9);
        let params = study(Value::Number(119.5));
        let counts = counts(&params, RandomStream::new(1, "x"), Duration::from_secs(1.0));
        // 1 s / 1476 us = 677.5 periods have begun.
        assert_eq!(counts.len(), 678);
        assert_eq!(counts.iter().max(), Some(&120));
    }

    #[test]
    fn packets_of_a_period_leave_evenly_or_at_its_beginning() {
        for (spread, second) in [("even", 0.5), ("back_to_back", 0.0)] {
            let mut params = study(Value::Number(2.0));
            params.set("variance", Value::Number(0.0));
            params.set("spread", Value::Choice(spread));
            let mut source =
                (ENTRY.new.new)(&params, RandomStream::new(1, "x"), Duration::from_secs(1.0));
            let mut times = || source.next_packet().expect("a packet").at.secs() / 1476e-6;
            let times = [times(), times(), times(), times()];
            assert_eq!(times, [0.0, second, 1.0, 1.0 + second]);
        }
    }

    #[test]
    fn a_run_of_no_time_has_no_packets() {
        let mut source = (ENTRY.new.new)(
            &study(Value::Number(2.0)),
            RandomStream::new(1, "x"),
            Duration::ZERO,
        );
        assert_eq!(source.next_packet(), None);
        source.report(&mut |name, _| panic!("{name}"));
    }
}
