//! RACK-TLP: a segment is lost if one that was sent after it has arrived and a little time has passed; if the end of a flight is lost, a probe
//! finds out.
//!
//! Specification: RFC 8985 §6 (loss detection), §7 (tail loss probe), §5 (variables); RFC 9937 (the window in a recovery, `reduction = "prr"`);
//! RFC 3168 §6.1.2 (a mark, whose reduction takes the same way as a loss's); RFC 5682 §3.1 (`frto`); RFC 3708 and RFC 4015 §3.2 (`undo`: every
//! retransmission turned out to be needless); RFC 3522 (`eifel`: the acknowledgement is of the original); RFC 2018 §8 (a receiver that
//! discards what it has reported).

mod undo;

use self::undo::Undo;
use super::{SendAllowance, Sender};
use crate::cc::{self, Signal, Windows};
use crate::events::{Child, Event, Key};
use crate::packet::{Ack, Data};
use crate::registry::Entry;
use crate::tcp::episodes::Cause;
use crate::tcp::pacer::{Flight, Paced};
use crate::tcp::params::{Recovery, whole};
use crate::tcp::prr::Prr;
use crate::tcp::rate::{Rate, Snapshot};
use crate::tcp::scoreboard::Range;
use crate::tcp::segmentation::Moment;
use crate::tcp::segments::{Segment, Segments};
use crate::tcp::timestamps::Stamp;
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
}

/// How far the test is whether a timeout was spurious (RFC 5682 §3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Frto {
    /// It was not, or it is not asked.
    Over,
    /// The segment that timed out has been sent again.
    Retransmitted,
    /// It has been acknowledged, and new data was sent.
    NewData,
}

/// What the timer is for; it has one purpose at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    Timeout,
    Probe,
    Reordering,
}

/// The state of this recovery.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct Rack {
    pub segments: Segments,
    pub(super) rate: Rate,
    /// Whether the algorithm asks for delivery rates.
    measures_rate: bool,
    phase: Phase,
    recovery_point: u64,
    undo: Option<Undo>,
    /// After a spurious timeout: the timer adapts to the first round trip of what follows this segment, from these estimators.
    adapt: Option<(u64, (f64, f64))>,
    purpose: Purpose,
    /// Something has happened that sets the timer anew: once, when nothing is left to be sent.
    arm_due: bool,
    /// When losses were looked for last, and how much later that is to be done again if nothing arrives before.
    pub(super) look_again: Option<(f64, f64)>,
    /// When the retransmission timer was last restarted.
    restarted: f64,
    /// Of the segment that was sent last of those delivered: its transmission, and its round trip (RACK.rtt).
    newest: Option<(f64, u64)>,
    rtt: f64,
    min_rtt: f64,
    /// One past the highest segment delivered (RACK.fack; FACK's snd.fack), and the number of the transmission that was delivered.
    pub(super) fack: u64,
    pub(super) forward: u64,
    pub(super) reordering_seen: bool,
    reo_wnd_mult: u32,
    /// Recoveries until the reordering window shrinks again.
    reo_wnd_persist: u32,
    dsack_round: u64,
    /// The end of the flight that is being probed (TLP.end_seq), and whether the probe was a retransmission.
    probe: Option<(u64, bool)>,
    /// The most that was outstanding in this window, whether the congestion window was the limit, and when it ends (RFC 7661 §4.2).
    used: u64,
    cwnd_limited: bool,
    usage_end: u64,
    /// Something has been sent since that was looked at.
    has_sent: bool,
    /// When the next segment may be sent, if the algorithm paces.
    paced_until: f64,
    pace_timer: Key,
    /// Segments left of the burst that is leaving, with segmentation offload.
    burst: u64,
    parts: Vec<Range>,
}

impl Rack {
    /// The state of a sender with that recovery, if it keeps any.
    pub fn of(recovery: Recovery, measures_rate: bool) -> Option<Box<Self>> {
        recovery
            .keeps_segments()
            .then(|| Box::new(Self::new(measures_rate)))
    }

    fn new(measures_rate: bool) -> Self {
        Self {
            segments: Segments::default(),
            rate: Rate::default(),
            measures_rate,
            phase: Phase::Open,
            recovery_point: 0,
            undo: None,
            adapt: None,
            purpose: Purpose::Timeout,
            arm_due: false,
            look_again: None,
            restarted: 0.0,
            newest: None,
            rtt: 0.0,
            min_rtt: f64::INFINITY,
            fack: 0,
            forward: 0,
            reordering_seen: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            dsack_round: 0,
            probe: None,
            used: 0,
            cwnd_limited: false,
            usage_end: 0,
            has_sent: false,
            paced_until: 0.0,
            pace_timer: Key::NEVER,
            burst: 0,
            parts: Vec::new(),
        }
    }
}

