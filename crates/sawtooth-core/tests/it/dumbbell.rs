//! Whole runs whose outcome is known: from arithmetic, from theory, or from ns-2.

#![expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]

use crate::columns::{counts, wholes};
use sawtooth_core::{scenario, simulate};
use serde_json::{Value, json};

fn run(tree: &Value) -> sawtooth_core::record::Records {
    simulate(
        &scenario::from_tree(tree).unwrap_or_else(|error| panic!("{error}")),
        1,
    )
}

#[test]
fn one_segment_takes_its_handshake_transmission_and_propagation() {
    let records = run(&json!({
        "duration": "10 s", "stack": "rfc",
        "links": {"l": {"rate": "1 Mbit/s", "delay": "50 ms"}},
        "flows": [{"path": ["l"], "source": {"name": "bulk", "size": "1000 B"}, "start": "1 s"}],
    }));
    // SYN and SYN-ACK: 40 bytes each way; data: 1040 bytes.
    let expected = 2.0 * (320e-6 + 0.05) + 8320e-6 + 0.05;
    let completion = wholes(&records, "flows", "completion_ns")[0];
    assert!(
        (completion as f64 * 1e-9 - expected).abs() < 1e-9,
        "{completion}"
    );
}

#[test]
fn slow_start_doubles_every_round_trip() {
    // 1 + 3 + 6 + 12 segments: after the handshake and 3 round trips 21 segments have left, at IW 3 and an ACK per segment.
    let records = run(&json!({
        "duration": "0.45 s", "stack": "rfc", "tcp": {"ack_every": 1}, "sample": "100 ms",
        "links": {"l": {"rate": "10 Gbit/s", "delay": "50 ms", "queue": {"name": "drop_tail", "limit": "10000 packets"}}},
        "flows": [{"path": ["l"]}],
    }));
    assert_eq!(
        counts(&records, "flows", "sent_packets"),
        [1 + 3 + 6 + 12 + 24]
    );
}

#[test]
fn a_bottleneck_with_a_bdp_buffer_is_filled() {
    for recovery in ["tahoe", "reno", "newreno", "sack"] {
        let records = run(&json!({
            "duration": "60 s", "stack": "rfc", "tcp": {"recovery": recovery},
            "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "1 bdp"}}},
            "flows": [{"path": ["l"]}],
        }));
        let bits = counts(&records, "flows", "delivered_bytes")[0] as f64 * 8.0;
        let share = bits / (10e6 * 60.0 * 1460.0 / 1500.0);
        // Tahoe empties the pipe at every loss; the others keep it full but for the first overshoot.
        let least = if recovery == "tahoe" { 0.75 } else { 0.93 };
        assert!((least..=1.0).contains(&share), "{recovery}: {share}");
    }
}

#[test]
fn a_window_limit_gives_window_over_round_trip_time() {
    let records = run(&json!({
        "duration": "100 s", "stack": "rfc", "tcp": {"window_limit": "10 packets", "ack_every": 1},
        "links": {"l": {"rate": "1 Gbit/s", "delay": "50 ms"}},
        "flows": [{"path": ["l"]}],
    }));
    let rtt = 0.1 + 1500.0 * 8.0 / 1e9 + 40.0 * 8.0 / 1e9;
    let expected = 10.0 * 1460.0 * 8.0 / rtt;
    let got = counts(&records, "flows", "delivered_bytes")[0] as f64 * 8.0 / 100.0;
    // The first second is slow start.
    assert!(
        (got / expected - 1.0).abs() < 0.01,
        "{got} is not {expected}"
    );
}

/// Flows' `ack_` as printed by ns-2.35 for the dumbbell of the HighSpeed study; regenerate with bench/ns2.
#[test]
fn ns2_acknowledges_the_same_packets() {
    let (recovery, cc, rate, tp, step, flows, start) = ("newreno", "reno", 56, 50, 100, 8, 302);
    let expected = [16, 34, 124, 15, 8, 30, 11, 3];
    let tree = json!({
        "duration": "50 s", "stack": "ns2", "cc": cc,
        "tcp": {"recovery": recovery, "window_limit": "10000 packets"},
        "vars": {"S": format!("{start} ms"), "N": flows},
        "links": {
            "b": {"rate": format!("{rate} kbit/s"), "delay": format!("{tp} ms"), "queue": {"name": "drop_tail", "limit": "50 packets"}},
            "s": {"rate": format!("{rate} kbit/s"), "delay": format!("(i - 1) * {step} ms"), "queue": {"name": "drop_tail", "limit": "50 packets"}, "count": flows},
            "r": {"rate": format!("{rate} kbit/s"), "delay": format!("(i - 1) * {step} ms"), "queue": {"name": "drop_tail", "limit": "50 packets"}, "count": flows},
        },
        "flows": [{"path": ["s[i]", "b", "r[i]"], "count": flows, "start": "S / N * i"}],
    });
    assert_eq!(counts(&run(&tree), "flows", "acked_packets"), expected);
}
