//! SEARCH (Slow start Exit At Right CHokepoint): slow start ends when no longer everything arrives that was sent a round trip before.
//!
//! Specification: draft-chung-ccwg-search; which of its texts is said below, and no section is cited as that of -09 was not at hand.
//!
//! Model, in segments and seconds:
//! - a bin is `search_window * RTT / search_bins` long, with the connection's first RTT; at the end of each it is noted how much has been
//!   delivered and sent until then
//! - `delv`: what was delivered in the last `search_bins` bins; `sent`: what was sent in as many bins, one round-trip time earlier; between
//!   the ends of bins the number is interpolated
//! - `norm_diff = (sent - delv) / sent`: 0 while the path carries all that is sent; slow start ends when it is `search_threshold` or more
//! - nothing is compared before there are enough bins, nor where the round-trip time is as long as `search_extra_bins` bins; when more than
//!   `search_bins` bins have ended at once, they are measured anew
//!
//! A flow that doubles its rate with every round trip until the path is full has a norm_diff of 0 up to a round trip later, and then, with
//! windows of four round trips, of 4/15 = 0.27 after two: hence the threshold.
//!
//! It watches a connection's first slow start, of whose first round-trip time its bins are made.
//!
//! Deviations: interpolation is towards the older of the two bins between which the time lies that is a round trip ago. The window is left as it
//! is where slow start ends; version 3 of the algorithm lowers it by what was delivered in the last two round trips. Written from the authors' text of
//! version 3 (June 2024), which compares with twice what was delivered a round trip before and has a threshold of 0.35, and, for what -09 has instead
//! (what was sent, 0.26, the reset), from what its implementation in Firefox says of it: the text of -09 itself was not at hand.
//!
//! Kernel equivalent: none in Linux; its authors have a module.

use std::collections::VecDeque;

use super::{NewSlowStart, SlowStart};
use crate::cc::AckedData;
use crate::cc::params::{COUNT, FACTOR};
use crate::registry::{Entry, Kind, Params, Value, param};
use crate::units::{Duration, SegCount, SeqNum};

pub(super) const ENTRY: Entry<NewSlowStart> = Entry {
    name: "search",
    summary: "SEARCH: ends slow start when less is delivered than was sent a round trip before",
    specification: &["draft-chung-ccwg-search"],
    params: &[
        param!(search_window: Kind::Number { min: 1.0, max: 100.0 } => Value::Number(3.5),
            "what was delivered and sent is compared over this many round-trip times (SEARCH: WINDOW_SIZE)"),
        param!(search_bins: COUNT => Value::Integer(10),
            "bins that such a window has (SEARCH: W)"),
        param!(search_extra_bins: COUNT => Value::Integer(15),
            "bins that are kept besides, for a round trip to look back (SEARCH: EXTRA_BINS)"),
        param!(search_threshold: FACTOR => Value::Number(0.26),
            "share of what was sent that has not been delivered when slow start ends (SEARCH: THRESH)"),
    ],
    new: |params, _| Box::new(Search::from(params)),
};

/// Segments delivered and sent over the connection's life.
#[derive(Clone, Copy, Debug)]
struct Total {
    delivered: SegCount,
    sent: SegCount,
}

#[derive(Clone, Debug)]
struct Search {
    window: f64,
    bins: usize,
    extra_bins: usize,
    threshold: f64,
    /// The length of a bin, seconds; none before the first round-trip time.
    duration: Option<f64>,
    /// When the present bin ends, seconds; none before the first.
    end: Option<f64>,
    /// The totals at the ends of bins, the latest first.
    totals: VecDeque<Total>,
}

impl From<&Params> for Search {
    fn from(params: &Params) -> Self {
        let count = |name| usize::try_from(params.integer(name)).expect("bounds");
        Self {
            window: params.number("search_window"),
            bins: count("search_bins"),
            extra_bins: count("search_extra_bins"),
            threshold: params.number("search_threshold"),
            duration: None,
            end: None,
            totals: VecDeque::new(),
        }
    }
}

