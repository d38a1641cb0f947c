//! The tables that a capture is made into. Columns that a run of a scenario has as well have its name, unit and meaning; those of a run that no capture can tell,
//! such as the congestion window, are not here.

use sawtooth_core::row;

row! {
    CapturedFlowRow: "flows", "one row per direction of a connection that carried data, and per pair of ends of UDP";
    flow: String, "", "its ends, sender first; `#2` and so on after those of a later connection between the same";
    transport: String, "", "tcp or udp";
    connection: u64, "", "number of the connection, in the order of their first packets, from 1; both directions have the same";
    start_ns: i64, "ns", "first packet of the connection, since the first of the capture";
    delivered_bytes: Option<u64>, "B", "payload that the receiver has acknowledged, as far as the capture saw";
    acked_bytes: Option<u64>, "B", "the same: a capture sees no reading";
    goodput_bps: Option<f64>, "bit/s", "delivered_bytes x 8 / lifetime_ns";
    wire_bps: Option<f64>, "bit/s", "ip_bytes x 8 / lifetime_ns";
    lifetime_ns: Option<i64>, "ns", "start to the last data or the last acknowledgement of new data, whichever is later";
    completion_ns: Option<i64>, "ns", "start to the acknowledgement of the last byte; null if SYN or FIN was not seen, or not all was acknowledged";
    sent_packets: Option<u64>, "packet", "segments that were seen, those without data included";
    data_packets: Option<u64>, "packet", "of them, those with payload; a frame before segmentation counts as one";
    sent_bytes: Option<u64>, "B", "payload, retransmissions included";
    unique_bytes: Option<u64>, "B", "payload, every byte once";
    ip_bytes: u64, "B", "IP packets with their headers";
    retransmits: Option<u64>, "packet", "segments that were judged to have been sent again";
    retransmitted_bytes: Option<u64>, "B", "their payload that had been sent before";
    retransmits_unseen: Option<u64>, "packet", "of the retransmits, those whose first copy the capture did not see: it was lost before";
    retransmits_needless: Option<u64>, "packet", "of the retransmits, those of what had been acknowledged";
    reordered_packets: Option<u64>, "packet", "segments that came late, and not because they were sent again";
    duplicated_packets: Option<u64>, "packet", "packets that were seen twice (same IP identification): duplicated by the network or by the capture";
    probes: Option<u64>, "packet", "keep-alives and window probes, which are no retransmits";
    missed_bytes: Option<u64>, "B", "acknowledged and never seen: the capture lost it, or it was not all there";
    fast_retransmits: Option<u64>, "", "loss episodes that acknowledgements began";
    timeouts: Option<u64>, "", "retransmissions after a silence, judged to be of the retransmission timer";
    tail_loss_probes: Option<u64>, "", "retransmissions of the newest segment, judged to be probes (RFC 8985 section 7): with SACK, outside of recovery, a round trip or more after the last acknowledgement";
    dupacks_in: Option<u64>, "", "duplicate acknowledgements as RFC 5681 section 2 defines them";
    sacks_in: Option<u64>, "", "acknowledgements with SACK blocks";
    sack_blocks: Option<u64>, "", "blocks in them";
    dsacks_in: Option<u64>, "", "of the sacks_in, those that report a duplicate (RFC 2883)";
    ce_in: Option<u64>, "packet", "packets marked Congestion Experienced where they were captured";
    ect_packets: Option<u64>, "packet", "packets whose ECN field is not 0, marked ones included";
    ecn_feedback: String, "", "what the handshake agreed on: none, classic (RFC 3168, also DCTCP's) or accurate (AccECN, RFC 9768); without it accurate where the bit AE or the option was seen, else empty";
    ecn_signals: Option<u64>, "", "acknowledgements that report marks: with ECE, or with AccECN those whose counter moved; those of the handshake left out";
    ce_reported: Option<u64>, "packet", "marked packets that AccECN's counter reports; it counts modulo 8, so more than 7 between two acknowledgements are too few; null with other feedback";
    ce_reported_bytes: Option<u64>, "B", "payload that came marked, by the AccECN option; null without one";
    cwr_packets: Option<u64>, "packet", "segments with CWR, those of the handshake left out; null with AccECN, where the bit is one of the counter's";
    zero_windows: Option<u64>, "", "acknowledgements that closed the window";
    rtt_samples: Option<u64>, "", "round-trip times from the sender to the receiver and back; only where it was captured at the sender";
    min_rtt_ns: Option<i64>, "ns", "smallest of them; elsewhere the sum of what both sides took at least; null if one is not known";
    max_rtt_ns: Option<i64>, "ns", "largest of them, only at the sender";
    srtt_mean_ns: Option<i64>, "ns", "smoothed round-trip time, mean over samples, only at the sender";
    srtt_ns: Option<i64>, "ns", "smoothed round-trip time at the end, only at the sender";
    receiver_rtt_samples: Option<u64>, "", "times from data to its acknowledgement at the capture's place, none of what was sent twice (Karn)";
    receiver_rtt_min_ns: Option<i64>, "ns", "smallest of them; null without any, as the next five";
    receiver_rtt_mean_ns: Option<i64>, "ns", "their mean";
    receiver_rtt_p50_ns: Option<i64>, "ns", "their median, within 1/128, as the other percentiles";
    receiver_rtt_p95_ns: Option<i64>, "ns", "their 95th percentile";
    receiver_rtt_p99_ns: Option<i64>, "ns", "their 99th percentile";
    receiver_rtt_max_ns: Option<i64>, "ns", "largest of them";
    timestamp_rtt_samples: Option<u64>, "", "times from the first data with a timestamp to the acknowledgement of new data that echoes it (RFC 7323 section 4)";
    timestamp_rtt_min_ns: Option<i64>, "ns", "smallest of them; null without any, as the next";
    timestamp_rtt_mean_ns: Option<i64>, "ns", "their mean";
    sender_rtt_min_ns: Option<i64>, "ns", "least time from the receiver's packets to the sender's answers at the capture's place";
    vantage: String, "", "where it was captured: sender, near_sender, receiver or middle, judged by what both sides took at least; near_sender: most of the sender's answers are late and behind others of its packets, or of those of all near senders at the same interface, so a queue is between; empty if one is not known, or both together took less than 0.1 ms";
    handshake: String, "", "whole, part or none of it was seen";
    window_scale: Option<u64>, "", "bits by which the receiver's windows are shifted; null if its SYN was not seen: then windows are not known";
    mss_bytes: Option<u64>, "B", "segment size that the receiver's SYN allows; null if it was not seen";
    max_flight_bytes: Option<u64>, "B", "most that was sent and not acknowledged, at the capture's place";
    limited_rwnd_ns: Option<i64>, "ns", "time in which the receiver's window had no room for a segment; only at the sender, as all limited_*";
    limited_source_ns: Option<i64>, "ns", "time in which all was acknowledged and nothing was sent";
    limited_recovery_ns: Option<i64>, "ns", "time of loss episodes, silence before a timeout left out";
    limited_rto_ns: Option<i64>, "ns", "silence before a retransmission of the timer";
    limited_other_ns: Option<i64>, "ns", "the rest: congestion window, pacing, or a source that writes little; no capture tells them apart";
    closed: String, "", "how it ended: fin (from both ends), half (from one), reset, or open";
}

