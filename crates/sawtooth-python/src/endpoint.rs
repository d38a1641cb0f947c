//! The simulator's end of a connection, for scripts of packets.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sawtooth_core::internals::cc;
use sawtooth_core::internals::endpoint::{Endpoint, WireSegment};
use sawtooth_core::internals::tcp::Config;
use sawtooth_core::units::{Duration, Instant};

use crate::runnable;

/// A segment as Python says it: a dictionary of the fields of [`WireSegment`].
#[derive(FromPyObject, IntoPyObject)]
#[pyo3(from_item_all)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "flags of a header, any of which may be set"
)]
struct ScriptedSegment {
    time: f64,
    syn: bool,
    fin: bool,
    push: bool,
    start: u64,
    length: u64,
    ack: Option<u64>,
    window: Option<u64>,
    sack: Vec<[u64; 2]>,
    stamps: [u32; 2],
    ecn: u8,
    ece: bool,
    cwr: bool,
    ace: Option<u8>,
}

impl From<WireSegment> for ScriptedSegment {
    fn from(one: WireSegment) -> Self {
        Self {
            time: one.time.secs(),
            syn: one.syn,
            fin: one.fin,
            push: one.push,
            start: one.start,
            length: one.length,
            ack: one.ack,
            window: one.window,
            sack: one.sack,
            stamps: one.stamps,
            ecn: one.ecn,
            ece: one.ece,
            cwr: one.cwr,
            ace: one.ace,
        }
    }
}

impl From<ScriptedSegment> for WireSegment {
    fn from(one: ScriptedSegment) -> Self {
        Self {
            time: Instant::from_secs(one.time),
            syn: one.syn,
            fin: one.fin,
            push: one.push,
            start: one.start,
            length: one.length,
            ack: one.ack,
            window: one.window,
            sack: one.sack,
            stamps: one.stamps,
            ecn: one.ecn,
            ece: one.ece,
            cwr: one.cwr,
            ace: one.ace,
        }
    }
}

/// One end of one connection, of the first flow of a scenario.
#[pyclass(unsendable)]
pub struct ScriptedEndpoint(Endpoint);

#[pymethods]
impl ScriptedEndpoint {
    #[new]
    fn new(py: Python<'_>, scenario_json: &str, active: bool, borders: Vec<u64>) -> PyResult<Self> {
        let scenario = runnable(py, scenario_json, false)?;
        let flow = scenario
            .flows
            .first()
            .ok_or_else(|| PyValueError::new_err("a scenario without flows"))?;
        let entry = cc::TABLE
            .iter()
            .find(|entry| entry.name == flow.cc.name)
            .ok_or_else(|| PyValueError::new_err("no such congestion control"))?;
        let config = Config::from(&flow.tcp);
        Ok(Self(Endpoint::new(
            &config,
            entry.new,
            &flow.cc.params,
            active,
            borders,
        )))
    }

    /// Until then, or until something leaves; whether that is so.
    fn advance(&mut self, until: f64) -> bool {
        self.0.advance(Instant::from_secs(until))
    }

    fn connect(&mut self) {
        self.0.connect();
    }

    fn write(&mut self, bytes: u64) {
        self.0.write(bytes);
    }

    fn close(&mut self) {
        self.0.close();
    }

    #[getter]
    fn delivered(&self) -> u64 {
        self.0.delivered()
    }

    #[getter]
    fn is_established(&self) -> bool {
        self.0.is_established()
    }

    /// A segment arrives, whatever its time says; what the model has no word for, if it cannot be told.
    fn receive(&mut self, segment: ScriptedSegment) -> Option<String> {
        let refused = self.0.receive(&segment.into()).err();
        refused.map(|error| error.to_string())
    }

    /// What has left since this was asked last.
    fn take(&mut self) -> Vec<ScriptedSegment> {
        self.0.take().into_iter().map(Into::into).collect()
    }

    /// What `TCP_INFO` would say, as far as the simulator knows it; times in microseconds.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "times and windows are not negative"
    )]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let sender = self.0.sender();
        let micros = |time: Duration| (time.secs() * 1e6).round() as u64;
        let ssthresh = sender.ssthresh().segments();
        let counters = sender.counters();
        let found = PyDict::new(py);
        found.set_item("tcpi_snd_cwnd", sender.cwnd().segments().floor() as u64)?;
        let unset = u64::from(i32::MAX.unsigned_abs());
        let ssthresh = if ssthresh < 1e9 {
            ssthresh as u64
        } else {
            unset
        };
        found.set_item("tcpi_snd_ssthresh", ssthresh)?;
        found.set_item("tcpi_unacked", sender.flight_size().get())?;
        found.set_item("tcpi_rto", micros(sender.timeout()))?;
        found.set_item("tcpi_rtt", micros(sender.srtt().unwrap_or(Duration::ZERO)))?;
        found.set_item("tcpi_snd_mss", sender.config().smss.get())?;
        found.set_item("tcpi_total_retrans", counters.retransmits)?;
        found.set_item("tcpi_bytes_received", self.0.delivered())?;
        found.set_item("tcpi_dsack_dups", counters.dsacks_in)?;
        Ok(found)
    }
}
