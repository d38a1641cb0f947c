//! The windows of a class's flows, which are in one of four phases: slow start, congestion avoidance, recovery, or waiting for a timeout.
//!
//! A phase is how many flows are in it and the sum of their windows. What comes back is of each phase as its windows are of all, so that a flow hears of
//! losses in proportion to its window.

use std::collections::VecDeque;

use super::law::FluidLaw;
use crate::units::{Duration, Instant};

/// Flows of one phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Phase {
    flows: f64,
    /// The sum of their windows, segments.
    windows: f64,
}

impl Phase {
    fn add(&mut self, other: Self) {
        self.flows += other.flows;
        self.windows += other.windows;
    }

    /// Takes out so many flows, which are as large as all are, times `larger`.
    fn take(&mut self, share: f64, larger: f64) -> Self {
        let taken = Self {
            flows: self.flows * share,
            windows: self.windows * (share * larger).min(1.0),
        };
        self.flows -= taken.flows;
        self.windows -= taken.windows;
        taken
    }

    fn mean(&self) -> f64 {
        if self.flows > 0.0 {
            self.windows / self.flows
        } else {
            0.0
        }
    }
}

/// What a step has brought back, in segments, and how long the step was.
#[derive(Clone, Copy, Debug)]
pub(super) struct PathFeedback {
    pub now: Instant,
    pub step: Duration,
    pub acked: f64,
    pub lost: f64,
    /// When the last of it began to be sent.
    pub sent: Instant,
    pub rtt: Duration,
}

/// How often flows have reduced their windows.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Reductions {
    pub by_recovery: f64,
    pub by_timeout: f64,
}

#[derive(Clone, Debug)]
pub(super) struct AimdWindows {
    law: FluidLaw,
    slow_start: Phase,
    avoidance: Phase,
    /// Flows that have heard of a loss, by when they did, until all is acknowledged that was outstanding then (RFC 6582 §3.2): further losses of these segments are of one event.
    recoveries: VecDeque<(Instant, Phase)>,
    recovery: Phase,
    /// Flows that have nothing outstanding; their windows are those with which they go on.
    timeout: Phase,
    /// The share of segments that is lost, averaged over round trips.
    loss: f64,
    pub reductions: Reductions,
}

impl AimdWindows {
    /// Flows in congestion avoidance whose windows are spread as those are that are hit at random: hit flows have windows so much above the mean, E[W²]/E[W]², as E[W] is 1.3098/sqrt(p) and
    /// E[W²] = 2/p (Ott, Kemperman and Mathis, "The stationary behavior of ideal TCP congestion avoidance", 1996).
    const HIT_ABOVE_MEAN: f64 = 2.0 / (1.3098 * 1.3098);

    pub(super) fn new(law: FluidLaw) -> Self {
        Self {
            law,
            slow_start: Phase::default(),
            avoidance: Phase::default(),
            recoveries: VecDeque::new(),
            recovery: Phase::default(),
            timeout: Phase::default(),
            loss: 0.0,
            reductions: Reductions::default(),
        }
    }

    /// So many more flows begin.
    pub(super) fn begin(&mut self, flows: f64) {
        let windows = flows * self.law.initial_window.min(self.law.window_limit);
        self.slow_start.add(Phase { flows, windows });
    }

    /// What may be outstanding, segments.
    pub(super) fn segments(&self) -> f64 {
        self.slow_start.windows + self.avoidance.windows + self.recovery.windows
    }

    /// Flows that have begun.
    pub(super) fn flows(&self) -> f64 {
        let phases = [self.slow_start, self.avoidance, self.recovery, self.timeout];
        phases.iter().map(|phase| phase.flows).sum()
    }

    /// Acknowledgements and reports of losses have come back.
    pub(super) fn on_feedback(&mut self, feedback: &PathFeedback) {
        self.end_recoveries(feedback.sent);
        self.end_timeouts(feedback);
        let all = self.segments();
        if all > 0.0 {
            self.grow(feedback.acked, all);
            self.average_loss(feedback);
            self.reduce(feedback, all);
        }
    }

