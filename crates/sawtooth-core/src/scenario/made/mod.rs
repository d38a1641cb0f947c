//! Scenarios that a program has made: what is refused of them, and what is warned of. Rules are those of the reader, which holds them while it reads.
//!
//! A place is told as in a tree, with the links by their names and the flows by their lists: `links.NAME.reverse.rate`, `flows[0].path[1]`, `arriving[0].size`, `udp[2].stop`.

mod flows;
mod links;
mod parts;

use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use super::check;
use super::error::{Result, ScenarioError, at_key};
use super::origins::Origins;
use super::rules;
use super::warnings::warnings;
use crate::host;
use crate::spec::{Sampling, Scenario};

impl Scenario {
    /// Whether the simulator can run it: refuses what [`from_json`](super::from_json) refuses of a text, with the same words. Whoever makes a scenario, or changes one that was read, finds
    /// mistakes so; [`simulate`](crate::simulate) ends in a panic with the first.
    ///
    /// Not checked are [limits](crate::spec::Limits), which are held while it runs.
    ///
    /// # Errors
    /// The first mistake: what is wrong, where, and what to do about it.
    ///
    /// ```
    /// use sawtooth_core::spec::{FlowSpec, LinkSpec, Scenario};
    /// use sawtooth_core::units::{Duration, Rate};
    ///
    /// let link = LinkSpec::new("bottleneck", Rate::from_bps(0.0), Duration::from_secs(0.02));
    /// let flow = FlowSpec::new("download", vec![0]);
    /// let scenario = Scenario::new(Duration::from_secs(10.0), vec![link], vec![flow]);
    /// let error = scenario.check().unwrap_err();
    /// assert_eq!(error.path, "links.bottleneck.rate");
    /// assert_eq!(error.message, "a link's rate must be above zero, found 0 bit/s");
    /// ```
    pub fn check(&self) -> Result<()> {
        let nothing = Map::new();
        let origins = Origins::made(self, &nothing);
        recording(self)?;
        links::all(&self.links)?;
        for (index, host) in self.hosts.iter().enumerate() {
            let path = format!("hosts[{index}]");
            parts::params("host", host::PARAMS, &host.params, &path)?;
        }
        names(self)?;
        flows::connections(self, &origins)?;
        flows::arriving(self)?;
        flows::udp(self)?;
        flows::fluid(self)?;
        check::kernels(self, &origins)?;
        check::segments_fit(self)?;
        check::datagrams(self)?;
        check::nodes(self, &origins)?;
        check::fluid(self, &origins)?;
        check::queues(self, &origins)
    }

    /// What can be run of it, and is hardly meant: each says once what will happen, and where to change it. Warnings of keys that a text has and nothing reads are of
    /// [`warnings`](super::warnings) alone.
    ///
    /// # Panics
    /// Perhaps, of a scenario that [`check`](Self::check) refuses.
    pub fn warnings(&self) -> Vec<ScenarioError> {
        let nothing = Map::<String, Json>::new();
        warnings(self, &Origins::made(self, &nothing))
    }
}

/// How long it runs, and what is recorded.
fn recording(scenario: &Scenario) -> Result<()> {
    rules::above_zero(scenario.duration.secs(), "duration")?;
    if let Sampling::Every(time) = scenario.sample {
        rules::above_zero(time.secs(), "sample")?;
    }
    let record = &scenario.record;
    if record.variables && scenario.sample == Sampling::Never {
        return Err(rules::variables_without_samples("record.variables"));
    }
    if let Some(stretch) = record.packets {
        rules::stretch(stretch, scenario.duration.secs(), "record.packets")?;
    }
    let mut flows = scenario.flows.iter();
    let has_host = flows.any(|flow| flow.host.or(flow.receiver_host).is_some());
    for (is_recorded, word) in [(record.stalls, "stalls"), (record.layers, "layers")] {
        if is_recorded && !has_host {
            let path = format!("record.{word}");
            return Err(rules::recorded_without_host(word, &path));
        }
    }
    Ok(())
}

/// There are flows, and each has a name of its own.
fn names(scenario: &Scenario) -> Result<()> {
    let named = |list: &'static str| move |(at, name)| (format!("{list}[{at}].name"), name);
    let flows = scenario.flows.iter().map(|flow| &flow.name).enumerate();
    let arriving = scenario.arriving.iter().map(|one| &one.flow.name);
    let udp = scenario.udp.iter().map(|flow| &flow.name).enumerate();
    let fluid = scenario.fluid.iter().map(|one| &one.flow.name);
    let all = flows
        .map(named("flows"))
        .chain(arriving.enumerate().map(named("arriving")))
        .chain(udp.map(named("udp")))
        .chain(fluid.enumerate().map(named("fluid")));
    let mut known = BTreeSet::new();
    for (path, name) in all {
        if !known.insert(name) {
            return Err(rules::two_flows(name, &path));
        }
    }
    if known.is_empty() {
        return Err(at_key("flows", rules::NO_FLOW));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
