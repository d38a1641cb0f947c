//! A TUN device: the packets of a host that has nothing but this one link.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::mem;
use std::net::UdpSocket;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

/// Packets that wait for this program; far more than any window.
const QUEUE: i32 = 10_000;

#[derive(Debug)]
pub struct Tun {
    device: File,
    /// No packet that the host sends is longer.
    pub mtu: usize,
    buffer: Vec<u8>,
}

impl Tun {
    /// A new device in the network namespace of the calling thread.
    pub fn new(name: &str, mtu: u32) -> io::Result<Self> {
        let device = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")
            .map_err(|error| io::Error::other(format!("/dev/net/tun: {error}")))?;
        let mut request = request(name);
        request.ifr_ifru.ifru_flags = flags(libc::IFF_TUN | libc::IFF_NO_PI);
        ioctl(
            device.as_fd(),
            libc::TUNSETIFF as libc::c_ulong,
            &mut request,
        )?;
        // Any socket of this namespace takes requests about its devices.
        let socket = UdpSocket::bind("0.0.0.0:0")?;
        request.ifr_ifru.ifru_mtu = mtu.cast_signed();
        ioctl(socket.as_fd(), libc::SIOCSIFMTU, &mut request)?;
        request.ifr_ifru.ifru_metric = QUEUE;
        // The kernel allows this to the real root only; elsewhere the device keeps its queue of 500 packets.
        match ioctl(socket.as_fd(), libc::SIOCSIFTXQLEN, &mut request) {
            Err(error) if error.kind() != io::ErrorKind::PermissionDenied => Err(error),
            _ => Ok(Self {
                device,
                mtu: usize::try_from(mtu).map_err(io::Error::other)?,
                buffer: vec![0; usize::try_from(mtu).map_err(io::Error::other)?],
            }),
        }
    }

    /// The next packet that the host has sent.
    pub fn receive(&mut self) -> io::Result<Option<Vec<u8>>> {
        match (&self.device).read(&mut self.buffer) {
            Ok(length) => Ok(Some(self.buffer[..length].to_vec())),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands a packet to the host.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        (&self.device).write_all(packet)
    }
}

impl AsFd for Tun {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

/// A request about the device of a name.
pub fn request(name: &str) -> libc::ifreq {
    // SAFETY: all fields are numbers and pointers, for which zero is a value.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    // The last byte stays zero.
    let room = request.ifr_name.len() - 1;
    for (to, from) in request.ifr_name[..room].iter_mut().zip(name.as_bytes()) {
        *to = from.cast_signed();
    }
    request
}

fn flags(bits: i32) -> i16 {
    i16::try_from(bits).expect("flags of 16 bits")
}

fn ioctl(file: BorrowedFd<'_>, number: libc::c_ulong, request: &mut libc::ifreq) -> io::Result<()> {
    // SAFETY: these requests read and write one ifreq.
    let result = unsafe { libc::ioctl(file.as_raw_fd(), number, request) };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}
