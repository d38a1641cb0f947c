//! The senders of a class: between what comes back to them and what they send.

use std::collections::VecDeque;

use super::law::FluidLaw;
use super::pipe::Flowed;
use super::windows::{AimdWindows, PathFeedback};
use crate::units::{Duration, Instant};

/// Flows of one path and one law.
#[derive(Clone, Debug)]
pub struct FluidClass {
    law: FluidLaw,
    windows: AimdWindows,
    /// When flows send their first data, and how many do.
    beginnings: VecDeque<(Instant, f64)>,
    /// Segments that were sent and of which nothing has been heard.
    outstanding: f64,
    totals: ClassTotals,
}

/// What a class has done since the run began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClassTotals {
    /// Bytes on the wire that its flows have sent.
    pub sent_bytes: f64,
    /// Those that were acknowledged.
    pub acked_bytes: f64,
    /// Those that its flows have heard to be lost.
    pub lost_bytes: f64,
    /// Times that a flow has reduced its window and recovered.
    pub reductions: f64,
    /// Times that a flow has waited for a retransmission timeout.
    pub timeouts: f64,
    /// The sums over time of flows, of their windows and of their round-trip times.
    flow_secs: f64,
    window_secs: f64,
    rtt_secs: f64,
}

impl ClassTotals {
    /// A flow's window, segments, mean over the time since it began; unknown of flows that have not.
    pub fn mean_window(&self) -> Option<f64> {
        (self.flow_secs > 0.0).then(|| self.window_secs / self.flow_secs)
    }

    /// A flow's round-trip time, propagation and queues, mean over the same time.
    pub fn mean_rtt(&self) -> Option<Duration> {
        (self.flow_secs > 0.0).then(|| Duration::from_secs(self.rtt_secs / self.flow_secs))
    }
}

impl FluidClass {
    /// Flows that send their first data at these times, so many at each.
    pub fn new(law: FluidLaw, mut beginnings: Vec<(Instant, f64)>) -> Self {
        beginnings.sort_by(|one, other| one.0.total_cmp(&other.0));
        Self {
            law,
            windows: AimdWindows::new(law),
            beginnings: beginnings.into(),
            outstanding: 0.0,
            totals: ClassTotals::default(),
        }
    }

    /// At `now`, after a step in which this has come back over a path whose round trip now takes `rtt`: bytes that are sent until the next step.
    pub fn step(&mut self, now: Instant, step: Duration, back: Flowed, rtt: Duration) -> f64 {
        let segment = self.law.segment.as_f64();
        let (acked, lost) = (back.bytes / segment, back.lost / segment);
        self.outstanding = (self.outstanding - acked - lost).max(0.0);
        self.windows.on_feedback(&PathFeedback {
            now,
            step,
            acked,
            lost,
            sent: back.sent,
            rtt,
        });
        while let Some((begin, flows)) = self.beginnings.front()
            && *begin <= now
        {
            self.windows.begin(*flows);
            self.beginnings.pop_front();
        }
        let sent = (self.windows.segments() - self.outstanding).max(0.0);
        self.outstanding += sent;
        self.note(step, back, rtt, sent * segment);
        sent * segment
    }

    fn note(&mut self, step: Duration, back: Flowed, rtt: Duration, sent_bytes: f64) {
        let totals = &mut self.totals;
        totals.sent_bytes += sent_bytes;
        totals.acked_bytes += back.bytes;
        totals.lost_bytes += back.lost;
        let flows = self.windows.flows();
        totals.flow_secs += flows * step.secs();
        totals.window_secs += self.windows.segments() * step.secs();
        totals.rtt_secs += flows * rtt.secs() * step.secs();
    }

