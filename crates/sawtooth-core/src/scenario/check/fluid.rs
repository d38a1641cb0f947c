//! Refuses flows that no fluid can stand for, and links that it cannot cross.

use super::super::error::{Result, at};
use super::super::origins::{Origin, Origins, declared_name};
use crate::impair::{Forwarding, Impairments};
use crate::loss::LossSpec;
use crate::spec::{FlowSpec, LinkSpec, Scenario};
use crate::tcp::key;
use crate::tcp::params::{Feedback, RecoveryKind};

/// Congestion controls whose increase and decrease are constants.
const AIMD: &[&str] = &["reno", "gaimd"];

const BY_PACKETS: &str = "or leave out `model`: then the flows are simulated packet by packet";

/// The law of their windows is one that the equations have, and whatever is on their way does to a fluid what it does to packets.
pub(in crate::scenario) fn check(scenario: &Scenario, origins: &Origins) -> Result<()> {
    for (spec, origin) in scenario.fluid.iter().zip(&origins.entries.fluid) {
        law(&spec.flow, *origin, origins)?;
        for link in &spec.flow.path {
            carries(&scenario.links[*link], &spec.flow)?;
        }
    }
    Ok(())
}

fn law(flow: &FlowSpec, origin: Origin, origins: &Origins) -> Result<()> {
    let name = flow.cc_in_kernel();
    if !AIMD.contains(&name) {
        let message = format!(
            "flows that are a fluid have a window that grows and falls by constants, as those of {}, and `{name}` has another",
            AIMD.join(" and ")
        );
        return Err(at(origin.cc(), message).hint(&format!("set cc = \"reno\", {BY_PACKETS}")));
    }
    let place = |key: &str| origins.tcp(origin).place_or_common(key);
    let recovery = key::recovery.of(&flow.tcp);
    if matches!(recovery, RecoveryKind::Tahoe | RecoveryKind::Reno) {
        let message = format!(
            "flows that are a fluid reduce their windows once for all losses of a round trip, and recovery \"{}\" does not",
            recovery.word()
        );
        let hint = format!("take \"newreno\", \"sack\", \"fack\" or \"rack\", {BY_PACKETS}");
        return Err(at(place(key::recovery.name), message).hint(&hint));
    }
    if key::max_pacing_rate.of(&flow.tcp).is_some() {
        let message = "flows that are a fluid are not paced";
        return Err(at(place(key::max_pacing_rate.name), message)
            .hint(&format!("leave it out, {BY_PACKETS}")));
    }
    if key::ecn.of(&flow.tcp) != Feedback::Off {
        let message = "flows that are a fluid hear of losses only, and of no marks";
        return Err(
            at(place(key::ecn.name), message).hint(&format!("set ecn = \"off\", {BY_PACKETS}"))
        );
    }
    Ok(())
}

/// A link has one rate and one delay, loses nothing, and has a drop-tail queue.
fn carries(link: &LinkSpec, flow: &FlowSpec) -> Result<()> {
    let direction = &link.forward;
    let found = if direction.queue.name != "drop_tail" {
        Some(("queue", format!("a queue `{}`", direction.queue.name)))
    } else if direction.loss != LossSpec::default() {
        Some(("loss", "losses on the wire".to_owned()))
    } else if direction.impairments != Impairments::default() {
        let what = "a rate, a delay or a wire that is not plain";
        Some(("", what.to_owned()))
    } else if direction.medium.is_some() {
        Some(("medium", "a `medium`".to_owned()))
    } else if direction.forwarding != Forwarding::default() {
        Some(("forwarding", "a node with `forwarding`".to_owned()))
    } else {
        None
    };
    let Some((key, what)) = found else {
        return Ok(());
    };
    let name = declared_name(link);
    let place = match key {
        "" => format!("links.{name}"),
        key => format!("links.{name}.{key}"),
    };
    let message = format!(
        "`{}` is a fluid and crosses `{name}`, which has {what}",
        flow.name
    );
    Err(at(place, message).hint(&format!(
        "fluid crosses links with one rate, one delay and a `drop_tail` queue; take that, {BY_PACKETS}"
    )))
}