impl Search {
    /// If a bin has ended, notes what has been delivered and sent; returns whether one has.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a few bins"
    )]
    fn update_bins(&mut self, now: f64, duration: f64, total: Total) -> bool {
        let end = *self.end.get_or_insert(now + duration);
        if self.totals.is_empty() {
            self.totals.push_front(total);
        }
        if now <= end {
            return false;
        }
        let passed = ((now - end) / duration).floor() + 1.0;
        if passed > self.bins as f64 {
            self.totals.clear();
            self.end = None;
            return false;
        }
        let skipped = self.totals[0];
        for _ in 1..passed as usize {
            self.totals.push_front(skipped);
        }
        self.totals.push_front(total);
        self.totals.truncate(self.bins + self.extra_bins + 2);
        self.end = Some(end + passed * duration);
        true
    }

    /// How much of what was sent in a window that ended `back` bins ago has not been delivered in the last one, as a share of it.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "counts are far below 2^53, and bins are few"
    )]
    fn norm_diff(&self, back: f64) -> Option<f64> {
        if back >= self.extra_bins as f64 {
            return None;
        }
        let (whole, fraction) = (back as usize, back.fract());
        let sent_until = |bin: usize| {
            let [older, newer] = [bin + 1, bin].map(|bin| self.totals[bin].sent.as_f64());
            newer + fraction * (older - newer)
        };
        if self.totals.len() < whole + self.bins + 2 {
            return None;
        }
        let delivered = self.totals[0].delivered - self.totals[self.bins].delivered;
        let sent = sent_until(whole) - sent_until(whole + self.bins);
        (sent > 0.0).then(|| (sent - delivered.as_f64()) / sent)
    }
}

impl SlowStart for Search {
    fn on_rtt(&mut self, rtt: Duration) {
        #[expect(clippy::cast_precision_loss, reason = "a few bins")]
        self.duration
            .get_or_insert(self.window * rtt.secs() / self.bins as f64);
    }

    fn ends(&mut self, ack: &AckedData, _cwnd: f64) -> bool {
        let (Some(duration), Some(rtt)) = (self.duration, ack.rtt.map(Duration::secs)) else {
            return false;
        };
        let total = Total {
            delivered: ack.snd_una - SeqNum::ZERO,
            sent: ack.snd_nxt - SeqNum::ZERO,
        };
        // Where time stands still there are no bins.
        duration > 0.0
            && self.update_bins(ack.now.secs(), duration, total)
            && self
                .norm_diff(rtt / duration)
                .is_some_and(|norm_diff| norm_diff >= self.threshold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::testing::{ack_at, params, segs};

    const RTT: f64 = 0.1;

    fn search(set: &[(&str, Value)]) -> Search {
        let mut search = Search::from(&params(&ENTRY, set));
        search.on_rtt(Duration::from_secs(RTT));
        search
    }

    fn ends(search: &mut Search, at: f64, snd_una: u64, snd_nxt: u64) -> bool {
        search.ends(
            &AckedData {
                snd_una: SeqNum::new(snd_una),
                snd_nxt: SeqNum::new(snd_nxt),
                rtt: Some(Duration::from_secs(RTT)),
                ..ack_at(at, 1, snd_nxt - snd_una)
            },
            10.0,
        )
    }

    /// So much as is delivered, and sent, by a flow that has `full` segments in the path when that is full, `t` round trips after. It sends two
    /// for each that is delivered: what arrives in a round trip grows as 2^t, and what is sent is that of the round trip after.
    fn totals(full: f64, t: f64) -> (f64, f64) {
        let ln2 = std::f64::consts::LN_2;
        let growing = |t: f64| full * libm::exp2(t) / ln2;
        if t <= 0.0 {
            (growing(t), 2.0 * growing(t))
        } else {
            let (delivered, sent) = totals(full, 0.0);
            (delivered + full * t, sent + 2.0 * full * t)
        }
    }

    /// The flow's acknowledgements, a hundred in each round trip, from ten round trips before the path is full; when slow start ends, and the
    /// differences at the ends of bins, by round trips.
    fn run(search: &mut Search) -> (Option<f64>, Vec<(f64, f64)>) {
        let mut seen = Vec::new();
        for n in 0..1400 {
            let t = f64::from(n) / 100.0 - 10.0;
            let (delivered, sent) = totals(1e6, t);
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "millions"
            )]
            let ended = ends(
                search,
                2.0 + t * RTT,
                delivered.round() as u64,
                sent.round() as u64,
            );
            let back = RTT / search.duration.expect("a duration");
            if let Some(norm_diff) = search.norm_diff(back) {
                seen.push((t, norm_diff));
            }
            if ended {
                return (Some(t), seen);
            }
        }
        (None, seen)
    }

