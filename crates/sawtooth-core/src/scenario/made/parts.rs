//! Parts and parameters: of a row that there is, of the kinds that its table tells, and within their bounds.

use super::super::error::{Result, at, unknown};
use super::super::{kind, rules};
use crate::dist;
use crate::registry::{DistributionSpec, Entry, Kind, Param, Params, Unit, Value, near_and_known};
use crate::spec::Part;

/// A part is a row of its table, with the parameters of that.
pub(super) fn part<C>(
    part: &Part,
    table: &'static [Entry<C>],
    what: &'static str,
    path: &str,
) -> Result<()> {
    let Some(entry) = table.iter().find(|entry| entry.name == part.name) else {
        let names = table.iter().map(|entry| entry.name);
        // There is a library here, and perhaps no command line that lists the rest.
        let hint = near_and_known(part.name, names.clone());
        return Err(unknown(path, what, part.name, names).hint(&hint));
    };
    params(entry.name, entry.params, &part.params, path)
}

/// Values for all parameters of a table, which are `whose`.
pub(super) fn params(
    whose: &str,
    table: &'static [Param],
    params: &Params,
    path: &str,
) -> Result<()> {
    params_or_known(whose, table, params, path, |_, _| false)
}

/// The same, with values that are good whatever the bounds of a text say.
pub(super) fn params_or_known(
    whose: &str,
    table: &'static [Param],
    params: &Params,
    path: &str,
    is_known: impl Fn(&'static str, Value) -> bool,
) -> Result<()> {
    let names = params.iter().map(|(name, _)| name);
    if !names.eq(table.iter().map(|param| param.name)) {
        return Err(
            at(path, format!("these are not the parameters of `{whose}`"))
                .hint("begin with its defaults, and set what is to be otherwise"),
        );
    }
    for (param, (_, value)) in table.iter().zip(params.iter()) {
        let path = format!("{path}.{}", param.name);
        match (param.kind, value) {
            (Kind::Distribution(unit), Value::Distribution) => {
                let Some(spec) = params.find_distribution(param.name) else {
                    return Err(at(path, format!("which distribution is `{}`?", param.name))
                        .hint("`Params::set_distribution` says it"));
                };
                distribution(spec, unit, &path)?;
            }
            _ => match kind::check(param, value, &path) {
                Err(_) if is_known(param.name, value) => {}
                checked => checked?,
            },
        }
    }
    Ok(())
}

/// A distribution is a row of its table, and its parameters go together.
pub(super) fn distribution(spec: &DistributionSpec, unit: Unit, path: &str) -> Result<()> {
    let mut rows = dist::TABLE.iter();
    let Some(entry) = rows.find(|entry| entry.name == spec.name) else {
        let names = dist::TABLE.iter().map(|entry| entry.name);
        let hint = near_and_known(spec.name, names.clone());
        return Err(unknown(path, "distribution", spec.name, names).hint(&hint));
    };
    for param in entry.params {
        let path = format!("{path}.{}", param.name);
        match (param.kind, spec.params.find(param.name)) {
            (_, None) => {
                let message = format!("`{}` has a parameter `{}`", entry.name, param.name);
                return Err(at(path, message).hint("begin with its defaults"));
            }
            (Kind::Drawn, Some(Value::Number(found))) => {
                rules::drawn(param.name, found, unit, &path)?;
            }
            (_, Some(value)) => kind::check(param, value, &path)?,
        }
    }
    match dist::build(spec) {
        Ok(_) => Ok(()),
        Err(fault) => Err(rules::distribution(fault, path)),
    }
}

/// Values of some parameters of a row that a type has as its fields.
pub(super) fn row<C>(
    table: &'static [Entry<C>],
    name: &str,
    values: &[(&str, Value)],
    path: &str,
) -> Result<()> {
    let entry = table.iter().find(|entry| entry.name == name);
    let params = entry.expect("a row").params;
    let mut values = values.iter();
    values.try_for_each(|(name, value)| parameter(params, name, *value, path))
}

/// The value of a parameter that a type has as a field.
pub(super) fn parameter(
    table: &'static [Param],
    name: &str,
    value: Value,
    path: &str,
) -> Result<()> {
    let param = table.iter().find(|param| param.name == name);
    kind::check(
        param.expect("a parameter"),
        value,
        &format!("{path}.{name}"),
    )
}
