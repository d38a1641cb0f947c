//! The library in a program of two threads that behave as QEMU's do.

use std::process::Command;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

static mut LOCK: libc::pthread_mutex_t = libc::PTHREAD_MUTEX_INITIALIZER;
static mut CONDITION: libc::pthread_cond_t = libc::PTHREAD_COND_INITIALIZER;
static WAITS: AtomicBool = AtomicBool::new(false);
static HAS_ADDED_UP: AtomicBool = AtomicBool::new(false);

fn lock() {
    // SAFETY: the lock is static.
    assert_eq!(unsafe { libc::pthread_mutex_lock(&raw mut LOCK) }, 0);
}

fn unlock() {
    // SAFETY: the lock is static, and this thread has it.
    assert_eq!(unsafe { libc::pthread_mutex_unlock(&raw mut LOCK) }, 0);
}

fn halt() {
    // SAFETY: both are static, and this thread has the lock.
    assert_eq!(
        unsafe { libc::pthread_cond_wait(&raw mut CONDITION, &raw mut LOCK) },
        0
    );
}

fn poll() {
    let now = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: no files, no signals.
    assert_eq!(
        unsafe { libc::ppoll(ptr::null_mut(), 0, &raw const now, ptr::null()) },
        0
    );
}

fn processor() {
    lock();
    WAITS.store(true, SeqCst);
    halt();
    unlock();
    // Instructions, without the lock.
    thread::sleep(Duration::from_millis(200));
    lock();
    HAS_ADDED_UP.store(true, SeqCst);
    halt();
}

/// Whether the main loop's wait ended only after the processor had added up its instructions.
fn main_loop_waits_for_the_processor() -> bool {
    let processor = thread::Builder::new()
        .name("ALL CPUs/TCG".into())
        .spawn(processor)
        .expect("a thread");
    let halted = || {
        lock();
        let waits = WAITS.load(SeqCst);
        unlock();
        waits
    };
    while !halted() {
        thread::yield_now();
    }
    // It is halted: the main loop's wait ends at once.
    poll();
    lock();
    // SAFETY: the condition is static.
    assert_eq!(
        unsafe { libc::pthread_cond_broadcast(&raw mut CONDITION) },
        0
    );
    // With the lock the processor could never halt: such a wait must not be drawn out.
    poll();
    assert!(!HAS_ADDED_UP.load(SeqCst));
    unlock();
    poll();
    drop(processor);
    HAS_ADDED_UP.load(SeqCst)
}

const INSIDE: &str = "SAWTOOTH_TEST_TURNS";

/// Runs this program again; whether it says that it waited.
fn run(preloaded: bool) -> bool {
    let program = std::env::current_exe().expect("a test has a file");
    let library = program.with_file_name("libsawtooth_turns.so");
    assert!(library.is_file(), "it is built with its tests");
    let mut command = Command::new(program);
    command.env(INSIDE, "1");
    if preloaded {
        command.env("LD_PRELOAD", library);
    }
    let output = command.output().expect("this program runs");
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).contains("it waited: true")
}

/// Without the harness for tests, which would run this in a thread of its own: QEMU's main loop is the main thread.
fn main() {
    if std::env::var_os(INSIDE).is_some() {
        println!("it waited: {}", main_loop_waits_for_the_processor());
        return;
    }
    assert!(run(true));
    assert!(!run(false), "without the library there is the race");
}
