//! What hosts have measured, as tables.

use super::Hosts;
use crate::host::layers::Log;
use crate::host::stopwatch::Stopwatch;
use crate::record::Table;
use crate::record::rows::{LayerRow, StallRow};
use crate::spec::Scenario;

/// What is recorded if the scenario asks for it; `names`: of each flow, those of requests after the scenario's.
pub(in crate::sim) fn host_tables(
    hosts: &Hosts,
    scenario: &Scenario,
    names: &[String],
) -> Vec<Table> {
    let mut tables = Vec::new();
    if scenario.record.stalls {
        tables.push(stall_table(hosts, names));
    }
    if let Some(logs) = &hosts.logs {
        tables.push(layer_table(logs, names, scenario));
    }
    tables
}

fn stall_table(hosts: &Hosts, names: &[String]) -> Table {
    let mut table = Table::new::<StallRow>();
    for (sender, name) in hosts.senders.iter().zip(names) {
        let watch = sender.iter().map(|(_, socket)| &socket.watch);
        for interval in watch.flat_map(Stopwatch::intervals) {
            table.push(StallRow::of(name, interval));
        }
    }
    table
}

fn layer_table(logs: &[Log], names: &[String], scenario: &Scenario) -> Table {
    let mut table = Table::new::<LayerRow>();
    for (log, name) in logs.iter().zip(names) {
        for happening in &log.rows {
            let host = &scenario.hosts[happening.host as usize];
            table.push(LayerRow::of(name, &host.name, happening));
        }
    }
    table
}
