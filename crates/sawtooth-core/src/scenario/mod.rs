//! How a scenario is read: from the tree that a study file is after substitution to a plain [`Scenario`].
//!
//! What the tree may say is told by `docs/reference/scenario.md`. Every number may be a quantity or an expression over `vars`, and `i` (1 to `count`) where
//! something is repeated. Errors carry the path of the offending value and, within an expression, the place in its text. What errors and warnings that
//! come later need of places stands beside the scenario, in its [`Origins`].
//!
//! From the bottom: [`error`]s; a [`context`] with its variables, in which [`value`]s are read; parameters, checked against their [`kind`]; parts of tables;
//! then what is made of these, `links`, `hosts`, `flows` and the rest; and what contradicts itself in all of it, in `check`.

mod bdp;
mod check;
mod context;
mod distribution;
mod error;
mod flows;
mod for_kernel;
mod groups;
mod hosts;
mod kernel;
pub mod keys;
mod kind;
mod limits;
mod links;
mod origins;
mod params;
mod part;
mod recording;
mod shortcuts;
#[cfg(test)]
mod tests;
mod value;
mod vars;
mod warnings;

use serde_json::Value as Json;

use self::context::Context;
use self::error::at;
pub use self::error::{Result, ScenarioError};
pub use self::for_kernel::for_kernel;
pub use self::limits::limits_of;
pub use self::origins::Origins;
use self::value::{check_keys, object};
use self::vars::Vars;
pub use self::vars::evaluate_over;
pub use self::warnings::warnings;
use crate::limits::Limits;
use crate::spec::Scenario;

/// Makes a scenario from the JSON text of its tree.
pub fn from_json(text: &str) -> Result<Scenario> {
    from_tree(&parse(text)?)
}

/// Makes a scenario from its tree.
pub fn from_tree(tree: &Json) -> Result<Scenario> {
    read(tree).map(|(scenario, _)| scenario)
}

/// The tree of a JSON text.
pub fn parse(text: &str) -> Result<Json> {
    serde_json::from_str(text).map_err(|error| ScenarioError {
        message: format!("not JSON: {error}"),
        ..ScenarioError::default()
    })
}

/// Reads a scenario from its tree, and refuses what contradicts itself or could never work.
pub fn read(tree: &Json) -> Result<(Scenario, Origins<'_>)> {
    let tree = object(tree, "")?;
    check_keys(tree, keys::names(keys::SCENARIO), "")?;
    let vars = Vars::read(tree.get("vars"))?;
    let limits = Limits::new(&limits_of(tree.get("limits"))?);
    let context = &Context::new(tree, &vars);
    vars.check(context)?;
    let duration = recording::duration(context)?;
    let sample = recording::sampling(context)?;
    let record = recording::read(context, sample, duration)?;
    let (links, groups) = links::read(context, &limits)?;
    let hosts = hosts::read(context, &limits)?;
    let flows = flows::read(context, &groups, &hosts, duration, &limits)?;
    let origins = Origins {
        tree,
        entries: flows.entries,
    };
    let mut scenario = Scenario {
        sample,
        record,
        arriving: flows.arriving,
        udp: flows.udp,
        hosts: hosts.all,
        limits,
        ..Scenario::new(duration, links, flows.standing)
    };
    check::segments(&mut scenario, &origins)?;
    check::datagrams(&scenario)?;
    check::nodes(&scenario, &origins)?;
    bdp::resolve(&mut scenario)?;
    check::queues(&scenario, &origins)?;
    flows::offer(&mut scenario, &origins)?;
    recording::check_host_words(&scenario, context)?;
    scenario.kernel = kernel::read(context)?;
    scenario.shortcuts = shortcuts::read(context)?;
    check::limits(&scenario, &origins)?;
    Ok((scenario, origins))
}

/// Reads a scenario for the simulator, and refuses what only a real kernel can run.
pub fn for_simulator(tree: &Json) -> Result<(Scenario, Origins<'_>)> {
    let (scenario, origins) = read(tree)?;
    for (flow, origin) in scenario.all_flows().zip(origins.all_flows()) {
        if let Some(name) = &flow.kernel_cc {
            let message = format!("`kernel:{name}` is of a real kernel, not of the simulator");
            return Err(at(origin.cc(), message)
                .hint("run it with `--backend uml`, or name one of `sawtooth list cc`"));
        }
    }
    Ok((scenario, origins))
}
