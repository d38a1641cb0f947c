//! Congestion control: hears what happened to a flow, answers how much may be in flight and how fast.
//!
//! The transport detects losses and says what it saw in event structs; the algorithm owns its window and nobody else
//! writes it, except where a loss recovery's own specification prescribes a window ([`CongestionControl::set_cwnd`]).
//! Windows are in segments of SMSS bytes and may be fractional.
//!
//! To add one: one file in this folder, one `mod` line, one row of [`TABLE`].

mod highspeed;
mod reno;

use std::fmt::Debug;

use crate::registry::{Entry, Params};
use crate::units::{Instant, Rate};

/// Constructor of a table row.
pub type New = fn(&Params, Start) -> Box<dyn CongestionControl>;

/// All congestion controls.
pub const TABLE: &[Entry<New>] = &[reno::ENTRY, highspeed::ENTRY];

/// What a connection starts with.
#[derive(Clone, Copy, Debug)]
pub struct Start {
    /// Initial window, segments.
    pub cwnd: f64,
    /// Initial slow-start threshold, segments; infinite when "arbitrarily high" (RFC 5681 §3.1).
    pub ssthresh: f64,
    /// Whether to follow ns-2 where it departs from the specification.
    pub ns2: bool,
}

/// A segment left.
#[derive(Clone, Copy, Debug)]
pub struct Send {
    pub now: Instant,
    pub seq: u64,
    pub retransmission: bool,
}

/// New data was acknowledged.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    pub now: Instant,
    /// Segments newly acknowledged, cumulatively.
    pub acked: u64,
    /// Segments outstanding before this acknowledgement.
    pub flight_size: u64,
    /// A round-trip time sample, seconds, if this acknowledgement gave one.
    pub rtt_secs: Option<f64>,
    /// Whether the loss recovery in force lets the window grow: not between a loss and its recovery point.
    pub may_grow: bool,
}

/// The first sign of a loss episode (RFC 5681's "congestion event").
#[derive(Clone, Copy, Debug)]
pub struct Episode {
    pub now: Instant,
    /// The window that a multiplicative decrease starts from, segments: FlightSize (RFC 5681 equation 4), or the usable
    /// window where the stack reduces that.
    pub window: f64,
    /// Segments sent and not cumulatively acknowledged.
    pub flight_size: u64,
    /// Whether the slow-start threshold is rounded down to whole segments.
    pub whole_ssthresh: bool,
    /// Whether to follow ns-2 where it departs from the specification.
    pub ns2: bool,
}

impl Episode {
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

/// Receives an algorithm's own variables by their names in its paper.
pub type Probe<'a> = dyn FnMut(&'static str, f64) + 'a;

/// A congestion control algorithm for one connection.
pub trait CongestionControl: Debug + std::marker::Send {
    /// New data was acknowledged.
    fn on_ack(&mut self, ack: &Ack);

    /// Loss detected by duplicate or selective acknowledgements, once per recovery point.
    fn on_loss(&mut self, loss: &Episode);

    /// Congestion Experienced was echoed, once per window.
    fn on_ecn(&mut self, mark: &Episode) {
        self.on_loss(mark);
    }

    /// The retransmission timer expired.
    fn on_rto(&mut self, rto: &Episode);

    /// The last episode was spurious.
    fn on_undo(&mut self) {}

    /// A segment left.
    fn on_send(&mut self, _send: &Send) {}

    /// A window that the loss recovery's specification prescribes (RFC 6582 §3.2 steps 3 and 5, or Tahoe's restart).
    fn set_cwnd(&mut self, cwnd: f64);

    /// The congestion window, segments.
    fn cwnd(&self) -> f64;

    /// The slow-start threshold, segments; infinite before the first loss unless set.
    fn ssthresh(&self) -> f64;

    /// How fast to send, if the algorithm paces.
    fn pacing_rate(&self) -> Option<Rate> {
        None
    }

    /// Reports the algorithm's own variables.
    fn probe(&self, _out: &mut Probe<'_>) {}
}
