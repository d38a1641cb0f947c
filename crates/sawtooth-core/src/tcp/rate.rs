//! How fast the path delivers, estimated at every acknowledgement.
//!
//! Specification: draft-cheng-iccrg-delivery-rate-estimation-02 §3.1 (variables), §3.2 (what a segment takes along), §3.3 (a sample).

use super::clock::Clock;
use super::segments::TransmissionId;
use crate::cc::RateSample;
use crate::units::{Duration, Instant, SegCount, floor};

/// What had been delivered when a segment left (§3.2).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Snapshot {
    pub delivered: SegCount,
    pub delivered_at: Instant,
    /// When the first segment of the flight that it belongs to left.
    pub first_sent_at: Instant,
    pub lost: SegCount,
    pub pipe: SegCount,
    pub app_limited: bool,
}

/// A transmission that is delivered.
#[derive(Clone, Copy, Debug)]
pub struct DeliveredTransmission {
    pub snapshot: Snapshot,
    pub sent: Instant,
    pub transmission: TransmissionId,
}

/// The connection's side of it.
#[derive(Debug, Default)]
pub struct DeliveryRate {
    /// Segments delivered and lost so far.
    pub delivered: SegCount,
    pub lost: SegCount,
    delivered_at: Instant,
    first_sent_at: Instant,
    /// The application has been the limit until so much is delivered; 0: it is not.
    app_limited_until: SegCount,
    /// The newest of the segments that this acknowledgement delivers.
    newest: Option<DeliveredTransmission>,
}

impl DeliveryRate {
    /// A segment leaves; `pipe` were in the path before it.
    #[inline]
    pub fn on_send(&mut self, now: Instant, pipe: SegCount) -> Snapshot {
        if pipe.is_zero() {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        Snapshot {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost: self.lost,
            pipe: pipe + SegCount::ONE,
            app_limited: !self.app_limited_until.is_zero(),
        }
    }

    /// A segment is delivered, by its last transmission.
    #[inline]
    pub fn on_delivered(&mut self, now: Instant, delivered: DeliveredTransmission) {
        self.delivered += SegCount::ONE;
        self.delivered_at = now;
        if self
            .newest
            .is_none_or(|newest| delivered.transmission > newest.transmission)
        {
            self.newest = Some(delivered);
            self.first_sent_at = delivered.sent;
        }
    }

    /// So many segments are delivered, each later transmissions than those before; the last of them.
    #[inline]
    pub fn on_delivered_in_order(
        &mut self,
        now: Instant,
        count: SegCount,
        last: DeliveredTransmission,
    ) {
        self.on_delivered(now, last);
        self.delivered += count - SegCount::ONE;
    }

    /// The application has no more to send while `pipe` segments are in the path.
    pub fn on_app_limited(&mut self, pipe: SegCount) {
        self.app_limited_until = (self.delivered + pipe).max(SegCount::ONE);
    }

    /// The sample of this acknowledgement, if it delivered anything. An interval shorter than `min_rtt` is not taken, and all are between ticks of `clock`.
    #[inline]
    pub fn sample(&mut self, min_rtt: Duration, clock: RateClock) -> Option<RateSample> {
        if self.delivered > self.app_limited_until {
            self.app_limited_until = SegCount::ZERO;
        }
        let DeliveredTransmission { snapshot, sent, .. } = self.newest.take()?;
        let sending = clock.between(snapshot.first_sent_at, sent);
        let interval = sending.max(clock.between(snapshot.delivered_at, self.delivered_at));
        let believed = interval >= min_rtt && interval > Duration::ZERO;
        believed.then_some(RateSample {
            delivered: self.delivered - snapshot.delivered,
            interval,
            prior_delivered: snapshot.delivered,
            total_delivered: self.delivered,
            lost: self.lost - snapshot.lost,
            total_lost: self.lost,
            pipe_at_send: snapshot.pipe,
            app_limited: snapshot.app_limited,
        })
    }
}

/// The clock by which rates are measured.
#[derive(Clone, Copy, Debug)]
pub struct RateClock {
    /// The time between two of its ticks; 0: it tells any time.
    pub granularity: Duration,
    /// The host's, of which it is a part.
    pub host: Clock,
}

impl RateClock {
    #[inline]
    fn between(self, from: Instant, to: Instant) -> Duration {
        if self.granularity == Duration::ZERO {
            return to - from;
        }
        self.granularity * (self.whole_ticks(to) - self.whole_ticks(from))
    }

