//! What the network between the hosts does to packets, measured by itself: bursts of datagrams, and when each arrives.
//!
//! The first datagram of a burst gives the delay, the distance of the others the rate, and the number of those that come through, if there are
//! enough, how many fit into the queue.
//!
//! A datagram makes the longest packet that the devices take: what a token bucket has saved up for less would let more of them pass.
//! Times of arrival are the kernel's own, taken where the packet reaches the host: when this program gets to see it is no property of the
//! network. A burst enters as fast as the program can send it, which is in no time where the clock is virtual; how long that took is reported.

use std::io::{self, IoSliceMut};
use std::net::{SocketAddrV4, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{ControlMessageOwned, MsgFlags, recvmsg, setsockopt, sockopt};
use nix::sys::time::{TimeSpec, TimeValLike};
use nix::sys::timerfd::{
    ClockId as TimerClock, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags,
};
use nix::time::{ClockId, clock_gettime};
use sawtooth_core::Scenario;
use sawtooth_core::units::{Duration, Instant};
use serde_json::{Value as Json, json};

use crate::clock::ElapsedClock;
use crate::experiment::{FIRST_PORT, flow_of};
use crate::hosts::HostNamespaces;
use crate::network::{IpNetwork, IpPacket, host_at_end, towards_other};
use crate::setup::{self, HostName};
use crate::tun::Tun;

/// Headers of IPv4 and UDP.
const HEADERS: usize = 28;

/// Sends bursts of `bursts[..]` datagrams over the scenario's first path, each the scenario's duration after the one before, and returns
/// for each when its datagrams arrived and when the last of them had been sent, in nanoseconds since its beginning.
pub fn run(scenario: &Scenario, bursts: &Json, seed: u64) -> io::Result<Json> {
    let mut bench = CalibrationBench::set_up(scenario, seed)?;
    let sizes = bursts.as_array().into_iter().flatten();
    let rows: io::Result<Vec<Json>> = sizes
        .map(|size| bench.burst(size.as_u64().unwrap_or(1), scenario.duration))
        .collect();
    Ok(json!({"bursts": rows?, "packet_bytes": bench.datagram.len() + HEADERS}))
}

struct CalibrationBench {
    _hosts: HostNamespaces,
    tuns: Vec<(HostName, Tun)>,
    network: IpNetwork,
    sender: UdpSocket,
    receiver: UdpSocket,
    datagram: Vec<u8>,
    clock: ElapsedClock,
    /// A poll's own timeout may come late by a thousandth of it.
    timer: TimerFd,
}

impl CalibrationBench {
    fn set_up(scenario: &Scenario, seed: u64) -> io::Result<Self> {
        let mut hosts = HostNamespaces::set_up(&setup::steps(scenario))?;
        let addresses = setup::addresses(scenario);
        let bind = |address, port| -> io::Result<UdpSocket> {
            let socket = UdpSocket::bind(SocketAddrV4::new(address, port))?;
            socket.set_nonblocking(true)?;
            Ok(socket)
        };
        hosts.enter(HostName::Receiver)?;
        let receiver = bind(addresses.receiver, FIRST_PORT)?;
        setsockopt(&receiver, sockopt::ReceiveTimestampns, &true)?;
        hosts.enter(HostName::Sender)?;
        let sender = bind(addresses.sender, 0)?;
        sender.connect(SocketAddrV4::new(addresses.receiver, FIRST_PORT))?;
        let datagram = usize::try_from(setup::mtu(scenario)).unwrap_or(HEADERS) - HEADERS;
        Ok(Self {
            tuns: std::mem::take(&mut hosts.tuns),
            _hosts: hosts,
            network: IpNetwork::new(scenario, seed),
            sender,
            receiver,
            datagram: vec![0; datagram],
            clock: ElapsedClock::start()?,
            timer: TimerFd::new(TimerClock::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK)?,
        })
    }

    /// One burst, and all that happens within `settle` seconds.
    fn burst(&mut self, size: u64, settle: Duration) -> io::Result<Json> {
        let end = self.clock.now()? + settle;
        let begin = time_of_day()?;
        let mut entered = begin;
        let mut left = size;
        let mut arrivals: Vec<i64> = Vec::new();
        while self.clock.now()? <= end {
            while left > 0 && self.send()? {
                left -= 1;
                // One by one into the link's queue, so that no queue of the host's stands before it ...
                self.carry()?;
                // ... and none behind it, if they arrive while others are still being sent.
                self.receive(&mut arrivals)?;
                entered = time_of_day()?;
            }
            self.carry()?;
            self.receive(&mut arrivals)?;
            self.wait(left > 0, self.network.next_time().min(end))?;
        }
        let arrivals: Vec<i64> = arrivals.iter().map(|time| time - begin).collect();
        Ok(json!({"packets": size - left, "entered_ns": entered - begin, "arrivals_ns": arrivals}))
    }

    /// Whether there was room for a datagram.
    fn send(&self) -> io::Result<bool> {
        match self.sender.send(&self.datagram) {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(false),
            // A device's own queue is full: the packet is lost on the way to the link, as it would be for TCP.
            Err(error) if error.raw_os_error() == Some(libc::ENOBUFS) => Ok(true),
            Err(error) => Err(error),
        }
    }

    /// Takes the times of the datagrams that have arrived.
    fn receive(&mut self, arrivals: &mut Vec<i64>) -> io::Result<()> {
        let mut space = nix::cmsg_space!(TimeSpec);
        loop {
            let mut into = [IoSliceMut::new(&mut self.datagram)];
            let flags = MsgFlags::MSG_DONTWAIT;
            let message = recvmsg::<()>(
                self.receiver.as_raw_fd(),
                &mut into,
                Some(&mut space),
                flags,
            );
            match message {
                Ok(message) => {
                    let times = message.cmsgs()?.filter_map(|control| match control {
                        ControlMessageOwned::ScmTimestampns(time) => Some(time.num_nanoseconds()),
                        _ => None,
                    });
                    arrivals.extend(times);
                }
                Err(Errno::EAGAIN) => return Ok(()),
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Takes packets from the devices through the network and to the other device.
    ///
    /// As in an experiment, a packet enters the network when it has been read.
    fn carry(&mut self) -> io::Result<()> {
        for (host, tun) in &mut self.tuns {
            let towards = towards_other(*host);
            while let Some(packet) = tun.receive()? {
                if flow_of(&packet).is_some_and(|(flow, _)| flow == 0) {
                    let now = self.clock.now()?;
                    self.network.offer(now, 0, 0, towards, IpPacket(packet));
                }
            }
        }
        while let Some(delivery) = (self.network).advance(self.clock.now()?) {
            for (host, tun) in &self.tuns {
                if *host == host_at_end(delivery.towards) {
                    tun.send(&delivery.packet.0)?;
                }
            }
        }
        Ok(())
    }

    /// Until `next`, or until there is something to take or room for more.
    fn wait(&self, more: bool, next: Instant) -> io::Result<()> {
        let tuns = self.tuns.iter().map(|(_, tun)| tun.as_fd());
        let mut waits: Vec<PollFd<'_>> = tuns
            .chain([self.receiver.as_fd(), self.timer.as_fd()])
            .map(|file| PollFd::new(file, PollFlags::POLLIN))
            .collect();
        if more {
            waits.push(PollFd::new(self.sender.as_fd(), PollFlags::POLLOUT));
        }
        let alarm = TimeSpec::nanoseconds(self.clock.monotonic_ns(next));
        self.timer.set(
            Expiration::OneShot(alarm),
            TimerSetTimeFlags::TFD_TIMER_ABSTIME,
        )?;
        match ppoll(&mut waits, None, None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The clock that the kernel stamps packets with, in nanoseconds.
fn time_of_day() -> io::Result<i64> {
    Ok(clock_gettime(ClockId::CLOCK_REALTIME)?.num_nanoseconds())
}
