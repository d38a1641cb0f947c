//! The variables of a scenario, evaluated on first use.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::error::{Result, at, at_key, in_expression};
use crate::digits::numbered;
use crate::expr::{self, Quantity, Variables};

/// The table `vars`, and what of it has been evaluated.
pub(super) struct Vars<'a> {
    tree: Option<&'a Map<String, Json>>,
    known: RefCell<BTreeMap<String, Evaluation>>,
    /// Whether anything has asked for `i` of a repeated item.
    pub asked_for_number: Cell<bool>,
    /// What is asked for, where somebody listens.
    pub asked: RefCell<Option<Asked>>,
}

/// Names of variables and counters, and their values.
pub(super) type Asked = Vec<(String, Quantity)>;

#[derive(Clone)]
enum Evaluation {
    InProgress,
    Done(std::result::Result<Quantity, String>),
}

impl<'a> Vars<'a> {
    /// The variables of a scenario; their names can be written in expressions.
    pub(super) fn read(vars: Option<&'a Map<String, Json>>) -> Result<Self> {
        for name in vars.into_iter().flat_map(Map::keys) {
            let identifier = name.chars().all(|c| c.is_alphanumeric() || c == '_')
                && !name.chars().next().is_some_and(|c| c.is_ascii_digit());
            if !identifier || name == "i" || name == "count" {
                return Err(at_key(
                    format!("vars.{name}"),
                    format!("`{name}` cannot be the name of a variable"),
                )
                .hint(
                    "use letters, digits and _; i and count are the counters of repeated items",
                ));
            }
        }
        Ok(Self::of(vars))
    }

    pub(super) fn of(tree: Option<&'a Map<String, Json>>) -> Self {
        Self {
            tree,
            known: RefCell::default(),
            asked_for_number: Cell::new(false),
            asked: RefCell::default(),
        }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        self.tree.into_iter().flat_map(Map::keys).cloned()
    }

    /// The value of a variable, whose expression is over `variables`.
    pub(super) fn evaluate(
        &self,
        name: &str,
        variables: &dyn Variables,
        depth: usize,
    ) -> Option<std::result::Result<Quantity, String>> {
        if let Some(slot) = self.known.borrow().get(name) {
            return Some(match slot {
                Evaluation::InProgress => Err(format!("variable `{name}` is defined by itself")),
                Evaluation::Done(result) => result.clone(),
            });
        }
        let json = match self.item(name)? {
            Ok(json) => json,
            Err(message) => return Some(Err(message)),
        };
        self.known
            .borrow_mut()
            .insert(name.to_owned(), Evaluation::InProgress);
        let result = match json {
            Json::Number(number) => Ok(Quantity::number(number.as_f64().unwrap_or(f64::NAN))),
            Json::String(text) => {
                expr::evaluate_within(text, variables, depth).map_err(|error| match error.message {
                    // An error that comes from a variable it uses has its place already.
                    message if message.starts_with("variable `") => message,
                    message => format!("variable `{name}` is wrong: {message}"),
                })
            }
            Json::Array(items) => Err(format!(
                "`{name}` is a list of {}; say which, as in `{name}[1]`",
                items.len()
            )),
            _ => Err(format!(
                "variable `{name}` is no number, quantity or expression"
            )),
        };
        let done = Evaluation::Done(result.clone());
        self.known.borrow_mut().insert(name.to_owned(), done);
        Some(result)
    }

    /// The value that is written for `NAME` or `NAME[NUMBER]`.
    fn item(&self, name: &str) -> Option<std::result::Result<&'a Json, String>> {
        let Some((list, number)) = name.split_once('[') else {
            return self.tree?.get(name).map(Ok);
        };
        let number = number.trim_end_matches(']');
        Some(match self.tree?.get(list)? {
            Json::Array(items) => number
                .parse::<usize>()
                .ok()
                .and_then(|number| items.get(number.wrapping_sub(1)))
                .ok_or_else(|| {
                    let count = items.len();
                    format!("`{list}` has {count} items, so there is no `{name}`")
                }),
            _ => Err(format!("`{list}` is not a list")),
        })
    }

    /// Evaluates every variable, also one that nothing uses.
    pub(super) fn check(&self, context: &dyn Variables) -> Result<()> {
        for (name, json) in self.tree.into_iter().flatten() {
            let path = || ["vars.", name].concat();
            let Json::Array(items) = json else {
                check(name, path, json, context)?;
                continue;
            };
            for (index, item) in items.iter().enumerate() {
                let name = numbered(name, index + 1);
                check(&name, || numbered(&path(), index), item, context)?;
            }
        }
        Ok(())
    }
}

fn check(
    name: &str,
    path: impl Fn() -> String,
    json: &Json,
    context: &dyn Variables,
) -> Result<()> {
    if let Json::String(text) = json {
        expr::evaluate(text, context).map_err(|error| in_expression(&path(), error))?;
    }
    let Some(Err(message)) = context.get(name, 0) else {
        return Ok(());
    };
    let error = at(path(), message);
    Err(match json {
        Json::String(_) => error,
        _ => error.hint(&format!("for example {name} = \"20 ms\", or a number")),
    })
}
