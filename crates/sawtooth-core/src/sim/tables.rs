//! What a run has measured, as tables.

use super::flow::Flow;
use super::hosts::Hosts;
use super::hosts::records::host_tables;
use super::index::index_u32;
use super::udp::Udp;
use super::world::World;
use crate::net::UdpFlow;
use crate::record::rows::flows::{TcpFlow, udp_flow_rows};
use crate::record::rows::fluid::fluid_table;
use crate::record::rows::links::link_tables;
use crate::record::rows::udp::udp_tables;
use crate::record::rows::{EpisodeRow, FlowRow, LimitedRow};
use crate::record::{Records, Table};
use crate::spec::Scenario;
use crate::units::Instant;

/// Ends a run, and returns what it has measured.
pub(super) fn into_records(mut world: World) -> Records {
    let (scenario, end) = (world.scenario, world.calendar.end);
    let forever = Instant::NEVER;
    for index in 0..index_u32(scenario.flows.len()) {
        (world.observers).sample_sender(&world.flows, index, forever);
        (world.observers).sample_receiver(&world.flows, index, forever);
        let flow = &mut world.flows[index as usize];
        if flow.started {
            flow.sender.finish(end);
        }
    }
    for index in 0..index_u32(world.topology.ports.len()) {
        (world.observers).sample_port(&mut world.topology.ports, index, forever);
        world.topology.port(index).finish();
    }
    for (index, udp) in (0..).zip(&world.udp) {
        (world.observers).sample_udp(index, &udp.flow.received, forever);
    }
    world.arrivals.finish(&mut world.flows, end);
    world.hosts.finish(end);
    // What has not happened never will: its memory, which is more than the tables take, is free for these.
    world.calendar.leave();
    let flows = &world.flows[..scenario.flows.len()];
    let mut tables = vec![flow_table(scenario, flows, &world.udp, &world.hosts, end)];
    tables.extend(link_tables(scenario, &world.topology.ports));
    tables.extend(world.arrivals.tables(end));
    let stalls = |flow| world.hosts.stalls(flow, end);
    tables.extend(world.request_responses.table(scenario, stalls));
    if !world.udp.is_empty() {
        tables.extend(udp_tables(scenario, udp_flows(&world.udp)));
    }
    tables.extend(fluid_table(scenario, world.fluid.totals()));
    tables.extend(world.observers.tables(scenario));
    if scenario.record.episodes {
        tables.push(episode_table(scenario, flows));
    }
    if scenario.record.limited {
        tables.push(limited_table(scenario, flows));
    }
    let mut names: Vec<String> = Vec::new();
    if !scenario.hosts.is_empty() {
        names.extend(world.request_responses.names(scenario));
    }
    tables.extend(host_tables(&world.hosts, scenario, &names));
    Records { tables }
}

fn flow_table(
    scenario: &Scenario,
    flows: &[Flow],
    udp: &[Udp],
    hosts: &Hosts,
    end: Instant,
) -> Table {
    let mut table = Table::with_room::<FlowRow>(flows.len() + udp.len());
    for (index, (spec, flow)) in (0..).zip(scenario.flows.iter().zip(flows)) {
        table.push(FlowRow::of_tcp(&TcpFlow {
            spec,
            sender: &flow.sender,
            receiver: &flow.receiver,
            read: hosts.read_by(index),
            stalls: hosts.stalls(index, end),
            end,
        }));
    }
    for row in udp_flow_rows(scenario, udp_flows(udp)) {
        table.push(row);
    }
    table
}

fn udp_flows(udp: &[Udp]) -> impl Iterator<Item = &UdpFlow> {
    udp.iter().map(|udp| &udp.flow)
}

fn limited_table(scenario: &Scenario, flows: &[Flow]) -> Table {
    let mut table = Table::new::<LimitedRow>();
    for (spec, flow) in scenario.flows.iter().zip(flows) {
        for stretch in flow.sender.limits().stretches() {
            table.push(LimitedRow::of(spec, *stretch));
        }
    }
    table
}

fn episode_table(scenario: &Scenario, flows: &[Flow]) -> Table {
    let mut table = Table::new::<EpisodeRow>();
    for (spec, flow) in scenario.flows.iter().zip(flows) {
        let smss = flow.sender.config().smss;
        for episode in flow.sender.episodes() {
            table.push(EpisodeRow::of(spec, smss, episode));
        }
    }
    table
}
