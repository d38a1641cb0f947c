//! A policer in the path, which drops what is above its rate: its rate is found of the losses, and kept to for a while.
//!
//! Cardwell et al. 2016 name such policers; the draft does not specify what Linux does about them. As measured of Linux 6.1: from the first loss on it looks at stretches of at least
//! `LEAST_ROUNDS` rounds, which end with a loss. If in one of them for each segment delivered a fifth of one was lost, its delivery rate is remembered. A second rate like it within an eighth is taken for the policer's, and their mean is
//! the rate that the path is taken to have, without probing for more, for `KEPT_ROUNDS` rounds. A stretch that the application limits, or of more than `MOST_ROUNDS` rounds, tells nothing.

use crate::cc::bbr::model::SegmentRate;
use crate::cc::{AckedData, RateSample};
use crate::units::{ByteCount, Instant, Rate, SegCount, floor};

const LEAST_ROUNDS: u64 = 4;
const MOST_ROUNDS: u64 = 16;
const KEPT_ROUNDS: u64 = 48;
/// Segments lost for each that is delivered.
const LOSSES: f64 = 50.0 / 256.0;
/// Rates are alike within this share, or within this difference.
const ALIKE: f64 = 1.0 / 8.0;
const ALIKE_RATE: Rate = Rate::from_bps(4000.0);

/// Where a stretch begins.
#[derive(Clone, Copy, Debug)]
struct PolicedStretch {
    /// Milliseconds, whole ones.
    begins: f64,
    delivered: SegCount,
    lost: SegCount,
}

/// What is known of a policer. Rates are in segments per second.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Policer {
    stretch: Option<PolicedStretch>,
    /// Rounds of the stretch, or since the rate has been in use.
    rounds: u64,
    found: Option<f64>,
    in_use: bool,
}

impl Policer {
    /// The rate that the path is taken to have, if there seems to be a policer.
    pub(super) fn rate(&self) -> Option<f64> {
        self.found.filter(|_| self.in_use)
    }

    /// Nothing is known any more.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// A timeout counts as the end of a round, and as a loss.
    pub(super) fn on_timeout(&mut self) {
        if !self.in_use && self.stretch.is_some() {
            self.rounds += 1;
        }
    }

    /// A round has begun while the rate was in use; whether it was the last.
    pub(super) fn is_over(&mut self, round_begins: bool, cycles: bool) -> bool {
        if !(self.in_use && cycles && round_begins) {
            return false;
        }
        self.rounds += 1;
        let over = self.rounds >= KEPT_ROUNDS;
        if over {
            self.forget();
        }
        over
    }

    /// An acknowledgement, of a sender whose segments have `smss`. `limited`: by its application.
    pub(super) fn on_ack(
        &mut self,
        ack: &AckedData,
        rate: &RateSample,
        round_begins: bool,
        limited: bool,
        smss: ByteCount,
    ) {
        if self.in_use {
            return;
        }
        let now = PolicedStretch {
            begins: whole_ms(ack.now),
            delivered: rate.total_delivered,
            lost: rate.total_lost,
        };
        let began = match self.stretch {
            Some(began) => began,
            None if ack.lost.is_zero() => return,
            None => self.begin(now),
        };
        if limited {
            return self.forget();
        }
        self.rounds += u64::from(round_begins);
        if self.rounds < LEAST_ROUNDS {
            return;
        }
        if self.rounds > MOST_ROUNDS {
            return self.forget();
        }
        let (delivered, lost) = (now.delivered - began.delivered, now.lost - began.lost);
        let policed = !delivered.is_zero() && lost.as_f64() >= LOSSES * delivered.as_f64();
        let lasted = now.begins - began.begins;
        if !ack.lost.is_zero() && policed && lasted >= 1.0 {
            self.end(now, SegmentRate(delivered.as_f64() * 1e3 / lasted), smss);
        }
    }

    fn begin(&mut self, now: PolicedStretch) -> PolicedStretch {
        self.rounds = 0;
        *self.stretch.insert(now)
    }

    /// A stretch ends, with this delivery rate.
    fn end(&mut self, now: PolicedStretch, SegmentRate(rate): SegmentRate, smss: ByteCount) {
        if let Some(before) = self.found {
            let apart = (rate - before).abs();
            if apart <= ALIKE * before || apart * smss.as_f64() * 8.0 <= ALIKE_RATE.bps() {
                self.found = Some(rate.midpoint(before));
                self.in_use = true;
                self.rounds = 0;
                return;
            }
        }
        self.found = Some(rate);
        self.begin(now);
    }
}

