//! What every recovery works with: the parts of a sender without the recovery itself, and what happens to them in the same way whichever it is.
//!
//! Specifications: RFC 5681 §3.1 (FlightSize and the threshold), §3.2 step 2 (limited transmit is no flight); RFC 3168 §6.1.2 (one reduction per window).
//!
//! A recovery is handed all of this with every event ([`LossRecovery`](crate::tcp::recovery::LossRecovery)). The parts do not know each other, nor the recovery.

use std::sync::Arc;

use super::application::SendingApplication;
use super::counters::SenderCounters;
use super::reported::Reported;
use super::sequence::Sequence;
use super::timers::{Stamps, Timers};
use super::window::SenderWindow;
use crate::cc::{self, Episode, Signal};
use crate::events::Event;
use crate::packet::{Ack, DataSegment};
use crate::registry::Params;
use crate::tcp::ecn::Signals;
use crate::tcp::episodes::{Episodes, Figures, LossFoundBy, Losses};
use crate::tcp::limits::SendLimits;
use crate::tcp::params::{Config, ReduceFrom};
use crate::tcp::rate::RateClock;
use crate::units::{Duration, Instant, SegCount, SeqNum, WindowSize};

/// A packet that is no segment of the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AckAlone {
    /// To the SYN of the other side: the handshake's third packet.
    ToSyn,
    /// To its FIN.
    ToFin,
}

impl AckAlone {
    /// As it leaves.
    #[cold]
    #[inline(never)]
    pub fn segment(self) -> DataSegment {
        match self {
            Self::ToSyn => DataSegment::HANDSHAKE_ACK,
            Self::ToFin => DataSegment::ANSWER_TO_FIN,
        }
    }
}

/// A segment that is not acceptable is acknowledged no more often (ip-sysctl, tcp_invalid_ratelimit). Measured of Linux 6.1: of two answers to a SYN that came 6 ms apart the second was not.
const BETWEEN_ANSWERS: Duration = Duration::from_secs(0.5);

/// What may leave besides a pending retransmission, until the next input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendAllowance {
    Nothing,
    /// One new segment beyond the window (limited transmit).
    One,
    /// At most so many new segments that the window admits.
    Burst(SegCount),
    /// Whatever the window admits.
    Window,
}

/// What is drawn for a sender from the seed of its run.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderDraws {
    /// Of the random numbers of the congestion control, if it draws any.
    pub seed: u64,
    /// How long after a tick its clock started.
    pub phase: Duration,
}

/// The parts.
#[derive(Debug)]
pub struct Tx {
    /// Flows that are alike share it.
    pub config: Arc<Config>,
    pub seq: Sequence,
    pub window: SenderWindow,
    pub app: SendingApplication,
    pub timers: Timers,
    pub stamps: Stamps,
    pub reported: Reported,
    /// With ECN: what is known of marks.
    pub signals: Option<Box<Signals>>,
    /// What is to be sent that is no segment of the stream.
    pub answer: Option<AckAlone>,
    /// When a SYN that had been acknowledged before was last acknowledged again.
    answered_again: Instant,
    /// A segment to be sent before anything else.
    pub pending: Option<SeqNum>,
    pub allowance: SendAllowance,
    pub counters: SenderCounters,
    pub limits: SendLimits,
    /// Where loss episodes are kept.
    pub episodes: Option<Box<Episodes>>,
}

impl Tx {
    pub fn new(
        config: Arc<Config>,
        algorithm: cc::Algorithm,
        params: &Params,
        draws: SenderDraws,
    ) -> Self {
        let first = config.first_data();
        // Nothing goes with a SYN, whatever the algorithm makes of its window.
        let free = !config.handshake && config.send_buffer_default.is_none();
        Self {
            seq: Sequence::new(first, free),
            window: SenderWindow::new(&config, algorithm, params, draws.seed),
            app: SendingApplication::new(&config, first, algorithm.needs),
            timers: Timers::new(&config, draws.phase),
            stamps: Stamps::new(&config),
            reported: Reported::default(),
            signals: Signals::new(config.ecn, algorithm.needs.ecn),
            answer: None,
            answered_again: Instant::LONG_AGO,
            pending: None,
            allowance: SendAllowance::Nothing,
            counters: SenderCounters::default(),
            limits: SendLimits::new(),
            episodes: None,
            config,
        }
    }