    #[test]
    fn section_3_a_bin_is_a_tenth_of_three_and_a_half_round_trips() {
        assert!((search(&[]).duration.unwrap() - 0.035).abs() < 1e-12);
        // The length of bins follows from the first round-trip time.
        let mut search = search(&[]);
        search.on_rtt(Duration::from_secs(0.5));
        assert!((search.duration.unwrap() - 0.035).abs() < 1e-12);
    }

    #[test]
    fn section_4_windows_of_four_round_trips_differ_by_four_fifteenths_when_the_path_is_full() {
        // A bin for each round trip. 1, 2, 4, 8, 16 and 16 are delivered, and a round trip before twice as many were sent as were delivered then:
        // 4 + 8 + 16 + 16 = 44 of 4 + 8 + 16 + 32 = 60.
        let changed = [
            ("search_window", Value::Number(4.0)),
            ("search_bins", Value::Integer(4)),
        ];
        let mut search = search(&changed);
        let (mut delivered, mut sent) = (0, 0);
        let mut ended = Vec::new();
        for (n, each) in [1, 1, 1, 2, 4, 8, 16, 16].into_iter().enumerate() {
            let at = 1.0 + 0.101 * f64::from(u32::try_from(n).unwrap());
            ended.push(ends(&mut search, at, delivered, sent));
            delivered += each;
            sent += 2 * each;
        }
        ended.push(ends(&mut search, 1.809, delivered, sent));
        assert_eq!(search.totals[0].delivered, segs(49));
        let norm_diff = search.norm_diff(1.0).unwrap();
        assert!((norm_diff - 16.0 / 60.0).abs() < 1e-12, "{norm_diff}");
        assert!(ended.pop().unwrap(), "0.27 is more than 0.26");
        assert!(!ended.contains(&true));
    }

    #[test]
    fn section_3_the_difference_is_nothing_before_the_path_is_full_and_tends_to_a_half() {
        // Bins of a tenth of a round trip, so that nothing is interpolated, and no end.
        let set = [
            ("search_bins", Value::Integer(35)),
            ("search_threshold", Value::Number(0.99)),
        ];
        let (ended, seen) = run(&mut search(&set));
        assert_eq!(ended, None);
        let at = |t: f64| {
            let found = seen.iter().find(|(then, _)| *then >= t + 0.001);
            found.expect("a difference").1
        };
        assert!(at(-1.0).abs() < 0.01, "{}", at(-1.0));
        // x round trips after: 1 - ((1 - 2^(x - 3.5)) / ln 2 + x) / ((2 - 2^(x - 3.5)) / ln 2 + 2 (x - 1)), of which x = 1.5 is 0.267, x = 2 is 0.330.
        for (x, expected) in [(1.5, 0.267), (2.0, 0.330)] {
            assert!((at(x) - expected).abs() < 0.01, "{x}: {}", at(x));
        }
        let last = seen.last().unwrap().1;
        assert!((0.45..=0.5).contains(&last), "{last}");
    }

    #[test]
    fn section_3_slow_start_ends_between_one_and_two_round_trips_after_the_path_is_full() {
        // By the formula above at 1.45 round trips; it is seen at the end of the next bin, of 0.35 of one.
        let (ended, _) = run(&mut search(&[]));
        let ended = ended.expect("it ends");
        assert!((1.4..=1.85).contains(&ended), "{ended}");
    }

    #[test]
    fn section_3_a_round_trip_of_as_many_bins_as_there_are_extra_ones_compares_nothing() {
        let mut search = search(&[("search_threshold", Value::Number(0.99))]);
        run(&mut search);
        assert!(search.norm_diff(14.9).is_some());
        assert_eq!(search.norm_diff(15.0), None);
    }

    #[test]
    fn after_a_pause_of_more_than_a_window_bins_are_measured_anew() {
        let mut search = search(&[("search_threshold", Value::Number(0.99))]);
        run(&mut search);
        let bins = search.totals.len();
        // Ten bins of 35 ms after the last one's end belong to them, eleven do not.
        let end = search.end.unwrap();
        let mut patient = search.clone();
        assert!(!ends(&mut patient, end + 0.349, 1 << 40, 1 << 41));
        assert_eq!(patient.totals.len(), bins);
        assert!(!ends(&mut search, end + 0.351, 1 << 40, 1 << 41));
        assert!(search.totals.is_empty());
    }
}
