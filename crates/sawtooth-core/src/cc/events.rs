//! What happened, in the structs in which the transport passes it to an algorithm.

use crate::units::{ByteCount, Duration, Instant, SegCount, SeqNum, WindowSize};

/// New data was acknowledged, or reported to have arrived.
#[derive(Clone, Copy, Debug)]
pub struct AckedData {
    /// When it reached the sender.
    pub now: Instant,
    /// Segments newly acknowledged, cumulatively.
    pub acked: SegCount,
    /// What counts for the growth of the window: 1 for an acknowledgement (RFC 5681 §3.1), or `acked` (RFC 3465).
    pub counted: SegCount,
    /// Segments newly known to have arrived, cumulatively or selectively (RFC 6937's DeliveredData).
    pub delivered: SegCount,
    /// Segments that this acknowledgement showed to be lost.
    pub lost: SegCount,
    /// Of those delivered, how many arrived with Congestion Experienced (RFC 3168).
    pub marked: SegCount,
    /// Segments outstanding before this acknowledgement.
    pub flight_size: SegCount,
    /// Segments considered in the path after it (RFC 6675 §4's pipe).
    pub pipe: SegCount,
    /// The first segment that is not acknowledged (RFC 9293 §3.3.1's SND.UNA). A round trip is over when it reaches what `snd_nxt` was at its start.
    pub snd_una: SeqNum,
    /// One past the last segment that was sent (SND.NXT).
    pub snd_nxt: SeqNum,
    /// A round-trip time sample, if this acknowledgement gave one.
    pub rtt: Option<Duration>,
    /// Whether the loss recovery in force lets the window grow: not between a loss and its recovery point.
    pub may_grow: bool,
    /// What is known of the path's order after it.
    pub order: PathOrder,
    /// Whether the window limited what was sent, rather than the application or the receiver (cwnd-limited, RFC 7661 §3).
    pub cwnd_limited: bool,
    /// How fast data was delivered, where the stack measures that.
    pub rate: Option<RateSample>,
    /// Where segments are paced: how long the next one has to wait for its time yet.
    pub waits: Duration,
}

/// What is known of the order in which a path delivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathOrder {
    /// Nothing is known to be out of order or missing.
    InOrder,
    /// Something after SND.UNA is known to have arrived, or to be missing, while no loss is being recovered from.
    Disordered,
    /// Between a loss, a mark or a timeout and its recovery point.
    Repairing,
}

/// A sample of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation-02 §3.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Segments delivered over the interval.
    pub delivered: SegCount,
    /// The longer of the times in which they were sent and acknowledged.
    pub interval: Duration,
    /// Segments that had been delivered, over the connection's life, when the last segment delivered now was sent.
    pub prior_delivered: SegCount,
    /// Segments that have been delivered by now, over the connection's life.
    pub total_delivered: SegCount,
    /// Segments lost over the same interval.
    pub lost: SegCount,
    /// Segments lost by now, over the connection's life.
    pub total_lost: SegCount,
    /// Segments in the path when that segment had been sent.
    pub pipe_at_send: SegCount,
    /// Whether the application did not have enough to send then: the path may be faster than this.
    pub app_limited: bool,
}

/// An acknowledgement, whatever it means.
#[derive(Clone, Copy, Debug)]
pub struct AckArrival {
    /// When it reached the sender.
    pub now: Instant,
    /// Segments acknowledged cumulatively; 0: it repeats the last one.
    pub acked: SegCount,
    /// As in [`AckedData`], where the recovery measures before it decides.
    pub rtt: Option<Duration>,
    /// Whether it reports something that has arrived out of order, or again (RFC 2018, RFC 2883), or echoes a mark (RFC 3168).
    pub reports: bool,
    /// The window that it offers; without an end if it offers any.
    pub window: ByteCount,
}