    fn end_recoveries(&mut self, sent: Instant) {
        while let Some((since, phase)) = self.recoveries.front().copied()
            && since <= sent
        {
            self.recoveries.pop_front();
            self.recovery.flows -= phase.flows;
            self.recovery.windows -= phase.windows;
            self.avoidance.add(phase);
        }
        if self.recoveries.is_empty() {
            // Nothing but what rounding has left.
            self.recovery = Phase::default();
        }
    }

    /// Flows that have waited long enough go on. A timeout doubles with each retransmission that is lost, six times at most: their mean sum is T f(p)/(1 - p) (Padhye, Firoiu, Towsley and Kurose, "Modeling TCP
    /// throughput: a simple model and its empirical validation", SIGCOMM 1998).
    fn end_timeouts(&mut self, feedback: &PathFeedback) {
        if self.timeout.flows <= 0.0 {
            return;
        }
        let p = self.loss.min(0.99);
        let doublings = [1.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0];
        let factor = doublings.iter().rev().fold(0.0, |sum, each| sum * p + each) / (1.0 - p);
        let mean = self.law.rto(feedback.rtt) * factor;
        let ended = self.timeout.take(gone(feedback.step / mean), 1.0);
        self.avoidance.add(ended);
    }

    fn grow(&mut self, acked: f64, all: f64) {
        let FluidLaw {
            growth,
            increase,
            window_limit,
            ssthresh,
            ..
        } = self.law;
        self.slow_start.windows *= 1.0 + growth * acked / all;
        self.avoidance.windows += increase * growth * self.avoidance.flows * acked / all;
        let most = |phase: &Phase| phase.flows * window_limit;
        self.slow_start.windows = self.slow_start.windows.min(most(&self.slow_start));
        self.avoidance.windows = self.avoidance.windows.min(most(&self.avoidance));
        if self.slow_start.mean() >= ssthresh {
            let ended = std::mem::take(&mut self.slow_start);
            self.avoidance.add(ended);
        }
    }

    fn average_loss(&mut self, feedback: &PathFeedback) {
        let heard = feedback.acked + feedback.lost;
        if heard > 0.0 {
            let weight = (feedback.step / feedback.rtt).min(1.0);
            self.loss += (feedback.lost / heard - self.loss) * weight;
        }
    }

    /// Losses are of flows at random, in proportion to their windows: the flows of a phase that hear of at least one reduce.
    fn reduce(&mut self, feedback: &PathFeedback, all: f64) {
        if feedback.lost <= 0.0 {
            return;
        }
        let per_segment = feedback.lost / all;
        let hit = |phase: &mut Phase, above: f64| {
            let share = gone(per_segment * phase.mean());
            phase.take(share, above)
        };
        let mut reduced = hit(&mut self.slow_start, 1.0);
        reduced.add(hit(&mut self.avoidance, Self::HIT_ABOVE_MEAN));
        if reduced.flows <= 0.0 {
            return;
        }
        let without_timeout = 1.0 - self.timeouts_among(reduced.mean());
        reduced.windows = (reduced.windows * self.law.beta).max(2.0 * reduced.flows);
        let recovering = reduced.take(without_timeout, 1.0);
        self.timeout.add(reduced);
        self.recovery.add(recovering);
        self.recoveries.push_back((feedback.now, recovering));
        self.reductions.by_recovery += recovering.flows;
        self.reductions.by_timeout += reduced.flows;
    }

    /// The share of losses that end in a timeout, of windows of this mean: where the window is too small for a fast retransmission, and where that is lost. Windows are spread as those of a
    /// sawtooth, from 2/3 to 4/3 of their mean.
    fn timeouts_among(&self, mean: f64) -> f64 {
        let too_small = (1.5 * self.law.fast_retransmit / mean - 1.0).clamp(0.0, 1.0);
        too_small + (1.0 - too_small) * self.loss
    }
}

/// The share of many that is gone when each of them is hit so many times in the mean, at random.
fn gone(hits: f64) -> f64 {
    -libm::expm1(-hits)
}
