//! When a link delivers, as it was measured: the key `trace`.

use std::sync::Arc;

use serde_json::Value as Json;

use super::super::error::{Result, at};
use super::super::keys;
use super::super::rules;
use super::super::value::{check_keys, list_of};
use super::side::DirectionTable;
use crate::impair::Trace;

pub(super) fn read(side: DirectionTable) -> Result<Option<Arc<Trace>>> {
    let Some((json, path)) = side.get("trace") else {
        let mirror = side.mirrored().filter(|_| !side.has("rate"));
        return Ok(mirror.and_then(|mirror| mirror.trace.clone()));
    };
    if side.has("rate") {
        return Err(rules::rate_and_trace(&side.table.place("rate")));
    }
    if let Json::Object(keys) = json {
        check_keys(keys, keys::names(keys::TRACE), &path)?;
    }
    let (items, path) = list_of(json, "opportunities", &path)?;
    let mut millis = Vec::with_capacity(items.len());
    for (index, json) in items.iter().enumerate() {
        let Some(at_millis) = json.as_u64().filter(|millis| *millis < 1 << 50) else {
            let message = format!("expected a whole number of milliseconds, found {json}");
            return Err(at(format!("{path}[{index}]"), message));
        };
        if let Some(before) = millis.last().filter(|before| **before > at_millis) {
            let message = format!("{at_millis} ms comes after {before} ms: times must ascend");
            return Err(at(format!("{path}[{index}]"), message));
        }
        millis.push(at_millis);
    }
    let trace = Trace::new(millis).ok_or_else(|| {
        at(path, "a trace needs an opportunity after 0 ms")
            .hint("its last time is the length of a lap")
    })?;
    Ok(Some(Arc::new(trace)))
}
