//! Each speed shortcut is exact: with any of them off, a random scenario gives identical records.

use std::collections::BTreeSet;

use crate::random::{Case, cases, config, load};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use sawtooth_core::internals::{cc, impair, packet_source, queue, source, tcp};
use sawtooth_core::registry::Kind;
use sawtooth_core::simulate;
use sawtooth_core::spec::Shortcuts;
use serde_json::{Value, json};

const ALL: Shortcuts = Shortcuts::all(true);

/// A scenario's records are the same with these shortcuts as with all.
fn assert_alike(tree: &Value, shortcuts: Shortcuts) {
    let mut scenario = load(tree);
    let fast = simulate(&scenario, 1);
    scenario.shortcuts = shortcuts;
    assert_eq!(simulate(&scenario, 1), fast);
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn records_do_not_depend_on_the_shortcuts(case in cases()) {
        let mut scenario = case.scenario();
        let fast = simulate(&scenario, 1);
        let switches = [
            Shortcuts { ring: false, ..ALL },
            Shortcuts { no_tx_event: false, ..ALL },
            Shortcuts { computed_hops: false, ..ALL },
            Shortcuts { plain_way: false, ..ALL },
            Shortcuts::all(false),
        ];
        for shortcuts in switches {
            scenario.shortcuts = shortcuts;
            prop_assert_eq!(&simulate(&scenario, 1), &fast, "{:?}", shortcuts);
        }
    }
}

/// A dumbbell whose acknowledgements meet in the order of their data, or nearly so: all flows of ns-2's stack, with links of one rate or not, ways of one length, nearly one, or not.
fn dumbbells() -> impl Strategy<Value = Value> {
    let rates = prop::sample::select(vec!["8 Mbit/s", "10 Mbit/s", "102.4 Mbit/s"]);
    let delays = prop::sample::select(vec![
        "0 s",
        "1 ms",
        "1.2 ms",
        "5 ms",
        "i * 10 us",
        "1 ms + i * 30 us",
    ]);
    let sizes = (1_usize..9, 1_u32..60, 1_u32..60);
    let words = (
        prop::sample::select(vec!["tahoe", "reno", "newreno", "sack"]),
        prop::sample::select(vec!["reno", "highspeed", "cubic"]),
        prop::sample::select(vec!["i * 20 ms", "0 s", "i * 400 ms"]),
        prop::sample::select(vec![
            json!(0),
            json!(0.002),
            json!({"name": "bernoulli", "probability": 0.02}),
        ]),
    );
    (rates.clone(), rates, delays.clone(), delays, sizes, words).prop_map(
        |(bottleneck, access, near, far, (flows, queue, side), (recovery, cc, start, loss))| {
            let link = |rate, delay, queue: u32| {
                json!({"rate": rate, "delay": delay, "queue": {"name": "drop_tail", "limit": format!("{queue} packets")}})
            };
            let mut sender = link(access, near, side);
            let mut receiver = link(access, far, side);
            sender["count"] = json!(flows);
            receiver["count"] = json!(flows);
            let mut middle = link(bottleneck, "10 ms", queue);
            middle["loss"] = loss;
            json!({
                "duration": "6 s", "stack": "ns2", "cc": cc, "tcp": {"recovery": recovery, "window_limit": "200 packets"},
                "links": {"sender": sender, "bottleneck": middle, "receiver": receiver},
                "flows": [{"path": ["sender[i]", "bottleneck", "receiver[i]"], "count": flows, "start": start}],
            })
        },
    )
}

proptest! {
    #![proptest_config(config(60))]

    #[test]
    fn merges_whose_order_is_known_need_no_events(tree in dumbbells()) {
        let hops = Shortcuts { computed_hops: false, ..ALL };
        assert_alike(&tree, hops);
    }

    #[test]
    fn plain_packets_need_no_more_than_a_key_and_a_number(
        tree in dumbbells(),
        stack in prop::sample::select(vec!["ns2", "rfc", "linux"]),
        size in prop::option::of(1_u32..3_000),
        window in prop::sample::select(vec!["8 packets", "200 packets", "20000 B"]),
        reverse in any::<bool>(),
    ) {
        let mut tree = tree;
        tree["stack"] = json!(stack);
        tree["tcp"]["window_limit"] = json!(window);
        if stack == "linux" {
            tree["tcp"] = json!({});
        }
        if let Some(size) = size {
            tree["flows"][0]["source"] = json!({"name": "bulk", "size": format!("{size} kB")});
        }
        if reverse {
            let path = json!(["receiver[1]", "bottleneck", "sender[1]"]);
            let back = json!({"path": path, "start": "100 ms"});
            tree["flows"].as_array_mut().expect("flows").push(back);
        }
        assert_alike(&tree, Shortcuts { plain_way: false, ..ALL });
    }
}

