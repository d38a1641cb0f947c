//! What happens later happens alike: with everything moved by some seconds the records are the same.
//!
//! Times are binary64, so that holds of times that have few digits: rates are powers of two, delays whole 4096ths of a second, and round trips so short that
//! the retransmission timeout is its least, one second, and not a fraction that is rounded (`docs/concepts/time.md`).

use proptest::prelude::*;
use sawtooth_core::record::{Column, Records};
use sawtooth_core::simulate;
use serde_json::{Value, json};

use crate::random::{config, load};

#[derive(Clone, Debug)]
struct Case {
    recovery: &'static str,
    flows: u32,
    rate_log: u32,
    ticks: u32,
    limit: u32,
    ack_every: u32,
    drop: Vec<u32>,
    kb: Option<u32>,
    start_ticks: u32,
    background: bool,
}

fn cases() -> impl Strategy<Value = Case> {
    (
        (
            prop::sample::select(vec!["tahoe", "reno", "newreno", "sack"]),
            1u32..5,
            18u32..24,
            0u32..200,
            2u32..20,
        ),
        (
            1u32..3,
            prop::collection::vec(1u32..200, 0..8),
            prop::option::of(1u32..200),
            0u32..4096,
            any::<bool>(),
        ),
    )
        .prop_map(|(path, traffic)| Case {
            recovery: path.0,
            flows: path.1,
            rate_log: path.2,
            ticks: path.3,
            limit: path.4,
            ack_every: traffic.0,
            drop: traffic.1,
            kb: traffic.2,
            start_ticks: traffic.3,
            background: traffic.4,
        })
}

fn tree(case: &Case, shift_secs: u32) -> Value {
    let size = case
        .kb
        .map_or(json!("none"), |kb| json!(format!("{kb} kB")));
    let mut flows = vec![json!({
        "name": "tcp", "path": ["b"], "count": case.flows, "source": {"name": "bulk", "size": size},
        "start": format!("{shift_secs} s + (i - 1) * {} s / 4096", case.start_ticks),
    })];
    if case.background {
        flows.push(json!({
            "name": "udp", "path": ["b"], "transport": "udp", "start": format!("{shift_secs} s"),
            "source": {"name": "constant_rate", "rate": "65536 bit/s", "size": "512 B"},
        }));
    }
    json!({
        "duration": format!("{} s", 6 + shift_secs), "stack": "rfc", "record": ["episodes", "waits", "link_flows"],
        "tcp": {"recovery": case.recovery, "ack_every": case.ack_every, "delayed_ack_timeout": "0.125 s", "rto_min": "1 s"},
        "links": {"b": {
            "rate": format!("{} bit/s", 1_u64 << case.rate_log), "delay": format!("{} s / 4096", case.ticks), "drop": case.drop,
            "queue": {"name": "drop_tail", "limit": format!("{} packets", case.limit)},
        }},
        "flows": flows,
    })
}

/// Everything but moments, and shares of the whole run.
fn unmoved(records: &Records) -> Vec<(&'static str, &'static str, Column)> {
    const MOVED: &[&str] = &[
        "start_ns",
        "end_ns",
        "utilisation",
        "backlog_mean_packets",
        "backlog_mean_bytes",
    ];
    let tables = records.tables.iter();
    let columns = tables.flat_map(|table| {
        table
            .named_columns()
            .map(|(name, data)| (table.name(), name, data.clone()))
    });
    columns
        .filter(|(_, name, _)| !MOVED.contains(name))
        .collect()
}

proptest! {
    #![proptest_config(config(100))]

    #[test]
    fn what_happens_eight_seconds_later_happens_alike(case in cases()) {
        let [now, later] = [0, 8].map(|shift| simulate(&load(&tree(&case, shift)), 1));
        for (now, later) in unmoved(&now).iter().zip(unmoved(&later)) {
            prop_assert_eq!(now, &later);
        }
    }
}
