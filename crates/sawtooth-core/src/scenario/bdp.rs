//! Sizes of queues that are given in bandwidth-delay products.

use super::error::{Result, at};
use super::origins::declared_name;
use crate::registry::Value;
use crate::spec::{Direction, Scenario, base_rtt_secs};
use crate::units::Duration;

/// Turns them into bytes: the link's rate times the smallest round-trip propagation time of the connections that cross it, or if there is none of the
/// flows of UDP.
pub(super) fn resolve(scenario: &mut Scenario) -> Result<()> {
    for index in 0..scenario.links.len() {
        let link = &scenario.links[index];
        let factors = [factors(&link.forward), factors(&link.reverse)];
        let Some((key, _)) = factors.iter().flatten().next() else {
            continue;
        };
        let Some(rtt_secs) = shortest_rtt_secs(scenario, index) else {
            return Err(at(
                format!("links.{}.queue.{key}", declared_name(link)),
                "a limit in bdp needs a flow with a delay across this link",
            )
            .hint("give the limit in packets or bytes"));
        };
        let link = &mut scenario.links[index];
        set(&mut link.forward, &factors[0], rtt_secs);
        set(&mut link.reverse, &factors[1], rtt_secs);
    }
    Ok(())
}

/// The parameters of a queue that are bandwidth-delay products, and how many.
fn factors(direction: &Direction) -> Vec<(&'static str, f64)> {
    let params = direction.queue.params.iter();
    params
        .filter_map(|(key, value)| match value {
            Value::Bdp(factor) => Some((key, factor)),
            _ => None,
        })
        .collect()
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number of bytes"
)]
fn set(direction: &mut Direction, factors: &[(&'static str, f64)], rtt_secs: f64) {
    for (key, factor) in factors {
        let bytes = libm::round(direction.rate.bps() * rtt_secs / 8.0 * factor).max(1.0) as u64;
        direction.queue.params.set(key, Value::Bytes(bytes));
    }
}

/// Of the flows that cross a link; nothing if none does, or none that takes any time.
fn shortest_rtt_secs(scenario: &Scenario, link: usize) -> Option<f64> {
    let shortest = |flows: &mut dyn Iterator<Item = (&Vec<usize>, Duration)>| {
        flows
            .filter(|(path, _)| path.contains(&link))
            .map(|(path, delay)| base_rtt_secs(&scenario.links, path, delay))
            .fold(f64::INFINITY, f64::min)
    };
    let mut rtt = shortest(&mut scenario.all_flows().map(|flow| (&flow.path, flow.delay)));
    if rtt.is_infinite() {
        rtt = shortest(&mut scenario.udp.iter().map(|flow| (&flow.path, flow.delay)));
    }
    (rtt > 0.0 && rtt.is_finite()).then_some(rtt)
}
