//! A file of packets: blocks, each of which says its kind and length (draft-ietf-opsawg-pcapng), written one after the other and never again.
//!
//! Blocks are in the byte order of the machine, which the first of them tells (§4.1). Packets are in frames of Ethernet ([`framed`](super::headers::framed)): libpcap, by which tcpdump and tcptrace read, refuses a
//! file with several interfaces of packets without frames (link type RAW; seen of 1.10.3).

use std::io::{self, Write};

const SECTION_HEADER: u32 = 0x0a0d_0d0a;
const BYTE_ORDER: u32 = 0x1a2b_3c4d;
const INTERFACE_DESCRIPTION: u32 = 1;
const INTERFACE_STATISTICS: u32 = 5;
const ENHANCED_PACKET: u32 = 6;
/// LINKTYPE_ETHERNET.
const ETHERNET: u16 = 1;

/// Codes of options (§3.5, §4.1 to §4.6).
mod option {
    pub(super) const END: u16 = 0;
    pub(super) const COMMENT: u16 = 1;
    pub(super) const SECTION_HARDWARE: u16 = 2;
    pub(super) const SECTION_SYSTEM: u16 = 3;
    pub(super) const SECTION_APPLICATION: u16 = 4;
    pub(super) const INTERFACE_NAME: u16 = 2;
    pub(super) const INTERFACE_DESCRIPTION: u16 = 3;
    pub(super) const INTERFACE_RESOLUTION: u16 = 9;
    pub(super) const PACKET_FLAGS: u16 = 2;
    pub(super) const STATISTICS_START: u16 = 2;
    pub(super) const STATISTICS_END: u16 = 3;
    pub(super) const STATISTICS_RECEIVED: u16 = 4;
    pub(super) const STATISTICS_DROPPED: u16 = 5;
}

/// What a file says of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SectionNotes {
    /// What the packets were captured on.
    pub hardware: String,
    /// Its operating system.
    pub system: String,
    /// What has written the file.
    pub application: String,
    /// Whatever else there is to say.
    pub comments: Vec<String>,
}

/// Where packets are captured.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CaptureInterface {
    /// As a system names it.
    pub name: String,
    /// What it is.
    pub description: String,
    /// The most bytes of a frame that are captured; 0: all.
    pub snap: u32,
}

/// Which way a packet goes (§4.3.1, epb_flags).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketWay {
    /// It is not known.
    Unknown,
    /// It comes to the interface.
    Inbound,
    /// It leaves it.
    Outbound,
}

/// A packet, and what is noted of it.
#[derive(Clone, Copy, Debug)]
pub struct PacketRecord<'a> {
    /// The interface, by its number.
    pub interface: u32,
    /// Nanoseconds since 1970.
    pub time_ns: u64,
    /// What was captured.
    pub bytes: &'a [u8],
    /// Bytes that it had.
    pub length: u32,
    /// Its direction.
    pub way: PacketWay,
    /// A remark.
    pub comment: Option<&'a str>,
}

/// What an interface has counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InterfaceCounts {
    /// Packets that came, those that were dropped among them.
    pub received: u64,
    /// Those of them that there was no room for.
    pub dropped: u64,
    /// A remark.
    pub comment: Option<&'static str>,
}

/// A file that is being written.
#[derive(Debug)]
pub struct PcapngWriter<W> {
    out: W,
    block: Vec<u8>,
}

impl<W: Write> PcapngWriter<W> {
    /// Begins a file with what it says of itself.
    ///
    /// # Errors
    /// If it cannot be written, as all functions here.
    pub fn begin(out: W, notes: &SectionNotes) -> io::Result<Self> {
        let mut writer = Self {
            out,
            block: Vec::with_capacity(256),
        };
        let block = &mut writer.block;
        block.extend(BYTE_ORDER.to_ne_bytes());
        // Version 1.0; the section's length is not known.
        block.extend(1_u16.to_ne_bytes());
        block.extend(0_u16.to_ne_bytes());
        block.extend(u64::MAX.to_ne_bytes());
        for comment in &notes.comments {
            add_option(block, option::COMMENT, comment.as_bytes());
        }
        let texts = [
            (option::SECTION_HARDWARE, &notes.hardware),
            (option::SECTION_SYSTEM, &notes.system),
            (option::SECTION_APPLICATION, &notes.application),
        ];
        for (code, text) in texts {
            if !text.is_empty() {
                add_option(block, code, text.as_bytes());
            }
        }
        add_option(block, option::END, &[]);
        writer.end_block(SECTION_HEADER)?;
        Ok(writer)
    }

