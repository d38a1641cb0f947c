//! From the laboratory's types to Python's.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple};
use sawtooth_core::internals::scenario::keys::{self, Missing, ScenarioKey, Takes};
use sawtooth_core::internals::{
    arrivals, cc, dist, expr, host, impair, kernel, limits, loss, packet_source, queue, source, tcp,
};
use sawtooth_core::record::{
    Column, Effort, RFC4898, Records, SCHEMA, Table, TableSpec, Type, packed,
};
use sawtooth_core::registry::{Entry, Kind, Param, Unit, Value};
use serde_json::{Value as Json, json};

/// Records of one run, or why it failed.
pub type RunOutcome = Result<(Records, Effort), String>;

pub fn json_to_python<'py>(py: Python<'py>, json: &Json) -> PyResult<Bound<'py, PyAny>> {
    Ok(match json {
        Json::Null => py.None().into_bound(py),
        Json::Bool(value) => value.into_pyobject(py)?.to_owned().into_any(),
        Json::Number(number) => match number.as_i64() {
            Some(integer) => integer.into_pyobject(py)?.into_any(),
            None => number
                .as_f64()
                .unwrap_or(f64::NAN)
                .into_pyobject(py)?
                .into_any(),
        },
        Json::String(text) => text.into_pyobject(py)?.into_any(),
        Json::Array(items) => {
            let list = PyList::empty(py);
            for item in items {
                list.append(json_to_python(py, item)?)?;
            }
            list.into_any()
        }
        Json::Object(items) => {
            let dict = PyDict::new(py);
            for (key, item) in items {
                dict.set_item(key, json_to_python(py, item)?)?;
            }
            dict.into_any()
        }
    })
}

/// All runs' tables, one below the other, each with a column `run`: the position of the run in the call. Numbers are passed as (type, bytes, and of a column that
/// may lack some a byte for each that says whether it is known); texts as (type, those that there are, and for each row which of them it has), since few differ.
pub fn outcomes_to_python<'py>(
    py: Python<'py>,
    outcomes: &[&RunOutcome],
) -> PyResult<Bound<'py, PyDict>> {
    let errors = PyList::empty(py);
    let efforts = PyList::empty(py);
    let tables = PyDict::new(py);
    for (index, outcome) in outcomes.iter().enumerate() {
        match outcome {
            Err(message) => errors.append((index, message))?,
            Ok((_, effort)) => efforts.append((index, effort.events, effort.delivered_packets))?,
        }
    }
    for spec in SCHEMA {
        let parts: Vec<(u32, &Table)> = (0u32..)
            .zip(outcomes)
            .filter_map(|(run, outcome)| Some((run, outcome.as_ref().ok()?.0.table(spec.name)?)))
            .collect();
        if parts.is_empty() {
            continue;
        }
        let columns = PyDict::new(py);
        let rows = parts.iter().map(|(_, table)| table.rows()).sum::<usize>();
        let mut runs = Vec::with_capacity(rows * size_of::<u32>());
        for (run, table) in &parts {
            runs.extend_from_slice(&run.to_le_bytes().repeat(table.rows()));
        }
        columns.set_item("run", ("u32", PyBytes::new(py, &runs), py.None()))?;
        for (at, column) in spec.columns.iter().enumerate() {
            // Other threads have their turn: a column of very many rows takes long, and one of them may hear of Ctrl-C.
            py.detach(|| ());
            let values: Vec<&Column> = parts
                .iter()
                .map(|(_, table)| &table.columns()[at])
                .collect();
            columns.set_item(
                column.name,
                column_to_python(py, column.kind, rows, &values)?,
            )?;
        }
        tables.set_item(spec.name, columns)?;
    }
    let result = PyDict::new(py);
    result.set_item("errors", errors)?;
    result.set_item("efforts", efforts)?;
    result.set_item("tables", tables)?;
    Ok(result)
}

/// One table alone, as [`outcomes_to_python`] has several.
pub fn table_to_python<'py>(py: Python<'py>, table: &Table) -> PyResult<Bound<'py, PyDict>> {
    let columns = PyDict::new(py);
    for (spec, values) in table.spec().columns.iter().zip(table.columns()) {
        let column = column_to_python(py, spec.kind, table.rows(), &[values])?;
        columns.set_item(spec.name, column)?;
    }
    Ok(columns)
}

