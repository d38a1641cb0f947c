//! The numbers of a connection, and its segments in them.
//!
//! Initial sequence numbers are fixed for each connection and look random (RFC 9293 §3.4.1 asks for that); numbers count modulo 2³². Nothing here depends on the point at which a packet is seen.

use sawtooth_core::internals::sim::{ByteRange, SeenData, SeenPacket, SeenSegment};
use sawtooth_core::internals::tcp::params::Feedback;
use sawtooth_core::units::ByteCount;

use super::faces::{FlowFace, TcpFace};
use crate::segment::{AccurateEcn, Flags, Options, Segment};

/// What AccECN's counter of marked packets begins with (RFC 9768 §3.2.2.1), and what the handshake's last packet says of a SYN/ACK that is not ECN-capable (table 3 there).
const FIRST_COUNT: u16 = 5;
const NOT_ECT: u16 = 0b010;
/// What the counters of bytes begin with that came as ECT(0), as CE and as ECT(1) (RFC 9768 §3.2.1).
const FIRST_BYTES: [u32; 3] = [1, 0, 1];
/// They have 24 bits.
const MOST_BYTES: u32 = (1 << 24) - 1;

/// A segment as its headers say it.
pub(super) fn segment(packet: &SeenPacket, seen: &SeenSegment, face: &FlowFace) -> Segment {
    let tcp = face.tcp.as_ref().expect("a flow of TCP");
    let [source, destination] = face.ends(packet.connection, packet.returns);
    let own = SideNumbers::new(packet.connection, packet.returns);
    let other = SideNumbers::new(packet.connection, !packet.returns);
    let opens = seen.data.is_some_and(|data| data.syn);
    let answers = seen.data.is_none() && seen.ack.as_ref().is_some_and(|ack| ack.answers_syn);
    let start = match &seen.data {
        Some(data) => data.start,
        None if answers => ByteCount::ZERO,
        // One that sends no data has only sent its SYN.
        None => seen.departure.next.max(ByteCount::new(1)),
    };
    let next = match &seen.ack {
        Some(ack) => ack.next,
        // The other side has sent its SYN, and perhaps its FIN.
        None => ByteCount::new(1 + u64::from(seen.data.is_some_and(|data| data.answers_fin))),
    };
    let window = seen.ack.as_ref().and_then(|ack| ack.window);
    Segment {
        source,
        destination,
        ecn: packet.ecn as u8,
        seq: own.number(start),
        ack: if opens { 0 } else { other.number(next) },
        flags: flags(seen, tcp, opens, answers),
        window: tcp.window(window, opens || answers),
        options: options(seen, tcp, other, [opens, answers]),
        payload: seen.data.map_or(0, |data| {
            u32::try_from(data.payload.get()).unwrap_or(u32::MAX)
        }),
    }
}

fn options(
    seen: &SeenSegment,
    tcp: &TcpFace,
    other: SideNumbers,
    [opens, answers]: [bool; 2],
) -> Options {
    let is_syn = opens || answers;
    let mut options = Options {
        timestamps: timestamps(seen, tcp, is_syn),
        ..Options::default()
    };
    if is_syn {
        options.maximum_segment_size = Some(tcp.maximum_segment_size);
        options.window_scale = tcp.window_scale;
        options.sack_permitted = tcp.has_sack;
    } else if let Some(ack) = seen.ack.as_ref().filter(|_| tcp.has_sack) {
        let blocks = ack.repeated.iter().chain(&ack.sack);
        let edge = |range: &ByteRange| (other.number(range.start), other.number(range.end));
        options.sack = blocks.map(edge).collect();
    }
    // Not on a SYN (RFC 9768 §3.2.3.2.1), and not beside data, where no packet has room for it.
    let is_alone = seen
        .data
        .is_none_or(|data| data.ends_handshake || data.answers_fin);
    if tcp.feedback == Feedback::Accurate && is_alone {
        options.accurate_ecn = Some(bytes_by_mark(seen.departure.came));
    }
    options
}

fn timestamps(seen: &SeenSegment, tcp: &TcpFace, is_syn: bool) -> Option<(u32, u32)> {
    let (stamp, echo) = match (&seen.data, &seen.ack) {
        (Some(SeenData { stamp, echo, .. }), _) => (*stamp, *echo),
        (None, Some(ack)) => (ack.stamp, ack.echo),
        (None, None) => Default::default(),
    };
    let value = tcp.stamp(stamp, seen.departure.time)?;
    let heard = seen.departure.heard.filter(|_| !is_syn && echo.is_none());
    let repeated = heard.and_then(|heard| tcp.stamp(heard.stamp, heard.time));
    Some((value, repeated.unwrap_or(echo.bits())))
}

/// The counters of bytes, those first that count what most come as: where there is no room for all, the last are left out.
fn bytes_by_mark(came: [u32; 3]) -> AccurateEcn {
    let counter = |at: usize| Some(FIRST_BYTES[at].wrapping_add(came[at]) & MOST_BYTES);
    let ect1_first = came[2] > came[0];
    let order = if ect1_first { [2, 1, 0] } else { [0, 1, 2] };
    AccurateEcn {
        ect1_first,
        counters: order.map(counter),
    }
}

/// The numbers of a side of a connection.
#[derive(Clone, Copy, Debug)]
struct SideNumbers {
    initial: u32,
}

impl SideNumbers {
    fn new(connection: u32, returns: bool) -> Self {
        Self {
            initial: scrambled(u64::from(connection) << 1 | u64::from(returns)),
        }
    }

    fn number(self, position: ByteCount) -> u32 {
        let low = position.get() & u64::from(u32::MAX);
        self.initial
            .wrapping_add(u32::try_from(low).expect("32 bits"))
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
    if seen.ack.as_ref().is_some_and(|ack| ack.fin) {
        flags = flags.with(Flags::FIN, true);
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
