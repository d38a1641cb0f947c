//! Samples of a sender after every acknowledgement that it gets.

use crate::record::rows::SeriesRow;
use crate::record::{Table, Text};
use crate::spec::Scenario;
use crate::units::{ByteCount, Instant};

/// The state after every acknowledgement.
#[derive(Debug)]
pub(super) struct AckTrace {
    /// Of each flow: time, and the row as far as its sender knows it.
    pub(super) acks: Vec<Vec<(Instant, SeriesRow)>>,
    /// Of each flow: time, and bytes delivered from then on. Receivers may be ahead of senders.
    pub(super) deliveries: Vec<Vec<(Instant, ByteCount)>>,
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

    pub(super) fn series_table(self, scenario: &Scenario) -> Table {
        let mut table = Table::new::<SeriesRow>();
        let seen = self.acks.into_iter().zip(&self.deliveries).enumerate();
        for (flow, (acks, deliveries)) in seen.filter(|(flow, _)| scenario.record.has_series(*flow))
        {
            let name = Text::from(scenario.flows[flow].name.as_str());
            for (time, row) in acks {
                let known = deliveries.partition_point(|(at, _)| *at <= time);
                let delivered = known
                    .checked_sub(1)
                    .map_or(ByteCount::ZERO, |last| deliveries[last].1);
                table.push(row.completed(&name, delivered));
            }
        }
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::flow::standing_flows;
    use crate::sim::routes::Trip;
    use crate::spec::{FlowSpec, LinkSpec};
    use crate::units::{Duration, Rate};

    #[test]
    fn a_row_has_what_was_delivered_at_its_time_though_the_receiver_was_ahead() {
        let second = Duration::from_secs(1.0);
        let link = LinkSpec::new("link", Rate::from_bps(1e6), second);
        let flow = FlowSpec::new("flow", vec![0]);
        let scenario = Scenario::new(second, vec![link], vec![flow]);
        let trip = Trip {
            first_stop: 0,
            receiver_stop: 1,
        };
        let flows = standing_flows(&scenario, 1, |_| false, &[trip]);
        let at = Instant::from_secs;
        let mut trace = AckTrace::new(1);
        trace.deliveries[0] = [1, 2, 3]
            .map(|each| (at(f64::from(each)), ByteCount::from(1000 * each)))
            .to_vec();
        for time in [0.5, 2.0, 2.5] {
            let row = SeriesRow::at_sender(&flows[0].sender, at(time));
            trace.acks[0].push((at(time), row));
        }
        assert_eq!(trace.rows(), 3);
        let table = trace.series_table(&scenario);
        let delivered = table.column("delivered_bytes").numbers();
        assert_eq!(delivered, [Some(0.0), Some(2000.0), Some(2000.0)]);
    }
}
