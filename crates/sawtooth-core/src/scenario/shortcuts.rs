//! Switches of the simulator's shortcuts: the key `shortcuts`.

use serde_json::Value as Json;

use super::context::Context;
use super::error::{Result, at};
use super::keys;
use super::value::{check_keys, object};
use crate::spec::Shortcuts;

pub(super) fn read(context: &Context) -> Result<Shortcuts> {
    let json = match context.tree.get("shortcuts") {
        None => return Ok(Shortcuts::all(true)),
        Some(Json::Bool(on)) => return Ok(Shortcuts::all(*on)),
        Some(json) => json,
    };
    let table = object(json, "shortcuts")?;
    check_keys(table, keys::names(keys::SHORTCUTS), "shortcuts")?;
    let mut shortcuts = Shortcuts::all(true);
    for (key, json) in table {
        let Json::Bool(on) = json else {
            return Err(at(format!("shortcuts.{key}"), "expected true or false"));
        };
        match key.as_str() {
            "ring" => shortcuts.ring = *on,
            "no_tx_event" => shortcuts.no_tx_event = *on,
            "computed_hops" => shortcuts.computed_hops = *on,
            _ => shortcuts.plain_way = *on,
        }
    }
    Ok(shortcuts)
}
