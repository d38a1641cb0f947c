//! What connections did, from the packets of a capture, as a passive observer sees it.
//!
//! ```text
//! packets --Analysis::packet--> connections --finish--> flows, series, episodes, marks
//! ```
//!
//! Packets are taken as they come, in a bounded memory: so many connections ([`MOST_CONNECTIONS`]), flows, rows of the series and marks are kept, and what is beyond
//! is told by name. Each part says in its file what it infers, from what, and after whom: `half` what was sent and acknowledged, `order` which segments are
//! retransmissions, `loss` why, `feedback` what marks of congestion came to, `limits` what held the sender back, `vantage` where the capture was taken, `interface` what flows of one tell of that together.

mod connection;
mod feedback;
mod half;
mod interface;
mod limits;
mod loss;
mod order;
pub mod rows;
mod rtt;
mod sequence;
mod series;
mod vantage;

use std::collections::HashMap;
use std::net::SocketAddr;

use sawtooth_core::record::Table;

use self::connection::{CapturedConnection, bits_per_second};
use self::half::Step;
use self::interface::SeenInterfaces;
use self::rows::{CapturedEpisodeRow, CapturedFlowRow, CapturedSeriesRow, MarkRow};
pub use self::series::MOST_ROWS;
use self::series::SeriesStore;
use self::vantage::Vantage;
use crate::read::{CapturedDatagram, CapturedPacket, Met, Sighting, Tally};

/// So many connections are kept while they last; the longest silent are over when there are more.
pub const MOST_CONNECTIONS: usize = 16_384;
/// So many flows have a row.
pub const MOST_FLOWS: usize = 100_000;
/// So many marks are kept, of retransmissions; of others half as many.
pub const MOST_MARKS: usize = 1_000_000;

/// A connection between two ends, whoever began it; or a flow of UDP.
type EndPair = (SocketAddr, SocketAddr);

/// Connections, while a capture is read.
#[derive(Debug)]
pub struct Analysis {
    first_ns: Option<i64>,
    last_ns: i64,
    connections: HashMap<EndPair, CapturedConnection>,
    begun: u64,
    datagrams: HashMap<EndPair, DatagramCounts>,
    series: SeriesStore,
    marks: Vec<KeptMark>,
    /// Of places in the series, once their connections are over; empty if they have no row.
    names: Vec<String>,
    interfaces: SeenInterfaces,
    /// Of connections that are over; whether one was captured behind a queue is known when all are.
    rows: Vec<HeldRow>,
    tables: Tables,
    tally: Tally,
}

/// A row, where its connection was captured, and the round trip as both ends answered.
#[derive(Clone, Debug)]
struct HeldRow {
    row: CapturedFlowRow,
    interface: usize,
    both_answers_ns: Option<i64>,
}

/// What a capture came to.
#[derive(Debug)]
pub struct Tables {
    /// [`CapturedFlowRow`], in the order of their connections.
    pub flows: Table,
    /// [`CapturedSeriesRow`].
    pub series: Table,
    /// [`CapturedEpisodeRow`].
    pub episodes: Table,
    /// [`MarkRow`], in the order of time.
    pub marks: Table,
    /// When the first frame was captured, since 1970.
    pub begin_ns: i64,
    /// From the first frame to the last.
    pub duration_ns: i64,
    /// Connections of TCP.
    pub connections: u64,
    /// Length of a stretch that has one row of the series; 0: each packet has one.
    pub series_stretch_ns: i64,
}

/// A mark, and the place of its flow in the series.
#[derive(Clone, Copy, Debug)]
struct KeptMark {
    place: usize,
    t_ns: i64,
    kind: &'static str,
    from: i64,
    to: i64,
}

#[derive(Clone, Debug)]
struct DatagramCounts {
    number: u64,
    begin_ns: i64,
    last_ns: i64,
    packets: u64,
    payload: u64,
    ip_bytes: u64,
}

impl Default for Analysis {
    fn default() -> Self {
        Self::keeping(MOST_ROWS)
    }
}

impl Analysis {
    /// That keeps so many rows of the series.
    pub fn keeping(most_rows: usize) -> Self {
        Self {
            first_ns: None,
            last_ns: i64::MIN,
            connections: HashMap::new(),
            begun: 0,
            datagrams: HashMap::new(),
            series: SeriesStore::keeping(most_rows),
            marks: Vec::new(),
            names: Vec::new(),
            interfaces: SeenInterfaces::default(),
            rows: Vec::new(),
            tables: Tables {
                flows: Table::new::<CapturedFlowRow>(),
                series: Table::new::<CapturedSeriesRow>(),
                episodes: Table::new::<CapturedEpisodeRow>(),
                marks: Table::new::<MarkRow>(),
                begin_ns: 0,
                duration_ns: 0,
                connections: 0,
                series_stretch_ns: 0,
            },
            tally: Tally::default(),
        }
    }