#[test]
fn a_delayed_acknowledgement_that_is_due_at_once_does_not_leave_before_its_segment_came() {
    let tree = json!({
        "duration": "1 s", "stack": "linux-2.0.29", "tcp": {"delayed_ack_timeout_several": "1 ns"},
        "links": {"b": {"rate": "850 kbit/s", "queue": {"name": "drop_tail", "limit": "3 packets"}}},
        "flows": [{"path": ["b"], "count": 2, "start": "3 ms"}],
    });
    assert_alike(&tree, Shortcuts::all(false));
}

#[test]
fn what_a_write_and_a_timer_send_at_one_instant_leaves_in_that_order() {
    // A cork ends 200 ms after a write, which is when the twentieth after it comes.
    let tree = json!({
        "duration": "840 ms", "stack": "ns2", "tcp": {"smss": "536 B", "partial": "cork"}, "links": {"l": {"rate": "24636 kbit/s"}},
        "flows": [{"path": ["l"], "source": {"name": "on_off"}}],
    });
    let mut scenario = load(&tree);
    for seed in [12, 1, 2, 3] {
        scenario.shortcuts = ALL;
        let fast = simulate(&scenario, seed);
        scenario.shortcuts = Shortcuts::all(false);
        assert_eq!(simulate(&scenario, seed), fast);
    }
}

#[test]
fn links_that_keep_step_for_more_packets_than_the_lineage_has_entries_stay_in_order() {
    let link = json!({"rate": "1 Gbit/s", "queue": {"name": "drop_tail", "limit": "500 packets"}, "count": 32});
    let tree = json!({
        "duration": "20 s", "stack": "ns2", "cc": "highspeed", "tcp": {"recovery": "sack", "window_limit": "100000 packets"},
        "links": {
            "sender": link,
            "bottleneck": {"rate": "1 Gbit/s", "delay": "250 ms", "queue": {"name": "drop_tail", "limit": "500 packets"}},
            "receiver": link,
        },
        "flows": [{"path": ["sender[i]", "bottleneck", "receiver[i]"], "count": 32, "start": "300 ms / 32 * i"}],
    });
    assert_alike(&tree, Shortcuts::all(false));
}

#[test]
fn applications_that_write_at_the_same_instants_for_long_stay_in_order() {
    let queue = json!({"name": "step", "limit": "58 packets", "mark_above": "1 packets"});
    let access = json!({"rate": "18249 kbit/s", "queue": queue, "count": 6});
    let tree = json!({
        "duration": "8 s", "stack": "linux", "cc": "copa",
        "tcp": {"recovery": "reno", "window_limit": "50 packets", "ack_every": 1, "timestamps": false, "smss": "536 B", "ecn": "classic"},
        "links": {
            "sender": access,
            "bottleneck": {
                "rate": "18249 kbit/s", "delay": "12 ms", "queue": queue, "loss": 0.1, "drop": [3, 40], "reverse": {"loss": 0.05},
                "outages": [{"from": "179 ms", "until": "217 ms", "packets": "wait", "every": "403 ms"}],
            },
            "second": {"rate": "18249 kbit/s", "delay": "5 ms", "queue": queue},
            "receiver": access,
        },
        "flows": [
            {"path": ["bottleneck"], "count": 6, "source": {
                "name": "messages", "size": "14205 B", "interval": "701 ms", "count": "none", "writes": 1, "write_interval": "14205 us",
            }},
            {"path": ["second"], "name": "cross", "start": "1 s"},
        ],
    });
    let shortcuts = Shortcuts {
        no_tx_event: false,
        ..ALL
    };
    assert_alike(&tree, shortcuts);
}

