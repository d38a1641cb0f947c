//! How fast the path delivers, estimated at every acknowledgement.
//!
//! Specification: draft-cheng-iccrg-delivery-rate-estimation-02 §3.1 (variables), §3.2 (what a segment takes along), §3.3 (a sample).

use crate::cc::RateSample;
use crate::units::{Duration, SegCount};

/// What had been delivered when a segment left.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Snapshot {
    pub delivered: u64,
    pub delivered_at: f64,
    /// When the first segment of the flight that it belongs to left.
    pub first_sent_at: f64,
    pub lost: u64,
    pub pipe: u64,
    pub app_limited: bool,
}

/// The connection's side of it.
#[derive(Debug, Default)]
pub struct Rate {
    /// Segments delivered and lost so far.
    pub delivered: u64,
    pub lost: u64,
    delivered_at: f64,
    first_sent_at: f64,
    /// The application has been the limit until so much is delivered; 0: it is not.
    app_limited_until: u64,
    /// The newest of the segments that this acknowledgement delivers: its snapshot, when it was sent, and which transmission it was.
    newest: Option<(Snapshot, f64, u64)>,
}

impl Rate {
    /// A segment leaves; `pipe` were in the path before it.
    #[inline]
    pub fn on_send(&mut self, now: f64, pipe: u64) -> Snapshot {
        if pipe == 0 {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        Snapshot {
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost: self.lost,
            pipe: pipe + 1,
            app_limited: self.app_limited_until > 0,
        }
    }

    /// A segment, sent last at `sent` as the connection's `transmission`-th, is delivered.
    #[inline]
    pub fn on_delivered(&mut self, now: f64, snapshot: Snapshot, sent: f64, transmission: u64) {
        self.delivered += 1;
        self.delivered_at = now;
        if self
            .newest
            .is_none_or(|(_, _, newest)| transmission > newest)
        {
            self.newest = Some((snapshot, sent, transmission));
            self.first_sent_at = sent;
        }
    }

    /// The application has no more to send while `pipe` segments are in the path.
    pub fn on_app_limited(&mut self, pipe: u64) {
        self.app_limited_until = (self.delivered + pipe).max(1);
    }

    /// The sample of this acknowledgement, if it delivered anything. An interval shorter than `min_rtt_secs` is not taken.
    #[inline]
    pub fn sample(&mut self, min_rtt_secs: f64) -> Option<RateSample> {
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
        let (snapshot, sent, _) = self.newest.take()?;
        let sending = sent - snapshot.first_sent_at;
        let acknowledging = self.delivered_at - snapshot.delivered_at;
        let interval_secs = sending.max(acknowledging);
        let believed = interval_secs >= min_rtt_secs && interval_secs > 0.0;
        believed.then_some(RateSample {
            delivered: SegCount::new(self.delivered - snapshot.delivered),
            interval: Duration::from_secs(interval_secs),
            prior_delivered: SegCount::new(snapshot.delivered),
            total_delivered: SegCount::new(self.delivered),
            lost: SegCount::new(self.lost - snapshot.lost),
            total_lost: SegCount::new(self.lost),
            pipe_at_send: SegCount::new(snapshot.pipe),
            app_limited: snapshot.app_limited,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_is_that_of_the_slower_of_sending_and_acknowledging() {
        let mut rate = Rate::default();
        // Four segments leave at once, and are acknowledged 10 ms apart from 0.1 s on.
        let sent: Vec<Snapshot> = (0..4).map(|pipe| rate.on_send(0.0, pipe)).collect();
        for (at, snapshot) in (0u32..).zip(sent) {
            let now = 0.1 + 0.01 * f64::from(at);
            rate.on_delivered(now, snapshot, 0.0, u64::from(at));
            let sample = rate.sample(0.05).expect("a sample");
            assert_eq!(sample.delivered, SegCount::new(u64::from(at) + 1));
            assert!((sample.interval.secs() - now).abs() < 1e-12);
        }
        // The next flight: sent 10 ms apart as acknowledgements come, delivered at the same pace.
        let mut next = rate.on_send(0.13, 0);
        next.delivered_at = 0.13;
        rate.on_delivered(0.23, next, 0.13, 9);
        let sample = rate.sample(0.05).expect("a sample");
        let per_sec = sample.delivered.as_f64() / sample.interval.secs();
        assert!((per_sec - 10.0).abs() < 1e-9);
    }

    #[test]
    fn an_interval_shorter_than_any_round_trip_is_not_believed() {
        let mut rate = Rate::default();
        let snapshot = rate.on_send(1.0, 0);
        rate.on_delivered(1.01, snapshot, 1.0, 0);
        assert_eq!(rate.sample(0.05), None);
    }

    #[test]
    fn samples_are_marked_until_what_was_in_the_path_is_delivered() {
        let mut rate = Rate::default();
        let first = rate.on_send(0.0, 0);
        rate.on_app_limited(1);
        let second = rate.on_send(0.01, 1);
        assert!(!first.app_limited && second.app_limited);
        rate.on_delivered(0.1, first, 0.0, 0);
        assert!(!rate.sample(0.0).expect("a sample").app_limited);
        assert!(
            rate.on_send(0.105, 1).app_limited,
            "the second is on its way"
        );
        rate.on_delivered(0.11, second, 0.01, 1);
        assert!(rate.sample(0.0).expect("a sample").app_limited);
        assert!(!rate.on_send(0.12, 0).app_limited);
    }

    #[test]
    fn a_sample_counts_what_was_lost_since_its_segment_left() {
        let mut rate = Rate {
            lost: 5,
            ..Rate::default()
        };
        let snapshot = rate.on_send(0.0, 0);
        rate.lost = 7;
        rate.on_delivered(0.1, snapshot, 0.0, 0);
        let sample = rate.sample(0.0).expect("a sample");
        assert_eq!(
            (sample.lost, sample.total_lost),
            (SegCount::new(2), SegCount::new(7))
        );
    }
}
