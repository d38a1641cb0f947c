//! Times of a flow: when it starts, and how far it is from its links.

use super::super::context::TreeTable;
use super::super::error::Result;
use super::super::rules;
use super::super::value::quantity;
use crate::expr::Dimension;
use crate::units::{Duration, Instant};

/// When a flow starts.
pub(super) fn start(table: TreeTable) -> Result<Instant> {
    own(table, "start", rules::start).map(Instant::from_secs)
}

/// What a flow's packets take between its hosts and the links, each way.
pub(super) fn access_delay(table: TreeTable) -> Result<Duration> {
    own(table, "delay", rules::access_delay).map(Duration::from_secs)
}

/// A time of a flow that keeps a rule, or zero.
fn own(table: TreeTable, key: &str, rule: fn(f64, &str) -> Result<()>) -> Result<f64> {
    let Some((json, path)) = table.get(key) else {
        return Ok(0.0);
    };
    let secs = quantity(json, &path, table.context, Dimension::Time)?;
    rule(secs, &path).map(|()| secs)
}
