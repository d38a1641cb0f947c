//! The last round trip: what it delivered, and whether it lost anything (draft-ietf-ccwg-bbr §5.5.10.3).

use super::sample::Sample;
use crate::units::SegCount;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Latest {
    pub(super) bw: f64,
    pub(super) inflight: f64,
    /// Segments that had been delivered when it began, and whether it begins with this acknowledgement.
    loss_round_delivered: SegCount,
    pub(super) loss_round_start: bool,
    pub(super) has_loss: bool,
    /// Acknowledgements that showed losses.
    pub(super) loss_events: u64,
}

impl Latest {
    /// A loss was seen after so many segments had been delivered; returns whether it is the first of the round.
    pub(super) fn lose(&mut self, delivered: SegCount) -> bool {
        let first = !self.has_loss;
        if first {
            self.loss_round_delivered = delivered;
        }
        self.has_loss = true;
        self.loss_events += 1;
        first
    }

    /// Takes in a sample, when so many segments have been delivered.
    pub(super) fn update(&mut self, sample: &Sample, delivered: SegCount) {
        self.bw = self.bw.max(sample.rate);
        self.inflight = self.inflight.max(sample.delivered);
        self.loss_round_start = sample.prior_delivered >= self.loss_round_delivered;
        if self.loss_round_start {
            self.loss_round_delivered = delivered;
        }
    }

    /// If a round begins, this sample is its first.
    pub(super) fn advance(&mut self, sample: &Sample) {
        if self.loss_round_start {
            self.bw = sample.rate;
            self.inflight = sample.delivered;
            self.loss_events = 0;
        }
    }

    /// Forgets what was delivered and lost in it.
    pub(super) fn forget(&mut self) {
        self.has_loss = false;
        self.bw = 0.0;
        self.inflight = 0.0;
    }
}
