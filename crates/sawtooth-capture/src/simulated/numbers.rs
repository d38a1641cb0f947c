//! The numbers of a connection as a point sees them, and its segments in them.
//!
//! Initial sequence numbers are fixed for each connection and look random (RFC 9293 §3.4.1 asks for that); numbers count modulo 2³².

use std::net::SocketAddr;

use sawtooth_core::internals::sim::{ByteRange, SeenAck, SeenData, SeenPacket, SeenSegment};
use sawtooth_core::internals::tcp::params::Feedback;
use sawtooth_core::units::ByteCount;

use super::faces::{FlowFace, TcpFace};
use crate::segment::{Flags, Options, Segment};

/// What AccECN's counter of marked packets begins with (RFC 9768 §3.2.2.1), and what the handshake's last packet says of a SYN/ACK that is not ECN-capable (table 3 there).
const FIRST_COUNT: u16 = 5;
const NOT_ECT: u16 = 0b010;

/// A connection at a point: what each side has sent, that from the beginning of the path first.
#[derive(Debug)]
pub(super) struct ConnectionNumbers {
    sides: [SideNumbers; 2],
}

#[derive(Clone, Copy, Debug)]
struct SideNumbers {
    initial: u32,
    /// One past the last number that was seen, from the SYN's on, which is 0.
    end: u64,
    /// Packets that were seen.
    packets: u16,
    /// Data were seen.
    has_data: bool,
    /// The last timestamp.
    stamp: u32,
}

impl ConnectionNumbers {
    pub(super) fn new(connection: u32) -> Self {
        let side = |side: u64| SideNumbers {
            initial: scrambled(u64::from(connection) << 1 | side),
            end: 1,
            packets: 0,
            has_data: false,
            stamp: 0,
        };
        Self {
            sides: [side(0), side(1)],
        }
    }

    /// The identification of the next packet of a side.
    pub(super) fn identify(&mut self, returns: bool) -> u16 {
        let packets = &mut self.sides[usize::from(returns)].packets;
        *packets = packets.wrapping_add(1);
        *packets
    }

    /// A segment as its headers say it.
    pub(super) fn segment(
        &mut self,
        packet: &SeenPacket,
        seen: &SeenSegment,
        face: &FlowFace,
    ) -> Segment {
        let tcp = face.tcp.as_ref().expect("a flow of TCP");
        let [source, destination] = face.ends(packet.connection, packet.returns);
        let [own, other] = if packet.returns { [1, 0] } else { [0, 1] };
        if let Some(data) = &seen.data {
            self.sides[own].send(data);
        }
        let opens = seen.data.is_some_and(|data| data.syn);
        let answers = seen.data.is_none()
            && !self.sides[other].has_data
            && seen.ack.as_ref().is_some_and(|ack| ack.answers_syn);
        let flags = flags(seen, tcp, opens, answers);
        let options = self.options(packet, seen, tcp, [own, other], opens || answers);
        let start = match &seen.data {
            Some(data) => data.start,
            None if answers => ByteCount::ZERO,
            None => ByteCount::new(self.sides[own].end),
        };
        let next = match &seen.ack {
            Some(ack) => ack.next,
            None => ByteCount::new(1),
        };
        let window = seen.ack.as_ref().and_then(|ack| ack.window);
        let ends: [SocketAddr; 2] = [source, destination];
        Segment {
            source: ends[0],
            destination: ends[1],
            ecn: packet.ecn as u8,
            seq: self.sides[own].number(start),
            ack: if opens {
                0
            } else {
                self.sides[other].number(next)
            },
            flags,
            window: tcp.window(window, opens || answers),
            options,
            payload: seen.data.map_or(0, |data| {
                u32::try_from(data.payload.get()).unwrap_or(u32::MAX)
            }),
        }
    }

    fn options(
        &mut self,
        packet: &SeenPacket,
        seen: &SeenSegment,
        tcp: &TcpFace,
        [own, other]: [usize; 2],
        is_syn: bool,
    ) -> Options {
        let stamps = match (&seen.data, &seen.ack) {
            (Some(SeenData { stamp, echo, .. }), _) | (None, Some(SeenAck { stamp, echo, .. })) => {
                (*stamp, *echo)
            }
            (None, None) => Default::default(),
        };
        let timestamps = tcp.stamp(stamps.0, packet.time).map(|value| {
            self.sides[own].stamp = value;
            // The handshake's third packet repeats what the second said.
            let repeats = stamps.1.is_none() && !is_syn && seen.data.is_some();
            let echo = if repeats {
                self.sides[other].stamp
            } else {
                stamps.1.bits()
            };
            (value, echo)
        });
        let mut options = Options {
            timestamps,
            ..Options::default()
        };
        if is_syn {
            options.maximum_segment_size = Some(tcp.maximum_segment_size);
            options.window_scale = tcp.window_scale;
            options.sack_permitted = tcp.has_sack;
        } else if let Some(ack) = seen.ack.as_ref().filter(|_| tcp.has_sack) {
            let blocks = ack.repeated.iter().chain(&ack.sack);
            let edge = |range: &ByteRange| {
                let side = &self.sides[other];
                (side.number(range.start), side.number(range.end))
            };
            options.sack = blocks.map(edge).collect();
        }
        options
    }
}

impl SideNumbers {
    fn number(&self, position: ByteCount) -> u32 {
        let low = position.get() & u64::from(u32::MAX);
        self.initial
            .wrapping_add(u32::try_from(low).expect("32 bits"))
    }

    fn send(&mut self, data: &SeenData) {
        let taken = data.payload + ByteCount::from(u32::from(data.syn) + u32::from(data.fin));
        self.end = self.end.max((data.start + taken).get());
        self.has_data |= !data.payload.is_zero();
    }
}

fn flags(seen: &SeenSegment, tcp: &TcpFace, opens: bool, answers: bool) -> Flags {
    let mut flags = Flags::default()
        .with(Flags::SYN, opens || answers)
        .with(Flags::ACK, !opens);
    if let Some(data) = &seen.data {
        flags = flags
            .with(Flags::PSH, data.push && !data.payload.is_zero())
            .with(Flags::FIN, data.fin);
    }
    match tcp.feedback {
        Feedback::Off => flags,
        Feedback::Classic | Feedback::Dctcp if opens || answers => {
            flags.with(Flags::ECE, true).with(Flags::CWR, opens)
        }
        Feedback::Classic | Feedback::Dctcp => flags
            .with(Flags::CWR, seen.data.is_some_and(|data| data.cwr))
            .with(Flags::ECE, seen.ack.as_ref().is_some_and(|ack| ack.ece)),
        Feedback::Accurate => {
            // Of a packet with data that the handshake's third would have been, and of that.
            let ends_handshake = seen.data.is_some_and(|data| {
                data.ends_handshake || (data.start.get() == 1 && !tcp.ends_handshake_alone)
            });
            let count = if opens {
                0b111
            } else if answers || ends_handshake {
                NOT_ECT
            } else {
                let marks = seen.ack.as_ref().map_or(0, |ack| ack.marks);
                marks.wrapping_add(FIRST_COUNT)
            };
            flags
                .with(Flags::AE, count & 4 != 0)
                .with(Flags::CWR, count & 2 != 0)
                .with(Flags::ECE, count & 1 != 0)
        }
    }
}

/// A number that looks random (the finalizer of SplitMix64, Steele, Lea and Flood 2014).
fn scrambled(number: u64) -> u32 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    u32::try_from((mixed ^ mixed >> 31) >> 32).expect("32 bits")
}
