//! The timer: it has one purpose at a time.
//!
//! Specifications: RFC 8985 §6.2 step 5 (losses are looked for again), §7.2 (a probe), §8 (they share one timer with the timeout); RFC 6298 §5.

use super::tlp;
use crate::events::{Child, Event, Key};
use crate::tcp::sender::tx::Tx;

/// What it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    Timeout,
    Probe,
    Reordering,
}

#[derive(Debug)]
pub struct Timer {
    pub purpose: Purpose,
    /// When it expires.
    pub deadline: Key,
    /// Something has happened that sets it anew: once, when nothing is left to be sent.
    pub arm_due: bool,
    /// When the retransmission timer was last restarted.
    pub restarted: f64,
}

/// What decides for what it is needed next.
#[derive(Clone, Copy, Debug)]
pub struct Situation {
    /// Nothing is outstanding.
    pub idle: bool,
    /// When losses were looked for, and how much later they are to be looked for again.
    pub look_again: Option<(f64, f64)>,
    /// A probe would tell something: nothing is known to be lost or to have arrived out of order, and none is out.
    pub may_probe: bool,
}

impl Timer {
    pub fn new() -> Self {
        Self {
            purpose: Purpose::Timeout,
            deadline: Key::NEVER,
            arm_due: false,
            restarted: 0.0,
        }
    }

    /// The retransmission timer starts anew.
    pub fn restart(&mut self, now: Event) {
        self.restarted = now.time;
        self.arm_due = true;
    }

    /// Sets it for what it is needed for next.
    pub fn arm(&mut self, tx: &Tx, now: Event, situation: Situation) {
        self.purpose = Purpose::Timeout;
        if situation.idle {
            self.deadline = Key::NEVER;
            return;
        }
        let slack = tx.config.probe_slack;
        let timeout = tx.timers.rto.timeout_secs();
        let (mut since, mut wait) = (self.restarted, timeout);
        if let Some((looked, again)) = situation.look_again {
            (since, wait) = (looked, again + slack);
            self.purpose = Purpose::Reordering;
        } else if let Some(srtt) = tx.timers.rto.srtt_secs()
            && situation.may_probe
            && tx.config.tail_loss_probe
        {
            let max_ack_delay = tx.config.probe_max_ack_delay;
            let pto = tlp::pto(srtt, tx.seq.flight_size(), max_ack_delay, slack);
            if now.time + pto < self.restarted + timeout {
                (since, wait) = (now.time, pto);
                self.purpose = Purpose::Probe;
            }
        }
        let deadline = tx.config.timer_tick.expiry(since, wait);
        self.deadline = now.schedule(deadline.max(now.time), Child::Timer);
    }

    /// The earlier of this and of `pace`, when the next segment may leave.
    pub fn or(&self, pace: Key) -> Key {
        if pace.time < self.deadline.time {
            pace
        } else {
            self.deadline
        }
    }
}
