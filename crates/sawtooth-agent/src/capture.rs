//! Captures of what a real kernel sends and gets: the packets as they come out of its devices and go into them, in files of pcapng.
//!
//! **Where.** At a host a packet is seen where this program reads it from the host's device or writes it to it. There the kernel has done everything: segments that TCP has handed down together are
//! apart, and checksums are complete. Nothing is asked of the kernel, no socket listens, and so it does the same as without a capture. At a link a packet is seen where the
//! network says that its transmission starts or that it arrives.
//!
//! With the kernel's own shaper this program carries nothing: there packets are heard at devices ([`DeviceEars`]).
//!
//! **When.** Times are those of the run by the kernel's clock, as everywhere in its records, from the same beginning as captures of simulated runs have.
//!
//! **Which.** Packets that belong to flows. What else a kernel sends is not carried. Those of UDP the network makes itself, so that no kernel has them; their bytes are made up as in captures of
//! simulated runs, between the same hosts as all else. They are moved when something of a host is, so what has been seen waits until nothing earlier can be.

mod devices;
mod file;
mod offload;
mod order;
mod packet_ring;
mod udp;
mod unseen;

use std::fs::{self, File};
use std::io::{self, BufWriter};

use sawtooth_capture::interfaces::interfaces_at;
use sawtooth_capture::write::headers::{CapturedBytes, damage, framed};
use sawtooth_capture::write::pcapng::{InterfaceCounts, PacketWay, PcapngWriter, SectionNotes};
use sawtooth_core::Scenario;
use sawtooth_core::internals::net::{LinkEvent, LinkSight, SeenContent, Towards};
use sawtooth_core::internals::sim::TapPoint;
use sawtooth_core::units::Instant;

pub use devices::{DeviceEars, HeardPacket};
pub use order::{CaptureOrder, CapturePlace, place};
pub use unseen::{UnseenPackets, dropped_by_devices};

use self::file::{KernelFile, SeenFrame, WrittenThrough};

use crate::network::IpPacket;
use crate::setup::{self, Addresses, HostName};

/// What is written at once.
const PORTION: usize = 1 << 16;
/// Bytes of a file that a packet takes besides its own, at most.
const OVERHEAD: u64 = 80;
/// The files of a run.
#[derive(Debug)]
pub struct KernelCapture {
    files: Vec<KernelFile>,
    /// Flows of TCP and entries of those that arrive, which come before flows of UDP.
    tcp_flows: usize,
    addresses: Addresses,
    snap: usize,
    /// Bytes that may still be written.
    room: u64,
    failure: Option<io::Error>,
}

/// What a packet does at an interface.
#[derive(Clone, Copy, Debug)]
struct PassingPacket<'a> {
    interface: usize,
    time: Instant,
    packet: &'a CapturedBytes,
    way: PacketWay,
    comment: Option<&'static str>,
}

impl KernelCapture {
    /// Begins the files.
    pub fn begin(
        order: &CaptureOrder,
        place: &CapturePlace,
        scenario: &Scenario,
        user_mode: bool,
    ) -> io::Result<Self> {
        let notes = SectionNotes {
            hardware: String::new(),
            system: system()?,
            application: format!("Sawtooth {}", env!("CARGO_PKG_VERSION")),
            comments: order.comments.clone(),
        };
        let mut files = Vec::new();
        for (number, point) in order.points.iter().copied().enumerate() {
            let file = WrittenThrough {
                file: File::create(place.path(number))?,
                at_once: user_mode,
            };
            let out = BufWriter::with_capacity(PORTION, file);
            let mut writer = PcapngWriter::begin(out, &notes)?;
            let tcp = scenario.all_flows().map(|flow| {
                let (name, cc) = (flow.name.clone(), flow.cc_in_kernel());
                let description = format!("flow {name}, the kernel's {cc}");
                (name, description)
            });
            let udp = (scenario.udp.iter())
                .map(|flow| (flow.name.clone(), format!("flow {}, UDP", flow.name)));
            let interfaces = interfaces_at(point, scenario, tcp.chain(udp), order.snap);
            for interface in &interfaces {
                writer.add_interface(interface)?;
            }
            files.push(KernelFile {
                point,
                counts: vec![InterfaceCounts::default(); interfaces.len()],
                missing: 0,
                waiting: Vec::new(),
                writer,
            });
        }
        Ok(Self {
            files,
            tcp_flows: scenario.all_flows().count(),
            addresses: setup::addresses(scenario),
            snap: match order.snap {
                0 => usize::MAX,
                snap => snap as usize,
            },
            room: place.room()?,
            failure: None,
        })
    }

    /// A host sends a packet of a flow towards the other, or gets one that went there.
    pub fn at_host(
        &mut self,
        time: Instant,
        flow: usize,
        towards: Towards,
        way: PacketWay,
        packet: &[u8],
    ) {
        let leaves = way == PacketWay::Outbound;
        let point = if leaves == (towards == Towards::Receiver) {
            TapPoint::Sender
        } else {
            TapPoint::Receiver
        };
        let passing = PassingPacket {
            interface: flow,
            time,
            packet: &self.cut(packet),
            way,
            comment: None,
        };
        self.see(point, passing);
    }

