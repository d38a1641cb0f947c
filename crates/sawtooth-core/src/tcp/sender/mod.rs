//! The sending endpoint, without input or output: acknowledgements and timer expirations go in, segments come out.
//!
//! A sender is its parts (`tx::Tx`: sequence space, window, application, timers, ...) and a recovery, which finds losses and repairs them with those
//! parts ([`super::recovery`]). This file hands events to them.
//!
//! Specifications: RFC 5681 (windows), RFC 6298 §5 (managing the timer), RFC 9293 §3.8.6 (the receiver's window).

mod application;
mod buffers;
mod burst;
mod counters;
mod reported;
mod sequence;
mod timers;
mod transmit;
pub(super) mod tx;
mod view;
mod window;

pub use burst::{Burst, SegmentStamps};
pub use counters::{RttSamples, SenderCounters};
pub use tx::SenderDraws;
pub use view::HeldBackBy;

use std::sync::Arc;

use self::tx::{AckAlone, SendAllowance, Tx};
use super::metrics_cache::Inherited;
use super::params::Config;
use super::partial::AtExpiry;
pub use super::recovery::plain::PlainAck;
use super::recovery::plain::PlainWay;
use super::recovery::{AtOnce, LossRecovery, may_leave_at_once};
use super::restart;
use super::timestamps::TimestampClock;
use crate::cc;
use crate::events::{Event, EventKey};
use crate::packet::{Ack, AdvertisedWindow, DataSegment};
use crate::registry::Params;
use crate::units::{ByteCount, Duration, Instant, SeqNum};

/// The sender of one connection.
#[derive(Debug)]
pub struct Sender {
    tx: Tx,
    recovery: LossRecovery,
    plain: PlainWay,
    /// Whether segments may leave in bursts of which all is known at once.
    bursts: bool,
}

impl Sender {
    /// A sender of `size`, or without end, all written at the start.
    pub fn new(
        config: impl Into<Arc<Config>>,
        algorithm: cc::Algorithm,
        params: &Params,
        size: Option<ByteCount>,
        draws: SenderDraws,
    ) -> Self {
        let mut sender = Self::open(config, algorithm, params, draws);
        let stream = &mut sender.tx.app.stream;
        let written = size.unwrap_or(ByteCount::MAX);
        stream.write(written, SeqNum::ZERO, SeqNum::ZERO);
        if size.is_some() {
            stream.close();
        }
        sender
    }

    /// A sender whose application has written nothing yet.
    pub fn open(
        config: impl Into<Arc<Config>>,
        algorithm: cc::Algorithm,
        params: &Params,
        draws: SenderDraws,
    ) -> Self {
        let config = config.into();
        let recovery = LossRecovery::new(&config, algorithm.needs);
        let tx = Tx::new(config, algorithm, params, draws);
        Self {
            plain: PlainWay::new(&tx.config, tx.signals.is_some()),
            bursts: may_leave_at_once(&tx.config, tx.signals.is_some()),
            recovery,
            tx,
        }
    }

    /// Sees to everything at each acknowledgement, whether it may come up or not: there is no [plain way](PlainWay).
    pub fn close_plain_way(&mut self) {
        self.plain.close();
        self.bursts = false;
    }

    /// Whether an acknowledgement may ever be plain.
    pub fn has_plain_way(&self) -> bool {
        self.plain.exists()
    }

    /// Whether an acknowledgement of everything before `next`, which says nothing else, is plain: no timer of the sender's is due before `time`, when it arrives, and it leads
    /// to no more than [`Sender::on_plain_ack`] does.
    #[inline(always)]
    pub fn takes_plainly(&self, time: Instant, next: SeqNum) -> bool {
        self.plain.takes(&self.tx, next) && self.tx.timers.recovery.time > time
    }

    /// Such an acknowledgement arrives: [`Sender::on_segment`] and what [`Sender::poll_transmit`] returns after it, in one step.
    #[inline(always)]
    pub fn on_plain_ack(&mut self, now: Event, next: SeqNum) -> PlainAck {
        self.plain
            .on_ack(&mut self.tx, &mut self.recovery, now, next)
    }

    /// Takes what an earlier connection has left in the host's cache, before this one begins.
    pub fn inherit(&mut self, metrics: &Inherited) {
        let tx = &mut self.tx;
        if let Some(ssthresh) = metrics.ssthresh {
            Arc::make_mut(&mut tx.config).initial_ssthresh = ssthresh;
            tx.window.prescribe_ssthresh(ssthresh);
        }
        if let Some(rtt) = metrics.rtt {
            tx.timers.rto.inherit(tx.config.timer_tick.passed(rtt));
        }
    }

