//! A sample of the delivery rate, and whether it shows that too much is lost (draft-ietf-ccwg-bbr §5.5.10.2).

use crate::cc::RateSample;
use crate::cc::bbr::model::delivery_rate;
use crate::units::SegCount;

/// An acknowledgement's rate sample, with what the algorithm makes of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    /// Segments per second; 0 if it took no time.
    pub(super) rate: f64,
    pub(super) delivered: f64,
    pub(super) prior_delivered: SegCount,
    pub(super) lost: f64,
    pub(super) tx_in_flight: f64,
    pub(super) app_limited: bool,
}

impl Sample {
    pub(super) fn of(rate: &RateSample, app_limited: bool) -> Self {
        Self {
            rate: if rate.interval.secs() > 0.0 {
                delivery_rate(rate)
            } else {
                0.0
            },
            delivered: rate.delivered.as_f64(),
            prior_delivered: rate.prior_delivered,
            lost: rate.lost.as_f64(),
            tx_in_flight: rate.pipe_at_send.as_f64(),
            app_limited,
        }
    }

    /// Whether more than a share of `thresh` was lost.
    pub(super) fn too_high(&self, thresh: f64) -> bool {
        self.lost > self.tx_in_flight * thresh
    }

    /// What was in flight when the first losses exceeded that share.
    pub(super) fn inflight_at_loss(&self, thresh: f64) -> f64 {
        let crossing = (thresh * self.tx_in_flight).floor() + 1.0;
        let lost_before = self.lost.min(crossing) - 1.0;
        let inflight_before = self.tx_in_flight - 1.0;
        inflight_before + (thresh * inflight_before - lost_before) / (1.0 - thresh)
    }
}
