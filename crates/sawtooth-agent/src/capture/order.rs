//! What is to be captured of a run, and where the files go.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use sawtooth_core::Scenario;
use sawtooth_core::internals::sim::TapPoint;
use serde_json::Value as Json;

/// A file that stays in the guest's memory may have this share of it.
const MEMORY_SHARE: u64 = 4;

/// What is to be captured of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureOrder {
    /// A file for each.
    pub points: Vec<TapPoint>,
    /// Bytes of a packet, from its IP header on; 0: all.
    pub(super) snap: u32,
    pub(super) comments: Vec<String>,
}

impl CaptureOrder {
    /// Reads what a job says of it, if it does.
    pub fn of_job(job: &Json, scenario: &Scenario) -> Result<Option<Self>, String> {
        let order = &job["captures"];
        if order.is_null() {
            return Ok(None);
        }
        let points = order["points"].as_array().into_iter().flatten();
        let points = points.map(|point| read_point(point, scenario));
        let comments = order["comments"].as_array().into_iter().flatten();
        Ok(Some(Self {
            points: points.collect::<Result<_, _>>()?,
            snap: (order["snap"].as_u64())
                .and_then(|snap| u32::try_from(snap).ok())
                .ok_or("captures have no snap length")?,
            comments: (comments.filter_map(Json::as_str).map(str::to_owned)).collect(),
        }))
    }

    /// The links whose ends are among its points.
    pub fn links(&self) -> Vec<usize> {
        let link = |point: &TapPoint| match point {
            TapPoint::Near(link) | TapPoint::Far(link) => Some(*link),
            TapPoint::Sender | TapPoint::Receiver => None,
        };
        self.points.iter().filter_map(link).collect()
    }
}

fn read_point(point: &Json, scenario: &Scenario) -> Result<TapPoint, String> {
    let link = || {
        let name = point[1].as_str().unwrap_or_default();
        let found = scenario.links.iter().position(|link| link.name == name);
        found.ok_or_else(|| format!("there is no link `{name}` to capture at"))
    };
    match point[0].as_str() {
        Some("sender") => Ok(TapPoint::Sender),
        Some("receiver") => Ok(TapPoint::Receiver),
        Some("near") => link().map(TapPoint::Near),
        Some("far") => link().map(TapPoint::Far),
        _ => Err(format!("{point} is no point to capture at")),
    }
}

/// Where the files of a job go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturePlace {
    /// Their directory, and what their names begin with.
    pub directory: PathBuf,
    pub name: String,
    /// Whether they stay in the memory of the guest until the run is over.
    pub in_memory: bool,
}

impl CapturePlace {
    /// The file of a point by its number.
    pub fn path(&self, number: usize) -> PathBuf {
        self.directory
            .join(format!("{}.{number}.pcapng", self.name))
    }

    /// Those that are there, by their names.
    pub fn written(&self) -> Vec<(String, PathBuf)> {
        let paths = (0..).map(|number| self.path(number));
        let there = paths.take_while(|path| path.exists());
        there
            .map(|path| {
                let name = path.file_name().unwrap_or_default();
                (name.to_string_lossy().into_owned(), path)
            })
            .collect()
    }

    /// How many bytes there is room for.
    pub(super) fn room(&self) -> io::Result<u64> {
        if !self.in_memory {
            return Ok(u64::MAX);
        }
        let text = fs::read_to_string("/proc/meminfo")?;
        let line = text.lines().find(|line| line.starts_with("MemAvailable:"));
        let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<u64>().ok());
        Ok(kib.unwrap_or(0) * 1024 / MEMORY_SHARE)
    }
}

/// The name of a job's file, of which those of its captures are made.
pub fn place(directory: &Path, job: &Path, in_memory: bool) -> CapturePlace {
    CapturePlace {
        directory: directory.to_owned(),
        name: (job.file_name().unwrap_or_default())
            .to_string_lossy()
            .into_owned(),
        in_memory,
    }
}
