//! The receiving endpoint, without input or output: segments and expired timers go in, acknowledgements come out.
//!
//! A receiver is its parts: what has arrived (`reassembly.rs`), when that is acknowledged (`acknowledgement.rs`), which blocks are reported (`blocks.rs`), what is echoed of marks
//! (`marks.rs`) and of timestamps (`timestamps.rs`), and the buffer that gives the window (`buffer/`). This file hands segments to them.
//!
//! Specifications: RFC 9293 §3.10.7.4 (segments in order and out of order), RFC 5681 §4.2 (what is out of order or fills a hole is acknowledged at once).

pub mod ack_policy;
mod acknowledgement;
mod blocks;
pub(crate) mod buffer;
pub mod closing;
mod delayed_ack;
mod delivery;
mod disorder;
mod marks;
pub mod opening;
mod quick_acks;
mod reassembly;
pub(super) mod sack_compression;

pub use delivery::InOrderDelivery;

use self::ack_policy::DelayedAckPolicy;
use self::acknowledgement::Acknowledgement;
use self::buffer::{Answered, ReceiveBuffer};
use self::closing::PassiveClose;
use self::marks::EcnFeedback;
use self::opening::PassiveOpen;
use self::reassembly::Reassembly;
use super::params::{Config, Feedback};
use super::timestamps::{Echo, Stamp};
use crate::events::{Event, EventKey};
use crate::packet::{Ack, AdvertisedWindow, DataSegment, Ecn, InOrderAck};
use crate::units::{ByteCount, Duration, Instant, SegCount, SeqNum};

/// The receiver of one connection.
#[derive(Debug)]
pub struct Receiver {
    /// Nothing is kept of a segment in order but that it has come: no marks, timestamps, memory or rules of a particular system.
    plain: bool,
    ns2: bool,
    reassembly: Reassembly,
    acknowledgement: Acknowledgement,
    /// What it has seen of Congestion Experienced, and echoes.
    pub marks: EcnFeedback,
    echo: Echo,
    /// Where the receiver's memory is modelled.
    buffer: Option<Box<ReceiveBuffer>>,
    /// Without what has come out of order and waits for a hole to be filled.
    pub delivered: InOrderDelivery,
    opening: PassiveOpen,
    /// Where the receiver closes its side, too.
    closing: Option<Box<PassiveClose>>,
    /// The other side's FIN has come, and there is an end to come to.
    pub ends: bool,
}

impl Receiver {
    /// Of a connection that nothing has been received on yet.
    pub fn new(config: &Config) -> Self {
        Self {
            plain: is_plain(config),
            ns2: config.ns2_algorithms,
            reassembly: Reassembly::new(config),
            acknowledgement: Acknowledgement::new(config),
            marks: EcnFeedback::new(config.ecn),
            echo: Echo::default(),
            buffer: ReceiveBuffer::new(config),
            delivered: InOrderDelivery::default(),
            opening: PassiveOpen::new(config),
            closing: PassiveClose::of(config),
            ends: false,
        }
    }

    /// Whoever reads what comes does not close when the other side does.
    pub fn stay_open(&mut self) {
        self.closing = None;
    }

    /// When a delayed acknowledgement is due ([`EventKey::NEVER`] if none is).
    #[inline]
    pub fn next_timer(&self) -> EventKey {
        self.acknowledgement.timer()
    }

    /// The delayed acknowledgement is due.
    pub fn on_timer(&mut self) -> Ack {
        let at = self.acknowledgement.stamped_at(self.next_timer().time);
        self.acknowledgement.on_expiry();
        self.acknowledge(at, None)
    }

    /// The acknowledgement that a segment of the host carries: at least the window, if nothing has come yet.
    pub fn carried(&mut self, now: Instant) -> Ack {
        self.acknowledge(now, None)
    }

    /// The host sends data on the connection.
    pub fn on_answer(&mut self, now: Instant) {
        self.acknowledgement.on_answer(now);
    }

    /// What the host knows of round trips from its own segments: its retransmission timeout, and the smoothed round trip.
    pub fn on_host(&mut self, timeout: Duration, rtt: Option<Duration>) {
        self.acknowledgement.delayed.on_host(timeout, rtt);
    }

    /// The acknowledgement that is being delayed, if one is.
    pub fn take_delayed(&mut self, now: Instant) -> Option<Ack> {
        let waits = closing::awaits_answer(self) || opening::awaits_acknowledgement(self);
        let is_delayed = !self.next_timer().is_never() && !waits;
        is_delayed.then(|| self.acknowledge(now, None))
    }