impl Rack {
    /// A segment is delivered (RFC 8985 §6.2 steps 1 to 3); `earlier`: a timestamp tells that it was not its last transmission that arrived.
    ///
    /// Without that, all that was sent before a needless retransmission would be lost as soon as the original is acknowledged. Measured of
    /// Linux 6.1: after a delay of 700 ms that made its timer expire, nothing is.
    #[inline]
    fn deliver(&mut self, now: f64, seq: u64, segment: &Segment, earlier: bool, news: &mut News) {
        news.delivered += 1;
        if self.measures_rate {
            self.rate
                .on_delivered(now, segment.snapshot, segment.sent, segment.transmission);
        }
        let rtt = now - segment.sent;
        if segment.retransmitted {
            // Sooner than any round trip: the acknowledgement is of an earlier transmission.
            if earlier || rtt < self.min_rtt {
                return;
            }
        } else {
            self.min_rtt = self.min_rtt.min(rtt);
            news.first_sent = news.first_sent.min(segment.sent);
            news.last_sent = news.last_sent.max(segment.sent);
            news.originals = true;
            news.originals_of_episode |= seq < self.recovery_point;
            if seq + 1 < self.fack {
                self.reordering_seen = true;
            }
        }
        if seq >= self.fack {
            self.fack = seq + 1;
            self.forward = segment.transmission;
        }
        if self
            .newest
            .is_none_or(|(_, transmission)| segment.transmission > transmission)
        {
            self.newest = Some((segment.sent, segment.transmission));
            self.rtt = rtt;
        }
    }

    /// The reordering window, seconds (RFC 8985 §6.2 step 4).
    fn reo_wnd(&self, dup_thresh: u64, srtt: Option<f64>) -> f64 {
        if !self.reordering_seen
            && (!self.phase.is_lossless() || self.segments.sacked() >= dup_thresh)
        {
            return 0.0;
        }
        self.widest_reo_wnd().min(srtt.unwrap_or(f64::INFINITY))
    }

    /// Whether no loss is being repaired.
    pub(super) fn is_lossless(&self) -> bool {
        self.phase.is_lossless()
    }

    /// Segments found lost so far.
    pub fn lost_so_far(&self) -> u64 {
        self.rate.lost
    }

    /// Whether `window` has room and the next segment's time has not come.
    #[inline]
    pub fn waits_for_its_time(&self, now: f64, window: u64) -> bool {
        self.paced_until > now && self.segments.pipe() < window
    }

    /// New segments that the window has room for now.
    pub(in crate::tcp) fn room(&self, now: f64, window: u64) -> u64 {
        if self.paced_until > now {
            return 0;
        }
        window.saturating_sub(self.segments.pipe() + self.segments.lost())
    }

    fn widest_reo_wnd(&self) -> f64 {
        f64::from(self.reo_wnd_mult) * self.min_rtt / 4.0
    }

    /// The same after a timeout: none as long as no reordering has been seen.
    fn reo_wnd_at_timeout(&self) -> f64 {
        if self.reordering_seen {
            self.widest_reo_wnd()
        } else {
            0.0
        }
    }

    /// Takes note, when nothing more may leave, of how much of the window is in use, and whether it is `full` although there is more to
    /// send: over a window's time, the most (RFC 7661 §4.2).
    fn note_usage(&mut self, una: u64, snd_max: u64, full: bool) {
        self.has_sent = false;
        let outstanding = snd_max - una;
        if una >= self.usage_end || full || (!self.cwnd_limited && outstanding > self.used) {
            self.cwnd_limited = full;
            self.used = outstanding;
            self.usage_end = snd_max;
        }
    }

    /// Finds losses; how many.
    fn find_losses(&mut self, now: f64, dup_thresh: u64, srtt: Option<f64>) -> u64 {
        let Some((_, newest)) = self.newest else {
            return 0;
        };
        let wait = self.rtt + self.reo_wnd(dup_thresh, srtt);
        // A hair of tolerance: what is due now is due.
        let (lost, next) = self.segments.mark_lost_before(newest, now - wait + 1e-9);
        self.rate.lost += lost;
        self.look_again = next.map(|sent| (now, sent + wait - now));
        lost
    }
}

