//! One direction of a connection: what one end sent, and what the other acknowledged of it.
//!
//! **Model.** A passive observer keeps the numbers that it has seen, those that are acknowledged and what lies between with its times. All of it is bounded: by the
//! window, and where only one direction was captured by [`MOST_UNACKNOWLEDGED`].

use std::collections::VecDeque;
use std::ops::Range;

use super::feedback::{MarkSignal, ReportedMarks};
use super::loss::{Cause, SeenLosses};
use super::order::{Holes, Order, SegmentArrival};
use super::rtt::{RoundTrips, TimestampEchoes};
use super::sequence::{SequenceSpace, Stretches};
use crate::read::Sighting;
use crate::segment::Flags;

/// Beyond so many segments the oldest are not timed any more.
const MOST_UNACKNOWLEDGED: usize = 32_768;
/// A copy of a packet that comes after so many others is not told as one.
const MOST_RECENT: usize = 64;
/// A timer of retransmission runs for this at least, or a smoothed round trip if that is longer.
const LEAST_TIMER_NS: i64 = 180_000_000;
/// Duplicate acknowledgements that start a fast retransmission (RFC 5681 §3.2).
const AT_ONCE: u64 = 3;
/// The same while nothing has been acknowledged: mostly the other direction was not captured.
const MOST_WITHOUT_ANY: usize = 256;

/// One direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Half {
    space: Option<SequenceSpace>,
    seen: Stretches,
    /// Above all that was seen: SND.NXT as far as it is known.
    next: i64,
    /// SND.UNA; nothing before the first acknowledgement.
    una: Option<i64>,
    sacked: Stretches,
    unacknowledged: VecDeque<UnacknowledgedSegment>,
    /// When the first unacknowledged byte was last sent again since it is the first.
    first_again_ns: Option<i64>,
    /// The last packets with data, first number and identification: of a copy the first may be acknowledged by now.
    recent: VecDeque<(i64, u16)>,
    holes: Holes,
    pub window: Window,
    pub round_trips: RoundTrips,
    pub timestamp_round_trips: RoundTrips,
    /// Of this end's packets: what echoes them is the other end.
    pub echoes: TimestampEchoes,
    data_timestamps: TimestampEchoes,
    pub losses: SeenLosses,
    pub counts: Counts,
}

/// A segment that is not acknowledged.
#[derive(Clone, Debug)]
struct UnacknowledgedSegment {
    numbers: Range<i64>,
    sent_ns: i64,
    is_repeated: bool,
}

/// What the receiver of this direction said of its window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// Bits by which it is shifted; nothing if the SYNs that say it were not seen.
    pub scale: Option<u8>,
    pub largest_segment: Option<u16>,
    field: Option<u16>,
    /// The number that there is no room for.
    pub edge: Option<i64>,
}

/// Counts of one direction, by the names of their columns.
#[derive(Clone, Debug, Default)]
pub(super) struct Counts {
    pub sent: Sent,
    pub again: Again,
    pub acknowledged: Acknowledged,
    pub missed_bytes: i64,
    pub max_flight: i64,
    pub syn_ns: Option<i64>,
    /// The number after it.
    pub fin: Option<i64>,
    pub is_reset: bool,
    /// When the last data was acknowledged.
    pub acked_ns: Option<i64>,
}

/// What was sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Sent {
    pub packets: u64,
    pub data_packets: u64,
    pub bytes: u64,
    pub unique_bytes: i64,
    pub ip_bytes: u64,
    pub ce: u64,
    pub ect: u64,
    pub cwr: u64,
}

/// What was not just the next segment.
#[derive(Clone, Debug, Default)]
pub(super) struct Again {
    pub retransmits: u64,
    pub bytes: i64,
    pub unseen: u64,
    pub needless: u64,
    pub reordered: u64,
    pub duplicated: u64,
    pub probes: u64,
}

