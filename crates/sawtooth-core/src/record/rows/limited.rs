//! Of what held senders back, over time.

use crate::record::Text;
use crate::spec::FlowSpec;
use crate::tcp::limits::LimitedStretch;

row! {
    LimitedRow: "limited", "one row per flow and stretch of time in which one cause held its sender back, with record = [\"limited\"]: from its start to the acknowledgement of everything, or to the end of the run, without gaps";
    flow: Text, "", "the flow's name";
    from_ns: i64, "ns", "when it began";
    until_ns: i64, "ns", "when it ended";
    by: Text, "", "the cause: cwnd, rwnd, source, send_buffer, pacing, recovery, rto or nagle, as the columns limited_*_ns of flows have them";
}

impl LimitedRow {
    /// Of a flow.
    pub(crate) fn of(spec: &FlowSpec, stretch: LimitedStretch) -> Self {
        Self {
            flow: spec.name.as_str().into(),
            from_ns: stretch.from_ns,
            until_ns: stretch.until_ns,
            by: stretch.by.name().into(),
        }
    }
}
