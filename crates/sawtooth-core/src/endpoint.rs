//! One host's end of one connection at the end of a script: segments come as bytes of headers number them, the application calls, and what the host sends is kept with its time.
//!
//! **Model.** The host has the [`Sender`] and the [`Receiver`] that simulations have, joined as those of requests and responses are: what arrives acknowledges first and carries
//! data then, and what leaves carries what there is to acknowledge (RFC 9293 §3.8.6.3, §3.10.7.4). There is no network: time passes only by [`Endpoint::advance`].
//!
//! **Numbers.** Sender and receiver count segments, headers bytes. What the host sends is numbered as it leaves ([`BytePositions`]). Of what the peer sends the borders are given
//! beforehand: each stretch between two of them is one segment of the receiver. The first bytes are those of the SYN, 0 to 1.
//!
//! Deviations: what the model has no word for is told of ([`Unspeakable`]) and not guessed.

mod wire;

pub use self::wire::{Unspeakable, WireSegment};

use self::wire::{ACE_VALUES, FIRST_ACE, ace, carried, is_duplicate};
use crate::cc;
use crate::events::{Event, EventKey, Lineage};
use crate::packet::{Ack, AdvertisedWindow, DataSegment};
use crate::registry::Params;
use crate::tcp::Config;
use crate::tcp::byte_positions::BytePositions;
use crate::tcp::params::Feedback;
use crate::tcp::receiver::{Receiver, opening};
use crate::tcp::scoreboard::{Range, SackBlocks};
use crate::tcp::sender::{Sender, SenderDraws};
use crate::tcp::timestamps::{Stamp, TimestampClock};
use crate::units::{ByteCount, Instant, SeqNum};

/// One end of a connection.
#[derive(Debug)]
pub struct Endpoint {
    sender: Sender,
    receiver: Receiver,
    lineage: Lineage,
    now: Instant,
    started: bool,
    /// When the peer's SYN was answered.
    answered: Option<Instant>,
    sent: BytePositions,
    borders: Vec<u64>,
    /// What the peer last said of its window.
    peer_window: Option<u64>,
    /// What the peer has reported of marks.
    peer_marks: u16,
    /// When the last of the peer's segments left that acknowledges and carries nothing, which the receiver does not hear of.
    peer_stamp: Stamp,
    clock: Option<TimestampClock>,
    accurate: bool,
    left: Vec<WireSegment>,
}

impl Endpoint {
    /// An end that opens the connection itself if `active`, or else waits for the peer's SYN. `borders` are those of the peer's segments, ascending from 0 and 1.
    pub fn new(
        config: &Config,
        algorithm: cc::Algorithm,
        params: &Params,
        active: bool,
        borders: Vec<u64>,
    ) -> Self {
        let sending = Config {
            handshake: active,
            ..config.clone()
        };
        let receiving = Config {
            handshake: true,
            // The script says when the application closes.
            fin_of_receiver: false,
            ..config.clone()
        };
        let mut sender = Sender::open(sending, algorithm, params, SenderDraws::default());
        sender.close_plain_way();
        Self {
            sender,
            receiver: Receiver::new(&receiving),
            lineage: Lineage::new(),
            now: Instant::START,
            started: false,
            answered: None,
            sent: BytePositions::default(),
            borders,
            peer_window: None,
            peer_marks: 0,
            peer_stamp: Stamp::NONE,
            clock: config.timestamps.map(TimestampClock::new),
            accurate: config.ecn == Feedback::Accurate,
            left: Vec::new(),
        }
    }

    /// What has left since this was asked last.
    pub fn take(&mut self) -> Vec<WireSegment> {
        std::mem::take(&mut self.left)
    }

    /// Until then only timers expire; whether they have made anything leave, at which it stops.
    pub fn advance(&mut self, until: Instant) -> bool {
        while self.left.is_empty() {
            let (sending, receiving) = (self.sender.next_timer(), self.receiver.next_timer());
            if sending.time.min(receiving.time) > until {
                break;
            }
            if receiving.time < sending.time {
                self.now = self.now.max(receiving.time);
                let now = self.event();
                let ack = opening::on_timer(&mut self.receiver, now);
                self.acknowledge(&ack);
            } else {
                self.now = self.now.max(sending.time);
                let now = self.event();
                self.sender.on_timer(now);
                self.pump(now);
            }
        }
        if self.left.is_empty() {
            self.now = self.now.max(until);
        }
        !self.left.is_empty()
    }

