//! Round trips as a receiver measures them: by the timestamps that come back with data.
//!
//! Specification: RFC 7323 §3 (timestamps), §5.4 (the clock). How samples are averaged is as measured of Linux 6.1 (`mod.rs`).

use crate::tcp::clock::Clock;
use crate::tcp::ticks::Ticks;
use crate::tcp::timestamps::Stamp;
use crate::units::{Duration, Instant, nearest};

/// Timestamps count milliseconds and start again after 2^23 of them.
const MILLIS: u32 = (1 << 23) - 1;

/// The round trip that a receiver knows of.
#[derive(Debug, Default)]
pub(super) struct RoundTrip {
    average: Option<Duration>,
    /// The timestamp of the last sample.
    last_echo: Option<Stamp>,
    clock: Clock,
}

impl RoundTrip {
    /// On a host with such ticks.
    pub(super) fn on_host(ticks: Ticks) -> Self {
        Self {
            clock: ticks.clock.counting(Duration::from_secs(1e-3), ticks.phase),
            ..Self::default()
        }
    }

    /// What the clock of timestamps shows.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the clock wraps"
    )]
    #[inline]
    pub(super) fn stamp(&self, now: Instant) -> Stamp {
        // A hair of tolerance: a tick that is due now has come.
        let millis = nearest(self.clock.shown(now).secs() * 1e3 + (1e-6 - 0.5)) as u32;
        Stamp::from_bits(millis & MILLIS)
    }

    /// Nothing if none has been measured.
    #[inline]
    pub(super) fn average(&self) -> Option<Duration> {
        self.average
    }

    /// A segment comes with a timestamp of the receiver: a sample, unless there is one of it.
    #[inline]
    pub(super) fn measure(&mut self, now: Instant, echo: Stamp) {
        if self.last_echo != Some(echo) {
            self.last_echo = Some(echo);
            self.take(now, echo);
        }
    }

    /// The time since a stamp: a millisecond at least.
    pub(super) fn since(&self, now: Instant, stamp: Stamp) -> Duration {
        let elapsed = self.stamp(now).bits().wrapping_sub(stamp.bits()) & MILLIS;
        Duration::from_secs(f64::from(elapsed.max(1)) / 1e3)
    }

    fn take(&mut self, now: Instant, echo: Stamp) {
        let sample = self.since(now, echo);
        self.average = Some(match self.average {
            Some(rtt) if sample > rtt => rtt + (sample - rtt) / 8.0,
            _ => sample,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The average in seconds once a segment has come that echoes so many milliseconds.
    fn measured(rtt: &mut RoundTrip, secs: f64, echo: u32) -> f64 {
        rtt.measure(Instant::from_secs(secs), Stamp::from_bits(echo));
        rtt.average().expect("it has been measured").secs()
    }

    #[test]
    fn a_shorter_round_trip_replaces_the_average_and_a_longer_one_counts_an_eighth() {
        let mut rtt = RoundTrip::default();
        assert_eq!(measured(&mut rtt, 0.061, 20), 0.041);
        assert_eq!(measured(&mut rtt, 0.105, 62), 0.041 + 0.002 / 8.0);
        assert_eq!(
            measured(&mut rtt, 0.300, 62),
            0.041 + 0.002 / 8.0,
            "the same echo"
        );
        assert_eq!(measured(&mut rtt, 0.340, 300), 0.040);
    }

    #[test]
    fn rfc7323_5_4_a_round_trip_in_which_the_clock_starts_again_is_measured_as_any() {
        let mut rtt = RoundTrip::default();
        assert_eq!(measured(&mut rtt, 8388.618, MILLIS - 9), 0.020);
    }
}
