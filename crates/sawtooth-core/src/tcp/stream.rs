//! What the application has written, as segments.
//!
//! Specifications: RFC 9293 §3.8.6.2.1 (the sender's avoidance of silly windows), §3.6 (closing). When a short segment waits, [`super::partial`] says.
//!
//! **Model.** What is unsent is cut into full segments when it is sent, so writes coalesce while they wait, and at most the last segment is
//! short. A segment keeps the bytes with which it was first sent. Sequence numbers count segments, so it is enough to remember the short
//! ones (`short.rs`).
//!
//! **Silly windows.** Windows are whole segments, so a segment leaves whole or not at all: what §3.8.6.2.1 permits is rule (1), a full
//! segment, and rule (2), all that is queued, as far as the policy of partial packets does not object. Rules (3) and (4) are for windows smaller than
//! a segment.
//!
//! **FIN.** The application closes after its last write. If data is still waiting then, the last segment carries the FIN; or else it
//! is a segment of its own, without data. To close is also to push, as far as that policy does not object.

use super::partial::{Facts, PartialPolicy, PartialVerdict};
use super::short::{ShortSegment, ShortSegments};
use crate::units::{ByteCount, Instant, SegCount, SeqNum};

/// No segment.
const NONE: SeqNum = SeqNum::MAX;

/// More than is ever sent: what is written without end, so that its segments can be numbered even if they are of one byte.
const MOST: ByteCount = ByteCount::new(u64::MAX / 2);

/// The written part of a connection's data.
#[derive(Debug)]
pub struct SendStream {
    smss: ByteCount,
    /// What the last segment written carries.
    last: ByteCount,
    /// One past it: what is written ends here.
    end: SeqNum,
    /// The first segment with data.
    first: SeqNum,
    /// Short segments that are not the last.
    short: ShortSegments,
    /// One past the last short segment that has been sent.
    short_sent: SeqNum,
    partial: PartialPolicy,
    /// Of the last segment: whether the window had no room for it, once that has been decided; and whether it has waited long enough.
    found_no_room: Option<bool>,
    has_waited: bool,
    /// Whether it is put off until something leaves the machine (autocorking).
    put_off: bool,
    wants_fin: bool,
    /// The segment with the FIN.
    fin: SeqNum,
    closing: Closing,
    /// When the last segment there was, or one again, was sent: idleness begins.
    pub last_sent: Instant,
}

/// What has been written and not been acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unacked {
    pub bytes: ByteCount,
    pub segments: SegCount,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    Open,
    /// The application will close when TCP has sent what it may.
    Due,
    Closed,
}

impl SendStream {
    /// Nothing written; `first` is the first segment to have data.
    pub fn new(smss: ByteCount, first: SeqNum, partial: PartialPolicy, wants_fin: bool) -> Self {
        Self {
            smss,
            last: ByteCount::ZERO,
            end: first,
            first,
            short: ShortSegments::default(),
            short_sent: SeqNum::ZERO,
            partial,
            found_no_room: None,
            has_waited: false,
            put_off: false,
            wants_fin,
            fin: NONE,
            closing: Closing::Open,
            last_sent: Instant::LONG_AGO,
        }
    }

    /// The application writes, when everything below `snd_max` has been sent.
    pub fn write(&mut self, bytes: ByteCount, snd_una: SeqNum, snd_max: SeqNum) {
        if bytes.is_zero() {
            return;
        }
        if snd_max.max(self.first) == self.end {
            self.keep_last(snd_una);
        }
        if self.append(bytes, snd_max) {
            self.found_no_room = None;
            self.has_waited = false;
        }
    }

    /// What is unsent goes on for so many bytes; whether it has more segments then.
    fn append(&mut self, bytes: ByteCount, snd_max: SeqNum) -> bool {
        let next = snd_max.max(self.first);
        let total = self.unsent_if_full(snd_max).saturating_add(bytes).min(MOST);
        let full = (total - ByteCount::new(1)) / self.smss;
        self.last = total - full * self.smss;
        let before = std::mem::replace(&mut self.end, (next + full).next());
        self.end != before
    }

    /// Segment `seq` leaves now with `payload`, though others follow it: what it lacks goes on with them.
    #[cold]
    pub fn split(&mut self, seq: SeqNum, payload: ByteCount, snd_una: SeqNum, snd_max: SeqNum) {
        let lacking = self.smss - payload;
        self.short.on_ack(snd_una);
        self.short.push(ShortSegment { seq, lacking });
        self.short_sent = seq.next();
        if self.append(lacking, snd_max) && self.fin != NONE {
            self.fin = self.last_seq();
        }
    }

