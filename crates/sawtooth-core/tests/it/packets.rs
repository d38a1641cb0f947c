//! What links say of single packets: when each came, was sent or dropped, and arrived.

use crate::backlogs::fed;
use crate::columns::{counts, wholes, words};
use crate::random::load;
use sawtooth_core::record::Records;
use sawtooth_core::{Scenario, simulate};
use serde_json::{Value, json};

const MS: i64 = 1_000_000;

/// Room for three that wait and the one in transmission, of which 1000 bytes take 8 ms and then 5 ms to the far end; the third packet is lost.
fn crossing(changes: &Value) -> Scenario {
    let mut tree = json!({
        "duration": "25 ms", "record": ["packets"],
        "links": {"l": {"rate": "1 Mbit/s", "delay": "5 ms", "drop": [3], "queue": {"name": "drop_tail", "limit": "4 packets"}}},
        "flows": [{"name": "a", "path": ["l"]}, {"name": "b", "path": ["l"]}],
    });
    for (key, value) in changes.as_object().expect("a table") {
        tree[key] = value.clone();
    }
    load(&tree)
}

/// As in the table of `backlogs`: when, of which flow, how many bytes.
const PACKETS: [(f64, u32, u32); 6] = [
    (0.0, 0, 1000),
    (1.0, 1, 1000),
    (2.0, 0, 1000),
    (3.0, 1, 500),
    (4.0, 1, 1000),
    (20.0, 0, 1000),
];

fn column(records: &Records, name: &str) -> Vec<i64> {
    let whole = |ns: &i64| if *ns < 0 { -1 } else { *ns / MS };
    wholes(records, "packets", name).iter().map(whole).collect()
}

#[test]
fn the_times_of_each_packet_are_those_worked_out_by_hand() {
    let scenario = crossing(&json!({}));
    for computed in [true, false] {
        let records = fed(&scenario, &PACKETS, computed);
        assert_eq!(
            words(&records, "packets", "flow"),
            ["a", "b", "a", "b", "b", "a"]
        );
        assert_eq!(
            words(&records, "packets", "fate"),
            [
                "arrived",
                "arrived",
                "lost",
                "unfinished",
                "dropped",
                "unfinished"
            ]
        );
        assert_eq!(column(&records, "arrived_ns"), [0, 1, 2, 3, 4, 20]);
        assert_eq!(column(&records, "dropped_ns"), [-1, -1, -1, -1, 4, -1]);
        assert_eq!(column(&records, "started_ns"), [0, 8, 16, 24, -1, -1]);
        assert_eq!(column(&records, "sent_ns"), [8, 16, 24, 28, -1, -1]);
        assert_eq!(column(&records, "delivered_ns"), [13, 21, -1, 33, -1, -1]);
    }
}

#[test]
fn a_stretch_of_time_has_the_packets_that_are_there_in_it() {
    // The first is gone at 13 ms, the fifth was dropped before, the sixth comes when it is over.
    let stretch = json!({"record_from": "13.5 ms", "record_until": "20 ms"});
    for computed in [true, false] {
        let records = fed(&crossing(&stretch), &PACKETS, computed);
        assert_eq!(column(&records, "arrived_ns"), [1, 2, 3]);
        assert_eq!(column(&records, "started_ns"), [8, 16, 24]);
    }
}

/// Over an access link and a short queue behind it, which drops.
fn path(queue: &str) -> Records {
    let tree = json!({
        "duration": "20 s", "stack": "linux", "record": ["packets", "episodes"],
        "links": {
            "access": {"rate": "10 Mbit/s", "delay": "5 ms"},
            "core": {"rate": "1 Mbit/s", "delay": "20 ms", "queue": {"name": queue, "limit": "12 packets"}},
        },
        "flows": [{"name": "f", "path": ["access", "core"], "cc": "reno"},
                  {"name": "u", "path": ["core"], "transport": "udp", "source": {"name": "poisson", "rate": "200 kbit/s", "size": "500 B"}}],
    });
    simulate(&load(&tree), 3)
}

