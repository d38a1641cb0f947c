//! One scenario on this kernel: its hosts, the network between them, and an application for every flow.

mod turns;

use std::fs;
use std::io;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::{TimeSpec, TimeValLike};
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use sawtooth_core::Scenario;
use sawtooth_core::scenario::Sampling;
use serde_json::{Value as Json, json};

use crate::clock::Clock;
use crate::hosts::Hosts;
use crate::http::{Fetch, Servers};
use crate::network::{Network, Towards};
use crate::ring::Ring;
use crate::setup::{self, HostName};
use crate::sockets::{self, Connection};
use crate::tables;
use crate::tun::Tun;

/// Port of the first flow; the next flow's is the next one.
pub const FIRST_PORT: u16 = 20_000;

/// Runs `scenario`; returns its tables, each a list of rows.
///
/// System calls are made `one by one`, or many `at once`; left open, as suits the kernel: in user-mode Linux a call costs more than all that
/// it does. What is measured is the same.
pub fn run(scenario: &Scenario, seed: u64, calls: Option<&str>) -> io::Result<Json> {
    let user_mode = runs_in_user_mode();
    // With the kernel's shaper no packets are carried, and there is little to save.
    let suits = user_mode && !setup::kernel_shaper(scenario);
    let at_once = calls.map_or(suits, |calls| calls == "at once");
    let mut experiment = Experiment::new(scenario, seed, user_mode)?;
    match at_once.then(Ring::new).flatten() {
        Some(ring) => experiment.go_in_turns(ring)?,
        None => experiment.go()?,
    }
    experiment.tables()
}

/// Whether this kernel is a process of another one.
fn runs_in_user_mode() -> bool {
    fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains("User Mode Linux"))
}

/// What moves a flow's data.
#[derive(Debug)]
enum Application {
    Sockets(Connection),
    Http(Fetch),
}

impl Application {
    fn started(&self) -> bool {
        match self {
            Self::Sockets(connection) => connection.started,
            Self::Http(fetch) => fetch.started,
        }
    }

    fn waits<'a>(&'a self, waits: &mut Vec<PollFd<'a>>) {
        match self {
            Self::Sockets(connection) => connection.waits(waits),
            Self::Http(fetch) => fetch.waits(waits),
        }
    }
}

#[derive(Debug)]
struct Experiment<'a> {
    scenario: &'a Scenario,
    hosts: Hosts,
    /// The devices of receiver and sender, if this program carries the packets.
    tuns: Vec<(HostName, Tun)>,
    network: Network,
    flows: Vec<Application>,
    _servers: Option<Servers>,
    clock: Clock,
    /// Whether time passes only while this program waits. Then a wait that has timed out ended at its time, and the clock need not be asked.
    time_stands_still: bool,
    /// The time, as long as it is known.
    known: Option<f64>,
    /// Ends a wait at its time: what `ppoll` itself waits for comes up to a thousandth of the wait late.
    alarm: TimerFd,
    end: f64,
    series: Vec<Json>,
    samples: u64,
}

