//! Of flows that are a fluid: what a class of them has done.

use crate::fluid::ClassTotals;
use crate::record::Table;
use crate::record::Text;
use crate::spec::{FluidSpec, Scenario};
use crate::units::Duration;

row! {
    FluidRow: "fluid", "one row per entry of flows with model = \"fluid\", an approximation: sums over its flows, and means of them; docs/guides/fluid.md";
    flow: Text, "", "the entry's name";
    flows: u64, "", "how many flows it has";
    sent_bytes: u64, "B", "bytes sent, headers included";
    lost_bytes: u64, "B", "bytes that the senders have heard to be lost, headers included";
    delivered_bytes: u64, "B", "application bytes that have been acknowledged";
    reductions: f64, "", "how often flows have reduced their windows for a loss and recovered; an expected number";
    timeouts: f64, "", "how often flows have waited for a retransmission timeout; an expected number";
    window_mean_packets: Option<f64>, "packet", "window of a flow, 0 while it waits for a timeout, mean over flows and the time since they began; null if none did";
    rtt_mean_ns: Option<i64>, "ns", "round-trip time, propagation, transmission and queues, mean over the same; null if none began";
}

/// The table of a scenario's flows that are a fluid, whose classes are given in their order; none if there are none.
pub(crate) fn fluid_table(
    scenario: &Scenario,
    classes: impl Iterator<Item = ClassTotals>,
) -> Option<Table> {
    let mut table = Table::new::<FluidRow>();
    for (spec, totals) in scenario.fluid.iter().zip(classes) {
        table.push(FluidRow::of(spec, &totals));
    }
    (!scenario.fluid.is_empty()).then_some(table)
}

impl FluidRow {
    fn of(spec: &FluidSpec, totals: &ClassTotals) -> Self {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "bytes are far below 2^53"
        )]
        let whole = |bytes: f64| libm::round(bytes) as u64;
        let law = spec.law();
        let payload = law.smss.as_f64() / law.segment.as_f64();
        Self {
            flow: spec.flow.name.as_str().into(),
            flows: spec.starts.len() as u64,
            sent_bytes: whole(totals.sent_bytes),
            lost_bytes: whole(totals.lost_bytes),
            delivered_bytes: whole(totals.acked_bytes * payload),
            reductions: totals.reductions,
            timeouts: totals.timeouts,
            window_mean_packets: totals.mean_window(),
            rtt_mean_ns: totals.mean_rtt().map(Duration::as_ns),
        }
    }
}
