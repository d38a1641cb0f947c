//! What travels over a link: small plain structs, copied, never allocated.

use crate::tcp::scoreboard::SackBlocks;

/// A TCP segment as the network sees it: data or an acknowledgement, which depends on the hop it is on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Packet {
    /// The flow it belongs to: an index into the scenario's flows.
    pub flow: u32,
    /// Position on the flow's round trip (see [`crate::sim`]): forward links, receiver, reverse links, sender.
    pub hop: u32,
    /// Bytes on the wire, headers included.
    pub wire_bytes: u32,
    /// Of data: application bytes carried. Of an acknowledgement: where an [`AckStore`] keeps it, or `PLAIN`.
    detail: u32,
    /// In the lower 40 bits, of data the segment's number, of an acknowledgement the next segment expected. Above them what concerns
    /// Explicit Congestion Notification, zero without it: 16 bits for the count of an acknowledgement, the ECN field, and a flag.
    number: u64,
}

/// What does not fit into 40 bits: a flow of 10¹² segments.
const NUMBER: u64 = (1 << 40) - 1;
const COUNT_SHIFT: u32 = 40;
const FIELD_SHIFT: u32 = 56;
/// CWR of data, ECE of an acknowledgement.
const FLAG: u64 = 1 << 58;

/// The ECN field of the IP header, as its two bits (RFC 3168 §5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Ecn {
    /// The transport does not understand marks.
    #[default]
    NotEct = 0,
    /// It does, and the packet is for queues that treat it as L4S (RFC 9331 §4.1).
    Ect1 = 1,
    /// It does.
    Ect0 = 2,
    /// Congestion Experienced: a queue has marked the packet.
    Ce = 3,
}

impl Ecn {
    /// The codepoint of the two lowest bits.
    #[inline]
    pub fn from_bits(bits: u8) -> Self {
        match bits & 3 {
            0 => Self::NotEct,
            1 => Self::Ect1,
            2 => Self::Ect0,
            _ => Self::Ce,
        }
    }

    /// Whether a queue may mark the packet instead of dropping it.
    #[inline]
    pub fn is_capable(self) -> bool {
        self != Self::NotEct
    }
}

/// One data segment. `seq` counts segments, not bytes; segment 0 is the SYN where there is a handshake.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Data {
    pub seq: u64,
    /// Application bytes carried; 0 for a SYN.
    pub payload_bytes: u32,
    /// The ECN field as it arrives.
    pub ecn: Ecn,
    /// Congestion Window Reduced: the sender has reacted (RFC 3168 §6.1.2).
    pub cwr: bool,
}

impl Data {
    /// The handshake's third packet: it carries nothing, and nobody answers it.
    pub const HANDSHAKE_ACK: Self = Self {
        seq: NUMBER,
        payload_bytes: 0,
        ecn: Ecn::NotEct,
        cwr: false,
    };
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
    /// ECN-Echo (RFC 3168 §6.1.3, RFC 8257 §3.2).
    pub ece: bool,
    /// Packets that have arrived marked, modulo 2¹⁶, with the feedback of RFC 9768.
    pub marks: u16,
}

/// An acknowledgement that says no more than `next`.
const PLAIN: u32 = u32::MAX;

impl Packet {
    /// A packet with a data segment.
    #[inline]
    pub fn data(flow: u32, hop: u32, wire_bytes: u32, data: Data) -> Self {
        Self {
            flow,
            hop,
            wire_bytes,
            detail: data.payload_bytes,
            number: data.seq | (data.ecn as u64) << FIELD_SHIFT | if data.cwr { FLAG } else { 0 },
        }
    }

    /// The segment of a packet that was made by [`Packet::data`].
    #[inline]
    pub fn segment(&self) -> Data {
        Data {
            seq: self.number & NUMBER,
            payload_bytes: self.detail,
            ecn: self.ecn(),
            cwr: self.number & FLAG != 0,
        }
    }

    /// The ECN field of its IP header.
    #[inline]
    pub fn ecn(&self) -> Ecn {
        Ecn::from_bits((self.number >> FIELD_SHIFT) as u8)
    }

