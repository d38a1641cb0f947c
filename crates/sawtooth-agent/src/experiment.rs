//! One scenario on this kernel: its hosts, the network between them, and an application for every flow.

mod turns;

use std::fs;
use std::io;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::Backlog;
use nix::sys::time::{TimeSpec, TimeValLike};
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use sawtooth_core::Scenario;
use sawtooth_core::internals::exchanges::Exchanges;
use sawtooth_core::internals::kernel::{APPLICATION, Programs, TIME, Time};
use sawtooth_core::internals::net::Towards;
use sawtooth_core::internals::rows::exchange_row;
use sawtooth_core::internals::spec::source;
use sawtooth_core::record::Table;
use sawtooth_core::record::rows::{ExchangeRow, FlowRow, SeriesRow, Stalls};
use sawtooth_core::spec::{FlowSpec, Sampling};
use sawtooth_core::units::Instant;
use serde_json::Value as Json;

use crate::arrivals::{ArrivingConnections, Ready};
use crate::capture::{self, CaptureOrder, CapturePlace, DeviceEars, KernelCapture, UnseenPackets};
use crate::clock::{ElapsedClock, in_time};
use crate::hosts::HostNamespaces;
use crate::http::{Fetch, Servers};
use crate::network::{CapturedNetwork, IpNetwork, IpPacket, host_at_end, towards_other};
use crate::request_response::RequestResponseSockets;
use crate::ring::IoRing;
use crate::setup::{self, Addresses, HostName};
use crate::socket_option;
use crate::sockets::{self, CHUNK, Connection};
use crate::tables::{self, SenderSide};
use crate::tun::Tun;

/// Port of the first flow; the next flow's is the next one, and those at which flows arrive follow. There are no others between them
/// and the `PORTS`-th.
pub const FIRST_PORT: u16 = 20_000;
pub const PORTS: u16 = 10_000;

/// Runs `scenario`; returns its tables, each a list of rows.
///
/// System calls are made `one by one`, or many `at once`; left open, as suits the kernel: in user-mode Linux a call costs more than all that
/// it does. What is measured is the same.
pub fn run(
    scenario: &Scenario,
    seed: u64,
    calls: Option<&str>,
    captures: Option<(&CaptureOrder, &CapturePlace)>,
) -> io::Result<Json> {
    let user_mode = runs_in_user_mode();
    let at_once = calls.map_or(user_mode, |calls| calls == "at once")
        // With the kernel's shaper no packets are carried, and there is little to save.
        && !setup::kernel_shaper(scenario);
    let mut experiment = Experiment::new(scenario, seed, user_mode)?;
    if let Some((order, place)) = captures {
        experiment.capture(order, place, seed)?;
    }
    match at_once.then(IoRing::new).flatten() {
        Some(ring) => experiment.go_in_turns(ring)?,
        None => experiment.go()?,
    }
    let tables = experiment.tables()?;
    experiment.leave_nothing()?;
    Ok(tables)
}

/// Whether this kernel is a process of another one.
fn runs_in_user_mode() -> bool {
    fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains("User Mode Linux"))
}

/// What moves a flow's data.
#[derive(Debug)]
pub enum Application {
    Sockets(Connection),
    RequestResponse(Box<RequestResponseSockets>),
    Http(Fetch),
    /// Of a flow that has left.
    Nothing,
}

impl Application {
    fn started(&self) -> bool {
        match self {
            Self::Sockets(connection) => connection.started,
            Self::RequestResponse(request_response) => request_response.started,
            Self::Http(fetch) => fetch.started,
            Self::Nothing => true,
        }
    }

    fn waits<'a>(&'a self, waits: &mut Vec<PollFd<'a>>) {
        match self {
            Self::Sockets(connection) => connection.waits(waits),
            Self::RequestResponse(request_response) => request_response.waits(waits),
            Self::Http(fetch) => fetch.waits(waits),
            Self::Nothing => {}
        }
    }

    /// When it does something next of its own accord.
    fn next_time(&self) -> Instant {
        match self {
            Self::Sockets(connection) => connection.next_time(),
            Self::RequestResponse(request_response) => request_response.next_time(),
            Self::Http(_) | Self::Nothing => Instant::NEVER,
        }
    }
}