    /// The application opens the connection.
    pub fn connect(&mut self) {
        let now = self.event();
        self.started = true;
        self.sender.on_start(now);
        self.pump(now);
    }

    /// The application writes so many bytes.
    pub fn write(&mut self, bytes: u64) {
        let now = self.event();
        self.sender.on_write(now, ByteCount::new(bytes));
        self.pump(now);
    }

    /// The application will write no more.
    pub fn close(&mut self) {
        let now = self.event();
        self.sender.on_close();
        self.pump(now);
    }

    /// Bytes that have come in order for the application.
    pub fn delivered(&self) -> u64 {
        self.receiver.delivered.bytes.get()
    }

    /// Whether the handshake is over.
    pub fn is_established(&self) -> bool {
        self.started && self.sender.is_established()
    }

    /// The sender, to be asked.
    pub fn sender(&self) -> &Sender {
        &self.sender
    }

    /// A segment of the peer's arrives.
    pub fn receive(&mut self, segment: &WireSegment) -> Result<(), Unspeakable> {
        let data = carried(segment, &self.borders)?;
        let ack = segment
            .ack
            .map(|next| self.ack(segment, next))
            .transpose()?;
        let now = self.event();
        if segment.syn && ack.is_none() {
            self.answer(now, data);
            return Ok(());
        }
        if data.is_none() {
            self.peer_stamp = Stamp::from_bits(segment.stamps[0]);
        }
        if let Some(ack) = ack {
            self.establish(now);
            let moves = self.peer_window.replace(segment.window.unwrap_or_default());
            let carries = data.is_some() || moves != self.peer_window;
            if carries && !segment.syn {
                self.sender.on_carried(now, &ack);
            } else {
                self.sender.on_segment(now, &ack);
            }
        }
        let (timeout, rtt) = (self.sender.timeout(), self.sender.srtt());
        self.receiver.on_host(timeout, rtt);
        let answer = data.and_then(|data| {
            if self.receiver.marks.is_on() && self.receiver.marks.changes_state(data.ecn) {
                let before = self.receiver.take_delayed(self.now);
                if let Some(ack) = before {
                    self.acknowledge(&ack);
                }
            }
            self.receiver.on_segment(now, data)
        });
        let before = self.left.len();
        self.pump(now);
        let has_sent = self.left.len() > before;
        // The handshake's third packet is the answer to the peer's SYN.
        let is_said = has_sent || segment.syn;
        if let Some(ack) = answer.filter(|ack| ack.repeated.is_some() || !is_said) {
            self.acknowledge(&ack);
        }
        if let Some(update) = self.receiver.take_update(self.now) {
            self.acknowledge(&update);
        }
        Ok(())
    }

    /// The peer's SYN is answered.
    fn answer(&mut self, now: Event, data: Option<DataSegment>) {
        let ack = data.and_then(|data| self.receiver.on_segment(now, data));
        self.answered = Some(self.now);
        let ack = ack.unwrap_or_default();
        self.acknowledge(&Ack { syn: true, ..ack });
    }

    /// The first acknowledgement of a connection that the peer opens ends the handshake.
    fn establish(&mut self, now: Event) {
        if let (Some(answered), false) = (self.answered, self.started) {
            self.started = true;
            self.sender.on_start(now);
            self.sender.on_handshake(now, self.now - answered);
            self.receiver.on_segment(now, DataSegment::HANDSHAKE_ACK);
        }
    }

    fn event(&mut self) -> Event {
        self.lineage.record(EventKey::at_start(self.now, 0))
    }

    /// What the sender has to send leaves.
    fn pump(&mut self, now: Event) {
        while let Some(data) = self.sender.poll_transmit(now) {
            if data.is_ack_alone() {
                let ack = self.receiver.carried(self.now);
                self.acknowledge(&ack);
                continue;
            }
            self.sent.learn(data);
            let is_syn = data.is_syn();
            let mut segment = if is_syn {
                WireSegment {
                    time: self.now,
                    ..WireSegment::default()
                }
            } else {
                if !data.payload.is_zero() {
                    self.receiver.on_answer(self.now);
                }
                let ack = self.receiver.carried(self.now);
                self.acknowledging(&ack)
            };
            segment.syn = is_syn;
            segment.fin = data.fin;
            segment.push = data.push && !data.payload.is_zero();
            segment.start = self.sent.of(data.seq).get();
            segment.length = data.payload.get();
            segment.cwr = data.cwr;
            segment.ecn = data.ecn as u8;
            segment.stamps[0] = TimestampClock::stamp_by(self.clock, self.now).bits();
            self.left.push(segment);
        }
    }

