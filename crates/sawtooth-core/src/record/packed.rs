//! Columns as bytes, for those who read them in another language: columns of several runs, one below the other.

use std::collections::BTreeMap;

use super::{Column, Text};

const SIZE: usize = size_of::<u64>();

/// Writes the numbers of columns of one type, eight little-endian bytes each; 0 where one is not known.
pub fn numbers(columns: &[&Column], bytes: &mut [u8]) {
    each(columns, bytes, SIZE, |column, places| match column {
        Column::U64(values) => write(places, values, |value| value.to_le_bytes()),
        Column::I64(values) => write(places, values, |value| value.to_le_bytes()),
        Column::F64(values) => write(places, values, |value| value.to_le_bytes()),
        Column::OptU64(values) => write(places, values, |value| {
            value.unwrap_or_default().to_le_bytes()
        }),
        Column::OptI64(values) => write(places, values, |value| {
            value.unwrap_or_default().to_le_bytes()
        }),
        Column::OptF64(values) => write(places, values, |value| {
            value.unwrap_or_default().to_le_bytes()
        }),
        Column::Str(_) => unreachable!("texts are no numbers"),
    });
}

/// Writes of columns of one type whether each number is known, a byte each.
pub fn known(columns: &[&Column], bytes: &mut [u8]) {
    each(columns, bytes, 1, |column, places| match column {
        Column::OptU64(values) => write(places, values, |value| [u8::from(value.is_some())]),
        Column::OptI64(values) => write(places, values, |value| [u8::from(value.is_some())]),
        Column::OptF64(values) => write(places, values, |value| [u8::from(value.is_some())]),
        _ => places.fill(1),
    });
}

/// Of columns of texts those that there are, and of each row which of them it has, four little-endian bytes each.
pub fn told_apart<'a>(columns: &[&'a Column]) -> (Vec<&'a str>, Vec<u8>) {
    let rows = columns.iter().map(|column| column.len()).sum();
    let mut places: BTreeMap<&str, u32> = BTreeMap::new();
    let (mut texts, mut which) = (Vec::new(), Vec::with_capacity(rows));
    let mut before: &[Text] = &[];
    for column in columns {
        let part = column.texts();
        let first = which.len() - before.len();
        for (row, text) in part.iter().enumerate() {
            // Rows of one thing follow each other, and share its name.
            if row > 0 && Text::ptr_eq(text, &part[row - 1]) {
                which.push(which[which.len() - 1]);
                continue;
            }
            // Runs are mostly of the same flows and links as the run before.
            if before.get(row) == Some(text) {
                which.push(which[first + row]);
                continue;
            }
            let next = u32::try_from(texts.len()).expect("texts of records fit into memory");
            let place = *places.entry(text).or_insert(next);
            if place == next {
                texts.push(&**text);
            }
            which.push(place);
        }
        before = part;
    }
    let mut bytes = vec![0; which.len() * size_of::<u32>()];
    write(&mut bytes, &which, |place| place.to_le_bytes());
    (texts, bytes)
}

/// Column by column, which is several times as fast as number by number.
fn each(columns: &[&Column], bytes: &mut [u8], size: usize, fill: impl Fn(&Column, &mut [u8])) {
    let mut rest = bytes;
    for column in columns {
        let (places, others) = rest.split_at_mut(column.len() * size);
        fill(column, places);
        rest = others;
    }
}

fn write<T, const SIZE: usize>(
    places: &mut [u8],
    values: &[T],
    number_of: impl Fn(&T) -> [u8; SIZE],
) {
    for (place, value) in places.chunks_exact_mut(SIZE).zip(values) {
        place.copy_from_slice(&number_of(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_its_text_whether_rows_share_it_or_not() {
        let [one, other] = ["one", "other"].map(Text::from);
        let parts = [
            vec![one.clone(), one.clone(), other.clone(), "one".into()],
            vec!["one".into(), "third".into(), "third".into()],
            Vec::new(),
            vec![other],
        ];
        let columns: Vec<Column> = parts.iter().cloned().map(Column::Str).collect();
        let (texts, which) = told_apart(&columns.iter().collect::<Vec<_>>());
        assert_eq!(texts, ["one", "other", "third"]);
        let places = which.chunks_exact(4).map(|place| usize::from(place[0]));
        let found: Vec<&str> = places.map(|place| texts[place]).collect();
        let wanted: Vec<&str> = parts.iter().flatten().map(|text| &**text).collect();
        assert_eq!(found, wanted);
    }
}
