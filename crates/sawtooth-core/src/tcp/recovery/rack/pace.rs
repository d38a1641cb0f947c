//! Which segment is next, and when: what is lost first, then new data, in bursts and at a pace where the stack has them.
//!
//! Specifications: RFC 6675 §5 step C (the pipe compared with the window), RFC 3042 (limited transmit, which is included in that).

use super::empty_path::LastSent;
use super::outstanding::Outstanding;
use super::phase::RecoveryPhase;
use super::usage::Usage;
use crate::events::{Child, Event, EventKey};
use crate::tcp::pacer::{PacedFlows, PacingInput};
use crate::tcp::segmentation::Moment;
use crate::tcp::sender::tx::Tx;
use crate::units::{Duration, Instant, Rate, SegCount, SeqNum};

/// When segments leave.
#[derive(Debug)]
pub(super) struct SegmentPacing {
    /// When the next segment may be sent, if they are paced; and the timer for that.
    until: Instant,
    pub timer: EventKey,
    /// Segments left of the burst that is leaving, with segmentation offload.
    burst: SegCount,
    /// When the last probe was sent.
    pub probed: Instant,
    pub usage: Usage,
    pub last_sent: LastSent,
}

impl SegmentPacing {
    pub(super) fn new() -> Self {
        Self {
            until: Instant::START,
            timer: EventKey::NEVER,
            burst: SegCount::ZERO,
            probed: Instant::NEVER,
            usage: Usage::default(),
            last_sent: LastSent::NEVER,
        }
    }

    /// Whether the next segment's time has not come.
    #[inline]
    pub(super) fn is_ahead(&self, tx: &Tx, now: Instant) -> bool {
        let clock = tx.config.timer_tick.clock;
        clock.told(self.until) > clock.read(now)
    }

    /// How long it is until then.
    #[inline]
    pub(super) fn waits(&self, tx: &Tx, now: Instant) -> Duration {
        (self.until - tx.config.timer_tick.clock.read(now)).max(Duration::ZERO)
    }

    /// The next segment waits for its time.
    #[inline]
    pub(super) fn wait(&mut self, tx: &Tx, now: Event) {
        let read = tx.config.timer_tick.clock.told(self.until);
        self.timer = now.schedule(read, Child::Timer);
    }

    /// The next segment to send now, so far from the last loss.
    #[inline]
    pub(super) fn next(
        &mut self,
        tx: &Tx,
        now: Event,
        outstanding: &mut Outstanding,
        phase: RecoveryPhase,
    ) -> Option<SeqNum> {
        let is_open = phase == RecoveryPhase::Open;
        let window = tx.window.usable();
        let new = tx.has_more() && tx.is_within_limit();
        let pipe = outstanding.segments.pipe();
        let lost = outstanding.segments.next_lost();
        let lost = lost.filter(|_| !phase.asks_by_new_data());
        if lost.is_none() && !new {
            if tx.app.unsent(&tx.seq).is_zero() {
                outstanding.rate.on_app_limited(pipe);
            }
            return None;
        }
        // The pipe lets a new segment out for each that is reported, which includes limited transmit (RFC 3042).
        let full = pipe >= window
            || (!tx.config.limited_transmit && is_open && tx.seq.flight_size() >= window);
        if full {
            // RFC 7661 §3: the window limits who has data to send. Measured of Linux 6.1: new data, not what is to be sent again.
            if !tx.app.unsent(&tx.seq).is_zero() {
                self.usage.note(tx, true);
            }
            return self.last(tx, now, new);
        }
        if !self.burst.is_zero() {
            self.burst -= SegCount::ONE;
            return lost.or_else(|| new.then_some(tx.seq.nxt));
        }
        if self.is_ahead(tx, now.time) {
            self.wait(tx, now);
            return None;
        }
        if lost.is_none()
            && tx.config.segmentation.is_some()
            && !self.begin_burst(tx, now, outstanding, is_open)
        {
            return None;
        }
        lost.or_else(|| new.then_some(tx.seq.nxt))
    }

