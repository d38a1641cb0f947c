//! Bytes of packets: IP, TCP or UDP headers in front of a payload of zeros.
//!
//! Specification: RFC 791, RFC 8200 (IP), RFC 9293 §3.1 (TCP), RFC 768 (UDP); options as RFC 9293 §3.7.1, RFC 7323 §2.2 and §3.2, RFC 2018 §2 and §3, RFC 9768 §3.2.3.
//!
//! Checksums are those of whole packets, however little of them is captured.

use std::io;
use std::net::{IpAddr, SocketAddr};

use etherparse::{IpEcn, IpNumber, Ipv4Header, Ipv6Header, TcpHeader, UdpHeader};

use crate::segment::{AccurateEcn, Flags, Options, Segment};

/// What the IP header says besides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpFields {
    /// Identification (RFC 6864), or the flow label of IPv6 (RFC 6437).
    pub identification: u16,
    /// Time to live, or hop limit.
    pub time_to_live: u8,
    /// The two bits of ECN (RFC 3168 §5).
    pub ecn: u8,
}

/// Where a packet of UDP comes from and goes to, and what it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UdpPacket {
    /// Both addresses are of the same version of IP.
    pub source: SocketAddr,
    /// Who is to get it.
    pub destination: SocketAddr,
    /// Bytes of payload.
    pub payload: u32,
}

/// A packet as it is captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CapturedBytes {
    /// Its first bytes.
    pub bytes: Vec<u8>,
    /// How many it has.
    pub length: u32,
}

impl CapturedBytes {
    fn of(headers: Vec<u8>, payload: u32, snap: usize) -> Self {
        let length = headers.len() + payload as usize;
        let mut bytes = headers;
        bytes.resize(length.min(snap), 0);
        Self {
            bytes,
            length: u32::try_from(length).expect("a packet of IP"),
        }
    }
}

/// No packet of IP is longer.
const LONGEST: usize = u16::MAX as usize;
/// Bytes of a TCP header without options, and of all options at most.
const TCP_HEADER: usize = 20;
const MOST_OPTIONS: usize = 40;
static ZEROS: [u8; LONGEST] = [0; LONGEST];

/// The first `snap` bytes of a segment's packet. `length`: what the packet takes, if that is known: options are padded to that.
///
/// # Errors
/// If it is longer than a packet of IP can be.
pub fn tcp_packet(
    segment: &Segment,
    ip: IpFields,
    length: Option<u32>,
    snap: usize,
) -> io::Result<CapturedBytes> {
    let zeros = payload_of(segment.payload)?;
    let mut options = options_bytes(&segment.options);
    if let Some(length) = length {
        pad(&mut options, segment, length as usize);
    }
    let mut tcp = TcpHeader::new(
        segment.source.port(),
        segment.destination.port(),
        segment.seq,
        segment.window,
    );
    tcp.acknowledgment_number = segment.ack;
    set_flags(&mut tcp, segment.flags);
    tcp.set_options_raw(&options)
        .expect("at most 40 bytes of options");
    let ends = (segment.source.ip(), segment.destination.ip());
    tcp.checksum = match ends {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            tcp.calc_checksum_ipv4_raw(from.octets(), to.octets(), zeros)
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            tcp.calc_checksum_ipv6_raw(from.octets(), to.octets(), zeros)
        }
        _ => return Err(two_versions()),
    }
    .map_err(io::Error::other)?;
    let content = tcp.header_len() + zeros.len();
    let mut headers = ip_header(ends.0, ends.1, ip, IpNumber::TCP, content)?;
    headers.extend_from_slice(&tcp.to_bytes());
    Ok(CapturedBytes::of(headers, segment.payload, snap))
}