/// What an acknowledgement has delivered.
#[derive(Debug)]
struct News {
    acked: u64,
    delivered: u64,
    /// When the first and the last of the segments that were sent only once had left.
    first_sent: f64,
    last_sent: f64,
    /// Whether there was one, and one that was outstanding when the last loss was found.
    originals: bool,
    originals_of_episode: bool,
    /// Whether something that was sent again was acknowledged cumulatively.
    repairs: bool,
}

impl Sender {
    fn rack(&mut self) -> &mut Rack {
        self.rack.as_mut().expect("a sender with this recovery")
    }

    pub(in crate::tcp) fn rack_on_ack(&mut self, now: Event, ack: &Ack) {
        if ack.next < self.snd_una {
            return;
        }
        let una = self.snd_una;
        let flight_size = self.snd_max - una;
        let news = self.rack_take(now, ack);
        let syn = una == 0 && ack.next > 0 && self.config.handshake;
        let rtt_secs = self.rack_measure(now, &news);
        if !syn {
            self.announce(now, news.acked, rtt_secs);
        }
        if ack.duplicate {
            self.rack_on_duplicate();
        }
        self.rack_probe_on_ack(now, ack);
        let lost = self.rack_find_losses(now, false);
        if news.delivered > news.acked {
            self.counters.dupacks_in += u64::from(news.acked == 0);
        }
        if syn {
            self.rack_established(now, rtt_secs);
        } else {
            let congested = self.signals.is_some() && self.hear_marks(now, ack, news.delivered);
            self.rack_change_phase(now, &news, lost, congested);
            self.rack_move_window(now, &news, lost, flight_size, rtt_secs);
        }
        if news.acked > 0 || (news.delivered > 0 && !self.rack_is_open()) {
            self.rack().restarted = now.time;
        }
        self.rack().arm_due = true;
    }

    /// Finds losses, by time or by the highest segment reported; how many. `expired`: their timer has expired.
    #[inline]
    fn rack_find_losses(&mut self, now: Event, expired: bool) -> u64 {
        if self.config.recovery == Recovery::Fack {
            return self.fack_find_losses(now.time, expired);
        }
        let (dup_thresh, srtt) = (u64::from(self.config.dup_thresh), self.rto.srtt_secs());
        self.rack().find_losses(now.time, dup_thresh, srtt)
    }

    pub(in crate::tcp) fn rack_is_open(&self) -> bool {
        self.rack
            .as_ref()
            .is_none_or(|rack| rack.phase.is_lossless())
    }

    /// Takes note of what has arrived.
    fn rack_take(&mut self, now: Event, ack: &Ack) -> News {
        let mut news = News {
            acked: ack.next - self.snd_una,
            delivered: 0,
            first_sent: f64::INFINITY,
            last_sent: f64::NEG_INFINITY,
            originals: false,
            originals_of_episode: false,
            repairs: false,
        };
        let (clock, echo) = (self.clock, self.echo);
        let rack = self.rack.as_mut().expect("a sender with this recovery");
        // What is acknowledged cumulatively had arrived first: with a delayed acknowledgement one can report both a segment in order and a later
        // one beyond a hole, which is no reordering.
        for seq in self.snd_una..ack.next {
            if let Some(segment) = rack.segments.acknowledge_first()
                && !segment.sacked
            {
                let sent = segment.sent;
                news.repairs |= segment.retransmitted;
                let earlier = segment.retransmitted
                    && clock.is_some_and(|clock| echo.precedes(clock.stamp(sent)));
                rack.deliver(now.time, seq, &segment, earlier, &mut news);
            }
        }
        if ack.next > self.snd_una {
            self.snd_una = ack.next;
            self.snd_nxt = self.snd_nxt.max(ack.next);
            if !self.state.scoreboard.is_empty() {
                self.state.scoreboard.remove_below(ack.next);
            }
        }
        if !ack.sack.is_empty() {
            let mut parts = std::mem::take(&mut rack.parts);
            for range in ack.sack.ranges(ack.next) {
                self.state.scoreboard.insert(range, |part| parts.push(part));
            }
            // Blocks come newest first: where acknowledgements are lost, that is not the order in which segments arrived.
            parts.sort_unstable_by_key(|part| part.start);
            for part in parts.drain(..) {
                for seq in part.start..part.end {
                    if let Some(segment) = rack.segments.sack(seq) {
                        // What is repeated is the timestamp of the last segment in order (RFC 7323 §4.3), which tells nothing of this one.
                        rack.deliver(now.time, seq, &segment, false, &mut news);
                    }
                }
            }
            rack.parts = parts;
        }
        news
    }

