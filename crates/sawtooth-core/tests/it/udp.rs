//! Flows of UDP: what queueing theory says of them, and what they do to TCP beside them.

use crate::columns::{first, numbers, wholes, words};
use sawtooth_core::record::Records;
use sawtooth_core::{Scenario, scenario, simulate, simulate_with_effort};
use serde_json::{Value, json};

fn run(tree: &Value) -> Records {
    simulate(&load(tree), 1)
}

fn load(tree: &Value) -> Scenario {
    scenario::from_tree(tree).unwrap_or_else(|error| panic!("{error}"))
}

fn queue(source: &Value, duration: &str) -> Records {
    run(&json!({
        "duration": duration,
        "links": {"l": {"rate": "100 Mbit/s", "queue": {"name": "drop_tail", "limit": "1000000 packets"}}},
        "flows": [{"path": ["l"], "transport": "udp", "source": source}],
    }))
}

#[test]
fn a_stream_of_constant_rate_crosses_a_link_in_transmission_and_propagation_time() {
    let records = run(&json!({
        "duration": "2 s",
        "links": {"l": {"rate": "12 Mbit/s", "delay": "10 ms"}},
        "flows": [{"path": ["l"], "transport": "udp", "start": "0.5 s", "stop": "1 s",
            "source": {"name": "constant_rate", "rate": "6 Mbit/s"}}],
    }));
    let find = |column| first(&records, "datagrams", column);
    // 6 Mbit/s in packets of 12 000 bits are 500 per second, for half a second; each takes 1 ms to send.
    assert_eq!(
        (find("sent_packets"), find("delivered_packets")),
        (250.0, 250.0)
    );
    assert_eq!((find("sent_bytes"), find("lost_packets")), (375_000.0, 0.0));
    for column in ["delay_mean_ns", "delay_min_ns", "delay_max_ns"] {
        assert!((find(column) - 11e6).abs() <= 1.0, "{column}");
    }
    assert_eq!(find("jitter_ns"), 0.0);
    // Headers are not delivered; the mean is over the rest of the run, 1.5 s.
    assert_eq!(first(&records, "flows", "delivered_bytes"), 250.0 * 1472.0);
    assert!((first(&records, "flows", "goodput_bps") - 250.0 * 1472.0 * 8.0 / 1.5).abs() < 1e-6);
    assert_eq!(first(&records, "flows", "completion_ns"), -1.0);
    // Without acknowledgements nothing is known of them.
    assert_eq!(first(&records, "flows", "acked_packets"), -1.0);
}

#[test]
fn a_flows_own_delay_is_part_of_its_one_way_delay() {
    let records = run(&json!({
        "duration": "1 s",
        "links": {"l": {"rate": "12 Mbit/s", "delay": "10 ms"}},
        "flows": [{"path": ["l"], "transport": "udp", "count": 2, "delay": "(i - 1) * 7 ms", "start": "(i - 1) * 2 ms",
            "source": {"name": "constant_rate", "rate": "3 Mbit/s"}}],
    }));
    // A transmission of 1 ms, 10 ms of the link and 7 ms of the second flow's own. Each has a packet in 4 ms; the second's come to the link 2 + 7 ms after the
    // first's, 1 ms after the next but one of those, when that has just left.
    let least = wholes(&records, "datagrams", "delay_min_ns");
    assert!((least[0] - 11_000_000).abs() <= 1, "{least:?}");
    assert!((least[1] - 18_000_000).abs() <= 1, "{least:?}");
}

