//! The sending endpoint, without input or output: acknowledgements and timer expirations go in, segments come out.
//!
//! What is common to all senders is here: sequence space, window, timer, round-trip samples. How losses are detected and
//! repaired is one file per variant under [`super::recovery`].
//!
//! Specifications: RFC 5681 (windows), RFC 6298 §5 (managing the timer), RFC 3042 (limited transmit), RFC 7323 §4 (timestamps).
//!
//! Sequence numbers count segments: with a handshake the SYN is segment 0 and carries no data.

mod window;

use self::window::Window;
use super::ecn::Signals;
use super::episodes::{Cause, Episodes};
use super::limits::Limits;
use super::metrics_cache::{Inherited, Legacy};
use super::params::{Config, Recovery, ReduceFrom};
use super::partial::{AtExpiry, Wait};
use super::recovery::{Rack, State};
use super::rto::Rto;
use super::send_buffer::SendBuffer;
use super::stream::Stream;
use super::timestamps::{Clock, Stamp};
use crate::cc::{self, Episode, Signal, Windows};
use crate::events::{Child, Event, Key};
use crate::packet::{Ack, Data, Ecn};
use crate::units::{Instant, Rate};

/// Counters of one sender, named as in RFC 4898 where it has a name.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderCounters {
    pub sent_packets: u64,
    pub retransmits: u64,
    pub fast_retransmits: u64,
    pub timeouts: u64,
    /// Those after the timeout had been backed off.
    pub subsequent_timeouts: u64,
    pub dupacks_in: u64,
    pub sacks_in: u64,
    pub dsacks_in: u64,
    pub congestion_signals: u64,
    /// Acknowledgements that told of marks, and reductions for them.
    pub ecn_signals: u64,
    pub ecn_reductions: u64,
    /// Reductions that turned out to be needless and were undone, how many of them were timeouts'; tail loss probes.
    pub spurious: u64,
    pub spurious_timeouts: u64,
    pub probes: u64,
    pub rtt_samples: u64,
    pub srtt_sum_secs: f64,
    pub min_rtt_secs: f64,
    pub max_rtt_secs: f64,
}

/// What may leave besides a pending retransmission, until the next input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SendAllowance {
    Nothing,
    /// One new segment beyond the window (limited transmit).
    One,
    /// At most so many new segments that the window admits.
    Burst(u64),
    /// Whatever the window admits.
    Window,
}

/// The sender of one connection.
#[derive(Debug)]
pub struct Sender {
    pub(super) config: Config,
    pub(super) window: Window,
    pub(super) snd_una: u64,
    pub(super) snd_nxt: u64,
    /// One past the highest segment ever sent.
    pub(super) snd_max: u64,
    /// What the application has written, or wants to.
    pub(super) stream: Stream,
    /// What of it there is room for, where that is limited.
    send_buffer: Option<Box<SendBuffer>>,
    /// The application is in the middle of a write, so that what there is does not end it.
    pub(super) write_goes_on: bool,
    /// It sleeps, because a host has no memory for what it has to write.
    pub(super) writer_sleeps: bool,
    /// What the transmit queue of its host, if it has one, holds of the connection: bytes that autocorking compares with what is written.
    pub(super) queued: u64,
    /// One past the last segment that the receiver's window has room for.
    right_edge: u64,
    /// One past the last segment that may be sent for the first time as far as send buffer and receiver's window go.
    allowed: u64,
    /// The timestamp of the last acknowledgement.
    peer_stamp: Stamp,
    pub(super) dupacks: u32,
    pub(super) state: State,
    /// A retransmission to be sent before anything else.
    pub(super) pending: Option<u64>,
    pub(super) permit: SendAllowance,
    /// Segments sent by limited transmit since data was last acknowledged.
    limited_transmits: u64,
    /// The segment being timed, and when it was sent.
    timed: Option<(u64, f64)>,
    pub(super) rto: Rto,
    /// Where segments carry timestamps, their clock; and what the last acknowledgement repeated.
    pub(super) clock: Option<Clock>,
    pub(super) echo: Stamp,
    pub(super) timer: Key,
    /// When a partial segment has waited long enough, if one waits for that.
    partial_timer: Key,
    /// With RACK: its state, and when its own timer expires; `timer` is the earlier of that and of pacing.
    pub(super) rack: Option<Box<Rack>>,
    pub(super) rack_deadline: Key,
    /// With ECN: what is known of marks.
    pub(super) signals: Option<Box<Signals>>,
    /// The handshake's third packet is to be sent.
    handshake_ack: bool,
    pub limits: Limits,
    /// Where loss episodes are kept.
    pub(super) episodes: Option<Box<Episodes>>,
    /// Application bytes that were known to have arrived when the scoreboard was last cleared.
    known_bytes: u64,
    pub counters: SenderCounters,
}

