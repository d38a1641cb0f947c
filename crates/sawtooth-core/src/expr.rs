//! Quantities ("20 ms", "100 Mbit/s") and arithmetic over them ("(i - 1) * D").
//!
//! Values are binary64 in base units: seconds, bits per second, bytes, packets, bandwidth-delay products. A literal is
//! converted by one multiplication or division, so that "586 ms" is exactly the double nearest to 0.586, and operations are
//! done as written, from left to right. Dimensions are checked; errors carry the place in the text.

use std::borrow::Cow;
use std::fmt;

/// What a quantity measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dimension {
    /// Without a unit.
    Number,
    /// In seconds.
    Time,
    /// In bits per second.
    Rate,
    /// In bytes: a kB is 1000 of them, a KiB 1024.
    Bytes,
    /// Packets of any size, or segments.
    Packets,
    /// Bandwidth-delay products of a path: only the size of a queue may be given so.
    Bdp,
}

impl fmt::Display for Dimension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Number => "a plain number",
            Self::Time => "a time",
            Self::Rate => "a rate",
            Self::Bytes => "a number of bytes",
            Self::Packets => "a number of packets",
            Self::Bdp => "a number of bandwidth-delay products",
        })
    }
}

impl Dimension {
    /// The word used in schemas and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Time => "time",
            Self::Rate => "rate",
            Self::Bytes => "bytes",
            Self::Packets => "packets",
            Self::Bdp => "bdp",
        }
    }
}

/// A value in base units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// In seconds, bits per second, bytes, packets or bandwidth-delay products, as `dimension` says.
    pub value: f64,
    /// What `value` is counted in; operations that mix dimensions are checked by it.
    pub dimension: Dimension,
}

impl Quantity {
    /// A value without a unit.
    pub const fn number(value: f64) -> Self {
        Self {
            value,
            dimension: Dimension::Number,
        }
    }
}

/// What is wrong with an expression, and where: characters `span.0..span.1` of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExprError {
    /// One clause without a full stop, for whoever wrote the expression.
    pub message: String,
    /// The first character and the one after the last; past the end of the text where something is missing there.
    pub span: (usize, usize),
    /// What may have been meant, or what is possible; `None` if there is nothing to suggest.
    pub hint: Option<String>,
}

/// Looks up a variable: `NAME`, or of a list `NAME[1]`, `NAME[2]` ...
pub trait Variables {
    /// `depth`: how deep the expression that asks is within others ([`evaluate_within`]).
    fn get(&self, name: &str, depth: usize) -> Option<Result<Quantity, String>>;
    /// All names, for suggestions.
    fn names(&self) -> Vec<String>;
}

impl Variables for () {
    fn get(&self, _name: &str, _depth: usize) -> Option<Result<Quantity, String>> {
        None
    }

    fn names(&self) -> Vec<String> {
        Vec::new()
    }
}

/// Units: name, dimension, and the factor to the base unit as (multiply, divide): one of them is 1.
pub const UNITS: &[(&str, Dimension, f64, f64)] = &[
    ("ns", Dimension::Time, 1.0, 1e9),
    ("us", Dimension::Time, 1.0, 1e6),
    ("µs", Dimension::Time, 1.0, 1e6),
    ("ms", Dimension::Time, 1.0, 1e3),
    ("s", Dimension::Time, 1.0, 1.0),
    ("min", Dimension::Time, 60.0, 1.0),
    ("h", Dimension::Time, 3600.0, 1.0),
    ("bit/s", Dimension::Rate, 1.0, 1.0),
    ("kbit/s", Dimension::Rate, 1e3, 1.0),
    ("Mbit/s", Dimension::Rate, 1e6, 1.0),
    ("Gbit/s", Dimension::Rate, 1e9, 1.0),
    ("Tbit/s", Dimension::Rate, 1e12, 1.0),
    ("Kibit/s", Dimension::Rate, 1024.0, 1.0),
    ("Mibit/s", Dimension::Rate, 1_048_576.0, 1.0),
    ("Gibit/s", Dimension::Rate, 1_073_741_824.0, 1.0),
    ("B/s", Dimension::Rate, 8.0, 1.0),
    ("kB/s", Dimension::Rate, 8e3, 1.0),
    ("MB/s", Dimension::Rate, 8e6, 1.0),
    ("GB/s", Dimension::Rate, 8e9, 1.0),
    ("K", Dimension::Rate, 1e3, 1.0),
    ("M", Dimension::Rate, 1e6, 1.0),
    ("G", Dimension::Rate, 1e9, 1.0),
    ("T", Dimension::Rate, 1e12, 1.0),
    ("B", Dimension::Bytes, 1.0, 1.0),
    ("kB", Dimension::Bytes, 1e3, 1.0),
    ("MB", Dimension::Bytes, 1e6, 1.0),
    ("GB", Dimension::Bytes, 1e9, 1.0),
    ("TB", Dimension::Bytes, 1e12, 1.0),
    ("KiB", Dimension::Bytes, 1024.0, 1.0),
    ("MiB", Dimension::Bytes, 1_048_576.0, 1.0),
    ("GiB", Dimension::Bytes, 1_073_741_824.0, 1.0),
    ("packet", Dimension::Packets, 1.0, 1.0),
    ("packets", Dimension::Packets, 1.0, 1.0),
    ("segment", Dimension::Packets, 1.0, 1.0),
    ("segments", Dimension::Packets, 1.0, 1.0),
    ("bdp", Dimension::Bdp, 1.0, 1.0),
];

