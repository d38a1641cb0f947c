//! The guest's first process.
//!
//! Modules are loaded in the order in which `/load` names files of `/modules`, the jobs in `/jobs` are run, and what each measured goes
//! where `/results` says.

use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use nix::kmod::{ModuleInitFlags, finit_module};
use nix::mount::{MsFlags, mount};
use nix::sys::reboot::{RebootMode, reboot};

use crate::batch::{self, Results};

/// The host's directory, through hostfs.
const SHARE: &str = "/share";
/// Opening it starts virtual time (see `sawtooth-clock`).
const VIRTUAL_TIME: &str = "/share/sawtooth-virtual-time";
const CLOCK_SOURCE: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";

pub fn run() -> ! {
    if let Err(error) = work() {
        println!("agent: {error}");
    }
    let _ = io::stdout().flush();
    nix::unistd::sync();
    // QEMU's smallest machine cannot be switched off, but ends where it would begin again.
    let mode = if way_out().is_ok_and(|way| way.starts_with("port")) {
        RebootMode::RB_AUTOBOOT
    } else {
        RebootMode::RB_POWER_OFF
    };
    let _ = reboot(mode);
    loop {
        std::thread::park();
    }
}

fn work() -> io::Result<()> {
    mount_own("")?;
    let way = way_out()?;
    if let Some(path) = way.trim().strip_prefix("hostfs ") {
        mount_at("hostfs", SHARE, path)?;
    }
    let results = Results::parse(&way, Path::new(SHARE))?;
    for name in fs::read_to_string("/load")?.lines() {
        let file = fs::File::open(Path::new("/modules").join(name))?;
        finit_module(&file, c"", ModuleInitFlags::empty())
            .map_err(|error| io::Error::other(format!("module {name}: {error}")))?;
    }
    let_the_clock_settle();
    // Nothing to open: the clock is the machine's.
    let _ = fs::File::open(VIRTUAL_TIME);
    // The kernel's ticks catch up with where the clock has jumped to: until then its timers expire early. The sleep ends at a tick and not up to 50 us later, so
    // that the first run begins with one, as the simulator's hosts do.
    nix::sys::prctl::set_timerslack(1)?;
    std::thread::sleep(Duration::from_secs(1));
    batch::run(Path::new("/jobs"), &results, Path::new("/outcome"))
}

/// A PC's kernel changes over to its lasting clock about a second after its start; that step is not to fall into a run.
fn let_the_clock_settle() {
    let changing =
        || fs::read_to_string(CLOCK_SOURCE).is_ok_and(|name| name.trim_end().ends_with("-early"));
    for _ in 0..500 {
        if !changing() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn way_out() -> io::Result<String> {
    fs::read_to_string("/results")
}

/// The guest's processes, settings and devices, in a tree of files that begins there.
pub fn mount_own(root: &str) -> io::Result<()> {
    for (kind, place) in [("proc", "proc"), ("sysfs", "sys"), ("devtmpfs", "dev")] {
        mount_at(kind, &format!("{root}/{place}"), "")?;
    }
    Ok(())
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
