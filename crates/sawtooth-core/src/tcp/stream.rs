//! What the application has written, as segments.
//!
//! Specifications: RFC 9293 §3.8.6.2.1 (the sender's avoidance of silly windows), §3.6 (closing). When a short segment waits, [`super::partial`] says.
//!
//! **Model.** What is unsent is cut into full segments when it is sent, so writes coalesce while they wait, and at most the last segment is
//! short. A segment keeps the bytes with which it was first sent. Sequence numbers count segments, so it is enough to remember the short
//! ones: a bulk transfer has one, its last.
//!
//! **Silly windows.** Windows are whole segments, so a segment leaves whole or not at all: what §3.8.6.2.1 permits is rule (1), a full
//! segment, and rule (2), all that is queued, as far as the policy of partial packets does not object. Rules (3) and (4) are for windows smaller than
//! a segment.
//!
//! **FIN.** The application closes after its last write. If data is still waiting then, the last segment carries the FIN; or else it
//! is a segment of its own, without data. To close is also to push, as far as that policy does not object.

use std::collections::VecDeque;

use super::partial::{Facts, Policy, Verdict};

/// No segment.
const NONE: u64 = u64::MAX;

/// More than is ever sent: what is written without end, so that its segments can be numbered even if they are of one byte.
const MOST_BYTES: u64 = u64::MAX / 2;

/// The written part of a connection's data.
#[derive(Debug)]
pub struct Stream {
    smss: u32,
    /// Bytes of the last segment written.
    last_bytes: u32,
    /// One past it: what is written ends here.
    end: u64,
    /// The first segment with data.
    first: u64,
    /// Short segments that are not the last: their numbers, and what they lack of a full one. Those before have been acknowledged, and
    /// lacked so many bytes together.
    short: VecDeque<(u64, u32)>,
    short_acked_bytes: u64,
    /// One past the last short segment that has been sent.
    short_sent: u64,
    partial: Policy,
    /// Of the last segment: whether the window had no room for it, once that has been decided; and whether it has waited long enough.
    found_no_room: Option<bool>,
    has_waited: bool,
    /// Whether it is put off until something leaves the machine (autocorking).
    put_off: bool,
    wants_fin: bool,
    /// The segment with the FIN.
    fin: u64,
    closing: Closing,
    /// When the last segment there was, or one again, was sent: idleness begins.
    pub last_sent_secs: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closing {
    Open,
    /// The application will close when TCP has sent what it may.
    Due,
    Closed,
}

impl Stream {
    /// Nothing written; `first` is the first segment to have data.
    pub fn new(smss: u32, first: u64, partial: Policy, wants_fin: bool) -> Self {
        Self {
            smss,
            last_bytes: 0,
            end: first,
            first,
            short: VecDeque::new(),
            short_acked_bytes: 0,
            short_sent: 0,
            partial,
            found_no_room: None,
            has_waited: false,
            put_off: false,
            wants_fin,
            fin: NONE,
            closing: Closing::Open,
            last_sent_secs: f64::NEG_INFINITY,
        }
    }

    /// The application writes, when everything below `snd_max` has been sent.
    pub fn write(&mut self, bytes: u64, snd_una: u64, snd_max: u64) {
        if bytes == 0 {
            return;
        }
        let smss = u64::from(self.smss);
        let next = snd_max.max(self.first);
        let total = self
            .unsent_bytes(snd_max)
            .saturating_add(bytes)
            .min(MOST_BYTES);
        if next == self.end {
            self.keep_last(snd_una);
        }
        let full = (total - 1) / smss;
        self.last_bytes = u32::try_from(total - full * smss).expect("at most a segment");
        if self.end != next + full + 1 {
            self.found_no_room = None;
            self.has_waited = false;
        }
        self.end = next + full + 1;
    }

    /// The application will write no more.
    pub fn close(&mut self) {
        if self.closing == Closing::Open {
            self.closing = Closing::Due;
        }
    }

