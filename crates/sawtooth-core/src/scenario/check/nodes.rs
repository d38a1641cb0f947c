//! Whether the nodes between links can forward as they are asked to.

use super::super::error::{Result, at};
use super::super::origins::{Origins, declared_name};
use crate::impair::Medium;
use crate::spec::{LinkDirection, LinkSpec, Scenario};
use crate::units::Duration;

/// Nodes can do what they are to do with what comes to them and where it goes.
pub(in crate::scenario) fn check(scenario: &Scenario, origins: &Origins) -> Result<()> {
    let paths = scenario.all_flows().map(|flow| &flow.path);
    let links = &scenario.links;
    for path in paths.chain(scenario.udp.iter().map(|flow| &flow.path)) {
        for pair in path.windows(2) {
            let (first, second) = (&links[pair[0]], &links[pair[1]]);
            node(
                DirectedLink::forward(first),
                DirectedLink::forward(second),
                origins,
            )?;
            node(
                DirectedLink::reverse(second),
                DirectedLink::reverse(first),
                origins,
            )?;
        }
    }
    Ok(())
}

/// A link in one of its directions.
#[derive(Clone, Copy)]
struct DirectedLink<'a> {
    link: &'a LinkSpec,
    is_reverse: bool,
}

impl<'a> DirectedLink<'a> {
    fn forward(link: &'a LinkSpec) -> Self {
        Self {
            link,
            is_reverse: false,
        }
    }

    fn reverse(link: &'a LinkSpec) -> Self {
        Self {
            link,
            is_reverse: true,
        }
    }

    fn direction(self) -> &'a LinkDirection {
        if self.is_reverse {
            &self.link.reverse
        } else {
            &self.link.forward
        }
    }

    /// Where it is written what the node at its end does: the reverse direction may have taken it over.
    fn place(self, origins: &Origins) -> String {
        let name = declared_name(self.link);
        let written = origins.link(name).and_then(|link| link.get("reverse"));
        let has_own = written.is_some_and(|reverse| reverse.get("forwarding").is_some());
        let way = if self.is_reverse && has_own {
            ".reverse"
        } else {
            ""
        };
        format!("links.{name}{way}.forwarding")
    }
}

/// The node between two links.
fn node(from: DirectedLink, to: DirectedLink, origins: &Origins) -> Result<()> {
    let (incoming, outgoing) = (from.direction(), to.direction());
    let refuse = |message: String, hint: &str| Err(at(from.place(origins), message).hint(hint));
    if incoming.forwarding.cuts_through() {
        let store = "write forwarding = \"store_and_forward\"";
        for way in [from, to] {
            if !way.direction().impairments.is_steady() {
                let message = format!(
                    "what cuts through from link `{}` to `{}` needs to know how long it takes on both, and `{}` has no one rate and delay",
                    from.link.name, to.link.name, way.link.name
                );
                return refuse(message, store);
            }
        }
        if incoming.medium != outgoing.medium {
            let name = |medium: Option<Medium>| medium.map_or("none", Medium::name);
            let message = format!(
                "nothing cuts through from link `{}` to `{}`: their media are {} and {}",
                from.link.name,
                to.link.name,
                name(incoming.medium),
                name(outgoing.medium)
            );
            return refuse(message, store);
        }
    }
    if incoming.forwarding.per_packet > Duration::ZERO && incoming.impairments.may_reorder() {
        let message = format!(
            "`per_packet` takes one packet after the other, and those of link `{}` come in another order, or twice",
            from.link.name
        );
        return refuse(
            message,
            "take `latency`, or leave out what reorders and doubles packets",
        );
    }
    Ok(())
}
