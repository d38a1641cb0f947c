//! A table that is filled row by row and kept column by column.

use std::sync::Arc;

use crate::registry::near_and_known;

/// A name or a word in a row: rows of one thing share one.
pub type Text = Arc<str>;

/// The type of a column. Columns of an `Opt` type may lack a value in some rows: what was not measured, or is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// A count, in every row.
    U64,
    /// A signed whole number, mostly nanoseconds, in every row.
    I64,
    /// A number in binary64, in every row.
    F64,
    /// A count that some rows lack.
    OptU64,
    /// A signed whole number that some rows lack.
    OptI64,
    /// A number in binary64 that some rows lack.
    OptF64,
    /// A name or a word; empty where there is none.
    Str,
}

impl Type {
    /// Whether a row may lack a value.
    pub const fn is_optional(self) -> bool {
        matches!(self, Self::OptU64 | Self::OptI64 | Self::OptF64)
    }
}

/// One column: its name carries the unit where there is one.
#[derive(Clone, Copy, Debug)]
pub struct ColumnSpec {
    /// Its name, which no other column of its table has.
    pub name: &'static str,
    /// The unit of its values, such as `ns` or `bit/s`; empty if they have none.
    pub unit: &'static str,
    /// What its values mean, and what it means that one is not there.
    pub summary: &'static str,
    /// The type of its values.
    pub kind: Type,
}

/// One table: what a row is, and its columns.
#[derive(Clone, Copy, Debug)]
pub struct TableSpec {
    /// Its name, which no other table has.
    pub name: &'static str,
    /// What one row is, and when there are any.
    pub summary: &'static str,
    /// Its columns, in the order in which they are written.
    pub columns: &'static [ColumnSpec],
}

/// A row of a table: a struct whose fields are its columns ([`super::rows`]).
pub trait Row {
    /// The table that it is of.
    const TABLE: TableSpec;

    /// Adds its values to the table's columns, one to each.
    fn add_to(self, columns: &mut [Column]);
}

/// A column's values.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Of [`Type::U64`], one value for each row; so are the others.
    U64(Vec<u64>),
    /// Of [`Type::I64`].
    I64(Vec<i64>),
    /// Of [`Type::F64`].
    F64(Vec<f64>),
    /// Of [`Type::OptU64`]; `None` where a row lacks the value.
    OptU64(Vec<Option<u64>>),
    /// Of [`Type::OptI64`], likewise.
    OptI64(Vec<Option<i64>>),
    /// Of [`Type::OptF64`], likewise.
    OptF64(Vec<Option<f64>>),
    /// Of [`Type::Str`].
    Str(Vec<Text>),
}

impl Column {
    /// An empty one, with room for so many values.
    fn with_room(kind: Type, rows: usize) -> Self {
        match kind {
            Type::U64 => Self::U64(Vec::with_capacity(rows)),
            Type::I64 => Self::I64(Vec::with_capacity(rows)),
            Type::F64 => Self::F64(Vec::with_capacity(rows)),
            Type::OptU64 => Self::OptU64(Vec::with_capacity(rows)),
            Type::OptI64 => Self::OptI64(Vec::with_capacity(rows)),
            Type::OptF64 => Self::OptF64(Vec::with_capacity(rows)),
            Type::Str => Self::Str(Vec::with_capacity(rows)),
        }
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::OptU64(values) => values.len(),
            Self::OptI64(values) => values.len(),
            Self::OptF64(values) => values.len(),
            Self::Str(values) => values.len(),
        }
    }

    /// The values of a column of texts, one for each row; none at all of a column of numbers.
    pub fn texts(&self) -> &[Text] {
        match self {
            Self::Str(values) => values,
            _ => &[],
        }
    }

    /// The value of a row as text; empty where it is not known.
    fn text(&self, row: usize) -> String {
        fn known(value: Option<impl ToString>) -> String {
            value.map_or_else(String::new, |value| value.to_string())
        }
        match self {
            Self::U64(values) => values[row].to_string(),
            Self::I64(values) => values[row].to_string(),
            Self::F64(values) => values[row].to_string(),
            Self::OptU64(values) => known(values[row]),
            Self::OptI64(values) => known(values[row]),
            Self::OptF64(values) => known(values[row]),
            Self::Str(values) => values[row].to_string(),
        }
    }

    /// The values as numbers, with nothing where one is not known; none at all of a column of texts.
    #[expect(
        clippy::cast_precision_loss,
        reason = "counts and times are far below 2^53"
    )]
    pub fn numbers(&self) -> Vec<Option<f64>> {
        match self {
            Self::U64(values) => values.iter().map(|value| Some(*value as f64)).collect(),
            Self::I64(values) => values.iter().map(|value| Some(*value as f64)).collect(),
            Self::F64(values) => values.iter().copied().map(Some).collect(),
            Self::OptU64(values) => values
                .iter()
                .map(|value| value.map(|it| it as f64))
                .collect(),
            Self::OptI64(values) => values
                .iter()
                .map(|value| value.map(|it| it as f64))
                .collect(),
            Self::OptF64(values) => values.clone(),
            Self::Str(_) => Vec::new(),
        }
    }
}

/// What a field of a row may be.
pub trait ColumnValue {
    /// The type of its column.
    const KIND: Type;

