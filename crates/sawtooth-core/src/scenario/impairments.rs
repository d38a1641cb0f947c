//! What a direction of a link has besides a constant rate, a constant delay and a queue, read from its tree.

use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::{
    Direction, LinkSpec, Result, Scope, any_quantity, at, at_key, check_keys, course,
    declared_name, keys, object, part, quantity,
};
use crate::expr::Dimension;
use crate::impair::{self, Forwarding, Impairments, Jitter, Meanwhile, Medium, Outage, Trace};
use crate::loss::{self, LossSpec};
use crate::registry::Params;

/// A direction of a link, and where it is.
#[derive(Clone, Copy)]
pub(super) struct Table<'a> {
    pub keys: &'a Map<String, Json>,
    /// The forward direction, where this is the reverse one.
    pub mirror: Option<&'a Direction>,
    pub path: &'a str,
    pub scope: Scope<'a>,
}

impl<'a> Table<'a> {
    pub(super) fn get(&self, key: &str) -> Option<(&'a Json, String)> {
        let json = self.keys.get(key)?;
        Some((json, format!("{}.{key}", self.path)))
    }

    pub(super) fn has_any(&self, keys: &[&str]) -> bool {
        keys.iter().any(|key| self.keys.contains_key(*key))
    }

    pub(super) fn share(&self, key: &str) -> Result<f64> {
        self.get(key)
            .map_or(Ok(0.0), |(json, path)| share(json, &path, key, self.scope))
    }
}

/// The impairments of a direction. The reverse has the forward's course of rates and delays, jitter and outages, unless it has its own; what
/// befalls single packets it has of its own only.
pub(super) fn read(table: Table) -> Result<Impairments> {
    let mirror = table.mirror.map(|mirror| &mirror.impairments);
    let mut spec = Impairments {
        duplicate: table.share("duplicate")?,
        corrupt: table.share("corrupt")?,
        trace: trace(table)?,
        changes: course::changes(table)?,
        ..Impairments::default()
    };
    spec.outages = match (table.get("outages"), mirror) {
        (Some((json, path)), _) => outages(json, &path, table.scope)?,
        (None, mirror) => mirror.map_or_else(Vec::new, |mirror| mirror.outages.clone()),
    };
    spec.jitter = match (table.get("jitter"), mirror) {
        (Some((Json::String(none), _)), _) if none == "none" => None,
        (Some((json, path)), _) => Some(jitter(json, &path, table.scope)?),
        (None, mirror) => mirror.and_then(|mirror| mirror.jitter.clone()),
    };
    spec.may_overtake = match (table.get("keep_order"), mirror) {
        (Some((Json::Bool(keep), _)), _) => !keep,
        (Some((_, path)), _) => return Err(at(path, "expected true or false")),
        (None, mirror) => mirror.is_some_and(|mirror| mirror.may_overtake),
    };
    if let Some((json, path)) = table.get("reorder") {
        let part = part(json, impair::REORDER_TABLE, "reorder", &path, table.scope)?;
        let entry = impair::REORDER_TABLE
            .iter()
            .find(|row| row.name == part.name);
        spec.reorder = entry.map(|entry| (entry.new)(&part.params));
    }
    Ok(spec)
}

/// The size of the largest packet that the link carries, in bytes.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole and above zero"
)]
pub(super) fn mtu(table: Table) -> Result<Option<u64>> {
    /// RFC 791 §3.2: every module must be able to forward so much.
    const LEAST: f64 = 68.0;
    let Some((json, path)) = table.get("mtu") else {
        return match (table.get("medium"), table.mirror) {
            (Some((json, path)), _) => {
                own_medium(json, &path, table.scope).map(|medium| medium.map(Medium::mtu))
            }
            (None, Some(mirror)) => Ok(mirror.mtu),
            (None, None) => Ok(None),
        };
    };
    let bytes = quantity(json, &path, table.scope, Dimension::Bytes)?;
    if bytes < LEAST || bytes.fract() != 0.0 {
        let message =
            format!("`mtu` is a whole number of bytes, of at least {LEAST}, found {bytes}");
        return Err(at(path, message));
    }
    Ok(Some(bytes as u64))
}

