//! The receiving endpoint: reassembly, SACK blocks, and when to acknowledge.
//!
//! Specifications: RFC 9293 §3.10.7.4 (reassembly), RFC 2018 §4 (which blocks, in which order), RFC 1122 §4.2.3.2 and RFC 5681
//! §4.2 (delayed acknowledgements: at least every second full segment, at once when segments are out of order or fill a hole), RFC 7323 §4.3
//! (the timestamp that an acknowledgement repeats). What is echoed of marks is in `ecn.rs`.
//!
//! **Both directions.** Where its host sends on the connection too, each segment carries the acknowledgement there is (RFC 9293 §3.8.6.3, RFC 1122 §4.2.3.2:
//! what the delay is for), and none of its own follows. With `interactive_acks` as measured of Linux 6.1, with requests and responses in one to five writes:
//! - When the application answers before a delayed acknowledgement would have left (39 ms after the request, not 41; 45, not 55, where segments came
//!   30 ms apart and so acknowledgements waited for 50), from then on nothing is acknowledged at once only because it ends a write, opens the
//!   window, is one of the first or comes after a pause.
//! - That lasts through pauses (300 ms and 2 s), answers that come late, losses and segments out of order, until an acknowledgement has waited in vain, which
//!   leaves the next wait at its base (40 ms, again and again), until a segment comes again, or until one is marked.

pub mod ack_policy;
pub(crate) mod buffer;
mod delayed_ack;
pub(super) mod sack_compression;

use self::ack_policy::Policy;
use self::buffer::{ReceiveBuffer, millis};
use self::delayed_ack::DelayedAck;
use self::sack_compression::SackCompression;
use super::ecn;
use super::params::{Config, Feedback};
use super::scoreboard::{Range, RangeSet, SackBlocks};
use super::timestamps::{Echo, Stamp};
use crate::events::{Child, Event, Key};
use crate::packet::{Ack, Data, Ecn};
use crate::units::{ByteCount, SegCount, SeqNum};

/// Acknowledgements that are not delayed from the first mark on: its own and the next (measured of Linux 6.1).
const QUICK_ACKS_OF_A_MARK: u64 = 2;

/// The receiver of one connection.
#[derive(Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "rules that are independent of each other"
)]
pub struct Receiver {
    rcv_nxt: SeqNum,
    /// Nothing is kept of a segment in order but that it has come: no marks, timestamps, memory or rules of a particular system.
    plain: bool,
    /// Segments above `rcv_nxt`, and which of them are short: number, and bytes that they lack of a full one.
    out_of_order: RangeSet,
    out_of_order_short: Vec<(SeqNum, ByteCount)>,
    /// The ranges last reported, newest first.
    recent: Vec<Range>,
    sack: bool,
    max_sack_blocks: usize,
    ack_every: u32,
    /// Acknowledgements that are still to be sent one by one.
    quick_acks: u64,
    most_quick_acks: u64,
    quick_acks_again: bool,
    push_acks: bool,
    interactive_acks: bool,
    /// Acknowledgements wait for an answer that carries them.
    interactive: bool,
    /// Where the receiver's memory is modelled.
    buffer: Option<Box<ReceiveBuffer>>,
    compression: Option<Box<SackCompression>>,
    delayed: DelayedAck,
    ns2: bool,
    smss: u32,
    /// In-order segments not yet acknowledged, and when that must happen at the latest.
    unacknowledged: u32,
    timer: Key,
    pub marks: ecn::Echo,
    echo: Echo,
    /// Application bytes delivered in order.
    pub delivered_bytes: u64,
    /// Time of the last in-order delivery, seconds.
    pub last_delivery: f64,
}

impl Receiver {
    pub fn new(config: &Config) -> Self {
        Self {
            rcv_nxt: SeqNum::ZERO,
            plain: config.ecn == Feedback::Off
                && config.timestamps.is_none()
                && config.receive_buffer_default.is_none()
                && config.quick_acks == 0
                && !config.push_acks
                && !config.quick_acks_again
                && !config.adaptive_delayed_ack
                && config.delayed_ack.policy == Policy::Timeout
                && config.sack_compression.is_none(),
            out_of_order: RangeSet::default(),
            out_of_order_short: Vec::new(),
            recent: Vec::new(),
            sack: config.recovery.has_sack(),
            quick_acks: config.quick_acks,
            most_quick_acks: config.quick_acks,
            quick_acks_again: config.quick_acks_again,
            push_acks: config.push_acks,
            interactive_acks: config.interactive_acks,
            interactive: false,
            buffer: ReceiveBuffer::new(config),
            compression: config
                .sack_compression
                .map(|settings| Box::new(SackCompression::new(settings))),
            delayed: DelayedAck::new(config),
            max_sack_blocks: config.max_sack_blocks,
            ack_every: config.ack_every,
            ns2: config.ns2_algorithms,
            smss: config.smss,
            unacknowledged: 0,
            timer: Key::NEVER,
            marks: ecn::Echo::new(config.ecn),
            echo: Echo::default(),
            delivered_bytes: 0,
            last_delivery: 0.0,
        }
    }

