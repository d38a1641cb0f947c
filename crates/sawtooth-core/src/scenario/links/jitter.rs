//! How delays vary from packet to packet: the key `jitter`.

use serde_json::{Map, Value as Json};

use super::super::context::Context;
use super::super::error::{Result, at};
use super::super::keys;
use super::super::part::row;
use super::super::rules;
use super::super::value::{any_quantity, list_of};
use super::side::DirectionTable;
use crate::expr::Dimension;
use crate::impair::{self, Jitter};
use crate::units::Duration;

pub(super) fn read(side: DirectionTable) -> Result<Option<Jitter>> {
    match side.get("jitter") {
        Some((Json::String(none), _)) if none == "none" => Ok(None),
        Some((json, path)) => own(json, &path, side.table.context).map(Some),
        None => Ok(side.mirrored().and_then(|mirror| mirror.jitter.clone())),
    }
}

/// A row of the table, or `table` with the quantiles that were measured, which are no parameters.
fn own(json: &Json, path: &str, context: &Context) -> Result<Jitter> {
    let mut json = json.clone();
    let measured = json.as_object_mut().and_then(|table| {
        let by_table = table.get("name").and_then(Json::as_str) == Some("table");
        by_table.then(|| take(table, keys::names(keys::MEASURED_JITTER)))
    });
    let (entry, params) = row(&json, impair::JITTER_TABLE, "jitter", path, context)?;
    match measured {
        Some(measured) => quantiles(&measured, path, context),
        None if entry.name == "table" => Err(at(path, "`quantiles` or `file` is missing")),
        None => Ok((entry.new)(&params)),
    }
}

/// Moves keys out of a table.
fn take(table: &mut Map<String, Json>, keys: impl Iterator<Item = &'static str>) -> Json {
    let taken = keys.filter_map(|key| Some((key.to_owned(), table.remove(key)?)));
    Json::Object(taken.collect())
}

fn quantiles(measured: &Json, path: &str, context: &Context) -> Result<Jitter> {
    let (items, list) = list_of(measured, "quantiles", path)?;
    let mut found: Vec<f64> = Vec::with_capacity(items.len());
    for (index, json) in items.iter().enumerate() {
        let place = format!("{list}[{index}]");
        let secs = any_quantity(json, &place, context)?;
        if secs.dimension != Dimension::Time {
            return Err(at(place, "expected a time such as `2 ms`"));
        }
        rules::quantile_follows(found.last().copied(), secs.value, &place)?;
        found.push(secs.value);
    }
    rules::quantiles(found.len(), &list)?;
    Ok(Jitter::Table {
        quantiles: found.into_iter().map(Duration::from_secs).collect(),
    })
}