/// What packets are put into; the reverse has the forward's medium, unless it says otherwise.
pub(super) fn medium(table: Table) -> Result<Option<Medium>> {
    let medium = match table.get("medium") {
        Some((json, path)) => own_medium(json, &path, table.scope)?,
        None => table.mirror.and_then(|mirror| mirror.medium),
    };
    let traced = match table.mirror {
        Some(mirror) => mirror.impairments.trace.is_some() && !table.has_any(&["rate"]),
        None => false,
    };
    if medium.is_some() && (traced || table.has_any(&["trace"])) {
        let key = ["medium", "trace"]
            .into_iter()
            .find(|key| table.keys.contains_key(*key));
        let path = key.map_or(table.path.to_owned(), |key| format!("{}.{key}", table.path));
        let message = "a link with a `trace` has no `medium`: the trace says when packets leave";
        return Err(at_key(path, message).hint("leave one of the two out"));
    }
    Ok(medium)
}

/// What a direction says itself of its medium.
fn own_medium(json: &Json, path: &str, scope: Scope) -> Result<Option<Medium>> {
    if json.as_str() == Some("none") {
        return Ok(None);
    }
    let part = part(json, impair::MEDIUM_TABLE, "medium", path, scope)?;
    let entry = impair::MEDIUM_TABLE
        .iter()
        .find(|row| row.name == part.name);
    Ok(entry.map(|entry| (entry.new)(&part.params)))
}

/// How the node at the end passes packets on; the reverse's node is like the forward's, unless it says otherwise.
pub(super) fn forwarding(table: Table) -> Result<Forwarding> {
    let rows = impair::FORWARDING_TABLE;
    let Some((json, path)) = table.get("forwarding") else {
        let mirrored = table.mirror.map(|mirror| mirror.forwarding);
        return Ok(mirrored.unwrap_or_else(|| (rows[0].new)(&Params::defaults(rows[0].params))));
    };
    let part = part(json, rows, "forwarding", &path, table.scope)?;
    let row = rows.iter().find(|row| row.name == part.name);
    Ok((row.unwrap_or(&rows[0]).new)(&part.params))
}

/// Nodes can do what they are to do with what comes to them and where it goes.
pub(super) fn check_nodes<'a>(
    tree: &Map<String, Json>,
    links: &[LinkSpec],
    paths: impl Iterator<Item = &'a Vec<usize>>,
) -> Result<()> {
    for path in paths {
        for pair in path.windows(2) {
            let (first, second) = (&links[pair[0]], &links[pair[1]]);
            check_node(tree, (first, &first.forward), (second, &second.forward))?;
            check_node(tree, (second, &second.reverse), (first, &first.reverse))?;
        }
    }
    Ok(())
}

fn check_node(
    tree: &Map<String, Json>,
    (link, direction): (&LinkSpec, &Direction),
    (next, onward): (&LinkSpec, &Direction),
) -> Result<()> {
    let forwarding = direction.forwarding;
    let refuse = |message: String, hint: &str| {
        let path = format!("links.{}", declared_name(link));
        let table = tree
            .get("links")
            .and_then(|links| links.get(declared_name(link)));
        let reverse = table.and_then(|table| table.get("reverse")?.get("forwarding"));
        let own = reverse.is_some() && std::ptr::eq(direction, &raw const link.reverse);
        let path = if own { format!("{path}.reverse") } else { path };
        Err(at(format!("{path}.forwarding"), message).hint(hint))
    };
    if forwarding.cuts_through() {
        let store = "write forwarding = \"store_and_forward\"";
        for (which, impairments) in [(link, &direction.impairments), (next, &onward.impairments)] {
            if !impairments.is_steady() {
                let message = format!(
                    "what cuts through from link `{}` to `{}` needs to know how long it takes on both, and `{}` has no one rate and delay",
                    link.name, next.name, which.name
                );
                return refuse(message, store);
            }
        }
        if direction.medium != onward.medium {
            let name = |medium: Option<Medium>| medium.map_or("none", Medium::name);
            let message = format!(
                "nothing cuts through from link `{}` to `{}`: their media are {} and {}",
                link.name,
                next.name,
                name(direction.medium),
                name(onward.medium)
            );
            return refuse(message, store);
        }
    }
    if forwarding.per_packet_secs > 0.0 && direction.impairments.may_reorder() {
        let message = format!(
            "`per_packet` takes one packet after the other, and those of link `{}` come in another order, or twice",
            link.name
        );
        return refuse(
            message,
            "take `latency`, or leave out what reorders and doubles packets",
        );
    }
    Ok(())
}

