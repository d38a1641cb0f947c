//! Of flows of UDP: what their receivers got, and what their sources found themselves to have.

use crate::histogram::TimesNs;
use crate::net::UdpFlow;
use crate::record::Table;
use crate::record::Text;
use crate::spec::{Scenario, UdpSpec};

row! {
    DatagramRow: "datagrams", "one row per flow with transport = \"udp\": what its receiver got and how late; bytes are those of IP packets";
    flow: Text, "", "the flow's name";
    sent_packets: u64, "packet", "packets sent";
    sent_bytes: u64, "B", "bytes sent, headers included";
    delivered_packets: u64, "packet", "packets received";
    delivered_bytes: u64, "B", "bytes received, headers included";
    lost_packets: Option<i64>, "packet", "packets that left before the last of those received and have not come themselves (RFC 3550 A.3, but one that comes twice hides none); null if none came";
    late_packets: u64, "packet", "packets received after one that had left later";
    delay_mean_ns: Option<i64>, "ns", "one-way delay, mean over packets; this and all other times are null if none was received";
    delay_min_ns: Option<i64>, "ns", "smallest one-way delay";
    delay_max_ns: Option<i64>, "ns", "largest one-way delay";
    delay_p50_ns: Option<i64>, "ns", "median of the one-way delay, within 1/128, as the other quantiles";
    delay_p95_ns: Option<i64>, "ns", "95 % had at most this one";
    delay_p99_ns: Option<i64>, "ns", "99 % had at most this one";
    delay_p999_ns: Option<i64>, "ns", "99.9 % had at most this one";
    jitter_ns: Option<i64>, "ns", "interarrival jitter at the end (RFC 3550 section 6.4.1)";
}

row! {
    SourceRow: "sources", "one row per flow with transport = \"udp\" and quantity that its source found itself to have, over the whole flow; docs/guides/background.md";
    flow: Text, "", "the flow's name";
    quantity: Text, "", "of self_similar: periods, mean_wanted, mean and variance of the packets in a period as they are, share_empty and share_at_cap of the periods";
    value: f64, "", "in packets, or a share";
}

/// The tables of a scenario's flows of UDP, which are given in their order.
pub fn udp_tables<'a>(
    scenario: &Scenario,
    flows: impl IntoIterator<Item = &'a UdpFlow>,
) -> [Table; 2] {
    let mut datagrams = Table::new::<DatagramRow>();
    let mut sources = Table::new::<SourceRow>();
    for (spec, flow) in scenario.udp.iter().zip(flows) {
        datagrams.push(DatagramRow::of(spec, flow));
        flow.report(&mut |quantity, value| sources.push(SourceRow::of(spec, quantity, value)));
    }
    [datagrams, sources]
}

impl DatagramRow {
    fn of(spec: &UdpSpec, flow: &UdpFlow) -> Self {
        let received = &flow.received;
        let times = TimesNs::of(&received.delays_ns);
        let any = received.packets > 0;
        Self {
            flow: spec.name.as_str().into(),
            sent_packets: flow.sent_packets(),
            sent_bytes: flow.sent_bytes().get(),
            delivered_packets: received.packets,
            delivered_bytes: received.bytes.get(),
            lost_packets: received.lost().map(u64::cast_signed),
            late_packets: received.late,
            delay_mean_ns: times.mean,
            delay_min_ns: any.then(|| received.least_delay_ns.cast_signed()),
            delay_max_ns: times.max,
            delay_p50_ns: times.p50,
            delay_p95_ns: times.p95,
            delay_p99_ns: times.p99,
            delay_p999_ns: times.p999,
            jitter_ns: any.then(|| received.jitter.as_ns()),
        }
    }
}

impl SourceRow {
    fn of(spec: &UdpSpec, quantity: &str, value: f64) -> Self {
        Self {
            flow: spec.name.as_str().into(),
            quantity: quantity.into(),
            value,
        }
    }
}
