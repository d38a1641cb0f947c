//! One scenario on this kernel: two hosts, the network between them, and a connection for every flow.

use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrIn, accept4, bind, connect, listen,
    setsockopt, socket, sockopt,
};
use nix::sys::time::{TimeSpec, TimeValLike};
use nix::time::{ClockId, clock_gettime};
use sawtooth_core::Scenario;
use sawtooth_core::registry::Value;
use sawtooth_core::units::{Duration, mean_rate_bps};
use serde_json::{Value as Json, json};

use crate::network::{Network, Towards};
use crate::tcp_info::TcpInfo;
use crate::tun::Host;

const SENDER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);
/// Port of the first flow's receiver; the next flow's is the next one.
const FIRST_PORT: u16 = 20_000;
const CHUNK: usize = 1 << 16;

/// One flow: its two ends, and what is known of it.
#[derive(Debug)]
struct Flow {
    start: f64,
    /// Bytes to send; nothing for an endless transfer.
    size: Option<u64>,
    cc: String,
    listener: OwnedFd,
    sender: OwnedFd,
    receiver: Option<OwnedFd>,
    started: bool,
    written: u64,
    delivered: u64,
    last_delivery: f64,
}

/// Runs `scenario`; returns its tables, each a list of rows. What a kernel does not tell is left out.
pub fn run(scenario: &Scenario) -> io::Result<Json> {
    let smss = scenario
        .flows
        .iter()
        .map(|flow| bytes(flow.tcp.get("smss")))
        .max()
        .unwrap_or(1460);
    let mtu = smss + 40;
    // The hosts' sockets are made while this thread is at the host.
    let receiver_host = Host::new(RECEIVER, mtu)?;
    let listeners: Vec<OwnedFd> = (0..scenario.flows.len())
        .map(|flow| listener(flow, scenario.flows[flow].tcp.get("window_limit"), smss))
        .collect::<io::Result<_>>()?;
    let sender_host = Host::new(SENDER, mtu)?;
    let mut flows = Vec::new();
    for (spec, listener) in scenario.flows.iter().zip(listeners) {
        let cc = spec.kernel_cc.as_deref().unwrap_or(spec.cc.name);
        flows.push(Flow {
            start: spec.start.secs(),
            size: match spec.source.params.get("size") {
                Value::Bytes(size) => Some(size),
                _ => None,
            },
            cc: cc.to_owned(),
            listener,
            sender: sender(cc)?,
            receiver: None,
            started: false,
            written: 0,
            delivered: 0,
            last_delivery: 0.0,
        });
    }
    let mut experiment = Experiment {
        network: Network::new(scenario),
        names: scenario
            .flows
            .iter()
            .map(|flow| flow.name.clone())
            .collect(),
        hosts: [receiver_host, sender_host],
        flows,
        begin: monotonic()?,
        end: scenario.duration.secs(),
        every: scenario.sample.map(Duration::secs),
        series: Vec::new(),
        samples: 0,
    };
    experiment.go()?;
    experiment.tables(scenario)
}

fn bytes(value: Value) -> u32 {
    match value {
        Value::Bytes(bytes) => u32::try_from(bytes).unwrap_or(u32::MAX),
        _ => 1460,
    }
}

fn listener(flow: usize, window: Value, smss: u32) -> io::Result<OwnedFd> {
    let socket = tcp()?;
    let clamp = match window {
        Value::Packets(packets) => packets.saturating_mul(u64::from(smss)),
        Value::Bytes(bytes) => bytes,
        _ => 0,
    };
    if clamp > 0 {
        option(
            &socket,
            libc::TCP_WINDOW_CLAMP,
            i32::try_from(clamp).unwrap_or(i32::MAX),
        )?;
    }
    bind(socket.as_raw_fd(), &address(flow))?;
    listen(&socket, Backlog::new(1)?)?;
    Ok(socket)
}

fn sender(cc: &str) -> io::Result<OwnedFd> {
    let socket = tcp()?;
    setsockopt(&socket, sockopt::TcpCongestion, &cc.into()).map_err(|error| {
        io::Error::other(format!(
            "this kernel has no congestion control `{cc}` ({error})"
        ))
    })?;
    Ok(socket)
}

fn tcp() -> io::Result<OwnedFd> {
    let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
    Ok(socket(AddressFamily::Inet, SockType::Stream, flags, None)?)
}

fn option(socket: &OwnedFd, name: i32, value: i32) -> io::Result<()> {
    let length = libc::socklen_t::try_from(size_of::<i32>()).expect("four");
    // SAFETY: the option's value is the integer that is pointed to.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            name,
            (&raw const value).cast(),
            length,
        )
    };
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

