//! Captures as tables: reads a file, or standard input, and analyses it.

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use pyo3::create_exception;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sawtooth_capture::analysis::rows::{
    CapturedEpisodeRow, CapturedFlowRow, CapturedSeriesRow, MarkRow,
};
use sawtooth_capture::analysis::{Analysis, Tables};
use sawtooth_capture::read::{
    CapturedFrame, CapturedPacket, FileFacts, FrameReader, Tally, Unreadable, decode, read_frames,
};
use sawtooth_capture::simulated::DAMAGED;
use sawtooth_capture::write::pcapng::PacketWay;
use sawtooth_core::record::Row;
use serde_json::json;

use crate::convert;
use crate::interrupt::interruptible;

create_exception!(
    _core,
    CaptureError,
    PyException,
    "A file that is no capture, or none that is read; says why and what to do."
);

/// How far a capture has been read, for whoever looks meanwhile.
#[pyclass(frozen)]
#[derive(Default)]
pub struct CaptureProgress(Arc<AtomicU64>);

#[pymethods]
impl CaptureProgress {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Bytes of the capture that have been read.
    #[getter]
    fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What a capture came to.
type Analysed = (FileFacts, Tables, Tally);

/// The tables of a capture, and what is told of it; `-` is standard input. At most so many rows of the series are kept.
#[pyfunction]
#[pyo3(signature = (path, most_rows, progress))]
pub fn analyze_capture<'py>(
    py: Python<'py>,
    path: String,
    most_rows: usize,
    progress: &Bound<'py, CaptureProgress>,
) -> PyResult<Bound<'py, PyDict>> {
    let bytes = Arc::clone(&progress.get().0);
    let name = path.clone();
    let analysed = interruptible(py, move |goes_on| {
        analyze(opened(&path)?, most_rows, &bytes, goes_on)
    })?;
    let (facts, tables, tally) = analysed.map_err(|error| unreadable(py, &error, &name))?;
    let made = PyDict::new(py);
    for table in [
        &tables.flows,
        &tables.series,
        &tables.episodes,
        &tables.marks,
    ] {
        made.set_item(table.name(), convert::table_to_python(py, table)?)?;
    }
    let result = PyDict::new(py);
    result.set_item(
        "facts",
        convert::json_to_python(py, &told(&facts, &tables, &tally))?,
    )?;
    result.set_item("tables", made)?;
    Ok(result)
}

fn opened(path: &str) -> Result<Box<dyn Read + Send>, Unreadable> {
    if path == "-" {
        return Ok(Box::new(io::stdin()));
    }
    let file = File::open(path).map_err(|error| Unreadable::Refused(error.to_string()))?;
    Ok(Box::new(file))
}

fn unreadable(py: Python<'_>, error: &Unreadable, file: &str) -> PyErr {
    let raised = CaptureError::new_err(error.to_string());
    let value = raised.value(py);
    value
        .setattr("message", error.to_string())
        .and_then(|()| value.setattr("hint", error.hint(file)))
        .map_or_else(|error| error, |()| raised)
}

/// A packet of TCP where it was captured.
#[pyclass(frozen, get_all, skip_from_py_object)]
pub struct CapturedSegment {
    /// Since what is asked for.
    t_ns: i64,
    /// Name of the interface: in captures at simulated hosts that of the flow.
    flow: String,
    /// Whether it left the interface.
    outgoing: bool,
    /// Bytes of the IP packet.
    length: u32,
    /// Those of TCP's payload.
    payload: u32,
    seq: u32,
    ack: u32,
    /// The header's bits, FIN the lowest.
    flags: u16,
    /// Left and right edges of its SACK blocks, the first first.
    sacks: Vec<(u32, u32)>,
}

#[pymethods]
impl CapturedSegment {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "they are the packet's, by name")]
    #[pyo3(signature = (t_ns, flow, *, outgoing, length, payload, seq, ack, flags, sacks))]
    fn new(
        t_ns: i64,
        flow: String,
        outgoing: bool,
        length: u32,
        payload: u32,
        seq: u32,
        ack: u32,
        flags: u16,
        sacks: Vec<(u32, u32)>,
    ) -> Self {
        Self {
            t_ns,
            flow,
            outgoing,
            length,
            payload,
            seq,
            ack,
            flags,
            sacks,
        }
    }
}

