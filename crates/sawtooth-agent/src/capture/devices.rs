//! Packets that the kernel itself carries between hosts (`shaper = "kernel"`), heard at its devices by packet sockets (packet(7)).
//!
//! A socket is told of a packet when a device begins to send it, after all queues, and when one has received it. The near end of the link is the router whose token bucket sends; what goes the way of the link
//! has arrived when the host at its end has it, as that is behind netem's delay. Times are the kernel's, of each packet. What is left to devices is done, as nothing does it here.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::sys::socket::{AddressFamily, SockFlag, SockProtocol, SockType, socket};
use sawtooth_capture::write::pcapng::PacketWay;
use sawtooth_core::Scenario;
use sawtooth_core::internals::sim::TapPoint;
use sawtooth_core::units::{Duration, Instant};

use super::UnseenPackets;
use super::offload::LeftToDevice;
use super::packet_ring::{self, PacketRing};
use crate::clock::{ElapsedClock, time_of_day};
use crate::hosts::HostNamespaces;
use crate::setup::{self, Device, ETHERNET, HostName};

/// Packets that there is room for until this program wakes; a receiver wakes it with every segment. Segments that are handed down together take more room.
const PACKETS: usize = 2048;
const PACKETS_OF_SEGMENTS: usize = 128;
const LONGEST_OF_SEGMENTS: usize = 1 << 16;
/// A packet is at a socket a moment after its time.
const SETTLED: Duration = Duration::from_secs(0.001);

/// Where things are in a frame, in bytes: `struct tpacket2_hdr`, and `struct sockaddr_ll` behind it (linux/if_packet.h; packet(7)).
mod frame {
    pub const CAPTURED: usize = 8;
    pub const PACKET: usize = 12;
    pub const SECONDS: usize = 16;
    pub const NANOSECONDS: usize = 20;
    pub const DEVICE: usize = 36;
    pub const KIND: usize = 42;
}

/// The sockets of a run.
#[derive(Debug)]
pub struct DeviceEars {
    ears: Vec<DeviceEar>,
    clock: ElapsedClock,
    /// The time of day when the run began, in nanoseconds: that is the time which packets have.
    begin: i64,
}

/// The socket at one device.
#[derive(Debug)]
struct DeviceEar {
    device: Device,
    index: u32,
    socket: OwnedFd,
    ring: PacketRing,
}

/// A packet of IPv4 that has passed the device of a host or router.
#[derive(Debug)]
pub struct HeardPacket {
    pub time: Instant,
    pub host: HostName,
    pub way: PacketWay,
    pub packet: Vec<u8>,
}

/// What has passed a device at once: a packet, or segments that were handed down together.
#[derive(Debug)]
struct PassedPackets {
    /// The time of day, in nanoseconds.
    day_ns: i64,
    way: PacketWay,
    packets: Vec<Vec<u8>>,
}

impl DeviceEars {
    /// Listens from now on to all that these points see.
    pub fn open(
        points: &[TapPoint],
        scenario: &Scenario,
        hosts: &HostNamespaces,
        clock: ElapsedClock,
    ) -> io::Result<Self> {
        let (longest, packets) = if scenario.kernel.settings.flag("gso") {
            (LONGEST_OF_SEGMENTS, PACKETS_OF_SEGMENTS)
        } else {
            (setup::mtu(scenario) as usize, PACKETS)
        };
        let mut ears = Vec::new();
        for device in setup::capture_devices() {
            if points.iter().any(|point| sees(*point, device.host)) {
                hosts.enter(device.host)?;
                ears.push(DeviceEar::open(device, longest, packets)?);
            }
        }
        Ok(Self {
            ears,
            clock,
            begin: time_of_day(clock)?,
        })
    }

    /// All that has been heard by now, and until when nothing earlier is heard any more.
    pub fn listen(&mut self) -> io::Result<(Vec<HeardPacket>, Instant)> {
        let asked = self.clock.now()?;
        let mut heard = Vec::new();
        for ear in &mut self.ears {
            for passed in ear.receive() {
                #[expect(clippy::cast_precision_loss, reason = "nanoseconds of a run")]
                let time = Instant::from_secs((passed.day_ns - self.begin) as f64 * 1e-9);
                heard.extend(passed.packets.into_iter().map(|packet| HeardPacket {
                    time: time.max(Instant::START),
                    host: ear.device.host,
                    way: passed.way,
                    packet,
                }));
            }
        }
        let settled = Instant::from_secs(asked.secs() - SETTLED.secs());
        Ok((heard, settled))
    }

    /// Packets that sockets had no room for.
    pub fn unheard(&self) -> io::Result<UnseenPackets> {
        let mut unseen = UnseenPackets::default();
        for ear in &self.ears {
            let lost = ear.lost()?;
            match ear.device.host {
                HostName::Sender => {
                    unseen.sender += lost;
                    unseen.near += lost;
                }
                HostName::Receiver => {
                    unseen.receiver += lost;
                    unseen.far += lost;
                }
                HostName::Left => unseen.near += lost,
                HostName::Right => unseen.far += lost,
            }
        }
        Ok(unseen)
    }
}

/// Whether what passes the device of a host, or of a router towards the other, is seen at a point.
fn sees(point: TapPoint, host: HostName) -> bool {
    match point {
        TapPoint::Sender => host == HostName::Sender,
        TapPoint::Receiver => host == HostName::Receiver,
        TapPoint::Near(_) => matches!(host, HostName::Sender | HostName::Left),
        TapPoint::Far(_) => matches!(host, HostName::Receiver | HostName::Right),
    }
}

