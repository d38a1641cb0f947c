//! Each speed shortcut is exact: with any of them off, a random scenario gives identical records.

use proptest::prelude::*;
use sawtooth_core::registry::Entry;
use sawtooth_core::scenario::Shortcuts;
use sawtooth_core::{Scenario, cc, simulate, tcp};
use serde_json::{Value, json};

#[derive(Clone, Debug)]
struct Case {
    stack: &'static str,
    recovery: &'static str,
    cc: &'static str,
    flows: u32,
    rate_kbit: u32,
    access_ratio: u32,
    delay_ms: u32,
    step_ms: u32,
    queue: String,
    window: u32,
    ack_every: u32,
    start_ms: u32,
    shape: &'static str,
    sample: Option<&'static str>,
    loss: f64,
    ecn: Option<&'static str>,
    part: (&'static str, Value),
    source: Option<Value>,
    nagle: &'static str,
}

fn names<C>(table: &[Entry<C>]) -> Vec<&'static str> {
    table.iter().map(|entry| entry.name).collect()
}

/// Bulk of a size, messages that may be written at one time with all else that happens, and a paced application.
fn sources() -> impl Strategy<Value = Value> {
    let messages = (1u32..40_000, 1u32..1500, prop::option::of(1u32..30));
    let paced = (10u32..3000, 1u32..5000, prop::option::of(1u32..200));
    prop_oneof![
        (1u32..300).prop_map(|kb| json!({"name": "bulk", "size": format!("{kb} kB")})),
        messages.prop_map(|(size, interval, count)| json!({
            "name": "messages", "size": format!("{size} B"), "interval": format!("{interval} ms"), "offset": format!("{} ms", size % 3),
            "count": count.map_or(json!("none"), |count| json!(count)),
        })),
        paced.prop_map(|(rate, size, total)| json!({
            "name": "paced", "rate": format!("{rate} kbit/s"), "size": format!("{size} B"),
            "total": total.map_or("none".to_owned(), |total| format!("{total} kB")),
        })),
    ]
}

fn cases() -> impl Strategy<Value = Case> {
    let names = (
        prop::sample::select(vec!["ns2", "rfc", "linux"]),
        prop::sample::select(names(tcp::recovery::TABLE)),
        prop::sample::select(names(cc::TABLE)),
        prop::sample::select(vec!["dumbbell", "single", "parking_lot"]),
        prop::sample::select(vec!["off", "nagle", "minshall"]),
    );
    let sizes = (1u32..7, 200u32..20_000, 1u32..4, 0u32..120, 0u32..40);
    let limits = (
        prop_oneof![
            (2u32..60).prop_map(|n| format!("{n} packets")),
            (4u32..60).prop_map(|n| format!("{n} kB"))
        ],
        3u32..300,
        1u32..3,
        // Zero makes all flows start at once: every tie there can be.
        prop_oneof![Just(0u32), 1u32..400],
        prop::sample::select(vec![None, Some("70 ms"), Some("ack")]),
        prop::option::of(sources()),
        prop::sample::select(vec![0.0, 0.01, 0.1]),
        prop::sample::select(vec![
            None,
            Some("off"),
            Some("classic"),
            Some("dctcp"),
            Some("accurate"),
        ]),
        prop::sample::select(vec![
            ("ack_size", json!("40 B")),
            ("pacing", json!("always")),
            ("max_pacing_rate", json!("1 Mbit/s")),
            ("segmentation_offload", json!(true)),
            ("timestamps", json!(true)),
            ("metrics_cache", json!("with_ssthresh")),
        ]),
    );
    (names, sizes, limits).prop_map(|(names, sizes, limits)| Case {
        stack: names.0,
        recovery: names.1,
        cc: names.2,
        shape: names.3,
        flows: sizes.0,
        rate_kbit: sizes.1,
        access_ratio: sizes.2,
        delay_ms: sizes.3,
        step_ms: sizes.4,
        queue: limits.0,
        window: limits.1,
        ack_every: limits.2,
        start_ms: limits.3,
        sample: limits.4,
        source: limits.5,
        nagle: names.4,
        loss: limits.6,
        ecn: limits.7,
        part: limits.8,
    })
}

