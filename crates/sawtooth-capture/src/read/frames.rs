//! Frames of a capture: pcap and pcapng, of either byte order, as they come.
//!
//! **Model.** A file is read forward through one buffer, which grows up to `LARGEST_BLOCK` where a block needs it. A pcapng file may have several sections,
//! each with its interfaces, and each of those with its link type and resolution of time. A file that ends within a block, or goes on with what is none, is
//! read up to there: what stands before is kept, and where it ended is told.

use std::fmt;
use std::io::{self, Cursor, Read};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{
    Block, EnhancedPacketBlock, OptionCode, PcapBlockOwned, PcapError, PcapNGOption, create_reader,
};

use super::link;
use crate::write::pcapng::PacketWay;

/// A frame as it was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CapturedFrame<'a> {
    /// Since 1970.
    pub time_ns: i64,
    /// Kind of its link, by its number in the registry of link types.
    pub link_type: u32,
    /// What was captured of it.
    pub bytes: &'a [u8],
    /// Bytes that it had.
    pub original_length: u32,
    /// Name of the interface at which it was; empty if it is not told.
    pub interface: &'a str,
    /// Whether it left there or came in.
    pub way: PacketWay,
    /// The first of its comments.
    pub comment: Option<&'a str>,
}

/// A capture, without its frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileFacts {
    /// Of which kind it is.
    pub format: String,
    /// Sections of a pcapng file; 1 of a pcap file.
    pub sections: u64,
    /// Interfaces of all sections, by name if they have one, in their order.
    pub interfaces: Vec<Interface>,
    /// Frames that were read.
    pub frames: u64,
    /// Frames of interfaces that the file does not describe.
    pub homeless: u64,
    /// Frames without a time (simple packet blocks), which count as of 1970.
    pub untimed: u64,
    /// Comments of sections, interfaces and packets.
    pub comments: u64,
    /// Bytes of the file that were read as blocks.
    pub bytes: u64,
    /// Why it was not read to its end.
    pub damage: Option<Damage>,
}

/// Where frames were captured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name; empty if it is not told.
    pub name: String,
    /// Kind of its link.
    pub link_type: u32,
    /// Units of its clock in a second.
    pub resolution: u64,
    /// Seconds that its times are later than they say.
    offset_s: i64,
    /// Most bytes that are captured of a frame; 0: all.
    snap_length: u32,
}

impl Interface {
    fn time_ns(&self, units: u64) -> i64 {
        let units = i128::from(units) * 1_000_000_000 / i128::from(self.resolution.max(1));
        let all = units + i128::from(self.offset_s) * 1_000_000_000;
        // A damaged time is far off, and two of them have a difference nevertheless.
        i64::try_from(all.clamp(0, LATEST_NS)).unwrap_or_default()
    }
}

/// Where a file ceases to be a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// Bytes before it.
    pub at: u64,
    /// What is wrong there.
    pub kind: DamageKind,
}

/// How a file may cease to be a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DamageKind {
    /// It ends within a block.
    EndsWithin,
    /// What stands there is no block.
    NoBlock,
    /// A block is told to have more bytes than any.
    TooLarge,
    /// It could not be read, for that reason.
    Refused(String),
}

impl fmt::Display for Damage {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at;
        match &self.kind {
            DamageKind::EndsWithin => {
                write!(to, "it ends within the block that begins at byte {at}")
            }
            DamageKind::NoBlock => write!(to, "what begins at byte {at} is no block of a capture"),
            DamageKind::TooLarge => write!(
                to,
                "the block that begins at byte {at} is told to be larger than {} MiB",
                LARGEST_BLOCK >> 20
            ),
            DamageKind::Refused(why) => write!(to, "it could not be read after byte {at}: {why}"),
        }?;
        write!(to, "; all before it was read")
    }
}

/// Why nothing of a file can be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It has no bytes.
    Empty,
    /// It is compressed, in that way; a program writes the capture.
    Compressed(&'static str, &'static str),
    /// It begins with these bytes.
    Other(Vec<u8>),
    /// It is pcapng, and its section header has no byte order or is not whole.
    SectionHeader,
    /// It is pcap, and ends within its header.
    CutHeader,
    /// It is a kind of pcap that only some kernels of Linux 2.2 wrote.
    Patched,
    /// None of its links is of a kind that is read; they are of that one.
    Link(u32),
    /// It could not be read, for that reason.
    Refused(String),
}

