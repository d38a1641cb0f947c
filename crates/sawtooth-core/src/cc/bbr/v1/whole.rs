//! What a kernel counts in: whole microseconds, ticks, and rates that are multiples of a step.
//!
//! Where rates have no steps all numbers are exact, and these are the formulas of the draft.

use crate::cc::RateSample;
use crate::cc::bbr::model::{SegmentRate, delivery_rate};
use crate::cc::pace::HostTicks;
use crate::units::{Duration, Instant, WindowSize, ceil, floor};

/// A tenth of a nanosecond, in microseconds: what a time may fall short of a whole microsecond by the sums that made it.
const HAIR: f64 = 1e-4;

#[derive(Clone, Copy, Debug)]
pub(super) struct WholeUnits {
    /// Of rates, segments per second; 0: numbers are exact.
    step: f64,
    /// How many of them a rate of one segment per second has, and one of a segment in a microsecond.
    per_second: f64,
    per_microsecond: f64,
    /// One of the latter.
    share: f64,
    ticks: HostTicks,
}

impl WholeUnits {
    #[cfg(test)]
    pub(super) const EXACT: Self = Self {
        step: 0.0,
        per_second: 0.0,
        per_microsecond: 0.0,
        share: 0.0,
        ticks: HostTicks { tick: 0.0 },
    };

    /// `tick` is the host's, and counts where rates have steps.
    pub(super) fn of(SegmentRate(step): SegmentRate, tick: Duration) -> Self {
        let tick = if step > 0.0 { tick } else { Duration::ZERO };
        Self {
            step,
            per_second: 1.0 / step,
            per_microsecond: 1e6 / step,
            share: step / 1e6,
            ticks: HostTicks::of(tick),
        }
    }

    /// Whether it counts as a kernel does.
    pub(super) fn are_whole(self) -> bool {
        self.step > 0.0
    }

    fn exact(self) -> bool {
        !self.are_whole()
    }

    /// The delivery rate that a sample shows.
    pub(super) fn rate(self, sample: &RateSample) -> SegmentRate {
        if self.exact() {
            return SegmentRate(delivery_rate(sample));
        }
        self.steps(WindowSize::from(sample.delivered), sample.interval)
    }

    /// So many segments in a time.
    pub(super) fn rate_of(self, segments: WindowSize, time: Duration) -> SegmentRate {
        if self.exact() {
            return SegmentRate(segments.segments() / time.secs());
        }
        self.steps(segments, time)
    }

    fn steps(self, segments: WindowSize, time: Duration) -> SegmentRate {
        let steps = floor(segments.segments() * self.per_microsecond / whole(time).max(1.0));
        SegmentRate(steps.max(1.0) * self.step)
    }

    /// What the clock shows.
    pub(super) fn told(self, now: Instant) -> Duration {
        let since = now - Instant::START;
        if self.exact() {
            return since;
        }
        Duration::from_secs(floor(since.secs() * 1e6 + HAIR) * 1e-6)
    }

    /// Whole segments that a path delivers between two times that [`Self::told`] has told.
    pub(super) fn delivered(self, rate: SegmentRate, time: Duration) -> f64 {
        if self.exact() {
            return floor(rate.0 * time.secs());
        }
        floor(self.product(rate, time) * self.share)
    }

    /// The same in a time that is itself not told in whole microseconds.
    pub(super) fn delivered_within(self, rate: SegmentRate, time: Duration) -> f64 {
        let told = if self.exact() {
            time
        } else {
            Duration::from_secs(floor(time.secs() * 1e6 + HAIR) * 1e-6)
        };
        self.delivered(rate, told)
    }

    /// What `gain` times the path's capacity is, segments; whole ones, rounded up, where rates have steps.
    pub(super) fn capacity(self, rate: SegmentRate, rtt: Duration, gain: f64) -> f64 {
        if self.exact() {
            return gain * rate.0 * rtt.secs();
        }
        ceil(floor(self.product(rate, rtt) * gain) * self.share)
    }

    /// Steps times microseconds.
    fn product(self, SegmentRate(rate): SegmentRate, time: Duration) -> f64 {
        floor(rate * self.per_second + 0.5) * whole(time)
    }

    /// Whether more than `time` has passed, as the host's ticks tell it.
    pub(super) fn has_passed(self, since: Instant, time: Duration, now: Instant) -> bool {
        // As many ticks are never over sooner than the time.
        now > since + time && (self.ticks.tick == 0.0 || self.ticks_passed(since, time, now))
    }

    #[cold]
    fn ticks_passed(self, since: Instant, time: Duration, now: Instant) -> bool {
        let count = |of: Duration| self.ticks.count(of);
        count(now - Instant::START) > count(since - Instant::START) + count(time)
    }
}

/// Microseconds of a time that is told in whole ones.
fn whole(time: Duration) -> f64 {
    floor(time.secs() * 1e6 + 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::{at, secs};

    const STEP: SegmentRate = SegmentRate(1e6 / 16_777_216.0);

    #[test]
    fn without_steps_numbers_are_exact() {
        let exact = WholeUnits::of(SegmentRate(0.0), secs(0.01));
        assert_eq!(
            exact.rate_of(WindowSize::from_segments(10.0), secs(0.04)),
            SegmentRate(250.0)
        );
        assert_eq!(exact.capacity(SegmentRate(250.0), secs(0.05), 1.25), 15.625);
        assert_eq!(exact.delivered(SegmentRate(250.0), secs(0.015)), 3.0);
        assert_eq!(exact.told(at(1.25)), secs(1.25));
        assert!(exact.has_passed(at(1.0), secs(0.2), at(1.201)), "no ticks");
    }

    #[test]
    fn a_kernels_rates_have_steps_and_its_times_are_whole() {
        let units = WholeUnits::of(STEP, secs(0.01));
        // 10 segments in 40,073 us are 4186 steps and a part of one.
        assert_eq!(
            units.rate_of(WindowSize::from_segments(10.0), secs(0.040_073)),
            SegmentRate(4186.0 * STEP.0)
        );
        // From the last nanosecond of one microsecond to the first of the next.
        let passed = units.told(at(1.000_001)) - units.told(at(1.000_000_999));
        assert!((passed.secs() - 1e-6).abs() < 1e-15);
        // 4186 steps times 40,073 us are 167,745,578; of 2^24 that is 9.9984.
        let rate = SegmentRate(4186.0 * STEP.0);
        assert_eq!(units.delivered(rate, secs(0.040_073)), 9.0);
        assert_eq!(units.capacity(rate, secs(0.040_073), 1.0), 10.0);
        assert_eq!(units.delivered_within(rate, secs(0.040_073_9)), 9.0);
    }

    #[test]
    fn time_passes_in_ticks() {
        let units = WholeUnits::of(STEP, secs(0.01));
        // From the end of a tick on, twenty more are over 191 ms later, and a twenty-first has begun 201 ms later.
        assert!(!units.has_passed(at(1.009), secs(0.2), at(1.209)));
        assert!(units.has_passed(at(1.009), secs(0.2), at(1.211)));
    }
}
