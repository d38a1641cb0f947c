//! The guest's first process.
//!
//! Modules are loaded in the order of their file names in `/modules`, jobs run one after the other in the order of theirs in `/jobs`, each in a
//! process of its own, and what each measured goes to the host's directory under the job's name. The last file is `done`.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use nix::kmod::{ModuleInitFlags, finit_module};
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};
use nix::sys::wait::waitpid;
use nix::unistd::{ForkResult, fork};

use crate::job;

/// The host's directory, through hostfs.
const SHARE: &str = "/share";
/// Opening it starts virtual time (see `sawtooth-clock`).
const VIRTUAL_TIME: &str = "/share/sawtooth-virtual-time";

pub fn run() -> ! {
    if let Err(error) = work() {
        println!("agent: {error}");
    }
    let _ = io::stdout().flush();
    nix::unistd::sync();
    let _ = reboot(RebootMode::RB_POWER_OFF);
    loop {
        std::thread::park();
    }
}

fn work() -> io::Result<()> {
    for (kind, place) in [("proc", "/proc"), ("sysfs", "/sys"), ("devtmpfs", "/dev")] {
        mount_at(kind, place, "")?;
    }
    mount_at("hostfs", SHARE, &fs::read_to_string("/share-path")?)?;
    for module in files("/modules")? {
        let file = fs::File::open(&module)?;
        finit_module(&file, c"", ModuleInitFlags::empty())
            .map_err(|error| io::Error::other(format!("module {}: {error}", module.display())))?;
    }
    // Timers expire when they are due, not up to 50 us later.
    nix::sys::prctl::set_timerslack(1)?;
    // Nothing to open: real time.
    let _ = fs::File::open(VIRTUAL_TIME);
    for path in files("/jobs")? {
        // SAFETY: this process has one thread.
        match unsafe { fork() }? {
            ForkResult::Child => {
                let outcome = job::run(&path).to_string();
                let name = path.file_name().unwrap_or_default();
                let code = i32::from(fs::write(Path::new(SHARE).join(name), outcome).is_err());
                std::process::exit(code);
            }
            ForkResult::Parent { child } => {
                waitpid(child, None)?;
            }
        }
    }
    fs::write(Path::new(SHARE).join("done"), "")
}

fn mount_at(kind: &str, place: &str, data: &str) -> io::Result<()> {
    fs::create_dir_all(place)?;
    mount(
        Some("none"),
        place,
        Some(kind),
        MsFlags::empty(),
        Some(data),
    )
    .map_err(|error| io::Error::other(format!("{kind} on {place}: {error}")))
}

/// The files of a directory in the order of their names.
fn files(directory: &str) -> io::Result<Vec<PathBuf>> {
    let mut found = fs::read_dir(directory)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<_>>>()?;
    found.sort();
    Ok(found)
}
