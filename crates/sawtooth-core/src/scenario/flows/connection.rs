//! A connection of TCP in the tree.

use super::super::check;
use super::super::context::{ReadOnce, TreeTable};
use super::super::error::Result;
use super::super::groups::Groups;
use super::super::origins::TcpTables;
use super::super::part::part;
use super::{congestion, packets, route, tcp, when};
use crate::registry::Params;
use crate::source;
use crate::spec::{FlowSpec, Part, set_needed_feedback};
use crate::tcp::key;
use crate::units::{Duration, Instant};

/// The connections of an entry, with the parameters of the scenario's `stack` unless they have their own.
pub(super) struct Connections<'a> {
    stack: &'a Params,
    links: &'a Groups<'a>,
    /// What they have in common: all but names, paths and times.
    alike: ReadOnce<FlowSpec>,
    start: ReadOnce<Instant>,
    delay: ReadOnce<Duration>,
    path: ReadOnce<Vec<usize>>,
}

impl<'a> Connections<'a> {
    pub(super) fn new(stack: &'a Params, links: &'a Groups<'a>) -> Self {
        Self {
            stack,
            links,
            alike: ReadOnce::new(),
            start: ReadOnce::new(),
            delay: ReadOnce::new(),
            path: ReadOnce::new(),
        }
    }

    /// The one called `name`.
    pub(super) fn read(&mut self, name: String, table: TreeTable) -> Result<FlowSpec> {
        let context = table.context;
        let alike = self.alike.read(context, || match context.before {
            Some(before) => before
                .flows
                .read(&name, context, || alike(table, self.stack)),
            None => alike(table, self.stack),
        })?;
        let start = self.start.read(context, || when::start(table))?;
        let delay = self.delay.read(context, || when::access_delay(table))?;
        let path = || route::read(table, self.links);
        Ok(FlowSpec {
            name,
            path: self.path.read(context, path)?,
            start,
            delay,
            ..alike
        })
    }
}

/// A connection without name, path and times.
fn alike(table: TreeTable, stack: &Params) -> Result<FlowSpec> {
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
        let asks = source::build(source.name, &source.params, 0, "").answers();
        let own = sender.kernel_cc.as_deref().unwrap_or(sender.cc.name);
        if asks { own } else { "reno" }.to_owned()
    });
    Ok(FlowSpec {
        direction: route::direction(table)?,
        cc: sender.cc,
        kernel_cc: sender.kernel_cc,
        receiver_cc,
        tcp,
        given,
        source,
        ..FlowSpec::new("", Vec::new())
    })
}

fn source(table: TreeTable) -> Result<Part> {
    let Some((json, path)) = table.get("source") else {
        return Ok(Part::of(&source::TABLE[0]));
    };
    packets::refuse_source(json, &path)?;
    part(json, source::TABLE, "source", &path, table.context)
}
