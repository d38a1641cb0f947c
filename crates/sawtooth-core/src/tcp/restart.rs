//! The congestion window after an idle time.
//!
//! Specifications: RFC 5681 §4.1 (`restart_window`: after more than a retransmission timeout without sending, at most the initial
//! window); RFC 2861 §3.1 (`decay`: half for every timeout that has passed, and a threshold that remembers three quarters; as the kernel's
//! documentation of `tcp_slow_start_after_idle` says of Linux, which goes down to the restart window of RFC 5681).

use super::params::{Config, RestartAfterIdle};
use crate::cc::Windows;
use crate::units::{Duration, WindowSize};

/// The windows with which a connection goes on that has sent nothing for `idle`.
pub(super) fn windows(
    config: &Config,
    before: Windows,
    idle: Duration,
    timeout: Duration,
) -> Windows {
    if config.restart_after_idle == RestartAfterIdle::Off || idle <= timeout {
        return before;
    }
    let least = config.initial_window.min(before.cwnd);
    if config.restart_after_idle == RestartAfterIdle::RestartWindow {
        return Windows {
            cwnd: least,
            ..before
        };
    }
    let trunc = |window: WindowSize| {
        if config.whole_windows {
            window.trunc()
        } else {
            window
        }
    };
    let mut cwnd = before.cwnd;
    let mut left = idle - timeout;
    while left > Duration::ZERO && cwnd > least {
        cwnd = trunc(cwnd / 2.0);
        left -= timeout;
    }
    Windows {
        cwnd: cwnd.max(least),
        ssthresh: before.ssthresh.max(trunc(before.cwnd * 0.75)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::{Params, Value};
    use crate::tcp::params::PARAMS;
    use crate::units::testing::{secs, window};

    fn after(kind: &'static str, idle: f64) -> (f64, f64) {
        let mut params = Params::defaults(PARAMS);
        params.set("restart_after_idle", Value::Choice(kind));
        params.set("initial_window", Value::Packets(10));
        let before = Windows {
            cwnd: window(100.0),
            ssthresh: window(20.0),
        };
        let after = windows(&Config::from(&params), before, secs(idle), secs(0.2));
        (after.cwnd.segments(), after.ssthresh.segments())
    }

    #[test]
    fn rfc5681_4_1_more_than_a_timeout_of_silence_leaves_the_initial_window() {
        assert_eq!(after("restart_window", 0.2), (100.0, 20.0));
        assert_eq!(after("restart_window", 0.21), (10.0, 20.0));
    }

    #[test]
    fn rfc2861_3_1_the_window_halves_with_every_timeout_and_the_threshold_remembers() {
        // Timeouts of 0.2 s: 100, 50, 25, 12.5, 10.
        assert_eq!(after("decay", 0.19), (100.0, 20.0));
        assert_eq!(after("decay", 0.3), (50.0, 75.0));
        assert_eq!(after("decay", 0.5), (25.0, 75.0));
        assert_eq!(after("decay", 0.7), (12.5, 75.0));
        assert_eq!(after("decay", 100.0), (10.0, 75.0));
        assert_eq!(after("off", 100.0), (100.0, 20.0));
    }
}
