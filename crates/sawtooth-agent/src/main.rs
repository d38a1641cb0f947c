//! Runs scenarios on a real Linux kernel.
//!
//! As process 1 it is a guest's init: it mounts what it needs, loads modules, runs the jobs it was given and switches the machine off.
//! Otherwise it runs the jobs named on its command line, on the kernel it finds itself on, and prints their records: for that it needs
//! a network namespace it may configure (`unshare -Urn`). `sawtooth-agent plan JOB...` prints what it would set up, and touches nothing;
//! `sawtooth-agent batch JOBS RESULTS` runs the jobs of one directory as a guest would, and writes what they measured to another.

mod arrivals;
mod batch;
mod calibration;
mod capture;
mod clock;
mod experiment;
mod guest;
mod hosts;
mod http;
mod inspection;
mod job;
mod netlink;
mod network;
mod program;
mod request_response;
mod ring;
mod setup;
mod socket_option;
mod sockets;
mod tables;
mod tcp_info;
mod tun;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    // The first process of a process namespace has that number, too.
    if std::process::id() == 1 && std::env::args().next().as_deref() == Some("/init") {
        guest::run();
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [command, jobs, directory] = words.as_slice()
        && command == "batch"
    {
        let directory = Path::new(directory);
        let results = batch::Results::Directory(directory.to_owned());
        return match batch::run(Path::new(jobs), &results, &directory.join("outcome")) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("agent: {error}");
                ExitCode::FAILURE
            }
        };
    }
    let mut failed = false;
    if let [command, jobs @ ..] = words.as_slice()
        && command == "plan"
    {
        for job in jobs {
            match job::plan(Path::new(job)) {
                Ok(text) => print!("{text}"),
                Err(error) => {
                    failed = true;
                    eprintln!("agent: {error}");
                }
            }
        }
        return if failed {
            ExitCode::FAILURE
        } else {
            ExitCode::SUCCESS
        };
    }
    for job in &words {
        let job = Path::new(job);
        let outcome = job::run(job, &capture::place(Path::new(""), job, false));
        failed |= outcome.get("error").is_some();
        println!("{outcome}");
    }
    if failed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
