//! What a host leaves to its device is done here as a device does it, so that a capture has packets as they are on the wire: segments that TCP has handed down together are put apart,
//! and checksums are completed.

use std::iter;

/// Flags of TCP (RFC 9293 §3.1): those of the first segment only, and those of the last only.
const CWR: u8 = 0x80;
const LAST: u8 = 0x09;

/// What the kernel says of a packet: its `struct virtio_net_hdr` (OASIS, Virtual I/O Device Version 1.2, §5.1.6), in the byte order of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LeftToDevice {
    checksum: bool,
    /// Bytes of data of each segment, if there are several.
    segment: Option<usize>,
}

impl LeftToDevice {
    pub(super) const LENGTH: usize = 10;

    /// Reads it; nothing is left of a packet without it.
    pub(super) fn read(header: &[u8]) -> Self {
        let byte = |at| header.get(at).copied().unwrap_or(0);
        let segment = usize::from(u16::from_ne_bytes([byte(4), byte(5)]));
        Self {
            checksum: byte(0) & 1 != 0,
            segment: (byte(1) != 0 && segment > 0).then_some(segment),
        }
    }

    /// The packets that a device sends for this one, which is of IPv4; as it is if it is none of TCP.
    pub(super) fn done(self, packet: &[u8]) -> Vec<Vec<u8>> {
        let Some(tcp) = tcp_at(packet) else {
            return vec![packet.to_vec()];
        };
        let data = tcp + usize::from(packet[tcp + 12] >> 4) * 4;
        let size = self.segment.unwrap_or(usize::MAX);
        if !self.checksum && packet.len() <= data.saturating_add(size) {
            return vec![packet.to_vec()];
        }
        let headers = packet.get(..data).unwrap_or(packet);
        let content = packet.get(data..).unwrap_or_default();
        let pieces = content.chunks(size.max(1)).chain(iter::repeat_n(
            [].as_slice(),
            usize::from(content.is_empty()),
        ));
        let number = content.len().div_ceil(size.max(1)).max(1);
        let mut sent = Vec::with_capacity(number);
        for (at, piece) in pieces.enumerate() {
            let mut segment = [headers, piece].concat();
            if number > 1 {
                part(&mut segment, tcp, at, at * size, at + 1 == number);
            }
            finish(&mut segment, tcp);
            sent.push(segment);
        }
        sent
    }
}

/// Where TCP's header begins in a packet of IPv4 that has a whole one.
fn tcp_at(packet: &[u8]) -> Option<usize> {
    let first = *packet.first()?;
    let at = usize::from(first & 15) * 4;
    let whole = packet.len() >= at + 20 && at >= 20;
    (first >> 4 == 4 && packet.get(9) == Some(&6) && whole).then_some(at)
}

/// Makes a copy of what all segments have the one of its number, that begins so many bytes later.
fn part(segment: &mut [u8], tcp: usize, number: usize, offset: usize, last: bool) {
    let length = u16::try_from(segment.len()).unwrap_or(u16::MAX);
    put(segment, 2, length);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "both count on from their end to zero"
    )]
    let (number, offset) = (number as u16, offset as u32);
    put(segment, 4, word(segment, 4).wrapping_add(number));
    let sequence = u32::from(word(segment, tcp + 4)) << 16 | u32::from(word(segment, tcp + 6));
    let sequence = sequence.wrapping_add(offset).to_be_bytes();
    segment[tcp + 4..tcp + 8].copy_from_slice(&sequence);
    let flags = &mut segment[tcp + 13];
    *flags &= !if last { 0 } else { LAST } & !if number == 0 { 0 } else { CWR };
}

