//! What hosts remember of connections that have ended ([`MetricsCaches`]), by the paths of a run's flows: those with one path are between the same two hosts.

use std::collections::BTreeMap;

use crate::spec::{Direction, OfAlike, Scenario};
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
        let mut alike = OfAlike::new();
        let keeps: Vec<Keeps> = (scenario.all_flows())
            .map(|spec| alike.of(spec, || key::metrics_cache.of(&spec.tcp)))
            .collect();
        if keeps.iter().all(|each| *each == Keeps::Nothing) {
            return Self {
                caches: None,
                entries: Vec::new(),
            };
        }
        // Where its data go to.
        let mut places: BTreeMap<(&[usize], Direction), usize> = BTreeMap::new();
        let mut of_flow = Vec::new();
        for (at, (spec, keeps)) in scenario.all_flows().zip(keeps).enumerate() {
            if at == scenario.flows.len() {
                // The sides that ask are part of connections that have their place.
                of_flow.resize(standing, (0, Keeps::Nothing));
            }
            let next = places.len();
            let way = (spec.path.as_slice(), spec.direction);
            of_flow.push((*places.entry(way).or_insert(next), keeps));
        }
        of_flow.resize(of_flow.len().max(standing), (0, Keeps::Nothing));
        Self {
            caches: Some(MetricsCaches::new(of_flow.iter().copied())),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registry::Value;
    use crate::sim::world::{World, assemble};
    use crate::spec::{FlowSpec, LinkSpec};
    use crate::tcp::metrics_cache::Inherited;
    use crate::units::testing::{at, secs, window};
    use crate::units::{Rate, WindowSize};

    /// Two flows over the first of two links, and one over the second, whose hosts keep so much.
    fn scenario(keeps: &'static str) -> Scenario {
        let link = |name| LinkSpec::new(name, Rate::from_bps(1e6), secs(0.01));
        let flow = |name, link| {
            let mut flow = FlowSpec::new(name, vec![link]);
            flow.tcp.set("metrics_cache", Value::Choice(keeps));
            flow
        };
        Scenario::new(
            secs(1.0),
            vec![link("one"), link("other")],
            vec![flow("first", 0), flow("next", 0), flow("elsewhere", 1)],
        )
    }

    /// The first flow ends at 1 s, with a threshold of one segment; that with which `flow` begins, and that which the first has left.
    fn inherited(keeps: &'static str, flow: u32, begins: f64) -> [WindowSize; 2] {
        let scenario = scenario(keeps);
        let mut world = assemble(&scenario, 1);
        let World { metrics, flows, .. } = &mut world;
        let ended = &mut flows[0].sender;
        ended.inherit(&Inherited {
            ssthresh: Some(window(1.0)),
            rtt: None,
        });
        metrics.note_end(0, at(1.0), ended);
        let left = (ended.cwnd() / 2.0).trunc().max(window(1.0));
        let sender = &mut flows[flow as usize].sender;
        metrics.begin(flow, at(begins), sender);
        [sender.ssthresh(), left]
    }

    #[test]
    fn a_connection_inherits_the_threshold_of_one_that_has_ended_on_the_same_path() {
        let [begun, left] = inherited("with_ssthresh", 1, 2.0);
        assert_eq!(begun, left);
    }

    #[test]
    fn one_over_other_links_or_before_that_end_begins_as_the_first_did() {
        let fresh = assemble(&scenario("off"), 1).flows[0].sender.ssthresh();
        for (flow, begins) in [(2, 2.0), (1, 0.5)] {
            let [begun, left] = inherited("with_ssthresh", flow, begins);
            assert_eq!(begun, fresh);
            assert!(begun != left);
        }
    }

    #[test]
    fn nothing_is_kept_if_no_flow_asks_for_it() {
        assert!(!PathMetrics::new(&scenario("off"), 3).are_kept());
        assert!(PathMetrics::new(&scenario("default"), 3).are_kept());
        let [begun, left] = inherited("off", 1, 2.0);
        assert!(begun != left);
    }
}
