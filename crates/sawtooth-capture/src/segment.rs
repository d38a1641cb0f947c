//! A TCP segment as its headers say it: addresses, numbers, flags, options, the ECN field.

use std::net::SocketAddr;

/// A TCP segment in its IP packet, without the payload's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Who sent it: both addresses are of the same version of IP.
    pub source: SocketAddr,
    /// Who is to get it.
    pub destination: SocketAddr,
    /// The two bits of the IP header (RFC 3168 §5).
    pub ecn: u8,
    /// Sequence number of the first byte, or of the SYN (RFC 9293 §3.1).
    pub seq: u32,
    /// Acknowledgement number; 0 without the ACK flag.
    pub ack: u32,
    /// The flags.
    pub flags: Flags,
    /// The window field as it stands, unscaled.
    pub window: u16,
    /// The options.
    pub options: Options,
    /// Bytes of payload that the packet had when it was sent, captured or not.
    pub payload: u32,
}

impl Segment {
    /// Numbers that it takes of the sequence space: its payload, and one each for SYN and FIN (RFC 9293 §3.4).
    pub fn sequence_length(&self) -> u32 {
        let flags = u32::from(self.flags.has(Flags::SYN)) + u32::from(self.flags.has(Flags::FIN));
        self.payload + flags
    }
}

/// The flags of a TCP header: the eight of RFC 9293 §3.1 and AE (RFC 9768 §3.1), in their places in the header.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags(pub u16);

impl Flags {
    /// No more data from the sender.
    pub const FIN: Self = Self(1);
    /// Synchronise sequence numbers.
    pub const SYN: Self = Self(1 << 1);
    /// Reset the connection.
    pub const RST: Self = Self(1 << 2);
    /// Push.
    pub const PSH: Self = Self(1 << 3);
    /// The acknowledgement number counts.
    pub const ACK: Self = Self(1 << 4);
    /// The urgent pointer counts.
    pub const URG: Self = Self(1 << 5);
    /// ECN-Echo.
    pub const ECE: Self = Self(1 << 6);
    /// Congestion Window Reduced.
    pub const CWR: Self = Self(1 << 7);
    /// Accurate ECN.
    pub const AE: Self = Self(1 << 8);

    /// Whether all of these are set.
    pub fn has(self, flags: Self) -> bool {
        self.0 & flags.0 == flags.0
    }

    /// These as well, if so.
    #[must_use]
    pub fn with(self, flags: Self, set: bool) -> Self {
        Self(if set { self.0 | flags.0 } else { self.0 })
    }
}

/// The options of a TCP header; `None` if it has not that one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Maximum segment size, bytes (RFC 9293 §3.7.1).
    pub maximum_segment_size: Option<u16>,
    /// Bits by which windows are shifted (RFC 7323 §2).
    pub window_scale: Option<u8>,
    /// Selective acknowledgements may be sent (RFC 2018 §2).
    pub sack_permitted: bool,
    /// Left and right edges of blocks (RFC 2018 §3), a duplicate first (RFC 2883); at most four.
    pub sack: Vec<(u32, u32)>,
    /// TSval and TSecr (RFC 7323 §3.2).
    pub timestamps: Option<(u32, u32)>,
    /// Counters of bytes of the AccECN option (RFC 9768 §3.2.3).
    pub accurate_ecn: Option<AccurateEcn>,
}

/// The AccECN option: counts of payload bytes by the mark that they arrived with, modulo 2²⁴.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AccurateEcn {
    /// Which of the counters comes first: ECT(0) (kind 172) or ECT(1) (kind 174).
    pub ect1_first: bool,
    /// In the order in which they stand; shorter options leave out the last.
    pub counters: [Option<u32>; 3],
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn syn_and_fin_take_a_number_each() {
        let none = SocketAddr::from(([0, 0, 0, 0], 0));
        let segment = Segment {
            source: none,
            destination: none,
            ecn: 0,
            seq: 0,
            ack: 0,
            flags: Flags::SYN.with(Flags::FIN, true),
            window: 0,
            options: Options::default(),
            payload: 10,
        };
        assert_eq!(segment.sequence_length(), 12);
        assert!(!segment.flags.has(Flags::ACK));
    }
}
