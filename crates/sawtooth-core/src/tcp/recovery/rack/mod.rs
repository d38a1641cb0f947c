//! RACK-TLP: a segment is lost if one that was sent after it has arrived and a little time has passed; if the end of a flight is lost, a probe
//! detects that.
//!
//! | Rule | Specification | File |
//! |---|---|---|
//! | what is outstanding, what has arrived | RFC 8985 §6.2 steps 1 to 3, RFC 2018 | `outstanding.rs`, `delivery.rs` |
//! | what is lost | RFC 8985 §6; Mathis and Mahdavi 1996, RFC 5827 | `detect.rs`; `fack.rs` |
//! | recoveries, and what else a sign of congestion begins and ends | RFC 6675 §5, RFC 3168 §6.1.2 | `congestion.rs`, `phase.rs` |
//! | tail loss probe | RFC 8985 §7 | `tlp.rs` |
//! | the timer | RFC 8985 §8, RFC 6298 §5 | `timer.rs`, `timeout.rs` |
//! | the window during a reduction | RFC 9937, RFC 6937 | `reduction.rs` |
//! | how much of it is in use | RFC 7661 §3, §4.2, §4.3, §4.5.3 | `usage.rs` |
//! | spurious timeouts | RFC 5682 | `frto.rs` |
//! | taking a reduction back | RFC 3708, RFC 4015, RFC 3522 | `undo.rs` |
//! | what leaves next | RFC 6675 §5, RFC 3042 | `pace.rs`, `burst.rs` |
//!
//! This file joins them. A mark's reduction (RFC 3168 §6.1.2) takes the same way as a loss's.

mod burst;
mod congestion;
mod delivery;
mod detect;
mod empty_path;
mod fack;
mod frto;
mod opened;
mod outstanding;
mod pace;
mod phase;
mod reduction;
#[cfg(test)]
mod tests;
mod timeout;
mod timer;
mod tlp;
mod undo;
mod usage;

pub(in crate::tcp) use burst::{AtOnce, leave_at_once, may_leave_at_once};
pub(super) use fack::ENTRY as FACK;
pub(super) use pace::pacing_rate;

use self::congestion::Congestion;
use self::delivery::NewlyDelivered;
use self::outstanding::{LossDetection, Outstanding};
use self::pace::SegmentPacing;
use self::phase::RecoveryPhase;
use self::timer::RackTimer;
use self::tlp::Tlp;
use crate::cc;
use crate::events::Event;
use crate::packet::Ack;
use crate::registry::Entry;
use crate::tcp::episodes::LossFoundBy;
use crate::tcp::params::Config;
use crate::tcp::segments::LostSegments;
use crate::tcp::sender::tx::Tx;
use crate::tcp::shared_memory::MemoryPages;
use crate::tcp::timestamps::TimestampClock;
use crate::units::{ByteCount, Duration, Instant, SegCount, SeqNum, WindowSize};

pub(super) const ENTRY: Entry<()> = Entry {
    name: "rack",
    summary: "losses are found by time, with a probe at the end of a flight: finds lost retransmissions, tolerates reordering",
    specification: &["RFC 8985", "RFC 9937", "RFC 5682"],
    params: &[],
    new: (),
};

/// The state of this recovery.
#[derive(Debug)]
pub struct Rack {
    outstanding: Outstanding,
    congestion: Congestion,
    tlp: Tlp,
    timer: RackTimer,
    pace: SegmentPacing,
}

impl Rack {
    pub fn new(config: &Config, needs: cc::Needs) -> Self {
        Self::with(LossDetection::Time, config, needs)
    }

    /// A recovery that finds losses by the highest segment reported.
    pub fn fack(config: &Config, needs: cc::Needs) -> Self {
        Self::with(LossDetection::Forward, config, needs)
    }

    fn with(loss_detection: LossDetection, config: &Config, needs: cc::Needs) -> Self {
        let pages = MemoryPages::new(config.smss, config.first_data());
        let measures_rate = needs.rates != cc::Rates::Unused;
        Self {
            outstanding: Outstanding::new(loss_detection, measures_rate, pages),
            congestion: Congestion::none(),
            tlp: Tlp::default(),
            timer: RackTimer::new(),
            pace: SegmentPacing::new(),
        }
    }

