//! Superposed on/off sources whose periods have heavy tails: where the self-similarity of traffic comes from.
//!
//! Specification: Willinger, Taqqu, Sherman and Wilson 1997; Taqqu, Willinger and Sherman 1997.
//!
//! Model: each of `sources` is on for a time, in which it sends packets at its own constant rate, and then off for a time. Both are Pareto
//! distributed with index `alpha` and their means: `P(T > t) = (t0 / t)^alpha` from `t0 = mean (alpha - 1) / alpha` on. Together, many of them are
//! over long times like fractional Gaussian noise with Hurst parameter `H = (3 - alpha) / 2`. All begin in equilibrium, in the middle of a
//! period whose rest is distributed as that of a period met at a random time: with heavy tails a beginning at the beginning of periods would be felt for the whole run.
//!
//! `rate` is the mean of all together. One that is on sends `(mean_on + mean_off) / mean_on` times its share of that.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::{
    Complaint, Departure, Maker, PacketSource, RATE, SIZE, check_size, packets_per_sec, size,
};
use crate::registry::{Entry, Kind, Params, Value, param};
use crate::rng::RandomStream;
use crate::units::{ByteCount, Duration};

pub(super) const ENTRY: Entry<Maker> = Entry {
    name: "pareto_on_off",
    summary: "many sources that are on and off for times with heavy tails: self-similar together, H = (3 - alpha) / 2",
    specification: &["Willinger, Taqqu, Sherman and Wilson 1997"],
    params: &[
        RATE,
        SIZE,
        param!(sources: Kind::Integer { min: 1, max: 100_000 } => Value::Integer(50),
            "how many there are"),
        param!(alpha: Kind::Number { min: f64::NEG_INFINITY, max: f64::INFINITY } => Value::Number(1.4),
            "index of the Pareto distribution of both times, between 1 and 2: the variance is infinite, and the mean is not"),
        param!(mean_on: Kind::Duration { min_exclusive: true } => Value::Duration(0.1),
            "mean time for which a source is on"),
        param!(mean_off: Kind::Duration { min_exclusive: true } => Value::Duration(0.1),
            "mean time for which a source is off"),
    ],
    new: Maker {
        new: |params, stream, _| Box::new(ParetoOnOff::new(params, stream)),
        packets_per_sec,
        largest: size,
        draws,
        check,
    },
};

/// No run lasts so long, and a short period adds nothing to such a time: with `alpha` close to 1 rests of periods are that long.
const NEVER_SECS: f64 = 1e12;

#[derive(Debug)]
struct ParetoOnOff {
    size: ByteCount,
    /// Between packets of one source that is on.
    gap_secs: f64,
    on: ParetoPeriods,
    off: ParetoPeriods,
    stream: RandomStream,
    sources: Vec<OnOffSource>,
    /// When each source sends next, as bits (times are not negative), and which it is.
    next: BinaryHeap<Reverse<(u64, usize)>>,
}

/// One of the sources.
#[derive(Clone, Copy, Debug)]
struct OnOffSource {
    /// When its next packet leaves, and when the period in which that is ends.
    next_secs: f64,
    off_secs: f64,
}

impl ParetoOnOff {
    #[expect(clippy::cast_precision_loss, reason = "few sources")]
    fn new(params: &Params, mut stream: RandomStream) -> Self {
        let (mean_on, mean_off) = (params.duration("mean_on"), params.duration("mean_off"));
        let count = params.integer("sources");
        let share_on = share_on(params);
        let gap_secs = gap_secs(params, count as f64);
        let alpha = params.number("alpha");
        let (on, off) = (
            ParetoPeriods::new(alpha, mean_on),
            ParetoPeriods::new(alpha, mean_off),
        );
        let mut sources = Vec::new();
        if gap_secs.is_finite() {
            for _ in 0..count {
                let is_on = stream.uniform() < share_on;
                let off_secs = if is_on { on.rest(&mut stream) } else { 0.0 };
                let next_secs = gap_secs * stream.uniform();
                let mut source = OnOffSource {
                    next_secs,
                    off_secs,
                };
                if !is_on {
                    // The time until its next packet counts from the end of the silence.
                    let silence = off.rest(&mut stream);
                    source.off_secs = silence + on.draw(&mut stream);
                    source.next_secs += silence;
                }
                source.settle(on, off, &mut stream);
                sources.push(source);
            }
        }
        let next = sources.iter().enumerate();
        Self {
            size: size(params),
            gap_secs,
            on,
            off,
            stream,
            next: next
                .map(|(at, source)| Reverse((source.next_secs.to_bits(), at)))
                .collect(),
            sources,
        }
    }
}

impl OnOffSource {
    /// A packet that would leave when the source is off already leaves as much later as the source is off: of the time in which it is on, every
    /// `gap_secs` has one packet, however short the single periods are, so that the rate is kept.
    fn settle(&mut self, on: ParetoPeriods, off: ParetoPeriods, stream: &mut RandomStream) {
        while self.next_secs >= self.off_secs && self.next_secs < NEVER_SECS {
            let silence = off.draw(stream);
            self.next_secs += silence;
            self.off_secs += silence + on.draw(stream);
        }
    }
}

impl PacketSource for ParetoOnOff {
    fn next_packet(&mut self) -> Option<Departure> {
        let mut first = self.next.peek_mut()?;
        let Reverse((time, at)) = *first;
        let source = &mut self.sources[at];
        source.next_secs += self.gap_secs;
        source.settle(self.on, self.off, &mut self.stream);
        *first = Reverse((source.next_secs.to_bits(), at));
        Some(Departure {
            at: Duration::from_secs(f64::from_bits(time)),
            size: self.size,
        })
    }
}

