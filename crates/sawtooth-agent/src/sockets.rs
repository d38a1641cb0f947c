//! One flow over the agent's own sockets: the sender connects, writes what its source has, and closes after the last byte; the receiver
//! reads everything at once. Nothing here waits.
//!
//! The sender writes as applications do, in a blocking call or with `poll`: until the socket takes no more, and then not before the kernel
//! reports room (`POLLOUT`), which Linux does when a third of the buffer is free. Who tried again after each acknowledgement would end
//! a write, and ask for an immediate acknowledgement, with nearly every segment.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags};
use nix::sys::socket::{
    AddressFamily, Backlog, Shutdown, SockFlag, SockType, SockaddrIn, accept4, bind, connect,
    listen, setsockopt, shutdown, socket, sockopt,
};
use sawtooth_core::internals::source::{Source, Write};
use sawtooth_core::internals::spec::{given, source};
use sawtooth_core::internals::tcp::key;
use sawtooth_core::internals::tcp::params::WindowSetting;
use sawtooth_core::internals::tcp::partial::Partial;
use sawtooth_core::spec::FlowSpec;

use crate::ring::Call;
use crate::setup::segment_bytes;
use crate::socket_option;
use sawtooth_core::units::{ByteCount, Instant};

/// What one call reads or writes at most.
pub const CHUNK: usize = 1 << 16;
/// What is sent.
static CONTENT: [u8; CHUNK] = [0; CHUNK];

/// Both ends of a connection.
#[derive(Debug)]
pub struct Connection {
    /// What the application does, the write that comes next, and when the connection is opened.
    source: Box<dyn Source>,
    next_write: Option<Write>,
    start: Instant,
    /// Bytes that the application has had to write so far.
    due: u64,
    /// Bytes of all writes, once the last one is due.
    size: Option<u64>,
    to: SockaddrIn,
    /// Where its receiver comes from, if nobody else is to come from there.
    listener: Option<OwnedFd>,
    sender: OwnedFd,
    receiver: Option<OwnedFd>,
    pub started: bool,
    written: u64,
    pub delivered: u64,
    /// Time of the last byte so far.
    pub last_delivery: Instant,
}

/// A socket for a flow's data, while the calling thread is at the host that sends them.
pub fn sending(spec: &FlowSpec) -> io::Result<OwnedFd> {
    let socket = tcp(spec.cc_in_kernel())?;
    option(&socket, libc::TCP_MAXSEG, segment_bytes(spec))?;
    set_partial(spec, &socket)?;
    Ok(socket)
}

/// Sets the socket options that stand for the policy of partial segments (TCP_NODELAY, TCP_CORK).
pub fn set_partial(spec: &FlowSpec, socket: &OwnedFd) -> io::Result<()> {
    match given(spec, key::partial) {
        Some(Partial::NoDelay) => option(socket, libc::TCP_NODELAY, 1),
        Some(Partial::Cork) => option(socket, libc::TCP_CORK, 1),
        _ => Ok(()),
    }
}

/// The same at the other host.
pub fn receiving(spec: &FlowSpec) -> io::Result<OwnedFd> {
    let socket = tcp(&spec.receiver_cc)?;
    let smss = segment_bytes(spec);
    let window = match given(spec, key::window_limit).flatten() {
        Some(WindowSetting::Segments(segments)) => {
            segments.saturating_mul(ByteCount::new(smss)).get()
        }
        Some(WindowSetting::Bytes(bytes)) => bytes.get(),
        None => 0,
    };
    if window > 0 {
        option(&socket, libc::TCP_WINDOW_CLAMP, window)?;
    }
    option(&socket, libc::TCP_MAXSEG, smss)?;
    Ok(socket)
}

/// Has a socket take connections, of which so many may wait.
pub fn listen_at(
    socket: OwnedFd,
    address: Ipv4Addr,
    port: u16,
    backlog: Backlog,
) -> io::Result<OwnedFd> {
    bind(socket.as_raw_fd(), &at(address, port))?;
    listen(&socket, backlog)?;
    Ok(socket)
}

