//! The receiver's buffer: which window it advertises, and how it finds out how large it has to be.
//!
//! Its parts are the memory that packets take (`memory.rs`), the window that is offered of it (`window.rs`), the round trip (`round_trip.rs`) and how the memory grows
//! (`tuning.rs`).
//!
//! Specifications: RFC 9293 §3.8.6 (the window's right edge never moves back), RFC 7323 §2 (window scaling) and §3 (timestamps, by which the
//! receiver measures round trips), Fisk and Feng 2001, "Dynamic Right-Sizing in TCP" (what the application has read in a round trip
//! tells how large the window must be); the kernel's ip-sysctl documentation (`tcp_rmem`, `tcp_moderate_rcvbuf`, `tcp_adv_win_scale`, `tcp_app_win`).
//!
//! What the documents leave open is as measured of Linux 6.1, whose windows and `TCP_INFO` were recorded with segments of 524, 1448 and 8948
//! bytes:
//! - The window opens with what arrives: by two segments for each, as far as the buffer's share for data reaches, of which the segment
//!   itself takes its memory. A segment that lets it open is acknowledged at once.
//! - A round trip shorter than the average replaces it, a longer one counts an eighth; one is measured for each timestamp that comes back.
//! - The buffer is for twice what was read in the last round trip and 16 segments, and for twice as much more as that had grown by.
//! - A round trip ends with the first segment that is read after it: of what a filled hole lets through at once, all others belong to the next.
//!
//! Deviations: what reading adds to a window that was less than half of it, Linux tells with an acknowledgement of its own, which follows at once; here that of the filled hole says it.
//! Segments far smaller than the memory they take open the window more slowly in Linux. Memory pressure is not modelled.

pub(crate) mod memory;
mod round_trip;
mod tuning;
mod window;

use self::memory::ReceiveMemory;
use self::round_trip::RoundTrip;
use self::tuning::Tuning;
use self::window::ReceiveWindow;
use crate::packet::AdvertisedWindow;
use crate::tcp::params::Config;
use crate::tcp::timestamps::Stamp;
use crate::units::{ByteCount, Duration, Instant, SegCount};

/// The receive buffer of one connection.
#[derive(Debug)]
pub(crate) struct ReceiveBuffer {
    smss: ByteCount,
    memory: ReceiveMemory,
    window: ReceiveWindow,
    rtt: RoundTrip,
    tuning: Tuning,
    /// What was received in order, and what of it has been read.
    received: ByteCount,
    read: ByteCount,
    /// Whether a window that has become worth telling is told by an acknowledgement of its own, and whether that has happened since the last one.
    tells_updates: bool,
    has_update: bool,
    /// The window that was advertised last.
    advertised: ByteCount,
}

/// What has become of the segment in order that an acknowledgement answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answered {
    /// The application has read it, or there is none.
    Read,
    /// It takes memory until it is read.
    Unread,
    /// The same if the window is not smaller than the last one for that; otherwise the acknowledgement leaves when it has been read. Measured of Linux 6.1: a window that is smaller by the half of what a
    /// segment takes, 1152 bytes, stays so. Of 8,865 acknowledgements of a download 1,363 offered it, and the others all.
    UnreadIfAsMuch,
}

impl ReceiveBuffer {
    /// Nothing if the receiver's memory is not modelled.
    pub(crate) fn new(config: &Config) -> Option<Box<Self>> {
        let size = ByteCount::new(config.receive_buffer_default?);
        let smss = config.smss;
        let memory = ReceiveMemory::new(config, size);
        let most = if config.receive_auto_tuning {
            memory.max()
        } else {
            size
        };
        Some(Box::new(Self {
            smss,
            window: ReceiveWindow::new(
                smss,
                memory.for_data(),
                config.window_scaling.then_some(most),
            ),
            memory,
            rtt: RoundTrip::on_host(config.receiver_tick),
            tuning: Tuning::new(config.receive_auto_tuning, smss),
            received: ByteCount::ZERO,
            read: ByteCount::ZERO,
            tells_updates: config.recovery.keeps_segments(),
            has_update: false,
            advertised: ByteCount::ZERO,
        }))
    }

    /// The connection is established.
    #[cold]
    #[inline(never)]
    pub(crate) fn on_established(&mut self, now: Instant) {
        if self.window.establish(self.memory.for_data()) {
            self.tuning.begin(now, self.window.open());
        }
    }

    /// Half of the window in full segments: what is acknowledged one by one at the start of a connection.
    pub(crate) fn quick_acks(&self) -> SegCount {
        self.window.open() / (self.smss * 2)
    }

