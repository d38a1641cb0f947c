//! RTprop: the path's delay without a queue.

use super::whole::WholeUnits;
use crate::cc::AckedData;
use crate::units::{Duration, Instant};

/// Seconds; infinite before the first sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct RtProp {
    pub(super) secs: f64,
    pub(super) at: f64,
    /// It is measured anew when it has not been seen for so long.
    window: Duration,
}

impl RtProp {
    pub(super) const fn unknown(window: Duration) -> Self {
        Self {
            secs: f64::INFINITY,
            at: 0.0,
            window,
        }
    }

    pub(super) fn known(&self) -> Option<f64> {
        self.secs.is_finite().then_some(self.secs)
    }

    /// Takes in an acknowledgement; returns whether the known delay had expired, which it cannot before the first sample.
    pub(super) fn update(&mut self, ack: &AckedData, units: WholeUnits) -> bool {
        let now = ack.now.secs();
        let expired = self.expired(ack.now, units);
        let sample = ack.rtt.map(Duration::secs).filter(|&rtt| rtt > 0.0);
        if let Some(rtt) = sample
            && (rtt <= self.secs || expired)
        {
            self.secs = rtt;
            self.at = now;
        }
        expired
    }

    pub(super) fn expired(&self, now: Instant, units: WholeUnits) -> bool {
        self.secs.is_finite() && units.has_passed(Instant::from_secs(self.at), self.window, now)
    }
}
