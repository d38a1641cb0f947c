//! `sawtooth._core`: the laboratory as a Python module. Thin: every function here converts and calls.

// A function that Python calls takes what Python passes, by value.
#![allow(clippy::needless_pass_by_value)]

mod captures;
mod convert;
mod endpoint;
mod interrupt;
mod machine;
mod taps;
mod toml;

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict, PyList};
use sawtooth_core::internals::demand::{self, Demand};
use sawtooth_core::internals::feed::{self, Offered};
use sawtooth_core::internals::kernel::{SHAPER, Shaper};
use sawtooth_core::internals::noise;
use sawtooth_core::internals::packet::Ecn;
use sawtooth_core::internals::queue;
use sawtooth_core::internals::rng::RandomStream;
use sawtooth_core::internals::scenario::{ScenarioReader, evaluate_over, for_kernel, limits_of};
use sawtooth_core::internals::sim::simulate_while;
use sawtooth_core::internals::spec::{packet_source, source};
use sawtooth_core::registry::Value;
use sawtooth_core::scenario::Origins;
use sawtooth_core::spec::FlowSpec;
use sawtooth_core::units::{ByteCount, Instant};
use sawtooth_core::{Scenario, scenario};
use serde_json::{Map, Value as Json};

use self::interrupt::{StopRequest, interruptible, stoppable};
use self::taps::{CaptureRequest, simulate_captured};

create_exception!(
    _core,
    ScenarioError,
    PyException,
    "A scenario that cannot be run; says what is wrong and where."
);
create_exception!(
    _core,
    TomlError,
    PyException,
    "A file that is no TOML; says what is wrong and where."
);

#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("ScenarioError", module.py().get_type::<ScenarioError>())?;
    module.add("TomlError", module.py().get_type::<TomlError>())?;
    module.add_function(wrap_pyfunction!(parse_toml, module)?)?;
    module.add_function(wrap_pyfunction!(check, module)?)?;
    module.add_function(wrap_pyfunction!(estimate, module)?)?;
    module.add_function(wrap_pyfunction!(limits, module)?)?;
    module.add_function(wrap_pyfunction!(how_to_raise, module)?)?;
    module.add_function(wrap_pyfunction!(machine::machine_memory, module)?)?;
    module.add_function(wrap_pyfunction!(examine, module)?)?;
    module.add_function(wrap_pyfunction!(alike, module)?)?;
    module.add_function(wrap_pyfunction!(items, module)?)?;
    module.add_function(wrap_pyfunction!(network, module)?)?;
    module.add_function(wrap_pyfunction!(kernel_settings, module)?)?;
    module.add_class::<Outcomes>()?;
    module.add_class::<StopRequest>()?;
    module.add_class::<endpoint::ScriptedEndpoint>()?;
    module.add_function(wrap_pyfunction!(simulate, module)?)?;
    module.add_function(wrap_pyfunction!(run_all, module)?)?;
    module.add_function(wrap_pyfunction!(outcomes_of, module)?)?;
    module.add_function(wrap_pyfunction!(feed_queue, module)?)?;
    module.add_function(wrap_pyfunction!(evaluate, module)?)?;
    module.add_function(wrap_pyfunction!(draw_uniform, module)?)?;
    module.add_function(wrap_pyfunction!(draw_uniform_integer, module)?)?;
    module.add_function(wrap_pyfunction!(fractional_gaussian_noise, module)?)?;
    module.add_function(wrap_pyfunction!(departures, module)?)?;
    module.add(
        "CaptureError",
        module.py().get_type::<captures::CaptureError>(),
    )?;
    module.add_class::<captures::CaptureProgress>()?;
    module.add_class::<captures::CapturedSegment>()?;
    module.add_class::<captures::CapturedSegments>()?;
    module.add("CAPTURE_EPOCH_NS", sawtooth_capture::simulated::EPOCH_NS)?;
    module.add_function(wrap_pyfunction!(captures::analyze_capture, module)?)?;
    module.add_function(wrap_pyfunction!(captures::capture_schema, module)?)?;
    module.add_function(wrap_pyfunction!(registry, module)?)?;
    module.add_function(wrap_pyfunction!(schema, module)?)?;
    module.add_function(wrap_pyfunction!(version, module)?)?;
    Ok(())
}

