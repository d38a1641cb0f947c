//! The law by which the windows of a class change: constants of an AIMD congestion control over a TCP.

use crate::tcp::Config;
use crate::units::{ByteCount, Duration};

/// What a class's flows have in common. Windows are in segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FluidLaw {
    /// Application bytes of a segment.
    pub smss: ByteCount,
    /// Bytes of a segment on a link.
    pub segment: ByteCount,
    /// The window of a new connection (RFC 5681 §3.1's IW, RFC 6928).
    pub initial_window: f64,
    /// Where slow start ends even without a loss.
    pub ssthresh: f64,
    /// No window is larger.
    pub window_limit: f64,
    /// What counts of a segment that is acknowledged: all of it, or where acknowledgements are counted (RFC 5681) the share of one that acknowledges several.
    pub growth: f64,
    /// By how much a window grows when it has been acknowledged in congestion avoidance.
    pub increase: f64,
    /// What a loss leaves of a window.
    pub beta: f64,
    /// Windows below this have too few duplicate acknowledgements for a fast retransmission: DupThresh and one (RFC 5681 §3.2).
    pub fast_retransmit: f64,
    /// Bounds of the retransmission timeout (RFC 6298 §2): the least one, and the clock's granularity.
    pub rto_min: Duration,
    /// G of RFC 6298 §2.
    pub rto_granularity: Duration,
}

impl FluidLaw {
    /// That of a TCP whose congestion control adds `increase` segments in a round trip, and leaves `beta` of a window.
    pub fn new(tcp: &Config, increase: f64, beta: f64) -> Self {
        let growth = if tcp.byte_counting {
            1.0
        } else {
            1.0 / tcp.ack_every.as_f64()
        };
        Self {
            smss: tcp.smss,
            segment: tcp.smss + tcp.header,
            initial_window: tcp.initial_window.segments(),
            ssthresh: tcp.initial_ssthresh.segments(),
            window_limit: tcp.window_limit.segments(),
            growth,
            increase,
            beta,
            fast_retransmit: f64::from(tcp.dup_thresh) + 1.0,
            rto_min: tcp.rto.min,
            rto_granularity: tcp.rto.granularity,
        }
    }

    /// The retransmission timeout over a path whose round-trip time is steady (RFC 6298 §2.3).
    pub(super) fn rto(&self, rtt: Duration) -> Duration {
        (rtt + self.rto_granularity).max(self.rto_min)
    }
}
