//! How round-trip times change from one round trip to the next (§3 of the paper), seconds.

use std::collections::VecDeque;

use crate::cc::AckedData;
use crate::units::{Duration, SeqNum};

/// A number of each, for RTT_min and RTT_max.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pair {
    pub(super) min: f64,
    pub(super) max: f64,
}

impl Pair {
    const NO_SAMPLE: Self = Self {
        min: f64::INFINITY,
        max: 0.0,
    };
    const ZERO: Self = Self { min: 0.0, max: 0.0 };

    fn change(self, since: Self, round_trips: f64) -> Self {
        Self {
            min: (self.min - since.min) / round_trips,
            max: (self.max - since.max) / round_trips,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct Gradients {
    /// Round trips that `g_bar` is the mean of.
    window: usize,
    /// The extremes of the last round trips.
    rtts: VecDeque<Pair>,
    /// Those of the present one, which ends when more than `end` has been acknowledged.
    pub(super) rtt: Pair,
    pub(super) end: SeqNum,
    /// The mean gradient of the last round trips.
    pub(super) g_bar: Pair,
}

impl Gradients {
    pub(super) fn new(window: usize) -> Self {
        Self {
            window,
            rtts: VecDeque::with_capacity(window + 2),
            rtt: Pair::NO_SAMPLE,
            end: SeqNum::ZERO,
            g_bar: Pair::ZERO,
        }
    }

    pub(super) fn sample(&mut self, rtt: Duration) {
        self.rtt.min = self.rtt.min.min(rtt.secs());
        self.rtt.max = self.rtt.max.max(rtt.secs());
    }

    /// Whether an acknowledgement ends the round trip.
    pub(super) fn ends(&mut self, ack: &AckedData) -> bool {
        // The first segment that was sent in it is acknowledged: with the last one before it, rounds would end ever earlier in slow start.
        let ended = ack.snd_una > self.end;
        if ended {
            self.end = ack.snd_nxt;
        }
        ended
    }

    /// The round trip has ended: its gradient `g`, once there are two with samples; `g_bar` is then that up to this one.
    #[expect(clippy::cast_precision_loss, reason = "a window is small")]
    pub(super) fn gradient(&mut self) -> Option<Pair> {
        let rtt = std::mem::replace(&mut self.rtt, Pair::NO_SAMPLE);
        if rtt == Pair::NO_SAMPLE {
            return None;
        }
        let last = self.rtts.back().copied();
        self.rtts.push_back(rtt);
        if self.rtts.len() > self.window + 1 {
            self.rtts.pop_front();
        }
        let g = rtt.change(last?, 1.0);
        self.g_bar = rtt.change(self.rtts[0], self.window as f64);
        Some(g)
    }

    /// What was measured counts no more.
    pub(super) fn forget(&mut self) {
        self.rtts.clear();
        self.rtt = Pair::NO_SAMPLE;
        self.g_bar = Pair::ZERO;
    }
}
