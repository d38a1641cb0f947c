//! Refuses what the kernel's own shaper cannot do.

use super::super::error::{Result, at};
use super::super::origins::Origins;
use crate::kernel::{SHAPER, Shaper};
use crate::spec::{LinkDirection, Sampling, Scenario};

/// The kernel's own shaper carries one link of drop-tail queues.
pub(in crate::scenario) fn check(scenario: &Scenario, origins: &Origins) -> Result<()> {
    if SHAPER.of(&scenario.kernel.settings) != Shaper::Kernel {
        return Ok(());
    }
    let advice = "leave out kernel.shaper: the simulator's own links can do it";
    if scenario.links.len() > 1 {
        return Err(at("kernel.shaper", "the kernel's shaper makes one link").hint(advice));
    }
    if scenario.sample == Sampling::Acks {
        let message = "with the kernel's shaper nobody sees an acknowledgement arrive";
        return Err(at("sample", message).hint("sample at a cadence, such as \"10 ms\""));
    }
    if scenario.record.notes_at_links() {
        let message = "the kernel's shaper does not tell what becomes of each packet";
        return Err(at("record", message).hint(advice));
    }
    let mut flows = scenario.all_flows().zip(origins.all_flows());
    if let Some((_, origin)) = flows.find(|(flow, _)| flow.has_access_delay()) {
        let message = "the kernel's shaper knows no `delay` of single flows";
        return Err(at(origin.key("delay"), message).hint(advice));
    }
    for direction in scenario
        .links
        .iter()
        .flat_map(|link| [&link.forward, &link.reverse])
    {
        let what = if direction.queue.name != "drop_tail" {
            format!("the queue `{}`", direction.queue.name)
        } else if let Some(what) = beyond(direction) {
            what.to_owned()
        } else {
            continue;
        };
        return Err(at(
            "kernel.shaper",
            format!("the kernel's shaper cannot make {what}"),
        )
        .hint(advice));
    }
    Ok(())
}

/// What of a direction the kernel's own shaper cannot make.
fn beyond(direction: &LinkDirection) -> Option<&'static str> {
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