/// The first `snap` bytes of a packet of UDP.
///
/// # Errors
/// If it is longer than a packet of IP can be.
pub fn udp_packet(packet: &UdpPacket, ip: IpFields, snap: usize) -> io::Result<CapturedBytes> {
    let zeros = payload_of(packet.payload)?;
    let ports = (packet.source.port(), packet.destination.port());
    let mut udp = UdpHeader::without_ipv4_checksum(ports.0, ports.1, zeros.len())
        .map_err(io::Error::other)?;
    let ends = (packet.source.ip(), packet.destination.ip());
    udp.checksum = match ends {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            udp.calc_checksum_ipv4_raw(from.octets(), to.octets(), zeros)
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            udp.calc_checksum_ipv6_raw(from.octets(), to.octets(), zeros)
        }
        _ => return Err(two_versions()),
    }
    .map_err(io::Error::other)?;
    let content = udp.header_len() + zeros.len();
    let mut headers = ip_header(ends.0, ends.1, ip, IpNumber::UDP, content)?;
    headers.extend_from_slice(&udp.to_bytes());
    Ok(CapturedBytes::of(headers, packet.payload, snap))
}

/// Bytes of a frame's header.
pub const FRAME_HEADER: u32 = 14;

/// The same packet in a frame of Ethernet, between stations of which each has its address from that of IP: 02-00 (locally administered, IEEE 802 §8.2.2) and its last four bytes.
#[must_use]
pub fn framed(packet: &CapturedBytes) -> CapturedBytes {
    let ip = packet.bytes.as_slice();
    let is_v4 = ip.first().is_none_or(|first| first >> 4 == 4);
    let (kind, ends) = if is_v4 {
        ([0x08, 0], [16, 12])
    } else {
        ([0x86, 0xdd], [36, 20])
    };
    let mut bytes = Vec::with_capacity(ip.len() + FRAME_HEADER as usize);
    for end in ends {
        bytes.extend([2, 0]);
        bytes.extend(ip.get(end..end + 4).unwrap_or(&[0; 4]));
    }
    bytes.extend(kind);
    bytes.extend(ip);
    CapturedBytes {
        bytes,
        length: packet.length + FRAME_HEADER,
    }
}

/// Makes the checksum of a packet of TCP or UDP wrong, as a bit that a wire has turned does.
pub fn damage(packet: &mut CapturedBytes) {
    let Some(first) = packet.bytes.first() else {
        return;
    };
    let (header, protocol) = if first >> 4 == 4 {
        (usize::from(first & 15) * 4, packet.bytes.get(9))
    } else {
        (40, packet.bytes.get(6))
    };
    let at = header
        + if protocol == Some(&IpNumber::TCP.0) {
            16
        } else {
            6
        };
    if let Some(byte) = packet.bytes.get_mut(at) {
        *byte ^= 1;
    }
}

fn payload_of(bytes: u32) -> io::Result<&'static [u8]> {
    ZEROS
        .get(..bytes as usize)
        .ok_or_else(|| too_long(bytes as usize))
}

fn too_long(bytes: usize) -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        format!(
            "a packet of {bytes} bytes is longer than a packet of IP can be, which is {LONGEST}"
        ),
    )
}

fn two_versions() -> io::Error {
    io::Error::new(
        io::ErrorKind::InvalidInput,
        "a packet has addresses of one version of IP",
    )
}

fn ip_header(
    source: IpAddr,
    destination: IpAddr,
    fields: IpFields,
    protocol: IpNumber,
    content: usize,
) -> io::Result<Vec<u8>> {
    let length = u16::try_from(content).map_err(|_| too_long(content))?;
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            let mut header = Ipv4Header::new(
                length,
                fields.time_to_live,
                protocol,
                source.octets(),
                destination.octets(),
            )
            .map_err(|_| too_long(content + Ipv4Header::MIN_LEN))?;
            header.identification = fields.identification;
            header.dont_fragment = true;
            header.ecn = IpEcn::try_new(fields.ecn & 3).expect("two bits");
            header.header_checksum = header.calc_header_checksum();
            Ok(header.to_bytes().to_vec())
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            let header = Ipv6Header {
                traffic_class: fields.ecn & 3,
                flow_label: u32::from(fields.identification)
                    .try_into()
                    .expect("16 of 20 bits"),
                payload_length: length,
                next_header: protocol,
                hop_limit: fields.time_to_live,
                source: source.octets(),
                destination: destination.octets(),
            };
            Ok(header.to_bytes().to_vec())
        }
        _ => Err(two_versions()),
    }
}