impl Sender {
    /// A sender of `size_bytes`, or without end, all written at the start; its clock started `phase_secs` after a tick.
    pub fn new(
        config: Config,
        algorithm: cc::Algorithm,
        params: &crate::registry::Params,
        size_bytes: Option<u64>,
        phase_secs: f64,
    ) -> Self {
        let mut sender = Self::open(config, algorithm, params, phase_secs);
        sender.stream.write(size_bytes.unwrap_or(u64::MAX), 0, 0);
        if size_bytes.is_some() {
            sender.stream.close();
        }
        sender
    }

    /// A sender whose application has written nothing yet; its clock started `phase_secs` after a tick.
    pub fn open(
        config: Config,
        algorithm: cc::Algorithm,
        params: &crate::registry::Params,
        phase_secs: f64,
    ) -> Self {
        let syn = u64::from(config.handshake);
        let stream = Stream::new(config.smss, syn, config.partial, config.fin);
        Self {
            rto: Rto::new(config.rto, phase_secs),
            clock: config.timestamps.map(Clock::new),
            peer_stamp: Stamp::NONE,
            state: State::new(config.recovery),
            window: Window::new(&config, algorithm, params),
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            stream,
            // Nothing goes with a SYN, whatever the algorithm makes of its window.
            allowed: if config.handshake || config.send_buffer_default.is_some() {
                syn
            } else {
                u64::MAX
            },
            send_buffer: SendBuffer::new(&config),
            write_goes_on: false,
            writer_sleeps: false,
            queued: 0,
            right_edge: u64::MAX,
            echo: Stamp::NONE,
            dupacks: 0,
            pending: None,
            permit: SendAllowance::Nothing,
            limited_transmits: 0,
            timed: None,
            timer: Key::NEVER,
            partial_timer: Key::NEVER,
            rack: Rack::of(config.recovery, algorithm.needs.rates != cc::Rates::Unused),
            rack_deadline: Key::NEVER,
            signals: Signals::new(config.ecn, algorithm.needs.ecn),
            handshake_ack: false,
            limits: Limits::new(),
            episodes: None,
            known_bytes: 0,
            config,
            counters: SenderCounters {
                min_rtt_secs: f64::INFINITY,
                ..SenderCounters::default()
            },
        }
    }

    /// The application opens the connection.
    pub fn on_start(&mut self, now: Event) {
        self.limits.start(now.time);
        self.window.start(now.time);
        self.permit = SendAllowance::Window;
        if !self.config.handshake {
            self.refill(now);
        }
    }

    /// The application writes what there is room for.
    fn refill(&mut self, now: Event) {
        let sendable = self.sendable(now);
        let joined = self.rack.as_ref().map_or(0, |rack| rack.segments.joined());
        if let Some(buffer) = &mut self.send_buffer {
            buffer.fill(
                (self.snd_una, joined),
                self.window.whole(),
                sendable,
                self.stream.end(),
            );
            self.allowed = buffer.written().min(self.right_edge);
        } else {
            self.allowed = self.right_edge;
        }
    }

    /// One past the last segment that could be sent now, if it were written.
    fn sendable(&self, now: Event) -> u64 {
        let sendable = match &self.rack {
            Some(rack) => self.snd_nxt + rack.room(now.time, self.window.usable()),
            None if self.short_fits() => self.stream.end(),
            None => self.snd_una + self.window.usable(),
        };
        sendable.min(self.right_edge)
    }

