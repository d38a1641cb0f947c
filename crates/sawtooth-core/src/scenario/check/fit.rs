//! Whether the links of a path let segments and datagrams through: MTUs, and the segments that follow from them.

use serde_json::{Map, Value as Json};

use super::super::error::{Result, at};
use super::super::{FlowSpec, LinkSpec, UdpSpec, declared_name};
use crate::packet_source;
use crate::registry::Value;

/// Segments fit through every link of their flow's path, or are made to where the flow finds out.
pub(in crate::scenario) fn segments<'a>(
    tree: &Map<String, Json>,
    links: &[LinkSpec],
    flows: impl Iterator<Item = &'a mut FlowSpec>,
) -> Result<()> {
    for flow in flows {
        let of_link = |link: &usize| Some((&links[*link], links[*link].forward.mtu?));
        let narrowest = flow.path.iter().filter_map(of_link);
        let asks = flow.tcp.flag("mss_from_mtu");
        let Some((link, mtu)) = narrowest.min_by_key(|(_, mtu)| *mtu) else {
            if asks {
                let message = format!(
                    "segments of flow `{}` are to fit the `mtu` of its path, and no link of that has one",
                    flow.name
                );
                return Err(at(where_told(tree, flow, "mss_from_mtu"), message)
                    .hint("give a link `medium = \"ethernet\"`, or an `mtu`, or flows an `smss`"));
            }
            continue;
        };
        let header = flow.tcp.bytes("header");
        if asks && mtu > header {
            flow.tcp.set("smss", Value::Bytes(mtu - header));
            if !flow.told.contains(&"smss") {
                flow.told.push("smss");
            }
        }
        let smss = flow.tcp.bytes("smss");
        if smss + header <= mtu {
            continue;
        }
        if flow.tcp.flag("path_mtu_discovery") && mtu > header {
            flow.tcp.set("smss", Value::Bytes(mtu - header));
            continue;
        }
        let (name, flow) = (&link.name, &flow.name);
        let message = format!(
            "segments of flow `{flow}` are {} B (smss {smss} B, header {header} B), and link `{name}` carries {mtu} B at most",
            smss + header
        );
        let hint = if mtu > header {
            format!(
                "set tcp.smss = \"{} B\", or tcp.path_mtu_discovery = true",
                mtu - header
            )
        } else {
            "set a larger `mtu`".to_owned()
        };
        return Err(at(format!("links.{}.mtu", declared_name(link)), message).hint(&hint));
    }
    Ok(())
}

/// Where a key of `tcp` is written that a flow has.
fn where_told(tree: &Map<String, Json>, flow: &FlowSpec, key: &str) -> String {
    let own = || {
        let mut json = tree.get(flow.block.split('[').next()?)?;
        for index in flow.block.split('[').skip(1) {
            json = json.get(index.trim_end_matches(']').parse::<usize>().ok()?)?;
        }
        json.get("tcp")?.get(key)
    };
    match own() {
        Some(_) => format!("{}.tcp.{key}", flow.block),
        None => format!("tcp.{key}"),
    }
}

/// Packets of UDP fit through every link of their flow's path: nobody finds out for them.
pub(in crate::scenario) fn datagrams(links: &[LinkSpec], flows: &[UdpSpec]) -> Result<()> {
    for flow in flows {
        let row = packet_source::row(flow.source.name);
        let largest = (row.new.largest_bytes)(&flow.source.params);
        let carried = |link: &&LinkSpec| link.forward.mtu.is_some_and(|mtu| mtu < largest);
        let mut path = flow.path.iter().map(|link| &links[*link]);
        if let Some(link) = path.find(carried) {
            let mtu = link.forward.mtu.unwrap_or(largest);
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
