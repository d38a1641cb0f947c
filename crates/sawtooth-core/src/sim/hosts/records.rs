//! What hosts have measured, as tables.

use super::Hosts;
use crate::host::Frame;
use crate::host::layers::{Happening, Layer, Log};
use crate::host::stopwatch::Stopwatch;
use crate::record::Table;
use crate::record::rows::{LayerRow, StallRow};
use crate::sim::request_response::RequestResponses;
use crate::spec::Scenario;
use crate::units::ns;

impl Hosts {
    /// What is recorded if the scenario asks for it.
    pub(in crate::sim) fn tables(
        &self,
        scenario: &Scenario,
        request_responses: &RequestResponses,
    ) -> Vec<Table> {
        let names: Vec<String> = request_responses.names(scenario).collect();
        let mut tables = Vec::new();
        if scenario.record.stalls {
            tables.push(self.stall_table(&names));
        }
        if let Some(logs) = &self.logs {
            tables.push(layer_table(logs, &names, scenario));
        }
        tables
    }

    fn stall_table(&self, names: &[String]) -> Table {
        let mut table = Table::new::<StallRow>();
        for (sender, name) in self.senders.iter().zip(names) {
            let watch = sender.iter().map(|(_, socket)| &socket.watch);
            for interval in watch.flat_map(Stopwatch::intervals) {
                table.push(StallRow {
                    flow: name.clone(),
                    from_ns: interval.from,
                    to_ns: interval.to,
                    cause: interval.cause.name().into(),
                });
            }
        }
        table
    }

    /// Notes something that happens to a packet, if that is recorded.
    pub(super) fn note(
        &mut self,
        host: u32,
        time: f64,
        layer: Layer,
        event: &'static str,
        frame: &Frame,
    ) {
        let Some(logs) = &mut self.logs else {
            return;
        };
        let segment = frame.packet.segment();
        let bytes = match layer {
            Layer::Driver | Layer::Wire => frame.packet.wire_bytes,
            _ if frame.is_data => segment.payload.packet_size(),
            _ => 0,
        };
        logs[frame.flow as usize].rows.push(Happening {
            time,
            host,
            layer,
            event,
            packet: Some((frame.id, frame.is_data)),
            seq: (!segment.is_handshake_ack()).then_some(segment.seq.get()),
            bytes: u64::from(bytes),
        });
    }

    /// Notes something that happens to some bytes.
    pub(super) fn note_bytes(
        &mut self,
        host: u32,
        flow: u32,
        time: f64,
        layer: Layer,
        event: &'static str,
        bytes: u64,
    ) {
        if let Some(logs) = &mut self.logs {
            logs[flow as usize].rows.push(Happening {
                time,
                host,
                layer,
                event,
                packet: None,
                seq: None,
                bytes,
            });
        }
    }
}

fn layer_table(logs: &[Log], names: &[String], scenario: &Scenario) -> Table {
    let mut table = Table::new::<LayerRow>();
    for (log, name) in logs.iter().zip(names) {
        for row in &log.rows {
            let kind = row
                .packet
                .map_or("", |(_, is_data)| if is_data { "data" } else { "ack" });
            table.push(LayerRow {
                t_ns: ns(row.time),
                flow: name.clone(),
                host: scenario.hosts[row.host as usize].name.clone(),
                layer: row.layer.name().into(),
                event: row.event.into(),
                packet: row.packet.map(|(id, _)| i64::from(id)),
                kind: kind.into(),
                seq: row.seq.map(u64::cast_signed),
                bytes: i64::try_from(row.bytes).ok(),
            });
        }
    }
    table
}
