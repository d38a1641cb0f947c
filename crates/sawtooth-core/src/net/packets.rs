//! Every packet that was at a port in a part of the run's time: when it came, was dropped or sent, and arrived.
//!
//! **Model.** A packet is at a port from when it comes to the queue until it is dropped there, or lost on the wire (which is when its last bit
//! leaves), or until its last bit is at the far end. It has a row if it is there at any time of the stretch that is asked for. Rows are in
//! the order in which packets come.
//!
//! A packet that leaves the queue is matched with its row by the time at which it came and by what it carries. Two packets that agree in both may be exchanged without harm.

use std::collections::{BTreeMap, VecDeque};

use super::traffic::{Traffic, TransmissionStart};
use crate::packet::Packet;
use crate::spec::Stretch;
use crate::units::Instant;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketFate {
    /// The run has ended before.
    Unfinished,
    /// Once and undamaged.
    Arrived,
    /// Twice.
    Doubled,
    /// Damaged.
    Damaged,
    /// By the queue.
    Dropped,
    /// On the wire.
    Lost,
}

impl PacketFate {
    /// The word of the column `fate`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Unfinished => "unfinished",
            Self::Arrived => "arrived",
            Self::Doubled => "doubled",
            Self::Damaged => "damaged",
            Self::Dropped => "dropped",
            Self::Lost => "lost",
        }
    }
}

/// When what happened to a packet that came; [`Instant::NEVER`] if it did not. The future counts, as far as it is decided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// By the queue.
    pub dropped: Instant,
    /// When its first bit left.
    pub started: Instant,
    /// When its last bit had left.
    pub sent: Instant,
    /// When its last bit was at the far end.
    pub delivered: Instant,
    /// By the queue, when it was sent.
    pub marked: bool,
}

impl Times {
    const WAITS: Self = Self {
        dropped: Instant::NEVER,
        started: Instant::NEVER,
        sent: Instant::NEVER,
        delivered: Instant::NEVER,
        marked: false,
    };

    pub(super) fn dropped(now: Instant) -> Self {
        Self {
            dropped: now,
            ..Self::WAITS
        }
    }

    pub(super) fn sent(start: TransmissionStart, delivered: Instant) -> Self {
        Self {
            dropped: Instant::NEVER,
            started: start.at,
            sent: start.sent,
            delivered,
            marked: start.marked,
        }
    }

    /// When it was gone.
    fn gone(&self) -> Instant {
        if self.dropped != Instant::NEVER {
            self.dropped
        } else if self.delivered != Instant::NEVER {
            self.delivered
        } else {
            self.sent
        }
    }
}

/// A packet, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NotedPacket {
    /// As it came: without a mark that this queue has set.
    pub packet: Packet,
    /// Whose it is, as the hop says that it came on.
    pub traffic: Traffic,
    /// When it came to the queue.
    pub arrived: Instant,
    /// What has happened to it since: nothing while it waits.
    pub times: Times,
    /// [`PacketFate::Unfinished`] until it is known.
    pub fate: PacketFate,
}

/// What distinguishes packets in a queue: flow, hop, what they carry, and when they came.
type Mark = (u32, u32, u64, u64);

/// The packets of a port.
#[derive(Debug)]
pub struct Packets {
    stretch: Stretch,
    /// How many have come.
    arrivals: u64,
    /// By their number among those.
    rows: BTreeMap<u64, NotedPacket>,
    /// Those of which it is not yet known what becomes of them.
    waiting: BTreeMap<Mark, VecDeque<u64>>,
}

impl Packets {
    pub(super) fn of(stretch: Stretch) -> Self {
        Self {
            stretch,
            arrivals: 0,
            rows: BTreeMap::new(),
            waiting: BTreeMap::new(),
        }
    }

    /// All that were there in the stretch, in the order in which they came.
    pub fn noted(&self) -> impl Iterator<Item = &NotedPacket> {
        self.rows.values()
    }

    /// How many rows there are so far; one whose packet is gone before the stretch begins is taken out again.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// A packet has come.
    pub(super) fn arrived(&mut self, packet: &Packet, traffic: Traffic, now: Instant) {
        if now >= Instant::START + self.stretch.until {
            return;
        }
        self.arrivals += 1;
        let noted = NotedPacket {
            packet: *packet,
            traffic,
            arrived: now,
            times: Times::WAITS,
            fate: PacketFate::Unfinished,
        };
        self.rows.insert(self.arrivals, noted);
        let waiting = self.waiting.entry(mark(packet, now)).or_default();
        waiting.push_back(self.arrivals);
    }

