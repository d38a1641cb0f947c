//! What was measured, as rows of the core's tables ([`sawtooth_core::record::SCHEMA`]). What a kernel does not tell is left out.

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use sawtooth_core::Scenario;
use sawtooth_core::record::{Data, Row, Table};
use sawtooth_core::sim;
use sawtooth_core::spec::FlowSpec;
use sawtooth_core::udp::{self, Sent};
use sawtooth_core::units::mean_rate_bps;
use serde_json::{Map, Value as Json, json};

use crate::clock::ns;
use crate::dialogue::Dialogue;
use crate::hosts::Hosts;
use crate::http::Fetch;
use crate::network::Network;
use crate::setup::HostName;
use crate::sockets::Connection;
use crate::tcp_info::TcpInfo;

/// A row of `series`: what the sender's kernel tells now, and bytes delivered.
pub fn sample(
    time: f64,
    name: &str,
    (sender, side): (&OwnedFd, Side),
    delivered: u64,
) -> io::Result<Json> {
    let info = TcpInfo::of(sender.as_fd())?;
    let mss = u64::from(info.snd_mss);
    // "Arbitrarily high" is the largest signed number to the kernel.
    let ssthresh =
        (info.snd_ssthresh < i32::MAX as u32).then(|| u64::from(info.snd_ssthresh) * mss);
    Ok(json!({
        "t_ns": ns(time), "flow": name, "cwnd_bytes": u64::from(info.snd_cwnd) * mss,
        "ssthresh_bytes": ssthresh, "srtt_ns": micros(info.rtt), "flight_bytes": u64::from(info.unacked) * mss,
        "acked_bytes": acked_bytes(&info, side, delivered), "delivered_bytes": delivered,
    }))
}

/// For a time that it has not measured the kernel writes 0, or of a minimum the largest number.
fn micros(value: u32) -> i64 {
    match value {
        0 | u32::MAX => -1,
        value => i64::from(value) * 1000,
    }
}

/// Which side of its connection a sender is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Opened,
    Accepted,
}

/// Bytes of data that have been acknowledged: to the kernel the SYN that opens a connection counts for one, and so does FIN.
pub fn acked_bytes(info: &TcpInfo, side: Side, delivered: u64) -> u64 {
    let syn = u64::from(side == Side::Opened);
    info.bytes_acked.saturating_sub(syn).min(delivered)
}

/// A row of `flows` of a connection.
pub fn connection(spec: &FlowSpec, connection: &Connection, end: f64) -> io::Result<Json> {
    let info = TcpInfo::of(connection.sender().as_fd())?;
    let done = connection.is_done().then_some(connection.last_delivery);
    let sender = (&info, Side::Opened);
    Ok(flow(spec, sender, (connection.delivered, done), end))
}

/// The same of a connection over which both sides speak: of its responses.
pub fn dialogue(spec: &FlowSpec, dialogue: &Dialogue, end: f64) -> io::Result<Json> {
    let sender = dialogue.sender();
    let info = sender.map_or(Ok(TcpInfo::default()), |sender| TcpInfo::of(sender.as_fd()))?;
    let is_over = dialogue.exchanges.is_over();
    let done = is_over.then_some(dialogue.last_delivery);
    let sender = (&info, Side::Accepted);
    Ok(flow(spec, sender, (dialogue.delivered(), done), end))
}

/// The same of what its sender's kernel tells, of bytes delivered, and of when the last of them were.
fn flow(
    spec: &FlowSpec,
    (info, side): (&TcpInfo, Side),
    (delivered, done): (u64, Option<f64>),
    end: f64,
) -> Json {
    let mss = u64::from(info.snd_mss.max(1));
    let acked = acked_bytes(info, side, delivered);
    let lifetime = end - spec.start.secs();
    let completion = done.map_or(-1, |done| ns(done - spec.start.secs()));
    json!({
        "flow": spec.name, "cc": spec.cc_in_kernel(), "recovery": "kernel", "start_ns": ns(spec.start.secs()),
        "acked_packets": acked.div_ceil(mss), "acked_bytes": acked, "delivered_bytes": delivered,
        "throughput_bps": mean_rate_bps(acked, lifetime), "goodput_bps": mean_rate_bps(delivered, lifetime),
        "sent_packets": info.data_segs_out, "retransmits": info.total_retrans, "dsacks_in": info.dsack_dups,
        "min_rtt_ns": micros(info.min_rtt), "completion_ns": completion, "stall_ns": -1,
        "limited_rwnd_ns": info.rwnd_limited * 1000,
    })
}

/// A row of `flows` of a fetch.
pub fn fetch(spec: &FlowSpec, fetch: &Fetch, end: f64) -> Json {
    let start = spec.start.secs();
    json!({
        "flow": spec.name, "cc": spec.cc_in_kernel(), "recovery": "kernel", "start_ns": ns(start),
        "delivered_bytes": fetch.delivered(), "goodput_bps": mean_rate_bps(fetch.delivered(), end - start),
        "completion_ns": fetch.done.map_or(-1, |done| ns(done - start)), "stall_ns": -1,
    })
}

