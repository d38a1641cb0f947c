//! Whether the links of a path let segments and datagrams through: MTUs, and the segments that follow from them.

use super::super::error::{Result, ScenarioError, at};
use super::super::origins::{Origins, declared_name};
use super::tcp::receive_buffer;
use crate::packet_source;
use crate::registry::Value;
use crate::spec::{FlowSpec, LinkSpec, Scenario};
use crate::tcp::key;
use crate::units::ByteCount;

/// Segments fit through every link of their flow's path, or are made to where the flow finds out.
pub(in crate::scenario) fn segments(scenario: &mut Scenario, origins: &Origins) -> Result<()> {
    let links = &scenario.links;
    let arriving = scenario.arriving.iter_mut().map(|one| &mut one.flow);
    let fluid = scenario.fluid.iter_mut().map(|one| &mut one.flow);
    let flows = scenario.flows.iter_mut().chain(arriving).chain(fluid);
    for (flow, origin) in flows.zip(origins.all_flows()) {
        let asks = key::mss_from_mtu.of(&flow.tcp);
        let Some((link, mtu)) = narrowest(flow, links) else {
            if asks {
                let message = format!(
                    "segments of flow `{}` are to fit the `mtu` of its path, and no link of that has one",
                    flow.name
                );
                let place = origins.tcp(origin).place_or_common(key::mss_from_mtu.name);
                return Err(at(place, message)
                    .hint("give a link `medium = \"ethernet\"`, or an `mtu`, or flows an `smss`"));
            }
            continue;
        };
        let header = key::header.of(&flow.tcp).get();
        if asks && mtu > header {
            flow.tcp.set(key::smss.name, Value::Bytes(mtu - header));
            if !flow.given.contains(&key::smss.name) {
                flow.given.push(key::smss.name);
            }
            // What was read had another segment.
            receive_buffer(&flow.tcp, &origins.tcp(origin))?;
        }
        let smss = key::smss.of(&flow.tcp).get();
        if smss + header <= mtu {
            continue;
        }
        if !key::path_mtu_discovery.of(&flow.tcp) || mtu <= header {
            return Err(too_long(flow, link, mtu));
        }
        flow.tcp.set(key::smss.name, Value::Bytes(mtu - header));
    }
    Ok(())
}

/// Segments are as they will be, and fit.
pub(in crate::scenario) fn segments_fit(scenario: &Scenario) -> Result<()> {
    for flow in scenario.all_flows() {
        if let Some((link, mtu)) = narrowest(flow, &scenario.links)
            && key::smss.of(&flow.tcp).get() + key::header.of(&flow.tcp).get() > mtu
        {
            return Err(too_long(flow, link, mtu));
        }
    }
    Ok(())
}

/// The link of a flow's path that carries the shortest packets alone, and their bytes; nothing if all carry any.
fn narrowest<'a>(flow: &FlowSpec, links: &'a [LinkSpec]) -> Option<(&'a LinkSpec, u64)> {
    let of_link = |link: &usize| Some((&links[*link], links[*link].forward.mtu?.get()));
    let limited = flow.path.iter().filter_map(of_link);
    limited.min_by_key(|(_, mtu)| *mtu)
}

fn too_long(flow: &FlowSpec, link: &LinkSpec, mtu: u64) -> ScenarioError {
    let (smss, header) = (
        key::smss.of(&flow.tcp).get(),
        key::header.of(&flow.tcp).get(),
    );
    let message = format!(
        "segments of flow `{}` are {} B (smss {smss} B, header {header} B), and link `{}` carries {mtu} B at most",
        flow.name,
        smss + header,
        link.name
    );
    let hint = if mtu > header {
        let most = mtu - header;
        format!("set tcp.smss = \"{most} B\", or tcp.path_mtu_discovery = true")
    } else {
        "set a larger `mtu`".to_owned()
    };
    at(format!("links.{}.mtu", declared_name(link)), message).hint(&hint)
}

/// Packets of UDP fit through every link of their flow's path: nobody finds out for them.
pub(in crate::scenario) fn datagrams(scenario: &Scenario) -> Result<()> {
    for flow in &scenario.udp {
        let row = packet_source::row(flow.source.name);
        let largest = (row.new.largest)(&flow.source.params).get();
        let carried = |link: &&LinkSpec| link.forward.mtu.is_some_and(|mtu| mtu.get() < largest);
        let mut path = flow.path.iter().map(|link| &scenario.links[*link]);
        if let Some(link) = path.find(carried) {
            let mtu = link.forward.mtu.map_or(largest, ByteCount::get);
            let (name, flow, size) = (&link.name, &flow.name, flow.source.params.bytes("size"));
            let message = format!(
                "flow `{flow}` of UDP sends packets of up to {largest} B, and link `{name}` carries {mtu} B at most"
            );
            let hint = if size < largest {
                "set a larger `mtu`, or a source with packets of one size".to_owned()
            } else {
                format!("set a larger `mtu`, or source.size = \"{mtu} B\"")
            };
            return Err(at(format!("links.{}.mtu", declared_name(link)), message).hint(&hint));
        }
    }
    Ok(())
}
