//! Files of every kind, whole and damaged, and what the reader says of them.

use std::io::{self, Read};
use std::ops::ControlFlow;

use sawtooth_capture::read::{
    CapturedPacket, FileFacts, Met, Sighting, Tally, Unreadable, decode, read_frames,
};
use sawtooth_capture::write::pcapng::PacketWay;

use super::files::{Pcapng, around, ethernet, ipv4, ipv6, pcap};

struct Found {
    facts: FileFacts,
    packets: Vec<CapturedPacket>,
    tally: Tally,
}

impl Found {
    fn one(&self) -> &Sighting {
        match &self.packets[..] {
            [CapturedPacket::Tcp(sighting)] => sighting,
            other => panic!("one segment is expected, found {other:?}"),
        }
    }
}

fn read(file: impl Read + Send) -> Result<Found, Unreadable> {
    let (mut packets, mut tally) = (Vec::new(), Tally::default());
    let facts = read_frames(file, &mut |frame, _| {
        packets.extend(decode(&frame, &mut tally));
        ControlFlow::Continue(())
    })?;
    Ok(Found {
        facts,
        packets,
        tally,
    })
}

fn found(file: &[u8]) -> Found {
    read(file).expect("a capture")
}

/// Of one frame on a link of that type.
fn of_frame(link: u32, frame: Vec<u8>) -> Found {
    found(&pcap(false, 0xa1b2_c3d4, link, &[(1, 0, frame)], 65535))
}

fn refused(file: &[u8]) -> String {
    let error = read(file).err().expect("no capture");
    format!("{error}; {}", error.hint("x.pcap"))
}

const MICRO: u32 = 0xa1b2_c3d4;
const NANO: u32 = 0xa1b2_3c4d;

#[test]
fn pcap_is_read_in_both_byte_orders_and_both_resolutions() {
    for (magic, parts) in [(MICRO, 123_456), (NANO, 123_456_000)] {
        for big in [false, true] {
            let file = pcap(
                big,
                magic,
                1,
                &[(7, parts, ethernet(&[], 0x0800, &ipv4(100)))],
                65535,
            );
            let found = found(&file);
            let one = found.one();
            assert_eq!((one.time_ns, one.segment.payload), (7_123_456_000, 100));
            assert_eq!(
                (one.segment.seq, one.segment.ack, one.ip_bytes),
                (7, 9, 140)
            );
            assert_eq!(one.segment.source.to_string(), "10.0.0.1:5000");
            assert_eq!(found.facts.damage, None);
            assert_eq!(found.facts.bytes, file.len() as u64);
        }
    }
}

#[test]
fn sections_have_their_own_interfaces_clocks_and_link_types() {
    for big in [false, true] {
        let mut file = Pcapng::new(big);
        file.interface(1, 6, "eth0");
        file.interface(101, 9, "tun0");
        file.packet(1, 5_000_000_123, &ipv4(1), "a comment");
        file.packet(0, 5_000_001, &ethernet(&[], 0x0800, &ipv4(2)), "");
        file.section();
        file.interface(228, 3, "other");
        file.packet(0, 6000, &ipv4(3), "another");
        file.simple_packet(&ipv4(4));
        file.packet(9, 6000, &ipv4(5), "");
        let found = found(&file.file);
        let seen: Vec<_> = found
            .packets
            .iter()
            .map(|packet| match packet {
                CapturedPacket::Tcp(one) => (one.time_ns, one.segment.payload),
                CapturedPacket::Udp(_) => panic!("no datagrams are there"),
            })
            .collect();
        assert_eq!(
            seen,
            [
                (5_000_000_123, 1),
                (5_000_001_000, 2),
                (6_000_000_000, 3),
                (0, 4)
            ]
        );
        let facts = &found.facts;
        assert_eq!(
            (
                facts.sections,
                facts.comments,
                facts.homeless,
                facts.untimed
            ),
            (2, 2, 1, 1)
        );
        let names: Vec<_> = facts.interfaces.iter().map(|each| &each.name[..]).collect();
        assert_eq!(names, ["eth0", "tun0", "other"]);
    }
}

