//! How much of the window is in use.
//!
//! Specification: RFC 7661 §4.1 (only a window that limits may grow), §4.2 (measured over a window's time).

use crate::cc::Windows;
use crate::tcp::sender::tx::Tx;

/// Over a window's time, the most.
#[derive(Debug, Default)]
pub struct Usage {
    /// The most that was outstanding, whether the window was the limit, and when its time ends.
    used: u64,
    limited: bool,
    end: u64,
    /// Something has been sent since that was looked at.
    has_sent: bool,
}

impl Usage {
    /// A segment leaves.
    #[inline]
    pub fn on_send(&mut self) {
        self.has_sent = true;
    }

    /// Nothing more leaves now.
    #[inline]
    pub fn on_stop(&mut self, tx: &Tx) {
        if self.has_sent {
            self.note(tx, false);
        }
    }

    /// Takes note of how much is in use, and whether the window is `full` although there is more to send.
    pub fn note(&mut self, tx: &Tx, full: bool) {
        self.has_sent = false;
        let outstanding = tx.seq.flight_size();
        if tx.seq.una >= self.end || full || (!self.limited && outstanding > self.used) {
            self.limited = full;
            self.used = outstanding;
            self.end = tx.seq.max;
        }
    }

    /// Whether the window limits what is sent (§4.1); in slow start half of the window in use is enough to double it.
    #[expect(clippy::cast_precision_loss, reason = "windows are far below 2^53")]
    pub fn limits(&self, Windows { cwnd, ssthresh }: Windows) -> bool {
        self.limited || (cwnd < ssthresh && cwnd < 2.0 * self.used as f64)
    }
}
