//! The links that a flow crosses: its key `path`.

use serde_json::Value as Json;

use super::super::context::TreeTable;
use super::super::error::{Result, at};
use super::super::groups::Groups;
use super::super::rules;

/// The numbers of the links, in the order in which data crosses them.
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
        let path = format!("{path}[{index}]");
        let Json::String(text) = json else {
            return Err(at(path, "expected the name of a link"));
        };
        route.push(links.find(text, &path, table.context)?);
    }
    Ok(route)
}
