//! Single values of the tree, whichever key they are of: tables, lists, quantities, shares.

use serde_json::{Map, Value as Json};

use super::context::Context;
use super::error::{Result, ScenarioError, at, at_key, in_expression, near_or_all};
use super::rules;
use crate::expr::{self, Dimension, Quantity};

pub(super) fn object<'a>(json: &'a Json, path: &str) -> Result<&'a Map<String, Json>> {
    let name = if path.is_empty() { "a scenario" } else { path };
    json.as_object()
        .ok_or_else(|| at(path, format!("expected a table for {name}")))
}

/// Refuses keys of a table that are not known there.
pub(super) fn check_keys(
    table: &Map<String, Json>,
    known: impl Iterator<Item = &'static str> + Clone,
    path: &str,
) -> Result<()> {
    let is_known = |key: &&String| known.clone().any(|name| name == *key);
    let Some(key) = table.keys().find(|key| !is_known(key)) else {
        return Ok(());
    };
    let full = if path.is_empty() {
        key.clone()
    } else {
        format!("{path}.{key}")
    };
    let known: Vec<&str> = known.collect();
    Err(
        at_key(full, format!("unknown key `{key}`")).hint(&near_or_all(
            key,
            &known,
            "known here: ",
        )),
    )
}

/// What a table says at `key`, or the list that stands for a table with nothing else.
pub(super) fn list_of<'a>(json: &'a Json, key: &str, path: &str) -> Result<(&'a [Json], String)> {
    if let Json::Array(items) = json {
        return Ok((items, path.to_owned()));
    }
    let table = object(json, path)?;
    if table.contains_key("file") {
        let message = "files are read where a study is loaded, and here is none";
        return Err(at(format!("{path}.file"), message)
            .hint(&format!("give what it holds as the list `{key}`")));
    }
    match table.get(key) {
        Some(Json::Array(items)) => Ok((items, format!("{path}.{key}"))),
        Some(_) => Err(at(format!("{path}.{key}"), "expected a list")),
        None => Err(at(path, format!("`{key}` or `file` is missing"))),
    }
}

/// A number, a quantity or an expression.
pub(super) fn any_quantity(json: &Json, path: &str, context: &Context) -> Result<Quantity> {
    match json {
        Json::Number(number) => Ok(Quantity::number(number.as_f64().unwrap_or(f64::NAN))),
        Json::String(text) => {
            expr::evaluate(text, context).map_err(|error| in_expression(path, error))
        }
        _ => Err(at(path, "expected a number, a quantity or an expression")),
    }
}

/// The same, of one dimension.
pub(super) fn quantity(
    json: &Json,
    path: &str,
    context: &Context,
    dimension: Dimension,
) -> Result<f64> {
    let found = any_quantity(json, path, context)?;
    if found.dimension == dimension {
        return Ok(found.value);
    }
    let expected = match dimension {
        Dimension::Number => "a plain number",
        Dimension::Time => "a time such as `20 ms`",
        Dimension::Rate => "a rate such as `10 Mbit/s`",
        Dimension::Bytes => "a size such as `1500 B`",
        Dimension::Packets => "a size such as `50 packets`",
        Dimension::Bdp => "a size such as `1 bdp`",
    };
    Err(wrong_dimension(json, path, expected, found.dimension))
}

pub(super) fn wrong_dimension(
    json: &Json,
    path: &str,
    expected: &str,
    found: Dimension,
) -> ScenarioError {
    let error = at(path, format!("expected {expected}, found {found}"));
    if json.is_number() {
        error.hint("write the value with its unit, in quotes")
    } else {
        error
    }
}

/// Seconds, above zero, of a key of the scenario itself.
pub(super) fn positive_time(json: &Json, key: &str, context: &Context) -> Result<f64> {
    let secs = quantity(json, key, context, Dimension::Time)?;
    rules::above_zero(secs, key).map(|()| secs)
}

/// Seconds, zero or more.
pub(super) fn time(json: &Json, path: &str, context: &Context) -> Result<f64> {
    let secs = quantity(json, path, context, Dimension::Time)?;
    rules::time(secs, path).map(|()| secs)
}

/// A probability; `what` is its key.
pub(super) fn share(json: &Json, path: &str, what: &str, context: &Context) -> Result<f64> {
    let found = quantity(json, path, context, Dimension::Number)?;
    rules::share(found, what, path).map(|()| found)
}