    /// Whether one short segment may leave before more is written, and no other until it is acknowledged.
    #[inline]
    pub fn may_split(&self, snd_una: SeqNum) -> bool {
        let verdict = |short_outstanding| {
            self.partial.verdict(Facts {
                outstanding: true,
                short_outstanding,
                put_off: self.put_off,
                ..Facts::default()
            })
        };
        snd_una >= self.short_sent
            && verdict(false) == PartialVerdict::Leaves
            && verdict(true) == PartialVerdict::Waits
    }

    /// What earlier segments lack of full ones that have not been acknowledged.
    #[inline]
    pub fn lacking_outstanding(&mut self, snd_una: SeqNum) -> ByteCount {
        if self.short.is_empty() {
            return ByteCount::ZERO;
        }
        self.short.on_ack(snd_una);
        self.short.iter().map(|short| short.lacking).sum()
    }

    /// Segments that are not full and that others follow, as far as they may be outstanding.
    pub fn short_ones(&self) -> impl Iterator<Item = SeqNum> {
        self.short.iter().map(|short| short.seq)
    }

    /// The application will write no more.
    pub fn close(&mut self) {
        if self.closing == Closing::Open {
            self.closing = Closing::Due;
        }
    }

    /// Close was requested and is not handled yet.
    #[inline]
    pub fn is_close_due(&self) -> bool {
        self.closing == Closing::Due
    }

    /// TCP has sent what it may, up to `snd_max`, and the application closes. The segment of a FIN that comes alone, if it does.
    pub fn act_on_close(&mut self, snd_una: SeqNum, snd_max: SeqNum) -> Option<SeqNum> {
        self.closing = Closing::Closed;
        if !self.wants_fin {
            return None;
        }
        let alone = snd_max.max(self.first) == self.end;
        if alone {
            self.keep_last(snd_una);
            self.last = ByteCount::ZERO;
            self.end = self.end.next();
        }
        self.fin = self.last_seq();
        alone.then_some(self.fin)
    }

    /// The last segment, which is sent, is going to be followed by another one.
    fn keep_last(&mut self, snd_una: SeqNum) {
        self.short.on_ack(snd_una);
        if self.end > self.first && self.last < self.smss {
            self.short.push(self.last_as_short());
        }
    }

    fn last_seq(&self) -> SeqNum {
        self.end - SegCount::ONE
    }

    /// The last segment, which may lack nothing.
    fn last_as_short(&self) -> ShortSegment {
        ShortSegment {
            seq: self.last_seq(),
            lacking: self.smss - self.last,
        }
    }

    fn is_last_short(&self) -> bool {
        !self.last.is_zero() && self.last < self.smss
    }

    /// A segment that is the last one there is leaves for the first time.
    pub fn on_last_sent(&mut self, now: Instant) {
        self.last_sent = now;
        if self.is_last_short() {
            self.short_sent = self.end;
        }
    }

    /// Whether the segment before `end`, which has not been sent, has to wait, because it is short.
    #[cold]
    pub fn is_last_held(&self, snd_una: SeqNum, snd_max: SeqNum) -> bool {
        self.verdict(snd_una, snd_max) != PartialVerdict::Leaves
    }

    /// Whether the policy of short segments has a timer.
    #[inline]
    pub fn is_timed(&self) -> bool {
        self.partial.timer.is_some()
    }

    /// Whether the segment before `end` waits for the timer.
    pub fn waits_for_timer(&self, snd_una: SeqNum, snd_max: SeqNum) -> bool {
        self.verdict(snd_una, snd_max) == PartialVerdict::WaitsForTimer
    }

    /// The sender stops, and the window has room up to `edge`: decides, for good, whether it had none for the last segment.
    pub fn judge(&mut self, edge: SeqNum) {
        self.found_no_room.get_or_insert(self.end > edge);
    }

    /// The last segment is not held back any more.
    pub fn end_wait(&mut self) {
        self.has_waited = true;
    }

    /// What is at the end is put off if it is short, or is not put off any more; whether it was.
    pub fn put_off(&mut self, put_off: bool) -> bool {
        std::mem::replace(&mut self.put_off, put_off)
    }