    /// The application opens the connection.
    pub fn on_start(&mut self, now: Event) {
        self.tx.limits.start(now.time);
        self.tx.window.start(now.time);
        self.tx.allowance = SendAllowance::Window;
        if self.tx.seq.is_established() {
            buffers::refill(&mut self.tx, &self.recovery, now);
        }
    }

    /// The handshake, in which this side has answered a SYN, took `rtt` and is over: the first round trip measured (RFC 6298 §2.2).
    pub fn on_handshake(&mut self, now: Event, rtt: Duration) {
        self.tx.timers.sample(now.time - rtt, rtt);
    }

    /// The application writes.
    pub fn on_write(&mut self, now: Event, bytes: ByteCount) {
        let tx = &mut self.tx;
        if tx.seq.una == tx.seq.max && !tx.app.stream.acked_segments(tx.seq.una).is_zero() {
            let idle = now.time - tx.app.stream.last_sent;
            let (config, timeout) = (&tx.config, tx.timers.rto.timeout());
            tx.window.on_restart(now.time, idle, |before| {
                restart::windows(config, before, idle, timeout)
            });
        }
        tx.app.write(bytes, &tx.seq, tx.config.autocorking);
        if tx.seq.is_established() {
            buffers::refill(&mut self.tx, &self.recovery, now);
        }
        self.tx.allowance = SendAllowance::Window;
    }

    /// The application writes a part of a write; with `goes_on` more parts follow.
    pub fn on_write_part(&mut self, now: Event, bytes: ByteCount, goes_on: bool) {
        self.tx.app.write_goes_on = goes_on;
        self.on_write(now, bytes);
    }

    /// The application will write no more.
    pub fn on_close(&mut self) {
        self.tx.app.stream.close();
        self.tx.allowance = SendAllowance::Window;
    }

    /// The application goes to sleep because there is no memory for what it has to write, or is woken.
    pub fn on_writer(&mut self, now: Event, sleeps: bool) {
        self.tx.app.sleeps = sleeps;
        let limit = self.why_it_stops(now.time);
        self.tx.limits.stop(now.time, limit);
    }

    /// What the transmit queue of the machine holds of the connection has changed.
    pub fn on_transmit_queue(&mut self, bytes: ByteCount) {
        self.tx.app.queued = bytes;
    }

    /// Autocorking ends: a packet of the connection has been transmitted, or an acknowledgement has come. Whether there was
    /// anything.
    pub fn end_putting_off(&mut self) -> bool {
        let was = self.tx.app.stream.put_off(false);
        if was {
            self.tx.allowance = SendAllowance::Window;
        }
        was
    }

    /// An acknowledgement arrives.
    #[inline]
    pub fn on_segment(&mut self, now: Event, ack: &Ack) {
        let tx = &mut self.tx;
        tx.counters.sacks_in += u64::from(!ack.sack.is_empty());
        tx.counters.dsacks_in += u64::from(ack.repeated.is_some() && tx.config.recovery.has_sack());
        tx.allowance = SendAllowance::Window;
        tx.stamps.echo = ack.echo;
        self.recovery.on_ack(tx, now, ack);
        if self.reports_window(ack) {
            self.on_buffers(now, ack);
        }
    }

    /// Data arrives that carries an acknowledgement. It cannot be a duplicate one (RFC 5681 §2), so if it acknowledges nothing new it moves the window at most.
    pub fn on_carried(&mut self, now: Event, ack: &Ack) {
        if ack.next > self.tx.seq.una || !ack.sack.is_empty() {
            return self.on_segment(now, ack);
        }
        self.tx.allowance = SendAllowance::Window;
        if ack.next == self.tx.seq.una && self.reports_window(ack) {
            self.on_buffers(now, ack);
        }
    }

    /// The other side closes, too: an acknowledgement comes with a FIN, which is answered, as often as it comes.
    pub fn on_fin(&mut self, now: Event, ack: &Ack) {
        self.on_carried(now, ack);
        self.tx.answer = Some(AckAlone::ToFin);
    }

    /// The SYN is answered, maybe for a second time: then that says nothing new, and is acknowledged (RFC 9293 §3.10.7.4).
    pub fn on_syn_ack(&mut self, now: Event, ack: &Ack) {
        if self.tx.seq.is_established() {
            self.tx.answer_syn_again(now.time);
        } else {
            self.on_segment(now, ack);
        }
    }

