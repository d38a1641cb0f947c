//! The sender's timers, and the round trips that set them.
//!
//! Specifications: RFC 6298 §5 (managing the timer), §3 and RFC 7323 §4.1 (round trips).

use std::sync::Arc;

use super::counters::RttSamples;
use crate::events::{Child, Event, EventKey};
use crate::tcp::params::Config;
use crate::tcp::rto::Rto;
use crate::tcp::timestamps::{Stamp, TimestampClock};
use crate::units::{Duration, Instant};

#[derive(Debug)]
pub struct Timers {
    pub rto: Rto,
    pub round_trips: RttSamples,
    /// When the recovery acts next without input: the retransmission timer, or a timer of its own.
    pub recovery: EventKey,
    /// When a partial segment has waited long enough, if one waits for that.
    pub partial: EventKey,
}

impl Timers {
    /// None is running; the clock of the retransmission timer started `phase` after a tick.
    pub fn new(config: &Config, phase: Duration) -> Self {
        Self {
            rto: Rto::new(Arc::clone(&config.rto), phase),
            round_trips: RttSamples::NONE,
            recovery: EventKey::NEVER,
            partial: EventKey::NEVER,
        }
    }

    /// The one that expires first ([`EventKey::NEVER`] if none is running).
    #[inline]
    pub fn next(&self) -> EventKey {
        if self.is_partial_next() {
            self.partial
        } else {
            self.recovery
        }
    }

    /// Whether that is the one of a partial segment.
    #[inline]
    pub fn is_partial_next(&self) -> bool {
        self.partial.time < self.recovery.time
    }

    /// (Re)starts the retransmission timer (RFC 6298 §5.1, §5.3).
    #[inline]
    pub fn arm(&mut self, now: Event) {
        self.recovery = now.schedule(now.time + self.rto.timeout(), Child::Timer);
    }

    /// A round trip of something sent at `sent` was measured.
    #[inline]
    pub fn sample(&mut self, sent: Instant, rtt: Duration) {
        self.rto.sample(sent, rtt);
        self.count(rtt, rtt);
    }

    /// Counts a round trip that the timer has sampled: `whole` with the wait of a delayed acknowledgement, `least` without, where both are known.
    #[inline]
    pub fn count(&mut self, whole: Duration, least: Duration) {
        let srtt = self.rto.srtt().unwrap_or(whole);
        self.round_trips.count(whole, least, srtt);
    }
}

/// Timestamps: the clock, where segments carry any, and what the last acknowledgement said.
#[derive(Debug)]
pub struct Stamps {
    pub clock: Option<TimestampClock>,
    /// When the segment that it answers had left (TSecr), and when it left itself (TSval).
    pub echo: Stamp,
    pub peer: Stamp,
}

impl Stamps {
    pub fn new(config: &Config) -> Self {
        Self {
            clock: config
                .timestamps
                .map(|granularity| TimestampClock::on_host(granularity, config.timer_tick)),
            echo: Stamp::NONE,
            peer: Stamp::NONE,
        }
    }

    /// The round trip that the last acknowledgement gives: of what it is for, sent again or not (RFC 7323 §4.1).
    #[inline]
    pub fn echoed_rtt(&self, now: Instant) -> Option<Duration> {
        let clock = self.clock.filter(|_| !self.echo.is_none())?;
        Some(clock.since(now, self.echo))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Lineage;
    use crate::tcp::recovery::testing;
    use crate::units::testing::{at, secs};

    #[test]
    fn rfc6298_5_1_the_timer_expires_a_timeout_after_it_was_started_and_a_partial_segments_first_if_it_is_first()
     {
        let mut timers = Timers::new(&testing::config("sack", 10, &[]), Duration::ZERO);
        assert!(timers.next().is_never());
        let now = Lineage::new().record(EventKey::at_start(at(2.0), 0));
        timers.arm(now);
        // RFC 6298 §2.1: one second before anything was measured.
        assert_eq!(timers.next().time, at(3.0));
        timers.partial = now.schedule(at(2.5), Child::Timer);
        assert!(timers.is_partial_next());
        assert_eq!(timers.next().time, at(2.5));
    }

    #[test]
    fn round_trips_are_counted_with_the_wait_of_a_delayed_acknowledgement_and_without() {
        let mut timers = Timers::new(&testing::config("sack", 10, &[]), Duration::ZERO);
        timers.rto.sample(at(0.0), secs(0.3));
        timers.count(secs(0.3), secs(0.1));
        let RttSamples {
            samples,
            srtt_sum,
            min,
            max,
        } = timers.round_trips;
        assert_eq!((samples, srtt_sum), (1, secs(0.3)));
        assert_eq!((min, max), (secs(0.1), secs(0.3)));
    }
}
