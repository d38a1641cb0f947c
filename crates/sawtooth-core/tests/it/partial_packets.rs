//! When less than a full segment leaves, and what waits for it: one connection over a millisecond each way, worked out by hand.

use crate::columns::{counts, first};
use sawtooth_core::internals::scenario::for_kernel;
use sawtooth_core::record::Records;
use sawtooth_core::{scenario, simulate};
use serde_json::{Value, json};

/// A link whose transmissions are so short that they are within the tests' tolerance; no handshake, segments of 1000 B, a window of four.
fn run(tcp: &Value, source: &Value) -> Records {
    let mut tree = json!({
        "duration": "5 s", "links": {"l": {"rate": "10 Gbit/s", "delay": "1 ms"}},
        "tcp": {"handshake": false, "smss": "1000 B", "window_limit": "4 packets", "initial_window": "4 packets"},
        "flows": [{"path": ["l"], "source": source}],
    });
    if tcp.get("ack_window_share").is_none() {
        tree["tcp"]["ack_every"] = json!(1);
    }
    for (key, value) in tcp.as_object().expect("keys") {
        tree["tcp"][key] = value.clone();
    }
    simulate(
        &scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}")),
        1,
    )
}

fn millis(records: &Records, table: &str, column: &str) -> f64 {
    first(records, table, column) / 1e6
}

/// When a message of so many bytes has arrived, milliseconds.
fn arrives(tcp: &Value, bytes: u32) -> f64 {
    let message = json!({"name": "messages", "count": 1, "size": format!("{bytes} B")});
    millis(&run(tcp, &message), "flows", "completion_ns")
}

fn close(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() < 0.02,
        "{found} ms, not {expected}"
    );
}

#[test]
fn a_partial_packet_without_room_leaves_when_there_is_some() {
    for partial in ["nodelay", "minshall", "cork"] {
        // Four segments, which are acknowledged after 2 ms, and 500 B that arrive a millisecond later.
        close(arrives(&json!({"partial": partial}), 4500), 3.0);
        close(arrives(&json!({"partial": partial}), 3500), 1.0);
    }
}

#[test]
fn with_the_fault_of_linux_2_0_29_it_leaves_when_a_delayed_acknowledgement_has_come() {
    // Segments of a window of four are acknowledged in pairs, or when a timer of 20 ms expires, or one of 10 ms if several wait.
    let fault = |phase: &str| {
        json!({
            "partial": "linux-2.0.29", "timer_tick": "10 ms", "whole_ticks": false, "receiver_phase": phase, "ack_window_share": 0.75,
            "delayed_ack_timeout": "20 ms", "delayed_ack_timeout_several": "10 ms",
        })
    };
    // Groups of three. Three are acknowledged at 1 ms, what follows them at 2 ms leaves after a round trip more: six full ones at once, at 4 ms; it arrives at 5.
    close(arrives(&fault("0 ms"), 6500), 5.0);
    close(arrives(&json!({"partial": "minshall"}), 6500), 3.0);
    // A fourth, at 1 ms, waits alone until the second tick: 20 ms, and 1 ms each way. A tick at 3 ms: 13 ms.
    close(arrives(&fault("0 ms"), 4500), 22.0);
    close(arrives(&fault("3 ms"), 4500), 15.0);
    // A fifth comes at 3 ms: from then on only until the next tick.
    close(arrives(&fault("0 ms"), 5500), 12.0);
    close(arrives(&fault("5 ms"), 5500), 7.0);
    // Everything that fits the window, and full segments beyond it, leave as they always do.
    close(arrives(&fault("0 ms"), 3500), 1.0);
    close(arrives(&fault("0 ms"), 5000), 3.0);
}

#[test]
fn with_a_timer_of_its_own_it_leaves_at_a_tick_of_that() {
    let fault = |phase: &str, whole: bool| json!({"partial": "linux-2.0.29", "partial_timer": "10 ms", "timer_tick": "10 ms", "whole_ticks": whole, "sender_phase": phase});
    // Held at 0 ms, a tick: the timer of one tick expires at 10 ms, and the packet arrives a millisecond later; without the fault it took 3 ms.
    close(arrives(&fault("0 ms", false), 4500), 11.0);
    // Ticks at 3, 13 ms: at 3 ms there is room, since 2 ms. At 1 ms there is none yet, so 11 ms it is. With whole ticks 13 and 11.
    close(arrives(&fault("3 ms", false), 4500), 4.0);
    close(arrives(&fault("1 ms", false), 4500), 12.0);
    close(arrives(&fault("3 ms", true), 4500), 14.0);
    close(arrives(&fault("1 ms", true), 4500), 12.0);
    // 20 ms, two ticks; and without ticks as long as it says.
    let mut longer = fault("3 ms", false);
    longer["partial_timer"] = json!("20 ms");
    close(arrives(&longer, 4500), 14.0);
    close(
        arrives(
            &json!({"partial": "linux-2.0.29", "partial_timer": "5 ms"}),
            4500,
        ),
        6.0,
    );
    // Everything that fits the window, and full segments beyond it, leave as they always do.
    close(arrives(&fault("0 ms", false), 3500), 1.0);
    close(arrives(&fault("0 ms", false), 5000), 3.0);
    close(arrives(&fault("0 ms", false), 999), 1.0);
}

