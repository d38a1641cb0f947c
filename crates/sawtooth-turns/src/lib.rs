//! Makes the two threads of QEMU take turns, so that virtual time is the same in every run; preloaded into the unmodified packaged
//! emulator (`LD_PRELOAD`).
//!
//! **The race.** With `-icount shift=N,sleep=off` one thread executes the guest's instructions, and another one, the main loop, lets time
//! jump to the next timer when the processor is halted. The processor's thread halts before it has added the instructions that it has
//! just executed to the clock. If the main loop looks in between it sees a halted processor and a clock that is some microseconds
//! behind, and time jumps that much too far. How often that happens depends on the host's load.
//!
//! **The remedy.** The main loop comes back from its wait (`ppoll`) only while the processor's thread waits for an interrupt
//! (`pthread_cond_wait`): then all is accounted for. Nothing else changes, and no deadlock is possible: the main loop gives up QEMU's one
//! big lock before it waits, and only that wait is drawn out.
//!
//! **What it relies on:** the processor's thread bears the name that `-name guest,debug-threads=on` gives it; it waits for its condition
//! with the big lock; the last lock that the main loop touches before it waits is that one. An emulator of which this is not true is as
//! it was without this library.

use std::cell::Cell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::SeqCst};

use libc::{nfds_t, pollfd, pthread_cond_t, pthread_mutex_t, sigset_t, timespec};

/// What QEMU calls the thread of all processors that take turns (`-accel tcg,thread=single`).
const PROCESSOR: &CStr = c"ALL CPUs/TCG";

/// Whether the processor waits; what the main loop sleeps on.
static HALTED: AtomicU32 = AtomicU32::new(0);
/// What the processor waits for, and with which lock; null before its first wait.
static CONDITION: AtomicPtr<pthread_cond_t> = AtomicPtr::new(ptr::null_mut());
static BIG_LOCK: AtomicPtr<pthread_mutex_t> = AtomicPtr::new(ptr::null_mut());
/// The lock that the main thread has given up if it has touched none since.
static GIVEN_UP: AtomicPtr<pthread_mutex_t> = AtomicPtr::new(ptr::null_mut());

/// Which thread this is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Unknown,
    Main,
    Other,
}

thread_local! {
    static ROLE: Cell<Role> = const { Cell::new(Role::Unknown) };
}

fn is_main() -> bool {
    ROLE.with(|role| {
        if role.get() == Role::Unknown {
            // SAFETY: both calls only return numbers.
            let first = unsafe { i64::from(libc::getpid()) == libc::syscall(libc::SYS_gettid) };
            role.set(if first { Role::Main } else { Role::Other });
        }
        role.get() == Role::Main
    })
}

/// Asked at every wait, which are few: a thread gets its name only after it has begun.
fn is_processor() -> bool {
    let mut name = [0 as c_char; 16];
    // SAFETY: there is room for the longest name of a thread.
    let outcome =
        unsafe { libc::pthread_getname_np(libc::pthread_self(), name.as_mut_ptr(), name.len()) };
    // SAFETY: the call ends the name with a zero.
    outcome == 0 && unsafe { CStr::from_ptr(name.as_ptr()) } == PROCESSOR
}

/// The C library's own function of a name, looked up once.
fn own(found: &AtomicPtr<c_void>, name: &CStr) -> *mut c_void {
    let known = found.load(SeqCst);
    if !known.is_null() {
        return known;
    }
    // SAFETY: the names end with a zero.
    let function = unsafe {
        // Conditions have had two layouts on x86_64, and libraries before 2.36 give the older functions to who asks for no version.
        match libc::dlvsym(libc::RTLD_NEXT, name.as_ptr(), c"GLIBC_2.3.2".as_ptr()) {
            function if function.is_null() => libc::dlsym(libc::RTLD_NEXT, name.as_ptr()),
            function => function,
        }
    };
    assert!(!function.is_null(), "the C library has {name:?}");
    found.store(function, SeqCst);
    function
}

/// Declares a function that takes the place of the C library's, `$before` being done before it and `$after` after it.
macro_rules! instead_of {
    ($name:ident($($argument:ident: $type:ty),*), before $before:block, after $after:block) => {
        /// # Safety
        /// As of the function of that name in libc.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($argument: $type),*) -> c_int {
            static OWN: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
            const NAME: &CStr = match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => unreachable!(),
            };
            $before
            // SAFETY: the C library's function of this name has these arguments, which are the caller's.
            let outcome = unsafe {
                mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> c_int>(own(&OWN, NAME))($($argument),*)
            };
            $after
            outcome
        }
    };
}

instead_of!(
    pthread_cond_wait(condition: *mut pthread_cond_t, lock: *mut pthread_mutex_t),
    before {
        if is_processor() {
            CONDITION.store(condition, SeqCst);
            BIG_LOCK.store(lock, SeqCst);
            HALTED.store(1, SeqCst);
            futex(libc::FUTEX_WAKE, 1);
        }
    },
    after {}
);

// Whoever wakes the processor says so at once: it may take long until it gets to run.
instead_of!(
    pthread_cond_broadcast(condition: *mut pthread_cond_t),
    before { wakes(condition) },
    after {}
);

instead_of!(
    pthread_cond_signal(condition: *mut pthread_cond_t),
    before { wakes(condition) },
    after {}
);

instead_of!(
    pthread_mutex_lock(lock: *mut pthread_mutex_t),
    before { if is_main() { GIVEN_UP.store(ptr::null_mut(), SeqCst) } },
    after {}
);

instead_of!(
    pthread_mutex_unlock(lock: *mut pthread_mutex_t),
    before { if is_main() { GIVEN_UP.store(lock, SeqCst) } },
    after {}
);

instead_of!(
    ppoll(files: *mut pollfd, count: nfds_t, timeout: *const timespec, signals: *const sigset_t),
    before {},
    after {
        let lock = BIG_LOCK.load(SeqCst);
        if is_main() && !lock.is_null() && GIVEN_UP.load(SeqCst) == lock {
            while HALTED.load(SeqCst) == 0 {
                futex(libc::FUTEX_WAIT, 0);
            }
        }
    }
);

fn wakes(condition: *mut pthread_cond_t) {
    if condition == CONDITION.load(SeqCst) {
        HALTED.store(0, SeqCst);
    }
}

/// Waits while the processor has not halted, or ends such a wait.
fn futex(operation: c_int, value: u32) {
    // SAFETY: the word is static, and there is no time limit.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            HALTED.as_ptr(),
            operation | libc::FUTEX_PRIVATE_FLAG,
            value,
            ptr::null::<timespec>(),
        );
    }
}
