//! What is seen of a packet: its headers, with numbers of bytes that count from the SYN's, which is 0.

use crate::packet::Ecn;
use crate::tcp::timestamps::Stamp;
use crate::units::{ByteCount, Instant};

/// A packet that passes a point.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenPacket {
    /// When.
    pub time: Instant,
    /// Whose it is: the scenario's flows, then its entries of flows that arrive, then those of UDP.
    pub flow: u32,
    /// A number that its connection alone has.
    pub connection: u32,
    /// Whether it goes from the end of the flow's path to its beginning.
    pub returns: bool,
    /// Bytes on the wire, headers included.
    pub size: ByteCount,
    /// Its number among those that its host has sent on the connection, from 1 on, modulo 2¹⁶; it keeps it wherever it is seen, and both of a doubled packet have the same.
    pub number: u16,
    /// The field of the IP header.
    pub ecn: Ecn,
    /// How many it has crossed.
    pub links: u8,
    /// A wire has damaged it.
    pub is_damaged: bool,
    /// What becomes of it on the wire, where its transmission starts.
    pub ahead: WireEvent,
    /// What is in the IP packet.
    pub content: SeenContent,
}

/// What a wire does to a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WireEvent {
    /// Nothing, or it is not known.
    None,
    /// It does not arrive.
    Lost,
    /// It arrives damaged.
    Damaged,
    /// It arrives twice.
    Doubled,
}

/// What is in an IP packet.
#[derive(Clone, Debug, PartialEq)]
pub enum SeenContent {
    /// A segment of TCP.
    Segment(SeenSegment),
    /// A packet of UDP.
    Datagram,
}

/// A segment: data, an acknowledgement, or data that carry one. Data that carry none acknowledge what the other side has sent for its part of the handshake.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenSegment {
    /// What it says of its sender's bytes.
    pub data: Option<SeenData>,
    /// What it says of the other's.
    pub ack: Option<SeenAck>,
    /// What else its host has put into its headers.
    pub departure: SeenDeparture,
}

/// What headers say that the simulator's packets do not carry, as their host knew it when they left. It is noted of those that need it: of others it is empty, for they say all themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SeenDeparture {
    /// When it left, for the timestamp of a host without a clock.
    pub time: Instant,
    /// Of an acknowledgement alone, also one of the sender's own, the number of the next byte that its host would have sent; 0 if it sends none.
    pub next: ByteCount,
    /// Of data that echo no timestamp: the last packet that had come.
    pub heard: Option<HeardStamp>,
    /// It is an acknowledgement of a SYN, before data have come.
    pub answers_syn: bool,
    /// Bytes of payload that had come as ECT(0), as CE and as ECT(1), modulo 2³².
    pub came: [u32; 3],
}

/// The timestamp of a packet that has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HeardStamp {
    /// What it said, if it said anything.
    pub stamp: Stamp,
    /// When it had left.
    pub time: Instant,
}

/// What a segment says of the bytes of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a segment, any of which may be set"
)]
pub struct SeenData {
    /// Number of the first byte, or of the SYN or FIN.
    pub start: ByteCount,
    /// Bytes of the application's.
    pub payload: ByteCount,
    /// It opens the connection.
    pub syn: bool,
    /// It is the handshake's third packet, and carries nothing.
    pub ends_handshake: bool,
    /// It carries nothing, and answers the other side's FIN.
    pub answers_fin: bool,
    /// It ends what the application has written.
    pub push: bool,
    /// Nothing follows it.
    pub fin: bool,
    /// Congestion Window Reduced.
    pub cwr: bool,
    /// It has been sent before, which no header says.
    pub retransmission: bool,
    /// TSval.
    pub stamp: Stamp,
    /// TSecr.
    pub echo: Stamp,
}

/// What a segment says of the bytes of whom it is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SeenAck {
    /// The number of the next byte that is expected.
    pub next: ByteCount,
    /// What the receiver has room for, unless it takes whatever comes.
    pub window: Option<ByteCount>,
    /// Blocks of selective acknowledgements.
    pub sack: Vec<ByteRange>,
    /// What has come again (RFC 2883).
    pub repeated: Option<ByteRange>,
    /// It is of the handshake.
    pub answers_syn: bool,
    /// Its sender closes.
    pub fin: bool,
    /// ECN-Echo.
    pub ece: bool,
    /// Marks that have come, modulo 2¹⁶.
    pub marks: u16,
    /// TSval.
    pub stamp: Stamp,
    /// TSecr.
    pub echo: Stamp,
}

/// Numbers of bytes, the end excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteRange {
    /// The first.
    pub start: ByteCount,
    /// The one after the last.
    pub end: ByteCount,
}
