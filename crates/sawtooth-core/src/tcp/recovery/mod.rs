//! Loss detection and repair, one file per variant. Each adds its methods to [`Sender`](super::sender::Sender).
//!
//! Common to all: a loss is signalled by `dup_thresh` duplicate acknowledgements, and not again before everything that was
//! outstanding at the last signal (`recovery_point`) has been acknowledged (RFC 6582 §3.2 step 1).

mod fack;
mod newreno;
mod rack;
mod reno;
mod sack;
mod tahoe;

pub use rack::Rack;

use super::params::Recovery;
use super::scoreboard::RangeSet;
use super::sender::{SendAllowance, Sender};
use crate::packet::Ack;
use crate::registry::Entry;

/// The loss recoveries a study can name.
pub const TABLE: &[Entry<()>] = &[
    tahoe::ENTRY,
    reno::ENTRY,
    newreno::ENTRY,
    sack::ENTRY,
    fack::ENTRY,
    rack::ENTRY,
];

/// Why the window was last reduced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reduction {
    Never,
    /// A loss whose recovery is under way.
    Loss,
    /// A loss that has been recovered from.
    Recovered,
    Timeout,
}

/// What a recovery remembers.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub struct State {
    /// Everything below was outstanding when the last loss was signalled.
    pub recovery_point: u64,
    pub last_reduction: Reduction,
    /// A partial acknowledgement has been seen in this recovery.
    pub partial_seen: bool,
    /// The segment for which the retransmission timer last expired, while it is still missing.
    pub timeout_of: Option<u64>,
    /// SACK: between a loss and its recovery point.
    pub in_recovery: bool,
    /// SACK: after a timeout, duplicate acknowledgements mean nothing until new data is acknowledged.
    pub after_timeout: bool,
    /// SACK: what the receiver holds above `snd_una`.
    pub scoreboard: RangeSet,
    /// SACK: one past the highest segment retransmitted in this recovery (HighRxt + 1).
    pub high_rxt: u64,
    /// SACK: segments of the scoreboard below `high_rxt`.
    pub sacked_below_high_rxt: u64,
    /// SACK: the estimate of what is in the path, where it is a counter.
    pub pipe: i64,
    /// SACK: the rescue retransmission has been used (RFC 6675 §4, NextSeg rule 4).
    pub rescued: bool,
}

impl State {
    pub fn new(_recovery: Recovery) -> Self {
        Self {
            recovery_point: 1,
            last_reduction: Reduction::Never,
            partial_seen: false,
            timeout_of: None,
            in_recovery: false,
            after_timeout: false,
            scoreboard: RangeSet::default(),
            high_rxt: 0,
            sacked_below_high_rxt: 0,
            pipe: 0,
            rescued: false,
        }
    }
}

impl Sender {
    /// Whether a loss may be signalled: all that was outstanding at the last signal has arrived. As measured of ns-2, which has no
    /// number for "nothing yet", repetitions of the SYN's acknowledgement are always believed.
    pub(super) fn recovered(&self) -> bool {
        self.snd_una > self.state.recovery_point
            || self.state.last_reduction == Reduction::Never
            || (self.config.ns2_algorithms && self.snd_una == 1)
    }

    /// Counts a duplicate acknowledgement; before the threshold it may allow a segment of limited transmit.
    pub(super) fn count_dupack(&mut self) {
        self.dupacks += 1;
        self.counters.dupacks_in += 1;
        if self.dupacks < self.config.dup_thresh {
            self.permit = if self.config.limited_transmit {
                SendAllowance::One
            } else {
                SendAllowance::Nothing
            };
        }
    }

    /// Whether `ack` repeats the last one while data is outstanding.
    pub(super) fn is_dupack(&self, ack: &Ack) -> bool {
        ack.next == self.snd_una && self.snd_max > self.snd_una
    }

    /// What a timeout ends.
    pub(super) fn recovery_on_timeout(&mut self) {
        // Tahoe, which knows no recovery, goes on counting; so does ns-2's.
        if self.config.recovery != Recovery::Tahoe {
            self.dupacks = 0;
        }
        self.window.inflation = 0;
        self.state.recovery_point = self.snd_max;
        self.state.last_reduction = Reduction::Timeout;
        self.state.partial_seen = false;
        self.state.in_recovery = false;
        self.state.after_timeout = true;
        self.clear_scoreboard();
        self.state.high_rxt = 0;
        self.state.sacked_below_high_rxt = 0;
        self.pending = None;
    }
}
