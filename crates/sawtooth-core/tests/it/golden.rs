//! Sameness: the window of every congestion control with every recovery, round by round, and a hash of all records, in small scenarios.
//!
//! A difference is either a mistake or a changed result: then run this with `UPDATE_GOLDEN=1`, look at the difference, and name it
//! under "Changed results" in the changelog.

use crate::columns::{numbers, words};
use std::collections::BTreeSet;
use std::fmt::Write;

use crate::compare::{before, compare};
use sawtooth_core::internals::{cc, tcp};
use sawtooth_core::record::{Column, Records, SCHEMA};
use sawtooth_core::{scenario, simulate};
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

/// The columns that the hashes are over, as `table.column`: all that there were when `windows.txt` was written, which are in `columns.txt`. A younger one is no change of what
/// was there, and `tests/guards/records.txt` has its hashes; one that is gone is missed. Without that file `UPDATE_GOLDEN=1` takes all: remove it when the hashes change for
/// another reason.
fn columns() -> BTreeSet<String> {
    let before = before("columns.txt");
    let known: BTreeSet<&str> = before.lines().collect();
    let all = SCHEMA.iter().flat_map(|table| {
        let columns = table.columns.iter();
        columns.map(|column| format!("{}.{}", table.name, column.name))
    });
    all.filter(|name| known.is_empty() || known.contains(name.as_str()))
        .collect()
}

fn run(tree: &Value) -> Records {
    let scenario = scenario::from_tree(tree).unwrap_or_else(|error| panic!("{error}"));
    simulate(&scenario, 1)
}

/// FNV-1a over every value of every table. What is unknown is hashed as -1: so it was written when the golden file was made.
fn hash(records: &Records, columns: &BTreeSet<String>) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut take = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for table in &records.tables {
        for (name, column) in table.named_columns() {
            let name = format!("{}.{name}", table.name());
            if !columns.contains(&name) {
                continue;
            }
            take(name.as_bytes());
            match column {
                Column::U64(values) => values.iter().for_each(|value| take(&value.to_le_bytes())),
                Column::I64(values) => values.iter().for_each(|value| take(&value.to_le_bytes())),
                Column::F64(values) => values.iter().for_each(|value| take(&value.to_le_bytes())),
                Column::OptU64(values) => values
                    .iter()
                    .for_each(|value| take(&value.map_or(-1, u64::cast_signed).to_le_bytes())),
                Column::OptI64(values) => values
                    .iter()
                    .for_each(|value| take(&value.unwrap_or(-1).to_le_bytes())),
                Column::OptF64(values) => values
                    .iter()
                    .for_each(|value| take(&value.unwrap_or(-1.0).to_le_bytes())),
                Column::Str(values) => values.iter().for_each(|value| {
                    take(value.as_bytes());
                    take(&[0]);
                }),
            }
        }
    }
    hash
}

fn windows(records: &Records) -> Vec<f64> {
    let cwnd = numbers(records, "series", "cwnd_bytes");
    let flows = words(records, "series", "flow");
    let first = &flows[0];
    cwnd.iter()
        .zip(&flows)
        .filter(|(_, flow)| *flow == first)
        .map(|(cwnd, _)| cwnd / 1000.0)
        .collect()
}

fn table(columns: &BTreeSet<String>) -> String {
    let mut text = String::from(
        "cwnd in whole packets at the start of every round of 104 ms; 10 Mbit/s, 50 ms each way; at the end of the line a hash of all records\n",
    );
    for (name, queue, window, size, second) in SCENARIOS {
        let _ = write!(text, "\n{name}\n");
        for stack in ["ns2", "rfc", "linux", "linux-3.2"] {
            let own = |name: &str| match stack {
                "linux" => name == "rack",
                "linux-3.2" => name == "fack",
                _ => true,
            };
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
                    let records = run(&tree);
                    let row: Vec<String> = windows(&records)
                        .iter()
                        .map(|cwnd| format!("{:.0}", cwnd.trunc()))
                        .collect();
                    let label = format!("{stack} {} {}", recovery.name, cc.name);
                    let _ = writeln!(
                        text,
                        "{label:<24} {} | {:016x}",
                        row.join(" "),
                        hash(&records, columns)
                    );
                }
            }
        }
    }
    text
}

#[test]
fn windows_are_what_they_were() {
    let columns = columns();
    let names: Vec<&str> = columns.iter().map(String::as_str).collect();
    compare("columns.txt", &(names.join("\n") + "\n"));
    compare("windows.txt", &table(&columns));
}
