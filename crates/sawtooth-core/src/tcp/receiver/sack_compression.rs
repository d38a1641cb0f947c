//! Fewer acknowledgements while segments are missing.
//!
//! Specification: the kernel's ip-sysctl documentation (`tcp_comp_sack_delay_ns`: "a timer based on 5 % of SRTT, capped by this sysctl",
//! `tcp_comp_sack_slack_ns`, `tcp_comp_sack_nr`).
//!
//! What the document leaves open is as measured of Linux 6.1, with segments lost and these settings changed one by one:
//! - A segment out of order is acknowledged at once if it is one of the first three (DupThresh, RFC 5681 §3.2) since the acknowledgement number
//!   last moved. All others wait for the timer, which the first of them starts, or for `tcp_comp_sack_nr` to be waiting: the next is acknowledged at once.
//!   That of a segment which fills a hole in part is one of the three, unless it lets others through and the window offered is no smaller than before.
//! - SRTT is what the receiver has measured of the handshake, however long the queue has become since, or what it has measured of data, in whole milliseconds, if that is less:
//!   a wait was 28 us shorter than of the handshake alone.
//! - A segment that begins another block, with two or more before it, ends the wait: what waits is acknowledged, and the segment with what comes next.
//! - What the timer sends has the timestamp of when the last segment came (acknowledgements 18.27 ms apart, the second of them 1.1 ms late, had timestamps 17 ms apart).
//! - Linux leaves the timer of a delayed acknowledgement running after its acknowledgement has left otherwise, and when it expires what waits is acknowledged:
//!   a segment that came at 779.987 ms was acknowledged at 780 ms, the tick at which an earlier delay would have been over.
//! - What fills a hole, even in part, what repeats another, and what lets the window open is acknowledged at once.
//!
//! Deviations: the slack is always waited for in full; in Linux a clock tick within it ends the wait.

use crate::tcp::clock::Clock;
use crate::units::{Duration, Instant, SegCount, SeqNum};

/// What ip-sysctl sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SackCompressionSettings {
    pub delay: Duration,
    pub slack: Duration,
    pub max: SegCount,
    /// The host's.
    pub clock: Clock,
}

/// Part of a round trip that the timer waits.
const SHARE: f64 = 0.05;
/// Blocks besides which another one does not wait.
const EXPECTED_BLOCKS: usize = 2;
/// Acknowledgements that start a fast retransmission.
const AT_ONCE: SegCount = SegCount::new(3);

/// Which segments out of order are acknowledged later.
#[derive(Debug)]
pub(crate) struct SackCompression {
    settings: SackCompressionSettings,
    /// The acknowledgement number of the last ones, and how many have left at once with it.
    next: SeqNum,
    at_once: SegCount,
    waiting: SegCount,
    /// When the last of those that wait came.
    last: Instant,
    /// When the last delayed acknowledgement was due, whether it left before or not.
    delay_over: Instant,
}

impl SackCompression {
    pub(crate) fn new(settings: SackCompressionSettings) -> Self {
        Self {
            settings,
            next: SeqNum::ZERO,
            at_once: SegCount::ZERO,
            waiting: SegCount::ZERO,
            last: Instant::NEVER,
            delay_over: Instant::START,
        }
    }

    /// A segment comes out of order `now`, while `next` is expected, over a path whose round trip is `rtt` if that is known; `besides`: it begins
    /// a block, and so many others are there. Until when its acknowledgement waits if no other does yet; nothing: not at all.
    pub(crate) fn on_segment(
        &mut self,
        now: Instant,
        next: SeqNum,
        besides: Option<usize>,
        rtt: Option<Duration>,
    ) -> Option<Instant> {
        if next != self.next {
            (self.next, self.at_once) = (next, SegCount::ZERO);
        }
        if self.at_once < AT_ONCE {
            self.at_once += SegCount::ONE;
            return None;
        }
        if self.is_over(besides) || self.waiting >= self.settings.max {
            return None;
        }
        self.waiting += SegCount::ONE;
        self.last = now;
        let most = self.settings.delay;
        let wait = rtt.map_or(most, |rtt| most.min(rtt * SHARE));
        let clock = self.settings.clock;
        let end = clock.told(clock.read(now) + wait + self.settings.slack);
        let is_sooner = now < self.delay_over && self.delay_over < end;
        Some(if is_sooner { self.delay_over } else { end })
    }

    /// The timer of a delayed acknowledgement runs until then, whatever becomes of that.
    #[inline]
    pub(crate) fn on_delay(&mut self, due: Instant) {
        self.delay_over = due;
    }

    /// A segment fills a hole in part, up to `next`: its acknowledgement is one of those that leave at once.
    pub(crate) fn on_fill(&mut self, next: SeqNum) {
        (self.next, self.at_once) = (next, SegCount::ONE);
    }

    /// Whether what waits is acknowledged because a segment begins another block; `besides` as for [`Self::on_segment`].
    pub(crate) fn is_over(&self, besides: Option<usize>) -> bool {
        self.is_waiting() && besides.is_some_and(|blocks| blocks >= EXPECTED_BLOCKS)
    }