/// What acknowledgements said.
#[derive(Clone, Debug, Default)]
pub(super) struct Acknowledged {
    pub dupacks: u64,
    pub sacks: u64,
    pub blocks: u64,
    pub dsacks: u64,
    pub ecn_signals: u64,
    pub marks: ReportedMarks,
    pub zero_windows: u64,
    /// Of some the capture has not all options: how many had SACK blocks is not known.
    pub are_options_cut: bool,
    /// Duplicates since the last progress.
    dupacks_in_row: u64,
    /// Data came since the last acknowledgement.
    is_due: bool,
}

/// What is told of a packet besides counting it: for the table `marks`.
pub(super) struct Note {
    pub kind: &'static str,
    pub numbers: Range<i64>,
}

/// What a packet made known.
#[derive(Default)]
pub(super) struct Step {
    pub notes: Vec<Note>,
    /// Numbers that were sent for the first time.
    pub fresh: Option<Range<i64>>,
    pub rtt_ns: Option<i64>,
    /// Data was sent, or acknowledged for the first time.
    pub is_progress: bool,
    /// Of a retransmission, that it came after a silence.
    pub is_timeout: bool,
}

impl Step {
    fn note(&mut self, kind: &'static str, numbers: Range<i64>) {
        self.notes.push(Note { kind, numbers });
    }
}

/// What is known of the connection when a segment is sent, ns.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings {
    /// Since the last packet of the other end.
    pub unheard: i64,
    /// Since the last packet of either.
    pub silence: i64,
    /// What the sender takes to answer, at the place of the capture.
    pub sender_side: i64,
    /// What the segment says of marks.
    pub signal: MarkSignal,
    /// Whether both ends permitted SACK, as far as is known.
    pub has_sack: bool,
}

impl Half {
    /// Sent, and not cumulatively acknowledged.
    pub(super) fn flight(&self) -> i64 {
        self.una.map_or(0, |una| self.next - una)
    }

    pub(super) fn acked(&self) -> Option<i64> {
        self.una.map(|una| una.max(0))
    }

    pub(super) fn sacked(&self) -> i64 {
        self.sacked.count()
    }

    /// Whether all that was seen is acknowledged, the FIN included.
    pub(super) fn is_all_acked(&self) -> bool {
        self.una.is_some_and(|una| una >= self.next)
    }

    /// Bytes of payload that are acknowledged: a FIN takes a number (RFC 9293 §3.4).
    pub(super) fn delivered(&self) -> Option<i64> {
        let is_over = |acked| self.counts.fin.is_some_and(|fin| acked >= fin);
        self.acked().map(|acked| acked - i64::from(is_over(acked)))
    }

    /// Whether all from the SYN to the FIN is acknowledged.
    pub(super) fn is_complete(&self) -> bool {
        let is_over = |acked| self.counts.fin.is_some_and(|fin| acked >= fin);
        self.counts.syn_ns.is_some() && self.acked().is_some_and(is_over)
    }

    /// Whether this SYN begins another connection than the one that was seen.
    pub(super) fn is_other_beginning(&self, seq: u32) -> bool {
        self.space.is_some_and(|space| space.near(seq) != -1)
    }