    /// The window is full, which does not keep back the segment with the FIN. Measured of Linux 6.1: after a transfer of ten segments and a short one, all eleven leave at once; but a probe with
    /// the eleventh of twelve leaves alone.
    #[cold]
    fn last(&mut self, tx: &Tx, now: Event, new: bool) -> Option<SeqNum> {
        let may_leave = new && self.probed != now.time;
        let last = Some(tx.seq.nxt).filter(|next| may_leave && tx.app.stream.has_fin(*next));
        if last.is_some() && self.is_ahead(tx, now.time) {
            self.wait(tx, now);
            return None;
        }
        last
    }

    /// Whether a burst of new data leaves now, of which this is the first segment.
    #[inline(never)]
    fn begin_burst(
        &mut self,
        tx: &Tx,
        now: Event,
        outstanding: &Outstanding,
        is_open: bool,
    ) -> bool {
        let Some(segmentation) = tx.config.segmentation else {
            return true;
        };
        let (window, smss) = (tx.window.usable(), tx.config.smss);
        let pacing = &tx.config.pacing;
        let asked = tx.window.pacing_rate();
        let rate = asked.or_else(|| pacing.of_window(&flight(tx)));
        let rate = rate.unwrap_or_default().min(pacing.max);
        let unsent = tx.app.available(&tx.seq).saturating_sub(tx.seq.nxt);
        let receivers = tx.seq.una + tx.window.limit() - tx.seq.nxt;
        let pipe = outstanding.segments.pipe();
        let sendable = (window - pipe).min(receivers).min(unsent);
        let burst = segmentation
            .burst(rate, outstanding.detect.min_rtt, smss)
            .min(segmentation.left_in_buffer(tx.seq.data_before_next(), smss));
        let oldest = outstanding.segments.sent_at(tx.seq.una);
        let moment = Moment {
            sendable,
            more: unsent > sendable,
            repairing: !is_open,
            window,
            pipe,
            oldest_age: oldest.map_or(Duration::ZERO, |sent| now.time - sent),
            srtt: tx.timers.rto.srtt().unwrap_or(Duration::INFINITE),
        };
        if segmentation.waits(burst, &moment) {
            // What it waits for is the window.
            if window - pipe == sendable {
                self.usage.note(tx, true);
            }
            return false;
        }
        self.burst = burst.min(sendable) - SegCount::ONE;
        true
    }

    /// Segment `seq` is about to leave, beside what is outstanding.
    pub(super) fn on_send(
        &mut self,
        tx: &mut Tx,
        now: Instant,
        seq: SeqNum,
        outstanding: &Outstanding,
    ) {
        if !tx.seq.is_syn(seq) {
            self.last_sent.on_send(tx, now, outstanding.pipe());
        }
        let until = self.until.max(tx.config.timer_tick.clock.read(now));
        self.until = match pacing_rate(tx) {
            // Algorithms' rates are of application bytes. So is Linux's pacing: 2.80 ms between segments of 1448 bytes at 4.135 Mbit/s.
            Some(rate) => {
                let interval = tx.app.stream.payload(seq) / rate;
                let credit = interval * tx.config.pacing.credit;
                until + interval - (until - self.until).min(credit)
            }
            None => until,
        };
        if seq >= tx.seq.max {
            self.usage.on_send();
        }
    }

    /// Nothing more leaves now.
    #[inline]
    pub(super) fn on_stop(&mut self, tx: &Tx, pipe: SegCount) {
        self.usage.on_stop(tx, pipe);
        self.burst = SegCount::ZERO;
    }
}

/// Whether the segment that leaves next, sent again or not, is so early a one that none waits for it. Measured of Linux 6.1: of a retransmission that is the twelfth to leave the next one waits.
#[inline]
fn is_free_start(tx: &Tx) -> bool {
    let sent = tx.seq.data_before_next() + SegCount::new(tx.counters.retransmits);
    sent + SegCount::ONE < tx.config.pacing.free_start
}

/// How fast segments leave, if they are paced.
#[inline]
pub(crate) fn pacing_rate(tx: &Tx) -> Option<Rate> {
    let pacing = &tx.config.pacing;
    if pacing.paced == PacedFlows::Never || is_free_start(tx) {
        return None;
    }
    pacing.rate(tx.window.pacing_rate(), || flight(tx))
}

fn flight(tx: &Tx) -> PacingInput {
    PacingInput {
        cwnd: tx.window.cwnd(),
        ssthresh: tx.window.ssthresh(),
        outstanding: tx.seq.flight_size(),
        smss: tx.config.smss,
        srtt: tx.timers.rto.srtt(),
    }
}