impl fmt::Display for Unreadable {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(to, "is empty"),
            Self::Compressed(name, _) => write!(to, "is compressed ({name})"),
            Self::Other(bytes) => {
                let shown: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
                write!(to, "is no capture: it begins with {}", shown.join(" "))
            }
            Self::SectionHeader => write!(
                to,
                "begins as pcapng does, and its section header has no byte order or does not end"
            ),
            Self::CutHeader => write!(to, "begins as pcap does, and ends within its header"),
            Self::Patched => write!(
                to,
                "is a pcap file as patched kernels of Linux 2.2 wrote it (a1b2cd34)"
            ),
            Self::Link(number) => write!(to, "was captured on links of type {number}"),
            Self::Refused(why) => write!(to, "cannot be read: {why}"),
        }
    }
}

impl Unreadable {
    /// What to do about a file of that name.
    pub fn hint(&self, file: &str) -> String {
        match self {
            Self::Empty => "whoever captures writes the header first: has it begun?".into(),
            Self::Compressed(_, program) => {
                format!("give what it holds: `{program} {file} | sawtooth analyze -`")
            }
            Self::Other(_) => {
                "pcap (d4 c3 b2 a1, and its three relatives) and pcapng (0a 0d 0d 0a) are read; Wireshark's `editcap` makes pcapng of others".into()
            }
            Self::SectionHeader | Self::CutHeader => "ask for another copy of it".into(),
            Self::Patched => format!("Wireshark reads it: `editcap {file} new.pcapng`"),
            Self::Link(_) => {
                let names: Vec<_> = link::READ
                    .iter()
                    .map(|(number, name)| format!("{number} ({name})"))
                    .collect();
                format!("link types that are read: {}", names.join(", "))
            }
            Self::Refused(_) => "see what `ls -l` says of it".into(),
        }
    }
}

/// In the year 2096.
const LATEST_NS: i128 = 4_000_000_000_000_000_000;

/// The option of a packet that has its flags (pcapng §4.3).
const FLAGS: OptionCode = OptionCode(2);

/// A buffer begins with so many bytes.
const BUFFER: usize = 1 << 20;

/// No block has more: the largest packets of a kernel are of half a MiB.
const LARGEST_BLOCK: usize = 64 << 20;

/// Reads all frames of a capture, in their order, until `on_frame` says that it is enough. It is given each frame and how many bytes came before it.
pub fn read_frames(
    input: impl Read + Send,
    on_frame: &mut dyn FnMut(CapturedFrame<'_>, u64) -> ControlFlow<()>,
) -> Result<FileFacts, Unreadable> {
    let mut reader = FrameReader::open(input)?;
    while reader.step(on_frame).is_continue() {}
    reader.finish()
}

/// A capture that is read a block at a time.
pub struct FrameReader<'a> {
    capture: Box<dyn PcapReaderIterator + Send + 'a>,
    /// Bytes that a block may have.
    room: usize,
    reading: Reading,
    damage: Option<Damage>,
    /// Why the input failed, if it did.
    refused: Arc<Mutex<Option<String>>>,
}

impl<'a> FrameReader<'a> {
    /// Looks at what an input begins with.
    pub fn open(mut input: impl Read + Send + 'a) -> Result<Self, Unreadable> {
        // A pipe gives its first bytes when it likes; whoever looks at them wants all.
        let mut head = Vec::new();
        let taken = input.by_ref().take(BUFFER as u64).read_to_end(&mut head);
        if let Err(error) = taken {
            return Err(Unreadable::Refused(error.to_string()));
        }
        recognise(&head)?;
        let refused = Arc::new(Mutex::new(None));
        let rest = TellingInput {
            input,
            refused: Arc::clone(&refused),
        };
        let capture = create_reader(BUFFER, Cursor::new(head.clone()).chain(rest))
            .map_err(|error| header_error(&error, &head))?;
        Ok(Self {
            capture,
            room: BUFFER,
            reading: Reading {
                facts: FileFacts::default(),
                described: Vec::new(),
                is_nanoseconds: false,
                is_big_endian: false,
            },
            damage: None,
            refused,
        })
    }

