//! The sender's buffer: how much of what the application has can be written, and which segments end what it wrote at one time.
//!
//! Specifications: Semke, Mahdavi and Mathis 1998, "Automatic TCP Buffer Tuning" §2.2 (the buffer is for twice the congestion window);
//! RFC 9293 §3.9.1.2 (PSH); the kernel's ip-sysctl documentation (`tcp_wmem`).
//!
//! Memory is counted as measured of Linux 6.1 (`SO_MEMINFO`, segments of 524, 1448 and 8948 bytes, no segmentation offload): a segment that
//! has been written takes 1280 bytes more than its data; one of the congestion window is counted with the power of two that holds it. The
//! buffer takes one more segment as long as it is not full. An application that could not write all it has is notified when a third of
//! the buffer is free (`poll` after every acknowledgement, segments of each size, buffers for 17 segments to the largest: with 0.5000 of what
//! is used free it was, with 0.4999 it was not), and then fills it. What it could write last before the buffer was full ends with PSH unless
//! it leaves at once, as it does where the window has room; and so does half of the largest window that the receiver has ever offered.
//! It does not grow with a window that has room for a single segment (11 for a moment, when a probe was out, left the buffer at that of 10: `buffer-of-a-full-window`).
//! Segments acknowledged selectively are taken together with predecessors that had been so before: all of a run in order have one overhead (measured for up to 107).
//!
//! **Calls.** An application writes 65,536 bytes by one call, at most (as the agent's of guests does; 376 more than whole segments of 1448). What a call ends
//! with leaves by itself where the window has room for all of the call, and no other short segment is outstanding ([`super::partial`]: `minshall`); the next call
//! goes on after it. Otherwise the next call goes on in the same segment. Measured of Linux 6.1 where the buffer limits the sender at a round trip of 160 ms: of
//! what is written when a third of the largest buffer is free the 46th segment has 376 bytes, and no other.
//!
//! Deviations: with segmentation offload, pacing, `nodelay`, or while losses are repaired, what is written is whole segments.

use std::collections::VecDeque;

use super::params::Config;
use crate::cc::Needs;
use crate::units::{ByteCount, SegCount, SeqNum};

/// What a written segment takes besides its data.
const OVERHEAD: ByteCount = ByteCount::new(1280);
/// What a segment of the window is expected to take: what describes it, and headers and more besides its data.
const DESCRIPTION: u64 = 256;
const AROUND: u64 = 576;
/// What the application writes by one call, at most.
const CALL: ByteCount = ByteCount::new(1 << 16);
/// Segments for which there is room at least.
const LEAST: SegCount = SegCount::new(10);

/// The send buffer of one connection.
#[derive(Debug)]
pub struct SendBuffer {
    smss: ByteCount,
    segment_memory: ByteCount,
    window_memory: ByteCount,
    size: ByteCount,
    max: ByteCount,
    auto_tuning: bool,
    /// Windows that it is for.
    windows: u64,
    /// One past the last segment that has been written.
    written: SeqNum,
    /// Whether the application has more, and waits until it is notified of room.
    waits: bool,
    /// Segments not yet sent that end a write.
    pushed: VecDeque<SeqNum>,
    /// Those that have been sent, as long as they may have to be sent again.
    pushed_before: VecDeque<SeqNum>,
    last_pushed: SeqNum,
    largest_window: SegCount,
    /// The window that the buffer has grown for.
    grown_for: SegCount,
    room: SegmentsInMemory,
}

/// What a sender tells of itself when its application may write.
#[derive(Clone, Copy, Debug)]
pub struct Writable {
    /// Everything before it is acknowledged.
    pub una: SeqNum,
    /// Segments after it that are joined to their predecessors, as both have been selectively acknowledged.
    pub joined: SegCount,
    /// What segments lack that have been written short, and have not been acknowledged.
    pub lacking: ByteCount,
    /// What is before it leaves as soon as it is written.
    pub sendable: SeqNum,
    /// The application has segments up to here.
    pub end: SeqNum,
}

/// A segment with which a call ends, and that leaves by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallEnd {
    pub seq: SeqNum,
    /// What it carries.
    pub payload: ByteCount,
}

/// How many segments some memory has room for, kept until that changes.
#[derive(Debug, Default)]
struct SegmentsInMemory {
    memory: ByteCount,
    segments: SegCount,
}

