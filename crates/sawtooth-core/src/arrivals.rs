//! Flows that arrive and leave: when they arrive, and how much each has to transfer.
//!
//! **Model.** A Poisson process: the times between arrivals are independent and exponentially distributed, and so are sizes with their own
//! distribution. Its rate is given, or follows from the load that is offered to a link,
//!
//! rate = load x link rate / (8 x mean size x (smss + header) / smss),
//!
//! so a load counts the headers of full segments, as the link does; it counts neither what is sent again nor SYN, FIN and the last segment's
//! share of a header.
//!
//! Times and sizes come from streams of their own, named after the entry: neither depends on what else there is, and the sizes do not
//! depend on the rate.

pub mod summary;

use crate::dist::{self, Distribution};
use crate::registry::{DistributionSpec, Kind, Param, Unit, Value, param};
use crate::rng::{RandomStream, StreamName};
use crate::units::{ByteCount, Duration, Instant, Rate};

/// All keys of `arrivals` that have a value of a [`Kind`]; besides them there are `load` and `link`.
pub const PARAMS: &[Param] = &[
    param!(rate: Kind::Number { min: 1e-9, max: 1e9 } => Value::None,
        "arrivals per second, on average; or else `load`"),
    param!(load: Kind::Number { min: 1e-9, max: 1e9 } => Value::None,
        "the rate as offered load: a share of the forward rate of `link`, headers of full segments included"),
    param!(size: Kind::Distribution(Unit::Bytes) => Value::Bytes(30_000),
        "bytes that each has to transfer, or their distribution"),
    param!(number: Kind::Integer { min: 1, max: 1_000_000_000 } => Value::None,
        "how many arrive altogether; `none`: as many as do until the end"),
    param!(stop: Kind::Duration { min_exclusive: true } => Value::None,
        "the time from which on none arrive; `none`: the end of the run"),
    param!(bins_per_decade: Kind::Integer { min: 1, max: 20 } => Value::Integer(1),
        "sizes in the table `completions`: so many bins for each power of ten"),
];

/// What arrives, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Arrivals {
    /// Per second.
    pub rate: f64,
    /// The application's bytes of one flow; those drawn are rounded to whole bytes.
    pub size: DistributionSpec,
    /// How many arrive altogether; `None`: as many as do before `stop`.
    pub number: Option<u64>,
    /// When the time to the first arrival begins.
    pub start: Instant,
    /// From here on no flow arrives.
    pub stop: Instant,
    /// Into how many bins of sizes the table `completions` divides each power of ten.
    pub bins_per_decade: u32,
}

impl Arrivals {
    /// How many are expected until a time.
    #[expect(clippy::cast_precision_loss, reason = "an expectation")]
    pub fn expected(&self, until: Instant) -> f64 {
        let number = self.rate * (until.min(self.stop) - self.start).secs().max(0.0);
        number.min(self.number.map_or(f64::INFINITY, |number| number as f64))
    }

    /// Mean size, bytes.
    pub fn mean_bytes(&self) -> f64 {
        self.distribution().mean()
    }

    /// What is offered, each byte of data with its share of a full segment's header.
    pub(crate) fn offered(&self, segment: FullSegment) -> Rate {
        Rate::from_bps(self.rate * segment.bits_of(self.mean_bytes()))
    }

    fn distribution(&self) -> Box<dyn Distribution> {
        dist::build(&self.size).expect("the scenario has checked")
    }
}

/// A segment as large as it can be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FullSegment {
    /// The sender maximum segment size (SMSS): payload alone.
    pub smss: ByteCount,
    /// What the wire carries besides.
    pub header: ByteCount,
}

impl FullSegment {
    /// Payload and header.
    pub(crate) fn size(self) -> ByteCount {
        self.smss + self.header
    }

    /// Bits on the wire of a size in full segments, which is a mean and need not be whole.
    pub(crate) fn bits_of(self, mean_bytes: f64) -> f64 {
        8.0 * mean_bytes * self.size().as_f64() / self.smss.as_f64()
    }
}