    /// A segment arrives; returns the acknowledgement it causes, unless that is delayed.
    #[inline(always)]
    pub fn on_segment(&mut self, now: Event, data: DataSegment) -> Option<Ack> {
        let is_next = self.plain && self.is_plainly_next(data.seq);
        if !is_next || data.payload.is_zero() || data.fin {
            return self.on_any_segment(now, data);
        }
        let is_due = self.on_plain_segment(now, data.payload);
        is_due.then(|| Ack {
            next: self.reassembly.rcv_nxt(),
            ..Ack::default()
        })
    }

    /// Whether nothing is kept of a segment in order but that it has come.
    pub fn is_plain(&self) -> bool {
        self.plain
    }

    /// Whether nothing is to be seen to by a [plain](Receiver::is_plain) receiver but that a segment has come which carries data and no FIN: it is the next one, and no
    /// acknowledgement is due before `time`, when it arrives.
    #[inline(always)]
    pub fn takes_plainly(&self, time: Instant, seq: SeqNum) -> bool {
        self.is_plainly_next(seq) && self.next_timer().time > time
    }

    #[inline(always)]
    fn is_plainly_next(&self, seq: SeqNum) -> bool {
        self.reassembly.is_next(seq) && seq > SeqNum::ZERO
    }

    /// Such a segment arrives; whether it is acknowledged now, and by nothing but its being here.
    #[inline(always)]
    pub fn on_plain_segment(&mut self, now: Event, payload: ByteCount) -> bool {
        self.reassembly.advance();
        self.delivered.add(now.time, payload);
        let is_due = self.acknowledgement.count_plainly();
        if !is_due {
            self.acknowledgement.delay(now);
        }
        is_due
    }

    /// The next segment expected (RCV.NXT).
    #[inline]
    pub fn rcv_nxt(&self) -> SeqNum {
        self.reassembly.rcv_nxt()
    }

    /// The same with all there is to be seen to.
    #[inline(never)]
    fn on_any_segment(&mut self, now: Event, data: DataSegment) -> Option<Ack> {
        if self.expects(data.seq) {
            return self.on_expected(now, data).map(Ack::from);
        }
        self.take_note(now, data);
        self.on_other(now, data)
    }

    /// Takes note of a segment, whichever it is; whether its mark says that it is acknowledged at once.
    #[inline(always)]
    fn take_note(&mut self, now: Event, data: DataSegment) -> bool {
        let at_once = self.marks.is_on() && self.on_marks(data);
        if data.fin {
            closing::note_fin(self, data, at_once);
        }
        if data.is_syn() {
            opening::note_syn(self, now, data);
        } else {
            if self.opening.is_waiting() {
                opening::establish(self, now.time, data);
            }
            self.echo.on_segment(data.seq, data.stamp);
        }
        at_once
    }

    /// One that was not expected, or for which others wait.
    #[inline(never)]
    fn on_other(&mut self, now: Event, data: DataSegment) -> Option<Ack> {
        if data.is_ack_alone() {
            if let Some(buffer) = &mut self.buffer {
                buffer.on_established(now.time);
            }
            return None;
        }
        if let Some(ack) = opening::answer_again(self, now, data) {
            return Some(ack);
        }
        let again = data.seq > SeqNum::ZERO && data.seq.next() == self.reassembly.rcv_nxt();
        if self.ns2 && again && self.reassembly.is_whole() {
            // The last segment once more: taken by ns-2 as if it had come for the first time.
            if self.acknowledgement.is_due() {
                return Some(self.acknowledge(now.time, Some(data.seq)));
            }
            self.acknowledgement.delay(now);
            return None;
        }
        self.on_disorder(now, data)
    }

    /// Whether a segment is the next one, and none waits for it.
    #[inline(always)]
    pub fn expects(&self, seq: SeqNum) -> bool {
        self.reassembly.is_next(seq)
    }