impl SendBuffer {
    /// Nothing if the sender's memory is not modelled; otherwise a buffer that grows to hold as many windows as the algorithm needs.
    pub fn new(config: &Config, needs: Needs) -> Option<Box<Self>> {
        let smss = config.smss;
        let size = ByteCount::new(config.send_buffer_default?);
        let first = config.first_data();
        Some(Box::new(Self {
            smss,
            segment_memory: smss + OVERHEAD,
            window_memory: ByteCount::new(DESCRIPTION + (smss.get() + AROUND).next_power_of_two()),
            size,
            max: ByteCount::new(config.send_buffer_max).max(size),
            auto_tuning: config.send_auto_tuning,
            windows: needs.buffered_windows,
            written: first,
            waits: false,
            pushed: VecDeque::new(),
            pushed_before: VecDeque::new(),
            last_pushed: first,
            largest_window: SegCount::ZERO,
            grown_for: SegCount::ZERO,
            room: SegmentsInMemory::default(),
        }))
    }

    /// One past the last segment that has been written.
    pub fn written(&self) -> SeqNum {
        self.written
    }

    /// The receiver offers so many segments.
    pub fn on_window(&mut self, window: SegCount) {
        self.largest_window = self.largest_window.max(window);
    }

    /// The window is `cwnd`: the buffer is for two or three of that if it `grows` now, and for the least in any case.
    #[inline]
    pub fn grow_for(&mut self, cwnd: SegCount, grows: bool) {
        let cwnd = if grows { cwnd.max(LEAST) } else { LEAST };
        if self.auto_tuning && cwnd > self.grown_for {
            self.grown_for = cwnd;
            let wanted = cwnd * self.window_memory * self.windows;
            self.size = self.size.max(wanted.min(self.max));
        }
    }

    /// Whether nothing comes of [`Self::grow_for`] a window of `cwnd` and [`Self::fill`]: the buffer is as large as it is for such a window, and the application waits for more room than there is. It does for most
    /// acknowledgements, where there is a buffer that limits the sender.
    #[inline]
    pub fn sleeps(
        &self,
        una: SeqNum,
        cwnd: SegCount,
        joined: SegCount,
        lacking: ByteCount,
    ) -> bool {
        self.waits
            && (cwnd.max(LEAST) <= self.grown_for || !self.auto_tuning)
            && self.pushed_before.front().is_none_or(|first| *first >= una)
            && self.lacks_room(una, joined * OVERHEAD + lacking)
    }

    /// Whether a third of the buffer is not free, where so much is saved.
    #[inline]
    fn lacks_room(&self, una: SeqNum, saved: ByteCount) -> bool {
        self.used(una).saturating_sub(saved) * 3 > self.size * 2
    }

    /// The application writes what there is room for, if it does not wait for more. `splits`: whether what a call ends with may leave by itself. The end of a call that is a segment of its own, and not a full one: the
    /// application's segments end one later if what it has without that is a full one more.
    pub fn fill(&mut self, writable: Writable, splits: impl FnOnce() -> bool) -> Option<CallEnd> {
        let Writable { una, end, .. } = writable;
        while self.pushed_before.front().is_some_and(|first| *first < una) {
            self.pushed_before.pop_front();
        }
        let saved = writable.joined * OVERHEAD + writable.lacking;
        let woken = self.waits;
        if woken && self.lacks_room(una, saved) {
            return None;
        }
        let split = (woken && splits()).then(|| self.call_end(&writable, self.size + saved));
        let split = split.flatten();
        let saved = saved + split.map_or(ByteCount::ZERO, |short| self.smss - short.payload);
        if self.room.memory != self.size + saved {
            self.room.memory = self.size + saved;
            self.room.segments = self.room.memory.div_ceil(self.segment_memory);
        }
        let full = una + self.room.segments;
        self.waits = full < end;
        let until = full.min(end);
        if until <= self.written {
            return None;
        }
        let mut begun = self.written;
        if let Some(CallEnd { seq, .. }) = split {
            self.push_half_windows(seq);
            self.push(seq);
            begun = seq.next();
        }
        self.write_calls(begun, until);
        self.written = until;
        if until > writable.sendable {
            self.push(until - SegCount::ONE);
        }
        split
    }