    /// Reads the next block, or more of it: `on_frame` is given its frame, if it has one, and how many bytes came before it. Breaks at the end, or as
    /// `on_frame` says.
    pub fn step(
        &mut self,
        on_frame: &mut dyn FnMut(CapturedFrame<'_>, u64) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let before = self.capture.consumed() as u64;
        let is_over = self.capture.data().is_empty();
        let more = match self.capture.next() {
            Ok((length, block)) => {
                let reading = &mut self.reading;
                let goes_on = reading.block(&block, &mut |frame| on_frame(frame, before));
                drop(block);
                self.capture.consume(length);
                reading.facts.bytes = self.capture.consumed() as u64;
                return goes_on;
            }
            Err(PcapError::Eof) => return ControlFlow::Break(()),
            Err(PcapError::UnexpectedEof) if is_over => return ControlFlow::Break(()),
            Err(PcapError::UnexpectedEof) => Err(DamageKind::EndsWithin),
            Err(PcapError::Incomplete(_)) => self.refill(false),
            Err(PcapError::BufferTooSmall) => self.refill(true),
            Err(_) => Err(DamageKind::NoBlock),
        };
        let Err(kind) = more else {
            return ControlFlow::Continue(());
        };
        self.damage = Some(Damage { at: before, kind });
        ControlFlow::Break(())
    }

    /// Takes more of the input, in a larger buffer if this one is full.
    fn refill(&mut self, is_full: bool) -> Result<(), DamageKind> {
        if is_full {
            self.room *= 2;
            if self.room > LARGEST_BLOCK {
                return Err(DamageKind::TooLarge);
            }
            self.capture.grow(self.room);
        }
        self.capture.refill().map_err(|_| DamageKind::EndsWithin)
    }

    /// What is to be told of the capture, as far as it was read.
    pub fn finish(mut self) -> Result<FileFacts, Unreadable> {
        let refused = self.refused.lock().expect("nobody panics with it").take();
        self.reading.facts.damage = match (self.damage, refused) {
            (Some(damage), Some(why)) => Some(Damage {
                kind: DamageKind::Refused(why),
                ..damage
            }),
            (damage, _) => damage,
        };
        let facts = self.reading.facts;
        let mut kinds = facts.interfaces.iter().map(|each| each.link_type);
        match kinds.clone().next() {
            Some(first) if !kinds.any(link::is_read) => Err(Unreadable::Link(first)),
            _ => Ok(facts),
        }
    }
}

/// Looks at the first bytes, which tell all kinds apart.
fn recognise(head: &[u8]) -> Result<(), Unreadable> {
    match head {
        [] => Err(Unreadable::Empty),
        [0x1f, 0x8b, ..] => Err(Unreadable::Compressed("gzip", "zcat")),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => Err(Unreadable::Compressed("zstd", "zstdcat")),
        [0xfd, b'7', b'z', b'X', ..] => Err(Unreadable::Compressed("xz", "xzcat")),
        [b'B', b'Z', b'h', ..] => Err(Unreadable::Compressed("bzip2", "bzcat")),
        [0x34, 0xcd, 0xb2, 0xa1, ..] | [0xa1, 0xb2, 0xcd, 0x34, ..] => Err(Unreadable::Patched),
        [0x0a, 0x0d, 0x0d, 0x0a, ..]
        | [0xd4, 0xc3, 0xb2, 0xa1, ..]
        | [0xa1, 0xb2, 0xc3, 0xd4, ..]
        | [0x4d, 0x3c, 0xb2, 0xa1, ..]
        | [0xa1, 0xb2, 0x3c, 0x4d, ..] => Ok(()),
        _ => Err(Unreadable::Other(head[..head.len().min(4)].to_vec())),
    }
}

fn header_error(error: &PcapError<&[u8]>, head: &[u8]) -> Unreadable {
    match error {
        PcapError::ReadError => Unreadable::Refused("an error of the system".into()),
        _ if head.starts_with(&[0x0a, 0x0d, 0x0d, 0x0a]) => Unreadable::SectionHeader,
        _ => Unreadable::CutHeader,
    }
}

/// An input that keeps why it failed, which the parser does not tell.
struct TellingInput<R> {
    input: R,
    refused: Arc<Mutex<Option<String>>>,
}

impl<R: Read> Read for TellingInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer);
        if let Err(error) = &read {
            let why = error.to_string();
            *self.refused.lock().expect("nobody panics with it") = Some(why);
        }
        read
    }
}

/// What is known while a file is read.
struct Reading {
    facts: FileFacts,
    /// Interfaces of the section.
    described: Vec<Interface>,
    /// Of a pcap file, whose times are else of microseconds.
    is_nanoseconds: bool,
    /// Of the section.
    is_big_endian: bool,
}

