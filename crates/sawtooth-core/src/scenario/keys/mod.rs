//! The keys of a scenario, table by table: what the reader accepts, and so what the reference and `sawtooth list key` show.
//!
//! A key that is not here is refused, so a new one begins here. Parameters of parts (of a queue, of TCP ...) are not here: they are rows of
//! the part's own table, in which the reader and the reference find them in the same way.

mod common;
mod flows;
mod key;
mod links;
mod scenario;

pub(super) use common::{EMPIRICAL, PART};
pub(super) use flows::{ARRIVALS, FLOW, FLUID_FLOW, UDP_FLOW};
pub use key::{Missing, ScenarioKey, ScenarioTable, Takes};
pub(super) use links::{CHANGE, CHANGES, DIRECTION, LINK, MEASURED_JITTER, OUTAGE, TRACE};
pub use scenario::RECORD;
pub(super) use scenario::{HOST, KERNEL, SCENARIO, SHORTCUTS};

/// All tables that have keys of their own.
pub const TABLES: &[ScenarioTable] = &[
    ScenarioTable {
        path: "",
        summary: "the scenario",
        keys: &[SCENARIO],
        parameters: None,
    },
    ScenarioTable {
        path: "links.NAME",
        summary: "a link, which has two directions",
        keys: &[DIRECTION, LINK],
        parameters: None,
    },
    ScenarioTable {
        path: "links.NAME.trace",
        summary: "when a link delivers",
        keys: &[TRACE],
        parameters: None,
    },
    ScenarioTable {
        path: "links.NAME.changes",
        summary: "how a link changes",
        keys: &[CHANGES],
        parameters: None,
    },
    ScenarioTable {
        path: "links.NAME.changes.rows[]",
        summary: "what holds from a time on",
        keys: &[CHANGE],
        parameters: None,
    },
    ScenarioTable {
        path: "links.NAME.jitter",
        summary: "jitter with the name `table`, as it was measured",
        keys: &[MEASURED_JITTER],
        parameters: None,
    },
    ScenarioTable {
        path: "links.NAME.outages[]",
        summary: "a time in which a link is down",
        keys: &[OUTAGE],
        parameters: None,
    },
    ScenarioTable {
        path: "flows[]",
        summary: "a flow of TCP: one connection, or with `count` that many. Data crosses the links of its path in order, acknowledgements cross them back",
        keys: &[FLOW],
        parameters: None,
    },
    ScenarioTable {
        path: "flows[] that are a fluid",
        summary: "flows with `model = \"fluid\"`: connections that send without end and are simulated together, an approximation",
        keys: &[FLUID_FLOW],
        parameters: None,
    },
    ScenarioTable {
        path: "flows[] of UDP",
        summary: "a flow with `transport = \"udp\"`: packets that nothing controls",
        keys: &[UDP_FLOW],
        parameters: None,
    },
    ScenarioTable {
        path: "flows[].arrivals",
        summary: "flows that arrive and leave",
        keys: &[ARRIVALS],
        parameters: Some("arrivals"),
    },
    ScenarioTable {
        path: "hosts.NAME",
        summary: "a machine",
        keys: &[HOST],
        parameters: Some("host"),
    },
    ScenarioTable {
        path: "kernel",
        summary: "the real kernel that a run is on; the simulator reads none of it",
        keys: &[KERNEL],
        parameters: Some("kernel"),
    },
    ScenarioTable {
        path: "shortcuts",
        summary: "the simulator's shortcuts; results do not depend on them",
        keys: &[SHORTCUTS],
        parameters: None,
    },
    ScenarioTable {
        path: "a distribution",
        summary: "a distribution with the name `empirical`, wherever a key takes one",
        keys: &[EMPIRICAL],
        parameters: Some("distribution"),
    },
];

/// The names of some keys, in order.
pub(super) fn names(keys: &'static [ScenarioKey]) -> impl Iterator<Item = &'static str> + Clone {
    keys.iter().map(|key| key.name)
}
