//! The links between two hosts, in user space: the core's own [network](net::Network), fed with real packets and driven by the kernel's clock.

use std::io;

use sawtooth_capture::write::pcapng::PacketWay;
use sawtooth_core::internals::net::{self, DeliveredPacket, Payload, Towards};
use sawtooth_core::internals::packet::Ecn;
use sawtooth_core::units::{ByteCount, Instant};

use crate::capture::{DeviceEars, KernelCapture, UnseenPackets};
use crate::experiment::flow_of;
use crate::setup::HostName;

pub type IpNetwork = net::Network<IpPacket>;

/// The network, and whoever captures what enters and leaves it.
#[derive(Debug)]
pub struct CapturedNetwork {
    pub links: IpNetwork,
    pub capture: Option<KernelCapture>,
    /// Where the kernel carries packets itself, who hears them.
    pub ears: Option<DeviceEars>,
}

impl CapturedNetwork {
    /// A network of which nothing is captured.
    pub fn new(links: IpNetwork) -> Self {
        Self {
            links,
            capture: None,
            ears: None,
        }
    }

    /// Captures what the kernel has carried. `flow`: of which flow a port is, by its number from the first one on.
    pub fn listen(&mut self, flow: impl Fn(usize) -> Option<usize>) -> io::Result<()> {
        let (Some(ears), Some(capture)) = (&mut self.ears, &mut self.capture) else {
            return Ok(());
        };
        let (heard, settled) = ears.listen()?;
        for packet in heard {
            if let Some(flow) = flow_of(&packet.packet).and_then(|(port, _)| flow(port)) {
                capture.at_device(&packet, flow);
            }
        }
        capture.settle(settled);
        Ok(())
    }

    /// A host sends a packet of a flow.
    pub fn offer(
        &mut self,
        now: Instant,
        flow: usize,
        connection: u32,
        towards: Towards,
        packet: IpPacket,
    ) {
        if let Some(capture) = &mut self.capture {
            capture.at_host(now, flow, towards, PacketWay::Outbound, &packet.0);
        }
        self.links.offer(now, flow, connection, towards, packet);
    }

    /// Moves all packets up to `now`, or until one reaches its host.
    pub fn advance(&mut self, now: Instant) -> Option<DeliveredPacket<IpPacket>> {
        let delivery = self.links.advance(now);
        if let Some(capture) = &mut self.capture {
            for sight in self.links.take_sights() {
                capture.at_network(&sight);
            }
            if let Some(DeliveredPacket {
                flow,
                towards,
                packet,
                ..
            }) = &delivery
            {
                capture.at_host(now, *flow, *towards, PacketWay::Inbound, &packet.0);
            }
            if self.ears.is_none() {
                capture.settle(self.links.seen_until().min(now));
            }
        }
        delivery
    }

    /// Moves all packets up to the end of the run; how many packets captures lack. `unseen`: what devices had no room for.
    pub fn finish(&mut self, end: Instant, unseen: UnseenPackets) -> io::Result<u64> {
        self.links.finish(end);
        let Some(mut capture) = self.capture.take() else {
            return Ok(0);
        };
        for sight in self.links.take_sights() {
            capture.at_network(&sight);
        }
        capture.finish(end, unseen)
    }
}

/// An IPv4 packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IpPacket(pub Vec<u8>);

impl Payload for IpPacket {
    fn size(&self) -> ByteCount {
        ByteCount::new(self.0.len() as u64)
    }

    fn ecn(&self) -> Ecn {
        ecn_of(&self.0)
    }

    fn mark(&mut self) {
        mark(&mut self.0);
    }

    fn damage(&mut self) {
        damage(&mut self.0);
    }
}

/// The way of what a host sends.
pub fn towards_other(host: HostName) -> Towards {
    match host {
        HostName::Receiver => Towards::Sender,
        _ => Towards::Receiver,
    }
}

/// The host at the end of a way.
pub fn host_at_end(towards: Towards) -> HostName {
    match towards {
        Towards::Receiver => HostName::Receiver,
        Towards::Sender => HostName::Sender,
    }
}

/// Turns the packet's last bit over: a checksum of ones' complements (RFC 1071) detects any change of a single bit.
fn damage(packet: &mut [u8]) {
    if let Some(last) = packet.last_mut() {
        *last ^= 1;
    }
}