    /// It is known what becomes of a packet that came at `arrived`.
    pub(super) fn gone(
        &mut self,
        packet: &Packet,
        arrived: Instant,
        fate: PacketFate,
        times: Times,
    ) {
        let mark = mark(packet, arrived);
        let Some(waiting) = self.waiting.get_mut(&mark) else {
            return;
        };
        // Of several that came at once a queue that is full turns the last away.
        let turned_away = times.dropped <= arrived;
        let number = if turned_away {
            waiting.pop_back()
        } else {
            waiting.pop_front()
        };
        if waiting.is_empty() {
            self.waiting.remove(&mark);
        }
        let Some(number) = number else { return };
        if times.gone() < Instant::START + self.stretch.from {
            self.rows.remove(&number);
        } else if let Some(row) = self.rows.get_mut(&number) {
            (row.fate, row.times) = (fate, times);
        }
    }
}

fn mark(packet: &Packet, arrived: Instant) -> Mark {
    (
        packet.flow,
        packet.hop,
        packet.unmarked(),
        arrived.secs().to_bits(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::DataSegment;
    use crate::units::Duration;
    use crate::units::testing::at;
    use crate::units::testing::bytes;

    const TRAFFIC: Traffic = Traffic {
        flow: 0,
        acks: false,
    };

    fn noted(from: f64, until: f64) -> Packets {
        Packets::of(Stretch {
            from: Duration::from_secs(from),
            until: Duration::from_secs(until),
        })
    }

    /// A transmission of half a second for which nothing is waited.
    fn transmitted(arrived: Instant) -> TransmissionStart {
        TransmissionStart {
            arrived,
            at: arrived,
            sent: arrived + Duration::from_secs(0.5),
            marked: false,
            lost: false,
        }
    }

    fn fates(packets: &Packets) -> Vec<(f64, PacketFate)> {
        let fates = packets.noted().map(|row| (row.arrived.secs(), row.fate));
        fates.collect()
    }

    #[test]
    fn of_equal_packets_that_come_at_once_a_full_queue_turns_the_last_away() {
        let packet = Packet::data(0, 0, bytes(1000), DataSegment::default());
        let mut packets = noted(0.0, 10.0);
        packets.arrived(&packet, TRAFFIC, at(1.0));
        packets.arrived(&packet, TRAFFIC, at(1.0));
        packets.gone(
            &packet,
            at(1.0),
            PacketFate::Dropped,
            Times::dropped(at(1.0)),
        );
        // The first still waits.
        assert_eq!(
            fates(&packets),
            [(1.0, PacketFate::Unfinished), (1.0, PacketFate::Dropped)]
        );
        // A queue that drops later drops the one that came first.
        packets.arrived(&packet, TRAFFIC, at(2.0));
        packets.arrived(&packet, TRAFFIC, at(2.0));
        packets.gone(
            &packet,
            at(2.0),
            PacketFate::Dropped,
            Times::dropped(at(3.0)),
        );
        assert_eq!(
            fates(&packets)[2..],
            [(2.0, PacketFate::Dropped), (2.0, PacketFate::Unfinished)]
        );
    }

    #[test]
    fn tags_that_only_some_runs_have_tell_no_packets_apart() {
        let noted_of = |tags: [u32; 2]| {
            let mut packets = noted(0.0, 10.0);
            let both = tags.map(|tag| {
                let mut packet = Packet::data(0, 0, bytes(1000), DataSegment::default());
                packet.set_tag(tag);
                packet
            });
            for packet in &both {
                packets.arrived(packet, TRAFFIC, at(1.0));
            }
            // A queue may send the one behind first.
            let times = Times::sent(transmitted(at(1.0)), at(2.0));
            packets.gone(&both[1], at(1.0), PacketFate::Arrived, times);
            fates(&packets)
        };
        assert_eq!(noted_of([1, 2]), noted_of([0, 0]));
    }

    #[test]
    fn a_packet_has_a_row_if_it_is_there_at_any_time_of_the_stretch() {
        let packet = Packet::data(0, 0, bytes(1000), DataSegment::default());
        let mut packets = noted(2.0, 4.0);
        for secs in [0.0, 1.0, 3.0, 4.0] {
            let arrived = at(secs);
            packets.arrived(&packet, TRAFFIC, arrived);
            let times = Times::sent(transmitted(arrived), at(secs + 1.5));
            packets.gone(&packet, arrived, PacketFate::Arrived, times);
        }
        assert_eq!(
            fates(&packets),
            [(1.0, PacketFate::Arrived), (3.0, PacketFate::Arrived)]
        );
        // What is lost is gone when its last bit has left.
        let arrived = at(1.25);
        packets.arrived(&packet, TRAFFIC, arrived);
        let times = Times::sent(transmitted(arrived), Instant::NEVER);
        packets.gone(&packet, arrived, PacketFate::Lost, times);
        assert_eq!(packets.len(), 2);
    }
}
