//! A job: a file with a scenario and what a kernel needs to know besides.

use std::fs;
use std::path::Path;

use sawtooth_core::Scenario;
use serde_json::{Value, json};

use crate::experiment;

/// Runs the job in `path`; what it measured, or its `error`.
pub fn run(path: &Path) -> Value {
    attempt(path).unwrap_or_else(|message| json!({"error": message}))
}

fn attempt(path: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let job: Value =
        serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let scenario = Scenario::from_tree(&job["scenario"]).map_err(|error| error.to_string())?;
    experiment::run(&scenario).map_err(|error| error.to_string())
}
