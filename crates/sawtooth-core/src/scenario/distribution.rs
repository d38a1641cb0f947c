//! Distributions in the tree: a quantity, or a table with the `name` of a row of [`dist::TABLE`].

use serde_json::{Map, Value as Json};

use super::context::Context;
use super::error::{Result, at, at_key, near_or_all, unknown};
use super::keys;
use super::kind::value;
use super::rules;
use super::value::quantity;
use crate::dist;
use crate::expr::Dimension;
use crate::registry::{DistributionSpec, Kind, Param, Params, Unit, Value};

/// Reads a parameter that may be a distribution.
pub(super) fn read(
    params: &mut Params,
    param: &'static Param,
    unit: Unit,
    json: &Json,
    path: &str,
    context: &Context,
) -> Result<()> {
    let Json::Object(options) = json else {
        let kind = match unit {
            Unit::Time { min_exclusive } => Kind::Duration { min_exclusive },
            Unit::Bytes => Kind::Bytes,
        };
        let plain = Param { kind, ..*param };
        params.set(param.name, value(json, &plain, path, context)?);
        return Ok(());
    };
    let spec = spec(options, unit, path, context)?;
    dist::build(&spec).map_err(|fault| rules::distribution(fault, path))?;
    params.set_distribution(param.name, spec);
    Ok(())
}

fn spec(
    options: &Map<String, Json>,
    unit: Unit,
    path: &str,
    context: &Context,
) -> Result<DistributionSpec> {
    let names = || dist::TABLE.iter().map(|entry| entry.name);
    let name = match options.get("name") {
        Some(Json::String(name)) => name,
        Some(_) => {
            return Err(at(
                format!("{path}.name"),
                "expected the name of a distribution",
            ));
        }
        None => {
            return Err(at(path, "which distribution? `name` is missing")
                .hint("`sawtooth list distribution` shows all"));
        }
    };
    let Some(entry) = dist::TABLE.iter().find(|entry| entry.name == name) else {
        let path = format!("{path}.name");
        return Err(unknown(&path, "distribution", name, names()));
    };
    let mut spec = DistributionSpec {
        name: entry.name,
        params: Params::defaults(entry.params),
        points: Vec::new(),
    };
    let empirical = entry.name == "empirical";
    for (key, json) in options.iter().filter(|(key, _)| *key != "name") {
        let path = format!("{path}.{key}");
        let own = keys::names(keys::EMPIRICAL).filter(|_| empirical);
        if empirical && key == "points" {
            spec.points = points(json, &path)?;
            continue;
        }
        if empirical && key == "file" {
            return Err(at(path, "the simulator reads no files")
                .hint("a study's files are read before it runs: write their content as `points`"));
        }
        let Some(param) = entry.params.iter().find(|param| param.name == key) else {
            let known = entry.params.iter().map(|param| param.name);
            let known: Vec<&str> = known.chain(own).collect();
            let message = format!("unknown parameter of {} `{key}`", entry.name);
            return Err(at_key(path, message).hint(&near_or_all(key, &known, "known are ")));
        };
        let value = match param.kind {
            Kind::Drawn => drawn(json, param, unit, &path, context)?,
            _ => value(json, param, &path, context)?,
        };
        spec.params.set(param.name, value);
    }
    Ok(spec)
}

/// A quantity of what is drawn.
fn drawn(json: &Json, param: &Param, unit: Unit, path: &str, context: &Context) -> Result<Value> {
    if param.default == Value::None && json.as_str() == Some("none") {
        return Ok(Value::None);
    }
    let dimension = match unit {
        Unit::Time { .. } => Dimension::Time,
        Unit::Bytes => Dimension::Bytes,
    };
    let found = quantity(json, path, context, dimension)?;
    rules::drawn(param.name, found, unit, path).map(|()| Value::Number(found))
}

fn points(json: &Json, path: &str) -> Result<Vec<(f64, f64)>> {
    let expected = || {
        at(path, "expected a list of values and probabilities")
            .hint("for example points = [[1000, 0.5], [5000, 1.0]]")
    };
    let pair = |json: &Json| {
        let pair = json.as_array().filter(|pair| pair.len() == 2)?;
        Some((pair[0].as_f64()?, pair[1].as_f64()?))
    };
    let points: Option<Vec<(f64, f64)>> = json
        .as_array()
        .ok_or_else(expected)?
        .iter()
        .map(pair)
        .collect();
    points.ok_or_else(expected)
}
