//! Flows: their links, times, parts and hosts.

use serde_json::Value as Json;

use super::super::error::{Result, at};
use super::super::hosts::{sending, socket_room};
use super::super::origins::Origins;
use super::super::{check, rules};
use super::parts::{distribution, parameter, params_or_known, part};
use crate::arrivals::PARAMS;
use crate::registry::{Unit, Value};
use crate::spec::{FlowSpec, Scenario, UdpSpec};
use crate::units::Instant;
use crate::{cc, packet_source, source, tcp};

/// Connections, also those that arrive.
pub(super) fn connections(scenario: &Scenario, origins: &Origins) -> Result<()> {
    for (flow, origin) in scenario.all_flows().zip(origins.all_flows()) {
        let path = origin.place();
        route(scenario, &flow.path, &path)?;
        rules::start(flow.start.secs(), &format!("{path}.start"))?;
        rules::access_delay(flow.delay.secs(), &format!("{path}.delay"))?;
        let tcp = format!("{path}.tcp");
        params_or_known("tcp", tcp::PARAMS, &flow.tcp, &tcp, is_of_a_stack)?;
        check::tcp(&flow.tcp, &origins.tcp(origin))?;
        let cc = format!("{path}.cc");
        part(&flow.cc, cc::TABLE, "cc", &cc)?;
        check::congestion_control(&flow.cc, &Json::Null, &cc)?;
        part(
            &flow.source,
            source::TABLE,
            "source",
            &format!("{path}.source"),
        )?;
        hosts(scenario, flow, &path)?;
    }
    Ok(())
}

/// Stacks have values that nobody can write, such as headers of no bytes.
fn is_of_a_stack(name: &'static str, value: Value) -> bool {
    let mut lists = tcp::STACKS.iter().flat_map(|stack| stack.values);
    lists.any(|list| list.contains(&(name, value)))
}

/// Links that there are.
fn route(scenario: &Scenario, links: &[usize], path: &str) -> Result<()> {
    rules::path(links.len(), &format!("{path}.path"))?;
    let number = scenario.links.len();
    let Some(index) = links.iter().position(|link| *link >= number) else {
        return Ok(());
    };
    let message = format!("there is no link {}: there are {number}", links[index]);
    Err(at(format!("{path}.path[{index}]"), message).hint("they count from 0"))
}

/// Machines that there are, and that can take the flow.
fn hosts(scenario: &Scenario, flow: &FlowSpec, path: &str) -> Result<()> {
    let number = scenario.hosts.len();
    for (key, host) in [("host", flow.host), ("receiver_host", flow.receiver_host)] {
        if let Some(host) = host.filter(|host| *host >= number) {
            let message = format!("there is no host {host}: there are {number}");
            return Err(at(format!("{path}.{key}"), message).hint("they count from 0"));
        }
    }
    for host in sending(flow) {
        let path = format!("hosts[{host}].socket_memory");
        socket_room(flow, &scenario.hosts[host], &path)?;
    }
    Ok(())
}

/// When flows arrive, and how much they transfer.
pub(super) fn arriving(scenario: &Scenario) -> Result<()> {
    for (index, one) in scenario.arriving.iter().enumerate() {
        let (arrivals, path) = (&one.arrivals, format!("arriving[{index}]"));
        if one.flow.host.or(one.flow.receiver_host).is_some() {
            return Err(rules::host_of_arrivals(&format!("{path}.host")));
        }
        if !(arrivals.rate > 0.0 && arrivals.rate.is_finite()) {
            let message = format!(
                "`rate` must be above zero, found {} per second",
                arrivals.rate
            );
            return Err(at(format!("{path}.rate"), message));
        }
        distribution(&arrivals.size, Unit::Bytes, &format!("{path}.size"))?;
        rules::start(arrivals.start.secs(), &format!("{path}.start"))?;
        // A flow that starts when all is over is warned of.
        if arrivals.start < Instant::START + scenario.duration {
            let (start, stop) = (arrivals.start.secs(), arrivals.stop.secs());
            rules::arrivals_stop(start, stop, &format!("{path}.stop"))?;
        }
        let number = arrivals
            .number
            .map(|number| i64::try_from(number).unwrap_or(i64::MAX));
        let bins = Value::Integer(arrivals.bins_per_decade.into());
        for (key, value) in [
            ("number", number.map_or(Value::None, Value::Integer)),
            ("bins_per_decade", bins),
        ] {
            parameter(PARAMS, key, value, &path)?;
        }
    }
    Ok(())
}

/// Flows of UDP.
pub(super) fn udp(scenario: &Scenario) -> Result<()> {
    for (index, flow) in scenario.udp.iter().enumerate() {
        let path = format!("udp[{index}]");
        route(scenario, &flow.path, &path)?;
        rules::start(flow.start.secs(), &format!("{path}.start"))?;
        rules::access_delay(flow.delay.secs(), &format!("{path}.delay"))?;
        if flow.start < Instant::START + scenario.duration {
            let (start, stop) = (flow.start.secs(), flow.stop.secs());
            rules::udp_stop(start, stop, &format!("{path}.stop"))?;
        }
        packets(flow, &format!("{path}.source"))?;
    }
    Ok(())
}

/// Flows that are a fluid, besides what they have as connections.
pub(super) fn fluid(scenario: &Scenario) -> Result<()> {
    for (index, one) in scenario.fluid.iter().enumerate() {
        let path = format!("fluid[{index}]");
        if one.starts.is_empty() {
            return Err(at(format!("{path}.starts"), "there are no flows in it"));
        }
        for (at, start) in one.starts.iter().enumerate() {
            rules::start(start.secs(), &format!("{path}.starts[{at}]"))?;
        }
        let is_endless = one.flow.source.name == source::TABLE[0].name && one.flow.size().is_none();
        if !is_endless {
            let message = "flows that are a fluid send without end";
            return Err(at(format!("{path}.source"), message));
        }
        if one.flow.host.or(one.flow.receiver_host).is_some() {
            let message = "flows that are a fluid have no hosts";
            return Err(at(format!("{path}.host"), message));
        }
    }
    Ok(())
}

/// What sends the packets of a flow of UDP.
fn packets(flow: &UdpSpec, path: &str) -> Result<()> {
    part(&flow.source, packet_source::TABLE, "packet_source", path)?;
    let row = packet_source::row(flow.source.name);
    (row.new.check)(&flow.source.params, flow.lifetime()).map_err(|complaint| {
        at(format!("{path}.{}", complaint.key), complaint.message).hint(complaint.hint)
    })
}
