//! RACK-TLP: a segment is lost if one that was sent after it has arrived and a little time has passed; if the end of a flight is lost, a probe
//! finds out.
//!
//! | Rule | Specification | File |
//! |---|---|---|
//! | what has arrived | RFC 8985 §6.2 step 1, RFC 2018 | `delivery.rs` |
//! | what is lost | RFC 8985 §6; Mathis and Mahdavi 1996, RFC 5827 | `detect.rs`; `fack.rs` |
//! | tail loss probe | RFC 8985 §7 | `tlp.rs` |
//! | the timer | RFC 8985 §8, RFC 6298 §5 | `timer.rs` |
//! | the window during a reduction | RFC 9937, RFC 6937 | `reduction.rs` |
//! | how much of it is in use | RFC 7661 §4 | `usage.rs` |
//! | spurious timeouts | RFC 5682 | `frto.rs` |
//! | taking a reduction back | RFC 3708, RFC 4015, RFC 3522 | `undo.rs` |
//! | what leaves next | RFC 6675 §5, RFC 3042 | `transmit.rs` |
//!
//! This file joins them. A mark's reduction (RFC 3168 §6.1.2) takes the same way as a loss's.

mod delivery;
mod detect;
mod fack;
mod frto;
mod reduction;
mod timer;
mod tlp;
mod transmit;
mod undo;
mod usage;

pub use fack::ENTRY as FACK;
pub use reduction::Bound;
pub use transmit::pacing_rate;

use self::delivery::Delivery;
use self::detect::Detect;
use self::frto::{Frto, Heard, Verdict};
use self::reduction::Prr;
use self::timer::{Purpose, Situation, Timer};
use self::tlp::Tlp;
use self::transmit::Pace;
use self::undo::Undo;
use self::usage::Usage;
use crate::cc::{self, Signal, Windows};
use crate::events::{Event, Key};
use crate::packet::Ack;
use crate::registry::Entry;
use crate::tcp::episodes::{Cause, Losses};
use crate::tcp::params::{Eifel, whole};
use crate::tcp::rate::Rate;
use crate::tcp::scoreboard::Range;
use crate::tcp::segments::Segments;
use crate::tcp::sender::tx::Tx;
use crate::units::Instant;

pub const ENTRY: Entry<()> = Entry {
    name: "rack",
    summary: "losses are found by time, with a probe at the end of a flight: finds lost retransmissions, tolerates reordering",
    specification: &["RFC 8985", "RFC 9937", "RFC 5682"],
    params: &[],
    new: (),
};

/// How far the sender is from its last loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Open,
    /// Between a mark and its recovery point: the window walks down as in a recovery, and nothing is lost.
    Cwr(Prr),
    /// Between a loss and its recovery point.
    Recovery(Prr),
    /// After a timeout, up to its recovery point.
    Timeout(Frto),
}

impl Phase {
    /// Whether nothing outstanding is known to be lost.
    fn is_lossless(self) -> bool {
        matches!(self, Self::Open | Self::Cwr(_))
    }

    /// The reduction under way.
    #[inline]
    fn prr(&mut self) -> Option<&mut Prr> {
        match self {
            Self::Cwr(prr) | Self::Recovery(prr) => Some(prr),
            Self::Open | Self::Timeout(_) => None,
        }
    }
}

/// By what losses are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Judge {
    /// RACK: time.
    Time,
    /// FACK: the highest segment reported.
    Forward,
}

/// The state of this recovery.
#[derive(Debug)]
pub struct Rack {
    segments: Segments,
    judge: Judge,
    detect: Detect,
    rate: Rate,
    /// Whether the algorithm asks for delivery rates.
    measures_rate: bool,
    phase: Phase,
    recovery_point: u64,
    undo: Undo,
    tlp: Tlp,
    timer: Timer,
    usage: Usage,
    pace: Pace,
    parts: Vec<Range>,
}

impl Rack {
    pub fn new(needs: cc::Needs) -> Self {
        Self::with(Judge::Time, needs)
    }

    /// The one that finds losses by the highest segment reported.
    pub fn fack(needs: cc::Needs) -> Self {
        Self::with(Judge::Forward, needs)
    }

