//! From a file to segments: frames of a capture ([`frames`]), the link layer (`link`), IP and tunnels (`network`), TCP (`tcp`).
//!
//! A file is read once, from its beginning to its end, in a memory that does not depend on its length. What is met and not read, or read otherwise than one
//! would think, is counted by its name ([`tally`]).

pub mod frames;
mod link;
mod network;
pub mod tally;
mod tcp;

use std::net::SocketAddr;

pub use frames::{CapturedFrame, FileFacts, FrameReader, Unreadable, read_frames};
pub use tally::{Met, Tally};

use crate::segment::Segment;

/// A segment, and what else its packet tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// When it was captured, since 1970.
    pub time_ns: i64,
    /// What its headers say.
    pub segment: Segment,
    /// The capture has not all of its options: what is missing in `segment.options` may have been there.
    pub are_options_cut: bool,
    /// The identification of its IPv4 header (RFC 791 §3.1); IPv6 has none, and 0 says nothing (RFC 6864 §4).
    pub ip_id: Option<u16>,
    /// Length of its IP packet.
    pub ip_bytes: u32,
}

/// A datagram of UDP.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedDatagram {
    /// When it was captured, since 1970.
    pub time_ns: i64,
    /// Who sent it.
    pub source: SocketAddr,
    /// Who is to get it.
    pub destination: SocketAddr,
    /// Bytes of payload.
    pub payload: u32,
    /// Length of its IP packet.
    pub ip_bytes: u32,
}

/// What a frame carried that is analysed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CapturedPacket {
    /// Of TCP.
    Tcp(Sighting),
    /// Of UDP.
    Udp(CapturedDatagram),
}

/// What a frame carries; nothing if that is not analysed, and then the tally has it.
pub fn decode(frame: &CapturedFrame<'_>, tally: &mut Tally) -> Option<CapturedPacket> {
    if (frame.bytes.len() as u64) < u64::from(frame.original_length) {
        tally.add(Met::CutFrame);
    }
    let inner = link::network_layer(frame, tally)?;
    network::decode(&inner, frame.time_ns, tally)
}
