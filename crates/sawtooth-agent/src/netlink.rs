//! Requests to the kernel's rtnetlink, each answered before the next.

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::RawFd;

use netlink_packet_core::{
    DefaultNla, NLM_F_ACK, NLM_F_CREATE, NLM_F_EXCL, NLM_F_REPLACE, NLM_F_REQUEST, NetlinkMessage,
    NetlinkPayload,
};
use netlink_packet_route::address::{AddressAttribute, AddressMessage};
use netlink_packet_route::link::{
    InfoData, InfoKind, InfoVeth, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
    RouteScope, RouteType,
};
use netlink_packet_route::tc::{TcAttribute, TcHandle, TcMessage};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use netlink_sys::{Socket, SocketAddr, protocols::NETLINK_ROUTE};

use crate::setup::{ETHERNET, NETEM_LIMIT, Qdisc, QdiscParent, RouteMetrics};

/// The kernel's ear in the network namespace in which it was opened.
#[derive(Debug)]
pub struct Netlink(Socket);

/// One end of a veth: its name, address, MTU and namespace.
#[derive(Clone, Copy, Debug)]
pub struct VethEnd {
    pub name: &'static str,
    pub mac: [u8; 6],
    pub mtu: u32,
    pub namespace: RawFd,
}

impl Netlink {
    pub fn open() -> io::Result<Self> {
        let mut socket = Socket::new(NETLINK_ROUTE)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        Ok(Self(socket))
    }

    fn request(&self, message: RouteNetlinkMessage, flags: u16) -> io::Result<()> {
        self.ask(message, NLM_F_ACK | flags).map(drop)
    }

    fn ask(
        &self,
        message: RouteNetlinkMessage,
        flags: u16,
    ) -> io::Result<NetlinkPayload<RouteNetlinkMessage>> {
        let mut request = NetlinkMessage::from(message);
        request.header.flags = NLM_F_REQUEST | flags;
        request.finalize();
        let mut buffer = vec![0; request.buffer_len()];
        request.serialize(&mut buffer);
        self.0.send(&buffer, 0)?;
        let mut answer = vec![0; 1 << 14];
        let length = self.0.recv(&mut &mut answer[..], 0)?;
        let answer = NetlinkMessage::<RouteNetlinkMessage>::deserialize(&answer[..length])
            .map_err(io::Error::other)?;
        match answer.payload {
            NetlinkPayload::Error(error) if error.code.is_some() => Err(error.to_io()),
            answer => Ok(answer),
        }
    }