    /// Adds it to its column.
    fn add_to(self, column: &mut Column);
}

macro_rules! value {
    ($($of:ty => $kind:ident)*) => {$(
        impl ColumnValue for $of {
            const KIND: Type = Type::$kind;

            #[inline]
            fn add_to(self, column: &mut Column) {
                match column {
                    Column::$kind(values) => values.push(self),
                    other => unreachable!("a column is of its field's type, not {other:?}"),
                }
            }
        }
    )*};
}

value! {
    u64 => U64
    i64 => I64
    f64 => F64
    Option<u64> => OptU64
    Option<i64> => OptI64
    Option<f64> => OptF64
    Text => Str
}

impl ColumnValue for String {
    const KIND: Type = Type::Str;

    fn add_to(self, column: &mut Column) {
        Text::from(self).add_to(column);
    }
}

/// Rows of one kind.
#[derive(Clone, Debug)]
pub struct Table {
    spec: TableSpec,
    columns: Vec<Column>,
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.columns == other.columns
    }
}

impl Table {
    /// A table of such rows, with none yet.
    pub fn new<R: Row>() -> Self {
        Self::with_room::<R>(0)
    }

    /// The same, with room for so many.
    pub fn with_room<R: Row>(rows: usize) -> Self {
        let columns = R::TABLE.columns.iter();
        let empty = |column: &ColumnSpec| Column::with_room(column.kind, rows);
        Self {
            spec: R::TABLE,
            columns: columns.map(empty).collect(),
        }
    }

    /// A table of these rows.
    pub fn of<R: Row>(rows: impl IntoIterator<Item = R>) -> Self {
        let rows = rows.into_iter();
        let mut table = Self::with_room::<R>(rows.size_hint().0);
        for row in rows {
            table.push(row);
        }
        table
    }

    /// Adds a row.
    ///
    /// # Panics
    /// If it is not of the kind that the table was made for: a programming error.
    #[inline]
    pub fn push<R: Row>(&mut self, row: R) {
        debug_assert_eq!(self.name(), R::TABLE.name, "a row of another table");
        row.add_to(&mut self.columns);
    }

    /// Its name in [`SCHEMA`](super::SCHEMA).
    pub fn name(&self) -> &'static str {
        self.spec.name
    }

    /// What a row is, and the columns.
    pub fn spec(&self) -> &TableSpec {
        &self.spec
    }

    /// The columns' values, in the order of the schema.
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The columns, with their names.
    pub fn named_columns(&self) -> impl Iterator<Item = (&'static str, &Column)> {
        let names = self.spec.columns.iter().map(|column| column.name);
        names.zip(&self.columns)
    }

    /// How many rows there are.
    pub fn rows(&self) -> usize {
        self.columns[0].len()
    }

    /// The column `name`.
    ///
    /// # Panics
    /// If there is none: a programming error.
    #[track_caller]
    pub fn column(&self, name: &str) -> &Column {
        let found = self.named_columns().find(|(known, _)| *known == name);
        let Some((_, column)) = found else {
            let known = self.spec.columns.iter().map(|column| column.name);
            let (table, hint) = (self.name(), near_and_known(name, known));
            panic!("`{table}` has no column `{name}`; {hint}");
        };
        column
    }

    /// The table as comma-separated values (RFC 4180 §2, but lines end with a line feed alone): a line of names, and one for each row. What is not known is empty.
    pub fn csv(&self) -> String {
        fn line(cells: impl Iterator<Item = String>) -> String {
            cells.map(quoted).collect::<Vec<_>>().join(",") + "\n"
        }
        let names = self.named_columns().map(|(name, _)| name.to_owned());
        let mut text = line(names);
        for row in 0..self.rows() {
            text += &line(self.columns.iter().map(|column| column.text(row)));
        }
        text
    }
}

/// A cell, in quotes where it needs them.
fn quoted(cell: String) -> String {
    if cell.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", cell.replace('"', "\"\""));
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::rows::EpisodeRow;

    #[test]
    #[should_panic(
        expected = "`episodes` has no column `flwo`; did you mean `flow`? known are flow, "
    )]
    fn a_column_that_is_not_there_is_told_with_those_that_are() {
        let _ = Table::new::<EpisodeRow>().column("flwo");
    }

    #[test]
    fn a_table_is_read_by_column_and_written_by_row() {
        let named = |flow: &str| EpisodeRow {
            flow: flow.into(),
            ..EpisodeRow::default()
        };
        let table = Table::of([named("one"), named("a \"b\", c")]);
        let flows = ["one", "a \"b\", c"].map(Text::from);
        assert_eq!(table.column("flow").texts(), flows);
        assert_eq!(table.column("flow").numbers(), []);
        let (name, numbers) = table.named_columns().nth(1).expect("a column");
        assert!(numbers.texts().is_empty(), "{name}");
        let text = table.csv();
        let mut lines = text.lines();
        assert!(lines.next().is_some_and(|names| names.starts_with("flow,")));
        assert!(lines.next().is_some_and(|row| row.starts_with("one,")));
        assert!(
            lines
                .next()
                .is_some_and(|row| row.starts_with("\"a \"\"b\"\", c\","))
        );
        assert_eq!(lines.next(), None);
    }
}