    /// Ticks that have passed since the run began.
    fn whole_ticks(self, time: Instant) -> f64 {
        floor(self.host.shown(time).secs() / self.granularity.secs() + 1e-3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::{at, secs, segs};

    const EXACT: RateClock = RateClock {
        granularity: Duration::ZERO,
        host: Clock::EXACT,
    };

    /// What was sent at `sent` as the connection's `transmission`-th is delivered at `now`.
    fn deliver(
        rate: &mut DeliveryRate,
        now: f64,
        snapshot: Snapshot,
        sent: f64,
        transmission: u64,
    ) {
        let delivered = DeliveredTransmission {
            snapshot,
            sent: at(sent),
            transmission: TransmissionId::numbered(transmission),
        };
        rate.on_delivered(at(now), delivered);
    }

    #[test]
    fn the_rate_is_that_of_the_slower_of_sending_and_acknowledging() {
        let mut rate = DeliveryRate::default();
        // Four segments leave at once, and are acknowledged 10 ms apart from 0.1 s on.
        let sent: Vec<Snapshot> = (0..4)
            .map(|pipe| rate.on_send(at(0.0), segs(pipe)))
            .collect();
        for (number, snapshot) in (0u32..).zip(sent) {
            let now = 0.1 + 0.01 * f64::from(number);
            deliver(&mut rate, now, snapshot, 0.0, u64::from(number));
            let sample = rate.sample(secs(0.05), EXACT).expect("a sample");
            assert_eq!(sample.delivered, segs(u64::from(number) + 1));
            assert!((sample.interval.secs() - now).abs() < 1e-12);
        }
        // The next flight: sent 10 ms apart as acknowledgements come, delivered at the same pace.
        let mut next = rate.on_send(at(0.13), segs(0));
        next.delivered_at = at(0.13);
        deliver(&mut rate, 0.23, next, 0.13, 9);
        let sample = rate.sample(secs(0.05), EXACT).expect("a sample");
        let per_sec = sample.delivered.as_f64() / sample.interval.secs();
        assert!((per_sec - 10.0).abs() < 1e-9);
    }

    #[test]
    fn an_interval_shorter_than_any_round_trip_is_not_believed() {
        let mut rate = DeliveryRate::default();
        let snapshot = rate.on_send(at(1.0), segs(0));
        deliver(&mut rate, 1.01, snapshot, 1.0, 0);
        assert_eq!(rate.sample(secs(0.05), EXACT), None);
    }

    #[test]
    fn intervals_are_between_whole_ticks_of_the_clock() {
        for (granularity, interval) in [(0.0, 0.1), (1e-3, 0.101), (1e-6, 0.1)] {
            let mut rate = DeliveryRate::default();
            let snapshot = rate.on_send(at(1.000_9), segs(0));
            deliver(&mut rate, 1.100_9 + 1e-4, snapshot, 1.000_9, 0);
            let sample = rate
                .sample(
                    secs(0.0),
                    RateClock {
                        granularity: secs(granularity),
                        ..EXACT
                    },
                )
                .expect("a sample");
            assert!(
                (sample.interval.secs() - interval).abs() < 1.1e-4,
                "{granularity}"
            );
            let ticks = sample.interval.secs() / granularity;
            assert!(granularity == 0.0 || (ticks - ticks.round()).abs() < 1e-6);
        }
    }

    #[test]
    fn samples_are_marked_until_what_was_in_the_path_is_delivered() {
        let mut rate = DeliveryRate::default();
        let first = rate.on_send(at(0.0), segs(0));
        rate.on_app_limited(segs(1));
        let second = rate.on_send(at(0.01), segs(1));
        assert!(!first.app_limited && second.app_limited);
        deliver(&mut rate, 0.1, first, 0.0, 0);
        assert!(!rate.sample(secs(0.0), EXACT).expect("a sample").app_limited);
        assert!(
            rate.on_send(at(0.105), segs(1)).app_limited,
            "the second is on its way"
        );
        deliver(&mut rate, 0.11, second, 0.01, 1);
        assert!(rate.sample(secs(0.0), EXACT).expect("a sample").app_limited);
        assert!(!rate.on_send(at(0.12), segs(0)).app_limited);
    }

    #[test]
    fn a_sample_counts_what_was_lost_since_its_segment_left() {
        let mut rate = DeliveryRate {
            lost: segs(5),
            ..DeliveryRate::default()
        };
        let snapshot = rate.on_send(at(0.0), segs(0));
        rate.lost = segs(7);
        deliver(&mut rate, 0.1, snapshot, 0.0, 0);
        let sample = rate.sample(secs(0.0), EXACT).expect("a sample");
        assert_eq!((sample.lost, sample.total_lost), (segs(2), segs(7)));
    }
}
