//! What a direction of a link does besides carrying packets at one rate with one delay.

use serde_json::Value as Json;

use super::super::error::{Result, at};
use super::super::part::row;
use super::side::DirectionTable;
use super::{course, jitter, outages, trace};
use crate::impair::{self, Impairments, Reorder};

/// The impairments of a direction. The reverse has the forward's course of rates and delays, jitter and outages, unless it has its own; what
/// befalls single packets it has of its own only.
pub(super) fn read(side: DirectionTable) -> Result<Impairments> {
    Ok(Impairments {
        duplicate: side.share("duplicate")?,
        corrupt: side.share("corrupt")?,
        trace: trace::read(side)?,
        changes: course::changes(side)?,
        outages: outages::read(side)?,
        jitter: jitter::read(side)?,
        may_overtake: may_overtake(side)?,
        reorder: reorder(side)?,
    })
}

fn may_overtake(side: DirectionTable) -> Result<bool> {
    match side.get("keep_order") {
        Some((Json::Bool(keep), _)) => Ok(!keep),
        Some((_, path)) => Err(at(path, "expected true or false")),
        None => Ok(side.mirrored().is_some_and(|mirror| mirror.may_overtake)),
    }
}

fn reorder(side: DirectionTable) -> Result<Option<Reorder>> {
    let Some((json, path)) = side.get("reorder") else {
        return Ok(None);
    };
    let table = impair::REORDER_TABLE;
    let (entry, params) = row(json, table, "reorder", &path, side.table.context)?;
    Ok(Some((entry.new)(&params)))
}
