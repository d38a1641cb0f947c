//! What asks for too much is refused where it does, or ended where only the run shows it.

use sawtooth_core::internals::demand::Demand;
use sawtooth_core::internals::scenario::fits_machine;
use sawtooth_core::{ScenarioError, scenario, simulate_within_limits};
use serde_json::{Value, json};

fn tree(changes: &Value) -> Value {
    let mut tree = json!({
        "duration": "60 s",
        "links": { "l": { "rate": "1 Mbit/s", "delay": "10 ms" } },
        "flows": [{ "path": ["l"] }],
    });
    merge(&mut tree, changes);
    tree
}

fn merge(tree: &mut Value, changes: &Value) {
    match (tree, changes) {
        (Value::Object(tree), Value::Object(changes)) => {
            for (key, value) in changes {
                merge(tree.entry(key).or_insert(Value::Null), value);
            }
        }
        (tree, changes) => *tree = changes.clone(),
    }
}

fn refused(changes: &Value) -> ScenarioError {
    scenario::from_tree(&tree(changes)).expect_err("too much")
}

/// What ends a run.
fn stopped(limits: &Value, changes: &Value) -> String {
    let mut tree = tree(&json!({ "limits": limits, "links": { "l": { "rate": "1 Gbit/s" } } }));
    merge(&mut tree, changes);
    let scenario = scenario::from_tree(&tree).expect("a scenario");
    let stopped = simulate_within_limits(&scenario, 1).expect_err("a limit");
    stopped.to_string()
}

#[test]
fn what_recurs_too_often_is_refused_at_its_key() {
    let queue = |queue: Value| json!({ "links": { "l": { "queue": queue } } });
    for (changes, path) in [
        (
            queue(json!({ "name": "pie", "update": "1 ns" })),
            "links.l.queue.update",
        ),
        (
            queue(json!({ "name": "ared", "interval": "1 ns" })),
            "links.l.queue.interval",
        ),
        (
            queue(json!({ "name": "dualpi2", "update": "1 ns" })),
            "links.l.queue.update",
        ),
        (
            queue(json!({ "name": "dualpi2", "target": "1 ns" })),
            "links.l.queue.target",
        ),
        (
            json!({ "tcp": { "partial_timer": "1 ns" } }),
            "tcp.partial_timer",
        ),
        (
            json!({ "flows": [{ "path": ["l"], "tcp": { "partial_timer": "1 ns" } }] }),
            "flows[0].tcp.partial_timer",
        ),
        (
            json!({ "links": { "l": { "walk": { "interval": "1 ns", "delay_step": "1 ms", "delay_min": "1 ms", "delay_max": "20 ms" } } } }),
            "links.l.walk.interval",
        ),
        (
            json!({ "links": { "l": { "outages": [{ "from": "0 s", "until": "1e-10 s", "every": "1 ns" }] } } }),
            "links.l.outages[0].every",
        ),
    ] {
        let error = refused(&changes);
        assert_eq!(error.path, path);
        assert_eq!(
            error.message,
            "this takes about 60,000,000,000 events, and the limit is 10,000,000,000"
        );
        let hint = "if that is meant, raise the limit: events = 1e11 under [limits], or --set limits.events=1e11";
        assert_eq!(error.hint.as_deref(), Some(hint));
        let mut raised = tree(&changes);
        merge(
            &mut raised,
            &json!({ "limits": { "events": 1e11, "memory": "10 TB" } }),
        );
        scenario::from_tree(&raised).expect("is meant");
    }
}

#[test]
fn too_many_samples_flows_and_links_are_refused_before_they_are_made() {
    let error = refused(&json!({ "sample": "1 ns" }));
    assert_eq!(
        (error.path.as_str(), error.message.as_str()),
        (
            "sample",
            "this takes about 180,000,000,006 rows, and the limit is 100,000,000"
        )
    );
    let error = refused(&json!({ "flows": [{ "path": ["l"], "count": 10_000_000 }] }));
    assert_eq!(
        (error.path.as_str(), error.message.as_str()),
        (
            "flows[0].count",
            "these are 10,000,000 flows, and the limit is 200,000"
        )
    );
    let error = refused(&json!({ "links": { "l": { "count": 10_000_000 } } }));
    assert_eq!(error.path, "links.l.count");
    let error = refused(
        &json!({ "limits": { "memory": "1 GB" }, "flows": [{ "path": ["l"], "count": 190_000 }] }),
    );
    assert_eq!(
        (error.path.as_str(), error.message.as_str()),
        (
            "flows",
            "this takes about 1,216,003,300 bytes of memory: 190,000 flows of 6000 B, 1 link of 2500 B, 190,002 rows of 400 B; the limit is 1,000,000,000"
        )
    );
}

#[test]
fn what_is_too_much_for_a_machine_says_what_it_is_made_of() {
    let flows = json!({ "flows": [{ "path": ["l"], "count": 1000 }] });
    let many = scenario::from_tree(&tree(&flows)).expect("a scenario");
    assert!(fits_machine(&many, 1e9).is_ok());
    let error = fits_machine(&many, 1e6).expect_err("too much");
    assert_eq!(
        (error.path.as_str(), error.message.as_str()),
        (
            "flows",
            "this takes about 6,403,300 bytes of memory: 1,000 flows of 6000 B, 1 link of 2500 B, 1,002 rows of 400 B; this machine has 1,000,000"
        )
    );
    let links = json!({ "links": { "l": { "count": 1000 } }, "flows": [{ "path": ["l[1]"] }] });
    let many = scenario::from_tree(&tree(&links)).expect("a scenario");
    assert_eq!(
        fits_machine(&many, 1e6).expect_err("too much").path,
        "links"
    );
}

