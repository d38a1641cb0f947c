//! Pacing: who decides how fast segments leave, and at what rate.
//!
//! Specification: Linux's documentation of `tcp_pacing_ss_ratio` and `tcp_pacing_ca_ratio` (ip-sysctl: the current rate is cwnd x mss / srtt, and the
//! paced one a ratio of it), of `SO_MAX_PACING_RATE` (a bound on that), and tc-fq(8) (a new flow's first `initial_quantum` bytes are not paced).
//!
//! Model: a segment leaves when the ones before it would have been sent at the rate in force when they left. `pacing = "algorithm"`: only where the
//! congestion control asks for a rate. `"always"`: every flow, as over `fq`; where the algorithm does not ask, at
//!
//! ```text
//! ratio x cwnd x smss / srtt      cwnd: or what is outstanding, if that is more
//! ```
//!
//! with the ratio of slow start as long as the window is below half of the threshold: from there it could pass the threshold within a round trip.
//! A `max_pacing_rate` bounds either, and paces a flow that nothing else paces.

use crate::registry::words;
use crate::units::{ByteCount, Duration, Rate, SegCount, WindowSize};

words! {
    /// Which flows are paced.
    pub enum PacedFlows {
        Never = "off",
        /// Where the congestion control gives a rate.
        Algorithm = "algorithm",
        Always = "always",
    }
}

/// The parameters of pacing.
#[derive(Clone, Copy, Debug)]
pub struct Pacing {
    pub paced: PacedFlows,
    /// Rates in slow start and congestion avoidance, in windows per round-trip time.
    pub slow_start_ratio: f64,
    pub avoidance_ratio: f64,
    /// Infinite when there is no bound.
    pub max: Rate,
    /// Segments at the start of a connection that are not paced.
    pub free_start: SegCount,
    /// Up to this share of its interval a segment leaves earlier, if the one before it left later than asked.
    pub credit: f64,
}

/// What a rate is made of.
#[derive(Clone, Copy, Debug)]
pub struct PacingInput {
    pub cwnd: WindowSize,
    pub ssthresh: WindowSize,
    pub outstanding: SegCount,
    pub smss: ByteCount,
    pub srtt: Option<Duration>,
}

impl Pacing {
    /// The rate at which the next segment leaves, if it is paced.
    #[inline]
    pub fn rate(&self, asked: Option<Rate>, flight: impl FnOnce() -> PacingInput) -> Option<Rate> {
        if self.paced == PacedFlows::Never {
            return None;
        }
        let bounded = self.max.is_finite();
        let rate = match asked {
            Some(asked) => Some(asked),
            None if self.paced == PacedFlows::Always || bounded => self.of_window(&flight()),
            None => None,
        };
        match rate {
            None => bounded.then_some(self.max),
            Some(rate) => Some(rate.min(self.max)),
        }
    }

    /// The rate that Linux computes of the window, once there is a round-trip time.
    pub fn of_window(&self, flight: &PacingInput) -> Option<Rate> {
        let ratio = if flight.cwnd < flight.ssthresh / 2.0 {
            self.slow_start_ratio
        } else {
            self.avoidance_ratio
        };
        let window = flight.cwnd.max(WindowSize::from(flight.outstanding));
        let bits = (ratio * window).segments() * flight.smss.as_f64() * 8.0;
        Some(Rate::from_bps(bits / flight.srtt?.secs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::testing::window;

    const FQ: Pacing = Pacing {
        paced: PacedFlows::Always,
        slow_start_ratio: 2.0,
        avoidance_ratio: 1.2,
        max: Rate::INFINITE,
        free_start: SegCount::new(10),
        credit: 0.0,
    };
    const FLIGHT: PacingInput = PacingInput {
        cwnd: window(20.0),
        ssthresh: window(100.0),
        outstanding: SegCount::new(20),
        smss: ByteCount::new(1250),
        srtt: Some(Duration::from_secs(0.1)),
    };

    fn bps(pacing: Pacing, flight: PacingInput) -> Option<f64> {
        pacing.rate(None, || flight).map(|rate| rate.bps().round())
    }

    #[test]
    fn a_flow_is_paced_at_twice_its_rate_in_slow_start_and_at_1_2_of_it_later() {
        // 20 segments of 10 kbit per 100 ms are 2 Mbit/s.
        assert_eq!(bps(FQ, FLIGHT), Some(4e6));
        for ssthresh in [40.0, 10.0].map(window) {
            assert_eq!(bps(FQ, PacingInput { ssthresh, ..FLIGHT }), Some(2.4e6));
        }
        let outstanding = SegCount::new(30);
        assert_eq!(
            bps(
                FQ,
                PacingInput {
                    outstanding,
                    ..FLIGHT
                }
            ),
            Some(6e6)
        );
    }

    #[test]
    fn what_the_algorithm_asks_for_goes_before() {
        let asked = Some(Rate::from_bps(7e6));
        assert_eq!(FQ.rate(asked, || FLIGHT), asked);
        let paced = PacedFlows::Algorithm;
        assert_eq!(bps(Pacing { paced, ..FQ }, FLIGHT), None);
        let paced = PacedFlows::Never;
        assert_eq!(Pacing { paced, ..FQ }.rate(asked, || FLIGHT), None);
    }

    #[test]
    fn a_maximum_bounds_every_rate_and_paces_by_itself() {
        let max = Rate::from_bps(3e6);
        assert_eq!(bps(Pacing { max, ..FQ }, FLIGHT), Some(3e6));
        let asked = Some(Rate::from_bps(1e6));
        let bounded = Pacing {
            max,
            paced: PacedFlows::Algorithm,
            ..FQ
        };
        assert_eq!(bounded.rate(asked, || FLIGHT), asked);
        assert_eq!(bps(bounded, FLIGHT), Some(3e6));
        // Before the first round trip is known there is nothing else to go by.
        assert_eq!(
            bps(
                bounded,
                PacingInput {
                    srtt: None,
                    ..FLIGHT
                }
            ),
            Some(3e6)
        );
        assert_eq!(
            bps(
                FQ,
                PacingInput {
                    srtt: None,
                    ..FLIGHT
                }
            ),
            None
        );
    }
}
