//! The kernel's clock, in instants as the core has them.

use std::io;

use nix::sys::time::TimeValLike;
use nix::time::{ClockId, clock_gettime};
use sawtooth_core::units::{Duration, Instant};

/// How late a kernel may wake this program in virtual time: the longest tick, for those without finer timers. The packaged one wakes it half a
/// microsecond late at most (measured).
const LATEST: Duration = Duration::from_secs(0.01);
/// A user-mode kernel reads no finer times, ns.
const READING_NS: i64 = 256;
/// How often two clocks are asked, to find a moment at which nothing came between.
const TRIES: usize = 8;

/// Time since a moment.
#[derive(Clone, Copy, Debug)]
pub struct ElapsedClock {
    /// The kernel's monotonic time then.
    begin: Duration,
}

impl ElapsedClock {
    /// Time begins now.
    pub fn start() -> io::Result<Self> {
        Ok(Self {
            begin: monotonic()?,
        })
    }

    /// How far it has come.
    pub fn now(self) -> io::Result<Instant> {
        Ok(Instant::START + (monotonic()? - self.begin))
    }

    /// Whether `shown` is what the clock of a user-mode kernel shows at `moment`, if it wakes whoever waits for that: its first reading after it.
    pub fn shows(shown: Instant, moment: Instant) -> bool {
        shown >= moment && (shown - moment).as_ns() <= READING_NS
    }

    /// The kernel's monotonic time, in nanoseconds, at an instant. Rounded up: a clock that stands still while nobody sleeps would
    /// never reach a time that is less than its resolution away.
    pub fn monotonic_ns(self, at: Instant) -> i64 {
        (at + self.begin).as_ns() + 1
    }
}

fn monotonic() -> io::Result<Duration> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "seconds since the machine was switched on"
    )]
    let secs = now.tv_sec() as f64 + now.tv_nsec() as f64 * 1e-9;
    Ok(Duration::from_secs(secs))
}

/// The time of day when a clock's time began, in nanoseconds.
pub fn time_of_day(clock: ElapsedClock) -> io::Result<i64> {
    let mut best = (i64::MAX, 0);
    for _ in 0..TRIES {
        let before = clock.now()?.as_ns();
        let day = clock_gettime(ClockId::CLOCK_REALTIME)?.num_nanoseconds();
        let after = clock.now()?.as_ns();
        best = best.min((after - before, day - before.midpoint(after)));
    }
    Ok(best.1)
}

/// Whether a wait that was to end at `due` at the latest was over `now`, where time passes only in waits: otherwise the run stood still
/// while something was to be done, and what it measured is void.
pub fn in_time(now: Instant, due: Instant) -> io::Result<()> {
    if now <= due + LATEST {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "the run stood still from {:.6} s to {:.6} s because the kernel did not wake the agent: its results are void; run it alone, or with `--backend qemu`",
        due.secs(),
        now.secs()
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(secs: f64) -> Instant {
        Instant::from_secs(secs)
    }

    #[test]
    fn a_clock_shows_a_moment_as_its_next_reading() {
        for (shown, moment, same) in [
            (1.000_000_256, 1.0, true),
            (1.000_000_512, 1.0, false),
            (0.999_999_9, 1.0, false),
        ] {
            assert_eq!(ElapsedClock::shows(at(shown), at(moment)), same, "{shown}");
        }
    }

    #[test]
    fn a_run_that_slept_through_what_was_due_is_an_error() {
        assert!(in_time(at(0.25), Instant::NEVER).is_ok());
        assert!(in_time(at(0.25), at(0.25)).is_ok());
        let error = in_time(at(4.0), at(0.25)).expect_err("nothing happened for 3.75 s");
        let text = error.to_string();
        assert!(text.contains("from 0.250000 s to 4.000000 s"), "{text}");
    }
}
