//! What a packet takes on a medium: its frame, or its cells.
//!
//! Specifications: IEEE 802.3 (`ethernet`); RFC 2684 §5 and §6, ITU-T I.363.5 and I.361 (`atm`). Largest packets: RFC 894, RFC 2225.
//!
//! **Model.** A packet of IP is as large as [`Packet::size`](crate::packet::Packet::size) says: headers from IP on, and data. A medium puts it into a
//! frame or into cells, and a link that has one is busy for as long as these last at its rate: so 100 Mbit/s of Fast Ethernet carry
//! 97.5 Mbit/s of packets of 1500 bytes, and 47.6 of 40 bytes. Without a medium a packet takes its own bytes. Queues and counters count the bytes of
//! packets, as those of hosts and routers do.
//!
//! **Rates.** The rate of a link is that at which the medium's bytes leave. Of ATM over SONET or SDH these are cells: of the 155.52 Mbit/s of
//! STM-1 (OC-3c) 149.76 are left for them (ITU-T I.432.2).

use crate::registry::{Entry, Kind, Param, ParamKey, Params, Value, Words, words};
use crate::units::ByteCount;

/// Constructor of a table row.
pub(super) type NewMedium = fn(&Params) -> Medium;

/// How packets are put on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Medium {
    /// A frame of IEEE 802.3, with preamble and the gap to the next one.
    Ethernet,
    /// AAL5 over ATM; so many bytes in front of each packet say what it is.
    Atm {
        /// 8 with LLC/SNAP (RFC 2684 §5), 0 with VC multiplexing (§6).
        encapsulation_bytes: u32,
    },
}

words! {
    /// What says which protocol a packet in cells is of.
    enum Encapsulation {
        LlcSnap = "llc_snap",
        VcMultiplexing = "vc_multiplexing",
    }
}

const ENCAPSULATION: ParamKey<Encapsulation> = ParamKey::new("encapsulation");

/// IEEE 802.3: preamble and start-of-frame delimiter; addresses and type; frame check sequence; the least there is between two frames
/// (96 bit times); the shortest frame, from the addresses on.
const PREAMBLE: u32 = 8;
const MAC_HEADER: u32 = 14;
const FCS: u32 = 4;
const GAP: u32 = 12;
const MIN_FRAME: u32 = 64;

/// A cell and what of it is payload (ITU-T I.361); what ends an AAL5 unit, which fills whole cells (ITU-T I.363.5).
const CELL: u32 = 53;
const CELL_PAYLOAD: u32 = 48;
const AAL5_TRAILER: u32 = 8;
/// LLC, OUI and protocol identifier (RFC 2684 §5.1).
const LLC_SNAP: u32 = 8;
/// IPv4 without options: what a node has to have read where nothing is in front of it (RFC 791 §3.1).
const IP_HEADER: u32 = 20;

/// All media.
pub const TABLE: &[Entry<NewMedium>] = &[
    Entry {
        name: "ethernet",
        summary: "a frame for each packet: preamble, addresses, type, check sequence, padding to 64 bytes and the gap before the next; mtu 1500 B",
        specification: &["IEEE 802.3", "RFC 894"],
        params: &[],
        new: |_| Medium::Ethernet,
    },
    Entry {
        name: "atm",
        summary: "cells of 53 bytes with 48 of payload each, that an AAL5 unit with its trailer of 8 bytes fills; mtu 9180 B",
        specification: &["RFC 2684", "RFC 2225", "ITU-T I.363.5", "ITU-T I.361"],
        params: &[Param {
            name: ENCAPSULATION.name,
            summary: "what says which protocol a packet is of: 8 bytes of LLC and SNAP in front of it (RFC 2684 §5), or the connection itself (§6)",
            kind: Kind::Choice(Encapsulation::WORDS),
            default: Value::Choice(Encapsulation::LlcSnap.word()),
        }],
        new: |params| Medium::Atm {
            encapsulation_bytes: match ENCAPSULATION.of(params) {
                Encapsulation::LlcSnap => LLC_SNAP,
                Encapsulation::VcMultiplexing => 0,
            },
        },
    },
];