    /// When a delayed acknowledgement is due ([`Key::NEVER`] if none is).
    #[inline]
    pub fn next_timer(&self) -> Key {
        self.timer
    }

    /// The delayed acknowledgement is due.
    pub fn on_timer(&mut self) -> Ack {
        let time = self.timer.time;
        if !self
            .compression
            .as_ref()
            .is_some_and(|compression| compression.is_waiting())
        {
            if self.interactive {
                // No answer came.
                self.interactive = false;
                self.delayed.restart();
            } else {
                self.delayed.on_expiry();
            }
        }
        self.acknowledge(time, false)
    }

    /// The acknowledgement that a segment of the host carries: at least the window, if nothing has come yet.
    pub fn carried(&mut self, now: f64) -> Ack {
        self.acknowledge(now, false)
    }

    /// The host sends data on the connection.
    pub fn on_answer(&mut self, now: f64) {
        self.interactive |= self.interactive_acks && self.delayed.is_soon(now);
    }

    /// What the host knows of round trips from its own segments: its retransmission timeout, and the smoothed round trip.
    pub fn on_host(&mut self, timeout: f64, rtt: Option<f64>) {
        self.delayed.on_host(timeout, rtt);
    }

    /// The acknowledgement that is being delayed, if one is.
    pub fn take_delayed(&mut self, now: f64) -> Option<Ack> {
        (!self.timer.is_never()).then(|| self.acknowledge(now, false))
    }

    /// A segment arrives; returns the acknowledgement it causes, unless that is delayed.
    #[inline]
    pub fn on_segment(&mut self, now: Event, data: Data) -> Option<Ack> {
        let in_order = data.seq == self.rcv_nxt && self.out_of_order.is_empty();
        if !(self.plain
            && in_order
            && data.seq > SeqNum::ZERO
            && !data.payload.is_zero()
            && !data.fin)
        {
            return self.on_any_segment(now, data);
        }
        self.rcv_nxt = self.rcv_nxt.next();
        self.delivered_bytes += data.payload.get();
        self.last_delivery = now.time;
        self.unacknowledged += 1;
        if self.unacknowledged < self.ack_every {
            self.delay(now);
            return None;
        }
        self.unacknowledged = 0;
        self.timer = Key::NEVER;
        Some(Ack {
            next: self.rcv_nxt,
            ..Ack::default()
        })
    }

    /// The same with all there is to be seen to.
    #[inline(never)]
    fn on_any_segment(&mut self, now: Event, data: Data) -> Option<Ack> {
        let at_once = self.marks.is_on() && self.on_marks(data);
        self.echo.on_segment(data.seq, data.stamp);
        if data.is_syn() {
            self.delayed.on_syn(now.time);
        } else {
            self.delayed.on_established(now.time);
        }
        if data.seq == self.rcv_nxt && self.out_of_order.is_empty() {
            self.rcv_nxt = self.rcv_nxt.next();
            self.delivered_bytes += data.payload.get();
            if !data.payload.is_zero() {
                self.last_delivery = now.time;
            }
            let opens = self.buffer.is_some() && self.store_in_order(now.time, data);
            if !data.payload.is_zero()
                && self.delayed.on_arrival(now.time, data.push)
                && self.quick_acks_again
            {
                self.acknowledge_one_by_one();
            }
            // A SYN is answered at once, and so is a FIN (RFC 9293 §3.10.7.2, §3.10.7.4).
            let now_or_never = data.is_syn() || data.fin || at_once;
            let eager = opens || (data.push && self.push_acks);
            if now_or_never || (eager && !self.interactive) || self.is_due() {
                return Some(self.acknowledge_in_order(now.time));
            }
            self.delay(now);
            return None;
        }
        if data.is_handshake_ack() {
            if let Some(buffer) = &mut self.buffer {
                buffer.on_established(now.time);
            }
            return None;
        }
        let again = data.seq > SeqNum::ZERO && data.seq.next() == self.rcv_nxt;
        if self.ns2 && again && self.out_of_order.is_empty() {
            // The last segment once more: taken by ns-2 as if it had come for the first time.
            if self.is_due() {
                return Some(self.acknowledge(now.time, true));
            }
            self.delay(now);
            return None;
        }
        self.on_disorder(now, data)
    }