    /// The timer of [`Sender::next_timer`] has expired.
    pub fn on_timer(&mut self, now: Event) {
        self.tx.allowance = SendAllowance::Window;
        if self.tx.timers.is_partial_next() {
            self.on_partial_timer(now);
        } else {
            self.recovery.on_timer(&mut self.tx, now);
        }
    }

    /// When the recovery's timer expires, or that of a partial segment ([`EventKey::NEVER`] if none is running).
    #[inline]
    pub fn next_timer(&self) -> EventKey {
        self.tx.timers.next()
    }

    /// What leaves now in one step. Unless the sender stops then, [`Sender::poll_transmit`] is to be asked for more.
    #[inline]
    pub fn leave_at_once(&mut self, now: Event) -> Option<Burst> {
        if !self.bursts {
            return None;
        }
        let AtOnce { segments, stops } = self.recovery.leave_at_once(&mut self.tx, now)?;
        Some(Burst {
            segments,
            stops,
            stamps: SegmentStamps {
                value: TimestampClock::stamp_by(self.tx.stamps.clock, now.time),
                echo: self.tx.stamps.peer,
            },
        })
    }

    /// The next segment to send now, if any. To be called until it returns nothing, after every input.
    #[inline]
    pub fn poll_transmit(&mut self, now: Event) -> Option<DataSegment> {
        let (tx, recovery) = (&mut self.tx, &mut self.recovery);
        if let Some(answer) = tx.answer {
            tx.answer = None;
            let echo = tx.stamps.peer;
            return Some(DataSegment {
                echo,
                ..answer.segment()
            });
        }
        loop {
            let next = match tx.pending.take() {
                None => recovery.next(tx, now),
                pending => pending,
            };
            if let Some(seq) = next {
                recovery.on_send(tx, now, seq);
                return Some(tx.transmit(now, seq));
            }
            if !tx.closes() {
                break;
            }
        }
        recovery.on_stop(tx, now);
        tx.allowance = SendAllowance::Nothing;
        self.note_stop(now);
        None
    }

    /// Nothing more is sent now: notes the reason. Not a part of [`Sender::poll_transmit`], which it would slow down for every segment.
    #[inline(never)]
    fn note_stop(&mut self, now: Event) {
        let limit = self.why_it_stops(now.time);
        self.tx.limits.stop(now.time, limit);
        if self.is_done() {
            self.tx.limits.finish(now.time);
        }
        if self.tx.app.stream.is_timed() {
            let room = self.recovery.room(&self.tx, now.time);
            self.tx.set_partial_timer(now, room);
        }
        if self.tx.episodes.is_some() {
            let repairing = self.recovery.is_repairing(&self.tx);
            self.tx.note_episode(now, self.recovery.losses(), repairing);
        }
        self.plain.judge(&self.tx, &self.recovery);
    }

    /// Loss episodes are to be kept from now on.
    pub fn keep_episodes(&mut self) {
        self.tx.episodes = Some(Box::default());
    }

    /// What holds it back is to be kept from now on, stretch by stretch.
    pub fn keep_limited(&mut self) {
        self.tx.limits.keep_stretches();
    }

    /// Brings time integrals up to the end of the run.
    pub fn finish(&mut self, end: Instant) {
        self.tx.limits.finish(end);
        self.tx.window.finish(end);
    }

    /// Whether an acknowledgement has to be looked at for the receiver's window.
    #[inline]
    fn reports_window(&self, ack: &Ack) -> bool {
        self.tx.app.buffer.is_some() || ack.window != AdvertisedWindow::ANY
    }

    /// What an acknowledgement says of the receiver's window, and the room that it makes.
    #[inline]
    fn on_buffers(&mut self, now: Event, ack: &Ack) {
        let tx = &mut self.tx;
        tx.stamps.peer = ack.stamp;
        if ack.window != AdvertisedWindow::ANY {
            let window = tx.seq.on_window(ack.next, ack.window, tx.config.smss);
            if let Some(buffer) = &mut tx.app.buffer {
                buffer.on_window(window);
            }
        }
        buffers::refill(&mut self.tx, &self.recovery, now);
    }

    /// The timer of a partial segment has expired (see [`super::partial`]).
    #[cold]
    fn on_partial_timer(&mut self, now: Event) {
        let tx = &mut self.tx;
        tx.timers.partial = EventKey::NEVER;
        let Some((_, at_expiry)) = tx.config.partial.timer() else {
            return;
        };
        let sendable = tx.sendable(self.recovery.room(tx, now.time));
        if at_expiry == AtExpiry::Leaves || tx.app.stream.end() <= sendable {
            tx.app.stream.end_wait();
        }
    }
}
