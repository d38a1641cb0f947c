//! A virtual clock for user-mode Linux, preloaded into the unmodified packaged kernel (`LD_PRELOAD`).
//!
//! **Model.** The guest's CPU is infinitely fast: its clock stands still while it computes, and jumps to the next timer when it
//! idles. So what the guest measures does not depend on how busy the host is, and idle time costs nothing.
//!
//! **How.** A user-mode kernel reads the time, sets its one timer and waits for signals through libc. Those calls are interposed here.
//! Real time passes until the guest's first process asks for virtual time by opening a file called [`SWITCH`] through hostfs: while it
//! boots, the kernel has loops that wait for ticks. From then on the clock starts at [`START`], the same in every boot.
//!
//! Random numbers that the kernel takes from the host come from a fixed seed, or that of `SAWTOOTH_SEED`.

use std::cell::UnsafeCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use libc::{
    clockid_t, itimerspec, sigevent, sigset_t, size_t, ssize_t, timer_t, timespec, timeval,
};

/// The last part of the name of the file whose opening starts virtual time.
const SWITCH: &[u8] = b"sawtooth-virtual-time";
/// Monotonic time at the switch, ns since the kernel first asked: later than any boot has taken.
const START: u64 = 100 * NS;
/// What is added to monotonic time to give the time of day, s.
const EPOCH: u64 = 1_600_000_000;
const NS: u64 = 1_000_000_000;

/// The state of the clock. The kernel is one thread; its helpers do not read the time.
struct Clock {
    /// Virtual now; 0 while real time passes.
    now: u64,
    /// The host's monotonic time when the kernel first set its timer; 0 before.
    boot: u64,
    /// When the timer expires; 0 if it is disarmed.
    deadline: u64,
    interval: u64,
    random: u64,
}

struct Shared(UnsafeCell<Clock>);

// SAFETY: only the thread that runs the guest kernel calls the functions that use it, and they do not call each other.
unsafe impl Sync for Shared {}

static CLOCK: Shared = Shared(UnsafeCell::new(Clock {
    now: 0,
    boot: 0,
    deadline: 0,
    interval: 0,
    random: 0,
}));

fn clock() -> &'static mut Clock {
    // SAFETY: see Shared.
    unsafe { &mut *CLOCK.0.get() }
}

/// Runs when the library is loaded.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = die_with_parent;

/// A guest whose laboratory has been killed has nobody to report to.
extern "C" fn die_with_parent() {
    // SAFETY: asks for a signal, and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

fn to_ns(time: &timespec) -> u64 {
    time.tv_sec.cast_unsigned() * NS + time.tv_nsec.cast_unsigned()
}

fn from_ns(ns: u64) -> timespec {
    timespec {
        tv_sec: (ns / NS).cast_signed(),
        tv_nsec: (ns % NS).cast_signed(),
    }
}

/// The host's monotonic time.
fn real_now() -> u64 {
    let mut time = from_ns(0);
    // SAFETY: the call writes one timespec.
    unsafe {
        libc::syscall(
            libc::SYS_clock_gettime,
            libc::CLOCK_MONOTONIC,
            &raw mut time,
        )
    };
    to_ns(&time)
}

/// Monotonic time of the guest, which starts near 0 as on a machine that is switched on: so virtual time can go on from there.
fn guest_now() -> u64 {
    let clock = clock();
    if clock.now != 0 {
        return clock.now;
    }
    // Until the first tick is set time stands still, so ticks have the same phase in every boot.
    if clock.boot == 0 {
        return NS;
    }
    real_now() - clock.boot + NS
}

/// # Safety
/// As of the function of that name in libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(id: clockid_t, time: *mut timespec) -> c_int {
    let day = if id == libc::CLOCK_REALTIME {
        EPOCH * NS
    } else {
        0
    };
    let value = from_ns(guest_now() + day);
    // SAFETY: the caller passes room for a timespec.
    unsafe { time.write(value) };
    0
}

/// # Safety
/// As of the function of that name in libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(time: *mut timeval, _zone: *mut c_void) -> c_int {
    let mut now = from_ns(0);
    // SAFETY: `now` is a timespec, and the caller passes room for a timeval.
    unsafe {
        clock_gettime(libc::CLOCK_REALTIME, &raw mut now);
        time.write(timeval {
            tv_sec: now.tv_sec,
            tv_usec: now.tv_nsec / 1000,
        });
    }
    0
}

/// # Safety
/// As of the function of that name in libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timer_create(
    id: clockid_t,
    event: *mut sigevent,
    timer: *mut timer_t,
) -> c_int {
    let mut number: u32 = 0;
    // SAFETY: the arguments are those of the caller; the kernel's timer number is an int, kept in the pointer.
    unsafe {
        let result = libc::syscall(libc::SYS_timer_create, id, event, &raw mut number);
        timer.write(number as usize as timer_t);
        c_int::try_from(result).unwrap_or(-1)
    }
}

