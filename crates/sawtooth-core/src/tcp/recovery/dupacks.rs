//! What the recoveries that count duplicate acknowledgements have in common: Tahoe, Reno, NewReno and SACK.
//!
//! Specifications: RFC 5681 §3.1 (growth, timeouts), §3.2 (duplicate acknowledgements); RFC 3042 (limited transmit); RFC 6298 §3 (one segment at a time is
//! timed), §5 (the timer); RFC 6582 §3.2 step 2 and RFC 6675 §5.1 (a loss is not signalled again before everything that was outstanding at the last signal,
//! up to the recovery point, has been acknowledged).

use crate::cc::{self, Signal};
use crate::events::{Event, EventKey};
use crate::packet::Ack;
use crate::tcp::params::ReduceFrom;
use crate::tcp::sender::tx::{SendAllowance, Tx};
use crate::units::{ByteCount, Duration, Instant, SegCount, SeqNum, WindowSize};

/// The second segment: the first one with data, if there is a handshake.
pub(super) const SECOND: SeqNum = SeqNum::new(1);

/// Why the window was last reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    Never,
    /// A loss whose recovery is under way.
    Loss,
    /// A loss that has been recovered from.
    Recovered,
    Timeout,
}

/// The state that these recoveries share.
#[derive(Debug)]
pub(super) struct Dupacks {
    /// Duplicate acknowledgements since data was last acknowledged.
    pub count: u32,
    /// One past the last segment outstanding when the last loss was signalled (RecoveryPoint + 1; `recover` + 1).
    pub recovery_point: SeqNum,
    pub last_reduction: Reduction,
    /// The segment for which the retransmission timer last expired, while it is still missing.
    timeout_of: Option<SeqNum>,
    /// Segments sent by limited transmit since data was last acknowledged.
    limited_transmits: SegCount,
    /// The segment being timed.
    timed: Option<Timed>,
}

#[derive(Clone, Copy, Debug)]
struct Timed {
    seq: SeqNum,
    sent: Instant,
}

impl Dupacks {
    pub(super) fn new() -> Self {
        Self {
            count: 0,
            recovery_point: SECOND,
            last_reduction: Reduction::Never,
            timeout_of: None,
            limited_transmits: SegCount::ZERO,
            timed: None,
        }
    }

    /// Whether a loss may be signalled: more has arrived than all that was outstanding at the last signal (RFC 6582 §3.2 step 2). As measured of ns-2, which has no
    /// number for "nothing yet", repetitions of the SYN's acknowledgement are always believed.
    pub(super) fn may_signal(&self, tx: &Tx) -> bool {
        tx.seq.una > self.recovery_point
            || self.last_reduction == Reduction::Never
            || (tx.config.ns2_algorithms && tx.seq.una == SECOND)
    }

    /// Whether a loss has been found and not everything that was outstanding then has arrived.
    #[inline]
    pub(super) fn is_repairing(&self, tx: &Tx) -> bool {
        matches!(self.last_reduction, Reduction::Loss | Reduction::Timeout)
            && tx.seq.una < self.recovery_point
    }

    /// Counts a duplicate acknowledgement; before the threshold it may allow a segment of limited transmit.
    pub(super) fn count(&mut self, tx: &mut Tx) {
        self.count += 1;
        tx.counters.dupacks_in += 1;
        if self.count < tx.config.dup_thresh {
            tx.allowance = limited_transmit(tx);
        }
    }

    /// A loss is signalled: takes note of what was outstanding, restarts the timer, and says how many segments had left by limited transmit.
    pub(super) fn signal(&mut self, tx: &mut Tx, now: Event) -> SegCount {
        self.recovery_point = tx.seq.max;
        self.last_reduction = Reduction::Loss;
        self.stop_timing();
        tx.timers.arm(now);
        self.limited_transmits
    }

    /// Forgets the round trip being measured: a retransmission would make it ambiguous.
    fn stop_timing(&mut self) {
        self.timed = None;
    }