    /// Whether it has said so, and that has not been acted on.
    #[inline]
    pub fn is_close_due(&self) -> bool {
        self.closing == Closing::Due
    }

    /// TCP has sent what it may, up to `snd_max`, and the application closes. The segment of a FIN that comes alone, if it does.
    pub fn act_on_close(&mut self, snd_una: u64, snd_max: u64) -> Option<u64> {
        self.closing = Closing::Closed;
        if !self.wants_fin {
            return None;
        }
        let alone = snd_max.max(self.first) == self.end;
        if alone {
            self.keep_last(snd_una);
            self.last_bytes = 0;
            self.end += 1;
        }
        self.fin = self.end - 1;
        alone.then_some(self.fin)
    }

    /// The last segment, which is sent, is going to be followed by another one.
    fn keep_last(&mut self, snd_una: u64) {
        while let Some(&(seq, lacking)) = self.short.front()
            && seq < snd_una
        {
            self.short_acked_bytes += u64::from(lacking);
            self.short.pop_front();
        }
        if self.end > self.first && self.last_bytes < self.smss {
            self.short
                .push_back((self.end - 1, self.smss - self.last_bytes));
        }
    }

    /// A segment that is the last one there is leaves for the first time.
    pub fn on_last_sent(&mut self, now: f64) {
        self.last_sent_secs = now;
        if (1..self.smss).contains(&self.last_bytes) {
            self.short_sent = self.end;
        }
    }

    /// Whether the segment before `end`, which has not been sent, has to wait, because it is short.
    #[cold]
    pub fn is_last_held(&self, snd_una: u64, snd_max: u64) -> bool {
        self.verdict(snd_una, snd_max) != Verdict::Leaves
    }

    /// Whether the policy of short segments has a timer.
    #[inline]
    pub fn is_timed(&self) -> bool {
        self.partial.timer.is_some()
    }

    /// Whether the segment before `end` waits for the timer.
    pub fn waits_for_timer(&self, snd_una: u64, snd_max: u64) -> bool {
        self.verdict(snd_una, snd_max) == Verdict::WaitsForTimer
    }

