//! Segmentation offload: a sender hands down bursts of segments, which the interface sends back to back, and how long these are.
//!
//! Specification: Linux's documentation of `tcp_min_tso_segs`, `tcp_tso_rtt_log` and `tcp_tso_win_divisor` (ip-sysctl), and measured (below).
//!
//! Model: a burst holds what the sender's rate is in about a millisecond, and more over a short path:
//!
//! ```text
//! burst = rate x tso_interval + tso_max_bytes / 2^floor(min_rtt / tso_rtt_log)      at least tso_min_segments, at most tso_max_bytes
//! ```
//!
//! in whole segments, where the rate is the one that the flow is, or would be, paced with (see [`super::pacer`]). A burst never crosses a multiple of
//! `tso_max_bytes`, in whole segments, of the stream of data: a kernel's buffers hold no more, and a burst is of one buffer. (Measured of Linux 6.1: at ten
//! segments a burst, four of them are followed by one of five or six.)
//!
//! A burst of new data that the window cuts short waits for the next acknowledgement, unless it is a `tso_window_divisor`-th of the window, the last
//! of the data, nothing is outstanding, or what is outstanding left less than half a round trip ago: then no acknowledgement is due soon.
//! A flow whose burst waits is limited by its window (RFC 7661 §3): measured, windows grow with offload as without.
//! While losses are repaired it does not wait. (Measured: Linux then sends segment by segment, with and without offload alike.)
//!
//! Deviations: retransmissions leave one by one. A kernel's first buffers hold half of the window that the receiver has offered: over 5 ms bursts end with segments
//! 22 and 32, then with every 40th.

use crate::units::{ByteCount, Duration, Rate, SegCount, floor, whole};

/// The parameters of segmentation offload.
#[derive(Clone, Copy, Debug)]
pub struct Segmentation {
    /// The most and the least that a burst holds.
    pub max: ByteCount,
    pub min: SegCount,
    /// `tso_interval` and `tso_rtt_log`.
    pub interval: Duration,
    pub rtt_log: Duration,
    /// 0: bursts do not wait.
    pub window_divisor: u64,
}

/// What a burst is made from.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// Segments of new data that the windows and the application allow now.
    pub sendable: SegCount,
    /// Whether the application has more than that.
    pub more: bool,
    /// The window, and what is in the path.
    pub window: SegCount,
    pub pipe: SegCount,
    /// Whether losses are being repaired.
    pub repairing: bool,
    /// The time since the oldest segment that is outstanding was sent.
    pub oldest_age: Duration,
    /// The smoothed round-trip time; infinite before one was measured.
    pub srtt: Duration,
}

impl Segmentation {
    /// Segments of a full burst at `rate`.
    pub fn burst(&self, rate: Rate, min_rtt: Duration, smss: ByteCount) -> SegCount {
        let max = self.max.as_f64();
        let distance = floor(min_rtt / self.rtt_log);
        let close = max * libm::exp2(-distance);
        let bytes = (rate.bps() / 8.0 * self.interval.secs() + close).min(max);
        let segments = SegCount::new(whole(bytes / smss.as_f64()));
        segments.max(self.min).min(self.buffer(smss))
    }

    /// Segments of a kernel's buffer: one at least.
    fn buffer(&self, smss: ByteCount) -> SegCount {
        (self.max / smss).max(SegCount::ONE)
    }

    /// Segments to the end of the buffer of the next one, which has so many with data `before` it.
    pub fn left_in_buffer(&self, before: SegCount, smss: ByteCount) -> SegCount {
        let buffer = self.buffer(smss);
        buffer - before % buffer
    }

    /// Whether a burst waits for more acknowledgements.
    pub fn waits(&self, burst: SegCount, moment: &Moment) -> bool {
        if self.window_divisor == 0 || moment.pipe.is_zero() || !moment.more || moment.repairing {
            return false;
        }
        let share = (moment.window / self.window_divisor).max(SegCount::ONE);
        moment.sendable < burst.min(share) && moment.oldest_age >= moment.srtt / 2.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::{bytes, secs, segs};

    const LINUX: Segmentation = Segmentation {
        max: ByteCount::new(65_536),
        min: SegCount::new(2),
        interval: Duration::from_secs(1.0 / 1024.0),
        rtt_log: Duration::from_secs(512e-6),
        window_divisor: 3,
    };

    fn burst(bps: f64, rtt: f64) -> u64 {
        let burst = LINUX.burst(Rate::from_bps(bps), secs(rtt), bytes(1448));
        burst.get()
    }

    fn left(before: u64, smss: u64) -> u64 {
        LINUX.left_in_buffer(segs(before), bytes(smss)).get()
    }

    #[test]
    fn a_burst_is_what_the_rate_sends_in_a_millisecond() {
        // 96 Mbit/s are 12 MB/s: 11718 bytes in 1/1024 s, 8 segments of 1448.
        assert_eq!(burst(96e6, 0.1), 8);
        assert_eq!(burst(1e6, 0.1), 2);
        // 45 segments fit into 64 KiB.
        assert_eq!(burst(1e10, 0.1), 45);
    }

    #[test]
    fn over_a_short_path_bursts_are_longer() {
        // 1 Mbit/s are 122 bytes; below 512 us of round trip 64 KiB are added, from then on half of that, and a quarter.
        assert_eq!(burst(1e6, 0.0001), 45);
        assert_eq!(burst(1e6, 0.0006), (32_768 + 122) / 1448);
        assert_eq!(burst(1e6, 0.0012), (16_384 + 122) / 1448);
    }

    #[test]
    fn a_burst_ends_with_its_buffer() {
        // 45 segments: at ten a burst, the fifth has five.
        let lengths: Vec<u64> = [0, 40, 44, 45].map(|before| left(before, 1448)).into();
        assert_eq!(lengths, [45, 5, 1, 45]);
        assert_eq!(left(0, 40_000), 1, "a segment at least");
        assert_eq!(left(0, 70_000), 1);
    }

    #[test]
    fn a_short_burst_waits_while_acknowledgements_are_due() {
        let moment = Moment {
            sendable: segs(3),
            more: true,
            window: segs(30),
            pipe: segs(27),
            repairing: false,
            oldest_age: secs(0.04),
            srtt: secs(0.05),
        };
        assert!(LINUX.waits(segs(8), &moment));
        let repairing = true;
        assert!(!LINUX.waits(
            segs(8),
            &Moment {
                repairing,
                ..moment
            }
        ));
        assert!(!LINUX.waits(segs(3), &moment), "it is full");
        assert!(
            !LINUX.waits(
                segs(8),
                &Moment {
                    more: false,
                    ..moment
                }
            ),
            "it is the last"
        );
        assert!(
            !LINUX.waits(
                segs(8),
                &Moment {
                    pipe: segs(0),
                    ..moment
                }
            ),
            "nothing will come"
        );
        // Three segments are a third of a window of ten.
        assert!(!LINUX.waits(
            segs(8),
            &Moment {
                window: segs(10),
                ..moment
            }
        ));
        // What is outstanding has just left.
        assert!(!LINUX.waits(
            segs(8),
            &Moment {
                oldest_age: secs(0.01),
                ..moment
            }
        ));
        let never = Segmentation {
            window_divisor: 0,
            ..LINUX
        };
        assert!(!never.waits(segs(8), &moment));
    }
}