fn scenario(case: &Case) -> Scenario {
    let rate = format!("{} kbit/s", case.rate_kbit);
    let access = format!("{} kbit/s", case.rate_kbit * case.access_ratio);
    let mut queue = json!({"name": "drop_tail", "limit": case.queue});
    if case.ecn.is_some() {
        // Two packets of the `rfc` stack, below every limit.
        let mark_above = if case.queue.ends_with("kB") {
            "3000 B"
        } else {
            "1 packets"
        };
        queue = json!({"name": "step", "limit": case.queue, "mark_above": mark_above});
    }
    let step = format!("(i - 1) * {} ms", case.step_ms);
    let path = match case.shape {
        "single" => json!(["bottleneck"]),
        "dumbbell" => json!(["sender[i]", "bottleneck", "receiver[i]"]),
        _ => json!(["sender[i]", "bottleneck", "second"]),
    };
    let mut tree = json!({
        "duration": "8 s",
        "stack": case.stack,
        "cc": case.cc,
        "tcp": {
            "recovery": case.recovery,
            "window_limit": format!("{} packets", case.window),
            "ack_every": case.ack_every,
            "nagle": case.nagle,
        },
        "links": {
            "bottleneck": {"rate": rate, "delay": format!("{} ms", case.delay_ms), "queue": queue, "loss": case.loss,
                "drop": [3, 40], "reverse": {"loss": case.loss / 2.0}},
            "second": {"rate": rate, "delay": "5 ms", "queue": queue},
            "sender": {"rate": access, "delay": step, "queue": queue, "count": case.flows},
            "receiver": {"rate": access, "delay": step, "queue": queue, "count": case.flows},
        },
        "flows": [
            {"path": path, "count": case.flows, "start": format!("{} ms * i", case.start_ms)},
            // A flow against the grain of the others, entering half-way.
            {"name": "cross", "path": ["second"], "start": "1 s"},
        ],
    });
    if let Some(ecn) = case.ecn {
        tree["tcp"]["ecn"] = json!(ecn);
    }
    tree["tcp"][case.part.0] = case.part.1.clone();
    if let Some(source) = &case.source {
        tree["flows"][0]["source"] = source.clone();
    }
    if let Some(sample) = case.sample {
        tree["sample"] = json!(sample);
        tree["record"] = json!(["variables", "episodes"]);
    }
    Scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}"))
}

const ALL: Shortcuts = Shortcuts::all(true);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn records_do_not_depend_on_the_shortcuts(case in cases()) {
        let mut scenario = scenario(&case);
        let fast = simulate(&scenario, 1);
        let switches = [
            Shortcuts { ring: false, ..ALL },
            Shortcuts { no_tx_event: false, ..ALL },
            Shortcuts { computed_hops: false, ..ALL },
            Shortcuts::all(false),
        ];
        for shortcuts in switches {
            scenario.shortcuts = shortcuts;
            prop_assert_eq!(&simulate(&scenario, 1), &fast, "{:?}", shortcuts);
        }
    }

    #[test]
    fn every_moment_of_a_flows_life_has_exactly_one_cause(case in cases()) {
        let scenario = scenario(&case);
        let records = simulate(&scenario, 1);
        let flows = records.table("flows").expect("the table");
        let i64s = |column: &str| match flows.column(column) {
            sawtooth_core::record::Data::I64(values) => values.clone(),
            other => panic!("{other:?}"),
        };
        let causes = ["cwnd", "rwnd", "source", "send_buffer", "pacing", "recovery", "rto", "nagle"];
        let shares = causes.map(|cause| i64s(&format!("limited_{cause}_ns")));
        let starts = i64s("start_ns");
        for (flow, lifetime) in i64s("lifetime_ns").into_iter().enumerate() {
            let shares = shares.each_ref().map(|column| column[flow]);
            prop_assert!(shares.iter().all(|share| *share >= 0), "{:?}", shares);
            prop_assert_eq!(shares.iter().sum::<i64>(), lifetime);
            // Not beyond the run, and to its end unless the transfer ends.
            let rest = scenario.duration.as_ns() - starts[flow];
            prop_assert!(lifetime <= rest);
            prop_assert!(lifetime == rest || i64s("completion_ns")[flow] >= 0);
        }
    }

    #[test]
    fn a_run_conserves_packets_and_repeats_itself(case in cases()) {
        let scenario = scenario(&case);
        let records = simulate(&scenario, 1);
        prop_assert_eq!(&simulate(&scenario, 1), &records);
        let u64s = |table: &str, column: &str| match records.table(table).expect("the table").column(column) {
            sawtooth_core::record::Data::U64(values) => values.clone(),
            other => panic!("{other:?}"),
        };
        let sent: u64 = u64s("flows", "sent_packets").iter().sum();
        let retransmits: u64 = u64s("flows", "retransmits").iter().sum();
        let acked: u64 = u64s("flows", "acked_bytes").iter().sum();
        let delivered: u64 = u64s("flows", "delivered_bytes").iter().sum();
        prop_assert!(retransmits <= sent);
        prop_assert!(acked <= delivered, "{acked} acknowledged, {delivered} delivered");
        for (arrived, dropped) in u64s("links", "arrived_packets").iter().zip(u64s("links", "dropped_packets")) {
            prop_assert!(dropped <= *arrived);
        }
    }
}