/// What tables are, and their columns.
pub fn schema_of<'a>(tables: impl IntoIterator<Item = &'a TableSpec>) -> Json {
    let tables: serde_json::Map<String, Json> = tables
        .into_iter()
        .map(|table| {
            let columns: Json = table
                .columns
                .iter()
                .map(|column| {
                    let (kind, nullable) = (word(column.kind), column.kind.is_optional());
                    json!({"name": column.name, "type": kind, "nullable": nullable, "unit": column.unit, "summary": column.summary})
                })
                .collect();
            (table.name.to_owned(), json!({"summary": table.summary, "columns": columns}))
        })
        .collect();
    Json::Object(tables)
}

/// One column of all runs, of so many rows, as [`outcomes_to_python`] says. What is done for each row is the core's: this crate is not optimised where it is built quickly.
fn column_to_python<'py>(
    py: Python<'py>,
    kind: Type,
    rows: usize,
    parts: &[&Column],
) -> PyResult<Bound<'py, PyTuple>> {
    if kind == Type::Str {
        let (texts, which) = packed::told_apart(parts);
        return (word(kind), texts, PyBytes::new(py, &which)).into_pyobject(py);
    }
    let all = PyBytes::new_with(py, rows * size_of::<u64>(), |bytes| {
        packed::numbers(parts, bytes);
        Ok(())
    })?;
    let known = kind.is_optional().then(|| {
        PyBytes::new_with(py, rows, |bytes| {
            packed::known(parts, bytes);
            Ok(())
        })
    });
    (word(kind), all, known.transpose()?).into_pyobject(py)
}

/// A column's type by the word that Python knows; whether a value may be unknown stands beside it.
fn word(kind: Type) -> &'static str {
    match kind {
        Type::U64 | Type::OptU64 => "u64",
        Type::I64 | Type::OptI64 => "i64",
        Type::F64 | Type::OptF64 => "f64",
        Type::Str => "str",
    }
}

/// So many numbers one after the other.
pub fn bytes<const SIZE: usize>(
    py: Python<'_>,
    number: usize,
    values: impl Iterator<Item = [u8; SIZE]>,
) -> PyResult<Bound<'_, PyBytes>> {
    PyBytes::new_with(py, number * SIZE, |buffer| {
        let places = buffer.chunks_exact_mut(SIZE);
        places
            .zip(values)
            .for_each(|(place, value)| place.copy_from_slice(&value));
        Ok(())
    })
}

fn rows<C>(table: &[Entry<C>]) -> Json {
    table
        .iter()
        .map(|entry| {
            json!({
                "name": entry.name,
                "summary": entry.summary,
                "specification": entry.specification,
                "params": params(entry.params),
            })
        })
        .collect()
}

fn params(params: &[Param]) -> Json {
    params
        .iter()
        .map(|param| {
            json!({
                "name": param.name,
                "summary": param.summary,
                "kind": kind(param.kind),
                "default": value(param.default),
            })
        })
        .collect()
}

fn kind(kind: Kind) -> String {
    match kind {
        Kind::Number { min, max } => format!("number from {min} to {max}"),
        Kind::Integer { min, max } => format!("whole number from {min} to {max}"),
        Kind::Duration { .. } | Kind::Period => "time".into(),
        Kind::Rate => "rate".into(),
        Kind::RateFromZero => "rate, or 0".into(),
        Kind::RateOrPackets => "rate, or packets".into(),
        Kind::Bytes => "bytes".into(),
        Kind::Packets => "packets".into(),
        Kind::PacketsOrBytes => "packets or bytes".into(),
        Kind::QueueSize => "packets, bytes or bdp".into(),
        Kind::Bool => "true or false".into(),
        Kind::Choice(words) => format!("one of {}", words.join(", ")),
        Kind::Distribution(Unit::Time { .. }) => "time, or a distribution of times".into(),
        Kind::Distribution(Unit::Bytes) => "bytes, or a distribution of bytes".into(),
        Kind::Drawn => "a quantity of what is drawn".into(),
    }
}

/// A value as a study would write it.
fn value(value: Value) -> String {
    match value {
        Value::Number(number) => number.to_string(),
        Value::Integer(integer) => integer.to_string(),
        Value::Duration(secs) if secs < 1.0 => format!("{} ms", (secs * 1e6).round() / 1e3),
        Value::Duration(secs) => format!("{secs} s"),
        Value::Rate(bps) => format!("{bps} bit/s"),
        Value::Bytes(bytes) => format!("{bytes} B"),
        Value::Packets(packets) => format!("{packets} packets"),
        Value::Bdp(factor) => format!("{factor} bdp"),
        Value::Bool(flag) => flag.to_string(),
        Value::Choice(word) => word.into(),
        // Whoever asks for a default asks of a parameter, and no default is a table.
        Value::Distribution => "a distribution".into(),
        Value::Exponential(mean) => format!("exponential, mean {mean}"),
        Value::None => "none".into(),
    }
}

