//! Captures made byte by byte, as the specifications say: so the reader is not tested against a writer of ours.

use etherparse::PacketBuilder;

/// A number in the byte order of a file.
fn put(to: &mut Vec<u8>, big: bool, bytes: &[u8]) {
    let mut bytes = bytes.to_vec();
    if big {
        bytes.reverse();
    }
    to.extend(bytes);
}

/// A pcap file of frames of this link type: times are (seconds, parts), and of each frame so many bytes are kept.
pub fn pcap(
    big: bool,
    magic: u32,
    link: u32,
    frames: &[(u32, u32, Vec<u8>)],
    snap: usize,
) -> Vec<u8> {
    let mut file = Vec::new();
    put(&mut file, big, &magic.to_le_bytes());
    put(&mut file, big, &2u16.to_le_bytes());
    put(&mut file, big, &4u16.to_le_bytes());
    for word in [0, 0, 65535, link] {
        put(&mut file, big, &word.to_le_bytes());
    }
    for (seconds, parts, frame) in frames {
        let kept = frame.len().min(snap);
        let words = [*seconds, *parts, length(kept), length(frame.len())];
        for word in words {
            put(&mut file, big, &word.to_le_bytes());
        }
        file.extend(&frame[..kept]);
    }
    file
}

pub fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("a short frame")
}

/// A pcapng file, block by block.
pub struct Pcapng {
    pub big: bool,
    pub file: Vec<u8>,
}

impl Pcapng {
    pub fn new(big: bool) -> Self {
        let mut this = Self {
            big,
            file: Vec::new(),
        };
        this.section();
        this
    }

    pub fn section(&mut self) {
        let mut body = Vec::new();
        put(&mut body, self.big, &0x1a2b_3c4d_u32.to_le_bytes());
        put(&mut body, self.big, &1u16.to_le_bytes());
        put(&mut body, self.big, &0u16.to_le_bytes());
        body.extend([0xff; 8]);
        self.block(0x0a0d_0d0a, &body);
    }

    /// An interface whose clock has so many units of 10^-n s.
    pub fn interface(&mut self, link: u16, resolution: u8, name: &str) {
        let mut body = Vec::new();
        put(&mut body, self.big, &link.to_le_bytes());
        put(&mut body, self.big, &[0, 0]);
        put(&mut body, self.big, &0u32.to_le_bytes());
        self.option(&mut body, 2, name.as_bytes());
        self.option(&mut body, 9, &[resolution]);
        self.option(&mut body, 0, &[]);
        self.block(1, &body);
    }

    pub fn packet(&mut self, interface: u32, time: u64, frame: &[u8], comment: &str) {
        self.packet_with_flags(interface, time, frame, comment, 0);
    }

    pub fn packet_with_flags(
        &mut self,
        interface: u32,
        time: u64,
        frame: &[u8],
        comment: &str,
        flags: u32,
    ) {
        let mut body = Vec::new();
        let size = length(frame.len());
        let high = u32::try_from(time >> 32).expect("32 bits");
        let low = u32::try_from(time & 0xffff_ffff).expect("32 bits");
        for word in [interface, high, low, size, size] {
            put(&mut body, self.big, &word.to_le_bytes());
        }
        body.extend(frame);
        body.resize(body.len().next_multiple_of(4), 0);
        if !comment.is_empty() {
            self.option(&mut body, 1, comment.as_bytes());
        }
        if flags != 0 {
            let mut value = Vec::new();
            put(&mut value, self.big, &flags.to_le_bytes());
            self.option(&mut body, 2, &value);
        }
        if !comment.is_empty() || flags != 0 {
            self.option(&mut body, 0, &[]);
        }
        self.block(6, &body);
    }

    pub fn simple_packet(&mut self, frame: &[u8]) {
        let mut body = Vec::new();
        put(&mut body, self.big, &length(frame.len()).to_le_bytes());
        body.extend(frame);
        body.resize(body.len().next_multiple_of(4), 0);
        self.block(3, &body);
    }

    fn option(&self, to: &mut Vec<u8>, code: u16, value: &[u8]) {
        put(to, self.big, &code.to_le_bytes());
        let size = u16::try_from(value.len()).expect("a short value");
        put(to, self.big, &size.to_le_bytes());
        to.extend(value);
        to.resize(to.len().next_multiple_of(4), 0);
    }

    fn block(&mut self, kind: u32, body: &[u8]) {
        let size = length(body.len() + 12);
        let mut whole = Vec::new();
        put(&mut whole, self.big, &kind.to_le_bytes());
        put(&mut whole, self.big, &size.to_le_bytes());
        whole.extend(body);
        put(&mut whole, self.big, &size.to_le_bytes());
        self.file.extend(whole);
    }
}

/// An IPv4 packet with a segment: ports 5000 to 80, sequence number 7, so many bytes of payload.
pub fn ipv4(payload: usize) -> Vec<u8> {
    let builder = PacketBuilder::ipv4([10, 0, 0, 1], [10, 0, 0, 2], 64);
    written(builder.tcp(5000, 80, 7, 1000).ack(9), payload)
}

/// The same of IPv6.
pub fn ipv6(payload: usize) -> Vec<u8> {
    let (mut one, mut two) = ([0; 16], [0; 16]);
    (one[15], two[15]) = (1, 2);
    let builder = PacketBuilder::ipv6(one, two, 64);
    written(builder.tcp(5000, 80, 7, 1000).ack(9), payload)
}

fn written(
    builder: etherparse::PacketBuilderStep<etherparse::TcpHeader>,
    payload: usize,
) -> Vec<u8> {
    let mut bytes = Vec::new();
    builder
        .write(&mut bytes, &vec![0; payload])
        .expect("memory takes it");
    bytes
}

/// The frame of Ethernet of a packet, with the tags of these kinds.
pub fn ethernet(tags: &[u16], ether_type: u16, packet: &[u8]) -> Vec<u8> {
    let mut frame = vec![0; 12];
    for tag in tags {
        frame.extend(tag.to_be_bytes());
        frame.extend([0, 5]);
    }
    frame.extend(ether_type.to_be_bytes());
    frame.extend(packet);
    frame
}

/// An IPv4 packet of that protocol around something.
pub fn around(protocol: u8, inner: &[u8]) -> Vec<u8> {
    let total = u16::try_from(20 + inner.len()).expect("a short packet");
    let mut packet = vec![0x45, 0];
    packet.extend(total.to_be_bytes());
    packet.extend([0, 1, 0, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2]);
    packet.extend(inner);
    packet
}
