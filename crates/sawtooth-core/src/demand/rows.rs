//! Rows of a run's tables.

use super::load::Load;
use crate::spec::{Sampling, Scenario};
use crate::units::Instant;

/// Variables of an algorithm, about.
const VARIABLES: f64 = 10.0;
/// Rows of a segment at all layers of two hosts, about.
const LAYER_ROWS: f64 = 20.0;

/// Rows that do not depend on what happens.
pub(crate) fn certain(scenario: &Scenario) -> f64 {
    let connections = scenario.flows.len() as f64;
    let items = connections + (scenario.udp.len() + 2 * scenario.links.len()) as f64;
    let samples = match scenario.sample {
        Sampling::Every(every) => scenario.duration / every + 1.0,
        Sampling::Never | Sampling::Acks => 0.0,
    };
    let variables = if scenario.record.variables {
        VARIABLES
    } else {
        0.0
    };
    items + samples * (items + variables * connections)
}

/// Rows that come with segments, about.
pub(super) fn of_segments(scenario: &Scenario, segments: f64) -> f64 {
    let acks = if scenario.sample == Sampling::Acks {
        1.0
    } else {
        0.0
    };
    let layers = if scenario.record.layers {
        LAYER_ROWS
    } else {
        0.0
    };
    let end = Instant::START + scenario.duration;
    let arrivals = scenario.arriving.iter();
    let arrivals = arrivals.map(|one| one.arrivals.expected(end));
    let transfers: f64 = if scenario.record.transfers {
        arrivals.sum()
    } else {
        0.0
    };
    segments * (acks + layers) + transfers
}

/// Rows of single packets and their acknowledgements at each link, about.
pub(super) fn of_packets(scenario: &Scenario, loads: &[Load]) -> f64 {
    let Some(stretch) = scenario.record.packets else {
        return 0.0;
    };
    let share = (stretch.until - stretch.from) / scenario.duration;
    let crossings = loads
        .iter()
        .map(|load| 2.0 * load.segments * load.path.len() as f64);
    crossings.sum::<f64>() * share.min(1.0)
}
