//! Sizes of queues that are given in bandwidth-delay products.

use super::error::{Result, at};
use super::origins::declared_name;
use crate::registry::Value;
use crate::spec::{LinkDirection, Scenario, base_rtt};
use crate::units::Duration;

/// Turns them into bytes: the link's rate times the smallest round-trip propagation time of the connections that cross it, or if there is none of the
/// flows of UDP.
pub(super) fn resolve(scenario: &mut Scenario) -> Result<()> {
    let given = |direction| factors(direction).next().is_some();
    let mut links = scenario.links.iter();
    if !links.any(|link| given(&link.forward) || given(&link.reverse)) {
        return Ok(());
    }
    let shortest = shortest_rtts(scenario);
    for (link, rtt) in scenario.links.iter_mut().zip(shortest) {
        let factors: [Vec<_>; 2] =
            [&link.forward, &link.reverse].map(|direction| factors(direction).collect());
        let Some((key, _)) = factors.iter().flatten().next() else {
            continue;
        };
        let Some(rtt_secs) = rtt else {
            return Err(at(
                format!("links.{}.queue.{key}", declared_name(link)),
                "a limit in bdp needs a flow with a delay across this link",
            )
            .hint("give the limit in packets or bytes"));
        };
        set(&mut link.forward, &factors[0], rtt_secs);
        set(&mut link.reverse, &factors[1], rtt_secs);
    }
    Ok(())
}

/// The parameters of a queue that are bandwidth-delay products, and how many.
fn factors(direction: &LinkDirection) -> impl Iterator<Item = (&'static str, f64)> {
    let params = direction.queue.params.iter();
    params.filter_map(|(key, value)| match value {
        Value::Bdp(factor) => Some((key, factor)),
        _ => None,
    })
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number of bytes"
)]
fn set(direction: &mut LinkDirection, factors: &[(&'static str, f64)], rtt_secs: f64) {
    for (key, factor) in factors {
        let bytes = libm::round(direction.rate.bps() * rtt_secs / 8.0 * factor).max(1.0) as u64;
        direction.queue.params.set(key, Value::Bytes(bytes));
    }
}

/// Of each link the shortest round-trip time of the flows that cross it; nothing if none does, or none that takes any time.
fn shortest_rtts(scenario: &Scenario) -> Vec<Option<f64>> {
    let shortest = |flows: &mut dyn Iterator<Item = (&Vec<usize>, Duration)>| {
        let mut shortest = vec![f64::INFINITY; scenario.links.len()];
        for (path, delay) in flows {
            let rtt = base_rtt(&scenario.links, path, delay).secs();
            for link in path {
                shortest[*link] = shortest[*link].min(rtt);
            }
        }
        shortest
    };
    let of_tcp = shortest(&mut scenario.all_flows().map(|flow| (&flow.path, flow.delay)));
    let of_udp = shortest(&mut scenario.udp.iter().map(|flow| (&flow.path, flow.delay)));
    let either = |tcp: f64, udp| if tcp.is_infinite() { udp } else { tcp };
    (of_tcp.into_iter().zip(of_udp))
        .map(|(tcp, udp)| either(tcp, udp))
        .map(|rtt| (rtt > 0.0 && rtt.is_finite()).then_some(rtt))
        .collect()
}