    /// What becomes of the segment before `end`, as far as that depends on its being short.
    fn verdict(&self, snd_una: SeqNum, snd_max: SeqNum) -> PartialVerdict {
        if !self.is_last_short() || snd_max >= self.end || self.has_waited {
            return PartialVerdict::Leaves;
        }
        self.partial.verdict(Facts {
            outstanding: snd_una < snd_max,
            short_outstanding: snd_una < self.short_sent,
            found_no_room: self.found_no_room.unwrap_or(false),
            closed: self.closing == Closing::Closed,
            put_off: self.put_off,
        })
    }

    /// One past the last segment that is written.
    #[inline]
    pub fn end(&self) -> SeqNum {
        self.end
    }

    /// The same without a FIN of its own.
    pub fn data_end(&self) -> SeqNum {
        let alone = self.fin != NONE && self.last.is_zero();
        self.end - SegCount::from(alone)
    }

    /// Whether the application has closed, and all its data has been acknowledged.
    pub fn is_delivered(&self, snd_una: SeqNum) -> bool {
        self.closing != Closing::Open && snd_una >= self.data_end()
    }

    /// Whether nothing of it is left to be acknowledged, nor will come: the FIN has been, too.
    pub fn is_finished(&self, snd_una: SeqNum) -> bool {
        self.closing == Closing::Closed && snd_una >= self.end
    }

    /// What a segment carries of the application's.
    #[inline]
    pub fn payload(&self, seq: SeqNum) -> ByteCount {
        if seq.next() == self.end {
            self.last
        } else if seq < self.first {
            ByteCount::ZERO
        } else if self.short.is_empty() {
            self.smss
        } else {
            self.payload_of_earlier(seq)
        }
    }

    /// Whether a segment before the last one is known to be short.
    pub fn has_short(&self) -> bool {
        !self.short.is_empty()
    }

    #[cold]
    fn payload_of_earlier(&self, seq: SeqNum) -> ByteCount {
        self.smss - self.short.lacking(seq)
    }

    /// Whether a segment carries the FIN.
    #[inline]
    pub fn has_fin(&self, seq: SeqNum) -> bool {
        seq == self.fin
    }

    /// Segments with data before `snd_una`.
    pub fn acked_segments(&self, snd_una: SeqNum) -> SegCount {
        snd_una.min(self.data_end()).saturating_sub(self.first)
    }

    /// What of the application's is before `snd_una`.
    pub fn acked(&self, snd_una: SeqNum) -> ByteCount {
        let segments = snd_una.saturating_sub(self.first);
        let last = if !segments.is_zero() && snd_una >= self.end {
            self.smss - self.last
        } else {
            ByteCount::ZERO
        };
        segments * self.smss - self.short.lacking_before(snd_una) - last
    }

    /// What the segments that are `chosen` lack together of full ones.
    pub fn lacking(&self, chosen: impl Fn(SeqNum) -> bool) -> ByteCount {
        let last = (self.end > self.first).then(|| self.last_as_short());
        let short = self.short.iter().chain(last);
        let lacking = short.filter(|short| chosen(short.seq));
        lacking.map(|short| short.lacking).sum()
    }

    /// What the last segment takes without becoming more than one, when everything below `snd_max` has been sent.
    pub fn tail_room(&self, snd_max: SeqNum) -> ByteCount {
        if snd_max.max(self.first) < self.end {
            self.smss - self.last
        } else {
            ByteCount::ZERO
        }
    }

    /// What the last segment carries, if it has not been sent when everything below `snd_max` has.
    pub fn tail(&self, snd_max: SeqNum) -> ByteCount {
        if snd_max.max(self.first) < self.end {
            self.last
        } else {
            ByteCount::ZERO
        }
    }

    /// What has been written and not been acknowledged.
    pub fn unacked(&self, snd_una: SeqNum) -> Unacked {
        Unacked {
            bytes: self.acked(self.end) - self.acked(snd_una),
            segments: self.end - snd_una.clamp(self.first, self.end),
        }
    }

    /// What of the application's has never been sent.
    pub fn unsent(&self, snd_max: SeqNum) -> ByteCount {
        let short = self.short.iter().filter(|short| short.seq >= snd_max);
        let lacking: ByteCount = short.map(|short| short.lacking).sum();
        self.unsent_if_full(snd_max) - lacking
    }

