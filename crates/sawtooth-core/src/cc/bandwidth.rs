//! Westwood's estimate of the bandwidth: samples of intervals of a round trip, through a filter of one stage or two.

use crate::units::SegCount;

/// The estimate of the bandwidth, from one sample per round trip.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bandwidth {
    pub alpha: f64,
    pub stages: i64,
    pub from_sending: bool,
    pub min_interval: f64,
    /// A kernel's tick: it rounds round trips up to ticks, and counts the ticks of intervals; 0: none.
    pub tick: f64,
    /// Bytes in a segment: a kernel with ticks counts whole bytes in a tick.
    pub smss: f64,
    /// When the interval under way began; none before the first acknowledgement.
    pub since: Option<f64>,
    /// Segments delivered since.
    pub delivered: SegCount,
    /// The first stage of the filter and the last, which is `BWE`, in segments per second; the latter is none before the first sample.
    pub filtered: f64,
    pub estimate: Option<f64>,
}

impl Bandwidth {
    pub(super) fn observe(&mut self, now: f64, delivered: SegCount, rtt: f64) {
        let Some(since) = self.since else {
            if self.from_sending {
                self.since = Some(now - rtt);
                self.delivered += delivered;
            } else {
                self.since = Some(now);
            }
            return;
        };
        if self.from_sending {
            // What ends an interval belongs to the next, as the connection's first acknowledgement does to the first.
            self.sample(now, since, rtt);
            self.delivered += delivered;
        } else {
            self.delivered += delivered;
            self.sample(now, since, rtt);
        }
    }

    /// Ends the interval that began at `since`, if it is long enough.
    fn sample(&mut self, now: f64, since: f64, rtt: f64) {
        // Whole microseconds: differences of large times round differently, and a round trip must not be missed by that.
        let interval = if self.tick > 0.0 {
            ticks(now, self.tick) - ticks(since, self.tick)
        } else {
            libm::round((now - since) * 1e6) / 1e6
        };
        let least = self.whole_ticks(rtt).max(self.min_interval);
        // Interval and bounds may all be zero where time stands still.
        if interval <= 0.0
            || interval < least
            || (self.tick > 0.0 && interval < least + 0.5 * self.tick)
        {
            return;
        }
        let sample = self.whole(self.delivered.as_f64() / interval);
        let of = *self;
        let filter = |old: f64, new: f64| of.whole(of.alpha * old + (1.0 - of.alpha) * new);
        self.estimate = Some(match self.estimate {
            None => {
                self.filtered = sample;
                sample
            }
            Some(estimate) if self.stages == 1 => filter(estimate, sample),
            Some(estimate) => {
                self.filtered = filter(self.filtered, sample);
                filter(estimate, self.filtered)
            }
        });
        self.since = Some(now);
        self.delivered = SegCount::ZERO;
    }

    /// Segments per second, in whole bytes per tick.
    fn whole(&self, rate: f64) -> f64 {
        if self.tick > 0.0 {
            let unit = 1.0 / (self.smss * self.tick);
            (rate / unit + 1e-6).floor() * unit
        } else {
            rate
        }
    }

    /// Segments, in whole bytes where there are ticks.
    pub(super) fn whole_bytes(&self, segments: f64) -> f64 {
        if self.tick > 0.0 {
            (segments * self.smss + 1e-3).floor() / self.smss
        } else {
            segments
        }
    }

    /// A round-trip time, rounded up to ticks.
    pub(super) fn whole_ticks(&self, rtt: f64) -> f64 {
        if self.tick > 0.0 {
            (rtt / self.tick - 1e-6).ceil() * self.tick
        } else {
            rtt
        }
    }
}

/// The last tick, seconds.
fn ticks(secs: f64, tick: f64) -> f64 {
    (secs / tick + 1e-6).floor() * tick
}