/// What an acknowledgement says of marks.
#[derive(Clone, Copy, Debug)]
pub struct AckedMarks {
    /// When it reached the sender.
    pub now: Instant,
    /// Segments that it shows to have arrived.
    pub delivered: SegCount,
    /// Those of them that came with Congestion Experienced.
    pub marked: SegCount,
    /// As in [`AckedData`].
    pub snd_una: SeqNum,
    /// As in [`AckedData`].
    pub snd_nxt: SeqNum,
}

/// What says that there is congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A loss that duplicate or selective acknowledgements show.
    Loss,
    /// Congestion Experienced was echoed.
    Ecn,
    /// The retransmission timer expired.
    Rto,
}

/// The first sign of an episode (RFC 5681's "congestion event").
#[derive(Clone, Copy, Debug)]
pub struct Episode {
    /// When the sender saw it.
    pub now: Instant,
    /// What it was.
    pub signal: Signal,
    /// The window that a multiplicative decrease starts from: FlightSize (RFC 5681 equation 4), or the usable
    /// window where the stack reduces that.
    pub window: WindowSize,
    /// Whether the slow-start threshold is rounded down to whole segments.
    pub whole_ssthresh: bool,
    /// Whether to follow ns-2 where it departs from the specification.
    pub ns2: bool,
}

impl Episode {
    /// `window`, as a slow-start threshold: rounded where the stack rounds, and at least 2 segments (RFC 5681 equation 4).
    pub fn threshold(&self, window: WindowSize) -> WindowSize {
        let window = if self.whole_ssthresh {
            window.trunc()
        } else {
            window
        };
        window.max(WindowSize::from_segments(2.0))
    }

    /// The congestion window after a loss that leaves `window`: the slow-start threshold (RFC 5681 §3.2 step 3, without the inflation).
    /// ns-2 leaves the window itself: unrounded, and down to half a segment. Nothing would be left of a window without segments, which ns-2 does not have: a sender would wait forever.
    pub fn reduced(&self, window: WindowSize) -> WindowSize {
        if self.ns2 {
            if window == WindowSize::from_segments(0.0) {
                WindowSize::ONE
            } else {
                window
            }
        } else {
            self.threshold(window)
        }
    }
}

/// The congestion window and the slow-start threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Windows {
    /// How much may be in flight, as far as the path is concerned (RFC 5681 §2).
    pub cwnd: WindowSize,
    /// Slow start ends here (RFC 5681 §3.1); infinite of an algorithm that has none.
    pub ssthresh: WindowSize,
}

impl Windows {
    /// Those of an algorithm with a model of the path.
    pub const fn without_threshold(cwnd: WindowSize) -> Self {
        Self {
            cwnd,
            ssthresh: WindowSize::INFINITE,
        }
    }
}

/// A window that the transport sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prescribed {
    /// By a loss recovery's specification (RFC 6582 §3.2 step 3, RFC 6937, or Tahoe's restart).
    Cwnd(WindowSize),
    /// From before a spurious loss, or remembered from another connection.
    Ssthresh(WindowSize),
}

impl Prescribed {
    /// The congestion window, for an algorithm that has no threshold.
    pub fn cwnd(self) -> Option<WindowSize> {
        match self {
            Self::Cwnd(cwnd) => Some(cwnd),
            Self::Ssthresh(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::loss_at;

    #[test]
    fn rfc5681_equation_4_a_threshold_is_two_segments_at_least_and_whole_where_the_stack_says() {
        let left = |episode: &Episode, window| {
            let window = WindowSize::from_segments(window);
            [episode.threshold(window), episode.reduced(window)].map(WindowSize::segments)
        };
        let plain = loss_at(1.0, 64.0);
        assert_eq!(left(&plain, 10.7), [10.7, 10.7]);
        assert_eq!(left(&plain, 1.5), [2.0, 2.0]);
        let whole = Episode {
            whole_ssthresh: true,
            ..plain
        };
        assert_eq!(left(&whole, 10.7), [10.0, 10.0]);
        let ns2 = Episode { ns2: true, ..whole };
        assert_eq!(left(&ns2, 0.5), [2.0, 0.5]);
        assert_eq!(left(&ns2, 10.7), [10.0, 10.7]);
    }
}
