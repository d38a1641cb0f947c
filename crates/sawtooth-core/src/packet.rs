//! What travels over a link: small plain structs, copied, never allocated.

mod window;

pub use window::AdvertisedWindow;

use crate::tcp::scoreboard::SackBlocks;
use crate::tcp::timestamps::Stamp;
use crate::units::{ByteCount, Instant, SeqNum};

/// A packet as the network sees it: of TCP data or an acknowledgement, which depends on the hop it is on, or of UDP.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Packet {
    /// The flow it belongs to: an index into the scenario's flows.
    pub flow: u32,
    /// Position on the flow's round trip (see `sim`): forward links, receiver, reverse links, sender.
    pub hop: u32,
    /// Bytes on the wire, headers included; in 32 bits, so that two packets fit into a line of the cache.
    wire_bytes: u32,
    /// Of data: application bytes carried. Of an acknowledgement: where an [`AckStore`] keeps it, or `PLAIN` and what it says of marks.
    detail: u32,
    /// Of data: the segment's number and flags. Of an acknowledgement: the next segment expected, and the window. The ECN field of either.
    number: u64,
    /// The timestamps option: TSval and TSecr (RFC 7323 §3.2). Of data that carry an acknowledgement the latter is where an [`AckStore`] keeps it.
    value: Stamp,
    echo: Stamp,
}

/// Numbers of segments take the low bits of `number`: no flow has 10¹² of them.
const NUMBER_BITS: u32 = 40;
const NUMBER: u64 = (1 << NUMBER_BITS) - 1;
const PUSH: u64 = 1 << 40;
const CWR: u64 = 1 << 41;
const FIN: u64 = 1 << 42;
const CARRIES: u64 = 1 << 43;
const RETRANSMISSION: u64 = 1 << 44;
const TAG_SHIFT: u32 = 46;
const ECN_SHIFT: u32 = 62;

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
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a segment, any of which may be set"
)]
pub struct DataSegment {
    /// From 0; of the handshake's third packet, which is no segment of the stream, a number that none has.
    pub seq: SeqNum,
    /// What it carries of the application's; nothing if it is a SYN, or a FIN that comes alone.
    pub payload: ByteCount,
    /// Whether it ends what the application has written (PSH).
    pub push: bool,
    /// Nothing follows it (RFC 9293 §3.6).
    pub fin: bool,
    /// The ECN field as it arrives.
    pub ecn: Ecn,
    /// Congestion Window Reduced: the sender has reacted (RFC 3168 §6.1.2).
    pub cwr: bool,
    /// It has been sent before; no header says so, only records do.
    pub retransmission: bool,
    /// When it left (RFC 7323 §3.2, TSval).
    pub stamp: Stamp,
    /// What the last acknowledgement said of when it left (TSecr).
    pub echo: Stamp,
}

impl DataSegment {
    /// The handshake's third packet: it carries nothing, and nobody answers it.
    pub const HANDSHAKE_ACK: Self = Self {
        seq: SeqNum::new(NUMBER),
        payload: ByteCount::ZERO,
        push: false,
        fin: false,
        ecn: Ecn::NotEct,
        cwr: false,
        retransmission: false,
        stamp: Stamp::NONE,
        echo: Stamp::NONE,
    };

    /// What answers the other side's FIN (RFC 9293 §3.6): as the handshake's third packet, but that nothing follows it.
    pub const ANSWER_TO_FIN: Self = Self {
        fin: true,
        ..Self::HANDSHAKE_ACK
    };

    /// Whether it opens a connection. Without a handshake the first segment carries data, and is like any other.
    #[inline]
    pub fn is_syn(self) -> bool {
        self.seq == SeqNum::ZERO && self.payload.is_zero() && !self.fin
    }

    /// Whether it is an acknowledgement of its sender's own, and no segment of the stream: the handshake's third packet, or what answers a FIN.
    #[inline]
    pub fn is_ack_alone(self) -> bool {
        self.seq == Self::HANDSHAKE_ACK.seq
    }
}