    /// A round trip is measured with every acknowledgement of something that was sent once (RFC 6298 §3, RFC 7323 §4.1). The timer takes
    /// the first such segment's, which includes the receiver's delay; the algorithm hears of the last one's.
    fn rack_measure(&mut self, now: Event, news: &News) -> Option<f64> {
        if news.acked > 0 {
            self.rto.end_back_off();
        }
        if !news.originals || news.repairs {
            // Of what was sent again only its timestamp tells which transmission it was, and it tells so of all that is acknowledged with it. The algorithm
            // hears of that, too. Measured of Linux 6.1 by the round trips of its `westwood`: it takes a path of 20.03 ms for one of 20 when the timestamps of
            // a repair are 20 ms apart, and for one of 21 when they are 21, whether or not the repair acknowledges segments that were sent once.
            let rtt = self.echoed_rtt(now).filter(|_| news.acked > 0)?;
            self.rto.sample(now.time - rtt, rtt);
            self.count_round_trip(rtt, rtt);
            return Some(rtt);
        }
        let rtt = now.time - news.first_sent;
        let last = now.time - news.last_sent;
        self.rto.sample(news.first_sent, rtt);
        self.count_round_trip(rtt, last);
        let una = self.snd_una;
        if let Some((_, estimators)) = self.rack().adapt.take_if(|(from, _)| una > *from) {
            self.rto.adapt_to_spurious(estimators, last);
        }
        Some(last)
    }

    fn rack_established(&mut self, now: Event, rtt_secs: Option<f64>) {
        if let Some(rtt_secs) = rtt_secs {
            self.window.on_handshake(now.time, rtt_secs);
        }
        self.on_established(now, rtt_secs.is_some());
        let rack = self.rack();
        rack.phase = Phase::Open;
        rack.undo = None;
    }

    // --- phases ---------------------------------------------------------------------------------------------------------

    fn rack_change_phase(&mut self, now: Event, news: &News, lost: u64, congested: bool) {
        if news.acked > 0 && self.rack_eifel(now) {
            return;
        }
        let una = self.snd_una;
        let rack = self.rack();
        let over = una >= rack.recovery_point;
        match rack.phase {
            Phase::Open => {
                if lost > 0 {
                    self.rack_enter_recovery(now);
                }
            }
            Phase::Cwr(_) if lost > 0 => self.rack_enter_recovery(now),
            // The segment after what was outstanding, which carries CWR, has arrived, too (RFC 3168 §6.1.2).
            Phase::Cwr(_) if una > rack.recovery_point => self.rack_leave_cwr(now),
            Phase::Cwr(_) => {}
            Phase::Recovery(_) if over => {
                self.rack_leave(now, true);
                // What was found lost of what was sent during the recovery is another episode's. Measured of Linux 6.1: the acknowledgement that ends a
                // recovery and shows a loss beyond it begins another, and reduces the window again.
                if self.rack().segments.lost() > 0 {
                    self.rack_enter_recovery(now);
                }
            }
            Phase::Recovery(_) => {
                self.rack_try_undo(now, false);
            }
            Phase::Timeout(_) if over => self.rack_leave(now, false),
            Phase::Timeout(frto) => self.rack_after_timeout(now, news, frto),
        }
        if congested && self.rack().phase == Phase::Open {
            self.rack_enter_cwr(now);
        }
    }

    fn rack_enter_recovery(&mut self, now: Event) {
        let before = self.window.windows();
        let snd_max = self.snd_max;
        let once = self.is_reduced_for_mark();
        self.reduce(now);
        if self.config.prr && !self.window.needs.rules_recovery {
            self.window.prescribe(now.time, before.cwnd);
        }
        let rack = self.rack();
        rack.undo = (!once).then_some(Undo::to(before));
        rack.phase = Phase::Recovery(match rack.phase {
            // The reduction under way goes on.
            Phase::Cwr(prr) if once => prr,
            _ => Prr::new(whole(before.cwnd)),
        });
        rack.recovery_point = snd_max;
        rack.probe = None;
    }

