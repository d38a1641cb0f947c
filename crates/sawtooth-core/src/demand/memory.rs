//! What a run's memory is made of, before anything happens.

use super::{recurring, rows};
use crate::limits::counted;
use crate::spec::Scenario;

/// Bytes of a flow, of a link, of a row until it is stored, and of a period of self-similar traffic while its noise is made. Measured: 3 kB of a flow of the stack
/// `ns2`, 5 kB of one of `linux`, more with what it has under way; 2.4 kB of a link with what it adds to a flow's way.
pub(crate) const FLOW_BYTES: f64 = 6000.0;
const LINK_BYTES: f64 = 2500.0;
pub(crate) const ROW_BYTES: f64 = 400.0;
pub(crate) const PERIOD_BYTES: f64 = 100.0;

/// The memory that is certain: what there is of each sort.
pub(crate) struct CertainMemory([MemoryPart; 4]);

/// Things of one sort.
struct MemoryPart {
    what: &'static str,
    number: f64,
    each_bytes: f64,
}

impl MemoryPart {
    fn bytes(&self) -> f64 {
        self.number * self.each_bytes
    }
}

impl CertainMemory {
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let part = |what, number, each_bytes| MemoryPart {
            what,
            number,
            each_bytes,
        };
        let periods = recurring::noise(scenario).map(|one| one.times).sum();
        let flows = scenario.flows.len() + scenario.udp.len();
        Self([
            part("flow", flows as f64, FLOW_BYTES),
            part("link", scenario.links.len() as f64, LINK_BYTES),
            part("row", rows::certain(scenario), ROW_BYTES),
            part("noise period", periods, PERIOD_BYTES),
        ])
    }

    pub(crate) fn bytes(&self) -> f64 {
        self.0.iter().map(MemoryPart::bytes).sum()
    }

    /// The same without rows, of which there may be more than are certain.
    pub(super) fn bytes_besides_rows(&self) -> f64 {
        let others = self.0.iter().filter(|part| part.what != "row");
        others.map(MemoryPart::bytes).sum()
    }

    /// The key of a scenario that asks for most of it.
    pub(crate) fn place(&self) -> &'static str {
        let most = self.0.iter().max_by(|a, b| a.bytes().total_cmp(&b.bytes()));
        match most.map(|part| part.what) {
            Some("link") => "links",
            Some("row") => "sample",
            _ => "flows",
        }
    }

    /// How much it is, and what it is made of.
    pub(crate) fn words(&self) -> String {
        let some = self.0.iter().filter(|part| part.number >= 1.0);
        let parts: Vec<String> = some
            .map(|part| {
                let (number, each) = (counted(part.number), part.each_bytes);
                let plural = if part.number == 1.0 { "" } else { "s" };
                format!("{number} {}{plural} of {each} B", part.what)
            })
            .collect();
        let bytes = counted(self.bytes());
        format!("about {bytes} bytes of memory: {}", parts.join(", "))
    }
}
