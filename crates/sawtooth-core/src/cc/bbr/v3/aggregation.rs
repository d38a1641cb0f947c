//! The largest of recent rounds, and how much more is acknowledged at once than the path's rate accounts for.

use std::collections::VecDeque;

use crate::cc::AckedData;
use crate::units::Instant;

/// The largest of the values of the last so many rounds.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowedMax {
    /// Rounds and values, each value below the one before it.
    samples: VecDeque<(u64, f64)>,
}

impl WindowedMax {
    /// A sample of `round`, which is one of the last `rounds`.
    pub(super) fn add(&mut self, value: f64, round: u64, rounds: u64) {
        while self
            .samples
            .back()
            .is_some_and(|&(_, known)| known <= value)
        {
            self.samples.pop_back();
        }
        // A smaller value of the same round is never the largest: there is one sample a round, at most.
        if self.samples.back().is_none_or(|&(known, _)| known < round) {
            self.samples.push_back((round, value));
        }
        self.forget(round, rounds);
    }

    /// Drops what is older than the last `rounds`, of which `round` is one; the last sample stays.
    pub(super) fn forget(&mut self, round: u64, rounds: u64) {
        while self.samples.len() > 1
            && self
                .samples
                .front()
                .is_some_and(|&(then, _)| then + rounds <= round)
        {
            self.samples.pop_front();
        }
    }

    pub(super) fn get(&self) -> f64 {
        self.samples.front().map_or(0.0, |&(_, value)| value)
    }
}

/// How much more is acknowledged at once than the path's rate accounts for (draft-ietf-ccwg-bbr §5.5.9).
#[derive(Clone, Debug, Default)]
pub(super) struct Aggregation {
    since: f64,
    delivered: f64,
    extra: WindowedMax,
}

impl Aggregation {
    pub(super) fn on_ack(
        &mut self,
        ack: &AckedData,
        bandwidth: f64,
        cwnd: f64,
        round: u64,
        rounds: u64,
    ) {
        let mut expected = bandwidth * (ack.now.secs() - self.since);
        if self.delivered <= expected {
            self.restart(ack.now);
            expected = 0.0;
        }
        self.delivered += ack.delivered.as_f64();
        let extra = (self.delivered - expected).min(cwnd);
        self.extra.add(extra, round, rounds);
    }

    pub(super) fn restart(&mut self, now: Instant) {
        self.delivered = 0.0;
        self.since = now.secs();
    }

    pub(super) fn extra(&self) -> f64 {
        self.extra.get()
    }
}
