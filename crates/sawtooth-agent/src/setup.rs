//! What has to be set up on a kernel before a scenario can run, as a list of steps: made without looking at the machine, so that it can
//! be shown (`sawtooth-agent plan`) and tested anywhere; and then performed, one after the other.
//!
//! Printed, a step is the command of iproute2 or sysctl that would do the same.
//!
//! **With the simulator's links** there are two hosts, each with one TUN device, and this program carries packets between them.
//! **With the kernel's shaper** there are two routers between the hosts: `sender - left - right - receiver`. The rate and its queue are a
//! token bucket on the way from one router to the other; the delay is netem's on the way from a router to a host: there no queue of TCP's
//! own feels it, and its limit does not count what waits for the rate.
//!
//! A token bucket lets a packet go when its transmission would begin; so the netem knows the rate, too, and keeps each packet for the
//! time of its transmission, as a link would. The bucket counts Ethernet's header, and with segments that it makes itself it cannot be told
//! not to: it gets as much more as a full packet's header takes.

use std::fmt::{self, Display};
use std::net::Ipv4Addr;

use sawtooth_core::Scenario;
use sawtooth_core::internals::kernel::{SHAPER, Shaper};
use sawtooth_core::internals::spec::given;
use sawtooth_core::internals::tcp::key;
use sawtooth_core::internals::tcp::params::{Feedback, RestartAfterIdle, WindowSetting};
use sawtooth_core::registry::Value;
use sawtooth_core::spec::{FlowSpec, LinkDirection};
use sawtooth_core::units::ByteCount;

/// A network namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostName {
    Sender,
    Receiver,
    Left,
    Right,
}

impl Display for HostName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sender => "sender",
            Self::Receiver => "receiver",
            Self::Left => "left",
            Self::Right => "right",
        })
    }
}

/// A device of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Device {
    pub host: HostName,
    pub name: &'static str,
}

