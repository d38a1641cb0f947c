//! The header of TCP (RFC 9293 §3.1) and its options.
//!
//! The header is read by etherparse; the options here, because theirs ends at the first kind that it does not know, and AccECN's are of that kind.

use std::net::{IpAddr, SocketAddr};

use etherparse::TcpHeaderSlice;

use super::link::Inner;
use super::tally::Met;
use crate::segment::{AccurateEcn, Flags, Options, Segment};

/// A header, before it is known between whom it went.
#[derive(Clone, Debug)]
pub(super) struct TcpHeader {
    source_port: u16,
    destination_port: u16,
    segment: Segment,
    /// The capture has not all of its options.
    pub(super) are_options_cut: bool,
}

impl TcpHeader {
    /// The segment between two hosts.
    pub(super) fn between(self, source: IpAddr, destination: IpAddr, ecn: u8) -> Segment {
        Segment {
            source: SocketAddr::new(source, self.source_port),
            destination: SocketAddr::new(destination, self.destination_port),
            ecn,
            ..self.segment
        }
    }
}

/// Reads a segment. Of one that was cut within its options, those are read that are whole.
pub(super) fn segment(payload: Inner<'_>) -> Result<TcpHeader, Met> {
    let fixed = payload.bytes.first_chunk::<20>().ok_or(Met::CutHeaders)?;
    let header_length = usize::from(fixed[12] >> 4) * 4;
    if header_length < 20 || header_length > payload.length {
        return Err(Met::Malformed);
    }
    // Without options, which are read below.
    let mut alone = *fixed;
    alone[12] = (alone[12] & 0x0f) | 0x50;
    let header = TcpHeaderSlice::from_slice(&alone).map_err(|_| Met::Malformed)?;
    let options = &payload.bytes[20..header_length.min(payload.bytes.len())];
    let flags = Flags(u16::from(fixed[13])).with(Flags::AE, header.ns());
    let nobody = SocketAddr::from(([0, 0, 0, 0], 0));
    Ok(TcpHeader {
        source_port: header.source_port(),
        destination_port: header.destination_port(),
        are_options_cut: header_length > payload.bytes.len(),
        segment: Segment {
            source: nobody,
            destination: nobody,
            ecn: 0,
            seq: header.sequence_number(),
            ack: if header.ack() {
                header.acknowledgment_number()
            } else {
                0
            },
            flags,
            window: header.window_size(),
            options: read_options(options),
            payload: u32::try_from(payload.length - header_length).unwrap_or(u32::MAX),
        },
    })
}

fn read_options(mut rest: &[u8]) -> Options {
    let mut found = Options::default();
    while let [kind, after @ ..] = rest {
        match kind {
            0 => break,
            1 => {
                rest = after;
                continue;
            }
            _ => {}
        }
        let Some(length) = after.first().map(|length| usize::from(*length)) else {
            break;
        };
        let Some(value) = rest.get(2..length.max(2)) else {
            break;
        };
        if length < 2 {
            // Where the next one begins is not known.
            break;
        }
        read_option(*kind, value, &mut found);
        rest = &rest[length..];
    }
    found
}

fn read_option(kind: u8, value: &[u8], found: &mut Options) {
    let word = |at: usize| {
        let bytes = value.get(at..at + 4)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?))
    };
    match (kind, value) {
        (2, [high, low]) => found.maximum_segment_size = Some(u16::from_be_bytes([*high, *low])),
        (3, [shift]) => found.window_scale = Some(*shift),
        (4, []) => found.sack_permitted = true,
        (5, edges) => {
            let blocks = (0..edges.len() / 8).filter_map(|at| word(8 * at).zip(word(8 * at + 4)));
            found.sack = blocks.collect();
        }
        (8, [_, _, _, _, _, _, _, _]) => found.timestamps = word(0).zip(word(4)),
        (172 | 174, counters) => {
            let counter = |at: usize| {
                let bytes = counters.get(3 * at..3 * at + 3)?;
                Some(u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]))
            };
            found.accurate_ecn = Some(AccurateEcn {
                ect1_first: kind == 174,
                counters: [counter(0), counter(1), counter(2)],
            });
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A header with these options, and 100 bytes of payload that were not captured.
    fn with_options(options: &[u8]) -> Segment {
        let mut bytes = vec![
            0x13, 0x88, 0, 80, 0, 0, 0, 7, 0, 0, 0, 9, 0, 0x10, 1, 0, 0, 0, 0, 0,
        ];
        bytes.extend(options);
        bytes[12] = u8::try_from(bytes.len() / 4 * 16).expect("at most 60 bytes");
        let inner = Inner {
            bytes: &bytes,
            length: bytes.len() + 100,
        };
        let ip = IpAddr::from([10, 0, 0, 1]);
        segment(inner).expect("a segment").between(ip, ip, 0)
    }

    #[test]
    fn rfc9768_3_2_3_options_behind_an_unknown_one_are_read() {
        // An unknown kind of four bytes, ECT(1) first with two counters, and a timestamp.
        let options = [
            253, 4, 1, 2, 174, 8, 0, 1, 2, 0, 0, 3, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6, 1, 1,
        ];
        let found = with_options(&options);
        assert_eq!(found.options.timestamps, Some((5, 6)));
        let ecn = AccurateEcn {
            ect1_first: true,
            counters: [Some(0x102), Some(3), None],
        };
        assert_eq!(found.options.accurate_ecn, Some(ecn));
        assert_eq!((found.payload, found.seq, found.ack), (100, 7, 9));
    }

    #[test]
    fn rfc2018_3_blocks_are_pairs_of_edges() {
        let mut options = vec![1, 1, 5, 18];
        for edge in [100u32, 200, 300, 400] {
            options.extend(edge.to_be_bytes());
        }
        let found = with_options(&options).options;
        assert_eq!(found.sack, [(100, 200), (300, 400)]);
    }

    #[test]
    fn options_that_do_not_end_are_left() {
        let found = with_options(&[8, 10, 0, 0]).options;
        assert_eq!(found, Options::default());
        let none = with_options(&[2, 0, 0, 0]).options;
        assert_eq!(none, Options::default());
    }

    #[test]
    fn a_header_that_is_longer_than_its_packet_is_malformed() {
        let bytes = [0u8; 20];
        let inner = Inner {
            bytes: &bytes,
            length: 20,
        };
        assert_eq!(segment(inner).map(|_| ()), Err(Met::Malformed));
        let cut = Inner {
            bytes: &bytes[..19],
            length: 1000,
        };
        assert_eq!(segment(cut).map(|_| ()), Err(Met::CutHeaders));
    }
}
