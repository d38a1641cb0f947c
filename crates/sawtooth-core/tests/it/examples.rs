//! The crate's examples, run: what they print is what their pages say.

use std::io::Write;
use std::process::{Command, Output, Stdio};

use sawtooth_core::{scenario, simulate};

/// Runs an example as this test was built, so that nothing but its own file is compiled.
fn run(example: &str, arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--locked", "--profile", "test"])
        .args(["--package", "sawtooth-core", "--example", example, "--"])
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cargo runs");
    let mut stdin = child.stdin.take().expect("a pipe");
    // Who fails early does not read it.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    child.wait_with_output().expect("it ends")
}

fn printed(output: &Output) -> &str {
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    std::str::from_utf8(&output.stdout).expect("text")
}

#[test]
fn the_dumbbell_prints_what_the_front_page_says() {
    let output = run("dumbbell", &[], "");
    let lines: Vec<&str> = printed(&output).lines().collect();
    assert_eq!(lines.len(), 2, "{lines:?}");
    let front_page = include_str!("../../src/lib.rs");
    let shown = lines.iter().map(|line| format!("//! {line}\n"));
    assert!(front_page.contains(&shown.collect::<String>()), "{lines:?}");
}

const SCENARIO: &str = r#"{
    "duration": "1 s",
    "links": {"bottleneck": {"rate": "10 Mbit/s", "delay": "10 ms"}},
    "flows": [{"path": ["bottleneck"]}, {"path": ["bottleneck"], "start": "2 s"}]
}"#;

#[test]
fn a_scenario_in_json_becomes_a_table_with_a_line_for_each_flow() {
    let output = run("simulate", &[], SCENARIO);
    let rows: Vec<Vec<&str>> = printed(&output)
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    let records = simulate(&scenario::from_json(SCENARIO).expect("a scenario"), 1);
    let flows = records.table("flows").expect("a table");
    let names: Vec<&str> = flows.named_columns().map(|(name, _)| name).collect();
    assert_eq!(rows[0], names);
    assert_eq!(rows.len(), 1 + flows.rows());
    for (at, (name, data)) in flows.named_columns().enumerate() {
        if name == "goodput_bps" {
            let shown = data.numbers();
            for (row, value) in rows[1..].iter().zip(shown) {
                assert_eq!(row[at].parse().ok(), value, "{name}");
            }
        }
    }
}

#[test]
fn another_table_is_printed_by_its_name() {
    let output = run("simulate", &["links"], SCENARIO);
    let lines: Vec<&str> = printed(&output).lines().collect();
    assert!(lines[1].starts_with("bottleneck,"), "{lines:?}");
    // Both directions.
    assert_eq!(lines.len(), 3);
}

#[test]
fn a_table_that_is_not_there_is_an_error() {
    let output = run("simulate", &["nothing"], SCENARIO);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("no table nothing"), "{said}");
}