/// The rows of the tables that links fill, by their tables' names. Nothing can be done with the links afterwards.
pub fn links(scenario: &Scenario, network: &mut Network) -> Vec<(&'static str, Vec<Json>)> {
    for port in &mut network.ports {
        port.finish();
    }
    let tables = sim::links::tables(scenario, &network.ports);
    tables
        .iter()
        .map(|table| (table.name(), rows(table)))
        .collect()
}

fn rows(table: &Table) -> Vec<Json> {
    let columns: Vec<(&str, Vec<Json>)> = table
        .named_columns()
        .map(|(name, data)| {
            let values = match data {
                Data::U64(values) => values.iter().map(|value| json!(value)).collect(),
                Data::I64(values) => values.iter().map(|value| json!(value)).collect(),
                Data::F64(values) => values.iter().map(|value| json!(value)).collect(),
                Data::Str(values) => values.iter().map(|value| json!(value)).collect(),
            };
            (name, values)
        })
        .collect();
    (0..table.rows())
        .map(|at| {
            let cells = columns.iter();
            cells
                .map(|(name, values)| ((*name).to_owned(), values[at].clone()))
                .collect::<Map<String, Json>>()
                .into()
        })
        .collect()
}

/// Of the flows of UDP: their rows of `flows`, and those of `datagrams` and `sources`.
pub fn udp(scenario: &Scenario, network: &Network) -> [Vec<Json>; 3] {
    let mut rows = [Vec::new(), Vec::new(), Vec::new()];
    for (spec, flow) in scenario.udp.iter().zip(&network.udp) {
        let sent = Sent {
            flow: &spec.name,
            start_secs: spec.start.secs(),
            end_secs: scenario.duration.secs(),
            packets: flow.sent_packets,
            bytes: flow.sent_bytes,
        };
        rows[0].push(row(udp::flow_row(&sent, &flow.received)));
        rows[1].push(row(udp::datagram_row(&sent, &flow.received)));
        flow.source.report(&mut |quantity, value| {
            rows[2].push(row(udp::source_row(&spec.name, quantity, value)));
        });
    }
    rows
}

/// A row of a table of the core's, by its columns' names.
pub fn row(row: impl Row) -> Json {
    rows(&Table::of([row])).remove(0)
}

/// The rows of `counters`: what the hosts' kernels have counted and is not zero.
pub fn counters(hosts: &Hosts) -> io::Result<Vec<Json>> {
    let mut rows = Vec::new();
    for host in [HostName::Receiver, HostName::Sender] {
        hosts.enter(host)?;
        for file in ["snmp", "netstat"] {
            let text = fs::read_to_string(format!("/proc/thread-self/net/{file}"))?;
            let lines: Vec<&str> = text.lines().collect();
            // Pairs of lines: names, then values, both after the protocol's name.
            for pair in lines.chunks_exact(2) {
                let (names, values) = (pair[0].split_whitespace(), pair[1].split_whitespace());
                let protocol = pair[0].split(':').next().unwrap_or_default();
                if !matches!(protocol, "Tcp" | "TcpExt" | "IpExt") {
                    continue;
                }
                for (name, value) in names.zip(values).skip(1) {
                    // Of IP, what packets said of congestion.
                    if protocol == "IpExt" && !name.contains("ECT") && !name.contains("CE") {
                        continue;
                    }
                    if let Some(value) = value.parse::<u64>().ok().filter(|value| *value != 0) {
                        let name = format!("{protocol}{name}");
                        rows.push(
                            json!({"host": host.to_string(), "counter": name, "value": value}),
                        );
                    }
                }
            }
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sawtooth_core::record::SCHEMA;
    use sawtooth_core::scenario;

    #[test]
    fn every_column_is_one_of_the_schema() {
        let scenario = scenario::from_tree(&json!({
            "duration": "1 s", "links": {"l": {"rate": "1 Mbit/s"}}, "flows": [{"path": ["l"]}], "record": ["waits"],
        }))
        .expect("a scenario");
        let fetch = fetch(
            &scenario.flows[0],
            &Fetch::new(&scenario.flows[0], [10, 0, 0, 1].into(), 1),
            1.0,
        );
        let tables = links(&scenario, &mut Network::new(&scenario, 1));
        assert_eq!(
            tables.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
            ["links", "waits"]
        );
        let rows = tables.iter().map(|(name, rows)| (*name, &rows[0]));
        for (table, row) in [("flows", &fetch)].into_iter().chain(rows) {
            let known = SCHEMA
                .iter()
                .find(|spec| spec.name == table)
                .expect("a table")
                .columns;
            for key in row.as_object().expect("a row").keys() {
                assert!(
                    known.iter().any(|column| column.name == key),
                    "{table}.{key}"
                );
            }
        }
    }
}
