//! The ticks of a host's clock, in which its timers count.
//!
//! A timer expires at the first tick by which it has waited for so many whole ticks as it needs: the one in which it was set does not count. Or it
//! does, and the timer waits for up to a tick less than it was asked to (BSD; Wright and Stevens 1995, "TCP/IP Illustrated, Volume 2", chapter 25).
//! Measured of Linux 6.1, whose ticks were of 10 ms, with each kind of timer set 0 to 8.3 ms after a tick: a delayed acknowledgement of 40 ms leaves 40
//! to 50 ms later, a reordering timer of 7 ms that was set at 58.94 ms expires at 70 ms and one set at 60.54 ms at 80 ms, a probe of 52 ms set
//! at 50.98 or 59.28 ms at 120 ms, a timeout of 225 ms set at 120 ms at 360 ms.
//!
//! Since 4.8 Linux sorts waiting timers by how long they wait, and looks for longer ones at fewer of its ticks (J. Corbet, "Reinventing the timer wheel", LWN.net, 2015). Measured of Linux 6.1 with
//! ticks of 10 ms: a SYN of 49.657 ms that is lost leaves again at 1.12 s and at 3.2 s, one of 475.237 ms at 1.52 s.

use super::clock::{Clock, HAIR};
use crate::events::{Child, Event, EventKey};
use crate::units::{Duration, Instant, ceil, floor};

/// A host's ticks, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ticks {
    /// The time between two; 0: the clock does not tick.
    pub tick: Duration,
    per_sec: f64,
    /// How long after the beginning of the run one of them is.
    pub phase: Duration,
    /// Whether the one in which a timer is set does not count.
    pub whole: bool,
    /// Whether longer waits end at fewer of them.
    pub wheel: bool,
    /// What else the host tells the time by.
    pub clock: Clock,
}

/// Waits of so many ticks end at every eighth of them; eight times as long ones at one of 64, and so on.
const LONG: f64 = 63.0;
const COARSER: f64 = 8.0;
/// Of a wheel's levels there are so many: its longest waits end at one of 8^8 ticks.
const LEVELS: u8 = 8;

impl Ticks {
    pub const fn of(tick: Duration) -> Self {
        Self {
            tick,
            per_sec: 1.0 / tick.secs(),
            phase: Duration::ZERO,
            whole: true,
            wheel: false,
            clock: Clock::EXACT,
        }
    }

    /// The same of a host whose clock tells no finer times than `reading`, as its ticks are now.
    pub fn reading(self, reading: Duration) -> Self {
        let clock = Clock::of(reading, self.phase, Duration::from_secs(1e-6));
        Self { clock, ..self }
    }

    /// How long before the run one of them came, where the clock has readings.
    pub fn since_tick(self) -> Duration {
        self.clock.since_tick(self.phase, self.tick)
    }

    /// When a timer expires that is set at `now` to wait so long.
    #[inline]
    pub fn expiry(self, now: Instant, wait: Duration) -> Instant {
        self.expiry_from(self.last(now), wait)
    }

    /// The same of one that is set in the tick that has `begun` then.
    #[inline]
    pub fn expiry_from(self, begun: Instant, wait: Duration) -> Instant {
        let wait = self.whole(wait);
        self.clock.told(if self.wheel && wait >= self.tick * LONG {
            self.expiry_of_long(begun, wait)
        } else if self.whole {
            begun + wait + self.tick
        } else {
            // No tick before the next one is to come, however short the wait.
            begun + wait.max(self.tick)
        })
    }

    /// The same of a long wait: at the first of fewer ticks after it is over.
    #[cold]
    #[inline(never)]
    fn expiry_of_long(&self, begun: Instant, wait: Duration) -> Instant {
        let (_, fewer) = self.level(wait);
        fewer.last(begun + wait) + fewer.tick
    }

    /// Of a wait: how often what it ends at is an eighth of the ticks, and those ticks.
    fn level(self, wait: Duration) -> (u8, Self) {
        let (mut level, mut fewer) = (0, self);
        while level < LEVELS && wait >= fewer.tick * LONG - HAIR {
            level += 1;
            fewer.tick = fewer.tick * COARSER;
            // Exact, as that is a power of two.
            fewer.per_sec /= COARSER;
        }
        (level, fewer)
    }

    /// Sets a timer of a wheel for `time`, at the head of those that expire then: it is the first of them to expire, but after those that wait at fewer of its ticks. One that is set anew for the time
    /// for which it is set keeps its place. Without a wheel timers expire in the order in which they were set.
    pub fn set(self, timer: &mut EventKey, now: Event, time: Instant) {
        if !self.wheel {
            *timer = now.schedule(time, Child::Timer);
        } else if timer.time != time {
            *timer = now.schedule_at_head(time, self.level(time - now.time).0);
        }
    }

    /// The last tick at `now` or before; `now`, where there are none.
    #[inline]
    pub fn last(self, now: Instant) -> Instant {
        let since = (now - self.phase) - Instant::START;
        Instant::from_secs((self.passed(since) + self.phase).secs())
    }

    /// A time in the ticks that have passed; as it is, where there are none.
    #[inline]
    pub fn passed(self, time: Duration) -> Duration {
        if self.tick > Duration::ZERO {
            self.tick * floor((time + HAIR).secs() * self.per_sec)
        } else {
            time
        }
    }

