//! Tail loss probe: if nothing is heard of the end of a flight, a segment more finds out whether it was lost.
//!
//! Specification: RFC 8985 §7.2 (when a probe is due), §7.3 (what it is), §7.4.2 (whether it has repaired a loss that nothing else has shown).

/// The probe that is out, if any.
#[derive(Debug, Default)]
pub struct Tlp {
    /// The end of the flight that is being probed (TLP.end_seq), and whether the probe was a retransmission.
    probe: Option<(u64, bool)>,
}

impl Tlp {
    /// Whether a probe is out.
    pub fn is_out(&self) -> bool {
        self.probe.is_some()
    }

    /// A probe leaves, up to which a flight ends at `end`: new data, or the last segment again.
    pub fn begin(&mut self, end: u64, is_retransmission: bool) {
        self.probe = Some((end, is_retransmission));
    }

    /// Losses are known otherwise: the probe has nothing to show.
    pub fn end(&mut self) {
        self.probe = None;
    }

    /// Everything before `next` is acknowledged. Whether a probe has repaired a loss: it was a retransmission and has not been reported as a `duplicate`, so
    /// the original has not arrived.
    pub fn on_ack(&mut self, next: u64, duplicate: bool) -> bool {
        let over = self.probe.take_if(|(end, _)| next >= *end);
        over.is_some_and(|(_, is_retransmission)| is_retransmission && !duplicate)
    }
}

/// How long nothing has to be heard before a probe is due, seconds (PTO, §7.2): two round trips, and with one segment outstanding the wait of a delayed
/// acknowledgement.
pub fn pto(srtt: f64, flight_size: u64, max_ack_delay: f64, slack: f64) -> f64 {
    2.0 * srtt
        + if flight_size == 1 {
            max_ack_delay
        } else {
            slack
        }
}
