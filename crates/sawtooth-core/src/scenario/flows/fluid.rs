//! Flows with `model = "fluid"`: connections that are simulated together.

use super::super::context::TreeTable;
use super::super::error::{Result, at, at_key};
use super::super::groups::Groups;
use super::connection::Connections;
use super::is_other_word;
use crate::registry::Params;
use crate::spec::{FlowSpec, FluidSpec};

const ENDLESS: &str = "they send without end, from their `start` on";
const NO_PACKETS: &str = "they have no packets that a machine could handle";

/// Keys of a connection that mean nothing where it is part of a fluid, and why.
const PACKET_KEYS: &[(&str, &str)] = &[
    ("source", ENDLESS),
    ("arrivals", ENDLESS),
    ("receiver_cc", "only what they send is simulated"),
    ("host", NO_PACKETS),
    ("receiver_host", NO_PACKETS),
];

/// Whether flows are a fluid; with keys that nothing but packets have, that is a mistake.
pub(super) fn is_fluid(table: TreeTable) -> Result<bool> {
    if !is_other_word(table, "model", ["packets", "fluid"])? {
        return Ok(false);
    }
    match PACKET_KEYS.iter().find(|(key, _)| table.has(key)) {
        None => Ok(true),
        Some((key, why)) => Err(at_key(
            table.place(key),
            format!("flows that are a fluid have no `{key}`: {why}"),
        )
        .hint("leave it out, or leave out `model`: then they are simulated packet by packet")),
    }
}

/// The flows of an entry, `count` of them or one.
pub(super) fn read(
    name: &str,
    table: TreeTable,
    count: Option<usize>,
    stack: &Params,
    links: &Groups,
) -> Result<FluidSpec> {
    let mut connections = Connections::new(stack, links);
    let mut read: Option<FluidSpec> = None;
    for (_, context) in table.context.items("", count) {
        let context = &context;
        let flow = connections.read(name.to_owned(), TreeTable { context, ..table })?;
        let start = flow.start;
        let class = read.get_or_insert_with(|| FluidSpec::new(flow.clone(), 0));
        let common = FlowSpec {
            start: class.flow.start,
            ..flow
        };
        if common != class.flow {
            let message = "flows that are a fluid differ in nothing but their `start`";
            return Err(at(table.path, message)
                .hint("write an entry of `flows` for each path, delay or other value"));
        }
        class.starts.push(start);
    }
    Ok(read.expect("one flow or more"))
}
