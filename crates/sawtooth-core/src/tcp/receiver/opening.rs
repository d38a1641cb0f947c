//! How a receiver opens: it answers a SYN, and sends that answer again until it is acknowledged.
//!
//! Specifications: RFC 9293 §3.10.7.2 (a SYN is answered), RFC 6298 §5 (the answer is sent again), RFC 7323 §4.3 (which timestamp it repeats). With `resend_syn_ack` as measured of Linux 6.1 (`bench/linux`,
//! SYNs and answers dropped one by one):
//! - The answer leaves again after the initial timeout, which doubles with each answer that leaves by it; a SYN that comes again is answered, too, and starts the timer anew, as long as it was.
//! - All answers repeat the timestamp of the first SYN that has come.
//! - The round trip of the handshake is known if there was one answer, or else by timestamps, and not without them (Karn's algorithm, RFC 6298 §3).
//! - After five answers by the timer none follows (tcp(7), tcp_synack_retries).

use super::Receiver;
use crate::events::{Child, Event, EventKey};
use crate::packet::{Ack, DataSegment};
use crate::tcp::params::Config;
use crate::units::{Duration, Instant};

/// Answers that the timer sends at most.
const MOST_BY_TIMER: u8 = 5;

/// The handshake of a connection that the other side opens.
#[derive(Clone, Copy, Debug)]
pub(super) struct PassiveOpen {
    /// Answers are sent again.
    resends: bool,
    /// When the last one left, which has not been acknowledged; never, if there is none.
    answered: Instant,
    answers: u8,
    by_timer: u8,
}

impl PassiveOpen {
    /// Of a connection of which nothing has come yet.
    pub(super) fn new(config: &Config) -> Self {
        Self {
            resends: config.resend_syn_ack,
            answered: Instant::NEVER,
            answers: 0,
            by_timer: 0,
        }
    }

    /// Whether a SYN has been answered, and nobody has acknowledged that.
    #[inline]
    pub(super) fn is_waiting(&self) -> bool {
        self.answered < Instant::NEVER
    }

    /// Whether it waits and would send its answer again.
    #[inline]
    fn is_to_resend(&self) -> bool {
        self.resends && self.is_waiting()
    }

    fn answer(&mut self, now: Instant) {
        self.answered = now;
        self.answers = self.answers.saturating_add(1);
    }

    /// The timeout after the answers so far, from the initial one on.
    pub(super) fn timeout(self, initial: Duration) -> Duration {
        initial * f64::from(1_u32 << self.by_timer)
    }
}

/// Whether what is due next is that the answer to a SYN is sent again, by [`send_again`].
#[inline]
pub fn awaits_acknowledgement(receiver: &Receiver) -> bool {
    receiver.opening.is_to_resend()
}

/// A SYN comes.
#[cold]
#[inline(never)]
pub(super) fn note_syn(receiver: &mut Receiver, now: Event, data: DataSegment) {
    let is_known = receiver.opening.is_to_resend();
    if !is_known {
        receiver.echo.on_segment(data.seq, data.stamp);
    }
    receiver.opening.answer(now.time);
}

/// The answer to a SYN that has come again, if its timer runs.
pub(super) fn answer_again(receiver: &mut Receiver, now: Event, data: DataSegment) -> Option<Ack> {
    let is_known = data.is_syn() && receiver.opening.is_to_resend();
    is_known.then(|| repeated(receiver, now))
}

/// The timer has expired: the answer leaves again.
pub fn send_again(receiver: &mut Receiver, now: Event) -> Ack {
    receiver.opening.by_timer += 1;
    receiver.opening.answer(now.time);
    repeated(receiver, now)
}

/// The receiver's timer has expired: the answer leaves again, if that was it, or else what has been delayed.
pub fn on_timer(receiver: &mut Receiver, now: Event) -> Ack {
    if awaits_acknowledgement(receiver) {
        send_again(receiver, now)
    } else {
        receiver.on_timer()
    }
}

fn repeated(receiver: &mut Receiver, now: Event) -> Ack {
    let ack = receiver.acknowledge(now.time, None);
    start_timer(receiver, now);
    Ack { syn: true, ..ack }
}

/// An answer has left.
#[cold]
#[inline(never)]
pub(super) fn start_timer(receiver: &mut Receiver, now: Event) {
    let opening = receiver.opening;
    if opening.resends {
        let acknowledgement = &mut receiver.acknowledgement;
        let due = if opening.by_timer < MOST_BY_TIMER {
            let expiry = acknowledgement.delayed.expiry_of_syn(now.time, opening);
            now.schedule(expiry, Child::Timer)
        } else {
            EventKey::NEVER
        };
        acknowledgement.restart_timer(due);
    }
}

