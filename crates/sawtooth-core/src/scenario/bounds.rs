//! The table `limits`, what is held against it while a scenario is read, and expressions by themselves.

use std::cell::RefCell;

use serde_json::{Map, Value as Json};

use super::{Reader, Result, Scope, Vars, at, object, set_params};
use crate::expr::{self, ExprError, Quantity};
use crate::limits::{self, counted, how_to_raise};
use crate::registry::Params;

/// The limits that a table sets, and the defaults of the others; a study sets those of all its runs there, too.
pub fn limits_of(json: Option<&Json>) -> Result<Params> {
    let mut params = Params::defaults(limits::TABLE);
    if let Some(json) = json {
        let vars = Vars {
            tree: None,
            known: RefCell::default(),
        };
        let scope = Scope {
            vars: &vars,
            index: None,
        };
        let table = object(json, "limits")?;
        set_params(
            &mut params,
            limits::TABLE,
            table,
            &[],
            "limits",
            "limit",
            scope,
        )?;
    }
    Ok(params)
}

/// Value of an expression over `variables`, as those of a scenario.
pub fn evaluate_over(
    text: &str,
    variables: &Map<String, Json>,
) -> std::result::Result<Quantity, ExprError> {
    let vars = Vars {
        tree: Some(variables),
        known: RefCell::default(),
    };
    let scope = Scope {
        vars: &vars,
        index: None,
    };
    expr::evaluate(text, &scope)
}

impl Reader<'_> {
    /// Refuses as many more things of a `section` as a `count` asks for, before they are made, if they are too many.
    pub(super) fn check_number(
        &self,
        before: usize,
        count: Option<usize>,
        path: &str,
        section: &str,
    ) -> Result<()> {
        #[expect(clippy::cast_precision_loss, reason = "counts are small")]
        let number = (before + count.unwrap_or(1)) as f64;
        let limit = self.limits.flows;
        if number <= limit {
            return Ok(());
        }
        let message = format!(
            "these are {} {section}, and the limit is {}",
            counted(number),
            counted(limit)
        );
        Err(at(format!("{path}.count"), message).hint(&how_to_raise("flows", number)))
    }
}
