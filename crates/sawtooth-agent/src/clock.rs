//! The kernel's clock, in seconds as the core has them.

use std::io;

use nix::time::{ClockId, clock_gettime};
use sawtooth_core::internals::units::ns;

/// Time since a moment.
#[derive(Clone, Copy, Debug)]
pub struct ElapsedClock {
    begin: f64,
}

impl ElapsedClock {
    /// Time begins now.
    pub fn start() -> io::Result<Self> {
        Ok(Self {
            begin: monotonic()?,
        })
    }

    /// Seconds since it began.
    pub fn now(self) -> io::Result<f64> {
        Ok(monotonic()? - self.begin)
    }

    /// The kernel's monotonic time, in nanoseconds, `secs` after it began. Rounded up: a clock that stands still while nobody sleeps would
    /// never reach a time that is less than its resolution away.
    pub fn monotonic_ns(self, secs: f64) -> i64 {
        ns(self.begin + secs) + 1
    }
}

fn monotonic() -> io::Result<f64> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "seconds since the machine was switched on"
    )]
    Ok(now.tv_sec() as f64 + now.tv_nsec() as f64 * 1e-9)
}
