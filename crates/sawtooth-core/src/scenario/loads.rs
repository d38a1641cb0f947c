//! What flows that arrive offer to the links, together.

use crate::spec::{ArrivingSpec, LinkSpec};

/// Rates that come from loads add up to the link's within rounding.
const ROUNDING: f64 = 1e-9;

/// What is offered to each port so far, bit/s.
pub(super) struct OfferedLoads<'a> {
    links: &'a [LinkSpec],
    offered: Vec<f64>,
}

impl<'a> OfferedLoads<'a> {
    pub(super) fn new(links: &'a [LinkSpec]) -> Self {
        Self {
            links,
            offered: vec![0.0; 2 * links.len()],
        }
    }

    /// An entry of flows is there, too: the first link of its path that is offered more than it can carry, and how many times as much.
    pub(super) fn add(&mut self, one: &ArrivingSpec) -> Option<(&'a LinkSpec, f64)> {
        let (bps, segment) = (one.offered().bps(), one.full_segment().size());
        let mut over = None;
        for link in &one.flow.path {
            let (direction, crossed) = (one.flow.direction, &self.links[*link]);
            let offered = &mut self.offered[direction.port(*link)];
            *offered += bps;
            let load = *offered / crossed.way(direction).packet_rate(segment).bps();
            if load > 1.0 + ROUNDING {
                over = over.or(Some((crossed, load)));
            }
        }
        over
    }
}