    /// An acknowledgement of new data outside of any recovery: advance, restart the timer, let the window grow.
    #[inline]
    pub(super) fn on_new_ack(&mut self, tx: &mut Tx, now: Event, next: SeqNum, may_grow: bool) {
        let acked = next - tx.seq.una;
        let flight_size = tx.seq.flight_size();
        let syn = tx.seq.is_opening();
        self.count = 0;
        let rtt = self.advance(tx, now, next);
        // RFC 6298 §5.2, §5.3. What is held back has not been sent.
        let seq = &tx.seq;
        if seq.una < seq.max || (seq.una < tx.app.stream.end() && !tx.app.is_held_back(seq)) {
            tx.timers.arm(now);
        } else {
            tx.timers.recovery = EventKey::NEVER;
        }
        if syn {
            // A timestamp gives a sample also of a SYN that was sent again.
            let lost = SegCount::new(tx.counters.retransmits);
            tx.on_established(now, lost, lost.is_zero());
            return;
        }
        let news = NewlyAcked {
            acked,
            flight_size,
            rtt,
            marked: tx.marked(),
        };
        news.grow(tx, now, may_grow);
    }

    /// Takes note of everything before `next` having arrived; a round-trip sample if there is one.
    #[inline]
    pub(super) fn advance(&mut self, tx: &mut Tx, now: Event, next: SeqNum) -> Option<Duration> {
        let flight_size = tx.seq.flight_size();
        tx.seq.on_ack(next);
        self.timeout_of = None;
        self.limited_transmits = SegCount::ZERO;
        let Some(rtt) = tx.stamps.echoed_rtt(now.time) else {
            return self.sample_timed(tx, now, next);
        };
        // RFC 7323 appendix G: every second segment is acknowledged, and each acknowledgement is a sample.
        let expected = flight_size.div_ceil(2).max(SegCount::ONE).as_f64();
        let rto = &mut tx.timers.rto;
        rto.end_back_off();
        rto.on_acked(next, tx.seq.nxt);
        rto.sample_one_of(expected, now.time - rtt, rtt);
        tx.timers.count(rtt, rtt);
        Some(rtt)
    }

    /// The round trip of the segment that is timed, if it is before `next` (RFC 6298 §3).
    #[inline(always)]
    pub(super) fn sample_timed(
        &mut self,
        tx: &mut Tx,
        now: Event,
        next: SeqNum,
    ) -> Option<Duration> {
        let Timed { seq, sent } = self.timed?;
        if next <= seq {
            return None;
        }
        self.timed = None;
        let rtt = now.time - sent;
        sample(tx, sent, rtt);
        Some(rtt)
    }

    /// A segment that has not been sent before leaves: it is timed if no other is.
    #[inline(always)]
    pub(super) fn time(&mut self, seq: SeqNum, sent: Instant) {
        if self.timed.is_none() {
            self.timed = Some(Timed { seq, sent });
        }
    }

    /// Whether an acknowledgement of new data leads to nothing but growth of the window: no duplicates have come, nothing is repaired, and nothing remembers a repair
    /// that such an acknowledgement would end. `ends`: whether the recovery is one that it ends.
    pub(super) fn is_calm(&self, tx: &Tx, ends: bool) -> bool {
        self.count == 0
            && self.timeout_of.is_none()
            && self.limited_transmits.is_zero()
            && !(ends && self.last_reduction == Reduction::Loss)
            && !self.is_repairing(tx)
    }

    /// The next segment, as far as the window and what duplicate acknowledgements have left of it allow one.
    #[inline(always)]
    pub(super) fn next(&mut self, tx: &mut Tx) -> Option<SeqNum> {
        match tx.allowance {
            SendAllowance::Nothing => None,
            SendAllowance::Window => tx.window_next(),
            SendAllowance::Burst(left) => {
                tx.allowance = if left > SegCount::ONE {
                    SendAllowance::Burst(left - SegCount::ONE)
                } else {
                    SendAllowance::Nothing
                };
                tx.window_next()
            }
            SendAllowance::One => {
                tx.allowance = SendAllowance::Nothing;
                let next = tx.limited_transmit_next(self.count);
                self.limited_transmits += SegCount::from(next.is_some());
                next
            }
        }
    }

    /// A segment is about to leave: one at a time is measured; retransmissions never are (Karn, RFC 6298 §3).
    #[inline]
    pub(super) fn on_send(&mut self, tx: &mut Tx, now: Event, seq: SeqNum) {
        if seq >= tx.seq.max {
            self.time(seq, now.time);
        }
        if tx.timers.recovery.is_never() {
            tx.timers.arm(now);
        }
    }

