//! Flows in the tree: the list `flows`, of which each entry is a connection, several alike, some that arrive and leave, or UDP.

mod arrivals;
mod congestion;
mod connection;
mod fluid;
mod packets;
mod route;
mod tcp;
mod when;

pub(super) use self::arrivals::offer;

use std::collections::BTreeMap;

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
use crate::spec::{ArrivingSpec, FlowSpec, FluidSpec, UdpSpec};
use crate::units::Duration;

/// All that `flows` says.
#[derive(Default)]
pub(super) struct FlowSpecs {
    pub standing: Vec<FlowSpec>,
    pub arriving: Vec<ArrivingSpec>,
    pub udp: Vec<UdpSpec>,
    pub fluid: Vec<FluidSpec>,
    pub entries: Entries,
}

/// Whether a key of a flow has the other of two words than the one that it has if nothing is said.
fn is_other_word(table: TreeTable, key: &str, [usual, other]: [&str; 2]) -> Result<bool> {
    match table.get(key) {
        None => Ok(false),
        Some((Json::String(word), _)) if word == usual => Ok(false),
        Some((Json::String(word), _)) if word == other => Ok(true),
        Some((Json::String(word), place)) => Err(at(place, format!("unknown {key} `{word}`"))
            .hint(&format!("known are {usual}, {other}"))),
        Some((_, place)) => Err(at(place, format!("expected \"{usual}\" or \"{other}\""))),
    }
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
    let stack = tcp::stack(context)?;
    let mut flows = FlowSpecs::default();
    let mut names = FlowNames::default();
    for (index, json) in entries.iter().enumerate() {
        let path = format!("flows[{index}]");
        let keys = object(json, &path)?;
        let table = TreeTable {
            keys,
            path: &path,
            context,
        };
        let is_udp = packets::is_udp(table)?;
        let is_fluid = !is_udp && fluid::is_fluid(table)?;
        let known = match (is_udp, is_fluid) {
            (true, _) => keys::UDP_FLOW,
            (_, true) => keys::FLUID_FLOW,
            _ => keys::FLOW,
        };
        check_keys(keys, keys::names(known), &path)?;
        let base = name(table, index, entries.len())?;
        let count = count(table, 0)?;
        if is_fluid {
            if !names.take_class(&base) {
                return Err(rules::two_flows(&base, &table.place("name")));
            }
            if count != Some(0) {
                flows
                    .fluid
                    .push(fluid::read(&base, table, count, &stack, links)?);
                flows.entries.fluid.push(origin(table, index));
            }
            continue;
        }
        check_number(names.number, count, table, "flows", limits)?;
        if !names.take(&base, count) {
            return Err(rules::two_flows(&base, &table.place("name")));
        }
        let origin = origin(table, index);
        let (arrivals, on_hosts) = (table.get("arrivals"), hosts::are_named(table));
        if arrivals.is_none() && !is_udp {
            flows.standing.reserve(count.unwrap_or(1));
        }
        let mut connections = connection::Connections::new(&stack, links);
        // Of a count of 0 only the keys are read: what they say may divide by it.
        for (name, context) in context.items(&base, count) {
            let table = TreeTable {
                context: &context,
                ..table
            };
            if is_udp {
                flows.udp.push(packets::read(name, table, links, duration)?);
                flows.entries.udp.push(origin);
                continue;
            }
            let mut flow = connections.read(name, table)?;
            if on_hosts {
                hosts::put_on(&mut flow, table, hosts)?;
            }
            match &arrivals {
                None => {
                    flows.standing.push(flow);
                    flows.entries.flows.push(origin);
                }
                Some((json, path)) => {
                    let arriving = arrivals::read(flow, table, json, path)?;
                    flows.arriving.push(arriving);
                    flows.entries.arriving.push(origin);
                }
            }
        }
    }
    if names.number == 0 {
        let message = "a scenario needs at least one flow, and the count of every block is 0";
        return Err(at("flows[0].count", message).hint("leave one block with a count of 1 or more"));
    }
    Ok(flows)
}

fn origin(table: TreeTable, index: usize) -> Origin {
    Origin {
        entry: index,
        list: "flows",
        has_own_cc: table.has("cc"),
    }
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

/// Names that flows have: no two have the same.
#[derive(Default)]
struct FlowNames {
    number: usize,
    taken: BTreeMap<String, NameUses>,
}

/// How a name is used: by a single flow, and with numbers from 1 up to the greatest.
#[derive(Default)]
struct NameUses {
    single: bool,
    numbered: usize,
}

impl FlowNames {
    /// Takes the name of an entry's flows, unless one of them is another's.
    fn take(&mut self, base: &str, count: Option<usize>) -> bool {
        let is_free = match count {
            Some(0) => true,
            Some(count) => self.take_numbers(base, count),
            None => self.take_single(base),
        };
        self.number += count.unwrap_or(1);
        is_free
    }

    /// `base[1]`, `base[2]` and so on.
    fn take_numbers(&mut self, base: &str, count: usize) -> bool {
        let prefix = format!("{base}[");
        let mut like_it = (self.taken.range(prefix.clone()..))
            .take_while(|(name, _)| name.starts_with(&prefix))
            .filter(|(_, uses)| uses.single);
        let is_one =
            |name: &str| numbered(name).is_some_and(|(of, number)| of == base && number <= count);
        if like_it.any(|(name, _)| is_one(name)) {
            return false;
        }
        let uses = self.taken.entry(base.to_owned()).or_default();
        let is_free = uses.numbered == 0;
        uses.numbered = count;
        is_free
    }

    /// The name of flows that are a fluid, which have no names of their own.
    fn take_class(&mut self, name: &str) -> bool {
        self.number += 1;
        self.take_single(name)
    }

    fn take_single(&mut self, name: &str) -> bool {
        if let Some((base, number)) = numbered(name)
            && (self.taken.get(base)).is_some_and(|uses| number <= uses.numbered)
        {
            return false;
        }
        let uses = self.taken.entry(name.to_owned()).or_default();
        !std::mem::replace(&mut uses.single, true)
    }
}

/// The parts of `name[number]`, as the flows of a block are called.
fn numbered(name: &str) -> Option<(&str, usize)> {
    let (base, rest) = name.rsplit_once('[')?;
    let digits = rest.strip_suffix(']')?;
    let number = digits.parse().ok()?;
    (number > 0 && !digits.starts_with(['0', '+'])).then_some((base, number))
}
