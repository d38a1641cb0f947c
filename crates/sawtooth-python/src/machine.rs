//! How much memory this machine has.

use std::sync::OnceLock;

use pyo3::pyfunction;
use sawtooth_core::Scenario;
use sawtooth_core::internals::scenario::fits_machine;
use sawtooth_core::scenario;

/// Refuses a scenario for which this machine has too little memory, as far as it tells.
pub fn fits(scenario: &Scenario) -> scenario::Result<()> {
    machine_memory().map_or(Ok(()), |bytes| fits_machine(scenario, bytes))
}

/// Bytes of memory that this machine has, or that its container may take; nothing where that is told in other ways than Linux's.
#[pyfunction]
pub fn machine_memory() -> Option<f64> {
    static BYTES: OnceLock<Option<f64>> = OnceLock::new();
    *BYTES.get_or_init(memory_bytes)
}

fn memory_bytes() -> Option<f64> {
    let told = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = told.lines().find(|line| line.starts_with("MemTotal:"))?;
    let kib: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    let container = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let container = container.and_then(|bytes| bytes.trim().parse().ok());
    Some((1024.0 * kib).min(container.unwrap_or(f64::INFINITY)))
}