    /// A packet of a flow has been heard at a device: of a host, and of the link's end that it comes to or leaves.
    pub fn at_device(&mut self, heard: &HeardPacket, flow: usize) {
        let (near, far) = (TapPoint::Near(0), TapPoint::Far(0));
        let (host, end) = match heard.host {
            HostName::Sender => (Some(TapPoint::Sender), near),
            HostName::Left => (None, near),
            HostName::Receiver => (Some(TapPoint::Receiver), far),
            HostName::Right => (None, far),
        };
        let packet = self.cut(&heard.packet);
        let passing = |interface| PassingPacket {
            interface,
            time: heard.time,
            packet: &packet,
            way: heard.way,
            comment: None,
        };
        // What enters the link is seen where a router sends it, what leaves it where a host gets it.
        if host.is_none() == (heard.way == PacketWay::Outbound) {
            self.see(end, passing(0));
        }
        if let Some(point) = host {
            self.see(point, passing(flow));
        }
    }

    /// The network has seen something: at a link, or of UDP at a host.
    pub fn at_network(&mut self, sight: &LinkSight<IpPacket>) {
        if self.failure.is_some() {
            return;
        }
        match self.bytes_of(sight) {
            Ok(bytes) => match sight.port {
                Some(port) => self.at_link(port, sight, &bytes),
                None => self.at_host_of_udp(sight, &bytes),
            },
            Err(error) => self.failure = Some(error),
        }
    }

    fn at_host_of_udp(&mut self, sight: &LinkSight<IpPacket>, packet: &CapturedBytes) {
        let (point, way) = match sight.event {
            LinkEvent::Leaves => (TapPoint::Sender, PacketWay::Outbound),
            _ => (TapPoint::Receiver, PacketWay::Inbound),
        };
        let passing = PassingPacket {
            interface: sight.flow,
            time: sight.time,
            packet,
            way,
            comment: sight.is_damaged.then_some("damaged"),
        };
        self.see(point, passing);
    }

    fn at_link(&mut self, port: usize, sight: &LinkSight<IpPacket>, packet: &CapturedBytes) {
        let (link, is_forward) = (port / 2, port.is_multiple_of(2));
        let starts = !matches!(sight.event, LinkEvent::Arrives);
        let point = if starts == is_forward {
            TapPoint::Near(link)
        } else {
            TapPoint::Far(link)
        };
        let comment = match sight.event {
            LinkEvent::Dropped => {
                for file in self.files.iter_mut().filter(|file| file.point == point) {
                    file.counts[0].received += 1;
                    file.counts[0].dropped += 1;
                }
                return;
            }
            LinkEvent::Starts(passage) if passage.arrival.is_never() => Some("lost on the wire"),
            LinkEvent::Starts(passage) if passage.corrupted => Some("damaged on the wire"),
            LinkEvent::Starts(passage) if passage.again.is_some() => Some("doubled on the wire"),
            _ => None,
        };
        let passing = PassingPacket {
            interface: 0,
            time: sight.time,
            packet,
            way: if starts {
                PacketWay::Outbound
            } else {
                PacketWay::Inbound
            },
            comment,
        };
        self.see(point, passing);
    }

    fn see(&mut self, point: TapPoint, passing: PassingPacket<'_>) {
        if self.failure.is_some() {
            return;
        }
        for file in self.files.iter_mut().filter(|file| file.point == point) {
            let counts = &mut file.counts[passing.interface];
            counts.received += 1;
            let size = passing.packet.bytes.len() as u64 + OVERHEAD;
            let Some(room) = self.room.checked_sub(size) else {
                counts.dropped += 1;
                file.missing += 1;
                counts.comment = Some("there was no room in the guest's memory for more packets");
                continue;
            };
            self.room = room;
            file.waiting.push(SeenFrame {
                interface: passing.interface,
                time: passing.time,
                frame: framed(passing.packet),
                way: passing.way,
                comment: passing.comment,
            });
        }
    }

    /// Nothing is seen any more before this: what waits is written.
    pub fn settle(&mut self, until: Instant) {
        for file in &mut self.files {
            if let Err(error) = file.settle(until) {
                self.failure.get_or_insert(error);
            }
        }
    }

    /// What is captured of a packet of a kernel.
    fn cut(&self, packet: &[u8]) -> CapturedBytes {
        CapturedBytes {
            bytes: packet[..packet.len().min(self.snap)].to_vec(),
            length: u32::try_from(packet.len()).unwrap_or(u32::MAX),
        }
    }

