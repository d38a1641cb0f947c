//! Runs scenarios on a real Linux kernel.
//!
//! As process 1 it is a guest's init: it mounts what it needs, loads modules, runs the jobs it was given and switches the machine off.
//! Otherwise it runs the jobs named on its command line, on the kernel it finds itself on, and prints their records: for that it needs
//! a network namespace it may configure (`unshare -Urn`).

mod experiment;
mod guest;
mod job;
mod network;
mod tcp_info;
mod tun;

use std::process::ExitCode;

fn main() -> ExitCode {
    if std::process::id() == 1 {
        guest::run();
    }
    let mut failed = false;
    for path in std::env::args().skip(1) {
        let outcome = job::run(std::path::Path::new(&path));
        failed |= outcome.get("error").is_some();
        println!("{outcome}");
    }
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
