//! The ports of a scenario's links.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Port, Traffic};
use crate::impair::ImpairedWire;
use crate::loss::Loss;
use crate::queue::{self, Site};
use crate::rng::StreamName;
use crate::spec::{Part, Recording, Scenario};
use crate::units::{ByteCount, Instant};

/// The ports of a scenario: of each link the forward one, then the reverse one.
///
/// `computed`: whether departures are computed at arrival, where the queue allows that (see `Port::new`).
pub fn ports(scenario: &Scenario, seed: u64, computed: bool) -> Vec<Port> {
    let mut ports = Vec::with_capacity(2 * scenario.links.len());
    let segments = fluid_segments(scenario);
    for link in &scenario.links {
        for direction in [&link.forward, &link.reverse] {
            let name = StreamName::of(&[&link.name, ".", direction_name(ports.len())]);
            let site = Site {
                rate: direction.rate,
                stream: name.and("/queue").stream(seed),
            };
            let Part { name: row, params } = &direction.queue;
            let queue = queue::build(row, params, site);
            let loss = Loss::new(&direction.loss, seed, name);
            let (initial, end) = (direction.conditions(), Instant::START + scenario.duration);
            let wire = ImpairedWire::new(&direction.impairments, initial, end, seed, name);
            let segment = segments.get(&ports.len());
            let computed = computed && segment.is_none();
            let mut port = Port::new(direction, queue, loss, wire, end, computed);
            if let Some(segment) = segment {
                port.carry_fluid(*segment, name.and("/fluid").stream(seed));
            }
            ports.push(port);
        }
    }
    ports
}

/// The ports that fluid crosses, and the largest segments of it.
fn fluid_segments(scenario: &Scenario) -> BTreeMap<usize, ByteCount> {
    let mut segments: BTreeMap<usize, ByteCount> = BTreeMap::new();
    for spec in &scenario.fluid {
        let segment = spec.law().segment;
        for link in &spec.flow.path {
            let largest = segments.entry(2 * link).or_insert(segment);
            *largest = segment.max(*largest);
        }
    }
    segments
}

/// Gives every port a ledger, if what is recorded takes one. `whose`: of each hop that its packets may be on.
pub fn keep_ledgers(ports: &mut [Port], record: Recording, whose: Vec<Traffic>) {
    if record.notes_at_links() {
        let whose = Arc::from(whose);
        for port in ports {
            port.keep(record, &whose);
        }
    }
}

/// Which way a port's packets go.
pub fn direction_name(port: usize) -> &'static str {
    if port.is_multiple_of(2) {
        "forward"
    } else {
        "reverse"
    }
}
