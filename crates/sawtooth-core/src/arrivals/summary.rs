//! What has been measured of an entry's flows, all together and by size; nothing is kept of a single one. The simulator, and the agent
//! beside a real kernel, report to it each flow that arrives and leaves.

use super::Arrival;
use crate::histogram::Histogram;
use crate::units::{ByteCount, Duration, Instant, SegCount};

/// Where the sum of sizes stays: a distribution without a mean draws sizes of which no count can hold many.
const MOST: ByteCount = ByteCount::new(4_000_000_000_000_000_000);

/// Of an entry's flows.
#[derive(Debug)]
pub struct Summary {
    per_decade: u32,
    pub(crate) started: u64,
    alive: u64,
    pub(crate) alive_peak: u64,
    pub(crate) offered: ByteCount,
    pub(crate) delivered: ByteCount,
    pub(crate) sent_packets: SegCount,
    pub(crate) retransmits: SegCount,
    /// Unknown once they are of one flow.
    pub(crate) timeouts: Option<u64>,
    pub(crate) congestion_signals: Option<u64>,
    /// Of those that have ended or been there at the end.
    pub(crate) lifetimes_ns: u128,
    pub(crate) completions_ns: Histogram,
    /// Those in which there are any, from the smallest sizes on.
    bins: Vec<SizeBin>,
}

/// Flows whose sizes are from so many bytes on, below so many.
#[derive(Debug)]
struct SizeBin {
    from: u64,
    below: u64,
    started: u64,
    completions_ns: Histogram,
}

/// Of those whose sizes lie in one bin.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OfSize<'a> {
    /// Bytes.
    pub(crate) from: u64,
    pub(crate) below: u64,
    pub(crate) started: u64,
    pub(crate) completions_ns: &'a Histogram,
}

/// A flow that has left, or was there when the run was over.
#[derive(Clone, Copy, Debug)]
pub struct Departed {
    /// When it came, and how much it had to transfer.
    pub arrival: Arrival,
    /// When it was there no longer.
    pub at: Instant,
    /// Application bytes that the receiver got in order; fewer than it had to transfer if it was cut off.
    pub delivered: ByteCount,
    /// Arrival to last byte delivered, if all have been delivered and acknowledged.
    pub completion: Option<Duration>,
    /// SYN, FIN and everything sent again included; of a kernel's connection its data segments.
    pub sent_packets: SegCount,
    /// Of those sent, the ones that had been sent before.
    pub retransmits: SegCount,
    /// Expirations of the retransmission timer; `None` of a kernel's connection, for which nobody counts them.
    pub timeouts: Option<u64>,
    /// Reductions of the window, of whatever cause; `None` as for timeouts.
    pub congestion_signals: Option<u64>,
}

impl Summary {
    /// Of none so far. Every power of ten of sizes has `per_decade` bins.
    pub fn new(per_decade: u32) -> Self {
        Self {
            per_decade,
            started: 0,
            alive: 0,
            alive_peak: 0,
            offered: ByteCount::ZERO,
            delivered: ByteCount::ZERO,
            sent_packets: SegCount::ZERO,
            retransmits: SegCount::ZERO,
            timeouts: Some(0),
            congestion_signals: Some(0),
            lifetimes_ns: 0,
            completions_ns: Histogram::default(),
            bins: Vec::new(),
        }
    }

    /// A flow of so many bytes arrives.
    pub fn start(&mut self, bytes: ByteCount) {
        self.started += 1;
        self.alive += 1;
        self.alive_peak = self.alive_peak.max(self.alive);
        self.offered = self.offered.saturating_add(bytes).min(MOST);
        self.bin(bytes).started += 1;
    }

    /// One of those that have arrived leaves.
    pub fn end(&mut self, flow: &Departed) {
        self.alive -= 1;
        self.delivered += flow.delivered;
        self.sent_packets += flow.sent_packets;
        self.retransmits += flow.retransmits;
        self.timeouts = sum(self.timeouts, flow.timeouts);
        self.congestion_signals = sum(self.congestion_signals, flow.congestion_signals);
        let lifetime = (flow.at - flow.arrival.at).as_ns();
        self.lifetimes_ns += u128::from(lifetime.unsigned_abs());
        if let Some(completion) = flow.completion {
            let completion_ns = completion.as_ns().unsigned_abs();
            self.completions_ns.add(completion_ns);
            let bin = self.bin(flow.arrival.bytes);
            bin.completions_ns.add(completion_ns);
        }
    }

    /// How many have arrived and not left.
    pub fn alive(&self) -> u64 {
        self.alive
    }

    /// By size, from the smallest on.
    pub(crate) fn by_size(&self) -> impl Iterator<Item = OfSize<'_>> {
        let bins = self.bins.iter();
        bins.map(|bin| OfSize {
            from: bin.from,
            below: bin.below,
            started: bin.started,
            completions_ns: &bin.completions_ns,
        })
    }

    /// The bin of a size.
    fn bin(&mut self, bytes: ByteCount) -> &mut SizeBin {
        let bytes = bytes.get();
        // Edges are powers, which are not computed for each flow.
        let at = self.bins.partition_point(|bin| bin.below <= bytes);
        if self.bins.get(at).is_none_or(|bin| bytes < bin.from) {
            let number = bin_of(bytes, self.per_decade);
            let bin = SizeBin {
                from: edge(number, self.per_decade),
                below: edge(number + 1, self.per_decade),
                started: 0,
                completions_ns: Histogram::default(),
            };
            self.bins.insert(at, bin);
        }
        &mut self.bins[at]
    }
}

/// Known if both are.
fn sum(one: Option<u64>, other: Option<u64>) -> Option<u64> {
    Some(one? + other?)
}

/// Sizes of bin `b` are at least `edge(b)` and below `edge(b + 1)`.
fn bin_of(bytes: u64, per_decade: u32) -> i32 {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_precision_loss,
        reason = "a small number"
    )]
    let near = (libm::log10(bytes as f64) * f64::from(per_decade)) as i32;
    // The logarithm's rounding may be off by one at an edge.
    (near - 1..=near + 1)
        .rev()
        .find(|bin| edge(*bin, per_decade) <= bytes)
        .unwrap_or(0)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "sizes are below 2^63"
)]
fn edge(bin: i32, per_decade: u32) -> u64 {
    libm::ceil(libm::pow(10.0, f64::from(bin) / f64::from(per_decade)) - 1e-6) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_size_lies_within_its_bin(bytes in 1u64..1_000_000_000_000_000, per_decade in 1u32..=20) {
            let bin = bin_of(bytes, per_decade);
            prop_assert!(edge(bin, per_decade) <= bytes && bytes < edge(bin + 1, per_decade));
        }
    }

    #[test]
    fn the_sum_of_sizes_without_a_mean_stays_a_count() {
        let mut summary = Summary::new(1);
        for _ in 0..3000 {
            summary.start(ByteCount::new(9_000_000_000_000_000));
        }
        assert_eq!(summary.offered, MOST);
    }

    #[test]
    fn powers_of_ten_begin_a_bin() {
        assert_eq!(
            [1, 9, 10, 99, 1000].map(|bytes| bin_of(bytes, 1)),
            [0, 0, 1, 1, 3]
        );
        assert_eq!([0, 1, 2, 3, 4].map(|bin| edge(bin, 2)), [1, 4, 10, 32, 100]);
    }
}