/// The tree of a TOML text, and where its keys and values stand.
#[pyfunction]
fn parse_toml<'py>(
    py: Python<'py>,
    text: &str,
) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyDict>)> {
    match toml::parse(text) {
        Ok(document) => Ok((
            convert::json_to_python(py, &document.tree)?,
            toml::spans_to_python(py, &document.spans)?,
        )),
        Err(error) => {
            let raised = TomlError::new_err(error.message.clone());
            let value = raised.value(py);
            value.setattr("message", error.message)?;
            value.setattr("hint", error.hint)?;
            value.setattr("line", error.span.0)?;
            value.setattr("column", error.span.1)?;
            value.setattr("end_line", error.span.2)?;
            value.setattr("end_column", error.span.3)?;
            Err(raised)
        }
    }
}

fn located<T>(py: Python<'_>, result: scenario::Result<T>) -> PyResult<T> {
    result.map_err(|error| exception(py, &error))
}

/// An error of the core, or a warning, as an exception that says where.
fn exception(py: Python<'_>, error: &scenario::ScenarioError) -> PyErr {
    let raised = ScenarioError::new_err(error.to_string());
    let value = raised.value(py);
    let set = || -> PyResult<()> {
        value.setattr("path", &error.path)?;
        value.setattr("at_key", error.at_key)?;
        value.setattr("message", &error.message)?;
        value.setattr("hint", error.hint.as_deref())?;
        value.setattr("span", error.span)
    };
    set().map_or_else(|error| error, |()| raised)
}

/// Raises `ScenarioError` if the scenario cannot be run.
#[pyfunction]
fn check(py: Python<'_>, scenario_json: String) -> PyResult<()> {
    if scenario_json.len() < SHORT && !scenario_json.contains("\"count\"") {
        let scenario = runnable(py, &scenario_json, false)?;
        return located(py, machine::fits(&scenario));
    }
    let checked = interruptible(py, move |_| {
        let tree = scenario::parse(&scenario_json)?;
        let (scenario, _) = scenario::for_simulator(&tree)?;
        machine::fits(&scenario)
    })?;
    located(py, checked)
}

/// Bytes of a scenario that is read at once, if it repeats nothing.
const SHORT: usize = 1 << 16;

/// Values of all limits, of a table `limits` in JSON.
#[pyfunction]
fn limits<'py>(py: Python<'py>, table_json: &str) -> PyResult<Bound<'py, PyDict>> {
    let params = located(py, limits_of(Some(&tree_of(table_json)?)))?;
    let dict = PyDict::new(py);
    for (name, value) in params.iter() {
        match value {
            Value::Bytes(bytes) => dict.set_item(name, bytes)?,
            Value::Number(number) => dict.set_item(name, number)?,
            _ => {}
        }
    }
    Ok(dict)
}

/// Segments that a run will deliver, at most about. The simulator, or a kernel, must be able to run it.
#[pyfunction]
#[pyo3(signature = (scenario_json, *, kernel = false))]
fn estimate(py: Python<'_>, scenario_json: &str, kernel: bool) -> PyResult<f64> {
    Ok(demand::segments(&runnable(py, scenario_json, kernel)?))
}

/// What to do if more is meant than a limit allows.
#[pyfunction]
fn how_to_raise(name: &str, needed: f64) -> String {
    sawtooth_core::internals::limits::how_to_raise(name, needed)
}

/// Segments, events, rows and bytes; and warnings.
type Examined<'py> = ((f64, f64, f64, f64), Vec<Bound<'py, PyAny>>);

