//! A program of the host's, run in the guest: it sees the host's files, which it cannot change, and in place of the host's the guest's devices, processes and settings.

use std::io;
use std::os::unix::fs::chroot;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use nix::mount::{MsFlags, mount};
use serde_json::{Value, json};

use crate::guest;

/// Where the host's files are.
const HOST: &str = "/host";

/// Runs what the job says: its `words`, in its `directory`, with its `environment`. What it has written, and how it ended.
pub fn run(job: &Value) -> io::Result<Value> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let words = job["words"].as_array().into_iter().flatten().map(text);
    let words: Vec<String> = words.collect();
    let (program, arguments) = words
        .split_first()
        .ok_or_else(|| io::Error::other("a program without a name"))?;
    show_host()?;
    let environment = job["environment"].as_object().into_iter().flatten();
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(environment.map(|(name, value)| (name, text(value))))
        .stdin(Stdio::null());
    let directory = text(&job["directory"]);
    // SAFETY: both are calls of the system and nothing else, as has to be between fork and exec.
    unsafe {
        command.pre_exec(move || {
            chroot(HOST)?;
            std::env::set_current_dir(&directory)
        });
    }
    let ended = command.output()?;
    let written = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(
        json!({"code": ended.status.code(), "stdout": written(&ended.stdout), "stderr": written(&ended.stderr)}),
    )
}

/// The guest's own file systems lie over the host's: a setting that the program writes is the guest's.
fn show_host() -> io::Result<()> {
    std::fs::create_dir_all(HOST)?;
    let read_only = MsFlags::MS_RDONLY;
    mount(Some("none"), HOST, Some("hostfs"), read_only, Some("/"))?;
    guest::mount_own(HOST)
}
