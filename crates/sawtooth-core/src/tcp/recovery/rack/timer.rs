//! The timer: it has one purpose at a time.
//!
//! Specifications: RFC 8985 §6.2 step 5 (losses are looked for again), §7.2 (a probe), §8 (they share one timer with the timeout); RFC 6298 §5.
//!
//! Deviations: without a round-trip sample RFC 8985 §7.2 has PTO = 1 s; here no probe is due before the first sample, and the timeout is set.

use super::detect::ReorderingTimer;
use super::tlp;
use crate::events::{Event, EventKey};
use crate::tcp::sender::tx::Tx;
use crate::units::{Duration, Instant};

/// What is due already is waited for so long.
const LEAST: Duration = Duration::from_secs(1e-6);

/// What the timer is set for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TimerPurpose {
    Timeout,
    Probe,
    Reordering,
}

#[derive(Debug)]
pub(super) struct RackTimer {
    pub purpose: TimerPurpose,
    /// When it expires.
    pub deadline: EventKey,
    /// Something has happened after which the timer is set anew: once, when nothing is left to be sent.
    pub arm_due: bool,
    /// New data are among it.
    pub has_new: bool,
    /// When the retransmission timer was last restarted.
    pub restarted: Instant,
}

/// What decides what the timer is needed for next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Situation {
    /// Nothing is outstanding.
    pub idle: bool,
    /// The reordering timer, if losses are to be looked for again.
    pub reordering_timer: Option<ReorderingTimer>,
    /// A probe may be sent (RFC 8985 §7.2): nothing is known to be lost or to have arrived out of order, and no probe is outstanding.
    pub may_probe: bool,
    /// When the first segment outstanding left, if the probe is to be no later than its timeout counted from then (`probe_of_first`). Measured of Linux 6.1: with segments sent at 1.085 s and, after
    /// the acknowledgement of one of them at 1.845 s, two more, a timeout of 1.385 s and a round trip of 425 ms, the probe left at 2.47 s.
    pub first_sent: Option<Instant>,
}

impl RackTimer {
    pub(super) fn new() -> Self {
        Self {
            purpose: TimerPurpose::Timeout,
            deadline: EventKey::NEVER,
            arm_due: false,
            has_new: false,
            restarted: Instant::START,
        }
    }

    /// The retransmission timer starts anew.
    pub(super) fn restart(&mut self, now: Event) {
        self.restarted = now.time;
        self.arm_due = true;
    }

    /// Sets the timer for what it is needed for next.
    pub(super) fn arm(&mut self, tx: &Tx, now: Event, situation: Situation) {
        self.purpose = TimerPurpose::Timeout;
        if situation.idle {
            self.deadline = EventKey::NEVER;
            return;
        }
        let slack = tx.config.probe_slack;
        let timeout = tx.timers.rto.timeout();
        let (mut since, mut wait) = (self.restarted, timeout);
        if let Some(reordering) = situation.reordering_timer {
            (since, wait) = (reordering.since, reordering.wait + slack);
            self.purpose = TimerPurpose::Reordering;
        } else if let Some(srtt) = tx.timers.rto.srtt()
            && situation.may_probe
            && tx.config.tail_loss_probe
        {
            let max_ack_delay = tx.config.probe_max_ack_delay;
            let pto = tlp::pto(srtt, tx.seq.flight_size(), max_ack_delay, slack);
            // Measured of Linux 6.1: with one segment outstanding, a round trip of 26 ms and a timeout of 226 ms a probe leaves when that is over, and the timeout is due so much later.
            let first_sent = situation.first_sent.unwrap_or(self.restarted);
            let mut left = first_sent + timeout - now.time;
            if left < pto {
                // In whole ticks. What is more than a probe waits for makes no difference.
                left = first_sent + tx.config.timer_tick.whole(timeout) - now.time;
            }
            if left > Duration::ZERO {
                (since, wait) = (now.time, pto.min(left));
                self.purpose = TimerPurpose::Probe;
            }
        }
        let deadline = tx.config.timer_tick.expiry(since, wait);
        let ticks = tx.config.timer_tick;
        ticks.set(&mut self.deadline, now, deadline.max(now.time));
    }