fn set_flags(tcp: &mut TcpHeader, flags: Flags) {
    tcp.fin = flags.has(Flags::FIN);
    tcp.syn = flags.has(Flags::SYN);
    tcp.rst = flags.has(Flags::RST);
    tcp.psh = flags.has(Flags::PSH);
    tcp.ack = flags.has(Flags::ACK);
    tcp.urg = flags.has(Flags::URG);
    tcp.ece = flags.has(Flags::ECE);
    tcp.cwr = flags.has(Flags::CWR);
    // The bit of the nonce sum before (RFC 3540).
    tcp.ns = flags.has(Flags::AE);
}

const END: u8 = 0;
const NO_OPERATION: u8 = 1;

/// Options in the order in which stacks have them, each aligned to words, as many blocks of SACK as there is room for.
fn options_bytes(options: &Options) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(MOST_OPTIONS);
    if let Some(size) = options.maximum_segment_size {
        bytes.extend([2, 4]);
        bytes.extend(size.to_be_bytes());
    }
    let permitted = options.sack_permitted;
    match (permitted, options.timestamps) {
        (false, None) => {}
        (true, None) => bytes.extend([NO_OPERATION, NO_OPERATION, 4, 2]),
        (_, Some((value, echo))) => {
            bytes.extend(if permitted { [4, 2] } else { [NO_OPERATION; 2] });
            bytes.extend([8, 10]);
            bytes.extend(value.to_be_bytes());
            bytes.extend(echo.to_be_bytes());
        }
    }
    if let Some(shift) = options.window_scale {
        bytes.extend([NO_OPERATION, 3, 3, shift]);
    }
    let room = (MOST_OPTIONS - bytes.len()).saturating_sub(4) / 8;
    let blocks = &options.sack[..options.sack.len().min(room)];
    if !blocks.is_empty() {
        let length = u8::try_from(2 + 8 * blocks.len()).expect("at most four blocks");
        bytes.extend([NO_OPERATION, NO_OPERATION, 5, length]);
        for (left, right) in blocks {
            bytes.extend(left.to_be_bytes());
            bytes.extend(right.to_be_bytes());
        }
    }
    if let Some(counters) = &options.accurate_ecn {
        accurate_ecn(counters, &mut bytes);
    }
    bytes
}

/// RFC 9768 §3.2.3, with as many of its counters as there is room for; without room for one it is left out.
fn accurate_ecn(option: &AccurateEcn, bytes: &mut Vec<u8>) {
    let told = option.counters.iter().map_while(|each| *each);
    let room = (MOST_OPTIONS - bytes.len()).saturating_sub(2) / 3;
    let counters: Vec<u32> = told.take(room).collect();
    if counters.is_empty() {
        return;
    }
    let length = 2 + 3 * counters.len();
    let kind = if option.ect1_first { 174 } else { 172 };
    bytes.extend([kind, u8::try_from(length).expect("at most 11 bytes")]);
    for counter in counters {
        bytes.extend(&counter.to_be_bytes()[1..]);
    }
    bytes.resize(bytes.len().next_multiple_of(4), NO_OPERATION);
}

