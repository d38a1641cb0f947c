//! RACK: a segment is lost if one that was sent after it has arrived and a little time has passed.
//!
//! Specification: RFC 8985 §6.2 (steps 1 to 5, on every acknowledgement), §6.3 (on a timeout), §5 (variables).

use crate::tcp::segments::{Segment, Segments};

/// What is known of the order in which segments arrive.
#[derive(Debug)]
pub struct Detect {
    /// Of the segment that was sent last of those delivered: its transmission, and its round trip (RACK.rtt).
    newest: Option<u64>,
    rtt: f64,
    pub min_rtt: f64,
    /// One past the highest segment delivered (RACK.fack; FACK's snd.fack), and the number of the transmission that was delivered.
    pub fack: u64,
    pub forward: u64,
    pub reordering_seen: bool,
    reo_wnd_mult: u32,
    /// Recoveries until the reordering window shrinks again.
    reo_wnd_persist: u32,
    dsack_round: u64,
    /// When losses were looked for last, and how much later that is to be done again if nothing arrives before.
    pub look_again: Option<(f64, f64)>,
}

impl Detect {
    pub fn new() -> Self {
        Self {
            newest: None,
            rtt: 0.0,
            min_rtt: f64::INFINITY,
            fack: 0,
            forward: 0,
            reordering_seen: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            dsack_round: 0,
            look_again: None,
        }
    }

    /// Segment `seq` is delivered (§6.2 steps 1 to 3); `earlier`: a timestamp tells that it was not its last transmission that arrived.
    ///
    /// Without that, all that was sent before a needless retransmission would be lost as soon as the original is acknowledged. Measured of
    /// Linux 6.1: after a delay of 700 ms that made its timer expire, nothing is.
    #[inline]
    pub fn on_delivered(&mut self, now: f64, seq: u64, segment: &Segment, earlier: bool) {
        let rtt = now - segment.sent;
        if segment.retransmitted {
            // Sooner than any round trip: the acknowledgement is of an earlier transmission.
            if earlier || rtt < self.min_rtt {
                return;
            }
        } else {
            self.min_rtt = self.min_rtt.min(rtt);
            if seq + 1 < self.fack {
                self.reordering_seen = true;
            }
        }
        if seq >= self.fack {
            self.fack = seq + 1;
            self.forward = segment.transmission;
        }
        if self
            .newest
            .is_none_or(|newest| segment.transmission > newest)
        {
            self.newest = Some(segment.transmission);
            self.rtt = rtt;
        }
    }

    /// A duplicate was reported: the reordering window was too small (§6.2 step 4). It grows once per round trip.
    pub fn on_dsack(&mut self, una: u64, max: u64) {
        if una >= self.dsack_round {
            self.reo_wnd_mult = (self.reo_wnd_mult + 1).min(255);
            self.reo_wnd_persist = 16;
            self.dsack_round = max;
        }
    }

    /// A recovery is over: after 16 of them without a duplicate the reordering window is small again.
    pub fn on_recovered(&mut self) {
        if self.reo_wnd_persist > 0 {
            self.reo_wnd_persist -= 1;
            if self.reo_wnd_persist == 0 {
                self.reo_wnd_mult = 1;
            }
        }
    }

    /// Finds losses (§6.2 step 5); how many. `repairing`: some have been found that are not repaired.
    pub fn find_losses(
        &mut self,
        segments: &mut Segments,
        now: f64,
        dup_thresh: u64,
        srtt: Option<f64>,
        repairing: bool,
    ) -> u64 {
        let Some(newest) = self.newest else {
            return 0;
        };
        let hasty = repairing || segments.sacked() >= dup_thresh;
        let wait = self.rtt + self.reo_wnd(hasty, srtt);
        // A hair of tolerance: what is due now is due.
        let (lost, next) = segments.mark_lost_before(newest, now - wait + 1e-9);
        self.look_again = next.map(|sent| (now, sent + wait - now));
        lost
    }

    /// At a timeout: what was sent after this may be on its way (§6.3).
    pub fn timeout_deadline(&self, now: f64) -> f64 {
        // None is waited for as long as no reordering has been seen.
        let reo_wnd = if self.reordering_seen {
            self.widest_reo_wnd()
        } else {
            0.0
        };
        now - self.rtt - reo_wnd
    }

    /// The reordering window, seconds (§6.2 step 4): none where nothing has been reordered so far and a loss is likely.
    fn reo_wnd(&self, hasty: bool, srtt: Option<f64>) -> f64 {
        if hasty && !self.reordering_seen {
            return 0.0;
        }
        self.widest_reo_wnd().min(srtt.unwrap_or(f64::INFINITY))
    }

    fn widest_reo_wnd(&self) -> f64 {
        f64::from(self.reo_wnd_mult) * self.min_rtt / 4.0
    }
}