impl Reading {
    fn block(
        &mut self,
        block: &PcapBlockOwned<'_>,
        on_frame: &mut dyn FnMut(CapturedFrame<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => {
                self.is_nanoseconds = header.is_nanosecond_precision();
                let unit = if self.is_nanoseconds { "nano" } else { "micro" };
                self.facts.format = format!("pcap, {unit}seconds");
                self.facts.sections = 1;
                let resolution = if self.is_nanoseconds {
                    1_000_000_000
                } else {
                    1_000_000
                };
                self.describe(Interface {
                    name: String::new(),
                    // What is above tells of a checksum behind the frame.
                    link_type: header.network.0.cast_unsigned() & 0xffff,
                    resolution,
                    offset_s: 0,
                    snap_length: header.snaplen,
                });
                ControlFlow::Continue(())
            }
            PcapBlockOwned::Legacy(frame) => {
                let interface = &self.described[0];
                let part = if self.is_nanoseconds { 1 } else { 1000 };
                let time_ns =
                    i64::from(frame.ts_sec) * 1_000_000_000 + i64::from(frame.ts_usec) * part;
                self.facts.frames += 1;
                on_frame(CapturedFrame {
                    time_ns,
                    link_type: interface.link_type,
                    bytes: frame.data,
                    original_length: frame.origlen,
                    interface: &interface.name,
                    way: PacketWay::Unknown,
                    comment: None,
                })
            }
            PcapBlockOwned::NG(block) => self.pcapng_block(block, on_frame),
        }
    }

    fn pcapng_block(
        &mut self,
        block: &Block<'_>,
        on_frame: &mut dyn FnMut(CapturedFrame<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let comments = |options: &[pcap_parser::PcapNGOption<'_>]| {
            let found = options
                .iter()
                .filter(|each| each.code == OptionCode::Comment);
            found.count() as u64
        };
        match block {
            Block::SectionHeader(header) => {
                self.facts.format = "pcapng".into();
                self.facts.sections += 1;
                self.is_big_endian = header.big_endian();
                self.facts.comments += comments(&header.options);
                self.described.clear();
            }
            Block::InterfaceDescription(interface) => {
                let name = interface.if_name().and_then(Result::ok);
                self.facts.comments += comments(&interface.options);
                self.describe(Interface {
                    name: name.unwrap_or_default().to_owned(),
                    link_type: interface.linktype.0.cast_unsigned() & 0xffff,
                    resolution: interface.ts_resolution().unwrap_or(1_000_000),
                    offset_s: interface.if_tsoffset,
                    snap_length: interface.snaplen,
                });
            }
            Block::EnhancedPacket(packet) => {
                self.facts.comments += comments(&packet.options);
                let at = usize::try_from(packet.if_id).unwrap_or(usize::MAX);
                let Some(interface) = self.described.get(at) else {
                    self.facts.homeless += 1;
                    return ControlFlow::Continue(());
                };
                self.facts.frames += 1;
                return on_frame(CapturedFrame {
                    time_ns: interface
                        .time_ns(u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low)),
                    link_type: interface.link_type,
                    bytes: packet.packet_data(),
                    original_length: packet.origlen,
                    interface: &interface.name,
                    way: way(packet, self.is_big_endian),
                    comment: comment(packet),
                });
            }
            Block::SimplePacket(packet) => {
                // It is of the first interface and has no time (pcapng §4.4).
                let Some(interface) = self.described.first() else {
                    self.facts.homeless += 1;
                    return ControlFlow::Continue(());
                };
                let kept = match interface.snap_length {
                    0 => packet.origlen,
                    most => packet.origlen.min(most),
                };
                let kept = usize::try_from(kept).unwrap_or(usize::MAX);
                self.facts.frames += 1;
                self.facts.untimed += 1;
                return on_frame(CapturedFrame {
                    time_ns: 0,
                    link_type: interface.link_type,
                    bytes: &packet.data[..kept.min(packet.data.len())],
                    original_length: packet.origlen,
                    interface: &interface.name,
                    way: PacketWay::Unknown,
                    comment: None,
                });
            }
            _ => {}
        }
        ControlFlow::Continue(())
    }

    /// Interfaces of the same name, kind and clock are told once, however many sections have them.
    fn describe(&mut self, interface: Interface) {
        if !self.facts.interfaces.contains(&interface) && self.facts.interfaces.len() < 1000 {
            self.facts.interfaces.push(interface.clone());
        }
        self.described.push(interface);
    }
}

/// The lowest two bits of a packet's flags, a number of the section's byte order (pcapng §4.3.1).
fn way(packet: &EnhancedPacketBlock<'_>, is_big_endian: bool) -> PacketWay {
    let flags = packet.options.iter().find(|each| each.code == FLAGS);
    let Some(Ok(&[first, _, _, last])) = flags.map(PcapNGOption::as_bytes) else {
        return PacketWay::Unknown;
    };
    match (if is_big_endian { last } else { first }) & 3 {
        1 => PacketWay::Inbound,
        2 => PacketWay::Outbound,
        _ => PacketWay::Unknown,
    }
}

fn comment<'a>(packet: &'a EnhancedPacketBlock<'_>) -> Option<&'a str> {
    let mut options = packet.options.iter();
    let found = options.find(|each| each.code == OptionCode::Comment)?;
    found.as_str().ok()
}
