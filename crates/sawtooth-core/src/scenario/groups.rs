//! Links and hosts are declared under a name: one, or as many as a `count` says; flows name them.

use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::context::{Context, TreeTable};
use super::error::{Result, at, in_expression, unknown};
use super::value::{check_keys, object, quantity};
use crate::expr::{self, Dimension, ExprError};
use crate::limits::{Limits, counted, how_to_raise};

/// All that is declared of one sort, in order: of each name where its things begin, and how many there are.
pub(super) struct Groups<'a> {
    /// `link` or `host`.
    what: &'static str,
    all: Vec<Group<'a>>,
    by_name: BTreeMap<&'a str, usize>,
    number: usize,
}

struct Group<'a> {
    name: &'a str,
    first: usize,
    /// `None` when it is a single one, used without an index.
    count: Option<usize>,
}

/// A table that declares a group.
pub(super) struct Declared<'a> {
    name: &'a str,
    keys: &'a Map<String, Json>,
    path: String,
    count: Option<usize>,
}

impl<'a> Groups<'a> {
    pub(super) fn new(what: &'static str) -> Self {
        Self {
            what,
            all: Vec::new(),
            by_name: BTreeMap::new(),
            number: 0,
        }
    }

    /// Takes in what is declared under a name, unless there is too much of it.
    pub(super) fn declare(
        &mut self,
        name: &'a str,
        json: &'a Json,
        known: &(impl Iterator<Item = &'static str> + Clone),
        context: &Context,
        limits: &Limits,
    ) -> Result<Declared<'a>> {
        let section = [self.what, "s"].concat();
        let path = [&section, ".", name].concat();
        let keys = object(json, &path)?;
        check_keys(keys, known.clone(), &path)?;
        let table = TreeTable {
            keys,
            path: &path,
            context,
        };
        let count = count(table, 1)?;
        check_number(self.number, count, table, &section, limits)?;
        self.by_name.insert(name, self.all.len());
        self.all.push(Group {
            name,
            first: self.number,
            count,
        });
        self.number += count.unwrap_or(1);
        Ok(Declared {
            name,
            keys,
            path,
            count,
        })
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The name under which one of them is declared, perhaps together with others.
    pub(super) fn declared_name(&self, index: usize) -> &'a str {
        let at = self.all.partition_point(|group| group.first <= index) - 1;
        self.all[at].name
    }

    /// Which one is meant by `name`, or by `name[expression]` where there are several.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "checked to be a small whole number"
    )]
    pub(super) fn find(&self, text: &str, path: &str, context: &Context) -> Result<usize> {
        let what = self.what;
        let (name, index) = split(text).ok_or_else(|| {
            let message = format!("`{text}` has a bracket that is not closed");
            at(path, message)
        })?;
        let Some(&found) = self.by_name.get(name) else {
            let names = self.all.iter().map(|group| group.name);
            return Err(unknown(path, what, name, names));
        };
        let group = &self.all[found];
        let (count, index) = match (group.count, index) {
            (None, None) => return Ok(group.first),
            (None, Some(_)) => {
                return Err(at(path, format!("there is only one `{name}`"))
                    .hint(&format!("write \"{name}\"")));
            }
            (Some(count), None) => {
                let message = format!("there are {count} {what}s `{name}`; say which");
                return Err(at(path, message).hint(&format!("for example \"{name}[i]\"")));
            }
            (Some(count), Some(index)) => (count, index),
        };
        let offset = name.chars().count() + 1;
        let shift = |error: ExprError| ExprError {
            span: (error.span.0 + offset, error.span.1 + offset),
            ..error
        };
        let found =
            expr::evaluate(index, context).map_err(|error| in_expression(path, shift(error)))?;
        let number = found.value;
        let fits = found.dimension == Dimension::Number
            && number.fract() == 0.0
            && (1.0..=count as f64).contains(&number);
        if !fits {
            let message =
                format!("`{name}[{index}]` is number {number}, but they go from 1 to {count}");
            return Err(at(path, message));
        }
        Ok(group.first + number as usize - 1)
    }
}

/// The two parts of `name[index]`; nothing if its bracket is not closed.
fn split(text: &str) -> Option<(&str, Option<&str>)> {
    let Some((name, rest)) = text.split_once('[') else {
        return Some((text, None));
    };
    Some((name, Some(rest.strip_suffix(']')?)))
}

impl<'a> Declared<'a> {
    /// What is written of each of them.
    pub(super) fn table<'b>(&'b self, context: &'b Context<'b>) -> TreeTable<'b> {
        TreeTable {
            keys: self.keys,
            path: &self.path,
            context,
        }
    }

    /// How many there are.
    pub(super) fn number(&self) -> usize {
        self.count.unwrap_or(1)
    }

    /// The name of each thing, and what is read with its counters.
    pub(super) fn items(
        &self,
        context: &Context<'a>,
    ) -> impl Iterator<Item = (String, Context<'a>)> {
        context.items(self.name, self.count)
    }
}

/// The `count` of a repeated item, if it has one.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be a small whole number"
)]
pub(super) fn count(table: TreeTable, least: u32) -> Result<Option<usize>> {
    let Some((json, path)) = table.get("count") else {
        return Ok(None);
    };
    let value = quantity(json, &path, table.context, Dimension::Number)?;
    if value.fract() != 0.0 || !(f64::from(least)..=1e7).contains(&value) {
        return Err(at(
            path,
            format!("a count must be a whole number from {least} to 10000000, found {value}"),
        ));
    }
    Ok(Some(value as usize))
}

/// Refuses as many more things of a `section` as a `count` asks for, before they are made, if they are too many.
pub(super) fn check_number(
    before: usize,
    count: Option<usize>,
    table: TreeTable,
    section: &str,
    limits: &Limits,
) -> Result<()> {
    #[expect(clippy::cast_precision_loss, reason = "counts are small")]
    let number = (before + count.unwrap_or(1)) as f64;
    let limit = limits.flows;
    if number <= limit {
        return Ok(());
    }
    let message = format!(
        "these are {} {section}, and the limit is {}",
        counted(number),
        counted(limit)
    );
    Err(at(table.place("count"), message).hint(&how_to_raise("flows", number)))
}
