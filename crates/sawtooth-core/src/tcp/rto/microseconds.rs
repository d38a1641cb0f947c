//! Linux's round-trip estimators, in whole microseconds.
//!
//! Specification: Jacobson, "Congestion Avoidance and Control", SIGCOMM 1988, Appendix A: scaled integers, of which an eighth is the smoothed round trip and a quarter its
//! variation. The variation is that of P. Sarolahti and A. Kuznetsov, "Congestion Control in Linux TCP", USENIX 2002: the largest mean deviation (MDEV) of a round trip, which a
//! shorter round trip raises by little.
//!
//! Model: what is told of an average is its whole microseconds. So it is not below the samples' mean, as it would be if an exact average were rounded down:
//!
//! ```text
//! error = rtt - whole(srtt)               srtt += error / 8       mdev += (|error| - mdev) / 4
//! ```
//!
//! Measured of Linux 6.1: after round trips of 111, 181 and 231 ms that followed ones of 30 ms the timeout is 429 ms. Of ten runs of three flows by `vegas`, smoothed round trips are 0.5 us longer in the
//! mean than exact averages rounded down, in each of them (`bench/linux/starts.py`, scenario 7).

use crate::tcp::clock::whole_microseconds;
use crate::units::Duration;

const MICROSECOND: Duration = Duration::from_secs(1e-6);
/// Averages scaled so that an eighth, or a quarter, of a microsecond is one.
const EIGHTHS: u32 = 3;
const QUARTERS: u32 = 2;
/// So much less does a shorter round trip raise the deviation.
const RAISED_LESS: u32 = 3;

/// The estimators, once there is a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Microseconds {
    /// SRTT, eighths of a microsecond.
    srtt: i64,
    /// MDEV, quarters of a microsecond; so are the largest of this round trip, and RTTVAR.
    deviation: i64,
    largest: i64,
    variation: i64,
    /// What RTTVAR is at least.
    least: i64,
}

impl Microseconds {
    /// Of the first sample; four times RTTVAR is `granularity` at least (G of RFC 6298 §2).
    pub(super) fn first(rtt: Duration, granularity: Duration) -> Self {
        let (rtt, least) = (of(rtt), of(granularity));
        let deviation = rtt << (QUARTERS - 1);
        let largest = deviation.max(least);
        Self {
            srtt: rtt << EIGHTHS,
            deviation,
            largest,
            variation: largest,
            least,
        }
    }

    /// Another sample; whether it is the first of another round trip than the one before.
    #[inline]
    pub(super) fn next(&mut self, rtt: Duration, is_of_next_round: bool) {
        let error = of(rtt) - (self.srtt >> EIGHTHS);
        self.srtt = (self.srtt + error).max(1);
        let change = error.abs() - (self.deviation >> QUARTERS);
        let is_shorter = error < 0 && change > 0;
        self.deviation += if is_shorter {
            change >> RAISED_LESS
        } else {
            change
        };
        self.largest = self.largest.max(self.deviation);
        self.variation = self.variation.max(self.largest);
        if is_of_next_round {
            self.variation -= (self.variation - self.largest) >> 2;
            self.largest = self.least;
        }
    }

    /// What a spurious timeout leaves (RFC 4015 §3.1 step (11)).
    pub(super) fn adapt(&mut self, srtt: Duration, rttvar: Duration) {
        self.srtt = of(srtt) << EIGHTHS;
        self.variation = of(rttvar) << QUARTERS;
    }

    /// SRTT, with its eighths.
    #[inline]
    pub(super) fn srtt(&self) -> Duration {
        told(self.srtt, MICROSECOND / 8.0)
    }

    /// RTTVAR.
    pub(super) fn rttvar(&self) -> Duration {
        told(self.variation, MICROSECOND / 4.0)
    }

    /// SRTT and four times RTTVAR, in whole microseconds (RFC 6298 §2.3).
    #[inline]
    pub(super) fn timeout(&self) -> Duration {
        told((self.srtt >> EIGHTHS) + self.variation, MICROSECOND)
    }
}

fn of(time: Duration) -> i64 {
    whole_microseconds(time)
}

#[inline]
#[expect(clippy::cast_precision_loss, reason = "below 2^53")]
fn told(count: i64, unit: Duration) -> Duration {
    unit * count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::secs;

    fn near(left: Duration, right: f64) {
        assert!((left.secs() - right).abs() < 1e-12, "{left:?} {right}");
    }

    #[test]
    fn the_first_sample_gives_three_round_trips_and_the_variation_of_the_granularity_at_least() {
        near(Microseconds::first(secs(0.3), secs(0.2)).timeout(), 0.9);
        near(Microseconds::first(secs(0.03), secs(0.2)).timeout(), 0.23);
    }

    #[test]
    fn what_is_told_of_the_average_is_not_below_the_mean_of_the_samples() {
        // 10 and 11 us in turn: an exact average rounded down is 10 whenever it is told.
        let mut estimate = Microseconds::first(secs(10e-6), secs(0.2));
        let mut sum = 0;
        for at in 0..4000 {
            estimate.next(secs(if at % 2 == 0 { 11e-6 } else { 10e-6 }), false);
            sum += of(estimate.srtt());
        }
        assert!((f64::from(u32::try_from(sum).expect("a few")) / 4000.0 - 10.5).abs() < 0.01);
    }

    #[test]
    fn a_longer_round_trip_raises_the_timeout_more_than_a_shorter_one() {
        // The header's measurement.
        let mut estimate = Microseconds::first(secs(0.03), secs(0.2));
        for rtt in [0.111, 0.181, 0.231] {
            estimate.next(secs(rtt), true);
        }
        let timeout = (estimate.timeout().secs() * 1e3).round();
        assert!((timeout - 429.0).abs() < 1.0, "{timeout}");
        let after = |rtt| {
            let mut estimate = Microseconds::first(secs(0.5), secs(0.2));
            for _ in 0..50 {
                estimate.next(secs(0.5), true);
            }
            estimate.next(secs(rtt), true);
            estimate.timeout().secs()
        };
        assert!(after(0.9) > 0.5 + 0.4 && after(0.1) < 0.5 + 0.2 + 1e-9);
    }
}
