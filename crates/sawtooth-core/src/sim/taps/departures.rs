//! What hosts know as their packets leave, and which numbers they give them.
//!
//! **Model.** A host counts the packets that it sends on a connection, as Linux counts the identifications of IP. Of those packets whose headers say more than the simulator's packets carry, what
//! that is is kept until the count comes round: of one flow no more than [`Packet::TAGS`] packets are on their way.

use std::collections::BTreeMap;

use super::seen::{HeardStamp, SeenDeparture};
use crate::packet::{AckStore, Ecn, Packet};
use crate::units::{ByteCount, SegCount, SeqNum};

/// A host's side of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HostSide {
    pub connection: u32,
    /// Whether its packets return to the beginning of the path.
    pub returns: bool,
}

/// A packet that leaves its host.
#[derive(Clone, Copy, Debug)]
pub(super) struct LeavingPacket {
    pub side: HostSide,
    /// It is an acknowledgement alone.
    pub is_ack: bool,
    /// The flow whose data it acknowledges begins with a SYN.
    pub is_opened: bool,
    /// What the taps know of it besides.
    pub known: SeenDeparture,
}

/// Of all hosts.
#[derive(Debug, Default)]
pub(super) struct Departures {
    sides: BTreeMap<HostSide, SideOfHost>,
    /// By the flow, whether it is an acknowledgement alone, and its tag.
    kept: BTreeMap<(u32, bool, u32), SeenDeparture>,
}

/// What a host knows of a connection.
#[derive(Clone, Copy, Debug, Default)]
struct SideOfHost {
    packets: u32,
    heard: Option<HeardStamp>,
    has_data: bool,
    /// Its FIN has left, if it has sent no data.
    has_closed: bool,
    came: [u32; 3],
}

impl Departures {
    /// The tag of the next packet of a side.
    pub(super) fn number(&mut self, side: HostSide) -> u32 {
        let packets = &mut self.sides.entry(side).or_default().packets;
        *packets = packets.wrapping_add(1);
        *packets % Packet::TAGS
    }

    /// A packet leaves.
    pub(super) fn leave(&mut self, packet: &Packet, leaving: LeavingPacket, acks: &AckStore) {
        let LeavingPacket {
            side,
            is_ack,
            is_opened,
            known,
        } = leaving;
        let host = self.sides.entry(side).or_default();
        let mut departure = known;
        let is_needed = if is_ack {
            let ack = acks.look(packet);
            let is_first = ack.next == SeqNum::ZERO + SegCount::ONE;
            departure.answers_syn = is_first && is_opened && !host.has_data;
            departure.came = host.came;
            let needs_stamp = ack.stamp.is_none() && !ack.echo.is_none();
            if host.has_closed && !ack.fin {
                // Its SYN and its FIN.
                departure.next = ByteCount::new(2);
            }
            host.has_closed |= ack.fin;
            let says_more = host.came != [0; 3] || !departure.next.is_zero();
            is_first || needs_stamp || says_more
        } else {
            let (data, _) = acks.look_at_data(packet);
            departure.heard = host.heard;
            let needs_echo = data.echo.is_none() && !data.stamp.is_none() && !data.is_syn();
            needs_echo || data.is_ack_alone()
        };
        let key = key(packet, is_ack, acks);
        if is_needed {
            self.kept.insert(key, departure);
        } else {
            self.kept.remove(&key);
        }
    }

    /// A packet comes to a host whole.
    pub(super) fn arrive(
        &mut self,
        side: HostSide,
        packet: &Packet,
        is_ack: bool,
        acks: &AckStore,
    ) {
        let time = self.of(packet, is_ack, acks).time;
        let host = self.sides.entry(side).or_default();
        let stamp = if is_ack {
            acks.look(packet).stamp
        } else {
            let data = packet.segment();
            host.has_data |= !data.payload.is_zero();
            let counter = match data.ecn {
                Ecn::NotEct => None,
                Ecn::Ect0 => Some(0),
                Ecn::Ce => Some(1),
                Ecn::Ect1 => Some(2),
            };
            if let Some(counter) = counter {
                let bytes = packet.payload().packet_size();
                host.came[counter] = host.came[counter].wrapping_add(bytes);
            }
            data.stamp
        };
        let is_news = |heard: HeardStamp| heard.time <= time;
        if host.heard.is_none_or(is_news) {
            host.heard = Some(HeardStamp { stamp, time });
        }
    }

    /// What is known of a packet on its way.
    pub(super) fn of(&self, packet: &Packet, is_ack: bool, acks: &AckStore) -> SeenDeparture {
        let kept = self.kept.get(&key(packet, is_ack, acks));
        kept.copied().unwrap_or_default()
    }
}

fn key(packet: &Packet, is_ack: bool, acks: &AckStore) -> (u32, bool, u32) {
    let tag = if is_ack {
        acks.tag(packet)
    } else {
        packet.tag()
    };
    (packet.flow, is_ack, tag)
}
