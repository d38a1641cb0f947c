//! What the table of keys has for each: name, type, default, meaning and an example.

/// One key: whatever is said of it anywhere is said here.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioKey {
    /// As a study writes it.
    pub name: &'static str,
    /// What its value may be.
    pub takes: Takes,
    /// What it means that a study does not write it.
    pub missing: Missing,
    /// Its meaning, in one sentence.
    pub summary: &'static str,
    /// A value, as JSON.
    pub example: &'static str,
}

/// What a key's value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// A time with its unit, such as `"20 ms"`.
    Time,
    /// A rate with its unit, such as `"10 Mbit/s"`.
    Rate,
    /// A size with its unit, such as `"64 kB"`.
    Bytes,
    /// A number from 0 to 1.
    Probability,
    /// A whole number.
    Whole,
    /// True or false.
    Flag,
    /// Any string.
    Text,
    /// One of these.
    Word(&'static [&'static str]),
    /// A list of these.
    Words(&'static [&'static str]),
    /// The name of a row of that table of parts, or a table with the `name` and parameters.
    Part(&'static str),
    /// The name of a row of that table of parts.
    Row(&'static str),
    /// A table of that table's parameters.
    Params(&'static str),
    /// The name of a file, relative to the study. It is read where the study is loaded: the core reads none.
    File,
    /// What no other word here says.
    Told(&'static str),
}

/// What it means that a key is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// An error.
    Refused,
    /// That there is nothing of it.
    Nothing,
    /// The same as this value, JSON.
    As(&'static str),
    /// What no other word here says.
    Told(&'static str),
}

/// A table of a scenario and its keys.
#[derive(Clone, Copy, Debug)]
pub struct ScenarioTable {
    /// Where it is; empty for the scenario itself. `NAME` stands for any name, `[]` for any entry of a list.
    pub path: &'static str,
    /// What it describes, in a few words.
    pub summary: &'static str,
    /// Its keys, in groups that other tables may share.
    pub keys: &'static [&'static [ScenarioKey]],
    /// The table of parts whose parameters are its keys, too.
    pub parameters: Option<&'static str>,
}
