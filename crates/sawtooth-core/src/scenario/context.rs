//! The context in which every value is read: the tree, its variables, and the counters (`i`) of what is repeated.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;

use serde_json::{Map, Value as Json};

use super::error::Result;
use super::vars::{Asked, Vars};
use crate::digits::numbered;
use crate::expr::{self, ExprError, Quantity, Variables};
use crate::registry::Params;
use crate::spec::{FlowSpec, LinkSpec};

#[derive(Clone, Copy)]
pub(super) struct Context<'a> {
    /// The whole scenario: what a flow does not say may be said there for all.
    pub tree: &'a Map<String, Json>,
    vars: &'a Vars<'a>,
    /// `i` and `count` of a repeated item.
    counters: Option<(f64, f64)>,
    /// What was read of another scenario that differs from this in its variables only.
    pub before: Option<&'a ReadBefore>,
}

impl<'a> Context<'a> {
    pub(super) fn new(tree: &'a Map<String, Json>, vars: &'a Vars<'a>) -> Self {
        Self {
            tree,
            vars,
            counters: None,
            before: None,
        }
    }

    /// Where some was read `before`.
    pub(super) fn after(self, before: Option<&'a ReadBefore>) -> Self {
        Self { before, ..self }
    }

    /// What `read` comes to, and what it asks for meanwhile.
    pub(super) fn listen<T>(&self, read: impl FnOnce() -> T) -> (T, Asked) {
        let outer = self.vars.asked.replace(Some(Vec::new()));
        let value = read();
        let asked = self.vars.asked.replace(outer);
        (value, asked.unwrap_or_default())
    }

    /// Of variables, which are the same for all items.
    fn without_counters(&self) -> Self {
        Self {
            counters: None,
            ..*self
        }
    }

    /// Names `NAME[1]` and so on, and the context that each copy is read with: as many as `count` says; without `count` one, `NAME`.
    pub(super) fn items(
        &self,
        name: &str,
        count: Option<usize>,
    ) -> impl Iterator<Item = (String, Self)> {
        (1..=count.unwrap_or(1)).map(move |i| {
            let name = match count {
                Some(_) => numbered(name, i),
                None => name.to_owned(),
            };
            #[expect(clippy::cast_precision_loss, reason = "counts are small")]
            let counters = count.map(|count| (i as f64, count as f64));
            (name, Self { counters, ..*self })
        })
    }
}

impl Variables for Context<'_> {
    fn get(&self, name: &str, depth: usize) -> Option<std::result::Result<Quantity, String>> {
        let found = match (name, self.counters) {
            ("i", Some((i, _))) => {
                self.vars.asked_for_number.set(true);
                Some(Ok(Quantity::number(i)))
            }
            ("count", Some((_, count))) => Some(Ok(Quantity::number(count))),
            _ => self.vars.evaluate(name, &self.without_counters(), depth),
        };
        if let (Some(Ok(value)), Some(asked)) = (&found, &mut *self.vars.asked.borrow_mut()) {
            asked.push((name.to_owned(), *value));
        }
        found
    }

    fn names(&self) -> Vec<String> {
        let counters = self.counters.map_or(&[][..], |_| &["i", "count"]);
        let counters = counters.iter().map(|name| (*name).to_owned());
        self.vars.names().chain(counters).collect()
    }
}

/// What is written once for all copies of a repeated item, and read once if it does not depend on which copy it is.
pub(super) struct ReadOnce<T>(Option<T>);

impl<T: Clone> ReadOnce<T> {
    pub(super) fn new() -> Self {
        Self(None)
    }

    /// What `read` makes of it in the context of a copy, or has made of it for all of them.
    pub(super) fn read(
        &mut self,
        context: &Context,
        read: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if let Some(known) = &self.0 {
            return Ok(known.clone());
        }
        let asked = &context.vars.asked_for_number;
        let asked_before = asked.replace(false);
        let value = read()?;
        if !asked.get() {
            self.0 = Some(value.clone());
        }
        asked.set(asked.get() || asked_before);
        Ok(value)
    }
}

/// What was read of trees that are the same but for their variables.
#[derive(Debug, Default)]
pub(super) struct ReadBefore {
    /// What TCP is where a scenario says nothing else.
    pub stack: OnceCell<Params>,
    /// Without their names.
    pub links: ReadByName<LinkSpec>,
    /// What connections have in common.
    pub flows: ReadByName<FlowSpec>,
}

/// What was read by its name, and what its expressions asked for then.
#[derive(Debug)]
pub(super) struct ReadByName<T>(RefCell<BTreeMap<String, (Asked, T)>>);

impl<T> Default for ReadByName<T> {
    fn default() -> Self {
        Self(RefCell::default())
    }
}

impl<T: Clone> ReadByName<T> {
    /// More are not kept: what reads so many is not read often.
    const MOST: usize = 1000;

    /// What is called `name`, read again if anything that it asked for is another now.
    pub(super) fn read(
        &self,
        name: &str,
        context: &Context,
        read: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if let Some((asked, value)) = self.0.borrow().get(name)
            && asked
                .iter()
                .all(|(name, value)| context.get(name, 0) == Some(Ok(*value)))
        {
            return Ok(value.clone());
        }
        let (value, asked) = context.listen(read);
        let value = value?;
        let mut kept = self.0.borrow_mut();
        if kept.len() < Self::MOST || kept.contains_key(name) {
            kept.insert(name.to_owned(), (asked, value.clone()));
        }
        Ok(value)
    }
}

/// A table of the tree: its keys, where it stands, and what its values are read with.
#[derive(Clone, Copy)]
pub(super) struct TreeTable<'a> {
    pub keys: &'a Map<String, Json>,
    pub path: &'a str,
    pub context: &'a Context<'a>,
}

impl<'a> TreeTable<'a> {
    /// Where a key of it is, or would be.
    pub(super) fn place(&self, key: &str) -> String {
        [self.path, ".", key].concat()
    }

    /// A value, and where it is.
    pub(super) fn get(&self, key: &str) -> Option<(&'a Json, String)> {
        Some((self.keys.get(key)?, self.place(key)))
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.keys.contains_key(key)
    }

    /// A value of a flow, or else that of all flows, and where it is.
    pub(super) fn own_or_common(&self, key: &str) -> Option<(&'a Json, String)> {
        self.get(key)
            .or_else(|| Some((self.context.tree.get(key)?, key.to_owned())))
    }
}

/// Value of an expression over `variables`, as those of a scenario.
pub fn evaluate_over(
    text: &str,
    variables: &Map<String, Json>,
) -> std::result::Result<Quantity, ExprError> {
    let vars = Vars::of(Some(variables));
    expr::evaluate(text, &Context::new(&Map::new(), &vars))
}