#[test]
fn what_a_full_link_drops_is_what_did_not_fit() {
    let records = run(&json!({
        "duration": "10 s",
        "links": {"l": {"rate": "12 Mbit/s", "delay": "10 ms", "queue": {"name": "drop_tail", "limit": "10 packets"}}},
        "flows": [{"path": ["l"], "transport": "udp", "source": {"name": "constant_rate", "rate": "24 Mbit/s"}}],
    }));
    // Of 2000 packets per second 1000 fit; 10 more are in the queue or on the wire at the end.
    let (sent, delivered) = (
        first(&records, "datagrams", "sent_packets"),
        first(&records, "datagrams", "delivered_packets"),
    );
    assert_eq!(sent, 20_000.0);
    assert!((delivered - 10_000.0).abs() <= 20.0, "{delivered}");
    let (lost, dropped) = (
        first(&records, "datagrams", "lost_packets"),
        first(&records, "links", "dropped_packets"),
    );
    assert!(
        dropped - lost <= 20.0 && dropped >= lost,
        "{lost} of {dropped}"
    );
}

/// With load r and service time s the mean wait is `s r / (1 - r)` with exponentially distributed sizes (M/M/1) and half of that with constant ones
/// (M/D/1): Pollaczek and Khinchine. Tolerances are 4 standard errors, from the spread over 8 seeds.
#[test]
fn poisson_packets_wait_as_long_as_in_an_m_m_1_and_an_m_d_1_queue() {
    for (sizes, size, factor) in [("exponential", 5000, 1.0), ("constant", 1250, 0.5)] {
        let service = f64::from(size) * 8.0 / 100e6;
        for share in [0.3, 0.6, 0.8] {
            let tree = json!({
                "duration": "200 s",
                "links": {"l": {"rate": "100 Mbit/s", "queue": {"name": "drop_tail", "limit": "1000000 packets"}}},
                "flows": [{"path": ["l"], "transport": "udp", "source": {
                    "name": "poisson", "rate": format!("{} Mbit/s", 100.0 * share), "size": format!("{size} B"), "sizes": sizes}}],
            });
            let scenario = load(&tree);
            let waits: Vec<f64> = (1..=8)
                .map(|seed| first(&simulate(&scenario, seed), "links", "wait_mean_ns") / 1e9)
                .collect();
            let mean = waits.iter().sum::<f64>() / 8.0;
            let spread = waits
                .iter()
                .map(|wait| (wait - mean) * (wait - mean))
                .sum::<f64>()
                / 7.0;
            let wanted = factor * service * share / (1.0 - share);
            let error = (spread / 8.0).sqrt();
            assert!(
                (mean - wanted).abs() < 4.0 * error + 2e-9,
                "{sizes}, load {share}: {mean}, not {wanted}, error {error}"
            );
            assert!(error < 0.02 * wanted, "the test would not see much");
        }
    }
}

/// Pollaczek and Khinchine: the mean wait is `rate E[S²] / (2 (1 - load))`, here of an M/G/1 queue whose packets are of two sizes, which two Poisson
/// flows make. Whoever comes at random finds the same queue: small packets wait as long as large ones. Tolerances as above.
#[test]
fn packets_of_two_sizes_wait_as_long_as_in_an_m_g_1_queue() {
    // Four of five packets have 500 B, one has 8000 B: 2000 B in the mean, 160 us; E[S²] is 13e6 B², 83,200 us². At a load of 0.7 there are 4375 per second,
    // and the wait is 4375e-6 x 83,200 / 0.6 = 606.67 us, 3.25 times that of packets of one size.
    let (load, wanted) = (0.7, 606.667e-6);
    let source = |share: f64, size: u32| {
        let rate = load * 100e6 * share * f64::from(size) / 2000.0;
        json!({"name": "poisson", "rate": format!("{rate} bit/s"), "size": format!("{size} B")})
    };
    let scenario = self::load(&json!({
        "duration": "100 s", "record": ["link_flows"],
        "links": {"l": {"rate": "100 Mbit/s", "queue": {"name": "drop_tail", "limit": "1000000 packets"}}},
        "flows": [
            {"name": "small", "path": ["l"], "transport": "udp", "source": source(0.8, 500)},
            {"name": "large", "path": ["l"], "transport": "udp", "source": source(0.2, 8000)},
        ],
    }));
    let mut waits = [const { Vec::new() }; 3];
    for seed in 1..=8 {
        let records = simulate(&scenario, seed);
        waits[0].push(first(&records, "links", "wait_mean_ns") / 1e9);
        let of_each = wholes(&records, "link_flows", "wait_mean_ns");
        for (kind, wait) in of_each.iter().take(2).enumerate() {
            #[expect(clippy::cast_precision_loss, reason = "compared with tolerances")]
            waits[kind + 1].push(*wait as f64 / 1e9);
        }
    }
    for (whose, found) in ["all", "small", "large"].iter().zip(waits) {
        let mean = found.iter().sum::<f64>() / 8.0;
        let spread = found.iter().map(|wait| (wait - mean) * (wait - mean));
        let error = (spread.sum::<f64>() / 7.0 / 8.0).sqrt();
        assert!(
            (mean - wanted).abs() < 4.0 * error,
            "{whose}: {mean}, not {wanted}, error {error}"
        );
        assert!(error < 0.02 * wanted, "the test would not see much");
    }
}