#[test]
fn a_run_that_exceeds_a_limit_ends_with_its_reason() {
    let text = stopped(&json!({ "events": 100_000 }), &json!({}));
    assert!(text.starts_with("stopped at ") && text.contains(" of 60 s, after 100,001 events: the limit is 100,000; if that is meant, raise the limit: events = "), "{text}");
    let text = stopped(&json!({ "rows": 10_000 }), &json!({ "sample": "ack" }));
    assert!(
        text.contains(" rows: the limit is 10,000; if that is meant"),
        "{text}"
    );
    let text = stopped(&json!({ "memory": "2 MB" }), &json!({ "sample": "ack" }));
    assert!(
        text.contains(" bytes of memory: the limit is 2,000,000; if that is meant"),
        "{text}"
    );
}

#[test]
fn a_window_without_bound_ends_the_run_and_not_the_machine() {
    let endless = json!({ "initial_window": "1000000000000 packets", "handshake": false });
    for changes in [
        json!({ "tcp": endless }),
        json!({ "tcp": endless, "links": { "l": { "queue": { "name": "drop_tail", "limit": "1000000000 packets" } } } }),
        json!({ "tcp": endless, "links": { "l": { "rate": "1 Tbit/s" } } }),
    ] {
        let text = stopped(&json!({ "memory": "100 MB" }), &changes);
        assert!(
            text.contains(" bytes of memory: the limit is 100,000,000; if that is meant"),
            "{text}"
        );
    }
}

#[test]
fn an_unknown_limit_and_one_that_is_no_number_are_named() {
    let error = refused(&json!({ "limits": { "evnts": 1 } }));
    assert_eq!(
        (error.message.as_str(), error.hint.as_deref()),
        ("unknown limit `evnts`", Some("did you mean `events`?"))
    );
    assert_eq!(
        refused(&json!({ "limits": { "events": "1 s" } })).path,
        "limits.events"
    );
}

#[test]
fn limits_change_no_record() {
    let run = |changes: &Value| {
        let scenario = scenario::from_tree(&tree(changes)).expect("a scenario");
        simulate_within_limits(&scenario, 7).expect("within").0
    };
    assert_eq!(
        run(&json!({})),
        run(&json!({ "limits": { "events": 1e15, "rows": 1e15 } }))
    );
}

#[test]
fn a_link_that_changes_and_carries_no_flow_asks_for_nothing() {
    let demand = |changes: &Value| {
        let scenario = scenario::from_tree(&tree(changes)).expect("a scenario");
        Demand::of(&scenario).segments
    };
    let idle = json!({ "links": { "idle": { "rate": "1 Mbit/s", "delay": "1 ms",
        "walk": { "interval": "10 ms", "delay_step": "1 ms", "delay_min": "1 ms", "delay_max": "20 ms" } } } });
    assert_eq!(demand(&idle), demand(&json!({})));
    // One that changes long before the only flow starts has its capacity from then on.
    let late = |start: &str| json!({ "links": { "l": { "changes": [{ "at": "1 s", "rate": "2 Mbit/s" }] } }, "flows": [{ "path": ["l"], "start": start }] });
    let (half, whole) = (demand(&late("31 s")), demand(&late("2 s")));
    assert!((half / whole - 0.5).abs() < 0.01, "{half} of {whole}");
}

#[test]
fn a_limit_of_few_events_is_kept_to_the_event() {
    let run = |events: f64| {
        let limits = json!({ "duration": "2 s", "limits": { "events": events } });
        let scenario = scenario::from_tree(&tree(&limits)).expect("a scenario");
        simulate_within_limits(&scenario, 7)
    };
    #[expect(clippy::cast_precision_loss, reason = "few")]
    let takes = run(1e9).expect("within").1.events as f64;
    assert!((60.0..60_000.0).contains(&takes), "{takes}");
    assert!(run(takes).is_ok());
    for limit in [1.0, 50.0, takes - 1.0] {
        let said = run(limit).expect_err("beyond").to_string();
        let counted = format!(
            "after {} events",
            sawtooth_core::internals::limits::counted(limit + 1.0)
        );
        assert!(said.contains(&counted), "{said}");
    }
}

#[test]
fn flows_that_arrive_and_cannot_leave_are_counted_beforehand() {
    let arrivals = |rate: f64, more: Value| {
        let mut changes =
            json!({ "flows": [{ "path": ["l"], "arrivals": { "rate": rate, "size": "15 kB" } }] });
        merge(&mut changes, &more);
        scenario::from_tree(&tree(&changes))
    };
    let bytes = |rate: f64| {
        let scenario = arrivals(rate, json!({})).expect("a scenario");
        Demand::of(&scenario).memory_bytes
    };
    // About 8 flows of 15 kB in a second are what the link carries; of 1000 in each of 60 s nearly all stay.
    assert!(bytes(4.0) < 1e6, "{}", bytes(4.0));
    assert!((3e8..4e8).contains(&bytes(1000.0)), "{}", bytes(1000.0));
    let error = arrivals(1e6, json!({})).expect_err("too much");
    assert_eq!(error.path, "flows[0].arrivals");
    assert!(error.message.contains("bytes of memory"), "{error}");
    let error = arrivals(1e9, json!({ "limits": { "memory": "1e6 GB" } })).expect_err("too much");
    assert!(
        error
            .message
            .starts_with("this takes about 60,000,000,000 events"),
        "{error}"
    );
    assert_eq!(error.path, "flows[0].arrivals");
}