    /// Adds an interface, to which its number among them refers, from 0. Times are in nanoseconds.
    pub fn add_interface(&mut self, interface: &CaptureInterface) -> io::Result<()> {
        let block = &mut self.block;
        block.extend(ETHERNET.to_ne_bytes());
        block.extend(0_u16.to_ne_bytes());
        block.extend(interface.snap.to_ne_bytes());
        add_option(block, option::INTERFACE_NAME, interface.name.as_bytes());
        let description = interface.description.as_bytes();
        add_option(block, option::INTERFACE_DESCRIPTION, description);
        add_option(block, option::INTERFACE_RESOLUTION, &[9]);
        add_option(block, option::END, &[]);
        self.end_block(INTERFACE_DESCRIPTION)
    }

    /// Adds a packet.
    pub fn packet(&mut self, packet: &PacketRecord) -> io::Result<()> {
        let block = &mut self.block;
        let captured = u32::try_from(packet.bytes.len()).expect("a packet of IP");
        block.extend(packet.interface.to_ne_bytes());
        add_time(block, packet.time_ns);
        block.extend(captured.to_ne_bytes());
        block.extend(packet.length.to_ne_bytes());
        block.extend(packet.bytes);
        pad(block);
        let way: u32 = match packet.way {
            PacketWay::Unknown => 0,
            PacketWay::Inbound => 1,
            PacketWay::Outbound => 2,
        };
        if let Some(comment) = packet.comment {
            add_option(block, option::COMMENT, comment.as_bytes());
        }
        if way != 0 {
            add_option(block, option::PACKET_FLAGS, &way.to_ne_bytes());
        }
        if way != 0 || packet.comment.is_some() {
            add_option(block, option::END, &[]);
        }
        self.end_block(ENHANCED_PACKET)
    }

    /// Adds what an interface has counted from one time to another.
    pub fn statistics(
        &mut self,
        interface: u32,
        start_ns: u64,
        end_ns: u64,
        counts: InterfaceCounts,
    ) -> io::Result<()> {
        let block = &mut self.block;
        block.extend(interface.to_ne_bytes());
        add_time(block, end_ns);
        for (code, time) in [
            (option::STATISTICS_START, start_ns),
            (option::STATISTICS_END, end_ns),
        ] {
            let mut value = Vec::new();
            add_time(&mut value, time);
            add_option(block, code, &value);
        }
        let received = counts.received.to_ne_bytes();
        add_option(block, option::STATISTICS_RECEIVED, &received);
        let dropped = counts.dropped.to_ne_bytes();
        add_option(block, option::STATISTICS_DROPPED, &dropped);
        if let Some(comment) = counts.comment {
            add_option(block, option::COMMENT, comment.as_bytes());
        }
        add_option(block, option::END, &[]);
        self.end_block(INTERFACE_STATISTICS)
    }

    /// Hands back what was written to, with all in it.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes what has been gathered as a block.
    fn end_block(&mut self, kind: u32) -> io::Result<()> {
        let length = u32::try_from(self.block.len() + 12).expect("a block of one packet");
        let length = length.to_ne_bytes();
        self.out.write_all(&kind.to_ne_bytes())?;
        self.out.write_all(&length)?;
        self.out.write_all(&self.block)?;
        self.out.write_all(&length)?;
        self.block.clear();
        Ok(())
    }
}

/// A time as its upper and its lower half.
fn add_time(block: &mut Vec<u8>, time_ns: u64) {
    let [lower, upper] = [time_ns & u64::from(u32::MAX), time_ns >> 32];
    for half in [upper, lower] {
        let half = u32::try_from(half).expect("32 bits");
        block.extend(half.to_ne_bytes());
    }
}

/// Longer texts are cut.
fn add_option(block: &mut Vec<u8>, code: u16, value: &[u8]) {
    let length = value.len().min(usize::from(u16::MAX));
    block.extend(code.to_ne_bytes());
    let told = u16::try_from(length).expect("at most 65535");
    block.extend(told.to_ne_bytes());
    block.extend(&value[..length]);
    pad(block);
}

