//! Flows that arrive and leave: queueing theory's results, bounded memory, and independence of what else there is.

use crate::columns::{counts, numbers, wholes};
use crate::random::load;
use sawtooth_core::record::Column;
use sawtooth_core::{simulate, simulate_with_effort};
use serde_json::{Value, json};

/// Arrivals on a link whose queue never drops.
fn tree(arrivals: &Value, duration: &str) -> Value {
    json!({
        "duration": duration, "stack": "linux",
        "links": {"l": {"rate": "10 Mbit/s", "delay": "1 ms", "queue": {"name": "drop_tail", "limit": "100000 packets"}}},
        "flows": [{"name": "web", "path": ["l"], "arrivals": arrivals}],
    })
}

#[test]
fn a_hundred_thousand_flows_need_the_memory_of_those_alive() {
    let mut tree = tree(&json!({"load": 0.7, "size": "3 kB"}), "400 s");
    // 0.7 x 10 Mbit/s / (8 x 3 kB x 1500/1448) = 281 per second.
    tree["links"]["l"]["rate"] = json!("10 Mbit/s");
    let (records, effort) = simulate_with_effort(&load(&tree), 1);
    let started = counts(&records, "arrivals", "started")[0];
    assert!((100_000..125_000).contains(&started), "{started}");
    let alive = counts(&records, "arrivals", "alive_max")[0];
    assert_eq!(effort.flow_places, alive);
    assert!(alive < 200, "{alive}");
    // All but the last few have all their bytes.
    assert!(counts(&records, "arrivals", "completed")[0] + alive >= started);
}

#[test]
fn the_link_carries_the_offered_load() {
    for size in [
        json!({"name": "exponential", "mean": "100 kB"}),
        json!({"name": "lognormal", "mean": "100 kB", "sigma": 1.0}),
        json!({"name": "empirical", "points": [[10_000, 0.0], [190_000, 1.0]]}),
    ] {
        let records = simulate(
            &load(&tree(&json!({"load": 0.5, "size": size}), "2000 s")),
            1,
        );
        let carried = numbers(&records, "links", "utilisation")[0];
        // 12,000 flows; the coefficient of variation of these sizes is at most 1.31, so the sum of a Poisson number of them has a relative
        // standard deviation of sqrt((1 + 1.31²) / 12,000) = 1.5 %. SYN, FIN and half a header for each add 0.1 %.
        assert!((carried / 0.5 - 1.0).abs() < 0.05, "{size}: {carried}");
    }
}

#[test]
fn littles_law_holds() {
    let arrivals = json!({"load": 0.6, "size": {"name": "exponential", "mean": "50 kB"}});
    let mut tree = tree(&arrivals, "500 s");
    tree["record"] = json!(["transfers"]);
    let records = simulate(&load(&tree), 1);
    let started = counts(&records, "arrivals", "started")[0];
    let alive = numbers(&records, "arrivals", "alive_mean")[0];
    let sojourn: i64 = wholes(&records, "transfers", "completion_ns")
        .iter()
        .filter(|time| **time > 0)
        .sum();
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
    let (started, mean) = (started as f64, sojourn as f64 / 1e9 / started as f64);
    // A flow is alive from its arrival to the acknowledgement of its FIN: 2 ms and a few transmission times after its last byte.
    let expected = started / 500.0 * mean;
    let beyond = started / 500.0 * 0.010;
    assert!(
        alive >= expected && alive <= expected + beyond,
        "{alive}, {expected}"
    );
}

/// The mean sojourn in an M/G/1 queue whose server is shared is E[S] / (1 - load), whatever the distribution of S (Kleinrock, Queueing Systems, vol. 2,
/// 4.4). TCP shares a link nearly so when flows are long against the round trip: slow start and unequal windows make it up to some ten per cent slower.
#[test]
fn mean_completion_times_are_those_of_processor_sharing_whatever_the_distribution() {
    for (size, duration) in [
        (json!("500 kB"), "4000 s"),
        (json!({"name": "exponential", "mean": "500 kB"}), "4000 s"),
    ] {
        let mut tree = tree(&json!({"load": 0.5, "size": size}), duration);
        // A window that fills the path and not much more: the queue is then short, and the share of each flow that of its window.
        tree["tcp"] = json!({"window_limit": "20 packets"});
        let records = simulate(&load(&tree), 1);
        let completed = counts(&records, "arrivals", "completed")[0];
        assert!(completed > 4000, "{completed}");
        #[expect(clippy::cast_precision_loss, reason = "far below 2^53")]
        let mean = wholes(&records, "arrivals", "completion_mean_ns")[0] as f64 / 1e9;
        // 500 kB with headers take 0.4144 s alone, and 0.829 s with half of the link's time taken by others.
        let shared = 500_000.0 * 8.0 * 1500.0 / 1448.0 / 10e6 / 0.5;
        assert!(
            (0.93..1.15).contains(&(mean / shared)),
            "{size}: {mean} s against {shared} s"
        );
    }
}

#[test]
fn another_entry_changes_no_draw() {
    let arrivals = json!({"rate": 20, "size": {"name": "pareto", "mean": "20 kB"}});
    let mut alone = tree(&arrivals, "20 s");
    alone["record"] = json!(["transfers"]);
    let mut both = alone.clone();
    both["flows"].as_array_mut().expect("a list").insert(
        0,
        json!({"name": "more", "path": ["l"], "arrivals": {"rate": 30, "size": "2 kB"}}),
    );
    let drawn = |tree: &Value| {
        let records = simulate(&load(tree), 1);
        let table = records.table("transfers").expect("the table");
        let Column::Str(names) = table.column("flow") else {
            panic!("names");
        };
        let rows = names.iter().zip(wholes(&records, "transfers", "start_ns"));
        let rows = rows.zip(counts(&records, "transfers", "size_bytes"));
        let mut own: Vec<(i64, u64)> = rows
            .filter(|((name, _), _)| &***name == "web")
            .map(|((_, start), size)| (start, size))
            .collect();
        own.sort_unstable();
        own
    };
    assert_eq!(drawn(&alone), drawn(&both));
}

#[test]
fn a_number_of_flows_and_an_interval_of_time_are_kept() {
    let mut tree = tree(&json!({"rate": 50, "number": 70, "size": "5 kB"}), "20 s");
    tree["flows"][0]["start"] = json!("3 s");
    tree["record"] = json!(["transfers"]);
    let records = simulate(&load(&tree), 1);
    assert_eq!(counts(&records, "arrivals", "completed"), [70]);
    assert!(
        wholes(&records, "transfers", "start_ns")
            .iter()
            .all(|start| *start > 3_000_000_000)
    );
    tree["flows"][0]["arrivals"] = json!({"rate": 50, "stop": "5 s"});
    let records = simulate(&load(&tree), 1);
    assert!(
        wholes(&records, "transfers", "start_ns")
            .iter()
            .all(|start| *start < 5_000_000_000)
    );
    // 100 expected, with a standard deviation of 10.
    assert!((60..140).contains(&counts(&records, "arrivals", "started")[0]));
}
