//! The links that a flow crosses, and which way: its keys `path` and `direction`.

use serde_json::Value as Json;

use super::super::context::TreeTable;
use super::super::error::{Result, at};
use super::super::groups::Groups;
use super::super::rules;
use super::is_other_word;
use crate::digits::numbered;
use crate::spec::Direction;

/// Which way data crosses the links.
pub(super) fn direction(table: TreeTable) -> Result<Direction> {
    let is_reverse = is_other_word(table, "direction", ["forward", "reverse"])?;
    Ok(if is_reverse {
        Direction::Reverse
    } else {
        Direction::Forward
    })
}

/// The numbers of the links, in their order from one side to the other.
pub(super) fn read(table: TreeTable, links: &Groups) -> Result<Vec<usize>> {
    let example = "for example path = [\"bottleneck\"]";
    let (names, path) = match table.get("path") {
        Some((Json::Array(names), path)) => (names, path),
        Some((_, path)) => return Err(at(path, "expected a list of links").hint(example)),
        None => return Err(at(table.place("path"), "a flow needs a `path`").hint(example)),
    };
    rules::path(names.len(), &path)?;
    let mut route = Vec::with_capacity(names.len());
    for (index, json) in names.iter().enumerate() {
        let path = numbered(&path, index);
        let Json::String(text) = json else {
            return Err(at(path, "expected the name of a link"));
        };
        route.push(links.find(text, &path, table.context)?);
    }
    Ok(route)
}
