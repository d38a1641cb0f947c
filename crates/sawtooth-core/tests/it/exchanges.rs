//! Requests and responses: each waits for what it depends on, and what is lost is sent again.

use crate::columns::{counts, wholes};
use crate::random::load;
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
    let median = wholes(records, "exchanges", "completion_p50_ns")[0] as f64;
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
    let first = wholes(&records, "exchanges", "completion_max_ns")[0] as f64 / 1e6;
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
    assert!(wholes(&records, "flows", "completion_ns")[0] > 0);
}

/// A window of one segment, so that a full one is outstanding alone while the response's short end waits behind it (Nagle's algorithm, RFC 9293 §3.7.4).
/// What is held back is data that has not been sent; a retransmission is not (RFC 6298 §5.4).
#[test]
fn a_full_segment_is_sent_again_though_a_short_one_waits_behind_it() {
    for lost in 2..12 {
        let tree = json!({
            "duration": "60 s", "stack": "rfc",
            "tcp": {"receive_buffer_default": "8 kB", "receive_buffer_max": "8 kB"},
            "links": {"l": {"rate": "138 kbit/s", "delay": "36 ms", "drop": [lost]}},
            "flows": [{"path": ["l"], "source": {"name": "request_response", "request": "2 B", "response": "4000 B", "count": 20}}],
        });
        let records = simulate(&load(&tree), 1);
        assert_eq!(counts(&records, "exchanges", "answered"), [20], "{lost}");
        assert_eq!(counts(&records, "flows", "timeouts"), [1], "{lost}");
    }
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
        let longest = |records| wholes(records, "exchanges", "completion_max_ns")[0];
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

/// Exchanges over 100 Mbit/s and 0.2 ms round trip, with ticks of 10 ms; requests are of 200 B, responses of 100, if nothing else is said.
fn nearby(tcp: &Value, source: &Value) -> Records {
    let mut all = json!({"name": "request_response", "request": "200 B", "response": "100 B", "think": "1 ms", "count": 8});
    let keys = source.as_object().expect("keys").clone();
    all.as_object_mut().expect("keys").extend(keys);
    let mut settings = json!({"timer_tick": "10 ms"});
    let keys = tcp.as_object().expect("keys").clone();
    settings.as_object_mut().expect("keys").extend(keys);
    let tree = json!({
        "duration": "20 s", "stack": "linux", "tcp": settings,
        "links": {"l": {"rate": "100 Mbit/s", "delay": "100 us"}},
        "flows": [{"path": ["l"], "source": all}],
    });
    simulate(&load(&tree), 1)
}

/// Mean time of an exchange, ms, and packets that the server and the client have sent.
fn mean_and_packets(records: &Records) -> (f64, [u64; 2]) {
    #[expect(clippy::cast_precision_loss, reason = "less than 20 s")]
    let mean = wholes(records, "exchanges", "completion_mean_ns")[0] as f64 / 1e6;
    let packets = counts(records, "links", "arrived_packets");
    (mean, [packets[0], packets[1]])
}

#[test]
fn exchanges_take_as_long_and_as_many_packets_as_on_linux_6_1() {
    // All numbers are a kernel's (user-mode Linux, 6.1.176). What is written apart waits for the other side's delayed acknowledgement, 40 ms and until the
    // next tick, but for the first exchange, whose acknowledgements leave at once.
    for (name, tcp, source, mean, packets) in [
        ("one write", json!({}), json!({}), 0.260, [12, 13]),
        (
            "two",
            json!({}),
            json!({"request_writes": 2}),
            42.910,
            [26, 20],
        ),
        (
            "two of a response",
            json!({}),
            json!({"response_writes": 2}),
            36.800,
            [19, 26],
        ),
        (
            "at once",
            json!({"partial": "nodelay"}),
            json!({"request_writes": 2}),
            0.267,
            [19, 20],
        ),
        // The server goes on to wait for answers over pauses longer than its timeout; the client never answers soon and never begins.
        (
            "pauses of 300 ms",
            json!({}),
            json!({"request_writes": 2, "think": "300 ms"}),
            43.785,
            [26, 27],
        ),
        (
            "pauses of 2 s",
            json!({}),
            json!({"request_writes": 2, "think": "2 s", "count": 8}),
            43.785,
            [26, 27],
        ),
        (
            "full segments",
            json!({}),
            json!({"request": "20 kB", "count": 4}),
            1.930,
            [42, 61],
        ),
        (
            "pauses between them",
            json!({}),
            json!({"request": "20 kB", "count": 4, "think": "300 ms"}),
            1.930,
            [42, 64],
        ),
    ] {
        let found = mean_and_packets(&nearby(&tcp, &source));
        // The kernel's ticks are 50 us before ours.
        assert!((found.0 - mean).abs() < 0.015, "{name}: {found:?}");
        assert_eq!(found.1, packets, "{name}");
    }
}

#[test]
fn acknowledgements_wait_for_who_has_answered_before_they_would_have_left() {
    // Measured as above: a server that answers after 39 ms delays the acknowledgement of the next request's first piece, 40 ms and a part of a tick;
    // one that answers after 41 ms does not. So does one after 45 ms if segments have come 30 ms apart, for which acknowledgements wait 50 ms, and after
    // 55 it does not: then the five pieces of a request take 5 packets back, and 3 to 5 otherwise.
    let times = [(39, 80.715, 16), (41, 41.441, 16)];
    for (server_think, mean, packets) in times {
        let source =
            json!({"request_writes": 2, "server_think": format!("{server_think} ms"), "count": 6});
        let found = mean_and_packets(&nearby(&json!({}), &source));
        assert!((found.0 - mean).abs() < 0.015, "{server_think}: {found:?}");
        assert_eq!(found.1, [20, packets]);
    }
    for (server_think, packets) in [(35, 18), (45, 23), (55, 27), (65, 27)] {
        let source = json!({
            "request": "500 B", "request_writes": 5, "write_interval": "30 ms", "server_think": format!("{server_think} ms"), "count": 4,
        });
        let found = mean_and_packets(&nearby(&json!({"partial": "nodelay"}), &source));
        assert_eq!(found.1, [packets, 25], "{server_think}");
    }
}

#[test]
fn rfc9293_3_8_6_3_an_answer_carries_the_acknowledgement_of_what_it_answers() {
    // Of every stack: the client's SYN and its answer, per exchange a packet each way, and at the end what acknowledges the last response, two FINs and
    // what acknowledges these. Requests come sooner than the delay of 100 ms is over.
    for stack in ["rfc", "linux-2.0.29"] {
        let tree = |think: u32| {
            json!({
                "duration": "20 s", "stack": stack, "tcp": {"delayed_ack_timeout": "100 ms"},
                "links": {"l": {"rate": "100 Mbit/s", "delay": "100 us"}},
                "flows": [{"path": ["l"], "source": {
                    "name": "request_response", "request": "200 B", "response": "100 B", "think": format!("{think} ms"), "count": 50,
                }}],
            })
        };
        let (_, soon) = mean_and_packets(&simulate(&load(&tree(1)), 1));
        let (_, late) = mean_and_packets(&simulate(&load(&tree(200)), 1));
        assert!(
            soon.iter().all(|sent| (50..=54).contains(sent)),
            "{stack}: {soon:?}"
        );
        // Then the client's acknowledgements have left by themselves, all but the last one's.
        assert!((50..=54).contains(&late[0]), "{stack}: {late:?}");
        assert!((99..=103).contains(&late[1]), "{stack}: {late:?}");
    }
}