    /// Whether the window is prescribed during a reduction (RFC 9937).
    #[inline]
    pub fn prescribes_reduction(&self) -> bool {
        self.config.prr && !self.window.needs.rules_recovery
    }

    /// The clock by which delivery rates are measured.
    #[inline]
    pub fn rate_clock(&self) -> RateClock {
        RateClock {
            granularity: self.config.rate_granularity,
            host: self.config.timer_tick.clock,
        }
    }

    /// Clears the scoreboard, which is not relied upon any more (RFC 2018 §5).
    #[inline]
    pub fn clear_scoreboard(&mut self) {
        let smss = self.config.smss;
        self.reported.clear(&self.seq, &self.app.stream, smss);
    }

    /// Passes an acknowledgement of data on to the algorithm, if that needs it, before the recovery acts on it.
    #[inline]
    pub fn announce(&mut self, arrival: impl FnOnce() -> cc::AckArrival) {
        if self.window.needs.arrivals && self.seq.is_established() {
            self.window.on_arrival(&arrival());
        }
    }

    /// The SYN was acknowledged after so many were lost: data may flow. `is_measured`: how long that took is known.
    pub fn on_established(&mut self, now: Event, lost: SegCount, is_measured: bool) {
        self.answer = self.config.handshake_ack.then_some(AckAlone::ToSyn);
        if self.app.buffer.is_none() {
            self.seq.allow(None);
        }
        if !is_measured {
            self.timers.rto.after_lost_syn();
        }
        if !lost.is_zero() && self.config.ecn_fallback {
            self.signals = None;
        }
        // Measured of Linux 6.1: the first data after a SYN that was sent twice leaves as after one that was sent once, after one that was sent three times in a window of one.
        let keeps = match lost.get() {
            0 => true,
            1 => self.config.keep_window_after_lost_syn,
            _ => false,
        };
        // And the threshold that the timeouts have left is forgotten in any case: a connection whose SYN was sent seven times begins without one.
        let forgets = keeps || self.config.keep_window_after_lost_syn;
        let cwnd = keeps.then_some(self.config.initial_window);
        let ssthresh = forgets.then_some(self.config.initial_ssthresh);
        self.window.on_established(now.time, cwnd, ssthresh);
    }

    /// A SYN of the other side came that has been acknowledged, and is again (RFC 9293 §3.10.7.4), if that has not been for a while.
    pub fn answer_syn_again(&mut self, now: Instant) {
        if self.config.handshake_ack && now - self.answered_again >= BETWEEN_ANSWERS {
            self.answered_again = now;
            self.answer = Some(AckAlone::ToSyn);
        }
    }

    /// What the algorithm needs to know of a sign of congestion. `limited_transmit` segments do not count as flight (RFC 5681 §3.2 step 2).
    pub fn episode(&self, now: Event, signal: Signal, limited_transmit: SegCount) -> Episode {
        let flight_size = self.seq.flight_size();
        let cwnd = self.window.cwnd();
        let window = match self.config.reduce_from {
            ReduceFrom::Window => cwnd.min(self.config.window_limit),
            // Equation 4 is an upper bound. In a recovery the receiver holds much of what is not acknowledged cumulatively: that part
            // of FlightSize is not in flight, and halving it could raise the threshold. The window itself bounds what is.
            ReduceFrom::FlightSize => {
                WindowSize::from(flight_size - limited_transmit.min(flight_size)).min(cwnd)
            }
        };
        Episode {
            now: self.window.told(now.time),
            signal,
            window,
            whole_ssthresh: self.config.whole_ssthresh,
            ns2: self.config.ns2_algorithms,
        }
    }

    /// Reduces the window for a loss that `cause` has found, once per episode; of what was outstanding then so many segments had left by limited transmit.
    pub fn reduce(
        &mut self,
        now: Event,
        cause: LossFoundBy,
        losses: Option<Losses>,
        limited_transmit: SegCount,
    ) {
        self.counters.fast_retransmits += 1;
        let again = self.is_reduced_for_mark();
        self.note_reduction(again);
        if again && !self.window.needs.rules_recovery {
            // RFC 3168 §6.1.2: once for all signs of congestion from one window. An algorithm with a model of the path is told of a loss all the same: it has a recovery of its own.
            return;
        }
        self.counters.congestion_signals += u64::from(!again);
        self.begin_episode(now, cause, losses);
        let episode = self.episode(now, Signal::Loss, limited_transmit);
        self.window.on_congestion(now.time, &episode);
    }