/// The ECN field of an IPv4 packet: the two lowest bits of its second byte (RFC 3168 §5).
fn ecn_of(packet: &[u8]) -> Ecn {
    match packet {
        [version, tos, ..] if version >> 4 == 4 => Ecn::from_bits(*tos),
        _ => Ecn::NotEct,
    }
}

/// Sets Congestion Experienced in an IPv4 packet, and its header's checksum right (RFC 1624 §3, equation 3).
fn mark(packet: &mut [u8]) {
    let word = |packet: &[u8], at: usize| u16::from_be_bytes([packet[at], packet[at + 1]]);
    let before = word(packet, 0);
    packet[1] |= Ecn::Ce as u8;
    let sum = u32::from(!word(packet, 10)) + u32::from(!before) + u32::from(word(packet, 0));
    let folded = (sum & 0xffff) + (sum >> 16);
    #[expect(clippy::cast_possible_truncation, reason = "folded to 16 bits")]
    let checksum = !((folded & 0xffff) + (folded >> 16)) as u16;
    packet[10..12].copy_from_slice(&checksum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use sawtooth_core::scenario;
    use sawtooth_core::units::Instant;
    use serde_json::json;

    /// An IPv4 header without options, with its checksum (RFC 791 §3.1).
    fn header(tos: u8) -> Vec<u8> {
        let mut header = vec![
            0x45, tos, 0x05, 0xdc, 0x1c, 0x46, 0x40, 0x00, 0x40, 0x06, 0, 0, 10, 0, 0, 1, 10, 0, 0,
            2,
        ];
        let checksum = !sum(&header);
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
        header
    }

    /// The ones' complement sum of 16-bit words.
    fn sum(header: &[u8]) -> u16 {
        let words = header
            .chunks_exact(2)
            .map(|word| u32::from(u16::from_be_bytes([word[0], word[1]])));
        let mut sum: u32 = words.sum();
        while sum > 0xffff {
            sum = (sum & 0xffff) + (sum >> 16);
        }
        u16::try_from(sum).expect("folded")
    }

    #[test]
    fn rfc1624_a_marked_header_has_a_right_checksum() {
        for tos in [0x01, 0x02, 0xb9, 0xba] {
            let mut packet = header(tos);
            assert_eq!(sum(&packet), 0xffff, "that of a right header");
            mark(&mut packet);
            assert_eq!(
                (ecn_of(&packet), packet[1] >> 2),
                (Ecn::Ce, tos >> 2),
                "the rest of the byte stays"
            );
            assert_eq!(sum(&packet), 0xffff);
        }
        assert_eq!(ecn_of(&header(0xb8)), Ecn::NotEct);
    }

    #[test]
    fn packets_are_marked_and_damaged_on_their_way_and_reach_the_other_host() {
        let scenario = scenario::from_tree(&json!({
            "duration": "10 s",
            "links": {"l": {"rate": "1 Mbit/s", "delay": "10 ms", "corrupt": 1,
                "queue": {"name": "step", "limit": "4 packets", "mark_above": "2 packets"}}},
            "flows": [{"path": ["l"]}],
        }))
        .expect("a scenario");
        let mut network = IpNetwork::new(&scenario, 1);
        for tos in [2, 2, 2, 0, 2] {
            let towards = towards_other(HostName::Sender);
            network.offer(
                Instant::from_secs(1.0),
                0,
                0,
                towards,
                IpPacket(header(tos)),
            );
        }
        let mut arrived = Vec::new();
        while network.next_time() != Instant::NEVER {
            let time = network.next_time();
            if let Some(delivery) = network.advance(time) {
                assert_eq!(host_at_end(delivery.towards), HostName::Receiver);
                let IpPacket(packet) = delivery.packet;
                arrived.push((ecn_of(&packet), sum(&packet) == 0xffff));
            }
        }
        // The fifth found the queue full. The packet is only a header, so the header's checksum shows the damage.
        let fields = [Ecn::Ect0, Ecn::Ect0, Ecn::Ce, Ecn::NotEct];
        assert_eq!(arrived, fields.map(|ecn| (ecn, false)));
        assert_eq!(network.ports[0].counters.marked_packets, 1);
    }
}
