//! Refuses what only a real kernel can run.

use super::super::error::{Result, at};
use super::super::origins::Origins;
use crate::spec::Scenario;

/// No congestion control is that of a kernel.
pub(in crate::scenario) fn check(scenario: &Scenario, origins: &Origins) -> Result<()> {
    for (flow, origin) in scenario.all_flows().zip(origins.all_flows()) {
        if let Some(name) = &flow.kernel_cc {
            let message = format!("`kernel:{name}` is of a real kernel, not of the simulator");
            return Err(at(origin.cc(), message)
                .hint("run it with `--backend uml`, or name one of `sawtooth list cc`"));
        }
    }
    Ok(())
}