row! {
    CapturedSeriesRow: "series", "one row per flow and packet, or several packets of a stretch of time where there are many: the state after the last of them";
    t_ns: i64, "ns", "time of the last packet of the row, since the first of the capture";
    flow: String, "", "the flow's name";
    flight_bytes: u64, "B", "sent and not cumulatively acknowledged, at the capture's place; the most within the row";
    acked_bytes: Option<u64>, "B", "cumulatively acknowledged so far; null before the first acknowledgement";
    sacked_bytes: u64, "B", "selectively acknowledged beyond that";
    new_from_bytes: Option<u64>, "B", "first byte of what was sent for the first time within the row; null if nothing was, as the next";
    new_to_bytes: Option<u64>, "B", "the byte after the last of it";
    window_edge_bytes: Option<u64>, "B", "the byte that the receiver has no room for any more; null if it is not known";
    rtt_ns: Option<i64>, "ns", "largest round-trip sample within the row; null without any";
    srtt_ns: Option<i64>, "ns", "smoothed round-trip time at the capture's place; null before a sample";
    retransmits: u64, "packet", "segments sent again so far";
}

row! {
    CapturedEpisodeRow: "episodes", "one row per loss episode: from a retransmission to the acknowledgement of all that had been sent by then";
    flow: String, "", "the flow's name";
    start_ns: i64, "ns", "when the first segment was sent again, since the first packet of the capture";
    end_ns: Option<i64>, "ns", "when all that had been sent by then was acknowledged; null: not within the capture";
    cause: String, "", "what began it, judged by what was seen before: dupack, sack, tail_loss_probe or rto; unseen if nothing of it was";
    retransmits: u64, "packet", "segments sent again";
    timeouts: u64, "", "of them, those after a silence";
    flight_bytes: u64, "B", "sent and not acknowledged when it began";
    dupacks: u64, "", "duplicate acknowledgements that came for what was lost before it was sent again";
    silence_ns: i64, "ns", "time since the last packet of either side before it began";
}

row! {
    MarkRow: "marks", "one row per segment, or block of an acknowledgement, that is not just the next one";
    t_ns: i64, "ns", "when, since the first packet of the capture";
    flow: String, "", "the flow whose data it is about";
    kind: String, "", "retransmission, needless, reordered, duplicate, probe, sack, dsack, ce, zero_window, syn, fin or reset";
    from_bytes: i64, "B", "first byte of the data that it is about";
    to_bytes: i64, "B", "the byte after the last";
}
