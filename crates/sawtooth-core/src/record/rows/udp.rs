//! Of flows of UDP: what their receivers got, and what their sources found themselves to have.

row! {
    DatagramRow: "datagrams", "one row per flow with transport = \"udp\": what its receiver got and how late; bytes are those of IP packets";
    flow: String, "", "the flow's name";
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
    flow: String, "", "the flow's name";
    quantity: String, "", "of self_similar: periods, mean_wanted, mean and variance of the packets in a period as they are, share_empty and share_at_cap of the periods";
    value: f64, "", "in packets, or a share";
}