/// What a run takes, about: segments it delivers (at most), events, rows and bytes of memory; and what about the scenario is hardly meant: exceptions
/// that are not raised. The simulator, or a kernel, must be able to run it.
#[pyfunction]
#[pyo3(signature = (scenario_json, *, kernel = false))]
fn examine<'py>(py: Python<'py>, scenario_json: &str, kernel: bool) -> PyResult<Examined<'py>> {
    let tree = tree(py, scenario_json, kernel)?;
    let (scenario, origins) = located(py, for_backend(&tree, kernel))?;
    let warnings = scenario::warnings(&scenario, &origins)
        .iter()
        .map(|warning| {
            exception(py, warning)
                .into_value(py)
                .into_bound(py)
                .into_any()
        })
        .collect();
    let demand = Demand::of(&scenario);
    let demand = (
        demand.segments,
        demand.events,
        demand.rows,
        demand.memory_bytes,
    );
    Ok((demand, warnings))
}

/// Of each scenario the position of the first that is equal to it, as both are read: what differs in their texts then makes no difference to a run. That is
/// what they say and not where: a congestion control that all flows share is the same named once at the top or in each flow. The simulator, or a kernel, must
/// be able to run them.
#[pyfunction]
#[pyo3(signature = (scenarios_json, *, kernel = false))]
fn alike(py: Python<'_>, scenarios_json: Vec<String>, kernel: bool) -> PyResult<Vec<usize>> {
    let built = scenarios_json
        .iter()
        .map(|text| runnable(py, text, kernel))
        .collect::<PyResult<Vec<_>>>()?;
    let first = |one: &Scenario| built.iter().position(|other| other == one);
    Ok((0..built.len())
        .map(|index| first(&built[index]).unwrap_or(index))
        .collect())
}

/// The names of what tables of results have rows of, by table. The simulator, or a kernel, must be able to run it.
#[pyfunction]
#[pyo3(signature = (scenario_json, *, kernel = false))]
fn items<'py>(py: Python<'py>, scenario_json: &str, kernel: bool) -> PyResult<Bound<'py, PyDict>> {
    let scenario = runnable(py, scenario_json, kernel)?;
    let (flows, udp) = (scenario.flows.iter(), scenario.udp.iter());
    let asking = flows.clone().filter(|flow| source(flow, 0).answers());
    let asking: Vec<_> = asking.map(|flow| flow.name.as_str()).collect();
    let flows = flows.map(|flow| flow.name.as_str());
    let flows: Vec<_> = flows.chain(udp.map(|flow| flow.name.as_str())).collect();
    let links = scenario.links.iter();
    let links: Vec<_> = links
        .flat_map(|link| ["forward", "reverse"].map(|way| format!("{} {way}", link.name)))
        .collect();
    let found = PyDict::new(py);
    found.set_item("flows", flows)?;
    found.set_item("exchanges", asking)?;
    let fluid = scenario.fluid.iter().map(|one| one.flow.name.as_str());
    found.set_item("fluid", fluid.collect::<Vec<_>>())?;
    found.set_item("links", links)?;
    Ok(found)
}

/// What packets cross: of each link its name, and of each direction rate (bit/s) and delay (s); of each flow, or entry of flows that arrive, its name and
/// the ports that its data crosses, in their order: of link `l` 2 l, or 2 l + 1 in reverse. The simulator must be able to run it.
#[pyfunction]
#[expect(clippy::type_complexity, reason = "what Python gets is said above")]
fn network(
    py: Python<'_>,
    scenario_json: &str,
) -> PyResult<(Vec<(String, [(f64, f64); 2])>, Vec<(String, Vec<usize>)>)> {
    let scenario = runnable(py, scenario_json, false)?;
    let links = scenario.links.iter().map(|link| {
        let ways = [&link.forward, &link.reverse];
        let ways = ways.map(|way| (way.rate.bps(), way.delay.secs()));
        (link.name.clone(), ways)
    });
    let ways = scenario
        .all_flows()
        .map(|flow| (&flow.name, flow.direction, &flow.path));
    let of_udp = scenario
        .udp
        .iter()
        .map(|flow| (&flow.name, flow.direction, &flow.path));
    let ports = ways
        .chain(of_udp)
        .map(|(name, direction, path)| (name.clone(), direction.ports(path).collect()));
    Ok((links.collect(), ports.collect()))
}