    /// [`Receiver::on_segment`] of one that it [expects](Receiver::expects).
    #[inline(always)]
    pub fn on_expected(&mut self, now: Event, data: DataSegment) -> Option<InOrderAck> {
        let at_once = self.take_note(now, data);
        self.reassembly.advance();
        if !data.payload.is_zero() {
            self.delivered.add(now.time, data.payload);
            self.store_in_order(now.time, data);
            self.note_arrival(now.time, data.push);
        }
        let is_full = self.acknowledgement.count();
        let is_quick = at_once || self.acknowledgement.is_quick();
        // A SYN is answered at once, and so is a FIN (RFC 9293 §3.10.7.2, §3.10.7.4).
        if is_full
            || is_quick
            || data.is_syn()
            || data.fin
            || self.acknowledgement.is_eager(data.push)
        {
            let answered = if data.payload.is_zero() {
                Answered::Read
            } else if is_quick {
                Answered::Unread
            } else if is_full {
                Answered::UnreadIfAsMuch
            } else {
                Answered::Read
            };
            let ack = self.acknowledge_in_order(now.time, answered);
            if self.opening.is_waiting() {
                opening::start_timer(self, now);
            }
            return Some(ack);
        }
        self.acknowledgement.delay(now);
        None
    }

    /// Data come of which something is in order now, with PSH or without: after a pause, acknowledgements are not delayed. Measured of Linux 6.1: what fills a hole ends a pause, too.
    #[inline]
    fn note_arrival(&mut self, now: Instant, push: bool) {
        if self.acknowledgement.delayed.on_arrival(now, push) && self.acknowledgement.quick.again {
            let limit = self.quick_ack_limit();
            self.acknowledgement.one_by_one(limit);
        }
    }

    /// A segment in order goes through the buffer to the application.
    #[inline(always)]
    fn store_in_order(&mut self, now: Instant, data: DataSegment) {
        let Some(buffer) = &mut self.buffer else {
            return;
        };
        let first = self.delivered.bytes == data.payload;
        let opens = buffer.on_segment(now, data.echo);
        if first {
            self.acknowledgement.quick.limit(buffer.quick_acks());
        }
        if opens {
            self.acknowledgement.quick.on_open();
        }
        buffer.pass(data.payload, now);
    }

    /// How many acknowledgements are sent one by one at most, where the window says it.
    fn quick_ack_limit(&self) -> Option<SegCount> {
        self.buffer.as_ref().map(|buffer| buffer.quick_acks())
    }

    /// Takes note of a segment's mark or of its sender's answer to marks; whether it is to be acknowledged at once.
    fn on_marks(&mut self, data: DataSegment) -> bool {
        let echoed = self.marks.is_echoing();
        let at_once = self.marks.on_segment(data);
        if !self.acknowledgement.quick.again {
            return at_once;
        }
        let is_first_mark =
            self.marks.asks_for_cwr() && data.ecn == Ecn::Ce && (data.cwr || !echoed);
        if self.marks.tells_of_repair(data.ecn) || is_first_mark {
            self.acknowledgement.on_mark();
        }
        at_once || data.cwr
    }

    /// Nothing is out of order, so there is nothing to report. It says that it left `at` this time.
    #[inline(always)]
    fn acknowledge_in_order(&mut self, at: Instant, answered: Answered) -> InOrderAck {
        self.acknowledgement.on_ack(!self.delivered.bytes.is_zero());
        let next = self.reassembly.rcv_nxt();
        let (ece, marks) = self.marks.report();
        let echo = self.echo.on_ack(next);
        let (window, stamp) = match &mut self.buffer {
            None => (AdvertisedWindow::ANY, Stamp::NONE),
            Some(buffer) => (buffer.advertise(answered), buffer.stamp(at)),
        };
        InOrderAck {
            next,
            window,
            ece,
            marks,
            stamp,
            echo,
        }
    }

    #[inline(never)]
    fn acknowledge(&mut self, at: Instant, repeated: Option<SeqNum>) -> Ack {
        let mut ack = Ack::from(self.acknowledge_in_order(at, Answered::Read));
        self.acknowledgement.on_selective_ack();
        ack.repeated = repeated;
        if self.ends {
            closing::wait_on(self);
        }
        ack.sack = self.reassembly.blocks.report(ack.next, repeated.is_some());
        ack
    }
}