    /// A mark was echoed.
    fn rack_enter_cwr(&mut self, now: Event) {
        let before = self.window.windows();
        self.reduce_for_mark(now);
        if self.window.needs.rules_recovery {
            return;
        }
        if self.config.prr {
            self.window.prescribe(now.time, before.cwnd);
        }
        let snd_max = self.snd_max;
        let rack = self.rack();
        rack.phase = Phase::Cwr(Prr::new(whole(before.cwnd)));
        rack.recovery_point = snd_max;
    }

    fn rack_leave_cwr(&mut self, now: Event) {
        self.rack().phase = Phase::Open;
        let ssthresh = self.window.ssthresh();
        self.window.prescribe(now.time, ssthresh);
        self.window.on_recovered(now.time);
    }

    /// Everything that was outstanding when the loss was found has arrived.
    fn rack_leave(&mut self, now: Event, reduced: bool) {
        if !self.rack_try_undo(now, true) && reduced && !self.window.needs.rules_recovery {
            let ssthresh = self.window.ssthresh();
            self.window.prescribe(now.time, ssthresh);
        }
        let rack = self.rack();
        rack.phase = Phase::Open;
        rack.undo = None;
        if rack.reo_wnd_persist > 0 {
            rack.reo_wnd_persist -= 1;
            if rack.reo_wnd_persist == 0 {
                rack.reo_wnd_mult = 1;
            }
        }
        self.window.on_recovered(now.time);
    }

    /// Whether a timeout was spurious, from what arrives after it (RFC 5682 §3.1).
    fn rack_after_timeout(&mut self, now: Event, news: &News, frto: Frto) {
        let has_more = self.has_more();
        let (una, snd_max) = (self.snd_una, self.snd_max);
        let rack = self.rack();
        match frto {
            Frto::Over => {}
            // Something arrived that was not sent again.
            _ if news.originals_of_episode => {
                if let Some(undo) = rack.undo {
                    self.rack_undo(now, undo);
                }
            }
            Frto::Retransmitted if news.acked > 0 && una < rack.recovery_point => {
                rack.phase = Phase::Timeout(if has_more { Frto::NewData } else { Frto::Over });
                rack.recovery_point = snd_max;
            }
            Frto::Retransmitted => {}
            Frto::NewData => rack.phase = Phase::Timeout(Frto::Over),
        }
    }

    // --- the window -----------------------------------------------------------------------------------------------------

    fn rack_move_window(
        &mut self,
        now: Event,
        news: &News,
        lost: u64,
        flight_size: u64,
        rtt_secs: Option<f64>,
    ) {
        let rules = self.window.needs.rules_recovery;
        let prr_wanted = self.config.prr;
        let rack = self.rack.as_mut().expect("a sender with this recovery");
        let pipe = rack.segments.pipe();
        let rate = rack
            .measures_rate
            .then(|| rack.rate.sample(rack.min_rtt))
            .flatten();
        if news.delivered == 0 && lost == 0 {
            return;
        }
        let in_recovery = matches!(rack.phase, Phase::Recovery(_) | Phase::Cwr(_));
        let Windows { cwnd, ssthresh } = self.window.windows();
        // RFC 7661 §4.1, and in slow start half of the window in use is enough to double it.
        let used = rack.used;
        #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
        let cwnd_limited = rack.cwnd_limited || (cwnd < ssthresh && cwnd < 2.0 * used as f64);
        let validated = cwnd_limited || !self.config.cwnd_validation;
        self.window.on_ack(&cc::Ack {
            now: Instant::from_secs(now.time),
            acked: news.acked,
            counted: if self.config.byte_counting {
                news.delivered
            } else {
                1
            },
            delivered: news.delivered,
            lost,
            marked: self.marked(),
            flight_size,
            pipe,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            rtt_secs,
            may_grow: !in_recovery && news.acked > 0,
            cwnd_limited: validated,
            rate,
        });
        if in_recovery && news.delivered > 0 && prr_wanted && !rules {
            self.rack_reduce_in_proportion(now, news.delivered, news.acked > 0 && lost == 0);
        }
        self.window.settle(now.time);
    }

    /// The window during a recovery (RFC 9937), whatever the algorithm makes of what it hears, when so much was delivered, and safely or not.
    fn rack_reduce_in_proportion(&mut self, now: Event, delivered: u64, safe: bool) {
        let ssthresh = whole(self.window.ssthresh().min(1e15));
        let bound = self.config.prr_bound;
        let rack = self.rack();
        let pipe = rack.segments.pipe();
        if let Phase::Recovery(prr) | Phase::Cwr(prr) = &mut rack.phase {
            let allowed = prr.on_ack(bound, delivered, pipe, ssthresh, safe);
            #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
            let cwnd = (pipe + allowed).max(1) as f64;
            self.window.prescribe(now.time, cwnd);
        }
    }

