//! Flows in the tree: the list `flows`, of which each entry is a connection, several alike, some that arrive and leave, or UDP.

mod arrivals;
mod congestion;
mod connection;
mod packets;
mod route;
mod tcp;
mod when;

pub(super) use self::arrivals::offer;

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::context::{Context, TreeTable};
use super::error::{Result, at, at_key};
use super::groups::{Groups, check_number, count};
use super::hosts::{self, HostSpecs};
use super::keys;
use super::origins::{Entries, Origin};
use super::rules;
use super::value::{check_keys, object};
use crate::limits::Limits;
use crate::spec::{ArrivingSpec, FlowSpec, UdpSpec};
use crate::units::Duration;

/// All that `flows` says.
#[derive(Default)]
pub(super) struct FlowSpecs {
    pub standing: Vec<FlowSpec>,
    pub arriving: Vec<ArrivingSpec>,
    pub udp: Vec<UdpSpec>,
    pub entries: Entries,
}

/// The flows of a run of `duration`.
pub(super) fn read(
    context: &Context,
    links: &Groups,
    hosts: &HostSpecs,
    duration: Duration,
    limits: &Limits,
) -> Result<FlowSpecs> {
    let entries = entries(context.tree)?;
    let stack = tcp::stack(context.tree)?;
    let mut flows = FlowSpecs::default();
    let mut names: BTreeSet<String> = BTreeSet::new();
    for (index, json) in entries.iter().enumerate() {
        let path = format!("flows[{index}]");
        let keys = object(json, &path)?;
        let table = TreeTable {
            keys,
            path: &path,
            context,
        };
        let is_udp = packets::is_udp(table)?;
        let known = if is_udp { keys::UDP_FLOW } else { keys::FLOW };
        check_keys(keys, keys::names(known), &path)?;
        let base = name(table, index, entries.len())?;
        let count = count(table, 0)?;
        check_number(names.len(), count, table, "flows", limits)?;
        let origin = Origin {
            entry: index,
            list: "flows",
            has_own_cc: table.has("cc"),
        };
        // Of a count of 0 only the keys are read: what they say may divide by it.
        for (name, context) in context.items(&base, count) {
            if !names.insert(name.clone()) {
                return Err(rules::two_flows(&base, &table.place("name")));
            }
            let table = TreeTable {
                context: &context,
                ..table
            };
            if is_udp {
                flows.udp.push(packets::read(name, table, links, duration)?);
                flows.entries.udp.push(origin);
                continue;
            }
            let mut flow = connection::read(name, table, &stack, links)?;
            hosts::put_on(&mut flow, table, hosts)?;
            match table.get("arrivals") {
                None => {
                    flows.standing.push(flow);
                    flows.entries.flows.push(origin);
                }
                Some((json, path)) => {
                    let arriving = arrivals::read(flow, table, json, &path)?;
                    flows.arriving.push(arriving);
                    flows.entries.arriving.push(origin);
                }
            }
        }
    }
    if names.is_empty() {
        let message = "a scenario needs at least one flow, and the count of every block is 0";
        return Err(at("flows[0].count", message).hint("leave one block with a count of 1 or more"));
    }
    Ok(flows)
}

fn entries(tree: &Map<String, Json>) -> Result<&[Json]> {
    match tree.get("flows") {
        Some(Json::Array(entries)) if !entries.is_empty() => Ok(entries),
        Some(Json::Array(_)) | None => Err(at_key("flows", rules::NO_FLOW)
            .hint("for example [[scenario.flows]] with path = [\"bottleneck\"]")),
        Some(_) => Err(at("flows", "expected a list of flows").hint("write [[scenario.flows]]")),
    }
}

/// What the flows of an entry are called, without their numbers.
fn name(table: TreeTable, index: usize, entries: usize) -> Result<String> {
    match table.get("name") {
        Some((Json::String(name), _)) if !name.is_empty() => Ok(name.clone()),
        Some((_, path)) => Err(at(path, "expected a name")),
        None if entries == 1 => Ok("flow".to_owned()),
        None => Ok(format!("flow{}", index + 1)),
    }
}