/// Completes the checksums of IPv4 (RFC 791 §3.1) and of TCP (RFC 9293 §3.1).
fn finish(packet: &mut [u8], tcp: usize) {
    put(packet, 10, 0);
    let header = !folded(sum(&packet[..tcp]));
    put(packet, 10, header);
    put(packet, tcp + 16, 0);
    let length = u64::try_from(packet.len() - tcp).unwrap_or(0);
    let pseudo = sum(&packet[12..20]) + 6 + length;
    let all = !folded(pseudo + sum(&packet[tcp..]));
    put(packet, tcp + 16, all);
}

fn word(packet: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([packet[at], packet[at + 1]])
}

fn put(packet: &mut [u8], at: usize, value: u16) {
    packet[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// The sum of 16-bit words, the last one perhaps half (RFC 1071 §1).
fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks(2);
    words
        .map(|pair| {
            u64::from(u16::from_be_bytes([
                pair[0],
                pair.get(1).copied().unwrap_or(0),
            ]))
        })
        .sum()
}

#[expect(clippy::cast_possible_truncation, reason = "folded to 16 bits")]
fn folded(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::slice;

    /// A packet of IPv4 and TCP with so much data, its checksums not complete.
    fn packet(data: usize, flags: u8) -> Vec<u8> {
        let mut packet = vec![0; 40];
        packet[0] = 0x45;
        put(&mut packet, 4, 0xffff);
        packet[8] = 64;
        packet[9] = 6;
        packet[12..20].copy_from_slice(&[10, 0, 1, 1, 10, 0, 2, 1]);
        packet[24..28].copy_from_slice(&[0xff, 0xff, 0xff, 0xf0]);
        packet[32] = 0x50;
        packet[33] = flags;
        packet.extend((0..data).map(|at| u8::try_from(at % 251).expect("small")));
        let length = u16::try_from(packet.len()).expect("of one packet");
        put(&mut packet, 2, length);
        packet
    }

    fn left(flags: u8, kind: u8, segment: u16) -> LeftToDevice {
        let [low, high] = segment.to_ne_bytes();
        LeftToDevice::read(&[flags, kind, 0, 0, low, high, 0, 0, 0, 0])
    }

    fn right(packet: &[u8]) -> bool {
        let length = packet.len() as u64 - 20;
        let tcp = sum(&packet[12..20]) + 6 + length + sum(&packet[20..]);
        folded(sum(&packet[..20])) == 0xffff && folded(tcp) == 0xffff
    }

    #[test]
    fn segments_that_were_handed_down_together_are_apart_and_make_the_same_stream() {
        // ACK, PSH and CWR.
        let whole = packet(2500, 0x98);
        let sent = left(1, 1, 1000).done(&whole);
        let lengths: Vec<usize> = sent.iter().map(Vec::len).collect();
        assert_eq!(lengths, [1040, 1040, 540]);
        let flags: Vec<u8> = sent.iter().map(|segment| segment[33]).collect();
        assert_eq!(flags, [0x90, 0x10, 0x18]);
        let numbers: Vec<u16> = sent.iter().map(|segment| word(segment, 4)).collect();
        assert_eq!(numbers, [0xffff, 0, 1]);
        assert_eq!(sent[1][24..28], 984_u32.to_be_bytes());
        let data: Vec<u8> = sent
            .iter()
            .flat_map(|segment| segment[40..].to_vec())
            .collect();
        assert_eq!(data, whole[40..]);
        assert!(sent.iter().all(|segment| right(segment)));
    }

    #[test]
    fn a_checksum_that_was_left_is_completed_and_nothing_else_is_touched() {
        for data in [0, 1, 1000] {
            let packet = packet(data, 0x10);
            let sent = left(1, 0, 0).done(&packet);
            assert_eq!(sent.len(), 1);
            assert!(right(&sent[0]));
            assert_eq!(sent[0][18..36], packet[18..36]);
            assert_eq!(left(0, 0, 0).done(&packet), slice::from_ref(&packet));
        }
        let short = [0x45, 0, 0, 20];
        assert_eq!(left(1, 1, 1000).done(&short), [short.to_vec()]);
    }
}