    /// What is captured of a packet that the network has seen.
    fn bytes_of(&self, sight: &LinkSight<IpPacket>) -> io::Result<CapturedBytes> {
        let (number, size) = match &sight.content {
            SeenContent::Host(packet) => return Ok(self.cut(&packet.0)),
            SeenContent::Datagram { number, size, .. } => (number.get(), size.get()),
        };
        let flow = sight.flow - self.tcp_flows;
        let mut bytes = udp::packet(self.addresses, flow, number, size, self.snap)?;
        if sight.is_damaged {
            damage(&mut bytes);
        }
        Ok(bytes)
    }

    /// The run is over. `unseen`: of both hosts packets that their devices had no room for; how many packets are in no file although they should be.
    pub fn finish(self, end: Instant, unseen: UnseenPackets) -> io::Result<u64> {
        let told =
            |error: io::Error| io::Error::other(format!("a capture cannot be written: {error}"));
        if let Some(error) = self.failure {
            return Err(told(error));
        }
        let mut missing = 0;
        for file in self.files {
            missing += file.finish(end, unseen).map_err(told)?;
        }
        Ok(missing)
    }
}

/// The operating system of this machine, by its kernel.
fn system() -> io::Result<String> {
    let release = fs::read_to_string("/proc/sys/kernel/osrelease")?;
    Ok(format!("Linux {}", release.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env::temp_dir;
    use std::path::Path;
    use std::process;

    use sawtooth_core::scenario;
    use serde_json::{Value as Json, json};

    fn scenario() -> Scenario {
        scenario::from_tree(&json!({
            "duration": "1 s", "links": {"l": {"rate": "1 Mbit/s"}, "m": {"rate": "1 Mbit/s"}}, "flows": [{"path": ["l", "m"]}],
        }))
        .expect("a scenario")
    }

    fn order(points: &Json) -> Result<Option<CaptureOrder>, String> {
        let job = json!({"captures": {"points": points, "snap": 96, "comments": ["a remark"]}});
        CaptureOrder::of_job(&job, &scenario())
    }

    #[test]
    fn a_job_says_where_packets_are_captured_or_that_none_are() {
        let points = json!([["sender", null], ["near", "m"], ["far", "m"]]);
        let found = order(&points).expect("points").expect("an order");
        let expected = [TapPoint::Sender, TapPoint::Near(1), TapPoint::Far(1)];
        assert_eq!(found.points, expected);
        assert_eq!(found.links(), [1, 1]);
        assert_eq!(CaptureOrder::of_job(&json!({}), &scenario()), Ok(None));
        let wrong = order(&json!([["near", "n"]])).expect_err("no such link");
        assert_eq!(wrong, "there is no link `n` to capture at");
    }

    /// Offers two packets to a capture at the sender that has room for so many bytes; what its file has, and how many it lacks.
    fn captured(name: &str, room: u64, unseen: u64) -> (Vec<u8>, u64) {
        let directory = temp_dir().join(format!("sawtooth-{}-{name}", process::id()));
        fs::create_dir_all(&directory).expect("a directory");
        let place = place(&directory, Path::new("job.json"), false);
        let points = json!([["sender", null]]);
        let order = order(&points).expect("points").expect("an order");
        let mut capture = KernelCapture::begin(&order, &place, &scenario(), false).expect("a file");
        capture.room = room;
        let packet = [0x45; 200];
        let now = Instant::from_secs(0.5);
        let ways = [
            (Towards::Receiver, PacketWay::Outbound),
            (Towards::Sender, PacketWay::Inbound),
            (Towards::Receiver, PacketWay::Inbound),
        ];
        for (towards, way) in ways {
            capture.at_host(now, 0, towards, way, &packet);
        }
        let drops = UnseenPackets {
            sender: unseen,
            receiver: 9,
            ..UnseenPackets::default()
        };
        let missing = capture.finish(Instant::from_secs(1.0), drops);
        let missing = missing.expect("room on the disk");
        let written = place.written();
        assert_eq!(written[0].0, "job.json.0.pcapng");
        let bytes = fs::read(&written[0].1).expect("the file");
        fs::remove_dir_all(directory).expect("what was made");
        (bytes, missing)
    }

    fn has(bytes: &[u8], text: &str) -> bool {
        bytes
            .windows(text.len())
            .any(|window| window == text.as_bytes())
    }

    #[test]
    fn a_host_sees_what_it_sends_and_gets_and_no_more() {
        let (bytes, missing) = captured("sees", u64::MAX, 0);
        assert_eq!(missing, 0);
        let packet = [0x45; 96 - 12];
        let copies = bytes.windows(packet.len()).filter(|at| *at == packet);
        // Addresses of the frame's header are of those bytes, too: runs are longer than a packet by some.
        assert!(copies.count() >= 2);
        assert!(has(&bytes, "a remark") && !has(&bytes, "no room"));
    }

    #[test]
    fn a_capture_that_lacks_packets_says_so() {
        let (bytes, missing) = captured("room", 96 + OVERHEAD, 0);
        assert_eq!(missing, 1);
        assert!(has(&bytes, "there was no room in the guest's memory"));
        let (bytes, missing) = captured("device", u64::MAX, 4);
        assert_eq!(missing, 4);
        assert!(has(&bytes, "there was no room for some"));
    }
}