    /// The end whose numbers these are sent a segment.
    pub(super) fn on_sent(&mut self, sighting: &Sighting, around: Surroundings, step: &mut Step) {
        let (segment, time) = (&sighting.segment, sighting.time_ns);
        let has = |flag| segment.flags.has(flag);
        let sent = &mut self.counts.sent;
        sent.packets += 1;
        sent.ip_bytes += u64::from(sighting.ip_bytes);
        sent.ect += u64::from(segment.ecn != 0);
        sent.cwr += u64::from(has(Flags::CWR) && around.signal == MarkSignal::Bits);
        if let Some((value, _)) = segment.options.timestamps {
            self.echoes.sent(value, time);
        }
        let origin = segment.seq.wrapping_add(u32::from(has(Flags::SYN)));
        let is_first = self.space.is_none();
        let space = self
            .space
            .get_or_insert_with(|| SequenceSpace::beginning_at(origin));
        let start = space.unwrap(segment.seq);
        let length = i64::from(segment.sequence_length());
        if is_first {
            self.next = start;
        }
        let numbers = start..start + length;
        if segment.ecn == 3 {
            self.counts.sent.ce += 1;
            step.note("ce", numbers.clone());
        }
        if has(Flags::RST) {
            self.counts.is_reset = true;
            step.note("reset", numbers);
            return;
        }
        // A keep-alive, or a probe of a closed window: one number below the next, with a byte or none (RFC 9293 §3.8.4).
        // A byte that waits for its acknowledgement, and for which there is room, is sent again.
        let is_asking = segment.payload == 0
            || self.una.is_some_and(|una| una > start)
            || self.window.field == Some(0);
        let is_old_byte = start == self.next - 1 && segment.payload <= 1;
        if is_old_byte && is_asking && !is_first && !has(Flags::SYN) && !has(Flags::FIN) {
            self.counts.again.probes += 1;
            step.note("probe", numbers);
            return;
        }
        if length == 0 {
            return;
        }
        if has(Flags::SYN) {
            self.counts.syn_ns.get_or_insert(time);
            step.note("syn", numbers.clone());
        }
        if has(Flags::FIN) {
            self.counts.fin = Some(numbers.end);
            step.note("fin", numbers.clone());
        }
        self.on_numbers(sighting, numbers, around, step);
    }

    /// Numbers were sent.
    fn on_numbers(
        &mut self,
        sighting: &Sighting,
        numbers: Range<i64>,
        around: Surroundings,
        step: &mut Step,
    ) {
        let (time, payload) = (sighting.time_ns, i64::from(sighting.segment.payload));
        step.is_progress = true;
        self.counts.sent.data_packets += u64::from(payload > 0);
        self.counts.sent.bytes += u64::from(sighting.segment.payload);
        self.counts.acknowledged.is_due = true;
        let timestamp = sighting.segment.options.timestamps.map(|(value, _)| value);
        if let Some(value) = timestamp {
            self.data_timestamps.sent(value, time);
        }
        let order = Order {
            timestamp,
            ip_id: sighting.ip_id,
        };
        let arrival = self.arrival(&numbers, time, order, around);
        if let Some(id) = order.ip_id {
            if self.recent.len() == MOST_RECENT {
                self.recent.pop_front();
            }
            self.recent.push_back((numbers.start, id));
        }
        // What is acknowledged has been seen, or missed.
        let floor = self.una.unwrap_or(i64::MIN).max(numbers.start);
        let fresh = self.seen.add(floor..numbers.end);
        let flags = numbers.end - numbers.start - payload;
        self.counts.sent.unique_bytes += (fresh - flags.min(fresh)).max(0);
        let before = self.next;
        match arrival {
            SegmentArrival::Next => {
                step.fresh = Some(numbers.clone());
                self.holes.went_on(before..numbers.start, time, order);
            }
            SegmentArrival::Late => {
                self.counts.again.reordered += 1;
                step.note("reordered", numbers.clone());
            }
            SegmentArrival::Twice => {
                self.counts.again.duplicated += 1;
                step.note("duplicate", numbers.clone());
                return;
            }
            SegmentArrival::Again { unseen } => {
                self.on_retransmission(&numbers, unseen, time, around, step);
                let again = numbers.end - numbers.start - if unseen { 0 } else { fresh };
                self.counts.again.bytes += again.min(payload);
            }
        }
        self.next = self.next.max(numbers.end);
        self.time(numbers, time, arrival);
        self.counts.max_flight = self.counts.max_flight.max(self.flight());
    }

