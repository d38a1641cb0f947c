//! The receiver's buffer: which window it advertises, and how it finds out how large it has to be.
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
//! Deviations: segments far smaller than the memory they take open the window more slowly in Linux. Memory pressure is not modelled.

use crate::tcp::params::Config;

/// Memory that a packet takes besides its bytes: what describes it, and headers, room and sharing information around its data.
const DESCRIPTION: u64 = 256;
const AROUND: u64 = 384;
/// What Linux expects a full segment to take besides its data when it sizes the buffer, and the step in which it raises that until the
/// share for data holds the segment.
const EXPECTED: u64 = 832;
const STEP: u64 = 128;
/// Fields of the TCP header without scaling, and the largest scale (RFC 7323 §2.3).
const LARGEST_FIELD: u64 = 65_535;
const LARGEST_SCALE: u32 = 14;
/// Segments of the first round trip.
const FIRST_ROUND: u64 = 10;
/// Segments added to what a round trip needs.
const SPARE: u64 = 16;

/// The receive buffer of one connection. Sizes are bytes.
#[derive(Debug)]
pub struct ReceiveBuffer {
    smss: u64,
    /// Memory of a full segment.
    segment_memory: u64,
    size: u64,
    max: u64,
    auto_tuning: bool,
    adv_win_scale: i64,
    scale: u32,
    /// The most that may be advertised, and how far the window has opened.
    clamp: u64,
    open: u64,
    /// One past the last byte that was advertised.
    edge: u64,
    /// Bytes received in order, bytes of them that have been read, and memory of segments that wait.
    received: u64,
    read: u64,
    held: u64,
    established: bool,
    /// The round trip, seconds, and the timestamp of the last sample.
    rtt: Option<f64>,
    last_echo: Option<u32>,
    /// When the current round began, what had been read then, and what was read in the largest one so far.
    round_start: f64,
    round_read: u64,
    largest_round: u64,
}

impl ReceiveBuffer {
    /// Nothing if the receiver's memory is not modelled.
    pub fn new(config: &Config) -> Option<Box<Self>> {
        let size = config.receive_buffer_default?;
        let smss = u64::from(config.smss);
        let max = config.receive_buffer_max.max(size);
        let mut buffer = Self {
            smss,
            segment_memory: packet_memory(smss + u64::from(config.header)),
            size,
            max,
            auto_tuning: config.receive_auto_tuning,
            adv_win_scale: config.adv_win_scale,
            scale: 0,
            clamp: 0,
            open: 0,
            edge: 0,
            received: 0,
            read: 0,
            held: 0,
            established: false,
            rtt: None,
            last_echo: None,
            round_start: 0.0,
            round_read: 0,
            largest_round: 0,
        };
        if config.window_scaling {
            let most = if config.receive_auto_tuning {
                max
            } else {
                size
            };
            buffer.scale = scale_for(most);
        }
        // The SYN's answer has a field without scale; it offers whole segments.
        let first = buffer.share_of(size).min(LARGEST_FIELD);
        buffer.open = (first / smss * smss).max(smss.min(first));
        Some(Box::new(buffer))
    }

    /// The connection is established: `tcp_app_win`'s documentation reserves one segment for the application.
    pub fn on_established(&mut self, now: f64) {
        if self.established {
            return;
        }
        self.established = true;
        self.clamp = self.share_of(self.size);
        if self.clamp > 2 * self.smss {
            self.clamp -= self.smss;
        }
        self.open = self.open.min(self.clamp).min(self.largest());
        self.largest_round = (FIRST_ROUND * self.smss).min(self.open);
        self.round_start = now;
    }

    /// Half of the window in full segments: what is acknowledged one by one at the start of a connection.
    pub fn quick_acks(&self) -> u64 {
        self.open / (2 * self.smss)
    }

    /// A full segment arrives, which echoes a timestamp in milliseconds. Whether the window opens.
    pub fn on_segment(&mut self, now: f64, echo: u32) -> bool {
        self.on_established(now);
        self.measure(now, echo);
        let room = self
            .share_of(self.size.saturating_sub(self.held + self.segment_memory))
            .min(self.clamp)
            .min(self.largest());
        if self.open >= room {
            return false;
        }
        self.open = (self.open + 2 * self.smss).min(room);
        true
    }

    /// A segment waits for one before it.
    pub fn hold(&mut self) {
        self.held += self.segment_memory;
    }

    /// So many bytes have arrived in order, and `filled` segments need not wait any more.
    pub fn on_in_order(&mut self, bytes: u64, filled: u64) {
        self.received += bytes;
        self.held = self.held.saturating_sub(filled * self.segment_memory);
    }

