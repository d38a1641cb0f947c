//! What was measured, as the core's tables ([`sawtooth_core::record::SCHEMA`]). What a kernel does not report is unknown there (null).

use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};

use sawtooth_core::Scenario;
use sawtooth_core::internals::rows::{counter_rows, link_tables, udp_flow_rows, udp_tables};
use sawtooth_core::internals::units::mean_rate_bps;
use sawtooth_core::record::rows::{CounterRow, FlowRow, SeriesRow};
use sawtooth_core::record::{Column, Table};
use sawtooth_core::spec::FlowSpec;
use sawtooth_core::units::Instant;
use serde_json::{Value as Json, json};

use crate::hosts::HostNamespaces;
use crate::http::Fetch;
use crate::network::IpNetwork;
use crate::request_response::RequestResponseSockets;
use crate::setup::HostName;
use crate::sockets::Connection;
use crate::tcp_info::TcpInfo;

/// A row of `series`: what the sender's kernel reports now, and bytes delivered.
pub fn sample(
    time: Instant,
    name: &str,
    sender: &OwnedFd,
    side: SenderSide,
    delivered: u64,
) -> io::Result<SeriesRow> {
    let info = TcpInfo::of(sender.as_fd())?;
    let mss = u64::from(info.snd_mss);
    // "Arbitrarily high" is the largest signed number to the kernel.
    let ssthresh = (info.snd_ssthresh < i32::MAX as u32)
        .then(|| f64::from(info.snd_ssthresh) * f64::from(info.snd_mss));
    Ok(SeriesRow {
        t_ns: time.as_ns(),
        flow: name.into(),
        cwnd_bytes: Some(f64::from(info.snd_cwnd) * f64::from(info.snd_mss)),
        ssthresh_bytes: ssthresh,
        srtt_ns: micros(info.rtt),
        flight_bytes: Some(u64::from(info.unacked) * mss),
        pipe_bytes: Some(info.pipe() * mss),
        acked_bytes: Some(acked_bytes(&info, side, delivered)),
        delivered_bytes: delivered,
        ..SeriesRow::default()
    })
}

/// For a time that it has not measured the kernel writes 0, or of a minimum the largest number.
fn micros(value: u32) -> Option<i64> {
    (!matches!(value, 0 | u32::MAX)).then(|| i64::from(value) * 1000)
}

/// Which side of its connection a sender is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SenderSide {
    Opened,
    Accepted,
}

/// Bytes of data that have been acknowledged: to the kernel the SYN that opens a connection counts for one, and so does FIN.
pub fn acked_bytes(info: &TcpInfo, side: SenderSide, delivered: u64) -> u64 {
    let syn = u64::from(side == SenderSide::Opened);
    info.bytes_acked.saturating_sub(syn).min(delivered)
}

/// A row of `flows` of a connection.
pub fn connection(spec: &FlowSpec, connection: &Connection, end: Instant) -> io::Result<FlowRow> {
    let info = TcpInfo::of(connection.sender().as_fd())?;
    let done = connection.is_done().then_some(connection.last_delivery);
    let delivered = connection.delivered;
    Ok(flow(spec, &info, SenderSide::Opened, delivered, done, end))
}

/// The same of a connection of requests and responses: of its responses.
pub fn request_response(
    spec: &FlowSpec,
    request_response: &RequestResponseSockets,
    end: Instant,
) -> io::Result<FlowRow> {
    let sender = request_response.sender();
    let info = sender.map_or(Ok(TcpInfo::default()), |sender| TcpInfo::of(sender.as_fd()))?;
    let is_over = request_response.exchanges.is_over();
    let done = is_over.then_some(request_response.last_delivery);
    let delivered = request_response.delivered();
    Ok(flow(
        spec,
        &info,
        SenderSide::Accepted,
        delivered,
        done,
        end,
    ))
}

/// The same, from what its sender's kernel reports, the bytes delivered, and the time of the last of them.
fn flow(
    spec: &FlowSpec,
    info: &TcpInfo,
    side: SenderSide,
    delivered: u64,
    done: Option<Instant>,
    end: Instant,
) -> FlowRow {
    let mss = u64::from(info.snd_mss.max(1));
    let acked = acked_bytes(info, side, delivered);
    let lifetime = (end - spec.start).secs();
    FlowRow {
        acked_packets: Some(acked.div_ceil(mss)),
        acked_bytes: Some(acked),
        throughput_bps: Some(mean_rate_bps(acked, lifetime)),
        sent_packets: Some(info.data_segs_out.into()),
        retransmits: Some(info.total_retrans.into()),
        dsacks_in: Some(info.dsack_dups.into()),
        min_rtt_ns: micros(info.min_rtt),
        limited_rwnd_ns: Some(info.rwnd_limited.cast_signed() * 1000),
        ..transfer(spec, delivered, done, end)
    }
}

