//! A link by its delivery opportunities, as mahimahi's `mm-link` has them.
//!
//! Specification: the manual page mm-link(1), and Netravali et al., "Mahimahi: Accurate Record-and-Replay for HTTP", USENIX ATC 2015, §4.1.
//!
//! **Model.** Every line is a time in whole milliseconds at which 1500 bytes can leave; repeated lines are several such opportunities. Bytes are
//! counted: an opportunity lets several small packets go, and what one leaves over of a packet leaves with the next, which is when the packet
//! leaves. An opportunity, or the rest of one, is lost if nothing waits at its instant; so is it for a packet that arrives at just that
//! instant. After its last line the trace starts again: the last time is also the length of a lap.
//!
//! Deviation: `mm-link` counts a packet as its TUN device hands it over, this the bytes on the wire that the scenario says.

use std::sync::Arc;

use super::{Outage, Service, outage};
use crate::units::{ByteCount, Duration, Instant, Rate};

/// Bytes that may leave at one line of a trace.
const OPPORTUNITY: ByteCount = ByteCount::new(1500);

/// Times of delivery opportunities in milliseconds, ascending; the last one is above zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace(Vec<u64>);

impl Trace {
    /// Nothing if there are no times, or if they do not ascend, or if all are zero.
    pub fn new(millis: Vec<u64>) -> Option<Self> {
        let ascends = millis.is_sorted();
        (ascends && millis.last().is_some_and(|last| *last > 0)).then_some(Self(millis))
    }

    fn lap_millis(&self) -> u64 {
        self.0.last().copied().unwrap_or(1)
    }

    /// Mean over a lap.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn mean_rate(&self) -> Rate {
        let bits = 8 * OPPORTUNITY.get() * self.0.len() as u64;
        Rate::from_bps(bits as f64 * 1e3 / self.lap_millis() as f64)
    }

    /// Bits that can leave before `end`.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub(crate) fn capacity_bits(&self, end: Instant) -> f64 {
        let end = end.secs();
        let lap_secs = seconds(self.lap_millis());
        let laps = libm::floor(end / lap_secs).max(0.0);
        let rest = end - laps * lap_secs;
        let partial = self.0.partition_point(|millis| seconds(*millis) < rest);
        let opportunities = laps * self.0.len() as f64 + partial as f64;
        8.0 * OPPORTUNITY.as_f64() * opportunities
    }
}

#[expect(clippy::cast_precision_loss, reason = "times are far below 2^53")]
fn seconds(millis: u64) -> f64 {
    millis as f64 / 1e3
}

/// The opportunities of a trace, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Opportunities {
    trace: Arc<Trace>,
    lap: u64,
    line: usize,
    /// Bytes left of the one at hand.
    left: ByteCount,
}

impl Opportunities {
    pub(super) fn new(trace: Arc<Trace>) -> Self {
        Self {
            trace,
            lap: 0,
            line: 0,
            left: OPPORTUNITY,
        }
    }

    fn time(&self) -> Instant {
        let millis = self.lap * self.trace.lap_millis() + self.trace.0[self.line];
        Instant::from_secs(seconds(millis))
    }

    fn next(&mut self) {
        self.left = OPPORTUNITY;
        self.line += 1;
        if self.line == self.trace.0.len() {
            (self.line, self.lap) = (0, self.lap + 1);
        }
    }

    /// To the first one after `start`; whole laps are not walked through.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a whole number of laps"
    )]
    fn skip_past(&mut self, start: Instant) {
        let lap = Duration::from_secs(seconds(self.trace.lap_millis()));
        let whole = libm::floor((start - self.time()) / lap) - 1.0;
        if whole > 0.0 {
            self.lap += whole as u64;
            self.left = OPPORTUNITY;
        }
        while self.time() <= start {
            self.next();
        }
    }

    /// When the last byte leaves of a packet whose turn begins at `start`; never if that is not before `horizon`.
    pub(super) fn transmit(
        &mut self,
        start: Instant,
        horizon: Instant,
        size: ByteCount,
        service: Service,
        outages: &[Outage],
    ) -> Instant {
        if service == Service::Fresh {
            self.skip_past(start);
        }
        let mut remaining = size;
        while self.time() < horizon {
            if self.left.is_zero() {
                self.next();
            }
            if let Some(until) = outage::standstill(outages, self.time()) {
                while self.time() < until {
                    self.next();
                }
                continue;
            }
            let used = self.left.min(remaining);
            self.left -= used;
            remaining -= used;
            if remaining.is_zero() {
                return self.time();
            }
        }
        Instant::NEVER
    }
}