impl DeviceEar {
    /// A socket in the network namespace of the calling thread, with room for packets of a length, and of a number.
    fn open(device: Device, longest: usize, packets: usize) -> io::Result<Self> {
        let told = |error: io::Error| {
            let what = "packets cannot be captured at a device: this kernel's packet sockets";
            io::Error::other(format!("{what}: {error}"))
        };
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let kind = (AddressFamily::Packet, SockType::Raw);
        let socket = socket(kind.0, kind.1, flags, SockProtocol::EthAll);
        let socket = socket.map_err(|error| told(error.into()))?;
        let on: libc::c_int = 1;
        packet_ring::set(&socket, libc::PACKET_VNET_HDR, &on).map_err(told)?;
        let ring = PacketRing::new(&socket, longest, packets).map_err(told)?;
        let index = crate::hosts::index(device)?;
        Ok(Self {
            device,
            index,
            socket,
            ring,
        })
    }

    /// All that has passed since this was asked last.
    fn receive(&mut self) -> Vec<PassedPackets> {
        let (host, index) = (self.device.host, self.index);
        let mut all = Vec::new();
        while let Some(found) = self.ring.next(|frame| passed(frame, host, index)) {
            all.extend(found);
        }
        all
    }

    /// Packets that there was no room for, since this was asked last.
    fn lost(&self) -> io::Result<u64> {
        let mut told = libc::tpacket_stats {
            tp_packets: 0,
            tp_drops: 0,
        };
        let mut length = libc::socklen_t::try_from(size_of_val(&told)).expect("eight");
        // SAFETY: the kernel writes no more than it is told the length of.
        let result = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut told).cast(),
                &raw mut length,
            )
        };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(told.tp_drops.into())
    }
}

/// What a frame says, if it is of the device with this number and is seen there: of routers what they send, as what they get comes from who has sent it.
fn passed(frame: &[u8], host: HostName, index: u32) -> Option<PassedPackets> {
    let number = |at: usize| {
        let bytes = frame.get(at..at + 4)?.try_into().ok()?;
        Some(u32::from_ne_bytes(bytes))
    };
    let way = match *frame.get(frame::KIND)? {
        libc::PACKET_OUTGOING => PacketWay::Outbound,
        _ => PacketWay::Inbound,
    };
    let router = matches!(host, HostName::Left | HostName::Right);
    if number(frame::DEVICE)? != index || (router && way == PacketWay::Inbound) {
        return None;
    }
    let start: [u8; 2] = (frame.get(frame::PACKET..frame::PACKET + 2)?.try_into()).ok()?;
    let start = usize::from(u16::from_ne_bytes(start));
    let end = start + number(frame::CAPTURED)? as usize;
    let left = LeftToDevice::read(frame.get(start.checked_sub(LeftToDevice::LENGTH)?..start)?);
    let packet = frame.get(start + ETHERNET as usize..end)?;
    let seconds = i64::from(number(frame::SECONDS)?);
    Some(PassedPackets {
        day_ns: seconds * 1_000_000_000 + i64::from(number(frame::NANOSECONDS)?),
        way,
        packets: left.done(packet),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A frame of a packet of four bytes with these fields.
    fn frame(device: u32, kind: u8) -> Vec<u8> {
        let mut frame = vec![0; 128];
        let mut put =
            |at: usize, value: u32| frame[at..at + 4].copy_from_slice(&value.to_ne_bytes());
        put(frame::CAPTURED, ETHERNET + 4);
        put(frame::PACKET, 76);
        put(frame::SECONDS, 2_000_000_000);
        put(frame::NANOSECONDS, 17);
        put(frame::DEVICE, device);
        frame[frame::KIND] = kind;
        frame[90..94].copy_from_slice(&[0x45, 1, 2, 3]);
        frame
    }

    #[test]
    fn hosts_hear_both_ways_and_routers_what_they_send() {
        let sent = passed(&frame(3, libc::PACKET_OUTGOING), HostName::Left, 3);
        let sent = sent.expect("what a router sends");
        assert_eq!(
            (sent.day_ns, sent.way),
            (2_000_000_000_000_000_017, PacketWay::Outbound)
        );
        assert_eq!(sent.packets, [[0x45, 1, 2, 3]]);
        assert!(passed(&frame(3, libc::PACKET_HOST), HostName::Left, 3).is_none());
        assert!(passed(&frame(3, libc::PACKET_HOST), HostName::Sender, 2).is_none());
        let got = passed(&frame(2, libc::PACKET_HOST), HostName::Receiver, 2);
        assert_eq!(got.map(|got| got.way), Some(PacketWay::Inbound));
    }

    #[test]
    fn ends_of_the_link_see_what_their_routers_send_and_what_hosts_get() {
        use HostName::{Left, Receiver, Right, Sender};
        let hosts = [Sender, Receiver, Left, Right];
        let seen = |point| hosts.map(|host| sees(point, host));
        assert_eq!(seen(TapPoint::Near(0)), [true, false, true, false]);
        assert_eq!(seen(TapPoint::Far(0)), [false, true, false, true]);
        assert_eq!(seen(TapPoint::Sender), [true, false, false, false]);
    }
}
