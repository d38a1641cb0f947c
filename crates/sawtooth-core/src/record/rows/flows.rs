//! Of each flow: what it carried, what it met, and what held it back.
//!
//! Most is TCP's and unknown of flows of UDP; and a real kernel reports only a part of it.

row! {
    FlowRow: "flows", "one row per flow";
    flow: String, "", "the flow's name";
    cc: String, "", "congestion control that was active";
    recovery: String, "", "loss recovery that was active";
    start_ns: i64, "ns", "when the application opened the connection";
    acked_packets: Option<u64>, "packet", "highest cumulatively acknowledged data packet, counted from 1";
    acked_bytes: Option<u64>, "B", "application bytes cumulatively acknowledged to the sender";
    delivered_bytes: u64, "B", "application bytes delivered in order to the receiving application";
    throughput_bps: Option<f64>, "bit/s", "acked_packets x smss x 8 / (duration - start)";
    goodput_bps: f64, "bit/s", "delivered_bytes x 8 / (duration - start)";
    sent_packets: Option<u64>, "packet", "segments sent, retransmissions and SYN included";
    retransmits: Option<u64>, "packet", "segments sent again (PktsRetrans)";
    fast_retransmits: Option<u64>, "", "losses signalled by acknowledgements (FastRetran)";
    timeouts: Option<u64>, "", "expirations of the retransmission timer (Timeouts)";
    dupacks_in: Option<u64>, "", "duplicate acknowledgements received (DupAcksIn)";
    sacks_in: Option<u64>, "", "acknowledgements with SACK blocks received";
    dsacks_in: Option<u64>, "", "acknowledgements of segments received twice (DSACKDups), with SACK only";
    congestion_signals: Option<u64>, "", "reductions of the window, of any cause (CongSignals)";
    ce_in: Option<u64>, "packet", "data packets that the receiver got marked Congestion Experienced (CERcvd)";
    ecn_signals: Option<u64>, "", "acknowledgements that told the sender of marks (ECNsignals)";
    ecn_reductions: Option<u64>, "", "reductions of the window for marks, where the sender rather than the algorithm makes them; part of congestion_signals";
    cwnd_mean_bytes: Option<f64>, "B", "congestion window, mean over the flow's time";
    srtt_mean_ns: Option<i64>, "ns", "smoothed round-trip time, mean over samples; null without any";
    min_rtt_ns: Option<i64>, "ns", "smallest round-trip sample; null without any";
    completion_ns: Option<i64>, "ns", "start to last byte delivered, of a fixed-size transfer; null if not completed";
    stall_ns: Option<i64>, "ns", "data stream stall; null: not measured without a host model";
    limited_cwnd_ns: Option<i64>, "ns", "time in which the congestion window held the sender back, the handshake included";
    limited_rwnd_ns: Option<i64>, "ns", "time in which the receiver's window held the sender back";
    limited_source_ns: Option<i64>, "ns", "time in which the application had nothing to send";
    limited_send_buffer_ns: Option<i64>, "ns", "time in which the application had more to send and no room for it in the send buffer";
    limited_pacing_ns: Option<i64>, "ns", "time in which the window had room and pacing held the sender back";
    limited_recovery_ns: Option<i64>, "ns", "time between a loss and its recovery point, the repair after a timeout included";
    limited_rto_ns: Option<i64>, "ns", "time in which nothing came until the retransmission timer expired";
    limited_nagle_ns: Option<i64>, "ns", "time in which less than a segment was kept back for more";
    lifetime_ns: Option<i64>, "ns", "start to the acknowledgement of everything, or to the end of the run; the sum of the limited_*_ns";
    subsequent_timeouts: Option<u64>, "", "of the timeouts, those of a timer that had been backed off";
    tail_loss_probes: Option<u64>, "", "probes sent because nothing came (RFC 8985 section 7)";
    spurious: Option<u64>, "", "of the congestion signals, those that turned out to be needless and were undone";
    spurious_timeouts: Option<u64>, "", "of those, timeouts";
    max_cwnd_bytes: Option<f64>, "B", "largest congestion window";
    srtt_ns: Option<i64>, "ns", "smoothed round-trip time at the end; null without a sample";
    max_rtt_ns: Option<i64>, "ns", "largest round-trip sample; null without any";
    rtt_samples: Option<u64>, "", "round-trip times measured";
    stall_window_ns: Option<i64>, "ns", "the part of stall_ns in which packets queued behind a full window; null without a host model, as the next two";
    stall_partial_ns: Option<i64>, "ns", "the part in which less than a segment was held back";
    stall_memory_ns: Option<i64>, "ns", "the part in which the writer slept for lack of socket memory";
}