    /// What an acknowledgement says of the receiver's window, and the room that it makes.
    #[cold]
    #[inline(never)]
    fn on_buffers(&mut self, now: Event, ack: &Ack) {
        self.peer_stamp = ack.stamp;
        if ack.window != Ack::NO_WINDOW {
            let window = u64::from(ack.window);
            let edge = ack.next + window;
            self.right_edge = if self.right_edge == u64::MAX {
                edge
            } else {
                self.right_edge.max(edge)
            };
            if let Some(buffer) = &mut self.send_buffer {
                buffer.on_window(window);
            }
        }
        self.refill(now);
    }

    /// Segments that the receiver's window has room for beyond what has been sent.
    pub fn rwnd_room(&self) -> u64 {
        self.right_edge.saturating_sub(self.snd_nxt)
    }

    /// Segments that have been written and not been sent.
    pub fn send_room(&self) -> u64 {
        let written = self.send_buffer.as_ref();
        let end = self.stream.end();
        let written = written.map_or(end, |buffer| buffer.written().min(end));
        written.saturating_sub(self.snd_nxt)
    }

    /// The application writes.
    pub fn on_write(&mut self, now: Event, bytes: u64) {
        if self.snd_una == self.snd_max && self.stream.acked_segments(self.snd_una) > 0 {
            self.restart(now);
        }
        self.stream.write(bytes, self.snd_una, self.snd_max);
        if self.queued > 0 && self.config.autocorking {
            let waits = self.stream.tail_bytes(self.snd_max) <= self.queued;
            self.stream.put_off(waits && self.snd_una < self.snd_max);
        }
        if self.snd_una > 0 || !self.config.handshake {
            self.refill(now);
        }
        self.permit = SendAllowance::Window;
    }

    /// The application will write no more.
    pub fn on_close(&mut self) {
        self.stream.close();
        self.permit = SendAllowance::Window;
    }

    /// An acknowledgement arrives.
    #[inline]
    pub fn on_segment(&mut self, now: Event, ack: &Ack) {
        self.counters.sacks_in += u64::from(!ack.sack.is_empty());
        self.counters.dsacks_in += u64::from(ack.duplicate && self.config.recovery.has_sack());
        self.permit = SendAllowance::Window;
        if !self.config.recovery.keeps_segments() && ack.next >= self.snd_una {
            self.announce(now, ack.next - self.snd_una, None);
        }
        if self.signals.is_some() && !self.config.recovery.keeps_segments() {
            let delivered = ack.next.saturating_sub(self.snd_una);
            let congested = self.hear_marks(now, ack, delivered);
            if congested && (self.snd_una > 0 || !self.config.handshake) {
                self.reduce_for_mark(now);
            }
        }
        self.echo = ack.echo;
        match self.config.recovery {
            Recovery::Tahoe => self.tahoe_on_ack(now, ack),
            Recovery::Reno => self.reno_on_ack(now, ack),
            Recovery::NewReno => self.newreno_on_ack(now, ack),
            Recovery::Sack => self.sack_on_ack(now, ack),
            Recovery::Fack | Recovery::Rack => self.rack_on_ack(now, ack),
        }
        if self.send_buffer.is_some() || ack.window != Ack::NO_WINDOW {
            self.on_buffers(now, ack);
        }
    }

    /// Data arrives that carries an acknowledgement: no duplicate one (RFC 5681 §2), so what says nothing new at most moves the window.
    pub fn on_carried(&mut self, now: Event, ack: &Ack) {
        if ack.next > self.snd_una || !ack.sack.is_empty() {
            return self.on_segment(now, ack);
        }
        self.permit = SendAllowance::Window;
        if ack.next == self.snd_una && (self.send_buffer.is_some() || ack.window != Ack::NO_WINDOW)
        {
            self.on_buffers(now, ack);
        }
    }

    /// The retransmission timeout, seconds.
    pub fn timeout_secs(&self) -> f64 {
        self.rto.timeout_secs()
    }

