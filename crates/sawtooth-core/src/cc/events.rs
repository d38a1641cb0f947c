//! What the transport tells an algorithm: structs of what happened. Windows are in segments of SMSS bytes.

use crate::units::Instant;

/// New data was acknowledged, or reported to have arrived.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub now: Instant,
    /// Segments newly acknowledged, cumulatively.
    pub acked: u64,
    /// What counts for the growth of the window, segments: 1 for an acknowledgement (RFC 5681 §3.1), or `acked` (RFC 3465).
    pub counted: u64,
    /// Segments newly known to have arrived, cumulatively or selectively (RFC 6937's DeliveredData).
    pub delivered: u64,
    /// Segments that this acknowledgement showed to be lost.
    pub lost: u64,
    /// Of those delivered, how many arrived with Congestion Experienced (RFC 3168).
    pub marked: u64,
    /// Segments outstanding before this acknowledgement.
    pub flight_size: u64,
    /// Segments considered in the path after it (RFC 6675 §4's pipe).
    pub pipe: u64,
    /// The first segment not acknowledged, and one past the last one sent: a round trip has passed when the first reaches what the
    /// second was.
    pub snd_una: u64,
    pub snd_nxt: u64,
    /// A round-trip time sample, seconds, if this acknowledgement gave one.
    pub rtt_secs: Option<f64>,
    /// Whether the loss recovery in force lets the window grow: not between a loss and its recovery point.
    pub may_grow: bool,
    /// Whether the window limited what was sent, rather than the application or the receiver (RFC 7661 §4.1).
    pub cwnd_limited: bool,
    /// How fast data was delivered, where the stack measures that.
    pub rate: Option<RateSample>,
}

impl Ack {
    /// An acknowledgement of `acked` segments, all of which count, of a sender limited by its window of `flight_size`; for tests and
    /// for recoveries that know no more.
    pub fn of(now: Instant, acked: u64, flight_size: u64) -> Self {
        Self {
            now,
            acked,
            counted: acked,
            delivered: acked,
            lost: 0,
            marked: 0,
            flight_size,
            pipe: flight_size.saturating_sub(acked),
            snd_una: 0,
            snd_nxt: 0,
            rtt_secs: None,
            may_grow: true,
            cwnd_limited: true,
            rate: None,
        }
    }
}

/// A sample of the delivery rate (draft-cheng-iccrg-delivery-rate-estimation-02 §3.2).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateSample {
    /// Segments delivered over the interval.
    pub delivered: u64,
    /// The longer of the times in which they were sent and acknowledged, seconds.
    pub interval_secs: f64,
    /// Segments that had been delivered, over the connection's life, when the last segment delivered now was sent; and now.
    pub prior_delivered: u64,
    pub total_delivered: u64,
    /// Segments lost over the same interval, and over the connection's life.
    pub lost: u64,
    pub total_lost: u64,
    /// Segments in the path when that segment had been sent.
    pub pipe_at_send: u64,
    /// Whether the application did not have enough to send then: the path may be faster than this.
    pub app_limited: bool,
}

impl RateSample {
    /// Segments per second.
    #[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
    pub fn segments_per_sec(&self) -> f64 {
        self.delivered as f64 / self.interval_secs
    }
}

/// An acknowledgement, whatever it means.
#[derive(Clone, Copy, Debug)]
pub struct AckArrival {
    pub now: Instant,
    /// Segments acknowledged cumulatively; 0: it repeats the last one.
    pub acked: u64,
    /// As in [`Ack`], where the recovery measures before it decides.
    pub rtt_secs: Option<f64>,
}

/// What an acknowledgement says of marks.
#[derive(Clone, Copy, Debug)]
pub struct Marks {
    pub now: Instant,
    /// Segments that it shows to have arrived, and those of them that came marked.
    pub delivered: u64,
    pub marked: u64,
    /// As in [`Ack`].
    pub snd_una: u64,
    pub snd_nxt: u64,
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
    pub now: Instant,
    pub signal: Signal,
    /// The window that a multiplicative decrease starts from, segments: FlightSize (RFC 5681 equation 4), or the usable
    /// window where the stack reduces that.
    pub window: f64,
    /// Whether the slow-start threshold is rounded down to whole segments.
    pub whole_ssthresh: bool,
    /// Whether to follow ns-2 where it departs from the specification.
    pub ns2: bool,
}