#[test]
fn a_window_of_bytes_has_room_for_what_full_segments_leave_of_it() {
    // Segments of 9140 B, as over ATM: three of them and 5348 B are 32 KiB.
    let tcp = |partial: &str, byte_window: bool| json!({"partial": partial, "smss": "9140 B", "window_limit": "32768 B", "byte_window": byte_window, "timer_tick": "10 ms"});
    close(arrives(&tcp("nodelay", true), 32_768), 1.03);
    close(arrives(&tcp("nodelay", true), 32_769), 3.01);
    close(arrives(&tcp("nodelay", false), 32_768), 3.01);
    close(arrives(&tcp("linux-2.0.29", true), 32_768), 1.03);
    // Acknowledged one by one: everything is at 2.02 ms.
    close(arrives(&tcp("linux-2.0.29", true), 32_769), 3.03);
    // The congestion window is of segments.
    let mut three = tcp("nodelay", true);
    three["initial_window"] = json!("3 packets");
    close(arrives(&three, 32_768), 3.01);
}

#[test]
fn the_wait_is_the_sources_own_and_nobody_times_out_meanwhile() {
    // For almost 3 s nothing is outstanding, and nothing is retransmitted, though a retransmission timeout is 1 s.
    let message = json!({"name": "messages", "count": 1, "size": "4500 B"});
    let records = run(
        &json!({"partial": "linux-2.0.29", "partial_timer": "3 s"}),
        &message,
    );
    close(millis(&records, "flows", "completion_ns"), 3001.0);
    close(millis(&records, "flows", "limited_nagle_ns"), 3000.0 - 2.0);
    assert_eq!(counts(&records, "flows", "timeouts"), [0]);
}

#[test]
fn tcp_7_a_corked_packet_waits_until_it_is_full_or_a_timeout_has_passed() {
    let messages = |interval: u32| json!({"name": "messages", "count": 2, "size": "500 B", "interval": format!("{interval} ms")});
    let cork = json!({"partial": "cork", "partial_timer": "200 ms"});
    let corked = |interval| run(&cork, &messages(interval));
    // Without a timer of its own two that come 3 s apart wait for a second each, the least retransmission timeout (RFC 6298 §2.1, §2.4).
    let lone = json!({"name": "messages", "size": "500 B", "interval": "3 s"});
    let records = run(&json!({"partial": "cork"}), &lone);
    close(millis(&records, "flows", "limited_nagle_ns"), 2000.0);
    // Two halves make a whole, which leaves with the second.
    let records = corked(150);
    close(millis(&records, "flows", "completion_ns"), 151.0);
    close(millis(&records, "flows", "limited_nagle_ns"), 150.0);
    // The first leaves after 200 ms, the second when the application closes.
    let records = corked(300);
    close(millis(&records, "flows", "completion_ns"), 301.0);
    close(millis(&records, "flows", "limited_nagle_ns"), 200.0);
}

#[test]
fn what_is_corked_during_the_handshake_waits_from_its_end_on() {
    // Nobody can write before the connection is there, after 2 ms; then the timeout is that of one round trip of 2 ms, 200 ms at least (as on Linux 6.1),
    // not the second of a connection that knows none (RFC 6298 §2.1).
    let tcp = json!({"partial": "cork", "handshake": true, "rto_min": "200 ms"});
    let lone = json!({"name": "messages", "count": 2, "size": "500 B", "interval": "2 s"});
    let records = run(&tcp, &lone);
    close(millis(&records, "flows", "limited_nagle_ns"), 200.0);
}

