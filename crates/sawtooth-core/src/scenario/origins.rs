//! Where in the tree the parts of a scenario were written: what errors and warnings point at.

use std::borrow::Cow;

use serde_json::{Map, Value as Json};

use super::context::TreeTable;
use crate::spec::{LinkSpec, Scenario};

/// The tree that a scenario was read from, and what of it has become which flow.
#[derive(Clone, Debug)]
pub struct Origins<'a> {
    pub(super) tree: &'a Map<String, Json>,
    pub(super) entries: Entries,
    /// Whether there is no tree, because a program has made the scenario: whatever a flow has is then its own.
    is_made: bool,
}

/// Of each of a scenario's lists of flows, in their order, where they come from.
#[derive(Clone, Debug, Default)]
pub(super) struct Entries {
    pub flows: Vec<Origin>,
    pub arriving: Vec<Origin>,
    pub udp: Vec<Origin>,
    pub fluid: Vec<Origin>,
}

/// The entry of `flows` that a flow was read from, perhaps together with others.
#[derive(Clone, Copy, Debug)]
pub(super) struct Origin {
    pub entry: usize,
    /// The list that it is in: `flows` of a tree, and of a scenario that a program has made any of its lists of flows.
    pub list: &'static str,
    /// Whether it names its congestion control itself.
    pub has_own_cc: bool,
}

impl<'a> Origins<'a> {
    pub(super) fn new(tree: &'a Map<String, Json>, entries: Entries) -> Self {
        Self {
            tree,
            entries,
            is_made: false,
        }
    }

    /// Of a scenario that a program has made, without a tree: `nothing` is empty. Its flows stand in its own lists.
    pub(super) fn made(scenario: &Scenario, nothing: &'a Map<String, Json>) -> Self {
        let list = |list, number| (0..number).map(|entry| Origin::made(list, entry)).collect();
        Self {
            tree: nothing,
            entries: Entries {
                flows: list("flows", scenario.flows.len()),
                arriving: list("arriving", scenario.arriving.len()),
                udp: list("udp", scenario.udp.len()),
                fluid: list("fluid", scenario.fluid.len()),
            },
            is_made: true,
        }
    }

    /// Those of [`Scenario::all_flows`](crate::spec::Scenario::all_flows).
    pub(super) fn all_flows(&self) -> impl Iterator<Item = Origin> {
        let Entries {
            flows,
            arriving,
            fluid,
            ..
        } = &self.entries;
        flows.iter().chain(arriving).chain(fluid).copied()
    }

    /// A value of the entry.
    pub(super) fn get(&self, origin: Origin, key: &str) -> Option<&'a Json> {
        self.tree.get("flows")?.get(origin.entry)?.get(key)
    }

    /// The tables `tcp` that hold for a flow.
    pub(super) fn tcp(&self, origin: Origin) -> TcpTables<'a> {
        TcpTables {
            own: self.get(origin, "tcp"),
            common: self.tree.get("tcp"),
            entry: origin.place().into(),
            is_made: self.is_made,
        }
    }

    /// What is written of the link that is declared by a name.
    pub(super) fn link(&self, name: &str) -> Option<&'a Json> {
        self.tree.get("links")?.get(name)
    }
}

impl Origin {
    fn made(list: &'static str, entry: usize) -> Self {
        Self {
            entry,
            list,
            has_own_cc: true,
        }
    }

    /// Where the entry is.
    pub(super) fn place(self) -> String {
        format!("{}[{}]", self.list, self.entry)
    }

    /// Where a key of it is.
    pub(super) fn key(self, key: &str) -> String {
        format!("{}[{}].{key}", self.list, self.entry)
    }

    /// Where its congestion control is named: by itself, or for all flows.
    pub(super) fn cc(self) -> String {
        if self.has_own_cc {
            self.key("cc")
        } else {
            "cc".to_owned()
        }
    }
}

/// The tables `tcp` that hold for a flow: its own, and that of all flows.
pub(super) struct TcpTables<'a> {
    own: Option<&'a Json>,
    common: Option<&'a Json>,
    /// Where the flow's entry is.
    entry: Cow<'a, str>,
    /// Whether a program has made the flow, whose parameters are its own.
    is_made: bool,
}

impl<'a> TcpTables<'a> {
    /// Those of an entry that is being read.
    pub(super) fn of(entry: TreeTable<'a>) -> Self {
        Self {
            own: entry.keys.get("tcp"),
            common: entry.context.tree.get("tcp"),
            entry: entry.path.into(),
            is_made: false,
        }
    }

    /// Where a flow says itself what a parameter is.
    pub(super) fn own(&self, key: &str) -> Option<String> {
        self.own?.get(key)?;
        Some(format!("{}.tcp.{key}", self.entry))
    }

    /// Where that is said, if it is.
    pub(super) fn place(&self, key: &str) -> Option<String> {
        self.own(key).or_else(|| {
            self.common?.get(key)?;
            Some(format!("tcp.{key}"))
        })
    }

    /// The same; or where it would be said of all flows.
    pub(super) fn place_or_common(&self, key: &str) -> String {
        if self.is_made {
            return format!("{}.tcp.{key}", self.entry);
        }
        self.own(key).unwrap_or_else(|| format!("tcp.{key}"))
    }
}

/// The name under which a link is declared, perhaps together with others.
pub(super) fn declared_name(link: &LinkSpec) -> &str {
    link.name.split('[').next().unwrap_or_default()
}
