//! The library in programs that it is preloaded into.

use std::mem;
use std::process::Command;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// `program` with the library.
fn preloaded(program: &str, settings: &[(&str, &str)]) -> Command {
    let tests = std::env::current_exe().expect("a test has a file");
    let library = tests.with_file_name("libsawtooth_clock.so");
    assert!(
        library.is_file(),
        "{} is built with its tests",
        library.display()
    );
    let mut command = Command::new(program);
    command
        .env_remove("SAWTOOTH_CLOCK")
        .env("LD_PRELOAD", library)
        .envs(settings.iter().copied());
    command
}

fn output(program: &str, arguments: &[&str], settings: &[(&str, &str)]) -> String {
    let output = preloaded(program, settings)
        .args(arguments)
        .output()
        .expect("the program runs");
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

#[test]
fn a_program_starts_at_the_same_time_every_time() {
    assert_eq!(output("date", &["+%s.%N"], &[]), "1600000001.000000000");
}

#[test]
fn a_program_may_keep_the_host_s_time() {
    for wish in ["real", "random-only"] {
        let seconds: u64 = output("date", &["+%s"], &[("SAWTOOTH_CLOCK", wish)])
            .parse()
            .expect("a number");
        assert!(seconds > 1_600_000_001 + 86_400);
    }
}

#[test]
fn addresses_are_the_same_every_time() {
    let maps = || output("cat", &["/proc/self/maps"], &[]);
    assert!(!maps().is_empty());
    assert_eq!(maps(), maps());
}

/// The tests below run in a program of their own, this one, with the library.
fn in_a_guest(test: &str) -> bool {
    if std::env::var_os("SAWTOOTH_TEST_GUEST").is_some() {
        return true;
    }
    let tests = std::env::current_exe().expect("a test has a file");
    let arguments = ["--exact", test, "--test-threads=1"];
    let status = preloaded(
        tests.to_str().expect("text"),
        &[("SAWTOOTH_TEST_GUEST", "1")],
    )
    .args(arguments)
    .status()
    .expect("this program runs");
    assert!(status.success());
    false
}

static TICKS: AtomicU64 = AtomicU64::new(0);

extern "C" fn tick(_signal: i32) {
    TICKS.fetch_add(1, Relaxed);
}

fn monotonic() -> libc::timespec {
    // SAFETY: the structure is plain numbers, which the call writes.
    unsafe {
        let mut time: libc::timespec = mem::zeroed();
        assert_eq!(libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time), 0);
        time
    }
}

/// Sets a timer as user-mode Linux does.
fn set_timer(seconds: i64) {
    // SAFETY: the structures are plain numbers, for which zero is a value, and live until the calls return.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = tick as *const () as libc::sighandler_t;
        libc::sigaction(libc::SIGALRM, &raw const action, ptr::null_mut());
        let mut timer: libc::timer_t = ptr::null_mut();
        assert_eq!(
            libc::timer_create(libc::CLOCK_MONOTONIC, ptr::null_mut(), &raw mut timer),
            0
        );
        let mut setting: libc::itimerspec = mem::zeroed();
        setting.it_value.tv_sec = seconds;
        assert_eq!(
            libc::timer_settime(timer, 0, &raw const setting, ptr::null_mut()),
            0
        );
        assert_eq!(libc::timer_gettime(timer, &raw mut setting), 0);
        assert_eq!(setting.it_value.tv_sec, seconds);
    }
}

#[test]
fn an_hour_of_idling_is_over_at_once() {
    if !in_a_guest("an_hour_of_idling_is_over_at_once") {
        return;
    }
    let before = monotonic();
    set_timer(3600);
    // SAFETY: the sets of signals are written by the calls before they are read.
    unsafe {
        let (mut alarm, mut none) = mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigemptyset(&raw mut alarm);
        libc::sigaddset(&raw mut alarm, libc::SIGALRM);
        libc::pthread_sigmask(libc::SIG_BLOCK, &raw const alarm, ptr::null_mut());
        libc::sigsuspend(&raw const none);
    }
    let after = monotonic();
    assert_eq!(TICKS.load(Relaxed), 1);
    assert_eq!(
        (after.tv_sec - before.tv_sec, after.tv_nsec),
        (3600, before.tv_nsec)
    );
}

#[test]
fn a_boot_that_spins_until_a_tick_comes_gets_it() {
    if !in_a_guest("a_boot_that_spins_until_a_tick_comes_gets_it") {
        return;
    }
    let before = monotonic();
    set_timer(1);
    while TICKS.load(Relaxed) == 0 {
        std::hint::spin_loop();
    }
    assert_eq!(monotonic().tv_sec - before.tv_sec, 1);
}

/// Sets the first of a stopped process's registers, as many as a kernel may have room for that is older than its processor.
fn set_registers(process: libc::pid_t, length: usize) -> libc::c_long {
    let kind: *mut libc::c_void = ptr::without_provenance_mut(0x202);
    let mut registers = [0_u8; 1 << 12];
    let mut vector = libc::iovec {
        iov_base: registers.as_mut_ptr().cast(),
        iov_len: length,
    };
    // SAFETY: the vector is of the array, which is longer.
    unsafe {
        assert_eq!(
            libc::ptrace(libc::PTRACE_GETREGSET, process, kind, &raw mut vector),
            0
        );
        libc::ptrace(libc::PTRACE_SETREGSET, process, kind, &raw mut vector)
    }
}

#[test]
fn registers_can_be_set_by_a_kernel_that_has_not_room_for_all_of_them() {
    if !in_a_guest("registers_can_be_set_by_a_kernel_that_has_not_room_for_all_of_them") {
        return;
    }
    // SAFETY: the child stops, and does nothing else.
    unsafe {
        let process = libc::fork();
        if process == 0 {
            libc::ptrace(
                libc::PTRACE_TRACEME,
                0,
                ptr::null_mut::<u8>(),
                ptr::null_mut::<u8>(),
            );
            libc::raise(libc::SIGSTOP);
            libc::_exit(0);
        }
        let mut status = 0;
        assert_eq!(libc::waitpid(process, &raw mut status, 0), process);
        // The header of what the processor saves, and nothing of vectors.
        assert_eq!(set_registers(process, 576), 0);
        libc::kill(process, libc::SIGKILL);
        libc::waitpid(process, &raw mut status, 0);
    }
}
