//! How many there are of a block of flows, links or hosts.

use serde_json::{Map, Value as Json};

use super::{Result, ScenarioError, Scope, at, quantity};
use crate::expr::Dimension;

/// The `count` of a repeated item, if it has one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be a small whole number"
)]
pub(super) fn count(
    table: &Map<String, Json>,
    path: &str,
    scope: Scope,
    least: u32,
) -> Result<Option<usize>> {
    let Some(json) = table.get("count") else {
        return Ok(None);
    };
    let path = format!("{path}.count");
    let value = quantity(json, &path, scope, Dimension::Number)?;
    if value.fract() != 0.0 || !(f64::from(least)..=1e7).contains(&value) {
        return Err(at(
            path,
            format!("a count must be a whole number from {least} to 10000000, found {value}"),
        ));
    }
    Ok(Some(value as usize))
}

#[expect(clippy::cast_precision_loss, reason = "counts are small")]
pub(super) fn counters(count: Option<usize>, i: usize) -> Option<(f64, f64)> {
    count.map(|count| (i as f64, count as f64))
}

/// Every block of flows has a count of 0.
pub(super) fn none() -> ScenarioError {
    let message = "a scenario needs at least one flow, and the count of every block is 0";
    at("flows[0].count", message).hint("leave one block with a count of 1 or more")
}