    /// What the kernel says of a device.
    pub fn link(&self, device: u32) -> io::Result<Vec<LinkAttribute>> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        match self.ask(RouteNetlinkMessage::GetLink(message), 0)? {
            NetlinkPayload::InnerMessage(RouteNetlinkMessage::NewLink(link)) => Ok(link.attributes),
            answer => Err(io::Error::other(format!("no device but {answer:?}"))),
        }
    }

    pub fn veth(&self, one: VethEnd, other: VethEnd) -> io::Result<()> {
        let attributes = |end: VethEnd| {
            vec![
                LinkAttribute::IfName(end.name.to_owned()),
                LinkAttribute::Address(end.mac.to_vec()),
                LinkAttribute::Mtu(end.mtu),
                LinkAttribute::NetNsFd(end.namespace),
            ]
        };
        let mut peer = LinkMessage::default();
        peer.attributes = attributes(other);
        let mut message = LinkMessage::default();
        message.attributes = attributes(one);
        message.attributes.push(LinkAttribute::LinkInfo(vec![
            LinkInfo::Kind(InfoKind::Veth),
            LinkInfo::Data(InfoData::Veth(InfoVeth::Peer(peer))),
        ]));
        self.request(
            RouteNetlinkMessage::NewLink(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    pub fn address(&self, device: u32, address: Ipv4Addr) -> io::Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.prefix_len = 24;
        message.header.index = device;
        message.attributes = vec![
            AddressAttribute::Local(address.into()),
            AddressAttribute::Address(address.into()),
        ];
        self.request(
            RouteNetlinkMessage::NewAddress(message),
            NLM_F_CREATE | NLM_F_EXCL,
        )
    }

    pub fn set(&self, device: u32, attribute: LinkAttribute) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        message.attributes = vec![attribute];
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    pub fn up(&self, device: u32) -> io::Result<()> {
        let mut message = LinkMessage::default();
        message.header.index = device;
        message.header.flags = LinkFlags::Up;
        message.header.change_mask = LinkFlags::Up;
        self.request(RouteNetlinkMessage::SetLink(message), 0)
    }

    pub fn neighbour(&self, device: u32, address: Ipv4Addr, mac: [u8; 6]) -> io::Result<()> {
        let mut message = NeighbourMessage::default();
        message.header.family = AddressFamily::Inet;
        message.header.ifindex = device;
        message.header.state = NeighbourState::Permanent;
        message.attributes = vec![
            NeighbourAttribute::Destination(NeighbourAddress::Inet(address)),
            NeighbourAttribute::LinkLayerAddress(mac.to_vec()),
        ];
        self.request(
            RouteNetlinkMessage::NewNeighbour(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }

    pub fn route(
        &self,
        device: u32,
        to: Ipv4Addr,
        via: Option<Ipv4Addr>,
        metrics: RouteMetrics,
    ) -> io::Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet;
        message.header.destination_prefix_length = 24;
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        // The route to an address's own network is of the kernel's making, and is replaced.
        message.header.protocol = via.map_or(RouteProtocol::Kernel, |_| RouteProtocol::Static);
        message.header.scope = via.map_or(RouteScope::Link, |_| RouteScope::Universe);
        message.header.kind = RouteType::Unicast;
        message.attributes = vec![
            RouteAttribute::Destination(RouteAddress::Inet(to)),
            RouteAttribute::Oif(device),
        ];
        if let Some(via) = via {
            let gateway = RouteAddress::Inet(via);
            message.attributes.push(RouteAttribute::Gateway(gateway));
        }
        let initcwnd = metrics.initcwnd.map(RouteMetric::InitCwnd);
        // A kernel heeds this one only if it is locked.
        let rto_min = metrics.rto_min_ms.map(|ms| {
            [
                RouteMetric::Lock(1 << RTAX_RTO_MIN),
                RouteMetric::RtoMin(ms),
            ]
        });
        let rto_min = rto_min.into_iter().flatten();
        let quickack = metrics.quickack.then_some(RouteMetric::QuickAck(1));
        let values: Vec<RouteMetric> = initcwnd
            .into_iter()
            .chain(rto_min)
            .chain(quickack)
            .collect();
        if !values.is_empty() {
            message.attributes.push(RouteAttribute::Metrics(values));
        }
        self.request(
            RouteNetlinkMessage::NewRoute(message),
            NLM_F_CREATE | NLM_F_REPLACE,
        )
    }

    pub fn qdisc(&self, device: u32, place: QdiscParent, qdisc: &Qdisc) -> io::Result<()> {
        let mut message = TcMessage::default();
        message.header.index = device.cast_signed();
        (message.header.parent, message.header.handle) = match place {
            QdiscParent::Root => (TcHandle::ROOT, TcHandle { major: 1, minor: 0 }),
            QdiscParent::Child => (TcHandle { major: 1, minor: 1 }, TcHandle::UNSPEC),
        };
        let (kind, options) = describe(qdisc);
        message.attributes.push(TcAttribute::Kind(kind.to_owned()));
        if !options.is_empty() {
            let options = DefaultNla::new(TCA_OPTIONS, options);
            message.attributes.push(TcAttribute::Other(options));
        }
        let message = RouteNetlinkMessage::NewQueueDiscipline(message);
        self.request(message, NLM_F_CREATE | NLM_F_EXCL)
            .map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => {
                    io::Error::other(format!("this kernel has no queue discipline `{kind}`"))
                }
                _ => error,
            })
    }
}

