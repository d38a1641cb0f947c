//! When a link is down: the key `outages`.

use serde_json::Value as Json;

use super::super::context::{Context, TreeTable};
use super::super::error::{Result, at};
use super::super::keys;
use super::super::rules;
use super::super::value::{check_keys, object, time};
use super::side::DirectionTable;
use crate::impair::{Meanwhile, Outage};
use crate::units::{Duration, Instant};

pub(super) fn read(side: DirectionTable) -> Result<Vec<Outage>> {
    let Some((json, path)) = side.get("outages") else {
        let mirror = side.mirrored();
        return Ok(mirror.map_or_else(Vec::new, |mirror| mirror.outages.clone()));
    };
    let Json::Array(items) = json else {
        return Err(at(path, "expected a list of outages")
            .hint("for example outages = [{ from = \"5 s\", until = \"5.2 s\" }]"));
    };
    let items = items.iter().enumerate();
    items
        .map(|(index, json)| outage(json, &format!("{path}[{index}]"), side.table.context))
        .collect()
}

fn outage(json: &Json, path: &str, context: &Context) -> Result<Outage> {
    let keys = object(json, path)?;
    check_keys(keys, keys::names(keys::OUTAGE), path)?;
    let table = TreeTable {
        keys,
        path,
        context,
    };
    let when = |key: &str| {
        let given = table.get(key);
        given
            .map(|(json, place)| time(json, &place, context))
            .transpose()
    };
    let (Some(from_secs), Some(until_secs)) = (when("from")?, when("until")?) else {
        return Err(at(path, "an outage needs `from` and `until`"));
    };
    rules::outage(from_secs, until_secs, &table.place("until"))?;
    let every_secs = when("every")?;
    if let Some(every_secs) = every_secs {
        let length_secs = until_secs - from_secs;
        rules::outage_again(every_secs, length_secs, &table.place("every"))?;
    }
    let packets = match keys.get("packets").map(|json| (json.as_str(), json)) {
        None | Some((Some("lost"), _)) => Meanwhile::Lost,
        Some((Some("wait"), _)) => Meanwhile::Wait,
        Some((_, json)) => {
            let message = format!("packets are \"lost\" or \"wait\", found {json}");
            return Err(at(table.place("packets"), message));
        }
    };
    Ok(Outage {
        from: Instant::from_secs(from_secs),
        until: Instant::from_secs(until_secs),
        every: every_secs.map(Duration::from_secs),
        packets,
    })
}