    /// Tells the algorithm of an acknowledgement of data.
    #[inline]
    pub(super) fn announce(&mut self, now: Event, acked: u64, rtt_secs: Option<f64>) {
        if self.snd_una > 0 || !self.config.handshake {
            self.window.on_arrival(&cc::AckArrival {
                now: Instant::from_secs(now.time),
                acked,
                rtt_secs,
            });
        }
    }

    /// When the retransmission timer expires, or that of a partial segment ([`Key::NEVER`] if none is running).
    #[inline]
    pub fn next_timer(&self) -> Key {
        if self.partial_timer.time < self.timer.time {
            self.partial_timer
        } else {
            self.timer
        }
    }

    /// The retransmission timer has expired (RFC 6298 §5.4 to §5.6, RFC 5681 §3.1 equation 4).
    pub fn on_timer(&mut self, now: Event) {
        if self.partial_timer.time < self.timer.time {
            return self.on_partial_timer(now);
        }
        if self.config.recovery.keeps_segments() {
            return self.rack_on_timer(now);
        }
        self.begin_timeout(now);
        self.counters.congestion_signals += 1;
        let mut episode = self.episode(now, Signal::Rto, 0);
        if self.state.timeout_of == Some(self.snd_una)
            && self.config.reduce_from == ReduceFrom::FlightSize
        {
            // RFC 5681 §3.1: a segment that times out again leaves ssthresh as it is.
            episode.window = f64::INFINITY;
        }
        if self.is_reduced_for_mark() {
            // RFC 3168 §6.1.2: so does one of a window that a mark has reduced.
            episode.window = f64::INFINITY;
        }
        self.note_reduction(false);
        if episode.window.is_finite() {
            self.window.on_congestion(now.time, &episode);
        } else {
            self.window.prescribe(now.time, 1.0);
        }
        self.state.timeout_of = Some(self.snd_una);
        self.recovery_on_timeout();
        self.rto.back_off();
        self.timed = None;
        self.snd_nxt = self.snd_una;
        self.arm_timer(now);
        self.permit = SendAllowance::Window;
    }

    /// A partial segment has waited for so long (see [`super::partial`]).
    #[cold]
    fn on_partial_timer(&mut self, now: Event) {
        self.partial_timer = Key::NEVER;
        self.permit = SendAllowance::Window;
        let Some((_, at_expiry)) = self.config.partial.timer() else {
            return;
        };
        if at_expiry == AtExpiry::Leaves || self.stream.end() <= self.sendable(now) {
            self.stream.end_wait();
        }
    }

    /// The sender stops: starts the timer of a partial segment that waits for it, or stops it.
    #[cold]
    fn see_to_partial(&mut self, now: Event) {
        // It could not write before the connection was established.
        let unsent = self.is_established() && self.snd_max < self.stream.end();
        if unsent {
            let edge = self.sendable(now);
            self.stream.judge(edge);
        }
        let waits = unsent && self.stream.waits_for_timer(self.snd_una, self.snd_max);
        match self.config.partial.timer() {
            Some((wait, _)) if waits => {
                if self.partial_timer.is_never() {
                    let secs = match wait {
                        Wait::Secs(secs) => secs,
                        Wait::Rto | Wait::Never => self.rto.timeout_secs(),
                    };
                    let due = self.config.timer_tick.expiry(now.time, secs);
                    self.partial_timer = now.schedule(due.max(now.time), Child::Timer);
                }
            }
            _ => self.partial_timer = Key::NEVER,
        }
    }

    /// The next segment to send now, if any. To be called until it returns nothing, after every input.
    #[inline]
    pub fn poll_transmit(&mut self, now: Event) -> Option<Data> {
        if std::mem::take(&mut self.handshake_ack) {
            return Some(Data::HANDSHAKE_ACK);
        }
        if self.config.recovery.keeps_segments() {
            return self.rack_poll(now);
        }
        if let Some(seq) = self.pending.take() {
            return Some(self.transmit(now, seq));
        }
        let next = match self.permit {
            SendAllowance::Nothing => None,
            SendAllowance::Window if self.config.recovery == Recovery::Sack => self.sack_next(),
            SendAllowance::Window => self.window_next(),
            SendAllowance::Burst(left) => {
                self.permit = if left > 1 {
                    SendAllowance::Burst(left - 1)
                } else {
                    SendAllowance::Nothing
                };
                self.window_next()
            }
            SendAllowance::One => {
                self.permit = SendAllowance::Nothing;
                let next = self.limited_transmit_next();
                self.limited_transmits += u64::from(next.is_some());
                next
            }
        };
        if let Some(seq) = next {
            return Some(self.transmit(now, seq));
        }
        if self.closes() {
            return self.poll_transmit(now);
        }
        self.permit = SendAllowance::Nothing;
        self.note_limit(now);
        None
    }

