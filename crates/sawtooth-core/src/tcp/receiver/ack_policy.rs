//! What decides how long a delayed acknowledgement waits: the policies of `delayed_ack`.
//!
//! Specifications: RFC 1122 §4.2.3.2 (less than half a second; what `timeout` is); for `linux-2.0` what is published of kernels of that series: data with PSH were acknowledged after at
//! most HZ/50, which is 20 ms, other data after an adaptive time of at most HZ/2, 500 ms, which follows the time between arrivals. No kernel's code was read for it.
//!
//! **How the time between arrivals is estimated** the description does not say. RFC 813 (1982) appendix A has an algorithm, which its author calls sensible and not tested; this is that, but for
//! what is marked:
//! - RFC: a timer is started whenever a segment without PSH arrives, and runs until the next segment. Here the same: between what follows PSH lies what the application does.
//! - RFC: the intervals are averaged by exponential smoothing over "perhaps the last ten or twenty segments". Here each counts one sixteenth. *Ours*: the first is the first estimate; without any
//!   it is the most.
//! - RFC: an interval is discarded that exceeds the estimate by "perhaps a ratio of two or four times". Here four. *Ours*: an estimate of less than a tick of the receiver's clock counts as one
//!   there, or else one that has once been of microseconds would never become longer.
//! - RFC: the timer that triggers the acknowledgement "can add a fairly generous fudge factor", which is to be constant. *Otherwise here*: nothing is added but what is left until the clock's next
//!   tick, at which timers expire (`ticks.rs`), and that is not constant.
//!
//! **What RFC 813 §5 has otherwise** (and §7): it sends an acknowledgement when a segment with PSH comes (here, as is published of Linux 2.0, its wait is 20 ms at most), when the data pause (each
//! segment starts the timer again; here the one that is to be acknowledged first decides), and when the offered window has shrunk to half of what there is room for, which it says is the usual case. Of the
//! last `ack_window_share = 0.5` does the like. That any kernel did as RFC 813 says is not known here.
//!
//! **How long a segment waits**: for the estimate, but at most for `delayed_ack_pushed` if it has PSH and `delayed_ack_most` if it has none. Of several that wait, the one that is to be
//! acknowledged first decides.

use crate::registry::{Entry, words};
use crate::units::{Duration, Instant};

/// The share of the newest interval, and how many times the estimate one may be at most.
const NEWEST: f64 = 1.0 / 16.0;
const LONGEST: f64 = 4.0;

words! {
    /// By what the wait goes.
    pub enum DelayedAckPolicy {
        /// By `delayed_ack_timeout` and what belongs to it.
        Timeout = "timeout",
        /// By arrivals and PSH.
        Arrivals = "linux-2.0",
    }
}

/// All policies.
pub const TABLE: &[Entry<DelayedAckPolicy>] = &[
    Entry {
        name: DelayedAckPolicy::Timeout.word(),
        summary: "waits for `delayed_ack_timeout`, for `delayed_ack_timeout_several` once a second segment waits, or with `adaptive_delayed_ack` for what has been measured of Linux 6.1",
        specification: &["RFC 1122"],
        params: &[],
        new: DelayedAckPolicy::Timeout,
    },
    Entry {
        name: DelayedAckPolicy::Arrivals.word(),
        summary: "waits for the mean time between arrivals: of data with PSH `delayed_ack_pushed` at most, of other data `delayed_ack_most`, as is published of Linux 2.0",
        specification: &["RFC 1122", "RFC 813"],
        params: &[],
        new: DelayedAckPolicy::Arrivals,
    },
];

/// A policy with its longest waits.
#[derive(Clone, Copy, Debug)]
pub struct DelayedAckSettings {
    /// Whether there are the two waits below: only [`DelayedAckPolicy::Arrivals`] has them.
    pub policy: DelayedAckPolicy,
    /// The longest wait of data with PSH.
    pub pushed: Duration,
    /// The longest wait of other data.
    pub most: Duration,
}

/// The pace of arrivals, and what it makes of a wait.
#[derive(Debug)]
pub struct ArrivalPace {
    settings: DelayedAckSettings,
    tick: Duration,
    estimate: Option<Duration>,
    /// When the last segment came, if it had no PSH.
    last: Option<Instant>,
}

