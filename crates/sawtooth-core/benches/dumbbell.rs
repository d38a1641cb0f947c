//! The cost of a packet: `cargo bench -p sawtooth-core [-- NAME]` prints nanoseconds and events per delivered segment.
//!
//! The cases are those of `bench/speed.py`, which runs them beside ns-2, and variations of them.

#![expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
#![expect(clippy::disallowed_types, reason = "a benchmark reads the clock")]

use std::time::Instant;

use sawtooth_core::{scenario, simulate_with_effort};
use serde_json::{Value, json};

const REPEATS: u32 = 5;

fn main() {
    let wanted = std::env::args().skip(1).find(|arg| !arg.starts_with('-'));
    println!(
        "{:<28} {:>10} {:>10} {:>10}",
        "case", "segments", "ns", "events"
    );
    for (name, tree) in cases() {
        if wanted
            .as_ref()
            .is_some_and(|wanted| !name.contains(wanted.as_str()))
        {
            continue;
        }
        let scenario = scenario::from_tree(&tree).unwrap_or_else(|error| panic!("{error}"));
        let mut best = f64::INFINITY;
        let mut segments = 0;
        let mut events = 0;
        for _ in 0..REPEATS {
            let started = Instant::now();
            let (_, effort) = simulate_with_effort(&scenario, 1);
            best = best.min(started.elapsed().as_secs_f64());
            segments = effort.delivered_packets;
            events = effort.events;
        }
        println!(
            "{name:<28} {segments:>10} {:>10.1} {:>10.2}",
            best * 1e9 / segments as f64,
            events as f64 / segments as f64
        );
    }
}

fn cases() -> Vec<(&'static str, Value)> {
    vec![
        ("study-2", study(2, "newreno", "reno")),
        ("study-8", study(8, "newreno", "reno")),
        ("study-32", study(32, "newreno", "reno")),
        ("study-128", study(128, "newreno", "reno")),
        ("study-32-sack", study(32, "sack", "reno")),
        ("study-32-highspeed", study(32, "sack", "highspeed")),
        ("gigabit-1", gigabit("newreno", "reno")),
        ("gigabit-1-highspeed", gigabit("sack", "highspeed")),
    ]
}

/// The fastest cell of the HighSpeed study, with `flows` flows.
fn study(flows: u32, recovery: &str, cc: &str) -> Value {
    let link = json!({"rate": "102.4 Mbit/s", "delay": "0 s", "queue": {"name": "drop_tail", "limit": "50 packets"}});
    let mut bottleneck = link.clone();
    bottleneck["delay"] = json!("50 ms");
    json!({
        "duration": "50 s", "stack": "ns2", "cc": cc,
        "tcp": {"recovery": recovery, "window_limit": "10000 packets"},
        "links": {
            "bottleneck": bottleneck,
            "sender": with_count(&link, flows),
            "receiver": with_count(&link, flows),
        },
        "flows": [{
            "path": ["sender[i]", "bottleneck", "receiver[i]"],
            "count": flows, "start": format!("i * {} s", 0.3 / f64::from(flows)),
        }],
    })
}

fn with_count(link: &Value, count: u32) -> Value {
    let mut link = link.clone();
    link["count"] = json!(count);
    link
}

/// One flow on a long fat path with a buffer of the bandwidth-delay product.
fn gigabit(recovery: &str, cc: &str) -> Value {
    json!({
        "duration": "50 s", "stack": "ns2", "cc": cc,
        "tcp": {"recovery": recovery, "window_limit": "10000 packets"},
        "links": {"bottleneck": {
            "rate": "1 Gbit/s", "delay": "20 ms",
            "queue": {"name": "drop_tail", "limit": "4808 packets"},
        }},
        "flows": [{"path": ["bottleneck"]}],
    })
}
