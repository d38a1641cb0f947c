//! How a receiver closes: its application has read everything up to the other side's FIN, and closes, too.
//!
//! Specifications: RFC 9293 §3.6 (from CLOSE-WAIT to LAST-ACK: a FIN of its own, which the other side acknowledges), RFC 6298 §5 (it is sent again until that comes). As measured of Linux 6.1, of 207
//! transfers: the segment with the other side's FIN is acknowledged by the receiver's own, even where nothing is delayed otherwise. It has an acknowledgement of its own if another segment waits
//! for one, or it is full, which with the FIN is more than a segment; if it fills a hole; or if a mark is to be echoed.
//! The first that is sent again is a probe where the sender has these (RFC 8985 §7.2), or else a timeout, and the timeout doubles from the next on; the receiver knows the handshake's round trip.

use super::Receiver;
use crate::events::{Child, Event, EventKey};
use crate::packet::{Ack, DataSegment};
use crate::tcp::params::Config;
use crate::tcp::ticks::Ticks;
use crate::units::{ByteCount, Duration, Instant, SeqNum};

/// By so much a timeout grows that no run is long enough for.
const MOST_DOUBLINGS: u32 = 16;

/// The acknowledgement with a FIN that leaves when all of the other side's data has come and its FIN, after the answer to that: then the application closes, too.
pub fn close(receiver: &mut Receiver, now: Event) -> Option<Ack> {
    let next = receiver.rcv_nxt();
    let closing = receiver.closing.as_ref();
    let is_due = closing.is_some_and(|closing| closing.is_due(next));
    is_due.then(|| send_fin(receiver, now))
}

/// Whether what is due next is that the FIN is sent again, by [`send_fin`].
pub fn awaits_answer(receiver: &Receiver) -> bool {
    let closing = receiver.closing.as_ref();
    closing.is_some_and(|closing| closing.is_waiting())
}

/// The FIN leaves.
pub fn send_fin(receiver: &mut Receiver, now: Event) -> Ack {
    let ack = receiver.acknowledge(now.time, None);
    if let Some(closing) = &mut receiver.closing {
        let acknowledgement = &mut receiver.acknowledgement;
        let due = acknowledgement.delayed.expiry_of_fin(now.time, closing);
        closing.on_sent(now, due);
        acknowledgement.restart_timer(closing.timer());
    }
    Ack { fin: true, ..ack }
}

/// What waits for an answer goes on waiting when something else is acknowledged.
#[cold]
#[inline(never)]
pub(super) fn wait_on(receiver: &mut Receiver) {
    if let Some(closing) = &receiver.closing
        && closing.is_waiting()
    {
        receiver.acknowledgement.restart_timer(closing.timer());
    }
}

/// A segment comes with the other side's FIN, or what answers the receiver's own. `at_once`: its mark says that it is acknowledged at once.
#[cold]
#[inline(never)]
pub(super) fn note_fin(receiver: &mut Receiver, data: DataSegment, at_once: bool) {
    let acknowledgement = &mut receiver.acknowledgement;
    let is_only_one =
        receiver.reassembly.is_next(data.seq) && acknowledgement.owes_nothing() && !at_once;
    let Some(closing) = &mut receiver.closing else {
        return;
    };
    closing.answers = is_only_one && !closing.is_more_than_a_segment(data);
    closing.note_fin(data);
    receiver.ends = true;
    if data.is_ack_alone() {
        acknowledgement.restart_timer(EventKey::NEVER);
    }
}

/// Whether the receiver's own FIN is the only answer to the other side's, so that no other leaves.
pub fn answers_by_fin(receiver: &Receiver) -> bool {
    let closing = receiver.closing.as_ref();
    closing.is_some_and(|closing| closing.answers)
}

/// The end of one receiver's connection.
#[derive(Debug)]
pub(super) struct PassiveClose {
    smss: ByteCount,
    /// Where there are probes, what one waits longer than two round trips.
    probe_max_ack_delay: Option<Duration>,
    /// The segment with the other side's FIN, once it has come.
    fin: Option<SeqNum>,
    /// The receiver's own answers it, and nothing else.
    answers: bool,
    sent: u32,
    /// When the receiver's own is sent again; nothing before it is sent, and when it has been acknowledged.
    timer: Option<EventKey>,
}

impl PassiveClose {
    /// Of a connection of which nothing has come yet, if its receiver closes.
    pub(super) fn of(config: &Config) -> Option<Box<Self>> {
        let probes = config.recovery.keeps_segments() && config.tail_loss_probe;
        (config.fin && config.fin_of_receiver).then(|| {
            Box::new(Self {
                smss: config.smss,
                probe_max_ack_delay: probes.then_some(config.probe_max_ack_delay),
                fin: None,
                answers: false,
                sent: 0,
                timer: None,
            })
        })
    }

