//! What happens to every packet at every layer, on both machines and on one clock: the rows of the table `layers`.

use crate::packet::Packet;
use crate::units::{ByteCount, Instant, SeqNum};

/// Where something happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// What calls write and read.
    Application,
    /// Its memory, and processes that sleep and are woken there.
    Socket,
    /// The sender and the receiver.
    Tcp,
    /// What hands packets to the interface and takes them from it.
    Driver,
    /// Between the interface and the first link, or the last link and the interface.
    Wire,
}

impl Layer {
    /// Its word in the table `layers`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Application => "application",
            Self::Socket => "socket",
            Self::Tcp => "tcp",
            Self::Driver => "driver",
            Self::Wire => "wire",
        }
    }
}

/// One thing that happens.
#[derive(Clone, Copy, Debug)]
pub struct Happening {
    /// When, on the one clock that all hosts have.
    pub time: Instant,
    /// The machine.
    pub host: u32,
    /// Where.
    pub layer: Layer,
    /// What happens: a word of the column `event`.
    pub event: &'static str,
    /// The packet's number among all of its flow, from 1 on, and whether it carries data, if it is about one.
    pub packet: Option<(u32, bool)>,
    /// Its segment, or of an acknowledgement the next segment that is expected.
    pub seq: Option<SeqNum>,
    /// Application bytes that it is about; of packets in the driver and on the wire, bytes of the packet.
    pub bytes: ByteCount,
}

/// The log of one flow.
#[derive(Debug, Default)]
pub struct Log {
    /// What has happened, in the order in which it was noted.
    pub rows: Vec<Happening>,
    /// Packets that have been given a number.
    packets: u32,
}

impl Log {
    /// The number of a packet that leaves TCP, or comes from where nothing is noted. It carries the number modulo [`Packet::TAGS`].
    pub fn number(&mut self) -> u32 {
        self.packets += 1;
        self.packets
    }

    /// The number of a packet that carries `tag`: the latest one that could be meant.
    pub fn number_of(&self, tag: u32) -> u32 {
        let behind = (self.packets + Packet::TAGS - tag) % Packet::TAGS;
        self.packets.saturating_sub(behind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_packet_with_a_tag_is_meant() {
        let mut log = Log::default();
        let mut tags = Vec::new();
        for _ in 0..Packet::TAGS + 3 {
            tags.push(log.number() % Packet::TAGS);
        }
        let newest = Packet::TAGS + 3;
        assert_eq!(log.number_of(tags[tags.len() - 1]), newest);
        assert_eq!(log.number_of(tags[tags.len() - 5]), newest - 4);
        assert_eq!(log.number_of(tags[3]), newest - (Packet::TAGS - 1));
    }
}
