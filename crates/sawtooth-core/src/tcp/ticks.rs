//! The ticks of a host's clock, at which its timers expire.
//!
//! Measured of Linux 6.1 with ticks of 10 ms, of its timers for retransmissions, tail loss probes, reordering and delayed acknowledgements, over round trips of
//! 1 to 160 ms: a timer expires at the first tick by which it has waited for so many whole ones as its wait needs. One of 201 ms that begins 9 ms
//! after a tick expires 211 ms later, and so does one that begins 1 ms after a tick 219 ms later.

use crate::units::{ceil, floor};

/// Clocks are binary fractions: times this close are the same.
const HAIR: f64 = 1e-9;

/// Seconds between two ticks; none: time flows.
#[derive(Clone, Copy, Debug)]
pub struct Ticks {
    tick: f64,
    per_sec: f64,
}

impl Ticks {
    /// Ticks of `tick` seconds; 0: none.
    pub fn of(tick: f64) -> Self {
        Self {
            tick,
            per_sec: 1.0 / tick,
        }
    }

    /// When a timer expires that is set at `from` for `wait` seconds.
    #[inline]
    pub fn expiry(self, from: f64, wait: f64) -> f64 {
        if self.tick > 0.0 {
            self.passed(from) + self.needed(wait) + self.tick
        } else {
            from + wait
        }
    }

    /// A time in ticks that have passed; as it is where there are none.
    #[inline]
    pub fn passed(self, secs: f64) -> f64 {
        if self.tick > 0.0 {
            floor((secs + HAIR) * self.per_sec) * self.tick
        } else {
            secs
        }
    }

    /// A time in the ticks that it needs.
    #[inline]
    pub fn needed(self, secs: f64) -> f64 {
        if self.tick > 0.0 {
            ceil((secs - HAIR) * self.per_sec) * self.tick
        } else {
            secs
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timer_expires_at_the_first_tick_by_which_it_has_waited_for_whole_ones() {
        // Measured, milliseconds: the probe of ten segments sent a round trip after the connection's beginning at a tick, after two round trips and 2 ms; the
        // timeout that follows it, of a round trip and 200 ms; and a wait for reordering of a quarter of a round trip and 2 ms.
        let ticks = Ticks::of(0.01);
        for (from, wait, measured) in [
            (3.902, 7.804 + 2.0, 20.0),
            (4.002, 8.008 + 2.0, 30.0),
            (9.002, 18.004 + 2.0, 40.0),
            (30.002, 60.004 + 2.0, 110.0),
            (20.0, 201.0, 240.0),
            (60.0, 217.0, 290.0),
            (18.129, 2.25 + 2.0, 30.0),
            (20.129, 2.5 + 2.0, 40.0),
            (140.129, 17.5 + 2.0, 170.0),
            (150.129, 18.75 + 2.0, 190.0),
        ] {
            let expiry = 1e3 * ticks.expiry(from / 1e3, wait / 1e3);
            assert!((expiry - measured).abs() < 1e-6, "{from} {wait}: {expiry}");
        }
        assert_eq!(Ticks::of(0.0).expiry(1.0, 0.5), 1.5, "without ticks");
    }
}