/// A scenario that the simulator, or a kernel, can run.
fn runnable(py: Python<'_>, text: &str, kernel: bool) -> PyResult<Scenario> {
    let tree = tree(py, text, kernel)?;
    located(py, for_backend(&tree, kernel)).map(|(scenario, _)| scenario)
}

fn for_backend(tree: &Json, kernel: bool) -> scenario::Result<(Scenario, Origins<'_>)> {
    if kernel {
        for_kernel(tree)
    } else {
        scenario::for_simulator(tree)
    }
}

fn tree(py: Python<'_>, text: &str, kernel: bool) -> PyResult<Json> {
    if kernel {
        tree_of(text)
    } else {
        located(py, scenario::parse(text))
    }
}

fn tree_of(text: &str) -> PyResult<serde_json::Value> {
    serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))
}

/// What a scenario needs of a kernel.
#[pyfunction]
fn kernel_settings<'py>(py: Python<'py>, scenario_json: &str) -> PyResult<Bound<'py, PyDict>> {
    let scenario = runnable(py, scenario_json, true)?;
    let (kernel, found) = (&scenario.kernel, PyDict::new(py));
    let senders = scenario.all_flows().map(FlowSpec::cc_in_kernel);
    let receivers = scenario.all_flows().map(|flow| flow.receiver_cc.as_str());
    let algorithms: BTreeSet<&str> = senders.chain(receivers).collect();
    let fastest = scenario
        .links
        .iter()
        .flat_map(|link| [link.forward.rate.bps(), link.reverse.rate.bps()])
        .fold(0.0, f64::max);
    found.set_item("image", kernel.image.as_deref().unwrap_or_default())?;
    found.set_item("memory_bytes", kernel.settings.bytes("memory"))?;
    found.set_item("cpus", kernel.settings.integer("cpus"))?;
    for key in ["time", "application", "shaper"] {
        found.set_item(key, kernel.settings.choice(key))?;
    }
    let qdisc = kernel.settings.choice("qdisc");
    let mut modules = vec!["tun".to_owned()];
    if SHAPER.of(&kernel.settings) == Shaper::Kernel {
        modules = vec!["veth".into(), "sch_tbf".into(), "sch_netem".into()];
        if qdisc != "scenario" {
            modules.push(format!("sch_{qdisc}"));
        }
    }
    found.set_item("modules", modules)?;
    found.set_item("algorithms", algorithms.into_iter().collect::<Vec<_>>())?;
    found.set_item("fastest_link_bps", fastest)?;
    found.set_item("duration_secs", scenario.duration.secs())?;
    let links = scenario.links.iter().map(|link| link.name.as_str());
    found.set_item("links", links.collect::<Vec<_>>())?;
    Ok(found)
}

/// Runs scenarios one after the other, without the interpreter lock.
#[pyfunction]
fn simulate(
    py: Python<'_>,
    scenarios: Vec<String>,
    seeds: Vec<u64>,
) -> PyResult<Bound<'_, PyDict>> {
    require_seeds(&scenarios, &seeds)?;
    let outcomes = interruptible(py, move |goes_on| {
        run_each(&scenarios, &seeds, &Wanted::default(), goes_on)
    })?;
    convert::outcomes_to_python(py, &outcomes.iter().collect::<Vec<_>>())
}

/// What runs came to, before it is made into tables: these are made once of what several threads have run.
#[pyclass(frozen)]
struct Outcomes(Vec<convert::RunOutcome>);