/// Fills up options where the packet is longer than its headers.
fn pad(options: &mut Vec<u8>, segment: &Segment, length: usize) {
    let ip = if segment.source.is_ipv4() { 20 } else { 40 };
    let rest = length.saturating_sub(ip + TCP_HEADER + segment.payload as usize);
    // Words of options; what is no word belongs to another layer.
    let wanted = (rest / 4 * 4).min(MOST_OPTIONS);
    if wanted > options.len() {
        options.resize(wanted, END);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use etherparse::{SlicedPacket, TransportSlice};

    const IP: IpFields = IpFields {
        identification: 0x1c46,
        time_to_live: 64,
        ecn: 2,
    };

    fn segment(payload: u32, options: Options) -> Segment {
        Segment {
            source: "10.0.0.1:40000".parse().expect("an address"),
            destination: "10.0.0.2:5001".parse().expect("an address"),
            ecn: 2,
            seq: 0xffff_fff0,
            ack: 7,
            flags: Flags::ACK.with(Flags::AE, true).with(Flags::CWR, true),
            window: 501,
            options,
            payload,
        }
    }

    /// The sum of 16-bit words (RFC 1071 §1), which is all ones over what has its checksum in it.
    fn sum(words: &[u8]) -> u16 {
        let mut sum = 0_u32;
        for word in words.chunks(2) {
            let low = word.get(1).copied().unwrap_or(0);
            sum += u32::from(u16::from_be_bytes([word[0], low]));
            sum = (sum & 0xffff) + (sum >> 16);
        }
        u16::try_from(sum).expect("folded")
    }

    /// The sum over the pseudo header (RFC 9293 §3.1) and all behind the IP header.
    fn transport_sum(packet: &[u8], ip: usize, protocol: u8) -> u16 {
        let content = &packet[ip..];
        let addresses = if ip == 20 {
            &packet[12..20]
        } else {
            &packet[8..40]
        };
        let length = u16::try_from(content.len()).expect("short").to_be_bytes();
        sum(&[addresses, &[0, protocol], &length, content].concat())
    }

    #[test]
    fn rfc1071_1_sums_over_headers_and_payload_are_all_ones() {
        for payload in [0, 1, 1447, 1460] {
            let whole = tcp_packet(&segment(payload, Options::default()), IP, None, LONGEST)
                .expect("a packet");
            assert_eq!(whole.length, 40 + payload);
            assert_eq!(sum(&whole.bytes[..20]), 0xffff);
            assert_eq!(transport_sum(&whole.bytes, 20, 6), 0xffff);
            // What is cut off counts.
            let cut =
                tcp_packet(&segment(payload, Options::default()), IP, None, 40).expect("a packet");
            assert_eq!(cut.bytes, whole.bytes[..40]);
            assert_eq!(cut.length, whole.length);
        }
    }

    #[test]
    fn a_packet_of_udp_and_one_of_ipv6_have_right_sums_too() {
        let packet = UdpPacket {
            source: "[fd00::1]:9".parse().expect("an address"),
            destination: "[fd00::2]:5001".parse().expect("an address"),
            payload: 173,
        };
        let whole = udp_packet(&packet, IP, LONGEST).expect("a packet");
        assert_eq!(whole.length, 40 + 8 + 173);
        assert_eq!(transport_sum(&whole.bytes, 40, 17), 0xffff);
        let segment = Segment {
            source: packet.source,
            destination: packet.destination,
            ..segment(99, Options::default())
        };
        let whole = tcp_packet(&segment, IP, None, LONGEST).expect("a packet");
        assert_eq!(transport_sum(&whole.bytes, 40, 6), 0xffff);
        let mut damaged = whole.clone();
        damage(&mut damaged);
        assert_ne!(transport_sum(&damaged.bytes, 40, 6), 0xffff);
        assert_eq!(damaged.bytes[..56], whole.bytes[..56]);
    }

    #[test]
    fn the_header_of_ip_is_that_of_a_published_example() {
        // An IPv4 header of which the checksum is published: 45 00 00 73 00 00 40 00 40 11 b8 61 c0 a8 00 01 c0 a8 00 c7.
        let packet = UdpPacket {
            source: "192.168.0.1:53".parse().expect("an address"),
            destination: "192.168.0.199:53".parse().expect("an address"),
            payload: 0x73 - 28,
        };
        let fields = IpFields {
            identification: 0,
            time_to_live: 64,
            ecn: 0,
        };
        let whole = udp_packet(&packet, fields, LONGEST).expect("a packet");
        let published = [
            0x45, 0, 0, 0x73, 0, 0, 0x40, 0, 0x40, 0x11, 0xb8, 0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8,
            0, 0xc7,
        ];
        assert_eq!(whole.bytes[..20], published);
    }

    #[test]
    fn rfc7323_a_and_rfc2018_3_options_stand_as_their_documents_lay_them_out() {
        // RFC 7323 appendix A: NOP, NOP, timestamps; RFC 2018 §3: kind 5, length, edges.
        let data = Options {
            timestamps: Some((0x0102_0304, 5)),
            sack: vec![(10, 20), (30, 40), (50, 60), (70, 80)],
            ..Options::default()
        };
        let bytes = options_bytes(&data);
        assert_eq!(bytes[..12], [1, 1, 8, 10, 1, 2, 3, 4, 0, 0, 0, 5]);
        assert_eq!(bytes[12..16], [1, 1, 5, 26], "three blocks have room");
        assert_eq!(bytes[16..24], [0, 0, 0, 10, 0, 0, 0, 20]);
        assert_eq!(bytes.len(), 40);
        let syn = Options {
            maximum_segment_size: Some(1460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: Some((1, 0)),
            ..Options::default()
        };
        let expected = [
            2, 4, 5, 0xb4, 4, 2, 8, 10, 0, 0, 0, 1, 0, 0, 0, 0, 1, 3, 3, 7,
        ];
        assert_eq!(options_bytes(&syn), expected);
    }

    #[test]
    fn rfc9768_3_2_3_counters_have_24_bits_in_the_order_of_their_kind() {
        let option = AccurateEcn {
            ect1_first: false,
            counters: [Some(0x01_0203), Some(4), None],
        };
        let options = Options {
            accurate_ecn: Some(option),
            ..Options::default()
        };
        assert_eq!(options_bytes(&options), [172, 8, 1, 2, 3, 0, 0, 4]);
    }

    #[test]
    fn another_reader_finds_what_was_written() {
        let options = Options {
            timestamps: Some((1, 2)),
            ..Options::default()
        };
        let whole = tcp_packet(&segment(100, options), IP, Some(160), LONGEST).expect("a packet");
        assert_eq!(whole.length, 160, "options are padded");
        let sliced = SlicedPacket::from_ip(&whole.bytes).expect("a packet of IP");
        let Some(TransportSlice::Tcp(tcp)) = sliced.transport else {
            panic!("no TCP");
        };
        assert_eq!(
            (tcp.sequence_number(), tcp.acknowledgment_number()),
            (0xffff_fff0, 7)
        );
        assert!(tcp.ns() && tcp.cwr() && tcp.ack() && !tcp.ece() && !tcp.syn());
        assert_eq!((tcp.window_size(), tcp.payload().len()), (501, 100));
    }

    #[test]
    fn a_frame_is_between_stations_that_have_the_addresses_of_hosts() {
        let packet = tcp_packet(&segment(10, Options::default()), IP, None, 45).expect("a packet");
        let frame = framed(&packet);
        assert_eq!((frame.length, frame.bytes.len()), (64, 59));
        assert_eq!(
            frame.bytes[..14],
            [2, 0, 10, 0, 0, 2, 2, 0, 10, 0, 0, 1, 8, 0]
        );
        assert_eq!(frame.bytes[14..], packet.bytes);
        let whole = tcp_packet(&segment(10, Options::default()), IP, None, 99).expect("a packet");
        let frame = framed(&whole);
        let sliced = SlicedPacket::from_ethernet(&frame.bytes);
        assert!(sliced.is_ok(), "{sliced:?}");
    }

    #[test]
    fn what_is_longer_than_a_packet_can_be_is_an_error() {
        let long = tcp_packet(&segment(65_510, Options::default()), IP, None, 96);
        assert_eq!(
            long.expect_err("too long").to_string(),
            "a packet of 65550 bytes is longer than a packet of IP can be, which is 65535"
        );
    }
}
