//! Flows as fetches of a file: Apache at the sender, wget at the receiver, both as the distribution packages them.
//!
//! Before each fetch the default congestion control of both hosts is set, as a script on a testbed does. A fetch takes from wget's start to
//! its end.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::poll::{PollFd, PollFlags};
use sawtooth_core::Scenario;
use sawtooth_core::spec::FlowSpec;
use sawtooth_core::units::Instant;

use crate::hosts::{HostNamespaces, set_sysctl};
use crate::setup::HostName;

const APACHE: &str = "/usr/sbin/apache2";
const MODULES: &str = "/usr/lib/apache2/modules";
const WGET: &str = "/usr/bin/wget";
/// Waits of 10 ms for Apache to listen.
const PATIENCE: u32 = 1000;

/// One server for each flow, as one process of Apache serves one connection at a time; they end with this.
#[derive(Debug)]
pub struct Servers(Vec<Server>);

impl Servers {
    /// Starts Apache with a file for each flow, each at a port of its own, and waits until all listen.
    pub fn start(
        scenario: &Scenario,
        hosts: &HostNamespaces,
        address: Ipv4Addr,
        first_port: u16,
    ) -> io::Result<Self> {
        hosts.enter(HostName::Sender)?;
        let mut servers = Self(Vec::new());
        for (port, flow) in (first_port..).zip(&scenario.flows) {
            servers.0.push(Server::start(flow, address, port)?);
        }
        servers.wait_until_they_listen()?;
        Ok(servers)
    }

    fn wait_until_they_listen(&mut self) -> io::Result<()> {
        for _ in 0..PATIENCE {
            // State 0A is LISTEN (Documentation/networking/proc_net_tcp.rst).
            let table = fs::read_to_string("/proc/thread-self/net/tcp")?;
            if table.lines().filter(|line| line.contains(" 0A ")).count() >= self.0.len() {
                return Ok(());
            }
            for server in &mut self.0 {
                if server.process.try_wait()?.is_some() {
                    return Err(server.complaint());
                }
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        Err(self.0[0].complaint())
    }
}

#[derive(Debug)]
struct Server {
    process: Child,
    directory: PathBuf,
}

impl Server {
    fn start(flow: &FlowSpec, address: Ipv4Addr, port: u16) -> io::Result<Self> {
        let directory =
            std::env::temp_dir().join(format!("sawtooth-http-{}-{port}", std::process::id()));
        fs::create_dir_all(&directory)?;
        let size =
            usize::try_from(flow.size().unwrap_or_default().get()).map_err(io::Error::other)?;
        fs::write(directory.join(format!("{size}")), vec![b'x'; size])?;
        let place = directory.display();
        let configuration = format!(
            "ServerRoot {place}\nServerName sender\nDocumentRoot {place}\nPidFile {place}/pid\nErrorLog {place}/log\n\
             LoadModule mpm_prefork_module {MODULES}/mod_mpm_prefork.so\n\
             LoadModule authz_core_module {MODULES}/mod_authz_core.so\nListen {address}:{port}\n"
        );
        fs::write(directory.join("conf"), configuration)?;
        let process = Command::new(APACHE)
            .args(["-X", "-f"])
            .arg(directory.join("conf"))
            .stdin(Stdio::null())
            .stdout(fs::File::create(directory.join("out"))?)
            .stderr(fs::File::create(directory.join("err"))?)
            .spawn()
            .map_err(|error| io::Error::other(format!("{APACHE}: {error}")))?;
        Ok(Self { process, directory })
    }

    fn complaint(&self) -> io::Error {
        let read = |name| fs::read_to_string(self.directory.join(name)).unwrap_or_default();
        io::Error::other(format!(
            "Apache does not listen: {}{}",
            read("err"),
            read("log")
        ))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = fs::remove_dir_all(&self.directory);
    }
}

/// One fetch.
#[derive(Debug)]
pub struct Fetch {
    /// The file's size, and its name.
    size: u64,
    address: Ipv4Addr,
    port: u16,
    cc: [String; 2],
    running: Option<(Child, OwnedFd)>,
    pub started: bool,
    /// When it ended; bytes are all there then.
    pub done: Option<Instant>,
}

impl Fetch {
    pub fn new(flow: &FlowSpec, address: Ipv4Addr, port: u16) -> Self {
        Self {
            size: flow.size().unwrap_or_default().get(),
            address,
            port,
            cc: [flow.receiver_cc.clone(), flow.cc_in_kernel().to_owned()],
            running: None,
            started: false,
            done: None,
        }
    }

    pub fn start(&mut self, hosts: &HostNamespaces) -> io::Result<()> {
        self.started = true;
        for (host, cc) in [HostName::Sender, HostName::Receiver]
            .into_iter()
            .zip(self.cc.iter().rev())
        {
            hosts.enter(host)?;
            set_sysctl("net.ipv4.tcp_congestion_control", cc)?;
        }
        let child = Command::new(WGET)
            .args(["-q", "-O", "/dev/null", "--tries=1", "--no-config"])
            .arg(format!(
                "http://{}:{}/{}",
                self.address, self.port, self.size
            ))
            .stdin(Stdio::null())
            .spawn()
            .map_err(|error| io::Error::other(format!("{WGET}: {error}")))?;
        let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
        // SAFETY: the call takes two numbers and returns a new descriptor.
        let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
        let descriptor = i32::try_from(descriptor).map_err(io::Error::other)?;
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is new and ours.
        self.running = Some((child, unsafe { OwnedFd::from_raw_fd(descriptor) }));
        Ok(())
    }

    /// Sees whether it has ended.
    pub fn look(&mut self, now: Instant) -> io::Result<()> {
        let Some((child, _)) = &mut self.running else {
            return Ok(());
        };
        let Some(status) = child.try_wait()? else {
            return Ok(());
        };
        self.running = None;
        if status.success() {
            self.done = Some(now);
            return Ok(());
        }
        Err(io::Error::other(format!("wget ended with {status}")))
    }

    /// Bytes that have arrived, as far as one can see.
    pub fn delivered(&self) -> u64 {
        self.done.map_or(0, |_| self.size)
    }

    pub fn waits<'a>(&'a self, waits: &mut Vec<PollFd<'a>>) {
        if let Some((_, end)) = &self.running {
            waits.push(PollFd::new(end.as_fd(), PollFlags::POLLIN));
        }
    }
}

impl Drop for Fetch {
    fn drop(&mut self) {
        if let Some((child, _)) = &mut self.running {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}