    /// The segment that ends the call of which nothing has been written yet, if the window, the `memory` for segments and what the application has reach beyond it and it is not a full one.
    #[cold]
    fn call_end(&self, writable: &Writable, memory: ByteCount) -> Option<CallEnd> {
        let full = CALL / self.smss;
        let payload = CALL - full * self.smss;
        let seq = self.written + full;
        let held = writable.una + memory.div_ceil(self.segment_memory);
        let reached = writable.sendable.min(writable.end).min(held);
        (!payload.is_zero() && seq.next() < reached).then_some(CallEnd { seq, payload })
    }

    /// Calls write from one segment on until another, of which only the last ends where a segment does.
    fn write_calls(&mut self, begun: SeqNum, until: SeqNum) {
        let mut bytes = CALL;
        loop {
            let end = begun + bytes / self.smss;
            self.push_half_windows(end.min(until));
            if end >= until {
                break;
            }
            // It would end with PSH, and the next call goes on in that segment.
            self.last_pushed = self.last_pushed.max(end);
            bytes += CALL;
        }
    }

    /// Half of the largest window has been written since the last PSH, before `until`.
    fn push_half_windows(&mut self, until: SeqNum) {
        let half = (self.largest_window / 2).max(SegCount::ONE);
        while until.saturating_sub(self.last_pushed) > half + SegCount::ONE
            && !self.largest_window.is_zero()
        {
            self.push(self.last_pushed + half);
        }
    }

    fn push(&mut self, seq: SeqNum) {
        self.last_pushed = seq.next();
        if self.pushed.back() != Some(&seq) {
            self.pushed.push_back(seq);
        }
    }

    /// The next segment that ends a write, as far as is known.
    #[inline]
    pub fn next_pushed(&self) -> Option<SeqNum> {
        self.pushed.front().copied()
    }

    /// Whether a segment that is sent for the first time ends a write.
    #[inline]
    pub fn is_pushed(&mut self, seq: SeqNum) -> bool {
        // Most are before the next that does.
        self.pushed.front().is_some_and(|first| *first <= seq) && self.take_pushed(seq)
    }

    #[inline(never)]
    fn take_pushed(&mut self, seq: SeqNum) -> bool {
        while self.pushed.front().is_some_and(|first| *first < seq) {
            self.pushed.pop_front();
        }
        let found = self.pushed.front() == Some(&seq);
        if found {
            self.pushed.pop_front();
            self.pushed_before.push_back(seq);
        }
        found
    }

    /// Whether a segment that is sent again ended a write when it was sent first.
    pub fn was_pushed(&self, seq: SeqNum) -> bool {
        self.pushed_before.contains(&seq)
    }

    /// What could still be written.
    pub fn room(&self, snd_una: SeqNum) -> ByteCount {
        self.size.saturating_sub(self.used(snd_una)) / self.segment_memory * self.smss
    }

    /// What segments take that have been written and not been acknowledged.
    fn used(&self, snd_una: SeqNum) -> ByteCount {
        (self.written - snd_una.min(self.written)) * self.segment_memory
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Params, Value};
    use crate::tcp::PARAMS;
    use crate::units::testing::{bytes, segs, seq};

    fn linux(smss: u64) -> SendBuffer {
        let mut params = Params::defaults(PARAMS);
        params.set("smss", Value::Bytes(smss));
        params.set("send_buffer_default", Value::Bytes(16_384));
        params.set("send_buffer_max", Value::Bytes(4_194_304));
        *SendBuffer::new(&Config::from(&params), Needs::NOTHING).expect("a buffer")
    }

    fn fill(buffer: &mut SendBuffer, una: u64, joined: u64, cwnd: u64, sendable: u64, end: u64) {
        buffer.grow_for(segs(cwnd), true);
        let writable = Writable {
            una: seq(una),
            joined: segs(joined),
            lacking: ByteCount::ZERO,
            sendable: seq(sendable),
            end: seq(end),
        };
        buffer.fill(writable, || false);
    }

    #[test]
    fn without_room_to_grow_it_is_for_the_least_window() {
        let mut buffer = linux(1448);
        buffer.grow_for(segs(11), false);
        assert_eq!(buffer.size, bytes(46_080));
        buffer.grow_for(segs(11), true);
        assert_eq!(buffer.size, bytes(50_688));
    }

