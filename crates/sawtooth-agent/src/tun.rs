//! A TUN device in a network namespace of its own: a host that has nothing but this one link.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::mem;
use std::net::{Ipv4Addr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::os::unix::fs::OpenOptionsExt;

use nix::sched::{CloneFlags, unshare};

/// An IPv4 packet has no more bytes.
const LONGEST: usize = 65_535;
const NAME: &[u8] = b"tun0";
/// Packets that wait for this program; far more than any window.
const QUEUE: i32 = 10_000;

/// A host: its link; its namespace lives as long as the link and the host's sockets.
#[derive(Debug)]
pub struct Host {
    device: File,
}

impl Host {
    /// A new host with `address`/24; the calling thread is in its namespace afterwards.
    pub fn new(address: Ipv4Addr, mtu: u32) -> io::Result<Self> {
        unshare(CloneFlags::CLONE_NEWNET)?;
        let device = OpenOptions::new()
            .read(true)
            .write(true)
            .custom_flags(libc::O_NONBLOCK)
            .open("/dev/net/tun")?;
        let mut request = request();
        request.ifr_ifru.ifru_flags = flags(libc::IFF_TUN | libc::IFF_NO_PI);
        ioctl(
            device.as_fd(),
            libc::TUNSETIFF as libc::c_ulong,
            &mut request,
        )?;
        // Any socket of this namespace takes requests about its devices.
        let socket = UdpSocket::bind("0.0.0.0:0")?;
        configure(socket.as_fd(), address, mtu)?;
        Ok(Self { device })
    }

    /// The next packet that the host has sent.
    pub fn receive(&self) -> io::Result<Option<Vec<u8>>> {
        let mut buffer = vec![0; LONGEST];
        match (&self.device).read(&mut buffer) {
            Ok(length) => {
                buffer.truncate(length);
                Ok(Some(buffer))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Hands a packet to the host.
    pub fn send(&self, packet: &[u8]) -> io::Result<()> {
        (&self.device).write_all(packet)
    }
}

impl AsFd for Host {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

fn configure(socket: BorrowedFd<'_>, address: Ipv4Addr, mtu: u32) -> io::Result<()> {
    let mut set = request();
    set.ifr_ifru.ifru_addr = inet(address);
    ioctl(socket, libc::SIOCSIFADDR, &mut set)?;
    set.ifr_ifru.ifru_netmask = inet(Ipv4Addr::new(255, 255, 255, 0));
    ioctl(socket, libc::SIOCSIFNETMASK, &mut set)?;
    set.ifr_ifru.ifru_mtu = mtu.cast_signed();
    ioctl(socket, libc::SIOCSIFMTU, &mut set)?;
    set.ifr_ifru.ifru_metric = QUEUE;
    // The kernel allows this to the real root only; elsewhere the device keeps its queue of 500 packets.
    match ioctl(socket, libc::SIOCSIFTXQLEN, &mut set) {
        Err(error) if error.kind() != io::ErrorKind::PermissionDenied => return Err(error),
        _ => {}
    }
    set.ifr_ifru.ifru_flags = flags(libc::IFF_UP);
    ioctl(socket, libc::SIOCSIFFLAGS, &mut set)
}

fn request() -> libc::ifreq {
    // SAFETY: all fields are plain numbers, for which zero is a value.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    for (to, from) in request.ifr_name.iter_mut().zip(NAME) {
        *to = from.cast_signed();
    }
    request
}

fn flags(bits: i32) -> i16 {
    i16::try_from(bits).expect("flags of 16 bits")
}

fn inet(address: Ipv4Addr) -> libc::sockaddr {
    // SAFETY: as above; both structures have the same size and start with the family.
    unsafe {
        let mut inet: libc::sockaddr_in = mem::zeroed();
        inet.sin_family = libc::sa_family_t::try_from(libc::AF_INET).expect("a small number");
        inet.sin_addr.s_addr = u32::from_ne_bytes(address.octets());
        mem::transmute(inet)
    }
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