    /// A frame came at that time, whatever it carries.
    pub fn frame(&mut self, time_ns: i64) {
        self.first_ns.get_or_insert(time_ns);
        if time_ns < self.last_ns {
            self.tally.add(Met::BackInTime);
        }
        self.last_ns = time_ns;
        let end = time_ns - self.first_ns.unwrap_or(time_ns);
        self.tables.duration_ns = self.tables.duration_ns.max(end);
    }

    /// The frames that come next are of this interface; without a name they are of one that has none.
    pub fn at(&mut self, interface: &str) {
        self.interfaces.at(interface);
    }

    /// What a frame carried.
    pub fn packet(&mut self, packet: &CapturedPacket) {
        match packet {
            CapturedPacket::Tcp(sighting) => self.segment(sighting),
            CapturedPacket::Udp(datagram) => self.datagram(datagram),
        }
    }

    fn segment(&mut self, sighting: &Sighting) {
        let ends = key(sighting.segment.source, sighting.segment.destination);
        let mut earlier = 0;
        let is_over = |connection: &CapturedConnection| connection.is_followed_by(sighting);
        if self.connections.get(&ends).is_some_and(is_over)
            && let Some(before) = self.connections.remove(&ends)
        {
            earlier = before.earlier + 1;
            self.finish_connection(before);
        }
        if !self.connections.contains_key(&ends) {
            if self.connections.len() >= MOST_CONNECTIONS {
                self.forget_silent();
            }
            self.begun += 1;
            let at = self.interfaces.now;
            let connection = CapturedConnection::begun_by(sighting, self.begun, earlier, at);
            self.connections.insert(ends, connection);
        }
        let connection = self.connections.get_mut(&ends).expect("it is there");
        let steps = connection.on_segment(sighting);
        let t_ns = sighting.time_ns - self.first_ns.unwrap_or(sighting.time_ns);
        let from = connection.end_of(sighting);
        for (half, step) in steps.iter().enumerate() {
            let carries = connection.halves[half].counts.sent.bytes > 0;
            // The SYN is of the flow that the connection's data will be; it is told once there is some.
            if connection.places[half].is_none()
                && (carries || (half == from && !step.notes.is_empty()))
            {
                connection.places[half] = Some(self.series.flow());
            }
            let Some(place) = connection.places[half] else {
                continue;
            };
            if carries {
                self.series.add(place, connection.point(half, t_ns, step));
            }
            keep_marks(&mut self.marks, &mut self.tally, place, t_ns, step);
        }
    }

    fn datagram(&mut self, datagram: &CapturedDatagram) {
        let ends = (datagram.source, datagram.destination);
        if !self.datagrams.contains_key(&ends) && self.datagrams.len() >= MOST_FLOWS {
            self.tally.add(Met::NoRow);
            return;
        }
        let begun = &mut self.begun;
        let counts = self.datagrams.entry(ends).or_insert_with(|| {
            *begun += 1;
            DatagramCounts {
                number: *begun,
                begin_ns: datagram.time_ns,
                last_ns: datagram.time_ns,
                packets: 0,
                payload: 0,
                ip_bytes: 0,
            }
        });
        counts.last_ns = counts.last_ns.max(datagram.time_ns);
        counts.packets += 1;
        counts.payload += u64::from(datagram.payload);
        counts.ip_bytes += u64::from(datagram.ip_bytes);
    }

    /// The quarter of all connections that has been silent for the longest is over.
    fn forget_silent(&mut self) {
        let mut silent: Vec<_> = self
            .connections
            .iter()
            .map(|(ends, connection)| (connection.last_ns(), connection.number, *ends))
            .collect();
        silent.sort_unstable();
        for (_, _, ends) in silent.into_iter().take(MOST_CONNECTIONS / 4) {
            if let Some(connection) = self.connections.remove(&ends) {
                self.tally.add(Met::Forgotten);
                self.finish_connection(connection);
            }
        }
    }