    /// Whether the application closes the connection now, when everything has been sent that may be.
    #[inline]
    pub(super) fn closes(&mut self) -> bool {
        // It could not write before the connection was established.
        let closes = self.stream.is_close_due() && self.snd_una >= u64::from(self.config.handshake);
        if closes {
            let alone = self.stream.act_on_close(self.snd_una, self.snd_max);
            self.permit = SendAllowance::Window;
            // The congestion window limits data (RFC 5681 §2), and a FIN alone has none. Measured of Linux 6.1: it follows a full window.
            if self.snd_nxt == self.snd_max {
                self.pending = alone;
            }
        }
        closes
    }

    /// The next segment in sequence, if the window and the application have room for it.
    #[inline]
    pub(super) fn window_next(&self) -> Option<u64> {
        let fits = self.snd_nxt < self.snd_una + self.window.usable() || self.short_fits();
        (fits && self.has_more()).then_some(self.snd_nxt)
    }

    /// Whether the last segment is next and so short that the limit on the window, in bytes, has room for it.
    #[inline]
    fn short_fits(&self) -> bool {
        let limit = self.config.window_limit_bytes;
        limit.is_some_and(|limit| self.short_fits_into(limit))
    }

    #[cold]
    fn short_fits_into(&self, limit: u64) -> bool {
        let (una, next) = (self.snd_una, self.snd_nxt);
        let smss = u64::from(self.config.smss);
        let lacking = self.stream.lacking_bytes(|seq| (una..next).contains(&seq));
        let outstanding = (next - una) * smss - lacking;
        next + 1 == self.stream.end()
            && next < una.saturating_add(self.window.inflated())
            && outstanding + u64::from(self.stream.payload_bytes(next)) <= limit
    }

    /// A new segment beyond the congestion window, one for each of the first duplicate acknowledgements (RFC 3042).
    fn limited_transmit_next(&self) -> Option<u64> {
        let window = self.window.usable() + u64::from(self.dupacks);
        let room = self.snd_nxt < self.snd_una + window.min(self.window.limit()) && self.has_more();
        room.then_some(self.snd_nxt)
    }

    /// One past the last segment that may be sent for the first time, whatever the congestion window says.
    #[inline]
    pub(super) fn available(&self) -> u64 {
        self.stream.end().min(self.allowed)
    }

    /// Whether there is a segment to send that the application has written, and that is not held back for being short.
    #[inline]
    pub(super) fn has_more(&self) -> bool {
        let left = self.available().saturating_sub(self.snd_nxt);
        // Where the receiver's window ends before it, what is left is not the short one.
        left > 1 || (left == 1 && (self.snd_nxt + 1 < self.stream.end() || !self.is_held_back()))
    }

    /// Whether all that is unsent is held back for being less than a segment.
    pub(super) fn is_held_back(&self) -> bool {
        self.snd_max + 1 == self.stream.end()
            && self.stream.is_last_held(self.snd_una, self.snd_max)
    }