/// All tables of parts.
pub fn registry() -> Json {
    let stacks: Json = tcp::STACKS
        .iter()
        .map(|stack| {
            let values: serde_json::Map<String, Json> = stack
                .values
                .iter()
                .copied()
                .flatten()
                .map(|(key, set)| ((*key).to_owned(), Json::String(value(*set))))
                .collect();
            json!({
                "name": stack.name,
                "summary": stack.summary,
                "specification": stack.specification,
                "values": values,
            })
        })
        .collect();
    json!({
        "cc": rows(cc::TABLE),
        "queue": rows(queue::TABLE),
        "source": rows(source::TABLE),
        "packet_source": rows(packet_source::TABLE),
        "loss": rows(loss::TABLE),
        "jitter": rows(impair::JITTER_TABLE),
        "reorder": rows(impair::REORDER_TABLE),
        "medium": rows(impair::MEDIUM_TABLE),
        "forwarding": rows(impair::FORWARDING_TABLE),
        "walk": params(impair::WALK_PARAMS),
        "distribution": rows(dist::TABLE),
        "arrivals": params(arrivals::PARAMS),
        "recovery": rows(tcp::recovery::TABLE),
        "partial": rows(tcp::partial::TABLE),
        "delayed_ack": rows(tcp::ack_policy::TABLE),
        "stack": stacks,
        "tcp": params(tcp::PARAMS),
        "host": params(host::PARAMS),
        "kernel": params(kernel::PARAMS),
        "key": scenario_keys(),
        "unit": expr::UNITS
            .iter()
            .map(|(name, dimension, ..)| json!({"name": name, "summary": dimension.name()}))
            .collect::<Json>(),
        "limit": params(limits::TABLE),
    })
}

/// All keys that a scenario's tables have of their own, in order.
fn scenario_keys() -> Json {
    let of = |table: &keys::ScenarioTable, key: &ScenarioKey| {
        let name = match table.path {
            "" => key.name.to_owned(),
            path => format!("{path}.{}", key.name),
        };
        let (kind, parts) = takes(key.takes);
        json!({
            "name": name,
            "key": key.name,
            "table": table.path,
            "about": table.summary,
            "parameters": table.parameters,
            "summary": key.summary,
            "kind": kind,
            "of": parts,
            "needed": key.missing == Missing::Refused,
            "default": match key.missing {
                Missing::Refused => "needed".to_owned(),
                Missing::Nothing => "none".to_owned(),
                Missing::As(json) => format!("`{json}`"),
                Missing::Told(text) => text.to_owned(),
            },
            "example": key.example,
        })
    };
    keys::TABLES
        .iter()
        .flat_map(|table| {
            let keys = table.keys.iter().copied().flatten();
            keys.map(move |key| of(table, key))
        })
        .collect()
}

/// What a key takes, in words, and the table of parts that those speak of.
fn takes(takes: Takes) -> (String, Option<&'static str>) {
    let plain = |text: &str| (text.to_owned(), None);
    let quoted = |words: &[&str]| {
        let words: Vec<_> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
        words.join(", ")
    };
    match takes {
        Takes::Time => plain("time"),
        Takes::Rate => plain("rate"),
        Takes::Bytes => plain("bytes"),
        Takes::Probability => plain("number from 0 to 1"),
        Takes::Whole => plain("whole number"),
        Takes::Flag => plain("true or false"),
        Takes::Text => plain("text"),
        Takes::File => plain("name of a file"),
        Takes::Told(text) => plain(text),
        Takes::Word(words) => (format!("one of {}", quoted(words)), None),
        Takes::Words(words) => (format!("list of {}", quoted(words)), None),
        Takes::Part(table) => ("name, or table with a `name`, of".into(), Some(table)),
        Takes::Row(table) => ("name of".into(), Some(table)),
        Takes::Params(table) => ("table of parameters of".into(), Some(table)),
    }
}

/// All result tables.
pub fn schema() -> Json {
    let mut tables = schema_of(SCHEMA);
    for table in SCHEMA {
        tables[table.name]["rfc4898"] = names(table.name);
    }
    tables
}

/// What a table's columns are called in RFC 4898.
fn names(table: &str) -> Json {
    RFC4898
        .iter()
        .filter(|alias| alias.table == table)
        .map(|alias| {
            json!({
                "name": alias.name(),
                "object": alias.object,
                "web100": alias.web100,
                "columns": alias.columns,
                "less": alias.less,
                "remark": alias.remark,
            })
        })
        .collect()
}
