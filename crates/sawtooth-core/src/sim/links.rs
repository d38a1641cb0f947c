//! What links have measured, as tables: the counters of every port, and what its ledger notes if the scenario asks.

use std::sync::Arc;

use super::{direction_name, ns};
use crate::arrivals::summary::times;
use crate::histogram::Histogram;
use crate::link::{PacketFate, PacketRow, Packets, Port, Traffic};
use crate::record::{Cell, Table};
use crate::scenario::{Recording, Scenario};

/// Gives every port a ledger, if what is recorded takes one. `whose`: of each hop that its packets may be on.
pub fn keep_ledgers(ports: &mut [Port], record: Recording, whose: Vec<Traffic>) {
    if record.notes_at_links() {
        let whose = Arc::from(whose);
        for port in ports {
            port.keep(record, &whose);
        }
    }
}

/// The tables of links, of which the run [is over](Port::finish).
pub fn tables(scenario: &Scenario, ports: &[Port]) -> Vec<Table> {
    let mut tables = vec![link_table(scenario, ports)];
    if scenario.record.waits {
        tables.push(wait_table(scenario, ports));
    }
    if scenario.record.link_flows {
        tables.push(flow_table(scenario, ports));
    }
    if scenario.record.packets.is_some() {
        tables.push(packet_table(scenario, ports));
    }
    tables
}

fn link_table(scenario: &Scenario, ports: &[Port]) -> Table {
    let mut table = Table::new("links");
    for (index, port) in ports.iter().enumerate() {
        let counters = &port.counters;
        let cells = [
            Cell::U64(counters.arrived_packets),
            Cell::U64(counters.arrived_bytes),
            Cell::U64(counters.dropped_packets),
            Cell::U64(counters.dropped_bytes),
            Cell::U64(counters.lost_packets),
            Cell::U64(counters.corrupted_packets),
            Cell::U64(counters.duplicated_packets),
            Cell::U64(counters.reordered_packets),
            Cell::U64(counters.marked_packets),
            Cell::U64(counters.peak_packets()),
            Cell::F64(port.utilisation().unwrap_or(-1.0)),
            Cell::I64(ns(counters.mean_wait_secs())),
            Cell::F64(port.mean_backlog_packets()),
            Cell::F64(port.mean_backlog_bytes()),
        ];
        table.push(head(scenario, index).into_iter().chain(cells));
    }
    table
}

fn wait_table(scenario: &Scenario, ports: &[Port]) -> Table {
    let mut table = Table::new("waits");
    for (index, port) in ports.iter().enumerate() {
        let Some(noted) = port.ledger().and_then(|ledger| ledger.waits.as_ref()) else {
            continue;
        };
        let cells = [Cell::U64(noted.waits.count())];
        let cells = cells.into_iter().chain(times(&noted.waits));
        let cells = cells.chain(found(&noted.backlogs));
        table.push(head(scenario, index).into_iter().chain(cells));
    }
    table
}

/// Mean, percentiles and largest of what arriving packets have found.
fn found(backlogs: &Histogram) -> [Cell; 6] {
    let quantile = |share| Cell::U64(backlogs.quantile(share).unwrap_or(0));
    [
        Cell::F64(backlogs.mean().unwrap_or(0.0)),
        quantile(0.5),
        quantile(0.9),
        quantile(0.95),
        quantile(0.99),
        Cell::U64(backlogs.largest()),
    ]
}

fn flow_table(scenario: &Scenario, ports: &[Port]) -> Table {
    let mut table = Table::new("link_flows");
    for (index, port) in ports.iter().enumerate() {
        let noted = port.ledger().and_then(|ledger| ledger.flows());
        for (flow, counters) in noted.into_iter().flatten() {
            let cells = [
                Cell::Str(name(scenario, flow as usize).to_owned()),
                Cell::U64(counters.arrived_packets),
                Cell::U64(counters.arrived_bytes),
                Cell::U64(counters.dropped_packets),
                Cell::U64(counters.dropped_bytes),
                Cell::U64(counters.lost_packets),
                Cell::U64(counters.marked_packets),
                Cell::I64(counters.mean_wait_secs().map_or(-1, ns)),
            ];
            table.push(head(scenario, index).into_iter().chain(cells));
        }
    }
    table
}

fn packet_table(scenario: &Scenario, ports: &[Port]) -> Table {
    let mut table = Table::new("packets");
    for (index, port) in ports.iter().enumerate() {
        let noted = port.ledger().and_then(|ledger| ledger.packets.as_ref());
        for row in noted.into_iter().flat_map(Packets::rows) {
            table.push(
                head(scenario, index)
                    .into_iter()
                    .chain(cells(scenario, row)),
            );
        }
    }
    table
}

/// Of a packet, all but where it was.
fn cells(scenario: &Scenario, row: &PacketRow) -> [Cell; 12] {
    let first_of_udp = scenario.flows.len() + scenario.arriving.len();
    let segment = row.packet.segment();
    let datagram = row.traffic.flow as usize >= first_of_udp;
    let (kind, number) = if datagram {
        ("datagram", row.packet.number_and_time().0)
    } else if row.traffic.acks {
        ("ack", row.packet.next_expected())
    } else if segment.is_handshake_ack() {
        ("ack", 1)
    } else {
        ("data", segment.seq)
    };
    let again = kind == "data" && segment.retransmission;
    let ended = row.times.delivered >= scenario.duration.secs();
    let fate = match row.fate {
        PacketFate::Arrived | PacketFate::Doubled | PacketFate::Damaged if ended => {
            PacketFate::Unfinished
        }
        fate => fate,
    };
    let at = |secs: f64| {
        // A clock of nanoseconds ends after 292 years: what comes later never does.
        if secs < 9e9 {
            Cell::I64(ns(secs))
        } else {
            Cell::I64(-1)
        }
    };
    [
        Cell::Str(name(scenario, row.traffic.flow as usize).to_owned()),
        Cell::Str(kind.into()),
        Cell::I64(i64::try_from(number).unwrap_or(i64::MAX)),
        Cell::U64(u64::from(row.packet.wire_bytes)),
        Cell::U64(u64::from(again)),
        Cell::U64(u64::from(row.times.marked)),
        Cell::Str(fate.name().into()),
        at(row.arrived),
        at(row.times.dropped),
        at(row.times.started),
        at(row.times.sent),
        at(row.times.delivered),
    ]
}

/// Which link and direction a port is.
fn head(scenario: &Scenario, port: usize) -> [Cell; 2] {
    [
        Cell::Str(scenario.links[port / 2].name.clone()),
        Cell::Str(direction_name(port).into()),
    ]
}

/// Of a flow by its number: entries of flows that arrive come after those that are there all the time, then those of UDP.
fn name(scenario: &Scenario, flow: usize) -> &str {
    let standing = scenario.flows.iter().map(|spec| &spec.name);
    let arriving = scenario.arriving.iter().map(|one| &one.flow.name);
    let udp = scenario.udp.iter().map(|spec| &spec.name);
    let mut names = standing.chain(arriving).chain(udp);
    names.nth(flow).expect("a number of a flow")
}
