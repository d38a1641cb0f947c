//! The link layer: which kinds are read, and where the network layer begins in them. Numbers are those of the registry of link types that pcap and pcapng share.

use super::frames::CapturedFrame;
use super::tally::{Met, Tally};

/// A packet of the network layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Inner<'a> {
    /// What was captured of it.
    pub bytes: &'a [u8],
    /// Bytes that it had, with what the link may have appended.
    pub length: usize,
}

impl Inner<'_> {
    /// Without so many bytes at its beginning; nothing if fewer were captured.
    pub(super) fn after(self, header: usize) -> Option<Self> {
        Some(Self {
            bytes: self.bytes.get(header..)?,
            length: self.length.saturating_sub(header),
        })
    }
}

/// The kinds that are read, by number and name.
pub const READ: [(u32, &str); 10] = [
    (0, "null"),
    (1, "Ethernet"),
    (12, "raw IP"),
    (14, "raw IP"),
    (101, "raw IP"),
    (108, "loopback"),
    (113, "Linux cooked"),
    (228, "IPv4"),
    (229, "IPv6"),
    (276, "Linux cooked 2"),
];

/// Whether frames of that kind are read.
pub(super) fn is_read(link_type: u32) -> bool {
    READ.iter().any(|(number, _)| *number == link_type)
}

/// The IP packet of a frame.
pub(super) fn network_layer<'a>(frame: &CapturedFrame<'a>, tally: &mut Tally) -> Option<Inner<'a>> {
    let whole = Inner {
        bytes: frame.bytes,
        length: usize::try_from(frame.original_length).unwrap_or(usize::MAX),
    };
    let found = match frame.link_type {
        // Four bytes name the family in a byte order that is not told; the packet itself says its version.
        0 | 108 => whole.after(4),
        12 | 14 | 101 | 228 | 229 => Some(whole),
        1 => return ethernet(whole, tally),
        113 => return after_type(whole, 14, 16, tally),
        276 => return after_type(whole, 0, 20, tally),
        other => {
            tally.add(Met::LinkType(other));
            return None;
        }
    };
    if found.is_none() {
        tally.add(Met::CutHeaders);
    }
    found
}

/// The IP packet in a frame of Ethernet.
pub(super) fn ethernet<'a>(frame: Inner<'a>, tally: &mut Tally) -> Option<Inner<'a>> {
    after_type(frame, 12, 14, tally)
}

/// What follows a header of so many bytes, in which the EtherType stands at `place`; tags of VLANs are counted and left out.
fn after_type<'a>(
    frame: Inner<'a>,
    mut place: usize,
    mut header: usize,
    tally: &mut Tally,
) -> Option<Inner<'a>> {
    let mut tags = 0;
    let ether_type = loop {
        let Some(&[high, low]) = frame.bytes.get(place..place + 2) else {
            tally.add(Met::CutHeaders);
            return None;
        };
        let found = u16::from_be_bytes([high, low]);
        if !matches!(found, 0x8100 | 0x88a8 | 0x9100) {
            break found;
        }
        tags += 1;
        // A tag is two bytes of its own and the type of what follows.
        place = header + 2;
        header += 4;
    };
    match tags {
        0 => {}
        1 => tally.add(Met::Vlan),
        _ => tally.add(Met::DoubleVlan),
    }
    let Some(inner) = frame.after(header) else {
        tally.add(Met::CutHeaders);
        return None;
    };
    of_type(ether_type, inner, tally)
}

/// The IP packet in what has this EtherType.
pub(super) fn of_type<'a>(
    ether_type: u16,
    inner: Inner<'a>,
    tally: &mut Tally,
) -> Option<Inner<'a>> {
    let found = match ether_type {
        0x0800 | 0x86dd => return Some(inner),
        0x8847 | 0x8848 => {
            tally.add(Met::Mpls);
            after_labels(inner)
        }
        0x8864 => {
            let Some(&[high, low]) = inner.bytes.get(6..8) else {
                tally.add(Met::CutHeaders);
                return None;
            };
            // A session's packets of PPP begin with their protocol: IPv4 or IPv6 (RFC 2516 §6, RFC 1332, RFC 5072).
            let protocol = u16::from_be_bytes([high, low]);
            if !matches!(protocol, 0x0021 | 0x0057) {
                tally.add(Met::PppProtocol(protocol));
                return None;
            }
            tally.add(Met::Pppoe);
            inner.after(8)
        }
        other => {
            tally.add(Met::EtherType(other));
            return None;
        }
    };
    if found.is_none() {
        tally.add(Met::CutHeaders);
    }
    found
}

/// What follows the labels of MPLS, the last of which has the bit S (RFC 3032 §2.1). It is taken for IP, whose first bits are its version: nothing tells what it is.
fn after_labels(packet: Inner<'_>) -> Option<Inner<'_>> {
    let labels = packet.bytes.chunks_exact(4);
    let last = labels.into_iter().position(|label| label[2] & 1 != 0)?;
    packet.after(4 * (last + 1))
}
