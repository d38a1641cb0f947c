//! Packets of UDP, which the network makes itself: their bytes are made up, as in captures of simulated runs, between the same hosts as all else.

use std::io;

use sawtooth_capture::write::headers::{CapturedBytes, IpFields, UdpPacket, udp_packet};

use crate::setup::Addresses;

/// Of flows of UDP: ports of the first sender and of all receivers, as in captures of simulated runs; no flow of TCP has them.
const UDP_FIRST_PORT: u16 = 32_768;
const UDP_SERVICE: u16 = 5001;
const UDP_HEADERS: u32 = 28;
const TIME_TO_LIVE: u8 = 64;

/// The bytes of a packet of a flow by its number among flows of UDP, with so many of them at most.
pub(super) fn packet(
    Addresses { sender, receiver }: Addresses,
    flow: usize,
    number: u64,
    size: u64,
    snap: usize,
) -> io::Result<CapturedBytes> {
    let port = u16::try_from(flow)
        .ok()
        .and_then(|flow| UDP_FIRST_PORT.checked_add(flow));
    let packet = UdpPacket {
        source: (sender, port.unwrap_or(u16::MAX)).into(),
        destination: (receiver, UDP_SERVICE).into(),
        payload: u32::try_from(size)
            .unwrap_or(u32::MAX)
            .saturating_sub(UDP_HEADERS),
    };
    let [.., high, low] = number.to_be_bytes();
    let ip = IpFields {
        identification: u16::from_be_bytes([high, low]),
        time_to_live: TIME_TO_LIVE,
        ecn: 0,
    };
    udp_packet(&packet, ip, snap)
}
