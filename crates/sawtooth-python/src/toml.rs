//! TOML with the place of every key and value, so that an error can point at what it is about.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::{Map, Value as Json};
use toml_edit::{Document, Item, Value};
use toml_parser::lexer::TokenKind;

/// First line, first column, last line, column after the last; all from 1, in characters.
pub type TextPlace = (usize, usize, usize, usize);

/// A parsed text.
pub struct Parsed {
    pub tree: Json,
    /// Places of values under their path (`flows[0].cc.name`), of keys under `path#key`.
    pub spans: Vec<(String, TextPlace)>,
}

/// Why a text is no TOML.
pub struct ParseError {
    pub message: String,
    pub hint: Option<&'static str>,
    pub span: TextPlace,
}

/// Tables and lists within each other, at most: whoever walks a tree does so by recursion, and a study needs a tenth of it.
const DEEPEST: usize = 64;

pub fn parse(text: &str) -> Result<Parsed, ParseError> {
    let lines = Lines::new(text);
    if let Some(bracket) = too_deep(text) {
        return Err(ParseError {
            message: nested_too_deeply(),
            hint: None,
            span: lines.place(bracket..bracket + 1),
        });
    }
    let document = Document::parse(text.to_owned()).map_err(|error| ParseError {
        message: error.message().replace('\n', "; "),
        hint: what_to_do(error.message()),
        span: lines.place(error.span().unwrap_or(0..0)),
    })?;
    let mut reader = TomlReader {
        lines,
        spans: Vec::new(),
        depth: 0,
        error: None,
    };
    let tree = reader.table(document.as_table().iter(), "", |key| {
        document.as_table().key(key).and_then(toml_edit::Key::span)
    });
    match reader.error {
        Some(error) => Err(error),
        None => Ok(Parsed {
            tree,
            spans: reader.spans,
        }),
    }
}

/// Of what the parser says of numbers: the rest says what is expected.
fn what_to_do(message: &str) -> Option<&'static str> {
    match message {
        "integer number overflowed" => Some(
            "whole numbers are from -2^63 to 2^63 - 1; a larger one is written with a point or an exponent, such as 1e20",
        ),
        "floating-point number overflowed" => Some("numbers are below 1.8e308"),
        _ => None,
    }
}

fn nested_too_deeply() -> String {
    format!("nested too deeply: tables and lists go {DEEPEST} deep at most")
}

/// Where brackets are open that are too many: the parser goes as deep as its input.
fn too_deep(text: &str) -> Option<usize> {
    let mut open = 0_usize;
    for token in toml_parser::Source::new(text).lex() {
        match token.kind() {
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => open += 1,
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                open = open.saturating_sub(1);
            }
            _ => {}
        }
        if open > DEEPEST {
            return Some(token.span().start());
        }
    }
    None
}

pub fn spans_to_python<'py>(
    py: Python<'py>,
    spans: &[(String, TextPlace)],
) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    for (path, place) in spans {
        dict.set_item(path, *place)?;
    }
    Ok(dict)
}

/// Byte offsets to lines and columns.
struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a str) -> Self {
        let starts = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        Self { text, starts }
    }

    fn place(&self, bytes: std::ops::Range<usize>) -> TextPlace {
        let position = |byte: usize| {
            let byte = byte.min(self.text.len());
            let line = self.starts.partition_point(|start| *start <= byte);
            (
                line,
                self.text[self.starts[line - 1]..byte].chars().count() + 1,
            )
        };
        let (start, end) = (position(bytes.start), position(bytes.end));
        (start.0, start.1, end.0, end.1)
    }
}

struct TomlReader<'a> {
    lines: Lines<'a>,
    spans: Vec<(String, TextPlace)>,
    /// Tables and lists that the present value is in.
    depth: usize,
    error: Option<ParseError>,
}