#[test]
fn every_link_type_that_is_listed_is_read() {
    let cooked = |at: usize, size: usize| {
        let mut frame = vec![0; size];
        frame[at..at + 2].copy_from_slice(&[0x86, 0xdd]);
        frame.extend(ipv6(50));
        frame
    };
    let null = [&[2, 0, 0, 0], &ipv4(50)[..]].concat();
    let loopback = [&[0, 0, 0, 24], &ipv6(50)[..]].concat();
    for (link, frame) in [
        (0, null),
        (1, ethernet(&[], 0x86dd, &ipv6(50))),
        (12, ipv4(50)),
        (14, ipv4(50)),
        (101, ipv6(50)),
        (108, loopback),
        (113, cooked(14, 16)),
        (228, ipv4(50)),
        (229, ipv6(50)),
        (276, cooked(0, 20)),
    ] {
        assert_eq!(of_frame(link, frame).one().segment.payload, 50, "{link}");
    }
}

#[test]
fn tags_and_tunnels_are_counted_by_name_and_opened() {
    let gre = |flags: u8, kind: u16, inner: &[u8]| {
        let mut packet = vec![flags, 0];
        packet.extend(kind.to_be_bytes());
        packet.resize(packet.len() + 4 * (flags & 0xb0).count_ones() as usize, 0);
        packet.extend(inner);
        around(47, &packet)
    };
    let in_ethernet = ethernet(&[], 0x0800, &ipv4(50));
    let mut vxlan = vec![0x30, 0x39, 0x12, 0xb5, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 1, 0];
    vxlan.extend(&in_ethernet);
    let mut older = vxlan.clone();
    older[2..4].copy_from_slice(&8472_u16.to_be_bytes());
    // Two labels, of which the second is the last.
    let labelled = [&[0, 1, 0, 64, 0, 2, 1, 64], &ipv4(50)[..]].concat();
    let session =
        |protocol: u8, inner: &[u8]| [&[0x11, 0, 0, 7, 0, 92, 0, protocol], inner].concat();
    for (met, frame) in [
        (Met::Vlan, ethernet(&[0x8100], 0x0800, &ipv4(50))),
        (
            Met::DoubleVlan,
            ethernet(&[0x88a8, 0x8100], 0x0800, &ipv4(50)),
        ),
        (Met::IpInIp, ethernet(&[], 0x0800, &around(4, &ipv4(50)))),
        (
            Met::SixInFour,
            ethernet(&[], 0x0800, &around(41, &ipv6(50))),
        ),
        (Met::Gre, ethernet(&[], 0x0800, &gre(0, 0x0800, &ipv4(50)))),
        (
            Met::Gre,
            ethernet(&[], 0x0800, &gre(0xb0, 0x86dd, &ipv6(50))),
        ),
        (
            Met::Gre,
            ethernet(&[], 0x0800, &gre(0, 0x6558, &in_ethernet)),
        ),
        (Met::Vxlan, ethernet(&[], 0x0800, &around(17, &vxlan))),
        (Met::Vxlan, ethernet(&[], 0x0800, &around(17, &older))),
        (Met::Mpls, ethernet(&[], 0x8847, &labelled)),
        (Met::Pppoe, ethernet(&[], 0x8864, &session(0x21, &ipv4(50)))),
        (Met::Pppoe, ethernet(&[], 0x8864, &session(0x57, &ipv6(50)))),
    ] {
        let found = of_frame(1, frame);
        assert_eq!(found.one().segment.payload, 50, "{met:?}");
        assert_eq!(found.tally.iter().collect::<Vec<_>>(), [(met, 1)]);
    }
    let mut deep = ipv4(1);
    for _ in 0..5 {
        deep = around(4, &deep);
    }
    let found = of_frame(101, deep);
    assert!(found.packets.is_empty());
    assert_eq!(found.tally.count(Met::TooDeep), 1);
}