    /// Reduces the window for a mark, once per window.
    pub fn reduce_for_mark(&mut self, now: Event, losses: Option<Losses>) {
        self.counters.ecn_reductions += 1;
        self.counters.congestion_signals += 1;
        let episode = self.episode(now, Signal::Ecn, SegCount::ZERO);
        self.begin_episode(now, LossFoundBy::Ecn, losses);
        self.window.on_congestion(now.time, &episode);
        self.note_reduction(true);
    }

    /// Records a timeout, before anything else is done about it.
    pub fn begin_timeout(&mut self, now: Event, losses: Option<Losses>) {
        self.limits.expire();
        self.begin_episode(now, LossFoundBy::Rto, losses);
        self.counters.timeouts += 1;
        self.counters.subsequent_timeouts += u64::from(self.timers.rto.is_backed_off());
    }

    /// Takes the marks that `ack` reports; whether there are any.
    #[cold]
    #[inline(never)]
    pub fn take_marks(&mut self, now: Event, ack: &Ack, delivered: SegCount) -> bool {
        let Some(signals) = &mut self.signals else {
            return false;
        };
        let congested = signals.take_marks(ack, delivered);
        self.counters.ecn_signals += u64::from(congested);
        let snd_una = self.seq.una.max(ack.next);
        if signals.wants_share() {
            self.window.on_marks(&cc::AckedMarks {
                now: self.window.told(now.time),
                delivered,
                marked: signals.marked,
                snd_una,
                snd_nxt: self.seq.nxt,
            });
        }
        congested
    }

    /// Whether the window is reduced for a mark, when everything before `una` is acknowledged.
    pub fn may_reduce_for_mark(&self, una: SeqNum) -> bool {
        let signals = self.signals.as_ref();
        signals.is_some_and(|signals| signals.may_reduce(una))
    }

    /// What the last reduction was for is over: the next mark reduces the window again.
    pub fn end_reduction(&mut self) {
        if let Some(signals) = &mut self.signals {
            signals.end_reduction();
        }
    }

    /// The window was reduced, of whatever cause.
    #[inline]
    pub fn note_reduction(&mut self, for_mark: bool) {
        if let Some(signals) = &mut self.signals {
            signals.on_reduction(self.seq.max, for_mark);
        }
    }

    /// Whether the next new segment says that the window has been reduced (CWR).
    pub fn tells_reduction(&self) -> bool {
        self.signals.as_ref().is_some_and(|signals| signals.cwr)
    }

    /// Has the next new segment say so, or not.
    pub fn tell_reduction(&mut self, tells: bool) {
        if let Some(signals) = &mut self.signals {
            signals.cwr = tells;
        }
    }

    /// Whether a mark has reduced the window for what is outstanding now, and a loss of it is the same congestion.
    pub fn is_reduced_for_mark(&self) -> bool {
        let signals = self.signals.as_ref();
        signals.is_some_and(|signals| signals.has_reduced_for_mark(self.seq.una))
    }

    /// Marked segments that the acknowledgement in hand has delivered.
    #[inline]
    pub fn marked(&self) -> SegCount {
        let signals = self.signals.as_ref();
        signals.map_or(SegCount::ZERO, |signals| signals.marked)
    }

    /// An episode begins, found by `cause`, before the window is reduced. Its counters have been counted up already, except where
    /// it is a timeout's.
    #[inline]
    fn begin_episode(&mut self, now: Event, cause: LossFoundBy, losses: Option<Losses>) {
        if self.episodes.is_some() {
            let figures = self.figures(losses);
            if let Some(episodes) = &mut self.episodes {
                episodes.begin(now.time, cause, &figures);
            }
        }
    }

    /// The sender stops: brings the episode under way up to date, and ends it if nothing is repaired any more.
    #[cold]
    pub fn note_episode(&mut self, now: Event, losses: Option<Losses>, repairing: bool) {
        let figures = self.figures(losses);
        if let Some(episodes) = &mut self.episodes {
            episodes.on_stop(now.time, &figures, repairing);
        }
    }

    /// What an episode is made of, as it is now.
    fn figures(&self, losses: Option<Losses>) -> Figures {
        Figures {
            losses,
            retransmits: self.counters.retransmits,
            timeouts: self.counters.timeouts,
            flight_size: self.seq.flight_size(),
            cwnd: self.window.cwnd(),
            ssthresh: self.window.ssthresh(),
        }
    }
}