    #[inline(never)]
    pub fn on_ack(&mut self, tx: &mut Tx, now: Event, ack: &Ack) {
        if ack.next < tx.seq.una {
            return;
        }
        let flight_size = tx.seq.flight_size();
        let syn = tx.seq.is_opening() && ack.next > SeqNum::ZERO;
        let mut news = self
            .outstanding
            .take(tx, now, ack, self.congestion.recovery_point);
        let rtt = news.measure(tx, now, &mut self.congestion.undo);
        if let Some(rtt) = rtt {
            self.outstanding.detect.on_rtt(rtt);
        }
        if !syn {
            let told = tx.window.told(now.time);
            tx.announce(|| cc::AckArrival {
                now: told,
                acked: news.acked,
                rtt,
                reports: ack.reports() || ack.ece,
                window: ack.window.bytes().unwrap_or(ByteCount::MAX),
            });
        }
        if news.delivered > news.acked {
            tx.counters.dupacks_in += u64::from(news.acked.is_zero());
        }
        if ack.repeated.is_some() {
            self.on_duplicate(tx);
            if tx.config.dsack_delivers {
                news.delivered += SegCount::ONE;
                self.outstanding.rate.delivered += SegCount::ONE;
            }
        }
        if self.tlp.on_ack(ack.next, ack.repeated.is_some()) && self.congestion.phase.is_lossless()
        {
            self.on_probe_that_repaired(tx, now);
        }
        let lost = self.find_losses(tx, now, false);
        if syn {
            opened::on_established(self, tx, now, ack.echo, rtt);
        } else {
            let congested = tx.signals.is_some() && tx.take_marks(now, ack, news.delivered);
            let (congestion, outstanding) = (&mut self.congestion, &mut self.outstanding);
            if news.acked.is_zero() || !congestion.undo_by_eifel(tx, now, outstanding) {
                if congestion.finds_loss(tx, now, &news, lost, outstanding) {
                    congestion.enter_recovery(tx, now, outstanding);
                    self.tlp.end();
                }
                if congested
                    && congestion.phase == RecoveryPhase::Open
                    && tx.may_reduce_for_mark(tx.seq.una)
                {
                    congestion.enter_cwr(tx, now, outstanding);
                }
            }
            self.move_window(tx, now, &news, lost.all, flight_size, rtt);
        }
        if !news.acked.is_zero() || self.restarts_timer(tx, &news) {
            self.timer.restart(now);
        }
        self.timer.arm_due |= self.outstanding.detect.reordering_timer.is_some();
    }

    /// Whether an acknowledgement that only reports restarts the timer: one of what was sent before the first segment outstanding was sent last. Measured of Linux 6.1: others leave the timer as it is,
    /// so a probe leaves that was due before they came, even in a recovery.
    #[cold]
    #[inline(never)]
    fn restarts_timer(&self, tx: &Tx, news: &NewlyDelivered) -> bool {
        let first = self.outstanding.segments.sent_at(tx.seq.una);
        first.is_some_and(|sent| news.first_sent < sent)
    }

    /// A duplicate was reported.
    #[cold]
    #[inline(never)]
    fn on_duplicate(&mut self, tx: &Tx) {
        if !self.tlp.is_out() {
            self.outstanding.detect.on_dsack(tx.seq.una, tx.seq.max);
        }
        self.congestion.undo.on_dsack();
    }

    /// The window is reduced as for a loss that was recovered from at once.
    #[cold]
    #[inline(never)]
    fn on_probe_that_repaired(&mut self, tx: &mut Tx, now: Event) {
        tx.reduce(
            now,
            LossFoundBy::TailLossProbe,
            Some(self.outstanding.losses()),
            SegCount::ZERO,
        );
        // As in ns-2 half a segment may be left, of which nothing could be sent; and where all has arrived, no timer would help.
        let cwnd = tx.window.windows().cwnd;
        if cwnd < WindowSize::ONE {
            tx.window.prescribe(now.time, WindowSize::ONE);
        }
    }

    /// Finds losses; how many. `expired`: the timer for that has expired.
    #[inline]
    fn find_losses(&mut self, tx: &Tx, now: Event, expired: bool) -> LostSegments {
        // Measured of Linux 6.1: losses are looked for after an acknowledgement has ended a recovery. One that reports a segment sent 12.7 ms after the first that is missing takes it for late.
        let repairing = self.is_repairing() && tx.seq.una < self.congestion.recovery_point;
        self.outstanding
            .find_losses(tx, now.time, expired, repairing)
    }

    /// A loss was found.
    fn enter_recovery(&mut self, tx: &mut Tx, now: Event) {
        self.congestion.enter_recovery(tx, now, &self.outstanding);
        self.tlp.end();
    }

    // --- the window -----------------------------------------------------------------------------------------------------

