//! Times of a flow: when it starts, and how far it is from its links.

use super::super::context::TreeTable;
use super::super::error::{Result, at};
use super::super::value::quantity;
use crate::expr::Dimension;
use crate::units::{Duration, Instant};

/// When a flow starts.
pub(super) fn start(table: TreeTable) -> Result<Instant> {
    own(table, "start", "a flow cannot start before the run").map(Instant::from_secs)
}

/// What a flow's packets take between its hosts and the links, each way.
pub(super) fn access_delay(table: TreeTable) -> Result<Duration> {
    own(table, "delay", "a delay cannot be negative").map(Duration::from_secs)
}

/// A time of a flow, or zero; if it is negative, what is wrong with that.
fn own(table: TreeTable, key: &str, negative: &str) -> Result<f64> {
    let Some((json, path)) = table.get(key) else {
        return Ok(0.0);
    };
    let secs = quantity(json, &path, table.context, Dimension::Time)?;
    if secs < 0.0 {
        let message = format!("{negative}: {secs} s");
        return Err(at(path, message).hint("give a time of zero or more, or leave it out for zero"));
    }
    Ok(secs)
}
