//! The plain way of an acknowledgement: new data has arrived, nothing is being repaired, and windows alone say how many full segments leave.
//!
//! What happens then is the same with every recovery that counts duplicate acknowledgements (`dupacks.rs`): a round trip may have been measured (RFC 6298 §3), the retransmission
//! timer is restarted (§5.3), the window grows (RFC 5681 §3.1), and what it has room for leaves. Whatever else a connection may do at an acknowledgement cannot come up,
//! because that was looked at when the sender last stopped: so it takes one step instead of a question for every segment.
//!
//! Anything else that happens to a sender ends with its stopping again. A switch turns this off ([`Shortcuts::plain_way`](crate::spec::Shortcuts)); records do not depend on it.

use super::LossRecovery;
use super::dupacks::NewlyAcked;
use crate::cc;
use crate::events::Event;
use crate::tcp::params::{Config, RecoveryKind};
use crate::tcp::scoreboard::Range;
use crate::tcp::sender::tx::{SendAllowance, Tx};
use crate::units::{ByteCount, SegCount, SeqNum};

/// How far a sender's plain way goes.
#[derive(Debug)]
pub struct PlainWay {
    /// Whether it has one at all.
    exists: bool,
    /// Segments before this one are full, end nothing and may be sent as far as the application and the receiver go; none if an acknowledgement may not be plain.
    until: SeqNum,
}

/// What a plain acknowledgement leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlainAck {
    /// These full segments leave, which may be none, and then the sender stops; nothing is said if what leaves has to be asked for.
    pub segments: Option<Range>,
    /// Whether the retransmission timer expires earlier than it would have.
    pub timer_is_earlier: bool,
}

/// Whether segments of a connection can differ in nothing but their numbers, whatever the recovery; `has_signals`: it takes note of marks.
pub(super) fn may_send_alike(config: &Config, has_signals: bool) -> bool {
    // What a policy with a timer decides, be the timer set or not, depends on the room that there was when the sender first stopped.
    !has_signals && config.window_limit_bytes.is_none() && config.partial.timer.is_none()
}

impl PlainWay {
    /// That of a new connection; `has_signals`: which takes note of marks.
    pub fn new(config: &Config, has_signals: bool) -> Self {
        Self {
            exists: !matches!(config.recovery, RecoveryKind::Rack | RecoveryKind::Fack)
                && may_send_alike(config, has_signals)
                && config.timestamps.is_none()
                && config.send_buffer_default.is_none(),
            until: SeqNum::ZERO,
        }
    }

    /// Whether there is one.
    pub fn exists(&self) -> bool {
        self.exists
    }

    /// There is none, whatever comes.
    pub fn close(&mut self) {
        self.exists = false;
        self.until = SeqNum::ZERO;
    }

    /// Looks whether the next acknowledgement may be plain, now that the sender stops.
    pub fn judge(&mut self, tx: &Tx, recovery: &LossRecovery) {
        let is_plain = self.exists
            && tx.seq.is_established()
            && tx.seq.nxt == tx.seq.max
            && tx.window.inflation.is_zero()
            && tx.sends_only_data()
            && recovery.is_calm(tx);
        let until = tx.app.full_until(&tx.seq);
        self.until = if is_plain && tx.seq.nxt < until {
            until
        } else {
            SeqNum::ZERO
        };
    }

    /// Whether an acknowledgement of everything before `next`, which says nothing else, is plain.
    #[inline(always)]
    pub fn takes(&self, tx: &Tx, next: SeqNum) -> bool {
        next < self.until && next > tx.seq.una
    }

