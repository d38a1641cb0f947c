//! Columns of what a run has measured, as plain lists.

use sawtooth_core::record::{Column, Records, Table};

/// The table of that name, which is there.
pub fn table<'a>(records: &'a Records, name: &str) -> &'a Table {
    records
        .table(name)
        .unwrap_or_else(|| panic!("no table {name}"))
}

/// Whole numbers; one that is unknown is -1 here, which none can be.
pub fn wholes(records: &Records, name: &str, column: &str) -> Vec<i64> {
    wholes_of(table(records, name), column)
}

/// The same of a table.
pub fn wholes_of(table: &Table, column: &str) -> Vec<i64> {
    match table.column(column) {
        Column::I64(values) => values.clone(),
        Column::OptI64(values) => values.iter().map(|value| value.unwrap_or(-1)).collect(),
        Column::U64(values) => values.iter().map(|value| value.cast_signed()).collect(),
        Column::OptU64(values) => {
            let signed = |value: &Option<u64>| value.map_or(-1, u64::cast_signed);
            values.iter().map(signed).collect()
        }
        other => panic!("{column} has no whole numbers: {other:?}"),
    }
}

/// Counts of the rows that have one: those of flows of UDP, which come last, may have none.
pub fn counts(records: &Records, name: &str, column: &str) -> Vec<u64> {
    let all = wholes(records, name, column);
    all.into_iter()
        .filter_map(|value| u64::try_from(value).ok())
        .collect()
}

/// Numbers of any kind, of the rows that have one.
pub fn numbers(records: &Records, name: &str, column: &str) -> Vec<f64> {
    let all = table(records, name).column(column).numbers();
    assert!(!all.is_empty(), "{column} has no numbers");
    all.into_iter().flatten().collect()
}

/// The number of the first row; one that is unknown is -1.
pub fn first(records: &Records, name: &str, column: &str) -> f64 {
    let all = table(records, name).column(column).numbers();
    all[0].unwrap_or(-1.0)
}

pub fn words(records: &Records, name: &str, column: &str) -> Vec<String> {
    words_of(table(records, name), column)
}

/// The same of a table.
pub fn words_of(table: &Table, column: &str) -> Vec<String> {
    match table.column(column) {
        Column::Str(values) => values.iter().map(ToString::to_string).collect(),
        other => panic!("{column} has no words: {other:?}"),
    }
}
