//! The largest value of recent rounds, of three that are remembered: Kathleen Nichols' windowed filter, as BBR's implementations have it.
//!
//! The best value, the best after it and the best after that: when the best is older than the window the second takes its place. Where the values fall for long, a second that is of the same
//! round as the best is replaced after a quarter of the window, and so is the third after half of it: then the maximum is one of a slightly shorter time.

use crate::cc::bbr::model::SegmentRate;

#[derive(Clone, Copy, Debug, Default)]
struct RateOfRound {
    round: u64,
    value: f64,
}

/// The filter. Before any value the maximum is 0.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct MaxFilter {
    best: [RateOfRound; 3],
}

impl MaxFilter {
    pub(super) fn get(&self) -> f64 {
        self.best[0].value
    }

    /// A rate of `round`; the maximum is that of the last `rounds`.
    pub(super) fn add(&mut self, SegmentRate(value): SegmentRate, round: u64, rounds: u64) {
        let new = RateOfRound { round, value };
        let best = &mut self.best;
        if value >= best[0].value || round - best[2].round > rounds {
            *best = [new; 3];
            return;
        }
        if value >= best[1].value {
            (best[1], best[2]) = (new, new);
        } else if value >= best[2].value {
            best[2] = new;
        }
        let age = round - best[0].round;
        if age > rounds {
            *best = [best[1], best[2], new];
            if round - best[0].round > rounds {
                *best = [best[1], best[2], new];
            }
        } else if best[1].round == best[0].round && age > rounds / 4 {
            (best[1], best[2]) = (new, new);
        } else if best[2].round == best[1].round && age > rounds / 2 {
            best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_only_fall_leave_the_maximum_when_it_is_older_than_the_window() {
        let mut filter = MaxFilter::default();
        let mut seen = Vec::new();
        for round in 0..14 {
            filter.add(
                SegmentRate(100.0 - crate::cc::bbr::model::real(round)),
                round,
                10,
            );
            seen.push(filter.get());
        }
        // The first until it is eleven rounds old; then the one that took the second place after a quarter of the window, in the third round.
        assert_eq!(seen[..11], [100.0; 11]);
        assert_eq!(seen[11..], [97.0; 3]);
    }

    #[test]
    fn a_larger_value_takes_all_places() {
        let mut filter = MaxFilter::default();
        for (round, value) in [(0, 5.0), (1, 3.0), (2, 7.0), (3, 7.0)] {
            filter.add(SegmentRate(value), round, 10);
        }
        assert_eq!(filter.get(), 7.0);
        filter.add(SegmentRate(1.0), 14, 10);
        assert_eq!(filter.get(), 1.0, "nothing else is of the last ten rounds");
    }

    #[test]
    fn it_is_never_more_than_the_exact_maximum_and_no_less_than_the_last_value() {
        let mut filter = MaxFilter::default();
        let mut values: Vec<f64> = Vec::new();
        let mut state = 1_u64;
        for round in 0..2000_u64 {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let value = crate::cc::bbr::model::real(state >> 40);
            values.push(value);
            filter.add(SegmentRate(value), round, 10);
            let exact = values.iter().rev().take(11).copied().fold(0.0, f64::max);
            assert!((value..=exact).contains(&filter.get()), "round {round}");
        }
    }
}