/// An IPv6 packet with a segment behind an extension header, which has this number.
fn extended(number: u8, header: &[u8]) -> Vec<u8> {
    let mut packet = ipv6(50);
    packet[6] = number;
    let length = u16::try_from(packet.len() - 40 + header.len()).expect("short");
    packet[4..6].copy_from_slice(&length.to_be_bytes());
    packet.splice(40..40, header.iter().copied());
    packet
}

#[test]
fn rfc8200_4_extension_headers_are_passed_over() {
    let options = [6, 0, 1, 4, 0, 0, 0, 0];
    // Segments left: none. A fragment that is the only one (RFC 6946), and two headers in a row.
    let routing = [6, 0, 4, 0, 0, 0, 0, 0];
    let atomic = [6, 0, 0, 0, 0, 0, 0, 9];
    let two = [[60, 0, 1, 4, 0, 0, 0, 0], options].concat();
    for (number, header) in [
        (0, &options[..]),
        (60, &options),
        (43, &routing),
        (44, &atomic),
        (0, &two),
    ] {
        let found = of_frame(1, ethernet(&[], 0x86dd, &extended(number, header)));
        assert_eq!(found.one().segment.payload, 50, "{number}");
        assert_eq!(found.tally.iter().count(), 0, "{number}");
    }
}

#[test]
fn what_is_not_analysed_is_counted_by_name() {
    let mut fragment = ipv4(50);
    fragment[6] = 0x20;
    let mut short = ipv4(50);
    short[3] = 21;
    for (met, frame) in [
        (Met::EtherType(0x0806), ethernet(&[], 0x0806, &[0; 28])),
        (Met::Protocol(1), ethernet(&[], 0x0800, &around(1, &[0; 8]))),
        (Met::Fragment, ethernet(&[], 0x0800, &fragment)),
        (
            Met::Fragment,
            ethernet(&[], 0x86dd, &extended(44, &[6, 0, 0, 1, 0, 0, 0, 9])),
        ),
        (
            Met::EtherType(0x8863),
            ethernet(&[], 0x8863, &[0x11, 9, 0, 0, 0, 0]),
        ),
        (
            Met::PppProtocol(0xc021),
            ethernet(&[], 0x8864, &[0x11, 0, 0, 7, 0, 4, 0xc0, 0x21, 1, 1]),
        ),
        (Met::CutHeaders, ethernet(&[], 0x8864, &[0x11, 0, 0, 7])),
        (Met::Malformed, ethernet(&[], 0x0800, &[0x15; 40])),
        (Met::CutHeaders, ethernet(&[], 0x0800, &[0x45; 10])),
        (Met::CutHeaders, vec![0; 13]),
    ] {
        let found = of_frame(1, frame);
        assert!(found.packets.is_empty());
        assert_eq!(found.tally.iter().collect::<Vec<_>>(), [(met, 1)]);
    }
    assert_eq!(
        Met::EtherType(0x0806).to_string(),
        "frames of ARP, not analysed"
    );
    assert_eq!(
        Met::PppProtocol(0xc021).to_string(),
        "frames of PPP protocol 0xc021, not analysed"
    );
    assert_eq!(
        Met::Protocol(253).to_string(),
        "packets of IP protocol 253, not analysed"
    );
    assert_eq!(of_frame(101, short).tally.count(Met::CutHeaders), 1);
}