    /// The sender stops, and the window has room up to `edge`: decides, for good, whether it had none for the last segment.
    pub fn judge(&mut self, edge: u64) {
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
    fn verdict(&self, snd_una: u64, snd_max: u64) -> Verdict {
        let is_short = (1..self.smss).contains(&self.last_bytes);
        if !is_short || snd_max >= self.end || self.has_waited {
            return Verdict::Leaves;
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
    pub fn end(&self) -> u64 {
        self.end
    }

    /// The same without a FIN of its own.
    pub fn data_end(&self) -> u64 {
        let alone = self.fin != NONE && self.last_bytes == 0;
        self.end - u64::from(alone)
    }

    /// Whether the application has closed, and all its data has been acknowledged.
    pub fn is_delivered(&self, snd_una: u64) -> bool {
        self.closing != Closing::Open && snd_una >= self.data_end()
    }

    /// Whether nothing of it is left to be acknowledged, nor will come: the FIN has been, too.
    pub fn is_finished(&self, snd_una: u64) -> bool {
        self.closing == Closing::Closed && snd_una >= self.end
    }

    /// Application bytes of a segment.
    #[inline]
    pub fn payload_bytes(&self, seq: u64) -> u32 {
        if seq + 1 == self.end {
            self.last_bytes
        } else if seq < self.first {
            0
        } else if self.short.is_empty() {
            self.smss
        } else {
            self.payload_of_earlier(seq)
        }
    }

    #[cold]
    fn payload_of_earlier(&self, seq: u64) -> u32 {
        match self.short.binary_search_by_key(&seq, |(short, _)| *short) {
            Ok(at) => self.smss - self.short[at].1,
            Err(_) => self.smss,
        }
    }

    /// Whether a segment carries the FIN.
    #[inline]
    pub fn has_fin(&self, seq: u64) -> bool {
        seq == self.fin
    }

    /// Segments with data before `snd_una`.
    pub fn acked_segments(&self, snd_una: u64) -> u64 {
        snd_una.min(self.data_end()).saturating_sub(self.first)
    }

    /// Application bytes before `snd_una`.
    pub fn acked_bytes(&self, snd_una: u64) -> u64 {
        let segments = snd_una.saturating_sub(self.first);
        let earlier = self.short.iter().take_while(|(seq, _)| *seq < snd_una);
        let lacking: u64 = earlier.map(|(_, lacking)| u64::from(*lacking)).sum();
        let last = if segments > 0 && snd_una >= self.end {
            self.smss - self.last_bytes
        } else {
            0
        };
        segments * u64::from(self.smss) - self.short_acked_bytes - lacking - u64::from(last)
    }

    /// What the segments that are `chosen` lack together of full ones.
    pub fn lacking_bytes(&self, chosen: impl Fn(u64) -> bool) -> u64 {
        let last = (self.end > self.first).then(|| (self.end - 1, self.smss - self.last_bytes));
        let short = self.short.iter().copied().chain(last);
        let lacking = short.filter(|(seq, _)| chosen(*seq));
        lacking.map(|(_, bytes)| u64::from(bytes)).sum()
    }

    /// Bytes that the last segment takes without becoming more than one, when everything below `snd_max` has been sent.
    pub fn tail_room(&self, snd_max: u64) -> u32 {
        if snd_max.max(self.first) < self.end {
            self.smss - self.last_bytes
        } else {
            0
        }
    }

    /// Bytes of the last segment, if it has not been sent when everything below `snd_max` has.
    pub fn tail_bytes(&self, snd_max: u64) -> u64 {
        let unsent = snd_max.max(self.first) < self.end;
        u64::from(if unsent { self.last_bytes } else { 0 })
    }

    /// Bytes and segments that have been written and not been acknowledged.
    pub fn unacked(&self, snd_una: u64) -> (u64, u64) {
        let bytes = self.acked_bytes(self.end) - self.acked_bytes(snd_una);
        (bytes, self.end - snd_una.clamp(self.first, self.end))
    }

    /// Application bytes that have never been sent.
    pub fn unsent_bytes(&self, snd_max: u64) -> u64 {
        let next = snd_max.max(self.first);
        match self.end.checked_sub(next + 1) {
            Some(full) => full
                .saturating_mul(u64::from(self.smss))
                .saturating_add(u64::from(self.last_bytes)),
            None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::partial::Partial;

    fn stream(partial: Partial) -> Stream {
        Stream::new(1000, 1, Policy::of(partial, None), true)
    }

    fn sizes(stream: &Stream) -> Vec<u32> {
        (1..stream.end())
            .map(|seq| stream.payload_bytes(seq))
            .collect()
    }

    #[test]
    fn segments_of_one_byte_without_end_can_be_numbered() {
        let mut stream = Stream::new(1, 1, Policy::of(Partial::NoDelay, None), true);
        for _ in 0..2 {
            stream.write(u64::MAX, 0, 1);
            assert!(stream.end() > 1 << 62 && stream.unsent_bytes(1) == stream.end() - 1);
        }
    }

    #[test]
    fn writes_coalesce_while_they_wait_and_what_is_sent_keeps_its_size() {
        let mut stream = stream(Partial::NoDelay);
        stream.write(100, 1, 1);
        stream.write(2500, 1, 1);
        assert_eq!(sizes(&stream), [1000, 1000, 600]);
        // The third has been sent when more comes.
        stream.write(100, 1, 4);
        stream.write(950, 1, 4);
        assert_eq!(sizes(&stream), [1000, 1000, 600, 1000, 50]);
        // Two of them sent, or all: the sum stays, and every segment its size.
        stream.write(10, 1, 5);
        assert_eq!(sizes(&stream), [1000, 1000, 600, 1000, 60]);
        stream.write(10, 1, 6);
        assert_eq!(sizes(&stream), [1000, 1000, 600, 1000, 60, 10]);
        let acked: Vec<u64> = (1..8).map(|una| stream.acked_bytes(una)).collect();
        assert_eq!(acked, [0, 1000, 2000, 2600, 3600, 3660, 3670]);
        assert_eq!(stream.unsent_bytes(6), 10);
    }

    #[test]
    fn what_is_acknowledged_is_forgotten_and_still_counted() {
        let mut stream = stream(Partial::NoDelay);
        for seq in 1..100 {
            // Each is sent and acknowledged before the next.
            stream.write(10, seq, seq);
        }
        assert_eq!(stream.acked_bytes(100), 990);
        assert!(stream.short.len() <= 2);
    }

    #[test]
    fn rfc896_a_short_segment_waits_until_everything_is_acknowledged() {
        let mut stream = stream(Partial::Nagle);
        stream.write(2500, 1, 1);
        assert!(!stream.is_last_held(1, 1), "nothing is outstanding");
        assert!(stream.is_last_held(1, 3) && stream.is_last_held(2, 3));
        assert!(!stream.is_last_held(3, 3));
        stream.write(500, 1, 3);
        assert!(!stream.is_last_held(1, 3), "a full segment");
    }

    #[test]
    fn minshall_a_short_segment_waits_for_another_short_one_only() {
        let mut stream = stream(Partial::Minshall);
        stream.write(2500, 1, 1);
        assert!(!stream.is_last_held(1, 3), "full ones are outstanding");
        stream.on_last_sent(0.0);
        stream.write(500, 1, 4);
        assert!(stream.is_last_held(3, 4));
        assert!(!stream.is_last_held(4, 4));
        stream.act_on_close(3, 4);
        assert!(!stream.is_last_held(3, 4), "to close is to push");
    }

    #[test]
    fn rfc9293_3_6_the_fin_is_on_the_last_segment_that_waits_or_alone() {
        let mut waits = stream(Partial::NoDelay);
        waits.write(2500, 1, 1);
        waits.close();
        waits.act_on_close(1, 2);
        assert!((waits.end(), waits.data_end()) == (4, 4) && waits.has_fin(3));
        let mut sent = stream(Partial::NoDelay);
        sent.write(2500, 1, 1);
        sent.close();
        sent.act_on_close(1, 4);
        assert!((sent.end(), sent.data_end()) == (5, 4) && sent.has_fin(4));
        assert_eq!(sizes(&sent), [1000, 1000, 500, 0]);
        assert_eq!(
            (
                sent.acked_bytes(4),
                sent.acked_bytes(5),
                sent.acked_segments(5)
            ),
            (2500, 2500, 3)
        );
        assert!(sent.is_delivered(4) && !sent.is_delivered(3));
    }

    #[test]
    fn without_a_handshake_the_first_short_segment_waits_for_none_before_it() {
        let mut stream = Stream::new(1000, 0, Policy::of(Partial::Minshall, None), true);
        assert_eq!(stream.lacking_bytes(|_| true), 0, "nothing is written");
        stream.write(2400, 0, 0);
        assert!(!stream.is_last_held(0, 2), "full ones are outstanding");
        assert_eq!(stream.lacking_bytes(|_| true), 600);
        assert_eq!(stream.lacking_bytes(|seq| seq == 2), 600);
        assert_eq!(stream.lacking_bytes(|seq| seq == 1), 0);
    }

    #[test]
    fn a_short_segment_keeps_its_size_until_it_is_acknowledged() {
        let mut stream = stream(Partial::NoDelay);
        for next in 1..4 {
            stream.write(10, 1, next);
        }
        assert_eq!(sizes(&stream), [10, 10, 10]);
        assert_eq!(stream.acked_bytes(2), 10);
    }
}