    /// An acknowledgement leaves alone.
    fn acknowledge(&mut self, ack: &Ack) {
        let mut segment = self.acknowledging(ack);
        if ack.syn {
            (segment.syn, segment.start, segment.window) = (true, 0, None);
        }
        self.left.push(segment);
    }

    /// A segment without data that says what an acknowledgement does.
    fn acknowledging(&self, ack: &Ack) -> WireSegment {
        let border = |seq: SeqNum| self.border(seq);
        let repeated = ack.repeated.map(|seq| [border(seq), border(seq.next())]);
        let blocks = ack.sack.ranges(ack.next);
        let blocks = blocks.map(|range| [border(range.start), border(range.end)]);
        let window = ack.window.bytes().map(ByteCount::get);
        let stamp = TimestampClock::stamp_by(self.clock, self.now);
        // TS.Recent is the later of both (RFC 7323 §4.3).
        let echo = if ack.echo.is_none() || ack.echo.precedes(self.peer_stamp) {
            self.peer_stamp
        } else {
            ack.echo
        };
        WireSegment {
            time: self.now,
            start: self.sent.end().get(),
            ack: Some(border(ack.next)),
            window,
            sack: repeated.into_iter().chain(blocks).collect(),
            stamps: [stamp.bits(), echo.bits()],
            ece: ack.ece,
            ace: self.accurate.then(|| ace(ack.marks)),
            ..WireSegment::default()
        }
    }

    /// The number of the first byte of one of the peer's segments.
    fn border(&self, seq: SeqNum) -> u64 {
        let at = usize::try_from(seq.get()).unwrap_or(usize::MAX);
        let last = self.borders.last().copied().unwrap_or_default();
        self.borders.get(at).copied().unwrap_or(last)
    }

    /// What a segment of the peer's acknowledges.
    fn ack(&mut self, segment: &WireSegment, next: u64) -> Result<Ack, Unspeakable> {
        let within =
            Unspeakable("an acknowledgement of a part of a segment, or of what was never sent");
        let next = self.segment(next).ok_or(within)?;
        let mut ack = Ack {
            next,
            ece: segment.ece,
            marks: self.marks(segment.ace),
            stamp: Stamp::from_bits(segment.stamps[0]),
            echo: Stamp::from_bits(segment.stamps[1]),
            ..Ack::default()
        };
        if let Some(bytes) = segment.window {
            ack.window = AdvertisedWindow::of(ByteCount::new(bytes));
        }
        let within = Unspeakable("a SACK block that begins or ends within a segment");
        let mut blocks = Vec::new();
        for &[start, end] in &segment.sack {
            let (Some(start), Some(end)) = (self.segment(start), self.segment(end)) else {
                return Err(within);
            };
            blocks.push(Range { start, end });
        }
        if is_duplicate(next, &blocks) {
            ack.repeated = Some(blocks.remove(0).start);
        }
        if blocks.len() > SackBlocks::MOST {
            return Err(Unspeakable("more than three SACK blocks"));
        }
        for block in blocks {
            ack.sack.push(next, block);
        }
        Ok(ack)
    }

    /// The host's segment that begins with a byte.
    fn segment(&self, byte: u64) -> Option<SeqNum> {
        if byte == self.sent.end().get() {
            return Some(self.sent.following());
        }
        self.sent.beginning_at(ByteCount::new(byte))
    }

    /// How many marks the peer has reported, of the three bits of its counter.
    fn marks(&mut self, ace: Option<u8>) -> u16 {
        if let Some(ace) = ace {
            let more = u16::from(ace) + 2 * ACE_VALUES - FIRST_ACE - self.peer_marks % ACE_VALUES;
            self.peer_marks = self.peer_marks.wrapping_add(more % ACE_VALUES);
        }
        self.peer_marks
    }
}
