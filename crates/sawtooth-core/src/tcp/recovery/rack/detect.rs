//! RACK: a segment is lost if one that was sent after it has arrived and a little time has passed.
//!
//! Specification: RFC 8985 §6.2 (steps 1 to 5, on every acknowledgement), §6.3 (on a timeout), §5 (variables).
//!
//! Deviations: RACK.rtt is the round trip of the segment that was looked at last, and not of the most recently sent one: of what an acknowledgement delivers the segments that it reports
//! come first, and then those that it acknowledges cumulatively. Measured of Linux 6.1: an acknowledgement of a segment sent 3.259 ms before that reports another sent 2.716 ms before finds nothing lost of
//! what was sent with the first, and the next one, which only reports, does (round trip 1.6 ms). At a timeout the reordering window is not capped by the smoothed round-trip time, and there is none before reordering has been seen.

use crate::tcp::clock::{Clock, HAIR};
use crate::tcp::scoreboard::RangeSet;
use crate::tcp::segments::{Found, LostSegments, OutstandingSegment, Segments, TransmissionId};
use crate::units::{Duration, Instant, SegCount, SeqNum, floor};

/// What is known of the order in which segments arrive.
#[derive(Debug)]
pub struct Detect {
    /// The most recently sent segment that has been delivered: its transmission (RACK.xmit_ts).
    newest: Option<TransmissionId>,
    /// RACK.rtt: see the head of this file.
    pub rtt: Duration,
    pub min_rtt: Duration,
    /// One past the highest segment delivered (as RACK.fack and FACK's snd.fack are), and the transmission of it that was delivered.
    pub fack: SeqNum,
    pub forward: TransmissionId,
    pub reordering_seen: bool,
    reo_wnd_mult: u32,
    /// Recoveries until the reordering window shrinks again.
    reo_wnd_persist: u32,
    dsack_round: SeqNum,
    /// The reordering timer, while losses are to be looked for again if nothing arrives before.
    pub reordering_timer: Option<ReorderingTimer>,
}

/// The reordering timer (RFC 8985 §6.2 step 5): since when losses have not been looked for, and how much later they are looked for again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ReorderingTimer {
    pub since: Instant,
    pub wait: Duration,
}

/// What is to be known when losses are looked for.
#[derive(Debug)]
pub struct LossSearch<'a> {
    pub now: Instant,
    pub dup_thresh: SegCount,
    pub srtt: Option<Duration>,
    /// The host's, if times are told in its microseconds.
    pub clock: Option<Clock>,
    /// Some have been found that are not repaired.
    pub repairing: bool,
    /// What the receiver has reported.
    pub reported: &'a RangeSet,
}

impl Detect {
    pub fn new() -> Self {
        Self {
            newest: None,
            rtt: Duration::ZERO,
            min_rtt: Duration::INFINITE,
            fack: SeqNum::ZERO,
            forward: TransmissionId::default(),
            reordering_seen: false,
            reo_wnd_mult: 1,
            reo_wnd_persist: 0,
            dsack_round: SeqNum::ZERO,
            reordering_timer: None,
        }
    }

    /// Segment `seq` is delivered (§6.2 steps 1 to 3); `earlier`: a timestamp shows that an earlier transmission of it arrived.
    ///
    /// Without that, all that was sent before a needless retransmission would be lost as soon as the original is acknowledged. Measured of
    /// Linux 6.1: after a delay of 700 ms that made its timer expire, nothing is.
    ///
    /// `clock`: the host's, if round trips are measured in its microseconds. Measured of Linux 6.1: a FIN, which is shorter than a SYN, that comes back in 1927.8 us is no sooner than a first round trip of 1928 us.
    #[inline]
    pub fn on_delivered(
        &mut self,
        now: Instant,
        seq: SeqNum,
        segment: &OutstandingSegment,
        clock: Option<Clock>,
        earlier: bool,
    ) {
        let rtt = now - segment.sent;
        if segment.retransmitted {
            let measured = clock.map_or(rtt, |clock| clock.microseconds(segment.sent, now));
            // Sooner than any round trip: the acknowledgement is of an earlier transmission.
            if earlier || measured < self.min_rtt {
                return;
            }
        } else if seq.next() < self.fack {
            self.reordering_seen = true;
        }
        if seq >= self.fack {
            self.fack = seq.next();
            self.forward = segment.transmission;
        }
        if self
            .newest
            .is_none_or(|newest| segment.transmission > newest)
        {
            self.newest = Some(segment.transmission);
        }
        self.rtt = rtt;
    }

