//! Of flows that arrive and leave: all together, by size, and one by one.

row! {
    ArrivalRow: "arrivals", "one row per entry of flows that arrive and leave: all of them together";
    flow: String, "", "the entry's name";
    cc: String, "", "congestion control that was active";
    rate: f64, "1/s", "arrivals per second as given, or as the load makes it";
    started: u64, "", "flows that have arrived";
    completed: u64, "", "of them, those whose every byte has been delivered and acknowledged";
    alive_mean: f64, "", "flows between arrival and the acknowledgement of everything, mean over the run's time";
    alive_max: u64, "", "the most at one time";
    offered_bytes: u64, "B", "application bytes of those that have arrived; 4e18 stands for all that is more";
    delivered_bytes: u64, "B", "application bytes delivered in order";
    sent_packets: u64, "packet", "segments sent, retransmissions, SYN and FIN included";
    retransmits: u64, "packet", "segments sent again";
    timeouts: Option<u64>, "", "expirations of the retransmission timer";
    congestion_signals: Option<u64>, "", "reductions of the window, of any cause";
    completion_mean_ns: Option<i64>, "ns", "start to last byte delivered, mean; null without any";
    completion_p50_ns: Option<i64>, "ns", "its median, within 1/128; null without any";
    completion_p90_ns: Option<i64>, "ns", "its 90th percentile";
    completion_p95_ns: Option<i64>, "ns", "its 95th percentile";
    completion_p99_ns: Option<i64>, "ns", "its 99th percentile";
    completion_p999_ns: Option<i64>, "ns", "its 99.9th percentile";
    completion_max_ns: Option<i64>, "ns", "the longest";
}

row! {
    CompletionRow: "completions", "one row per entry of flows that arrive and bin of their sizes";
    flow: String, "", "the entry's name";
    size_from_bytes: u64, "B", "the smallest size of the bin";
    size_below_bytes: u64, "B", "the smallest size of the next bin";
    started: u64, "", "flows of these sizes that have arrived";
    completed: u64, "", "of them, those whose every byte has been delivered and acknowledged";
    completion_mean_ns: Option<i64>, "ns", "start to last byte delivered, mean; null without any";
    completion_p50_ns: Option<i64>, "ns", "its median, within 1/128; null without any";
    completion_p90_ns: Option<i64>, "ns", "its 90th percentile";
    completion_p95_ns: Option<i64>, "ns", "its 95th percentile";
    completion_p99_ns: Option<i64>, "ns", "its 99th percentile";
    completion_p999_ns: Option<i64>, "ns", "its 99.9th percentile";
    completion_max_ns: Option<i64>, "ns", "the longest";
}

row! {
    TransferRow: "transfers", "one row per flow that has arrived, with record = [\"transfers\"], in the order of their ends";
    flow: String, "", "the entry's name";
    number: u64, "", "which of its flows, counted from 1";
    start_ns: i64, "ns", "when it arrived";
    size_bytes: u64, "B", "application bytes to transfer";
    delivered_bytes: u64, "B", "application bytes delivered in order";
    completion_ns: Option<i64>, "ns", "start to last byte delivered; null if not completed";
    sent_packets: u64, "packet", "segments sent, retransmissions, SYN and FIN included";
    retransmits: u64, "packet", "segments sent again";
    timeouts: Option<u64>, "", "expirations of the retransmission timer";
}