#[test]
fn a_source_says_what_it_was() {
    let source = json!({"name": "self_similar", "mean": "40 Mbit/s", "period": "3 ms", "variance": 4, "hurst": 0.5, "cap": "12 packets"});
    let records = queue(&source, "300 s");
    let names = words(&records, "sources", "quantity");
    let values = numbers(&records, "sources", "value");
    let find = |name: &str| {
        values[names
            .iter()
            .position(|known| known == name)
            .expect("the quantity")]
    };
    assert_eq!(find("periods"), 100_000.0);
    // 40 Mbit/s x 3 ms / 12 000 bit; the cap, one deviation above, takes 0.083 x 2 away: E (Z - 1)+ = 0.0833.
    assert_eq!(find("mean_wanted"), 10.0);
    assert!((find("mean") - (10.0 - 0.1666)).abs() < 0.03);
    // At or above 11.5 before rounding: P(Z > 0.75).
    assert!((find("share_at_cap") - 0.2266).abs() < 0.006);
    let sent = first(&records, "datagrams", "sent_packets");
    assert!((sent - find("mean") * find("periods")).abs() < 0.5);
}

#[test]
fn tcp_gets_what_udp_leaves() {
    let tree = |background: &str| {
        json!({
            "duration": "20 s", "stack": "linux",
            "links": {"l": {"rate": "10 Mbit/s", "delay": "10 ms", "queue": {"name": "drop_tail", "limit": "50 packets"}}},
            "flows": [
                {"path": ["l"], "start": "1 ms"},
                {"name": "udp", "path": ["l"], "transport": "udp", "source": {"name": "constant_rate", "rate": background}},
            ],
        })
    };
    let goodput = |background| first(&run(&tree(background)), "flows", "goodput_bps") / 1e6;
    let (alone, beside) = (goodput("0 bit/s"), goodput("6 Mbit/s"));
    // 10 Mbit/s less headers, and 4 Mbit/s less some losses.
    assert!(alone > 9.2, "{alone}");
    assert!((3.2..4.0).contains(&beside), "{beside}");
}

#[test]
fn a_packet_takes_one_event_for_every_meeting_point_and_few_of_its_own() {
    let effort = |path: Value, flows: u32| {
        let tree = json!({
            "duration": "10 s",
            "links": {"own": {"rate": "1 Gbit/s", "count": 2}, "l": {"rate": "1 Gbit/s"}},
            "flows": [{"path": path, "transport": "udp", "count": flows, "source": {"name": "poisson", "rate": "100 Mbit/s"}}],
        });
        simulate_with_effort(&load(&tree), 1).1
    };
    let alone = effort(json!(["own[i]", "l"]), 1);
    assert!(alone.events * 15 < alone.delivered_packets, "{alone:?}");
    for path in [json!(["own[i]", "l"]), json!(["l"])] {
        let two = effort(path, 2);
        assert!(
            two.events <= two.delivered_packets + two.delivered_packets / 15 + 100,
            "{two:?}"
        );
    }
}
