//! What packets are put into, how large they may be, and how the node at the end passes them on: `medium`, `mtu` and `forwarding`.

use serde_json::Value as Json;

use super::super::context::Context;
use super::super::error::Result;
use super::super::part::row;
use super::super::rules;
use super::super::value::quantity;
use super::side::DirectionTable;
use crate::expr::Dimension;
use crate::impair::{self, Forwarding, Medium};
use crate::units::ByteCount;

/// What packets are put into; the reverse has the forward's medium, unless it says otherwise.
pub(super) fn read(side: DirectionTable) -> Result<Option<Medium>> {
    let medium = match side.get("medium") {
        Some((json, path)) => own(json, &path, side.table.context)?,
        None => side.mirror.and_then(|mirror| mirror.medium),
    };
    if medium.is_some() && (side.is_traced_with_mirror() || side.has("trace")) {
        let mut keys = ["medium", "trace"].into_iter();
        let key = keys.find(|key| side.has(key));
        let path = key.map_or(side.table.path.to_owned(), |key| side.table.place(key));
        return Err(rules::medium_and_trace(&path));
    }
    Ok(medium)
}

/// What a direction says itself of its medium.
fn own(json: &Json, path: &str, context: &Context) -> Result<Option<Medium>> {
    if json.as_str() == Some("none") {
        return Ok(None);
    }
    let (entry, params) = row(json, impair::MEDIUM_TABLE, "medium", path, context)?;
    Ok(Some((entry.new)(&params)))
}

/// The size of the largest packet that the link carries, in bytes: its own, or that of its medium.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole and above zero"
)]
pub(super) fn mtu(side: DirectionTable) -> Result<Option<ByteCount>> {
    let Some((json, path)) = side.get("mtu") else {
        return match side.get("medium") {
            Some((json, path)) => {
                let medium = own(json, &path, side.table.context)?;
                Ok(medium.map(Medium::mtu))
            }
            None => Ok(side.mirror.and_then(|mirror| mirror.mtu)),
        };
    };
    let bytes = quantity(json, &path, side.table.context, Dimension::Bytes)?;
    rules::mtu(bytes, &path)?;
    Ok(Some(ByteCount::new(bytes as u64)))
}

/// How the node at the end passes packets on; the reverse's node is like the forward's, unless it says otherwise.
pub(super) fn forwarding(side: DirectionTable) -> Result<Forwarding> {
    let Some((json, path)) = side.get("forwarding") else {
        return Ok(side
            .mirror
            .map_or_else(Forwarding::default, |mirror| mirror.forwarding));
    };
    let table = impair::FORWARDING_TABLE;
    let (entry, params) = row(json, table, "forwarding", &path, side.table.context)?;
    Ok((entry.new)(&params))
}