#[test]
fn write_write_read_waits_for_a_delayed_acknowledgement_unless_nodelay() {
    // A request of two writes: with Nagle's algorithm, and Minshall's, the second waits until the first is acknowledged, 1 ms, 40 ms and 1 ms
    // later; then it takes a millisecond, and so does the response.
    let exchange = |partial: &str, writes: u32| {
        let tcp = json!({"partial": partial, "ack_every": 2, "delayed_ack_timeout": "40 ms"});
        let source = json!({
            "name": "request_response", "request": "300 B", "response": "300 B", "think": "100 ms", "count": 20,
            "request_writes": writes,
        });
        millis(&run(&tcp, &source), "exchanges", "completion_max_ns")
    };
    close(exchange("nagle", 2), 44.0);
    close(exchange("minshall", 2), 44.0);
    close(exchange("nodelay", 2), 2.0);
    close(exchange("nagle", 1), 2.0);
}

#[test]
fn pieces_of_a_message_leave_one_by_one_with_nodelay_and_together_with_nagle() {
    let packets = |partial: &str| {
        let source = json!({"name": "messages", "count": 1, "size": "900 B", "writes": 3, "write_interval": "10 us"});
        let records = run(&json!({"partial": partial}), &source);
        counts(&records, "links", "arrived_packets")[0]
    };
    // Three, and the FIN; with Nagle the first, the two others together with the FIN.
    assert_eq!((packets("nodelay"), packets("nagle")), (4, 2));
}

#[test]
fn an_unknown_policy_is_refused() {
    let tree = json!({
        "duration": "1 s", "links": {"l": {"rate": "1 Mbit/s"}}, "flows": [{"path": ["l"]}], "tcp": {"partial": "nagel"},
    });
    let error = scenario::from_tree(&tree).expect_err("there is none of that name");
    assert_eq!(error.path, "tcp.partial");
    let tree = |partial: &str| {
        json!({
            "duration": "1 s", "links": {"l": {"rate": "1 Mbit/s"}}, "flows": [{"path": ["l"]}], "tcp": {"partial": partial},
        })
    };
    let error = for_kernel(&tree("linux-2.0.29")).expect_err("no kernel has it");
    assert_eq!(
        error.message,
        "a real kernel knows no `partial = \"linux-2.0.29\"`"
    );
    assert_eq!(
        error.hint.as_deref(),
        Some(
            "it has `nodelay`, `minshall` and `cork`; an arm with `backends = [\"sim\"]` is the simulator's alone"
        )
    );
    assert!(for_kernel(&tree("cork")).is_ok());
}

/// Packets in which `writes` of 300 B leave, 10 us apart, over an interface that takes 28.16 ms for one of them, long before any is acknowledged.
fn packets_over_a_slow_interface(tcp: &Value, writes: u32) -> (u64, f64) {
    let mut tree = json!({
        "duration": "5 s", "stack": "linux", "links": {"l": {"rate": "100 kbit/s", "delay": "400 ms"}},
        "host": "pc", "hosts": {"pc": {"packet_overhead": "1280 B", "close": "acknowledged"}},
        "tcp": {"handshake": false, "fin": false, "partial": "nodelay", "tail_loss_probe": false, "rto_initial": "3 s"},
        "flows": [{"path": ["l"], "source": {"name": "messages", "count": 1, "size": format!("{} B", 300 * writes), "writes": writes, "write_interval": "10 us"}}],
    });
    for (key, value) in tcp.as_object().expect("keys") {
        tree["tcp"][key] = value.clone();
    }
    let scenario = scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}"));
    let records = simulate(&scenario, 1);
    let packets = counts(&records, "flows", "sent_packets")[0];
    (packets, millis(&records, "flows", "completion_ns"))
}

#[test]
fn autocorking_gathers_what_is_written_while_the_interface_is_busy() {
    // As measured of Linux 6.1 (see `tcp/partial.rs`): the second write is no more than what is in the queue, and waits; with the third it is more, and both leave. The next
    // ones wait behind these two packets until they are a full one of 1448 B, with the eighth.
    for (writes, packets) in [(1, 1), (2, 2), (3, 2), (4, 3), (5, 3), (7, 3), (8, 4)] {
        let found = packets_over_a_slow_interface(&json!({}), writes).0;
        assert_eq!(found, packets, "{writes} writes");
        let each = packets_over_a_slow_interface(&json!({"autocorking": false}), writes).0;
        assert_eq!(each, u64::from(writes));
    }
}

#[test]
fn what_autocorking_puts_off_leaves_when_the_interface_has_transmitted_a_packet() {
    // 352 B take 28.16 ms. The second of them follows the first without a gap, held or not.
    for autocorking in [true, false] {
        let tcp = json!({"autocorking": autocorking});
        close(
            packets_over_a_slow_interface(&tcp, 2).1,
            2.0 * 28.16 + 400.0,
        );
    }
}
