//! When a segment in order is acknowledged: at once, with the next, with what the host sends, or when a timer expires.
//!
//! Specifications: RFC 9293 §3.8.6.3, RFC 1122 §4.2.3.2 and RFC 5681 §4.2 (delayed acknowledgements: at least every second full segment). How long one waits is in
//! `delayed_ack.rs`, which are not delayed in `quick_acks.rs`, and which segments out of order wait for each other in `sack_compression.rs`.
//!
//! **Both directions.** Where its host sends on the connection too, each segment carries the acknowledgement there is (RFC 9293 §3.8.6.3, RFC 1122 §4.2.3.2:
//! what the delay is for), and none of its own follows. With `interactive_acks` as measured of Linux 6.1, with requests and responses in one to five writes:
//! - When the application answers before a delayed acknowledgement would have left (39 ms after the request, not 41; 45, not 55, where segments came
//!   30 ms apart and so acknowledgements waited for 50), from then on nothing is acknowledged at once only because it ends a write, opens the
//!   window, is one of the first or comes after a pause.
//! - That lasts through pauses (300 ms and 2 s), answers that come late, losses and segments out of order. What ends it is one of these:
//!   - an acknowledgement has waited in vain, which leaves the next wait at its base (40 ms, again and again)
//!   - a segment comes again
//!   - a segment is marked

use super::delayed_ack::DelayedAck;
use super::quick_acks::QuickAcks;
use super::sack_compression::SackCompression;
use crate::events::{Child, Event, EventKey};
use crate::tcp::params::Config;
use crate::units::{Duration, Instant, SegCount, SeqNum};

/// The acknowledgement that one receiver owes.
#[derive(Debug)]
pub(super) struct Acknowledgement {
    every: SegCount,
    /// In-order segments not yet acknowledged, and when that must happen at the latest.
    unacknowledged: SegCount,
    timer: EventKey,
    pub delayed: DelayedAck,
    pub quick: QuickAcks,
    /// Whether what ends a write is acknowledged at once.
    push_acks: bool,
    interactive_acks: bool,
    /// Acknowledgements wait for an answer that carries them.
    is_interactive: bool,
    compression: Option<Box<SackCompression>>,
}

impl Acknowledgement {
    pub(super) fn new(config: &Config) -> Self {
        Self {
            every: config.ack_every,
            unacknowledged: SegCount::ZERO,
            timer: EventKey::NEVER,
            delayed: DelayedAck::new(config),
            quick: QuickAcks::new(config),
            push_acks: config.push_acks,
            interactive_acks: config.interactive_acks,
            is_interactive: false,
            compression: config
                .sack_compression
                .map(|settings| Box::new(SackCompression::new(settings))),
        }
    }

    /// When it is due if it is delayed ([`EventKey::NEVER`] if none is).
    #[inline]
    pub(super) fn timer(&self) -> EventKey {
        self.timer
    }

    /// The timer is that of something else: nothing is owed.
    pub(super) fn restart_timer(&mut self, due: EventKey) {
        self.timer = due;
    }

    /// Counts a segment; whether there are as many as one acknowledgement is for.
    #[inline]
    pub(super) fn count(&mut self) -> bool {
        self.unacknowledged += SegCount::ONE;
        self.unacknowledged >= self.every
    }

    /// The same where none but the delay of a timer is possible: as many are acknowledged now.
    #[inline]
    pub(super) fn count_plainly(&mut self) -> bool {
        let is_due = self.unacknowledged + SegCount::ONE >= self.every;
        if !is_due {
            self.unacknowledged += SegCount::ONE;
        } else if !self.unacknowledged.is_zero() {
            self.on_plain_ack();
        }
        debug_assert!(!self.unacknowledged.is_zero() || self.timer.is_never());
        is_due
    }

    /// [`Acknowledgement::count`], or whether that segment's acknowledgement is not delayed.
    #[inline]
    pub(super) fn is_due(&mut self) -> bool {
        self.count() || self.is_quick()
    }

    /// Whether the next acknowledgement is not delayed, as at the start of a connection.
    #[inline]
    pub(super) fn is_quick(&self) -> bool {
        self.quick.is_next() && !self.is_interactive
    }

    /// Whether a segment is acknowledged at once that ends a write, if it does (PSH).
    pub(super) fn is_eager(&self, push: bool) -> bool {
        push && self.push_acks && !self.is_interactive
    }

    /// It waits, from now on or already.
    #[inline]
    pub(super) fn delay(&mut self, now: Event) {
        if self.timer.is_never() {
            let due = self.delayed.due(now.time);
            self.delayed.set_timer(&mut self.timer, now, due);
        } else if let Some(due) = self.delayed.due_of_several(now.time, self.unacknowledged)
            && due < self.timer.time
        {
            self.delayed.set_timer(&mut self.timer, now, due);
        }
        if let Some(compression) = &mut self.compression {
            compression.on_delay(self.timer.time);
        }
    }

    /// A segment came out of order while `next` is expected, and is not acknowledged for another cause; `besides` as for [`SackCompression::on_segment`], and `rtt` is what the
    /// receiver has measured of data. Whether it waits for others.
    pub(super) fn waits_in_disorder(
        &mut self,
        now: Event,
        next: SeqNum,
        besides: Option<usize>,
        rtt: Option<Duration>,
    ) -> bool {
        if self.is_quick() {
            return false;
        }
        let Some(compression) = &mut self.compression else {
            return false;
        };
        let rtt = match (rtt, self.delayed.rtt()) {
            (Some(of_data), Some(of_handshake)) => Some(of_data.min(of_handshake)),
            (of_data, of_handshake) => of_data.or(of_handshake),
        };
        let Some(end) = compression.on_segment(now.time, next, besides, rtt) else {
            return false;
        };
        if self.timer.is_never() {
            self.timer = now.schedule(end, Child::Timer);
        }
        true
    }