/// One acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ack {
    /// The next segment the receiver expects (`rcv_nxt`): everything before it has arrived.
    pub next: SeqNum,
    /// The segment that came although it had been received before, which has caused it (what a DSACK block, RFC 2883, reports).
    pub repeated: Option<SeqNum>,
    /// SACK blocks (RFC 2018), relative to `next`.
    pub sack: SackBlocks,
    /// From `next` on, what the receiver has room for.
    pub window: AdvertisedWindow,
    /// ECN-Echo (RFC 3168 §6.1.3, RFC 8257 §3.2).
    pub ece: bool,
    /// Packets that have arrived marked, modulo 2¹⁶, with the feedback of RFC 9768.
    pub marks: u16,
    /// When it left (RFC 7323 §3.2, TSval).
    pub stamp: Stamp,
    /// When what it is for had left (TSecr).
    pub echo: Stamp,
    /// The receiver closes its side, too (RFC 9293 §3.6).
    pub fin: bool,
    /// A SYN is answered once more (RFC 9293 §3.10.7.4).
    pub syn: bool,
}

impl Ack {
    /// Whether it reports something that has arrived out of order, or again.
    pub fn reports(&self) -> bool {
        self.repeated.is_some() || !self.sack.is_empty()
    }
}

impl Default for Ack {
    fn default() -> Self {
        Self {
            next: SeqNum::ZERO,
            repeated: None,
            sack: SackBlocks::default(),
            window: AdvertisedWindow::ANY,
            ece: false,
            marks: 0,
            stamp: Stamp::NONE,
            echo: Stamp::NONE,
            fin: false,
            syn: false,
        }
    }
}

/// What an acknowledgement says while nothing is out of order: all that [`Ack`] does, but for segments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InOrderAck {
    /// The next segment the receiver expects.
    pub next: SeqNum,
    /// From `next` on, what the receiver has room for.
    pub window: AdvertisedWindow,
    /// ECN-Echo.
    pub ece: bool,
    /// Packets that have arrived marked.
    pub marks: u16,
    /// When it left.
    pub stamp: Stamp,
    /// When what it is for had left.
    pub echo: Stamp,
}

impl From<InOrderAck> for Ack {
    #[inline(always)]
    fn from(ack: InOrderAck) -> Self {
        Self {
            next: ack.next,
            repeated: None,
            sack: SackBlocks::default(),
            window: ack.window,
            ece: ack.ece,
            marks: ack.marks,
            stamp: ack.stamp,
            echo: ack.echo,
            fin: false,
            syn: false,
        }
    }
}

/// Marks an acknowledgement of which nothing is kept elsewhere; the other bits say what it says of marks.
const PLAIN: u32 = 1 << 31;
const ECE: u32 = 1 << 16;
const ACK_TAG_SHIFT: u32 = 17;
/// A tag below this has room beside what a plain acknowledgement says.
const SMALL_TAGS: u32 = 1 << (31 - ACK_TAG_SHIFT);

impl Packet {
    /// Tags that tell packets on their way apart, for those whose layers are noted ([`crate::host::layers`]) or that somebody listens to.
    pub const TAGS: u32 = 1 << (ECN_SHIFT - TAG_SHIFT);

    /// Gives a tag to one with data that has none.
    pub fn set_tag(&mut self, tag: u32) {
        self.number |= u64::from(tag) << TAG_SHIFT;
    }

    /// The tag of one with data.
    pub fn tag(&self) -> u32 {
        (self.number >> TAG_SHIFT) as u32 & (Self::TAGS - 1)
    }