impl TomlReader<'_> {
    /// A table or a list, one deeper; nothing if that is too deep.
    fn deeper(
        &mut self,
        span: Option<std::ops::Range<usize>>,
        read: impl FnOnce(&mut Self) -> Json,
    ) -> Json {
        if self.depth == DEEPEST {
            let span = self.lines.place(span.unwrap_or(0..0));
            self.error.get_or_insert(ParseError {
                message: nested_too_deeply(),
                hint: None,
                span,
            });
            return Json::Null;
        }
        self.depth += 1;
        let json = read(self);
        self.depth -= 1;
        json
    }

    fn note(&mut self, path: &str, span: Option<std::ops::Range<usize>>) {
        if let Some(span) = span {
            let place = self.lines.place(span);
            self.spans.push((path.to_owned(), place));
        }
    }

    fn table<'i>(
        &mut self,
        items: impl Iterator<Item = (&'i str, &'i Item)>,
        path: &str,
        key_span: impl Fn(&str) -> Option<std::ops::Range<usize>>,
    ) -> Json {
        let mut tree = Map::new();
        for (key, item) in items {
            let path = join(path, key);
            self.note(&format!("{path}#key"), key_span(key));
            self.note(&path, item.span());
            let span = item.span().or_else(|| key_span(key));
            let json = self.deeper(span, |reader| reader.item(item, &path));
            tree.insert(key.to_owned(), json);
        }
        Json::Object(tree)
    }

    fn item(&mut self, item: &Item, path: &str) -> Json {
        match item {
            Item::None => Json::Null,
            Item::Value(value) => self.value(value, path),
            Item::Table(table) => self.table(table.iter(), path, |key| {
                table.key(key).and_then(toml_edit::Key::span)
            }),
            Item::ArrayOfTables(tables) => {
                let mut list = Vec::new();
                for (index, table) in tables.iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    self.note(&path, table.span());
                    list.push(self.table(table.iter(), &path, |key| {
                        table.key(key).and_then(toml_edit::Key::span)
                    }));
                }
                Json::Array(list)
            }
        }
    }

    /// What TOML has, and no study.
    fn useless(&mut self, value: &Value, message: &str) -> Json {
        let span = self.lines.place(value.span().unwrap_or(0..0));
        self.error.get_or_insert(ParseError {
            message: message.into(),
            hint: None,
            span,
        });
        Json::Null
    }

    fn value(&mut self, value: &Value, path: &str) -> Json {
        match value {
            Value::String(text) => Json::String(text.value().clone()),
            Value::Integer(integer) => Json::from(*integer.value()),
            Value::Float(float) if float.value().is_finite() => Json::from(*float.value()),
            Value::Float(_) => {
                self.useless(value, "a study has no use for what is no finite number")
            }
            Value::Boolean(flag) => Json::Bool(*flag.value()),
            Value::Datetime(_) => self.useless(value, "a study has no use for a date"),
            Value::Array(items) => {
                let mut list = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    let path = format!("{path}[{index}]");
                    self.note(&path, item.span());
                    list.push(self.deeper(item.span(), |reader| reader.value(item, &path)));
                }
                Json::Array(list)
            }
            Value::InlineTable(table) => {
                let mut tree = Map::new();
                for (key, item) in table {
                    let path = join(path, key);
                    self.note(
                        &format!("{path}#key"),
                        table.key(key).and_then(toml_edit::Key::span),
                    );
                    self.note(&path, item.span());
                    let json = self.deeper(item.span(), |reader| reader.value(item, &path));
                    tree.insert(key.to_owned(), json);
                }
                Json::Object(tree)
            }
        }
    }
}

/// A key that holds dots is quoted in a path, as in TOML.
fn join(path: &str, key: &str) -> String {
    let key = if key.contains('.') {
        format!("\"{key}\"")
    } else {
        key.to_owned()
    };
    if path.is_empty() {
        key
    } else {
        format!("{path}.{key}")
    }
}