    /// Such an acknowledgement arrives.
    #[inline(always)]
    pub fn on_ack(
        &self,
        tx: &mut Tx,
        recovery: &mut LossRecovery,
        now: Event,
        next: SeqNum,
    ) -> PlainAck {
        let acked = next - tx.seq.una;
        let flight_size = tx.seq.flight_size();
        let Some(dupacks) = recovery.dupacks() else {
            unreachable!("only recoveries that count duplicates have a plain way");
        };
        tx.announce(|| cc::AckArrival {
            now: now.time,
            acked,
            rtt: None,
            reports: false,
            window: ByteCount::MAX,
        });
        tx.seq.una = next;
        let rtt = dupacks.sample_timed(tx, now, next);
        let before = tx.timers.recovery.time;
        tx.timers.arm(now);
        let timer_is_earlier = tx.timers.recovery.time < before;
        let news = NewlyAcked {
            acked,
            flight_size,
            rtt,
            // Who takes note of marks has no plain way.
            marked: SegCount::ZERO,
        };
        news.grow(tx, now, true);
        let edge = next + tx.window.usable_without_inflation();
        let start = tx.seq.nxt;
        let end = start.max(edge);
        if edge >= self.until || end - start > Tx::AT_ONCE {
            tx.allowance = SendAllowance::Window;
            return PlainAck {
                segments: None,
                timer_is_earlier,
            };
        }
        if start < end {
            dupacks.time(start, now.time);
            tx.note_sent(end);
        }
        tx.limits.stop(now.time, tx.full_window());
        PlainAck {
            segments: Some(Range { start, end }),
            timer_is_earlier,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc;
    use crate::events::{EventKey, Lineage};
    use crate::packet::Ack;
    use crate::registry::{Params, Value};
    use crate::tcp::limits::SendLimit;
    use crate::tcp::sender::{Sender, SenderDraws};
    use crate::tcp::{PARAMS, recovery::testing};
    use crate::units::testing::at;
    use crate::units::{ByteCount, Duration, Instant};
    use proptest::prelude::*;

    /// A sender of NewReno or SACK with a window limit of 30 segments, which has sent its first ones.
    fn sender(recovery: &'static str, size: Option<ByteCount>, lineage: &mut Lineage) -> Sender {
        let limit = ("window_limit", Value::Bytes(30 * 1460));
        let config = testing::config(recovery, 4, &[limit]);
        let reno = cc::TABLE.iter().find(|entry| entry.name == "reno");
        let reno = reno.expect("reno is in the table");
        let params = Params::defaults(reno.params);
        let mut sender = Sender::new(config, reno.new, &params, size, SenderDraws::default());
        let now = lineage.record(EventKey::at_start(Instant::START, 0));
        sender.on_start(now);
        poll(&mut sender, now);
        sender
    }

    fn poll(sender: &mut Sender, now: Event) -> Vec<SeqNum> {
        std::iter::from_fn(|| sender.poll_transmit(now))
            .map(|data| data.seq)
            .collect()
    }

    /// What leaves at an acknowledgement by the plain way, if it takes it.
    fn plainly(sender: &mut Sender, now: Event, next: SeqNum) -> Option<Vec<SeqNum>> {
        if !sender.takes_plainly(now.time, next) {
            return None;
        }
        Some(match sender.on_plain_ack(now, next).segments {
            None => poll(sender, now),
            Some(range) => range.seqs().collect(),
        })
    }

    #[test]
    fn what_repairs_and_what_ends_is_not_plain() {
        assert!(PARAMS.iter().any(|param| param.name == "window_limit"));
        let mut lineage = Lineage::new();
        let mut one = sender("newreno", Some(ByteCount::new(8 * 1460)), &mut lineage);
        assert!(one.has_plain_way() && one.takes_plainly(at(0.1), SeqNum::new(2)));
        // Nothing new, all that there is, or after a timer.
        assert!(!one.takes_plainly(at(0.1), SeqNum::new(0)));
        assert!(!one.takes_plainly(at(0.1), SeqNum::new(7)));
        assert!(!one.takes_plainly(at(9.0), SeqNum::new(2)));
        let now = lineage.record(EventKey::at_start(at(0.1), 0));
        let repeated = Ack::default();
        one.on_segment(now, &repeated);
        poll(&mut one, now);
        assert!(
            !one.takes_plainly(at(0.1), SeqNum::new(2)),
            "one that repeats the last has come"
        );
        one.close_plain_way();
        assert!(!one.has_plain_way());
    }

    proptest! {
        /// Acknowledgements, of which some repeat the last, and timeouts: by the plain way where it is open, and never.
        #[test]
        fn the_plain_way_leads_to_what_asking_for_each_segment_leads_to(
            recovery in prop::sample::select(vec!["tahoe", "reno", "newreno", "sack"]),
            segments in prop::option::of(1_u64..400),
            steps in prop::collection::vec((0_u64..7, 1_u32..400), 1..200),
        ) {
            let mut lineage = Lineage::new();
            let size = segments.map(|count| ByteCount::new(1460 * count - 460));
            let mut plain = sender(recovery, size, &mut lineage);
            let mut general = sender(recovery, size, &mut lineage);
            general.close_plain_way();
            let mut time = 0.0;
            for (forward, later) in steps {
                time += f64::from(later) / 1e3;
                let now = lineage.record(EventKey::at_start(at(time), 0));
                let timer = plain.next_timer();
                prop_assert_eq!(timer.time, general.next_timer().time);
                if timer.time <= now.time {
                    plain.on_timer(now);
                    general.on_timer(now);
                    prop_assert_eq!(poll(&mut plain, now), poll(&mut general, now));
                    continue;
                }
                let outstanding = general.flight_size();
                let next = general.snd_una() + SegCount::new(forward).min(outstanding);
                let ack = Ack { next, ..Ack::default() };
                general.on_segment(now, &ack);
                let sent = plainly(&mut plain, now, next).unwrap_or_else(|| {
                    plain.on_segment(now, &ack);
                    poll(&mut plain, now)
                });
                prop_assert_eq!(sent, poll(&mut general, now));
                prop_assert_eq!(plain.cwnd(), general.cwnd());
                prop_assert_eq!(plain.counters(), general.counters());
            }
            plain.finish(at(time));
            general.finish(at(time));
            prop_assert_eq!(plain.mean_cwnd(Duration::from_secs(1.0)), general.mean_cwnd(Duration::from_secs(1.0)));
            for limit in SendLimit::ALL {
                prop_assert_eq!(plain.limits().spent_ns(limit), general.limits().spent_ns(limit));
            }
        }
    }
}