    /// A full segment arrives, which echoes a [`Self::stamp`]. Whether the window opens.
    #[inline]
    pub(crate) fn on_segment(&mut self, now: Instant, echo: Stamp) -> bool {
        self.measure(now, echo);
        self.window.open_up(|| self.memory.room())
    }

    /// The same with one that waits for another before it. Measured of Linux 6.1: what it takes itself is not counted yet, so after a window that has opened as far as it may the first of them lets it open
    /// once more.
    pub(crate) fn on_early_segment(&mut self, now: Instant, echo: Stamp) -> bool {
        self.measure(now, echo);
        self.window.open_up(|| self.memory.free())
    }

    /// What an acknowledgement says that leaves `now` (RFC 7323 §5.4 allows a tick of 1 ms).
    #[inline]
    pub(crate) fn stamp(&self, now: Instant) -> Stamp {
        self.rtt.stamp(now)
    }

    /// The time since it said so, if it did.
    pub(crate) fn since(&self, now: Instant, stamp: Stamp) -> Option<Duration> {
        (!stamp.is_none()).then(|| self.rtt.since(now, stamp))
    }

    #[inline]
    fn measure(&mut self, now: Instant, echo: Stamp) {
        if !self.window.is_established() {
            self.on_established(now);
        }
        self.rtt.measure(now, echo);
    }