#[test]
fn every_row_and_every_part_is_drawn() {
    let mut runner = TestRunner::deterministic();
    let drawn: Vec<Case> = (0..2000)
        .map(|_| cases().new_tree(&mut runner).expect("a case").current())
        .collect();
    let mut words = BTreeSet::new();
    for case in &drawn {
        let keys = case.parts.iter();
        words.extend(keys.map(|(key, value)| format!("{key} = {value}")));
        let keys = case.parts.iter();
        words.extend(keys.map(|(key, _)| (*key).to_owned()));
        for (key, value) in case.wires.iter().flatten() {
            words.insert(format!(
                "{key} {}",
                value["name"].as_str().unwrap_or_default()
            ));
        }
        words.extend(case.medium.map(str::to_owned));
        let forwarding = case.forwarding.iter();
        words.extend(forwarding.map(|node| node["name"].to_string()));
        words.extend([case.stack, case.recovery, case.cc, case.shape].map(str::to_owned));
        words.extend(case.discipline.map(str::to_owned));
        words.extend(case.link_tables.iter().map(|table| (*table).to_owned()));
        words.extend(case.ecn.map(|ecn| format!("ecn = {ecn}")));
        let background = case.background.iter();
        words.extend(background.map(|flow| flow["source"]["name"].to_string()));
        words.extend(case.source.iter().map(|source| source["name"].to_string()));
    }
    let has = |word: &str| assert!(words.contains(word), "{word} is not drawn");
    let names = cc::TABLE.iter().map(|entry| entry.name);
    let names = names.chain(tcp::recovery::TABLE.iter().map(|entry| entry.name));
    let names = names.chain(queue::TABLE.iter().map(|entry| entry.name));
    for name in names.chain(tcp::STACKS.iter().map(|stack| stack.name)) {
        has(name);
    }
    for key in [
        "keep_order",
        "duplicate",
        "corrupt",
        "outages",
        "changes",
        "walk",
        "trace",
    ] {
        has(&format!("{key} "));
    }
    for entry in impair::JITTER_TABLE {
        has(&format!("jitter {}", entry.name));
    }
    for entry in impair::REORDER_TABLE {
        has(&format!("reorder {}", entry.name));
    }
    for entry in impair::MEDIUM_TABLE {
        has(entry.name);
    }
    for entry in impair::FORWARDING_TABLE {
        has(&format!("\"{}\"", entry.name));
    }
    has("loss gilbert_elliott");
    has("waits");
    has("link_flows");
    has("packets");
    let sources = source::TABLE.iter().map(|entry| entry.name);
    let packet_sources = packet_source::TABLE.iter().map(|entry| entry.name);
    for name in sources.chain(packet_sources) {
        has(&format!("\"{name}\""));
    }
    for param in tcp::PARAMS {
        let drawn: Vec<String> = match param.kind {
            _ if param.name == "recovery" => continue,
            Kind::Bool => vec!["true".into(), "false".into()],
            Kind::Choice(words) if param.name == "ecn" => {
                words.iter().map(|word| (*word).to_owned()).collect()
            }
            Kind::Choice(words) => words.iter().map(|word| format!("\"{word}\"")).collect(),
            _ => continue,
        };
        for value in drawn {
            has(&format!("{} = {value}", param.name));
        }
    }
    for key in [
        "receive_buffer_default",
        "receive_buffer_max",
        "send_buffer_default",
        "send_buffer_max",
        "max_pacing_rate",
    ] {
        has(key);
    }
}

/// Segments of one byte: what some thousand events pass on fills the ring of the lineage, so the run begins again and keeps ancestors after each event.
#[test]
fn ancestors_are_kept_where_few_events_record_many() {
    let case = Case {
        stack: "ns2",
        recovery: "newreno",
        cc: "scalable",
        flows: 3,
        rate_kbit: 7922,
        access_ratio: 1,
        delay_ms: 53,
        step_ms: 0,
        queue: "22 packets".to_string(),
        discipline: None,
        window: 35,
        ack_every: 1,
        start_ms: 6,
        shape: "single",
        sample: None,
        loss: 0.0,
        ecn: None,
        parts: vec![
            ("fin", json!(true)),
            ("send_buffer_default", json!("38 kB")),
            ("send_buffer_max", json!("76 kB")),
        ],
        source: Some(
            json!({"name": "on_off", "rate": "1982 kbit/s", "size": "1 B", "on": {"name": "exponential", "mean": "44 ms"}, "off": {"name": "pareto", "mean": "62 ms"}}),
        ),
        wires: [
            vec![
                (
                    "walk",
                    json!({"delay_step": "10 ms", "delay_min": "0 ms", "delay_max": "1 s"}),
                ),
                ("trace", json!([3, 3, 3, 6, 12, 13, 14, 15, 22, 24, 50])),
            ],
            vec![],
            vec![],
        ],
        medium: Some("ethernet"),
        forwarding: None,
        access_delay_ms: 3,
        arrivals: Some(
            json!({"rate": 16, "size": {"name": "pareto", "shape": 1.2, "mean": "8862 B"}, "stop": "6 s"}),
        ),
        background: Some(
            json!({"name": "background", "transport": "udp", "path": ["own"], "direction": "reverse", "count": 2, "start": "2360 ms", "stop": "7.5 s", "source": {"name": "constant_rate", "rate": "1 Mbit/s", "size": "146 B"}}),
        ),
        link_tables: vec!["packets"],
    };
    let mut scenario = case.scenario();
    let fast = simulate(&scenario, 1);
    scenario.shortcuts = Shortcuts::all(false);
    assert!(simulate(&scenario, 1) == fast);
}
