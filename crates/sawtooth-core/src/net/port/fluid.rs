//! A drop-tail FIFO that fluid shares with packets: fluid comes at a rate that holds from step to step, and occupies the transmitter and the buffer as packets do.
//!
//! **Model.** The port's work, in bytes that are to be sent, grows with the fluid's rate and by each packet's size at its arrival, and falls with the link's rate. What arrives at `t` begins to leave at
//! `t + work(t) / rate`, so that packets queue behind fluid and fluid behind packets.
//!
//! **Drops.** Fluid is smooth and packets are not: one of two that come together would always find the buffer full that fluid has just filled. So fluid leaves [a few segments](FluidBuffer::HEADROOM) free. Above
//! that it is lost until the work is down there again. A packet is lost that does not fit below the limit, and any other with the share that fluid has lost in the step before, from the port's own random stream: so
//! packets and fluid lose alike.
//!
//! Between two steps the work is exact: there is no event but those of steps and of packets.

use super::counters::{PortCounters, Waited};
use crate::queue::{Admission, BufferLimit};
use crate::rng::RandomStream;
use crate::units::{ByteCount, Duration, Instant, Rate, ceil};

/// The buffer and transmitter of a port that carries fluid.
#[derive(Debug)]
pub(super) struct FluidBuffer {
    /// Bytes that are to be sent, at `now`.
    pub(super) work: f64,
    now: Instant,
    /// At which fluid comes, bytes per second.
    pub(super) inflow: f64,
    /// At which the link sends, bytes per second.
    outflow: f64,
    /// Fluid fits up to here, and packets as far as the limit.
    full: f64,
    limit: f64,
    /// What fluid is counted in: a segment's bytes.
    segment: f64,
    random: RandomStream,
    /// Of fluid, since the last step.
    came: f64,
    lost: f64,
    /// Bytes to be sent when that began, and the share that was lost in the step before.
    work_before: f64,
    share_lost: f64,
    /// Since the run began.
    came_ever: f64,
    lost_ever: f64,
    /// The integral over time of the fluid's rate times what it waits, bytes times seconds.
    waited: f64,
    peak: f64,
}

/// What has become of the fluid that came in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FluidStep {
    /// The share of it that was lost.
    pub lost: f64,
    /// How long the first of it waits until it leaves, and the last.
    pub waits: [Duration; 2],
}

impl FluidBuffer {
    /// Segments that fluid leaves free: what TCP sends at once in congestion avoidance and in slow start, with delayed acknowledgements.
    const HEADROOM: f64 = 4.0;

    pub(super) fn new(
        rate: Rate,
        limit: BufferLimit,
        segment: ByteCount,
        random: RandomStream,
    ) -> Self {
        let segment = segment.as_f64();
        #[expect(clippy::cast_precision_loss, reason = "buffers are far below 2^53")]
        let limit = match limit {
            BufferLimit::Packets(packets) => packets as f64 * segment,
            BufferLimit::Bytes(bytes) => bytes.as_f64(),
        };
        Self {
            work: 0.0,
            now: Instant::START,
            inflow: 0.0,
            outflow: rate.bps() / 8.0,
            full: (limit - Self::HEADROOM * segment).max(limit / 2.0),
            limit,
            segment,
            random,
            came: 0.0,
            lost: 0.0,
            work_before: 0.0,
            share_lost: 0.0,
            came_ever: 0.0,
            lost_ever: 0.0,
            waited: 0.0,
            peak: 0.0,
        }
    }

    /// Time passes.
    pub(super) fn advance(&mut self, until: Instant) {
        let mut left = (until - self.now).secs();
        self.now = until;
        if left <= 0.0 {
            return;
        }
        if self.work > self.full {
            // Packets are above.
            let drained = ((self.work - self.full) / self.outflow).min(left);
            self.flow(drained, 0.0, self.outflow);
            left -= drained;
            if left <= 0.0 {
                return;
            }
            self.work = self.full;
        }
        let surplus = self.inflow - self.outflow;
        if surplus > 0.0 {
            let filling = ((self.full - self.work) / surplus).min(left);
            self.flow(filling, self.inflow, self.outflow);
            if filling < left {
                self.work = self.full;
                self.flow(left - filling, self.outflow, self.outflow);
            }
        } else {
            let emptying = if surplus < 0.0 {
                (self.work / -surplus).min(left)
            } else {
                left
            };
            self.flow(emptying, self.inflow, self.outflow);
            if emptying < left {
                self.work = 0.0;
                self.flow(left - emptying, self.inflow, self.inflow);
            }
        }
    }

    /// For so long so much of the fluid is taken in, and so much leaves.
    fn flow(&mut self, secs: f64, taken: f64, leaves: f64) {
        let before = self.work;
        self.work = (before + (taken - leaves) * secs).max(0.0);
        self.came += self.inflow * secs;
        self.lost += (self.inflow - taken) * secs;
        self.waited += taken * secs * (before + self.work) / 2.0 / self.outflow;
        self.peak = self.peak.max(self.work);
    }

    /// A packet comes that is taken in or not.
    pub(super) fn take(&mut self, size: ByteCount) -> Admission {
        let size = size.as_f64();
        if self.work > 0.0 && self.work + size > self.limit {
            return Admission::Drop;
        }
        if self.share_lost > 0.0 && self.random.uniform() < self.share_lost {
            return Admission::Drop;
        }
        self.work += size;
        self.peak = self.peak.max(self.work);
        Admission::Accept
    }

    pub(super) fn wait(&self) -> Duration {
        Duration::from_secs(self.work / self.outflow)
    }

    /// Packets that are present, as many as the work is.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a small count"
    )]
    pub(super) fn present(&self, work: f64) -> u64 {
        ceil(work / self.segment) as u64
    }

    /// What will be present at `time`, before which nothing else happens.
    pub(super) fn present_at(&self, time: Instant) -> u64 {
        let secs = (time - self.now).secs().max(0.0);
        let taken = if self.work > self.full {
            0.0
        } else {
            self.inflow
        };
        let most = self.work.max(self.full);
        let work = (self.work + (taken - self.outflow) * secs).clamp(0.0, most);
        self.present(work)
    }

    /// A step ends, and another begins in which fluid comes at another rate.
    pub(super) fn end_step(&mut self, now: Instant) -> FluidStep {
        self.advance(now);
        let waits = [self.work_before, self.work];
        self.share_lost = if self.came > 0.0 {
            self.lost / self.came
        } else {
            0.0
        };
        let step = FluidStep {
            lost: self.share_lost,
            waits: waits.map(|work| Duration::from_secs(work / self.outflow)),
        };
        self.came_ever += self.came;
        self.lost_ever += self.lost;
        (self.came, self.lost, self.work_before) = (0.0, 0.0, self.work);
        step
    }

    /// The run is over: fluid counts as so many packets.
    pub(super) fn finish(&mut self, end: Instant, counters: &mut PortCounters) {
        self.end_step(end);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "counts are far below 2^53"
        )]
        let whole = |number: f64| libm::round(number) as u64;
        let Self {
            segment,
            came_ever,
            lost_ever,
            ..
        } = *self;
        counters.arrived_packets += whole(came_ever / segment);
        counters.dropped_packets += whole(lost_ever / segment);
        counters.arrived += ByteCount::new(whole(came_ever));
        counters.dropped += ByteCount::new(whole(lost_ever));
        counters.waited.merge(Waited {
            time: Duration::from_secs(self.waited / segment),
            byte_secs: self.waited,
        });
        let peak = self.present(self.peak);
        counters.busy_peak_packets = counters.busy_peak_packets.max(peak);
    }
}
