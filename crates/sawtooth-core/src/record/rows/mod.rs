//! The tables, one file for what belongs together. A column is two lines of its file: its name, type, unit and meaning; and its value, by that name, in the function
//! that makes a row of what was measured. Real kernels' flows and samples are the agent's to measure: it fills the same structs.
//!
//! Where something may be unknown the field is an `Option`; its column then has a null.

use super::table::{Row, TableSpec};

/// Makes a row's struct and the table that it is of, from one line for each column.
#[macro_export]
macro_rules! row {
    ($row:ident: $table:literal, $summary:literal; $($name:ident: $kind:ty, $unit:literal, $meaning:literal;)*) => {
        #[doc = concat!("A row of the table `", $table, "`: ", $summary, ".")]
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct $row {
            $(#[doc = $meaning] pub $name: $kind,)*
        }

        impl $crate::record::Row for $row {
            const TABLE: $crate::record::TableSpec = $crate::record::TableSpec {
                name: $table,
                summary: $summary,
                columns: &[$($crate::record::ColumnSpec {
                    name: stringify!($name),
                    unit: $unit,
                    summary: $meaning,
                    kind: <$kind as $crate::record::ColumnValue>::KIND,
                },)*],
            };

            #[inline]
            fn add_to(self, columns: &mut [$crate::record::Column]) {
                let mut columns = columns.iter_mut();
                $($crate::record::ColumnValue::add_to(self.$name, columns.next().expect("a column for each field"));)*
            }
        }
    };
}

pub(crate) mod arrivals;
mod episodes;
pub(crate) mod exchanges;
pub(crate) mod flows;
pub(crate) mod fluid;
mod hosts;
pub(crate) mod kernels;
mod limited;
pub(crate) mod links;
mod samples;
pub(crate) mod udp;

pub use arrivals::{ArrivalRow, CompletionRow, TransferRow};
pub use episodes::EpisodeRow;
pub use exchanges::ExchangeRow;
pub use flows::FlowRow;
pub use fluid::FluidRow;
pub use hosts::{LayerRow, StallRow, Stalls};
pub use kernels::CounterRow;
pub use limited::LimitedRow;
pub use links::{LinkFlowRow, LinkRow, PacketRow, WaitRow};
pub use samples::{QueueRow, SeriesRow, VariableRow};
pub use udp::{DatagramRow, SourceRow};

/// Every table and column of [`Records`](super::Records).
pub const SCHEMA: &[TableSpec] = &[
    FlowRow::TABLE,
    StallRow::TABLE,
    LayerRow::TABLE,
    LinkRow::TABLE,
    WaitRow::TABLE,
    LinkFlowRow::TABLE,
    PacketRow::TABLE,
    SeriesRow::TABLE,
    QueueRow::TABLE,
    VariableRow::TABLE,
    EpisodeRow::TABLE,
    LimitedRow::TABLE,
    ArrivalRow::TABLE,
    CompletionRow::TABLE,
    TransferRow::TABLE,
    ExchangeRow::TABLE,
    DatagramRow::TABLE,
    SourceRow::TABLE,
    FluidRow::TABLE,
    CounterRow::TABLE,
];