    /// The retransmission timer has expired (RFC 6298 §5.4 to §5.6, RFC 5681 §3.1 equation 4).
    pub(super) fn on_timeout(&mut self, tx: &mut Tx, now: Event) {
        tx.begin_timeout(now, None);
        tx.counters.congestion_signals += 1;
        // RFC 5681 §3.1: a segment that times out again leaves ssthresh as it is. RFC 3168 §6.1.2: so does one of a window that a mark has reduced.
        let again =
            self.timeout_of == Some(tx.seq.una) && tx.config.reduce_from == ReduceFrom::FlightSize;
        let keeps_threshold = again || tx.is_reduced_for_mark();
        let episode = tx.episode(now, Signal::Rto, SegCount::ZERO);
        tx.note_reduction(false);
        if keeps_threshold {
            tx.window.prescribe(now.time, WindowSize::ONE);
        } else {
            tx.window.on_congestion(now.time, &episode);
        }
        self.timeout_of = Some(tx.seq.una);
        self.recovery_point = tx.seq.max;
        self.last_reduction = Reduction::Timeout;
        self.stop_timing();
        tx.window.inflation = SegCount::ZERO;
        tx.pending = None;
        // With nothing outstanding nothing was lost: a window of less than a segment had let nothing leave. So does ns-2; by RFC 6298 §5.2 the timer would not run.
        if tx.seq.flight_size() > SegCount::ZERO {
            tx.timers.rto.back_off();
        }
        tx.seq.go_back();
        tx.timers.arm(now);
    }
}

/// A round trip of something sent at `sent` was measured, which ends a back-off.
#[inline(never)]
fn sample(tx: &mut Tx, sent: Instant, rtt: Duration) {
    tx.timers.rto.end_back_off();
    tx.timers.rto.on_acked(tx.seq.una, tx.seq.nxt);
    tx.timers.sample(sent, rtt);
}

/// What an acknowledgement of new data says to an algorithm.
pub(super) struct NewlyAcked {
    pub acked: SegCount,
    /// Segments that were outstanding before it.
    pub flight_size: SegCount,
    /// A sample, if it gave one.
    pub rtt: Option<Duration>,
    /// Segments that it says to have arrived with marks.
    pub marked: SegCount,
}

impl NewlyAcked {
    /// Lets the window grow, as far as the recovery in force lets it.
    #[inline(always)]
    pub(super) fn grow(self, tx: &mut Tx, now: Event, may_grow: bool) {
        let Self {
            acked,
            flight_size,
            rtt,
            marked,
        } = self;
        tx.window.grow(
            now.time,
            &cc::AckedData {
                now: now.time,
                acked,
                counted: if tx.config.byte_counting {
                    acked
                } else {
                    SegCount::ONE
                },
                delivered: acked,
                lost: SegCount::ZERO,
                marked,
                flight_size,
                pipe: flight_size - acked,
                snd_una: tx.seq.una,
                snd_nxt: tx.seq.nxt,
                rtt,
                // RFC 3168 §6.1.2: no growth for an acknowledgement that reports marks.
                may_grow: may_grow && (marked.is_zero() || tx.window.needs.ecn == cc::EcnMode::L4s),
                order: if may_grow {
                    cc::PathOrder::InOrder
                } else {
                    cc::PathOrder::Repairing
                },
                // RFC 5681 lets the window grow whatever limits the sender.
                cwnd_limited: true,
                rate: None,
                waits: Duration::ZERO,
            },
        );
    }
}

/// The first step of every acknowledgement, whatever it means: the algorithm is given its number, and marks reduce the window.
#[inline]
pub(super) fn announce(tx: &mut Tx, now: Event, ack: &Ack) {
    if ack.next >= tx.seq.una {
        let acked = ack.next - tx.seq.una;
        tx.announce(|| cc::AckArrival {
            now: now.time,
            acked,
            rtt: None,
            reports: ack.reports() || ack.ece,
            window: ack.window.bytes().unwrap_or(ByteCount::MAX),
        });
    }
    if tx.signals.is_some() {
        let delivered = ack.next.saturating_sub(tx.seq.una);
        let congested = tx.take_marks(now, ack, delivered);
        if congested && tx.may_reduce_for_mark(tx.seq.una.max(ack.next)) && tx.seq.is_established()
        {
            tx.reduce_for_mark(now, None);
        }
    }
}

/// What a duplicate acknowledgement before the threshold allows.
pub(super) fn limited_transmit(tx: &Tx) -> SendAllowance {
    if tx.config.limited_transmit {
        SendAllowance::One
    } else {
        SendAllowance::Nothing
    }
}
