//! What was met in a capture and is told by name: nothing is left out in silence.

use std::collections::BTreeMap;
use std::fmt;

/// What may be met.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Met {
    /// A frame of which the capture kept only the beginning (its snap length).
    CutFrame,
    /// A packet that was cut within the headers that are read.
    CutHeaders,
    /// A segment that was cut within its options.
    CutOptions,
    /// A frame with one tag of IEEE 802.1Q.
    Vlan,
    /// A frame with two or more (IEEE 802.1ad).
    DoubleVlan,
    /// A packet with labels of MPLS (RFC 3032).
    Mpls,
    /// A packet of a session of PPP over Ethernet (RFC 2516).
    Pppoe,
    /// IPv4 in IP (RFC 2003).
    IpInIp,
    /// IPv6 in IP (RFC 4213).
    SixInFour,
    /// Generic routing encapsulation (RFC 2784).
    Gre,
    /// VXLAN (RFC 7348).
    Vxlan,
    /// More tunnels in each other than are opened.
    TooDeep,
    /// A fragment of an IP packet.
    Fragment,
    /// A packet without a length, as the kernel hands it to a card that cuts it into segments.
    NoLength,
    /// A packet whose headers contradict each other.
    Malformed,
    /// A frame that came earlier, by its time, than the one before it.
    BackInTime,
    /// A protocol above IP, by its number, that is not analysed.
    Protocol(u8),
    /// A protocol above the link, by its number, that is not analysed.
    EtherType(u16),
    /// A protocol of PPP, by its number, that is not analysed.
    PppProtocol(u16),
    /// A link of a kind, by its number, that is not read.
    LinkType(u32),
    /// A connection that was taken as over because too many others came after it.
    Forgotten,
    /// A flow that has no row because there are too many.
    NoRow,
    /// A mark (such as a SACK block) that is in no table because there are too many.
    NoMark,
}

impl fmt::Display for Met {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CutFrame => write!(
                to,
                "frames cut by the snap length; lengths are taken from their headers"
            ),
            Self::CutHeaders => write!(to, "packets cut within their headers, not analysed"),
            Self::CutOptions => write!(
                to,
                "segments cut within their options: SACK blocks are not counted, and windows only where the SYNs are whole"
            ),
            Self::Vlan => write!(to, "frames with a VLAN tag"),
            Self::DoubleVlan => write!(to, "frames with two or more VLAN tags (QinQ)"),
            Self::Mpls => write!(to, "packets with labels of MPLS; opened"),
            Self::Pppoe => write!(to, "packets of PPP over Ethernet; opened"),
            Self::IpInIp => write!(to, "packets in a tunnel, IPv4 in IP; opened"),
            Self::SixInFour => write!(to, "packets in a tunnel, IPv6 in IP; opened"),
            Self::Gre => write!(to, "packets in a tunnel, GRE; opened"),
            Self::Vxlan => write!(to, "packets in a tunnel, VXLAN; opened"),
            Self::TooDeep => write!(to, "packets in more than four tunnels, not analysed"),
            Self::Fragment => write!(to, "fragments of IP packets, not analysed"),
            Self::NoLength => write!(
                to,
                "packets without a length in their IP header (segmentation offload); that of the frame is taken"
            ),
            Self::Malformed => write!(
                to,
                "packets whose headers contradict each other, not analysed"
            ),
            Self::BackInTime => write!(to, "frames with an earlier time than the one before them"),
            Self::Protocol(number) => {
                write!(to, "packets of {}, not analysed", protocol(*number))
            }
            Self::EtherType(number) => {
                write!(to, "frames of {}, not analysed", ether_type(*number))
            }
            Self::PppProtocol(number) => {
                write!(to, "frames of PPP protocol 0x{number:04x}, not analysed")
            }
            Self::LinkType(number) => {
                write!(to, "frames of link type {number}, which is not read")
            }
            Self::Forgotten => write!(
                to,
                "connections taken as over to make room for later ones; what came of them later is a flow of its own"
            ),
            Self::NoRow => write!(to, "flows beyond the most that are kept, in no table"),
            Self::NoMark => write!(to, "marks beyond the most that are kept, in no table"),
        }
    }
}

fn protocol(number: u8) -> String {
    let name = match number {
        1 => "ICMP",
        2 => "IGMP",
        50 => "ESP",
        58 => "ICMPv6",
        89 => "OSPF",
        132 => "SCTP",
        _ => return format!("IP protocol {number}"),
    };
    name.to_owned()
}

fn ether_type(number: u16) -> String {
    let name = match number {
        0x0806 => "ARP",
        0x8863 => "PPPoE's discovery",
        0x888e => "IEEE 802.1X",
        0x88cc => "LLDP",
        0x88e5 => "MACsec",
        0..0x0600 => "IEEE 802.3 with a length",
        _ => return format!("EtherType 0x{number:04x}"),
    };
    name.to_owned()
}

/// How often each was met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(BTreeMap<Met, u64>);

impl Tally {
    /// Once more.
    pub fn add(&mut self, what: Met) {
        *self.0.entry(what).or_default() += 1;
    }

    /// As often as another one says.
    pub fn add_all(&mut self, other: &Self) {
        for (what, count) in other.iter() {
            *self.0.entry(what).or_default() += count;
        }
    }

    /// How often something was met.
    pub fn count(&self, what: Met) -> u64 {
        self.0.get(&what).copied().unwrap_or_default()
    }

    /// All that was met at least once, in a fixed order.
    pub fn iter(&self) -> impl Iterator<Item = (Met, u64)> + '_ {
        self.0.iter().map(|(what, count)| (*what, *count))
    }
}
