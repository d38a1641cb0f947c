//! Captures of runs: where packets are seen and which files they go to, as Python says it.

use std::path::PathBuf;
use std::sync::atomic::Ordering;

use pyo3::prelude::*;
use sawtooth_capture::simulated::{CaptureSettings, SimulatedCapture};
use sawtooth_capture::write::file::UnfinishedFile;
use sawtooth_capture::write::pcapng::SectionNotes;
use sawtooth_core::Scenario;
use sawtooth_core::internals::sim::{TapPoint, simulate_tapped};
use sawtooth_core::record::{Effort, Records};

/// What is captured of one run.
#[derive(FromPyObject)]
pub struct CaptureRequest {
    /// Of each file where its packets are seen: a word, and the name of a link if it is one of a link's ends.
    points: Vec<(String, Option<String>)>,
    paths: Vec<PathBuf>,
    snap: u32,
    comments: Vec<String>,
}

/// Runs `scenario` as [`simulate_tapped`] does, and writes what is asked for.
pub fn simulate_captured(
    scenario: &Scenario,
    seed: u64,
    goes_on: &dyn Fn() -> bool,
    request: &CaptureRequest,
) -> Result<(Records, Effort), String> {
    let points = request.points.iter().map(|(word, link)| {
        let link = link.as_ref().map(|name| {
            let named = |link: &&sawtooth_core::spec::LinkSpec| link.name == *name;
            let found = scenario.links.iter().position(|link| named(&link));
            found.ok_or_else(|| format!("there is no link `{name}`"))
        });
        let link = link.transpose()?;
        match (word.as_str(), link) {
            ("sender", None) => Ok(TapPoint::Sender),
            ("receiver", None) => Ok(TapPoint::Receiver),
            ("near", Some(link)) => Ok(TapPoint::Near(link)),
            ("far", Some(link)) => Ok(TapPoint::Far(link)),
            _ => Err(format!("`{word}` is no point of a network")),
        }
    });
    let points = points.collect::<Result<Vec<_>, String>>()?;
    let settings = CaptureSettings {
        snap: request.snap,
        notes: SectionNotes {
            hardware: "a simulated network".to_owned(),
            system: String::new(),
            application: format!("Sawtooth {}", env!("CARGO_PKG_VERSION")),
            comments: request.comments.clone(),
        },
    };
    let words = |error: std::io::Error| error.to_string();
    let files = request
        .paths
        .iter()
        .map(|path| UnfinishedFile::create(path));
    let files = files.collect::<Result<Vec<_>, _>>().map_err(words)?;
    let outputs = points.iter().copied().zip(files);
    let mut capture = SimulatedCapture::new(scenario, settings, outputs).map_err(words)?;
    let failed = capture.failed();
    let wanted = || goes_on() && !failed.load(Ordering::Relaxed);
    let outcome = simulate_tapped(scenario, seed, &wanted, &points, &mut capture);
    if outcome.is_ok() || failed.load(Ordering::Relaxed) {
        for finished in capture.finish(scenario.duration).map_err(words)? {
            finished.out.finish().map_err(words)?;
        }
    }
    outcome.map_err(|stopped| stopped.to_string())
}
