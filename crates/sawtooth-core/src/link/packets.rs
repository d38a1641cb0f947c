//! Every packet that was at a port in a part of the run's time: when it came, was dropped or sent, and arrived.
//!
//! **Model.** A packet is at a port from when it comes to the queue until it is dropped there, or lost on the wire (which is when its last bit
//! leaves), or until its last bit is at the far end. It has a row if it is there at any time of the stretch that is asked for. Rows are in
//! the order in which packets come.
//!
//! What a queue gives away is found again by when it came and what it carries: two packets that agree in both are as good as each other.

use std::collections::{BTreeMap, VecDeque};

use super::ledger::Traffic;
use crate::packet::Packet;
use crate::spec::Stretch;

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// The run has ended before.
    Unfinished,
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

impl Fate {
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

/// When what happened to a packet that came, in seconds; infinite: never.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    pub dropped: f64,
    pub started: f64,
    pub sent: f64,
    pub delivered: f64,
    /// By the queue, when it was sent.
    pub marked: bool,
}

impl Times {
    const WAITS: Self = Self {
        dropped: f64::INFINITY,
        started: f64::INFINITY,
        sent: f64::INFINITY,
        delivered: f64::INFINITY,
        marked: false,
    };

    pub(super) fn dropped(now: f64) -> Self {
        Self {
            dropped: now,
            ..Self::WAITS
        }
    }

    pub(super) fn sent(started: f64, sent: f64, delivered: f64, marked: bool) -> Self {
        Self {
            dropped: f64::INFINITY,
            started,
            sent,
            delivered,
            marked,
        }
    }

    /// When it was gone.
    fn gone(&self) -> f64 {
        if self.dropped.is_finite() {
            self.dropped
        } else if self.delivered.is_finite() {
            self.delivered
        } else {
            self.sent
        }
    }
}

/// A packet, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noted {
    pub packet: Packet,
    pub traffic: Traffic,
    pub arrived: f64,
    pub times: Times,
    pub fate: Fate,
}

/// What tells packets in a queue apart: flow, hop, what they carry, and when they came.
type Mark = (u32, u32, u64, u64);

/// The packets of a port.
#[derive(Debug)]
pub struct Packets {
    stretch: Stretch,
    /// How many have come.
    arrivals: u64,
    /// By their number among those.
    rows: BTreeMap<u64, Noted>,
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
    pub fn noted(&self) -> impl Iterator<Item = &Noted> {
        self.rows.values()
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// A packet has come.
    pub(super) fn arrived(&mut self, packet: &Packet, traffic: Traffic, now: f64) {
        if now >= self.stretch.until.secs() {
            return;
        }
        self.arrivals += 1;
        let noted = Noted {
            packet: *packet,
            traffic,
            arrived: now,
            times: Times::WAITS,
            fate: Fate::Unfinished,
        };
        self.rows.insert(self.arrivals, noted);
        let waiting = self.waiting.entry(mark(packet, now)).or_default();
        waiting.push_back(self.arrivals);
    }

    /// It is known what becomes of a packet that came at `arrived`.
    pub(super) fn gone(&mut self, packet: &Packet, arrived: f64, fate: Fate, times: Times) {
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
        if times.gone() < self.stretch.from.secs() {
            self.rows.remove(&number);
        } else if let Some(row) = self.rows.get_mut(&number) {
            (row.fate, row.times) = (fate, times);
        }
    }
}

fn mark(packet: &Packet, arrived: f64) -> Mark {
    (
        packet.flow,
        packet.hop,
        packet.unmarked(),
        arrived.to_bits(),
    )
}
