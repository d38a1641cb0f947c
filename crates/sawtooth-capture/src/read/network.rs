//! IP: versions 4 and 6, fragments, extension headers, and tunnels, which are opened up to four deep: IPv4 and IPv6 in IP, GRE, VXLAN.

use std::net::{IpAddr, SocketAddr};

use etherparse::{IpNumber, LaxIpSlice};

use super::link::{Inner, ethernet, of_type};
use super::tally::{Met, Tally};
use super::{CapturedDatagram, CapturedPacket, Sighting, tcp};

/// As many tunnels in each other are opened.
const DEEPEST: u32 = 4;

/// Port of VXLAN (RFC 7348 §8), and that of Linux before it had one.
const VXLAN_PORTS: [u16; 2] = [4789, 8472];

/// What an IP header says, and what follows it.
#[derive(Clone, Copy, Debug)]
struct NetworkPacket<'a> {
    source: IpAddr,
    destination: IpAddr,
    ecn: u8,
    id: Option<u16>,
    bytes: u32,
    protocol: IpNumber,
    payload: Inner<'a>,
}

/// What an IP packet carries.
pub(super) fn decode(
    packet: &Inner<'_>,
    time_ns: i64,
    tally: &mut Tally,
) -> Option<CapturedPacket> {
    let mut inner = *packet;
    for _ in 0..=DEEPEST {
        let found = read(inner, tally)?;
        inner = match found.protocol {
            IpNumber::TCP => return sighting(&found, time_ns, tally).map(CapturedPacket::Tcp),
            IpNumber::UDP => match datagram(&found, time_ns, tally)? {
                (datagram, None) => return Some(CapturedPacket::Udp(datagram)),
                (_, Some(tunnelled)) => {
                    tally.add(Met::Vxlan);
                    ethernet(tunnelled, tally)?
                }
            },
            IpNumber::IPV4 => {
                tally.add(Met::IpInIp);
                found.payload
            }
            IpNumber::IPV6 => {
                tally.add(Met::SixInFour);
                found.payload
            }
            IpNumber::GRE => {
                tally.add(Met::Gre);
                after_gre(found.payload, tally)?
            }
            other => {
                tally.add(Met::Protocol(other.0));
                return None;
            }
        };
    }
    tally.add(Met::TooDeep);
    None
}

/// The header of a packet, extension headers included.
fn read<'a>(packet: Inner<'a>, tally: &mut Tally) -> Option<NetworkPacket<'a>> {
    let Ok((ip, stopped)) = LaxIpSlice::from_slice(packet.bytes) else {
        // Of an IP header the version is in the first byte, and there are at least 20 and 40.
        let least = match packet.bytes.first().map(|first| first >> 4) {
            Some(4) => 20,
            Some(6) => 40,
            _ => 0,
        };
        let is_cut = packet.bytes.len() < least;
        tally.add(if is_cut {
            Met::CutHeaders
        } else {
            Met::Malformed
        });
        return None;
    };
    if stopped.is_some() {
        tally.add(Met::CutHeaders);
        return None;
    }
    if ip.is_fragmenting_payload() {
        tally.add(Met::Fragment);
        return None;
    }
    let payload = ip.payload().payload;
    // The payload is a part of the packet's bytes: what stands before it are headers.
    let headers = payload.as_ptr() as usize - packet.bytes.as_ptr() as usize;
    let (told, ecn, id) = match &ip {
        LaxIpSlice::Ipv4(v4) => {
            let header = v4.header();
            let id = header.identification();
            let told = usize::from(header.total_len());
            (told, header.ecn().value(), (id != 0).then_some(id))
        }
        LaxIpSlice::Ipv6(v6) => {
            let header = v6.header();
            let told = match usize::from(header.payload_length()) {
                0 => 0,
                length => 40 + length,
            };
            (told, header.traffic_class() & 3, None)
        }
    };
    let length = if told == 0 {
        tally.add(Met::NoLength);
        packet.length
    } else {
        told
    };
    if length < headers {
        tally.add(Met::Malformed);
        return None;
    }
    Some(NetworkPacket {
        source: ip.source_addr(),
        destination: ip.destination_addr(),
        ecn,
        id,
        bytes: u32::try_from(length).unwrap_or(u32::MAX),
        protocol: ip.payload_ip_number(),
        payload: Inner {
            bytes: payload,
            length: length - headers,
        },
    })
}

fn sighting(packet: &NetworkPacket<'_>, time_ns: i64, tally: &mut Tally) -> Option<Sighting> {
    match tcp::segment(packet.payload) {
        Ok(read) => {
            if read.are_options_cut {
                tally.add(Met::CutOptions);
            }
            Some(Sighting {
                time_ns,
                are_options_cut: read.are_options_cut,
                segment: read.between(packet.source, packet.destination, packet.ecn),
                ip_id: packet.id,
                ip_bytes: packet.bytes,
            })
        }
        Err(met) => {
            tally.add(met);
            None
        }
    }
}

/// A datagram, and the frame in it if it is a tunnel's.
fn datagram<'a>(
    packet: &NetworkPacket<'a>,
    time_ns: i64,
    tally: &mut Tally,
) -> Option<(CapturedDatagram, Option<Inner<'a>>)> {
    let Some((ports, payload)) = packet
        .payload
        .bytes
        .first_chunk::<8>()
        .zip(packet.payload.after(8))
    else {
        tally.add(Met::CutHeaders);
        return None;
    };
    let port = |at: usize| u16::from_be_bytes([ports[at], ports[at + 1]]);
    let datagram = CapturedDatagram {
        time_ns,
        source: SocketAddr::new(packet.source, port(0)),
        destination: SocketAddr::new(packet.destination, port(2)),
        payload: u32::try_from(payload.length).unwrap_or(u32::MAX),
        ip_bytes: packet.bytes,
    };
    // The flag I says that the header is there (RFC 7348 §5).
    let is_tunnel =
        VXLAN_PORTS.contains(&port(2)) && payload.bytes.first().is_some_and(|f| f & 8 != 0);
    let tunnelled = if is_tunnel { payload.after(8) } else { None };
    Some((datagram, tunnelled))
}

/// What a tunnel of GRE carries: checksum, key and sequence number take four bytes each if their flags are set (RFC 2784 §2.1, RFC 2890 §2).
fn after_gre<'a>(payload: Inner<'a>, tally: &mut Tally) -> Option<Inner<'a>> {
    let Some(&[flags, _, high, low]) = payload.bytes.first_chunk::<4>() else {
        tally.add(Met::CutHeaders);
        return None;
    };
    let options = [0x80, 0x20, 0x10]
        .iter()
        .filter(|bit| flags & **bit != 0)
        .count();
    let Some(inner) = payload.after(4 + 4 * options) else {
        tally.add(Met::CutHeaders);
        return None;
    };
    match u16::from_be_bytes([high, low]) {
        // Ethernet (RFC 7637 §3.2).
        0x6558 => ethernet(inner, tally),
        other => of_type(other, inner, tally),
    }
}
