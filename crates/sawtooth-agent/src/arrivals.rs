//! Flows that arrive and leave, over the agent's own sockets.
//!
//! **Model.** Times and sizes are the simulator's, drawn from the same streams. A socket is made when its flow arrives. A flow leaves when both
//! sides have closed: then its sender's socket is closed and its place is free, so descriptors and memory are bounded by the flows that
//! are alive at one time. Their sockets wait in a set of their own (epoll), so what a turn costs does not depend on how many there are.
//!
//! **Ports.** The kernel keeps the ports of a connection that has ended from being used again for a minute (TIME-WAIT, RFC 9293 §3.4.1). Pairs of ports
//! are taken in turn, so each is used again as late as possible, and every entry listens at as many ports as give it pairs for that long. A
//! pair that the kernel does not give is passed over.
//!
//! A connection has a number of its own for the whole run, as in the simulator: what is still on its way when it has left goes on as its
//! packets, and the kernel answers them.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::resource::{Resource, getrlimit};
use nix::sys::socket::{Backlog, SockaddrIn, bind, getpeername, setsockopt, sockopt};
use sawtooth_core::Scenario;
use sawtooth_core::internals::arrivals::summary::{Departed, Summary};
use sawtooth_core::internals::arrivals::{Arrival, Process};
use sawtooth_core::internals::rows::{arrival_tables, transfer_row};
use sawtooth_core::internals::source;
use sawtooth_core::record::Table;
use sawtooth_core::record::rows::TransferRow;
use sawtooth_core::spec::ArrivingSpec;
use sawtooth_core::units::{ByteCount, Duration, Instant};

use crate::experiment::{Application, FIRST_PORT, PORTS};
use crate::hosts::HostNamespaces;
use crate::setup::{Addresses, HostName};
use crate::sockets::{self, Connection};
use crate::tables::{self, SenderSide};
use crate::tcp_info::TcpInfo;

/// Ports of the sending ends: all above those of flows.
const FIRST_OWN_PORT: u16 = FIRST_PORT + PORTS;
const OWN_PORTS: usize = u16::MAX as usize - FIRST_OWN_PORT as usize + 1;
/// How long the kernel keeps a pair of ports, seconds: twice a maximum segment lifetime.
const TIME_WAIT: Duration = Duration::from_secs(60.0);
/// The kernel's memory is looked at when so many flows have arrived since the last time. A run ends, before the kernel ends its process, when less is left
/// than this share of it, and for each that is alive what one end takes: the other end may still have to be made.
const LOOK_AFTER: u32 = 64;
const MEMORY_SHARE: u64 = 8;
/// Socket, descriptor, and SYN to be sent again: measured, Linux 6.1.
const END_KIB: u64 = 8;
/// Descriptors for what is opened now and then.
const SPARE_DESCRIPTORS: usize = 16;
/// Marks of what a ready descriptor is.
const LISTENER: u64 = 1 << 63;
const SENDER: u64 = 1 << 62;
/// Ready descriptors that are asked for at once.
const READY: usize = 64;

/// All flows that arrive.
#[derive(Debug)]
pub struct ArrivingConnections<'a> {
    entries: Vec<ConnectionEntry<'a>>,
    /// Flows that are there all the time have the first places, and the first numbers.
    standing: usize,
    next_id: u32,
    addresses: Addresses,
    /// The entry of each port that is listened at, and the socket.
    listeners: Vec<(usize, OwnedFd)>,
    /// Who is at each place from `standing` on, if anybody is; and the places that are free.
    living: Vec<Option<LivingConnection>>,
    free: Vec<usize>,
    places: BTreeMap<u32, usize>,
    ready: Epoll,
    limits: ConnectionLimits,
    transfers: Option<Table>,
}

/// What flows that are alive at one time may take.
#[derive(Clone, Copy, Debug, Default)]
struct ConnectionLimits {
    by_descriptors: usize,
    /// Flows that have arrived since memory was looked at.
    unseen: u32,
}

