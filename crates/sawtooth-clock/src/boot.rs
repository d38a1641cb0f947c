//! Ticks for a boot that waits for them without idling.
//!
//! A kernel that boots may compute until a tick comes: it measures its own speed. A timer of the host's CPU time notices, and forces ticks
//! until the guest idles.

use std::ffi::c_int;
use std::mem;
use std::ptr;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use libc::{itimerspec, sigevent};

use crate::calls::{expire, from_ns};
use crate::clock::{CLOCK, NS};

/// Time of the host's CPU without idling after which a boot is taken to wait for ticks: ten times what a whole boot takes, which need not
/// idle at all, for hosts that are slow or busy.
const PATIENCE: u64 = 5 * NS;
/// Time of the host's CPU between ticks of a boot that waits for them.
const TICK: u64 = NS / 1000;

/// How often the guest has idled, and how often it had when last looked at.
static IDLES: AtomicU64 = AtomicU64::new(0);
static SEEN: AtomicU64 = AtomicU64::new(0);
/// The host's number of the timer.
static TIMER: AtomicU64 = AtomicU64::new(0);

pub fn idles() {
    IDLES.fetch_add(1, Relaxed);
}

/// The signal of the timer of CPU time: none that user-mode Linux uses.
fn signal() -> c_int {
    libc::SIGRTMIN() + 7
}

/// Begins to watch the calling thread's use of CPU.
pub fn watch() {
    // SAFETY: the structures are plain numbers, for which zero is a value, and live until the calls return.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = look as *const () as libc::sighandler_t;
        // On the stack that the kernel has for signals, as its own handlers.
        action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigfillset(&raw mut action.sa_mask);
        libc::sigaction(signal(), &raw const action, ptr::null_mut());
        let mut event: sigevent = mem::zeroed();
        event.sigev_notify = libc::SIGEV_THREAD_ID;
        event.sigev_signo = signal();
        event.sigev_notify_thread_id = libc::gettid();
        let mut number: c_int = 0;
        libc::syscall(
            libc::SYS_timer_create,
            libc::CLOCK_THREAD_CPUTIME_ID,
            &raw mut event,
            &raw mut number,
        );
        TIMER.store(u64::try_from(number).unwrap_or_default(), Relaxed);
    }
    look_after(PATIENCE);
}

fn look_after(cpu: u64) {
    let setting = itimerspec {
        it_interval: from_ns(0),
        it_value: from_ns(cpu),
    };
    // SAFETY: the setting lives until the call returns.
    unsafe {
        libc::syscall(
            libc::SYS_timer_settime,
            TIMER.load(Relaxed),
            0,
            &raw const setting,
            ptr::null_mut::<itimerspec>(),
        )
    };
}

extern "C" fn look(_signal: c_int) {
    if !CLOCK.booting() {
        return;
    }
    let idles = IDLES.load(Relaxed);
    let waits = SEEN.swap(idles, Relaxed) == idles;
    if waits {
        expire();
    }
    look_after(if waits { TICK } else { PATIENCE });
}