    /// The application reads everything that has arrived in order, of which the first segment has so many bytes.
    pub fn read_from(&mut self, first: u64, now: f64) {
        self.read_until(self.read + first, now);
        self.read_all(now);
    }

    /// The application has read everything that has arrived in order.
    pub fn read_all(&mut self, now: f64) {
        self.read_until(self.received, now);
    }

    fn read_until(&mut self, read: u64, now: f64) {
        self.read = read;
        let Some(rtt) = self.rtt else { return };
        // A hair of tolerance: clocks are binary fractions.
        if now - self.round_start < rtt - 1e-9 {
            return;
        }
        let copied = self.read - self.round_read;
        if copied > self.largest_round {
            self.resize(copied);
            self.largest_round = copied;
        }
        self.round_start = now;
        self.round_read = self.read;
    }

    /// The window in bytes that an acknowledgement advertises, as much as its field can say.
    pub fn advertise(&mut self) -> u64 {
        let free = self.share_of(
            self.size
                .saturating_sub(self.held + (self.received - self.read)),
        );
        let unit = 1 << if self.established { self.scale } else { 0 };
        // A power of two, so no division is needed.
        let whole_units = |bytes: u64| (bytes + (unit - 1)) & !(unit - 1);
        let wanted = whole_units(free.min(self.open));
        // RFC 9293 §3.8.6.2.1: what was offered stays offered.
        let still = whole_units(self.edge.saturating_sub(self.received));
        let window = wanted.max(still).min(LARGEST_FIELD * unit);
        self.edge = self.edge.max(self.received + window);
        window
    }

    /// Makes room for a round trip in which so much was read.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "sizes of buffers"
    )]
    fn resize(&mut self, copied: u64) {
        if !self.auto_tuning {
            return;
        }
        let needed = 2 * copied + SPARE * self.smss;
        let growth = (copied - self.largest_round) as f64 / self.largest_round.max(1) as f64;
        let needed = needed + 2 * (needed as f64 * growth) as u64;
        let mut memory = self.smss + EXPECTED;
        while self.share_of(memory) < self.smss {
            memory += STEP;
        }
        let size = (needed / self.smss * memory).min(self.max);
        if size > self.size {
            self.size = size;
            self.clamp = self.share_of(size);
        }
    }

    fn measure(&mut self, now: f64, echo: u32) {
        if self.last_echo.replace(echo) == Some(echo) {
            return;
        }
        let elapsed = millis(now).wrapping_sub(echo) & MILLIS;
        let sample = f64::from(elapsed.max(1)) / 1e3;
        self.rtt = Some(match self.rtt {
            Some(rtt) if sample > rtt => rtt + (sample - rtt) / 8.0,
            _ => sample,
        });
    }

    /// What of a buffer is for data (`tcp_adv_win_scale`).
    pub fn share(size: u64, adv_win_scale: i64) -> u64 {
        match adv_win_scale {
            scale @ 1.. => size - (size >> scale),
            scale => size >> -scale,
        }
    }

    fn share_of(&self, size: u64) -> u64 {
        Self::share(size, self.adv_win_scale)
    }

    /// The most that the field can say.
    fn largest(&self) -> u64 {
        LARGEST_FIELD << self.scale
    }
}

/// Memory of a packet of so many bytes: pages are given out in powers of two (measured: 1280 for 576 bytes, 2304 for 1500).
fn packet_memory(wire_bytes: u64) -> u64 {
    DESCRIPTION + (wire_bytes + AROUND).next_power_of_two()
}

/// The scale with which the field can say how large the buffer may become (RFC 7323 §2.2).
fn scale_for(most: u64) -> u32 {
    (0..LARGEST_SCALE)
        .find(|scale| most >> scale <= LARGEST_FIELD)
        .unwrap_or(LARGEST_SCALE)
}

/// Timestamps count milliseconds and start again after 2^23 of them.
pub const MILLIS: u32 = (1 << 23) - 1;

