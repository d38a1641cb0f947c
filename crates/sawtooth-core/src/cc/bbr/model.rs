//! What both versions measure: rounds, and which samples are ignored.

use crate::cc::{AckedData, RateSample};
use crate::units::SegCount;

/// A count, to compute with.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) const fn real(count: u64) -> f64 {
    count as f64
}

/// Segments per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd)]
pub(super) struct SegmentRate(pub(super) f64);

/// The delivery rate that a sample shows, segments per second.
pub(super) fn delivery_rate(sample: &RateSample) -> f64 {
    sample.delivered.as_f64() / sample.interval.secs()
}

/// Round trips counted in segments: one ends when something arrives that was sent after the last one ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    pub count: u64,
    /// Segments delivered when this round began, and now.
    begun_at: SegCount,
    delivered: SegCount,
    /// Whether the last acknowledgement started a round.
    pub started: bool,
}

impl Rounds {
    pub(super) fn on_ack(&mut self, ack: &AckedData) {
        self.started = false;
        let Some(rate) = ack.rate else {
            self.delivered += ack.delivered;
            return;
        };
        self.delivered = rate.total_delivered;
        if rate.prior_delivered >= self.begun_at {
            self.restart();
            self.count += 1;
            self.started = true;
        }
    }

    /// The round that runs now begins now.
    pub(super) fn restart(&mut self) {
        self.begun_at = self.delivered;
    }

    /// Segments delivered over the connection's life.
    pub(super) fn delivered(&self) -> SegCount {
        self.delivered
    }
}

/// Which samples of the rate say nothing, because the algorithm itself kept the window small while they were sent: what the draft
/// marks as limited by the application.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ignored(Option<(SegCount, SegCount)>);

impl Ignored {
    /// From what is sent now until all that is in the path now has arrived, nothing counts.
    pub(super) fn mark(&mut self, delivered: SegCount, pipe: SegCount) {
        let until = delivered + pipe;
        self.0 = Some(match self.0 {
            Some((from, before)) if before >= delivered => (from, until),
            _ => (delivered, until),
        });
    }

    pub(super) fn app_limited(&self, rate: &RateSample) -> bool {
        rate.app_limited
            || self
                .0
                .is_some_and(|(from, until)| (from..=until).contains(&rate.prior_delivered))
    }
}

/// The round-trip time until there is one, seconds.
pub(super) const NOMINAL_RTT: f64 = 1e-3;