#[test]
fn lengths_come_from_the_ip_header_but_where_it_has_none() {
    // A short frame is padded, a long one cut.
    let mut padded = ethernet(&[], 0x0800, &ipv4(0));
    padded.resize(60, 0);
    assert_eq!(of_frame(1, padded).one().segment.payload, 0);
    let cut = pcap(
        false,
        MICRO,
        1,
        &[(1, 0, ethernet(&[], 0x0800, &ipv4(1000)))],
        60,
    );
    let found = found(&cut);
    assert_eq!(found.one().segment.payload, 1000);
    assert_eq!(found.tally.count(Met::CutFrame), 1);
    let mut offloaded = ipv4(9000);
    offloaded[2..4].fill(0);
    let found = of_frame(1, ethernet(&[], 0x0800, &offloaded));
    assert_eq!(found.one().segment.payload, 9000);
    assert_eq!(found.tally.count(Met::NoLength), 1);
}

#[test]
fn what_stands_before_the_end_of_a_truncated_file_is_kept_and_the_place_told() {
    let frame = ethernet(&[], 0x0800, &ipv4(100));
    let one = (1, 0, frame.clone());
    let file = pcap(false, MICRO, 1, &[one.clone(), one], 65535);
    for missing in [1, 100, 165] {
        let found = found(&file[..file.len() - missing]);
        assert_eq!(found.packets.len(), 1);
        assert_eq!(
            found.facts.damage.expect("damage").to_string(),
            "it ends within the block that begins at byte 194; all before it was read"
        );
    }
    let mut ng = Pcapng::new(false);
    ng.interface(1, 6, "a");
    ng.packet(0, 1, &frame, "");
    let begin = ng.file.len();
    ng.packet(0, 2, &frame, "");
    let found = found(&ng.file[..ng.file.len() - 1]);
    assert_eq!(found.packets.len(), 1);
    assert_eq!(found.facts.damage.expect("damage").at, begin as u64);
}

#[test]
fn a_packet_has_its_interface_its_way_and_its_comment() {
    for big in [false, true] {
        let mut file = Pcapng::new(big);
        file.interface(1, 6, "left");
        file.interface(1, 6, "right");
        let frame = ethernet(&[], 0x0800, &ipv4(100));
        // What stands above the two bits is of other things.
        file.packet_with_flags(0, 1, &frame, "", 0x0100_0101);
        file.packet_with_flags(1, 2, &frame, "damaged", 2);
        file.packet(1, 3, &frame, "");
        let mut seen = Vec::new();
        read_frames(&file.file[..], &mut |frame, _| {
            let comment = frame.comment.map(ToOwned::to_owned);
            seen.push((frame.interface.to_owned(), frame.way, comment));
            ControlFlow::Continue(())
        })
        .expect("a capture");
        let comment = Some("damaged".to_owned());
        assert_eq!(
            seen,
            [
                ("left".into(), PacketWay::Inbound, None),
                ("right".into(), PacketWay::Outbound, comment),
                ("right".into(), PacketWay::Unknown, None),
            ]
        );
    }
}