/// A Pareto distribution.
#[derive(Clone, Copy, Debug)]
struct ParetoPeriods {
    alpha: f64,
    mean: f64,
    least: f64,
}

impl ParetoPeriods {
    fn new(alpha: f64, mean: f64) -> Self {
        Self {
            alpha,
            mean,
            least: mean * (alpha - 1.0) / alpha,
        }
    }

    fn draw(self, stream: &mut RandomStream) -> f64 {
        self.least * libm::pow(1.0 - stream.uniform(), -1.0 / self.alpha)
    }

    /// What is left of a period that is met at a random time: its density is `P(T > t) / mean`, so that
    /// `P(rest > t) = 1 - t / mean` up to the least period, and `(t0 / t)^(alpha - 1) / alpha` from there on.
    fn rest(self, stream: &mut RandomStream) -> f64 {
        let beyond = 1.0 - stream.uniform();
        if beyond * self.alpha > 1.0 {
            (1.0 - beyond) * self.mean
        } else {
            self.least * libm::pow(self.alpha * beyond, -1.0 / (self.alpha - 1.0))
        }
    }
}

/// Seconds between packets of one source that is on, of which there are `count`.
fn gap_secs(params: &Params, count: f64) -> f64 {
    share_on(params) * count / packets_per_sec(params)
}

/// Of the time, a source is on for so much.
fn share_on(params: &Params) -> f64 {
    let (mean_on, mean_off) = (params.duration("mean_on"), params.duration("mean_off"));
    mean_on / (mean_on + mean_off)
}

/// Periods: every source goes through its own until its packet behind the end, in the mean half a gap later.
#[expect(clippy::cast_precision_loss, reason = "few sources")]
fn draws(params: &Params, lifetime: Duration) -> Option<(&'static str, f64)> {
    let count = params.integer("sources") as f64;
    let gap = gap_secs(params, count);
    let on_secs = gap / 2.0 + lifetime.secs() * share_on(params);
    let periods = count * on_secs / params.duration("mean_on");
    gap.is_finite().then_some(("sources", periods))
}

fn check(params: &Params, _: Duration) -> Result<(), Complaint> {
    check_size(params)?;
    let alpha = params.number("alpha");
    if alpha > 1.0 && alpha < 2.0 {
        return Ok(());
    }
    Err(Complaint {
        key: "alpha",
        message: format!("`alpha` is above 1 and below 2, found {alpha}"),
        hint: "alpha = 3 - 2 H: 1.4 for a Hurst parameter of 0.8",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn so_many_periods_are_drawn() {
        let mut params = Params::defaults(ENTRY.params);
        // One source that is on half of the time sends a packet in 12 ms of time, so in 6 ms of it while on; 100 s have 50 s of those, in periods of 0.1 s.
        params.set("sources", Value::Integer(1));
        let (key, periods) = draws(&params, Duration::from_secs(100.0)).expect("it sends");
        assert_eq!(key, "sources");
        assert!((periods - (50.0 + 0.003) / 0.1).abs() < 1e-9, "{periods}");
        params.set("rate", Value::Rate(0.0));
        assert_eq!(draws(&params, Duration::from_secs(100.0)), None);
    }

    #[test]
    fn periods_without_end_come_to_an_end() {
        let mut params = Params::defaults(ENTRY.params);
        params.set("alpha", Value::Number(1.01));
        let source = ParetoOnOff::new(&params, RandomStream::new(1, "x"));
        assert!(source.sources.iter().any(|one| one.next_secs >= NEVER_SECS));
    }

    #[test]
    #[expect(clippy::cast_precision_loss, reason = "counts")]
    fn periods_and_their_rests_have_their_distributions() {
        let pareto = ParetoPeriods::new(1.5, 3.0);
        let mut stream = RandomStream::new(1, "x");
        let share = |values: &[f64], above: f64| {
            values.iter().filter(|value| **value > above).count() as f64 / values.len() as f64
        };
        let periods: Vec<f64> = (0..100_000).map(|_| pareto.draw(&mut stream)).collect();
        let rests: Vec<f64> = (0..100_000).map(|_| pareto.rest(&mut stream)).collect();
        // t0 = 1; P(T > 4) = 4^-1.5 = 1/8, P(T > 100) = 1/1000. Rests: P(> 0.6) = 0.8, P(> 1) = 2/3, P(> 16) = 16^-0.5 / 1.5 = 1/6.
        // Deviations of shares of 100 000 are at most 0.0016.
        assert_eq!(share(&periods, 0.999), 1.0);
        for (found, wanted) in [
            (share(&periods, 4.0), 0.125),
            (share(&periods, 100.0), 0.001),
            (share(&rests, 0.6), 0.8),
            (share(&rests, 1.0), 2.0 / 3.0),
            (share(&rests, 16.0), 1.0 / 6.0),
        ] {
            assert!((found - wanted).abs() < 0.006, "{found}, not {wanted}");
        }
    }

    #[test]
    fn the_rate_is_that_of_all_sources_together_also_if_periods_are_shorter_than_gaps() {
        // 1000 sources of 1 Mbit/s together send 83 packets per second: one every 6 s while on, and they are on for 0.1 s.
        let mut params = Params::defaults(ENTRY.params);
        params.set("sources", Value::Integer(1000));
        params.set("alpha", Value::Number(1.9));
        let mut source =
            (ENTRY.new.new)(&params, RandomStream::new(2, "x"), Duration::from_secs(1.0));
        let mut count = 0;
        while source.next_packet().expect("endless").at.secs() < 1000.0 {
            count += 1;
        }
        let share = f64::from(count) / (1e9 / 12_000.0);
        // The sources are all but independent of each other's, and their packets: deviation 1/sqrt(83333) = 0.0035 and a little for the tails.
        assert!((share - 1.0).abs() < 0.02, "{share}");
    }
}