// linux/rtnetlink.h, linux/pkt_sched.h.
const RTAX_RTO_MIN: u32 = 13;
const TCA_OPTIONS: u16 = 2;
const TCA_TBF_PARMS: u16 = 1;
const TCA_TBF_RATE64: u16 = 4;
const TCA_TBF_BURST: u16 = 6;
const TCA_NETEM_RATE: u16 = 6;
const TCA_NETEM_RATE64: u16 = 8;
const TCA_NETEM_LATENCY64: u16 = 10;
const TC_LINKLAYER_ETHERNET: u8 = 1;

/// A discipline's kind and its options as the kernel reads them.
fn describe(qdisc: &Qdisc) -> (&'static str, Vec<u8>) {
    match qdisc {
        Qdisc::Named(name) => (name, Vec::new()),
        Qdisc::Pfifo { packets } => ("pfifo", packets.to_ne_bytes().to_vec()),
        Qdisc::Bfifo { bytes } => ("bfifo", bytes.to_ne_bytes().to_vec()),
        Qdisc::Tbf {
            rate_bps,
            burst_bytes,
        } => ("tbf", tbf(rate_bps / 8, *burst_bytes)),
        Qdisc::Netem {
            delay_ns,
            loss,
            rate_bps,
        } => ("netem", netem(*delay_ns, *loss, rate_bps / 8)),
    }
}

/// `struct tc_tbf_qopt`: two `tc_ratespec` of 12 bytes, limit, buffer, mtu; and what is more precise in attributes of its own.
fn tbf(rate_bytes: u64, burst_bytes: u32) -> Vec<u8> {
    let saturated = u32::try_from(rate_bytes).unwrap_or(u32::MAX);
    let mut rate = vec![0, TC_LINKLAYER_ETHERNET, 0, 0, 0, 0, 0, 0];
    rate.extend(saturated.to_ne_bytes());
    let mut parameters = rate;
    parameters.extend([0; 12]);
    for number in [burst_bytes, burst_bytes, 0] {
        parameters.extend(number.to_ne_bytes());
    }
    let mut options = attribute(TCA_TBF_PARMS, &parameters);
    options.extend(attribute(TCA_TBF_BURST, &burst_bytes.to_ne_bytes()));
    if saturated == u32::MAX {
        options.extend(attribute(TCA_TBF_RATE64, &rate_bytes.to_ne_bytes()));
    }
    options
}

/// `struct tc_netem_qopt`: latency, limit, loss, gap, duplicate, jitter; the latency in nanoseconds; and `struct tc_netem_rate`: rate,
/// `packet_overhead`, `cell_size`, `cell_overhead`.
fn netem(delay_ns: i64, loss: f64, rate_bytes: u64) -> Vec<u8> {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of 2^32 - 1"
    )]
    let loss = (loss * f64::from(u32::MAX)).round() as u32;
    let mut options: Vec<u8> = [0, NETEM_LIMIT, loss, 0, 0, 0]
        .iter()
        .flat_map(|number| number.to_ne_bytes())
        .collect();
    options.extend(attribute(TCA_NETEM_LATENCY64, &delay_ns.to_ne_bytes()));
    let saturated = u32::try_from(rate_bytes).unwrap_or(u32::MAX);
    let mut rate = saturated.to_ne_bytes().to_vec();
    rate.extend((-ETHERNET.cast_signed()).to_ne_bytes());
    rate.extend([0; 8]);
    options.extend(attribute(TCA_NETEM_RATE, &rate));
    if saturated == u32::MAX {
        options.extend(attribute(TCA_NETEM_RATE64, &rate_bytes.to_ne_bytes()));
    }
    options
}

fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(4 + value.len()).expect("a small attribute");
    let mut bytes = length.to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}
