//! The algorithms' own variables.

use crate::record::rows::VariableRow;
use crate::record::{Table, Text};
use crate::spec::Scenario;
use crate::tcp::sender::Sender;
use crate::units::Instant;

/// The algorithms' own variables, taken with the senders' samples.
#[derive(Debug)]
pub(super) struct VariableSamples {
    /// Of each flow: time, name and value.
    values: Vec<Vec<(Instant, &'static str, f64)>>,
}

impl VariableSamples {
    pub(super) fn new(flows: usize) -> Self {
        Self {
            values: vec![Vec::new(); flows],
        }
    }

    pub(super) fn take(&mut self, flow: u32, time: Instant, sender: &Sender) {
        let values = &mut self.values[flow as usize];
        sender.probe(&mut |name, value| values.push((time, name, value)));
    }

    pub(super) fn rows(&self) -> usize {
        self.values.iter().map(Vec::len).sum()
    }

    pub(super) fn table(&self, scenario: &Scenario) -> Table {
        let mut table = Table::new::<VariableRow>();
        for (flow, values) in scenario.flows.iter().zip(&self.values) {
            let flow = Text::from(flow.name.as_str());
            for (time, name, value) in values {
                table.push(VariableRow::of(&flow, *time, name, *value));
            }
        }
        table
    }
}
