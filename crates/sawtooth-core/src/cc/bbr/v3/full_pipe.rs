//! Whether the pipe is full: the rate has not grown for some rounds (draft-ietf-ccwg-bbr §5.3.1.2).

use super::params::Parameters;
use super::sample::Sample;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    /// The rate that growth is seen from, and rounds without any.
    pub(super) bw: f64,
    pub(super) count: u64,
    /// Since the last reset, and ever.
    pub(super) now: bool,
    pub(super) reached: bool,
}

impl FullPipe {
    /// Growth is seen from this rate on.
    pub(super) fn reset(&mut self, bw: f64) {
        self.bw = bw;
        self.count = 0;
        self.now = false;
    }

    pub(super) fn check(&mut self, sample: &Sample, round_start: bool, parameters: &Parameters) {
        if self.now || !round_start || sample.app_limited {
            return;
        }
        if sample.rate >= self.bw * parameters.full_bw_growth {
            self.reset(sample.rate);
            return;
        }
        self.count += 1;
        self.now = self.count >= parameters.full_bw_rounds;
        self.reached |= self.now;
    }
}