    fn with(judge: Judge, needs: cc::Needs) -> Self {
        Self {
            segments: Segments::default(),
            judge,
            detect: Detect::new(),
            rate: Rate::default(),
            measures_rate: needs.rates != cc::Rates::Unused,
            phase: Phase::Open,
            recovery_point: 0,
            undo: Undo::default(),
            tlp: Tlp::default(),
            timer: Timer::new(),
            usage: Usage::default(),
            pace: Pace::new(),
            parts: Vec::new(),
        }
    }

    pub fn on_ack(&mut self, tx: &mut Tx, now: Event, ack: &Ack) {
        if ack.next < tx.seq.una {
            return;
        }
        let flight_size = tx.seq.flight_size();
        let syn = tx.seq.is_opening() && ack.next > 0;
        let news = Delivery::take(self, tx, now, ack);
        let rtt_secs = self.measure(tx, now, &news);
        if !syn {
            tx.announce(now, news.acked, rtt_secs);
        }
        if ack.duplicate {
            if !self.tlp.is_out() {
                self.detect.on_dsack(tx.seq.una, tx.seq.max);
            }
            self.undo.on_dsack();
        }
        if self.tlp.on_ack(ack.next, ack.duplicate) && self.phase.is_lossless() {
            // The window is reduced as for a loss that was recovered from at once.
            tx.reduce(now, Cause::TailLossProbe, Some(self.losses()), 0);
        }
        let lost = self.find_losses(tx, now, false);
        if news.delivered > news.acked {
            tx.counters.dupacks_in += u64::from(news.acked == 0);
        }
        if syn {
            self.on_established(tx, now, rtt_secs);
        } else {
            let congested = tx.signals.is_some() && tx.hear_marks(now, ack, news.delivered);
            if !(news.acked > 0 && self.undo_by_eifel(tx, now)) {
                if self.finds_loss(tx, now, &news, lost) {
                    self.enter_recovery(tx, now);
                }
                if congested && self.phase == Phase::Open {
                    self.enter_cwr(tx, now);
                }
            }
            self.move_window(tx, now, &news, lost, flight_size, rtt_secs);
        }
        if news.acked > 0 || (news.delivered > 0 && !self.phase.is_lossless()) {
            self.timer.restarted = now.time;
        }
        self.timer.arm_due = true;
    }

    /// A round trip is measured with every acknowledgement of something that was sent once (RFC 6298 §3, RFC 7323 §4.1). The timer takes
    /// the first such segment's, which includes the receiver's delay; the algorithm hears of the last one's.
    fn measure(&mut self, tx: &mut Tx, now: Event, news: &Delivery) -> Option<f64> {
        let timers = &mut tx.timers;
        if news.acked > 0 {
            timers.rto.end_back_off();
        }
        if !news.originals || news.repairs {
            // Of what was sent again only its timestamp tells which transmission it was, and it tells so of all that is acknowledged with it. The algorithm
            // hears of that, too. Measured of Linux 6.1 by the round trips of its `westwood`: it takes a path of 20.03 ms for one of 20 when the timestamps of
            // a repair are 20 ms apart, and for one of 21 when they are 21, whether or not the repair acknowledges segments that were sent once.
            let echoed = tx.stamps.echoed_rtt(now.time);
            let rtt = echoed.filter(|_| news.acked > 0)?;
            timers.sample(now.time - rtt, rtt);
            return Some(rtt);
        }
        let rtt = now.time - news.first_sent;
        let last = now.time - news.last_sent;
        timers.rto.sample(news.first_sent, rtt);
        timers.count(rtt, last);
        if let Some(estimators) = self.undo.adapts(tx.seq.una) {
            timers.rto.adapt_to_spurious(estimators, last);
        }
        Some(last)
    }

    fn on_established(&mut self, tx: &mut Tx, now: Event, rtt_secs: Option<f64>) {
        if let Some(rtt_secs) = rtt_secs {
            tx.window.on_handshake(now.time, rtt_secs);
        }
        tx.on_established(now, rtt_secs.is_some());
        self.phase = Phase::Open;
        self.undo.end();
    }

