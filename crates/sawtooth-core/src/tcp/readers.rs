//! Keys of `tcp` that only some of its parts read: who writes one of them beside another part is warned.

/// Keys of [`PARAMS`](super::PARAMS) that only some recoveries read.
pub const OF_RECOVERIES: &[(&str, &[&str])] = &[
    ("partial_ack_timer", &["newreno"]),
    ("exit_window", &["newreno"]),
    ("recovery_burst", &["newreno"]),
    ("byte_window", &["tahoe", "reno", "newreno", "sack"]),
    ("limited_transmit", &["tahoe", "reno", "newreno", "sack"]),
    ("sack_pipe", &["sack"]),
    ("max_sack_blocks", &["sack", "fack", "rack"]),
    ("sack_compression_delay", &["sack", "fack", "rack"]),
    ("sack_compression_slack", &["sack", "fack", "rack"]),
    ("sack_compression_max", &["sack", "fack", "rack"]),
    ("sack_option_header", &["sack", "fack", "rack"]),
    ("cwnd_validation", &["fack", "rack"]),
    ("prr", &["fack", "rack"]),
    ("prr_bound", &["fack", "rack"]),
    ("early_retransmit", &["fack"]),
    ("tail_loss_probe", &["fack", "rack"]),
    ("probe_slack", &["fack", "rack"]),
    ("probe_max_ack_delay", &["fack", "rack"]),
    ("frto", &["fack", "rack"]),
    ("undo", &["fack", "rack"]),
    ("pacing", &["fack", "rack"]),
];

/// And those that only one policy of delayed acknowledgements reads.
pub const OF_DELAYED_ACKS: &[(&str, &[&str])] = &[
    ("delayed_ack_pushed", &["linux-2.0"]),
    ("delayed_ack_most", &["linux-2.0"]),
    ("delayed_ack_timeout", &["timeout"]),
    ("delayed_ack_timeout_several", &["timeout"]),
    ("adaptive_delayed_ack", &["timeout"]),
];