#[test]
fn packets_come_to_a_link_when_they_are_at_the_end_of_the_one_before() {
    for queue in ["drop_tail", "codel"] {
        let records = path(queue);
        let (links, ways) = (
            words(&records, "packets", "link"),
            words(&records, "packets", "direction"),
        );
        let (kinds, fates) = (
            words(&records, "packets", "kind"),
            words(&records, "packets", "fate"),
        );
        let rows = |link: &str, way: &str, kind: &str| -> Vec<usize> {
            let all = 0..links.len();
            all.filter(|row| links[*row] == link && ways[*row] == way && kinds[*row] == kind)
                .collect()
        };
        let at = |rows: &[usize], column: &str| -> Vec<i64> {
            let values = wholes(&records, "packets", column);
            rows.iter().map(|row| values[*row]).collect()
        };
        let arrived = |rows: Vec<usize>| -> Vec<usize> {
            rows.into_iter()
                .filter(|row| fates[*row] == "arrived")
                .collect()
        };
        let passed = arrived(rows("access", "forward", "data"));
        let came = rows("core", "forward", "data");
        assert!(came.len() > 1000, "{}", came.len());
        assert_eq!(
            at(&passed, "delivered_ns"),
            at(&came, "arrived_ns"),
            "{queue}"
        );
        assert_eq!(at(&passed, "number"), at(&came, "number"), "{queue}");
        // And acknowledgements the other way.
        let passed = arrived(rows("core", "reverse", "ack"));
        let came = rows("access", "reverse", "ack");
        assert_eq!(
            at(&passed, "delivered_ns"),
            at(&came, "arrived_ns"),
            "{queue}"
        );
        assert!(!rows("core", "forward", "datagram").is_empty());
    }
}

#[test]
fn each_fate_is_counted_as_often_as_the_link_says_and_retransmissions_as_the_flow_does() {
    for queue in ["drop_tail", "codel"] {
        let records = path(queue);
        let fates = words(&records, "packets", "fate");
        let dropped = fates.iter().filter(|fate| *fate == "dropped").count() as u64;
        assert!(dropped > 0);
        assert_eq!(
            dropped,
            counts(&records, "links", "dropped_packets")
                .iter()
                .sum::<u64>()
        );
        assert_eq!(
            fates.len() as u64,
            counts(&records, "links", "arrived_packets")
                .iter()
                .sum::<u64>()
        );
        let links = words(&records, "packets", "link");
        let again = counts(&records, "packets", "retransmission");
        let sent_again = (0..links.len())
            .filter(|row| links[*row] == "access" && again[*row] == 1)
            .count() as u64;
        assert!(sent_again > 0);
        assert_eq!(sent_again, counts(&records, "flows", "retransmits")[0]);
    }
}

#[test]
fn what_is_recorded_changes_nothing_that_happens() {
    let tree = |record: Value| {
        json!({
            "duration": "10 s", "stack": "linux", "record": record,
            "links": {"l": {"rate": "2 Mbit/s", "delay": "10 ms", "loss": 0.01, "duplicate": 0.01, "corrupt": 0.01, "jitter": {"name": "uniform", "spread": "3 ms"}}},
            "flows": [{"path": ["l"], "count": 2}],
        })
    };
    let (with, without) = (
        simulate(&load(&tree(json!(["packets"]))), 1),
        simulate(&load(&tree(json!([]))), 1),
    );
    assert_eq!(with.table("flows"), without.table("flows"));
    assert_eq!(with.table("links"), without.table("links"));
    let fates = words(&with, "packets", "fate");
    for (fate, column) in [
        ("lost", "lost_packets"),
        ("doubled", "duplicated_packets"),
        ("damaged", "corrupted_packets"),
    ] {
        let found = fates.iter().filter(|found| *found == fate).count() as u64;
        let counted: u64 = counts(&with, "links", column).iter().sum();
        assert!(found > 0 && found <= counted, "{found} of {counted} {fate}");
    }
}
