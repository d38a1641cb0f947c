//! Of samples: the state of flows, queues and algorithms over time.

row! {
    SeriesRow: "series", "one row per flow and sample, when the scenario samples; the state just before t, or just after an acknowledgement with sample = \"ack\"";
    t_ns: i64, "ns", "time of the sample";
    flow: String, "", "the flow's name";
    cwnd_bytes: Option<f64>, "B", "congestion window";
    ssthresh_bytes: Option<f64>, "B", "slow-start threshold; infinite while arbitrarily high";
    srtt_ns: Option<i64>, "ns", "smoothed round-trip time; null before a sample";
    flight_bytes: Option<u64>, "B", "FlightSize: sent and not cumulatively acknowledged";
    acked_bytes: Option<u64>, "B", "cumulatively acknowledged so far";
    delivered_bytes: u64, "B", "delivered in order so far";
    pipe_bytes: Option<u64>, "B", "considered in the path: what the recovery in force compares with the window (RFC 6675's pipe)";
    pacing_rate_bps: Option<f64>, "bit/s", "how fast segments are let out; infinite where they are not paced";
    sender_delivered_bytes: Option<u64>, "B", "known to the sender to have arrived, cumulatively or selectively, so far";
}

row! {
    QueueRow: "queues", "one row per link direction and sample, when the scenario samples; the state just before t";
    t_ns: i64, "ns", "time of the sample";
    link: String, "", "the link's name";
    direction: String, "", "forward or reverse";
    backlog_packets: u64, "packet", "packets present, the one in transmission included";
    dropped_packets: u64, "packet", "dropped so far";
}

row! {
    VariableRow: "variables", "one row per flow, sample and variable of its congestion control, by the name in its paper, with record = [\"variables\"]; taken with the rows of series";
    t_ns: i64, "ns", "time of the sample";
    flow: String, "", "the flow's name";
    variable: String, "", "the algorithm's name for it";
    value: f64, "", "in the algorithm's unit: windows in segments, times in seconds, rates in segments per second";
}
