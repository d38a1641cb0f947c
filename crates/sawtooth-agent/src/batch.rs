//! Runs the jobs of a directory, one after the other, and writes what each has measured to another directory.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::wait::{WaitStatus, waitpid};
use nix::unistd::{ForkResult, fork};
use serde_json::json;

use crate::capture::{self, CapturePlace};
use crate::job;

const MANY_FILES: u64 = 1 << 18;

/// The way out of a guest, or of a namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Results {
    /// A directory: one file for each job, called like it.
    Directory(PathBuf),
    /// An I/O port whose bytes the host writes to a file: for each job a line with its name and the number of bytes that follow.
    /// It needs no driver, and unlike a disk or a network device it lets no time pass, so nothing of the host comes in by it.
    Port(u16),
}

impl Results {
    /// Reads `hostfs PATH` or `port NUMBER`; a path on the host is to be mounted on `share`.
    pub fn parse(text: &str, share: &Path) -> io::Result<Self> {
        match text.trim().split_once(' ') {
            Some(("hostfs", _)) => Ok(Self::Directory(share.to_owned())),
            Some(("port", number)) => {
                let number = number.parse().map_err(io::Error::other)?;
                port::open(number)?;
                Ok(Self::Port(number))
            }
            _ => Err(io::Error::other(format!("no way out is called `{text}`"))),
        }
    }

    /// Where the captures of a job are written: there at once, or into the guest's memory, in `scratch`'s directory.
    fn captures(&self, job: &Path, scratch: &Path) -> CapturePlace {
        match self {
            Self::Directory(directory) => capture::place(directory, job, false),
            Self::Port(_) => {
                let directory = scratch.parent().unwrap_or(Path::new("/"));
                capture::place(directory, job, true)
            }
        }
    }

    /// Hands out what the job `name` measured.
    pub fn put(&self, name: &str, content: &[u8]) -> io::Result<()> {
        match self {
            Self::Directory(directory) => fs::write(directory.join(name), content),
            Self::Port(number) => {
                port::write(*number, format!("{name} {}\n", content.len()).as_bytes())?;
                port::write(*number, content)
            }
        }
    }
}

/// Runs the jobs of a directory in the order of their names, each in a process of its own: a run that ends it fails alone. The last
/// result is called `done`, and one before all others `begun`. `scratch` is a file for what a process hands to this one.
pub fn run(jobs: &Path, results: &Results, scratch: &Path) -> io::Result<()> {
    // Timers expire when they are due, not up to 50 us later.
    nix::sys::prctl::set_timerslack(1)?;
    allow_many_files()?;
    results.put("begun", b"")?;
    for path in files(jobs)? {
        let captures = results.captures(&path, scratch);
        // SAFETY: this process has one thread.
        let outcome = match unsafe { fork() }? {
            ForkResult::Child => {
                let written = fs::write(scratch, job::run(&path, &captures).to_string());
                std::process::exit(i32::from(written.is_err()));
            }
            ForkResult::Parent { child } => match waitpid(child, None)? {
                WaitStatus::Exited(_, 0) => fs::read(scratch)?,
                status => json!({"error": why(status)}).to_string().into_bytes(),
            },
        };
        // Gone before the next run: a guest's files are in its memory.
        let _ = fs::remove_file(scratch);
        if captures.in_memory {
            for (name, file) in captures.written() {
                results.put(&name, &fs::read(&file)?)?;
                fs::remove_file(&file)?;
            }
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        results.put(&name, &outcome)?;
    }
    results.put("done", b"")
}

/// A flow takes three descriptors, and a process usually may have 1024.
fn allow_many_files() -> io::Result<()> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    // Only root may have more than the limit of the limit.
    setrlimit(Resource::RLIMIT_NOFILE, MANY_FILES, MANY_FILES)
        .or_else(|_| setrlimit(Resource::RLIMIT_NOFILE, most, most))?;
    Ok(())
}

/// The files of a directory in the order of their names.
fn files(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = fs::read_dir(directory)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<_>>>()?;
    found.sort();
    Ok(found)
}

fn why(status: WaitStatus) -> String {
    match status {
        WaitStatus::Signaled(_, nix::sys::signal::Signal::SIGKILL, _) => {
            "the run's process was killed: the kernel had too little memory for it".to_owned()
        }
        WaitStatus::Signaled(_, signal, _) => format!("the run's process ended by {signal}"),
        WaitStatus::Exited(_, code) => format!("the run's process ended with status {code}"),
        other => format!("the run's process ended as {other:?}"),
    }
}

/// Ports of a PC.
#[cfg(target_arch = "x86_64")]
mod port {
    use std::arch::asm;
    use std::io;

    /// Asks for permission to use the port.
    pub fn open(number: u16) -> io::Result<()> {
        // SAFETY: changes this process's permissions only.
        match unsafe { libc::ioperm(number.into(), 1, 1) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    #[expect(clippy::unnecessary_wraps, reason = "elsewhere there are no ports")]
    pub fn write(number: u16, bytes: &[u8]) -> io::Result<()> {
        // SAFETY: reads `bytes`, and the port is one that `open` was granted.
        unsafe {
            asm!("rep outsb", in("dx") number, inout("rsi") bytes.as_ptr() => _, inout("rcx") bytes.len() => _,
                 options(readonly, nostack, preserves_flags));
        }
        Ok(())
    }
}

#[cfg(not(target_arch = "x86_64"))]
mod port {
    use std::io;

    pub fn open(_: u16) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn write(_: u16, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
