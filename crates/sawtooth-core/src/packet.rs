//! What travels over a link: small plain structs, copied, never allocated.

use crate::tcp::scoreboard::SackBlocks;

/// A TCP segment as the network sees it, with the index of the hop it is on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Packet {
    /// The flow it belongs to: an index into the scenario's flows.
    pub flow: u32,
    /// Position on the flow's round trip (see [`crate::sim`]): forward links, receiver, reverse links, sender.
    pub hop: u32,
    /// Bytes on the wire, headers included.
    pub wire_bytes: u32,
    pub segment: Segment,
}

/// The TCP part of a packet: either data or an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Segment {
    Data(Data),
    Ack(Ack),
}

/// One data segment. `seq` counts segments, not bytes; segment 0 is the SYN where there is a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    pub seq: u64,
    /// Application bytes carried; 0 for a SYN.
    pub payload_bytes: u32,
}

/// One acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// The next segment the receiver expects (`rcv_nxt`): everything before it has arrived.
    pub next: u64,
    /// Whether it repeats a segment that had been received before (what a DSACK block, RFC 2883, would report).
    pub duplicate: bool,
    /// SACK blocks (RFC 2018), relative to `next`.
    pub sack: SackBlocks,
}