    /// Finds losses, by time or by the highest segment reported; how many. `expired`: their timer has expired.
    #[inline]
    fn find_losses(&mut self, tx: &Tx, now: Event, expired: bool) -> u64 {
        let repairing = !self.phase.is_lossless();
        let (detect, segments) = (&mut self.detect, &mut self.segments);
        let lost = match self.judge {
            Judge::Time => {
                let dup_thresh = u64::from(tx.config.dup_thresh);
                let srtt = tx.timers.rto.srtt_secs();
                detect.find_losses(segments, now.time, dup_thresh, srtt, repairing)
            }
            Judge::Forward => fack::find_losses(detect, segments, tx, now.time, expired, repairing),
        };
        self.rate.lost += lost;
        lost
    }

    // --- phases ---------------------------------------------------------------------------------------------------------

    /// What an acknowledgement changes of the phase; whether a recovery begins.
    fn finds_loss(&mut self, tx: &mut Tx, now: Event, news: &Delivery, lost: u64) -> bool {
        let una = tx.seq.una;
        let over = una >= self.recovery_point;
        match self.phase {
            Phase::Open | Phase::Cwr(_) if lost > 0 => return true,
            // The segment after what was outstanding, which carries CWR, has arrived, too (RFC 3168 §6.1.2).
            Phase::Cwr(_) if una > self.recovery_point => self.leave_cwr(tx, now),
            Phase::Open | Phase::Cwr(_) => {}
            Phase::Recovery(_) if over => {
                self.leave(tx, now, true);
                // What was found lost of what was sent during the recovery is another episode's. Measured of Linux 6.1: the acknowledgement that ends a
                // recovery and shows a loss beyond it begins another, and reduces the window again.
                return self.has_lost();
            }
            Phase::Recovery(_) => {
                self.undo_by_dsack(tx, now, false);
            }
            Phase::Timeout(_) if over => self.leave(tx, now, false),
            Phase::Timeout(frto) => self.after_timeout(tx, now, news, frto),
        }
        false
    }

    /// A loss was found.
    fn enter_recovery(&mut self, tx: &mut Tx, now: Event) {
        let before = tx.window.windows();
        let once = tx.is_reduced_for_mark();
        tx.reduce(now, self.cause(), Some(self.losses()), 0);
        if tx.config.prr && !tx.window.needs.rules_recovery {
            tx.window.prescribe(now.time, before.cwnd);
        }
        if once {
            self.undo.end();
        } else {
            self.undo.begin(before, None);
        }
        self.phase = Phase::Recovery(match self.phase {
            // The reduction under way goes on.
            Phase::Cwr(prr) if once => prr,
            _ => Prr::new(whole(before.cwnd)),
        });
        self.recovery_point = tx.seq.max;
        self.tlp.end();
    }

    /// A mark was echoed.
    fn enter_cwr(&mut self, tx: &mut Tx, now: Event) {
        let before = tx.window.windows();
        tx.reduce_for_mark(now, Some(self.losses()));
        if tx.window.needs.rules_recovery {
            return;
        }
        if tx.config.prr {
            tx.window.prescribe(now.time, before.cwnd);
        }
        self.phase = Phase::Cwr(Prr::new(whole(before.cwnd)));
        self.recovery_point = tx.seq.max;
    }

    fn leave_cwr(&mut self, tx: &mut Tx, now: Event) {
        self.phase = Phase::Open;
        let ssthresh = tx.window.ssthresh();
        tx.window.prescribe(now.time, ssthresh);
        tx.window.on_recovered(now.time);
    }

    /// Everything that was outstanding when the loss was found has arrived.
    fn leave(&mut self, tx: &mut Tx, now: Event, reduced: bool) {
        if !self.undo_by_dsack(tx, now, true) && reduced && !tx.window.needs.rules_recovery {
            let ssthresh = tx.window.ssthresh();
            tx.window.prescribe(now.time, ssthresh);
        }
        self.phase = Phase::Open;
        self.undo.end();
        self.detect.on_recovered();
        tx.window.on_recovered(now.time);
    }

    /// Whether a timeout was spurious, from what arrives after it.
    fn after_timeout(&mut self, tx: &mut Tx, now: Event, news: &Delivery, frto: Frto) {
        let heard = Heard {
            originals: news.originals_of_episode,
            is_partial: news.acked > 0 && tx.seq.una < self.recovery_point,
            has_more: tx.has_more(),
        };
        match frto.on_ack(heard) {
            Verdict::Spurious => {
                if let Some(before) = self.undo.by_frto() {
                    self.undo(tx, now, before);
                }
            }
            Verdict::Undecided(next) => {
                if frto == Frto::Retransmitted && next != frto {
                    self.recovery_point = tx.seq.max;
                }
                self.phase = Phase::Timeout(next);
            }
        }
    }

