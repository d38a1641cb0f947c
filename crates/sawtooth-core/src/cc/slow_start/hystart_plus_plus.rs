//! HyStart++: where the round-trip time rises, slow start goes on conservatively for some rounds before it ends, and at full speed
//! again if the rise was jitter.
//!
//! Specification: RFC 9406 §4.2, §4.3.
//!
//! Model, in segments:
//! - slow start: `cwnd += min(counted, L)`; a round whose smallest round-trip time, of at least `hystart_samples`, exceeds the round
//!   before's by RttThresh begins Conservative Slow Start (CSS)
//! - CSS: `cwnd += min(counted, L) / css_growth_divisor`; a round with a smallest round-trip time below that of the round in which CSS began
//!   is slow start again; after `css_rounds` rounds, the one it began in included, slow start ends
//!
//! Deviations: none. RttThresh's three numbers and the number of samples are HyStart's parameters: the RFC took them from there.
//!
//! Kernel equivalent: none in Linux.
//!
//! The RFC recommends it for a connection's first slow start only, and so it is here.

use super::hystart::DelayRise;
use super::{NewSlowStart, SlowStart};
use crate::cc::params::COUNT;
use crate::cc::{AckedData, CongestionWindow};
use crate::registry::{Entry, Kind, Param, Params, Value, param};
use crate::units::{Duration, SegCount, SeqNum};

pub(super) const ENTRY: Entry<NewSlowStart> = Entry {
    name: "hystart_plus_plus",
    summary: "HyStart++: where the delay rises, a slower slow start for some rounds",
    specification: &["RFC 9406 §4"],
    params: &PARAMS,
    new: |params, whole_windows| Box::new(HyStartPlusPlus::new(params, whole_windows)),
};

/// Its parameters besides those that it shares with HyStart.
const PARAMS: [Param; 3] = [
    param!(css_growth_divisor: Kind::Number { min: 1.0, max: 1000.0 } => Value::Number(4.0),
        "slow start is slower by this in Conservative Slow Start (HyStart++)"),
    param!(css_rounds: COUNT => Value::Integer(5),
        "rounds of Conservative Slow Start (HyStart++)"),
    param!(l: Kind::Integer { min: 1, max: 1_000_000 } => Value::Integer(8),
        "one acknowledgement counts as this many segments at most (HyStart++; any number if paced)"),
];

/// Conservative Slow Start.
#[derive(Clone, Copy, Debug)]
struct Conservative {
    /// The RFC's cssBaselineMinRtt, seconds.
    baseline: f64,
    /// Rounds so far, including the one in which it began.
    rounds: i64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct HyStartPlusPlus {
    rise: DelayRise,
    growth_divisor: f64,
    rounds: i64,
    limit: SegCount,
    whole: bool,
    /// Growth that does not yet make a whole segment.
    fraction: f64,
    /// The RFC's windowEnd.
    round_end: Option<SeqNum>,
    last_min_rtt: f64,
    current_min_rtt: f64,
    samples: i64,
    conservative: Option<Conservative>,
}

impl HyStartPlusPlus {
    fn new(params: &Params, whole_windows: bool) -> Self {
        Self {
            rise: params.into(),
            growth_divisor: params.number("css_growth_divisor"),
            rounds: params.integer("css_rounds"),
            limit: SegCount::new(params.integer("l").unsigned_abs()),
            whole: whole_windows,
            fraction: 0.0,
            round_end: None,
            last_min_rtt: f64::INFINITY,
            current_min_rtt: f64::INFINITY,
            samples: 0,
            conservative: None,
        }
    }

    /// Whether slow start is conservative.
    fn in_css(&self) -> bool {
        self.conservative.is_some()
    }

    /// A round begins; returns whether Conservative Slow Start has had all its rounds.
    fn begin_round(&mut self, snd_nxt: SeqNum) -> bool {
        self.round_end = Some(snd_nxt);
        self.last_min_rtt = self.current_min_rtt;
        self.current_min_rtt = f64::INFINITY;
        self.samples = 0;
        let Some(css) = &mut self.conservative else {
            return false;
        };
        css.rounds += 1;
        css.rounds > self.rounds
    }