/// Whether a receiver need not see to anything of a segment in order but that it has come.
fn is_plain(config: &Config) -> bool {
    config.ecn == Feedback::Off
        && config.timestamps.is_none()
        && config.receive_buffer_default.is_none()
        && config.quick_acks == 0
        && !config.push_acks
        && !config.quick_acks_again
        && !config.adaptive_delayed_ack
        && !config.resend_syn_ack
        && config.delayed_ack.policy == DelayedAckPolicy::Timeout
        && config.sack_compression.is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Lineage;
    use crate::registry::{Params, Value};
    use crate::tcp::PARAMS;
    use proptest::prelude::*;

    /// A receiver that acknowledges at once what ends a write; its host answers after a number of seconds the first of two such segments, which come 0.1 s apart.
    fn answering(after: f64, lineage: &mut Lineage) -> Receiver {
        let mut params = Params::defaults(PARAMS);
        for key in ["push_acks", "interactive_acks", "quick_acks_again"] {
            params.set(key, Value::Bool(true));
        }
        params.set("delayed_ack_timeout", Value::Duration(0.04));
        params.set("quick_acks", Value::Integer(1));
        let mut receiver = Receiver::new(&Config::from(&params));
        for seq in 0u32..2 {
            assert!(arrive(&mut receiver, lineage, 0.1 * f64::from(seq), u64::from(seq)).is_some());
        }
        let answered = Instant::from_secs(0.1 + after);
        receiver.on_answer(answered);
        assert_eq!(receiver.carried(answered).next, SeqNum::new(2));
        receiver
    }

    fn arrive(receiver: &mut Receiver, lineage: &mut Lineage, time: f64, seq: u64) -> Option<Ack> {
        let data = DataSegment {
            seq: SeqNum::new(seq),
            payload: ByteCount::new(if seq == 0 { 0 } else { 100 }),
            push: true,
            ..DataSegment::default()
        };
        receiver.on_segment(
            lineage.record(EventKey::at_start(Instant::from_secs(time), 0)),
            data,
        )
    }

    #[test]
    fn who_has_answered_soon_waits_until_a_wait_was_in_vain_or_a_segment_comes_again() {
        let mut lineage = Lineage::new();
        // One that answers late goes on as before.
        let mut late = answering(0.05, &mut lineage);
        assert!(arrive(&mut late, &mut lineage, 0.2, 2).is_some());
        let mut soon = answering(0.03, &mut lineage);
        // An answer carries the acknowledgement, whose timer is off then.
        assert!(arrive(&mut soon, &mut lineage, 0.2, 2).is_none());
        assert!((soon.next_timer().time.secs() - 0.24).abs() < 1e-9);
        let answered = Instant::from_secs(0.21);
        soon.on_answer(answered);
        assert_eq!(soon.carried(answered).next, SeqNum::new(3));
        assert!(soon.next_timer().is_never());
        // The 40 ms are over.
        assert!(arrive(&mut soon, &mut lineage, 0.3, 3).is_none());
        assert_eq!(soon.on_timer().next, SeqNum::new(4));
        assert!(arrive(&mut soon, &mut lineage, 0.4, 4).is_some());
        // It waits again, until a segment has come again.
        soon.on_answer(Instant::from_secs(0.41));
        assert!(arrive(&mut soon, &mut lineage, 0.5, 5).is_none());
        assert!(arrive(&mut soon, &mut lineage, 0.51, 4).is_some());
        assert!(arrive(&mut soon, &mut lineage, 0.6, 6).is_some());
    }

    proptest! {
        #[test]
        fn a_plain_receiver_answers_as_one_that_sees_to_everything(
            numbers in prop::collection::vec(0u64..40, 1..120), ack_every in 1i64..4, ns2 in any::<bool>(),
        ) {
            let mut params = Params::defaults(PARAMS);
            params.set("ack_every", Value::Integer(ack_every));
            params.set("algorithms", Value::Choice(if ns2 { "ns2" } else { "specification" }));
            let config = Config::from(&params);
            let (mut plain, mut full) = (Receiver::new(&config), Receiver::new(&config));
            prop_assert!(plain.plain);
            full.plain = false;
            let mut lineage = Lineage::new();
            // Mostly in order: every other number is the next one.
            for (at, number) in (0u32..).zip(numbers) {
                let now = Instant::from_secs(0.001 * f64::from(at));
                let now = lineage.record(EventKey::at_start(now, 0));
                let seq = if number % 2 == 0 { plain.reassembly.rcv_nxt() } else { SeqNum::new(number) };
                let payload = ByteCount::new(if seq == SeqNum::ZERO { 0 } else { 1460 });
                let data = DataSegment { seq, payload, ..DataSegment::default() };
                prop_assert_eq!(plain.on_segment(now, data), full.on_segment(now, data));
                prop_assert_eq!(plain.next_timer(), full.next_timer());
                prop_assert_eq!(plain.delivered.bytes, full.delivered.bytes);
                prop_assert_eq!(plain.delivered.last, full.delivered.last);
            }
        }
    }
}