/// Runs scenarios as [`simulate`] does, until another thread says that they are not wanted any more: then nothing comes of them.
#[pyfunction]
#[pyo3(signature = (scenarios, seeds, stop = None, captures = None, series_of = None))]
fn run_all(
    py: Python<'_>,
    scenarios: Vec<String>,
    seeds: Vec<u64>,
    stop: Option<&Bound<'_, StopRequest>>,
    captures: Option<Vec<CaptureRequest>>,
    series_of: Option<String>,
) -> PyResult<Option<Outcomes>> {
    require_seeds(&scenarios, &seeds)?;
    let wanted = Wanted {
        captures: captures.unwrap_or_default(),
        series_of,
    };
    let outcomes = match stop {
        None => interruptible(py, move |goes_on| {
            run_each(&scenarios, &seeds, &wanted, goes_on)
        })?,
        Some(stop) => stoppable(py, stop.get(), |goes_on| {
            run_each(&scenarios, &seeds, &wanted, goes_on)
        }),
    };
    let is_stopped = stop.is_some_and(|stop| stop.get().is_set());
    Ok((!is_stopped).then_some(Outcomes(outcomes)))
}

fn require_seeds(scenarios: &[String], seeds: &[u64]) -> PyResult<()> {
    if scenarios.len() == seeds.len() {
        return Ok(());
    }
    let message = "as many seeds as scenarios are needed";
    Err(PyValueError::new_err(message))
}

/// What is wanted of runs besides their tables.
#[derive(Default)]
struct Wanted {
    /// Of each what is captured of it, or of none anything.
    captures: Vec<CaptureRequest>,
    /// The flow whose rows alone the series has.
    series_of: Option<String>,
}

/// Runs, as long as `goes_on` says so.
fn run_each(
    scenarios: &[String],
    seeds: &[u64],
    wanted: &Wanted,
    goes_on: &dyn Fn() -> bool,
) -> Vec<convert::RunOutcome> {
    quiet_panics();
    // Replicates may differ in their seeds only: they share what was read, and those that differ in a variable what does not depend on it.
    let mut reader = ScenarioReader::default();
    let mut read: Option<(&str, Result<Scenario, String>)> = None;
    let mut outcomes = Vec::with_capacity(scenarios.len());
    for (at, (text, seed)) in scenarios.iter().zip(seeds).enumerate() {
        if read.as_ref().is_none_or(|(before, _)| before != text) {
            let scenario = for_simulator(&mut reader, text);
            let scenario = scenario.and_then(|each| series_of(each, wanted.series_of.as_deref()));
            read = Some((text, scenario));
        }
        let scenario = read.as_ref().map(|(_, scenario)| scenario.as_ref());
        let scenario = scenario.expect("it was read just now");
        let outcome = scenario.map_err(Clone::clone);
        outcomes.push(
            outcome.and_then(|scenario| run(scenario, *seed, wanted.captures.get(at), goes_on)),
        );
        if !goes_on() {
            break;
        }
    }
    outcomes
}

/// The tables of runs, one list after the other, as of one call of [`simulate`].
#[pyfunction]
fn outcomes_of<'py>(
    py: Python<'py>,
    parts: Vec<Bound<'py, Outcomes>>,
) -> PyResult<Bound<'py, PyDict>> {
    let outcomes: Vec<_> = parts.iter().flat_map(|part| &part.get().0).collect();
    convert::outcomes_to_python(py, &outcomes)
}

/// A scenario that the simulator can run; or what is wrong with it.
fn for_simulator(reader: &mut ScenarioReader, text: &str) -> Result<Scenario, String> {
    let read = reader.read(text).and_then(|scenario| {
        machine::fits(&scenario)?;
        Ok(scenario)
    });
    read.map_err(|error| error.to_string())
}

/// The scenario, with rows of the series for this flow of TCP alone if one is named.
fn series_of(mut scenario: Scenario, name: Option<&str>) -> Result<Scenario, String> {
    if let Some(name) = name {
        let index = scenario.flows.iter().position(|flow| flow.name == name);
        let index = index.ok_or_else(|| format!("there is no flow of TCP `{name}`"))?;
        scenario.record.series_of = u32::try_from(index).ok();
    }
    Ok(scenario)
}

