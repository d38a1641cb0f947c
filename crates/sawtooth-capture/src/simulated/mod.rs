//! Captures of simulated runs: what taps of the simulator see, as packets in files.
//!
//! **Model.** Each point has a file. At hosts each flow has an interface, for each flow is between two hosts of its own; a link has one. Time begins with the year 2000 ([`EPOCH_NS`]): a
//! packet at the run's beginning has a time that is not zero, which some programs take for none.
//!
//! **What the simulator does not have** is made up, always in the same way: addresses and ports (`faces.rs`), initial sequence numbers and identifications (`numbers.rs`).
//!
//! Deviations:
//! - Identifications of IP count the packets that a host sends on a connection, and not those of all its connections.
//! - Where a receiver has no clock in the simulator, timestamps of its acknowledgements are the time at which they leave.
//! - The AccECN option counts what has come to the receiver's interface, which on a host is before TCP has it. Data carry none, for no packet of full length has room for it.
//! - A packet is as long as its headers and its payload, padded with options up to what the simulator counts. It is longer than that where the simulator counts no bytes for an option: those
//!   of a SYN (`syn_options`), a DSACK block, and the AccECN option.

mod faces;
mod numbers;

use std::fmt::Debug;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sawtooth_core::Scenario;
use sawtooth_core::internals::sim::{SeenContent, SeenPacket, Tap, TapPoint, WireEvent};
use sawtooth_core::units::Duration;

use self::faces::FlowFace;
use crate::interfaces::interfaces_at;
use crate::write::file::UnfinishedFile;
use crate::write::headers::{
    CapturedBytes, IpFields, UdpPacket, damage, framed, tcp_packet, udp_packet,
};
use crate::write::pcapng::{
    CaptureInterface, InterfaceCounts, PacketRecord, PacketWay, PcapngWriter, SectionNotes,
};

/// The beginning of a run: 2000-01-01T00:00:00Z, in nanoseconds since 1970.
pub const EPOCH_NS: u64 = 946_684_800_000_000_000;

/// The comment of a packet that a host gets damaged, and drops.
pub const DAMAGED: &str = "damaged";
/// What a host sends first has it (RFC 1700).
const TIME_TO_LIVE: u8 = 64;

/// What a capture is written to. A run may begin anew: then what was written does not count.
pub trait CaptureOutput: Write + Debug {
    /// Nothing has been written.
    fn restart(&mut self) -> io::Result<()>;
}

impl CaptureOutput for UnfinishedFile {
    fn restart(&mut self) -> io::Result<()> {
        self.restart()
    }
}

impl CaptureOutput for Vec<u8> {
    fn restart(&mut self) -> io::Result<()> {
        self.clear();
        Ok(())
    }
}

/// How packets are captured, and what is noted beside them.
#[derive(Clone, Debug)]
pub struct CaptureSettings {
    /// Bytes of a packet that are captured, from its IP header on; 0: all.
    pub snap: u32,
    /// What the files say of themselves.
    pub notes: SectionNotes,
}

/// A file of one point.
#[derive(Debug)]
struct PointFile<W> {
    point: TapPoint,
    interfaces: Vec<CaptureInterface>,
    counts: Vec<InterfaceCounts>,
    /// Nothing after a failure.
    writer: Option<PcapngWriter<W>>,
}

/// Files of what taps see in one run.
#[derive(Debug)]
pub struct SimulatedCapture<W> {
    settings: CaptureSettings,
    faces: Vec<FlowFace>,
    files: Vec<PointFile<W>>,
    failure: Option<io::Error>,
    has_failed: Arc<AtomicBool>,
}

/// A file that has been written.
#[derive(Debug)]
pub struct FinishedCapture<W> {
    /// Where its packets were seen.
    pub point: TapPoint,
    /// How many it has.
    pub packets: u64,
    /// What it was written to.
    pub out: W,
}

impl<W: CaptureOutput> SimulatedCapture<W> {
    /// One that writes what passes each point to the output beside it.
    ///
    /// # Errors
    /// If nothing can be written.
    pub fn new(
        scenario: &Scenario,
        settings: CaptureSettings,
        outputs: impl IntoIterator<Item = (TapPoint, W)>,
    ) -> io::Result<Self> {
        let faces = faces::faces(scenario);
        let mut files = Vec::new();
        for (point, out) in outputs {
            let flows = faces
                .iter()
                .map(|face| (face.name.clone(), face.description.clone()));
            let interfaces = interfaces_at(point, scenario, flows, settings.snap);
            let mut file = PointFile {
                point,
                counts: vec![InterfaceCounts::default(); interfaces.len()],
                interfaces,
                writer: None,
            };
            file.begin(out, &settings.notes)?;
            files.push(file);
        }
        Ok(Self {
            settings,
            faces,
            files,
            failure: None,
            has_failed: Arc::default(),
        })
    }

    /// The points, numbered as the tap numbers them.
    pub fn points(&self) -> Vec<TapPoint> {
        self.files.iter().map(|file| file.point).collect()
    }

    /// Whether something could not be written, so that the run is of no use: to be asked while it goes on.
    pub fn failed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.has_failed)
    }

    /// The run is over, after so long.
    ///
    /// # Errors
    /// If something could not be written, now or before.
    pub fn finish(self, duration: Duration) -> io::Result<Vec<FinishedCapture<W>>> {
        if let Some(failure) = self.failure {
            return Err(failure);
        }
        let end = EPOCH_NS + duration.as_ns().unsigned_abs();
        let finished = self.files.into_iter().map(|file| file.finish(end));
        finished.collect()
    }

    fn fail(&mut self, error: io::Error) {
        self.failure.get_or_insert(error);
        self.has_failed.store(true, Ordering::Relaxed);
    }
}

