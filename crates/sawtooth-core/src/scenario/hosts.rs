//! Machines, in the tree: the table `hosts`, and the keys `host` and `receiver_host` of a flow.
//!
//! The host that a flow names sends its data; of requests and responses it is the server. The data go to the host that `receiver_host` names, or else to the named host's peer, a second
//! machine with the same parameters. So one name makes two equal machines. Flows that name the same host share its processor and its interface.

use serde_json::Value as Json;

use super::context::{Context, TreeTable};
use super::error::{Result, at, at_key};
use super::groups::Groups;
use super::keys;
use super::params::params_besides;
use super::rules;
use super::value::object;
use crate::host::PARAMS;
use crate::host::socket::{Held, SendMemory};
use crate::limits::Limits;
use crate::spec::{FlowSpec, HostSpec};
use crate::tcp;
use crate::units::{ByteCount, SegCount};

/// The machines of a scenario, and how flows name them.
pub(super) struct HostSpecs<'a> {
    /// Those that are declared, then their peers.
    pub all: Vec<HostSpec>,
    groups: Groups<'a>,
}

pub(super) fn read<'a>(context: &Context<'a>, limits: &Limits) -> Result<HostSpecs<'a>> {
    let (mut all, mut groups) = (Vec::new(), Groups::new("host"));
    if let Some(json) = context.tree.get("hosts") {
        let known = PARAMS.iter().map(|param| param.name);
        let known = known.chain(keys::names(keys::HOST));
        for (name, json) in object(json, "hosts")? {
            let declared = groups.declare(name, json, &known, context, limits)?;
            for (name, context) in declared.items(context) {
                let table = declared.table(&context);
                let params = params_besides(PARAMS, table, keys::HOST, "parameter of a host")?;
                all.push(HostSpec { name, params });
            }
        }
    }
    let peers: Vec<_> = all.iter().map(HostSpec::peer).collect();
    all.extend(peers);
    Ok(HostSpecs { all, groups })
}

impl HostSpecs<'_> {
    /// The machine that is like another.
    fn peer_of(&self, host: usize) -> usize {
        host + self.all.len() / 2
    }

    /// The name under which a machine is described, or that which it is like.
    fn declared_name(&self, host: usize) -> &str {
        self.groups.declared_name(host % (self.all.len() / 2))
    }
}

/// Whether flows that `table` describes may be on machines.
pub(super) fn are_named(table: TreeTable) -> bool {
    let named = |key| table.has(key) || table.context.tree.contains_key(key);
    named("host") || named("receiver_host")
}

/// Finds the machines of a flow that `table` describes.
pub(super) fn put_on(flow: &mut FlowSpec, table: TreeTable, hosts: &HostSpecs) -> Result<()> {
    for (key, end) in [
        ("host", &mut flow.host),
        ("receiver_host", &mut flow.receiver_host),
    ] {
        let Some((json, path)) = table.own_or_common(key) else {
            continue;
        };
        let Json::String(text) = json else {
            return Err(at(path, "expected the name of a host")
                .hint("for example host = \"server\", with hosts.server = { ... }"));
        };
        if text == "none" {
            continue;
        }
        if hosts.groups.is_empty() {
            return Err(at(path, format!("there is no host `{text}`"))
                .hint("describe it: hosts.NAME = { write_cost = \"10 us\", ... }"));
        }
        *end = Some(hosts.groups.find(text, &path, table.context)?);
    }
    if table.own_or_common("receiver_host").is_none() {
        flow.receiver_host = flow.host.map(|host| hosts.peer_of(host));
    }
    if flow.host.or(flow.receiver_host).is_none() {
        return Ok(());
    }
    if table.has("arrivals") {
        let by_sender = table.own_or_common("host").filter(|_| flow.host.is_some());
        let by = by_sender.or_else(|| table.own_or_common("receiver_host"));
        let path = by.map_or_else(|| table.place("host"), |(_, path)| path);
        return Err(rules::host_of_arrivals(&path));
    }
    for host in sending(flow) {
        check_socket(flow, table, hosts, host)?;
    }
    Ok(())
}

/// The socket of a flow on a host holds at least a segment, and no other buffer is asked for.
fn check_socket(flow: &FlowSpec, table: TreeTable, hosts: &HostSpecs, host: usize) -> Result<()> {
    let tree = table.context.tree;
    for (tcp, path) in [
        (table.keys.get("tcp"), table.place("tcp")),
        (tree.get("tcp"), "tcp".to_owned()),
    ] {
        if let Some(json) = tcp.and_then(|tcp| tcp.get("send_buffer_default"))
            && json.as_str() != Some("none")
        {
            let message = "a flow with a host has the memory of the host's socket, and no `send_buffer_default`";
            return Err(at_key(format!("{path}.send_buffer_default"), message)
                .hint("leave it out, and set the host's socket_memory and packet_overhead"));
        }
    }
    described_socket_room(flow, hosts, host, table.context)
}

/// The same once more when segments are as they will be: they may follow from the links' `mtu`.
pub(super) fn check_sockets(
    flows: &[FlowSpec],
    hosts: &HostSpecs,
    context: &Context,
) -> Result<()> {
    for flow in flows {
        for host in sending(flow) {
            described_socket_room(flow, hosts, host, context)?;
        }
    }
    Ok(())
}

fn described_socket_room(
    flow: &FlowSpec,
    hosts: &HostSpecs,
    host: usize,
    context: &Context,
) -> Result<()> {
    let name = hosts.declared_name(host);
    let written = context.tree["hosts"][name].get("socket_memory");
    let key = written.map_or("", |_| ".socket_memory");
    socket_room(flow, &hosts.all[host], &format!("hosts.{name}{key}"))
}

/// The machines of a flow that send data on it: also the receiver's, if it asks for what the sender answers.
pub(super) fn sending(flow: &FlowSpec) -> impl Iterator<Item = usize> + use<> {
    let asks = flow.receiver_host.filter(|_| flow.source(0).answers());
    flow.host.into_iter().chain(asks)
}

/// The memory of a host's socket holds at least a segment of the flow; `path` is that of the memory.
pub(super) fn socket_room(flow: &FlowSpec, host: &HostSpec, path: &str) -> Result<()> {
    let memory = SendMemory::from(&host.params);
    let smss = tcp::key::smss.of(&flow.tcp);
    let empty = Held {
        bytes: ByteCount::ZERO,
        packets: SegCount::ZERO,
        tail_room: ByteCount::ZERO,
        smss,
    };
    if memory.room(&empty, smss).is_none() {
        let SendMemory {
            limit, overhead, ..
        } = memory;
        return Err(at(
                path,
                format!("`socket_memory` is {} B, and a packet of flow `{}` takes {} B: {} of data, {} besides", limit.get(), flow.name, (smss + overhead).get(), smss.get(), overhead.get()),
            )
            .hint("give it room for some packets"));
    }
    Ok(())
}
