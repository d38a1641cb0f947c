//! A virtual clock for user-mode Linux, preloaded into the unmodified packaged kernel (`LD_PRELOAD`).
//!
//! **Model.** The guest's CPU is infinitely fast: its clock stands still while it computes, and jumps to the next timer when it
//! idles. So what the guest measures does not depend on how busy the host is, and idle time costs nothing.
//!
//! **How.** A user-mode kernel reads the time, sets its one timer and waits for signals through libc. Those calls are interposed
//! (`calls`), and time is virtual from the first of them. When the guest's first process opens a file called `sawtooth-virtual-time`
//! through hostfs the boot is over, and the clock goes on from a fixed time, however long the boot was.
//!
//! **Two boots are the same, bit for bit**, if what they are given is: the kernel, its command line, the seed, the jobs. Besides the clock
//! that takes what else the host would tell the guest: random numbers come from a seed, and the host's own, `/dev/random`, is not there
//! (`random`); memory lies at the same addresses. Where the guest's files lie on the host, their inodes and process numbers do not matter.
//!
//! **The exception.** Code that computes until a tick comes would never end where time stands still, so a boot that has computed for
//! long without idling gets ticks in time of the host's CPU (`boot`). Then boots differ: the interrupted addresses are entropy to the
//! kernel, and it may get a tick more or less. The packaged kernel does so where it measures its RAID functions, unless that is left out:
//! `initcall_blacklist=raid6_select_algo,calibrate_xor_blocks`. After the boot no tick is forced: a job that spins on the clock without
//! ever sleeping hangs.
//!
//! **Settings**, by environment variables: `SAWTOOTH_SEED` is the seed, a number, 1 if there is none. `SAWTOOTH_CLOCK` is `virtual`, the
//! default, or `random-only` for a kernel that has virtual time of its own, or `real` for studies of real-time effects: with either of
//! these time is the host's, and all else is as said.

mod boot;
mod calls;
mod clock;
mod random;
mod registers;

use std::env;
use std::ffi::{c_char, c_int};

/// What `SAWTOOTH_CLOCK` asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TimeSource {
    /// This library's clock.
    Virtual,
    /// The host's, untouched: the kernel has a virtual clock of its own, or its real-time behaviour is what is studied.
    Host,
}

fn time_of(wish: Option<&str>) -> TimeSource {
    match wish {
        Some("random-only" | "real") => TimeSource::Host,
        _ => TimeSource::Virtual,
    }
}

/// Runs when the library is loaded; the C library passes what it will pass to `main`. A test is no guest.
#[cfg_attr(not(test), used, unsafe(link_section = ".init_array"))]
#[cfg_attr(test, expect(dead_code))]
static AT_LOAD: extern "C" fn(c_int, *const *const c_char, *const *const c_char) = at_load;

extern "C" fn at_load(
    _: c_int,
    arguments: *const *const c_char,
    environment: *const *const c_char,
) {
    die_with_parent();
    lay_out_memory_alike(arguments, environment);
    random::seed(env::var("SAWTOOTH_SEED").ok().as_deref());
    if time_of(env::var("SAWTOOTH_CLOCK").ok().as_deref()) == TimeSource::Virtual {
        clock::CLOCK.start();
    }
}

/// A guest whose laboratory has been killed has nobody to report to.
fn die_with_parent() {
    // SAFETY: asks for a signal, and touches no memory.
    unsafe { libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) };
}

/// Begins this program again with addresses that are the same every time: the guest's memory lies behind the program's heap, and the
/// addresses of interrupted code go into its entropy.
fn lay_out_memory_alike(arguments: *const *const c_char, environment: *const *const c_char) {
    // SAFETY: the arrays are those of `main`; on success the call does not return, on failure nothing has changed.
    unsafe {
        let personality = libc::personality(0xffff_ffff);
        if personality & libc::ADDR_NO_RANDOMIZE != 0 {
            return;
        }
        let wanted = personality | libc::ADDR_NO_RANDOMIZE;
        // Where a sandbox forbids it addresses stay random, and beginning again would never end.
        if libc::personality(u64::from(wanted.cast_unsigned())) >= 0
            && libc::personality(0xffff_ffff) == wanted
        {
            libc::execve(c"/proc/self/exe".as_ptr(), arguments, environment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{TimeSource, time_of};

    #[test]
    fn time_is_virtual_unless_the_host_s_is_asked_for() {
        assert_eq!(time_of(None), TimeSource::Virtual);
        assert_eq!(time_of(Some("virtual")), TimeSource::Virtual);
        assert_eq!(time_of(Some("random-only")), TimeSource::Host);
        assert_eq!(time_of(Some("real")), TimeSource::Host);
    }
}
