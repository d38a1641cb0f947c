//! Of links: what has come to each, waited there and gone.

row! {
    LinkRow: "links", "one row per direction of a link";
    link: String, "", "the link's name";
    direction: String, "", "forward or reverse";
    arrived_packets: u64, "packet", "packets that came to the queue";
    arrived_bytes: u64, "B", "bytes that came to the queue";
    dropped_packets: u64, "packet", "packets dropped by the queue";
    dropped_bytes: u64, "B", "bytes dropped by the queue";
    lost_packets: u64, "packet", "packets transmitted and lost on the wire";
    corrupted_packets: u64, "packet", "packets transmitted and damaged on the wire; their hosts discard them";
    duplicated_packets: u64, "packet", "packets that the wire has delivered twice";
    reordered_packets: u64, "packet", "packets that arrived before one that was transmitted earlier";
    marked_packets: u64, "packet", "packets transmitted that the queue has marked Congestion Experienced";
    peak_packets: u64, "packet", "largest backlog, the packet in transmission included";
    utilisation: Option<f64>, "", "bits accepted / (rate x duration); above 1 if a backlog remains at the end; null of a link that could send nothing before the end";
    wait_mean_ns: Option<i64>, "ns", "arrival to start of transmission, mean over accepted packets; null without any";
    backlog_mean_packets: f64, "packet", "packets that wait, without the one in transmission, mean over the run's time";
    backlog_mean_bytes: f64, "B", "bytes that wait, without the packet in transmission, mean over the run's time";
}

row! {
    WaitRow: "waits", "one row per direction of a link, with record = [\"waits\"]: how waits and backlogs are distributed, percentiles within 1/128";
    link: String, "", "the link's name";
    direction: String, "", "forward or reverse";
    started_packets: u64, "packet", "packets whose transmission has started; the waits are theirs";
    wait_mean_ns: Option<i64>, "ns", "arrival to start of transmission, mean; null without any";
    wait_p50_ns: Option<i64>, "ns", "its median; null without any";
    wait_p90_ns: Option<i64>, "ns", "its 90th percentile";
    wait_p95_ns: Option<i64>, "ns", "its 95th percentile";
    wait_p99_ns: Option<i64>, "ns", "its 99th percentile";
    wait_p999_ns: Option<i64>, "ns", "its 99.9th percentile";
    wait_max_ns: Option<i64>, "ns", "the longest";
    found_mean_packets: Option<f64>, "packet", "packets that an arriving one has found, the one in transmission included, mean over all arrivals; null without any, as the next five";
    found_p50_packets: Option<u64>, "packet", "its median";
    found_p90_packets: Option<u64>, "packet", "its 90th percentile";
    found_p95_packets: Option<u64>, "packet", "its 95th percentile";
    found_p99_packets: Option<u64>, "packet", "its 99th percentile";
    found_max_packets: Option<u64>, "packet", "the most";
}

row! {
    LinkFlowRow: "link_flows", "one row per direction of a link and flow, or entry of flows that arrive, whose packets have come there, with record = [\"link_flows\"]";
    link: String, "", "the link's name";
    direction: String, "", "forward or reverse";
    flow: String, "", "the flow's name, or the entry's";
    arrived_packets: u64, "packet", "its packets that came to the queue";
    arrived_bytes: u64, "B", "its bytes that came to the queue";
    dropped_packets: u64, "packet", "its packets dropped by the queue";
    dropped_bytes: u64, "B", "its bytes dropped by the queue";
    lost_packets: u64, "packet", "its packets transmitted and lost on the wire";
    marked_packets: u64, "packet", "its packets transmitted that the queue has marked Congestion Experienced";
    wait_mean_ns: Option<i64>, "ns", "arrival to start of transmission, mean over those whose transmission has started; null without any";
}

row! {
    PacketRow: "packets", "one row per packet and direction of a link to which it has come, in the order in which they came, with record = [\"packets\"]; of those that are there at any time from `record_from` to `record_until`";
    link: String, "", "the link's name";
    direction: String, "", "forward or reverse";
    flow: String, "", "the flow's name, or the entry's";
    kind: String, "", "data, ack or datagram";
    number: i64, "", "of data the segment's number, of an acknowledgement the next segment that is expected, both from 0; of datagrams their number";
    bytes: u64, "B", "on the wire, headers included";
    retransmission: u64, "", "1 if it carries what has been sent before, else 0";
    marked: u64, "", "1 if the queue has marked it Congestion Experienced, else 0";
    fate: String, "", "arrived, doubled (it arrives twice), damaged (it arrives, and its host discards it), dropped by the queue, lost on the wire, or unfinished: the run ended before";
    arrived_ns: Option<i64>, "ns", "when it came to the queue";
    dropped_ns: Option<i64>, "ns", "when the queue dropped it; null if it did not";
    started_ns: Option<i64>, "ns", "when its transmission began; null if it did not within the run";
    sent_ns: Option<i64>, "ns", "when its last bit had left, also where that is after the run; null if it never has";
    delivered_ns: Option<i64>, "ns", "when its last bit was at the far end, also where that is after the run; null if it never was";
}