    /// Whether what has come with the other side's FIN is more than a full segment.
    pub(super) fn is_more_than_a_segment(&self, data: DataSegment) -> bool {
        data.payload >= self.smss
    }

    /// A segment comes with a FIN, or as the answer to the receiver's own.
    pub(super) fn note_fin(&mut self, data: DataSegment) {
        if data.is_ack_alone() {
            self.timer = None;
        } else {
            self.fin = Some(data.seq);
        }
    }

    /// Whether the receiver's own FIN is to be sent for the first time, while `next` is expected.
    pub(super) fn is_due(&self, next: SeqNum) -> bool {
        self.sent == 0 && self.fin.is_some_and(|fin| fin < next)
    }

    /// It leaves, and again at `due` unless it is acknowledged before.
    pub(super) fn on_sent(&mut self, now: Event, due: Instant) {
        self.sent += 1;
        self.timer = Some(now.schedule(due, Child::Timer));
    }

    /// How long an answer is waited for, with this retransmission timeout, which is doubled in whole ticks, and smoothed round trip.
    pub(super) fn wait(&self, timeout: Duration, srtt: Option<Duration>, ticks: Ticks) -> Duration {
        let doubled = |times: u32| match times {
            0 => timeout,
            _ => ticks.whole(timeout) * f64::from(1_u32 << times.min(MOST_DOUBLINGS)),
        };
        match self.probe_max_ack_delay {
            None => doubled(self.sent),
            Some(_) if self.sent > 0 => doubled(self.sent - 1),
            Some(delay) => srtt.map_or(timeout, |srtt| timeout.min(srtt * 2.0 + delay)),
        }
    }

    /// Whether it has been sent, and not been acknowledged.
    pub(super) fn is_waiting(&self) -> bool {
        self.timer.is_some()
    }

    /// When it is sent again.
    pub(super) fn timer(&self) -> EventKey {
        self.timer.unwrap_or(EventKey::NEVER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Lineage;
    use crate::registry::{Params, Value};
    use crate::tcp::PARAMS;
    use crate::units::testing::{at, bytes, secs, seq};

    fn closing(settings: &[(&'static str, Value)]) -> PassiveClose {
        let mut params = Params::defaults(PARAMS);
        params.set("fin_of_receiver", Value::Bool(true));
        for (key, value) in settings {
            params.set(key, *value);
        }
        *PassiveClose::of(&Config::from(&params)).expect("it closes")
    }

    fn waits(closing: &mut PassiveClose, timeout: f64, srtt: f64) -> [f64; 3] {
        let mut lineage = Lineage::new();
        let now = lineage.record(EventKey::at_start(at(1.0), 0));
        let ticks = Config::from(&Params::defaults(PARAMS)).receiver_tick;
        [(); 3].map(|()| {
            let wait = closing.wait(secs(timeout), Some(secs(srtt)), ticks);
            closing.on_sent(now, now.time + wait);
            wait.secs()
        })
    }

    #[test]
    fn it_closes_when_everything_up_to_the_other_sides_fin_has_come_and_once() {
        let mut closing = closing(&[]);
        closing.note_fin(DataSegment {
            seq: seq(7),
            fin: true,
            ..DataSegment::default()
        });
        assert!(!closing.is_due(seq(7)));
        assert!(closing.is_due(seq(8)));
        waits(&mut closing, 1.0, 0.1);
        assert!(closing.is_waiting() && !closing.is_due(seq(8)));
        closing.note_fin(DataSegment::ANSWER_TO_FIN);
        assert!(!closing.is_waiting() && closing.timer().is_never());
        assert!(!closing.is_due(seq(8)), "it has been");
    }

    #[test]
    fn rfc6298_5_5_the_timeout_doubles_and_where_there_are_probes_one_goes_before() {
        assert_eq!(waits(&mut closing(&[]), 0.5, 0.1), [0.5, 1.0, 2.0]);
        // Measured of Linux 6.1 with round trips of 140 and 500 ms: 0.42, 0.44 and 0.90 s; 1.22, 1.52 and 3.04 s, with the tick that a timer waits for.
        let rack = [("recovery", Value::Choice("rack"))];
        assert_eq!(waits(&mut closing(&rack), 0.42, 0.14), [0.42, 0.42, 0.84]);
        assert_eq!(waits(&mut closing(&rack), 1.5, 0.5), [1.2, 1.5, 3.0]);
    }

    #[test]
    fn a_full_segment_with_a_fin_is_more_than_a_segment() {
        let closing = closing(&[("smss", Value::Bytes(1000))]);
        let more = |payload| {
            closing.is_more_than_a_segment(DataSegment {
                payload: bytes(payload),
                fin: true,
                ..DataSegment::default()
            })
        };
        assert!(more(1000) && !more(999));
    }
}