    #[test]
    fn the_buffer_is_for_twice_the_window_as_linux_counts_memory() {
        // Measured (SO_MEMINFO): the buffer for a window of 10 segments.
        for (smss, size) in [(524, 46_080), (1448, 46_080), (8948, 332_800)] {
            let mut buffer = linux(smss);
            fill(&mut buffer, 1, 0, 10, 11, u64::MAX);
            assert_eq!(buffer.size, bytes(size));
        }
    }

    #[test]
    fn an_algorithm_may_ask_for_more_windows() {
        // Measured: with bbr the 35th segment leaves while the 18th is outstanding, at a window of 13 that has been 14, and the buffer of two windows ends before it.
        let mut params = Params::defaults(PARAMS);
        params.set("send_buffer_default", Value::Bytes(16_384));
        let config = Config::from(&params);
        let sizes = [2, 3].map(|windows| {
            let needs = Needs {
                buffered_windows: windows,
                ..Needs::NOTHING
            };
            let mut buffer = SendBuffer::new(&config, needs).expect("a buffer");
            buffer.grow_for(segs(14), true);
            buffer.size.get()
        });
        assert_eq!(sizes[0] * 3, sizes[1] * 2);
    }

    #[test]
    fn a_source_fills_the_buffer_when_a_third_is_free_and_the_last_segment_has_push() {
        // Measured: acknowledgements of slow start, the later ones of two segments, how many segments had been written after each of the
        // writes that they led to, and which segments had PSH.
        let mut buffer = linux(1448);
        buffer.on_window(segs(45));
        let mut ends = Vec::new();
        for una in (1..=18).chain((20..=28).step_by(2)) {
            let cwnd = una + 9;
            fill(&mut buffer, una, 0, cwnd, una + cwnd, u64::MAX);
            ends.push(buffer.written().get() - 1);
        }
        ends.dedup();
        assert_eq!(ends, [17, 25, 36, 50, 68, 90]);
        let pushed = (1..=90).filter(|each| buffer.is_pushed(seq(*each)));
        assert_eq!(pushed.collect::<Vec<_>>(), ends);
    }

    #[test]
    fn room_below_a_third_of_the_buffer_is_not_used() {
        let mut buffer = linux(1448);
        // Measured: windows, segments in the buffer before the application had a look, and after.
        for (una, cwnd, held) in [
            (1, 10, 17),
            (2, 11, 16),
            (3, 12, 15),
            (4, 13, 22),
            (5, 14, 21),
            (6, 15, 20),
            (7, 16, 19),
            (8, 17, 29),
        ] {
            fill(&mut buffer, una, 0, cwnd, una + cwnd, u64::MAX);
            assert_eq!(buffer.written().get() - una, held);
        }
    }

    #[test]
    fn a_run_of_selectively_acknowledged_segments_has_one_overhead() {
        let mut buffer = linux(1448);
        fill(&mut buffer, 1, 0, 22, 23, u64::MAX);
        assert_eq!((buffer.size.get(), buffer.written().get()), (101_376, 39));
        for joined in 0..28 {
            fill(&mut buffer, 1, joined, 11, 1, u64::MAX);
            assert_eq!(buffer.written().get(), 39);
        }
        // 38 x 2728 - 28 x 1280 = 67824 is more than 67584, which one more is not; (101376 + 29 x 1280) / 2728 = 50.8.
        fill(&mut buffer, 1, 28, 11, 1, u64::MAX);
        assert_eq!(buffer.written().get(), 39);
        fill(&mut buffer, 1, 29, 11, 1, u64::MAX);
        assert_eq!(buffer.written().get(), 52);
    }

    #[test]
    fn an_application_that_could_write_all_it_had_uses_any_room() {
        let mut buffer = linux(1448);
        // 17 segments fit in 46080 bytes.
        fill(&mut buffer, 1, 0, 10, 11, 17);
        assert_eq!(buffer.written().get(), 17);
        fill(&mut buffer, 1, 0, 10, 11, 40);
        assert_eq!(buffer.written().get(), 18, "it did not have to wait");
        fill(&mut buffer, 2, 0, 10, 12, 40);
        assert_eq!(buffer.written().get(), 18, "now it does");
    }

    #[test]
    fn the_largest_buffer_holds_what_linux_holds_in_it() {
        // Measured: 2227024 bytes in flight, 1538 segments.
        let mut buffer = linux(1448);
        fill(&mut buffer, 1, 0, 100_000, 11, u64::MAX);
        assert_eq!((buffer.written().get() - 1) * 1448, 2_227_024);
        assert_eq!(buffer.room(seq(1)).get(), 0);
    }

