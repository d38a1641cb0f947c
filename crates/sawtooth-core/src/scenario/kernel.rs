//! What a scenario says of the real kernel that it runs on: the table `kernel`.

use serde_json::Value as Json;

use super::context::{Context, TreeTable};
use super::error::{Result, at, at_key};
use super::keys;
use super::params::set_params;
use super::value::object;
use crate::kernel;
use crate::spec::Kernel;

pub(super) fn read(context: &Context) -> Result<Kernel> {
    let mut kernel = Kernel::default();
    let Some(json) = context.tree.get("kernel") else {
        return Ok(kernel);
    };
    let table = TreeTable {
        keys: object(json, "kernel")?,
        path: "kernel",
        context,
    };
    let what = "setting of a kernel";
    set_params(
        &mut kernel.settings,
        kernel::PARAMS,
        table,
        keys::KERNEL,
        what,
    )?;
    kernel.image = image(table)?;
    if let Some((json, path)) = table.get("sysctl") {
        for (name, json) in object(json, &path)? {
            kernel.sysctl.push((name.clone(), sysctl(name, json)?));
        }
    }
    Ok(kernel)
}

/// The name of a kernel that has been built.
fn image(table: TreeTable) -> Result<Option<String>> {
    match table.get("image") {
        None => Ok(None),
        Some((Json::String(name), _)) if !name.is_empty() => Ok(Some(name.clone())),
        Some((_, path)) => Err(at(path, "expected the name of a kernel")
            .hint("`sawtooth kernel list` shows those that are built")),
    }
}

/// The value of a setting of the network.
fn sysctl(name: &str, json: &Json) -> Result<String> {
    let path = format!("kernel.sysctl.{name}");
    let value = match json {
        Json::Bool(on) => u8::from(*on).to_string(),
        Json::Number(number) => number.to_string(),
        Json::String(text) => text.clone(),
        _ => return Err(at(path, "expected a number or a text")),
    };
    if name.starts_with("net.") {
        return Ok(value);
    }
    let message = format!("`{name}` is not a setting of the network");
    Err(at_key(path, message)
        .hint("for example \"net.ipv4.tcp_sack\" = 0, with its name in quotes"))
}
