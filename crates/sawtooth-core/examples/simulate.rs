//! Reads a scenario as JSON from the input, with the keys of `docs/reference/scenario.md`, and writes a table of what was measured:
//!
//! ```text
//! cargo run -p sawtooth-core --example simulate -- links < scenario.json
//! ```
//!
//! The table is `flows` if none is named; its columns are separated by commas, and what is unknown is empty.

use std::io::Read;

use sawtooth_core::{scenario, simulate_within_limits};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let scenario = scenario::from_json(&text)?;
    let (records, _) = simulate_within_limits(&scenario, 1)?;
    let name = std::env::args().nth(1).unwrap_or_else(|| "flows".into());
    let table = records
        .table(&name)
        .ok_or_else(|| format!("no table {name}"))?;
    print!("{}", table.csv());
    Ok(())
}
