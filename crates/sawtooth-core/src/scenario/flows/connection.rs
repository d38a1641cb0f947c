//! A connection of TCP in the tree.

use super::super::check;
use super::super::context::TreeTable;
use super::super::error::Result;
use super::super::groups::Groups;
use super::super::origins::TcpTables;
use super::super::part::part;
use super::{congestion, packets, route, tcp, when};
use crate::registry::Params;
use crate::source;
use crate::spec::{FlowSpec, Part, set_needed_feedback};
use crate::tcp::key;

/// The connection called `name`, with the parameters of the scenario's `stack` unless it has its own.
pub(super) fn read(
    name: String,
    table: TreeTable,
    stack: &Params,
    links: &Groups,
) -> Result<FlowSpec> {
    let (mut tcp, given) = tcp::read(table, stack)?;
    check::tcp(&tcp, &TcpTables::of(table))?;
    let sender = congestion::sender(table, &tcp)?;
    let receiver = congestion::receiver(table)?;
    if !given.contains(&key::ecn.name) {
        set_needed_feedback(&sender.cc, &mut tcp);
    }
    let source = source(table)?;
    // Whoever asks over the connection does it with the algorithm that answers.
    let receiver_cc = receiver.unwrap_or_else(|| {
        let asks = source::build(source.name, &source.params, 0, &name).answers();
        let own = sender.kernel_cc.as_deref().unwrap_or(sender.cc.name);
        if asks { own } else { "reno" }.to_owned()
    });
    let start = when::start(table)?;
    let delay = when::access_delay(table)?;
    Ok(FlowSpec {
        name,
        path: route::read(table, links)?,
        cc: sender.cc,
        kernel_cc: sender.kernel_cc,
        receiver_cc,
        tcp,
        given,
        source,
        start,
        delay,
        host: None,
        receiver_host: None,
    })
}

fn source(table: TreeTable) -> Result<Part> {
    let Some((json, path)) = table.get("source") else {
        return Ok(Part::of(&source::TABLE[0]));
    };
    packets::refuse_source(json, &path)?;
    part(json, source::TABLE, "source", &path, table.context)
}
