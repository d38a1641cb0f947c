//! The guest's clock and its one timer: what time it is, and what time it is next.
//!
//! The kernel is one thread, which a signal may interrupt anywhere: hence atomics, and no order among them.

use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU64};

pub const NS: u64 = 1_000_000_000;
/// When the clock starts: 0 would be no time.
const POWER_ON: u64 = NS;
/// When jobs begin: later than any boot ends, and on a tick of every usual rate.
const JOBS: u64 = 100 * NS;

/// What a user-mode kernel divides time by, ns: it reads no finer one. A timer that expired between two of its readings would find that it is too early, and set itself again for half a
/// microsecond later.
const READING: u64 = 256;

/// Monotonic time, ns.
#[derive(Debug)]
pub struct VirtualClock {
    /// 0 while time is the host's.
    now: AtomicU64,
    /// When the timer expires; 0 if it is disarmed.
    deadline: AtomicU64,
    interval: AtomicU64,
    booting: AtomicBool,
}

pub static CLOCK: VirtualClock = VirtualClock::new();

impl VirtualClock {
    const fn new() -> Self {
        Self {
            now: AtomicU64::new(0),
            deadline: AtomicU64::new(0),
            interval: AtomicU64::new(0),
            booting: AtomicBool::new(true),
        }
    }

    /// Makes time virtual.
    pub fn start(&self) {
        self.now.store(POWER_ON, Relaxed);
    }

    /// The time; nothing if it is the host's.
    pub fn now(&self) -> Option<u64> {
        Some(self.now.load(Relaxed)).filter(|now| *now != 0)
    }

    /// Sets the timer to expire at `deadline`, or when the kernel can first read that, and every `interval` from then on; 0 is never.
    pub fn arm(&self, deadline: u64, interval: u64) {
        let read = deadline.next_multiple_of(READING);
        self.deadline.store(read, Relaxed);
        self.interval.store(interval, Relaxed);
    }

    /// What is left until the timer expires, 0 if it is disarmed, and its interval.
    pub fn setting(&self) -> (u64, u64) {
        let left = match self.deadline.load(Relaxed) {
            0 => 0,
            deadline => deadline.saturating_sub(self.now.load(Relaxed)).max(1),
        };
        (left, self.interval.load(Relaxed))
    }

    /// Jumps to the timer's expiry; whether it was armed.
    pub fn jump(&self) -> bool {
        let deadline = self.deadline.load(Relaxed);
        if deadline == 0 {
            return false;
        }
        // A deadline of the past expires now.
        let now = self.now.load(Relaxed).max(deadline);
        let interval = self.interval.load(Relaxed);
        self.now.store(now, Relaxed);
        self.deadline
            .store(if interval == 0 { 0 } else { now + interval }, Relaxed);
        true
    }

    /// The boot is over, however long it was; the timer expires soon, as after any tick. Later calls do nothing.
    pub fn begin_jobs(&self) {
        if self.booting.swap(false, Relaxed) && self.now().is_some() {
            self.now.store(JOBS, Relaxed);
            self.deadline.store(JOBS + NS / 1000, Relaxed);
        }
    }

    pub fn booting(&self) -> bool {
        self.booting.load(Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::{JOBS, NS, POWER_ON, VirtualClock};

    fn started() -> VirtualClock {
        let clock = VirtualClock::new();
        clock.start();
        clock
    }

    #[test]
    fn time_is_the_host_s_until_the_clock_starts() {
        let clock = VirtualClock::new();
        assert_eq!(clock.now(), None);
        clock.begin_jobs();
        assert_eq!(clock.now(), None);
    }

    #[test]
    fn time_jumps_to_the_timer_and_stands_still_otherwise() {
        let clock = started();
        clock.arm(POWER_ON + 512, 0);
        assert_eq!((clock.now(), clock.setting()), (Some(POWER_ON), (512, 0)));
        assert!(clock.jump());
        assert_eq!(
            (clock.now(), clock.setting()),
            (Some(POWER_ON + 512), (0, 0))
        );
        assert!(!clock.jump());
        assert_eq!(clock.now(), Some(POWER_ON + 512));
    }

    #[test]
    fn the_timer_expires_when_the_kernel_can_read_that_it_has() {
        let clock = started();
        clock.arm(POWER_ON + 257, 0);
        assert!(clock.jump());
        assert_eq!(clock.now(), Some(POWER_ON + 512));
    }

    #[test]
    fn an_interval_sets_the_timer_again() {
        let clock = started();
        clock.arm(POWER_ON + 256, 512);
        assert!(clock.jump() && clock.jump());
        assert_eq!(
            (clock.now(), clock.setting()),
            (Some(POWER_ON + 768), (512, 512))
        );
    }

    #[test]
    fn a_deadline_of_the_past_expires_without_time_running_back() {
        let clock = started();
        clock.arm(POWER_ON - 5, 0);
        assert_eq!(clock.setting().0, 1);
        assert!(clock.jump());
        assert_eq!(clock.now(), Some(POWER_ON));
    }

    #[test]
    fn jobs_begin_at_the_same_time_however_long_the_boot_was() {
        for boot in [0, 3 * NS] {
            let clock = started();
            clock.arm(POWER_ON + boot, 0);
            clock.jump();
            assert!(clock.booting());
            clock.begin_jobs();
            assert!(!clock.booting());
            assert_eq!((clock.now(), clock.setting().0), (Some(JOBS), NS / 1000));
            clock.jump();
            clock.begin_jobs();
            assert_eq!(clock.now(), Some(JOBS + NS / 1000));
        }
    }
}