/// What a direction loses; unlike its other keys, the reverse does not take it over.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be whole and above zero"
)]
pub(super) fn losses(table: Table) -> Result<LossSpec> {
    let scope = table.scope;
    let mut spec = match table.get("loss") {
        None => LossSpec::default(),
        Some((json @ Json::Object(_), path)) => {
            let part = part(json, loss::TABLE, "loss", &path, scope)?;
            let entry = loss::TABLE.iter().find(|row| row.name == part.name);
            entry.map_or_else(LossSpec::default, |entry| (entry.new)(&part.params))
        }
        Some((json, path)) => LossSpec {
            probability: share(json, &path, "loss", scope)?,
            ..LossSpec::default()
        },
    };
    let (numbers, path) = match table.get("drop") {
        None => return Ok(spec),
        Some((Json::Array(numbers), path)) => (numbers, path),
        Some((_, path)) => {
            return Err(at(path, "expected a list of packets")
                .hint("for example drop = [20, 21]: the 20th and the 21st that arrive"));
        }
    };
    for (index, json) in numbers.iter().enumerate() {
        let path = format!("{path}[{index}]");
        let number = quantity(json, &path, scope, Dimension::Number)?;
        if number < 1.0 || number.fract() != 0.0 || number > 9e15 {
            return Err(at(
                path,
                format!("packets are counted from 1, found {number}"),
            ));
        }
        spec.drop.push(number as u64);
    }
    spec.drop.sort_unstable();
    spec.drop.dedup();
    Ok(spec)
}

pub(super) fn share(json: &Json, path: &str, what: &str, scope: Scope) -> Result<f64> {
    let found = quantity(json, path, scope, Dimension::Number)?;
    if (0.0..=1.0).contains(&found) {
        Ok(found)
    } else {
        let message = format!("`{what}` is a probability from 0 to 1, found {found}");
        Err(at(path, message))
    }
}

pub(super) fn time(json: &Json, path: &str, scope: Scope) -> Result<f64> {
    let secs = quantity(json, path, scope, Dimension::Time)?;
    if secs < 0.0 {
        return Err(at(
            path,
            format!("a time cannot be negative, found {secs} s"),
        ));
    }
    Ok(secs)
}

/// What a table says at `key`, or the list that stands for a table with nothing else.
pub(super) fn list_of<'a>(json: &'a Json, key: &str, path: &str) -> Result<(&'a [Json], String)> {
    if let Json::Array(items) = json {
        return Ok((items, path.to_owned()));
    }
    let table = object(json, path)?;
    if table.contains_key("file") {
        let message = "files are read where a study is loaded, and here is none";
        return Err(at(format!("{path}.file"), message)
            .hint(&format!("give what it holds as the list `{key}`")));
    }
    match table.get(key) {
        Some(Json::Array(items)) => Ok((items, format!("{path}.{key}"))),
        Some(_) => Err(at(format!("{path}.{key}"), "expected a list")),
        None => Err(at(path, format!("`{key}` or `file` is missing"))),
    }
}

// --- the course of rates and delays -------------------------------------------------------------------------------------

