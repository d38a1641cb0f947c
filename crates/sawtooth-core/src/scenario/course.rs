//! How the rate and the delay of a link change over time, read from its tree.

use serde_json::Value as Json;

use super::impairments::{Table, list_of, share, time};
use super::{Direction, Result, at, at_key, check_keys, keys, object, quantity, set_params};
use crate::expr::Dimension;
use crate::impair::{self, Change, Changes, Span, Walk};
use crate::registry::{Params, Value};

pub(super) fn changes(table: Table) -> Result<Option<Changes>> {
    match (table.get("changes"), table.get("walk")) {
        (Some(_), Some((_, path))) => {
            let message = "a link has `changes` or a `walk`, not both";
            Err(at_key(path, message).hint("leave one of the two out"))
        }
        (Some((json, path)), None) => steps(json, &path, table).map(Some),
        (None, Some((json, path))) => {
            walk(json, &path, table).map(|walk| Some(Changes::Walk(walk)))
        }
        (None, None) => {
            let own = table.has_any(&["rate", "delay", "trace"]);
            let mirror = table.mirror.filter(|_| !own);
            Ok(mirror.and_then(|mirror| mirror.impairments.changes.clone()))
        }
    }
}

/// With a trace there is no other rate.
fn refuse_rate(table: Table, path: String) -> Result<()> {
    let mirrored = table
        .mirror
        .is_some_and(|mirror| mirror.impairments.trace.is_some());
    if table.has_any(&["trace"]) || (mirrored && !table.has_any(&["rate"])) {
        let message = "a link with a `trace` has its rate from it";
        return Err(at_key(path, message).hint("leave one of the two out"));
    }
    Ok(())
}

fn steps(json: &Json, path: &str, table: Table) -> Result<Changes> {
    let scope = table.scope;
    let mut every_secs = None;
    if let Json::Object(keys) = json {
        check_keys(keys, keys::names(keys::CHANGES), path)?;
        if let Some(every) = keys.get("every") {
            every_secs = Some(time(every, &format!("{path}.every"), scope)?);
        }
    }
    let (items, place) = list_of(json, "rows", path)?;
    let mut rows: Vec<Change> = Vec::with_capacity(items.len());
    for (index, json) in items.iter().enumerate() {
        let path = format!("{place}[{index}]");
        let row = change(json, &path, table)?;
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

fn change(json: &Json, path: &str, table: Table) -> Result<Change> {
    let scope = table.scope;
    let keys = object(json, path)?;
    check_keys(keys, keys::names(keys::CHANGE), path)?;
    let get = |key: &str| keys.get(key).map(|json| (json, format!("{path}.{key}")));
    let Some((json, place)) = get("at") else {
        return Err(at(path, "a change needs a time: `at` is missing"));
    };
    let at_secs = time(json, &place, scope)?;
    let mut row = Change {
        at_secs,
        rate_bps: None,
        delay_secs: None,
        loss: None,
    };
    if let Some((json, place)) = get("rate") {
        refuse_rate(table, place.clone())?;
        let rate = quantity(json, &place, scope, Dimension::Rate)?;
        if rate < 0.0 {
            return Err(at(
                place,
                format!("a rate cannot be negative, found {rate} bit/s"),
            ));
        }
        row.rate_bps = Some(rate);
    }
    if let Some((json, place)) = get("delay") {
        row.delay_secs = Some(time(json, &place, scope)?);
    }
    if let Some((json, place)) = get("loss") {
        row.loss = Some(share(json, &place, "loss", scope)?);
    }
    Ok(row)
}

fn walk(json: &Json, path: &str, table: Table) -> Result<Walk> {
    let mut params = Params::defaults(impair::WALK_PARAMS);
    let keys = object(json, path)?;
    let what = "parameter of a walk";
    set_params(
        &mut params,
        impair::WALK_PARAMS,
        keys,
        &[],
        path,
        what,
        table.scope,
    )?;
    let span = |[step, min, max]: [&str; 3]| -> Result<Option<Span>> {
        let number = |key: &str| match params.get(key) {
            Value::Rate(number) | Value::Duration(number) => Some(number),
            _ => None,
        };
        match [number(step), number(min), number(max)] {
            [None, None, None] => Ok(None),
            [Some(most), Some(low), Some(high)] if low < high && most <= high - low => {
                Ok(Some(Span {
                    step: most,
                    min: low,
                    max: high,
                }))
            }
            [Some(_), Some(low), Some(high)] => {
                let (key, message) = if low < high {
                    (
                        step,
                        format!("`{step}` is larger than from `{min}` to `{max}`"),
                    )
                } else {
                    (min, format!("`{min}` must be below `{max}`"))
                };
                Err(at(format!("{path}.{key}"), message))
            }
            _ => Err(at(
                path,
                format!("a walk needs `{step}`, `{min}` and `{max}` together"),
            )),
        }
    };
    let walk = Walk {
        interval_secs: params.duration("interval"),
        rate_bps: span(["rate_step", "rate_min", "rate_max"])?,
        delay_secs: span(["delay_step", "delay_min", "delay_max"])?,
    };
    if walk.rate_bps.is_some() {
        refuse_rate(table, format!("{path}.rate_step"))?;
    }
    if walk.rate_bps.is_none() && walk.delay_secs.is_none() {
        return Err(at(path, "a walk of nothing: neither rate nor delay changes")
            .hint("for example walk = { rate_step = \"1 Mbit/s\", rate_min = \"1 Mbit/s\", rate_max = \"20 Mbit/s\" }"));
    }
    Ok(walk)
}

/// A walk begins between its bounds.
pub(super) fn check_start(direction: &Direction, path: &str) -> Result<()> {
    let Some(Changes::Walk(walk)) = &direction.impairments.changes else {
        return Ok(());
    };
    let outside = |span: Option<Span>, value: f64| {
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

// --- what befalls packets -----------------------------------------------------------------------------------------------
