//! The congestion controls of a flow's two ends: the keys `cc` and `receiver_cc`, of it or of all flows.

use serde_json::Value as Json;

use super::super::check;
use super::super::context::TreeTable;
use super::super::error::{Result, at};
use super::super::params::no_parameters;
use super::super::part::{named, part};
use crate::cc;
use crate::registry::Params;
use crate::spec::{Part, cc_defaults};

/// What decides how much a flow sends.
pub(super) struct CongestionChoice {
    pub cc: Part,
    /// That of a kernel which is wanted instead.
    pub kernel_cc: Option<String>,
}

/// The sender's, whose parameters may depend on those of TCP.
pub(super) fn sender(table: TreeTable, tcp: &Params) -> Result<CongestionChoice> {
    let unless_named = |kernel_cc| CongestionChoice {
        cc: Part::of(&cc::TABLE[0]),
        kernel_cc,
    };
    let Some((json, path)) = table.own_or_common("cc") else {
        return Ok(unless_named(None));
    };
    if let Some(name) = kernel_name(json, &path)? {
        return Ok(unless_named(Some(name)));
    }
    let named = named(json, cc::TABLE, "cc", &path)?;
    let cc = Part {
        name: named.entry.name,
        params: named.params(cc_defaults(named.entry, tcp), &path, table.context)?,
    };
    check::congestion_control(&cc, json, &path)?;
    Ok(CongestionChoice {
        cc,
        kernel_cc: None,
    })
}

/// The receiver's, by its name in the kernel, if the scenario says.
pub(super) fn receiver(table: TreeTable) -> Result<Option<String>> {
    let Some((json, path)) = table.own_or_common("receiver_cc") else {
        return Ok(None);
    };
    no_parameters(json, &path, "the receiver's algorithm")?;
    if let Some(name) = kernel_name(json, &path)? {
        return Ok(Some(name));
    }
    let part = part(json, cc::TABLE, "cc", &path, table.context)?;
    Ok(Some(part.name.to_owned()))
}

/// The name in `kernel:NAME`, alone or as the `name` of a table.
fn kernel_name(json: &Json, path: &str) -> Result<Option<String>> {
    let (text, place) = match json.get("name") {
        Some(name) => (name.as_str(), format!("{path}.name")),
        None => (json.as_str(), path.to_owned()),
    };
    let Some(name) = text.and_then(|text| text.strip_prefix("kernel:")) else {
        return Ok(None);
    };
    if name.is_empty() {
        return Err(
            at(place, "`kernel:` lacks the name of a congestion control")
                .hint("for example \"kernel:cubic\""),
        );
    }
    no_parameters(json, path, "a kernel's algorithm")?;
    Ok(Some(name.to_owned()))
}