/// Opens a connection, without waiting for it.
pub fn open(socket: &OwnedFd, to: &SockaddrIn) -> Result<(), Errno> {
    match connect(socket.as_raw_fd(), to) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(()),
        Err(error) => Err(error),
    }
}

/// The next connection that has come, if any has.
pub fn accept(listener: &OwnedFd) -> io::Result<Option<OwnedFd>> {
    match accept4(listener.as_raw_fd(), SockFlag::SOCK_NONBLOCK) {
        // SAFETY: the descriptor is new and ours.
        Ok(socket) => Ok(Some(unsafe { OwnedFd::from_raw_fd(socket) })),
        Err(Errno::EAGAIN) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

pub fn at(address: Ipv4Addr, port: u16) -> SockaddrIn {
    SockaddrIn::from(SocketAddrV4::new(address, port))
}

/// What of so many bytes is to be written at once.
pub fn content(bytes: u64) -> &'static [u8] {
    &CONTENT[..usize::try_from(bytes).unwrap_or(CHUNK).min(CHUNK)]
}

impl Connection {
    /// The sending end, while the calling thread is at its host.
    pub fn new(spec: &FlowSpec, seed: u64, listener: OwnedFd, to: SockaddrIn) -> io::Result<Self> {
        let connection = Self::of(source(spec, seed), spec.start, sending(spec)?, to);
        Ok(Self {
            listener: Some(listener),
            ..connection
        })
    }

    /// That of a `source` which `sender` opens at a time; somebody else accepts it.
    pub fn of(
        mut source: Box<dyn Source>,
        start: Instant,
        sender: OwnedFd,
        to: SockaddrIn,
    ) -> Self {
        Self {
            next_write: source.next_write(),
            source,
            start,
            due: 0,
            size: None,
            to,
            listener: None,
            sender,
            receiver: None,
            started: false,
            written: 0,
            delivered: 0,
            last_delivery: Instant::START,
        }
    }

    pub fn start(&mut self) -> Result<(), Errno> {
        self.started = true;
        self.take_due(self.start);
        open(&self.sender, &self.to)
    }

    /// When the application writes next of its own accord.
    pub fn next_time(&self) -> Instant {
        match self.next_write {
            Some(write) if self.started => self.start + write.after,
            _ => Instant::NEVER,
        }
    }

    /// Takes note of what has to be written by now.
    fn take_due(&mut self, now: Instant) {
        while let Some(write) = self.next_write {
            if self.start + write.after > now {
                return;
            }
            self.due = self.due.saturating_add(write.bytes.get());
            self.next_write = self.source.next_write();
            if self.next_write.is_none() && write.bytes < Write::ENDLESS {
                self.size = Some(self.due);
            }
        }
    }

    /// It is time to write. What is due before and still to be written waits for room, and so does what comes after it.
    pub fn write_due(&mut self, now: Instant) -> io::Result<()> {
        let waits = self.wants_to_write();
        self.take_due(now);
        if waits { Ok(()) } else { self.write() }
    }

    pub fn sender(&self) -> &OwnedFd {
        &self.sender
    }

    /// Whether everything has arrived.
    pub fn is_done(&self) -> bool {
        self.size.is_some_and(|size| self.delivered >= size)
    }

    /// The receiver has been accepted.
    pub fn accepted(&mut self, receiver: OwnedFd) {
        self.receiver = Some(receiver);
    }

    /// Reads what has arrived.
    pub fn read(&mut self, now: Instant, room: &mut [u8]) -> io::Result<()> {
        if let Some(listener) = &self.listener
            && !self.is_accepted()
        {
            self.receiver = accept(listener)?;
        }
        while let Some(receiver) = &self.receiver {
            match nix::unistd::read(receiver, room) {
                Ok(0) => self.receiver = None,
                Ok(length) => {
                    self.delivered += length as u64;
                    self.last_delivery = now;
                    // After the last byte comes the end, perhaps in the same segment.
                    if length < CHUNK && !self.is_done() {
                        return Ok(());
                    }
                }
                Err(Errno::EAGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// Writes what there is room for: to be called when the kernel has reported some.
    pub fn write(&mut self) -> io::Result<()> {
        while self.wants_to_write() {
            match nix::unistd::write(&self.sender, self.next_content()) {
                Ok(length) => self.wrote(length)?,
                Err(Errno::EAGAIN | Errno::ENOTCONN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn next_content(&self) -> &'static [u8] {
        content(self.due - self.written)
    }

    fn wrote(&mut self, length: usize) -> io::Result<()> {
        self.written += length as u64;
        if self.size == Some(self.written) {
            shutdown(self.sender.as_raw_fd(), Shutdown::Write)?;
        }
        Ok(())
    }

    /// The system calls that `read` and `write` begin with, as far as they are `wanted`: none for what there is no socket yet, and two to
    /// write, as what the first leaves out the second may append to the last segment.
    pub fn calls<'a>(
        &'a self,
        wanted: [bool; 2],
        room: &'a mut [u8],
    ) -> (Option<Call<'a>>, Vec<Call<'a>>) {
        let writes = match (wanted[1] && self.wants_to_write(), self.ends_within(2)) {
            (false, _) => 0,
            (true, true) => 1,
            (true, false) => 2,
        };
        let content = self.next_content();
        let sender = self.sender.as_fd();
        let receiver = self.receiver.as_ref().filter(|_| wanted[0]);
        (
            receiver.map(|socket| Call::Receive(socket.as_fd(), room)),
            (0..writes).map(|_| Call::Send(sender, content)).collect(),
        )
    }

    /// Whether so many calls may write the last byte that is due.
    fn ends_within(&self, calls: u64) -> bool {
        self.due - self.written <= calls * CHUNK as u64
    }

    /// What `read` does after its first system call, with its result. The time may be left open while the connection is under way: only
    /// that of the last byte is looked at.
    pub fn go_on_reading(
        &mut self,
        first: Result<usize, Errno>,
        now: Option<Instant>,
        room: &mut [u8],
    ) -> io::Result<()> {
        match first {
            Ok(0) => self.receiver = None,
            Ok(length) => {
                self.delivered += length as u64;
                self.last_delivery = now.unwrap_or(self.last_delivery);
                if length == CHUNK || self.is_done() {
                    return self.read(self.last_delivery, room);
                }
            }
            Err(Errno::EAGAIN) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(())
    }

    /// What `write` does after one of its first system calls, or the last of them, with its result.
    pub fn go_on_writing(&mut self, result: Result<usize, Errno>, last: bool) -> io::Result<()> {
        match result {
            Ok(length) => {
                self.wrote(length)?;
                if last { self.write() } else { Ok(()) }
            }
            Err(Errno::EAGAIN | Errno::ENOTCONN) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether the call of `calls` is all that the receiver can have to do now: the end of the data is not near.
    pub fn is_under_way(&self) -> bool {
        let arriving = |size| size - self.delivered > CHUNK as u64;
        self.receiver.is_some() && self.size.is_none_or(arriving)
    }

    /// Whether it has accepted its connection, or needs to no more.
    pub fn is_accepted(&self) -> bool {
        self.receiver.is_some() || self.is_done()
    }

    /// Whether something is due: after a write what there was no room for.
    fn wants_to_write(&self) -> bool {
        self.started && self.written < self.due
    }

    /// What to wait for.
    pub fn waits<'a>(&'a self, waits: &mut Vec<PollFd<'a>>) {
        if self.wants_to_write() {
            waits.push(PollFd::new(self.sender.as_fd(), PollFlags::POLLOUT));
        }
        if self.started && (self.receiver.is_some() || !self.is_done()) {
            let receiver = self.receiver.as_ref().or(self.listener.as_ref());
            waits.extend(receiver.map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN)));
        }
    }
}

/// A socket with a congestion control, which accepted sockets inherit.
fn tcp(cc: &str) -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    let socket = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
    setsockopt(&socket, sockopt::TcpCongestion, &cc.into()).map_err(|error| {
        io::Error::other(format!(
            "this kernel has no congestion control `{cc}` ({error})"
        ))
    })?;
    Ok(socket)
}

fn option(socket: &OwnedFd, name: i32, value: u64) -> io::Result<()> {
    let value = i32::try_from(value).unwrap_or(i32::MAX);
    socket_option::set(socket, libc::IPPROTO_TCP, name, &value)
}