    /// Counts a segment whose acknowledgement may be delayed; whether it is the last to be waited for.
    #[inline]
    fn is_due(&mut self) -> bool {
        self.unacknowledged += 1;
        self.unacknowledged >= self.ack_every || self.is_quick()
    }

    /// Whether the next acknowledgement is not delayed, as at the start of a connection.
    #[inline]
    fn is_quick(&self) -> bool {
        self.quick_acks > 0 && !self.interactive
    }

    /// A segment in order goes through the buffer to the application; whether the window opens, which is told at once.
    fn store_in_order(&mut self, now: f64, data: Data) -> bool {
        let Some(buffer) = &mut self.buffer else {
            return false;
        };
        if data.payload.is_zero() {
            return false;
        }
        let first = self.delivered_bytes == data.payload.get();
        let opens = buffer.on_segment(now, data.echo.bits());
        if first {
            self.quick_acks = self.quick_acks.min(buffer.quick_acks());
        }
        buffer.on_in_order(data.payload.get(), 0);
        buffer.read_all(now);
        opens
    }

    /// The next acknowledgements are not delayed, as at the start of a connection.
    #[cold]
    fn acknowledge_one_by_one(&mut self) {
        let most = self.most_quick_acks;
        let most = self
            .buffer
            .as_ref()
            .map_or(most, |buffer| most.min(buffer.quick_acks()));
        self.quick_acks = self.quick_acks.max(most);
        self.delayed.restart();
    }

    /// Takes note of a segment's mark or of its sender's answer to marks; whether it is to be acknowledged at once.
    fn on_marks(&mut self, data: Data) -> bool {
        let echoed = self.marks.is_echoing();
        let at_once = self.marks.on_segment(data);
        if !self.quick_acks_again {
            return at_once;
        }
        if data.ecn == Ecn::Ce && (data.cwr || !echoed) {
            self.quick_acks = self.quick_acks.max(QUICK_ACKS_OF_A_MARK);
            self.interactive = false;
        }
        at_once || data.cwr
    }

    #[inline]
    fn delay(&mut self, now: Event) {
        if self.timer.is_never() {
            self.timer = now.schedule(self.delayed.due(now.time), Child::Timer);
        } else if let Some(due) = self.delayed.due_of_several(now.time, self.unacknowledged)
            && due < self.timer.time
        {
            self.timer = now.schedule(due, Child::Timer);
        }
    }

    /// A segment that is out of order, fills a hole or repeats another: acknowledged at once (RFC 5681 §4.2), except where those out of
    /// order wait for each other.
    fn on_disorder(&mut self, now: Event, data: Data) -> Option<Ack> {
        let mut duplicate = data.seq < self.rcv_nxt;
        let mut opens = false;
        if data.seq >= self.rcv_nxt
            && let Some(buffer) = &mut self.buffer
        {
            opens = buffer.on_segment(now.time, data.echo.bits());
        }
        let fills = data.seq == self.rcv_nxt;
        let mut besides = None;
        if data.seq == self.rcv_nxt {
            let before = self.rcv_nxt;
            self.rcv_nxt = self.out_of_order.first_gap(before.next());
            self.out_of_order.remove_below(self.rcv_nxt);
            let filled = (self.rcv_nxt - before.next()).get();
            let mut short = 0;
            self.out_of_order_short.retain(|(seq, lacking)| {
                let filled = *seq < self.rcv_nxt;
                short += if filled { lacking.get() } else { 0 };
                !filled
            });
            let bytes = data.payload.get() + filled * u64::from(self.smss) - short;
            self.delivered_bytes += bytes;
            if let Some(buffer) = &mut self.buffer {
                buffer.on_in_order(bytes, filled);
                buffer.read_from(data.payload.get(), now.time);
            }
            self.last_delivery = now.time;
            self.recent.retain(|range| range.start > self.rcv_nxt);
        } else if data.seq > self.rcv_nxt {
            let mut new = false;
            let holder = self
                .out_of_order
                .insert(Range::of(data.seq), |_| new = true);
            duplicate = !new;
            if new && let Some(buffer) = &mut self.buffer {
                buffer.hold();
            }
            if new && data.payload < ByteCount::from(self.smss) {
                let lacking = ByteCount::from(self.smss) - data.payload;
                self.out_of_order_short.push((data.seq, lacking));
            }
            self.recent.retain(|range| !holder.contains(range.start));
            if holder.length() == SegCount::ONE {
                besides = Some(self.recent.len());
            }
            self.recent.insert(0, holder);
            self.recent.truncate(self.max_sack_blocks);
        }
        if duplicate && self.quick_acks_again {
            self.interactive = false;
            self.acknowledge_one_by_one();
        }
        if fills
            && !self.out_of_order.is_empty()
            && let Some(compression) = &mut self.compression
        {
            compression.on_fill(self.rcv_nxt.get());
        }
        if !(fills || duplicate || opens || self.is_quick())
            && let Some(compression) = &mut self.compression
            && let Some(wait) =
                compression.on_segment(self.rcv_nxt.get(), besides, self.delayed.rtt())
        {
            if self.timer.is_never() {
                self.timer = now.schedule(now.time + wait, Child::Timer);
            }
            return None;
        }
        Some(self.acknowledge(now.time, duplicate))
    }