    pub(super) fn transmit(&mut self, now: Event, seq: u64) -> Data {
        self.counters.sent_packets += 1;
        let mut push = seq + 1 == self.stream.end() && !self.write_goes_on;
        let again = seq < self.snd_max;
        let (ecn, cwr) = match &mut self.signals {
            None => (Ecn::NotEct, false),
            Some(signals) => signals.stamp(seq == 0 && self.config.handshake, again),
        };
        if again {
            self.counters.retransmits += 1;
            self.stream.last_sent_secs = now.time;
        } else {
            self.snd_max = seq + 1;
            if let Some(buffer) = &mut self.send_buffer {
                push |= buffer.is_pushed(seq);
            }
            if self.snd_max == self.stream.end() {
                self.stream.on_last_sent(now.time);
            }
            // One segment at a time is measured; retransmissions never are (Karn, RFC 6298 §3).
            if self.timed.is_none() {
                self.timed = Some((seq, now.time));
            }
        }
        if seq >= self.snd_nxt {
            self.snd_nxt = seq + 1;
        }
        if self.timer.is_never() && self.rack.is_none() {
            self.arm_timer(now);
        }
        Data {
            seq,
            payload_bytes: self.stream.payload_bytes(seq),
            fin: self.stream.has_fin(seq),
            push,
            ecn,
            cwr,
            retransmission: again,
            stamp: Clock::stamp_by(self.clock, now.time),
            echo: self.peer_stamp,
        }
    }

    /// (Re)starts the retransmission timer (RFC 6298 §5.1, §5.3).
    #[inline]
    pub(super) fn arm_timer(&mut self, now: Event) {
        self.timer = now.schedule(now.time + self.rto.timeout_secs(), Child::Timer);
    }

    /// Forgets the round trip being measured: a retransmission would make it ambiguous.
    pub(super) fn stop_timing(&mut self) {
        self.timed = None;
    }

    /// The round trip that the timestamp of this acknowledgement tells, seconds: of what it is for, sent again or not (RFC 7323 §4.1).
    pub(super) fn echoed_rtt(&self, now: Event) -> Option<f64> {
        let clock = self.clock.filter(|_| !self.echo.is_none())?;
        Some(clock.since(now.time, self.echo))
    }

    /// Takes note of everything before `next` having arrived; a round-trip sample if there is one.
    #[inline]
    pub(super) fn advance(&mut self, now: Event, next: u64) -> Option<f64> {
        let flight_size = self.snd_max - self.snd_una;
        self.snd_una = next;
        self.state.timeout_of = None;
        self.limited_transmits = 0;
        if self.snd_nxt < next {
            self.snd_nxt = next;
        }
        let rtt = if let Some(rtt) = self.echoed_rtt(now) {
            // RFC 7323 appendix G: every second segment is acknowledged, and each acknowledgement is a sample.
            #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
            let expected = flight_size.div_ceil(2).max(1) as f64;
            self.rto.end_back_off();
            self.rto.sample_one_of(expected, now.time - rtt, rtt);
            rtt
        } else {
            let (seq, sent) = self.timed?;
            if next <= seq {
                return None;
            }
            self.timed = None;
            let rtt = now.time - sent;
            self.rto.end_back_off();
            self.rto.sample(sent, rtt);
            rtt
        };
        self.count_round_trip(rtt, rtt);
        Some(rtt)
    }

    /// Counts a round trip that the timer has taken, seconds: with the wait of a delayed acknowledgement and without, where both are known.
    #[inline]
    pub(super) fn count_round_trip(&mut self, whole: f64, least: f64) {
        let counters = &mut self.counters;
        counters.rtt_samples += 1;
        counters.srtt_sum_secs += self.rto.srtt_secs().unwrap_or(whole);
        counters.min_rtt_secs = counters.min_rtt_secs.min(least);
        counters.max_rtt_secs = counters.max_rtt_secs.max(whole);
    }

    /// An acknowledgement of new data outside of any recovery: advance, restart the timer, let the window grow.
    #[inline]
    pub(super) fn on_new_ack(&mut self, now: Event, next: u64, may_grow: bool) {
        let acked = next - self.snd_una;
        let flight_size = self.snd_max - self.snd_una;
        let syn = self.snd_una == 0 && self.config.handshake;
        self.dupacks = 0;
        let rtt_secs = self.advance(now, next);
        let marked = self.marked();
        // RFC 6298 §5.2, §5.3. What is held back has not been sent.
        if self.snd_una < self.snd_max || (self.snd_una < self.stream.end() && !self.is_held_back())
        {
            self.arm_timer(now);
        } else {
            self.timer = Key::NEVER;
        }
        if syn {
            // A timestamp gives a sample also of a SYN that was sent again.
            self.on_established(now, self.counters.retransmits == 0);
        } else {
            self.window.on_ack(&cc::Ack {
                now: Instant::from_secs(now.time),
                acked,
                counted: if self.config.byte_counting { acked } else { 1 },
                delivered: acked,
                lost: 0,
                marked,
                flight_size,
                pipe: flight_size - acked,
                snd_una: self.snd_una,
                snd_nxt: self.snd_nxt,
                rtt_secs,
                // RFC 3168 §6.1.2: no growth for an acknowledgement that tells of marks.
                may_grow: may_grow && (marked == 0 || self.window.needs.ecn == cc::Ecn::L4s),
                // RFC 5681 lets the window grow whatever limits the sender.
                cwnd_limited: true,
                rate: None,
            });
            self.window.settle(now.time);
        }
    }

