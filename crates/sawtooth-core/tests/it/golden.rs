//! Sameness: the window of every congestion control with every recovery, round by round, in small scenarios.
//!
//! A difference is either a mistake or a changed result: then run this with `UPDATE_GOLDEN=1`, look at the difference, and name it
//! under "Changed results" in the changelog.

use std::fmt::Write;

use crate::compare::compare;
use sawtooth_core::record::Data;
use sawtooth_core::{Scenario, cc, simulate, tcp};
use serde_json::{Value, json};

/// Name, queue limit in packets, window limit in packets, bytes to send, start of a second flow.
type Row = (
    &'static str,
    u32,
    u32,
    Option<&'static str>,
    Option<&'static str>,
);

const SCENARIOS: &[Row] = &[
    ("slow start without losses", 100_000, 4000, None, None),
    ("held back by the window limit", 100_000, 20, None, None),
    ("losses at a full queue", 20, 4000, None, None),
    ("a queue of three packets", 3, 4000, None, None),
    ("a transfer that ends", 20, 4000, Some("300 kB"), None),
    ("a second flow comes", 20, 4000, None, Some("3 s")),
];
const ROUND: &str = "104 ms";

fn windows(tree: &Value) -> Vec<f64> {
    let scenario = Scenario::from_tree(tree).unwrap_or_else(|error| panic!("{error}"));
    let records = simulate(&scenario, 1);
    let series = records.table("series").expect("samples");
    let (Data::F64(cwnd), Data::Str(flows)) = (series.column("cwnd_bytes"), series.column("flow"))
    else {
        panic!("the columns have other types");
    };
    let first = &flows[0];
    cwnd.iter()
        .zip(flows)
        .filter(|(_, flow)| *flow == first)
        .map(|(cwnd, _)| cwnd / 1000.0)
        .collect()
}

fn table() -> String {
    let mut text = String::from(
        "cwnd in whole packets at the start of every round of 104 ms; 10 Mbit/s, 50 ms each way\n",
    );
    for (name, queue, window, size, second) in SCENARIOS {
        let _ = write!(text, "\n{name}\n");
        for stack in ["ns2", "rfc", "linux"] {
            let own = |name: &str| stack != "linux" || name == "rack";
            for recovery in tcp::recovery::TABLE.iter().filter(|entry| own(entry.name)) {
                for cc in cc::TABLE {
                    let source = size.map_or(
                        json!({"name": "bulk"}),
                        |size| json!({"name": "bulk", "size": size}),
                    );
                    let mut flows = vec![json!({"path": ["l"], "source": source})];
                    if let Some(start) = second {
                        flows.push(json!({"path": ["l"], "start": start}));
                    }
                    let tree = json!({
                        "duration": "6 s", "stack": stack, "cc": cc.name, "sample": ROUND,
                        "tcp": {"recovery": recovery.name, "smss": "1000 B", "window_limit": format!("{window} packets")},
                        "links": {"l": {
                            "rate": "10 Mbit/s", "delay": "50 ms",
                            "queue": {"name": "drop_tail", "limit": format!("{queue} packets")},
                        }},
                        "flows": flows,
                    });
                    let row: Vec<String> = windows(&tree)
                        .iter()
                        .map(|cwnd| format!("{:.0}", cwnd.trunc()))
                        .collect();
                    let label = format!("{stack} {} {}", recovery.name, cc.name);
                    let _ = writeln!(text, "{label:<24} {}", row.join(" "));
                }
            }
        }
    }
    text
}

#[test]
fn windows_are_what_they_were() {
    compare("windows.txt", &table());
}