/// The clock of the timestamps (RFC 7323 §5.4 allows a tick of 1 ms).
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive time of less than centuries; the clock wraps"
)]
pub fn millis(secs: f64) -> u32 {
    // A hair of tolerance: a tick that is due now has come.
    (secs * 1e3 + 1e-6) as u64 as u32 & MILLIS
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

    #[test]
    fn the_window_begins_as_linux_begins_it() {
        // Measured: the SYN's answer, and TCP_INFO's rcv_ssthresh and rcv_space once the connection is established.
        for (smss, first, then, round) in [
            (524, 65_500, 65_012, 5_240),
            (1448, 65_160, 64_088, 14_480),
            (8948, 62_636, 56_588, 56_588),
        ] {
            let mut buffer = linux(smss);
            assert_eq!((buffer.scale, buffer.advertise()), (7, first));
            buffer.on_established(0.0);
            assert_eq!((buffer.open, buffer.largest_round), (then, round));
        }
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
            buffer.on_segment(0.0, 0);
            let mut now = 0.0;
            for (copied, size) in rounds {
                now += 1.0;
                buffer.on_in_order(*copied, 0);
                buffer.read_all(now);
                assert_eq!(buffer.size, *size, "{smss}: {copied}");
            }
        }
    }

    #[test]
    fn what_a_filled_hole_lets_through_is_read_in_the_next_round_trip() {
        // Measured: 59 segments came through at once, and the window opened by ten more segments, as far as it could before.
        let mut buffer = linux(1448);
        buffer.on_segment(0.0, 0);
        buffer.on_in_order(60 * 1448, 58);
        buffer.read_from(1448, 1.0);
        assert_eq!(buffer.size, 131_072, "one segment has been read");
        buffer.on_in_order(1448, 0);
        buffer.read_all(2.0);
        assert_eq!(buffer.largest_round, 60 * 1448);
    }

    #[test]
    fn the_window_opens_by_two_segments_as_far_as_the_buffer_reaches() {
        let mut buffer = linux(1448);
        assert!(!buffer.on_segment(0.0, 0), "all of the buffer is offered");
        buffer.on_in_order(15_928, 0);
        buffer.read_all(1.0);
        // (131400 - 2304) / 2: the segment itself takes memory.
        assert!(buffer.on_segment(1.0, 0));
        assert_eq!((buffer.open, buffer.on_segment(1.0, 0)), (64_548, false));
        buffer.on_in_order(28_960, 0);
        buffer.read_all(2.0);
        assert!(buffer.on_segment(2.0, 0));
        assert_eq!(buffer.open, 67_444);
        // 527 units of 128 bytes.
        assert_eq!(buffer.advertise(), 527 * 128);
    }

    #[test]
    fn a_shorter_round_trip_replaces_the_average_and_a_longer_one_counts_an_eighth() {
        let mut buffer = linux(1448);
        buffer.on_segment(0.061, 20);
        assert_eq!(buffer.rtt, Some(0.041));
        buffer.on_segment(0.105, 62);
        assert_eq!(buffer.rtt, Some(0.041 + 0.002 / 8.0));
        buffer.on_segment(0.300, 62);
        assert_eq!(buffer.rtt, Some(0.041 + 0.002 / 8.0), "the same echo");
        buffer.on_segment(0.340, 300);
        assert_eq!(buffer.rtt, Some(0.040));
    }

    #[test]
    fn the_right_edge_never_moves_back() {
        let mut buffer = linux(1448);
        buffer.on_established(0.0);
        let first = buffer.advertise();
        for _ in 0..20 {
            buffer.on_segment(0.0, 0);
            buffer.hold();
            assert_eq!(buffer.advertise(), first);
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
            buffer.on_segment(0.0, 0);
            assert!(buffer.advertise() <= 65_535);
        }
    }

    #[test]
    fn before_the_connection_is_established_the_window_is_told_to_the_byte() {
        // 45 segments of 1447 bytes.
        assert_eq!(linux(1447).advertise(), 65_115);
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
        buffer.on_established(0.0);
        assert_eq!(buffer.advertise(), 64_088);
        // As much is in the buffer, which has half of the rest for data.
        buffer.on_in_order(64_088, 0);
        assert_eq!(buffer.advertise(), (131_072 - 64_088) / 2);
    }

    #[test]
    fn the_memory_of_a_segment_is_expected_to_be_what_its_share_for_data_holds() {
        // 1664 bytes, of which half are 832.
        let mut buffer = linux(832);
        buffer.on_segment(0.0, 0);
        buffer.on_in_order(20 * 832, 0);
        buffer.read_all(1.0);
        // Twice what was read and 16 segments, and twice as much more, as it was twice the first round's: 168 segments.
        assert_eq!(buffer.size, 168 * 1664);
    }

    #[test]
    fn a_buffer_that_does_not_grow_offers_no_more() {
        let mut params = Params::defaults(PARAMS);
        params.set("smss", Value::Bytes(1448));
        params.set("receive_buffer_default", Value::Bytes(131_072));
        params.set("receive_buffer_max", Value::Bytes(131_072));
        let mut buffer = ReceiveBuffer::new(&Config::from(&params)).expect("a buffer");
        buffer.on_segment(0.0, 0);
        buffer.on_in_order(60 * 1448, 0);
        buffer.read_all(1.0);
        assert!(!buffer.on_segment(1.0, 0));
        assert_eq!((buffer.size, buffer.open), (131_072, 64_088));
    }
}
