//! A table that is filled row by row and kept column by column.

/// The type of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    U64,
    I64,
    F64,
    Str,
}

/// One column: its name carries the unit where there is one.
#[derive(Clone, Copy, Debug)]
pub struct ColumnSpec {
    pub name: &'static str,
    pub unit: &'static str,
    pub summary: &'static str,
    pub kind: Type,
}

/// One table: what a row is, and its columns.
#[derive(Clone, Copy, Debug)]
pub struct TableSpec {
    pub name: &'static str,
    pub summary: &'static str,
    pub columns: &'static [ColumnSpec],
}

/// A row of a table: a struct whose fields are its columns ([`super::rows`]).
pub trait Row {
    /// The table that it is of.
    const TABLE: TableSpec;

    /// Adds its values to the table's columns, one to each.
    fn add_to(self, columns: &mut [Data]);
}

/// A column's values.
#[derive(Clone, Debug, PartialEq)]
pub enum Data {
    U64(Vec<u64>),
    I64(Vec<i64>),
    F64(Vec<f64>),
    Str(Vec<String>),
}

impl Data {
    const fn empty(kind: Type) -> Self {
        match kind {
            Type::U64 => Self::U64(Vec::new()),
            Type::I64 => Self::I64(Vec::new()),
            Type::F64 => Self::F64(Vec::new()),
            Type::Str => Self::Str(Vec::new()),
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::U64(values) => values.len(),
            Self::I64(values) => values.len(),
            Self::F64(values) => values.len(),
            Self::Str(values) => values.len(),
        }
    }
}

/// What a field of a row may be.
pub(super) trait Value {
    const KIND: Type;

    fn add_to(self, column: &mut Data);
}

macro_rules! value {
    ($of:ty, $kind:ident, $this:ident => $stored:expr) => {
        impl Value for $of {
            const KIND: Type = Type::$kind;

            #[inline]
            fn add_to(self, column: &mut Data) {
                let $this = self;
                match column {
                    Data::$kind(values) => values.push($stored),
                    other => unreachable!("a column is of its field's type, not {other:?}"),
                }
            }
        }
    };
}

value!(u64, U64, this => this);
value!(i64, I64, this => this);
value!(f64, F64, this => this);
value!(String, Str, this => this);
// What is not known is -1.
value!(Option<i64>, I64, this => this.unwrap_or(-1));
value!(Option<f64>, F64, this => this.unwrap_or(-1.0));

/// Rows of one kind.
#[derive(Clone, Debug)]
pub struct Table {
    spec: TableSpec,
    columns: Vec<Data>,
}

impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name() && self.columns == other.columns
    }
}

impl Table {
    /// A table of such rows, with none yet.
    pub fn new<R: Row>() -> Self {
        let columns = R::TABLE.columns.iter();
        Self {
            spec: R::TABLE,
            columns: columns.map(|column| Data::empty(column.kind)).collect(),
        }
    }

    /// A table of these rows.
    pub fn of<R: Row>(rows: impl IntoIterator<Item = R>) -> Self {
        let mut table = Self::new::<R>();
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

    pub fn name(&self) -> &'static str {
        self.spec.name
    }

    /// The columns' values, in the order of the schema.
    pub fn columns(&self) -> &[Data] {
        &self.columns
    }

    /// The columns, with their names.
    pub fn named_columns(&self) -> impl Iterator<Item = (&'static str, &Data)> {
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
    pub fn column(&self, name: &str) -> &Data {
        let found = self.named_columns().find(|(known, _)| *known == name);
        found.map_or_else(
            || panic!("no column {name} in {}", self.name()),
            |(_, data)| data,
        )
    }
}
