//! Reads back from the kernel how the hosts of a scenario have been set up: settings and devices.

use std::fs;
use std::io;
use std::os::fd::AsRawFd;

use netlink_packet_route::link::LinkAttribute;
use nix::sys::socket::{AddressFamily, SockFlag, SockType, socket};
use sawtooth_core::Scenario;
use serde_json::{Map, Value as Json, json};

use crate::hosts::{HostNamespaces, index};
use crate::netlink::Netlink;
use crate::setup::{self, Device, HostName, SetupStep};
use crate::tun;

const SYSCTL: &str = "/proc/sys";
/// What of `net.core` matters to TCP; of `net.ipv4` it is all that is TCP's.
const CORE: [&str; 6] = [
    "default_qdisc",
    "netdev_max_backlog",
    "rmem_default",
    "rmem_max",
    "wmem_default",
    "wmem_max",
];
/// Requests of linux/ethtool.h that return a switch.
const OFFLOADS: [(&str, u32); 4] = [
    ("scatter_gather", 0x18),
    ("tso", 0x1e),
    ("gso", 0x23),
    ("gro", 0x2b),
];

/// The kernel's congestion controls, the TCP settings of the two ends, and every device.
pub fn run(scenario: &Scenario) -> io::Result<Json> {
    let steps = setup::steps(scenario);
    let hosts = HostNamespaces::set_up(&steps)?;
    let mut settings = Map::new();
    for host in [HostName::Sender, HostName::Receiver] {
        hosts.enter(host)?;
        settings.insert(host.to_string(), sysctls()?);
    }
    let mut devices = Map::new();
    for device in steps.iter().flat_map(devices_of) {
        hosts.enter(device.host)?;
        let name = format!("{}.{}", device.host, device.name);
        devices.insert(name, inspect(device)?);
    }
    let algorithms = read("net/ipv4/tcp_available_congestion_control").unwrap_or_default();
    let mut algorithms: Vec<&str> = algorithms.split_whitespace().collect();
    algorithms.sort_unstable();
    Ok(json!({"congestion_controls": algorithms, "sysctl": settings, "devices": devices}))
}

fn devices_of(step: &SetupStep) -> Vec<Device> {
    match step {
        SetupStep::Tun { device, .. } => vec![*device],
        SetupStep::Veth { ends, .. } => ends.to_vec(),
        _ => Vec::new(),
    }
}

/// Of the network namespace in which the calling thread is.
fn sysctls() -> io::Result<Json> {
    let mut names: Vec<String> = fs::read_dir(format!("{SYSCTL}/net/ipv4"))?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        // The key is a secret, and random.
        .filter(|name| name.starts_with("tcp_") && name != "tcp_fastopen_key")
        .map(|name| format!("net/ipv4/{name}"))
        .chain(CORE.iter().map(|name| format!("net/core/{name}")))
        .collect();
    names.sort_unstable();
    // Some belong to the first namespace only, some may not be read.
    let values = names
        .iter()
        .filter_map(|name| Some((name.replace('/', "."), Json::from(read(name)?))));
    Ok(values.collect::<Map<String, Json>>().into())
}

fn read(name: &str) -> Option<String> {
    let text = fs::read_to_string(format!("{SYSCTL}/{name}")).ok()?;
    Some(text.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn inspect(device: Device) -> io::Result<Json> {
    let mut found = Map::new();
    for attribute in Netlink::open()?.link(index(device)?)? {
        let (key, value) = match attribute {
            LinkAttribute::Mtu(bytes) => ("mtu", Json::from(bytes)),
            LinkAttribute::Qdisc(name) => ("qdisc", name.into()),
            LinkAttribute::TxQueueLen(packets) => ("tx_queue_packets", packets.into()),
            LinkAttribute::GsoMaxSegs(segments) => ("gso_max_segments", segments.into()),
            LinkAttribute::GsoMaxSize(bytes) => ("gso_max_bytes", bytes.into()),
            _ => continue,
        };
        found.insert(key.to_owned(), value);
    }
    for (key, request) in OFFLOADS {
        if let Some(on) = offload(device, request)? {
            found.insert(key.to_owned(), on.into());
        }
    }
    Ok(found.into())
}

/// `struct ethtool_value`.
#[repr(C)]
struct EthtoolValue {
    command: u32,
    data: u32,
}

/// Whether an offload is switched on; nothing if the device has no such switch.
fn offload(device: Device, request: u32) -> io::Result<Option<bool>> {
    let socket = socket(
        AddressFamily::Inet,
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    let mut value = EthtoolValue {
        command: request,
        data: 0,
    };
    let mut wish = tun::request(device.name);
    wish.ifr_ifru.ifru_data = (&raw mut value).cast();
    // SAFETY: the kernel reads a name and writes the value, which both outlive the call.
    let outcome = unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, &raw mut wish) };
    Ok((outcome == 0).then_some(value.data != 0))
}