    /// What was delivered and lost moves the window.
    fn move_window(
        &mut self,
        tx: &mut Tx,
        now: Event,
        news: &NewlyDelivered,
        lost: SegCount,
        flight_size: SegCount,
        rtt: Option<Duration>,
    ) {
        let pipe = self.outstanding.pipe();
        let rate = self.outstanding.rate_sample(tx.rate_clock());
        if news.delivered.is_zero() && lost.is_zero() {
            return;
        }
        let order = match self.congestion.phase {
            RecoveryPhase::Open if self.outstanding.is_disordered() => cc::PathOrder::Disordered,
            RecoveryPhase::Open => cc::PathOrder::InOrder,
            _ => cc::PathOrder::Repairing,
        };
        let reduction = self.congestion.phase.prr();
        let limited = self.pace.usage.limits(|| tx.window.windows());
        let acked = cc::AckedData {
            now: tx.window.told(now.time),
            acked: news.acked,
            counted: if tx.config.byte_counting {
                news.delivered
            } else {
                SegCount::ONE
            },
            delivered: news.delivered,
            lost,
            marked: tx.marked(),
            flight_size,
            pipe,
            snd_una: tx.seq.una,
            snd_nxt: tx.seq.nxt,
            rtt,
            may_grow: reduction.is_none() && !news.acked.is_zero(),
            order,
            cwnd_limited: limited || !tx.config.cwnd_validation,
            rate,
            waits: self.pace.waits(tx, now.time),
        };
        if let Some(prr) = reduction
            && !news.delivered.is_zero()
            && tx.prescribes_reduction()
        {
            tx.window.on_ack(&acked);
            let safe = !news.acked.is_zero() && lost.is_zero();
            prr.prescribe(tx, now, news.delivered, pipe, safe);
        } else {
            let before = tx.window.needs.backs_off.then(|| tx.window.windows());
            tx.window.grow(now.time, &acked);
            if let Some(before) = before {
                self.congestion.walk_down(tx, now, before);
            }
        }
    }

    // --- sending --------------------------------------------------------------------------------------------------------

    /// The next segment to send now.
    #[inline]
    pub fn next(&mut self, tx: &mut Tx, now: Event) -> Option<SeqNum> {
        let phase = self.congestion.phase;
        let next = self.pace.next(tx, now, &mut self.outstanding, phase);
        if next.is_none() && self.pace.is_ahead(tx, now.time) {
            tx.timers.recovery = self.timer.or(self.pace.timer);
        }
        next
    }

    /// Segment `seq` is about to leave.
    pub fn on_send(&mut self, tx: &mut Tx, now: Event, seq: SeqNum) {
        self.pace.on_send(tx, now.time, seq, &self.outstanding);
        let idle = self.outstanding.segments.is_empty();
        self.outstanding.on_send(now.time, tx.seq.una, seq);
        if let Some(prr) = self.congestion.phase.prr() {
            prr.on_send();
        }
        if seq >= tx.seq.max {
            return self.note_new(now, idle);
        }
        let stamp = TimestampClock::stamp_by(tx.stamps.clock, now.time);
        self.congestion.undo.on_retransmit(seq, stamp);
        if idle || seq == tx.seq.una {
            self.timer.restart(now);
        }
    }

    /// The same of the next segment in sequence, which has not been sent before.
    #[inline]
    fn on_send_next(&mut self, tx: &mut Tx, now: Event, seq: SeqNum) {
        debug_assert!(seq == tx.seq.max && seq == self.outstanding.segments.end());
        self.pace.on_send(tx, now.time, seq, &self.outstanding);
        let idle = self.outstanding.segments.is_empty();
        self.outstanding.on_send_new(now.time, SegCount::ONE);
        if let Some(prr) = self.congestion.phase.prr() {
            prr.on_send();
        }
        self.note_new(now, idle);
    }

    /// A new segment leaves; whether nothing else was outstanding.
    #[inline]
    fn note_new(&mut self, now: Event, idle: bool) {
        if idle {
            self.timer.restart(now);
        }
        self.timer.arm_due = true;
        self.timer.has_new = true;
    }

    /// Nothing more leaves now.
    #[inline]
    pub fn on_stop(&mut self, tx: &mut Tx, now: Event) {
        self.pace.on_stop(tx, self.outstanding.pipe());
        if std::mem::take(&mut self.timer.arm_due) {
            self.arm(tx, now);
        }
    }

    /// Whether a loss is being repaired.
    #[inline]
    pub fn is_repairing(&self) -> bool {
        !self.congestion.phase.is_lossless()
    }

    /// What is outstanding, segment by segment.
    #[inline]
    pub fn outstanding(&self) -> &Outstanding {
        &self.outstanding
    }

    /// New segments that the window has room for now.
    pub fn room(&self, tx: &Tx, now: Instant) -> SegCount {
        if self.pace.is_ahead(tx, now) {
            return SegCount::ZERO;
        }
        self.outstanding.room(tx.window.usable())
    }

    /// Whether the window has room and the next segment's time has not come.
    pub fn waits_for_its_time(&self, tx: &Tx, now: Instant) -> bool {
        self.pace.is_ahead(tx, now) && self.outstanding.pipe() < tx.window.usable()
    }
}