    /// The count of an acknowledgement.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "its 16 bits")]
    fn marks(&self) -> u16 {
        (self.number >> COUNT_SHIFT) as u16
    }

    /// A queue marks it.
    pub fn mark(&mut self) {
        self.number |= (Ecn::Ce as u64) << FIELD_SHIFT;
    }
}

/// What acknowledgements on their way say besides the next segment expected. Few say more, so packets stay small.
#[derive(Debug, Default)]
pub struct AckStore {
    acks: Vec<Ack>,
    free: Vec<u32>,
}

impl AckStore {
    /// A packet with an acknowledgement; it must be unpacked or dropped once.
    #[inline]
    pub fn pack(&mut self, flow: u32, hop: u32, wire_bytes: u32, ack: &Ack) -> Packet {
        Packet {
            flow,
            hop,
            wire_bytes,
            detail: if ack.sack.is_empty() && !ack.duplicate {
                PLAIN
            } else {
                self.keep(*ack)
            },
            number: ack.next | u64::from(ack.marks) << COUNT_SHIFT | if ack.ece { FLAG } else { 0 },
        }
    }

    #[cold]
    #[inline(never)]
    fn keep(&mut self, ack: Ack) -> u32 {
        if let Some(at) = self.free.pop() {
            self.acks[at as usize] = ack;
            at
        } else {
            self.acks.push(ack);
            u32::try_from(self.acks.len() - 1).expect("fewer than 2^32 packets in flight")
        }
    }

    /// The acknowledgement of a packet that has arrived.
    #[inline]
    pub fn unpack(&mut self, packet: &Packet) -> Ack {
        if packet.detail == PLAIN {
            Ack {
                next: packet.number & NUMBER,
                duplicate: false,
                sack: SackBlocks::default(),
                ece: packet.number & FLAG != 0,
                marks: packet.marks(),
            }
        } else {
            self.free.push(packet.detail);
            self.acks[packet.detail as usize]
        }
    }

    /// The acknowledgement was dropped.
    #[inline]
    pub fn drop(&mut self, packet: &Packet) {
        if packet.detail != PLAIN {
            self.free.push(packet.detail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::scoreboard::Range;

    #[test]
    fn an_acknowledgement_comes_out_as_it_went_in() {
        let mut store = AckStore::default();
        let plain = Ack {
            next: 5,
            duplicate: false,
            sack: SackBlocks::default(),
            ece: false,
            marks: 0,
        };
        let echo = Ack {
            ece: true,
            marks: u16::MAX,
            ..plain
        };
        let repeated = Ack {
            duplicate: true,
            ..plain
        };
        let mut selective = plain;
        selective.sack.push(5, Range { start: 7, end: 9 });
        for _ in 0..3 {
            let acks = [plain, repeated, selective, echo];
            let packets = acks.map(|ack| store.pack(0, 0, 40, &ack));
            assert_eq!(packets.map(|packet| store.unpack(&packet)), acks);
            let dropped = store.pack(0, 0, 40, &selective);
            store.drop(&dropped);
        }
        assert_eq!(store.acks.len(), 2, "places are used again");
    }

    #[test]
    fn a_segment_comes_out_as_it_went_in_or_marked() {
        for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            for cwr in [false, true] {
                let data = Data {
                    seq: 1 << 39,
                    payload_bytes: 1460,
                    ecn,
                    cwr,
                };
                let mut packet = Packet::data(0, 0, 1500, data);
                assert_eq!(packet.segment(), data);
                packet.mark();
                assert_eq!(
                    packet.segment(),
                    Data {
                        ecn: Ecn::Ce,
                        ..data
                    }
                );
            }
        }
        let handshake = Packet::data(0, 0, 52, Data::HANDSHAKE_ACK);
        assert_eq!(handshake.segment(), Data::HANDSHAKE_ACK);
    }

    #[test]
    fn a_packet_is_small() {
        assert_eq!(size_of::<Packet>(), 24);
    }
}