impl Medium {
    /// Its name in the table.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ethernet => "ethernet",
            Self::Atm { .. } => "atm",
        }
    }

    /// For how much of the link's rate a packet of this size keeps it busy.
    pub fn on_wire(self, size: ByteCount) -> ByteCount {
        let packet = size.packet_size();
        ByteCount::from(match self {
            Self::Ethernet => PREAMBLE + (MAC_HEADER + packet + FCS).max(MIN_FRAME) + GAP,
            Self::Atm {
                encapsulation_bytes,
            } => (encapsulation_bytes + packet + AAL5_TRAILER).div_ceil(CELL_PAYLOAD) * CELL,
        })
    }

    /// The largest packet, unless a link says otherwise.
    pub fn mtu(self) -> ByteCount {
        ByteCount::new(match self {
            Self::Ethernet => 1500,
            Self::Atm { .. } => 9180,
        })
    }
}

/// What a node has read of a packet when it knows where the packet goes, of the link's rate.
pub(super) fn header(medium: Option<Medium>) -> ByteCount {
    ByteCount::from(match medium {
        None => IP_HEADER,
        Some(Medium::Ethernet) => PREAMBLE + MAC_HEADER,
        Some(Medium::Atm { .. }) => CELL,
    })
}

/// What is passed on as a whole and not before its last bit is there: cells are, and bytes do not count.
pub(super) fn grain(medium: Option<Medium>) -> ByteCount {
    ByteCount::from(match medium {
        Some(Medium::Atm { .. }) => CELL,
        None | Some(Medium::Ethernet) => 0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wire_bytes(name: &str, encapsulation: Option<&'static str>, packet: u64) -> u64 {
        let entry = TABLE.iter().find(|entry| entry.name == name);
        let entry = entry.expect("a row");
        let mut params = Params::defaults(entry.params);
        if let Some(word) = encapsulation {
            params.set("encapsulation", Value::Choice(word));
        }
        (entry.new)(&params).on_wire(ByteCount::new(packet)).get()
    }

    #[test]
    fn ieee_802_3_a_frame_has_38_bytes_more_than_its_packet_and_84_at_least() {
        for (packet, wire) in [
            (1500, 1538),
            (576, 614),
            (47, 85),
            (46, 84),
            (40, 84),
            (1, 84),
        ] {
            assert_eq!(wire_bytes("ethernet", None, packet), wire, "{packet}");
        }
        // 1500 B at 100 Mbit/s: 8127 frames per second, the figure that everyone knows.
        assert_eq!(100_000_000 / (8 * wire_bytes("ethernet", None, 1500)), 8127);
    }

    #[test]
    fn rfc2684_an_aal5_unit_fills_whole_cells() {
        // 40 + 8 + 8 = 56 bytes take two cells, and so do 80 + 16 = 96; one more takes three. 9180 + 16 = 9196 = 191.6 x 48.
        for (packet, cells) in [
            (40, 2),
            (32, 1),
            (33, 2),
            (80, 2),
            (81, 3),
            (1500, 32),
            (9180, 192),
        ] {
            assert_eq!(wire_bytes("atm", None, packet), 53 * cells, "{packet}");
        }
        // Without LLC and SNAP an acknowledgement fills one cell exactly.
        assert_eq!(wire_bytes("atm", Some("vc_multiplexing"), 40), 53);
    }

    #[test]
    fn every_medium_is_found_by_its_name_and_carries_its_largest_packet() {
        for entry in TABLE {
            let medium = (entry.new)(&Params::defaults(entry.params));
            assert_eq!(medium.name(), entry.name);
            let mtu = medium.mtu();
            assert!(medium.on_wire(mtu) > mtu);
            assert!(grain(Some(medium)) <= header(Some(medium)));
            assert!(header(Some(medium)) <= medium.on_wire(ByteCount::new(1)));
        }
    }
}
