//! Flows that are a fluid: beside packets, against theory, and what they cannot be.

use crate::columns::{first, numbers, wholes};
use sawtooth_core::record::Records;
use sawtooth_core::{scenario, simulate};
use serde_json::{Value, json};

fn run(tree: &Value) -> Records {
    simulate(
        &scenario::from_tree(tree).unwrap_or_else(|error| panic!("{error}")),
        1,
    )
}

/// Flows of Reno that are a fluid, or packets, beside one that is looked at.
fn beside(model: &str, number: u32, rate: &str, limit: &str) -> Value {
    json!({
        "duration": "60 s", "stack": "linux", "cc": "reno",
        "links": {"l": {"rate": rate, "delay": "25 ms", "queue": {"name": "drop_tail", "limit": limit}}},
        "flows": [
            {"path": ["l"], "name": "seen"},
            {"path": ["l"], "name": "others", "model": model, "count": number, "start": "i / count * 1 s"},
        ],
    })
}

#[test]
fn the_link_is_as_with_packets() {
    let [packets, fluid] =
        ["packets", "fluid"].map(|model| run(&beside(model, 50, "100 Mbit/s", "1 bdp")));
    let of = |records: &Records, column| first(records, "links", column);
    let ratio = |column| of(&fluid, column) / of(&packets, column);
    assert!((ratio("utilisation") - 1.0).abs() < 0.01);
    assert!(
        (ratio("wait_mean_ns") - 1.0).abs() < 0.15,
        "{}",
        ratio("wait_mean_ns")
    );
    let lost = ratio("dropped_packets") / ratio("arrived_packets");
    assert!((lost - 1.0).abs() < 0.2, "{lost}");
    // Of 51 flows alike the one of packets has its share, roughly.
    let goodput = |records: &Records| first(records, "flows", "goodput_bps");
    let seen = goodput(&fluid) / goodput(&packets);
    assert!((0.4..2.5).contains(&seen), "{seen}");
}

#[test]
fn what_is_sent_is_acknowledged_or_lost_or_on_its_way() {
    let records = run(&json!({
        "duration": "20 s", "stack": "linux", "cc": "reno",
        "links": {
            "first": {"rate": "200 Mbit/s", "delay": "5 ms"},
            "second": {"rate": "100 Mbit/s", "delay": "20 ms", "queue": {"name": "drop_tail", "limit": "300 packets"}},
        },
        "flows": [{"path": ["first", "second"], "model": "fluid", "count": 20}],
    }));
    let of = |column| first(&records, "fluid", column);
    let acked = of("delivered_bytes") * 1500.0 / 1448.0;
    let under_way = of("sent_bytes") - acked - of("lost_bytes");
    // A round trip of the slower link, its buffer full or not.
    let most = 100e6 / 8.0 * 0.05 + 300.0 * 1500.0 + 20.0 * 1500.0;
    assert!((0.0..most).contains(&under_way), "{under_way} of {most}");
    // What the senders have heard to be lost, the links have dropped.
    let dropped: f64 = numbers(&records, "links", "dropped_bytes").iter().sum();
    assert!(
        (dropped - of("lost_bytes")).abs() < 0.05 * dropped,
        "{dropped}"
    );
    // What left the first link came to the second, but for what was on the way.
    let [arrived, lost] =
        ["arrived_bytes", "dropped_bytes"].map(|column| numbers(&records, "links", column));
    let between = arrived[0] - lost[0] - arrived[2];
    assert!((0.0..most).contains(&between), "{between}");
}

#[test]
fn a_buffer_holds_no_more_than_its_limit() {
    let mut tree = beside("fluid", 100, "50 Mbit/s", "60 packets");
    tree["sample"] = json!("10 ms");
    let records = run(&tree);
    assert!(first(&records, "links", "peak_packets") <= 60.0);
    let queues = numbers(&records, "queues", "backlog_packets");
    assert!(queues.iter().all(|found| *found <= 60.0));
    assert!(queues.iter().any(|found| *found >= 50.0));
    let utilisation = first(&records, "links", "utilisation");
    assert!((0.9..=1.0 + 1e-3).contains(&utilisation), "{utilisation}");
}

#[test]
fn a_window_limit_gives_window_over_round_trip_time() {
    let records = run(&json!({
        "duration": "100 s", "stack": "rfc", "tcp": {"window_limit": "10 packets", "ack_every": 1},
        "links": {"l": {"rate": "1 Gbit/s", "delay": "50 ms"}},
        "flows": [{"path": ["l"], "model": "fluid", "count": 7}],
    }));
    let rtt = 0.1 + 1500.0 * 8.0 / 1e9;
    let expected = 7.0 * 10.0 * 1460.0 / rtt * 100.0;
    let got = first(&records, "fluid", "delivered_bytes");
    assert!(
        (got / expected - 1.0).abs() < 0.02,
        "{got} is not {expected}"
    );
    assert!((first(&records, "fluid", "rtt_mean_ns") / 1e9 - rtt).abs() < 1e-6);
    assert_eq!(first(&records, "fluid", "lost_bytes"), 0.0);
}