    // --- the timer ------------------------------------------------------------------------------------------------------

    /// Sets the timer for what it is needed for next.
    fn rack_arm(&mut self, now: Event) {
        let timeout = self.rto.timeout_secs();
        let srtt = self.rto.srtt_secs();
        let probe_wanted = self.config.tail_loss_probe;
        let slack = self.config.probe_slack;
        let max_ack_delay = self.config.probe_max_ack_delay;
        let flight_size = self.snd_max - self.snd_una;
        let ticks = self.config.timer_tick;
        let rack = self.rack.as_mut().expect("a sender with this recovery");
        if rack.segments.is_empty() {
            self.timer = rack.pace_timer;
            rack.purpose = Purpose::Timeout;
            self.rack_deadline = Key::NEVER;
            return;
        }
        let mut timer = (rack.restarted, timeout);
        rack.purpose = Purpose::Timeout;
        if let Some((looked, wait)) = rack.look_again {
            timer = (looked, wait + slack);
            rack.purpose = Purpose::Reordering;
        } else if let Some(srtt) = srtt
            && probe_wanted
            && rack.phase.is_lossless()
            && rack.probe.is_none()
            && rack.segments.sacked() == 0
        {
            // RFC 8985 §7.2.
            let wait = 2.0 * srtt
                + if flight_size == 1 {
                    max_ack_delay
                } else {
                    slack
                };
            if now.time + wait < rack.restarted + timeout {
                timer = (now.time, wait);
                rack.purpose = Purpose::Probe;
            }
        }
        let deadline = ticks.expiry(timer.0, timer.1);
        self.rack_deadline = now.schedule(deadline.max(now.time), Child::Timer);
        self.rack_next_timer();
    }

    /// The earlier of the two timers.
    fn rack_next_timer(&mut self) {
        let pace = self.rack().pace_timer;
        self.timer = if pace.time < self.rack_deadline.time {
            pace
        } else {
            self.rack_deadline
        };
    }

    pub(in crate::tcp) fn rack_on_timer(&mut self, now: Event) {
        self.permit = SendAllowance::Window;
        if self.rack().pace_timer.time <= now.time {
            self.rack().pace_timer = Key::NEVER;
            if self.rack_deadline.time > now.time {
                self.rack_next_timer();
                return;
            }
        }
        match self.rack().purpose {
            Purpose::Timeout => self.rack_on_timeout(now),
            Purpose::Probe => self.rack_send_probe(now),
            Purpose::Reordering => {
                let lost = self.rack_find_losses(now, true);
                if lost > 0 && self.rack_is_open() {
                    self.rack_enter_recovery(now);
                    // Nothing was delivered: only the first retransmission leaves at once, as measured of Linux 6.1 (7 outstanding, 5 of
                    // them found lost by the timer: a window of 3).
                    if self.config.prr && !self.window.needs.rules_recovery {
                        self.rack_reduce_in_proportion(now, 0, false);
                    }
                }
                self.rack().arm_due = true;
            }
        }
    }

    /// RFC 6298 §5.4 to §5.6, RFC 8985 §6.3.
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
    fn rack_on_timeout(&mut self, now: Event) {
        self.begin_timeout(now);
        let before = self.window.windows();
        let estimators = self.rto.before_timeout();
        let (una, snd_max) = (self.snd_una, self.snd_max);
        let frto_wanted = self.config.frto && una > 0;
        let again = matches!(self.rack().phase, Phase::Timeout(_));
        let retransmitted_before = !self.rack_is_open();
        let once = self.is_reduced_for_mark();
        // What was sent lately may be on its way (RFC 8985 §6.3); without times everything is lost (RFC 6675 §5.1).
        let timeless = self.config.recovery == Recovery::Fack;
        self.note_reduction(false);
        if again || once {
            // The timeout of what a timeout has sent again (RFC 5681 §3.1), or of a window that a mark has reduced (RFC 3168 §6.1.2): the
            // threshold stays.
            self.window.prescribe(now.time, 1.0);
        } else {
            self.counters.congestion_signals += 1;
            let episode = self.episode(now, Signal::Rto, 0);
            self.window.on_congestion(now.time, &episode);
        }
        let rack = self.rack();
        let mut deadline = now.time - rack.rtt - rack.reo_wnd_at_timeout();
        // RFC 2018 §8: the receiver has reported the first segment, and yet has not got it. What it has reported means nothing any more.
        let reneged = rack.segments.first_is_sacked();
        if reneged {
            rack.segments.forget_sacks();
        }
        if reneged || timeless {
            deadline = f64::INFINITY;
        }
        let lost = rack.segments.mark_lost_on_timeout(deadline);
        rack.rate.lost += lost;
        let pipe = rack.segments.pipe();
        if reneged {
            rack.undo = None;
        } else if !again {
            rack.undo = Some(Undo {
                estimators,
                ..Undo::to(before)
            });
        }
        let frto = if frto_wanted && !again && !retransmitted_before && !reneged {
            Frto::Retransmitted
        } else {
            Frto::Over
        };
        rack.phase = Phase::Timeout(frto);
        rack.recovery_point = snd_max;
        rack.probe = None;
        rack.look_again = None;
        rack.restarted = now.time;
        if reneged {
            self.clear_scoreboard();
        }
        self.window.prescribe(now.time, pipe as f64 + 1.0);
        self.rto.back_off();
        self.pending = Some(una);
        self.rack().arm_due = true;
    }