    /// By how many segments the window grows when `counted` are acknowledged.
    fn growth(&mut self, counted: SegCount) -> f64 {
        let counted = counted.min(self.limit).as_f64();
        if !self.in_css() {
            return counted;
        }
        let growth = counted / self.growth_divisor;
        if !self.whole {
            return growth;
        }
        self.fraction += growth;
        let steps = self.fraction.floor();
        self.fraction -= steps;
        steps
    }
}

impl SlowStart for HyStartPlusPlus {
    fn ends(&mut self, ack: &AckedData, _cwnd: f64) -> bool {
        let over = self.round_end.is_none_or(|end| ack.snd_una >= end);
        if over && self.begin_round(ack.snd_nxt) {
            return true;
        }
        let Some(rtt) = ack.rtt.map(Duration::secs) else {
            return false;
        };
        self.current_min_rtt = self.current_min_rtt.min(rtt);
        self.samples += 1;
        if self.samples < self.rise.samples {
            return false;
        }
        match self.conservative {
            None if self.last_min_rtt.is_finite()
                && self.current_min_rtt
                    >= self.last_min_rtt + self.rise.over(self.last_min_rtt) =>
            {
                self.conservative = Some(Conservative {
                    baseline: self.current_min_rtt,
                    rounds: 1,
                });
            }
            Some(css) if self.current_min_rtt < css.baseline => self.conservative = None,
            _ => {}
        }
        false
    }

    fn grow(&mut self, window: &mut CongestionWindow, counted: SegCount) -> SegCount {
        let grown = window.cwnd + self.growth(counted);
        window.cwnd = grown.min(window.ssthresh.max(window.cwnd));
        SegCount::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::super::hystart;
    use super::*;
    use crate::cc::testing::*;

    fn new(whole_windows: bool) -> HyStartPlusPlus {
        let rows = [&hystart::PARAMS[..], &PARAMS[..]].concat();
        HyStartPlusPlus::new(&Params::defaults(&rows), whole_windows)
    }

    /// A round of ten acknowledgements; whether slow start ended at one of them.
    fn round(hystart: &mut HyStartPlusPlus, number: u64, rtt: f64) -> bool {
        (0..10).any(|n| {
            let snd_una = number * 10 + n;
            hystart.ends(
                &AckedData {
                    snd_una: SeqNum::new(snd_una),
                    snd_nxt: SeqNum::new(snd_una + 10),
                    rtt: Some(Duration::from_secs(rtt)),
                    ..ack_at(1.0, 1, 10)
                },
                10.0,
            )
        })
    }

    #[test]
    fn rfc9406_4_2_a_rise_of_rtt_thresh_over_the_last_round_begins_css() {
        // RttThresh of 80 ms is 80 / 8 = 10 ms.
        let mut hystart = new(false);
        round(&mut hystart, 0, 0.080);
        round(&mut hystart, 1, 0.0899);
        assert!(!hystart.in_css());
        // The last round is the reference, not the first: 89.9 ms may rise by 11.2 ms.
        round(&mut hystart, 2, 0.1005);
        assert!(!hystart.in_css());
        round(&mut hystart, 3, 0.1135);
        assert!(hystart.in_css(), "100.5 + 12.6 ms is less");
    }

    #[test]
    fn rfc9406_4_2_css_grows_by_a_quarter_and_no_acknowledgement_counts_for_more_than_l() {
        let mut hystart = new(false);
        assert!((hystart.growth(segs(3)) - 3.0).abs() < f64::EPSILON);
        assert!(
            (hystart.growth(segs(20)) - 8.0).abs() < f64::EPSILON,
            "L = 8"
        );
        round(&mut hystart, 0, 0.050);
        round(&mut hystart, 1, 0.060);
        assert!((hystart.growth(segs(1)) - 0.25).abs() < f64::EPSILON);
        assert!((hystart.growth(segs(20)) - 2.0).abs() < f64::EPSILON);
        let mut whole = new(true);
        round(&mut whole, 0, 0.050);
        round(&mut whole, 1, 0.060);
        let grown: Vec<f64> = (0..8).map(|_| whole.growth(segs(1))).collect();
        assert_eq!(grown, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn rfc9406_4_2_slow_start_ends_after_five_rounds_the_one_css_began_in_included() {
        let mut hystart = new(false);
        round(&mut hystart, 0, 0.050);
        for number in 1..=5 {
            assert!(!round(&mut hystart, number, 0.060), "round {number}");
            assert!(hystart.in_css());
        }
        assert!(round(&mut hystart, 6, 0.060));
    }

    #[test]
    fn rfc9406_4_2_a_round_below_the_baseline_is_slow_start_again() {
        let mut hystart = new(false);
        round(&mut hystart, 0, 0.050);
        round(&mut hystart, 1, 0.060);
        round(&mut hystart, 2, 0.060);
        assert!(hystart.in_css(), "the baseline itself is not below it");
        round(&mut hystart, 3, 0.059);
        assert!(!hystart.in_css());
    }
}
