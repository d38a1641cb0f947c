//! The functions of the C library through which a user-mode kernel reads the time, sets its timer and waits.
//!
//! Each does what the library's own does, on the host's clock, while the guest's clock is not virtual.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use libc::{clockid_t, itimerspec, sigevent, sigset_t, timer_t, timespec, timeval};

use crate::clock::{CLOCK, NS};
use crate::{boot, random};

/// The last part of the name of the file whose opening says that the boot is over.
const SWITCH: &[u8] = b"sawtooth-virtual-time";
/// What is added to monotonic time to give the time of day, ns.
const EPOCH: u64 = 1_600_000_000 * NS;
/// Bytes in a set of signals, to the host's kernel.
const SET: usize = 8;

pub fn to_ns(time: &timespec) -> u64 {
    time.tv_sec.cast_unsigned() * NS + time.tv_nsec.cast_unsigned()
}

pub fn from_ns(ns: u64) -> timespec {
    timespec {
        tv_sec: (ns / NS).cast_signed(),
        tv_nsec: (ns % NS).cast_signed(),
    }
}

/// The result of a system call as the C library's functions return it.
fn result(value: i64) -> c_int {
    c_int::try_from(value).unwrap_or(-1)
}

/// # Safety
/// As of the function of that name in libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(id: clockid_t, time: *mut timespec) -> c_int {
    let Some(now) = CLOCK.now() else {
        // SAFETY: the arguments are those of the caller.
        return result(unsafe { libc::syscall(libc::SYS_clock_gettime, id, time) });
    };
    let day = if id == libc::CLOCK_REALTIME { EPOCH } else { 0 };
    // SAFETY: the caller passes room for a timespec.
    unsafe { time.write(from_ns(now + day)) };
    0
}

/// # Safety
/// As of the function of that name in libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int {
    let Some(now) = CLOCK.now() else {
        // SAFETY: the arguments are those of the caller.
        return result(unsafe { libc::syscall(libc::SYS_gettimeofday, time, zone) });
    };
    let now = from_ns(now + EPOCH);
    // SAFETY: the caller passes room for a timeval.
    unsafe {
        time.write(timeval {
            tv_sec: now.tv_sec,
            tv_usec: now.tv_nsec / 1000,
        });
    };
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
    let mut number: c_int = 0;
    let outcome = if CLOCK.now().is_some() {
        boot::watch();
        0
    } else {
        // SAFETY: the arguments are those of the caller.
        result(unsafe { libc::syscall(libc::SYS_timer_create, id, event, &raw mut number) })
    };
    // SAFETY: the caller passes room for a timer, which holds the host's number of it as the C library's does.
    unsafe {
        timer.write(ptr::without_provenance_mut(
            usize::try_from(number).unwrap_or_default(),
        ));
    };
    outcome
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
    let Some(now) = CLOCK.now() else {
        // SAFETY: the arguments are those of the caller.
        return result(unsafe { libc::syscall(libc::SYS_timer_settime, timer, flags, new, old) });
    };
    // SAFETY: the caller passes a setting, and room for the old one or null.
    let new = unsafe {
        if !old.is_null() {
            timer_gettime(timer, old);
        }
        *new
    };
    let start = if flags & libc::TIMER_ABSTIME == 0 {
        now
    } else {
        0
    };
    let deadline = match to_ns(&new.it_value) {
        0 => 0,
        value => start + value,
    };
    CLOCK.arm(deadline, to_ns(&new.it_interval));
    0
}

/// # Safety
/// As of the function of that name in libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn timer_gettime(timer: timer_t, setting: *mut itimerspec) -> c_int {
    if CLOCK.now().is_none() {
        // SAFETY: the arguments are those of the caller.
        return result(unsafe { libc::syscall(libc::SYS_timer_gettime, timer, setting) });
    }
    let (left, interval) = CLOCK.setting();
    // SAFETY: the caller passes room for a setting.
    unsafe {
        setting.write(itimerspec {
            it_interval: from_ns(interval),
            it_value: from_ns(left),
        });
    };
    0
}

/// The guest idles: its clock jumps to the timer, whose signal is sent; or it waits for other signals.
///
/// # Safety
/// As of the function of that name in libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sigsuspend(mask: *const sigset_t) -> c_int {
    if CLOCK.now().is_some() {
        boot::idles();
        expire();
    }
    // SAFETY: the mask is the caller's.
    result(unsafe { libc::syscall(libc::SYS_rt_sigsuspend, mask, SET) })
}

/// Jumps to the timer's expiry and sends its signal to this thread.
pub fn expire() {
    if CLOCK.jump() {
        // SAFETY: touches no memory; the guest has a handler for its timer's signal, or blocks it.
        unsafe {
            libc::syscall(
                libc::SYS_tgkill,
                libc::getpid(),
                libc::gettid(),
                libc::SIGALRM,
            )
        };
    }
}

/// Opens a file, as hostfs does for the guest; the name of the switch says that the boot is over.
///
/// # Safety
/// As of the function of that name in libc.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn open64(path: *const c_char, flags: c_int, mode: libc::mode_t) -> c_int {
    // SAFETY: the caller passes a name and, where the flags ask for one, a mode.
    unsafe {
        let name = CStr::from_ptr(path);
        if name.to_bytes().ends_with(SWITCH) {
            CLOCK.begin_jobs();
        }
        if name == random::DEVICE {
            *libc::__errno_location() = libc::ENOENT;
            return -1;
        }
        result(libc::syscall(
            libc::SYS_openat,
            libc::AT_FDCWD,
            path,
            flags,
            mode,
        ))
    }
}
