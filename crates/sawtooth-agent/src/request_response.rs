//! One flow of requests and responses over the agent's own sockets: the client, at the flow's receiver, connects and asks; the server, at its
//! sender, answers. What is written when is the core's to say ([`Exchanges`]). Nothing here waits.
//!
//! Each side writes as those of one way do (see [`sockets`]): until the socket takes no more, and then when the kernel reports room.

use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::socket::{Shutdown, SockaddrIn, shutdown};
use sawtooth_core::internals::exchanges::{Exchanges, Message};
use sawtooth_core::spec::FlowSpec;
use sawtooth_core::units::{ByteCount, Instant};

use crate::sockets::{self, content, receiving};

/// Both sides of a connection of requests and responses.
#[derive(Debug)]
pub struct RequestResponseSockets {
    pub exchanges: Exchanges,
    to: SockaddrIn,
    listener: OwnedFd,
    pub started: bool,
    client: ConnectionSide,
    server: ConnectionSide,
    spec: FlowSpec,
    /// Time of the last byte of a response so far.
    pub last_delivery: Instant,
}

/// One of them.
#[derive(Debug, Default)]
struct ConnectionSide {
    socket: Option<OwnedFd>,
    /// What it writes next, and when.
    next: Option<(Instant, Message)>,
    /// Bytes that it has had to write, and has written.
    due: u64,
    written: u64,
    /// Whether it closes when it has written what is due.
    closes: bool,
    /// Bytes that it has read, and whether there will be no more.
    read_bytes: u64,
    has_read_all: bool,
}

impl RequestResponseSockets {
    /// That of a flow whose source has `exchanges`, while the calling thread is at the flow's receiver; `listener` is at its sender.
    pub fn new(
        spec: &FlowSpec,
        exchanges: Exchanges,
        listener: OwnedFd,
        to: SockaddrIn,
    ) -> io::Result<Self> {
        let socket = receiving(spec)?;
        sockets::set_partial(spec, &socket)?;
        Ok(Self {
            exchanges,
            to,
            listener,
            started: false,
            client: ConnectionSide {
                socket: Some(socket),
                ..ConnectionSide::default()
            },
            server: ConnectionSide::default(),
            spec: spec.clone(),
            last_delivery: Instant::START,
        })
    }

    /// The client opens the connection, and asks.
    pub fn start(&mut self, now: Instant) -> io::Result<()> {
        self.started = true;
        if let Some(socket) = &self.client.socket {
            sockets::open(socket, &self.to)?;
        }
        self.client.schedule(now, Some(self.exchanges.first()))
    }

    /// The socket that sends responses, once there is one.
    pub fn sender(&self) -> Option<&OwnedFd> {
        self.server.socket.as_ref()
    }

    /// Bytes of responses that have arrived.
    pub fn delivered(&self) -> u64 {
        self.client.read_bytes
    }

    /// When one side writes next without anything having arrived.
    pub fn next_time(&self) -> Instant {
        self.client.next_time().min(self.server.next_time())
    }

    /// Writes what is due.
    pub fn write_due(&mut self, now: Instant) -> io::Result<()> {
        self.client.write_due(now)?;
        self.server.write_due(now)
    }

    /// Reads what has arrived at either side, and has it answered.
    pub fn read(&mut self, now: Instant, room: &mut [u8]) -> io::Result<()> {
        if self.server.socket.is_none() && self.started {
            self.server.socket = sockets::accept(&self.listener)?;
            if let Some(socket) = &self.server.socket {
                sockets::set_partial(&self.spec, socket)?;
            }
        }
        if self.server.read(room)? {
            let delivered = ByteCount::new(self.server.read_bytes);
            let response = self.exchanges.at_server(delivered);
            self.server.schedule(now, response)?;
        }
        if self.client.read(room)? {
            self.last_delivery = now;
            let delivered = ByteCount::new(self.client.read_bytes);
            let request = (self.exchanges).at_client(now, delivered);
            self.client.schedule(now, request)?;
        }
        Ok(())
    }

    /// Writes what there is room for: to be called when the kernel has reported some. Only one side has anything to write at a time.
    pub fn write(&mut self) -> io::Result<()> {
        self.client.write()?;
        self.server.write()
    }

    /// What to wait for.
    pub fn waits<'a>(&'a self, waits: &mut Vec<PollFd<'a>>) {
        if !self.started {
            return;
        }
        if self.server.socket.is_none() {
            waits.push(PollFd::new(self.listener.as_fd(), PollFlags::POLLIN));
        }
        for side in [&self.client, &self.server] {
            let Some(socket) = &side.socket else { continue };
            if !side.has_read_all {
                waits.push(PollFd::new(socket.as_fd(), PollFlags::POLLIN));
            }
            if side.wants_to_write() {
                waits.push(PollFd::new(socket.as_fd(), PollFlags::POLLOUT));
            }
        }
    }
}

impl ConnectionSide {
    fn next_time(&self) -> Instant {
        self.next.map_or(Instant::NEVER, |(time, _)| time)
    }

    fn schedule(&mut self, now: Instant, message: Option<Message>) -> io::Result<()> {
        if let Some(message) = message {
            self.next = Some((now + message.after, message));
        }
        self.write_due(now)
    }

    fn write_due(&mut self, now: Instant) -> io::Result<()> {
        let Some((time, message)) = self.next.take_if(|(time, _)| *time <= now) else {
            return Ok(());
        };
        let (piece, rest) = message.piece();
        self.due += piece.get();
        self.next = rest.map(|rest| (time + rest.after, rest));
        self.closes = message.last && rest.is_none();
        self.write()?;
        self.close_if_done()
    }

    fn wants_to_write(&self) -> bool {
        self.written < self.due
    }

    fn write(&mut self) -> io::Result<()> {
        while let Some(socket) = &self.socket
            && self.wants_to_write()
        {
            match nix::unistd::write(socket, content(self.due - self.written)) {
                Ok(length) => self.written += length as u64,
                Err(Errno::EAGAIN | Errno::ENOTCONN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
            self.close_if_done()?;
        }
        Ok(())
    }

    fn close_if_done(&mut self) -> io::Result<()> {
        if let Some(socket) = &self.socket
            && self.closes
            && !self.wants_to_write()
        {
            self.closes = false;
            shutdown(socket.as_raw_fd(), Shutdown::Write)?;
        }
        Ok(())
    }

    /// Whether there was anything to read.
    fn read(&mut self, room: &mut [u8]) -> io::Result<bool> {
        let before = self.read_bytes;
        while let Some(socket) = &self.socket
            && !self.has_read_all
        {
            match nix::unistd::read(socket, room) {
                Ok(0) => self.has_read_all = true,
                Ok(length) => self.read_bytes += length as u64,
                Err(Errno::EAGAIN | Errno::ENOTCONN) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(self.read_bytes > before)
    }
}