#[test]
fn slow_start_doubles_every_round_trip() {
    // A handshake and four windows, of which the last is on its way: 2 + 4 + 8 + 16 of each flow.
    let records = run(&json!({
        "duration": "0.45 s", "stack": "rfc", "tcp": {"ack_every": 1, "initial_window": "2 packets"},
        "links": {"l": {"rate": "10 Gbit/s", "delay": "50 ms", "queue": {"name": "drop_tail", "limit": "10000 packets"}}},
        "flows": [{"path": ["l"], "model": "fluid", "count": 10}],
    }));
    let sent = first(&records, "fluid", "sent_bytes") / 1500.0;
    assert!((sent / 300.0 - 1.0).abs() < 0.05, "{sent}");
}

#[test]
fn the_same_seed_gives_the_same_and_shortcuts_change_nothing() {
    let mut tree = beside("fluid", 20, "20 Mbit/s", "1 bdp");
    let records = run(&tree);
    assert_eq!(records, run(&tree));
    tree["shortcuts"] =
        json!({"computed_hops": false, "ring": false, "no_tx_event": false, "plain_way": false});
    assert_eq!(records, run(&tree));
}

#[test]
fn a_packet_queues_behind_fluid() {
    // The fluid's windows fill the link and keep 100 packets waiting, of 1500 bytes: 120 ms at 10 Mbit/s.
    let records = run(&json!({
        "duration": "20 s", "stack": "rfc",
        "links": {"l": {"rate": "10 Mbit/s", "delay": "50 ms", "queue": {"name": "drop_tail", "limit": "1000 packets"}}},
        "flows": [
            {"path": ["l"], "model": "fluid", "count": 10, "name": "others", "tcp": {"window_limit": "18 packets", "ack_every": 1}},
            {"path": ["l"], "transport": "udp", "start": "10 s", "name": "seen", "source": {"name": "constant_rate", "rate": "10 kbit/s", "size": "125 B"}},
        ],
    }));
    let delay = first(&records, "datagrams", "delay_mean_ns") / 1e9;
    let outstanding = 180.0 * 1500.0 * 8.0 / 10e6;
    let expected = outstanding - 0.05;
    assert!((delay - expected).abs() < 0.01, "{delay} is not {expected}");
    assert_eq!(wholes(&records, "datagrams", "lost_packets"), [0]);
}

#[test]
fn what_no_fluid_can_be_is_refused() {
    let outage = json!([{"from": "1 s", "until": "2 s"}]);
    let transfers = json!({"rate": 1, "size": "1 kB"});
    for (of, key, value, path, what) in [
        (
            "/flows/1",
            "cc",
            json!("cubic"),
            "flows[1].cc",
            "grows and falls by constants",
        ),
        (
            "/flows/1",
            "source",
            json!("bulk"),
            "flows[1].source",
            "they send without end",
        ),
        (
            "/flows/1",
            "arrivals",
            transfers,
            "flows[1].arrivals",
            "they send without end",
        ),
        (
            "/flows/1",
            "model",
            json!("liquid"),
            "flows[1].model",
            "unknown model `liquid`",
        ),
        (
            "/flows/1",
            "delay",
            json!("i * 1 ms"),
            "flows[1]",
            "nothing but their `start`",
        ),
        (
            "/flows/1",
            "tcp",
            json!({"recovery": "reno"}),
            "flows[1].tcp.recovery",
            "once for all losses of a round trip",
        ),
        (
            "/flows/1",
            "tcp",
            json!({"ecn": "classic"}),
            "flows[1].tcp.ecn",
            "of no marks",
        ),
        (
            "/links/l",
            "queue",
            json!("codel"),
            "links.l.queue",
            "a queue `codel`",
        ),
        (
            "/links/l",
            "loss",
            json!(0.01),
            "links.l.loss",
            "losses on the wire",
        ),
        (
            "/links/l",
            "medium",
            json!("ethernet"),
            "links.l.medium",
            "a `medium`",
        ),
        (
            "/links/l",
            "outages",
            outage,
            "links.l",
            "that is not plain",
        ),
    ] {
        let mut tree = beside("fluid", 5, "10 Mbit/s", "1 bdp");
        tree.pointer_mut(of).expect("a table")[key] = value;
        let error = scenario::from_tree(&tree).expect_err("refused");
        assert_eq!(error.path, path, "{error}");
        assert!(error.message.contains(what), "{error}");
    }
}

#[test]
fn whoever_uses_it_is_told_that_it_is_an_approximation() {
    let tree = beside("fluid", 5, "10 Mbit/s", "1 bdp");
    let (scenario, origins) = scenario::read(&tree).expect("a scenario");
    let warnings = scenario::warnings(&scenario, &origins);
    let found = warnings
        .iter()
        .find(|warning| warning.path == "flows[1].model");
    assert!(found.is_some_and(|warning| warning.message.contains("an approximation")));
    let warned = |tree: &Value| {
        let (scenario, origins) = scenario::read(tree).expect("a scenario");
        let warnings = scenario::warnings(&scenario, &origins);
        warnings
            .iter()
            .any(|warning| warning.message.contains("of no use here"))
    };
    // 42 segments on the way and as many in the buffer.
    assert!(!warned(&tree));
    assert!(warned(&beside("fluid", 50, "10 Mbit/s", "1 bdp")));
}