    /// What it has done until now.
    pub fn totals(&self) -> ClassTotals {
        ClassTotals {
            reductions: self.windows.reductions.by_recovery,
            timeouts: self.windows.reductions.by_timeout,
            ..self.totals
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::pipe::{Parcel, Pipe};
    use super::super::windows::Reductions;
    use super::*;
    use crate::registry::{Params, Value};
    use crate::tcp::{self, Config};
    use crate::units::testing::secs;

    const RTT: f64 = 0.1;
    const STEP: f64 = 0.001;

    fn law(window_limit: u64) -> FluidLaw {
        let mut params = Params::defaults(tcp::PARAMS);
        params.set("ack_every", Value::Integer(1));
        params.set("window_limit", Value::Packets(window_limit));
        FluidLaw::new(&Config::from(&params), 1.0, 0.5)
    }

    /// Flows over a path without a queue that loses this share of everything, and the bytes that are on their way at the end.
    fn over_lossy_path(
        law: FluidLaw,
        flows: f64,
        share: f64,
        duration_secs: f64,
    ) -> (FluidClass, f64) {
        let mut class = FluidClass::new(law, vec![(Instant::START, flows)]);
        let mut pipe = Pipe::default();
        let (step, mut now) = (secs(STEP), Instant::START);
        while now.secs() < duration_secs {
            let back = pipe.take_until(now);
            let sent = Flowed {
                bytes: class.step(now, step, back, secs(RTT)),
                lost: 0.0,
                sent: now,
            };
            let parcel = Parcel {
                from: now,
                until: now + step,
                content: sent.with_losses(share),
            };
            pipe.push(parcel.later(secs(RTT - STEP)));
            now += step;
        }
        let content = pipe.content();
        (class, content)
    }

    #[test]
    fn windows_are_those_of_random_losses_by_the_square_root() {
        for share in [1e-3, 1e-4] {
            let (class, _) = over_lossy_path(law(400), 100.0, share, 400.0);
            let found = class.totals().mean_window().expect("flows") * share.sqrt();
            // 1.3098 (Ott, Kemperman and Mathis 1996), of which recoveries take a little and the start gives a little, as its windows are limited.
            assert!(
                (found / 1.31 - 1.0).abs() < 0.06,
                "W sqrt(p) is {found} at {share}"
            );
        }
    }

    #[test]
    fn what_was_sent_is_acknowledged_or_lost_or_on_its_way() {
        let (class, on_its_way) = over_lossy_path(law(1000), 10.0, 0.01, 50.0);
        let totals = class.totals();
        let known = totals.acked_bytes + totals.lost_bytes + on_its_way;
        assert!((totals.sent_bytes / known - 1.0).abs() < 1e-9);
        assert!((totals.lost_bytes / totals.sent_bytes - 0.01).abs() < 1e-3);
    }

    #[test]
    fn no_window_exceeds_its_limit() {
        let (class, on_its_way) = over_lossy_path(law(20), 5.0, 0.0, 20.0);
        let segment = class.law.segment.as_f64();
        assert!((on_its_way / segment - 100.0).abs() < 1e-6);
        assert_eq!(class.totals().reductions, 0.0);
    }

    #[test]
    fn losses_of_one_round_trip_are_one_reduction() {
        // Half of everything is lost in one round trip of flows in slow start: each halves its window once.
        let mut windows = AimdWindows::new(law(1000));
        windows.begin(10.0);
        let feedback = |now: f64, acked, lost, sent: f64| PathFeedback {
            now: Instant::from_secs(now),
            step: secs(STEP),
            acked,
            lost,
            sent: Instant::from_secs(sent),
            rtt: secs(RTT),
        };
        windows.on_feedback(&feedback(0.1, 990.0, 0.0, 0.0));
        let before = windows.segments();
        for step in 0..100 {
            let now = 0.2 + f64::from(step) * STEP;
            windows.on_feedback(&feedback(now, 0.0, before / 200.0, 0.1));
        }
        let Reductions {
            by_recovery,
            by_timeout,
        } = windows.reductions;
        assert!((by_recovery + by_timeout - 10.0).abs() < 0.01);
    }
}
