//! The `linux` stack over single losses: what RACK-TLP, F-RTO and PRR are there for.
//!
//! One flow over 10 Mbit/s, 20 ms each way. Packets are counted from 1: the SYN, the handshake's third packet, and then data.

use crate::columns::{counts, first};
use sawtooth_core::record::Records;
use sawtooth_core::{scenario, simulate};
use serde_json::{Value, json};

fn fetch(size: &str, drop: &[u64], tcp: &Value) -> Flow {
    let tree = json!({
        "duration": "10 s", "stack": "linux", "cc": "reno", "tcp": tcp,
        "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "1000 packets"}, "drop": drop}},
        "flows": [{"path": ["l"], "source": {"name": "bulk", "size": size}}],
    });
    let scenario = scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}"));
    Flow(simulate(&scenario, 1))
}

struct Flow(Records);

impl Flow {
    fn count(&self, column: &str) -> u64 {
        counts(&self.0, "flows", column)[0]
    }

    fn completion_ms(&self) -> f64 {
        first(&self.0, "flows", "completion_ns") / 1e6
    }
}

#[test]
fn rfc8985_a_lost_retransmission_is_found_without_a_timeout() {
    // Data segment 60 is packet 62; 64 more packets leave before it is sent again, or so: the retransmission is lost, too.
    let clean = fetch("600 kB", &[62], &json!({}));
    let retransmission = (63..400)
        .find(|second| {
            let flow = fetch("600 kB", &[62, *second], &json!({}));
            flow.count("retransmits") == 2 && flow.count("congestion_signals") == 1
        })
        .expect("one of the packets is the retransmission");
    let lost_again = fetch("600 kB", &[62, retransmission], &json!({}));
    assert_eq!(
        (clean.count("retransmits"), clean.count("timeouts")),
        (1, 0)
    );
    assert_eq!(
        (
            lost_again.count("retransmits"),
            lost_again.count("timeouts")
        ),
        (2, 0)
    );
}

#[test]
fn rfc8985_a_lost_tail_is_probed_after_two_round_trips_instead_of_a_timeout() {
    // 60 kB are 42 segments: packets 3 to 44.
    let drop = [42, 43, 44];
    let probed = fetch("60 kB", &drop, &json!({}));
    let waited = fetch("60 kB", &drop, &json!({"tail_loss_probe": false}));
    assert_eq!((probed.count("timeouts"), waited.count("timeouts")), (0, 1));
    assert!(probed.completion_ms() < waited.completion_ms());
    assert_eq!(probed.count("retransmits"), 3);
}

#[test]
fn rfc9937_the_window_walks_down_and_nothing_else_changes() {
    // In the middle of a transfer that fills the link it makes no difference to when the data is there.
    let walked = fetch("1 MB", &[400], &json!({}));
    let jumped = fetch("1 MB", &[400], &json!({"prr": false}));
    assert_eq!(
        (walked.count("retransmits"), jumped.count("retransmits")),
        (1, 1)
    );
    assert!((walked.completion_ms() / jumped.completion_ms() - 1.0).abs() < 0.05);
}

#[test]
fn rfc6928_and_the_handshake_cost_what_they_cost_in_reality() {
    // 10 segments of 1448 bytes fit into the first window: a handshake of 40 ms, one way of 20 ms, and 12 packets' transmissions.
    let flow = fetch("14480 B", &[], &json!({}));
    let expected = 40.0 + 20.0 + 11.0 * 1.2 + 2.0 * 52.0 * 8.0 / 10_000.0;
    assert!(
        (flow.completion_ms() - expected).abs() < 1.5,
        "{}",
        flow.completion_ms()
    );
}

#[test]
fn a_lost_syn_leaves_the_initial_window() {
    let (lost, clean) = (
        fetch("300 kB", &[1], &json!({})),
        fetch("300 kB", &[], &json!({})),
    );
    assert_eq!(lost.count("timeouts"), 1);
    // A second, and what is left until its timer ends: at every eighth tick of 4 ms, for it waits so long (docs/concepts/partial-packets.md).
    let later = lost.completion_ms() - clean.completion_ms();
    assert!((later - 1024.0).abs() < 0.001, "{later}");
}
