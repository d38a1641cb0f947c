//! Runs of a scenario that is checked first: what other programs call.

use crate::record::{Effort, Records};
use crate::sim::{self, Stopped};
use crate::spec::Scenario;

/// Runs `scenario` and returns what it measured. The same scenario and seed give the same records on any machine.
///
/// # Panics
/// If [`Scenario::check`] refuses the scenario, with its words; or if the run takes more than the scenario's limits: [`simulate_within_limits`] says so.
pub fn simulate(scenario: &Scenario, seed: u64) -> Records {
    simulate_with_effort(scenario, seed).0
}

/// The same, with what it cost.
///
/// # Panics
/// As [`simulate`].
pub fn simulate_with_effort(scenario: &Scenario, seed: u64) -> (Records, Effort) {
    simulate_within_limits(scenario, seed).unwrap_or_else(|stopped| panic!("{stopped}"))
}

/// What `scenario` measured and what that cost.
///
/// # Errors
/// If it takes more than the scenario's limits.
///
/// # Panics
/// If [`Scenario::check`] refuses the scenario, with its words.
pub fn simulate_within_limits(
    scenario: &Scenario,
    seed: u64,
) -> Result<(Records, Effort), Stopped> {
    scenario.check().unwrap_or_else(|error| panic!("{error}"));
    sim::simulate_within_limits(scenario, seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{FlowSpec, LinkSpec};
    use crate::units::{Duration, Rate};

    #[test]
    #[should_panic(
        expected = "there is no link 1: there are 1 (at flows[0].path[0]); they count from 0"
    )]
    fn a_scenario_that_is_refused_says_why_it_does_not_run() {
        let link = LinkSpec::new("l", Rate::from_bps(1e6), Duration::from_secs(0.01));
        let flow = FlowSpec::new("flow", vec![1]);
        simulate(
            &Scenario::new(Duration::from_secs(1.0), vec![link], vec![flow]),
            1,
        );
    }
}
