//! Senders whose applications write over time: sizes of segments, Nagle's algorithm, the window after a pause, the end of a connection.
//!
//! 10 Mbit/s, 20 ms each way, unless said otherwise; `linux` segments are of 1448 bytes and headers of 52.

use crate::columns::{counts, first, numbers};
use sawtooth_core::record::Records;
use sawtooth_core::{scenario, simulate};
use serde_json::{Value, json};

fn run(stack: &str, source: &Value, tcp: &Value, link: &Value, duration: &str) -> Run {
    let mut tree = json!({
        "duration": duration, "stack": stack, "cc": "reno", "tcp": tcp, "sample": "ack",
        "links": {"l": {"rate": "10 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "1000 packets"}}},
        "flows": [{"path": ["l"], "source": source}],
    });
    for (key, value) in link.as_object().expect("keys of a link") {
        tree["links"]["l"][key] = value.clone();
    }
    let scenario = scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}"));
    Run(simulate(&scenario, 1))
}

struct Run(Records);

impl Run {
    fn counts(&self, table: &str, column: &str) -> Vec<u64> {
        counts(&self.0, table, column)
    }

    fn flow(&self, column: &str) -> u64 {
        self.counts("flows", column)[0]
    }

    fn completion_ms(&self) -> f64 {
        first(&self.0, "flows", "completion_ns") / 1e6
    }

    /// Windows in segments after every acknowledgement, and its time in seconds.
    fn windows(&self) -> Vec<(f64, f64)> {
        let times = numbers(&self.0, "series", "t_ns");
        let windows = numbers(&self.0, "series", "cwnd_bytes");
        let pairs = times.iter().zip(windows);
        pairs.map(|(t, cwnd)| (t / 1e9, cwnd / 1448.0)).collect()
    }
}

fn messages(size: &str, interval: &str, count: u64) -> Value {
    json!({"name": "messages", "size": size, "interval": interval, "count": count})
}

#[test]
fn every_byte_is_counted_once_however_it_was_cut_lost_and_repeated() {
    // 40 messages of 1999 bytes, of which every 7th packet is lost: full segments, short ones and both sent again.
    let drop: Vec<u64> = (3..500).step_by(7).collect();
    for stack in ["rfc", "linux", "ns2"] {
        for nagle in ["nodelay", "nagle", "minshall"] {
            for size in ["1 B", "1999 B", "10 kB"] {
                let run = run(
                    stack,
                    &messages(size, "30 ms", 40),
                    &json!({"partial": nagle}),
                    &json!({"drop": drop}),
                    "600 s",
                );
                let bytes = 40 * size.trim_end_matches(" B").parse().unwrap_or(10_000_u64);
                let counted = (run.flow("delivered_bytes"), run.flow("acked_bytes"));
                assert_eq!(counted, (bytes, bytes), "{stack} {nagle} {size}");
                assert!(run.flow("retransmits") > 0 && run.completion_ms() > 0.0);
            }
        }
    }
}

#[test]
fn rfc896_short_writes_coalesce_into_one_segment_per_round_trip() {
    // 100 bytes every 10 ms for 1 s over a round trip of 40 ms: without Nagle's algorithm a segment each; with it, what is written in a round
    // trip, four or five writes, waits for the acknowledgement. Acknowledgements are not delayed.
    let tcp = |nagle: &str| json!({"partial": nagle, "ack_every": 1});
    let segments = |nagle| {
        let source = messages("100 B", "10 ms", 100);
        run("rfc", &source, &tcp(nagle), &json!({}), "3 s").flow("acked_packets")
    };
    // The first three are written before the connection is established, and leave as one.
    let each = segments("nodelay");
    assert!((94..=97).contains(&each), "{each}");
    let coalesced = segments("nagle");
    assert!((18..=28).contains(&coalesced), "{coalesced}");
    assert_eq!(segments("minshall"), coalesced, "all of them are short");
}

#[test]
fn minshall_a_message_of_full_segments_and_a_short_one_is_not_delayed() {
    // One message of 3000 bytes, and another 1 s later: with Nagle's algorithm the last 104 bytes of the first wait for the acknowledgement of
    // the full segments, which is not delayed as there are two; with Minshall's they do not.
    let source = messages("3000 B", "1 s", 2);
    let delivered_at_80_ms = |nagle: &str| {
        // 40 ms handshake, 20 ms to the receiver; the acknowledgement and the rest take 40 ms more.
        let run = run(
            "linux",
            &source,
            &json!({"partial": nagle}),
            &json!({}),
            "80 ms",
        );
        run.flow("delivered_bytes")
    };
    assert_eq!(delivered_at_80_ms("minshall"), 3000);
    assert_eq!(delivered_at_80_ms("nodelay"), 3000);
    assert_eq!(delivered_at_80_ms("nagle"), 2896);
}

#[test]
fn rfc9293_3_6_the_fin_rides_on_what_waits_or_comes_alone_and_is_sent_again_if_lost() {
    let bulk = |size: &str| json!({"name": "bulk", "size": size});
    let fetch = |size: &str, fin: bool, drop: &[u64]| {
        run(
            "linux",
            &bulk(size),
            &json!({"fin": fin}),
            &json!({"drop": drop}),
            "10 s",
        )
    };
    // 5 segments leave at once, SYN before them, and the FIN after them; 14 do not fit into the first window.
    let (alone, none) = (fetch("7 kB", true, &[]), fetch("7 kB", false, &[]));
    assert_eq!(
        (alone.flow("sent_packets"), none.flow("sent_packets")),
        (7, 6)
    );
    assert_eq!(alone.flow("acked_packets"), 5);
    assert!((alone.completion_ms() - none.completion_ms()).abs() < 1e-6);
    assert_eq!(fetch("20 kB", true, &[]).flow("sent_packets"), 15);
    // 10 segments fill the first window, and the FIN follows them, as measured of Linux: within 50 ms SYN, 10 segments and FIN.
    let full = json!({"name": "bulk", "size": "14480 B"});
    let started = run("linux", &full, &json!({}), &json!({}), "50 ms");
    assert_eq!(started.flow("sent_packets"), 12);
    // Packets are SYN, ACK, five of data, FIN: lost, it is sent again, and the data was there before.
    let lost = fetch("7 kB", true, &[8]);
    assert_eq!(
        (lost.flow("sent_packets"), lost.flow("retransmits")),
        (8, 1)
    );
    assert!((lost.completion_ms() - none.completion_ms()).abs() < 1e-6);
}

#[test]
fn rfc2861_a_window_decays_while_nothing_is_sent_and_rfc5681_it_restarts() {
    // 100 kB at once open the window far beyond 10 segments; 10 kB follow 1.5 s later, after about 7 timeouts of 0.2 s and a round trip.
    let source = messages("100 kB", "1.7 s", 2);
    let second = |kind: &str| {
        let run = run(
            "linux",
            &source,
            &json!({"restart_after_idle": kind}),
            &json!({}),
            "3 s",
        );
        let windows = run.windows();
        let before = windows.iter().rfind(|(t, _)| *t < 1.7).expect("one").1;
        let after = windows.iter().find(|(t, _)| *t > 1.7).expect("one").1;
        (before, after)
    };
    let (before, kept) = second("off");
    assert!(before >= 40.0 && kept >= before, "{before} {kept}");
    // The first acknowledgement after the pause adds a segment or two to the window of ten.
    let (_, decayed) = second("decay");
    assert!((10.0..=12.0).contains(&decayed), "{decayed}");
    let (_, restarted) = second("restart_window");
    assert!((10.0..=12.0).contains(&restarted), "{restarted}");
}

#[test]
fn rfc7661_a_window_that_is_not_used_does_not_grow() {
    // 7 segments (10 kB) every 100 ms: in slow start the window grows as long as it is less than twice what is in use, to 14.
    let source = json!({"name": "messages", "size": "10 kB", "interval": "100 ms"});
    let last = |validation: bool| {
        let tcp = json!({"cwnd_validation": validation});
        let run = run("linux", &source, &tcp, &json!({}), "20 s");
        run.windows().last().expect("acknowledgements").1
    };
    let validated = last(true);
    assert!((14.0..=15.0).contains(&validated), "{validated}");
    assert!(last(false) > 100.0);
}