/// Who is at a place.
#[derive(Clone, Copy, Debug)]
struct LivingConnection {
    entry: usize,
    arrival: Arrival,
    id: u32,
    listener: usize,
}

/// One entry of the scenario.
#[derive(Debug)]
struct ConnectionEntry<'a> {
    spec: &'a ArrivingSpec,
    /// Its number among the paths of the network.
    track: usize,
    process: Process,
    next: Option<Arrival>,
    /// The first of its listeners, how many there are, and the port of the first; the others' follow.
    listeners: (usize, usize),
    first_port: u16,
    /// Of each pair of ports the number of the last connection that has had it, and the pair whose turn it is.
    pairs: Vec<Option<u32>>,
    turn: usize,
    summary: Summary,
}

/// A descriptor that is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ready {
    /// The listener of this number.
    Listener(usize),
    /// The receiver at this place.
    Receiver(usize),
    /// The sender at this place: whether there is room to write, and whether it has ended or failed.
    Sender(usize, [bool; 2]),
}

impl<'a> ArrivingConnections<'a> {
    /// Those of a scenario, with the ports at which they are received. Flows that are there all the time have the first numbers, `fixed` of them.
    pub fn new(
        scenario: &'a Scenario,
        seed: u64,
        hosts: &HostNamespaces,
        addresses: Addresses,
        fixed: u32,
    ) -> io::Result<Self> {
        let mut arrivals = Self {
            entries: Vec::new(),
            standing: scenario.flows.len(),
            next_id: fixed,
            addresses,
            listeners: Vec::new(),
            living: Vec::new(),
            free: Vec::new(),
            places: BTreeMap::new(),
            ready: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
            limits: ConnectionLimits::default(),
            transfers: scenario.record.transfers.then(Table::new::<TransferRow>),
        };
        if !scenario.arriving.is_empty() {
            hosts.enter(HostName::Receiver)?;
            for spec in &scenario.arriving {
                arrivals.add(spec, seed)?;
            }
            arrivals.limits = ConnectionLimits::find()?;
        }
        Ok(arrivals)
    }

