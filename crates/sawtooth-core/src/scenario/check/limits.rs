//! Refuses a scenario that exceeds its limits whatever happens in the run.

use super::super::error::{Result, ScenarioError, at};
use super::super::origins::{Origins, declared_name};
use crate::demand::recurring::{self, LinkTimer, RecurringTimer};
use crate::demand::{CertainMemory, FLOW_BYTES, PERIOD_BYTES, load, rows};
use crate::limits::{counted, how_to_raise};
use crate::spec::Scenario;
use crate::units::Instant;

/// Refuses it at the key that asks for it.
pub(in crate::scenario) fn check(scenario: &Scenario, origins: &Origins) -> Result<()> {
    let limits = &scenario.limits;
    let rows = rows::certain(scenario);
    if rows > limits.rows {
        return Err(too_much("sample", "rows", "rows", rows, limits.rows));
    }
    for one in recurring::all(scenario) {
        if one.times > limits.events {
            let path = place(one.timer, scenario, origins);
            let (found, limit) = (one.times, limits.events);
            return Err(too_much(&path, "events", "events", found, limit));
        }
    }
    arrivals(scenario, origins)?;
    let memory = CertainMemory::of(scenario);
    let bytes = memory.bytes();
    if bytes <= limits.memory_bytes {
        return Ok(());
    }
    let most = recurring::noise(scenario).max_by(|a, b| a.times.total_cmp(&b.times));
    let path = match most {
        Some(one) if one.times * PERIOD_BYTES > bytes / 2.0 => place(one.timer, scenario, origins),
        _ => memory.place().to_owned(),
    };
    let (found, limit) = (memory.words(), counted(limits.memory_bytes));
    let message = format!("this takes {found}; the limit is {limit}");
    Err(at(path, message).hint(&how_to_raise("memory", bytes)))
}

/// Refuses a scenario that a machine with so much memory has too little for, whatever its limits.
pub fn fits_machine(scenario: &Scenario, machine_bytes: f64) -> Result<()> {
    let memory = CertainMemory::of(scenario);
    if memory.bytes() <= machine_bytes {
        return Ok(());
    }
    let (found, limit) = (memory.words(), counted(machine_bytes));
    let message = format!("this takes {found}; this machine has {limit}");
    Err(at(memory.place(), message)
        .hint("take fewer of what it is made of, or a machine with more memory"))
}

/// Of flows that arrive: each takes an event at least, and memory until a link has carried a segment of it.
fn arrivals(scenario: &Scenario, origins: &Origins) -> Result<()> {
    if scenario.arriving.is_empty() {
        return Ok(());
    }
    let (limits, end) = (&scenario.limits, Instant::START + scenario.duration);
    let loads = load::all(scenario);
    let loads = load::arriving(scenario, &loads);
    let arriving = scenario.arriving.iter().zip(&origins.entries.arriving);
    for ((one, origin), load) in arriving.zip(loads) {
        let number = one.arrivals.expected(end);
        let bytes = (number - load.segments).max(0.0) * FLOW_BYTES;
        for (name, what, found, limit) in [
            ("events", "events", number, limits.events),
            ("memory", "bytes of memory", bytes, limits.memory_bytes),
        ] {
            if found > limit {
                return Err(too_much(&origin.key("arrivals"), name, what, found, limit));
            }
        }
    }
    Ok(())
}

/// Where the time is written after which something recurs.
fn place(timer: RecurringTimer, scenario: &Scenario, origins: &Origins) -> String {
    match timer {
        RecurringTimer::Link {
            link,
            is_reverse,
            key,
        } => {
            let name = declared_name(&scenario.links[link]);
            let way = if is_reverse { ".reverse" } else { "" };
            let key = match key {
                LinkTimer::Queue(key) => format!("queue.{key}"),
                LinkTimer::Walk => "walk.interval".to_owned(),
                LinkTimer::Changes => "changes.every".to_owned(),
                LinkTimer::Outage(index) => format!("outages[{index}].every"),
            };
            format!("links.{name}{way}.{key}")
        }
        RecurringTimer::Connection { flow, key } => {
            let tcp = origins.tcp(origins.entries.flows[flow]);
            tcp.place_or_common(key)
        }
        RecurringTimer::Source { flow, key } => {
            origins.entries.udp[flow].key(&format!("source.{key}"))
        }
    }
}

fn too_much(path: &str, name: &str, what: &str, found: f64, limit: f64) -> ScenarioError {
    let message = format!(
        "this takes about {} {what}, and the limit is {}",
        counted(found),
        counted(limit)
    );
    at(path, message).hint(&how_to_raise(name, found))
}
