//! The table of one direction of a link; a reverse direction takes what it does not say from the forward one.

use serde_json::Value as Json;

use super::super::context::TreeTable;
use super::super::error::Result;
use super::super::value::share;
use crate::impair::Impairments;
use crate::spec::LinkDirection;

/// The table of a direction.
#[derive(Clone, Copy)]
pub(super) struct DirectionTable<'a> {
    pub table: TreeTable<'a>,
    /// The forward direction, where this is the reverse one.
    pub mirror: Option<&'a LinkDirection>,
}

impl<'a> DirectionTable<'a> {
    pub(super) fn get(&self, key: &str) -> Option<(&'a Json, String)> {
        self.table.get(key)
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.table.has(key)
    }

    /// A probability, or zero.
    pub(super) fn share(&self, key: &str) -> Result<f64> {
        self.get(key).map_or(Ok(0.0), |(json, path)| {
            share(json, &path, key, self.table.context)
        })
    }

    /// The impairments of the forward direction.
    pub(super) fn mirrored(&self) -> Option<&'a Impairments> {
        self.mirror.map(|mirror| &mirror.impairments)
    }

    /// Whether the forward direction has its rate from a trace, and this one with it.
    pub(super) fn is_traced_with_mirror(&self) -> bool {
        let traced = self.mirrored().is_some_and(|mirror| mirror.trace.is_some());
        traced && !self.has("rate")
    }
}