fn pad(block: &mut Vec<u8>) {
    block.resize(block.len().next_multiple_of(4), 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_parser::traits::PcapNGPacketBlock;
    use pcap_parser::{Block, PcapError, PcapNGReader, traits::PcapReaderIterator};

    fn written() -> Vec<u8> {
        let notes = SectionNotes {
            hardware: "a simulator".into(),
            comments: vec!["one".into(), "another".into()],
            ..SectionNotes::default()
        };
        let mut writer = PcapngWriter::begin(Vec::new(), &notes).expect("memory");
        let interface = CaptureInterface {
            name: "sender".into(),
            description: "of flow 1".into(),
            snap: 96,
        };
        writer.add_interface(&interface).expect("memory");
        let mut packet = PacketRecord {
            interface: 0,
            time_ns: 946_684_800_000_000_001,
            bytes: &[0x45, 1, 2, 3, 4],
            length: 1500,
            way: PacketWay::Outbound,
            comment: Some("lost"),
        };
        writer.packet(&packet).expect("memory");
        (packet.way, packet.comment) = (PacketWay::Unknown, None);
        writer.packet(&packet).expect("memory");
        let counts = InterfaceCounts {
            received: 3,
            dropped: 1,
            comment: Some("no room"),
        };
        writer.statistics(0, 0, 7, counts).expect("memory");
        writer.finish().expect("memory")
    }

    #[test]
    fn another_reader_finds_what_was_written() {
        let bytes = written();
        let mut reader = PcapNGReader::new(65_536, bytes.as_slice()).expect("a section");
        let (mut kinds, mut packets) = (Vec::new(), Vec::new());
        loop {
            match reader.next() {
                Ok((offset, block)) => {
                    if let pcap_parser::PcapBlockOwned::NG(block) = block {
                        match block {
                            Block::SectionHeader(section) => {
                                kinds.push("section");
                                assert_eq!(section.options.len(), 4);
                            }
                            Block::InterfaceDescription(interface) => {
                                kinds.push("interface");
                                assert_eq!(interface.if_name(), Some(Ok("sender")));
                                assert_eq!((interface.if_tsresol, interface.snaplen), (9, 96));
                                assert_eq!(interface.linktype.0, 1);
                            }
                            Block::EnhancedPacket(packet) => {
                                kinds.push("packet");
                                packets.push((
                                    (u64::from(packet.ts_high) << 32) + u64::from(packet.ts_low),
                                    packet.packet_data().to_vec(),
                                    packet.origlen,
                                    packet.options.len(),
                                ));
                            }
                            Block::InterfaceStatistics(statistics) => {
                                kinds.push("statistics");
                                assert!(
                                    statistics
                                        .options
                                        .iter()
                                        .any(|o| o.value.starts_with(b"no room"))
                                );
                            }
                            _ => panic!("another block"),
                        }
                    }
                    reader.consume(offset);
                }
                Err(PcapError::Incomplete(_)) => reader.refill().expect("more of it"),
                Err(PcapError::Eof) => break,
                Err(error) => panic!("{error:?}"),
            }
        }
        assert_eq!(
            kinds,
            ["section", "interface", "packet", "packet", "statistics"]
        );
        let (time, data) = (946_684_800_000_000_001, vec![0x45, 1, 2, 3, 4]);
        assert_eq!(packets[0], (time, data.clone(), 1500, 3));
        assert_eq!(packets[1], (time, data, 1500, 0));
    }

    #[test]
    fn every_block_is_of_whole_words_and_says_its_length_twice() {
        let bytes = written();
        let word = |at: usize| {
            let word = bytes[at..at + 4].try_into().expect("four bytes");
            u32::from_ne_bytes(word) as usize
        };
        let mut at = 0;
        while at < bytes.len() {
            let length = word(at + 4);
            assert_eq!(length % 4, 0);
            assert_eq!(word(at + length - 4), length);
            at += length;
        }
        assert_eq!(at, bytes.len());
    }

    /// Takes no more than so many bytes.
    struct Full(usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 = self
                .0
                .checked_sub(bytes.len())
                .ok_or(io::ErrorKind::StorageFull)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_told() {
        let mut writer = PcapngWriter::begin(Full(200), &SectionNotes::default()).expect("room");
        let interface = CaptureInterface::default();
        let mut results = (0..9).map(|_| writer.add_interface(&interface));
        let error = results.find_map(Result::err).expect("no room for all");
        assert_eq!(error.kind(), io::ErrorKind::StorageFull);
    }
}
