//! Reads a scenario as a whole: its parts in order, and then the checks that concern several of them.

use serde_json::Value as Json;

use super::context::{Context, ReadBefore};
use super::error::{Result, ScenarioError};
use super::origins::Origins;
use super::value::{check_keys, object};
use super::vars::Vars;
use super::{bdp, check, flows, hosts, kernel, keys, limits, links, recording, shortcuts};
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
    read_after(tree, None)
}

/// The same, where some of it may have been read `before`.
fn read_after<'a>(tree: &'a Json, before: Option<&ReadBefore>) -> Result<(Scenario, Origins<'a>)> {
    let tree = object(tree, "")?;
    check_keys(tree, keys::names(keys::SCENARIO), "")?;
    let vars = (tree.get("vars").map(|vars| object(vars, "vars"))).transpose()?;
    let vars = Vars::read(vars)?;
    let limits = Limits::new(&limits::limits_of(tree.get("limits"))?);
    let context = &Context::new(tree, &vars).after(before);
    vars.check(context)?;
    let duration = recording::duration(context)?;
    let sample = recording::sampling(context)?;
    let record = recording::read(context, sample, duration)?;
    let (links, groups) = links::read(context, &limits)?;
    let hosts = hosts::read(context, &limits)?;
    let flows = flows::read(context, &groups, &hosts, duration, &limits)?;
    let origins = Origins::new(tree, flows.entries);
    let mut scenario = Scenario {
        sample,
        record,
        arriving: flows.arriving,
        udp: flows.udp,
        fluid: flows.fluid,
        hosts: hosts.all.clone(),
        limits,
        ..Scenario::new(duration, links, flows.standing)
    };
    check::segments(&mut scenario, &origins)?;
    hosts::check_sockets(&scenario.flows, &hosts, context)?;
    check::datagrams(&scenario)?;
    check::nodes(&scenario, &origins)?;
    check::fluid(&scenario, &origins)?;
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
    checked_for_simulator(tree, None)
}

/// The same, where some of it may have been read `before`.
pub(super) fn checked_for_simulator<'a>(
    tree: &'a Json,
    before: Option<&ReadBefore>,
) -> Result<(Scenario, Origins<'a>)> {
    let (scenario, origins) = read_after(tree, before)?;
    check::kernels(&scenario, &origins)?;
    Ok((scenario, origins))
}