    /// Restores the windows if all retransmissions were reported as duplicates. `over`: everything that was outstanding at the loss has arrived.
    fn undo_by_dsack(&mut self, tx: &mut Tx, now: Event, over: bool) -> bool {
        if !tx.config.undo || (self.has_lost() && !over) {
            return false;
        }
        let before = self.undo.by_dsack();
        before.is_some_and(|before| self.undo(tx, now, before))
    }

    /// Restores the windows if a timestamp shows that the original had arrived.
    fn undo_by_eifel(&mut self, tx: &mut Tx, now: Event) -> bool {
        if tx.config.eifel == Eifel::Off {
            return false;
        }
        let Some(before) = self.undo.by_eifel(tx.seq.una, tx.stamps.echo) else {
            return false;
        };
        if tx.config.eifel == Eifel::WindowAndTimeout {
            self.undo.adapt_after(tx.seq.max);
        }
        self.undo(tx, now, before)
    }

    fn undo(&mut self, tx: &mut Tx, now: Event, before: Windows) -> bool {
        tx.counters.spurious += 1;
        tx.counters.spurious_timeouts += u64::from(matches!(self.phase, Phase::Timeout(_)));
        if let Some(episodes) = &mut tx.episodes {
            episodes.undo();
        }
        tx.window.on_undo(now.time, before);
        self.segments.forget_losses();
        self.undo.end();
        self.phase = Phase::Open;
        true
    }

    // --- the window -----------------------------------------------------------------------------------------------------

    /// What was delivered and lost moves the window.
    fn move_window(
        &mut self,
        tx: &mut Tx,
        now: Event,
        news: &Delivery,
        lost: u64,
        flight_size: u64,
        rtt_secs: Option<f64>,
    ) {
        let pipe = self.segments.pipe();
        let rate = if self.measures_rate {
            self.rate.sample(self.detect.min_rtt)
        } else {
            None
        };
        if news.delivered == 0 && lost == 0 {
            return;
        }
        let reduction = self.phase.prr();
        let limited = self.usage.limits(tx.window.windows());
        tx.window.on_ack(&cc::Ack {
            now: Instant::from_secs(now.time),
            acked: news.acked,
            counted: if tx.config.byte_counting {
                news.delivered
            } else {
                1
            },
            delivered: news.delivered,
            lost,
            marked: tx.marked(),
            flight_size,
            pipe,
            snd_una: tx.seq.una,
            snd_nxt: tx.seq.nxt,
            rtt_secs,
            may_grow: reduction.is_none() && news.acked > 0,
            cwnd_limited: limited || !tx.config.cwnd_validation,
            rate,
        });
        if let Some(prr) = reduction
            && news.delivered > 0
            && prescribes_reduction(tx)
        {
            let safe = news.acked > 0 && lost == 0;
            prr.prescribe(tx, now, news.delivered, pipe, safe);
        } else {
            tx.window.settle(now.time);
        }
    }

    // --- the timer ------------------------------------------------------------------------------------------------------

    /// Sets the timer for what it is needed for next.
    fn arm(&mut self, tx: &mut Tx, now: Event) {
        let situation = Situation {
            idle: self.segments.is_empty(),
            look_again: self.detect.look_again,
            may_probe: self.phase.is_lossless()
                && !self.tlp.is_out()
                && self.segments.sacked() == 0,
        };
        self.timer.arm(tx, now, situation);
        tx.timers.recovery = self.timer.or(self.pace.timer);
    }

    pub fn on_timer(&mut self, tx: &mut Tx, now: Event) {
        if self.pace.timer.time <= now.time {
            self.pace.timer = Key::NEVER;
            if self.timer.deadline.time > now.time {
                tx.timers.recovery = self.timer.deadline;
                return;
            }
        }
        match self.timer.purpose {
            Purpose::Timeout => self.on_timeout(tx, now),
            Purpose::Probe => self.send_probe(tx, now),
            Purpose::Reordering => {
                let lost = self.find_losses(tx, now, true);
                if lost > 0 && self.phase.is_lossless() {
                    self.enter_recovery(tx, now);
                    // Nothing was delivered: only the first retransmission leaves at once, as measured of Linux 6.1 (7 outstanding, 5 of
                    // them found lost by the timer: a window of 3).
                    let pipe = self.segments.pipe();
                    if let Some(prr) = self.phase.prr()
                        && prescribes_reduction(tx)
                    {
                        prr.prescribe(tx, now, 0, pipe, false);
                    }
                }
                self.timer.arm_due = true;
            }
        }
    }

