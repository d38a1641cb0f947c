//! The SYN is acknowledged: how often it was sent, and how long that took.
//!
//! Specifications: RFC 6298 §5.7 (a SYN that was sent again), RFC 3522 §3.2 (whether that was needless).

use super::Rack;
use crate::events::Event;
use crate::tcp::sender::tx::Tx;
use crate::tcp::timestamps::Stamp;
use crate::units::{Duration, SegCount};

/// Data may flow. The answer repeats this timestamp, and gives this round trip.
#[cold]
#[inline(never)]
pub(super) fn on_established(
    rack: &mut Rack,
    tx: &mut Tx,
    now: Event,
    echo: Stamp,
    rtt: Option<Duration>,
) {
    if let Some(rtt) = rtt {
        tx.window.on_handshake(now.time, rtt);
    }
    // An answer to the first SYN shows that none was lost.
    let lost = match rack.congestion.undo.by_eifel(tx.seq.una, echo) {
        Some(_) => SegCount::ZERO,
        None => SegCount::new(tx.counters.retransmits),
    };
    tx.on_established(now, lost, rtt.is_some());
    rack.congestion.clear();
}
