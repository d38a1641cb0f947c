//! Parameters in the tree, by the table that lists them.

use serde_json::{Map, Value as Json};

use super::context::TreeTable;
use super::error::{Result, at_key, near_or_all};
use super::keys::ScenarioKey;
use super::{distribution, kind};
use crate::registry::{Kind, Param, Params};

/// Sets what `table` says; keys `besides` parameters are read by others. An unknown one is called `what`.
pub(super) fn set_params(
    params: &mut Params,
    known: &'static [Param],
    table: TreeTable,
    besides: &[ScenarioKey],
    what: &str,
) -> Result<()> {
    let keys = table.keys.iter();
    for (key, json) in keys.filter(|(key, _)| besides.iter().all(|other| other.name != *key)) {
        let path = table.place(key);
        let Some(param) = known.iter().find(|param| param.name == key) else {
            let known: Vec<&str> = known.iter().map(|param| param.name).collect();
            let hint = if known.is_empty() {
                "it has no parameters".to_owned()
            } else {
                near_or_all(key, &known, "known are ")
            };
            return Err(at_key(path, format!("unknown {what} `{key}`")).hint(&hint));
        };
        if let Kind::Distribution(unit) = param.kind {
            distribution::read(params, param, unit, json, &path, table.context)?;
        } else {
            params.set(param.name, kind::value(json, param, &path, table.context)?);
        }
    }
    Ok(())
}

/// Defaults, and what a table says that has nothing but parameters.
pub(super) fn params(known: &'static [Param], table: TreeTable, what: &str) -> Result<Params> {
    params_besides(known, table, &[], what)
}

/// Defaults, and what a table says that has other keys besides.
pub(super) fn params_besides(
    known: &'static [Param],
    table: TreeTable,
    besides: &[ScenarioKey],
    what: &str,
) -> Result<Params> {
    let mut params = Params::defaults(known);
    set_params(&mut params, known, table, besides, what)?;
    Ok(params)
}

/// Refuses everything but a `name`.
pub(super) fn no_parameters(json: &Json, path: &str, whose: &str) -> Result<()> {
    let mut keys = json.as_object().into_iter().flat_map(Map::keys);
    match keys.find(|key| *key != "name") {
        Some(key) => Err(at_key(
            format!("{path}.{key}"),
            format!("{whose} has no parameter `{key}`"),
        )
        .hint("leave it out: parameters of modules are the kernel's own")),
        None => Ok(()),
    }
}