/// What follows a SYN comes, which acknowledges the answer.
#[cold]
#[inline(never)]
pub(super) fn establish(receiver: &mut Receiver, now: Instant, data: DataSegment) {
    let opening = receiver.opening;
    receiver.opening.answered = Instant::NEVER;
    if opening.resends {
        receiver.acknowledgement.restart_timer(EventKey::NEVER);
    }
    let delayed = &mut receiver.acknowledgement.delayed;
    if !opening.resends || opening.answers == 1 {
        let rtt = delayed.since(opening.answered, now);
        delayed.on_handshake(opening.answered, rtt);
    } else if let Some(buffer) = &receiver.buffer
        && let Some(rtt) = buffer.since(now, data.echo)
    {
        delayed.on_handshake(opening.answered, rtt);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Lineage;
    use crate::packet::DataSegment;
    use crate::registry::{Params, Value};
    use crate::tcp::PARAMS;
    use crate::tcp::timestamps::{Stamp, TimestampClock};
    use crate::units::testing::{at, secs};
    use crate::units::{ByteCount, SeqNum};

    /// A listener that sends its answer again, in ticks of a nanosecond, or does not.
    fn listener(resends: bool) -> Receiver {
        let mut params = Params::defaults(PARAMS);
        params.set("resend_syn_ack", Value::Bool(resends));
        params.set("timestamps", Value::Bool(true));
        params.set("receive_buffer_default", Value::Bytes(131_072));
        Receiver::new(&Config::from(&params))
    }

    fn stamp(time: f64) -> Stamp {
        TimestampClock::new(secs(1e-3)).stamp(at(time))
    }

    fn syn(time: f64) -> DataSegment {
        DataSegment {
            stamp: stamp(time),
            ..DataSegment::default()
        }
    }

    fn come(receiver: &mut Receiver, time: f64, data: DataSegment) -> Option<Ack> {
        let key = EventKey::at_start(at(time), 0);
        receiver.on_segment(Lineage::new().record(key), data)
    }

    /// The timer expires; what leaves then, and when.
    fn expire(receiver: &mut Receiver) -> (f64, Ack) {
        let due = receiver.next_timer();
        (
            due.time.secs(),
            send_again(receiver, Lineage::new().record(due)),
        )
    }

    #[test]
    fn rfc6298_5_the_answer_leaves_again_after_one_two_and_four_seconds_and_five_times() {
        let mut receiver = listener(true);
        let first = come(&mut receiver, 0.5, syn(0.4)).expect("an answer");
        assert!(!first.syn && first.next == SeqNum::new(1));
        for due in [1.5, 3.5, 7.5, 15.5, 31.5] {
            assert!(awaits_acknowledgement(&receiver));
            let (time, ack) = expire(&mut receiver);
            assert!((time - due).abs() < 1e-6, "{time}");
            assert!(ack.syn && ack.next == first.next && ack.echo == stamp(0.4));
        }
        assert!(receiver.next_timer().is_never());
    }

    #[test]
    fn a_syn_that_comes_again_is_answered_with_the_first_ones_time_and_the_wait_begins_anew() {
        let mut receiver = listener(true);
        come(&mut receiver, 0.5, syn(0.4));
        assert!((expire(&mut receiver).0 - 1.5).abs() < 1e-6);
        let again = come(&mut receiver, 2.0, syn(1.4)).expect("an answer");
        assert!(again.syn && again.echo == stamp(0.4));
        assert!((expire(&mut receiver).0 - 4.0).abs() < 1e-6);
    }

    #[test]
    fn rfc6298_3_of_more_than_one_answer_the_round_trip_is_known_by_timestamps_or_not() {
        let established = |answers: u32, echo: Stamp| {
            let mut receiver = listener(true);
            come(&mut receiver, 0.5, syn(0.4));
            for _ in 1..answers {
                expire(&mut receiver);
            }
            let ack = DataSegment {
                echo,
                ..DataSegment::HANDSHAKE_ACK
            };
            assert_eq!(come(&mut receiver, 2.0, ack), None);
            assert!(receiver.next_timer().is_never() && !awaits_acknowledgement(&receiver));
            let rtt = receiver.acknowledgement.delayed.rtt();
            rtt.map(|rtt| (rtt.secs() * 1e3).round())
        };
        assert_eq!(established(1, Stamp::NONE), Some(1500.0));
        // The receiver's own clock counts from 0.
        assert_eq!(established(2, Stamp::from_bits(1500)), Some(500.0));
        assert_eq!(established(2, Stamp::NONE), None);
    }

    #[test]
    fn data_end_the_wait_as_well_and_who_does_not_resend_has_none() {
        let data = DataSegment {
            seq: SeqNum::new(1),
            payload: ByteCount::new(1460),
            ..DataSegment::default()
        };
        let mut receiver = listener(true);
        come(&mut receiver, 0.5, syn(0.4));
        come(&mut receiver, 0.7, data);
        assert!(!awaits_acknowledgement(&receiver));
        let mut receiver = listener(false);
        come(&mut receiver, 0.5, syn(0.4));
        assert!(receiver.next_timer().is_never() && !awaits_acknowledgement(&receiver));
        // Another SYN is one more that it answers, with its own time.
        let again = come(&mut receiver, 1.5, syn(1.4)).expect("an answer");
        assert!(!again.syn && again.echo == stamp(1.4));
    }
}
