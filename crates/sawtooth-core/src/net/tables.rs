//! What links have measured, as tables: the counters of every port, and what its ledger notes if the scenario asks.

use super::{NotedPacket, PacketFate, Packets, Port, direction_name};
use crate::histogram::TimesNs;
use crate::record::Table;
use crate::record::rows::{LinkFlowRow, LinkRow, PacketRow, WaitRow};
use crate::spec::Scenario;
use crate::units::{Duration, Instant, SeqNum};

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
    Table::of(ports.iter().enumerate().map(|(index, port)| {
        let counters = &port.counters;
        let (link, direction) = place(scenario, index);
        LinkRow {
            link,
            direction,
            arrived_packets: counters.arrived_packets,
            arrived_bytes: counters.arrived.get(),
            dropped_packets: counters.dropped_packets,
            dropped_bytes: counters.dropped.get(),
            lost_packets: counters.lost_packets,
            corrupted_packets: counters.corrupted_packets,
            duplicated_packets: counters.duplicated_packets,
            reordered_packets: counters.reordered_packets,
            marked_packets: counters.marked_packets,
            peak_packets: counters.peak_packets(),
            utilisation: port.utilisation(),
            wait_mean_ns: counters.mean_wait().map(Duration::as_ns),
            backlog_mean_packets: port.mean_backlog_packets(),
            backlog_mean_bytes: port.mean_backlog_bytes(),
        }
    }))
}

fn wait_table(scenario: &Scenario, ports: &[Port]) -> Table {
    let noted = ports.iter().enumerate().filter_map(|(index, port)| {
        let noted = port.ledger().and_then(|ledger| ledger.waits.as_ref())?;
        let (link, direction) = place(scenario, index);
        let (waits, found) = (TimesNs::of(&noted.waits), &noted.backlogs);
        Some(WaitRow {
            link,
            direction,
            started_packets: noted.waits.count(),
            wait_mean_ns: waits.mean,
            wait_p50_ns: waits.p50,
            wait_p90_ns: waits.p90,
            wait_p95_ns: waits.p95,
            wait_p99_ns: waits.p99,
            wait_p999_ns: waits.p999,
            wait_max_ns: waits.max,
            found_mean_packets: found.mean(),
            found_p50_packets: found.quantile(0.5),
            found_p90_packets: found.quantile(0.9),
            found_p95_packets: found.quantile(0.95),
            found_p99_packets: found.quantile(0.99),
            found_max_packets: (found.count() > 0).then(|| found.largest()),
        })
    });
    Table::of(noted)
}

fn flow_table(scenario: &Scenario, ports: &[Port]) -> Table {
    let mut table = Table::new::<LinkFlowRow>();
    for (index, port) in ports.iter().enumerate() {
        let noted = port.ledger().and_then(|ledger| ledger.flows());
        for (flow, counters) in noted.into_iter().flatten() {
            let (link, direction) = place(scenario, index);
            table.push(LinkFlowRow {
                link,
                direction,
                flow: name(scenario, flow as usize).to_owned(),
                arrived_packets: counters.arrived_packets,
                arrived_bytes: counters.arrived.get(),
                dropped_packets: counters.dropped_packets,
                dropped_bytes: counters.dropped.get(),
                lost_packets: counters.lost_packets,
                marked_packets: counters.marked_packets,
                wait_mean_ns: counters.mean_wait().map(Duration::as_ns),
            });
        }
    }
    table
}

fn packet_table(scenario: &Scenario, ports: &[Port]) -> Table {
    let mut table = Table::new::<PacketRow>();
    for (index, port) in ports.iter().enumerate() {
        let noted = port.ledger().and_then(|ledger| ledger.packets.as_ref());
        for packet in noted.into_iter().flat_map(Packets::noted) {
            table.push(packet_row(scenario, index, packet));
        }
    }
    table
}

fn packet_row(scenario: &Scenario, port: usize, noted: &NotedPacket) -> PacketRow {
    let first_of_udp = scenario.flows.len() + scenario.arriving.len();
    let segment = noted.packet.segment();
    let datagram = noted.traffic.flow as usize >= first_of_udp;
    let (kind, number) = if datagram {
        ("datagram", noted.packet.number_and_time().0)
    } else if noted.traffic.acks {
        ("ack", noted.packet.next_expected())
    } else if segment.is_handshake_ack() {
        ("ack", SeqNum::ZERO.next())
    } else {
        ("data", segment.seq)
    };
    let again = kind == "data" && segment.retransmission;
    let ended = noted.times.delivered >= Instant::START + scenario.duration;
    let fate = match noted.fate {
        PacketFate::Arrived | PacketFate::Doubled | PacketFate::Damaged if ended => {
            PacketFate::Unfinished
        }
        fate => fate,
    };
    // A clock of nanoseconds ends after 292 years: what comes later never does.
    let at = |time: Instant| (time.secs() < 9e9).then(|| time.as_ns());
    let (link, direction) = place(scenario, port);
    PacketRow {
        link,
        direction,
        flow: name(scenario, noted.traffic.flow as usize).to_owned(),
        kind: kind.into(),
        number: i64::try_from(number.get()).unwrap_or(i64::MAX),
        bytes: noted.packet.size().get(),
        retransmission: u64::from(again),
        marked: u64::from(noted.times.marked),
        fate: fate.name().into(),
        arrived_ns: at(noted.arrived),
        dropped_ns: at(noted.times.dropped),
        started_ns: at(noted.times.started),
        sent_ns: at(noted.times.sent),
        delivered_ns: at(noted.times.delivered),
    }
}

/// Which link and direction a port is.
fn place(scenario: &Scenario, port: usize) -> (String, String) {
    let link = scenario.links[port / 2].name.clone();
    (link, direction_name(port).to_owned())
}

/// Of a flow by its number: entries of flows that arrive come after those that are there all the time, then those of UDP.
fn name(scenario: &Scenario, flow: usize) -> &str {
    let standing = scenario.flows.iter().map(|spec| &spec.name);
    let arriving = scenario.arriving.iter().map(|one| &one.flow.name);
    let udp = scenario.udp.iter().map(|spec| &spec.name);
    let mut names = standing.chain(arriving).chain(udp);
    names.nth(flow).expect("a number of a flow")
}