/// Addresses of the two hosts that have connections.
#[derive(Clone, Copy, Debug)]
pub struct Addresses {
    pub sender: Ipv4Addr,
    pub receiver: Ipv4Addr,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SetupStep {
    Host(HostName),
    Sysctl {
        host: HostName,
        name: String,
        value: String,
    },
    Tun {
        device: Device,
        mtu: u32,
    },
    Veth {
        ends: [Device; 2],
        mtu: u32,
    },
    Address {
        device: Device,
        address: Ipv4Addr,
    },
    /// Segments that TCP may hand down at once; as the kernel likes if nothing is said.
    GsoMaxSegs {
        device: Device,
        segments: u32,
    },
    Up(Device),
    /// Who is at the other end of a veth, so that nobody has to ask through the shaper.
    Neighbour {
        device: Device,
        address: Ipv4Addr,
        of: Device,
    },
    Route {
        device: Device,
        /// /24.
        to: Ipv4Addr,
        via: Option<Ipv4Addr>,
        metrics: RouteMetrics,
    },
    Qdisc {
        device: Device,
        place: QdiscParent,
        qdisc: Qdisc,
    },
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RouteMetrics {
    /// Segments.
    pub initcwnd: Option<u32>,
    pub rto_min_ms: Option<u32>,
    /// No acknowledgement is delayed.
    pub quickack: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QdiscParent {
    Root,
    /// In the token bucket.
    Child,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Qdisc {
    /// A token bucket that holds one packet.
    Tbf {
        rate_bps: u64,
        burst_bytes: u32,
    },
    Pfifo {
        packets: u32,
    },
    Bfifo {
        bytes: u32,
    },
    /// Any other, as it comes.
    Named(&'static str),
    Netem {
        delay_ns: i64,
        loss: f64,
        rate_bps: u64,
    },
}

/// Ethernet's header, which the kernel's queues count.
pub const ETHERNET: u32 = 14;
const TUN: &str = "tun0";
const LINK: &str = "eth0";
/// Of routers.
const TO_RIGHT: &str = "right";
const TO_LEFT: &str = "left";

/// The hosts' addresses.
pub fn addresses(scenario: &Scenario) -> Addresses {
    if kernel_shaper(scenario) {
        Addresses {
            sender: Ipv4Addr::new(10, 0, 1, 1),
            receiver: Ipv4Addr::new(10, 0, 2, 1),
        }
    } else {
        Addresses {
            sender: Ipv4Addr::new(10, 0, 0, 1),
            receiver: Ipv4Addr::new(10, 0, 0, 2),
        }
    }
}

pub fn kernel_shaper(scenario: &Scenario) -> bool {
    SHAPER.of(&scenario.kernel.settings) == Shaper::Kernel
}

/// Every step, in order.
pub fn steps(scenario: &Scenario) -> Vec<SetupStep> {
    let mtu = mtu(scenario);
    let mut steps = Vec::new();
    for host in [HostName::Receiver, HostName::Sender] {
        steps.push(SetupStep::Host(host));
        for (name, value) in sysctls(scenario) {
            steps.push(SetupStep::Sysctl { host, name, value });
        }
    }
    if kernel_shaper(scenario) {
        shaped(scenario, mtu, &mut steps);
    } else {
        direct(scenario, mtu, &mut steps);
    }
    steps
}

/// The largest segment that is set for a flow's sockets, or else what fits into Ethernet's packets.
pub fn segment_bytes(flow: &FlowSpec) -> u64 {
    given(flow, key::smss).map_or(1460, ByteCount::get)
}

/// A segment and its headers of 40 bytes; options go at the expense of data.
pub fn mtu(scenario: &Scenario) -> u32 {
    let longest = scenario.all_flows().map(segment_bytes).max();
    longest
        .and_then(|bytes| u32::try_from(bytes + 40).ok())
        .unwrap_or(65_535)
}

/// The largest value that can be set for a host.
const MOST_OPENING: &str = "65535";

/// Settings of a host, which are the same for all flows.
fn any_flow(scenario: &Scenario) -> &FlowSpec {
    let mut flows = scenario.all_flows();
    flows.next().expect("a real kernel has a connection")
}

fn sysctls(scenario: &Scenario) -> Vec<(String, String)> {
    let mut sysctls = Vec::new();
    let mut set = |name: &str, value: &str| sysctls.push((name.to_owned(), value.to_owned()));
    let flow = any_flow(scenario);
    let cache = match given(flow, key::metrics_cache) {
        Some(cache) => cache.word(),
        None => scenario.kernel.settings.choice("metrics_cache"),
    };
    match cache {
        "off" => set("net.ipv4.tcp_no_metrics_save", "1"),
        "with_ssthresh" => set("net.ipv4.tcp_no_ssthresh_metrics_save", "0"),
        _ => {}
    }
    // One number for a host, which all flows share.
    if let Some(dup_thresh) = given(flow, key::dup_thresh) {
        set("net.ipv4.tcp_reordering", &dup_thresh.to_string());
    }
    for (name, (size, most), (default, largest)) in [
        (
            "net.ipv4.tcp_rmem",
            (key::receive_buffer_default, key::receive_buffer_max),
            (131_072, 6_291_456),
        ),
        (
            "net.ipv4.tcp_wmem",
            (key::send_buffer_default, key::send_buffer_max),
            (16_384, 4_194_304),
        ),
    ] {
        if given(flow, size).is_some() || given(flow, most).is_some() {
            // What is not set is as it is in a new namespace; the smallest size is that of memory pressure.
            let largest = given(flow, most).unwrap_or(largest);
            let default = given(flow, size).flatten().unwrap_or(default).min(largest);
            set(name, &format!("{} {default} {largest}", default.min(4096)));
        }
    }
    let flag = |key| given(flow, key).map(i64::from);
    for (name, value) in [
        (
            "net.ipv4.tcp_moderate_rcvbuf",
            flag(key::receive_auto_tuning),
        ),
        ("net.ipv4.tcp_window_scaling", flag(key::window_scaling)),
        (
            "net.ipv4.tcp_adv_win_scale",
            given(flow, key::adv_win_scale),
        ),
        ("net.ipv4.tcp_autocorking", flag(key::autocorking)),
    ] {
        if let Some(value) = value {
            set(name, &value.to_string());
        }
    }
    // What is beyond RFC 3168 comes with the congestion control: `dctcp` of both hosts echoes as RFC 8257 has it.
    match given(flow, key::ecn) {
        Some(Feedback::Off) => set("net.ipv4.tcp_ecn", "0"),
        Some(_) => set("net.ipv4.tcp_ecn", "1"),
        None => {}
    }
    match given(flow, key::restart_after_idle) {
        Some(RestartAfterIdle::Off) => set("net.ipv4.tcp_slow_start_after_idle", "0"),
        Some(_) => set("net.ipv4.tcp_slow_start_after_idle", "1"),
        None => {}
    }
    if !scenario.arriving.is_empty() {
        // As many may be about to open their connections as do: no host is to be short of room for them.
        set("net.core.somaxconn", MOST_OPENING);
        set("net.ipv4.tcp_max_syn_backlog", MOST_OPENING);
    }
    sysctls.extend(scenario.kernel.sysctl.iter().cloned());
    sysctls
}

fn metrics(scenario: &Scenario) -> RouteMetrics {
    let flow = any_flow(scenario);
    let segments = match given(flow, key::initial_window).flatten() {
        Some(WindowSetting::Segments(segments)) => Some(segments),
        Some(WindowSetting::Bytes(bytes)) => {
            Some(bytes.div_ceil(ByteCount::new(segment_bytes(flow))))
        }
        None => None,
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a positive time of at most minutes"
    )]
    let rto_min_ms = (given(flow, key::rto_min)).map(|time| (time.secs() * 1e3).round() as u32);
    RouteMetrics {
        initcwnd: segments.map(|segments| u32::try_from(segments.get()).unwrap_or(u32::MAX)),
        rto_min_ms,
        quickack: given(flow, key::ack_every) == Some(1),
    }
}

fn gso(scenario: &Scenario, device: Device, steps: &mut Vec<SetupStep>) {
    if !scenario.kernel.settings.flag("gso") {
        let segments = 1;
        steps.push(SetupStep::GsoMaxSegs { device, segments });
    }
}

/// Two hosts with a TUN device each.
fn direct(scenario: &Scenario, mtu: u32, steps: &mut Vec<SetupStep>) {
    let Addresses { sender, receiver } = addresses(scenario);
    for (host, address) in [(HostName::Receiver, receiver), (HostName::Sender, sender)] {
        let device = Device { host, name: TUN };
        steps.push(SetupStep::Tun { device, mtu });
        steps.push(SetupStep::Address { device, address });
        gso(scenario, device, steps);
        steps.push(SetupStep::Up(device));
        let metrics = metrics(scenario);
        if metrics != RouteMetrics::default() {
            let to = Ipv4Addr::new(10, 0, 0, 0);
            steps.push(SetupStep::Route {
                device,
                to,
                via: None,
                metrics,
            });
        }
    }
}

/// With two routers: the devices of hosts, and those by which routers send to each other.
pub fn capture_devices() -> [Device; 4] {
    use HostName::{Left, Receiver, Right, Sender};
    let device = |host, name| Device { host, name };
    [
        device(Sender, LINK),
        device(Receiver, LINK),
        device(Left, TO_RIGHT),
        device(Right, TO_LEFT),
    ]
}

/// Two hosts and two routers.
fn shaped(scenario: &Scenario, mtu: u32, steps: &mut Vec<SetupStep>) {
    use HostName::{Left, Receiver, Right, Sender};
    for host in [Left, Right] {
        steps.push(SetupStep::Host(host));
        let (name, value) = ("net.ipv4.ip_forward".to_owned(), "1".to_owned());
        steps.push(SetupStep::Sysctl { host, name, value });
    }
    let device = |host, name| Device { host, name };
    let wires = [
        (
            device(Sender, LINK),
            [10, 0, 1, 1],
            device(Left, "sender"),
            [10, 0, 1, 2],
        ),
        (
            device(Left, TO_RIGHT),
            [10, 0, 3, 1],
            device(Right, TO_LEFT),
            [10, 0, 3, 2],
        ),
        (
            device(Right, "receiver"),
            [10, 0, 2, 2],
            device(Receiver, LINK),
            [10, 0, 2, 1],
        ),
    ];
    for (one, one_address, other, other_address) in wires {
        let (one_address, other_address) = (one_address.into(), other_address.into());
        let ends = [one, other];
        steps.push(SetupStep::Veth { ends, mtu });
        for (device, address, of, at) in [
            (one, one_address, other, other_address),
            (other, other_address, one, one_address),
        ] {
            steps.push(SetupStep::Address { device, address });
            gso(scenario, device, steps);
            steps.push(SetupStep::Up(device));
            steps.push(SetupStep::Neighbour {
                device,
                address: at,
                of,
            });
        }
    }
    let metrics = metrics(scenario);
    for (device, to, via, metrics) in [
        (wires[0].0, [10, 0, 2, 0], [10, 0, 1, 2], metrics),
        (
            wires[1].0,
            [10, 0, 2, 0],
            [10, 0, 3, 2],
            RouteMetrics::default(),
        ),
        (
            wires[1].2,
            [10, 0, 1, 0],
            [10, 0, 3, 1],
            RouteMetrics::default(),
        ),
        (wires[2].2, [10, 0, 1, 0], [10, 0, 2, 2], metrics),
    ] {
        steps.push(SetupStep::Route {
            device,
            to: to.into(),
            via: Some(via.into()),
            metrics,
        });
    }
    let link = &scenario.links[0];
    let own = scenario.kernel.settings.choice("qdisc");
    for (bottleneck, last, direction) in [
        (wires[1].0, wires[2].0, &link.forward),
        (wires[1].2, wires[0].2, &link.reverse),
    ] {
        shape(bottleneck, last, direction, own, mtu, steps);
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "a positive rate, a delay of less than centuries, and buffers that machines have"
)]
fn shape(
    bottleneck: Device,
    last: Device,
    direction: &LinkDirection,
    own: &'static str,
    mtu: u32,
    steps: &mut Vec<SetupStep>,
) {
    let frame = mtu + ETHERNET;
    let per_packet = f64::from(frame) / f64::from(mtu);
    let tbf = Qdisc::Tbf {
        rate_bps: (direction.rate.bps() * per_packet).round() as u64,
        burst_bytes: frame,
    };
    let waiting = match (own, direction.queue.params.get("limit")) {
        // The packet in the bucket counts in the scenario's limit, and not in the queue's.
        ("scenario", Value::Packets(packets)) => Qdisc::Pfifo {
            packets: u32::try_from(packets - 1).unwrap_or(u32::MAX).max(1),
        },
        ("scenario", Value::Bytes(bytes)) => Qdisc::Bfifo {
            // An empty buffer takes any packet.
            bytes: ((bytes.saturating_sub(u64::from(mtu)) as f64 * per_packet).ceil() as u32)
                .max(frame),
        },
        ("scenario", _) => Qdisc::Named("pfifo"),
        (name, _) => Qdisc::Named(name),
    };
    let netem = Qdisc::Netem {
        delay_ns: direction.delay.as_ns(),
        loss: direction.loss.probability,
        rate_bps: direction.rate.bps().round() as u64,
    };
    for (device, place, qdisc) in [
        (bottleneck, QdiscParent::Root, tbf),
        (bottleneck, QdiscParent::Child, waiting),
        (last, QdiscParent::Root, netem),
    ] {
        steps.push(SetupStep::Qdisc {
            device,
            place,
            qdisc,
        });
    }
}

impl Device {
    /// A locally administered address, different for each device.
    pub fn mac(self) -> [u8; 6] {
        let host = match self.host {
            HostName::Sender => 1,
            HostName::Receiver => 2,
            HostName::Left => 3,
            HostName::Right => 4,
        };
        [2, 0, 0, 0, host, self.name.as_bytes()[0]]
    }
}

impl Display for SetupStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Host(name) => write!(f, "ip netns add {name}"),
            Self::Sysctl { host, name, value } => {
                write!(f, "ip netns exec {host} sysctl -w {name}=\"{value}\"")
            }
            Self::Tun { device, mtu } => {
                let Device { host, name } = device;
                write!(
                    f,
                    "ip -n {host} tuntap add {name} mode tun && ip -n {host} link set {name} mtu {mtu}"
                )
            }
            Self::Veth {
                ends: [one, other],
                mtu,
            } => write!(
                f,
                "ip link add {} netns {} address {} mtu {mtu} type veth peer {} netns {} address {} mtu {mtu}",
                one.name,
                one.host,
                Mac(one.mac()),
                other.name,
                other.host,
                Mac(other.mac())
            ),
            Self::Address { device, address } => {
                let Device { host, name } = device;
                write!(f, "ip -n {host} address add {address}/24 dev {name}")
            }
            Self::GsoMaxSegs { device, segments } => {
                let Device { host, name } = device;
                write!(f, "ip -n {host} link set {name} gso_max_segs {segments}")
            }
            Self::Up(Device { host, name }) => write!(f, "ip -n {host} link set {name} up"),
            Self::Neighbour {
                device,
                address,
                of,
            } => {
                let Device { host, name } = device;
                let mac = Mac(of.mac());
                write!(
                    f,
                    "ip -n {host} neighbour add {address} lladdr {mac} dev {name} nud permanent"
                )
            }
            Self::Route {
                device,
                to,
                via,
                metrics,
            } => {
                let Device { host, name } = device;
                write!(f, "ip -n {host} route replace {to}/24")?;
                if let Some(via) = via {
                    write!(f, " via {via}")?;
                }
                write!(f, " dev {name}")?;
                if let Some(initcwnd) = metrics.initcwnd {
                    write!(f, " initcwnd {initcwnd}")?;
                }
                if let Some(ms) = metrics.rto_min_ms {
                    write!(f, " rto_min lock {ms}ms")?;
                }
                if metrics.quickack {
                    f.write_str(" quickack 1")?;
                }
                Ok(())
            }
            Self::Qdisc {
                device,
                place,
                qdisc,
            } => {
                let Device { host, name } = device;
                let place = match place {
                    QdiscParent::Root => "root handle 1:",
                    QdiscParent::Child => "parent 1:1",
                };
                write!(f, "tc -n {host} qdisc add dev {name} {place} {qdisc}")
            }
        }
    }
}

impl Display for Qdisc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tbf {
                rate_bps,
                burst_bytes,
            } => {
                write!(
                    f,
                    "tbf rate {rate_bps}bit burst {burst_bytes} limit {burst_bytes}"
                )
            }
            Self::Pfifo { packets } => write!(f, "pfifo limit {packets}"),
            Self::Bfifo { bytes } => write!(f, "bfifo limit {bytes}"),
            Self::Named(name) => f.write_str(name),
            Self::Netem {
                delay_ns,
                loss,
                rate_bps,
            } => {
                write!(
                    f,
                    "netem delay {delay_ns}ns loss {}% rate {rate_bps}bit -{ETHERNET} limit {NETEM_LIMIT}",
                    loss * 100.0
                )
            }
        }
    }
}