    fn add(&mut self, spec: &'a ArrivingSpec, seed: u64) -> io::Result<()> {
        let mut process = Process::new(&spec.arrivals, seed, &spec.flow.name);
        let entry = self.entries.len();
        let listeners = (self.listeners.len(), ports(spec));
        let too_many = || {
            let name = &spec.flow.name;
            io::Error::other(format!(
                "flows `{name}` arrive faster than there are ports for them"
            ))
        };
        let port = |number| {
            let above = u16::try_from(number).ok().filter(|above| *above < PORTS);
            above.map(|above| FIRST_PORT + above).ok_or_else(too_many)
        };
        let first_port = port(self.standing + listeners.0)?;
        for number in listeners.0..listeners.0 + listeners.1 {
            let socket = sockets::listen_at(
                sockets::receiving(&spec.flow)?,
                self.addresses.receiver,
                port(self.standing + number)?,
                Backlog::MAXALLOWABLE,
            )?;
            let event = EpollEvent::new(EpollFlags::EPOLLIN, LISTENER | number as u64);
            self.ready.add(&socket, event)?;
            self.listeners.push((entry, socket));
        }
        self.entries.push(ConnectionEntry {
            spec,
            track: self.standing + entry,
            next: process.next(),
            process,
            listeners,
            first_port,
            pairs: vec![None; listeners.1 * OWN_PORTS],
            turn: 0,
            summary: Summary::new(spec.arrivals.bins_per_decade),
        });
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Whether a place is of those that are used again.
    pub fn is_arriving(&self, place: usize) -> bool {
        place >= self.standing
    }

    /// When the next flow arrives.
    pub fn next_time(&self) -> Instant {
        let next = self.entries.iter().filter_map(|entry| entry.next);
        next.map(|arrival| arrival.at)
            .fold(Instant::NEVER, Instant::min)
    }

    /// The path, and the connection's number, of a packet by the number of a port above those of standing flows, and the port at its other
    /// end.
    pub fn connection(&self, listener: usize, own_port: u16) -> Option<(usize, u32)> {
        let (entry, _) = self.listeners.get(listener)?;
        let entry = &self.entries[*entry];
        let pair = entry.pair(listener, own_port)?;
        Some((entry.track, entry.pairs[pair]?))
    }

    /// The path of the flows whose listener has this number.
    pub fn track(&self, listener: usize) -> Option<usize> {
        let (entry, _) = self.listeners.get(listener)?;
        Some(self.entries[*entry].track)
    }

    /// The place of a connection by its number, unless it has ended.
    pub fn place(&self, id: u32) -> Option<usize> {
        self.places.get(&id).copied()
    }

    /// Opens the connections whose time has come; whether there were any.
    pub fn open_due(
        &mut self,
        now: Instant,
        hosts: &HostNamespaces,
        flows: &mut Vec<Application>,
    ) -> io::Result<bool> {
        let mut any = false;
        while let Some(number) = self.due(now) {
            hosts.enter(HostName::Sender)?;
            self.open(number, flows)?;
            any = true;
        }
        Ok(any)
    }

    /// The entry whose flow arrives next, if it does by now.
    fn due(&self, now: Instant) -> Option<usize> {
        let entries = self.entries.iter().enumerate();
        let next = entries.filter_map(|(at, entry)| Some((entry.next?.at, at)));
        let first = next.min_by(|(one, _), (other, _)| one.total_cmp(other));
        first.filter(|(time, _)| *time <= now).map(|(_, at)| at)
    }

    /// The next flow of an entry arrives.
    fn open(&mut self, number: usize, flows: &mut Vec<Application>) -> io::Result<()> {
        let entry = &mut self.entries[number];
        let Some(arrival) = entry.next.take() else {
            return Ok(());
        };
        entry.next = entry.process.next();
        self.limits.check(self.places.len(), entry.spec, &arrival)?;
        entry.summary.start(arrival.bytes);
        let id = self.next_id;
        self.next_id += 1;
        let (connection, listener) = entry.connect(id, &arrival, self.addresses)?;
        let place = self.free.pop().unwrap_or(self.standing + self.living.len());
        // Edge-triggered: one report when it is established, and one whenever there is room again; that it has ended is always reported.
        let wanted = EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
        let event = EpollEvent::new(wanted, SENDER | place as u64);
        self.ready.add(connection.sender(), event)?;
        let living = Some(LivingConnection {
            entry: number,
            arrival,
            id,
            listener,
        });
        let application = Application::Sockets(connection);
        if let Some(at) = self.living.get_mut(place - self.standing) {
            *at = living;
            flows[place] = application;
        } else {
            self.living.push(living);
            flows.push(application);
        }
        self.places.insert(id, place);
        Ok(())
    }

    /// Accepts the first that has come to the listener of the connection at `place`: that one, if its packets are all that has come.
    pub fn accept_at(&mut self, place: usize, flows: &mut [Application]) -> io::Result<()> {
        let living = self.living[place - self.standing];
        living.map_or(Ok(()), |living| self.accept(living.listener, flows))
    }

    /// Accepts the first that has come to a listener, if any has.
    pub fn accept(&mut self, listener: usize, flows: &mut [Application]) -> io::Result<()> {
        let Some(socket) = sockets::accept(&self.listeners[listener].1)? else {
            return Ok(());
        };
        let Ok(peer) = getpeername::<SockaddrIn>(socket.as_raw_fd()) else {
            return Ok(());
        };
        let connection = self.connection(listener, peer.port());
        let place = connection.and_then(|(_, id)| self.place(id));
        if let Some(place) = place
            && let Application::Sockets(connection) = &mut flows[place]
        {
            let event = EpollEvent::new(EpollFlags::EPOLLIN, place as u64);
            self.ready.add(&socket, event)?;
            connection.accepted(socket);
        }
        Ok(())
    }

    /// What to wait for, if flows arrive.
    pub fn wait(&self) -> Option<PollFd<'_>> {
        (!self.is_empty()).then(|| PollFd::new(self.ready.0.as_fd(), PollFlags::POLLIN))
    }

