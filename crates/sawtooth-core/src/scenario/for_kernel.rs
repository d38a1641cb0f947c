//! A scenario for real kernels: what they cannot do is refused, before anything is started.

use serde_json::{Map, Value as Json};

use super::error::{Result, at, at_key};
use super::flows::congestion;
use super::recording::LINK_WORDS;
use super::{Sampling, Scenario, check};
use crate::cc;
use crate::kernel;
use crate::registry::Value;

impl Scenario {
    /// Makes a scenario for a real kernel; refuses what none can be told.
    pub fn for_kernel(tree: &Json) -> Result<Self> {
        let scenario = Self::from_tree(tree)?;
        if tree.get("hosts").is_some() {
            let message = "`hosts` are of the simulator alone: a real kernel has its own costs";
            return Err(at_key("hosts", message).hint(
                "leave them out, or put them and `host` into an arm with `backends = [\"sim\"]`",
            ));
        }
        let mut tables = vec![("tcp".to_owned(), tree.get("tcp"))];
        for (index, flow) in tree["flows"].as_array().into_iter().flatten().enumerate() {
            tables.push((format!("flows[{index}].tcp"), flow.get("tcp")));
        }
        for (path, table) in tables {
            for (key, value, known) in kernel::UNKNOWN_VALUES {
                if table.and_then(|table| table.get(key)?.as_str()) == Some(value) {
                    let message = format!("a real kernel knows no `{key} = \"{value}\"`");
                    return Err(at(format!("{path}.{key}"), message).hint(&format!(
                        "it has {known}; an arm with `backends = [\"sim\"]` is the simulator's alone"
                    )));
                }
            }
            for key in table
                .and_then(Json::as_object)
                .into_iter()
                .flat_map(Map::keys)
            {
                if !kernel::TCP_KEYS.iter().any(|(known, _)| known == key) {
                    let known: Vec<&str> = kernel::TCP_KEYS.iter().map(|(key, _)| *key).collect();
                    return Err(at_key(
                        format!("{path}.{key}"),
                        format!("a real kernel cannot be told `{key}`: it has its own"),
                    )
                    .hint(&format!(
                        "leave it out, or put it into an arm with `backends = [\"sim\"]`; a kernel can be told {}",
                        known.join(", ")
                    )));
                }
            }
        }
        scenario.check_udp()?;
        let words = tree["record"].as_array().into_iter().flatten();
        let mut hosts = words
            .filter_map(Json::as_str)
            .filter(|word| !LINK_WORDS.contains(word) && *word != "transfers");
        if let Some(word) = hosts.next() {
            let message = format!("a real kernel does not tell its {word}");
            let hint =
                format!("leave `{word}` out, or put it into an arm with `backends = [\"sim\"]`");
            return Err(at("record", message).hint(&hint));
        }
        for flow in scenario.all_flows() {
            let entry = cc::TABLE.iter().find(|entry| entry.name == flow.cc.name);
            let defaults = entry.map(|entry| congestion::defaults(entry, &flow.tcp));
            if flow.kernel_cc.is_none() && defaults.is_some_and(|known| known != flow.cc.params) {
                return Err(at(
                    &flow.cc_path,
                    format!(
                        "a real kernel cannot be told parameters of `{}`",
                        flow.cc.name
                    ),
                )
                .hint("leave them out: the kernel has its own"));
            }
        }
        for flow in scenario.all_flows() {
            let path = |key| {
                let block = flow.block.replace('[', "/").replace(']', "");
                let own = tree.pointer(&format!("/{block}/tcp/{key}"));
                own.map_or(format!("tcp.{key}"), |_| {
                    format!("{}.tcp.{key}", flow.block)
                })
            };
            if flow.told("ecn") == Some(Value::Choice("accurate")) {
                return Err(at(
                    path("ecn"),
                    "no packaged kernel has the feedback of RFC 9768",
                )
                .hint("\"classic\", or \"dctcp\" with cc and receiver_cc = \"dctcp\""));
            }
            if let Some(Value::Integer(every @ 3..)) = flow.told("ack_every") {
                let message = format!("a real kernel cannot be told `ack_every = {every}`");
                return Err(at(path("ack_every"), message)
                    .hint("it has 2, and 1 where no acknowledgement is delayed"));
            }
        }
        scenario.check_what_hosts_share()?;
        check::shaper(&scenario)?;
        scenario.check_application()?;
        Ok(scenario)
    }

    /// What routes and hosts are told holds for all flows.
    fn check_what_hosts_share(&self) -> Result<()> {
        for key in kernel::SHARED_TCP_KEYS {
            let mut flows = self.all_flows();
            let Some(first) = flows.next() else { break };
            if let Some(other) = flows.find(|flow| flow.told(key) != first.told(key)) {
                return Err(at(
                    "flows",
                    format!(
                        "flows `{}` and `{}` want `{key}` otherwise: a real kernel has one for all flows between two hosts",
                        first.name, other.name
                    ),
                )
                .hint("set it in [scenario.tcp]"));
            }
        }
        Ok(())
    }

    /// The agent's own links carry packets of UDP beside those of the kernel's connections.
    fn check_udp(&self) -> Result<()> {
        if self.flows.is_empty() && self.arriving.is_empty() {
            let message = "a real kernel needs a connection of TCP, and here is only UDP";
            return Err(at("flows", message)
                .hint("leave it to the simulator: no kernel has a part in UDP flows"));
        }
        if !self.udp.is_empty() && self.kernel.settings.choice("shaper") == "kernel" {
            let message = "the kernel's shaper carries no flows of UDP";
            return Err(at("kernel.shaper", message)
                .hint("leave out kernel.shaper: the simulator's own links can do it"));
        }
        Ok(())
    }

    /// Real programs fetch files.
    fn check_application(&self) -> Result<()> {
        if self.kernel.settings.choice("application") != "http" {
            return Ok(());
        }
        if self.sample != Sampling::Never {
            let message = "the sockets of packaged programs cannot be sampled";
            return Err(at("sample", message).hint("leave it out, or kernel.application"));
        }
        if let Some(one) = self.arriving.first() {
            let message = "packaged programs fetch one file each: none arrive and leave";
            return Err(at(format!("{}.arrivals", one.flow.block), message)
                .hint("leave out kernel.application: the agent's own sockets can do it"));
        }
        for (index, flow) in self.flows.iter().enumerate() {
            if flow.source.name != "bulk" {
                let message = format!("a fetch is of one file, not `{}`", flow.source.name);
                return Err(at(format!("flows[{index}].source"), message).hint(
                    "write source = { name = \"bulk\", size = \"1 MB\" }, or leave out kernel.application",
                ));
            }
            if flow.size_bytes().is_none() {
                let message = format!("a file has a size, and flow `{}` is endless", flow.name);
                return Err(at("kernel.application", message)
                    .hint("for example source = { name = \"bulk\", size = \"1 MB\" }"));
            }
            if flow.told("window_limit").is_some() {
                let message = "packaged programs cannot be told a `window_limit`";
                return Err(at("kernel.application", message)
                    .hint("leave one of the two out, or set net.ipv4.tcp_rmem in kernel.sysctl"));
            }
        }
        Ok(())
    }
}