/// One run; an error of the simulator ends this one only.
fn run(
    scenario: &Scenario,
    seed: u64,
    capture: Option<&CaptureRequest>,
    goes_on: &dyn Fn() -> bool,
) -> convert::RunOutcome {
    let run = || match capture {
        Some(request) => simulate_captured(scenario, seed, goes_on, request),
        None => simulate_while(scenario, seed, goes_on).map_err(|stopped| stopped.to_string()),
    };
    catch_unwind(AssertUnwindSafe(run)).map_err(|panic| {
        let message = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("unknown");
        format!("the simulator failed: {message}; please report this with the scenario")
    })?
}

/// The queue of the scenario's first link, forward, alone: given packets (time in seconds, flow, bytes, ECN field) go in, and its transmitter
/// takes them out. Returns a tuple per flow: packets that arrived, were dropped, were marked, and the seconds that those which left have
/// waited; and the mean of what waited until `until`, in packets and bytes.
#[pyfunction]
#[pyo3(signature = (scenario_json, seed, arrivals, until))]
#[expect(clippy::type_complexity, reason = "what Python gets is said above")]
fn feed_queue(
    py: Python<'_>,
    scenario_json: &str,
    seed: u64,
    arrivals: Vec<(f64, u32, u32, u8)>,
    until: f64,
) -> PyResult<(Vec<(u64, u64, u64, f64)>, f64, f64)> {
    let scenario = located(py, scenario::from_json(scenario_json))?;
    let Some(link) = scenario.links.first() else {
        return Err(PyValueError::new_err("a link is needed, with the queue"));
    };
    if arrivals.windows(2).any(|pair| pair[1].0 < pair[0].0) {
        return Err(PyValueError::new_err(
            "packets must come in the order of their times",
        ));
    }
    let (part, rate) = (&link.forward.queue, link.forward.rate);
    let site = queue::Site {
        rate,
        stream: RandomStream::new(seed, "queue"),
    };
    let mut queue = queue::build(part.name, &part.params, site);
    let arrivals: Vec<Offered> = arrivals
        .into_iter()
        .map(|(time, flow, bytes, ecn)| Offered {
            time: Instant::from_secs(time),
            flow,
            size: ByteCount::from(bytes),
            ecn: Ecn::from_bits(ecn),
        })
        .collect();
    let fed = py.detach(|| feed::feed(&mut *queue, rate, &arrivals, Instant::from_secs(until)));
    let flows = fed
        .flows
        .iter()
        .map(|flow| (flow.arrived, flow.dropped, flow.marked, flow.waited.secs()));
    Ok((flows.collect(), fed.mean_packets, fed.mean_bytes))
}

/// A failed run is reported by its caller, not by a trace on the terminal.
fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if std::env::var_os("RUST_BACKTRACE").is_some() {
                default(info);
            }
        }));
    });
}

/// A number, a text, or a list of such.
fn plain(value: &Bound<'_, PyAny>) -> PyResult<Json> {
    if let Ok(list) = value.cast::<PyList>() {
        return list.iter().map(|item| plain(&item)).collect();
    }
    if value.is_instance_of::<PyBool>() {
        return Ok(Json::Bool(value.extract()?));
    }
    let number = value.extract::<f64>().map(Json::from);
    // What is neither is no value of a variable, which its use says.
    Ok(number
        .or_else(|_| value.extract::<String>().map(Json::String))
        .unwrap_or(Json::Null))
}

