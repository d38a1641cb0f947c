//! What a host remembers of connections to another one that have ended, and what the next one starts with.
//!
//! Specification: Linux's documentation of `tcp_no_metrics_save` and `tcp_no_ssthresh_metrics_save` (ip-sysctl) and of what is kept (ip-tcp_metrics(8));
//! the rule itself is measured of Linux 6.1: one to four transfers in turn between two hosts, with chosen losses.
//!
//! Model: the slow-start threshold that a connection leaves is
//!
//! - max(cwnd / 2, ssthresh) in whole segments, if its window has reached its threshold;
//! - otherwise, that is if it never had one, or in the slow start after a timeout or with an inherited threshold, what was known before.
//!
//! The round-trip time that it leaves is its last smoothed one, R, if that is more than the known one, K; otherwise K - (K - R) / 8.
//!
//! A connection that begins takes the threshold. If the known round-trip time is longer than that of its handshake, it gives the first
//! retransmission timeout, until data has been measured: K + max(2 K, the variance term's minimum), with K in whole ticks.
//!
//! Deviations: what is known is taken when a connection is opened; Linux takes it when the SYN is acknowledged, which is another where that was lost and another connection ends meanwhile. Linux also keeps what it knows of reordering and of the congestion window. Links here keep packets in order, and the initial window of
//! a later connection does not depend on the latter. That a timeout from a shorter known round-trip time is not used is not measured.

use crate::registry::words;
use crate::units::{Duration, Instant, WindowSize};

words! {
    /// What a host keeps.
    pub enum Keeps {
        Nothing = "off",
        /// Everything but the threshold, as Linux since 5.6.
        RoundTrip = "default",
        /// The threshold, too.
        Threshold = "with_ssthresh",
    }
}

/// What a connection starts with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Inherited {
    pub ssthresh: Option<WindowSize>,
    pub rtt: Option<Duration>,
}

/// How a connection has ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Legacy {
    pub cwnd: WindowSize,
    /// Infinite, or as large as a limit without meaning, if it never had one.
    pub ssthresh: WindowSize,
    pub srtt: Option<Duration>,
}

/// What is known of one path.
#[derive(Clone, Debug, Default)]
struct PathCache {
    known: Inherited,
    /// Connections that have ended. Receivers and senders may be ahead of the flows that begin.
    ended: Vec<Ended>,
}

#[derive(Clone, Copy, Debug)]
struct Ended {
    time: Instant,
    flow: u32,
    legacy: Legacy,
}

impl PathCache {
    /// What is known at `time`, which is not before that of any earlier question.
    fn at(&mut self, time: Instant) -> Inherited {
        self.ended.sort_by(|left, right| {
            let by_time = left.time.total_cmp(&right.time);
            by_time.then(left.flow.cmp(&right.flow))
        });
        let past = self.ended.partition_point(|ended| ended.time < time);
        for ended in self.ended.drain(..past) {
            self.known = remember(self.known, ended.legacy);
        }
        self.known
    }
}

/// What is known after a connection has ended.
fn remember(known: Inherited, legacy: Legacy) -> Inherited {
    let Legacy {
        cwnd,
        ssthresh,
        srtt,
    } = legacy;
    let rtt = match (known.rtt, srtt) {
        (Some(known), Some(srtt)) if srtt < known => Some(known - (known - srtt) / 8.0),
        (known, srtt) => srtt.or(known),
    };
    let ssthresh = if ssthresh >= super::params::UNLIMITED || cwnd < ssthresh {
        known.ssthresh
    } else {
        Some((cwnd / 2.0).trunc().max(ssthresh.trunc()))
    };
    Inherited { ssthresh, rtt }
}

/// The caches of all paths.
#[derive(Debug)]
pub(crate) struct MetricsCaches {
    paths: Vec<PathCache>,
    flows: Vec<CachedFlow>,
}

#[derive(Clone, Copy, Debug)]
struct CachedFlow {
    path: usize,
    /// What its hosts keep.
    keeps: Keeps,
    ended: bool,
}

impl MetricsCaches {
    /// `flows`: of each its path, as a number, and what its hosts keep.
    pub(crate) fn new(flows: impl Iterator<Item = (usize, Keeps)>) -> Self {
        let flow = |(path, keeps)| CachedFlow {
            path,
            keeps,
            ended: false,
        };
        let flows: Vec<CachedFlow> = flows.map(flow).collect();
        let paths = flows.iter().map(|flow| flow.path + 1).max().unwrap_or(0);
        Self {
            paths: vec![PathCache::default(); paths],
            flows,
        }
    }

    /// A flow's slot is reused by a connection on this path, whose hosts keep what `keeps` says.
    pub(crate) fn take_place(&mut self, flow: u32, path: usize, keeps: Keeps) {
        let place = flow as usize;
        if place >= self.flows.len() {
            let absent = CachedFlow {
                path,
                keeps: Keeps::Nothing,
                ended: true,
            };
            self.flows.resize(place + 1, absent);
        }
        self.flows[place] = CachedFlow {
            path,
            keeps,
            ended: false,
        };
    }

    /// What a flow that begins at `time` starts with.
    pub(crate) fn at_start(&mut self, flow: u32, time: Instant) -> Inherited {
        let CachedFlow { path, keeps, .. } = self.flows[flow as usize];
        match keeps {
            Keeps::Nothing => Inherited::default(),
            Keeps::RoundTrip => Inherited {
                ssthresh: None,
                ..self.paths[path].at(time)
            },
            Keeps::Threshold => self.paths[path].at(time),
        }
    }