    /// The round trip that it has measured of data, if it has.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.rtt.average()
    }

    /// A segment waits for one before it.
    pub(crate) fn hold(&mut self) {
        self.memory.hold();
    }

    /// A segment fills a hole, so that so much is in order now. It takes its memory, and those that waited for it take theirs, until they are read.
    pub(crate) fn on_in_order(&mut self, bytes: ByteCount) {
        self.received += bytes;
        self.memory.hold();
    }

    /// So much comes in order while nothing waits, and is read at once.
    #[inline]
    pub(crate) fn pass(&mut self, bytes: ByteCount, now: Instant) {
        self.received += bytes;
        self.read_until(self.received, now);
    }

    /// The application reads everything that has arrived in order: so many segments, and of them the first by itself. It does so when the acknowledgement has left
    /// (measured of Linux 6.1: that of a filled hole offers what is beside the memory of all that it let through).
    pub(crate) fn read_from(&mut self, first: ByteCount, segments: SegCount, now: Instant) {
        self.memory.release(segments);
        self.read_until(self.read + first, now);
        self.read_all(now);
    }

    /// The application has read everything that has arrived in order.
    fn read_all(&mut self, now: Instant) {
        self.read_until(self.received, now);
    }

    #[inline]
    fn read_until(&mut self, read: ByteCount, now: Instant) {
        self.read = read;
        if let Some(rtt) = self.rtt.average()
            && let Some(needed) = self.tuning.on_read(now, read, rtt)
        {
            self.grow_for(needed);
        }
    }

    #[cold]
    #[inline(never)]
    fn grow_for(&mut self, needed: ByteCount) {
        if self.memory.grow_for(needed) {
            self.window.clamp_to(self.memory.for_data());
        }
    }

    /// The window, if reading has made it twice what was offered, and so worth telling (RFC 9293 §3.8.6.2.2).
    #[cold]
    #[inline(never)]
    pub(crate) fn update(&mut self) -> Option<AdvertisedWindow> {
        let offered = self.window.offered(self.received);
        let free = self.memory.free().min(self.window.open());
        let is_told = free >= self.smss && free >= offered + offered;
        self.has_update |= is_told && self.tells_updates;
        is_told.then(|| self.advertise(Answered::Read))
    }

    /// Whether that is told by another acknowledgement, now.
    #[inline]
    pub(crate) fn take_update(&mut self) -> bool {
        std::mem::take(&mut self.has_update)
    }

    /// Whether the next acknowledgement would offer less than the last, were it not for what was offered already.
    pub(crate) fn shrinks(&self) -> bool {
        self.window.wanted(self.memory.free()) < self.advertised
    }

    /// The window that an acknowledgement advertises, as much as its field can say.
    #[inline]
    pub(crate) fn advertise(&mut self, answered: Answered) -> AdvertisedWindow {
        let free = match answered {
            Answered::Read => self.memory.free(),
            Answered::Unread => self.memory.room(),
            Answered::UnreadIfAsMuch => {
                let room = self.memory.room();
                if self.window.wanted(room) >= self.advertised {
                    room
                } else {
                    self.memory.free()
                }
            }
        };
        self.advertised = self.window.advertise(self.received, free);
        AdvertisedWindow::new(self.advertised, self.window.shift())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Params, Value};
    use crate::tcp::PARAMS;

    fn linux(smss: u64) -> ReceiveBuffer {
        let mut params = Params::defaults(PARAMS);
        params.set("smss", Value::Bytes(smss));
        params.set("header", Value::Bytes(52));
        params.set("receive_buffer_default", Value::Bytes(131_072));
        params.set("receive_buffer_max", Value::Bytes(6_291_456));
        *ReceiveBuffer::new(&Config::from(&params)).expect("a buffer")
    }

    fn at(secs: f64) -> Instant {
        Instant::from_secs(secs)
    }

    fn told(buffer: &mut ReceiveBuffer) -> u64 {
        buffer
            .advertise(Answered::Read)
            .bytes()
            .expect("a window")
            .get()
    }

    /// A segment comes that echoes the clock's start; whether the window opens.
    fn segment(buffer: &mut ReceiveBuffer, secs: f64) -> bool {
        buffer.on_segment(at(secs), Stamp::from_bits(0))
    }

    /// So many bytes come in order, and are not read yet.
    fn in_order(buffer: &mut ReceiveBuffer, bytes: u64) {
        buffer.received += ByteCount::new(bytes);
    }

    #[test]
    fn the_window_begins_as_linux_begins_it() {
        // Measured: the SYN's answer, and TCP_INFO's rcv_ssthresh and rcv_space once the connection is established.
        for (smss, first, then, round) in [
            (524, 65_500, 65_012, 5_240),
            (1448, 65_160, 64_088, 14_480),
            (8948, 62_636, 56_588, 56_588),
        ] {
            let mut buffer = linux(smss);
            assert_eq!((buffer.window.scale(), told(&mut buffer)), (7, first));
            buffer.on_established(at(0.0));
            assert_eq!(
                (buffer.window.open().get(), buffer.tuning.largest().get()),
                (then, round)
            );
        }
    }

    #[test]
    fn a_segment_that_is_to_be_read_takes_memory_from_the_window_unless_that_would_shrink() {
        let mut buffer = linux(1448);
        segment(&mut buffer, 0.0);
        in_order(&mut buffer, 15_928);
        buffer.read_all(at(1.0));
        segment(&mut buffer, 1.0);
        // (131400 - 2304) / 2 in units of 128 bytes, and all of it.
        buffer.window.open_up(|| buffer.memory.free());
        let mut told = |answered| buffer.advertise(answered).bytes().map(ByteCount::get);
        assert_eq!(told(Answered::UnreadIfAsMuch), Some(64_640));
        assert_eq!(told(Answered::UnreadIfAsMuch), Some(64_640));
        assert_eq!(told(Answered::Read), Some(65_792));
        assert_eq!(told(Answered::UnreadIfAsMuch), Some(65_792));
        // What was offered stays offered, until data come.
        assert_eq!(told(Answered::Unread), Some(65_792));
    }

    #[test]
    fn the_buffer_grows_with_what_is_read_in_a_round_trip_as_linux_lets_it() {
        // Measured: what was read in successive round trips, and the buffer then.
        for (smss, rounds) in [
            (
                1448,
                &[
                    (15_928, 131_400),
                    (28_960, 429_240),
                    (57_920, 840_960),
                    (97_016, 1_027_840),
                    (194_032, 2_487_840),
                ][..],
            ),
            (
                524,
                &[
                    (5_764, 131_072),
                    (10_480, 199_332),
                    (20_960, 390_528),
                    (41_920, 715_968),
                    (77_552, 1_141_752),
                    (143_052, 2_048_916),
                ],
            ),
            (8948, &[(71_584, 862_656), (134_220, 2_264_472)]),
        ] {
            let mut buffer = linux(smss);
            segment(&mut buffer, 0.0);
            let mut now = 0.0;
            for (copied, size) in rounds {
                now += 1.0;
                in_order(&mut buffer, *copied);
                buffer.read_all(at(now));
                assert_eq!(buffer.memory.size().get(), *size, "{smss}: {copied}");
            }
        }
    }

    #[test]
    fn what_a_filled_hole_lets_through_is_read_in_the_next_round_trip() {
        // Measured: 59 segments came through at once, and the window opened by ten more segments, as far as it could before.
        let mut buffer = linux(1448);
        segment(&mut buffer, 0.0);
        in_order(&mut buffer, 60 * 1448);
        buffer.read_from(ByteCount::new(1448), SegCount::ZERO, at(1.0));
        assert_eq!(
            buffer.memory.size().get(),
            131_072,
            "one segment has been read"
        );
        in_order(&mut buffer, 1448);
        buffer.read_all(at(2.0));
        assert_eq!(buffer.tuning.largest().get(), 60 * 1448);
    }

    #[test]
    fn the_window_opens_by_two_segments_as_far_as_the_buffer_reaches() {
        let mut buffer = linux(1448);
        assert!(!segment(&mut buffer, 0.0), "all of the buffer is offered");
        in_order(&mut buffer, 15_928);
        buffer.read_all(at(1.0));
        // (131400 - 2304) / 2: the segment itself takes memory.
        assert!(segment(&mut buffer, 1.0));
        assert_eq!(
            (buffer.window.open().get(), segment(&mut buffer, 1.0)),
            (64_548, false)
        );
        in_order(&mut buffer, 28_960);
        buffer.read_all(at(2.0));
        assert!(segment(&mut buffer, 2.0));
        assert_eq!(buffer.window.open().get(), 67_444);
        // 527 units of 128 bytes.
        assert_eq!(told(&mut buffer), 527 * 128);
    }

    #[test]
    fn the_right_edge_never_moves_back() {
        let mut buffer = linux(1448);
        buffer.on_established(at(0.0));
        let first = told(&mut buffer);
        for _ in 0..20 {
            segment(&mut buffer, 0.0);
            buffer.hold();
            assert_eq!(told(&mut buffer), first);
        }
    }

    #[test]
    fn a_window_without_scaling_stays_within_its_field() {
        let mut params = Params::defaults(PARAMS);
        params.set("receive_buffer_default", Value::Bytes(1 << 20));
        params.set("receive_auto_tuning", Value::Bool(false));
        params.set("window_scaling", Value::Bool(false));
        let mut buffer = ReceiveBuffer::new(&Config::from(&params)).expect("a buffer");
        for _ in 0..100 {
            segment(&mut buffer, 0.0);
            assert!(told(&mut buffer) <= 65_535);
        }
    }

    #[test]
    fn before_the_connection_is_established_the_window_is_told_to_the_byte() {
        // 45 segments of 1447 bytes.
        assert_eq!(told(&mut linux(1447)), 65_115);
    }

    #[test]
    fn without_scaling_what_is_free_is_told_to_the_byte() {
        let mut params = Params::defaults(PARAMS);
        params.set("smss", Value::Bytes(1448));
        params.set("receive_buffer_default", Value::Bytes(131_072));
        params.set("receive_auto_tuning", Value::Bool(false));
        params.set("window_scaling", Value::Bool(false));
        params.set("adv_win_scale", Value::Integer(-1));
        let mut buffer = ReceiveBuffer::new(&Config::from(&params)).expect("a buffer");
        buffer.on_established(at(0.0));
        assert_eq!(told(&mut buffer), 64_088);
        // 44 segments are in the buffer, which has half of the rest for data.
        for _ in 0..44 {
            buffer.on_in_order(ByteCount::new(1448));
        }
        assert_eq!(told(&mut buffer), (131_072 - 44 * 2304) / 2);
        buffer.read_from(ByteCount::new(1448), SegCount::new(44), at(1.0));
        assert_eq!(told(&mut buffer), 64_088);
    }

    #[test]
    fn the_memory_of_a_segment_is_expected_to_be_what_its_share_for_data_holds() {
        // 1664 bytes, of which half are 832.
        let mut buffer = linux(832);
        segment(&mut buffer, 0.0);
        in_order(&mut buffer, 20 * 832);
        buffer.read_all(at(1.0));
        // Twice what was read and 16 segments, and twice as much more, as it was twice the first round's: 168 segments.
        assert_eq!(buffer.memory.size().get(), 168 * 1664);
    }

    #[test]
    fn a_buffer_that_does_not_grow_offers_no_more() {
        let mut params = Params::defaults(PARAMS);
        params.set("smss", Value::Bytes(1448));
        params.set("receive_buffer_default", Value::Bytes(131_072));
        params.set("receive_buffer_max", Value::Bytes(131_072));
        let mut buffer = ReceiveBuffer::new(&Config::from(&params)).expect("a buffer");
        segment(&mut buffer, 0.0);
        in_order(&mut buffer, 60 * 1448);
        buffer.read_all(at(1.0));
        assert!(!segment(&mut buffer, 1.0));
        assert_eq!(
            (buffer.memory.size().get(), buffer.window.open().get()),
            (131_072, 64_088)
        );
    }
}