    fn arrival(
        &self,
        numbers: &Range<i64>,
        time: i64,
        order: Order,
        around: Surroundings,
    ) -> SegmentArrival {
        if numbers.start >= self.next {
            return SegmentArrival::Next;
        }
        let is_acked = self.una.is_some_and(|una| numbers.start < una);
        if is_acked || self.seen.within(numbers) > 0 {
            let is_copy =
                |(start, id): &(i64, u16)| *start == numbers.start && Some(*id) == order.ip_id;
            let is_same = self.recent.iter().any(is_copy);
            return if is_same {
                SegmentArrival::Twice
            } else {
                SegmentArrival::Again { unseen: false }
            };
        }
        // In less than a round trip the sender cannot have heard of a hole; where that is not known, in 3 ms.
        let patience = self.round_trips.least_ns().unwrap_or(0) + around.sender_side;
        let patience = if patience == 0 {
            3_000_000
        } else {
            patience * 9 / 10
        };
        self.holes.arrival(numbers.start, time, order, patience)
    }

    fn on_retransmission(
        &mut self,
        numbers: &Range<i64>,
        unseen: bool,
        time: i64,
        around: Surroundings,
        step: &mut Step,
    ) {
        let again = &mut self.counts.again;
        again.retransmits += 1;
        again.unseen += u64::from(unseen);
        if self.una.is_some_and(|una| numbers.end <= una) {
            again.needless += 1;
            step.note("needless", numbers.clone());
        } else {
            step.note("retransmission", numbers.clone());
        }
        let cause = self.cause(numbers, time, around);
        if self.una.is_none_or(|una| numbers.start <= una) {
            self.first_again_ns = Some(time);
        }
        step.is_timeout = cause == Cause::Timer;
        let flight = self.flight();
        let dupacks = self.counts.acknowledged.dupacks_in_row;
        self.losses.on_retransmission(
            time,
            cause,
            super::loss::Beginning {
                recovery_point: self.next.max(numbers.end),
                flight,
                dupacks,
                silence_ns: around.silence,
            },
        );
    }

    /// Whether the newest segment may be sent again as a probe: with SACK (RFC 8985 §4), outside of recovery, and after two smoothed round trips or a timeout of retransmission without an
    /// acknowledgement (§7.2), which is a smoothed round trip at least (RFC 6298 §2.3). After a timeout, and in a recovery by partial acknowledgements (RFC 6582), the newest is sent again, too, as the last of many.
    fn may_probe(&self, around: Surroundings) -> bool {
        let least = self.round_trips.smoothed_ns().unwrap_or(0) + around.sender_side;
        around.has_sack && !self.losses.is_open() && around.unheard >= least
    }

    /// What made the sender send again: a timer where nothing had been heard for so long as timers wait at least, else what was heard.
    ///
    /// Without SACK duplicate acknowledgements go on to come while a timer runs, which they do not begin anew. They cannot have made the sender send if they were fewer than three, or came a
    /// round trip ago, nor in a recovery: that goes on with what is new (RFC 6582). Nor is the first unacknowledged byte sent twice before something is acknowledged, but by a timer.
    fn cause(&self, numbers: &Range<i64>, time: i64, around: Surroundings) -> Cause {
        let round_trip = self.round_trips.smoothed_ns().unwrap_or(0) + around.sender_side;
        let least_timer = round_trip.max(LEAST_TIMER_NS + around.sender_side);
        let is_silent = around.unheard >= least_timer;
        let is_first = self.una.is_none_or(|una| numbers.start <= una);
        let dupacks = self.counts.acknowledged.dupacks_in_row;
        let is_no_answer =
            self.losses.is_open() || dupacks < AT_ONCE || around.unheard >= round_trip;
        let is_slow = is_no_answer && self.waited(time) >= least_timer;
        let is_repeated = self.losses.is_open() && self.first_again_ns.is_some();
        if is_first && (is_silent || self.lacks_sack(around) && (is_slow || is_repeated)) {
            Cause::Timer
        } else if numbers.end >= self.next && !is_first && dupacks == 0 && self.may_probe(around) {
            Cause::Probe
        } else if !self.sacked.is_empty() {
            Cause::Sack
        } else if dupacks > 0 {
            Cause::Dupack
        } else if is_silent {
            Cause::Timer
        } else {
            Cause::Unseen
        }
    }