const FUNCTIONS: &[&str] = &[
    "abs", "ceil", "exp", "floor", "log", "max", "min", "round", "sqrt",
];

/// Parentheses, signs, calls and variables within each other, at most: each is a few calls deep on the stack.
pub const DEEPEST: usize = 100;

/// Evaluates `text`.
pub fn evaluate(text: &str, variables: &dyn Variables) -> Result<Quantity, ExprError> {
    evaluate_within(text, variables, 0)
}

/// Evaluates `text` on behalf of another expression, which is `depth` deep itself.
pub fn evaluate_within(
    text: &str,
    variables: &dyn Variables,
    depth: usize,
) -> Result<Quantity, ExprError> {
    if let Some(found) = lone_name(text, variables, depth) {
        return Ok(found);
    }
    let mut chars = Vec::with_capacity(text.len());
    chars.extend(text.char_indices());
    let mut parser = Parser {
        text,
        chars,
        at: 0,
        depth,
        variables,
    };
    let value = parser.sum()?;
    parser.skip_space();
    if parser.at < parser.chars.len() {
        let found = parser.chars[parser.at].1;
        return Err(parser.error(
            TextSpan(parser.at, parser.at + 1),
            format!("unexpected `{found}`"),
            (found == ',').then(|| "numbers have a point: 0.5".to_owned()),
        ));
    }
    if !value.value.is_finite() {
        let all = TextSpan(0, parser.chars.len());
        return Err(parser.error(all, "the result is not a finite number".into(), None));
    }
    Ok(value)
}

/// The value of what is nothing but the name of a variable, as very many are. What is wrong with it is found as for all others.
fn lone_name(text: &str, variables: &dyn Variables, depth: usize) -> Option<Quantity> {
    let is_name = |c: u8| c.is_ascii_alphanumeric() || c == b'_';
    let begins = text.bytes().next().is_some_and(|c| !c.is_ascii_digit());
    if !begins || !text.bytes().all(is_name) || depth >= DEEPEST {
        return None;
    }
    let found = variables.get(text, depth + 1)?.ok()?;
    found.value.is_finite().then_some(found)
}

/// Characters of the text: the first, and one past the last.
#[derive(Clone, Copy)]
struct TextSpan(usize, usize);

struct Parser<'a> {
    text: &'a str,
    chars: Vec<(usize, char)>,
    at: usize,
    depth: usize,
    variables: &'a dyn Variables,
}