impl<'a> Experiment<'a> {
    fn new(scenario: &'a Scenario, seed: u64, user_mode: bool) -> io::Result<Self> {
        let mut hosts = Hosts::set_up(&setup::steps(scenario))?;
        let addresses = setup::addresses(scenario);
        let mut flows = Vec::new();
        let mut servers = None;
        if scenario.kernel.settings.choice("application") == "http" {
            let address = addresses.sender;
            servers = Some(Servers::start(scenario, &hosts, address, FIRST_PORT)?);
            for (port, spec) in (FIRST_PORT..).zip(&scenario.flows) {
                flows.push(Application::Http(Fetch::new(spec, address, port)));
            }
        } else {
            let address = addresses.receiver;
            hosts.enter(HostName::Receiver)?;
            let mut listeners = Vec::new();
            for (port, spec) in (FIRST_PORT..).zip(&scenario.flows) {
                listeners.push(sockets::listener(spec, address, port)?);
            }
            hosts.enter(HostName::Sender)?;
            for ((port, spec), listener) in (FIRST_PORT..).zip(&scenario.flows).zip(listeners) {
                let connection = Connection::new(spec, seed, listener, address, port)?;
                flows.push(Application::Sockets(connection));
            }
        }
        Ok(Self {
            scenario,
            tuns: std::mem::take(&mut hosts.tuns),
            hosts,
            network: Network::new(scenario, seed),
            flows,
            _servers: servers,
            clock: Clock::start()?,
            time_stands_still: user_mode && scenario.kernel.settings.choice("time") == "virtual",
            known: None,
            alarm: TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK)?,
            end: scenario.duration.secs(),
            series: Vec::new(),
            samples: 0,
        })
    }

    fn go(&mut self) -> io::Result<()> {
        for host in 0..self.tuns.len() {
            self.collect(host)?;
        }
        loop {
            let now = self.time()?;
            if now >= self.end {
                return Ok(());
            }
            self.sample(now)?;
            self.start(now)?;
            if !self.deliver(now)? {
                self.wait()?;
            }
        }
    }

    fn time(&mut self) -> io::Result<f64> {
        let now = match self.known {
            Some(now) => now,
            None => self.clock.now()?,
        };
        self.known = self.time_stands_still.then_some(now);
        Ok(now)
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of samples")]
    fn next_sample(&self) -> f64 {
        match self.scenario.sample {
            Sampling::Every(every) => self.samples as f64 * every.secs(),
            Sampling::Never | Sampling::Acks => f64::INFINITY,
        }
    }

    fn sample(&mut self, now: f64) -> io::Result<()> {
        while self.next_sample() <= now {
            let time = self.next_sample();
            for flow in 0..self.flows.len() {
                self.sample_flow(flow, time)?;
            }
            self.samples += 1;
        }
        Ok(())
    }

    fn sample_flow(&mut self, flow: usize, time: f64) -> io::Result<()> {
        if let Application::Sockets(connection) = &self.flows[flow] {
            let name = &self.scenario.flows[flow].name;
            self.series.push(tables::sample(time, name, connection)?);
        }
        Ok(())
    }

    /// Opens the connections and makes the writes whose time has come.
    fn start(&mut self, now: f64) -> io::Result<()> {
        let mut any = false;
        for (application, spec) in self.flows.iter_mut().zip(&self.scenario.flows) {
            if !application.started() && spec.start.secs() <= now {
                any = true;
                match application {
                    Application::Sockets(connection) => connection.start()?,
                    Application::Http(fetch) => fetch.start(&self.hosts)?,
                }
            } else if let Application::Sockets(connection) = application
                && connection.next_time() <= now
            {
                any = true;
                connection.write_due(now)?;
            }
        }
        if any {
            for host in 0..self.tuns.len() {
                self.collect(host)?;
            }
        }
        Ok(())
    }

    /// Takes what a host has sent.
    ///
    /// Where time goes by meanwhile, a packet enters the network when it has been read: this program may make a path longer, never shorter.
    fn collect(&mut self, host: usize) -> io::Result<()> {
        while let Some(packet) = self.tuns[host].1.receive()? {
            let now = self.time()?;
            self.enter(host, now, packet);
        }
        Ok(())
    }

    /// A packet that a host has sent enters the network.
    fn enter(&mut self, host: usize, now: f64, packet: Vec<u8>) {
        let towards = Towards::from_host(self.tuns[host].0);
        if let Some(flow) = flow_of(&packet).filter(|flow| *flow < self.flows.len()) {
            self.network.enter(now, flow, towards, packet);
        }
    }

    fn host(&self, towards: Towards) -> usize {
        usize::from(self.tuns[0].0 != towards.host())
    }

    /// Hands the hosts what has arrived, packet by packet, and lets the receivers read it; whether there was anything. That an
    /// acknowledgement has made room to write is seen by the wait that follows.
    fn deliver(&mut self, now: f64) -> io::Result<bool> {
        let mut any = false;
        while let Some((towards, flow, packet)) = self.network.deliver(now) {
            any = true;
            let host = self.host(towards);
            self.tuns[host].1.send(&packet)?;
            let now = self.time()?;
            match towards {
                Towards::Receiver => {
                    if let Application::Sockets(connection) = &mut self.flows[flow] {
                        connection.read(now)?;
                    }
                }
                Towards::Sender if self.scenario.sample == Sampling::Acks => {
                    self.sample_flow(flow, now)?;
                }
                Towards::Sender => {}
            }
            self.collect(host)?;
        }
        Ok(any)
    }

    /// When something is to be done next, if no host does anything by itself.
    fn next_time(&self) -> f64 {
        let specs = self.flows.iter().zip(&self.scenario.flows);
        let starts = specs
            .filter(|(application, _)| !application.started())
            .map(|(_, spec)| spec.start.secs());
        let writes = self.flows.iter().map(|application| match application {
            Application::Sockets(connection) => connection.next_time(),
            Application::Http(_) => f64::INFINITY,
        });
        starts
            .chain(writes)
            .chain([self.network.next_time(), self.next_sample(), self.end])
            .fold(f64::INFINITY, f64::min)
    }

    /// What to wait for: the devices, then the applications'; and whose the latter are.
    fn waits(&self) -> (Vec<PollFd<'_>>, Vec<usize>) {
        let mut waits: Vec<PollFd<'_>> = self
            .tuns
            .iter()
            .map(|(_, tun)| PollFd::new(tun.as_fd(), PollFlags::POLLIN))
            .collect();
        let mut owners: Vec<usize> = Vec::new();
        for (flow, application) in self.flows.iter().enumerate() {
            application.waits(&mut waits);
            owners.resize(waits.len() - self.tuns.len(), flow);
        }
        (waits, owners)
    }

    /// Sleeps until a host or the network has something, or something is to begin.
    fn wait(&mut self) -> io::Result<()> {
        let next = self.next_time();
        let alarm = TimeSpec::nanoseconds(self.clock.monotonic_ns(next));
        self.alarm.set(
            Expiration::OneShot(alarm),
            TimerSetTimeFlags::TFD_TIMER_ABSTIME,
        )?;
        let (mut waits, owners) = self.waits();
        waits.push(PollFd::new(self.alarm.as_fd(), PollFlags::POLLIN));
        match ppoll(&mut waits, None, None) {
            Err(Errno::EINTR) => return Ok(()),
            Err(error) => return Err(error.into()),
            Ok(_) => {}
        }
        let ready = |wait: &PollFd| wait.any().unwrap_or(true);
        let timed_out = waits.last().is_some_and(ready);
        let (devices, sockets) = waits.split_at(self.tuns.len());
        let hosts: Vec<usize> = (0..devices.len())
            .filter(|at| ready(&devices[*at]))
            .collect();
        let served: Vec<(usize, bool)> = sockets
            .iter()
            .zip(owners)
            .filter(|(wait, _)| ready(wait))
            .map(|(wait, flow)| (flow, wait.events().contains(PollFlags::POLLOUT)))
            .collect();
        self.known = (timed_out && self.time_stands_still).then_some(next);
        if hosts.is_empty() && served.is_empty() {
            return Ok(());
        }
        for host in hosts {
            self.collect(host)?;
        }
        for (flow, room) in served {
            let now = self.time()?;
            self.serve(flow, room, now)?;
        }
        Ok(())
    }

    /// An application's socket has become ready, to be written if there is `room`.
    fn serve(&mut self, flow: usize, room: bool, now: f64) -> io::Result<()> {
        match &mut self.flows[flow] {
            Application::Sockets(connection) => {
                connection.read(now)?;
                if room {
                    connection.write()?;
                }
            }
            Application::Http(fetch) => fetch.look(now)?,
        }
        for host in 0..self.tuns.len() {
            self.collect(host)?;
        }
        Ok(())
    }

    fn tables(&mut self) -> io::Result<Json> {
        self.network.finish(self.end);
        let mut flows = Vec::new();
        for (spec, application) in self.scenario.flows.iter().zip(&self.flows) {
            flows.push(match application {
                Application::Sockets(connection) => tables::connection(spec, connection, self.end)?,
                Application::Http(fetch) => tables::fetch(spec, fetch, self.end),
            });
        }
        let [udp, datagrams, sources] = tables::udp(self.scenario, &self.network);
        flows.extend(udp);
        let mut all = json!({
            "flows": flows, "links": [], "series": self.series, "datagrams": datagrams, "sources": sources, "counters": tables::counters(&self.hosts)?,
        });
        if !self.tuns.is_empty() {
            for (table, rows) in tables::links(self.scenario, &mut self.network) {
                all[table] = json!(rows);
            }
        }
        Ok(all)
    }
}

/// The flow of an IPv4 packet of TCP or UDP, by the end that has one of our ports.
pub fn flow_of(packet: &[u8]) -> Option<usize> {
    let at = usize::from(packet.first()? & 15) * 4;
    let port = |at: usize| Some(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]));
    let transport = matches!(packet.get(9), Some(&6 | &17));
    let ours = |port: u16| port.checked_sub(FIRST_PORT).map(usize::from);
    let fixed = |port: &u16| (FIRST_PORT..FIRST_PORT + 10_000).contains(port);
    let ports = [port(at)?, port(at + 2)?];
    let found = ports.into_iter().find(fixed).and_then(ours);
    found.filter(|_| packet[0] >> 4 == 4 && transport)
}