    /// Some of what is ready.
    pub fn ready(&self) -> io::Result<Vec<Ready>> {
        let mut events = [EpollEvent::empty(); READY];
        let count = match self.ready.wait(&mut events, EpollTimeout::ZERO) {
            Ok(count) => count,
            Err(Errno::EINTR) => 0,
            Err(error) => return Err(error.into()),
        };
        let number = |data: u64| usize::try_from(data).unwrap_or(usize::MAX);
        let ready = events[..count].iter().map(|event| match event.data() {
            data if data & LISTENER != 0 => Ready::Listener(number(data & !LISTENER)),
            data if data & SENDER != 0 => {
                let room = event.events().contains(EpollFlags::EPOLLOUT);
                let over = EpollFlags::EPOLLHUP | EpollFlags::EPOLLERR;
                let ended = event.events().intersects(over);
                Ready::Sender(number(data & !SENDER), [room, ended])
            }
            data => Ready::Receiver(number(data)),
        });
        Ok(ready.collect())
    }

    /// The flow at a place leaves if its sender's kernel has done with it, or if it has `failed`.
    pub fn leave_if_ended(
        &mut self,
        place: usize,
        failed: bool,
        now: Instant,
        flows: &mut [Application],
    ) -> io::Result<()> {
        if let Application::Sockets(connection) = &flows[place] {
            let info = TcpInfo::of(connection.sender().as_fd())?;
            if failed || info.is_closed() {
                self.leave(place, now, connection, &info);
                flows[place] = Application::Nothing;
                self.free.push(place);
            }
        }
        Ok(())
    }

    fn leave(&mut self, place: usize, now: Instant, connection: &Connection, info: &TcpInfo) {
        let Some(living) = self.living[place - self.standing].take() else {
            return;
        };
        self.places.remove(&living.id);
        let entry = &mut self.entries[living.entry];
        let done = connection.is_done()
            && tables::acked_bytes(info, SenderSide::Opened, connection.delivered)
                >= connection.delivered;
        let departed = Departed {
            arrival: living.arrival,
            at: now,
            delivered: ByteCount::new(connection.delivered),
            completion: done.then(|| connection.last_delivery - living.arrival.at),
            sent_packets: info.data_segs_out.into(),
            retransmits: info.total_retrans.into(),
            timeouts: None,
            congestion_signals: None,
        };
        entry.summary.end(&departed);
        if let Some(transfers) = &mut self.transfers {
            transfers.push(transfer_row(&entry.spec.flow.name, &departed));
        }
    }

    /// The run is over for those that are there; the tables of all, none if none could arrive.
    pub fn finish(&mut self, end: Instant, flows: &[Application]) -> io::Result<Vec<Table>> {
        for (place, application) in flows.iter().enumerate().skip(self.standing) {
            if let Application::Sockets(connection) = application {
                let info = TcpInfo::of(connection.sender().as_fd())?;
                self.leave(place, end, connection, &info);
            }
        }
        if self.is_empty() {
            return Ok(Vec::new());
        }
        let found = self.entries.iter().map(|entry| {
            let spec = entry.spec;
            (spec, spec.flow.cc_in_kernel(), &entry.summary)
        });
        let tables = arrival_tables(found, end - Instant::START);
        Ok(tables.into_iter().chain(self.transfers.take()).collect())
    }
}