impl Episode {
    /// A loss at a window of `window` segments, for tests.
    pub const fn of(now: Instant, window: f64) -> Self {
        Self {
            now,
            signal: Signal::Loss,
            window,
            whole_ssthresh: false,
            ns2: false,
        }
    }

    /// `window`, as a slow-start threshold: rounded where the stack rounds, and at least 2 segments (RFC 5681 equation 4).
    pub fn threshold(&self, window: f64) -> f64 {
        let window = if self.whole_ssthresh {
            window.trunc()
        } else {
            window
        };
        window.max(2.0)
    }

    /// The congestion window after a loss that leaves `window`: the slow-start threshold (RFC 5681 §3.2 step 3, without the inflation).
    /// ns-2 leaves the window itself: unrounded, and down to half a segment.
    pub fn reduced(&self, window: f64) -> f64 {
        if self.ns2 {
            window
        } else {
            self.threshold(window)
        }
    }
}

/// The congestion window and the slow-start threshold, segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Windows {
    pub cwnd: f64,
    pub ssthresh: f64,
}

impl Windows {
    /// Those of an algorithm with a model of the path.
    pub const fn without_threshold(cwnd: f64) -> Self {
        Self {
            cwnd,
            ssthresh: f64::INFINITY,
        }
    }
}

/// A window that the transport sets, segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prescribed {
    /// By a loss recovery's specification (RFC 6582 §3.2 steps 3 and 5, RFC 6937, or Tahoe's restart).
    Cwnd(f64),
    /// From before a spurious loss, or remembered from another connection.
    Ssthresh(f64),
}

impl Prescribed {
    /// Sets the one of two windows that it is of.
    pub fn set(self, cwnd: &mut f64, ssthresh: &mut f64) {
        match self {
            Self::Cwnd(window) => *cwnd = window,
            Self::Ssthresh(window) => *ssthresh = window,
        }
    }

    /// The congestion window, for an algorithm that has no threshold.
    pub fn cwnd(self) -> Option<f64> {
        match self {
            Self::Cwnd(cwnd) => Some(cwnd),
            Self::Ssthresh(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rfc5681_equation_4_a_threshold_is_two_segments_at_least_and_whole_where_the_stack_says() {
        let plain = Episode::of(Instant::from_secs(1.0), 64.0);
        assert_eq!(plain.threshold(10.7), 10.7);
        assert_eq!(plain.threshold(1.5), 2.0);
        assert_eq!(plain.reduced(1.5), 2.0);
        let whole = Episode {
            whole_ssthresh: true,
            ..plain
        };
        assert_eq!((whole.threshold(10.7), whole.reduced(10.7)), (10.0, 10.0));
        let ns2 = Episode { ns2: true, ..whole };
        assert_eq!((ns2.threshold(0.5), ns2.reduced(0.5)), (2.0, 0.5));
        assert_eq!(ns2.reduced(10.7), 10.7);
    }

    #[test]
    fn a_rate_sample_is_what_was_delivered_over_its_interval() {
        let sample = RateSample {
            delivered: 30,
            interval_secs: 0.5,
            prior_delivered: 0,
            total_delivered: 30,
            lost: 0,
            total_lost: 0,
            pipe_at_send: 0,
            app_limited: false,
        };
        assert_eq!(sample.segments_per_sec(), 60.0);
    }

    #[test]
    fn an_acknowledgement_leaves_in_the_path_what_it_does_not_acknowledge() {
        assert_eq!(Ack::of(Instant::from_secs(1.0), 3, 10).pipe, 7);
        assert_eq!(Ack::of(Instant::from_secs(1.0), 3, 2).pipe, 0);
    }
}