/// # Safety
/// As of the function of that name in libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timer_settime(
    timer: timer_t,
    flags: c_int,
    new: *const itimerspec,
    old: *mut itimerspec,
) -> c_int {
    let clock = clock();
    if clock.now == 0 {
        if clock.boot == 0 {
            clock.boot = real_now();
        }
        // SAFETY: the arguments are those of the caller.
        let result =
            unsafe { libc::syscall(libc::SYS_timer_settime, timer as usize, flags, new, old) };
        return c_int::try_from(result).unwrap_or(-1);
    }
    // SAFETY: the caller passes a setting, and room for the old one or null.
    unsafe {
        if !old.is_null() {
            timer_gettime(timer, old);
        }
        let value = to_ns(&(*new).it_value);
        let start = if flags & libc::TIMER_ABSTIME == 0 {
            clock.now
        } else {
            0
        };
        clock.deadline = if value == 0 { 0 } else { start + value };
        clock.interval = to_ns(&(*new).it_interval);
    }
    0
}

/// # Safety
/// As of the function of that name in libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timer_gettime(timer: timer_t, setting: *mut itimerspec) -> c_int {
    let clock = clock();
    if clock.now == 0 {
        // SAFETY: the arguments are those of the caller.
        let result = unsafe { libc::syscall(libc::SYS_timer_gettime, timer as usize, setting) };
        return c_int::try_from(result).unwrap_or(-1);
    }
    let left = if clock.deadline == 0 {
        0
    } else {
        clock.deadline.saturating_sub(clock.now).max(1)
    };
    // SAFETY: the caller passes room for a setting.
    unsafe {
        setting.write(itimerspec {
            it_interval: from_ns(clock.interval),
            it_value: from_ns(left),
        });
    }
    0
}

/// The guest idles: its clock jumps to the timer, whose signal is sent; or it waits for other signals.
///
/// # Safety
/// As of the function of that name in libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigsuspend(mask: *const sigset_t) -> c_int {
    let clock = clock();
    if clock.now != 0 && clock.deadline != 0 {
        clock.now = clock.now.max(clock.deadline);
        clock.deadline = if clock.interval == 0 {
            0
        } else {
            clock.now + clock.interval
        };
        // SAFETY: a signal to this thread, which is blocked until it is waited for below.
        unsafe {
            libc::syscall(
                libc::SYS_tgkill,
                libc::getpid(),
                libc::syscall(libc::SYS_gettid),
                libc::SIGALRM,
            )
        };
    }
    // SAFETY: the mask is the caller's; the kernel's has 8 bytes.
    let result = unsafe { libc::syscall(libc::SYS_rt_sigsuspend, mask, 8) };
    c_int::try_from(result).unwrap_or(-1)
}

/// # Safety
/// As of the function of that name in libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(buffer: *mut c_void, length: size_t, _flags: u32) -> ssize_t {
    let clock = clock();
    for at in 0..length {
        // SAFETY: the caller passes room for `length` bytes.
        unsafe {
            buffer
                .cast::<u8>()
                .add(at)
                .write(next_random(&mut clock.random));
        }
    }
    length.cast_signed()
}

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014), a byte at a time.
fn next_random(state: &mut u64) -> u8 {
    if *state == 0 {
        *state = std::env::var("SAWTOOTH_SEED")
            .ok()
            .and_then(|text| text.parse().ok())
            .unwrap_or(1);
    }
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    (z ^ (z >> 31)).to_le_bytes()[7]
}

/// Opens a file, as hostfs does for the guest; the name of the switch starts virtual time.
///
/// # Safety
/// As of the function of that name in libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
    // SAFETY: the caller passes a name and, where the flags ask for one, a mode.
    unsafe {
        if CStr::from_ptr(path).to_bytes().ends_with(SWITCH) {
            start_virtual_time();
        }
        let result = libc::syscall(libc::SYS_openat, libc::AT_FDCWD, path, flags, mode);
        c_int::try_from(result).unwrap_or(-1)
    }
}

fn start_virtual_time() {
    let clock = clock();
    if clock.now != 0 {
        return;
    }
    clock.now = START;
    // The kernel's timer number is 0: it makes one. Its next expiry comes soon, as after any tick.
    clock.deadline = START + NS / 1000;
    let off = itimerspec {
        it_interval: from_ns(0),
        it_value: from_ns(0),
    };
    // SAFETY: the setting lives until the call returns.
    unsafe {
        libc::syscall(
            libc::SYS_timer_settime,
            0,
            0,
            &raw const off,
            ptr::null_mut::<itimerspec>(),
        );
    }
}
