//! How the rate and the delay of a link change over time, read from its tree.

use serde_json::Value as Json;

use super::super::context::TreeTable;
use super::super::error::{Result, at, at_key};
use super::super::keys;
use super::super::params::params;
use super::super::rules;
use super::super::value::{check_keys, list_of, object, quantity, share, time};
use super::side::DirectionTable;
use crate::expr::Dimension;
use crate::impair::{self, Change, Changes, Walk, WalkSpan};
use crate::registry::{Params, Value};
use crate::spec::LinkDirection;
use crate::units::{Duration, Rate};

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
fn refuse_rate(side: DirectionTable, path: &str) -> Result<()> {
    if side.has("trace") || side.is_traced_with_mirror() {
        return Err(rules::rate_and_trace(path));
    }
    Ok(())
}

fn steps(json: &Json, path: &str, side: DirectionTable) -> Result<Changes> {
    let context = side.table.context;
    let mut every = None;
    if let Json::Object(keys) = json {
        check_keys(keys, keys::names(keys::CHANGES), path)?;
        if let Some(json) = keys.get("every") {
            let secs = time(json, &format!("{path}.every"), context)?;
            every = Some(Duration::from_secs(secs));
        }
    }
    let (items, place) = list_of(json, "rows", path)?;
    let mut rows: Vec<Change> = Vec::with_capacity(items.len());
    for (index, json) in items.iter().enumerate() {
        let path = format!("{place}[{index}]");
        let row = change(json, &path, side)?;
        rules::change_follows(rows.last(), &row, &format!("{path}.at"))?;
        rows.push(row);
    }
    rules::changes(&rows, every, &place, &format!("{path}.every"))?;
    Ok(Changes::Table {
        rows: rows.into(),
        every,
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
    let mut row = Change {
        after: Duration::from_secs(time(json, &place, context)?),
        rate: None,
        delay: None,
        loss: None,
    };
    if let Some((json, place)) = table.get("rate") {
        refuse_rate(side, &place)?;
        let rate = quantity(json, &place, context, Dimension::Rate)?;
        rules::changed_rate(rate, &place)?;
        row.rate = Some(Rate::from_bps(rate));
    }
    if let Some((json, place)) = table.get("delay") {
        row.delay = Some(Duration::from_secs(time(json, &place, context)?));
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
    let rate = span(&params, table, "rate_step", "rate_min", "rate_max")?;
    let delay = span(&params, table, "delay_step", "delay_min", "delay_max")?;
    let walk = Walk {
        interval: Duration::from_secs(params.duration("interval")),
        rate: rate.map(|span| span.map(Rate::from_bps)),
        delay: delay.map(|span| span.map(Duration::from_secs)),
    };
    if walk.rate.is_some() {
        refuse_rate(side, &table.place("rate_step"))?;
    }
    if walk.rate.is_none() && walk.delay.is_none() {
        return Err(rules::walk_of_nothing(path));
    }
    Ok(walk)
}

/// How far a walk goes at once, and between which bounds, in the parameters' unit: all three parameters, or none.
fn span(
    params: &Params,
    table: TreeTable,
    step: &str,
    min: &str,
    max: &str,
) -> Result<Option<WalkSpan<f64>>> {
    let number = |key: &str| match params.get(key) {
        Value::Rate(number) | Value::Duration(number) => Some(number),
        _ => None,
    };
    match [number(step), number(min), number(max)] {
        [None, None, None] => Ok(None),
        [Some(most), Some(low), Some(high)] => {
            let span = WalkSpan {
                step: most,
                min: low,
                max: high,
            };
            rules::span(span, [step, min, max], table.path).map(|()| Some(span))
        }
        _ => Err(at(
            table.path,
            format!("a walk needs `{step}`, `{min}` and `{max}` together"),
        )),
    }
}

/// A walk begins between its bounds.
pub(in crate::scenario) fn check_start(direction: &LinkDirection, path: &str) -> Result<()> {
    let Some(Changes::Walk(walk)) = &direction.impairments.changes else {
        return Ok(());
    };
    let what = match (
        is_outside(walk.rate, direction.rate),
        is_outside(walk.delay, direction.delay),
    ) {
        (true, _) => "rate",
        (_, true) => "delay",
        _ => return Ok(()),
    };
    let message =
        format!("the walk begins at the link's own {what}, which is not between its bounds");
    Err(at(format!("{path}.walk"), message))
}

fn is_outside<T: PartialOrd + Copy>(span: Option<WalkSpan<T>>, value: T) -> bool {
    span.is_some_and(|span| !(span.min..=span.max).contains(&value))
}
