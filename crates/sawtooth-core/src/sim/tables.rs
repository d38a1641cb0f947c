//! What a run has measured, as tables.

use super::flow::Flow;
use super::hosts::Hosts;
use super::hosts::records::host_tables;
use super::index::index_u32;
use super::udp::Udp;
use super::world::World;
use crate::net::{self, UdpFlow};
use crate::record::rows::{EpisodeRow, FlowRow};
use crate::record::{Records, Table};
use crate::spec::{FlowSpec, Scenario};
use crate::tcp::limits::SendLimit;
use crate::units::{Duration, Instant, WindowSize, mean_rate_bps};

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
        (world.observers).sample_port(&world.topology.ports, index, forever);
        world.topology.port(index).finish();
    }
    for (index, udp) in (0..).zip(&world.udp) {
        (world.observers).sample_udp(index, &udp.flow.received, forever);
    }
    world.arrivals.finish(&mut world.flows, end);
    world.hosts.finish(end);
    let flows = &world.flows[..scenario.flows.len()];
    let mut tables = vec![flow_table(&world, flows)];
    tables.extend(net::tables(scenario, &world.topology.ports));
    tables.extend(world.arrivals.tables(end));
    let stalls = |flow| world.hosts.stalls(flow, end);
    tables.extend(world.request_responses.table(scenario, stalls));
    if !world.udp.is_empty() {
        tables.extend(net::udp_tables(scenario, udp_flows(&world.udp)));
    }
    tables.extend(world.observers.tables(scenario, flows));
    if scenario.record.episodes {
        tables.push(episode_table(scenario, flows));
    }
    let names: Vec<String> = world.request_responses.names(scenario).collect();
    tables.extend(host_tables(&world.hosts, scenario, &names));
    Records { tables }
}

fn flow_table(world: &World, flows: &[Flow]) -> Table {
    let mut table = Table::new::<FlowRow>();
    let end = world.calendar.end;
    for (index, (flow, spec)) in (0..).zip(flows.iter().zip(&world.scenario.flows)) {
        table.push(flow_row(&world.hosts, index, flow, spec, end));
    }
    for row in net::udp_flow_rows(world.scenario, udp_flows(&world.udp)) {
        table.push(row);
    }
    table
}

fn udp_flows(udp: &[Udp]) -> impl Iterator<Item = &UdpFlow> {
    udp.iter().map(|udp| &udp.flow)
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn flow_row(hosts: &Hosts, index: u32, flow: &Flow, spec: &FlowSpec, end: Instant) -> FlowRow {
    let (sender, receiver) = (&flow.sender, &flow.receiver);
    let (counters, limits, config) = (sender.counters(), sender.limits(), sender.config());
    let smss = config.smss.as_f64();
    // With a host the application has what it has read.
    let delivered = hosts.read_by(index).unwrap_or(receiver.delivered);
    // Nor is a transfer complete that the application has not read to its end.
    let done = sender.is_done() && delivered.bytes == sender.acked();
    let stalls = hosts.stalls(index, end);
    let lifetime = (end - flow.start).secs();
    let acked = sender.acked_segments();
    let round_trips = sender.round_trips();
    let sampled = |time: Duration| (round_trips.samples > 0).then(|| time.as_ns());
    let limited = |limit| Some(limits.spent_ns(limit));
    FlowRow {
        flow: spec.name.clone(),
        cc: spec.cc.name.into(),
        recovery: config.recovery.word().into(),
        start_ns: flow.start.as_ns(),
        acked_packets: Some(acked.get()),
        acked_bytes: Some(sender.acked().get()),
        delivered_bytes: delivered.bytes.get(),
        throughput_bps: Some(mean_rate_bps((acked * config.smss).get(), lifetime)),
        goodput_bps: mean_rate_bps(delivered.bytes.get(), lifetime),
        sent_packets: Some(counters.sent_packets),
        retransmits: Some(counters.retransmits),
        fast_retransmits: Some(counters.fast_retransmits),
        timeouts: Some(counters.timeouts),
        dupacks_in: Some(counters.dupacks_in),
        sacks_in: Some(counters.sacks_in),
        dsacks_in: Some(counters.dsacks_in),
        congestion_signals: Some(counters.congestion_signals),
        ce_in: Some(receiver.marks.ce_in.get()),
        ecn_signals: Some(counters.ecn_signals),
        ecn_reductions: Some(counters.ecn_reductions),
        cwnd_mean_bytes: (lifetime > 0.0)
            .then(|| sender.mean_cwnd(Duration::from_secs(lifetime)).segments() * smss),
        srtt_mean_ns: sampled(round_trips.srtt_sum / round_trips.samples as f64),
        min_rtt_ns: sampled(round_trips.min),
        completion_ns: done.then(|| (delivered.last - flow.start).as_ns()),
        stall_ns: stalls.all_ns,
        limited_cwnd_ns: limited(SendLimit::Cwnd),
        limited_rwnd_ns: limited(SendLimit::Rwnd),
        limited_source_ns: limited(SendLimit::Source),
        limited_send_buffer_ns: limited(SendLimit::SendBuffer),
        limited_pacing_ns: limited(SendLimit::Pacing),
        limited_recovery_ns: limited(SendLimit::Recovery),
        limited_rto_ns: limited(SendLimit::Rto),
        limited_nagle_ns: limited(SendLimit::Nagle),
        lifetime_ns: Some(limits.lifetime_ns()),
        subsequent_timeouts: Some(counters.subsequent_timeouts),
        tail_loss_probes: Some(counters.probes),
        spurious: Some(counters.spurious),
        spurious_timeouts: Some(counters.spurious_timeouts),
        max_cwnd_bytes: Some(sender.max_cwnd().segments() * smss),
        srtt_ns: sender.srtt().map(Duration::as_ns),
        max_rtt_ns: sampled(round_trips.max),
        rtt_samples: Some(round_trips.samples),
        stall_window_ns: stalls.window_ns,
        stall_partial_ns: stalls.partial_ns,
        stall_memory_ns: stalls.memory_ns,
    }
}

fn episode_table(scenario: &Scenario, flows: &[Flow]) -> Table {
    let mut table = Table::new::<EpisodeRow>();
    for (flow, spec) in flows.iter().zip(&scenario.flows) {
        let smss = flow.sender.config().smss;
        let bytes = |window: Option<WindowSize>| {
            window.map_or(f64::NAN, |window| window.segments() * smss.as_f64())
        };
        for episode in flow.sender.episodes() {
            table.push(EpisodeRow {
                flow: spec.name.clone(),
                start_ns: episode.start.as_ns(),
                end_ns: episode.end.map(Instant::as_ns),
                cause: episode.cause.name().into(),
                lost_packets: episode.lost.map(|lost| lost.get().cast_signed()),
                retransmits: episode.retransmits,
                timeouts: episode.timeouts,
                flight_bytes: (episode.flight_size * smss).get(),
                cwnd_before_bytes: episode.cwnd_before.segments() * smss.as_f64(),
                ssthresh_bytes: bytes(episode.ssthresh),
                cwnd_after_bytes: bytes(episode.cwnd_after),
                spurious: u64::from(episode.spurious),
            });
        }
    }
    table
}
