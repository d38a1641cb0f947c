//! What hosts remember of connections that have ended ([`MetricsCaches`]), by the paths of a run's flows: those with one path are between the same two hosts.

use std::collections::BTreeMap;

use crate::spec::{FlowSpec, Scenario};
use crate::tcp::key;
use crate::tcp::metrics_cache::{Keeps, MetricsCaches};
use crate::tcp::sender::Sender;
use crate::units::Instant;

#[derive(Debug)]
pub(super) struct PathMetrics {
    /// If any flow asks for it.
    caches: Option<MetricsCaches>,
    /// Of each entry of flows that arrive: the number of its path, and what its hosts keep.
    entries: Vec<(usize, Keeps)>,
}

impl PathMetrics {
    /// `standing`: flows that are there all the time, both sides of requests and responses among them.
    pub(super) fn new(scenario: &Scenario, standing: usize) -> Self {
        let keeps = |spec: &FlowSpec| key::metrics_cache.of(&spec.tcp);
        let mut places: BTreeMap<&[usize], usize> = BTreeMap::new();
        let mut of_flow = Vec::new();
        for (at, spec) in scenario.all_flows().enumerate() {
            if at == scenario.flows.len() {
                // The sides that ask are part of connections that have their place.
                of_flow.resize(standing, (0, Keeps::Nothing));
            }
            let next = places.len();
            of_flow.push((*places.entry(&spec.path).or_insert(next), keeps(spec)));
        }
        of_flow.resize(of_flow.len().max(standing), (0, Keeps::Nothing));
        let asked = of_flow.iter().any(|(_, keeps)| *keeps != Keeps::Nothing);
        Self {
            caches: asked.then(|| MetricsCaches::new(of_flow.iter().copied())),
            entries: of_flow.split_off(standing),
        }
    }

    #[inline]
    pub(super) fn are_kept(&self) -> bool {
        self.caches.is_some()
    }

    /// A flow of an entry takes a place.
    pub(super) fn take_place(&mut self, place: u32, entry: u32) {
        if let Some(caches) = &mut self.caches {
            let (path, keeps) = self.entries[entry as usize];
            caches.take_place(place, path, keeps);
        }
    }

    /// A connection begins with what is known.
    pub(super) fn begin(&mut self, flow: u32, time: Instant, sender: &mut Sender) {
        if let Some(caches) = &mut self.caches {
            sender.inherit(&caches.at_start(flow, time));
        }
    }

    /// A connection has ended.
    #[cold]
    #[inline(never)]
    pub(super) fn note_end(&mut self, flow: u32, time: Instant, sender: &Sender) {
        if let Some(caches) = &mut self.caches {
            caches.on_end(flow, time, sender.legacy());
        }
    }
}