/// The packets of TCP in a capture, in the order of the file. Those that were damaged on their way are left out, as their hosts drop them.
#[pyclass(frozen)]
pub struct CapturedSegments {
    since_ns: i64,
    read: Mutex<(FrameReader<'static>, Tally)>,
}

#[pymethods]
impl CapturedSegments {
    #[new]
    fn new(py: Python<'_>, path: &str, since_ns: i64) -> PyResult<Self> {
        let reader = opened(path).and_then(FrameReader::open);
        let reader = reader.map_err(|error| unreadable(py, &error, path))?;
        Ok(Self {
            since_ns,
            read: Mutex::new((reader, Tally::default())),
        })
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self) -> Option<CapturedSegment> {
        let mut read = self.read.lock().expect("nobody panics with it");
        let (reader, tally) = &mut *read;
        loop {
            let mut found = None;
            let goes_on = reader.step(&mut |frame, _| {
                found = segment(&frame, self.since_ns, tally);
                ControlFlow::Continue(())
            });
            if found.is_some() || goes_on.is_break() {
                return found;
            }
        }
    }
}

fn segment(frame: &CapturedFrame<'_>, since_ns: i64, tally: &mut Tally) -> Option<CapturedSegment> {
    if frame.comment == Some(DAMAGED) {
        return None;
    }
    let CapturedPacket::Tcp(seen) = decode(frame, tally)? else {
        return None;
    };
    Some(CapturedSegment {
        t_ns: seen.time_ns - since_ns,
        flow: frame.interface.to_owned(),
        outgoing: frame.way == PacketWay::Outbound,
        length: seen.ip_bytes,
        payload: seen.segment.payload,
        seq: seen.segment.seq,
        ack: seen.segment.ack,
        flags: seen.segment.flags.0,
        sacks: seen.segment.options.sack,
    })
}

fn analyze(
    input: impl Read + Send,
    most_rows: usize,
    progress: &AtomicU64,
    goes_on: &dyn Fn() -> bool,
) -> Result<Analysed, Unreadable> {
    let mut analysis = Analysis::keeping(most_rows);
    let mut tally = Tally::default();
    let mut frames = 0u64;
    let facts = read_frames(input, &mut |frame, before| {
        frames += 1;
        if frames.is_multiple_of(4096) {
            progress.store(before, Ordering::Relaxed);
            if !goes_on() {
                return ControlFlow::Break(());
            }
        }
        analysis.frame(frame.time_ns);
        analysis.at(frame.interface);
        if let Some(packet) = decode(&frame, &mut tally) {
            analysis.packet(&packet);
        }
        ControlFlow::Continue(())
    })?;
    let (tables, others) = analysis.finish();
    tally.add_all(&others);
    Ok((facts, tables, tally))
}

fn told(facts: &FileFacts, tables: &Tables, tally: &Tally) -> serde_json::Value {
    let interfaces: Vec<_> = facts
        .interfaces
        .iter()
        .map(|each| json!({"name": each.name, "link_type": each.link_type, "resolution": each.resolution}))
        .collect();
    let met: Vec<_> = tally
        .iter()
        .map(|(what, count)| json!({"count": count, "what": what.to_string()}))
        .collect();
    json!({
        "format": facts.format,
        "sections": facts.sections,
        "interfaces": interfaces,
        "frames": facts.frames,
        "homeless": facts.homeless,
        "untimed": facts.untimed,
        "comments": facts.comments,
        "bytes": facts.bytes,
        "damage": facts.damage.as_ref().map(ToString::to_string),
        "begin_ns": tables.begin_ns,
        "duration_ns": tables.duration_ns,
        "connections": tables.connections,
        "series_stretch_ns": tables.series_stretch_ns,
        "met": met,
    })
}

/// The tables of captures and their columns, with units and meanings.
#[pyfunction]
pub fn capture_schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    let tables = [
        &CapturedFlowRow::TABLE,
        &CapturedSeriesRow::TABLE,
        &CapturedEpisodeRow::TABLE,
        &MarkRow::TABLE,
    ];
    convert::json_to_python(py, &convert::schema_of(tables))
}
