//! Sizes of queues that are given in bandwidth-delay products.

use super::error::{Result, at};
use super::{Direction, FlowSpec, LinkSpec, UdpSpec, base_rtt_secs, declared_name};
use crate::registry::Value;
use crate::units::Duration;

/// A size of a queue given in bandwidth-delay products becomes bytes: the link's rate times the smallest round-trip propagation time
/// of the connections that cross it, or if there is none of the flows of UDP.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number of bytes"
)]
pub(super) fn resolve(links: &mut [LinkSpec], flows: &[FlowSpec], udp: &[UdpSpec]) -> Result<()> {
    for index in 0..links.len() {
        let wanted = |direction: &Direction| -> Vec<(&'static str, f64)> {
            let params = direction.queue.params.iter();
            params
                .filter_map(|(key, value)| match value {
                    Value::Bdp(factor) => Some((key, factor)),
                    _ => None,
                })
                .collect()
        };
        let factors = [wanted(&links[index].forward), wanted(&links[index].reverse)];
        let Some((key, _)) = factors.iter().flatten().next() else {
            continue;
        };
        let shortest = |paths: &mut dyn Iterator<Item = (&Vec<usize>, Duration)>| {
            paths
                .filter(|(path, _)| path.contains(&index))
                .map(|(path, delay)| base_rtt_secs(links, path, delay))
                .fold(f64::INFINITY, f64::min)
        };
        let mut rtt = shortest(&mut flows.iter().map(|flow| (&flow.path, flow.delay)));
        if rtt.is_infinite() {
            rtt = shortest(&mut udp.iter().map(|flow| (&flow.path, flow.delay)));
        }
        if !(rtt > 0.0 && rtt.is_finite()) {
            return Err(at(
                format!("links.{}.queue.{key}", declared_name(&links[index])),
                "a limit in bdp needs a flow with a delay across this link",
            )
            .hint("give the limit in packets or bytes"));
        }
        let link = &mut links[index];
        for (direction, factors) in [
            (&mut link.forward, &factors[0]),
            (&mut link.reverse, &factors[1]),
        ] {
            for (key, factor) in factors {
                let bytes = libm::round(direction.rate.bps() * rtt / 8.0 * factor).max(1.0) as u64;
                direction.queue.params.set(key, Value::Bytes(bytes));
            }
        }
    }
    Ok(())
}
