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
    /// Of data: application bytes carried, and whether there is a FIN. Of an acknowledgement: where an [`AckStore`] keeps it, or `PLAIN`.
    detail: u32,
    /// Of data: the segment's number. Of an acknowledgement: the next segment expected.
    number: u64,
}

/// One data segment. `seq` counts segments, not bytes; segment 0 is the SYN where there is a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    pub seq: u64,
    /// Application bytes carried; 0 for a SYN, and for a FIN that comes alone.
    pub payload_bytes: u32,
    /// Nothing follows it (RFC 9293 §3.6).
    pub fin: bool,
}

impl Data {
    /// The handshake's third packet: it carries nothing, and nobody answers it.
    pub const HANDSHAKE_ACK: Self = Self {
        seq: u64::MAX,
        payload_bytes: 0,
        fin: false,
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
}

/// Marks the segment with the FIN in [`Packet::detail`]; no segment carries so many bytes.
const FIN: u32 = 1 << 31;

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
            detail: data.payload_bytes | if data.fin { FIN } else { 0 },
            number: data.seq,
        }
    }

    /// The segment of a packet that was made by [`Packet::data`].
    #[inline]
    pub fn segment(&self) -> Data {
        Data {
            seq: self.number,
            payload_bytes: self.detail & !FIN,
            fin: self.detail & FIN != 0,
        }
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
            number: ack.next,
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
                next: packet.number,
                duplicate: false,
                sack: SackBlocks::default(),
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
        };
        let repeated = Ack {
            duplicate: true,
            ..plain
        };
        let mut selective = plain;
        selective.sack.push(5, Range { start: 7, end: 9 });
        for _ in 0..3 {
            let acks = [plain, repeated, selective];
            let packets = acks.map(|ack| store.pack(0, 0, 40, &ack));
            assert_eq!(packets.map(|packet| store.unpack(&packet)), acks);
            let dropped = store.pack(0, 0, 40, &selective);
            store.drop(&dropped);
        }
        assert_eq!(store.acks.len(), 2, "places are used again");
    }

    #[test]
    fn a_packet_is_small() {
        assert_eq!(size_of::<Packet>(), 24);
    }
}