    /// The SYN was acknowledged: data may flow.
    pub(super) fn on_established(&mut self, now: Event, at_first_try: bool) {
        self.handshake_ack = self.config.handshake_ack;
        if self.send_buffer.is_none() {
            self.allowed = self.right_edge;
        }
        if !at_first_try {
            self.rto.after_lost_syn();
        }
        let keeps = at_first_try || self.config.keep_window_after_lost_syn;
        let initial = keeps.then_some(Windows {
            cwnd: self.config.initial_window,
            ssthresh: self.config.initial_ssthresh,
        });
        self.window.on_established(now.time, initial);
    }

    /// What the algorithm needs to know about a loss. `limited_transmit` segments do not count as flight (RFC 5681 §3.2 step 2).
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
    pub(super) fn episode(&self, now: Event, signal: Signal, limited_transmit: u64) -> Episode {
        let flight_size = self.snd_max - self.snd_una;
        let window = match self.config.reduce_from {
            ReduceFrom::Window => self.window.cwnd().min(self.config.window_limit),
            // Equation 4 is an upper bound. In a recovery the receiver holds much of what is not acknowledged cumulatively: that part
            // of FlightSize is not in flight, and halving it could raise the threshold. The window itself bounds what is.
            ReduceFrom::FlightSize => {
                ((flight_size - limited_transmit.min(flight_size)) as f64).min(self.window.cwnd())
            }
        };
        Episode {
            now: Instant::from_secs(now.time),
            signal,
            window,
            whole_ssthresh: self.config.whole_ssthresh,
            ns2: self.config.ns2_algorithms,
        }
    }

    /// Reduces the window for a loss found by acknowledgements, once per episode.
    pub(super) fn reduce(&mut self, now: Event) {
        self.reduce_for(now, Cause::of(self.config.recovery));
    }

    /// The same, of a loss that `cause` has found.
    pub(super) fn reduce_for(&mut self, now: Event, cause: Cause) {
        self.counters.fast_retransmits += 1;
        let again = self.is_reduced_for_mark();
        self.note_reduction(again);
        if again {
            // RFC 3168 §6.1.2: once for all signs of congestion from one window.
            return;
        }
        self.counters.congestion_signals += 1;
        self.begin_episode(now, cause);
        let episode = self.episode(now, Signal::Loss, self.limited_transmits);
        self.window.on_congestion(now.time, &episode);
    }

    /// Takes note of a timeout before anything follows from it.
    pub(super) fn begin_timeout(&mut self, now: Event) {
        self.limits.expire();
        self.begin_episode(now, Cause::Rto);
        self.counters.timeouts += 1;
        self.counters.subsequent_timeouts += u64::from(self.rto.is_backed_off());
    }

    /// Nothing more is sent now: takes note of why.
    #[inline]
    pub(super) fn note_limit(&mut self, now: Event) {
        self.limits.stop(now.time, self.why_it_stops(now.time));
        if self.is_done() {
            self.limits.finish(now.time);
        }
        if self.stream.is_timed() {
            self.see_to_partial(now);
        }
        self.note_episode(now);
    }

    /// Brings time integrals up to the end of the run.
    pub fn finish(&mut self, end: f64) {
        self.limits.finish(end);
        self.window.finish(end);
    }

