//! Samples of a sender after every acknowledgement that it gets.

use super::sender_sample::SenderSample;
use crate::record::Table;
use crate::record::rows::SeriesRow;
use crate::sim::flow::Flow;
use crate::spec::Scenario;
use crate::units::ns;

/// The state after every acknowledgement.
#[derive(Debug)]
pub(super) struct AckTrace {
    /// Of each flow: time, and the sender's state.
    pub(super) acks: Vec<Vec<(f64, SenderSample)>>,
    /// Of each flow: time, and bytes delivered from then on. Receivers may be ahead of senders.
    pub(super) deliveries: Vec<Vec<(f64, u64)>>,
}

impl AckTrace {
    pub(super) fn new(flows: usize) -> Self {
        Self {
            acks: vec![Vec::new(); flows],
            deliveries: vec![Vec::new(); flows],
        }
    }

    pub(super) fn rows(&self) -> usize {
        self.acks.iter().map(Vec::len).sum()
    }

    pub(super) fn series_table(&self, scenario: &Scenario, flows: &[Flow]) -> Table {
        let mut table = Table::new::<SeriesRow>();
        for (index, flow) in flows.iter().enumerate() {
            let smss = flow.sender.config().smss;
            let deliveries = &self.deliveries[index];
            for (time, sender) in &self.acks[index] {
                let known = deliveries.partition_point(|(at, _)| at <= time);
                let delivered = known.checked_sub(1).map_or(0, |last| deliveries[last].1);
                let name = scenario.flows[index].name.clone();
                table.push(sender.row(ns(*time), name, smss, delivered));
            }
        }
        table
    }
}