/// Packets on their way at once; far more than any window.
pub const NETEM_LIMIT: u32 = 1_000_000;

struct Mac([u8; 6]);

impl Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.0.map(|part| format!("{part:02x}"));
        f.write_str(&parts.join(":"))
    }
}

/// What would be set up and run, a command a line.
pub fn plan(scenario: &Scenario) -> String {
    let application = scenario.kernel.settings.choice("application");
    let steps = steps(scenario).into_iter().map(|step| step.to_string());
    let flows = scenario.flows.iter().map(|flow| {
        format!(
            "# flow {} from {} s: {application}, {} bytes, {} at the sender, {} at the receiver",
            flow.name,
            flow.start.secs(),
            flow.size()
                .map_or("endless".to_owned(), |size| size.get().to_string()),
            flow.cc_in_kernel(),
            flow.receiver_cc,
        )
    });
    let arriving = scenario.arriving.iter().map(|one| {
        format!(
            "# flows {} from {} s: {application}, {} per second, {} bytes on average, {} at the sender, {} at the receiver",
            one.flow.name,
            one.arrivals.start.secs(),
            one.arrivals.rate,
            one.arrivals.mean_bytes(),
            one.flow.cc_in_kernel(),
            one.flow.receiver_cc,
        )
    });
    let lines = steps.chain(flows).chain(arriving);
    lines.map(|line| line + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sawtooth_core::internals::scenario::for_kernel;
    use serde_json::json;

    /// The file holds what the plan was when somebody last looked at it; `UPDATE_GOLDEN=1` writes it anew.
    #[track_caller]
    fn golden(name: &str, scenario: &serde_json::Value) {
        let (scenario, _) = for_kernel(scenario).expect("a scenario for a kernel");
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/golden")
            .join(name);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&path, plan(&scenario)).expect("the golden file can be written");
        }
        let expected = std::fs::read_to_string(&path).expect("a golden file");
        assert_eq!(plan(&scenario), expected, "{}", path.display());
    }

    #[test]
    fn two_hosts_with_the_simulators_link_between_them() {
        golden(
            "simulator.plan",
            &json!({
                "duration": "3 s", "cc": "kernel:cubic",
                "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms"}},
                "flows": [{"path": ["l"], "count": 2, "start": "(i - 1) * 1 s", "source": {"name": "bulk", "size": "1 MB"}}],
            }),
        );
    }

    #[test]
    fn everything_a_kernel_can_be_told() {
        golden(
            "settings.plan",
            &json!({
                "duration": "3 s", "cc": "reno", "receiver_cc": "kernel:bbr",
                "tcp": {"smss": "1000 B", "initial_window": "4 packets", "rto_min": "50 ms", "dup_thresh": 5, "ecn": "classic", "autocorking": false, "ack_every": 1,
                    "receive_buffer_max": "1 MB", "receive_auto_tuning": false, "adv_win_scale": 2, "window_scaling": true,
                    "send_buffer_default": "64 kB", "send_buffer_max": "2 MB"},
                "kernel": {"gso": false, "metrics_cache": "with_ssthresh", "application": "http", "sysctl": {"net.ipv4.tcp_sack": false}},
                "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms"}},
                "flows": [{"path": ["l"], "source": {"name": "bulk", "size": "1 MB"}}],
            }),
        );
    }

    #[test]
    fn two_hosts_and_two_routers_with_the_kernels_shaper() {
        golden(
            "shaper.plan",
            &json!({
                "duration": "3 s", "kernel": {"shaper": "kernel", "metrics_cache": "off"},
                "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms", "loss": 0.01, "queue": {"name": "drop_tail", "limit": "50 packets"},
                    "reverse": {"rate": "1 Mbit/s", "queue": {"name": "drop_tail", "limit": "64 kB"}}}},
                "flows": [{"path": ["l"]}],
            }),
        );
    }

    #[test]
    fn a_queue_of_the_kernels_own() {
        golden(
            "qdisc.plan",
            &json!({
                "duration": "3 s", "kernel": {"shaper": "kernel", "qdisc": "fq_codel"},
                "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms"}}, "flows": [{"path": ["l"]}],
            }),
        );
    }
}