    /// A packet with a data segment.
    #[inline]
    pub fn data(flow: u32, hop: u32, size: ByteCount, data: DataSegment) -> Self {
        let flag = |set: bool, bit: u64| if set { bit } else { 0 };
        Self {
            flow,
            hop,
            wire_bytes: size.packet_size(),
            detail: data.payload.packet_size(),
            number: data.seq.get()
                | flag(data.push, PUSH)
                | flag(data.fin, FIN)
                | flag(data.cwr, CWR)
                | flag(data.retransmission, RETRANSMISSION)
                | (data.ecn as u64) << ECN_SHIFT,
            value: data.stamp,
            echo: data.echo,
        }
    }

    /// Whether it is one with data that carries an acknowledgement.
    #[inline]
    pub fn carries_ack(&self) -> bool {
        self.number & CARRIES != 0
    }

    /// The segment of a packet that was made by [`Packet::data`].
    #[inline]
    pub fn segment(&self) -> DataSegment {
        DataSegment {
            seq: SeqNum::new(self.number & NUMBER),
            payload: ByteCount::from(self.detail),
            push: self.number & PUSH != 0,
            fin: self.number & FIN != 0,
            ecn: self.ecn(),
            cwr: self.number & CWR != 0,
            retransmission: self.number & RETRANSMISSION != 0,
            stamp: self.value,
            echo: self.echo,
        }
    }

    /// A packet of UDP: its number among its flow's, and when it left.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the halves of a time's bits"
    )]
    pub fn datagram(flow: u32, hop: u32, size: ByteCount, number: SeqNum, sent: Instant) -> Self {
        let bits = sent.secs().to_bits();
        Self {
            flow,
            hop,
            wire_bytes: size.packet_size(),
            detail: 0,
            number: number.get(),
            value: Stamp::from_bits((bits >> 32) as u32),
            echo: Stamp::from_bits(bits as u32),
        }
    }

    /// Number and time of a packet that was made by [`Packet::datagram`].
    #[inline]
    pub fn number_and_time(&self) -> (SeqNum, Instant) {
        let bits = u64::from(self.value.bits()) << 32 | u64::from(self.echo.bits());
        let sent = Instant::from_secs(f64::from_bits(bits));
        (SeqNum::new(self.number & NUMBER), sent)
    }

    /// What stays as it is when a queue marks it, and distinguishes it from most others of its flow: not the tag, which only some runs have.
    pub fn unmarked(&self) -> u64 {
        self.number & ((1 << TAG_SHIFT) - 1)
    }

    /// Of an acknowledgement, the next segment that is expected.
    pub fn next_expected(&self) -> SeqNum {
        SeqNum::new(self.number & NUMBER)
    }

    /// Of data, what is carried.
    #[inline(always)]
    pub fn payload(&self) -> ByteCount {
        ByteCount::from(self.detail)
    }

    /// Of data that carry something and say nothing else, not even that they are sent again, the segment's number.
    #[inline(always)]
    pub fn plain_data(&self) -> Option<SeqNum> {
        (self.number <= NUMBER && self.detail != 0).then(|| SeqNum::new(self.number))
    }

    /// An acknowledgement of segments in order.
    #[inline(always)]
    pub fn acknowledging_in_order(flow: u32, hop: u32, size: ByteCount, ack: InOrderAck) -> Self {
        Self {
            flow,
            hop,
            wire_bytes: size.packet_size(),
            detail: PLAIN | u32::from(ack.marks) | if ack.ece { ECE } else { 0 },
            number: ack.next.get() | ack.window.bits() << NUMBER_BITS,
            value: ack.stamp,
            echo: ack.echo,
        }
    }

    /// An acknowledgement that says nothing but which segment is expected.
    #[inline(always)]
    pub fn acknowledging(flow: u32, hop: u32, size: ByteCount, next: SeqNum) -> Self {
        Self {
            flow,
            hop,
            wire_bytes: size.packet_size(),
            detail: PLAIN,
            number: next.get() | AdvertisedWindow::ANY.bits() << NUMBER_BITS,
            value: Stamp::NONE,
            echo: Stamp::NONE,
        }
    }

    /// Of an acknowledgement that says nothing but which segment is expected, that segment.
    #[inline(always)]
    pub fn plain_ack(&self) -> Option<SeqNum> {
        let window = self.number >> NUMBER_BITS;
        let says_nothing_else = self.detail == PLAIN && window == AdvertisedWindow::ANY.bits();
        says_nothing_else.then(|| self.next_expected())
    }

    /// What it takes on the wire, headers included.
    #[inline]
    pub fn size(&self) -> ByteCount {
        ByteCount::from(self.wire_bytes)
    }

    /// Options of the header of TCP are added.
    pub fn add_options(&mut self, size: ByteCount) {
        self.wire_bytes += size.packet_size();
    }

    /// The ECN field of its IP header.
    #[inline]
    pub fn ecn(&self) -> Ecn {
        Ecn::from_bits((self.number >> ECN_SHIFT) as u8)
    }

    /// A queue marks it.
    pub fn mark(&mut self) {
        self.number |= (Ecn::Ce as u64) << ECN_SHIFT;
    }
}