    /// Whether the connection has no SACK: as both ends said, or as none of the first three duplicate acknowledgements has it.
    fn lacks_sack(&self, around: Surroundings) -> bool {
        let acks = &self.counts.acknowledged;
        !around.has_sack || (acks.sacks == 0 && acks.dupacks >= AT_ONCE && !acks.are_options_cut)
    }

    /// For how long the timer of retransmission has run: it begins anew with what is acknowledged and with what is sent again (RFC 6298 §5).
    fn waited(&self, time: i64) -> i64 {
        let sent = self.unacknowledged.front().map_or(0, |first| first.sent_ns);
        let acked = self.counts.acked_ns.unwrap_or(0);
        time - self.first_again_ns.unwrap_or(0).max(sent).max(acked)
    }

    /// Keeps when the segment was sent, or that it was sent again.
    fn time(&mut self, numbers: Range<i64>, time: i64, arrival: SegmentArrival) {
        let is_repeated = matches!(arrival, SegmentArrival::Again { .. });
        let first = self
            .unacknowledged
            .partition_point(|each| each.numbers.end <= numbers.start);
        let mut covered = numbers.start;
        let mut after = first;
        while let Some(each) = self.unacknowledged.get_mut(after) {
            if each.numbers.start >= numbers.end {
                break;
            }
            each.is_repeated |= is_repeated;
            covered = covered.max(each.numbers.end);
            after += 1;
        }
        if covered >= numbers.end {
            return;
        }
        let most = if self.una.is_some() {
            MOST_UNACKNOWLEDGED
        } else {
            MOST_WITHOUT_ANY
        };
        let flying = UnacknowledgedSegment {
            numbers: covered..numbers.end,
            sent_ns: time,
            is_repeated,
        };
        self.unacknowledged.insert(after, flying);
        if self.unacknowledged.len() > most {
            self.unacknowledged.pop_front();
        }
    }

    /// The other end sent a segment, with its acknowledgement, window and blocks.
    pub(super) fn on_acknowledgement(
        &mut self,
        sighting: &Sighting,
        signal: MarkSignal,
        step: &mut Step,
    ) {
        let segment = &sighting.segment;
        let has = |flag| segment.flags.has(flag);
        if !has(Flags::ACK) || has(Flags::RST) {
            return;
        }
        self.counts.acknowledged.are_options_cut |= sighting.are_options_cut;
        if self.space.is_none() {
            self.space = Some(SequenceSpace::beginning_at(segment.ack));
        }
        let space = self.space.as_mut().expect("it was given one just now");
        let ack = space.near(segment.ack);
        if self.una.is_some_and(|una| ack < una) {
            // An old acknowledgement says nothing new.
            return;
        }
        let is_duplicate = self.is_duplicate(sighting, ack);
        self.counts.acknowledged.is_due = false;
        let acks = &mut self.counts.acknowledged;
        let is_whole = self.counts.syn_ns.is_some();
        acks.ecn_signals += u64::from(match signal {
            MarkSignal::Handshake => false,
            MarkSignal::Bits => has(Flags::ECE),
            MarkSignal::Counter(count) => acks.marks.take(segment, count, is_whole),
        });
        self.on_blocks(sighting, ack, step);
        if is_duplicate {
            self.counts.acknowledged.dupacks += 1;
            self.counts.acknowledged.dupacks_in_row += 1;
        }
        if self.una.is_none_or(|una| ack > una) {
            self.on_progress(sighting, ack, step);
        }
        self.on_window(sighting, ack, step);
    }

    /// RFC 5681 §2: data is outstanding, and neither data, SYN nor FIN, nor another number or window is in it.
    ///
    /// At the receiver all that came may be acknowledged, while the sender, who does not know that yet, has sent it again: then this answers it.
    fn is_duplicate(&self, sighting: &Sighting, ack: i64) -> bool {
        let segment = &sighting.segment;
        let is_outstanding = |una| self.next > una || self.counts.acknowledged.is_due;
        self.una
            .is_some_and(|una| ack == una && is_outstanding(una))
            && segment.sequence_length() == 0
            && self.window.field == Some(segment.window)
    }