    /// A flow has ended (may be called more than once).
    pub(crate) fn on_end(&mut self, flow: u32, time: Instant, legacy: Legacy) {
        let CachedFlow { path, keeps, ended } = &mut self.flows[flow as usize];
        if !std::mem::replace(ended, true) && *keeps != Keeps::Nothing {
            let end = Ended { time, flow, legacy };
            self.paths[*path].ended.push(end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::{at, secs, window};

    /// The threshold that is inherited after connections that ended with these windows and thresholds.
    fn after(ends: &[(f64, f64)]) -> Option<f64> {
        let known = ends.iter().fold(Inherited::default(), |known, end| {
            let (cwnd, ssthresh) = (window(end.0), window(end.1));
            let srtt = None;
            remember(
                known,
                Legacy {
                    cwnd,
                    ssthresh,
                    srtt,
                },
            )
        });
        known.ssthresh.map(WindowSize::segments)
    }

    #[test]
    fn linux_6_1_inherits_the_threshold_or_half_of_a_window_beyond_it() {
        // Measured: last cwnd and ssthresh of a transfer, and the ssthresh of the next. One loss early; one late; drops at a queue of ten.
        assert_eq!(after(&[(22.0, 14.0)]), Some(14.0));
        assert_eq!(after(&[(62.0, 54.0)]), Some(54.0));
        assert_eq!(after(&[(106.0, 106.0)]), Some(106.0));
        assert_eq!(after(&[(37.0, 9.0)]), Some(18.0));
    }

    #[test]
    fn linux_6_1_remembers_the_last_connection_and_not_the_best() {
        assert_eq!(after(&[(54.0, 54.0), (28.0, 27.0)]), Some(27.0));
        assert_eq!(after(&[(22.0, 14.0), (19.0, 19.0)]), Some(19.0));
    }

    #[test]
    fn linux_6_1_learns_nothing_from_slow_start() {
        assert_eq!(after(&[(218.0, f64::INFINITY)]), None);
        // After a timeout, on the way to the threshold.
        assert_eq!(after(&[(16.0, 18.0)]), None);
        assert_eq!(after(&[(62.0, 54.0), (16.0, 18.0)]), Some(54.0));
        // With the threshold that it has inherited.
        assert_eq!(after(&[(62.0, 54.0), (24.0, 54.0)]), Some(54.0));
    }

    #[test]
    fn linux_6_1_believes_longer_round_trips_at_once_and_shorter_ones_by_an_eighth() {
        // Measured through the first timeout of a connection after transfers that ended with these smoothed round trips, in ms. It was
        // K + max(2 K, 200 ms) with K in ticks of 10 ms: so K is 120, 110, 90, 110 and 120 ms.
        let cases: [(&[f64], f64); 5] = [
            (&[124.4], 120.0),
            (&[124.4, 44.5], 110.0),
            (&[124.4, 44.5, 44.5, 44.5], 90.0),
            (&[124.4, 84.9], 110.0),
            (&[44.5, 124.4], 120.0),
        ];
        for (round_trips, expected) in cases {
            let known = round_trips.iter().fold(Inherited::default(), |known, ms| {
                let legacy = Legacy {
                    cwnd: window(10.0),
                    ssthresh: WindowSize::INFINITE,
                    srtt: Some(secs(*ms)),
                };
                remember(known, legacy)
            });
            let ticks = (known.rtt.expect("one") / secs(10.0)).floor();
            assert!((ticks * 10.0 - expected).abs() < 1e-9, "{round_trips:?}");
        }
    }

    #[test]
    fn a_flow_hears_of_those_that_ended_before_it_began() {
        let keeps = [Keeps::Threshold; 3];
        let mut caches = MetricsCaches::new(keeps.into_iter().map(|keeps| (0, keeps)));
        let end = |segments| Legacy {
            cwnd: window(segments),
            ssthresh: window(segments),
            srtt: None,
        };
        // The second ends first, but is heard of later.
        caches.on_end(0, at(4.0), end(40.0));
        caches.on_end(1, at(3.0), end(30.0));
        assert_eq!(caches.at_start(2, at(3.0)).ssthresh, None);
        assert_eq!(caches.at_start(2, at(3.5)).ssthresh, Some(window(30.0)));
        assert_eq!(caches.at_start(2, at(9.0)).ssthresh, Some(window(40.0)));
    }

    #[test]
    fn paths_have_caches_of_their_own() {
        let flows = [
            (0, Keeps::Threshold),
            (1, Keeps::Threshold),
            (0, Keeps::RoundTrip),
        ];
        let mut caches = MetricsCaches::new(flows.into_iter());
        let legacy = Legacy {
            cwnd: window(20.0),
            ssthresh: window(20.0),
            srtt: Some(secs(0.1)),
        };
        caches.on_end(0, at(1.0), legacy);
        assert_eq!(caches.at_start(1, at(2.0)), Inherited::default());
        // Without the threshold, as Linux since 5.6.
        let round_trip = Inherited {
            ssthresh: None,
            rtt: Some(secs(0.1)),
        };
        assert_eq!(caches.at_start(2, at(2.0)), round_trip);
    }
}
