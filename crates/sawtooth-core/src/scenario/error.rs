//! What is wrong with a scenario, or strange about it, and where.

use crate::expr::ExprError;
use crate::registry::suggest;

/// What is wrong with a scenario, or strange about it, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ScenarioError {
    /// Path in the tree, as in `flows[0].cc.name`; of a key, not its value, if `at_key`.
    pub path: String,
    /// Whether the key is meant, such as an unknown one, rather than its value.
    pub at_key: bool,
    /// What is wrong, without a full stop.
    pub message: String,
    /// What to do about it, if anything can be said.
    pub hint: Option<String>,
    /// Characters of the string value that are meant.
    pub span: Option<(usize, usize)>,
}

/// What reading gives: a value, or the first thing that is wrong.
pub type Result<T> = std::result::Result<T, ScenarioError>;

impl std::fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} (at {})", self.message, self.path)?;
        self.hint
            .as_ref()
            .map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for ScenarioError {}

impl ScenarioError {
    /// The same, and what to do about it.
    pub(super) fn hint(self, hint: &str) -> Self {
        Self {
            hint: Some(hint.to_owned()),
            ..self
        }
    }
}

/// An error in the value at `path`.
pub(super) fn at(path: impl Into<String>, message: impl Into<String>) -> ScenarioError {
    ScenarioError {
        path: path.into(),
        message: message.into(),
        ..ScenarioError::default()
    }
}

/// An error in the key at `path`: it should not be there, or should be.
pub(super) fn at_key(path: impl Into<String>, message: impl Into<String>) -> ScenarioError {
    ScenarioError {
        at_key: true,
        ..at(path, message)
    }
}

/// An error within the expression at `path`.
pub(super) fn in_expression(path: &str, error: ExprError) -> ScenarioError {
    ScenarioError {
        path: path.to_owned(),
        message: error.message,
        hint: error.hint,
        span: Some(error.span),
        at_key: false,
    }
}

/// A name that is none of those `known`.
pub(super) fn unknown<'a>(
    path: &str,
    what: &str,
    name: &str,
    known: impl Iterator<Item = &'a str> + Clone,
) -> ScenarioError {
    let all = match what {
        "link" | "host" => format!(
            "{what}s here are {}",
            known.clone().collect::<Vec<_>>().join(", ")
        ),
        _ => format!("`sawtooth list {what}` shows all"),
    };
    let hint = match suggest(name, known) {
        Some(near) if matches!(what, "link" | "host") => format!("did you mean `{near}`?"),
        Some(near) => format!("did you mean `{near}`? {all}"),
        None => all,
    };
    at(path, format!("unknown {} `{name}`", noun(what))).hint(&hint)
}

/// What a row of a table of parts is called in a sentence.
pub(super) fn noun(table: &str) -> &str {
    match table {
        "cc" => "congestion control",
        "packet_source" => "source of packets",
        other => other,
    }
}

/// The name that was probably meant, or else all there are, after `all`.
pub(super) fn near_or_all(name: &str, known: &[&str], all: &str) -> String {
    match suggest(name, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("{all}{}", known.join(", ")),
    }
}