/// Value and dimension of an expression; variables are numbers, quantities, expressions over others, or lists of such.
#[pyfunction]
fn evaluate(
    py: Python<'_>,
    expression: &str,
    variables: &Bound<'_, PyDict>,
) -> PyResult<(f64, &'static str)> {
    let mut known = Map::new();
    for (name, value) in variables {
        known.insert(name.extract()?, plain(&value)?);
    }
    evaluate_over(expression, &known)
        .map(|found| (found.value, found.dimension.name()))
        .map_err(|error| {
            let raised = ScenarioError::new_err(error.message.clone());
            let value = raised.value(py);
            let set = || -> PyResult<()> {
                value.setattr("path", "")?;
                value.setattr("at_key", false)?;
                value.setattr("message", &error.message)?;
                value.setattr("hint", error.hint.as_deref())?;
                value.setattr("span", Some(error.span))
            };
            set().map_or_else(|error| error, |()| raised)
        })
}

/// A number uniform in [low, high) from the stream called `name`.
#[pyfunction]
fn draw_uniform(seed: u64, name: &str, low: f64, high: f64) -> f64 {
    low + (high - low) * RandomStream::new(seed, name).uniform()
}

/// An integer uniform in [low, high) from the stream called `name`.
#[pyfunction]
fn draw_uniform_integer(seed: u64, name: &str, low: i64, high: i64) -> PyResult<i64> {
    if low >= high {
        return Err(PyValueError::new_err(format!(
            "there is no integer from {low} up to {high}"
        )));
    }
    Ok(RandomStream::new(seed, name).integer(low, high))
}

/// A path of fractional Gaussian noise from the stream called `name`: binary64 numbers, little-endian.
#[pyfunction]
fn fractional_gaussian_noise<'py>(
    py: Python<'py>,
    hurst: f64,
    points: usize,
    seed: u64,
    name: &str,
) -> PyResult<Bound<'py, PyBytes>> {
    if !(hurst > 0.0 && hurst < 1.0) {
        let message = format!("a Hurst parameter is above 0 and below 1, found {hurst}");
        return Err(PyValueError::new_err(message));
    }
    if points == 0 {
        return Err(PyValueError::new_err("noise has at least one point"));
    }
    let path = py.detach(|| {
        let mut stream = RandomStream::new(seed, name);
        noise::fractional_gaussian(hurst, points, &mut stream)
    });
    convert::bytes(py, path.len(), path.iter().map(|point| point.to_le_bytes()))
}

/// When the packets of a flow of UDP leave in a run, in seconds since the flow's start, and their sizes: binary64 numbers, little-endian.
#[pyfunction]
fn departures<'py>(
    py: Python<'py>,
    scenario_json: &str,
    seed: u64,
    flow: &str,
) -> PyResult<(Bound<'py, PyBytes>, Bound<'py, PyBytes>)> {
    let scenario = located(py, scenario::from_json(scenario_json))?;
    let Some(spec) = scenario.udp.iter().find(|spec| spec.name == flow) else {
        let names: Vec<&str> = scenario.udp.iter().map(|spec| spec.name.as_str()).collect();
        return Err(PyValueError::new_err(format!(
            "no flow of UDP is called `{flow}`; there are: {}",
            names.join(", ")
        )));
    };
    let packets: Vec<_> = py.detach(|| {
        let mut source = packet_source(spec, seed);
        // The sum is what a run compares.
        let leaves = |at: f64| spec.start.secs() + at < spec.stop.secs();
        std::iter::from_fn(|| source.next_packet())
            .take_while(|packet| leaves(packet.at.secs()))
            .collect()
    });
    let times = packets.iter().map(|packet| packet.at.secs().to_le_bytes());
    let sizes = packets
        .iter()
        .map(|packet| packet.size.as_f64().to_le_bytes());
    let number = packets.len();
    Ok((
        convert::bytes(py, number, times)?,
        convert::bytes(py, number, sizes)?,
    ))
}

/// All tables of parts, with their parameters.
#[pyfunction]
fn registry(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    convert::json_to_python(py, &convert::registry())
}

/// All result tables and columns, with units and meanings.
#[pyfunction]
fn schema(py: Python<'_>) -> PyResult<Bound<'_, PyAny>> {
    convert::json_to_python(py, &convert::schema())
}

/// The version of the laboratory.
#[pyfunction]
fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
