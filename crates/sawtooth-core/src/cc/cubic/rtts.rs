//! Which round-trip time the target is ahead (RFC 9438 §4.2).

/// Round-trip times, seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct CubicRtts {
    /// Whether the target is the smallest ahead, or the smoothed.
    pub(super) ahead_by_min: bool,
    pub(super) smoothed: Option<f64>,
    pub(super) min: f64,
}

impl CubicRtts {
    /// A sample, which counts for the smallest if the epoch is `settled`, or none has.
    pub(super) fn add(&mut self, rtt: f64, settled: bool) {
        // RFC 6298 §2.3.
        let smoothed = self.smoothed.map_or(rtt, |srtt| srtt + (rtt - srtt) / 8.0);
        self.smoothed = Some(smoothed);
        if settled || self.min.is_infinite() {
            self.min = self.min.min(rtt);
        }
    }

    /// How far ahead the target is.
    pub(super) fn ahead(&self) -> f64 {
        match self.smoothed {
            None => 0.0,
            Some(_) if self.ahead_by_min => self.min,
            Some(srtt) => srtt,
        }
    }
}