    /// Sets it for the timeout of what left at `sent`. Measured of Linux 6.1 with ticks of 10 ms: if it would have been due at 703 ms, and the timer is set at 710, it expires at 730.
    pub(super) fn arm_for_timeout_since(&mut self, tx: &Tx, now: Event, sent: Instant) {
        let ticks = tx.config.timer_tick;
        let due = sent + ticks.whole(tx.timers.rto.timeout());
        let deadline = ticks.expiry(now.time, (due - now.time).max(LEAST));
        self.purpose = TimerPurpose::Timeout;
        ticks.set(&mut self.deadline, now, deadline.max(now.time));
    }

    /// The earlier of this and of `pace`, when the next segment may leave.
    pub(super) fn or(&self, pace: EventKey) -> EventKey {
        if pace.time < self.deadline.time {
            pace
        } else {
            self.deadline
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Child;
    use crate::tcp::recovery::testing::Rig;
    use crate::units::testing::{at, secs};

    const QUIET: Situation = Situation {
        idle: false,
        reordering_timer: None,
        may_probe: true,
        first_sent: None,
    };

    /// For what it is set at 1 s, and when it expires, after a round trip of 100 ms was measured and two segments were sent.
    fn armed(situation: Situation, restarted: f64) -> (TimerPurpose, Instant) {
        let mut rig = Rig::sending("rack", 2, &[]);
        rig.tx.timers.rto.sample(at(0.0), secs(0.1));
        rig.now = 1.0;
        let now = rig.event();
        let mut timer = RackTimer::new();
        timer.restarted = at(restarted);
        timer.arm(&rig.tx, now, situation);
        (timer.purpose, timer.deadline.time)
    }

    #[test]
    fn rfc8985_7_2_a_probe_is_due_after_two_round_trips_but_not_later_than_the_timeout_would_be() {
        assert_eq!(armed(QUIET, 1.0), (TimerPurpose::Probe, at(1.2)));
        // The timeout is one second at least (RFC 6298 §2.4): that from 0.1 s is due at 1.1 s.
        assert_eq!(armed(QUIET, 0.1), (TimerPurpose::Probe, at(1.1)));
        assert_eq!(armed(QUIET, 0.0), (TimerPurpose::Timeout, at(1.0)));
        // That of a segment which left at 0.05 s is due at 1.05 s, whenever the timer was restarted.
        let of_first = Situation {
            first_sent: Some(at(0.05)),
            ..QUIET
        };
        assert_eq!(armed(of_first, 1.0), (TimerPurpose::Probe, at(1.05)));
    }

    #[test]
    fn rfc8985_7_2_without_anything_to_find_out_it_is_the_retransmission_timer() {
        let known = Situation {
            may_probe: false,
            ..QUIET
        };
        assert_eq!(armed(known, 1.0), (TimerPurpose::Timeout, at(2.0)));
    }

    #[test]
    fn rfc8985_6_2_step_5_the_reordering_timer_comes_before_both() {
        let reordered = Situation {
            reordering_timer: Some(ReorderingTimer {
                since: at(1.0),
                wait: secs(0.025),
            }),
            ..QUIET
        };
        assert_eq!(armed(reordered, 1.0), (TimerPurpose::Reordering, at(1.025)));
    }

    #[test]
    fn rfc6298_5_2_with_nothing_outstanding_there_is_none_and_the_next_segments_time_comes_first() {
        let idle = Situation {
            idle: true,
            ..QUIET
        };
        assert_eq!(armed(idle, 1.0), (TimerPurpose::Timeout, Instant::NEVER));
        let mut timer = RackTimer::new();
        let mut rig = Rig::sending("rack", 2, &[]);
        let pace = rig.event().schedule(at(0.5), Child::Timer);
        assert_eq!(timer.or(pace).time, at(0.5));
        timer.deadline = rig.event().schedule(at(0.25), Child::Timer);
        assert_eq!(timer.or(pace).time, at(0.25));
    }
}
