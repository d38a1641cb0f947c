//! Tail loss probe: if no acknowledgement comes for the end of a flight, one more segment is sent to find out whether it was lost.
//!
//! Specification: RFC 8985 §7.2 (when a probe is due), §7.3 (what it is), §7.4.2 (whether it has repaired a loss that nothing else has shown).
//!
//! Deviations: an acknowledgement of exactly TLP.end_seq is ambiguous: it may answer the original or the probe. RFC 8985 §7.4.2 takes a retransmitted probe
//! for one that has repaired a loss only with SEG.ACK > TLP.end_seq, and waits until then for a duplicate acknowledgement without SACK, which shows that the
//! probe was not needed. Here SEG.ACK = TLP.end_seq decides at once: without a DSACK in that acknowledgement a loss has been repaired, and the window is
//! reduced. Any DSACK in it counts as the probe's, where the RFC asks for one that matches TLP.end_seq.

use crate::units::{Duration, SegCount, SeqNum};

/// The probe that is out, if any.
#[derive(Debug, Default)]
pub(super) struct Tlp {
    probe: Option<TailLossProbe>,
}

#[derive(Clone, Copy, Debug)]
struct TailLossProbe {
    /// The end of the flight that is being probed (TLP.end_seq).
    end: SeqNum,
    is_retransmission: bool,
    /// An acknowledgement has come since it left.
    is_heard_of: bool,
}

impl Tlp {
    /// Whether a probe is out.
    pub(super) fn is_out(&self) -> bool {
        self.probe.is_some()
    }

    /// Whether one is out and nothing has been heard since: then the timeout is next, and no other probe.
    pub(super) fn is_awaited(&self) -> bool {
        self.probe.is_some_and(|probe| !probe.is_heard_of)
    }

    /// A probe leaves, up to which a flight ends at `end`: new data, or the last segment again.
    pub(super) fn begin(&mut self, end: SeqNum, is_retransmission: bool) {
        self.probe = Some(TailLossProbe {
            end,
            is_retransmission,
            is_heard_of: false,
        });
    }

    /// Losses are known otherwise: the probe has nothing to show.
    pub(super) fn end(&mut self) {
        self.probe = None;
    }

    /// Everything before `next` is acknowledged. Whether a probe is taken to have repaired a loss: it was a retransmission and this acknowledgement does not
    /// report a `duplicate` (a deviation, see the head of this file).
    pub(super) fn on_ack(&mut self, next: SeqNum, duplicate: bool) -> bool {
        let over = self.probe.take_if(|probe| {
            probe.is_heard_of = true;
            next >= probe.end
        });
        over.is_some_and(|probe| probe.is_retransmission && !duplicate)
    }
}

/// How long nothing has to be heard before a probe is due (PTO, §7.2): two round trips, and with one segment outstanding the wait of a delayed
/// acknowledgement.
pub(super) fn pto(
    srtt: Duration,
    flight_size: SegCount,
    max_ack_delay: Duration,
    slack: Duration,
) -> Duration {
    srtt * 2.0
        + if flight_size == SegCount::ONE {
            max_ack_delay
        } else {
            slack
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::{secs, segs, seq};

    #[test]
    fn rfc8985_7_2_pto_is_two_round_trips_and_the_wait_of_a_delayed_acknowledgement_for_one_segment()
     {
        // SRTT 100 ms, WCDelAckT 200 ms.
        let pto = |srtt, flight_size, slack| {
            pto(secs(srtt), segs(flight_size), secs(0.2), secs(slack)).secs()
        };
        assert_eq!(pto(0.1, 2, 0.0), 0.2);
        assert_eq!(pto(0.1, 1, 0.0), 0.4);
        // A kernel's timer has some slack.
        assert_eq!(pto(0.125, 10, 0.25), 0.5);
    }

    #[test]
    fn deviating_from_rfc8985_7_4_2_an_acknowledgement_of_exactly_tlp_end_seq_without_a_dsack_shows_a_repaired_loss()
     {
        let mut tlp = Tlp::default();
        tlp.begin(seq(10), true);
        assert!(
            !tlp.on_ack(seq(9), false) && tlp.is_out(),
            "not up to TLP.end_seq"
        );
        // The RFC waits for more than TLP.end_seq.
        assert!(tlp.on_ack(seq(10), false) && !tlp.is_out());
        assert!(!tlp.on_ack(seq(10), false), "once");
    }

    #[test]
    fn a_probe_is_awaited_until_something_is_heard_of_it_or_not() {
        let mut tlp = Tlp::default();
        assert!(!tlp.is_awaited());
        tlp.begin(seq(10), true);
        assert!(tlp.is_awaited());
        tlp.on_ack(seq(9), false);
        assert!(!tlp.is_awaited() && tlp.is_out());
    }

    #[test]
    fn rfc8985_7_4_2_a_duplicate_or_new_data_shows_no_loss() {
        let mut tlp = Tlp::default();
        tlp.begin(seq(10), true);
        assert!(!tlp.on_ack(seq(10), true) && !tlp.is_out());
        tlp.begin(seq(11), false);
        assert!(!tlp.on_ack(seq(11), false) && !tlp.is_out());
    }
}
