//! How a scenario is read: from the tree that a study file is after substitution to a plain [`Scenario`](crate::spec::Scenario).
//!
//! What the tree may say is in `docs/reference/scenario.md`. Every number may be a quantity or an expression over `vars`, and `i` (1 to `count`) where
//! something is repeated. Errors carry the path of the offending value and, within an expression, the place in its text. Later errors and
//! warnings find the places that they point at in the scenario's [`Origins`].
//!
//! From the bottom: `error`; `context` with its `vars`, in which a `value` is read; `params`, each checked against its `kind`; a `part` of a table; what is made
//! of these, `links`, `hosts`, `flows` and the rest; in `check`, what contradicts itself in it; and `read`, which has them follow one another;
//! `reader` does so for many scenarios in a row.

mod bdp;
pub(crate) mod check;
pub(crate) mod context;
mod distribution;
mod error;
mod flows;
pub(crate) mod for_kernel;
mod groups;
mod hosts;
mod kernel;
pub(crate) mod keys;
mod kind;
pub(crate) mod limits;
mod links;
mod loads;
mod made;
mod origins;
mod params;
mod part;
mod read;
pub(crate) mod reader;
mod recording;
mod rules;
mod shortcuts;
#[cfg(test)]
mod tests;
mod value;
mod vars;
mod warnings;

pub use self::error::{Result, ScenarioError};
pub use self::origins::Origins;
pub use self::read::{for_simulator, from_json, from_tree, parse, read};
pub use self::warnings::warnings;