    /// RFC 8985 §7.3: new data if there is any, or else the last segment again.
    fn rack_send_probe(&mut self, now: Event) {
        let new =
            self.snd_nxt < self.available() && self.snd_nxt < self.snd_una + self.window.limit();
        let seq = if new { self.snd_nxt } else { self.snd_max - 1 };
        self.counters.probes += 1;
        self.pending = Some(seq);
        let end = self.snd_max.max(seq + 1);
        let rack = self.rack();
        rack.probe = Some((end, !new));
        rack.restarted = now.time;
        self.rack().arm_due = true;
    }

    /// RFC 8985 §7.4.2: whether a probe has repaired a loss that nothing else has shown.
    fn rack_probe_on_ack(&mut self, now: Event, ack: &Ack) {
        let Some((end, retransmission)) = self.rack().probe else {
            return;
        };
        if ack.next < end {
            return;
        }
        self.rack().probe = None;
        if retransmission && !ack.duplicate {
            // The original was lost, so the window is reduced, as for a loss that was recovered from at once.
            let episode_over = self.rack_is_open();
            if episode_over {
                self.reduce_for(now, Cause::TailLossProbe);
            }
        }
    }

    // --- sending --------------------------------------------------------------------------------------------------------

    /// The next segment to send now.
    #[inline]
    pub(in crate::tcp) fn rack_poll(&mut self, now: Event) -> Option<Data> {
        if let Some(seq) = self.pending.take() {
            return Some(self.rack_transmit(now, seq));
        }
        if let Some(seq) = self.rack_next(now) {
            return Some(self.rack_transmit(now, seq));
        }
        if self.closes() {
            return self.rack_poll(now);
        }
        let (una, snd_max) = (self.snd_una, self.snd_max);
        if std::mem::take(&mut self.rack().has_sent) {
            self.rack().note_usage(una, snd_max, false);
        }
        if std::mem::take(&mut self.rack().arm_due) {
            self.rack_arm(now);
        }
        self.permit = SendAllowance::Nothing;
        self.rack().burst = 0;
        self.note_limit(now);
        None
    }

    fn rack_next(&mut self, now: Event) -> Option<u64> {
        let window = self.window.usable();
        let new = self.has_more() && self.snd_nxt < self.snd_una + self.window.limit();
        let unwritten = self.send_room() == 0;
        let (una, snd_max) = (self.snd_una, self.snd_max);
        let limited_transmit = self.config.limited_transmit;
        let rack = self.rack.as_mut().expect("a sender with this recovery");
        let pipe = rack.segments.pipe();
        let lost = rack.segments.next_lost();
        if lost.is_none() && !new {
            if unwritten {
                rack.rate.on_app_limited(pipe);
            }
            return None;
        }
        let outstanding = snd_max - una;
        // The pipe lets a new segment out for each that is reported, which includes limited transmit (RFC 3042).
        let full = pipe >= window
            || (!limited_transmit && rack.phase == Phase::Open && outstanding >= window);
        if full {
            rack.note_usage(una, snd_max, true);
            return None;
        }
        if rack.burst > 0 {
            rack.burst -= 1;
            return lost.or_else(|| new.then_some(self.snd_nxt));
        }
        if rack.paced_until > now.time {
            rack.pace_timer = now.schedule(rack.paced_until, Child::Timer);
            self.rack_next_timer();
            return None;
        }
        if lost.is_none() && self.config.segmentation.is_some() && !self.rack_begin_burst(now) {
            return None;
        }
        lost.or_else(|| new.then_some(self.snd_nxt))
    }

