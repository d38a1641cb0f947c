//! Traffic sources: when the application writes how much.
//!
//! To add one: one file in this folder, one `mod` line, one row of [`TABLE`].

mod bulk;

use std::fmt::Debug;

use crate::registry::{Entry, Params};

/// Constructor of a table row.
pub type New = fn(&Params) -> Box<dyn Source>;

/// What an application does with its connection.
pub trait Source: Debug + Send {
    /// Bytes the application writes at the start of the connection; `None` when it never ends.
    fn size_bytes(&self) -> Option<u64>;
}

/// All sources.
pub const TABLE: &[Entry<New>] = &[bulk::ENTRY];