impl Parser<'_> {
    #[expect(clippy::unused_self, reason = "reads as the parser's error")]
    fn error(&self, span: TextSpan, message: String, hint: Option<String>) -> ExprError {
        ExprError {
            message,
            span: (span.0, span.1),
            hint,
        }
    }

    fn skip_space(&mut self) {
        while self.peek().is_some_and(char::is_whitespace) {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<char> {
        self.chars.get(self.at).map(|(_, c)| *c)
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip_space();
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn slice(&self, from: usize, to: usize) -> &str {
        let byte = |at: usize| {
            self.chars
                .get(at)
                .map_or(self.text.len(), |(byte, _)| *byte)
        };
        &self.text[byte(from)..byte(to)]
    }

    fn sum(&mut self) -> Result<Quantity, ExprError> {
        self.skip_space();
        let start = self.at;
        let mut left = self.product()?;
        loop {
            let plus = self.take('+');
            if !plus && !self.take('-') {
                return Ok(left);
            }
            let right = self.product()?;
            if left.dimension != right.dimension {
                let verb = if plus { "add" } else { "subtract" };
                let message = format!("cannot {verb} {} and {}", left.dimension, right.dimension);
                return Err(self.error(TextSpan(start, self.at), message, None));
            }
            left.value = if plus {
                left.value + right.value
            } else {
                left.value - right.value
            };
        }
    }

    fn product(&mut self) -> Result<Quantity, ExprError> {
        self.skip_space();
        let start = self.at;
        let mut left = self.unary()?;
        loop {
            self.skip_space();
            let Some(operator @ ('*' | '/' | '%')) = self.peek() else {
                return Ok(left);
            };
            self.at += 1;
            self.skip_space();
            let right_start = self.at;
            let last = self.peek().is_none();
            let right = self.unary().map_err(|error| match (operator, last) {
                ('%', true) => ExprError {
                    hint: Some("per cent are written as a share: 0.02 is 2 %".into()),
                    ..error
                },
                _ => error,
            })?;
            if operator != '*' && right.value == 0.0 {
                let what = self.slice(right_start, self.at).trim().to_owned();
                let message = if what.parse::<f64>().is_ok() {
                    "division by zero".to_owned()
                } else {
                    format!("division by zero: `{what}` is 0")
                };
                return Err(self.error(TextSpan(right_start, self.at), message, None));
            }
            left = combine(operator, left, right)
                .map_err(|message| self.error(TextSpan(start, self.at), message, None))?;
        }
    }

    /// Everything that nests comes through here.
    fn unary(&mut self) -> Result<Quantity, ExprError> {
        if self.depth == DEEPEST {
            let message = format!("nested too deeply: expressions go {DEEPEST} deep at most");
            let hint = "give a part of it a name, under vars".to_owned();
            return Err(self.error(TextSpan(self.at, self.at + 1), message, Some(hint)));
        }
        self.depth += 1;
        let value = self.signed();
        self.depth -= 1;
        value
    }

    fn signed(&mut self) -> Result<Quantity, ExprError> {
        if self.take('-') {
            let value = self.unary()?;
            return Ok(Quantity {
                value: -value.value,
                ..value
            });
        }
        if self.take('+') {
            return self.unary();
        }
        self.atom()
    }

    fn atom(&mut self) -> Result<Quantity, ExprError> {
        self.skip_space();
        let start = self.at;
        match self.peek() {
            None => Err(self.error(
                TextSpan(start, start + 1),
                "the expression ends where a value was expected".into(),
                None,
            )),
            Some('(') => {
                self.at += 1;
                let value = self.sum()?;
                if !self.take(')') {
                    return Err(self.error(
                        TextSpan(start, start + 1),
                        "this parenthesis is not closed".into(),
                        None,
                    ));
                }
                Ok(value)
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.literal(),
            Some(c) if c.is_alphabetic() || c == '_' => self.name(),
            Some(c) => Err(self.error(
                TextSpan(start, start + 1),
                format!("unexpected `{c}`"),
                None,
            )),
        }
    }

    fn literal(&mut self) -> Result<Quantity, ExprError> {
        let start = self.at;
        while self
            .peek()
            .is_some_and(|c| c.is_ascii_digit() || c == '.' || c == '_')
        {
            self.at += 1;
        }
        // An exponent, but not a unit that happens to begin with e.
        if matches!(self.peek(), Some('e' | 'E')) {
            let sign = usize::from(matches!(self.chars.get(self.at + 1), Some((_, '+' | '-'))));
            if self
                .chars
                .get(self.at + 1 + sign)
                .is_some_and(|(_, c)| c.is_ascii_digit())
            {
                self.at += 1 + sign;
                while self.peek().is_some_and(|c| c.is_ascii_digit()) {
                    self.at += 1;
                }
            }
        }
        let digits = self.slice(start, self.at);
        let digits = if digits.contains('_') {
            Cow::Owned(digits.replace('_', ""))
        } else {
            Cow::Borrowed(digits)
        };
        let Ok(value) = digits.parse::<f64>() else {
            return Err(self.error(
                TextSpan(start, self.at),
                format!("`{digits}` is not a number"),
                None,
            ));
        };
        let number_end = self.at;
        self.skip_space();
        let unit_start = self.at;
        if !self.peek().is_some_and(char::is_alphabetic) {
            self.at = number_end;
            return Ok(Quantity::number(value));
        }
        while self.peek().is_some_and(char::is_alphabetic) {
            self.at += 1;
        }
        // A rate's "/s" belongs to the unit.
        if self.peek() == Some('/')
            && matches!(self.chars.get(self.at + 1), Some((_, 's')))
            && !self
                .chars
                .get(self.at + 2)
                .is_some_and(|(_, c)| c.is_alphanumeric() || *c == '_')
        {
            self.at += 2;
        }
        let unit = self.slice(unit_start, self.at);
        let Some(&(_, dimension, multiply, divide)) = UNITS.iter().find(|(name, ..)| *name == unit)
        else {
            let hint = unit_hint(unit);
            let message = format!("unknown unit `{unit}`");
            return Err(self.error(TextSpan(unit_start, self.at), message, Some(hint)));
        };
        let value = if divide == 1.0 {
            value * multiply
        } else {
            value / divide
        };
        Ok(Quantity { value, dimension })
    }

    fn name(&mut self) -> Result<Quantity, ExprError> {
        let start = self.at;
        while self.peek().is_some_and(|c| c.is_alphanumeric() || c == '_') {
            self.at += 1;
        }
        let end = self.at;
        let name = self.slice(start, end).to_owned();
        if self.take('(') {
            return self.call(&name, TextSpan(start, end));
        }
        let (found, end) = if self.take('[') {
            let index = self.index(end)?;
            (
                self.variables.get(&format!("{name}[{index}]"), self.depth),
                self.at,
            )
        } else {
            (self.variables.get(&name, self.depth), end)
        };
        match found {
            Some(Ok(value)) => Ok(value),
            Some(Err(message)) => Err(self.error(TextSpan(start, end), message, None)),
            None => {
                let names = self.variables.names();
                let hint = match crate::registry::suggest(&name, names.iter().map(String::as_str)) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None if names.is_empty() => "there are no variables here".to_owned(),
                    None => format!("known here: {}", names.join(", ")),
                };
                Err(self.error(
                    TextSpan(start, end),
                    format!("unknown variable `{name}`"),
                    Some(hint),
                ))
            }
        }
    }

    /// What stands between the brackets of `NAME[...]`, the opening one of which was just taken.
    fn index(&mut self, bracket: usize) -> Result<f64, ExprError> {
        self.skip_space();
        let start = self.at;
        let index = self.sum()?;
        let end = self.at;
        if !self.take(']') {
            let message = "this bracket is not closed".to_owned();
            return Err(self.error(TextSpan(bracket, bracket + 1), message, None));
        }
        if index.dimension != Dimension::Number || index.value.fract() != 0.0 || index.value < 1.0 {
            let message = "the items of a list are numbered 1, 2, ...".to_owned();
            return Err(self.error(TextSpan(start, end), message, None));
        }
        Ok(index.value)
    }

    fn call(&mut self, name: &str, span: TextSpan) -> Result<Quantity, ExprError> {
        if !FUNCTIONS.contains(&name) {
            let hint = format!("functions are {}", FUNCTIONS.join(", "));
            return Err(self.error(span, format!("unknown function `{name}`"), Some(hint)));
        }
        let mut arguments = vec![self.sum()?];
        while self.take(',') {
            arguments.push(self.sum()?);
        }
        let whole = TextSpan(span.0, self.at + 1);
        if !self.take(')') {
            return Err(self.error(
                span,
                format!("the parenthesis of `{name}` is not closed"),
                None,
            ));
        }
        let first = arguments[0];
        let number = |value| Ok(Quantity { value, ..first });
        match (name, arguments.len()) {
            ("min" | "max", _) => {
                if arguments
                    .iter()
                    .any(|argument| argument.dimension != first.dimension)
                {
                    return Err(self.error(
                        whole,
                        format!("`{name}` needs arguments of one kind"),
                        None,
                    ));
                }
                let values = arguments.iter().map(|argument| argument.value);
                number(if name == "min" {
                    values.fold(f64::INFINITY, f64::min)
                } else {
                    values.fold(f64::NEG_INFINITY, f64::max)
                })
            }
            (_, count) if count != 1 => Err(self.error(
                whole,
                format!("`{name}` takes one argument, found {count}"),
                None,
            )),
            ("abs", _) => number(first.value.abs()),
            ("floor", _) => number(libm::floor(first.value)),
            ("ceil", _) => number(libm::ceil(first.value)),
            ("round", _) => number(libm::round(first.value)),
            (_, _) if first.dimension != Dimension::Number => Err(self.error(
                whole,
                format!("`{name}` takes a plain number, found {}", first.dimension),
                None,
            )),
            ("sqrt", _) if first.value < 0.0 => {
                Err(self.error(whole, "square root of a negative number".into(), None))
            }
            ("log", _) if first.value <= 0.0 => Err(self.error(
                whole,
                "logarithm of a number that is not positive".into(),
                None,
            )),
            ("sqrt", _) => number(libm::sqrt(first.value)),
            ("log", _) => number(libm::log(first.value)),
            _ => number(libm::exp(first.value)),
        }
    }
}

/// Multiplication, division and remainder with their dimensions.
fn combine(operator: char, left: Quantity, right: Quantity) -> Result<Quantity, String> {
    use Dimension::{Bytes, Number, Rate, Time};
    let (a, b) = (left.value, right.value);
    let (value, dimension) = match (operator, left.dimension, right.dimension) {
        ('*', Number, other) | ('*', other, Number) => (a * b, other),
        ('*', Rate, Time) | ('*', Time, Rate) => (a * b / 8.0, Bytes),
        ('/', other, Number) => (a / b, other),
        ('/', Bytes, Rate) => (a * 8.0 / b, Time),
        ('/', Bytes, Time) => (a * 8.0 / b, Rate),
        ('/', x, y) if x == y => (a / b, Number),
        ('%', x, y) if x == y => (libm::fmod(a, b), x),
        (_, x, y) => {
            let verb = match operator {
                '*' => "multiply",
                '/' => "divide",
                _ => "take the remainder of",
            };
            return Err(format!("cannot {verb} {x} and {y}"));
        }
    };
    Ok(Quantity { value, dimension })
}

fn unit_hint(unit: &str) -> String {
    // Two are none of a quantity by itself: what they come to depends on the link.
    let names = || {
        UNITS
            .iter()
            .map(|(name, ..)| *name)
            .chain(["packets", "bdp"])
    };
    // `m` is no million, and `Mb/s` are bits. Else a slip of case is the first suspect: case matters in units (b is no B).
    let meant = [
        (unit == "m").then(|| "min".to_owned()),
        unit.strip_suffix("b/s")
            .map(|prefix| format!("{prefix}bit/s")),
        Some(unit.to_owned()),
        Some(unit.to_lowercase().replace("bps", "bit/s")),
    ];
    let written = meant.iter().flatten();
    let near = written.map(|meant| names().find(|name| name.eq_ignore_ascii_case(meant)));
    match near.flatten().next().or_else(|| crate::registry::suggest(unit, names())) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "units are ns us ms s min h, bit/s kbit/s Mbit/s Gbit/s B/s kB/s MB/s, B kB MB KiB MiB, packets, bdp".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Vars;

    impl Variables for Vars {
        fn get(&self, name: &str, _depth: usize) -> Option<Result<Quantity, String>> {
            let quantity = |value, dimension| Some(Ok(Quantity { value, dimension }));
            match name {
                "S" => quantity(0.586, Dimension::Time),
                "N" => quantity(2.0, Dimension::Number),
                "i" => quantity(3.0, Dimension::Number),
                "zero" => quantity(0.0, Dimension::Number),
                "Bw" => quantity(1e6, Dimension::Rate),
                _ => None,
            }
        }

        fn names(&self) -> Vec<String> {
            ["S", "N", "i", "zero", "Bw"].map(String::from).into()
        }
    }

    #[test]
    fn a_lone_name_is_what_it_is_in_parentheses() {
        for name in [
            "S", "N", "i", "zero", "Bw", "", "s", "n2", "_", "2", "min", "S S",
        ] {
            let alone = evaluate(name, &Vars);
            let within = evaluate(&format!("({name})"), &Vars);
            assert_eq!(alone.is_ok(), within.is_ok(), "{name}");
            if alone.is_ok() {
                assert_eq!(alone, within);
            }
        }
        assert!(evaluate_within("S", &Vars, DEEPEST - 1).is_ok());
        assert!(evaluate_within("S", &Vars, DEEPEST).is_err());
    }

    #[test]
    fn what_nests_too_deeply_is_refused_where_it_does_and_no_stack_overflows() {
        for (text, at) in [
            ("-".repeat(50_000) + "1", DEEPEST),
            ("(".repeat(50_000) + "1" + &")".repeat(50_000), DEEPEST),
            ("sqrt(".repeat(50_000), 5 * DEEPEST),
        ] {
            let error = evaluate(&text, &Vars).expect_err("too deep");
            let message = "nested too deeply: expressions go 100 deep at most";
            assert_eq!((error.message.as_str(), error.span.0), (message, at));
        }
        assert_eq!(value(&("-".repeat(98) + "1")), 1.0);
        // One after the other is not within each other.
        assert_eq!(value(&("1 + ".repeat(50_000) + "1")), 50_001.0);
    }

    fn value(text: &str) -> f64 {
        evaluate(text, &Vars)
            .unwrap_or_else(|error| panic!("{text}: {error:?}"))
            .value
    }

    fn message(text: &str) -> String {
        let error = evaluate(text, &Vars).expect_err(text);
        let marked: String = text
            .chars()
            .skip(error.span.0)
            .take(error.span.1 - error.span.0)
            .collect();
        format!(
            "{} [{marked}] {}",
            error.message,
            error.hint.unwrap_or_default()
        )
    }

    #[test]
    fn literals_are_the_nearest_doubles() {
        assert_eq!(value("586 ms"), 0.586);
        assert_eq!(value("250 us"), 0.000_25);
        assert_eq!(value("102400 kbit/s"), 102_400e3);
        assert_eq!(value("1.5 MB/s"), 12e6);
        assert_eq!(value("64 KiB"), 65536.0);
        assert_eq!(value("10M"), 1e7);
        assert_eq!(value("1e3"), 1000.0);
        assert_eq!(value("2e-3 s"), 0.002);
    }

    #[test]
    fn arithmetic_is_done_as_written() {
        assert_eq!(value("(S / N) * i"), 0.586 / 2.0 * 3.0);
        assert_eq!(value("(i - 1) * 100 ms"), 2.0 * 0.1);
        assert_eq!(value("-2 - -3"), 1.0);
        assert_eq!(value("7 % 4 + max(1, i, 2)"), 6.0);
        assert_eq!(value("Bw * 80 ms"), 10_000.0);
        assert_eq!(value("1250 B / Bw"), 0.01);
        assert_eq!(value("floor(2.9) + sqrt(16)"), 6.0);
    }

    #[test]
    fn errors_say_what_is_wrong_and_where() {
        assert_eq!(
            message("S / (N - 2)"),
            "division by zero: `(N - 2)` is 0 [(N - 2)] "
        );
        assert_eq!(message("S / zero"), "division by zero: `zero` is 0 [zero] ");
        assert_eq!(
            message("S + N"),
            "cannot add a time and a plain number [S + N] "
        );
        assert_eq!(
            message("10 mbit/s"),
            "unknown unit `mbit/s` [mbit/s] did you mean `Mbit/s`?"
        );
        assert_eq!(
            message("10 Mbps"),
            "unknown unit `Mbps` [Mbps] did you mean `Mbit/s`?"
        );
        assert_eq!(
            message("10 Mb/s"),
            "unknown unit `Mb/s` [Mb/s] did you mean `Mbit/s`?"
        );
        assert_eq!(
            message("8 bpd"),
            "unknown unit `bpd` [bpd] did you mean `bdp`?"
        );
        assert_eq!(message("1 m"), "unknown unit `m` [m] did you mean `min`?");
        assert_eq!(
            message("bw * 2"),
            "unknown variable `bw` [bw] did you mean `Bw`?"
        );
        assert_eq!(
            message("2 *"),
            "the expression ends where a value was expected [] "
        );
        assert_eq!(message("(1 + 2"), "this parenthesis is not closed [(] ");
        assert_eq!(message("1 ! 2"), "unexpected `!` [!] ");
        assert_eq!(
            message("sine(1)"),
            "unknown function `sine` [sine] functions are abs, ceil, exp, floor, log, max, min, round, sqrt"
        );
        assert_eq!(
            message("Bw * Bw"),
            "cannot multiply a rate and a rate [Bw * Bw] "
        );
    }
}