    /// What an earlier connection has left, before this one begins.
    pub fn inherit(&mut self, metrics: &Inherited) {
        if let Some(ssthresh) = metrics.ssthresh {
            self.config.initial_ssthresh = ssthresh;
            self.window.prescribe_ssthresh(ssthresh);
        }
        if let Some(rtt) = metrics.rtt {
            self.rto.inherit(self.config.timer_tick.passed(rtt));
        }
    }

    /// The handshake, in which this side has answered a SYN, took `rtt` seconds and is over: the first round trip measured (RFC 6298 §2.2).
    pub fn on_handshake(&mut self, now: Event, rtt: f64) {
        self.rto.sample(now.time - rtt, rtt);
        self.count_round_trip(rtt, rtt);
    }

    /// What this connection, which has ended, leaves to later ones.
    pub fn legacy(&self) -> Legacy {
        Legacy {
            cwnd: self.window.cwnd(),
            ssthresh: self.window.ssthresh(),
            srtt: self.rto.srtt_secs(),
        }
    }

    /// Everything before this segment has been acknowledged.
    pub fn snd_una(&self) -> u64 {
        self.snd_una
    }

    /// Whether the application has closed, and all it wrote has been acknowledged.
    pub fn is_done(&self) -> bool {
        self.stream.is_delivered(self.snd_una)
    }

    /// Whether there is nothing left to do: everything is acknowledged, the FIN too.
    pub fn is_finished(&self) -> bool {
        self.stream.is_finished(self.snd_una)
    }

    /// Segments of data acknowledged.
    pub fn acked_segments(&self) -> u64 {
        self.stream.acked_segments(self.snd_una)
    }

    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The congestion window, segments.
    pub fn cwnd(&self) -> f64 {
        self.window.cwnd()
    }

    /// The largest one so far.
    pub fn max_cwnd(&self) -> f64 {
        self.window.max()
    }

    /// Its integral over time, segments x seconds, up to [`Sender::finish`].
    pub fn cwnd_integral(&self) -> f64 {
        self.window.integral()
    }

    /// The slow-start threshold, segments.
    pub fn ssthresh(&self) -> f64 {
        self.window.ssthresh()
    }

    /// The smoothed round-trip time, seconds.
    pub fn srtt_secs(&self) -> Option<f64> {
        self.rto.srtt_secs()
    }

    /// Segments sent and not cumulatively acknowledged (FlightSize).
    pub fn flight_size(&self) -> u64 {
        self.snd_max - self.snd_una
    }

    /// Segments considered in the path: what the recovery in force compares with the window (RFC 6675 §4's pipe).
    pub fn pipe(&self) -> u64 {
        if let Some(rack) = &self.rack {
            rack.segments.pipe()
        } else if self.state.in_recovery {
            u64::try_from(self.state.pipe).unwrap_or(0)
        } else {
            (self.snd_nxt - self.snd_una).saturating_sub(self.window.inflation)
        }
    }

    /// How fast segments are let out, if they are paced.
    pub fn pacing_rate(&self) -> Option<Rate> {
        self.rack.as_ref()?;
        self.rack_pacing_rate(self.snd_nxt).map(Rate::from_bps)
    }

    /// The algorithm's own variables.
    pub fn probe(&self, out: &mut cc::Probe<'_>) {
        self.window.probe(out);
    }

    /// Clears the scoreboard: what it says is not relied upon any more, and yet it has arrived.
    #[inline]
    pub(super) fn clear_scoreboard(&mut self) {
        if !self.state.scoreboard.is_empty() {
            self.state.scoreboard.remove_below(self.snd_una);
            self.known_bytes = self.delivered_bytes();
            self.state.scoreboard.clear();
        }
    }

    /// Application bytes known to have arrived, cumulatively or selectively.
    pub fn delivered_bytes(&self) -> u64 {
        let sacked = &self.state.scoreboard;
        let lacking = self
            .stream
            .lacking_bytes(|seq| sacked.range_of(seq).is_some());
        let known = self.acked_bytes() + sacked.total() * u64::from(self.config.smss) - lacking;
        known.max(self.known_bytes)
    }

    /// Application bytes acknowledged.
    pub fn acked_bytes(&self) -> u64 {
        self.stream.acked_bytes(self.snd_una)
    }
}