fn address(flow: usize) -> SockaddrIn {
    let port = FIRST_PORT + u16::try_from(flow).unwrap_or(u16::MAX - FIRST_PORT);
    SockaddrIn::from(SocketAddrV4::new(RECEIVER, port))
}

/// Seconds of the kernel's clock.
fn monotonic() -> io::Result<f64> {
    let now = clock_gettime(ClockId::CLOCK_MONOTONIC)?;
    #[expect(
        clippy::cast_precision_loss,
        reason = "seconds since the machine was switched on"
    )]
    Ok(now.tv_sec() as f64 + now.tv_nsec() as f64 * 1e-9)
}

/// The flow of an IPv4 packet, by the receiver's port.
fn flow_of(packet: &[u8], towards: Towards) -> Option<usize> {
    let header = usize::from(packet.first()? & 15) * 4;
    let at = header + if towards == Towards::Receiver { 2 } else { 0 };
    let port = u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?]);
    (packet[0] >> 4 == 4 && packet.get(9) == Some(&6)).then_some(())?;
    port.checked_sub(FIRST_PORT).map(usize::from)
}

#[derive(Debug)]
struct Experiment {
    network: Network,
    /// Receiver, sender.
    hosts: [Host; 2],
    flows: Vec<Flow>,
    names: Vec<String>,
    begin: f64,
    end: f64,
    every: Option<f64>,
    series: Vec<Json>,
    samples: u64,
}

impl Experiment {
    fn now(&self) -> io::Result<f64> {
        Ok(monotonic()? - self.begin)
    }

    fn go(&mut self) -> io::Result<()> {
        loop {
            let now = self.now()?;
            if now >= self.end {
                return Ok(());
            }
            self.sample(now)?;
            self.start(now)?;
            let mut busy = self.exchange(now)?;
            busy |= self.serve(now)?;
            if !busy {
                self.wait(now)?;
            }
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "a count of samples")]
    fn next_sample(&self) -> f64 {
        self.every
            .map_or(f64::INFINITY, |every| self.samples as f64 * every)
    }

    fn sample(&mut self, now: f64) -> io::Result<()> {
        while self.next_sample() <= now {
            let time = self.next_sample();
            for (index, flow) in self.flows.iter().enumerate() {
                let info = TcpInfo::of(flow.sender.as_fd())?;
                let mss = u64::from(info.snd_mss);
                // "Arbitrarily high" is the largest signed number to the kernel.
                let ssthresh = (info.snd_ssthresh < i32::MAX as u32)
                    .then(|| u64::from(info.snd_ssthresh) * mss);
                self.series.push(json!({
                    "t_ns": ns(time), "flow": self.names[index], "cwnd_bytes": u64::from(info.snd_cwnd) * mss,
                    "ssthresh_bytes": ssthresh, "srtt_ns": if info.rtt == 0 { -1 } else { i64::from(info.rtt) * 1000 },
                    "flight_bytes": u64::from(info.unacked) * mss, "acked_bytes": info.bytes_acked.saturating_sub(1),
                    "delivered_bytes": flow.delivered,
                }));
            }
            self.samples += 1;
        }
        Ok(())
    }

