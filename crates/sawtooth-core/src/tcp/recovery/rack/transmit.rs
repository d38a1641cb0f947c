//! Which segment is next, and when: what is lost first, then new data, in bursts and at a pace where the stack has them.
//!
//! Specifications: RFC 6675 §5 step C (the pipe compared with the window), RFC 3042 (limited transmit, which is included in that).

use super::{Phase, Rack};
use crate::events::{Child, Event, Key};
use crate::tcp::pacer::{Flight, Paced};
use crate::tcp::rate::Snapshot;
use crate::tcp::segmentation::{Moment, Segmentation};
use crate::tcp::sender::tx::Tx;
use crate::tcp::timestamps::Clock;
use crate::units::Rate;

/// When segments leave.
#[derive(Debug)]
pub struct Pace {
    /// When the next segment may be sent, if they are paced; and the timer for that.
    pub until: f64,
    pub timer: Key,
    /// Segments left of the burst that is leaving, with segmentation offload.
    pub burst: u64,
}

impl Pace {
    pub fn new() -> Self {
        Self {
            until: 0.0,
            timer: Key::NEVER,
            burst: 0,
        }
    }

    /// A segment leaves that takes `interval` seconds; up to so much of it may have been late.
    fn on_send(&mut self, now: f64, interval: f64, credit: f64) {
        let late = (now - self.until).clamp(0.0, interval * credit);
        self.until = self.until.max(now) + interval - late;
    }
}

impl Rack {
    /// The next segment to send now.
    #[inline]
    pub fn next(&mut self, tx: &mut Tx, now: Event) -> Option<u64> {
        let window = tx.window.usable();
        let new = tx.has_more() && tx.is_within_limit();
        let pipe = self.segments.pipe();
        let lost = self.segments.next_lost();
        if lost.is_none() && !new {
            if tx.app.unsent(&tx.seq) == 0 {
                self.rate.on_app_limited(pipe);
            }
            return None;
        }
        // The pipe lets a new segment out for each that is reported, which includes limited transmit (RFC 3042).
        let full = pipe >= window
            || (!tx.config.limited_transmit
                && self.phase == Phase::Open
                && tx.seq.flight_size() >= window);
        if full {
            self.usage.note(tx, true);
            return None;
        }
        if self.pace.burst > 0 {
            self.pace.burst -= 1;
            return lost.or_else(|| new.then_some(tx.seq.nxt));
        }
        if self.pace.until > now.time {
            self.pace.timer = now.schedule(self.pace.until, Child::Timer);
            tx.timers.recovery = self.timer.or(self.pace.timer);
            return None;
        }
        if lost.is_none()
            && let Some(segmentation) = tx.config.segmentation
            && !self.begin_burst(tx, now, segmentation)
        {
            return None;
        }
        lost.or_else(|| new.then_some(tx.seq.nxt))
    }

    /// Whether a burst of new data leaves now, of which this is the first segment.
    #[inline(never)]
    fn begin_burst(&mut self, tx: &Tx, now: Event, segmentation: Segmentation) -> bool {
        let (window, smss) = (tx.window.usable(), tx.config.smss);
        let pacing = &tx.config.pacing;
        let asked = tx.window.pacing_rate().map(Rate::bps);
        let rate = asked.or_else(|| pacing.of_window(&flight(tx)));
        let rate = rate.unwrap_or(0.0).min(pacing.max);
        let unsent = tx.app.available(&tx.seq).saturating_sub(tx.seq.nxt);
        let receivers = tx.seq.una + tx.window.limit() - tx.seq.nxt;
        let pipe = self.segments.pipe();
        let sendable = (window - pipe).min(receivers).min(unsent);
        let burst = segmentation
            .burst(rate, self.detect.min_rtt, smss)
            .min(segmentation.left_in_buffer(tx.seq.data_number(), smss));
        let oldest = self.segments.sent_at(tx.seq.una);
        let moment = Moment {
            sendable,
            more: unsent > sendable,
            repairing: self.phase != Phase::Open,
            window,
            pipe,
            oldest_age: oldest.map_or(0.0, |sent| now.time - sent),
            srtt_secs: tx.timers.rto.srtt_secs().unwrap_or(f64::INFINITY),
        };
        if segmentation.waits(burst, &moment) {
            // What it waits for is the window.
            if window - pipe == sendable {
                self.usage.note(tx, true);
            }
            return false;
        }
        self.pace.burst = burst.min(sendable) - 1;
        true
    }

    /// Segment `seq` is about to leave.
    pub fn on_send(&mut self, tx: &mut Tx, now: Event, seq: u64) {
        let rate = pacing_rate(tx, seq);
        let again = seq < tx.seq.max;
        let idle = self.segments.is_empty();
        let snapshot = if self.measures_rate {
            self.rate.on_send(now.time, self.segments.pipe())
        } else {
            Snapshot::default()
        };
        self.segments.on_send(seq, now.time, snapshot);
        if let Some(prr) = self.phase.prr() {
            prr.on_send();
        }
        if again {
            let stamp = Clock::stamp_by(tx.stamps.clock, now.time);
            self.undo.on_retransmit(seq, stamp);
        }
        if let Some(rate) = rate {
            // Algorithms' rates are of application bytes. So is Linux's pacing: 2.80 ms between segments of 1448 bytes at 4.135 Mbit/s.
            let bits = 8.0 * f64::from(tx.app.stream.payload_bytes(seq));
            self.pace
                .on_send(now.time, bits / rate, tx.config.pacing.credit);
        }
        if idle {
            self.timer.restarted = now.time;
        }
        if idle || !again {
            self.timer.arm_due = true;
        }
        self.usage.on_send();
    }

    /// Nothing more leaves now.
    #[inline]
    pub fn on_stop(&mut self, tx: &mut Tx, now: Event) {
        self.usage.on_stop(tx);
        if std::mem::take(&mut self.timer.arm_due) {
            self.arm(tx, now);
        }
        self.pace.burst = 0;
    }

    /// New segments that the window has room for now.
    pub fn room(&self, now: f64, window: u64) -> u64 {
        if self.pace.until > now {
            return 0;
        }
        window.saturating_sub(self.segments.pipe() + self.segments.lost())
    }

    /// Whether `window` has room and the next segment's time has not come.
    #[inline]
    pub fn waits_for_its_time(&self, now: f64, window: u64) -> bool {
        self.pace.until > now && self.segments.pipe() < window
    }
}

/// Bits per second at which segment `seq` leaves, if it is paced.
#[inline]
pub fn pacing_rate(tx: &Tx, seq: u64) -> Option<f64> {
    let pacing = &tx.config.pacing;
    if pacing.paced == Paced::Never || tx.seq.is_within_first(seq, pacing.free_start) {
        return None;
    }
    pacing.rate(tx.window.pacing_rate(), || flight(tx))
}

fn flight(tx: &Tx) -> Flight {
    Flight {
        cwnd: tx.window.cwnd(),
        ssthresh: tx.window.ssthresh(),
        outstanding: tx.seq.flight_size(),
        smss: tx.config.smss,
        srtt_secs: tx.timers.rto.srtt_secs(),
    }
}
