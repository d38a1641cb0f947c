//! The kernel's clock, in instants as the core has them.

use std::io;

use nix::time::{ClockId, clock_gettime};
use sawtooth_core::units::{Duration, Instant};

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