/// Whose descriptor is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Owner {
    Flow(usize),
    /// Flows that arrive.
    ArrivingFlows,
}

/// What time it is, as far as this program knows.
#[derive(Clone, Copy, Debug)]
struct KnownTime {
    now: Option<Instant>,
    /// What it was known to be last.
    last: Instant,
}

impl Default for KnownTime {
    fn default() -> Self {
        Self {
            now: None,
            last: Instant::START,
        }
    }
}

#[derive(Debug)]
struct Experiment<'a> {
    scenario: &'a Scenario,
    hosts: HostNamespaces,
    /// The devices of receiver and sender, if this program carries the packets.
    tuns: Vec<(HostName, Tun)>,
    network: CapturedNetwork,
    /// Those that are there all the time, then those that have arrived.
    flows: Vec<Application>,
    arrivals: ArrivingConnections<'a>,
    /// What connections read into: nobody looks at it.
    room: Vec<u8>,
    _servers: Option<Servers>,
    clock: ElapsedClock,
    /// Whether time passes only while this program waits. Then a wait that has timed out ended at its time, and the clock need not be asked.
    time_stands_still: bool,
    /// The time, as long as it is known.
    known: KnownTime,
    /// When the last wait was to end at the latest.
    due: Instant,
    /// Ends a wait at its time: what `ppoll` itself waits for comes up to a thousandth of the wait late.
    alarm: TimerFd,
    end: Instant,
    series: Table,
    samples: u64,
}