    /// The same if all of its segments but the last were full.
    fn unsent_if_full(&self, snd_max: SeqNum) -> ByteCount {
        let next = snd_max.max(self.first);
        match self.end.checked_sub(next.next()) {
            Some(full) => full.saturating_mul(self.smss).saturating_add(self.last),
            None => ByteCount::ZERO,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::partial::Partial;
    use crate::units::testing::{bytes, segs, seq};

    fn stream(partial: Partial) -> SendStream {
        SendStream::new(bytes(1000), seq(1), PartialPolicy::of(partial, None), true)
    }

    /// So many bytes are written when everything before `una` is acknowledged and everything before `max` sent.
    fn write(stream: &mut SendStream, count: u64, una: u64, max: u64) {
        stream.write(bytes(count), seq(una), seq(max));
    }

    fn sizes(stream: &SendStream) -> Vec<u64> {
        let segments = stream.first.up_to(stream.end());
        segments.map(|seq| stream.payload(seq).get()).collect()
    }

    fn acked(stream: &SendStream, una: u64) -> u64 {
        stream.acked(seq(una)).get()
    }

    #[test]
    fn segments_of_one_byte_without_end_can_be_numbered() {
        let mut stream = SendStream::new(
            bytes(1),
            seq(1),
            PartialPolicy::of(Partial::NoDelay, None),
            true,
        );
        for _ in 0..2 {
            stream.write(ByteCount::MAX, seq(0), seq(1));
            assert!(stream.end() > seq(1 << 62));
            assert_eq!(stream.unsent(seq(1)).get(), (stream.end() - seq(1)).get());
        }
    }

    #[test]
    fn what_a_segment_lacks_that_leaves_short_goes_on_with_those_after_it() {
        let mut stream = stream(Partial::Minshall);
        write(&mut stream, 3950, 1, 1);
        stream.close();
        assert!(stream.may_split(seq(2)));
        stream.split(seq(3), bytes(300), seq(2), seq(2));
        assert_eq!(sizes(&stream), [1000, 1000, 300, 1000, 650]);
        assert_eq!(
            [1, 2, 3, 4].map(|sent| stream.unsent(seq(sent)).get()),
            [3950, 2950, 1950, 1650]
        );
        assert_eq!([3, 4, 6].map(|una| acked(&stream, una)), [2000, 2300, 3950]);
        // No other leaves short until it is acknowledged.
        assert!(!stream.may_split(seq(3)) && stream.may_split(seq(4)));
        assert_eq!(
            [2, 4].map(|una| stream.lacking_outstanding(seq(una)).get()),
            [700, 0]
        );
        // More is written when it is acknowledged: the sum stays.
        write(&mut stream, 400, 4, 4);
        assert_eq!(stream.end(), seq(7));
        assert_eq!([4, 7].map(|una| acked(&stream, una)), [2300, 4350]);
    }

    #[test]
    fn only_a_policy_that_lets_one_short_segment_leave_splits_what_is_written() {
        for (partial, splits) in [
            (Partial::Minshall, true),
            (Partial::Nagle, false),
            (Partial::NoDelay, false),
            (Partial::Cork, false),
        ] {
            assert_eq!(stream(partial).may_split(seq(1)), splits, "{partial:?}");
        }
    }

    #[test]
    fn a_fin_stays_with_the_last_segment() {
        let mut stream = stream(Partial::Minshall);
        write(&mut stream, 3950, 1, 1);
        stream.close();
        assert_eq!(stream.act_on_close(seq(1), seq(2)), None);
        stream.split(seq(3), bytes(300), seq(2), seq(2));
        assert!(stream.has_fin(seq(5)) && !stream.has_fin(seq(4)));
    }

    #[test]
    fn writes_coalesce_while_they_wait_and_what_is_sent_keeps_its_size() {
        let mut stream = stream(Partial::NoDelay);
        write(&mut stream, 100, 1, 1);
        write(&mut stream, 2500, 1, 1);
        assert_eq!(sizes(&stream), [1000, 1000, 600]);
        // The third has been sent when more comes.
        write(&mut stream, 100, 1, 4);
        write(&mut stream, 950, 1, 4);
        assert_eq!(sizes(&stream), [1000, 1000, 600, 1000, 50]);
        // Two of them sent, or all: the sum stays, and every segment its size.
        write(&mut stream, 10, 1, 5);
        assert_eq!(sizes(&stream), [1000, 1000, 600, 1000, 60]);
        write(&mut stream, 10, 1, 6);
        assert_eq!(sizes(&stream), [1000, 1000, 600, 1000, 60, 10]);
        let acked: Vec<u64> = (1..8).map(|una| acked(&stream, una)).collect();
        assert_eq!(acked, [0, 1000, 2000, 2600, 3600, 3660, 3670]);
        assert_eq!(stream.unsent(seq(6)), bytes(10));
    }

    #[test]
    fn what_is_acknowledged_is_forgotten_and_still_counted() {
        let mut stream = stream(Partial::NoDelay);
        for next in 1..100 {
            // Each is sent and acknowledged before the next.
            write(&mut stream, 10, next, next);
        }
        assert_eq!(acked(&stream, 100), 990);
        assert!(stream.short.iter().count() <= 2);
    }

    #[test]
    fn rfc896_a_short_segment_waits_until_everything_is_acknowledged() {
        let mut stream = stream(Partial::Nagle);
        write(&mut stream, 2500, 1, 1);
        assert!(
            !stream.is_last_held(seq(1), seq(1)),
            "nothing is outstanding"
        );
        assert!(stream.is_last_held(seq(1), seq(3)) && stream.is_last_held(seq(2), seq(3)));
        assert!(!stream.is_last_held(seq(3), seq(3)));
        write(&mut stream, 500, 1, 3);
        assert!(!stream.is_last_held(seq(1), seq(3)), "a full segment");
    }

    #[test]
    fn minshall_a_short_segment_waits_for_another_short_one_only() {
        let mut stream = stream(Partial::Minshall);
        write(&mut stream, 2500, 1, 1);
        assert!(
            !stream.is_last_held(seq(1), seq(3)),
            "full ones are outstanding"
        );
        stream.on_last_sent(Instant::START);
        write(&mut stream, 500, 1, 4);
        assert!(stream.is_last_held(seq(3), seq(4)));
        assert!(!stream.is_last_held(seq(4), seq(4)));
        stream.act_on_close(seq(3), seq(4));
        assert!(!stream.is_last_held(seq(3), seq(4)), "to close is to push");
    }

    #[test]
    fn rfc9293_3_6_the_fin_is_on_the_last_segment_that_waits_or_alone() {
        let mut waits = stream(Partial::NoDelay);
        write(&mut waits, 2500, 1, 1);
        waits.close();
        waits.act_on_close(seq(1), seq(2));
        assert!([waits.end(), waits.data_end()] == [4, 4].map(seq) && waits.has_fin(seq(3)));
        let mut sent = stream(Partial::NoDelay);
        write(&mut sent, 2500, 1, 1);
        sent.close();
        sent.act_on_close(seq(1), seq(4));
        assert!([sent.end(), sent.data_end()] == [5, 4].map(seq) && sent.has_fin(seq(4)));
        assert_eq!(sizes(&sent), [1000, 1000, 500, 0]);
        assert_eq!([acked(&sent, 4), acked(&sent, 5)], [2500, 2500]);
        assert_eq!(sent.acked_segments(seq(5)), segs(3));
        assert!(sent.is_delivered(seq(4)) && !sent.is_delivered(seq(3)));
    }

    #[test]
    fn without_a_handshake_the_first_short_segment_waits_for_none_before_it() {
        let mut stream = SendStream::new(
            bytes(1000),
            seq(0),
            PartialPolicy::of(Partial::Minshall, None),
            true,
        );
        assert_eq!(stream.lacking(|_| true), bytes(0), "nothing is written");
        write(&mut stream, 2400, 0, 0);
        assert!(
            !stream.is_last_held(seq(0), seq(2)),
            "full ones are outstanding"
        );
        assert_eq!(stream.lacking(|_| true), bytes(600));
        assert_eq!(stream.lacking(|each| each == seq(2)), bytes(600));
        assert_eq!(stream.lacking(|each| each == seq(1)), bytes(0));
    }

    #[test]
    fn a_short_segment_keeps_its_size_until_it_is_acknowledged() {
        let mut stream = stream(Partial::NoDelay);
        for next in 1..4 {
            write(&mut stream, 10, 1, next);
        }
        assert_eq!(sizes(&stream), [10, 10, 10]);
        assert_eq!(acked(&stream, 2), 10);
    }
}