    /// Whether what waits is acknowledged without the segment that ends its wait; `besides` as for [`SackCompression::on_segment`].
    pub(super) fn leaves_alone(&self, besides: Option<usize>) -> bool {
        let compression = self.compression.as_ref();
        compression.is_some_and(|compression| compression.is_over(besides))
    }

    /// Whether segments out of order wait for each other.
    pub(super) fn is_compressing(&self) -> bool {
        let compression = self.compression.as_ref();
        compression.is_some_and(|compression| compression.is_waiting())
    }

    /// Whether everything in order has been acknowledged.
    pub(super) fn owes_nothing(&self) -> bool {
        self.unacknowledged.is_zero()
    }

    /// A hole is filled in part, up to `next`. Measured of Linux 6.1: after one whose acknowledgement is not delayed in any case, three more segments out of order are acknowledged at once.
    pub(super) fn on_partial_fill(&mut self, next: SeqNum) {
        if self.is_quick() {
            return;
        }
        if let Some(compression) = &mut self.compression {
            compression.on_fill(next);
        }
    }

    /// When an acknowledgement that its timer sends at `due` says that it leaves.
    pub(super) fn stamped_at(&self, due: Instant) -> Instant {
        let compression = self.compression.as_ref();
        compression.map_or(due, |compression| compression.stamped_at(due))
    }

    /// Nothing else came before it was due.
    pub(super) fn on_expiry(&mut self) {
        if self.is_compressing() {
            return;
        }
        if self.is_interactive {
            // No answer came.
            self.is_interactive = false;
            self.delayed.restart();
        } else {
            self.delayed.on_expiry();
        }
    }

    /// The host sends data on the connection.
    pub(super) fn on_answer(&mut self, now: Instant) {
        self.is_interactive |= self.interactive_acks && self.delayed.is_soon(now);
    }

    /// A segment comes again, so an acknowledgement may be missing.
    pub(super) fn on_repetition(&mut self, limit: Option<SegCount>) {
        if self.quick.again {
            self.is_interactive = false;
            self.one_by_one(limit);
        }
    }

    /// The next ones are not delayed, as at the start of a connection; `limit` as for [`QuickAcks::restart`].
    #[cold]
    pub(super) fn one_by_one(&mut self, limit: Option<SegCount>) {
        self.quick.restart(limit);
        self.delayed.restart();
    }

    /// The first mark has come after segments without, or the repair of a segment that may have been dropped where others are marked.
    pub(super) fn on_mark(&mut self) {
        self.quick.on_mark();
        self.is_interactive = false;
    }

    /// It leaves; `has_data`: and application data have come before.
    #[inline]
    pub(super) fn on_ack(&mut self, has_data: bool) {
        self.on_plain_ack();
        if has_data && self.quick.on_ack() {
            self.delayed.restart();
        }
    }

    /// The same where none but the delay of a timer is possible.
    #[inline]
    pub(super) fn on_plain_ack(&mut self) {
        self.unacknowledged = SegCount::ZERO;
        self.timer = EventKey::NEVER;
    }

    /// It leaves with what it says of segments out of order.
    pub(super) fn on_selective_ack(&mut self) {
        if let Some(compression) = &mut self.compression {
            compression.on_ack();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Lineage;
    use crate::registry::{Params, Value};
    use crate::tcp::PARAMS;
    use crate::units::testing::at;

    fn with(settings: &[(&'static str, Value)]) -> Acknowledgement {
        let mut params = Params::defaults(PARAMS);
        for (key, value) in settings {
            params.set(key, *value);
        }
        Acknowledgement::new(&Config::from(&params))
    }

    #[test]
    fn rfc5681_4_2_every_second_segment_is_acknowledged() {
        let mut owed = with(&[]);
        let mut due = || {
            let due = owed.is_due();
            if due {
                owed.on_ack(true);
            }
            due
        };
        assert_eq!([due(), due(), due(), due()], [false, true, false, true]);
    }

    #[test]
    fn rfc9293_3_8_6_3_one_that_waits_is_due_after_less_than_half_a_second_and_once() {
        let mut owed = with(&[]);
        let mut lineage = Lineage::new();
        owed.delay(lineage.record(EventKey::at_start(at(1.0), 0)));
        owed.delay(lineage.record(EventKey::at_start(at(1.1), 0)));
        assert_eq!(owed.timer().time, at(1.2), "as long as the first may wait");
        owed.on_ack(true);
        assert!(owed.timer().is_never());
    }

    #[test]
    fn the_first_acknowledgements_are_not_delayed_from_the_first_data_on() {
        let mut owed = with(&[("quick_acks", Value::Integer(2))]);
        // The SYN's answer is none of them.
        owed.on_ack(false);
        for due in [true, true, false] {
            assert_eq!(owed.is_due(), due);
            owed.on_ack(true);
        }
    }

    #[test]
    fn nothing_is_eager_while_acknowledgements_wait_for_an_answer() {
        let on = Value::Bool(true);
        let mut owed = with(&[("push_acks", on), ("interactive_acks", on)]);
        owed.delayed.on_arrival(Instant::from_secs(1.0), true);
        assert!(owed.is_eager(true));
        owed.on_answer(Instant::from_secs(1.1));
        assert!(!owed.is_eager(true));
        owed.on_expiry();
        assert!(owed.is_eager(true));
        assert!(!owed.is_eager(false));
    }
}
