//! What a row of the table says of a parameter besides its name and meaning, in the words in which it says it.
//!
//! ```text
//! flag(false)                                               true or false
//! choice("first")                                           one of the words of its type
//! integer(3, 1, 1000), number(2.0, 0.01, 10.0)              within bounds, both included
//! bytes(1460), packets(2)
//! duration(0.2), positive_duration(0.001)                   seconds
//! unset(Kind::Bytes)                                        anything, or nothing, which is the default
//!
//! .read_by(FACK_OR_RACK)                                    elsewhere it has no effect, and who writes it is warned
//! .kernel("TCP_WINDOW_CLAMP of the receiver")               can be set in a real kernel, in this way
//! .kernel("initcwnd of the route").shared()                 alike for all connections between two hosts
//! .kernel("TCP_NODELAY").lacks(&["nagle"])                  but for these of its words
//! ```

use std::marker::PhantomData;

use crate::registry::{Kind, Param, Value, Words};
use crate::units::{ByteCount, Duration, SegCount};

/// One row: all that there is to say of a parameter of TCP.
#[derive(Clone, Copy, Debug)]
pub struct TcpParam {
    /// Its name, meaning, kind and default.
    pub param: Param,
    /// Nothing where it always has an effect.
    pub read_by: Option<ReadBy>,
    /// Nothing where a real kernel has its own ways.
    pub kernel: Option<KernelKey>,
}

/// The words of another parameter with which one has an effect.
#[derive(Clone, Copy, Debug)]
pub struct ReadBy {
    /// The name of that other parameter, whose value is a word.
    pub choice: &'static str,
    /// The words with which this one has an effect.
    pub words: &'static [&'static str],
}

/// How a parameter is set in a real kernel.
#[derive(Clone, Copy, Debug)]
pub struct KernelKey {
    /// The socket option, sysctl or route attribute that sets it.
    pub how: &'static str,
    /// Whether it holds for all connections between two hosts.
    pub shared: bool,
    /// Words that no kernel knows.
    pub unknown: &'static [&'static str],
}

impl TcpParam {
    /// Whether the parameter can be set in kernels, but not to this word.
    pub fn is_unknown_to_kernels(&self, word: &str) -> bool {
        (self.kernel).is_some_and(|kernel| kernel.unknown.contains(&word))
    }

    /// The words that kernels know, where there are others that they do not: `` `a`, `b` and `c` ``.
    pub fn known_to_kernels(&self) -> String {
        let Kind::Choice(words) = self.param.kind else {
            return String::new();
        };
        let known = words
            .iter()
            .filter(|word| !self.is_unknown_to_kernels(word));
        let mut known: Vec<String> = known.map(|word| format!("`{word}`")).collect();
        let last = known.pop().unwrap_or_default();
        if known.is_empty() {
            last
        } else {
            format!("{} and {last}", known.join(", "))
        }
    }
}

/// A row that has no name yet; the value is a `T` in code.
#[derive(Clone, Copy)]
pub(super) struct Unnamed<T> {
    kind: Kind,
    default: Value,
    read_by: Option<ReadBy>,
    kernel: Option<KernelKey>,
    value: PhantomData<fn() -> T>,
}

pub(super) const fn flag(default: bool) -> Unnamed<bool> {
    Unnamed::new(Kind::Bool, Value::Bool(default))
}

/// The words are those of the type; the default has to be one of them.
pub(super) const fn choice<T: Words>(default: &'static str) -> Unnamed<T> {
    assert!(
        has(T::WORDS, default),
        "the default of a choice is none of its words"
    );
    Unnamed::new(Kind::Choice(T::WORDS), Value::Choice(default))
}

pub(super) const fn integer<T: Whole>(default: i64, min: i64, max: i64) -> Unnamed<T> {
    Unnamed::new(Kind::Integer { min, max }, Value::Integer(default))
}

pub(super) const fn number(default: f64, min: f64, max: f64) -> Unnamed<f64> {
    Unnamed::new(Kind::Number { min, max }, Value::Number(default))
}

pub(super) const fn bytes<T: Whole>(default: u64) -> Unnamed<T> {
    Unnamed::new(Kind::Bytes, Value::Bytes(default))
}

pub(super) const fn packets<T: Whole>(default: u64) -> Unnamed<T> {
    Unnamed::new(Kind::Packets, Value::Packets(default))
}

/// Seconds; zero is allowed.
pub(super) const fn duration<T: TimeType>(default: f64) -> Unnamed<T> {
    Unnamed::new(ANY_TIME, Value::Duration(default))
}

/// Seconds, more than none.
pub(super) const fn positive_duration<T: TimeType>(default: f64) -> Unnamed<T> {
    Unnamed::new(TIME, Value::Duration(default))
}

/// `none`, unless it is set.
pub(super) const fn unset<T>(kind: Kind) -> Unnamed<Option<T>> {
    Unnamed::new(kind, Value::None)
}

pub(super) const ANY_TIME: Kind = Kind::Duration {
    min_exclusive: false,
};
pub(super) const TIME: Kind = Kind::Duration {
    min_exclusive: true,
};

/// Types of whole numbers.
pub(super) trait Whole {}
impl Whole for u32 {}
impl Whole for u64 {}
impl Whole for i64 {}
impl Whole for usize {}
impl Whole for SegCount {}
impl Whole for ByteCount {}

/// Types of times.
pub(super) trait TimeType {}
impl TimeType for f64 {}
impl TimeType for Duration {}

impl<T> Unnamed<T> {
    const fn new(kind: Kind, default: Value) -> Self {
        Self {
            kind,
            default,
            read_by: None,
            kernel: None,
            value: PhantomData,
        }
    }

    pub(super) const fn read_by(mut self, reader: ReadBy) -> Self {
        self.read_by = Some(reader);
        self
    }

    pub(super) const fn kernel(mut self, how: &'static str) -> Self {
        self.kernel = Some(KernelKey {
            how,
            shared: false,
            unknown: &[],
        });
        self
    }

    pub(super) const fn shared(mut self) -> Self {
        if let Some(kernel) = &mut self.kernel {
            kernel.shared = true;
        }
        self
    }

    pub(super) const fn lacks(mut self, words: &'static [&'static str]) -> Self {
        if let Some(kernel) = &mut self.kernel {
            kernel.unknown = words;
        }
        self
    }

    pub(super) const fn named(self, name: &'static str, summary: &'static str) -> TcpParam {
        TcpParam {
            param: Param {
                name,
                summary,
                kind: self.kind,
                default: self.default,
            },
            read_by: self.read_by,
            kernel: self.kernel,
        }
    }
}

/// Whether a word is one of `words`, while compiling.
pub(super) const fn has(words: &[&str], word: &str) -> bool {
    let mut index = 0;
    while index < words.len() {
        if same(words[index], word) {
            return true;
        }
        index += 1;
    }
    false
}

pub(super) const fn same(left: &str, right: &str) -> bool {
    let (left, right) = (left.as_bytes(), right.as_bytes());
    if left.len() != right.len() {
        return false;
    }
    let mut index = 0;
    while index < left.len() {
        if left[index] != right[index] {
            return false;
        }
        index += 1;
    }
    true
}