fn trace(table: Table) -> Result<Option<Arc<Trace>>> {
    let Some((json, path)) = table.get("trace") else {
        let mirror = table.mirror.filter(|_| !table.has_any(&["rate"]));
        return Ok(mirror.and_then(|mirror| mirror.impairments.trace.clone()));
    };
    if table.has_any(&["rate"]) {
        let message = "a link with a `trace` has its rate from it";
        return Err(
            at_key(format!("{}.rate", table.path), message).hint("leave one of the two out")
        );
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

fn outages(json: &Json, path: &str, scope: Scope) -> Result<Vec<Outage>> {
    let Json::Array(items) = json else {
        return Err(at(path, "expected a list of outages")
            .hint("for example outages = [{ from = \"5 s\", until = \"5.2 s\" }]"));
    };
    items
        .iter()
        .enumerate()
        .map(|(index, json)| outage(json, &format!("{path}[{index}]"), scope))
        .collect()
}

fn outage(json: &Json, path: &str, scope: Scope) -> Result<Outage> {
    let keys = object(json, path)?;
    check_keys(keys, keys::names(keys::OUTAGE), path)?;
    let when = |key: &str| {
        let place = format!("{path}.{key}");
        let json = keys.get(key);
        json.map(|json| time(json, &place, scope)).transpose()
    };
    let (Some(from_secs), Some(until_secs)) = (when("from")?, when("until")?) else {
        return Err(at(path, "an outage needs `from` and `until`"));
    };
    if until_secs <= from_secs {
        let message = format!("the outage ends at {until_secs} s, and begins at {from_secs} s");
        return Err(at(format!("{path}.until"), message));
    }
    let every_secs = when("every")?;
    if let Some(every) = every_secs.filter(|every| *every <= until_secs - from_secs) {
        let message = format!(
            "an outage every {every} s that takes {} s: the link would never be up",
            until_secs - from_secs
        );
        return Err(at(format!("{path}.every"), message));
    }
    let packets = match keys.get("packets").map(|json| (json.as_str(), json)) {
        None | Some((Some("lost"), _)) => Meanwhile::Lost,
        Some((Some("wait"), _)) => Meanwhile::Wait,
        Some((_, json)) => {
            let message = format!("packets are \"lost\" or \"wait\", found {json}");
            return Err(at(format!("{path}.packets"), message));
        }
    };
    Ok(Outage {
        from_secs,
        until_secs,
        every_secs,
        packets,
    })
}

fn jitter(json: &Json, path: &str, scope: Scope) -> Result<Jitter> {
    let mut json = json.clone();
    let measured = json.as_object_mut().and_then(|table| {
        let by_table = table.get("name").and_then(Json::as_str) == Some("table");
        let mut taken = |key: &str| Some((key.to_owned(), table.remove(key)?));
        by_table.then(|| {
            keys::names(keys::MEASURED_JITTER)
                .filter_map(&mut taken)
                .collect()
        })
    });
    let part = part(&json, impair::JITTER_TABLE, "jitter", path, scope)?;
    let entry = impair::JITTER_TABLE
        .iter()
        .find(|row| row.name == part.name);
    let Some(measured) = measured else {
        let jitter = entry.map(|entry| (entry.new)(&part.params));
        return match jitter {
            Some(jitter) if part.name != "table" => Ok(jitter),
            _ => Err(at(path, "`quantiles` or `file` is missing")),
        };
    };
    let measured = Json::Object(measured);
    let (items, list) = list_of(&measured, "quantiles", path)?;
    let mut found: Vec<f64> = Vec::with_capacity(items.len());
    for (index, json) in items.iter().enumerate() {
        let place = format!("{list}[{index}]");
        let secs = any_quantity(json, &place, scope)?;
        if secs.dimension != Dimension::Time {
            return Err(at(place, "expected a time such as `2 ms`"));
        }
        if found.last().is_some_and(|before| *before > secs.value) {
            return Err(at(place, "quantiles must ascend").hint("sort them"));
        }
        found.push(secs.value);
    }
    if found.len() < 2 {
        return Err(at(list, "a distribution needs at least two quantiles"));
    }
    Ok(Jitter::Table {
        quantiles: found.into(),
    })
}

// --- sizes --------------------------------------------------------------------------------------------------------------

/// What of a direction the kernel's own shaper cannot make.
pub(super) fn beyond_shaper(direction: &Direction) -> Option<&'static str> {
    let impairments = &direction.impairments;
    let found = [
        (
            !direction.loss.drop.is_empty(),
            "the loss of chosen packets",
        ),
        (direction.loss.bursts.is_some(), "losses in bursts"),
        (direction.medium.is_some(), "a `medium`"),
        (!direction.forwarding.is_plain(), "`forwarding`"),
        (impairments.trace.is_some(), "a `trace`"),
        (
            impairments.changes.is_some(),
            "a link that changes over time",
        ),
        (!impairments.outages.is_empty(), "outages"),
        (impairments.jitter.is_some(), "jitter"),
        (impairments.reorder.is_some(), "reordering"),
        (impairments.duplicate > 0.0, "duplicates"),
        (impairments.corrupt > 0.0, "damaged packets"),
    ];
    found
        .iter()
        .find(|(there, _)| *there)
        .map(|(_, what)| *what)
}
