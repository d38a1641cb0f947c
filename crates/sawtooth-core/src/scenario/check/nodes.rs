//! What nodes between links are asked to do, and cannot.

use super::super::error::{Result, at};
use super::super::origins::{Origins, declared_name};
use crate::impair::Medium;
use crate::spec::{Direction, LinkSpec, Scenario};

/// Nodes can do what they are to do with what comes to them and where it goes.
pub(in crate::scenario) fn check(scenario: &Scenario, origins: &Origins) -> Result<()> {
    let paths = scenario.all_flows().map(|flow| &flow.path);
    let links = &scenario.links;
    for path in paths.chain(scenario.udp.iter().map(|flow| &flow.path)) {
        for pair in path.windows(2) {
            let (first, second) = (&links[pair[0]], &links[pair[1]]);
            node(origins, (first, &first.forward), (second, &second.forward))?;
            node(origins, (second, &second.reverse), (first, &first.reverse))?;
        }
    }
    Ok(())
}

fn node(
    origins: &Origins,
    (link, direction): (&LinkSpec, &Direction),
    (next, onward): (&LinkSpec, &Direction),
) -> Result<()> {
    let forwarding = direction.forwarding;
    let refuse = |message: String, hint: &str| {
        let path = format!("links.{}", declared_name(link));
        let table = origins.link(declared_name(link));
        let reverse = table.and_then(|table| table.get("reverse")?.get("forwarding"));
        let own = reverse.is_some() && std::ptr::eq(direction, &raw const link.reverse);
        let path = if own { format!("{path}.reverse") } else { path };
        Err(at(format!("{path}.forwarding"), message).hint(hint))
    };
    if forwarding.cuts_through() {
        let store = "write forwarding = \"store_and_forward\"";
        for (which, impairments) in [(link, &direction.impairments), (next, &onward.impairments)] {
            if !impairments.is_steady() {
                let message = format!(
                    "what cuts through from link `{}` to `{}` needs to know how long it takes on both, and `{}` has no one rate and delay",
                    link.name, next.name, which.name
                );
                return refuse(message, store);
            }
        }
        if direction.medium != onward.medium {
            let name = |medium: Option<Medium>| medium.map_or("none", Medium::name);
            let message = format!(
                "nothing cuts through from link `{}` to `{}`: their media are {} and {}",
                link.name,
                next.name,
                name(direction.medium),
                name(onward.medium)
            );
            return refuse(message, store);
        }
    }
    if forwarding.per_packet_secs > 0.0 && direction.impairments.may_reorder() {
        let message = format!(
            "`per_packet` takes one packet after the other, and those of link `{}` come in another order, or twice",
            link.name
        );
        return refuse(
            message,
            "take `latency`, or leave out what reorders and doubles packets",
        );
    }
    Ok(())
}