    /// Whether a burst of new data leaves now, of which this is the first segment.
    #[inline(never)]
    fn rack_begin_burst(&mut self, now: Event) -> bool {
        let Some(segmentation) = self.config.segmentation else {
            return true;
        };
        let (window, smss) = (self.window.usable(), self.config.smss);
        let asked = self.window.pacing_rate().map(crate::units::Rate::bps);
        let rate = asked.or_else(|| self.config.pacing.of_window(&self.rack_flight()));
        let rate = rate.unwrap_or(0.0).min(self.config.pacing.max);
        let srtt_secs = self.rto.srtt_secs().unwrap_or(f64::INFINITY);
        let unsent = self.available().saturating_sub(self.snd_nxt);
        let receivers = self.snd_una + self.window.limit() - self.snd_nxt;
        let (una, snd_max) = (self.snd_una, self.snd_max);
        let number = self
            .snd_nxt
            .saturating_sub(u64::from(self.config.handshake));
        let rack = self.rack();
        let pipe = rack.segments.pipe();
        let sendable = (window - pipe).min(receivers).min(unsent);
        let burst = segmentation
            .burst(rate, rack.min_rtt, smss)
            .min(segmentation.left_in_buffer(number, smss));
        let moment = Moment {
            sendable,
            more: unsent > sendable,
            repairing: rack.phase != Phase::Open,
            window,
            pipe,
            oldest_age: rack
                .segments
                .sent_at(una)
                .map_or(0.0, |sent| now.time - sent),
            srtt_secs,
        };
        if segmentation.waits(burst, &moment) {
            // What it waits for is the window.
            if window - pipe == sendable {
                self.rack().note_usage(una, snd_max, true);
            }
            return false;
        }
        rack.burst = burst.min(sendable) - 1;
        true
    }

    /// Bits per second at which segment `seq` leaves, if it is paced.
    #[inline]
    pub(in crate::tcp) fn rack_pacing_rate(&self, seq: u64) -> Option<f64> {
        let pacing = &self.config.pacing;
        let first = u64::from(self.config.handshake);
        if pacing.paced == Paced::Never || seq < first + pacing.free_start {
            return None;
        }
        pacing.rate(self.window.pacing_rate(), || self.rack_flight())
    }

    fn rack_flight(&self) -> Flight {
        Flight {
            cwnd: self.window.cwnd(),
            ssthresh: self.window.ssthresh(),
            outstanding: self.snd_max - self.snd_una,
            smss: self.config.smss,
            srtt_secs: self.rto.srtt_secs(),
        }
    }

    fn rack_transmit(&mut self, now: Event, seq: u64) -> Data {
        let rate = self.rack_pacing_rate(seq);
        let stamp = self
            .clock
            .map_or(Stamp::NONE, |clock| clock.stamp(now.time));
        // Algorithms' rates are of application bytes. So is Linux's pacing: 2.80 ms between segments of 1448 bytes at 4.135 Mbit/s.
        let bits = 8.0 * f64::from(self.stream.payload_bytes(seq));
        let credit = self.config.pacing.credit;
        let again = seq < self.snd_max;
        let rack = self.rack.as_mut().expect("a sender with this recovery");
        let pipe = rack.segments.pipe();
        let idle = rack.segments.is_empty();
        let snapshot = if rack.measures_rate {
            rack.rate.on_send(now.time, pipe)
        } else {
            Snapshot::default()
        };
        rack.segments.on_send(seq, now.time, snapshot);
        if let Phase::Recovery(prr) | Phase::Cwr(prr) = &mut rack.phase {
            prr.on_send();
        }
        if again && let Some(undo) = &mut rack.undo {
            undo.needed += 1;
            if undo.retransmitted.is_none() {
                undo.retransmitted = stamp;
                undo.segment = seq;
            }
        }
        if let Some(rate) = rate {
            let interval = bits / rate;
            let late = (now.time - rack.paced_until).clamp(0.0, interval * credit);
            rack.paced_until = rack.paced_until.max(now.time) + interval - late;
        }
        if idle {
            rack.restarted = now.time;
        }
        rack.has_sent = true;
        let data = self.transmit(now, seq);
        if idle || !again {
            self.rack().arm_due = true;
        }
        data
    }
}