    /// Whether the acknowledgement that waits is for segments out of order.
    pub(crate) fn is_waiting(&self) -> bool {
        !self.waiting.is_zero()
    }

    /// When the acknowledgement that a timer sends at `due` says that it leaves: its own timer says when the last segment came that waits.
    pub(crate) fn stamped_at(&self, due: Instant) -> Instant {
        if self.is_waiting() && due != self.delay_over {
            self.last
        } else {
            due
        }
    }

    /// An acknowledgement leaves.
    pub(crate) fn on_ack(&mut self) {
        self.waiting = SegCount::ZERO;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::at;

    const ONE: SeqNum = SeqNum::new(1);
    const LINUX: SackCompressionSettings = SackCompressionSettings {
        delay: Duration::from_secs(1e-3),
        slack: Duration::from_secs(1e-4),
        max: SegCount::new(44),
        clock: Clock::EXACT,
    };

    #[test]
    fn three_leave_at_once_whenever_the_acknowledgement_number_has_moved() {
        let mut compression = SackCompression::new(LINUX);
        let mut delays = |next| {
            [(); 5].map(|()| {
                compression
                    .on_segment(Instant::START, SeqNum::new(next), None, None)
                    .is_some()
            })
        };
        assert_eq!(delays(70), [false, false, false, true, true]);
        assert_eq!(delays(71), [false, false, false, true, true]);
    }

    #[test]
    fn what_fills_a_hole_in_part_is_one_of_the_three() {
        let mut compression = SackCompression::new(LINUX);
        let next = SeqNum::new(17);
        compression.on_fill(next);
        let delays = [(); 3].map(|()| {
            compression
                .on_segment(Instant::START, next, None, None)
                .is_some()
        });
        assert_eq!(delays, [false, false, true]);
    }

    #[test]
    fn the_timer_is_a_twentieth_of_the_round_trip_as_far_as_the_limit() {
        // Measured: round trips of 10.096 and 40.096 ms, limits of 1 and 4 ms: 0.60, 1.10 and 2.10 ms with the slack.
        for (rtt, limit, delay) in [
            (0.010_096, 1e-3, 0.000_604_8),
            (0.040_096, 1e-3, 0.001_1),
            (0.040_096, 4e-3, 0.002_104_8),
        ] {
            let mut compression = SackCompression::new(SackCompressionSettings {
                delay: Duration::from_secs(limit),
                ..LINUX
            });
            let last = (0..4)
                .map(|_| {
                    compression.on_segment(
                        Instant::START,
                        ONE,
                        None,
                        Some(Duration::from_secs(rtt)),
                    )
                })
                .last();
            let last = last.flatten().expect("the fourth waits");
            let last = (last - Instant::START).secs();
            assert!((last - delay).abs() < 1e-12, "{last} {delay}");
        }
    }

    #[test]
    fn the_timer_of_a_delayed_acknowledgement_ends_the_wait() {
        // Measured with the first; by the rule with the others: one that is over, and one that is too late.
        for (over, end, stamp) in [
            (0.78, 0.78, 0.78),
            (0.77, 0.781_087, 0.779_987),
            (0.79, 0.781_087, 0.779_987),
        ] {
            let mut compression = SackCompression::new(LINUX);
            compression.on_delay(at(over));
            let ends = [(); 4].map(|()| compression.on_segment(at(0.779_987), ONE, None, None));
            let found = ends[3].expect("the fourth waits");
            assert!((found.secs() - end).abs() < 1e-9);
            assert!((compression.stamped_at(found).secs() - stamp).abs() < 1e-9);
        }
    }

    #[test]
    fn a_block_besides_two_others_ends_the_wait() {
        // Measured: every second, third, fourth and sixth segment lost, and how many segment times after the first that came out of order
        // acknowledgements left.
        for (every, left) in [
            (2, &[0, 2, 4, 8, 12, 16, 20, 24, 28][..]),
            (3, &[0, 1, 3, 6, 9, 12, 15, 18, 21, 24, 27]),
            (4, &[0, 1, 2, 8, 12, 16, 20, 24, 28]),
            (6, &[0, 1, 2, 12, 18, 24]),
        ] {
            let mut compression = SackCompression::new(LINUX);
            let mut at_once = Vec::new();
            for time in (0..29).filter(|time| time % every != every - 1) {
                let besides = (time % every == 0).then_some(time / every);
                if compression
                    .on_segment(Instant::START, ONE, besides, None)
                    .is_none()
                {
                    compression.on_ack();
                    at_once.push(time);
                }
            }
            assert_eq!(at_once, left, "every {every}th lost");
        }
    }

    #[test]
    fn no_more_than_the_limit_wait_together() {
        // Measured with tcp_comp_sack_nr = 2: every third is acknowledged.
        let mut compression = SackCompression::new(SackCompressionSettings {
            max: SegCount::new(2),
            ..LINUX
        });
        let mut at_once = Vec::new();
        for number in 0..12 {
            if compression
                .on_segment(Instant::START, ONE, None, Some(Duration::from_secs(0.08)))
                .is_none()
            {
                compression.on_ack();
                at_once.push(number);
            }
        }
        assert_eq!(at_once, [0, 1, 2, 5, 8, 11]);
    }
}