fn whole_ms(time: Instant) -> f64 {
    floor(time.secs() * 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::*;
    use crate::units::Duration;

    /// A path that delivers 100 segments a second; a round is 100 ms.
    struct Feed {
        policer: Policer,
        secs: f64,
        delivered: u64,
        lost: u64,
    }

    impl Feed {
        fn new() -> Self {
            Self {
                policer: Policer::default(),
                secs: 1.0,
                delivered: 0,
                lost: 0,
            }
        }

        /// A round in which ten segments are delivered and so many lost, all of them at its end.
        fn round(&mut self, lost: u64) {
            self.round_of(10, lost, false);
        }

        fn round_of(&mut self, delivered: u64, lost: u64, limited: bool) {
            self.secs += 0.1;
            self.delivered += delivered;
            self.lost += lost;
            let rate = RateSample {
                delivered: segs(delivered),
                interval: Duration::from_secs(0.1),
                prior_delivered: segs(0),
                total_delivered: segs(self.delivered),
                lost: segs(lost),
                total_lost: segs(self.lost),
                pipe_at_send: segs(10),
                app_limited: limited,
            };
            let ack = AckedData {
                lost: segs(lost),
                ..ack_at(self.secs, 10, 20)
            };
            self.policer
                .on_ack(&ack, &rate, true, limited, ByteCount::new(1448));
        }

        fn rounds(&mut self, losses: &[u64]) {
            for &lost in losses {
                self.round(lost);
            }
        }
    }

    #[test]
    fn two_stretches_of_four_rounds_with_a_fifth_lost_show_it() {
        let mut feed = Feed::new();
        // The round of the first loss begins the first stretch, whose own losses count only from there on.
        feed.rounds(&[3, 3, 3, 3]);
        assert_eq!(feed.policer.found, Some(100.0), "30 segments in 300 ms");
        assert_eq!(feed.policer.rate(), None);
        feed.rounds(&[3, 3, 3]);
        assert_eq!(feed.policer.rate(), None);
        feed.round(3);
        assert_eq!(feed.policer.rate(), Some(100.0));
    }

    #[test]
    fn fewer_losses_do_not() {
        let mut feed = Feed::new();
        // 49 / 256 of what is delivered would be 1.91 of ten.
        feed.rounds(&[1; 40]);
        assert_eq!(feed.policer.found, None);
        assert_eq!(feed.policer.rate(), None);
    }

    #[test]
    fn rates_that_are_not_alike_do_not_but_the_second_is_remembered() {
        let mut feed = Feed::new();
        feed.rounds(&[3, 3, 3, 3]);
        for _ in 0..4 {
            feed.round_of(20, 6, false);
        }
        assert_eq!(feed.policer.rate(), None);
        assert_eq!(feed.policer.found, Some(200.0));
        for _ in 0..4 {
            feed.round_of(21, 6, false);
        }
        assert_eq!(feed.policer.rate(), Some(205.0), "of 200 and 210");
    }

    #[test]
    fn a_stretch_that_the_application_limits_or_without_losses_is_forgotten() {
        let mut feed = Feed::new();
        feed.rounds(&[3, 3, 3, 3]);
        feed.round_of(10, 3, true);
        assert_eq!(feed.policer.found, None);
        feed.rounds(&[3, 3, 3, 3]);
        assert_eq!(feed.policer.found, Some(100.0));
        feed.rounds(&[0; 17]);
        assert_eq!(feed.policer.found, None);
    }

    #[test]
    fn its_rate_is_kept_to_for_48_rounds_of_the_cycle() {
        let mut feed = Feed::new();
        feed.rounds(&[3; 8]);
        assert!(feed.policer.rate().is_some());
        assert!(!feed.policer.is_over(true, false), "not of the cycle");
        for _ in 1..48 {
            assert!(!feed.policer.is_over(true, true));
            assert!(!feed.policer.is_over(false, true));
        }
        assert!(feed.policer.is_over(true, true));
        assert_eq!(feed.policer.rate(), None);
    }

    #[test]
    fn a_timeout_ends_a_round() {
        let mut feed = Feed::new();
        feed.rounds(&[3, 3, 3]);
        feed.policer.on_timeout();
        feed.round(3);
        assert_eq!(feed.policer.found, Some(100.0), "one round earlier");
        assert_eq!(feed.policer.rounds, 0);
    }
}
