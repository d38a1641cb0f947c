//! What a direction of a link loses: the keys `loss` and `drop`.

use serde_json::Value as Json;

use super::super::error::{Result, at};
use super::super::part::row;
use super::super::rules;
use super::super::value::quantity;
use super::side::DirectionTable;
use crate::expr::Dimension;
use crate::loss::{self, LossSpec};

/// Unlike other keys of a direction, the reverse does not take these over.
pub(super) fn read(side: DirectionTable) -> Result<LossSpec> {
    let mut spec = match side.get("loss") {
        Some((json @ Json::Object(_), path)) => {
            let (entry, params) = row(json, loss::TABLE, "loss", &path, side.table.context)?;
            (entry.new)(&params)
        }
        _ => LossSpec {
            probability: side.share("loss")?,
            ..LossSpec::default()
        },
    };
    spec.drop = drop(side)?;
    Ok(spec)
}

/// Numbers of packets, each once and in order.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole and above zero"
)]
fn drop(side: DirectionTable) -> Result<Vec<u64>> {
    let (numbers, path) = match side.get("drop") {
        None => return Ok(Vec::new()),
        Some((Json::Array(numbers), path)) => (numbers, path),
        Some((_, path)) => {
            return Err(at(path, "expected a list of packets")
                .hint("for example drop = [20, 21]: the 20th and the 21st that arrive"));
        }
    };
    let mut drop = Vec::with_capacity(numbers.len());
    for (index, json) in numbers.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let number = quantity(json, &path, side.table.context, Dimension::Number)?;
        rules::packet_number(number, &path)?;
        drop.push(number as u64);
    }
    drop.sort_unstable();
    drop.dedup();
    Ok(drop)
}
