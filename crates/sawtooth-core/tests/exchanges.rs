//! Requests and responses: each waits for what it depends on, and what is lost is sent again.

#[expect(dead_code, reason = "other tests use the rest")]
mod random;

use random::{counts, load, times};
use sawtooth_core::record::Records;
use sawtooth_core::simulate;
use serde_json::{Value, json};

/// Twenty exchanges over 10 Mbit/s and 10 ms round trip; responses are of ten segments, the initial window.
fn run(source: &Value, drop: &Value) -> Records {
    let mut source = source.clone();
    source["name"] = json!("request_response");
    let tree = json!({
        "duration": "30 s", "stack": "linux",
        "links": {"l": {"rate": "10 Mbit/s", "delay": "5 ms", "reverse": {"drop": drop}}},
        "flows": [{"path": ["l"], "source": source}],
    });
    simulate(&load(&tree), 1)
}

fn median_ms(records: &Records) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "less than 30 s")]
    let median = times(records, "exchanges", "completion_p50_ns")[0] as f64;
    median / 1e6
}

#[test]
fn an_exchange_takes_a_round_trip_the_transmissions_and_the_servers_time() {
    // Request: 300 bytes and headers, 0.28 ms; response: ten packets of 1.2 ms; and 10 ms of propagation. Percentiles are within 1/128.
    let alone = 0.28 + 12.0 + 10.0;
    let sizes = json!({"response": "14480 B", "count": 20, "think": "20 ms"});
    let records = run(&sizes, &json!([]));
    assert_eq!(counts(&records, "exchanges", "answered"), [20]);
    assert!(
        (median_ms(&records) - alone).abs() < 0.3,
        "{}",
        median_ms(&records)
    );
    // The first one begins with the handshake: SYN and SYN-ACK.
    #[expect(clippy::cast_precision_loss, reason = "less than 30 s")]
    let first = times(&records, "exchanges", "completion_max_ns")[0] as f64 / 1e6;
    assert!((first - alone - 10.1).abs() < 0.3, "{first}");
    let mut slow = sizes.clone();
    slow["server_think"] = json!("50 ms");
    let slow = run(&slow, &json!([]));
    assert!(
        (median_ms(&slow) - alone - 50.0).abs() < 0.8,
        "{}",
        median_ms(&slow)
    );
    // Its data are the responses, and it has completed them all.
    assert_eq!(counts(&records, "flows", "delivered_bytes"), [20 * 14_480]);
    assert!(times(&records, "flows", "completion_ns")[0] > 0);
}

#[test]
fn a_request_that_is_lost_is_sent_again_and_all_are_answered() {
    let sizes = json!({"response": "5 kB", "count": 20, "think": "20 ms"});
    let whole = run(&sizes, &json!([]));
    for lost in 1..30 {
        let records = run(&sizes, &json!([lost]));
        assert_eq!(
            counts(&records, "exchanges", "answered"),
            [20],
            "without packet {lost}"
        );
        assert_eq!(counts(&records, "exchanges", "requested_bytes"), [6000]);
        let longest = |records| times(records, "exchanges", "completion_max_ns")[0];
        assert!(longest(&records) >= longest(&whole));
    }
}

#[test]
fn requests_queue_behind_what_else_crosses_the_reverse_link() {
    let tree = |others: u32| {
        json!({
            "duration": "30 s", "stack": "linux",
            "links": {
                "l": {"rate": "10 Mbit/s", "delay": "5 ms", "reverse": {"rate": "1 Mbit/s"}},
                // Data of the others crosses l's reverse side no less than the requests: it is their acknowledgements that go there.
                "m": {"rate": "10 Mbit/s", "delay": "5 ms"},
            },
            "flows": [
                {"name": "page", "path": ["l"], "source": {"name": "request_response", "response": "14480 B", "think": "50 ms"}},
                {"name": "bulk", "path": ["m", "l"], "count": 3, "source": {"name": "bulk", "size": format!("{others} B")}},
            ],
        })
    };
    let idle = simulate(&load(&tree(1)), 1);
    let busy = simulate(&load(&tree(30_000_000)), 1);
    assert!(median_ms(&busy) > median_ms(&idle) + 5.0);
}