impl<W: CaptureOutput> Tap for SimulatedCapture<W> {
    fn begin(&mut self) {
        let mut restart = || {
            for file in &mut self.files {
                file.restart(&self.settings.notes)?;
            }
            Ok(())
        };
        if let Err(error) = restart() {
            self.fail(error);
        }
    }

    fn see(&mut self, point: usize, packet: &SeenPacket) {
        if self.failure.is_some() {
            return;
        }
        let face = &self.faces[packet.flow as usize];
        let snap = match self.settings.snap {
            0 => usize::MAX,
            snap => snap as usize,
        };
        if let Err(error) = self.files[point].packet(packet, face, snap) {
            self.fail(error);
        }
    }

    fn see_drop(&mut self, point: usize) {
        let counts = &mut self.files[point].counts[0];
        counts.dropped += 1;
        counts.received += 1;
    }
}

impl<W: CaptureOutput> PointFile<W> {
    fn begin(&mut self, out: W, notes: &SectionNotes) -> io::Result<()> {
        let mut writer = PcapngWriter::begin(out, notes)?;
        for interface in &self.interfaces {
            writer.add_interface(interface)?;
        }
        self.writer = Some(writer);
        Ok(())
    }

    /// Nothing has been seen yet.
    fn restart(&mut self, notes: &SectionNotes) -> io::Result<()> {
        if self.counts.iter().all(|counts| counts.received == 0) {
            return Ok(());
        }
        self.counts.fill(InterfaceCounts::default());
        let writer = self.writer.take().expect("nothing has failed before");
        let mut out = writer.finish()?;
        out.restart()?;
        self.begin(out, notes)
    }

    fn packet(&mut self, packet: &SeenPacket, face: &FlowFace, snap: usize) -> io::Result<()> {
        let bytes = bytes_of(packet, face, snap)?;
        let interface = match self.point {
            TapPoint::Sender | TapPoint::Receiver => packet.flow,
            TapPoint::Near(_) | TapPoint::Far(_) => 0,
        };
        self.counts[interface as usize].received += 1;
        let writer = self.writer.as_mut().expect("nothing has failed before");
        writer.packet(&PacketRecord {
            interface,
            time_ns: EPOCH_NS + packet.time.as_ns().unsigned_abs(),
            bytes: &bytes.bytes,
            length: bytes.length,
            way: way(self.point, packet.returns),
            comment: comment(packet),
        })
    }

    fn finish(self, end_ns: u64) -> io::Result<FinishedCapture<W>> {
        let mut writer = self.writer.expect("nothing has failed before");
        for (interface, counts) in (0..).zip(&self.counts) {
            writer.statistics(interface, EPOCH_NS, end_ns, *counts)?;
        }
        let packets = |counts: &InterfaceCounts| counts.received - counts.dropped;
        Ok(FinishedCapture {
            point: self.point,
            packets: self.counts.iter().map(packets).sum(),
            out: writer.finish()?,
        })
    }
}

fn bytes_of(packet: &SeenPacket, face: &FlowFace, snap: usize) -> io::Result<CapturedBytes> {
    let ip = IpFields {
        identification: packet.number,
        time_to_live: TIME_TO_LIVE.saturating_sub(packet.links),
        ecn: packet.ecn as u8,
    };
    let length = u32::try_from(packet.size.get()).unwrap_or(u32::MAX);
    let mut bytes = match &packet.content {
        SeenContent::Segment(content) => {
            let segment = numbers::segment(packet, content, face);
            tcp_packet(&segment, ip, Some(length), snap)?
        }
        SeenContent::Datagram => {
            let [source, destination] = face.ends(packet.connection, packet.returns);
            let payload = length.saturating_sub(28);
            let packet = UdpPacket {
                source,
                destination,
                payload,
            };
            udp_packet(&packet, ip, snap)?
        }
    };
    if packet.is_damaged {
        damage(&mut bytes);
    }
    Ok(framed(&bytes))
}

/// Which way a packet goes that returns to the beginning of paths, or does not.
fn way(point: TapPoint, returns: bool) -> PacketWay {
    let at_beginning = matches!(point, TapPoint::Sender | TapPoint::Near(_));
    if at_beginning == returns {
        PacketWay::Inbound
    } else {
        PacketWay::Outbound
    }
}

/// What no header says.
fn comment(packet: &SeenPacket) -> Option<&'static str> {
    let again = match &packet.content {
        SeenContent::Segment(segment) => segment.data.is_some_and(|data| data.retransmission),
        SeenContent::Datagram => false,
    };
    match (packet.ahead, again) {
        (WireEvent::Lost, false) => Some("lost on the wire"),
        (WireEvent::Lost, true) => Some("sent again; lost on the wire"),
        (WireEvent::Damaged, false) => Some("damaged on the wire"),
        (WireEvent::Damaged, true) => Some("sent again; damaged on the wire"),
        (WireEvent::Doubled, false) => Some("doubled on the wire"),
        (WireEvent::Doubled, true) => Some("sent again; doubled on the wire"),
        (WireEvent::None, _) if packet.is_damaged => Some(DAMAGED),
        (WireEvent::None, true) => Some("sent again"),
        (WireEvent::None, false) => None,
    }
}