#[test]
fn what_is_no_block_ends_the_reading_with_its_place() {
    let mut ng = Pcapng::new(false);
    ng.interface(1, 6, "a");
    ng.packet(0, 1, &ethernet(&[], 0x0800, &ipv4(100)), "");
    let begin = ng.file.len();
    ng.packet(0, 2, &ethernet(&[], 0x0800, &ipv4(100)), "");
    // The length at the block's end is another than at its beginning.
    *ng.file.last_mut().expect("a block") = 1;
    let seen = found(&ng.file);
    assert_eq!(seen.packets.len(), 1);
    assert_eq!(
        seen.facts.damage.expect("damage").to_string(),
        format!("what begins at byte {begin} is no block of a capture; all before it was read")
    );
    let mut file = pcap(false, MICRO, 1, &[], 0);
    file.extend([0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    file.resize(80 << 20, 0);
    let seen = found(&file);
    assert_eq!(
        seen.facts.damage.expect("damage").to_string(),
        "the block that begins at byte 24 is told to be larger than 64 MiB; all before it was read"
    );
}

#[test]
fn a_frame_larger_than_the_first_buffer_is_read() {
    let big = ethernet(&[], 0x0800, &vec![0x45; 3 << 20]);
    let frames = [(1, 0, big), (2, 0, ethernet(&[], 0x0800, &ipv4(5)))];
    let found = found(&pcap(false, MICRO, 1, &frames, 4 << 20));
    assert_eq!((found.facts.frames, found.facts.damage), (2, None));
}

#[test]
fn what_is_no_capture_is_told_with_what_to_do() {
    assert_eq!(
        refused(b""),
        "is empty; whoever captures writes the header first: has it begun?"
    );
    assert_eq!(
        refused(b"hello"),
        "is no capture: it begins with 68 65 6c 6c; pcap (d4 c3 b2 a1, and its three relatives) and pcapng (0a 0d 0d 0a) are read; \
         Wireshark's `editcap` makes pcapng of others"
    );
    assert_eq!(
        refused(&[0x1f, 0x8b, 8, 0]),
        "is compressed (gzip); give what it holds: `zcat x.pcap | sawtooth analyze -`"
    );
    assert_eq!(
        refused(&[0x28, 0xb5, 0x2f, 0xfd]),
        "is compressed (zstd); give what it holds: `zstdcat x.pcap | sawtooth analyze -`"
    );
    assert_eq!(
        refused(&MICRO.to_le_bytes()),
        "begins as pcap does, and ends within its header; ask for another copy of it"
    );
    let mut section = Pcapng::new(false).file;
    section[8..12].copy_from_slice(&[1, 2, 3, 4]);
    assert_eq!(
        refused(&section),
        "begins as pcapng does, and its section header has no byte order or does not end; ask for another copy of it"
    );
    assert_eq!(
        refused(&pcap(false, 0xa1b2_cd34, 1, &[], 0)),
        "is a pcap file as patched kernels of Linux 2.2 wrote it (a1b2cd34); Wireshark reads it: `editcap x.pcap new.pcapng`"
    );
    assert_eq!(
        refused(&pcap(false, MICRO, 105, &[(1, 0, vec![0; 40])], 99)),
        "was captured on links of type 105; link types that are read: 0 (null), 1 (Ethernet), 12 (raw IP), 14 (raw IP), 101 (raw IP), \
         108 (loopback), 113 (Linux cooked), 228 (IPv4), 229 (IPv6), 276 (Linux cooked 2)"
    );
}

#[test]
fn links_of_other_kinds_beside_those_that_are_read_are_counted() {
    let mut ng = Pcapng::new(false);
    ng.interface(105, 6, "wlan0");
    ng.interface(1, 6, "eth0");
    ng.packet(0, 1, &[0; 50], "");
    ng.packet(1, 2, &ethernet(&[], 0x0800, &ipv4(3)), "");
    let found = found(&ng.file);
    assert_eq!(found.one().segment.payload, 3);
    assert_eq!(found.tally.count(Met::LinkType(105)), 1);
    let text = Met::LinkType(105).to_string();
    assert_eq!(text, "frames of link type 105, which is not read");
}

/// Gives a byte at a time, and fails after those that it has.
struct Slow<'a>(&'a [u8]);

impl Read for Slow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let (&first, rest) = self
            .0
            .split_first()
            .ok_or_else(|| io::Error::other("the line is cut"))?;
        buffer[0] = first;
        self.0 = rest;
        Ok(1)
    }
}

#[test]
fn an_input_that_fails_is_told_with_its_reason() {
    let frames: Vec<_> = (0..1100)
        .map(|at| (at, 0, ethernet(&[], 0x0800, &ipv4(1000))))
        .collect();
    let file = pcap(false, MICRO, 1, &frames, 65535);
    let found = read(Slow(&file)).expect("a capture");
    let damage = found.facts.damage.expect("damage").to_string();
    assert!(
        damage.starts_with("it could not be read after byte "),
        "{damage}"
    );
    assert!(
        damage.ends_with(": the line is cut; all before it was read"),
        "{damage}"
    );
    assert!(found.packets.len() > 900);
}