    fn start(&mut self, now: f64) -> io::Result<()> {
        for (index, flow) in self.flows.iter_mut().enumerate() {
            if !flow.started && flow.start <= now {
                flow.started = true;
                match connect(flow.sender.as_raw_fd(), &address(index)) {
                    Ok(()) | Err(Errno::EINPROGRESS) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    /// Takes what the hosts have sent and hands them what has arrived; whether there was anything.
    fn exchange(&mut self, now: f64) -> io::Result<bool> {
        let mut busy = false;
        for (host, towards) in [(0, Towards::Sender), (1, Towards::Receiver)] {
            while let Some(packet) = self.hosts[host].receive()? {
                if let Some(flow) =
                    flow_of(&packet, towards).filter(|flow| *flow < self.flows.len())
                {
                    busy = true;
                    self.network.enter(now, flow, towards, packet);
                }
            }
        }
        if let Some((towards, packet)) = self.network.deliver(now) {
            busy = true;
            self.hosts[usize::from(towards == Towards::Sender)].send(&packet)?;
        }
        Ok(busy)
    }

    /// Reads and writes what the sockets are ready for; whether there was anything.
    fn serve(&mut self, now: f64) -> io::Result<bool> {
        let mut buffer = vec![0; CHUNK];
        let mut busy = false;
        for flow in &mut self.flows {
            if flow.receiver.is_none() {
                match accept4(flow.listener.as_raw_fd(), SockFlag::SOCK_NONBLOCK) {
                    // SAFETY: the descriptor is new and ours.
                    Ok(socket) => {
                        let socket = unsafe { OwnedFd::from_raw_fd(socket) };
                        flow.receiver = Some(socket);
                    }
                    Err(Errno::EAGAIN) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            if let Some(receiver) = &flow.receiver {
                while let Some(length) =
                    ready(nix::unistd::read(receiver, &mut buffer))?.filter(|length| *length > 0)
                {
                    flow.delivered += length as u64;
                    flow.last_delivery = now;
                    busy = true;
                }
            }
            while flow.started {
                let left = flow
                    .size
                    .map_or(CHUNK as u64, |size| size - flow.written)
                    .min(CHUNK as u64);
                let left = usize::try_from(left).unwrap_or(CHUNK);
                if left == 0 {
                    break;
                }
                let Some(length) = ready(nix::unistd::write(&flow.sender, &buffer[..left]))? else {
                    break;
                };
                flow.written += length as u64;
                busy = true;
            }
        }
        Ok(busy)
    }

    /// Sleeps until a host or the network has something, or something is to begin.
    fn wait(&self, now: f64) -> io::Result<()> {
        let starts = self
            .flows
            .iter()
            .filter(|flow| !flow.started)
            .map(|flow| flow.start);
        let next = starts
            .chain([self.network.next_time(), self.next_sample(), self.end])
            .fold(f64::INFINITY, f64::min);
        let mut waits: Vec<PollFd<'_>> = self
            .hosts
            .iter()
            .map(|host| PollFd::new(host.as_fd(), PollFlags::POLLIN))
            .collect();
        for flow in &self.flows {
            if flow.started && flow.size.is_none_or(|size| flow.written < size) {
                waits.push(PollFd::new(flow.sender.as_fd(), PollFlags::POLLOUT));
            }
        }
        // Rounded up: a clock that stands still while nobody sleeps would never reach a time less than its resolution away.
        let timeout = TimeSpec::nanoseconds(ns(next - now).max(0) + 1);
        match ppoll(&mut waits, Some(timeout), None) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn tables(self, scenario: &Scenario) -> io::Result<Json> {
        let mut flows = Vec::new();
        for (name, flow) in self.names.iter().zip(&self.flows) {
            let info = TcpInfo::of(flow.sender.as_fd())?;
            let mss = u64::from(info.snd_mss.max(1));
            let acked = info.bytes_acked.saturating_sub(1);
            let lifetime = self.end - flow.start;
            let rate = |bytes| mean_rate_bps(bytes, lifetime);
            let done = flow.size.is_some_and(|size| flow.delivered >= size);
            let micros = |value: u32| {
                if value == 0 {
                    -1
                } else {
                    i64::from(value) * 1000
                }
            };
            flows.push(json!({
                "flow": name, "cc": flow.cc, "recovery": "kernel", "start_ns": ns(flow.start),
                "acked_packets": acked.div_ceil(mss), "acked_bytes": acked, "delivered_bytes": flow.delivered,
                "throughput_bps": rate(acked), "goodput_bps": rate(flow.delivered),
                "sent_packets": info.data_segs_out, "retransmits": info.total_retrans, "dsacks_in": info.dsack_dups,
                "srtt_mean_ns": micros(info.rtt), "min_rtt_ns": micros(info.min_rtt),
                "completion_ns": if done { ns(flow.last_delivery - flow.start) } else { -1 }, "stall_ns": -1,
                "limited_rwnd_ns": info.rwnd_limited * 1000, "limited_source_ns": info.sndbuf_limited * 1000,
            }));
        }
        let links: Vec<Json> = (0..)
            .zip(&self.network.ports)
            .map(|(at, port): (usize, _)| {
                let counters = &port.counters;
                json!({
                    "link": scenario.links[at / 2].name, "direction": if at % 2 == 0 { "forward" } else { "reverse" },
                    "arrived_packets": counters.arrived_packets, "arrived_bytes": counters.arrived_bytes,
                    "dropped_packets": counters.dropped_packets, "dropped_bytes": counters.dropped_bytes,
                    "peak_packets": counters.peak_packets(), "wait_mean_ns": ns(counters.mean_wait_secs()),
                })
            })
            .collect();
        Ok(json!({"flows": flows, "links": links, "series": self.series}))
    }
}

/// What a call that does not wait has returned; nothing if it would have to.
fn ready(result: nix::Result<usize>) -> io::Result<Option<usize>> {
    match result {
        Ok(length) => Ok(Some(length)),
        Err(Errno::EAGAIN | Errno::ENOTCONN) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a time in a run")]
fn ns(secs: f64) -> i64 {
    (secs * 1e9).round() as i64
}