    /// The largest buffer, full, and what is told of its sender when so many of its 1538 segments are acknowledged.
    fn woken(acked: u64, sendable: u64, end: u64, lacking: u64) -> (SendBuffer, Writable) {
        let mut buffer = linux(1448);
        fill(&mut buffer, 1, 0, 100_000, 11, u64::MAX);
        let writable = Writable {
            una: seq(1 + acked),
            joined: SegCount::ZERO,
            lacking: bytes(lacking),
            sendable: seq(sendable),
            end: seq(end),
        };
        (buffer, writable)
    }

    #[test]
    fn the_end_of_a_call_is_a_segment_of_its_own_where_the_window_has_room_for_the_whole_call() {
        // Measured: with 1025 of 1538 segments in the buffer, the 46th of the next has 376 bytes and PSH.
        let split = CallEnd {
            seq: seq(1539 + 45),
            payload: bytes(376),
        };
        let (mut buffer, writable) = woken(513, 100_000, u64::MAX, 0);
        assert_eq!(buffer.fill(writable, || true), Some(split));
        // What it lacks is room for nothing more: 1025 full ones, 45, a short one and 467 are 1538.
        assert_eq!(buffer.written(), seq(514 + 1538));
        assert!(buffer.is_pushed(split.seq));
        for (acked, sendable, end, lacking, splits, why) in [
            (511, 100_000, u64::MAX, 0, true, "it is not woken"),
            (
                513,
                split.seq.get() + 1,
                u64::MAX,
                0,
                true,
                "the window ends with it",
            ),
            (
                513,
                100_000,
                split.seq.get() + 1,
                0,
                true,
                "the data end with it",
            ),
            (513, 100_000, u64::MAX, 0, false, "another is outstanding"),
        ] {
            let (mut buffer, writable) = woken(acked, sendable, end, lacking);
            assert_eq!(buffer.fill(writable, || splits), None, "{why}");
        }
    }

    #[test]
    fn what_a_short_segment_lacks_is_free() {
        // 4194304 / 2728 = 1537.5; two short ones make it 1538.3.
        for (acked, lacking, written) in [
            (512, 2 * 1072, 1539),
            (513, 0, 514 + 1538),
            (513, 2 * 1072, 514 + 1539),
        ] {
            let (mut buffer, writable) = woken(acked, 100_000, u64::MAX, lacking);
            buffer.fill(writable, || false);
            assert_eq!(buffer.written(), seq(written), "{acked} {lacking}");
        }
    }

    #[test]
    fn what_leaves_as_it_is_written_has_no_push() {
        let mut buffer = linux(1448);
        fill(&mut buffer, 1, 0, 100_000, 11, u64::MAX);
        assert!(buffer.is_pushed(seq(1538)), "it had to wait");
        // Measured: a window that the buffer limits, and acknowledgements of two segments.
        fill(&mut buffer, 3, 0, 100_000, 100_001, u64::MAX);
        assert!((1539..1541).all(|each| !buffer.is_pushed(seq(each))));
    }

    #[test]
    fn half_of_the_largest_window_ends_with_push() {
        let mut params = Params::defaults(PARAMS);
        params.set("smss", Value::Bytes(8948));
        params.set("send_buffer_default", Value::Bytes(332_800));
        let mut buffer = SendBuffer::new(&Config::from(&params), Needs::NOTHING).expect("a buffer");
        // Measured: with a window of 62720 bytes the fourth segment has PSH.
        buffer.on_window(segs(7));
        fill(&mut buffer, 1, 0, 10, u64::MAX, u64::MAX);
        assert_eq!((1..6).find(|each| buffer.is_pushed(seq(*each))), Some(4));
    }

    #[test]
    fn room_is_what_whole_segments_take_of_the_memory_that_is_free() {
        let mut buffer = linux(1448);
        fill(&mut buffer, 1, 0, 10, 11, 5);
        // (46080 - 4 x 2728) / 2728 = 12.9.
        assert_eq!(
            (buffer.written().get(), buffer.room(seq(1)).get()),
            (5, 12 * 1448)
        );
        assert_eq!(buffer.room(seq(3)).get(), 14 * 1448);
    }
}
