//! Parts in the tree: a row of a table by its name, with parameters or without.

use serde_json::{Map, Value as Json};

use super::context::{Context, TreeTable};
use super::error::{Result, at, noun, unknown};
use super::keys;
use super::params::set_params;
use crate::registry::{Entry, Params};
use crate::spec::Part;

/// A part with its parameters: `{ name = "reno", beta = 0.7 }`, or just `"reno"`.
pub(super) fn part<C>(
    json: &Json,
    table: &'static [Entry<C>],
    what: &'static str,
    path: &str,
    context: &Context,
) -> Result<Part> {
    let named = named(json, table, what, path)?;
    let defaults = Params::defaults(named.entry.params);
    Ok(Part {
        name: named.entry.name,
        params: named.params(defaults, path, context)?,
    })
}

/// The row of `table` that is named, and its parameters, for what is made of them at once.
pub(super) fn row<C>(
    json: &Json,
    table: &'static [Entry<C>],
    what: &'static str,
    path: &str,
    context: &Context,
) -> Result<(&'static Entry<C>, Params)> {
    let named = named(json, table, what, path)?;
    let defaults = Params::defaults(named.entry.params);
    Ok((named.entry, named.params(defaults, path, context)?))
}

/// A row of a table, and the keys that are written beside its name.
pub(super) struct Named<'a, C: 'static> {
    pub entry: &'static Entry<C>,
    options: Option<&'a Map<String, Json>>,
}

/// Finds the row of `table` that is named.
pub(super) fn named<'a, C>(
    json: &'a Json,
    table: &'static [Entry<C>],
    what: &'static str,
    path: &str,
) -> Result<Named<'a, C>> {
    let name_path = || format!("{path}.name");
    let (name, options) = match json {
        Json::String(name) => (name, None),
        Json::Object(options) => match options.get("name") {
            Some(Json::String(name)) => (name, Some(options)),
            Some(_) => {
                let message = format!("expected the name of a {}", noun(what));
                return Err(at(name_path(), message));
            }
            None => {
                return Err(at(path, format!("which {}? `name` is missing", noun(what)))
                    .hint(&format!("`sawtooth list {what}` shows all")));
            }
        },
        _ => {
            return Err(at(path, format!("expected a {}", noun(what)))
                .hint("for example { name = \"...\" }"));
        }
    };
    let Some(entry) = table.iter().find(|entry| entry.name == name) else {
        let place = options.map_or_else(|| path.to_owned(), |_| name_path());
        let names = table.iter().map(|entry| entry.name);
        return Err(unknown(&place, what, name, names));
    };
    Ok(Named { entry, options })
}

impl<C> Named<'_, C> {
    /// Its parameters, where those that are not written are as in `defaults`.
    pub(super) fn params(
        &self,
        mut defaults: Params,
        path: &str,
        context: &Context,
    ) -> Result<Params> {
        if let Some(keys) = self.options {
            let table = TreeTable {
                keys,
                path,
                context,
            };
            let what = format!("parameter of {}", self.entry.name);
            set_params(&mut defaults, self.entry.params, table, keys::PART, &what)?;
        }
        Ok(defaults)
    }
}