/// A flow that arrives.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// When it opens its connection.
    pub at: Instant,
    /// What its application transfers.
    pub bytes: ByteCount,
    /// Counted from 1.
    pub number: u64,
}

/// The arrivals of a run, one after the other.
#[derive(Debug)]
pub struct Process {
    times: RandomStream,
    sizes: RandomStream,
    between: Box<dyn Distribution>,
    size: Box<dyn Distribution>,
    number: u64,
    stop: Instant,
    time: Instant,
    arrived: u64,
}

impl Process {
    /// Those of the entry called `name`.
    pub fn new(spec: &Arrivals, seed: u64, name: &str) -> Self {
        Self {
            times: StreamName::of(&[name, ".arrivals"]).stream(seed),
            sizes: StreamName::of(&[name, ".arrivals.size"]).stream(seed),
            between: dist::exponential(1.0 / spec.rate),
            size: spec.distribution(),
            number: spec.number.unwrap_or(u64::MAX),
            stop: spec.stop,
            time: spec.start,
            arrived: 0,
        }
    }
}

impl Iterator for Process {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        if self.arrived == self.number {
            return None;
        }
        self.time += Duration::from_secs(self.between.sample(&mut self.times));
        self.arrived += 1;
        (self.time < self.stop).then(|| Arrival {
            at: self.time,
            bytes: dist::bytes(self.size.sample(&mut self.sizes)),
            number: self.arrived,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Params;
    use crate::units::testing::{at, bytes};

    fn arrivals(rate: f64, number: Option<u64>) -> Arrivals {
        let mut params = Params::defaults(dist::TABLE[2].params);
        params.set("mean", Value::Number(20_000.0));
        Arrivals {
            rate,
            size: DistributionSpec {
                name: dist::TABLE[2].name,
                params,
                points: Vec::new(),
            },
            number,
            start: at(1.0),
            stop: at(101.0),
            bins_per_decade: 1,
        }
    }

    #[test]
    fn counts_in_intervals_have_the_mean_and_variance_of_a_poisson_process() {
        let mut counts = [0.0; 100];
        for arrival in Process::new(&arrivals(50.0, None), 1, "f") {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a second of 100"
            )]
            let second = (arrival.at.secs() - 1.0) as usize;
            counts[second] += 1.0;
        }
        let mean = counts.iter().sum::<f64>() / 100.0;
        let variance = counts.iter().map(|n| (n - mean) * (n - mean)).sum::<f64>() / 99.0;
        // The mean of 100 counts of 50 has a standard error of 0.71; their variance is 50 with one of 50 x sqrt(2/99) = 7.1.
        assert!((mean - 50.0).abs() < 2.9, "{mean}");
        assert!((variance - 50.0).abs() < 28.0, "{variance}");
    }

    #[test]
    fn sizes_do_not_depend_on_the_rate_and_the_number_ends_them() {
        let sizes = |rate| -> Vec<ByteCount> {
            let process = Process::new(&arrivals(rate, Some(30)), 1, "f");
            process.map(|arrival| arrival.bytes).collect()
        };
        assert_eq!(sizes(1000.0), sizes(2000.0));
        assert_eq!(sizes(1000.0).len(), 30);
        let other: Vec<ByteCount> = Process::new(&arrivals(1000.0, Some(30)), 1, "g")
            .map(|arrival| arrival.bytes)
            .collect();
        assert_ne!(sizes(1000.0), other);
    }

    #[test]
    fn an_offered_load_counts_headers() {
        let spec = arrivals(100.0, None);
        // 100 x 20 kB x 8 = 16 Mbit/s, and 1000 bytes need 1040.
        let segment = FullSegment {
            smss: bytes(1000),
            header: bytes(40),
        };
        assert!((spec.offered(segment).bps() - 16.64e6).abs() < 1.0);
        assert!((spec.expected(at(11.0)) - 1000.0).abs() < 1e-9);
    }
}
