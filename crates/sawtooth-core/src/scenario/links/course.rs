//! How the rate and the delay of a link change over time, read from its tree.

use serde_json::Value as Json;

use super::super::context::TreeTable;
use super::super::error::{Result, at, at_key};
use super::super::keys;
use super::super::params::params;
use super::super::value::{check_keys, list_of, object, quantity, share, time};
use super::side::DirectionTable;
use crate::expr::Dimension;
use crate::impair::{self, Change, Changes, Walk, WalkSpan};
use crate::registry::{Params, Value};
use crate::spec::LinkDirection;

pub(super) fn changes(side: DirectionTable) -> Result<Option<Changes>> {
    match (side.get("changes"), side.get("walk")) {
        (Some(_), Some((_, path))) => {
            let message = "a link has `changes` or a `walk`, not both";
            Err(at_key(path, message).hint("leave one of the two out"))
        }
        (Some((json, path)), None) => steps(json, &path, side).map(Some),
        (None, Some((json, path))) => walk(json, &path, side).map(|walk| Some(Changes::Walk(walk))),
        (None, None) => {
            let own = ["rate", "delay", "trace"].iter().any(|key| side.has(key));
            let mirror = side.mirrored().filter(|_| !own);
            Ok(mirror.and_then(|mirror| mirror.changes.clone()))
        }
    }
}

/// With a trace there is no other rate.
fn refuse_rate(side: DirectionTable, path: String) -> Result<()> {
    if side.has("trace") || side.is_traced_with_mirror() {
        let message = "a link with a `trace` has its rate from it";
        return Err(at_key(path, message).hint("leave one of the two out"));
    }
    Ok(())
}

fn steps(json: &Json, path: &str, side: DirectionTable) -> Result<Changes> {
    let context = side.table.context;
    let mut every_secs = None;
    if let Json::Object(keys) = json {
        check_keys(keys, keys::names(keys::CHANGES), path)?;
        if let Some(every) = keys.get("every") {
            every_secs = Some(time(every, &format!("{path}.every"), context)?);
        }
    }
    let (items, place) = list_of(json, "rows", path)?;
    let mut rows: Vec<Change> = Vec::with_capacity(items.len());
    for (index, json) in items.iter().enumerate() {
        let path = format!("{place}[{index}]");
        let row = change(json, &path, side)?;
        if let Some(before) = rows.last().filter(|before| before.at_secs >= row.at_secs) {
            let (here, before) = (row.at_secs, before.at_secs);
            let message = format!("{here} s comes after {before} s: times must ascend");
            return Err(at(format!("{path}.at"), message));
        }
        rows.push(row);
    }
    let Some(last) = rows.last() else {
        return Err(at(place, "a table of changes needs a row")
            .hint("for example changes = [{ at = \"5 s\", rate = \"2 Mbit/s\" }]"));
    };
    if let Some(every) = every_secs.filter(|every| *every <= last.at_secs) {
        let message = format!(
            "the table cannot start again after {every} s: it goes on to {} s",
            last.at_secs
        );
        return Err(at(format!("{path}.every"), message));
    }
    Ok(Changes::Table {
        rows: rows.into(),
        every_secs,
    })
}

fn change(json: &Json, path: &str, side: DirectionTable) -> Result<Change> {
    let context = side.table.context;
    let keys = object(json, path)?;
    check_keys(keys, keys::names(keys::CHANGE), path)?;
    let table = TreeTable {
        keys,
        path,
        context,
    };
    let Some((json, place)) = table.get("at") else {
        return Err(at(path, "a change needs a time: `at` is missing"));
    };
    let at_secs = time(json, &place, context)?;
    let mut row = Change {
        at_secs,
        rate_bps: None,
        delay_secs: None,
        loss: None,
    };
    if let Some((json, place)) = table.get("rate") {
        refuse_rate(side, place.clone())?;
        let rate = quantity(json, &place, context, Dimension::Rate)?;
        if rate < 0.0 {
            return Err(at(
                place,
                format!("a rate cannot be negative, found {rate} bit/s"),
            ));
        }
        row.rate_bps = Some(rate);
    }
    if let Some((json, place)) = table.get("delay") {
        row.delay_secs = Some(time(json, &place, context)?);
    }
    if let Some((json, place)) = table.get("loss") {
        row.loss = Some(share(json, &place, "loss", context)?);
    }
    Ok(row)
}

fn walk(json: &Json, path: &str, side: DirectionTable) -> Result<Walk> {
    let table = TreeTable {
        keys: object(json, path)?,
        path,
        context: side.table.context,
    };
    let params = params(impair::WALK_PARAMS, table, "parameter of a walk")?;
    let walk = Walk {
        interval_secs: params.duration("interval"),
        rate_bps: span(&params, table, "rate_step", "rate_min", "rate_max")?,
        delay_secs: span(&params, table, "delay_step", "delay_min", "delay_max")?,
    };
    if walk.rate_bps.is_some() {
        refuse_rate(side, table.place("rate_step"))?;
    }
    if walk.rate_bps.is_none() && walk.delay_secs.is_none() {
        return Err(at(path, "a walk of nothing: neither rate nor delay changes")
            .hint("for example walk = { rate_step = \"1 Mbit/s\", rate_min = \"1 Mbit/s\", rate_max = \"20 Mbit/s\" }"));
    }
    Ok(walk)
}

/// How far a walk goes at once, and between which bounds: all three parameters, or none.
fn span(
    params: &Params,
    table: TreeTable,
    step: &str,
    min: &str,
    max: &str,
) -> Result<Option<WalkSpan>> {
    let number = |key: &str| match params.get(key) {
        Value::Rate(number) | Value::Duration(number) => Some(number),
        _ => None,
    };
    match [number(step), number(min), number(max)] {
        [None, None, None] => Ok(None),
        [Some(_), Some(low), Some(high)] if low >= high => Err(at(
            table.place(min),
            format!("`{min}` must be below `{max}`"),
        )),
        [Some(most), Some(low), Some(high)] if most > high - low => Err(at(
            table.place(step),
            format!("`{step}` is larger than from `{min}` to `{max}`"),
        )),
        [Some(step), Some(min), Some(max)] => Ok(Some(WalkSpan { step, min, max })),
        _ => Err(at(
            table.path,
            format!("a walk needs `{step}`, `{min}` and `{max}` together"),
        )),
    }
}

/// A walk begins between its bounds.
pub(super) fn check_start(direction: &LinkDirection, path: &str) -> Result<()> {
    let Some(Changes::Walk(walk)) = &direction.impairments.changes else {
        return Ok(());
    };
    let outside = |span: Option<WalkSpan>, value: f64| {
        span.is_some_and(|span| !(span.min..=span.max).contains(&value))
    };
    let what = match (
        outside(walk.rate_bps, direction.rate.bps()),
        outside(walk.delay_secs, direction.delay.secs()),
    ) {
        (true, _) => "rate",
        (_, true) => "delay",
        _ => return Ok(()),
    };
    let message =
        format!("the walk begins at the link's own {what}, which is not between its bounds");
    Err(at(format!("{path}.walk"), message))
}
