//! The path's rate: the largest delivery rate of this cycle of ProbeBW and of the last ones (draft-ietf-ccwg-bbr §5.5).

use super::aggregation::WindowedMax;
use super::sample::Sample;

/// Rates are in segments per second.
#[derive(Clone, Debug, Default)]
pub(super) struct DataRate {
    pub(super) max_bw: WindowedMax,
    cycle_count: u64,
    /// As far as losses let.
    pub(super) bw: f64,
}

impl DataRate {
    /// Takes in a sample, where the last so many cycles count.
    pub(super) fn update(&mut self, sample: &Sample, cycles: u64) {
        if sample.rate > 0.0 && (sample.rate >= self.max_bw.get() || !sample.app_limited) {
            self.max_bw.add(sample.rate, self.cycle_count, cycles);
        }
    }

    pub(super) fn begin_cycle(&mut self) {
        self.cycle_count += 1;
    }

    pub(super) fn bound(&mut self, bw_shortterm: f64) {
        self.bw = self.max_bw.get().min(bw_shortterm);
    }
}