/// A row of `flows` of a fetch, of whose connection nothing is known.
pub fn fetch(spec: &FlowSpec, fetch: &Fetch, end: Instant) -> FlowRow {
    transfer(spec, fetch.delivered(), fetch.done, end)
}

/// What is known of every flow: bytes delivered, and when the last of them were.
fn transfer(spec: &FlowSpec, delivered: u64, done: Option<Instant>, end: Instant) -> FlowRow {
    FlowRow {
        flow: spec.name.as_str().into(),
        cc: spec.cc_in_kernel().into(),
        recovery: "kernel".into(),
        start_ns: spec.start.as_ns(),
        delivered_bytes: delivered,
        goodput_bps: mean_rate_bps(delivered, (end - spec.start).secs()),
        completion_ns: done.map(|done| (done - spec.start).as_ns()),
        ..FlowRow::default()
    }
}

/// The tables that links fill. Nothing can be done with the links afterwards.
pub fn links(scenario: &Scenario, network: &mut IpNetwork) -> Vec<Table> {
    for port in &mut network.ports {
        port.finish();
    }
    link_tables(scenario, &network.ports)
}

/// Tables by their names, each a list of rows, of which each has the values that are known.
pub fn to_json(tables: &[Table]) -> Json {
    let named = tables
        .iter()
        .map(|table| (table.name().to_owned(), rows(table)));
    Json::Object(named.collect())
}

fn rows(table: &Table) -> Json {
    let columns: Vec<(&str, Vec<Json>)> = table
        .named_columns()
        .map(|(name, data)| (name, values(data)))
        .collect();
    let row = |at: usize| -> Json {
        let cells = columns.iter().map(|(name, values)| (*name, &values[at]));
        let known = cells.filter(|(_, value)| !value.is_null());
        let cells = known.map(|(name, value)| (name.to_owned(), value.clone()));
        Json::Object(cells.collect())
    };
    (0..table.rows()).map(row).collect()
}

fn values(column: &Column) -> Vec<Json> {
    match column {
        Column::U64(values) => values.iter().map(|value| json!(value)).collect(),
        Column::I64(values) => values.iter().map(|value| json!(value)).collect(),
        Column::F64(values) => values.iter().map(|value| json!(value)).collect(),
        Column::OptU64(values) => values.iter().map(|value| json!(value)).collect(),
        Column::OptI64(values) => values.iter().map(|value| json!(value)).collect(),
        Column::OptF64(values) => values.iter().map(|value| json!(value)).collect(),
        Column::Str(values) => values.iter().map(|value| json!(**value)).collect(),
    }
}

/// Of the flows of UDP: adds their rows to `flows`; the tables `datagrams` and `sources`.
pub fn udp(scenario: &Scenario, network: &IpNetwork, flows: &mut Table) -> [Table; 2] {
    for row in udp_flow_rows(scenario, &network.udp) {
        flows.push(row);
    }
    udp_tables(scenario, &network.udp)
}

/// The table `counters`: what the hosts' kernels have counted and is not zero.
pub fn counters(hosts: &HostNamespaces) -> io::Result<Table> {
    let mut table = Table::new::<CounterRow>();
    for host in [HostName::Receiver, HostName::Sender] {
        hosts.enter(host)?;
        for file in ["snmp", "netstat"] {
            let text = fs::read_to_string(format!("/proc/thread-self/net/{file}"))?;
            for row in counter_rows(&host.to_string(), &text) {
                table.push(row);
            }
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scenario() -> Scenario {
        sawtooth_core::scenario::from_tree(&json!({
            "duration": "1 s", "links": {"l": {"rate": "1 Mbit/s"}}, "flows": [{"path": ["l"]}], "record": ["waits"],
        }))
        .expect("a scenario")
    }

    #[test]
    fn what_a_kernel_does_not_tell_is_left_out() {
        let scenario = scenario();
        let spec = &scenario.flows[0];
        let fetched = fetch(
            spec,
            &Fetch::new(spec, [10, 0, 0, 1].into(), 1),
            Instant::from_secs(1.0),
        );
        assert_eq!(
            to_json(&[Table::of([fetched])]),
            json!({"flows": [{
                "flow": "flow", "cc": "reno", "recovery": "kernel", "start_ns": 0, "delivered_bytes": 0, "goodput_bps": 0.0,
            }]})
        );
    }

    #[test]
    fn links_fill_the_tables_that_the_scenario_asks_for() {
        let scenario = scenario();
        let tables = links(&scenario, &mut IpNetwork::new(&scenario, 1));
        let names: Vec<_> = tables.iter().map(Table::name).collect();
        assert_eq!(names, ["links", "waits"]);
    }
}
