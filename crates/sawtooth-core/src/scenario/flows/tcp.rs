//! A flow's parameters of TCP: those of the scenario's stack, and what the tables `tcp` of all flows and of its own say.

use serde_json::{Map, Value as Json};

use super::super::context::{Context, TreeTable};
use super::super::error::{Result, at, unknown};
use super::super::params::set_params;
use super::super::value::object;
use crate::registry::{Params, Value};
use crate::tcp::{self, key};

/// The parameters of the scenario's stack.
pub(super) fn stack(context: &Context) -> Result<Params> {
    if let Some(known) = context.before.and_then(|before| before.stack.get()) {
        return Ok(known.clone());
    }
    let stack = written_stack(context.tree)?;
    if let Some(before) = context.before {
        // Nobody has filled it meanwhile.
        let _ = before.stack.set(stack.clone());
    }
    Ok(stack)
}

fn written_stack(tree: &Map<String, Json>) -> Result<Params> {
    let name = match tree.get("stack") {
        None => return Ok(Params::defaults(tcp::PARAMS)),
        Some(Json::String(name)) => name,
        Some(_) => {
            return Err(
                at("stack", "expected the name of a stack").hint("`sawtooth list stack` shows all")
            );
        }
    };
    let Some(stack) = tcp::STACKS.iter().find(|stack| stack.name == name) else {
        let names = tcp::STACKS.iter().map(|stack| stack.name);
        return Err(unknown("stack", "stack", name, names));
    };
    Ok(stack.params())
}

/// All parameters of a flow, and which of those that can be set in kernels the scenario gives itself.
pub(super) fn read(flow: TreeTable, stack: &Params) -> Result<(Params, Vec<&'static str>)> {
    let (mut params, mut given) = (stack.clone(), Vec::new());
    for (json, path) in [
        (flow.context.tree.get("tcp"), "tcp".to_owned()),
        (flow.keys.get("tcp"), flow.place("tcp")),
    ] {
        let Some(json) = json else {
            continue;
        };
        let table = TreeTable {
            keys: object(json, &path)?,
            path: &path,
            context: flow.context,
        };
        set_params(&mut params, tcp::PARAMS, table, &[], "tcp parameter")?;
        resolve_ack_rule(&mut params, table)?;
        let known = tcp::params::kernel_keys().map(|(name, _)| name);
        given.extend(known.filter(|key| table.has(key)));
    }
    Ok((params, given))
}

/// When acknowledgements are sent has two keys; who writes one does not mean the other, which may be the stack's.
fn resolve_ack_rule(tcp: &mut Params, table: TreeTable) -> Result<()> {
    let written = |key: &str| table.keys.get(key).is_some_and(|value| value != "none");
    match (
        written(key::ack_every.name),
        written(key::ack_window_share.name),
    ) {
        (true, true) => Err(at(
            table.place(key::ack_window_share.name),
            "`ack_every` and `ack_window_share` both say when acknowledgements are sent",
        )
        .hint("keep one of them")),
        (true, false) => {
            tcp.set(key::ack_window_share.name, Value::None);
            Ok(())
        }
        _ => Ok(()),
    }
}
