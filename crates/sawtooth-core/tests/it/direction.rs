//! Flows against the others: a network that is looked at from its other side is the same network.

use crate::columns::{counts, first, numbers, words};
use sawtooth_core::record::{Records, Table};
use sawtooth_core::{scenario, simulate};
use serde_json::{Value, json};

const STACKS: [&str; 3] = ["linux", "rfc", "ns2"];

fn run(tree: &Value) -> Records {
    let scenario = scenario::from_tree(tree).unwrap_or_else(|error| panic!("{error}"));
    simulate(&scenario, 1)
}

fn side(rate: u32, delay: u32, limit: u32) -> Value {
    json!({"rate": format!("{rate} kbit/s"), "delay": format!("{delay} ms"), "queue": {"name": "drop_tail", "limit": format!("{limit} packets")},
        "drop": [40]})
}

/// Two links whose sides differ, two flows of TCP one way, one the other, a flow of UDP, and one of requests.
fn tree(stack: &str, mirrored: bool) -> Value {
    let mut links = [
        [side(4000, 11, 30), side(3000, 7, 50)],
        [side(5000, 3, 20), side(6000, 2, 70)],
    ];
    let (mut with, mut against) = ("forward", "reverse");
    let mut whole = vec!["one", "other"];
    if mirrored {
        for sides in &mut links {
            sides.reverse();
        }
        (with, against) = (against, with);
        whole.reverse();
    }
    let [one, other] = links.map(|[forward, reverse]| {
        let mut link = forward;
        link["reverse"] = reverse;
        link
    });
    json!({
        "duration": "12 s", "stack": stack, "cc": "reno",
        "links": {"one": one, "other": other},
        "flows": [
            {"name": "long", "path": whole, "direction": with, "count": 2, "start": "i * 0.3 s", "delay": "1 ms"},
            {"name": "back", "path": whole, "direction": against, "start": "1 s"},
            {"name": "short", "path": ["one"], "direction": against, "start": "2 s", "source": {"name": "bulk", "size": "200 kB"}},
            {"name": "stream", "path": whole, "direction": with, "transport": "udp", "source": {"name": "poisson", "rate": "300 kbit/s"}},
            {"name": "asked", "path": ["one"], "direction": with, "source": {"name": "request_response", "response": "30 kB", "count": 40}},
        ],
    })
}

fn columns(table: &Table) -> Vec<String> {
    let of = |(name, data)| format!("{name}: {data:?}");
    table.named_columns().map(of).collect()
}

#[test]
fn from_the_other_side_all_flows_are_as_they_were() {
    for stack in STACKS {
        let [one, mirrored] = [false, true].map(|mirrored| run(&tree(stack, mirrored)));
        let mut compared = 0;
        for (table, other) in one.tables.iter().zip(&mirrored.tables) {
            if ["flows", "datagrams", "exchanges"].contains(&table.name()) {
                assert_eq!(columns(table), columns(other), "{stack}");
                compared += 1;
            }
        }
        assert_eq!(compared, 3);
        assert!(
            counts(&one, "flows", "retransmits")
                .iter()
                .all(|count| *count > 0 || stack == "ns2"),
            "{stack}"
        );
        // Of each link what was forward is in reverse.
        let utilisation = |records: &Records| numbers(records, "links", "utilisation");
        let (there, back) = (utilisation(&one), utilisation(&mirrored));
        for link in [0, 2] {
            assert_eq!([there[link], there[link + 1]], [back[link + 1], back[link]]);
        }
    }
}

#[test]
fn data_against_the_others_fill_the_reverse_side_and_wait_in_its_queue() {
    let tree = json!({
        "duration": "20 s", "stack": "linux",
        "links": {"l": {"rate": "10 Mbit/s", "delay": "10 ms", "reverse": {"rate": "2 Mbit/s"}}},
        "flows": [{"path": ["l"], "direction": "reverse"}],
    });
    let records = run(&tree);
    let used = numbers(&records, "links", "utilisation");
    assert_eq!(
        words(&records, "links", "direction"),
        ["forward", "reverse"]
    );
    assert!(used[0] < 0.02 && used[1] > 0.97, "{used:?}");
    assert!((first(&records, "flows", "goodput_bps") - 1.93e6).abs() < 0.02e6);
}

/// Zhang, Shenker and Clark 1991, "Observations on the Dynamics of a Congestion Control Algorithm: The Effects of Two-Way Traffic", SIGCOMM: acknowledgements wait behind
/// data of the other direction and come in bursts, and a link with traffic both ways is used less than one with traffic one way.
#[test]
fn traffic_both_ways_uses_a_link_less_than_traffic_one_way() {
    let used = |direction: &str| {
        let tree = json!({
            "duration": "100 s", "stack": "ns2",
            "links": {"l": {"rate": "1 Mbit/s", "delay": "10 ms", "queue": {"name": "drop_tail", "limit": "10 packets"}}},
            "flows": [{"path": ["l"]}, {"path": ["l"], "direction": direction, "start": "0.37 s"}],
        });
        numbers(&run(&tree), "links", "utilisation")[0]
    };
    let (one_way, two_way) = (used("forward"), used("reverse"));
    assert!(one_way > 0.99 && two_way < 0.95, "{one_way} {two_way}");
}

#[test]
fn another_word_is_refused_with_the_two_that_there_are() {
    let tree = json!({
        "duration": "1 s", "links": {"l": {"rate": "1 Mbit/s", "delay": "1 ms"}},
        "flows": [{"path": ["l"], "direction": "backward"}],
    });
    let error = scenario::from_tree(&tree).expect_err("there is no such direction");
    assert_eq!(error.path, "flows[0].direction");
    assert_eq!(error.message, "unknown direction `backward`");
    assert_eq!(error.hint.as_deref(), Some("known are forward, reverse"));
}
