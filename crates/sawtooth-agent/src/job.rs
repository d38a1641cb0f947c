//! A job: a file with a scenario, a seed, and what is to be done.

use std::fs;
use std::path::Path;

use sawtooth_core::Scenario;
use sawtooth_core::internals::scenario::for_kernel;
use serde_json::{Value, json};

use crate::capture::{CaptureOrder, CapturePlace};
use crate::{calibration, experiment, inspection, program, setup};

/// Runs the job in `path`; what it measured, or its `error`. What it captures goes to `captures`.
pub fn run(path: &Path, captures: &CapturePlace) -> Value {
    attempt(path, captures).unwrap_or_else(|message| json!({"error": message}))
}

fn attempt(path: &Path, place: &CapturePlace) -> Result<Value, String> {
    let job = parsed(path)?;
    if job["kind"] == "program" {
        return program::run(&job).map_err(|error| error.to_string());
    }
    let scenario = scenario(&job)?;
    let order = CaptureOrder::of_job(&job, &scenario)?;
    let captured = order.as_ref().map(|order| (order, place));
    let seed = job["seed"].as_u64().unwrap_or(1);
    let outcome = match job["kind"].as_str() {
        None => experiment::run(&scenario, seed, job["calls"].as_str(), captured),
        Some("inspection") => inspection::run(&scenario),
        Some("calibration") => calibration::run(&scenario, &job["bursts"], seed),
        Some(other) => return Err(format!("unknown kind of job `{other}`")),
    };
    outcome.map_err(|error| error.to_string())
}

/// What would be done, a command a line.
pub fn plan(path: &Path) -> Result<String, String> {
    Ok(setup::plan(&scenario(&parsed(path)?)?))
}

fn parsed(path: &Path) -> Result<Value, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

fn scenario(job: &Value) -> Result<Scenario, String> {
    let (scenario, _) = for_kernel(&job["scenario"]).map_err(|error| error.to_string())?;
    Ok(scenario)
}
