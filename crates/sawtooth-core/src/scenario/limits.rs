//! The table `limits`, of a scenario or of a study.

use serde_json::{Map, Value as Json};

use super::context::{Context, TreeTable};
use super::error::Result;
use super::params::params;
use super::value::object;
use super::vars::Vars;
use crate::limits::TABLE;
use crate::registry::Params;

/// The limits that a table sets, and the defaults of the others; a study sets those of all its runs there, too.
pub fn limits_of(json: Option<&Json>) -> Result<Params> {
    let Some(json) = json else {
        return Ok(Params::defaults(TABLE));
    };
    // They know no variables.
    let (tree, vars) = (Map::new(), Vars::of(None));
    let table = TreeTable {
        keys: object(json, "limits")?,
        path: "limits",
        context: &Context::new(&tree, &vars),
    };
    params(TABLE, table, "limit")
}