    /// RFC 6298 §5.4 to §5.6, RFC 8985 §6.3.
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
    fn on_timeout(&mut self, tx: &mut Tx, now: Event) {
        tx.begin_timeout(now, Some(self.losses()));
        let before = tx.window.windows();
        let estimators = tx.timers.rto.before_timeout();
        let again = matches!(self.phase, Phase::Timeout(_));
        let once = tx.is_reduced_for_mark();
        tx.note_reduction(false);
        if again || once {
            // The timeout of what a timeout has sent again (RFC 5681 §3.1), or of a window that a mark has reduced (RFC 3168 §6.1.2): the
            // threshold stays.
            tx.window.prescribe(now.time, 1.0);
        } else {
            tx.counters.congestion_signals += 1;
            let episode = tx.episode(now, Signal::Rto, 0);
            tx.window.on_congestion(now.time, &episode);
        }
        // RFC 2018 §8: the receiver has reported the first segment, and yet has not got it. What it has reported means nothing any more.
        let reneged = self.segments.first_is_sacked();
        if reneged {
            self.segments.forget_sacks();
            tx.clear_scoreboard();
            self.undo.end();
        } else if !again {
            self.undo.begin(before, estimators);
        }
        // What was sent lately may be on its way (RFC 8985 §6.3); without times everything is lost (RFC 6675 §5.1).
        let deadline = if reneged || self.judge == Judge::Forward {
            f64::INFINITY
        } else {
            self.detect.timeout_deadline(now.time)
        };
        self.rate.lost += self.segments.mark_lost_on_timeout(deadline);
        let asks = tx.config.frto && tx.seq.una > 0 && self.phase.is_lossless() && !reneged;
        self.phase = Phase::Timeout(if asks {
            Frto::Retransmitted
        } else {
            Frto::Over
        });
        self.recovery_point = tx.seq.max;
        self.tlp.end();
        self.detect.look_again = None;
        let pipe = self.segments.pipe();
        tx.window.prescribe(now.time, pipe as f64 + 1.0);
        tx.timers.rto.back_off();
        tx.pending = Some(tx.seq.una);
        self.timer.restart(now);
    }

    /// RFC 8985 §7.3: new data if there is any, or else the last segment again.
    fn send_probe(&mut self, tx: &mut Tx, now: Event) {
        let new = tx.has_new();
        let seq = if new { tx.seq.nxt } else { tx.seq.max - 1 };
        tx.counters.probes += 1;
        tx.pending = Some(seq);
        self.tlp.begin(tx.seq.max.max(seq + 1), !new);
        self.timer.restart(now);
    }

    // --- what is known --------------------------------------------------------------------------------------------------

    /// Whether a loss is being repaired.
    #[inline]
    pub fn is_repairing(&self) -> bool {
        !self.phase.is_lossless()
    }

    /// Segments considered in the path.
    #[inline]
    pub fn pipe(&self) -> u64 {
        self.segments.pipe()
    }

    /// Whether a segment has been found lost that waits to be sent again.
    #[inline]
    pub fn has_lost(&self) -> bool {
        self.segments.lost() > 0
    }

    /// Segments reported whose predecessor is, too.
    pub fn joined(&self) -> u64 {
        self.segments.joined()
    }

    pub fn losses(&self) -> Losses {
        Losses {
            found: self.rate.lost,
            waiting: self.segments.lost(),
        }
    }

    fn cause(&self) -> Cause {
        match self.judge {
            Judge::Time => Cause::Rack,
            Judge::Forward => Cause::Fack,
        }
    }
}

/// Whether the window is prescribed during a reduction (RFC 9937).
fn prescribes_reduction(tx: &Tx) -> bool {
    tx.config.prr && !tx.window.needs.rules_recovery
}