/// What acknowledgements on their way say that few say, so packets stay small.
#[derive(Debug, Default)]
pub struct AckStore {
    acks: Vec<Ack>,
    free: Vec<u32>,
    /// Tags of those that are kept here, if they have any.
    tags: Vec<u32>,
    /// Of those that data carry, what is echoed to these.
    echoes: Vec<Stamp>,
}

impl AckStore {
    /// A packet with an acknowledgement; it must be unpacked or dropped once.
    #[inline]
    pub fn pack(&mut self, flow: u32, hop: u32, size: ByteCount, ack: &Ack) -> Packet {
        let in_order = InOrderAck {
            next: ack.next,
            window: ack.window,
            ece: ack.ece,
            marks: ack.marks,
            stamp: ack.stamp,
            echo: ack.echo,
        };
        let mut packet = Packet::acknowledging_in_order(flow, hop, size, in_order);
        if !ack.sack.is_empty() || ack.repeated.is_some() || ack.fin || ack.syn {
            packet.detail = self.keep(*ack);
        }
        packet
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
        if packet.detail & PLAIN == 0 {
            self.free.push(packet.detail);
        }
        self.look(packet)
    }

    /// The acknowledgement of a packet that is still on its way.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the other bits say something else"
    )]
    pub fn look(&self, packet: &Packet) -> Ack {
        if packet.detail & PLAIN != 0 {
            Ack::from(InOrderAck {
                next: packet.next_expected(),
                window: AdvertisedWindow::from_bits(packet.number >> NUMBER_BITS),
                ece: packet.detail & ECE != 0,
                marks: packet.detail as u16,
                stamp: packet.value,
                echo: packet.echo,
            })
        } else {
            self.acks[packet.detail as usize]
        }
    }

    /// The segment of a packet with data that is still on its way, and the acknowledgement that it carries.
    pub fn look_at_data(&self, packet: &Packet) -> (DataSegment, Option<Ack>) {
        let segment = packet.segment();
        if !packet.carries_ack() {
            return (segment, None);
        }
        let at = segment.echo.bits() as usize;
        let echo = self.echoes[at];
        (DataSegment { echo, ..segment }, Some(self.acks[at]))
    }

    /// Makes a packet with data carry an acknowledgement; it must be [taken off](Self::take_off) or dropped once.
    pub fn put_on(&mut self, packet: &mut Packet, ack: Ack) {
        let place = self.keep(ack);
        let at = place as usize;
        self.echoes
            .resize(self.echoes.len().max(at + 1), Stamp::NONE);
        self.echoes[at] = std::mem::replace(&mut packet.echo, Stamp::from_bits(place));
        packet.number |= CARRIES;
    }

    /// The acknowledgement that a packet with data carries, which it then does not any more.
    pub fn take_off(&mut self, packet: &mut Packet) -> Option<Ack> {
        if !packet.carries_ack() {
            return None;
        }
        let place = packet.echo.bits();
        self.free.push(place);
        packet.echo = self.echoes[place as usize];
        packet.number &= !CARRIES;
        Some(self.acks[place as usize])
    }

    /// A packet with data once more, for one that arrives twice.
    pub fn copy_data(&mut self, packet: &Packet) -> Packet {
        let mut copy = *packet;
        if packet.carries_ack() {
            let at = packet.echo.bits() as usize;
            copy.echo = self.echoes[at];
            self.put_on(&mut copy, self.acks[at]);
        }
        copy
    }

    /// The same acknowledgement once more, for a packet that arrives twice.
    pub fn copy(&mut self, packet: &Packet) -> Packet {
        let mut copy = *packet;
        if packet.detail & PLAIN == 0 {
            copy.detail = self.keep(self.acks[packet.detail as usize]);
            if let Some(tag) = self.tags.get(packet.detail as usize) {
                self.set_tag(&mut copy, *tag);
            }
        }
        copy
    }

    /// Gives a tag to a packet that has none.
    pub fn set_tag(&mut self, packet: &mut Packet, tag: u32) {
        if packet.detail & PLAIN != 0 {
            if tag < SMALL_TAGS {
                packet.detail |= tag << ACK_TAG_SHIFT;
                return;
            }
            packet.detail = self.keep(self.look(packet));
        }
        let at = packet.detail as usize;
        self.tags.resize(self.tags.len().max(at + 1), 0);
        self.tags[at] = tag;
    }

    /// The tag of a packet that has been given one.
    pub fn tag(&self, packet: &Packet) -> u32 {
        if packet.detail & PLAIN != 0 {
            packet.detail >> ACK_TAG_SHIFT & (SMALL_TAGS - 1)
        } else {
            self.tags[packet.detail as usize]
        }
    }

    /// A packet with data was dropped, and the acknowledgement that it may carry.
    #[inline]
    pub fn drop_data(&mut self, packet: &Packet) {
        if packet.carries_ack() {
            self.free.push(packet.echo.bits());
        }
    }

    /// The acknowledgement was dropped.
    #[inline]
    pub fn drop(&mut self, packet: &Packet) {
        if packet.detail & PLAIN == 0 {
            self.free.push(packet.detail);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::scoreboard::Range;
    use crate::units::testing::bytes;

    const LARGE: SeqNum = SeqNum::new(1 << 39);
    const REPORTED: Range = Range {
        start: SeqNum::new(7),
        end: SeqNum::new(9),
    };

    #[test]
    fn an_acknowledgement_comes_out_as_it_went_in() {
        let mut store = AckStore::default();
        let plain = Ack {
            next: SeqNum::new(5),
            ..Ack::default()
        };
        let rich = Ack {
            next: LARGE,
            window: AdvertisedWindow::new(bytes(64_128), 7),
            ece: true,
            marks: u16::MAX,
            stamp: Stamp::from_bits(7),
            echo: Stamp::from_bits(u32::MAX),
            ..plain
        };
        let repeated = Ack {
            repeated: Some(SeqNum::new(3)),
            ..plain
        };
        let mut selective = rich;
        selective.sack.push(SeqNum::new(5), REPORTED);
        for _ in 0..3 {
            let acks = [plain, rich, repeated, selective];
            let mut packets = acks.map(|ack| store.pack(0, 0, bytes(40), &ack));
            packets[1].mark();
            assert_eq!(packets.map(|packet| store.unpack(&packet)), acks);
            let dropped = store.pack(0, 0, bytes(40), &selective);
            let copy = store.copy(&dropped);
            store.drop(&dropped);
            assert_eq!(store.unpack(&copy), selective);
        }
        assert_eq!(store.acks.len(), 2, "places are used again");
    }

    #[test]
    fn data_and_the_acknowledgement_they_carry_come_out_as_they_went_in() {
        let mut store = AckStore::default();
        let data = DataSegment {
            seq: LARGE,
            payload: ByteCount::new(200),
            push: true,
            fin: true,
            stamp: Stamp::from_bits(3),
            echo: Stamp::from_bits(u32::MAX),
            ..DataSegment::default()
        };
        let mut ack = Ack {
            next: SeqNum::new(5),
            window: AdvertisedWindow::new(bytes(64_128), 7),
            stamp: Stamp::from_bits(7),
            ..Ack::default()
        };
        ack.sack.push(SeqNum::new(5), REPORTED);
        let bare = Packet::data(0, 0, bytes(252), data);
        for _ in 0..3 {
            let mut packet = bare;
            store.put_on(&mut packet, ack);
            packet.mark();
            let mut copy = store.copy_data(&packet);
            let dropped = store.copy_data(&packet);
            store.drop_data(&dropped);
            for packet in [&mut packet, &mut copy] {
                assert_eq!(store.take_off(packet), Some(ack));
                assert_eq!(store.take_off(packet), None);
                let marked = DataSegment {
                    ecn: Ecn::Ce,
                    ..data
                };
                assert_eq!(packet.segment(), marked);
            }
        }
        assert_eq!(store.copy_data(&bare), bare);
        assert_eq!(store.acks.len(), 3, "places are used again");
    }

    #[test]
    fn a_segment_comes_out_as_it_went_in_or_marked() {
        let flags = [false, true];
        for ecn in [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce] {
            for (cwr, push, fin) in flags.map(|one| flags.map(|two| (one, two, !one))).concat() {
                let data = DataSegment {
                    seq: LARGE,
                    payload: ByteCount::new(1460),
                    push,
                    fin,
                    ecn,
                    cwr,
                    retransmission: !push,
                    stamp: Stamp::from_bits(3),
                    echo: Stamp::from_bits(u32::MAX),
                };
                let mut packet = Packet::data(0, 0, bytes(1500), data);
                assert_eq!(packet.segment(), data);
                packet.mark();
                assert_eq!(
                    packet.segment(),
                    DataSegment {
                        ecn: Ecn::Ce,
                        ..data
                    }
                );
            }
        }
        let handshake = Packet::data(0, 0, bytes(52), DataSegment::HANDSHAKE_ACK);
        assert!(handshake.segment().is_ack_alone());
    }

    #[test]
    fn a_tag_changes_nothing_of_what_a_packet_says() {
        let most = Packet::TAGS - 1;
        let data = DataSegment {
            seq: LARGE,
            payload: ByteCount::new(9140),
            push: true,
            fin: true,
            ecn: Ecn::Ect0,
            cwr: true,
            ..DataSegment::default()
        };
        let mut packet = Packet::data(0, 0, bytes(1500), data);
        packet.set_tag(most);
        assert_eq!((packet.tag(), packet.segment()), (most, data));
        let mut store = AckStore::default();
        for duplicate in [false, true] {
            let ack = Ack {
                next: LARGE,
                repeated: duplicate.then_some(SeqNum::new(4)),
                window: AdvertisedWindow::new(bytes(64_128), 7),
                ece: true,
                marks: u16::MAX,
                ..Ack::default()
            };
            let mut packet = store.pack(0, 0, bytes(40), &ack);
            store.set_tag(&mut packet, most);
            let copy = store.copy(&packet);
            assert_eq!((store.tag(&packet), store.tag(&copy)), (most, most));
            assert_eq!((store.unpack(&packet), store.unpack(&copy)), (ack, ack));
        }
    }

    #[test]
    fn a_datagram_comes_out_as_it_went_in_or_marked() {
        let sent = Instant::from_secs(0.1);
        let mut packet = Packet::datagram(1, 2, bytes(1500), LARGE, sent);
        assert_eq!(packet.number_and_time(), (LARGE, sent));
        assert_eq!(packet.ecn(), Ecn::NotEct);
        packet.mark();
        assert_eq!(packet.number_and_time(), (LARGE, sent));
    }

    #[test]
    fn a_packet_is_small() {
        assert_eq!(size_of::<Packet>(), 32);
    }
}