    /// Nothing is out of order, so there is nothing to report.
    #[inline]
    fn acknowledge_in_order(&mut self, now: f64) -> Ack {
        self.unacknowledged = 0;
        self.timer = Key::NEVER;
        if self.quick_acks > 0 && self.delivered_bytes > 0 {
            self.quick_acks -= 1;
            if self.quick_acks == 0 {
                self.delayed.restart();
            }
        }
        let (ece, marks) = self.marks.report();
        let mut ack = Ack {
            next: self.rcv_nxt,
            ece,
            marks,
            echo: self.echo.on_ack(self.rcv_nxt),
            ..Ack::default()
        };
        if self.buffer.is_some() {
            self.advertise(now, &mut ack);
        }
        ack
    }

    /// Window and timestamp of an acknowledgement.
    fn advertise(&mut self, now: f64, ack: &mut Ack) {
        if let Some(buffer) = &mut self.buffer {
            let segments = buffer.advertise() / u64::from(self.smss);
            ack.window = SegCount::new(segments).min(Ack::NO_WINDOW);
            ack.stamp = Stamp::from_bits(millis(now));
        }
    }

    fn acknowledge(&mut self, now: f64, duplicate: bool) -> Ack {
        let mut ack = self.acknowledge_in_order(now);
        if let Some(compression) = &mut self.compression {
            compression.on_ack();
        }
        let mut sack = SackBlocks::default();
        if self.sack {
            for range in &self.recent {
                sack.push(self.rcv_nxt, *range);
            }
        }
        ack.duplicate = duplicate;
        ack.sack = sack;
        ack
    }
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
        receiver.on_answer(0.1 + after);
        assert_eq!(receiver.carried(0.1 + after).next, SeqNum::new(2));
        receiver
    }

    fn arrive(receiver: &mut Receiver, lineage: &mut Lineage, time: f64, seq: u64) -> Option<Ack> {
        let data = Data {
            seq: SeqNum::new(seq),
            payload: ByteCount::new(if seq == 0 { 0 } else { 100 }),
            push: true,
            ..Data::default()
        };
        receiver.on_segment(lineage.record(Key::at_start(time, 0)), data)
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
        assert!((soon.next_timer().time - 0.24).abs() < 1e-9);
        soon.on_answer(0.21);
        assert_eq!(soon.carried(0.21).next, SeqNum::new(3));
        assert!(soon.next_timer().is_never());
        // The 40 ms are over.
        assert!(arrive(&mut soon, &mut lineage, 0.3, 3).is_none());
        assert_eq!(soon.on_timer().next, SeqNum::new(4));
        assert!(arrive(&mut soon, &mut lineage, 0.4, 4).is_some());
        // It waits again, until a segment has come again.
        soon.on_answer(0.41);
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
                let now = lineage.record(Key::at_start(0.001 * f64::from(at), 0));
                let seq = if number % 2 == 0 { plain.rcv_nxt } else { SeqNum::new(number) };
                let payload = ByteCount::new(if seq == SeqNum::ZERO { 0 } else { 1460 });
                let data = Data { seq, payload, ..Data::default() };
                prop_assert_eq!(plain.on_segment(now, data), full.on_segment(now, data));
                prop_assert_eq!(plain.next_timer().time.to_bits(), full.next_timer().time.to_bits());
                prop_assert_eq!(plain.delivered_bytes, full.delivered_bytes);
                prop_assert_eq!(plain.last_delivery.to_bits(), full.last_delivery.to_bits());
            }
        }
    }
}