    fn finish_connection(&mut self, mut connection: CapturedConnection) {
        self.tables.connections += 1;
        let first_ns = self.first_ns.unwrap_or(0);
        let has_data = [0, 1].map(|half| connection.halves[half].counts.sent.bytes > 0);
        for half in [0, 1] {
            // A connection without data is told by the direction of its first packet.
            let is_told = has_data[half] || (half == 0 && !has_data[1]);
            if !is_told {
                continue;
            }
            if let Some(place) = connection.places[half] {
                let name = connection.name(half);
                for row in self.series.rows(place, &name) {
                    self.tables.series.push(row);
                }
                let places = self.names.len().max(place + 1);
                self.names.resize(places, String::new());
                self.names[place] = name;
            }
            if self.rows.len() >= MOST_FLOWS {
                self.tally.add(Met::NoRow);
                continue;
            }
            for row in connection.episode_rows(half, first_ns) {
                self.tables.episodes.push(row);
            }
            if let Some(answers) = connection.near_answers(half) {
                self.interfaces.add(connection.interface, answers);
            }
            self.rows.push(HeldRow {
                row: connection.row(half, first_ns),
                interface: connection.interface,
                both_answers_ns: connection.both_answers_ns(),
            });
        }
    }
}

impl Analysis {
    /// The capture is over: what it came to, and what was met.
    pub fn finish(mut self) -> (Tables, Tally) {
        let mut open: Vec<_> = self.connections.drain().map(|(_, each)| each).collect();
        open.sort_unstable_by_key(|connection| connection.number);
        for connection in open {
            self.finish_connection(connection);
        }
        for mut held in std::mem::take(&mut self.rows) {
            let is_near = held.row.vantage == Vantage::Sender.name();
            if is_near && self.interfaces.is_behind_a_queue(held.interface) {
                held.row.put_behind_a_queue(held.both_answers_ns);
            }
            self.tables.flows.push(held.row);
        }
        let mut datagrams: Vec<_> = self.datagrams.drain().collect();
        datagrams.sort_unstable_by_key(|(_, counts)| counts.number);
        let first_ns = self.first_ns.unwrap_or(0);
        for ((source, destination), counts) in datagrams {
            self.tables
                .flows
                .push(counts.row(source, destination, first_ns));
        }
        for mark in self.marks {
            // A direction without a row has no name.
            let name = self.names.get(mark.place).filter(|name| !name.is_empty());
            if let Some(name) = name {
                self.tables.marks.push(MarkRow {
                    t_ns: mark.t_ns,
                    flow: name.clone(),
                    kind: mark.kind.into(),
                    from_bytes: mark.from,
                    to_bytes: mark.to,
                });
            }
        }
        self.tables.begin_ns = first_ns;
        self.tables.series_stretch_ns = self.series.stretch_ns();
        (self.tables, self.tally)
    }
}

impl CapturedFlowRow {
    /// Leaves out what only the sender itself could tell.
    fn put_behind_a_queue(&mut self, both_answers_ns: Option<i64>) {
        self.vantage = Vantage::NearSender.name().into();
        self.min_rtt_ns = both_answers_ns;
        for unknown in [
            &mut self.max_rtt_ns,
            &mut self.srtt_mean_ns,
            &mut self.srtt_ns,
            &mut self.limited_rwnd_ns,
            &mut self.limited_source_ns,
            &mut self.limited_recovery_ns,
            &mut self.limited_rto_ns,
            &mut self.limited_other_ns,
        ] {
            *unknown = None;
        }
        self.rtt_samples = None;
    }
}

impl DatagramCounts {
    fn row(&self, source: SocketAddr, destination: SocketAddr, first_ns: i64) -> CapturedFlowRow {
        let lifetime = self.last_ns - self.begin_ns;
        CapturedFlowRow {
            flow: format!("{source} > {destination}"),
            transport: "udp".into(),
            connection: self.number,
            start_ns: self.begin_ns - first_ns,
            wire_bps: (lifetime > 0).then(|| bits_per_second(self.ip_bytes, lifetime)),
            lifetime_ns: Some(lifetime),
            sent_packets: Some(self.packets),
            sent_bytes: Some(self.payload),
            ip_bytes: self.ip_bytes,
            ..CapturedFlowRow::default()
        }
    }
}

/// Both directions of a connection have one key.
fn key(one: SocketAddr, other: SocketAddr) -> EndPair {
    if one <= other {
        (one, other)
    } else {
        (other, one)
    }
}

fn keep_marks(marks: &mut Vec<KeptMark>, tally: &mut Tally, place: usize, t_ns: i64, step: &Step) {
    for note in &step.notes {
        let most = match note.kind {
            "retransmission" | "needless" => MOST_MARKS,
            _ => MOST_MARKS / 2,
        };
        if marks.len() >= most {
            tally.add(Met::NoMark);
            continue;
        }
        marks.push(KeptMark {
            place,
            t_ns,
            kind: note.kind,
            from: note.numbers.start,
            to: note.numbers.end,
        });
    }
}
