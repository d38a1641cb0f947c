//! What both versions measure: rounds, the largest rate of recent rounds, the aggregation of acknowledgements, and which samples are ignored.

use std::collections::VecDeque;

use crate::cc::{AckedData, RateSample};
use crate::units::{Instant, SegCount};

/// A count, to compute with.
#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
pub(super) const fn real(count: u64) -> f64 {
    count as f64
}

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

/// The delivery rate that a sample shows, segments per second.
pub(super) fn delivery_rate(sample: &RateSample) -> f64 {
    sample.delivered.as_f64() / sample.interval.secs()
}

/// Round trips counted in segments: one ends when something arrives that was sent after the last one ended.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    pub count: u64,
    /// Segments delivered when this round began, and now.
    begun_at: SegCount,
    delivered: SegCount,
    /// Whether the last acknowledgement started a round.
    pub started: bool,
}

impl Rounds {
    pub(super) fn on_ack(&mut self, ack: &AckedData) {
        self.started = false;
        let Some(rate) = ack.rate else {
            self.delivered += ack.delivered;
            return;
        };
        self.delivered = rate.total_delivered;
        if rate.prior_delivered >= self.begun_at {
            self.restart();
            self.count += 1;
            self.started = true;
        }
    }

    /// The round that runs now begins now.
    pub(super) fn restart(&mut self) {
        self.begun_at = self.delivered;
    }

    /// Segments delivered over the connection's life.
    pub(super) fn delivered(&self) -> SegCount {
        self.delivered
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

/// Which samples of the rate say nothing, because the algorithm itself kept the window small while they were sent: what the draft
/// marks as limited by the application.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ignored(Option<(SegCount, SegCount)>);

impl Ignored {
    /// From what is sent now until all that is in the path now has arrived, nothing counts.
    pub(super) fn mark(&mut self, delivered: SegCount, pipe: SegCount) {
        let until = delivered + pipe;
        self.0 = Some(match self.0 {
            Some((from, before)) if before >= delivered => (from, until),
            _ => (delivered, until),
        });
    }

    pub(super) fn app_limited(&self, rate: &RateSample) -> bool {
        rate.app_limited
            || self
                .0
                .is_some_and(|(from, until)| (from..=until).contains(&rate.prior_delivered))
    }
}

/// The round-trip time until there is one, seconds.
pub(super) const NOMINAL_RTT: f64 = 1e-3;
