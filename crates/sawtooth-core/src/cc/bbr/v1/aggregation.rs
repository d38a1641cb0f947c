//! How much more is acknowledged at once than the path's rate accounts for, as presented at the IETF (Cheng and Cardwell, ICCRG, IETF 101: "BBR Congestion Control Work at Google").
//!
//! The most of this stretch of rounds and of the last one: as measured of Linux 6.1, of five to ten rounds.

use super::whole::WholeUnits;
use crate::cc::AckedData;
use crate::cc::bbr::model::SegmentRate;
use crate::units::{Duration, Instant, WindowSize};

/// No more counts than is delivered in this time.
const MOST: Duration = Duration::from_secs(0.1);

/// Segments, and seconds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ExtraAcked {
    since: Duration,
    acked: f64,
    /// Of this stretch and of the last.
    most: [f64; 2],
    rounds: u64,
}

impl ExtraAcked {
    /// An acknowledgement at a window of `cwnd` over a path of `bandwidth`; a stretch is of so many `rounds`.
    pub(super) fn on_ack(
        &mut self,
        ack: &AckedData,
        units: WholeUnits,
        bandwidth: SegmentRate,
        cwnd: WindowSize,
        round_begins: bool,
        rounds: u64,
    ) {
        if round_begins {
            self.rounds += 1;
            if self.rounds >= rounds {
                self.rounds = 0;
                self.most = [0.0, self.most[0]];
            }
        }
        let now = units.told(ack.now);
        let mut expected = units.delivered(bandwidth, now - self.since);
        if self.acked <= expected {
            self.restart_at(now);
            expected = 0.0;
        }
        self.acked += ack.delivered.as_f64();
        self.most[0] = self.most[0].max((self.acked - expected).min(cwnd.segments()));
    }

    pub(super) fn restart(&mut self, now: Instant, units: WholeUnits) {
        self.restart_at(units.told(now));
    }

    fn restart_at(&mut self, now: Duration) {
        self.acked = 0.0;
        self.since = now;
    }

    /// What the window allows for over a path of `bandwidth`.
    pub(super) fn extra(&self, bandwidth: SegmentRate) -> WindowSize {
        let [this, last] = self.most;
        WindowSize::from_segments(this.max(last).min(bandwidth.0 * MOST.secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;

    const PATH: SegmentRate = SegmentRate(1000.0);
    const EXACT: WholeUnits = WholeUnits::EXACT;

    #[test]
    fn what_comes_at_once_counts_beyond_what_is_due() {
        // 20 segments at once, where 1000 per second were expected: the next 20 ms none are due, so 20 are extra.
        let mut aggregation = ExtraAcked::default();
        aggregation.on_ack(&ack_at(1.0, 20, 100), EXACT, PATH, window(206.0), false, 5);
        assert!((aggregation.extra(PATH).segments() - 20.0).abs() < 1e-9);
        // After 10 ms, 10 were expected, and 35 have come: 25 extra.
        aggregation.on_ack(&ack_at(1.01, 15, 100), EXACT, PATH, window(206.0), false, 5);
        assert!((aggregation.extra(PATH).segments() - 25.0).abs() < 1e-6);
        assert!(
            (aggregation.extra(SegmentRate(100.0)).segments() - 10.0).abs() < 1e-9,
            "what 100 ms deliver"
        );
    }

    #[test]
    fn it_is_forgotten_when_a_whole_stretch_has_passed_without() {
        let mut aggregation = ExtraAcked::default();
        aggregation.on_ack(&ack_at(1.0, 20, 100), EXACT, PATH, window(206.0), false, 5);
        let mut kept = Vec::new();
        for round in 1..=11 {
            let secs = 1.0 + 0.1 * f64::from(round);
            aggregation.on_ack(&ack_at(secs, 1, 100), EXACT, PATH, window(206.0), true, 5);
            kept.push(aggregation.extra(PATH).segments() > 2.0);
        }
        assert_eq!(kept, [[true; 9].as_slice(), &[false; 2]].concat());
    }
}
