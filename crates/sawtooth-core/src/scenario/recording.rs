//! How long a run takes, and what of it is recorded.

use serde_json::Value as Json;

use super::context::Context;
use super::error::{Result, at, at_key, near_or_all};
use super::keys;
use super::rules;
use super::value::{positive_time, quantity};
use crate::expr::Dimension;
use crate::spec::{Recording, Sampling, Scenario, Stretch};
use crate::units::Duration;

/// Those that hosts record.
const HOST_WORDS: &[&str] = &["stalls", "layers"];

/// Those that links record, which are the simulator's own also with real kernels.
pub(super) const LINK_WORDS: &[&str] = &["waits", "link_flows"];

/// How long a run takes.
pub(super) fn duration(context: &Context) -> Result<Duration> {
    let Some(json) = context.tree.get("duration") else {
        return Err(at_key("duration", "a scenario needs a `duration`")
            .hint("for example duration = \"60 s\""));
    };
    positive_time(json, "duration", context).map(Duration::from_secs)
}

/// When the time series take a row.
pub(super) fn sampling(context: &Context) -> Result<Sampling> {
    match context.tree.get("sample") {
        None => Ok(Sampling::Never),
        Some(Json::String(text)) if text == "ack" => Ok(Sampling::Acks),
        Some(json) => {
            let secs = positive_time(json, "sample", context)?;
            Ok(Sampling::Every(Duration::from_secs(secs)))
        }
    }
}

/// What is recorded of a run that takes so long.
pub(super) fn read(context: &Context, sample: Sampling, duration: Duration) -> Result<Recording> {
    let mut record = Recording::default();
    let stretch = stretch(context, duration)?;
    let example = "for example record = [\"variables\", \"episodes\"]";
    let items = match context.tree.get("record") {
        None => &[][..],
        Some(Json::Array(items)) => items,
        Some(_) => return Err(at("record", "expected a list of tables").hint(example)),
    };
    for (index, item) in items.iter().enumerate() {
        let path = format!("record[{index}]");
        let Json::String(word) = item else {
            return Err(at(path, "expected the name of a table").hint(example));
        };
        match word.as_str() {
            "variables" if sample == Sampling::Never => {
                return Err(rules::variables_without_samples(&path));
            }
            "variables" => record.variables = true,
            "episodes" => record.episodes = true,
            "limited" => record.limited = true,
            "transfers" => record.transfers = true,
            "waits" => record.waits = true,
            "link_flows" => record.link_flows = true,
            "packets" => record.packets = Some(stretch),
            "stalls" => record.stalls = true,
            "layers" => record.layers = true,
            _ => {
                let message = format!("`{word}` is no table that can be asked for");
                return Err(at(path, message).hint(&near_or_all(word, keys::RECORD, "there are ")));
            }
        }
    }
    Ok(record)
}

/// Of which part of its time single packets are recorded: all of it, unless keys say otherwise.
fn stretch(context: &Context, duration: Duration) -> Result<Stretch> {
    let read = |key: &str, otherwise: Duration| match context.tree.get(key) {
        Some(json) => quantity(json, key, context, Dimension::Time).map(Duration::from_secs),
        None => Ok(otherwise),
    };
    let from = read("record_from", Duration::default())?;
    let until = read("record_until", duration)?;
    let stretch = Stretch { from, until };
    let key = if context.tree.contains_key("record_from") {
        "record_from"
    } else {
        "record_until"
    };
    rules::stretch(stretch, duration.secs(), key).map(|()| stretch)
}

/// What hosts record takes a flow that has one.
pub(super) fn check_host_words(scenario: &Scenario, context: &Context) -> Result<()> {
    let mut flows = scenario.flows.iter();
    if flows.any(|flow| flow.host.or(flow.receiver_host).is_some()) {
        return Ok(());
    }
    let words = context.tree.get("record").and_then(Json::as_array);
    for (index, word) in words.into_iter().flatten().enumerate() {
        if let Some(word) = word.as_str()
            && HOST_WORDS.contains(&word)
        {
            let path = format!("record[{index}]");
            return Err(rules::recorded_without_host(word, &path));
        }
    }
    Ok(())
}
