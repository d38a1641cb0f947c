//! What the network between the hosts does to packets, measured by itself: bursts of datagrams, and when each arrives.
//!
//! The first datagram of a burst tells the delay, the distance of the others the rate, and how many of them come through, if there are
//! enough, how many fit into the queue.

use std::io;
use std::net::{SocketAddrV4, UdpSocket};
use std::os::fd::AsFd;

use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::{TimeSpec, TimeValLike};
use sawtooth_core::Scenario;
use serde_json::{Value as Json, json};

use crate::clock::{Clock, ns};
use crate::experiment::{FIRST_PORT, flow_of};
use crate::hosts::Hosts;
use crate::network::{Network, Towards};
use crate::setup::{self, HostName};

/// A datagram's payload that makes a packet of 1000 bytes.
const PAYLOAD: usize = 1000 - 28;

/// Sends bursts of `bursts[..]` datagrams over the scenario's first path, each after the one before has passed, and returns for each
/// when it was sent and when each of its datagrams arrived.
pub fn run(scenario: &Scenario, bursts: &Json, seed: u64) -> io::Result<Json> {
    let mut hosts = Hosts::set_up(&setup::steps(scenario))?;
    let addresses = setup::addresses(scenario);
    let bind = |address, port| -> io::Result<UdpSocket> {
        let socket = UdpSocket::bind(SocketAddrV4::new(address, port))?;
        socket.set_nonblocking(true)?;
        Ok(socket)
    };
    hosts.enter(HostName::Receiver)?;
    let receiver = bind(addresses.receiver, FIRST_PORT)?;
    hosts.enter(HostName::Sender)?;
    let sender = bind(addresses.sender, 0)?;
    sender.connect(SocketAddrV4::new(addresses.receiver, FIRST_PORT))?;
    let mut tuns = std::mem::take(&mut hosts.tuns);
    let mut network = Network::new(scenario, seed);
    let clock = Clock::start()?;
    let mut rows = Vec::new();
    // Long enough for the delay and what the largest queue of the calibration holds.
    let settle = scenario.duration.secs();
    for size in bursts.as_array().into_iter().flatten() {
        let size = size.as_u64().unwrap_or(1);
        let sent = clock.now()?;
        let mut left = size;
        let mut arrivals: Vec<i64> = Vec::new();
        loop {
            let now = clock.now()?;
            if now > sent + settle {
                break;
            }
            while left > 0 && sender.send(&[0; PAYLOAD]).is_ok() {
                left -= 1;
                // One by one into the link's queue, so that no queue of the host's stands before it.
                carry(&mut tuns, &mut network, now)?;
            }
            carry(&mut tuns, &mut network, now)?;
            let mut buffer = [0; PAYLOAD];
            while receiver.recv(&mut buffer).is_ok() {
                arrivals.push(ns(clock.now()? - sent));
            }
            let next = network.next_time().min(sent + settle);
            let wait = TimeSpec::nanoseconds(ns(next - clock.now()?).max(0) + 1);
            let mut waits: Vec<PollFd<'_>> = tuns
                .iter()
                .map(|(_, tun)| PollFd::new(tun.as_fd(), PollFlags::POLLIN))
                .collect();
            waits.push(PollFd::new(receiver.as_fd(), PollFlags::POLLIN));
            if left > 0 {
                waits.push(PollFd::new(sender.as_fd(), PollFlags::POLLOUT));
            }
            ppoll(&mut waits, Some(wait), None)?;
        }
        rows.push(json!({"packets": size - left, "arrivals_ns": arrivals}));
    }
    Ok(json!({"bursts": rows, "packet_bytes": PAYLOAD + 28}))
}

/// Takes packets from the devices through the network and to the other device.
fn carry(
    tuns: &mut [(HostName, crate::tun::Tun)],
    network: &mut Network,
    now: f64,
) -> io::Result<()> {
    for (host, tun) in tuns.iter_mut() {
        let towards = match host {
            HostName::Receiver => Towards::Sender,
            _ => Towards::Receiver,
        };
        while let Some(packet) = tun.receive()? {
            if flow_of(&packet) == Some(0) {
                network.enter(now, 0, towards, packet);
            }
        }
    }
    while let Some((towards, _, packet)) = network.deliver(now) {
        let to = match towards {
            Towards::Receiver => HostName::Receiver,
            Towards::Sender => HostName::Sender,
        };
        for (host, tun) in tuns.iter() {
            if *host == to {
                tun.send(&packet)?;
            }
        }
    }
    Ok(())
}