    /// A time in the ticks that it needs.
    #[inline]
    pub fn whole(self, time: Duration) -> Duration {
        if self.tick > Duration::ZERO {
            self.tick * ceil((time - HAIR).secs() * self.per_sec)
        } else {
            time
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::events::Lineage;
    use crate::units::testing::{at, secs};

    #[test]
    fn the_tick_in_which_a_timer_is_set_does_not_count() {
        // The header's measurements.
        let ticks = Ticks::of(secs(0.01));
        for (now, wait, expiry) in [
            (0.929_51, 0.04, 0.97),
            (0.058_94, 0.007, 0.07),
            (0.060_54, 0.007, 0.08),
            (0.050_98, 0.052_02, 0.12),
            (0.059_28, 0.052_02, 0.12),
            (0.12, 0.225_01, 0.36),
        ] {
            let found = ticks.expiry(at(now), secs(wait)).secs();
            assert!((found - expiry).abs() < 1e-9, "{now} {wait}: {found}");
        }
    }

    #[test]
    fn a_timer_that_is_set_anew_for_the_same_time_keeps_its_place() {
        // Measured of Linux 6.1: of probes and timeouts of several connections that are due in one tick the last one that was set leaves first, also if both were set in one tick, one after the other.
        let mut lineage = Lineage::new();
        let mut set = |order, secs| lineage.record(EventKey::at_start(at(secs), order));
        let (first, second, third) = (set(0, 1.0), set(1, 1.0), set(2, 1.005));
        let ticks = Ticks {
            wheel: true,
            ..Ticks::of(secs(0.01))
        };
        let (mut one, mut other) = (EventKey::NEVER, EventKey::NEVER);
        ticks.set(&mut one, first, at(1.2));
        ticks.set(&mut other, second, at(1.2));
        assert!(other.precedes(&one, &lineage, false));
        ticks.set(&mut one, third, at(1.2));
        assert!(other.precedes(&one, &lineage, false));
        ticks.set(&mut one, third, at(1.21));
        ticks.set(&mut one, third, at(1.2));
        assert!(one.precedes(&other, &lineage, false));
    }

    #[test]
    fn a_timer_ends_when_the_clock_tells_it() {
        // Of user-mode Linux: a tick of 10 ms is read 128 ns later, one of 20 ms at once.
        let ticks = Ticks::of(secs(0.01)).reading(secs(256e-9));
        for (wait, expiry) in [(0.009, 0.020), (0.019, 0.030_000_128)] {
            let found = ticks.expiry(at(0.001), secs(wait)).secs();
            assert!((found - expiry).abs() < 1e-12, "{wait}: {found}");
        }
    }

    #[test]
    fn a_timer_that_counts_the_tick_under_way_waits_for_up_to_a_tick_less() {
        // Ticks of 10 ms at 3, 13, 23 ... ms: two of them, from 12.9 and from 13 ms.
        let ticks = Ticks {
            phase: secs(0.003),
            whole: false,
            ..Ticks::of(secs(0.01))
        };
        for (now, expiry) in [(0.0129, 0.023), (0.013, 0.033), (0.0131, 0.033)] {
            let found = ticks.expiry(at(now), secs(0.02)).secs();
            assert!((found - expiry).abs() < 1e-9, "{now}: {found}");
            let whole = Ticks {
                whole: true,
                ..ticks
            };
            assert!((whole.expiry(at(now), secs(0.02)).secs() - expiry - 0.01).abs() < 1e-9);
        }
        // However short the wait, the tick before has passed.
        assert!((ticks.expiry(at(0.0129), secs(1e-9)).secs() - 0.013).abs() < 1e-12);
        // One that starts with the run, before the first tick.
        assert!((ticks.last(at(0.001)).secs() + 0.007).abs() < 1e-12);
    }

    #[test]
    fn longer_waits_end_at_fewer_ticks() {
        // The header's measurements, and the ends of levels.
        let mut ticks = Ticks::of(secs(0.01));
        ticks.wheel = true;
        for (now, wait, expiry) in [
            (0.049_657, 1.0, 1.12),
            (1.12, 2.0, 3.2),
            (0.475_237, 1.0, 1.52),
            (0.01, 0.62, 0.64),
            (0.01, 0.63, 0.72),
            (0.01, 5.03, 5.12),
            (0.01, 5.04, 5.12),
            (0.09, 5.04, 5.76),
        ] {
            let found = ticks.expiry(at(now), secs(wait)).secs();
            assert!((found - expiry).abs() < 1e-9, "{now} {wait}: {found}");
        }
        // A host that was started at another time.
        ticks.phase = secs(0.053);
        let found = ticks.expiry(at(0.049_657), secs(1.0)).secs();
        assert!((found - 1.093).abs() < 1e-9, "{found}");
    }

    #[test]
    fn a_clock_without_ticks_waits_as_long_as_it_is_asked_to() {
        let expiry = Ticks::of(secs(0.0)).expiry(at(0.5), secs(0.25)).secs();
        assert!((expiry - 0.75).abs() < 1e-12);
    }

    #[test]
    fn a_timer_expires_at_the_first_tick_by_which_it_has_waited_for_whole_ones() {
        // Measured, milliseconds: the probe of ten segments sent a round trip after the connection's beginning at a tick, after two round trips and 2 ms; the
        // timeout that follows it, of a round trip and 200 ms; and a wait for reordering of a quarter of a round trip and 2 ms.
        let ticks = Ticks::of(secs(0.01));
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
            let expiry = 1e3 * ticks.expiry(at(from / 1e3), secs(wait / 1e3)).secs();
            assert!((expiry - measured).abs() < 1e-6, "{from} {wait}: {expiry}");
        }
    }
}
