//! What a run measured: tables of plain columns with names, units and meanings.
//!
//! A table is defined in one place, in [`rows`]: a row is a struct, a column one line of it, and beside it stands where its value comes from. [`SCHEMA`] is the list of
//! everything there is; documentation and readers walk it.

pub mod packed;
mod rfc4898;
pub mod rows;
mod table;

pub use rfc4898::{Alias, RFC4898};
pub use rows::SCHEMA;
pub use table::{Column, ColumnSpec, ColumnValue, Row, Table, TableSpec, Text, Type};

/// Everything one run measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Records {
    /// The tables that the run filled, `flows` first.
    pub tables: Vec<Table>,
}

impl Records {
    /// The table `name`, if the run filled it.
    pub fn table(&self, name: &str) -> Option<&Table> {
        self.tables.iter().find(|table| table.name() == name)
    }
}

/// What a run cost; it depends on the shortcuts in force, so it is no record.
#[derive(Clone, Copy, Debug, Default)]
pub struct Effort {
    /// Events taken from the event queue.
    pub events: u64,
    /// Segments that reached their receiver.
    pub delivered_packets: u64,
    /// Packets that reached their host damaged.
    pub discarded_packets: u64,
    /// Places that flows have had: of those that arrive and leave, as many as were alive at one time.
    pub flow_places: u64,
}
