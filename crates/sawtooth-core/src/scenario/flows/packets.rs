//! Flows with `transport = "udp"`.

use serde_json::Value as Json;

use super::super::context::TreeTable;
use super::super::error::{Result, ScenarioError, at, at_key};
use super::super::groups::Groups;
use super::super::part::part;
use super::super::rules;
use super::super::value::quantity;
use super::{is_other_word, route, when};
use crate::expr::Dimension;
use crate::packet_source::{self, Complaint};
use crate::source;
use crate::spec::{Part, UdpSpec};
use crate::units::{Duration, Instant};

const UNCONTROLLED: &str = "nothing is acknowledged, and nothing controls what it sends";
const NO_MACHINE: &str = "leave it out; only connections have machines";
const SENDS_BY_ITSELF: &str = "leave it out; `source` says when packets leave";

/// Keys of a connection that mean nothing without one, why not, and what there is instead.
const TCP_KEYS: &[(&str, &str, &str)] = &[
    ("cc", UNCONTROLLED, SENDS_BY_ITSELF),
    ("receiver_cc", UNCONTROLLED, SENDS_BY_ITSELF),
    ("tcp", UNCONTROLLED, SENDS_BY_ITSELF),
    (
        "arrivals",
        "they are connections that come and leave",
        "leave it out; the source `poisson` has packets that come at random, `count` several flows, `start` and `stop` their time",
    ),
    ("host", UNCONTROLLED, NO_MACHINE),
    ("receiver_host", UNCONTROLLED, NO_MACHINE),
];

/// Whether a flow is of UDP; with keys that nothing but TCP has, that is a mistake.
pub(super) fn is_udp(table: TreeTable) -> Result<bool> {
    if !is_other_word(table, "transport", ["tcp", "udp"])? {
        return Ok(false);
    }
    match TCP_KEYS.iter().find(|(key, ..)| table.has(key)) {
        None => Ok(true),
        Some((key, why, instead)) => Err(at_key(
            table.place(key),
            format!("a flow of UDP has no `{key}`: {why}"),
        )
        .hint(instead)),
    }
}

/// The flow called `name`, in a run of `duration`.
pub(super) fn read(
    name: String,
    table: TreeTable,
    links: &Groups,
    duration: Duration,
) -> Result<UdpSpec> {
    let (json, place) = own_source(table)?;
    let start = when::start(table)?;
    let flow = UdpSpec {
        name,
        path: route::read(table, links)?,
        direction: route::direction(table)?,
        source: source(json, &place, table)?,
        start,
        stop: stop(table, start, duration)?,
        delay: when::access_delay(table)?,
    };
    let row = packet_source::row(flow.source.name);
    (row.new.check)(&flow.source.params, flow.lifetime())
        .map_err(|complaint| blame(complaint, json, &place))?;
    Ok(flow)
}

fn source(json: &Json, path: &str, table: TreeTable) -> Result<Part> {
    part(
        json,
        packet_source::TABLE,
        "packet_source",
        path,
        table.context,
    )
}

/// What is written of its source, unless there is none, or that of a connection.
fn own_source(table: TreeTable<'_>) -> Result<(&Json, String)> {
    let names = || packet_source::TABLE.iter().map(|entry| entry.name);
    let known = || names().collect::<Vec<_>>().join(", ");
    let Some((json, place)) = table.get("source") else {
        return Err(
            at_key(table.path, "a flow of UDP needs a `source`").hint(&format!(
                "for example source = {{ name = \"constant_rate\", rate = \"1 Mbit/s\" }}; there are {}",
                known()
            )),
        );
    };
    if let Some(named) = named(json, source::TABLE.iter().map(|entry| entry.name))
        && !names().any(|known| known == named)
    {
        return Err(at(
            name_path(json, &place),
            format!("`{named}` writes into a connection of TCP, and this is a flow of UDP"),
        )
        .hint(&format!("for UDP there are {}", known())));
    }
    Ok((json, place))
}

/// When nothing leaves any more: not after the end of the run.
fn stop(table: TreeTable, start: Instant, duration: Duration) -> Result<Instant> {
    let Some((json, path)) = table.get("stop") else {
        return Ok(Instant::from_secs(duration.secs()));
    };
    let stop = quantity(json, &path, table.context, Dimension::Time)?;
    rules::udp_stop(start.secs(), stop, &path)?;
    Ok(Instant::from_secs(stop.min(duration.secs())))
}

/// A source of packets, in a connection.
pub(super) fn refuse_source(json: &Json, path: &str) -> Result<()> {
    let names = packet_source::TABLE.iter().map(|entry| entry.name);
    match named(json, names) {
        None => Ok(()),
        Some(name) => Err(at(
            name_path(json, path),
            format!("`{name}` says when packets leave, and of a connection TCP decides that"),
        )
        .hint("add transport = \"udp\" to the flow; `sawtooth list source` shows what writes into connections")),
    }
}

/// The name that a part is given, if it is one of `names`.
fn named(json: &Json, mut names: impl Iterator<Item = &'static str>) -> Option<&str> {
    let name = json.get("name").unwrap_or(json).as_str()?;
    names.any(|known| known == name).then_some(name)
}

fn name_path(json: &Json, path: &str) -> String {
    if json.is_string() {
        path.to_owned()
    } else {
        format!("{path}.name")
    }
}

/// A complaint at the key that is to blame, if it was written.
fn blame(complaint: Complaint, json: &Json, path: &str) -> ScenarioError {
    let path = match json.get(complaint.key) {
        Some(_) => format!("{path}.{}", complaint.key),
        None => path.to_owned(),
    };
    at(path, complaint.message).hint(complaint.hint)
}
