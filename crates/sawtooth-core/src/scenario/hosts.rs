//! Machines, in the tree: the table `hosts`, and the keys `host` and `receiver_host` of a flow.
//!
//! A host that a flow names sends its data (of requests and responses, the latter); another one like it, its peer, takes them, unless `receiver_host` names one. So one name is enough for two machines alike,
//! and flows that name the same machine share its processor and its interface.

use serde_json::{Map, Value as Json};

use super::{
    FlowSpec, LinkGroup, Reader, Result, Scope, at, at_key, hop, keys, object, set_params,
};
use crate::host::PARAMS;
use crate::host::socket::{Held, Memory};
use crate::registry::Params;
use crate::{source, tcp};

/// One machine.
#[derive(Clone, Debug, PartialEq)]
pub struct HostSpec {
    pub name: String,
    /// Those of [`PARAMS`].
    pub params: Params,
    /// Where it is described.
    path: String,
}

/// The machines of a scenario, and of each name which they are.
#[derive(Default)]
pub(super) struct Hosts<'a> {
    /// Those that are declared, then their peers.
    pub all: Vec<HostSpec>,
    groups: Vec<LinkGroup<'a>>,
}

impl<'a> Reader<'a> {
    pub(super) fn hosts(&self) -> Result<Hosts<'a>> {
        let Some(json) = self.tree.get("hosts") else {
            return Ok(Hosts::default());
        };
        let known = PARAMS.iter().map(|param| param.name);
        let known = known.chain(keys::names(keys::HOST));
        let tree = object(json, "hosts")?;
        let (mut all, groups) =
            self.declared("hosts", tree, &known, |table, path, name, scope| {
                let mut params = Params::defaults(PARAMS);
                let what = "parameter of a host";
                set_params(&mut params, PARAMS, table, keys::HOST, path, what, scope)?;
                Ok(HostSpec {
                    name,
                    params,
                    path: path.to_owned(),
                })
            })?;
        let peers: Vec<_> = all.iter().map(HostSpec::peer).collect();
        all.extend(peers);
        Ok(Hosts { all, groups })
    }

    /// Finds the machines of a flow that `table` describes.
    pub(super) fn put_on_hosts(
        &self,
        flow: &mut FlowSpec,
        table: &'a Map<String, Json>,
        hosts: &Hosts,
        scope: Scope,
    ) -> Result<()> {
        for (key, end) in [
            ("host", &mut flow.host),
            ("receiver_host", &mut flow.receiver_host),
        ] {
            let Some((json, path)) = self.own_or_common(table, &flow.block, key) else {
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
            *end = Some(hop(text, "host", &path, &hosts.groups, scope)?);
        }
        let told = |key| self.own_or_common(table, &flow.block, key);
        if told("receiver_host").is_none() {
            flow.receiver_host = flow.host.map(|host| host + hosts.all.len() / 2);
        }
        let Some((_, path)) = told("host")
            .filter(|_| flow.host.is_some())
            .or_else(|| told("receiver_host"))
        else {
            return Ok(());
        };
        if flow.host.or(flow.receiver_host).is_none() {
            return Ok(());
        }
        if table.contains_key("arrivals") {
            return Err(at(path, "flows that arrive and leave cannot have a host")
                .hint("leave it out, or write flows with `count`, a `start` and a `size`"));
        }
        let answers = source::build(flow.source.name, &flow.source.params, 0, &flow.name).answers();
        let asks = flow.receiver_host.filter(|_| answers);
        for host in flow.host.into_iter().chain(asks) {
            self.check_socket(flow, table, &hosts.all[host])?;
        }
        Ok(())
    }

    /// The socket of a flow on a host holds at least a segment, and no other buffer is asked for.
    fn check_socket(
        &self,
        flow: &FlowSpec,
        table: &Map<String, Json>,
        spec: &HostSpec,
    ) -> Result<()> {
        for (tcp, path) in [
            (table.get("tcp"), format!("{}.tcp", flow.block)),
            (self.tree.get("tcp"), "tcp".to_owned()),
        ] {
            if let Some(json) = tcp.and_then(|tcp| tcp.get("send_buffer_default"))
                && json.as_str() != Some("none")
            {
                let message = "a flow with a host has the memory of the host's socket, and no `send_buffer_default`";
                return Err(at_key(format!("{path}.send_buffer_default"), message)
                    .hint("leave it out, and set the host's socket_memory and packet_overhead"));
            }
        }
        let memory = Memory::from(&spec.params);
        let smss = tcp::Config::from(&flow.tcp).smss;
        let empty = Held {
            bytes: 0,
            packets: 0,
            tail_room: 0,
            smss,
        };
        if memory.room(&empty, u64::from(smss)).is_none() {
            let written = self.tree["hosts"].pointer(&format!(
                "/{}/socket_memory",
                spec.path.trim_start_matches("hosts.")
            ));
            let path = match written {
                Some(_) => format!("{}.socket_memory", spec.path),
                None => spec.path.clone(),
            };
            let Memory {
                limit, overhead, ..
            } = memory;
            return Err(at(
                path,
                format!("`socket_memory` is {limit} B, and a packet of flow `{}` takes {} B: {smss} of data, {overhead} besides", flow.name, u64::from(smss) + overhead),
            )
            .hint("give it room for some packets"));
        }
        Ok(())
    }
}

impl HostSpec {
    fn peer(&self) -> Self {
        Self {
            name: format!("{}.peer", self.name),
            ..self.clone()
        }
    }
}