impl ArrivalPace {
    /// By a clock that ticks every `tick`; nothing where another policy is asked for.
    pub fn of(settings: DelayedAckSettings, tick: Duration) -> Option<Self> {
        (settings.policy == DelayedAckPolicy::Arrivals).then_some(Self {
            settings,
            tick,
            estimate: None,
            last: None,
        })
    }

    /// Data come; how long their acknowledgement may wait.
    pub fn on_arrival(&mut self, now: Instant, push: bool) -> Duration {
        if let Some(last) = self.last {
            self.measure(now - last);
        }
        self.last = (!push).then_some(now);
        let DelayedAckSettings { pushed, most, .. } = self.settings;
        let most = if push { pushed } else { most };
        self.estimate.unwrap_or(most).min(most)
    }

    fn measure(&mut self, apart: Duration) {
        self.estimate = match self.estimate {
            None => Some(apart),
            Some(mean) if apart <= mean.max(self.tick) * LONGEST => {
                Some(mean + (apart - mean) * NEWEST)
            }
            kept => kept,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Params, Value, Words};
    use crate::tcp::{Config, PARAMS};

    fn of(params: &Params) -> Option<ArrivalPace> {
        let config = Config::from(params);
        ArrivalPace::of(config.delayed_ack, config.receiver_tick.tick)
    }

    fn pace(tick: f64) -> ArrivalPace {
        let mut params = Params::defaults(PARAMS);
        params.set("delayed_ack", Value::Choice("linux-2.0"));
        params.set("timer_tick", Value::Duration(tick));
        of(&params).expect("it is asked for")
    }

    /// Data come `at`; their acknowledgement may wait for as long as is expected.
    fn waits(pace: &mut ArrivalPace, at: f64, push: bool, expected: f64) {
        let found = pace.on_arrival(Instant::from_secs(at), push).secs();
        assert!((found - expected).abs() < 1e-12, "{found}, not {expected}");
    }

    #[test]
    fn the_choice_of_a_study_is_the_table() {
        let names: Vec<&str> = TABLE.iter().map(|entry| entry.name).collect();
        assert_eq!(names, DelayedAckPolicy::WORDS);
        assert!(of(&Params::defaults(PARAMS)).is_none());
    }

    #[test]
    fn linux_2_0_data_with_push_wait_for_20_ms_at_most_and_other_data_for_500() {
        waits(&mut pace(0.0), 1.0, true, 0.02);
        waits(&mut pace(0.0), 1.0, false, 0.5);
        // Segments that come 2 s apart wait no longer; 5 ms apart, for 5 ms, with PSH or without.
        for (apart, plain, pushed) in [(2.0, 0.5, 0.02), (0.1, 0.1, 0.02), (0.005, 0.005, 0.005)] {
            let mut pace = pace(0.0);
            pace.on_arrival(Instant::from_secs(1.0), false);
            waits(&mut pace, 1.0 + apart, false, plain);
            waits(&mut pace, 1.0 + 2.0 * apart, true, pushed);
        }
    }

    #[test]
    fn rfc813_a_the_estimate_is_a_mean_of_the_last_intervals_of_which_long_ones_are_discarded() {
        let mut pace = pace(0.0);
        pace.on_arrival(Instant::from_secs(1.0), false);
        waits(&mut pace, 1.1, false, 0.1);
        // One sixteenth of what is 60 ms longer; nothing of what is more than four times as long.
        waits(&mut pace, 1.26, false, 0.103_75);
        waits(&mut pace, 1.70, false, 0.103_75);
        waits(
            &mut pace,
            1.70 + 0.4,
            false,
            0.103_75 + (0.4 - 0.103_75) / 16.0,
        );
    }

    #[test]
    fn rfc813_a_what_follows_push_is_no_interval() {
        let mut pace = pace(0.0);
        pace.on_arrival(Instant::from_secs(1.0), false);
        waits(&mut pace, 1.1, true, 0.02);
        waits(&mut pace, 1.101, false, 0.1);
        waits(&mut pace, 1.201, false, 0.1);
    }

    #[test]
    fn rfc813_a_a_pace_of_less_than_a_tick_can_become_slower_again() {
        let mut coarse = pace(0.01);
        let mut fine = pace(0.0);
        for pace in [&mut coarse, &mut fine] {
            pace.on_arrival(Instant::from_secs(1.0), false);
            pace.on_arrival(Instant::from_secs(1.0001), false);
        }
        waits(&mut fine, 1.0301, false, 0.0001);
        waits(&mut coarse, 1.0301, false, 0.0001 + 0.0299 / 16.0);
    }
}