    fn on_blocks(&mut self, sighting: &Sighting, ack: i64, step: &mut Step) {
        let blocks = &sighting.segment.options.sack;
        if blocks.is_empty() {
            return;
        }
        let Some(space) = &self.space else { return };
        let full: Vec<Range<i64>> = blocks
            .iter()
            .map(|(left, right)| space.near(*left)..space.near(*right))
            .collect();
        let counts = &mut self.counts.acknowledged;
        counts.sacks += 1;
        counts.blocks += full.len() as u64;
        // RFC 2883 §4: the first block is below the acknowledgement, or within the second.
        let first = &full[0];
        let is_within = full
            .get(1)
            .is_some_and(|second| second.start <= first.start && first.end <= second.end);
        let reports_duplicate = first.end <= ack || is_within;
        if reports_duplicate {
            counts.dsacks += 1;
            step.note("dsack", first.clone());
        }
        for block in full.iter().skip(usize::from(reports_duplicate)) {
            let above = block.start.max(ack)..block.end;
            // Blocks of what was never sent are damage, or an attack.
            if !above.is_empty() && above.end <= self.next && self.sacked.add(above.clone()) > 0 {
                step.note("sack", above);
            }
        }
    }

    fn on_progress(&mut self, sighting: &Sighting, ack: i64, step: &mut Step) {
        let time = sighting.time_ns;
        let una = self.una.unwrap_or(ack.min(self.next));
        step.is_progress |= ack > una;
        let mut newest = None;
        let mut is_repeated = false;
        while let Some(front) = self.unacknowledged.front_mut() {
            if front.numbers.start >= ack {
                break;
            }
            is_repeated |= front.is_repeated;
            newest = Some(front.sent_ns);
            if front.numbers.end > ack {
                front.numbers.start = ack;
                break;
            }
            self.unacknowledged.pop_front();
        }
        // Karn's rule (RFC 6298 §3), of all that this acknowledges: what waited for a retransmission tells no round trip.
        if let Some(sent) = newest.filter(|_| !is_repeated) {
            self.round_trips.add(time - sent);
            step.rtt_ns = Some((time - sent).max(0));
        }
        if let Some((_, echo)) = sighting.segment.options.timestamps
            && let Some(sample) = self.data_timestamps.echoed(echo, time)
        {
            self.timestamp_round_trips.add(sample);
        }
        // What came before the first acknowledgement that the capture has, it could not see.
        if let Some(una) = self.una {
            let known = self.seen.within(&(una..ack));
            self.counts.missed_bytes += ack - una - known;
        }
        self.next = self.next.max(ack);
        if let Some(space) = &mut self.space {
            space.unwrap(sighting.segment.ack);
        }
        self.seen.forget_below(ack);
        self.sacked.forget_below(ack);
        self.holes.forget_below(ack);
        self.una = Some(ack);
        self.first_again_ns = None;
        self.counts.acknowledged.dupacks_in_row = 0;
        self.counts.acked_ns = Some(time);
        self.losses.on_progress(ack, time);
    }

    fn on_window(&mut self, sighting: &Sighting, ack: i64, step: &mut Step) {
        let segment = &sighting.segment;
        let is_syn = segment.flags.has(Flags::SYN);
        let was_open = self.window.field != Some(0);
        self.window.field = Some(segment.window);
        if segment.window == 0 && was_open && !is_syn {
            self.counts.acknowledged.zero_windows += 1;
            step.note("zero_window", ack..ack);
        }
        // The window of a SYN is never shifted (RFC 7323 §2.2).
        let shift = match self.window.scale {
            _ if is_syn => Some(0),
            scale => scale.map(|scale| scale.min(14)),
        };
        self.window.edge = shift.map(|shift| ack + (i64::from(segment.window) << shift));
    }
}