impl ConnectionEntry<'_> {
    /// The number of a pair of ports.
    fn pair(&self, listener: usize, own_port: u16) -> Option<usize> {
        let own = usize::from(own_port.checked_sub(FIRST_OWN_PORT)?);
        Some((listener - self.listeners.0) * OWN_PORTS + own)
    }

    /// Opens a connection from the next pair of ports that the kernel gives; with the number of its listener.
    fn connect(
        &mut self,
        id: u32,
        arrival: &Arrival,
        addresses: Addresses,
    ) -> io::Result<(Connection, usize)> {
        for _ in 0..self.pairs.len() {
            let pair = self.turn;
            self.turn = (self.turn + 1) % self.pairs.len();
            // Ports of one listener are taken in turn before those of the next.
            let (listener, own) = (self.listeners.0 + pair / OWN_PORTS, pair % OWN_PORTS);
            let sender = sockets::sending(&self.spec.flow)?;
            setsockopt(&sender, sockopt::ReuseAddr, &true)?;
            let own_port = FIRST_OWN_PORT + u16::try_from(own).map_err(io::Error::other)?;
            match bind(sender.as_raw_fd(), &sockets::at(addresses.sender, own_port)) {
                Err(Errno::EADDRINUSE) => continue,
                result => result?,
            }
            let source = source::transfer(arrival.bytes);
            let to = self.address(listener, addresses.receiver)?;
            let mut connection = Connection::of(source, arrival.at, sender, to);
            match connection.start() {
                Err(Errno::EADDRNOTAVAIL | Errno::EADDRINUSE) => continue,
                result => result?,
            }
            self.pairs[pair] = Some(id);
            return Ok((connection, listener));
        }
        Err(io::Error::other(format!(
            "flows `{}` arrive so fast that all {} pairs of ports are alive or in TIME-WAIT",
            self.spec.flow.name,
            self.pairs.len()
        )))
    }

    /// Where a listener is.
    fn address(&self, listener: usize, receiver: Ipv4Addr) -> io::Result<SockaddrIn> {
        let number = u16::try_from(listener - self.listeners.0).map_err(io::Error::other)?;
        Ok(sockets::at(receiver, self.first_port + number))
    }
}

/// At how many ports an entry's flows are received: with half as many pairs more than are expected to be taken.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a small number, or else there are no such ports"
)]
fn ports(spec: &ArrivingSpec) -> usize {
    let taken = spec.arrivals.expected(spec.arrivals.start + TIME_WAIT);
    1 + (1.5 * taken / OWN_PORTS as f64) as usize
}

impl ConnectionLimits {
    /// What there is now.
    fn find() -> io::Result<Self> {
        let (descriptors, _) = getrlimit(Resource::RLIMIT_NOFILE)?;
        let descriptors = usize::try_from(descriptors).unwrap_or(usize::MAX);
        let open = fs::read_dir("/proc/self/fd")?.count();
        Ok(Self {
            by_descriptors: descriptors.saturating_sub(open + SPARE_DESCRIPTORS) / 2,
            unseen: LOOK_AFTER,
        })
    }

    /// Whether one more than are `alive` can be held.
    fn check(&mut self, alive: usize, spec: &ArrivingSpec, arrival: &Arrival) -> io::Result<()> {
        let refusal = |what: &str, advice: &str| {
            io::Error::other(format!(
                "{alive} flows are alive when number {} of `{}` arrives at {:.3} s, and this kernel has {what}: {advice}, or let fewer arrive",
                arrival.number,
                spec.flow.name,
                arrival.at.secs(),
            ))
        };
        if alive >= self.by_descriptors {
            let what = format!("descriptors for {}", self.by_descriptors);
            return Err(refusal(&what, "raise the limit of open files"));
        }
        self.unseen += 1;
        if self.unseen > LOOK_AFTER {
            self.unseen = 0;
            let [total, left] = memory_kib()?;
            if left < total / MEMORY_SHARE + END_KIB * alive as u64 {
                let what = format!(
                    "{} of {} MiB of memory left for them",
                    left >> 10,
                    total >> 10
                );
                return Err(refusal(&what, "raise kernel.memory"));
            }
        }
        Ok(())
    }
}

/// Of the kernel's memory all, and what can still be had (Documentation/filesystems/proc.rst).
fn memory_kib() -> io::Result<[u64; 2]> {
    let text = fs::read_to_string("/proc/meminfo")?;
    let of = |name: &str| {
        let mut lines = text.lines().filter_map(|line| line.strip_prefix(name));
        let value = lines.next()?.trim().strip_suffix(" kB")?;
        value.parse().ok()
    };
    Ok([
        of("MemTotal:").unwrap_or(0),
        of("MemAvailable:").unwrap_or(u64::MAX),
    ])
}