    /// All segments before `next` are delivered that were not, the `last` of them as the others after the one before it: each was sent once, and nothing that
    /// was sent later has arrived before.
    #[inline]
    pub fn on_delivered_in_order(&mut self, now: Instant, next: SeqNum, last: &OutstandingSegment) {
        // Of what was sent later the round trip is shorter.
        let rtt = now - last.sent;
        self.fack = next;
        self.forward = last.transmission;
        if self.newest.is_none_or(|newest| last.transmission > newest) {
            self.newest = Some(last.transmission);
        }
        self.rtt = rtt;
    }

    /// A round trip was measured, after what was delivered with it has been taken note of. Measured of Linux 6.1: that of a repair, which the timestamps tell in whole milliseconds, counts, too. Over a path
    /// whose queue had become shorter, repairs of 5.3 ms were taken for needless after 5.9 ms, until the timestamps told 5 ms of one of them.
    #[inline]
    pub fn on_rtt(&mut self, rtt: Duration) {
        self.min_rtt = self.min_rtt.min(rtt);
    }

    /// A duplicate was reported: the reordering window was too small (§6.2 step 4). It grows once per round trip.
    pub fn on_dsack(&mut self, una: SeqNum, max: SeqNum) {
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

    /// Finds losses (§6.2 step 5); how many.
    #[inline]
    pub fn find_losses(&mut self, segments: &mut Segments, look: &LossSearch) -> LostSegments {
        let Some(newest) = self.newest else {
            return LostSegments::default();
        };
        if segments.may_precede(newest) && segments.has_to_judge(newest) {
            self.find_losses_before(newest, segments, look)
        } else {
            self.reordering_timer = None;
            LostSegments::default()
        }
    }

    /// The same if something that was sent before may be in the path.
    #[inline(never)]
    fn find_losses_before(
        &mut self,
        newest: TransmissionId,
        segments: &mut Segments,
        look: &LossSearch,
    ) -> LostSegments {
        let now = look.now;
        let hasty = look.repairing || segments.sacked() >= look.dup_thresh;
        let reo_wnd = self.reo_wnd(hasty, look.srtt);
        let wait = self.rtt + reo_wnd;
        // What is due now is due, whatever a clock tells.
        let due = now - wait + HAIR;
        let deadline = look.clock.map_or(due, |clock| {
            due.max(clock.as_long_before(now - self.rtt, reo_wnd))
        });
        let Found { lost, next } = segments.mark_lost_before(newest, deadline, look.reported);
        self.reordering_timer = next.map(|sent| ReorderingTimer {
            since: now,
            wait: sent + wait - now,
        });
        lost
    }

    /// At a timeout: what was sent after this may be on its way (§6.3).
    pub fn timeout_deadline(&self, now: Instant) -> Instant {
        // No reordering window as long as no reordering has been seen.
        let reo_wnd = if self.reordering_seen {
            self.uncapped_reo_wnd()
        } else {
            Duration::ZERO
        };
        now - self.rtt - reo_wnd
    }

    /// The reordering window (§6.2 step 4): none where nothing has been reordered so far and a loss is likely.
    fn reo_wnd(&self, hasty: bool, srtt: Option<Duration>) -> Duration {
        if hasty && !self.reordering_seen {
            return Duration::ZERO;
        }
        self.uncapped_reo_wnd()
            .min(srtt.unwrap_or(Duration::INFINITE))
    }

    /// In whole microseconds, as round trips are measured. Measured of Linux 6.1: with a least round trip of 1356 us, what was sent 338.4 us before something that has arrived, 339 by its clock, is lost.
    fn uncapped_reo_wnd(&self) -> Duration {
        let quarter = floor(self.min_rtt.secs() * 250_000.0 + 1e-3);
        Duration::from_secs(quarter * 1e-6) * f64::from(self.reo_wnd_mult)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::{at, secs, segs, seq};

    const RTT: f64 = 0.1;

    /// Segments sent 1 ms apart.
    fn flight(count: u32) -> Segments {
        let mut segments = Segments::default();
        for number in 0..count {
            let sent = at(f64::from(number) / 1000.0);
            segments.on_send(seq(u64::from(number)), sent);
        }
        segments
    }

    /// Segment `number` is reported a round trip after it left.
    fn report(detect: &mut Detect, segments: &mut Segments, number: u64) -> Instant {
        let segment = segments.sack(seq(number)).expect("news");
        let now = segment.sent + secs(RTT);
        detect.on_delivered(now, seq(number), &segment, None, false);
        detect.on_rtt(secs(RTT));
        now
    }

    fn near(left: Duration, right: f64) -> bool {
        (left.secs() - right).abs() < 1e-6
    }

    /// Looks for losses; how many.
    fn look(detect: &mut Detect, segments: &mut Segments, now: Instant, repairing: bool) -> u64 {
        let look = LossSearch {
            now,
            dup_thresh: segs(3),
            srtt: None,
            clock: None,
            repairing,
            reported: &RangeSet::default(),
        };
        let lost = detect.find_losses(segments, &look);
        lost.all.get()
    }

    #[test]
    fn rfc8985_6_2_step_2_the_most_recently_sent_of_the_segments_delivered_counts() {
        let (mut detect, mut segments) = (Detect::new(), flight(5));
        report(&mut detect, &mut segments, 3);
        // An earlier one that arrives later changes nothing but the round trip, which is that of the last one (a deviation, see the head of this file).
        let segment = segments.sack(seq(1)).expect("news");
        detect.on_delivered(at(0.2), seq(1), &segment, None, false);
        assert_eq!(detect.newest, Some(TransmissionId::numbered(3)));
        assert!(near(detect.rtt, 0.199));
    }

    #[test]
    fn rfc8985_6_2_step_2_what_comes_sooner_than_any_round_trip_is_of_an_earlier_transmission() {
        let (mut detect, mut segments) = (Detect::new(), flight(3));
        report(&mut detect, &mut segments, 1);
        segments.on_send(seq(0), at(0.15));
        let again = segments.sack(seq(0)).expect("news");
        detect.on_delivered(at(0.16), seq(0), &again, None, false);
        assert_eq!(detect.newest, Some(TransmissionId::numbered(1)));
        // Nor is it if a timestamp shows so.
        detect.on_delivered(at(0.4), seq(0), &again, None, true);
        assert_eq!(detect.newest, Some(TransmissionId::numbered(1)));
        detect.on_delivered(at(0.4), seq(0), &again, None, false);
        assert_eq!(detect.newest, Some(TransmissionId::numbered(3)));
    }

    #[test]
    fn rfc8985_6_2_step_2_a_round_trip_is_compared_in_the_microseconds_in_which_it_is_measured() {
        let (mut detect, mut segments) = (Detect::new(), flight(3));
        report(&mut detect, &mut segments, 1);
        detect.on_rtt(Clock::EXACT.microseconds(at(0.0), at(RTT)));
        // 99999.7 microseconds, of which a clock that tells whole ones sees 100000.
        segments.on_send(seq(0), at(0.149_999_9));
        let again = segments.sack(seq(0)).expect("news");
        let now = at(0.249_999_6);
        detect.on_delivered(now, seq(0), &again, None, false);
        assert_eq!(detect.newest, Some(TransmissionId::numbered(1)));
        detect.on_delivered(now, seq(0), &again, Some(Clock::EXACT), false);
        assert_eq!(detect.newest, Some(TransmissionId::numbered(3)));
    }

    #[test]
    fn rfc8985_6_2_step_3_a_segment_below_what_was_delivered_shows_reordering_unless_it_was_sent_again()
     {
        let (mut detect, mut segments) = (Detect::new(), flight(5));
        report(&mut detect, &mut segments, 2);
        segments.on_send(seq(0), at(0.15));
        report(&mut detect, &mut segments, 0);
        assert!(!detect.reordering_seen);
        report(&mut detect, &mut segments, 1);
        assert!(detect.reordering_seen);
        assert_eq!(detect.fack, seq(3));
    }

    #[test]
    fn rfc8985_6_2_step_4_the_window_is_a_quarter_of_the_least_round_trip_unless_dupthresh_are_reported()
     {
        let mut detect = Detect::new();
        detect.min_rtt = secs(RTT);
        assert!(near(detect.reo_wnd(false, Some(secs(1.0))), 0.025));
        assert_eq!(detect.reo_wnd(true, Some(secs(1.0))), secs(0.0));
        // With reordering it stays, however many are reported.
        detect.reordering_seen = true;
        assert!(near(detect.reo_wnd(true, Some(secs(1.0))), 0.025));
        assert!(
            near(detect.reo_wnd(true, Some(secs(0.01))), 0.01),
            "SRTT at most"
        );
    }

    #[test]
    fn rfc8985_6_2_step_4_every_round_with_a_dsack_widens_it_by_a_quarter_for_16_recoveries() {
        let mut detect = Detect::new();
        detect.min_rtt = secs(RTT);
        detect.on_dsack(seq(0), seq(10));
        detect.on_dsack(seq(5), seq(15));
        assert!(
            near(detect.uncapped_reo_wnd(), 0.05),
            "one for a round trip"
        );
        detect.on_dsack(seq(10), seq(20));
        assert!(near(detect.uncapped_reo_wnd(), 0.075));
        for _ in 0..15 {
            detect.on_recovered();
        }
        assert!(near(detect.uncapped_reo_wnd(), 0.075));
        detect.on_recovered();
        assert!(near(detect.uncapped_reo_wnd(), 0.025));
    }

    #[test]
    fn rfc8985_6_2_step_5_what_was_sent_a_round_trip_and_the_window_ago_is_lost_and_the_rest_is_waited_for()
     {
        let (mut detect, mut segments) = (Detect::new(), flight(40));
        // Segment 30 arrives after 100 ms, at 130 ms: lost is what was sent up to 5 ms, the last of the others at 29 ms.
        let now = report(&mut detect, &mut segments, 30);
        let lost = look(&mut detect, &mut segments, now, false);
        assert_eq!(lost, 6);
        let ReorderingTimer { since, wait } = detect.reordering_timer.expect("some remain");
        assert!(near(since - at(0.0), 0.13) && near(wait, 0.029 + 0.125 - 0.13));
        // The timer of that: all that was sent before it is lost, and nothing after it.
        let lost = look(&mut detect, &mut segments, since + wait, false);
        assert_eq!((lost, detect.reordering_timer), (24, None));
        assert_eq!(segments.pipe(), segs(9));
    }

    #[test]
    fn rfc8985_6_2_step_4_with_dupthresh_reported_nothing_is_waited_for() {
        let (mut detect, mut segments) = (Detect::new(), flight(10));
        let mut now = at(0.0);
        for number in 7..9 {
            now = report(&mut detect, &mut segments, number);
            assert_eq!(look(&mut detect, &mut segments, now, false), 0);
        }
        now = report(&mut detect, &mut segments, 9).max(now);
        assert_eq!(look(&mut detect, &mut segments, now, false), 7);
    }

    #[test]
    fn rfc8985_6_2_a_lost_retransmission_is_found_by_what_was_sent_after_it() {
        let (mut detect, mut segments) = (Detect::new(), flight(4));
        let now = report(&mut detect, &mut segments, 3);
        assert_eq!(look(&mut detect, &mut segments, now, true), 3);
        for number in 0..2 {
            segments.on_send(seq(number), at(0.11));
        }
        // That of segment 1 arrives, and the first one's does not.
        let again = segments.sack(seq(1)).expect("news");
        detect.on_delivered(at(0.211), seq(1), &again, None, false);
        assert_eq!(look(&mut detect, &mut segments, at(0.211), true), 1);
        assert_eq!(segments.next_lost(), Some(seq(0)));
    }

    #[test]
    fn rfc8985_6_3_at_a_timeout_what_was_sent_a_round_trip_and_the_window_ago_is_lost() {
        let (mut detect, mut segments) = (Detect::new(), flight(10));
        report(&mut detect, &mut segments, 2);
        assert!(near(detect.timeout_deadline(at(0.5)) - at(0.0), 0.4));
        detect.reordering_seen = true;
        assert!(near(detect.timeout_deadline(at(0.5)) - at(0.0), 0.375));
    }
}