impl<'a> Experiment<'a> {
    fn new(scenario: &'a Scenario, seed: u64, user_mode: bool) -> io::Result<Self> {
        let mut hosts = HostNamespaces::set_up(&setup::steps(scenario))?;
        let addresses = setup::addresses(scenario);
        let mut flows = Vec::new();
        let mut servers = None;
        if APPLICATION.of(&scenario.kernel.settings) == Programs::Http {
            let address = addresses.sender;
            servers = Some(Servers::start(scenario, &hosts, address, FIRST_PORT)?);
            for (port, spec) in (FIRST_PORT..).zip(&scenario.flows) {
                flows.push(Application::Http(Fetch::new(spec, address, port)));
            }
        } else {
            for (port, spec) in (FIRST_PORT..).zip(&scenario.flows) {
                flows.push(application(spec, seed, &hosts, addresses, port)?);
            }
        }
        // Numbers are those of the simulator, where the clients of requests have numbers, too.
        let request_responses = flows
            .iter()
            .filter(|flow| matches!(flow, Application::RequestResponse(_)));
        let fixed =
            u32::try_from(flows.len() + request_responses.count()).map_err(io::Error::other)?;
        let arrivals = ArrivingConnections::new(scenario, seed, &hosts, addresses, fixed)?;
        Ok(Self {
            scenario,
            tuns: std::mem::take(&mut hosts.tuns),
            hosts,
            network: CapturedNetwork::new(IpNetwork::new(scenario, seed)),
            flows,
            arrivals,
            room: vec![0; CHUNK],
            _servers: servers,
            clock: ElapsedClock::start()?,
            time_stands_still: user_mode && TIME.of(&scenario.kernel.settings) == Time::Virtual,
            known: KnownTime::default(),
            due: Instant::NEVER,
            alarm: TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK)?,
            end: Instant::START + scenario.duration,
            series: Table::new::<SeriesRow>(),
            samples: 0,
        })
    }

    /// What is asked for is captured from now on.
    fn capture(&mut self, order: &CaptureOrder, place: &CapturePlace, seed: u64) -> io::Result<()> {
        let capture = KernelCapture::begin(order, place, self.scenario, runs_in_user_mode())?;
        self.network.capture = Some(capture);
        if self.tuns.is_empty() {
            let ears = DeviceEars::open(&order.points, self.scenario, &self.hosts, self.clock)?;
            self.network.ears = Some(ears);
        } else {
            self.network.links = IpNetwork::watch(self.scenario, seed, &order.links());
        }
        Ok(())
    }

    fn go(&mut self) -> io::Result<()> {
        for host in 0..self.tuns.len() {
            self.collect(host)?;
        }
        loop {
            let now = self.time()?;
            self.listen()?;
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

    /// Ends every connection at once. Else the kernel goes on sending for minutes what had not arrived: its memory for TCP fills up with that, and connections of later runs are refused
    /// larger windows.
    fn leave_nothing(&self) -> io::Result<()> {
        self.hosts.give_up_orphans()?;
        socket_option::abort_open()
    }

    fn time(&mut self) -> io::Result<Instant> {
        let now = if let Some(now) = self.known.now {
            now
        } else {
            let now = self.clock.now()?;
            if self.time_stands_still {
                in_time(now, self.due)?;
            }
            // The kernel's clock shows the moment that was waited for as its next reading: as long as it shows that, no time has passed, also for what the kernel has sent after the devices were read.
            if self.time_stands_still && ElapsedClock::shows(now, self.known.last) {
                self.known.last
            } else {
                now
            }
        };
        self.known.last = now;
        self.known.now = self.time_stands_still.then_some(now);
        Ok(now)
    }

    /// A wait begins that ends at `until` if nothing comes before.
    fn waits_until(&mut self, until: Instant) {
        self.due = self.known.now.map_or(until, |now| now.max(until));
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of samples")]
    fn next_sample(&self) -> Instant {
        match self.scenario.sample {
            Sampling::Every(every) => Instant::START + every * self.samples as f64,
            Sampling::Never | Sampling::Acks => Instant::NEVER,
        }
    }

    fn sample(&mut self, now: Instant) -> io::Result<()> {
        while self.next_sample() <= now {
            let time = self.next_sample();
            for flow in 0..self.scenario.flows.len() {
                self.sample_flow(flow, time)?;
            }
            self.samples += 1;
        }
        Ok(())
    }

    fn sample_flow(&mut self, flow: usize, time: Instant) -> io::Result<()> {
        let (sender, delivered) = match &self.flows[flow] {
            Application::Sockets(connection) => (
                Some((connection.sender(), SenderSide::Opened)),
                connection.delivered,
            ),
            Application::RequestResponse(request_response) => (
                request_response
                    .sender()
                    .map(|sender| (sender, SenderSide::Accepted)),
                request_response.delivered(),
            ),
            Application::Http(_) | Application::Nothing => (None, 0),
        };
        if let Some(spec) = self.scenario.flows.get(flow)
            && let Some((sender, side)) = sender
        {
            let row = tables::sample(time, &spec.name, sender, side, delivered)?;
            self.series.push(row);
        }
        Ok(())
    }

    /// Opens the connections and makes the writes whose time has come.
    fn start(&mut self, now: Instant) -> io::Result<()> {
        let mut any = false;
        for (application, spec) in self.flows.iter_mut().zip(&self.scenario.flows) {
            if !application.started() && spec.start <= now {
                any = true;
                match application {
                    Application::Sockets(connection) => connection.start()?,
                    Application::RequestResponse(request_response) => {
                        request_response.start(now)?;
                    }
                    Application::Http(fetch) => fetch.start(&self.hosts)?,
                    Application::Nothing => {}
                }
            } else if application.next_time() <= now {
                any = true;
                match application {
                    Application::Sockets(connection) => connection.write_due(now)?,
                    Application::RequestResponse(request_response) => {
                        request_response.write_due(now)?;
                    }
                    Application::Http(_) | Application::Nothing => {}
                }
            }
        }
        if self.arrivals.open_due(now, &self.hosts, &mut self.flows)? {
            self.collect_from(HostName::Sender)?;
        }
        if any {
            for host in 0..self.tuns.len() {
                self.collect(host)?;
            }
        }
        Ok(())
    }

    /// Hears what has passed the devices of hosts between which the kernel carries packets.
    fn listen(&mut self) -> io::Result<()> {
        let standing = self.scenario.flows.len();
        self.network.listen(|port| {
            let listener = port.checked_sub(standing);
            listener.map_or(Some(port), |listener| self.arrivals.track(listener))
        })
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

    /// The same by the host's name, if this program carries its packets.
    fn collect_from(&mut self, name: HostName) -> io::Result<()> {
        let host = self.tuns.iter().position(|(host, _)| *host == name);
        host.map_or(Ok(()), |host| self.collect(host))
    }

    /// A packet that a host has sent enters the network.
    fn enter(&mut self, host: usize, now: Instant, packet: Vec<u8>) {
        let towards = towards_other(self.tuns[host].0);
        let Some((port, other)) = flow_of(&packet) else {
            return;
        };
        let connection = match port.checked_sub(self.scenario.flows.len()) {
            None => u32::try_from(port).ok().map(|number| (port, number)),
            Some(listener) => self.arrivals.connection(listener, other),
        };
        if let Some((flow, connection)) = connection {
            let packet = IpPacket(packet);
            self.network.offer(now, flow, connection, towards, packet);
        }
    }

    /// The place of the flow of a connection by its number, if it is still there.
    fn place(&self, connection: u32) -> Option<usize> {
        let standing = usize::try_from(connection).ok();
        let standing = standing.filter(|place| *place < self.scenario.flows.len());
        standing.or_else(|| self.arrivals.place(connection))
    }

    /// Whether an application may have something to read when a packet has come to one of its ends.
    fn reads(&self, place: usize, towards: Towards, packet: &[u8]) -> bool {
        (towards == Towards::Receiver
            || matches!(self.flows[place], Application::RequestResponse(_)))
            && !opens(packet)
    }

    /// Reads what has arrived for a flow.
    fn read(&mut self, place: usize, now: Instant) -> io::Result<()> {
        if self.arrivals.is_arriving(place)
            && matches!(&self.flows[place], Application::Sockets(connection) if !connection.is_accepted())
        {
            self.arrivals.accept_at(place, &mut self.flows)?;
        }
        match &mut self.flows[place] {
            Application::Sockets(connection) => connection.read(now, &mut self.room),
            Application::RequestResponse(request_response) => {
                request_response.read(now, &mut self.room)
            }
            Application::Http(_) | Application::Nothing => Ok(()),
        }
    }

    fn host(&self, towards: Towards) -> usize {
        usize::from(self.tuns[0].0 != host_at_end(towards))
    }

    /// Hands the hosts what has arrived, packet by packet, and lets the receivers read it; whether there was anything. That an
    /// acknowledgement has made room to write is seen by the wait that follows.
    fn deliver(&mut self, now: Instant) -> io::Result<bool> {
        let mut any = false;
        while let Some(delivery) = self.network.advance(now) {
            any = true;
            let (towards, connection) = (delivery.towards, delivery.connection);
            let IpPacket(packet) = delivery.packet;
            let host = self.host(towards);
            self.tuns[host].1.send(&packet)?;
            let now = self.time()?;
            if let Some(place) = self.place(connection) {
                if towards == Towards::Sender && self.scenario.sample == Sampling::Acks {
                    self.sample_flow(place, now)?;
                }
                if self.reads(place, towards, &packet) {
                    self.read(place, now)?;
                }
            }
            self.collect(host)?;
        }
        Ok(any)
    }

    /// When something is to be done next, if no host does anything by itself.
    fn next_time(&self) -> Instant {
        let specs = self.flows.iter().zip(&self.scenario.flows);
        let starts = specs
            .filter(|(application, _)| !application.started())
            .map(|(_, spec)| spec.start);
        let standing = &self.flows[..self.scenario.flows.len()];
        let writes = standing.iter().map(Application::next_time);
        let others = [
            self.arrivals.next_time(),
            self.network.links.next_time(),
            self.next_sample(),
            self.end,
        ];
        starts
            .chain(writes)
            .chain(others)
            .fold(Instant::NEVER, Instant::min)
    }

    /// What to wait for: the devices, then the applications'; and whose the latter are.
    fn waits(&self) -> (Vec<PollFd<'_>>, Vec<Owner>) {
        let mut waits: Vec<PollFd<'_>> = self
            .tuns
            .iter()
            .map(|(_, tun)| PollFd::new(tun.as_fd(), PollFlags::POLLIN))
            .collect();
        let mut owners = Vec::new();
        let standing = &self.flows[..self.scenario.flows.len()];
        for (flow, application) in standing.iter().enumerate() {
            application.waits(&mut waits);
            owners.resize(waits.len() - self.tuns.len(), Owner::Flow(flow));
        }
        if let Some(wait) = self.arrivals.wait() {
            waits.push(wait);
            owners.push(Owner::ArrivingFlows);
        }
        (waits, owners)
    }

    /// Sleeps until a host or the network has something, or something is to begin.
    fn wait(&mut self) -> io::Result<()> {
        let next = self.next_time();
        self.waits_until(next);
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
        let served: Vec<(Owner, bool)> = sockets
            .iter()
            .zip(owners)
            .filter(|(wait, _)| ready(wait))
            .map(|(wait, owner)| (owner, wait.events().contains(PollFlags::POLLOUT)))
            .collect();
        self.known.now = (timed_out && self.time_stands_still).then_some(next);
        self.known.last = self.known.now.unwrap_or(self.known.last);
        if hosts.is_empty() && served.is_empty() {
            return Ok(());
        }
        for host in hosts {
            self.collect(host)?;
        }
        for (owner, room) in served {
            match owner {
                Owner::Flow(flow) => {
                    let now = self.time()?;
                    self.serve(flow, room, now)?;
                }
                Owner::ArrivingFlows => self.serve_arrivals()?,
            }
        }
        Ok(())
    }

    /// Sockets of flows that arrive have become ready.
    fn serve_arrivals(&mut self) -> io::Result<()> {
        for ready in self.arrivals.ready()? {
            let now = self.time()?;
            match ready {
                Ready::Listener(listener) => self.arrivals.accept(listener, &mut self.flows)?,
                Ready::Receiver(place) => {
                    self.read(place, now)?;
                    self.collect_from(HostName::Receiver)?;
                }
                Ready::Sender(place, changes) => {
                    self.serve_arrived(place, changes, now)?;
                    self.collect_from(HostName::Sender)?;
                }
            }
        }
        Ok(())
    }

    /// The sender of a flow that has arrived has room to write, or has ended, and leaves; so does one that the kernel has given up.
    fn serve_arrived(
        &mut self,
        place: usize,
        [room, ended]: [bool; 2],
        now: Instant,
    ) -> io::Result<()> {
        let mut failed = false;
        if let Application::Sockets(connection) = &mut self.flows[place]
            && room
        {
            match connection.write() {
                Err(error) if given_up(&error) => failed = true,
                result => result?,
            }
        }
        if ended || failed {
            self.arrivals
                .leave_if_ended(place, failed, now, &mut self.flows)?;
        }
        Ok(())
    }

    /// An application's socket has become ready, to be written if there is `room`.
    fn serve(&mut self, flow: usize, room: bool, now: Instant) -> io::Result<()> {
        self.read(flow, now)?;
        match &mut self.flows[flow] {
            Application::Sockets(connection) if room => connection.write()?,
            Application::RequestResponse(request_response) if room => request_response.write()?,
            Application::Http(fetch) => fetch.look(now)?,
            _ => {}
        }
        for host in 0..self.tuns.len() {
            self.collect(host)?;
        }
        Ok(())
    }

    /// What the devices of hosts had no room for, if it matters.
    fn unseen(&self) -> io::Result<UnseenPackets> {
        match &self.network {
            CapturedNetwork { capture: None, .. } => Ok(UnseenPackets::default()),
            CapturedNetwork {
                ears: Some(ears), ..
            } => ears.unheard(),
            _ => capture::dropped_by_devices(&self.hosts),
        }
    }

    fn tables(&mut self) -> io::Result<Json> {
        let unseen = self.unseen()?;
        let missing = self.network.finish(self.end, unseen)?;
        let mut flows = Table::new::<FlowRow>();
        let mut exchanges = Table::new::<ExchangeRow>();
        for (spec, application) in self.scenario.flows.iter().zip(&self.flows) {
            flows.push(match application {
                Application::Sockets(connection) => tables::connection(spec, connection, self.end)?,
                Application::RequestResponse(request_response) => {
                    let found = &request_response.exchanges;
                    exchanges.push(exchange_row(&spec.name, found, Stalls::default()));
                    tables::request_response(spec, request_response, self.end)?
                }
                Application::Http(fetch) => tables::fetch(spec, fetch, self.end),
                Application::Nothing => continue,
            });
        }
        let [datagrams, sources] = tables::udp(self.scenario, &self.network.links, &mut flows);
        let series = std::mem::replace(&mut self.series, Table::new::<SeriesRow>());
        let mut all = vec![flows, series, exchanges, datagrams, sources];
        all.push(tables::counters(&self.hosts)?);
        all.extend(self.arrivals.finish(self.end, &self.flows)?);
        if !self.tuns.is_empty() {
            all.extend(tables::links(self.scenario, &mut self.network.links));
        }
        let mut outcome = tables::to_json(&all);
        if missing > 0 {
            outcome["uncaptured"] = missing.into();
        }
        Ok(outcome)
    }
}

/// Whether a kernel has given a connection up: too many of its segments were lost one after the other.
fn given_up(error: &io::Error) -> bool {
    let kinds = [
        io::ErrorKind::TimedOut,
        io::ErrorKind::ConnectionReset,
        io::ErrorKind::BrokenPipe,
    ];
    kinds.contains(&error.kind())
}

/// What moves the data of a flow at a port.
fn application(
    spec: &FlowSpec,
    seed: u64,
    hosts: &HostNamespaces,
    addresses: Addresses,
    port: u16,
) -> io::Result<Application> {
    let one = Backlog::new(1)?;
    if let Some(exchanges) = Exchanges::new(source(spec, seed), spec.start) {
        // The client is at the flow's receiver.
        let address = addresses.sender;
        hosts.enter(HostName::Sender)?;
        let listener = sockets::listen_at(sockets::sending(spec)?, address, port, one)?;
        hosts.enter(HostName::Receiver)?;
        let request_response =
            RequestResponseSockets::new(spec, exchanges, listener, sockets::at(address, port))?;
        return Ok(Application::RequestResponse(Box::new(request_response)));
    }
    let address = addresses.receiver;
    hosts.enter(HostName::Receiver)?;
    let listener = sockets::listen_at(sockets::receiving(spec)?, address, port, one)?;
    hosts.enter(HostName::Sender)?;
    let connection = Connection::new(spec, seed, listener, sockets::at(address, port))?;
    Ok(Application::Sockets(connection))
}

/// Whether an IPv4 packet of TCP opens a connection: it has SYN and no ACK.
pub fn opens(packet: &[u8]) -> bool {
    let at = packet
        .first()
        .map_or(0, |first| usize::from(first & 15) * 4);
    let flags = packet.get(at + 13).unwrap_or(&0);
    packet.get(9) == Some(&6) && flags & 0x12 == 0x02
}

/// The flow of an IPv4 packet of TCP or UDP, by the end that has one of our ports, and the port of the other end.
pub fn flow_of(packet: &[u8]) -> Option<(usize, u16)> {
    let at = usize::from(packet.first()? & 15) * 4;
    let port = |at: usize| Some(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]));
    let transport = matches!(packet.get(9), Some(&6 | &17));
    let fixed = |port: &u16| (FIRST_PORT..FIRST_PORT + PORTS).contains(port);
    let ports = [port(at)?, port(at + 2)?];
    let ours = ports.iter().position(fixed)?;
    let found = (usize::from(ports[ours] - FIRST_PORT), ports[1 - ours]);
    (packet[0] >> 4 == 4 && transport).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An IPv4 packet of TCP with these ports and flags.
    fn packet([from, to]: [u16; 2], flags: u8) -> Vec<u8> {
        let mut packet = vec![0; 40];
        packet[0] = 0x45;
        packet[9] = 6;
        packet[20..22].copy_from_slice(&from.to_be_bytes());
        packet[22..24].copy_from_slice(&to.to_be_bytes());
        packet[33] = flags;
        packet
    }

    #[test]
    fn a_packet_is_of_the_flow_at_whose_port_either_end_is() {
        let [ours, other] = [FIRST_PORT + 3, FIRST_PORT + PORTS];
        for ports in [[ours, other], [other, ours]] {
            assert_eq!(flow_of(&packet(ports, 0x10)), Some((3, other)));
        }
        assert_eq!(flow_of(&packet([other, other], 0x10)), None);
        assert_eq!(flow_of(&packet([ours, other], 0x10)[..21]), None);
    }

    #[test]
    fn a_syn_without_an_acknowledgement_opens_a_connection() {
        let flags = [0x02, 0xc2, 0x12, 0x10, 0x18];
        let opening = flags.map(|flags| opens(&packet([1, 2], flags)));
        assert_eq!(opening, [true, true, false, false, false]);
        assert!(!opens(&[]));
    }
}
